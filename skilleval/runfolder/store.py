"""The run folder: every result on disk the moment it is known. Owns its layout and all writing.

The layout is that of seed 002, for every format:

    <base>/<suite>-workspace/iteration-N/
        run.json                what was run: suite, arms, settings with their sources
        evals_meta.json         the cases, in the fields of evals.json
        cleanup.json            what the agents left outside: branches, pull requests, workspaces
        eval-<case>/<agent>/<with_skill|without_skill>[/run-N]/
            trial.json          the whole result, and the key of its content
            grading.json  timing.json  run_meta.json
            outputs/output.txt  stdout.log  stderr.log  pre_state.json  post_state.json
        summary.json            written last: a folder without one is an unfinished run

All writes are atomic: a killed run leaves whole files or none. Owns no meaning: what a result is
worth, `aggregate` says.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

from skilleval import placement, writing
from skilleval.errors import SuiteError, UsageError
from skilleval.model import SIDES, Arm, Case, Gate, Report, Result, Suite, Trial
from skilleval.reading import jsonread, textfile
from skilleval.redaction import redact
from skilleval.runfolder import artefacts, serial

# as seed 002 calls it in grading.json
METHODS = {"judge": "llm"}
RUN, SUMMARY, TRIAL, CLEANUP = "run.json", "summary.json", "trial.json", artefacts.NAME
SUPERSEDED = "superseded.json"
_PREFIX = "iteration-"


class Run(NamedTuple):
    """One run of a suite in its folder. `repeats`: more than one repeat per case and arm.

    `secrets` are texts that no file of the run may hold. `run_id` is of one start of the command
    that runs trials; it is empty where they are only read, or graded again.
    """

    folder: str
    suite: Suite
    repeats: bool = False
    secrets: tuple[str, ...] = ()
    run_id: str = ""

    @property
    def number(self) -> int | None:
        """That of its iteration; None for a folder of another name."""
        number = os.path.basename(self.folder).removeprefix(_PREFIX)
        return int(number) if number.isdecimal() else None

    def write(self, name: str, content: Any) -> None:
        """Writes a file of the run: text as it is, anything else as JSON. Raises `OSError`."""
        pieces = [content] if isinstance(content, str) else writing.pieces(content)
        safe = (redact(piece, self.secrets) for piece in pieces)
        writing.write_text(os.path.join(self.folder, name), safe)


def create(base: str, suite: Suite, *, iteration: int = 0) -> Run:
    """A new run folder, the next iteration unless one is named.

    Raises `UsageError` if the named one is there already: runs are never mixed.
    """
    parent = os.path.join(base, f"{suite.name}-workspace")
    os.makedirs(parent, exist_ok=True)
    number = iteration or (_iterations(parent) or [0])[-1] + 1
    while True:
        folder = os.path.join(parent, f"{_PREFIX}{number}")
        try:
            os.mkdir(folder)
            break
        except FileExistsError:
            if iteration:
                raise UsageError(
                    f"{folder} is there already: take another --iteration, or --resume it"
                ) from None
            number += 1  # another run has taken it in the meantime
    placement.spread(folder)
    return Run(folder, suite, run_id=_new_id())


def _new_id() -> str:
    return os.urandom(4).hex()


def _iterations(parent: str) -> list[int]:
    try:
        names = os.listdir(parent)
    except OSError:
        return []
    numbers = [name.removeprefix(_PREFIX) for name in names if name.startswith(_PREFIX)]
    return sorted(int(number) for number in numbers if number.isdecimal())


def resumable(base: str, suite: Suite, *, iteration: int = 0) -> list[Run]:
    """The runs of the suite that may be gone on with, newest first; only the named one, if any is.

    Those are the newest, whatever its state, and the older ones that have no summary yet. Raises
    `UsageError` if there is no run, or not this one.
    """
    parent = os.path.join(base, f"{suite.name}-workspace")
    folders = {n: os.path.join(parent, f"{_PREFIX}{n}") for n in _iterations(parent)}
    numbers = [number for number, folder in folders.items() if os.path.isdir(folder)]
    if not numbers:
        raise UsageError(f"{parent}: no run to resume; leave out --resume to start one")
    if iteration and iteration not in numbers:
        known = ", ".join(map(str, numbers))
        raise UsageError(
            f"{parent}: there is no iteration {iteration} to resume; there are: {known}"
        )
    *older, newest = [iteration] if iteration else numbers
    begun = [number for number in older if not os.path.exists(f"{folders[number]}/{SUMMARY}")]
    found = [newest, *reversed(begun)]
    return [Run(folders[number], suite, run_id=_new_id()) for number in found]


def key(suite: Suite, trial: Trial) -> str:
    """What a trial is about, as a hash of its content: not its name and not its position.

    An edited prompt, file, skill, check, model or judge makes it another trial; another budget
    does not, else a larger one would pay for everything again. Nor does another place: the same
    suite may be reached from another folder, or be spelled otherwise.
    """
    case = next(case for case in suite.cases if case.id == trial.case_id)
    arm = next(arm for arm in suite.arms if arm.name == trial.arm)
    files = tuple(_digests(case))
    described = (_without_place(case), _without_path(arm), suite.rules, suite.judge, files)
    content = serial.to_json((*described, trial.repeat))
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _without_place(case: Case) -> Case:
    annotations = {name: each for name, each in case.annotations.items() if name != "fixtures"}
    return case._replace(source="", annotations=annotations)


def _without_path(arm: Arm) -> Arm:
    """Without its budget, and with the name of the skill, which agents see, for its path."""
    options = {name: value for name, value in arm.options.items() if name != "max_budget_usd"}
    if options.get("skill"):
        options["skill"] = os.path.basename(os.path.abspath(str(options["skill"])))
    return arm._replace(options=options)


def _digests(case: Case) -> Iterator[tuple[str, str]]:
    """Of the files that a case of a suite is given, with their names; what is missing has none."""
    folder = str(case.annotations.get("fixtures") or "")
    for name in case.files if folder else ():
        path = os.path.join(folder, name)
        inside = [os.path.join(at, file) for at, _, files in os.walk(path) for file in files]
        for file in sorted(inside) or [path]:
            with contextlib.suppress(OSError):
                content = hashlib.sha256(textfile.read_bytes(file)).hexdigest()
                yield os.path.relpath(file, folder).replace(os.sep, "/"), content


def save(run: Run, result: Result) -> None:
    """Writes a result to its folder; trial.json last, so that it stands for all. Raises OSError."""
    trial = result.trial
    case = next(case for case in run.suite.cases if case.id == trial.case_id)
    arm = next(arm for arm in run.suite.arms if arm.name == trial.arm)
    folder = trial_folder(run, trial, arm)
    _make_room(os.path.dirname(os.path.join(run.folder, folder)))
    outcome = result.outcome
    run.write(f"{folder}/outputs/output.txt", outcome.output)
    run.write(f"{folder}/outputs/stdout.log", outcome.stdout)
    run.write(f"{folder}/outputs/stderr.log", outcome.stderr)
    for name, state in (("pre_state", outcome.before), ("post_state", outcome.after)):
        if state:
            run.write(f"{folder}/outputs/{name}.json", state.git or {})
    run.write(f"{folder}/timing.json", _timing(result))
    run.write(f"{folder}/grading.json", grading(case, result))
    if run.run_id:  # else it is graded again, and stays of the run that it was made in
        run.write(f"{folder}/run_meta.json", _run_meta(run, arm, result))
    stored = result._replace(outcome=outcome._replace(stdout="", stderr=""))
    run.write(f"{folder}/{TRIAL}", {"key": key(run.suite, trial), "result": stored})


def _make_room(folder: str) -> None:
    """For the folders of trials, in which file systems need not look for room near by."""
    if not os.path.isdir(folder):
        os.makedirs(folder, exist_ok=True)
        placement.spread(folder)


def trial_folder(run: Run, trial: Trial, arm: Arm) -> str:
    """Where a trial's files are, relative to the run's folder."""
    parts = [f"eval-{trial.case_id}", arm.agent, SIDES[arm.with_skill]]
    return "/".join([*parts, *([f"run-{trial.repeat}"] if run.repeats else [])])


def begin(run: Run, manifest: Mapping[str, Any]) -> None:
    """Writes what is run before anything is: cases, settings, and the list of artefacts.

    Raises `OSError`, and `SuiteError` if that list is of an earlier start and damaged.
    """
    run.write(CLEANUP, artefacts.manifest(run.suite, (), artefacts.listed(run.folder)))
    run.write(RUN, manifest)
    run.write("evals_meta.json", _evals_meta(run.suite))


def _evals_meta(suite: Suite) -> dict[str, Any]:
    evals = [
        {
            "id": case.id,
            "prompt": case.prompt,
            "expected_output": case.expected,
            "files": case.files,
            "assertions": [check.text for check in case.checks],
            "should_trigger": case.should_trigger,
            "force_skill_invocation": bool(case.annotations.get("force")),
            "stage_files": bool(case.annotations.get("stage")),
        }
        for case in suite.cases
    ]
    return {"skill_name": suite.skill, "evals": evals, "source_repo": artefacts.source_repo(suite)}


def _timing(result: Result) -> dict[str, Any]:
    outcome, usage = result.outcome, result.outcome.usage
    known = usage.input is not None and usage.output is not None
    return {
        "total_tokens": (usage.input or 0) + (usage.output or 0) if known else None,
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cached_tokens": usage.cached,
        "non_cached_input_tokens": usage.uncached,
        "cache_creation_tokens": usage.cache_creation,
        "reasoning_output_tokens": usage.reasoning,
        "cost_usd": usage.cost_usd,
        "cost_usd_source": usage.cost_source or None,
        "duration_ms": None if outcome.seconds is None else round(outcome.seconds * 1000),
        "exit_code": outcome.exit_code,
        "timed_out": outcome.timed_out,
        "retries": outcome.attempts - 1,
    }


def grading(case: Case, result: Result) -> dict[str, Any]:
    """What grading.json holds, in the fields of seed 002: a row for each check of the case."""
    rows = [
        {
            "text": check.text,
            "passed": verdict.status == "pass",
            "method": METHODS.get(verdict.method, verdict.method),
            "skipped": verdict.status in ("skip", "error"),
            "evidence": verdict.reason,
        }
        for check, verdict in zip(case.checks, result.verdicts, strict=True)
    ]
    skipped = sum(bool(row["skipped"]) for row in rows)
    passed = sum(bool(row["passed"]) for row in rows)
    graded = len(rows) - skipped
    summary = {
        "passed": passed,
        "failed": graded - passed,
        "skipped": skipped,
        "total": len(rows),
        "pass_rate": passed / graded if graded else None,
    }
    return {"assertion_results": rows, "summary": summary}


def _run_meta(run: Run, arm: Arm, result: Result) -> dict[str, Any]:
    return {
        "eval_id": result.trial.case_id,
        "agent": arm.agent,
        "with_skill": arm.with_skill,
        "iteration": run.number,
        "skill_name": run.suite.skill,
        "source_repo": artefacts.source_repo(run.suite),
        "run_id": run.run_id,
        "run_index": result.trial.repeat,
        "model": arm.model,
        "model_answered": result.outcome.model or None,
        "session_id": result.outcome.session or None,
    }


def finished(run: Run, keep: Callable[[Result], Result] | None = None) -> dict[str, Result]:
    """The results on disk that need no repeating, by the key of their content.

    One that ended in an error is no result: it is tried again. One is in memory at a time, but for
    what `keep` makes of it.
    """
    found = {}
    for folder, _, files in os.walk(run.folder):
        if TRIAL in files:
            try:
                document, _text = jsonread.load(os.path.join(folder, TRIAL))
                result = serial.from_json(Result, document["result"])
            except (SuiteError, ValueError, TypeError, KeyError):
                continue  # not ours, or of another version: the trial is run again
            if not is_open(result):
                found[str(document["key"])] = keep(result) if keep else result
    return found


def set_aside(run: Run, keys: Collection[str]) -> int:
    """Takes the results of another content than any of `keys` out of the run; says how many.

    What is reported is then of one suite, also if the run ends before they are run again. Each
    stays beside its place, in superseded.json. Raises `OSError`.
    """
    count = 0
    for folder, _, files in os.walk(run.folder):
        path = os.path.join(folder, TRIAL)
        if TRIAL in files and _key_in(path) not in keys:
            os.replace(path, os.path.join(folder, SUPERSEDED))
            count += 1
    return count


def _key_in(path: str) -> str:
    """The key of a stored result; "" if there is none to be read."""
    try:
        document, _text = jsonread.load(path)
    except SuiteError:
        return ""
    return str(document.get("key")) if isinstance(document, dict) else ""


def is_open(result: Result) -> bool:
    """Is a trial to be tried again when its run is resumed?"""
    if result.outcome.refused:
        return True  # it never ran
    return result.outcome.status == "error" or any(v.status == "error" for v in result.verdicts)


def reopen(run: Run) -> None:
    """Takes back that the run is complete, so that `resumable` finds it also when it is older."""
    with contextlib.suppress(OSError):
        os.unlink(os.path.join(run.folder, SUMMARY))


def finish(run: Run, report: Report) -> None:
    """Writes the summary: the run is complete. Raises `OSError`."""
    summary = report.summary
    document = {
        "score": None if summary.score is None else float(summary.score),
        "trials_passed": summary.cases_passed,
        "trials_total": summary.cases_total,
        "checks_passed": summary.checks_passed,
        "checks_total": summary.checks_total,
        "passed": report.passed,
        "gates": [_gate(gate) for gate in report.gates],
    }
    run.write(SUMMARY, document)


def _gate(gate: Gate) -> dict[str, Any]:
    return {"metric": gate.metric, "op": gate.op, "limit": float(gate.limit), "check": gate.check}
