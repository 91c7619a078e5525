"""The agent kiro-cli: for a text in a temporary folder, or at work in a container (seed 000).

Owns what a trial's workspace holds and the order in which it is furnished. How kiro-cli is called
is `asking.kiro`'s, the container `sandboxes.docker`'s. The agent never finds the checklist: of the
skill it is given SKILL.md and the three folders that belong to it, as copies.
"""

from __future__ import annotations

import os

from skilleval import sandboxes
from skilleval.asking import kiro
from skilleval.asking.throttling import is_throttled, persist
from skilleval.errors import ModelError, SkillevalError
from skilleval.model import Arm, Case, Delta, Failure, Outcome, Suite
from skilleval.plaintext import without_sequences
from skilleval.process import Completed, find_executable
from skilleval.sandboxes import Box, Spec
from skilleval.skill import FOLDERS, INPUTS, MANIFEST, TASK
from skilleval.snapshot import delta
from skilleval.tools import Tools
from skilleval.trial.transcript import blame

OPTIONS = None
IN_BOX, DIRECT = "docker", "local"


def preflight(suite: Suite, tools: Tools) -> tuple[str, ...]:
    """What the suite needs of this machine for kiro-cli and is not there; empty if all is.

    The program is needed where an arm says so, a container engine for a sandboxed case (seed 000,
    "Running the evals"). Where no case is sandboxed, no engine is asked.
    """
    found = []
    wanted = any(arm.agent == "kiro" for arm in suite.arms)
    if wanted and not find_executable(kiro.PROGRAM, tools.environ):
        found.append(f"{kiro.PROGRAM} not found on PATH\n{kiro.INSTALL}")
    box = sandboxes.get(IN_BOX)
    found += [box.available(engine, tools) for engine in sandboxes.engines(suite)]
    return tuple(filter(None, found))


def run(case: Case, arm: Arm, tools: Tools) -> Outcome:
    """What kiro-cli said and, in a container, what it changed there.

    The arm's options: `skill` (folder), `timeout_s` (direct), `image`, `network`, `engine` and
    `sandbox_timeout_s`. Raises `SkillevalError` when the workspace cannot be made or looked at.
    """
    try:
        return _sandboxed(case, arm, tools) if case.sandbox else _direct(case, arm, tools)
    except ModelError as error:  # the prompt is none that it could be given
        return Outcome("error", error=f"agent completion: {error}", failure=error.failure)


def _direct(case: Case, arm: Arm, tools: Tools) -> Outcome:
    """No tools: the answer is a text. A throttled model is asked again."""
    options = ("--agent", kiro.AGENT, "--no-interactive", *kiro.model_option(arm.model))
    # an empty system text and what separates it from the task: the prompt is no option either
    argv = kiro.arguments(f"\n\n{case.prompt}", *options)
    spec = Spec(case.id, timeout_s=arm.options["timeout_s"])
    runs: list[Completed] = []
    with sandboxes.get(DIRECT).open_box(spec, tools) as box:
        _furnish(box, arm.options["skill"], tools=False)

        def ask() -> str:
            runs.append(box.run(argv))
            return kiro.answer(runs[-1])

        try:
            text, _ = persist(ask, tools.sleep)
        except ModelError as error:
            return _outcome(runs, f"agent completion: {error}")
    return _outcome(runs)._replace(output=text)


def _sandboxed(case: Case, arm: Arm, tools: Tools) -> Outcome:
    """With its tools, and its own default model: no `--model` here (seed 000)."""
    options = ("--agent", kiro.AGENT, "--trust-all-tools", "--no-interactive")
    argv = kiro.arguments(f"\n{case.prompt}", *options)
    given = arm.options
    spec = Spec(
        label=case.id,
        image=given["image"],
        network=case.network or given["network"],
        timeout_s=given["sandbox_timeout_s"],
        engine=given["engine"],
        home=tools.environ.get("HOME", ""),
    )
    with sandboxes.get(IN_BOX).open_box(spec, tools) as box:
        _furnish(box, given["skill"], tools=True, scenario=case.source)
        before = box.snapshot()
        done = box.run(argv)
        output = without_sequences(done.stdout + done.stderr)
        problem = _problem(done, output)
        changes: Delta | None = None
        try:
            changes = delta(before, box.snapshot(before))
        except SkillevalError:
            if not problem:
                raise
    return _outcome([done], problem)._replace(output=output, delta=changes)


def _furnish(box: Box, skill: str, *, tools: bool, scenario: str = "") -> None:
    """The skill, the scenario's task and inputs if there is one, and the agent's configuration."""
    box.copy_in(os.path.join(skill, MANIFEST), f"skill/{MANIFEST}")
    for name in FOLDERS:
        if _is_folder(os.path.join(skill, name)):
            box.copy_in(os.path.join(skill, name), f"skill/{name}")
    if scenario:
        box.copy_in(os.path.join(scenario, TASK), TASK)
        if _is_folder(os.path.join(scenario, INPUTS)):
            box.copy_in(os.path.join(scenario, INPUTS), "")
    box.write(kiro.AGENT_FILE, kiro.configuration(tools=tools), "agent config")


def _is_folder(path: str) -> bool:
    """A real one: behind a link may be what is not of the skill (`prompt` follows none either)."""
    return os.path.isdir(path) and not os.path.islink(path)


def _problem(done: Completed, output: str) -> str:
    """Why a run in a container failed, with the end of what it printed; empty if it did not."""
    if not done.error and done.exit_code == 0:
        return ""
    cause = done.error or f"{kiro.PROGRAM} failed (exit status {done.exit_code})"
    return f"agent completion: {cause}{kiro.tail(output)}"


def _outcome(runs: list[Completed], problem: str = "") -> Outcome:
    last = runs[-1]
    return Outcome(
        "error" if problem else "ok",
        error=problem,
        failure=_failure(last, problem) if problem else "",
        exit_code=last.exit_code,
        timed_out=last.timed_out,
        seconds=sum(run.seconds for run in runs),
        attempts=len(runs),
        output_whole=not (last.stdout_cut_bytes or last.stderr_cut_bytes),
    )


def _failure(done: Completed, problem: str) -> Failure:
    """Of what kind a failed run is. Its program has no status code: its words have to tell."""
    if done.timed_out:
        return "timeout"
    around = done.not_found or done.stopped or is_throttled(problem)
    return "infrastructure" if around else blame(problem)
