"""Running suites (seed 002): agents x {with, without the skill} x repeats, graded and compared.

Also takes a tasks.json, to collect with an agent the answers that `run-evals --answers` scores.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from skilleval import (
    console,
    evaluation,
    execution,
    formats,
    gates,
    judging,
    lineup,
    plan,
    writing,
)
from skilleval import settings as all_settings
from skilleval import skill as skills
from skilleval.errors import UsageError
from skilleval.formats import evals, tasks, triggers
from skilleval.model import Gate, Result, Suite
from skilleval.redaction import REDACTED, redact, secrets_in
from skilleval.runfolder import runs, serial
from skilleval.runfolder.runs import StoredRun
from skilleval.settings import Row, Settings, Table
from skilleval.tools import Tools
from skilleval.trial import attempts

# what is called alike as an argument and as an option of an arm
_TOLD = ("source_repo", "home", "effort", "max_budget_usd", "pass_env", "fake")
_FEW = 3  # of the lines on what is wrong with a skill
SETTINGS = Table(
    "",
    (
        Row(
            "timeout",
            attempts.TIMEOUT_S,
            variable="SKILL_EVAL_AGENT_TIMEOUT",
            flag="--timeout",
            bounded=True,
        ),
        Row(
            "retries",
            attempts.RETRIES,
            variable="SKILL_EVAL_AGENT_RETRIES",
            flag="--retries",
            least=0,
            bounded=True,
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
        seen = _as_run(arguments, chosen)
        shown = all_settings.document(seen)
        console.write(writing.as_json(shown) if arguments.json else all_settings.render(seen))
        return 0
    lineup.check(arguments)
    before = None
    if arguments.resume:
        loaded = _loaded(arguments.evals or arguments.target, arguments.skill or "")
        before = execution.earlier(loaded, arguments.workspace, arguments.iteration or 0)
        if before:
            if not arguments.quiet:
                console.note(f"going on with {before.folder}")
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
    for warning in _warnings(arguments, suite, before):
        console.note(f"warning: {warning}")
    if arguments.dry_run:
        from skilleval.sinks import planned

        form = planned.document if arguments.json else planned.render
        console.write(form(suite, _repeats(suite, chosen)))
        return 0
    problems = () if arguments.replay else evaluation.preflight(suite, tools)
    for problem in problems:
        console.note(f"error: {problem}")
    if problems:
        return gates.NOT_MEASURED
    return _evaluated(suite, chosen, arguments, tools)


def _as_run(arguments: argparse.Namespace, chosen: Settings) -> Settings:
    """The settings with what the command line and the keys make of agents and judge."""
    judge = judging.shown(chosen, os.environ, _unwanted(arguments))
    return chosen._replace(chosen={**chosen.chosen, **judge, **lineup.shown(arguments)})


def _unwanted(arguments: argparse.Namespace) -> str:
    """The option that switches the judge off; "" if none does. An empty name does (seed 002)."""
    if arguments.no_llm_judges:
        return "--no-llm-judges"
    return "--judge-model ''" if arguments.judge_model == "" else ""


def _warnings(
    arguments: argparse.Namespace, suite: Suite, before: StoredRun | None
) -> Iterator[str]:
    """What one should know before the run starts."""
    yield from _of_skill(suite.arms[0].options["skill"])
    yield from suite.meta.get("warnings", ())
    yield from lineup.warnings(suite)
    unwanted = _unwanted(arguments)
    why = f"as {unwanted} says" if unwanted else ""
    yield from judging.warnings(suite, "as in the run so far" if before and why else why)


def _of_skill(folder: str) -> Iterator[str]:
    """What is wrong with the SKILL.md that is run all the same (seed 002), not at length."""
    from skilleval import validation
    from skilleval.sinks.problems import line

    lines = list(map(line, validation.skill_errors(folder)))
    yield from lines[:_FEW]
    if len(lines) > _FEW:
        yield f"{len(lines) - _FEW} more: skilleval validate {shlex.quote(folder)}"


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
    command = options.get("command")
    known = {case.id for case in suite.cases}
    told: dict[str, Any] = {
        "agent": [arm.agent for arm in arms],
        "baseline": any(not arm.with_skill for arm in arms),
        "case": [c.id for c in before.suite.cases if c.id in known and not arguments.shard],
        "skill": options.get("skill") if skills.exists(options.get("skill") or "") else None,
        "harness_base_url": options.get("base_url"),
        "agent_command": [shlex.join(command)] if command else None,
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
    suite = suite._replace(arms=lineup.arms(arguments, chosen, folder, suite))
    judge = {} if _unwanted(arguments) else judging.settings(chosen, tools.environ)
    return suite._replace(gates=_gates(arguments.threshold), judge=judge)


def _gates(threshold: int | None) -> tuple[Gate, ...]:
    if threshold is None:
        return ()
    from fractions import Fraction

    return (Gate("score", ">=", Fraction(threshold, 100)),)


def _loaded(path: str, skill: str) -> Suite:
    """The suite of a file by its name; one of an unknown name is taken for an evals.json."""
    names = formats.owners(path)
    if "suites" not in names and "fixtures" in names:
        return tasks.load(path)._replace(rules=tasks.RUN_RULES)
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
        meanwhile=partial(import_module, "skilleval.commands.suite_results"),
    )
    meta = {"settings": all_settings.document(chosen), "timestamp": execution.timestamp(tools)}
    with execution.run(suite, options, meta) as ended:
        from skilleval.commands import suite_results

        return suite_results.report(ended, arguments, tools)


def _keeping(suite: Suite, folder: str, environ: Mapping[str, str]) -> Callable[[Result], Result]:
    """What is kept of a result in memory, for the reports: no secret, and nothing large.

    With a folder, each answer goes where `run-evals --answers` looks for it (seed 001).
    """
    secrets = secrets_in(environ, suite.pass_env)
    shared = runs.sharing()

    def kept(result: Result) -> Result:
        if folder and result.outcome.status == "ok":
            path = os.path.join(folder, suite.skill, f"{result.trial.case_id}.md")
            with writing.guarded(path):
                writing.write_text(path, redact(result.outcome.output, secrets))
        return shared(_redacted(runs.light(result), secrets))

    return kept


def _redacted(result: Result, secrets: Sequence[str]) -> Result:
    said = "\n".join(_texts(result))
    if redact(said, secrets) == said:  # as good as always
        return result
    text = redact(writing.as_json(result), secrets)
    return serial.from_json(Result, json.loads(text))


def _texts(value: Any) -> list[str]:
    """All texts in a noun or plain value."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        value = (*value, *value.values())
    if not isinstance(value, tuple | list):
        return []
    return [text for each in value if each for text in _texts(each)]
