"""The agent without a model, for tests, demonstrations and the proof of a suite (seed 002).

Owns what it does in each mode, as a list of steps, and the process that takes them: it works in a
workspace like every other agent, so that everything around an agent is exercised. The modes:

* "" is the seed's: JSON if a skill is installed and the prompt asks to `format`, else a sentence.
* `nop` changes nothing and says nothing of use: every case that it passes proves nothing.
* `oracle` does what was laid down beside the suite in `oracle/CASE/`: `files/**` are copied into
  the workspace, the commands of `commands.json` (lists of words) run there, `output.txt` is said.
  It uses the skill where the case wants that. A case that it fails cannot be passed.
* `scripted:FILE` takes the steps of a JSON file: a list, or an object of lists by case id.

A step is an object with one key: `say` (text), `write` ([path, text]), `run` (list of words),
`skill` (name), `sleep` (seconds), `fail` (message, or an object with `failure` and `error`), or
the oracle's own `copy` (folder), `tell` (file) and `must` (as `run`, where a failure is its own).
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from skilleval.errors import UsageError
from skilleval.model import Arm, Case, Event, Outcome, Suite, Usage
from skilleval.reading.jsonvalues import mapping, word
from skilleval.tools import Tools
from skilleval.trial import transcript
from skilleval.trial.transcript import Transcript

if TYPE_CHECKING:
    from skilleval.trial.harness import Ask

Step = Mapping[str, Any]

NAME = "fake"
SKILLS = ".fake/skills"
OPTIONS = frozenset({"fake", "max_budget_usd"})
MODES = ("", "nop", "oracle", "scripted:FILE")
FORMATTED = json.dumps({"formatted": True, "status": "formatted-json-ok"}, indent=2)
BASELINE = "fake-agent baseline output: no formatting performed"
NOTHING = "nop"
_CREATE = re.compile(r"fake-create-file:\s*(\S+)")
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# isolated, so that no file of the workspace is imported in place of the library's
_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); from skilleval.agents import fake; fake.main()"
)
_COMMAND_TIMEOUT_S = 120


def preflight(suite: Suite, tools: Tools) -> tuple[str, ...]:
    """Nothing is missing, ever. Raises `UsageError` for an unknown mode or an unusable script."""
    for arm in suite.arms:
        if arm.agent == NAME:
            _mode(arm)
    return ()


def run(case: Case, arm: Arm, tools: Tools) -> Outcome:
    """What the arm's mode (its option `fake`) does with the case (see `harness.run`)."""
    from skilleval.trial import harness

    return harness.run(_Fake(case, *_mode(arm)), case, arm, tools)


def _mode(arm: Arm) -> tuple[str, Any]:
    """The mode and, if it is scripted, the script."""
    mode, _, path = str(arm.options.get("fake") or "").partition(":")
    if mode == "scripted" and path:
        from skilleval.reading import jsonread

        script, _ = jsonread.load(path)
        if isinstance(script, list | dict):
            return mode, script
        raise UsageError(f"{path}: expected a list of steps, or an object of lists by case id")
    if mode in MODES and not path:
        return mode, None
    given = arm.options["fake"]
    raise UsageError(f"unknown mode {given!r} of the agent fake; choose one of: {_choices()}")


def _choices() -> str:
    return ", ".join(mode or '""' for mode in MODES)


class _Fake(NamedTuple):
    """The program of one trial."""

    case: Case
    mode: str
    script: Any = None
    NAME: str = NAME
    PROGRAM: str = ""
    SKILLS: str = SKILLS
    DROPPINGS: tuple[str, ...] = (".fake",)
    CREDENTIALS: tuple[str, ...] = ()
    HELP: tuple[str, ...] = ()

    def argv(self, ask: Ask) -> list[str]:
        return [sys.executable, "-I", "-S", "-c", _START, _ROOT]

    def stdin(self, ask: Ask) -> bytes:
        return json.dumps(self.steps(ask)).encode()

    def environ(self, ask: Ask) -> dict[str, str]:
        return {}

    def steps(self, ask: Ask) -> Sequence[Step]:
        skills = installed(ask.workspace)
        if self.mode == "scripted":
            return _script(self.script, self.case.id)
        if self.mode == "oracle":
            return _oracle(self.case, skills)
        if self.mode == "nop":
            return [{"say": NOTHING}]
        return _default(ask.prompt, skills)

    def read(self, stdout: str, stderr: str, exit_code: int | None) -> Transcript:
        return read(stdout, stderr, exit_code)


def installed(workspace: str) -> tuple[str, ...]:
    """The names of the skills that the fake agent sees in a workspace, sorted."""
    folder = os.path.join(workspace, SKILLS)
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    return tuple(n for n in names if os.path.isfile(os.path.join(folder, n, "SKILL.md")))


def _script(script: Any, case_id: str) -> Sequence[Step]:
    steps = script.get(case_id) if isinstance(script, dict) else script
    return steps if isinstance(steps, list) else [{"fail": f"no steps for the case {case_id!r}"}]


