"""Running scenario folders (seed 000): agent, judge, score, the dated report.

A skill folder runs all its scenarios and exits 1 below the threshold; one scenario folder is for
debugging: it writes nothing unless `--output` says so, and always exits 0.
"""

from __future__ import annotations

import argparse
import os

from skilleval import (
    announcement,
    console,
    evaluation,
    execution,
    gates,
    plan,
    settings,
    skill,
    writing,
)
from skilleval.errors import SuiteError
from skilleval.formats import scenario
from skilleval.model import Report, Suite
from skilleval.plaintext import counted
from skilleval.reading import textfile
from skilleval.redaction import redact, secrets_in
from skilleval.runfolder import store
from skilleval.runfolder.runs import StoredRun
from skilleval.sinks import planned
from skilleval.sinks import scenarios as sink
from skilleval.tools import Tools


def run(arguments: argparse.Namespace) -> int:
    """Runs, prints, writes the report, and returns the exit code."""
    chosen = settings.resolve(vars(arguments), os.environ, os.curdir, scenario.SETTINGS)
    for warning in chosen.warnings:
        console.note(f"warning: {warning}")
    if arguments.print_config:
        console.write(_shown(chosen, arguments.json))
        return 0
    try:
        suite = scenario.load(arguments.target)
    except SuiteError as error:
        console.note(f"error: {error.message}")
        return gates.BELOW  # the seed's exit code for what cannot start (spec/scenarios 16)
    before, wanted = None, arguments.case
    if arguments.resume:
        before = execution.earlier(suite, arguments.workspace, arguments.iteration or 0)
    if before:
        chosen, wanted = _as_before(arguments, before, suite, chosen)
    suite = scenario.configured(plan.selected(suite, wanted), chosen)
    for warning in suite.meta["warnings"]:
        console.note(f"warning: {warning}")
    if arguments.dry_run:
        console.write(planned.document(suite, 1) if arguments.json else _planned(suite))
        return 0
    tools = Tools(environ=chosen.environment(os.environ))
    execution.check_resumed(before, suite, 1, tools)
    problems = [] if arguments.replay else evaluation.preflight(suite, tools)
    for problem in problems:
        console.note(f"error: {problem}")
    if problems:
        return gates.BELOW
    return _evaluated(suite, chosen, arguments, tools)


def _as_before(
    arguments: argparse.Namespace, before: StoredRun, suite: Suite, chosen: settings.Settings
) -> tuple[settings.Settings, list[str]]:
    """Settings and cases: what the command line does not say is as it was."""
    if not arguments.quiet:
        console.note(f"going on with {before.folder}")
    known = {case.id for case in suite.cases}
    wanted = arguments.case or [case.id for case in before.suite.cases if case.id in known]
    return chosen.resumed(before.meta.get("settings") or {}), wanted


def _shown(chosen: settings.Settings, as_json: bool) -> str:
    return writing.as_json(settings.document(chosen)) if as_json else settings.render(chosen)


def _planned(suite: Suite) -> str:
    [arm] = suite.arms
    rows = [
        f"  {case.id}: {'sandboxed ' if case.sandbox else ''}{case.agent or arm.agent}, "
        f"{len(case.prompt)} characters of prompt, {len(case.checks)} criteria"
        + (f"; cannot run: {case.broken}" if case.broken else "")
        for case in suite.cases
    ]
    runs, calls = (counted(len(suite.cases), noun) for noun in ("agent run", "judge call"))
    total = f"{runs} with {arm.model}, {calls} with {suite.judge['model']}"
    return "\n".join([suite.path, *rows, total])


def _evaluated(
    suite: Suite, chosen: settings.Settings, arguments: argparse.Namespace, tools: Tools
) -> int:
    single = bool(scenario.target(arguments.target)[1])
    # a single scenario writes nothing unless it is asked to (seed 000)
    named = not single or arguments.iteration
    workspace = arguments.workspace or (execution.WORKSPACE if named else "")
    options = execution.Options(
        tools,
        jobs=max(1, chosen.value("concurrency")),
        workspace=workspace,
        iteration=arguments.iteration or 0,
        resume=arguments.resume,
        record=arguments.record or "",
        replay=arguments.replay or "",
        quiet=arguments.quiet,
        command=arguments.command_line,
    )
    meta = {
        "settings": settings.document(chosen),
        **_meta(suite, chosen, execution.timestamp(tools)),
    }
    with execution.run(suite, options, meta) as (report, folder, kept):
        secrets = secrets_in(tools.environ)
        document = redact(sink.document(report), secrets)
        again = execution.resume_command(options, folder)
        written = _written(document, report, arguments, folder, again)
    text = document if arguments.json else sink.render(report, colour=console.colours())
    console.write(announcement.shown(redact(text, secrets), tools.environ))
    if written and not arguments.quiet:
        console.note(f"report: {written}")
    if not kept:
        return gates.NOT_MEASURED
    return 0 if single else gates.exit_code(report.gates, report.summary)


def _meta(suite: Suite, chosen: settings.Settings, timestamp: str) -> dict[str, object]:
    return {
        "skill_version": skill.version(suite.path),
        "timestamp": timestamp,
        "backend": chosen.value("backend"),
        "agent_model": chosen.value("model"),
        "judge_model": chosen.value("judge_model"),
        "model_label": chosen.value("model_label"),
        "threshold": chosen.value("threshold"),
    }


def _written(
    document: str,
    report: Report,
    arguments: argparse.Namespace,
    folder: store.Run | None,
    again: str,
) -> str:
    """Writes the report and returns its path; "" if none is due, or it cannot be written.

    The verdict stands then, and so does its exit code (spec/scenarios section 15); the run stays
    open, so that the command `again` makes the report from what is stored.
    """
    if any(result.outcome.refused for result in report.suites[0].results):
        return ""  # a scenario that nobody started has no score, and 0 would be taken for one
    single, output = bool(scenario.target(arguments.target)[1]), arguments.output or ""
    # a replay measures nothing, so nothing of it belongs among the results of the skill
    if (single or arguments.replay) and not output:
        return ""
    suite, meta = report.suites[0].suite, report.meta
    path = sink.report_path(
        os.path.join(suite.path, "evals", "results", sink.folder_name(meta["agent_model"])),
        meta["timestamp"],
        output=output,
        is_folder=output.endswith("/") or os.path.isdir(output),
    )
    try:
        writing.write_text(path, document)
    except OSError as error:
        hint = ""
        if folder:
            store.reopen(folder)
            hint = f"; to try again, which repeats nothing that is finished:\n  {again}"
        console.note(f"error writing output: {path}: {textfile.reason(error)}{hint}")
        return ""
    return path
