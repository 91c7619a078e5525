"""Running suites (seed 002): agents x {with, without the skill} x repeats, graded and compared.

Also takes a tasks.json, to collect with an agent the answers that `run-evals --answers` scores.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from skilleval import (
    agents,
    announcement,
    console,
    evaluation,
    execution,
    formats,
    gates,
    judging,
    plan,
)
from skilleval import settings as all_settings
from skilleval import skill as skills
from skilleval.errors import UsageError
from skilleval.formats import evals, tasks, triggers
from skilleval.model import SIDES, Arm, Gate, Report, Result, Suite
from skilleval.reading import textfile
from skilleval.runfolder import runs, store
from skilleval.settings import Row, Settings, Table
from skilleval.sinks import benchmark, suites, view
from skilleval.tools import Tools

DEFAULT_AGENT = "opencode"
SETTINGS = Table(
    "",
    (
        Row("timeout", 600, variable="SKILL_EVAL_AGENT_TIMEOUT", flag="--timeout"),
        Row("retries", 1, variable="SKILL_EVAL_AGENT_RETRIES", flag="--retries", least=0),
        Row("runs", 1, flag="--runs"),
        Row("concurrency", 1, flag="--concurrency"),
        *judging.ROWS,
    ),
)


def run(arguments: argparse.Namespace) -> int:
    """Runs the suite, prints the comparison, and returns the exit code."""
    chosen = all_settings.resolve(vars(arguments), os.environ, os.curdir, SETTINGS)
    for warning in chosen.warnings:
        console.note(f"warning: {warning}")
    if arguments.print_config:
        shown = all_settings.document(chosen)
        console.write(store.as_json(shown) if arguments.json else all_settings.render(chosen))
        return 0
    tools = Tools(environ=_environ(arguments, chosen))
    suite = _suite(arguments, chosen, tools)
    for warning in (*suite.meta.get("warnings", ()), *judging.warnings(suite)):
        console.note(f"warning: {warning}")
    if arguments.dry_run:
        console.write(_planned(suite, _repeats(suite, chosen)))
        return 0
    problems = () if arguments.replay else evaluation.preflight(suite, tools)
    for problem in problems:
        console.note(f"error: {problem}")
    if problems:
        return gates.NOT_MEASURED
    return _evaluated(suite, chosen, arguments, tools)


def _environ(arguments: argparse.Namespace, chosen: Settings) -> Mapping[str, str]:
    environ = chosen.environment(os.environ)
    if arguments.keep_workspaces:
        environ["SKILL_EVAL_KEEP_WORKSPACE"] = "1"
    return environ


def _suite(arguments: argparse.Namespace, chosen: Settings, tools: Tools) -> Suite:
    """The suite with its arms, gates and judge, of the selected cases."""
    path = arguments.evals or arguments.target
    suite = _loaded(path, arguments.skill or "")
    folder = arguments.skill or suite.meta.get("skill") or skills.owner(suite.path)
    if not arguments.skill and not (folder and skills.exists(folder)):
        folder = _beside(suite)
    if not skills.exists(folder):
        raise UsageError(f"{folder or path}: no SKILL.md there; name the skill with --skill DIR")
    suite = plan.selected(suite, arguments.case)
    if arguments.shard:
        suite = plan.shard(suite, arguments.shard)
    suite = suite._replace(arms=_arms(arguments, chosen, folder))
    threshold = arguments.threshold
    limits = () if threshold is None else (Gate("score", ">=", Fraction(threshold, 100)),)
    # an empty name switches the judge off, too (seed 002)
    unwanted = arguments.no_llm_judges or arguments.judge_model == ""
    judge = {} if unwanted else judging.settings(chosen, tools.environ)
    return suite._replace(gates=limits, judge=judge)


def _loaded(path: str, skill: str) -> Suite:
    """The suite of a file by its name; one of an unknown name is taken for an evals.json."""
    names = formats.owners(path)
    if "suites" not in names and "fixtures" in names:
        return tasks.load(path)
    if "suites" not in names and "triggers" in names:
        return triggers.load(path, skill=skill)
    return evals.load(path, skill=skill)


def _beside(suite: Suite) -> str:
    """The skill of a suite that lies elsewhere: skills/<name> in a folder above it."""
    folder = os.path.dirname(os.path.abspath(suite.path))
    while True:
        found = os.path.join(folder, "skills", suite.skill)
        above = os.path.dirname(folder)
        if skills.exists(found) or above == folder:
            return found
        folder = above


def _arms(arguments: argparse.Namespace, chosen: Settings, folder: str) -> tuple[Arm, ...]:
    names = list(dict.fromkeys(arguments.agent or [DEFAULT_AGENT]))
    for name in names:
        agents.get(name)
    models = _models(arguments, names)
    options = {
        "skill": folder,
        "skill_digest": skills.digest(folder),
        "timeout_s": float(chosen.value("timeout")),
        "retries": chosen.value("retries"),
        "base_url": arguments.harness_base_url or "",
        "source_repo": arguments.source_repo or "",
        "home": arguments.home or "isolated",
        "effort": arguments.effort or "",
        "max_budget_usd": arguments.max_budget_usd,
        "command": _template(arguments.agent_command or ()),
        "fake": arguments.fake or "",
    }
    return tuple(
        Arm(f"{name}-{SIDES[with_skill]}", name, models.get(name, ""), with_skill, options)
        for name in names
        for with_skill in _sides(arguments)
    )


def _template(given: Sequence[str]) -> Sequence[str]:
    """The argv of the agent `command`; one text is in the words of a shell, so may have options."""
    return given[0] if len(given) == 1 else tuple(given)


def _sides(arguments: argparse.Namespace) -> tuple[bool, ...]:
    """Both arms of a suite, unless told otherwise; answers are collected with the skill alone."""
    baseline = arguments.baseline
    both = baseline or (baseline is None and not arguments.save_answers)
    return (True, False) if both else (True,)


def _models(arguments: argparse.Namespace, names: list[str]) -> dict[str, str]:
    """The model of each agent; a bare one is for all that have none of their own (seed 002)."""
    named, bare = {}, arguments.model or ""
    for given in arguments.agent_model or ():
        agent, equals, model = given.partition("=")
        if not equals:
            agent, model = "", given
        if not model:
            raise UsageError(f"--agent-model {given!r}: the model is missing")
        if agent and agent not in names:
            raise UsageError(f"--agent-model {given!r}: --agent has only {', '.join(names)}")
        if agent:
            named[agent] = model
        else:
            bare = model
    return {name: named.get(name, bare) for name in names}


def _planned(suite: Suite, repeats: int) -> str:
    rows = [f"  {arm.name}: {arm.model or 'its own model'}" for arm in suite.arms]
    count = len(suite.cases) * len(suite.arms) * repeats
    asked = judging.asked(suite)
    judge = f"judge {suite.judge['model']}" if suite.judge else "no judge"
    return "\n".join(
        [
            suite.path,
            *rows,
            f"{len(suite.cases)} cases x {len(suite.arms)} arms x {repeats} = {count} agent runs",
            f"{asked} of the assertions of the cases need a judge ({judge})",
        ]
    )


def _repeats(suite: Suite, chosen: Settings) -> int:
    """A list of queries says itself how often each should be tried, unless somebody else does."""
    default = int(suite.meta.get("runs", 1))
    return int(chosen.value("runs")) if chosen.is_set("runs") else default


def _evaluated(suite: Suite, chosen: Settings, arguments: argparse.Namespace, tools: Tools) -> int:
    options = execution.Options(
        tools,
        jobs=chosen.value("concurrency"),
        repeats=_repeats(suite, chosen),
        workspace=arguments.workspace or execution.WORKSPACE,
        iteration=arguments.iteration or 0,
        resume=arguments.resume,
        record=arguments.record or "",
        replay=arguments.replay or "",
        quiet=arguments.quiet,
        keep=_saving(suite, arguments.save_answers) if arguments.save_answers else runs.light,
        budget_usd=arguments.max_budget_usd,
    )
    report, folder = execution.run(suite, options, {"settings": all_settings.document(chosen)})
    seen = view.of(report.suites[0])
    files = benchmark.files(seen.comparison, seen.report)
    if folder:
        try:
            for name, document in files.items():
                folder.write(name, document)
        except OSError as error:  # a full disk must not cost the results
            console.note(f"warning: {folder.folder}/benchmark.json: {textfile.reason(error)}")
        if not arguments.quiet:
            console.note(f"results: {folder.folder}")
    if arguments.json:
        console.write(store.as_json(files["benchmark.json"]))
    else:
        text = suites.render(seen, colour=console.colours())
        console.write(announcement.shown(text, tools.environ))
    announcement.announce([seen], tools.environ)
    return _exit_code(report)


def _saving(suite: Suite, folder: str) -> Callable[[Result], Result]:
    """Writes each answer where `run-evals --answers` looks for it (seed 001)."""

    def saved(result: Result) -> Result:
        if result.outcome.status == "ok":
            path = os.path.join(folder, suite.skill, f"{result.trial.case_id}.md")
            store.write_text(path, result.outcome.output)
        return runs.light(result)

    return saved


def _exit_code(report: Report) -> int:
    if any(r.outcome.failure == "budget" for suite in report.suites for r in suite.results):
        return gates.NOT_MEASURED
    return gates.exit_code(report.gates, report.summary)
