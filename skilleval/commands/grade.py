"""Grades a run again from what is stored of it: no agent is started.

Rules decide on the stored evidence and give the verdict that they gave before, unless the rules
have changed. A judge is asked anew, and its verdicts may flip.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from skilleval import aggregate, console, gates, judging, writing
from skilleval.errors import UsageError
from skilleval.model import EMPTY, Report, SuiteReport
from skilleval.plaintext import counted, one_line
from skilleval.redaction import secrets_in
from skilleval.runfolder import lock, regrading, runs, store
from skilleval.runfolder.regrading import Flip, Regraded
from skilleval.sinks import benchmark
from skilleval.stats import comparison
from skilleval.tools import Tools

EXAMPLES = """examples:
  skilleval grade --workspace eval-workspace/x-workspace/iteration-1
  skilleval grade eval-workspace/x-workspace/iteration-1 --recompute-benchmark
  skilleval grade RUN --grader-model deepseek/deepseek-v4-flash     another judge
  skilleval grade RUN --grader-model ''                             no judge: its checks are skipped

trial.json, grading.json and summary.json are written anew; what grading.json said before is kept
beside it as grading.previous.json. A run of seed 002's original is graded by what that one keeps
(evals_meta.json, outputs, git states), and grading.json alone is written. It keeps no files of the
workspaces: what only they could decide goes to the judge, or is skipped.
exit codes: 0 graded; 1 below the gate of the run; 2 usage error; 3 something could not be graded;
130 interrupted (what was graded is written)
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Which run, and which judge."""
    parser.add_argument("run_folder", metavar="RUN", nargs="?", help="a run folder")
    parser.add_argument("-w", "--workspace", metavar="DIR", help="the same, as seed 002 spells it")
    parser.add_argument(
        "--judge-model", "--grader-model", metavar="MODEL", help="default: that of the run"
    )
    parser.add_argument(
        "--judge-base-url", "--grader-base-url", metavar="URL", help="default: that of the run"
    )
    parser.add_argument(
        "--recompute-benchmark", action="store_true", help="write benchmark.json anew too"
    )
    parser.add_argument("-c", "--concurrency", type=int, default=1, metavar="N", help="default: 1")
    parser.add_argument("--json", action="store_true", help="print the changed verdicts as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Grades, writes, and says which verdicts changed."""
    if arguments.concurrency < 1:
        raise UsageError("--concurrency must be at least 1")
    stored = runs.load(_folder(arguments))
    tools = Tools()
    judge = regrading.judged(
        stored.suite, arguments.judge_model, arguments.judge_base_url, tools.environ
    )
    suite = stored.suite._replace(judge=judge)
    asked = judging.asked(suite)
    if asked and judge:
        console.note(f"warning: a judge decides {counted(asked, 'check')}: its verdicts may flip")
    repeats = int(stored.meta.get("repeats", 1))
    target = store.Run(stored.folder, suite, repeats > 1, secrets_in(tools.environ, suite.pass_env))
    with lock.held(stored.folder), writing.guarded(stored.folder):
        off = arguments.judge_model == ""
        done = regrading.regrade(stored, target, tools, arguments.concurrency, judge_off=off)
        found = aggregate.report(suite, done.results)
        _write(target, stored, found, with_benchmark=arguments.recompute_benchmark)
    for problem in dict.fromkeys((*stored.problems, *done.problems)):
        console.note(f"warning: {one_line(problem)}")
    console.write(_json(done.flips) if arguments.json else _text(done, found))
    code = gates.exit_code(suite.gates, found.summary)
    return code or (gates.NOT_MEASURED if done.problems else code)


def _folder(arguments: argparse.Namespace) -> str:
    given = [each for each in (arguments.run_folder, arguments.workspace) if each]
    if len(given) != 1:
        raise UsageError("name one run folder: skilleval grade RUN, or --workspace RUN")
    folders = runs.iterations(given[0])
    if len(folders) > 1:
        raise UsageError(f"{given[0]}: holds {len(folders)} runs; name one: {', '.join(folders)}")
    return folders[0]


def _write(
    target: store.Run, stored: runs.StoredRun, found: SuiteReport, *, with_benchmark: bool
) -> None:
    """The files of the whole run. A run that was not finished is not made one. Raises `OSError`.

    Of another tool's, benchmark.json alone: what that one calls summary.json is another file.
    """
    suite, is_ours = found.suite, not stored.is_foreign
    if is_ours and suite.judge != stored.suite.judge:
        target.write(store.RUN, {**stored.meta, "suite": suite})
    if is_ours and os.path.exists(os.path.join(target.folder, store.SUMMARY)):
        failed = gates.failed(suite.gates, found.summary)
        store.finish(target, Report((found,), found.summary, suite.gates, failed, EMPTY))
    if with_benchmark:
        files = benchmark.files(comparison.compare(found), found, stored.meta)
        for name, document in files.items():
            target.write(name, document)


def _text(done: Regraded, found: SuiteReport) -> str:
    lines = [
        f"{one_line(flip.trial.key)}: {one_line(flip.text)}: {flip.before.status} -> "
        f"{flip.after.status} ({one_line(flip.after.reason)[:300]})"
        for flip in done.flips
    ]
    summary = aggregate.summarise(found.scores)
    lines.append(
        f"graded {counted(done.graded, 'trial')} again: {counted(len(done.flips), 'verdict')}"
        f" changed; {summary.checks_passed}/{summary.checks_total} checks pass"
    )
    return "\n".join(lines)


def _json(flips: Sequence[Flip]) -> str:
    return writing.as_json(
        {
            "changed": [
                {
                    "trial": flip.trial.key,
                    "text": flip.text,
                    "before": flip.before.status,
                    "after": flip.after.status,
                    "evidence": flip.after.reason,
                    "method": flip.after.method,
                }
                for flip in flips
            ]
        }
    )
