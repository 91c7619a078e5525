"""Runs the scenarios of a skill: agent, judge, score, report (seed 000).

TARGET is a skill folder (all its scenarios, a dated JSON report, exit 1 below the threshold) or one
scenario folder (for debugging: writes nothing unless --output says so, and always exits 0).
"""

from __future__ import annotations

import argparse
import os
from datetime import UTC, datetime

from skilleval import console, evaluation, execution, gates, settings, skill, store, textfile
from skilleval.errors import SuiteError, UsageError
from skilleval.formats import scenario
from skilleval.model import Report, Suite
from skilleval.redaction import redact, secrets_in
from skilleval.sinks import scenarios as sink
from skilleval.tools import Tools

EXAMPLES = """examples:
  skilleval run skills/x                                   all scenarios of a skill
  skilleval run skills/x/evals/scenario-a                  one, to see why it fails
  skilleval run skills/x --backend http --model m          an OpenAI-compatible endpoint
  skilleval run skills/x --record exchanges                keep every exchange, for ...
  skilleval run skills/x --replay exchanges                ... the same run without a network
  skilleval run skills/x --resume                          go on with an interrupted run

Settings: defaults < .openkata-eval.yaml < OPENKATA_EVAL_* variables < options; --print-config
shows each value and its source.
exit codes: 0 at or above the threshold; 1 below it, or the run cannot start; 2 usage error;
130 interrupted (what was finished is kept: --resume)
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The flags of the seed, and ours."""
    parser.add_argument("target", metavar="TARGET", help="skill folder or scenario folder")
    agent = parser.add_argument_group("agent and judge")
    agent.add_argument("--backend", metavar="NAME", help="kiro or http (default: kiro)")
    agent.add_argument("--model", help="model of the agent (default: claude-sonnet-4.6)")
    agent.add_argument(
        "--judge-model", "--grader-model", metavar="MODEL", help="default: the agent's model"
    )
    agent.add_argument(
        "--judge-base-url", "--grader-base-url", metavar="URL", help="default: the agent's endpoint"
    )
    agent.add_argument("--engine", metavar="NAME", help="docker or podman (default: docker)")
    result = parser.add_argument_group("result")
    result.add_argument("--threshold", type=int, metavar="N", help="percentage (default: 95)")
    result.add_argument("--output", metavar="PATH", help="file or folder for the JSON report")
    result.add_argument("--model-label", metavar="TEXT", help="readable model name in the report")
    result.add_argument("--json", action="store_true", help="print the JSON report")
    result.add_argument("--quiet", action="store_true", help="no progress on the terminal")
    pace = parser.add_argument_group("pace and run folder")
    pace.add_argument("--case", "--cases", nargs="+", default=[], metavar="ID", help="only these")
    pace.add_argument("--concurrency", "--parallelism", type=int, metavar="N", help="default: 2")
    pace.add_argument("--workspace", metavar="DIR", help="run folders (default: eval-workspace)")
    pace.add_argument("--resume", action="store_true", help="go on with the last unfinished run")
    pace.add_argument("--record", metavar="DIR", help="write every exchange below DIR")
    pace.add_argument("--replay", metavar="DIR", help="run from what --record wrote, no network")
    pace.add_argument("--print-config", action="store_true", help="each value, its source; no run")
    pace.add_argument("--dry-run", action="store_true", help="what would run; nothing is started")


