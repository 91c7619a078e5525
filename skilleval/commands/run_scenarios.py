"""Running scenario folders (seed 000): agent, judge, score, the dated report.

A skill folder runs all its scenarios and exits 1 below the threshold; one scenario folder is for
debugging: it writes nothing unless `--output` says so, and always exits 0.
"""

from __future__ import annotations

import argparse
import os
from datetime import UTC, datetime

from skilleval import console, evaluation, execution, gates, plan, settings, skill
from skilleval.errors import SuiteError
from skilleval.formats import scenario
from skilleval.model import Report, Suite
from skilleval.reading import textfile
from skilleval.redaction import redact, secrets_in
from skilleval.runfolder import store
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
        suite = plan.selected(scenario.load(arguments.target), arguments.case)
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
    report, folder = execution.run(suite, options, meta)
    secrets = secrets_in(tools.environ)
    document = redact(sink.document(report), secrets)
    written = _written(document, report, arguments, folder, single=single)
    text = document if arguments.json else sink.render(report, colour=console.colours())
    console.write(redact(text, secrets))
    if written and not arguments.quiet:
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


def _written(
    document: str,
    report: Report,
    arguments: argparse.Namespace,
    folder: store.Run | None,
    *,
    single: bool,
) -> str:
    """Writes the report and returns its path; "" if none is due, or it cannot be written.

    The verdict stands then, and so does its exit code (spec/scenarios section 15); the run stays
    open, so that `--resume` makes the report from what is stored.
    """
    output = arguments.output or ""
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
        store.write_text(path, document)
    except OSError as error:
        hint = ""
        if folder:
            store.reopen(folder)
            hint = "; --resume tries again and repeats nothing that is finished"
        console.note(f"error writing output: {path}: {textfile.reason(error)}{hint}")
        return ""
    return path