def _default(prompt: str, skills: Sequence[str]) -> list[Step]:
    steps: list[Step] = [{"write": [path, ""]} for path in _CREATE.findall(prompt)]
    if skills and "format" in prompt.lower():
        return [*steps, *({"skill": name} for name in skills), {"say": FORMATTED}]
    return [*steps, {"say": BASELINE}]


def _oracle(case: Case, skills: Sequence[str]) -> list[Step]:
    beside = case.annotations.get("fixtures") or os.path.dirname(case.source)
    folder = os.path.join(beside, "oracle", case.id)
    if os.path.basename(folder) != case.id or not os.path.isdir(folder):
        return [{"fail": f"no oracle for the case {case.id!r}; put its output.txt into {folder}"}]
    steps: list[Step] = [{"skill": name} for name in skills if case.should_trigger]
    if os.path.isdir(os.path.join(folder, "files")):
        steps.append({"copy": os.path.join(folder, "files")})
    commands = os.path.join(folder, "commands.json")
    if os.path.isfile(commands):
        from skilleval.reading import jsonread

        steps += [{"must": command} for command in jsonread.load(commands)[0]]
    output = os.path.join(folder, "output.txt")
    return [*steps, {"tell": output}] if os.path.isfile(output) else steps


def read(stdout: str, stderr: str, exit_code: int | None) -> Transcript:
    """What the process of the fake agent says: its events, one a line, and how it ended."""
    stream = transcript.stream(stdout)
    last = stream.records[-1] if stream.records else {}
    skills = [r["skills"] for r in stream.records if isinstance(r.get("skills"), list)]
    told = [Event(**each) for each in stream.records if each.keys() == set(Event._fields)]
    events = transcript.with_skills(told)
    failure, error = last.get("failure", ""), word(last.get("error"))
    if not failure and exit_code:
        failure, error = transcript.stopped(stderr, exit_code, "end")
    return Transcript(
        transcript.final(events),
        events,
        Usage(1, 1, 0, 0.0, "fake"),
        failure,
        error,
        tuple(skills[0]) if skills else None,
        notes=stream.notes,
        output_whole=stream.whole,
        events_whole=stream.whole,
    )


def main() -> None:
    """The process: takes the steps from stdin in the current folder, and tells each as it goes."""
    _write({"skills": installed(".")})
    for step in json.load(sys.stdin):
        for event in _take(step):
            failed = "failure" in event
            _write(event)
            if failed:
                sys.exit(1)


def _write(record: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


def _take(step: Any) -> Iterator[Mapping[str, Any]]:
    name = next(iter(step), "") if isinstance(step, dict) and len(step) == 1 else ""
    if name in _STEPS:
        return _STEPS[name](step[name])
    choices = ", ".join(sorted(_STEPS))
    return iter([_failed(f"unknown step {json.dumps(step)}; choose one of: {choices}")])


def _failed(error: str) -> Mapping[str, Any]:
    return {"failure": "agent", "error": error}


def _call(name: str, given: Step, output: str = "", failed: bool = False) -> Mapping[str, Any]:
    return Event("call", name, given, output, failed)._asdict()


def _say(text: str) -> Iterator[Mapping[str, Any]]:
    yield Event("text", output=text)._asdict()


def _tell(path: str) -> Iterator[Mapping[str, Any]]:
    from skilleval.reading import textfile

    yield from _say(textfile.read_text(path))


def _put(given: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    path, text = given
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    yield _call("write", {"path": path, "content": text})


def _copy(folder: str) -> Iterator[Mapping[str, Any]]:
    import shutil

    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            source = os.path.join(parent, name)
            path = os.path.relpath(source, folder)
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            shutil.copy(source, path)
            yield _call("write", {"path": path})


def _run(words: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    import shlex

    from skilleval.process import Command, run

    done = run(Command(words, _COMMAND_TIMEOUT_S))
    failed = done.exit_code != 0
    yield _call(
        "shell", {"command": shlex.join(words)}, done.error + done.stdout + done.stderr, failed
    )


def _must(words: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    for call in _run(words):
        yield call
        if call["failed"]:
            command = mapping(call["input"])["command"]
            yield _failed(
                transcript.reason(f"command of the oracle failed: {command}", call["output"])
            )


def _skill(name: str) -> Iterator[Mapping[str, Any]]:
    there = name in installed(".")
    output = f"Launching skill: {name}" if there else f"Unknown skill: {name}"
    yield _call("skill", {"skill": name}, output, not there)


def _sleep(seconds: float) -> Iterator[Mapping[str, Any]]:
    import time

    time.sleep(seconds)
    return iter(())


def _fail(given: Any) -> Iterator[Mapping[str, Any]]:
    yield (
        {"failure": "agent", "error": "", **given}
        if isinstance(given, dict)
        else _failed(str(given))
    )


_STEPS: Mapping[str, Callable[[Any], Iterator[Mapping[str, Any]]]] = {
    "say": _say,
    "tell": _tell,
    "write": _put,
    "copy": _copy,
    "run": _run,
    "must": _must,
    "skill": _skill,
    "sleep": _sleep,
    "fail": _fail,
}
