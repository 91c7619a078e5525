"""Running suites (seed 002): agents x {with, without the skill} x repeats, graded and compared.

Also takes a tasks.json, to collect with an agent the answers that `run-evals --answers` scores.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

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
    writing,
)
from skilleval import settings as all_settings
from skilleval import skill as skills
from skilleval.errors import UsageError
from skilleval.formats import evals, tasks, triggers
from skilleval.model import SIDES, Arm, Gate, Report, Result, Suite
from skilleval.plaintext import counted
from skilleval.reading import textfile
from skilleval.redaction import REDACTED, redact, secrets_in
from skilleval.runfolder import cleaning, runs, serial
from skilleval.runfolder.runs import StoredRun
from skilleval.settings import Row, Settings, Table
from skilleval.sinks import benchmark, suites, view
from skilleval.tools import Tools
from skilleval.trial import attempts

DEFAULT_AGENT = "opencode"
# what is called alike as an argument and as an option of an arm
_TOLD = ("source_repo", "home", "effort", "max_budget_usd", "pass_env", "fake")
SETTINGS = Table(
    "",
    (
        Row("timeout", attempts.TIMEOUT_S, variable="SKILL_EVAL_AGENT_TIMEOUT", flag="--timeout"),
        Row(
            "retries",
            attempts.RETRIES,
            variable="SKILL_EVAL_AGENT_RETRIES",
            flag="--retries",
            least=0,
        ),
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
        console.write(writing.as_json(shown) if arguments.json else all_settings.render(chosen))
        return 0
    before = None
    if arguments.resume:
        loaded = _loaded(arguments.evals or arguments.target, arguments.skill or "")
        before = execution.earlier(loaded, arguments.workspace, arguments.iteration or 0)
        if before:
            arguments = _as_before(arguments, before, loaded)
            chosen = chosen.resumed(before.meta.get("settings") or {})
    return _run(arguments, chosen, before)


def _run(arguments: argparse.Namespace, chosen: Settings, before: StoredRun | None) -> int:
    """Runs the suite, unless something stands against it. `before` is the run to be resumed."""
    if not (arguments.replay or arguments.dry_run):
        _check_variables(arguments.pass_env or ())
    tools = Tools(environ=_environ(arguments, chosen))
    suite = _suite(arguments, chosen, tools)
    if arguments.shard and not suite.cases:  # no error in a job of a CI matrix
        console.note(f"--shard {arguments.shard} has no case of {suite.path}: nothing to run")
        return gates.PASSED
    _check_answers(arguments, suite, chosen)
    execution.check_resumed(before, suite, _repeats(suite, chosen), tools)
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


def _check_answers(arguments: argparse.Namespace, suite: Suite, chosen: Settings) -> None:
    if arguments.save_answers and len(suite.arms) * _repeats(suite, chosen) > 1:
        raise UsageError(
            "--save-answers keeps one answer of each case: take one --agent, --no-baseline and"
            " --runs 1"
        )


def _as_before(
    arguments: argparse.Namespace, before: StoredRun, suite: Suite
) -> argparse.Namespace:
    """The arguments, and what they do not say as the run to be resumed was told.

    That what they say is no other run, `execution` sees to; an address with a login in it was not
    written down, and has to be given again.
    """
    arms, gates_before = before.suite.arms, before.suite.gates
    options = arms[0].options if arms else {}
    command = options.get("command") or None
    known = {case.id for case in suite.cases}
    told: dict[str, Any] = {
        "agent": [arm.agent for arm in arms],
        "baseline": any(not arm.with_skill for arm in arms),
        "case": [c.id for c in before.suite.cases if c.id in known and not arguments.shard],
        "skill": options.get("skill") if skills.exists(options.get("skill") or "") else None,
        "harness_base_url": options.get("base_url"),
        "agent_command": [command] if isinstance(command, str) else command,
        "threshold": int(gates_before[0].limit * 100) if gates_before else None,
        **{name: options.get(name) for name in _TOLD},
    }
    found = {
        name: value
        for name, value in told.items()
        if getattr(arguments, name) in (None, []) and REDACTED not in str(value)
    }
    given = arguments.agent_model or []
    if not arguments.model and all("=" in each for each in given):
        asked = arguments.agent or told["agent"]
        models = [f"{arm.agent}={arm.model}" for arm in arms if arm.model and arm.agent in asked]
        found["agent_model"] = [*models, *given]
    if not before.suite.judge and arguments.judge_model is arguments.judge_base_url is None:
        found["no_llm_judges"] = True
    return argparse.Namespace(**{**vars(arguments), **found})


def _check_variables(names: Sequence[str]) -> None:
    """Before anything is started: an agent without its key would fail in every trial."""
    for name in names:
        if not os.environ.get(name):
            raise UsageError(
                f"--pass-env {name}: the variable is not set; export it, or leave it out"
            )


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
    suite = suite._replace(arms=_arms(arguments, chosen, folder, _sides(arguments, suite)))
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


def _arms(
    arguments: argparse.Namespace, chosen: Settings, folder: str, sides: Sequence[bool]
) -> tuple[Arm, ...]:
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
        "pass_env": tuple(dict.fromkeys(arguments.pass_env or ())),
        "fake": arguments.fake or "",
    }
    return tuple(
        Arm(f"{name}-{SIDES[with_skill]}", name, models.get(name, ""), with_skill, options)
        for name in names
        for with_skill in sides
    )


def _template(given: Sequence[str]) -> Sequence[str]:
    """The argv of the agent `command`; one text is in the words of a shell, so may have options."""
    if given and not given[0].strip():
        raise UsageError(
            "--agent-command: the program is missing; write how it is called, such as"
            " 'my-agent --print {prompt}'"
        )
    return given[0] if len(given) == 1 else tuple(given)


def _sides(arguments: argparse.Namespace, suite: Suite) -> tuple[bool, ...]:
    """Both arms, unless told otherwise.

    Answers are collected with the skill alone; whether it triggers cannot be seen without it.
    """
    both = arguments.baseline
    if both is None:
        both = suite.meta.get("baseline", True) and not arguments.save_answers
    return (True, False) if both else (True,)


def _models(arguments: argparse.Namespace, names: list[str]) -> dict[str, str]:
    """The model of each agent; a bare one is for all that have none of their own (seed 002)."""
    named, bare = {}, arguments.model or ""
    for given in arguments.agent_model or ():
        agent, equals, model = given.partition("=")
        if not equals:
            agent, model = "", given
        elif not agent:
            raise UsageError(
                f"--agent-model {given!r}: the agent is missing; write AGENT=MODEL, or MODEL alone"
            )
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
    count = counted(plan.count(suite, repeats=repeats), "agent run")
    cases, arms = counted(len(suite.cases), "case"), counted(len(suite.arms), "arm")
    asked = counted(judging.asked(suite), "assertion")
    judge = f"judge {suite.judge['model']}" if suite.judge else "no judge"
    return "\n".join(
        [
            suite.path,
            *rows,
            f"{cases} x {arms} x {repeats} = {count}",
            f"for the judge: {asked} of the cases ({judge})",
        ]
    )


def _repeats(suite: Suite, chosen: Settings) -> int:
    """A list of queries says itself how often each should be tried, unless somebody else does."""
    default = int(suite.meta.get("runs", 1))
    return int(chosen.value("runs")) if chosen.is_set("runs") else default


def _evaluated(suite: Suite, chosen: Settings, arguments: argparse.Namespace, tools: Tools) -> int:
    if arguments.save_answers:  # a run that costs must not find out after its first trial
        place = os.path.join(arguments.save_answers, suite.skill)
        with writing.guarded(place):
            writing.make_folder(place)
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
        keep=_keeping(suite, arguments.save_answers or "", tools.environ),
        budget_usd=arguments.max_budget_usd,
        command=arguments.command_line,
    )
    meta = {"settings": all_settings.document(chosen), "timestamp": execution.timestamp(tools)}
    report, folder, kept = execution.run(suite, options, meta)
    seen = view.of(report.suites[0])
    files = benchmark.files(seen.comparison, seen.report, meta)
    if folder:
        try:
            for name, document in files.items():
                folder.write(name, document)
        except OSError as error:  # a full disk must not cost the results
            console.note(f"warning: {folder.folder}/benchmark.json: {textfile.reason(error)}")
        if not arguments.quiet:
            console.note(f"results: {folder.folder}")
    if arguments.json:
        console.write(writing.as_json(files["benchmark.json"]))
    else:
        text = suites.render(seen, colour=console.colours())
        console.write(announcement.shown(text, tools.environ))
    announcement.announce([seen], tools.environ)
    if arguments.cleanup and folder:
        _clean(folder.folder, tools)
    if not kept or _is_cut(report):
        return gates.NOT_MEASURED
    return gates.exit_code(report.gates, report.summary)


def _clean(folder: str, tools: Tools) -> None:
    """Removes what the run's manifest lists, as `cleanup` does (seed 002); the flag is the yes."""
    found = cleaning.leftovers(folder, tools)
    with writing.guarded(folder):
        problems = cleaning.remove(found, tools)
    for warning in found.refused:
        console.note(f"warning: {warning}")
    for problem in problems:
        console.note(f"error: {problem}")
    if found.texts:
        console.note(f"cleanup: removed {len(found.texts) - len(problems)} of {len(found.texts)}")


def _keeping(suite: Suite, folder: str, environ: Mapping[str, str]) -> Callable[[Result], Result]:
    """What is kept of a result in memory, for the reports: no secret, and nothing large.

    With a folder, each answer goes where `run-evals --answers` looks for it (seed 001).
    """
    secrets = secrets_in(environ, suite.pass_env)

    def kept(result: Result) -> Result:
        if folder and result.outcome.status == "ok":
            path = os.path.join(folder, suite.skill, f"{result.trial.case_id}.md")
            with writing.guarded(path):
                writing.write_text(path, redact(result.outcome.output, secrets))
        return _redacted(runs.light(result), secrets)

    return kept


def _redacted(result: Result, secrets: Sequence[str]) -> Result:
    whole = writing.as_json(result)
    text = redact(whole, secrets)
    return result if text == whole else serial.from_json(Result, json.loads(text))


def _is_cut(report: Report) -> bool:
    """Did the budget keep any trial from its start or its end?"""
    return any(r.outcome.failure == "budget" for suite in report.suites for r in suite.results)