def run(arguments: argparse.Namespace) -> int:
    """Runs, prints, writes the report, and returns the exit code."""
    chosen = settings.resolve(vars(arguments), os.environ, os.curdir, scenario.SETTINGS)
    for warning in chosen.warnings:
        console.note(f"warning: {warning}")
    if arguments.print_config:
        console.write(_shown(chosen, arguments.json))
        return 0
    try:
        suite = _selected(scenario.load(arguments.target), arguments.case)
    except SuiteError as error:
        console.note(f"error: {error.message}")
        return gates.BELOW  # the seed's exit code for what cannot start (spec/scenarios 16)
    suite = scenario.configured(suite, chosen)
    for warning in suite.meta["warnings"]:
        console.note(f"warning: {warning}")
    if arguments.dry_run:
        console.write(_planned(suite))
        return 0
    tools = Tools(environ=chosen.environment(os.environ))
    problems = [] if arguments.replay else evaluation.preflight(suite, tools)
    for problem in problems:
        console.note(f"error: {problem}")
    if problems:
        return gates.BELOW
    return _evaluated(suite, chosen, arguments, tools)


def _shown(chosen: settings.Settings, as_json: bool) -> str:
    return store.as_json(settings.document(chosen)) if as_json else settings.render(chosen)


def _selected(suite: Suite, wanted: list[str]) -> Suite:
    known = {case.id for case in suite.cases}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise UsageError(
            f"unknown case {', '.join(unknown)}; there are: {', '.join(sorted(known))}"
        )
    return suite._replace(cases=tuple(c for c in suite.cases if not wanted or c.id in wanted))


def _planned(suite: Suite) -> str:
    [arm] = suite.arms
    rows = [
        f"  {case.id}: {'sandboxed ' if case.sandbox else ''}{case.agent or arm.agent}, "
        f"{len(case.prompt)} characters of prompt, {len(case.checks)} criteria"
        + (f"; cannot run: {case.broken}" if case.broken else "")
        for case in suite.cases
    ]
    count = len(suite.cases)
    total = f"{count} agent runs with {arm.model}, {count} judge calls with {suite.judge['model']}"
    return "\n".join([suite.path, *rows, total])


def _evaluated(
    suite: Suite, chosen: settings.Settings, arguments: argparse.Namespace, tools: Tools
) -> int:
    single = bool(scenario.target(arguments.target)[1])
    # a single scenario writes nothing unless it is asked to (seed 000)
    workspace = arguments.workspace or ("" if single else execution.WORKSPACE)
    options = execution.Options(
        tools,
        jobs=max(1, chosen.value("concurrency")),
        workspace=workspace,
        resume=arguments.resume,
        record=arguments.record or "",
        replay=arguments.replay or "",
        quiet=arguments.quiet,
    )
    meta = {"settings": settings.document(chosen), **_meta(suite, chosen, tools.now())}
    report, _folder = execution.run(suite, options, meta)
    secrets = secrets_in(tools.environ)
    document = redact(sink.document(report), secrets)
    written = _written(document, report, arguments, single=single)
    text = document if arguments.json else sink.render(report, colour=console.colours())
    console.write(redact(text, secrets))
    if written:
        console.note(f"report: {written}")
    return 0 if single else gates.exit_code(report.gates, report.summary)


def _meta(suite: Suite, chosen: settings.Settings, now_s: float) -> dict[str, object]:
    return {
        "skill_version": skill.version(suite.path),
        "timestamp": datetime.fromtimestamp(now_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "backend": chosen.value("backend"),
        "agent_model": chosen.value("model"),
        "judge_model": chosen.value("judge_model"),
        "model_label": chosen.value("model_label"),
        "threshold": chosen.value("threshold"),
    }


def _written(document: str, report: Report, arguments: argparse.Namespace, *, single: bool) -> str:
    """Writes the report and returns its path; "" if none is due, or it cannot be written."""
    output = arguments.output or ""
    if single and not output:
        return ""
    suite, meta = report.suites[0].suite, report.meta
    path = sink.report_path(
        os.path.join(suite.path, "evals", "results", sink.folder_name(meta["agent_model"])),
        meta["timestamp"],
        output=output,
        is_folder=output.endswith("/") or os.path.isdir(output),
    )
    try:
        store.write_text(path, document)
    except OSError as error:
        # the verdict stands, and so does its exit code (spec/scenarios section 15)
        console.note(f"error writing output: {path}: {textfile.reason(error)}")
        return ""
    return path
