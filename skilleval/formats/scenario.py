"""Scenario folders: `evals/scenario-*/` with a task and a weighted checklist (seed 000).

Owns which folders these are, the suite that they make, and its settings. What the two JSON files
hold is read by `criteria`, the prompt is put together by `prompt`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from skilleval import skill
from skilleval.errors import SuiteError, UsageError
from skilleval.formats import criteria, prompt
from skilleval.formats.fields import kind
from skilleval.model import Arm, Case, Gate, Problem, Rules, Suite
from skilleval.reading import jsonread
from skilleval.settings import Row, Settings, Table, defaults

if TYPE_CHECKING:
    from skilleval.lint.scenario import ScenarioText

FILES = "evals/scenario-*/ with task.md and criteria.json (or the skill folder that holds them)"
EVALS, PREFIX = "evals", "scenario-"
CRITERIA, FULL_MARKS = criteria.CRITERIA, criteria.FULL_MARKS
BACKENDS = ("kiro", "http")
ENGINES = ("docker", "podman")
# the agent of every sandboxed scenario, whatever the backend (seed 000, "Sandboxed scenarios")
SANDBOXED_AGENT = "kiro"
# a scenario passes with all its points; one that cannot be completed counts 0 (seed 000, "Scoring")
RULES = Rules(case_passes=1, unanswered="fail", errored="fail", no_outcome="zero")
AGENT_KEY, JUDGE_KEY = "OPENKATA_EVAL_HTTP_API_KEY", "OPENKATA_EVAL_JUDGE_API_KEY"
# seed 000, "Settings"; those of an own endpoint for the judge, and the engine, are ours
SETTINGS = Table(
    ".openkata-eval.yaml",
    (
        Row("backend", "kiro", "backend", "OPENKATA_EVAL_BACKEND", "--backend"),
        Row("model", "claude-sonnet-4.6", "model", "OPENKATA_EVAL_MODEL", "--model"),
        Row(
            "judge_model", "", "judge_model", "OPENKATA_EVAL_JUDGE_MODEL", "--judge-model", "model"
        ),
        Row("threshold", 95, "threshold", "OPENKATA_EVAL_THRESHOLD", "--threshold"),
        Row("concurrency", 2, "concurrency", flag="--concurrency"),
        Row("direct_timeout", 120, "direct_timeout", "OPENKATA_EVAL_DIRECT_TIMEOUT"),
        Row("http.base_url", "", "http.base_url", "OPENKATA_EVAL_HTTP_BASE_URL"),
        Row("http.api_key", "", "http.api_key", AGENT_KEY),
        Row("judge.base_url", "", "judge.base_url", "", "--judge-base-url", "http.base_url"),
        Row("judge.api_key", "", "judge.api_key", JUDGE_KEY),
        Row("sandbox.image", "openkata-eval:latest", "sandbox.image"),
        Row("sandbox.timeout", 300, "sandbox.timeout"),
        Row("sandbox.network", "host", "sandbox.network"),
        Row("sandbox.engine", "docker", "sandbox.engine", flag="--engine"),
        Row("output", "", flag="--output"),
        Row("model_label", "", flag="--model-label"),
        Row("debug", False, variable="OPENKATA_EVAL_DEBUG"),
    ),
)


def owns(path: str) -> bool:
    """A skill folder with scenarios, or the folder of one."""
    folder, name = target(path)
    return os.path.isdir(path) and bool(name or discover(folder))


def target(path: str) -> tuple[str, str]:
    """The skill folder that a path stands for, and the scenario's name, empty for all of them.

    The path is normalised and need not exist. One that ends in `scenario-…` is a scenario two
    levels below its skill, unless it holds a SKILL.md itself outside of an evals folder.
    """
    path = os.path.normpath(path)
    above, name = os.path.split(os.path.abspath(path))
    if not name.startswith(PREFIX):
        return path, ""
    if os.path.basename(above) != EVALS and skill.exists(path):
        return path, ""
    return os.path.normpath(os.path.join(path, os.pardir, os.pardir)), name


def discover(folder: str) -> list[str]:
    """The names of a skill's scenarios, by the order of their bytes (spec/scenarios section 3).

    They are real folders directly in evals/; a link to a folder is none.
    """
    try:
        with os.scandir(os.path.join(folder, EVALS)) as entries:
            names = [
                entry.name
                for entry in entries
                if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return []
    return sorted(names, key=os.fsencode)


def load(path: str) -> Suite:
    """The suite of a skill folder, or of one scenario, as the default settings run it.

    A scenario that cannot be run is a case that says why. Raises `SuiteError` when there is no
    skill, no scenario, or none of that name (spec/scenarios section 2).
    """
    folder, name = target(path)
    if not skill.exists(folder):
        raise SuiteError(folder, "", f"{skill.MANIFEST} not found in {folder}")
    names = _selected(folder, name)
    try:
        skill_part, broken = prompt.of_skill(folder), ""
    except prompt.Unreadable as error:
        skill_part, broken = "", str(error)
    warnings: list[str] = []
    cases = tuple(_case(folder, name, (skill_part, broken), warnings) for name in names)
    suite = Suite(
        name=_name(folder),
        path=folder,
        cases=cases,
        rules=RULES,
        skill=_name(folder),
        meta={"warnings": tuple(warnings)},
    )
    return configured(suite, defaults(SETTINGS))


def _name(folder: str) -> str:
    return os.path.basename(os.path.abspath(folder))


def _selected(folder: str, name: str) -> list[str]:
    evals = os.path.join(folder, EVALS)
    names = discover(folder)
    if not name:
        if not names:
            raise SuiteError(folder, "", f"no eval scenarios found in {evals}/")
        return names
    if not os.path.isdir(evals):
        raise SuiteError(folder, "", f"no evals directory found in {folder}")
    if name not in names:
        known = f"; there are: {', '.join(names)}" if names else ""
        raise SuiteError(evals, "", f"scenario {name} not found{known}")
    return [name]


def _case(folder: str, name: str, skill_part: tuple[str, str], warnings: list[str]) -> Case:
    source = os.path.join(folder, EVALS, name)
    checklist = criteria.read_checklist(source)
    options = criteria.read_options(source)
    for found in options.problems:
        line = f":{found.line}" if found.line else ""
        warnings.append(f"{found.path}{line}: {found.message}")
    warnings += [
        f"{source}: {check.text!r} has a negative max_score: failing it raises the result"
        for check in checklist.checks
        if check.weight < 0
    ]
    text, broken = skill_part
    if not broken:
        try:
            text = prompt.of_scenario(text, source, folder)
        except prompt.Unreadable as error:
            broken = str(error)
    return Case(
        id=name,
        prompt="" if broken else text,
        checks=checklist.checks,
        annotations={"context": checklist.context, "description": options.description},
        sandbox=options.sandbox,
        network=options.network,
        source=source,
        agent=SANDBOXED_AGENT if options.sandbox else "",
        broken=checklist.broken or broken,
    )


def configured(suite: Suite, settings: Settings) -> Suite:
    """The suite with the arm, the gate and the judge that the settings say.

    No noun holds a key: `key_name` is the variable that does (`Settings.environment` puts it
    there). An endpoint of the judge's own gets a key of its own, never the agent's. Raises
    `UsageError` for an unknown backend or engine.
    """
    _choice(settings, "backend", BACKENDS)
    _choice(settings, "sandbox.engine", ENGINES)
    from fractions import Fraction

    return suite._replace(
        arms=(_arm(suite, settings),),
        gates=(Gate("score", ">=", Fraction(settings.value("threshold"), 100)),),
        judge=_judge(settings),
    )


def _choice(settings: Settings, name: str, choices: tuple[str, ...]) -> None:
    value = settings.value(name)
    if value not in choices:
        label = name.rpartition(".")[2]
        listed = ", ".join(choices)
        source = settings.source(name)
        raise UsageError(f"unknown {label} {value!r} ({source}); choose one of: {listed}")


def _timeout_s(settings: Settings) -> float:
    """The variable takes any number, and what is no time stands for the default (seed 000)."""
    chosen: int = settings.value("direct_timeout")
    return float(chosen if chosen > 0 else defaults(SETTINGS).value("direct_timeout"))


def _arm(suite: Suite, settings: Settings) -> Arm:
    model = settings.value("model")
    if str(settings.value("sandbox.image")).startswith("-"):
        raise UsageError(
            f"sandbox.image {settings.value('sandbox.image')!r} is no image"
            f" ({settings.source('sandbox.image')})"
        )
    options = {
        "skill": suite.path,
        "timeout_s": _timeout_s(settings),
        "base_url": settings.value("http.base_url"),
        "key_name": AGENT_KEY,
        "image": settings.value("sandbox.image"),
        "network": settings.value("sandbox.network"),
        "sandbox_timeout_s": float(settings.value("sandbox.timeout")),
        "engine": settings.value("sandbox.engine"),
    }
    return Arm(model, settings.value("backend"), model, options=options)


def _judge(settings: Settings) -> Mapping[str, Any]:
    base_url = settings.value("judge.base_url")
    apart = base_url.rstrip("/") != settings.value("http.base_url").rstrip("/")
    return {
        "backend": "http" if apart else settings.value("backend"),
        "model": settings.value("judge_model"),
        "base_url": base_url,
        "key_name": JUDGE_KEY if apart or settings.is_set("judge.api_key") else AGENT_KEY,
        "timeout_s": _timeout_s(settings),
        "style": "",
        "debug": settings.value("debug"),
    }


def problems(path: str, *, strict: bool = False) -> list[Problem]:
    """Everything wrong with the scenarios of a skill, or with one of them (C01 to C15).

    `strict` adds what is too eager for every commit (spec/scenarios section 19).
    """
    from skilleval.lint import scenario as lint

    folder, name = target(path)
    names = [name] if name else discover(folder)
    found: list[Problem] = []
    try:
        skill_part = prompt.of_skill(folder)
    except prompt.Unreadable:  # which the rules of SKILL.md tell
        skill_part = ""
    for part in skill.FOLDERS:
        below = os.path.join(folder, part)
        found += lint.left_out(below, prompt.left_out(below, folder))
    for each in names:
        source = os.path.join(folder, EVALS, each)
        inputs = os.path.join(source, skill.INPUTS)
        found += lint.left_out(inputs, prompt.left_out(inputs, folder))
        found += lint.problems(_lintable(folder, source, skill_part))
    if strict and not name:
        found += lint.too_few(os.path.join(folder, EVALS), len(names))
    return found


def _lintable(folder: str, source: str, skill_part: str) -> ScenarioText:
    from skilleval.asking import kiro
    from skilleval.lint.scenario import ScenarioText

    task: str | None = None
    whole = problem = ""
    try:
        task = prompt.task(source, folder)
        whole = prompt.of_scenario(skill_part, source, folder)
    except prompt.Unreadable as error:
        problem = str(error)
    return ScenarioText(
        source,
        _name(folder),
        criteria.read_checklist(source),
        criteria.read_options(source),
        task,
        problem,
        len(whole.encode("utf-8", "replace")),
        kiro.LONGEST_PROMPT_BYTES,
    )


def criteria_files(root: str) -> list[str]:
    """Every `…/evals/…/criteria.json` below a folder, at any depth, sorted.

    Raises `UsageError` if there is no such folder.
    """
    if not os.path.isdir(root):
        raise UsageError(f"{root}: no such folder")
    return sorted(_criteria_below(root))


def _criteria_below(root: str) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        if CRITERIA in files and EVALS in os.path.dirname(folder).split(os.sep):
            yield os.path.join(folder, CRITERIA)


def weights_problem(path: str) -> str:
    """What is wrong with the weights of a criteria.json; "" if they sum to 100.

    The sum itself is wrong as `sum=99 (expected 100)`; a file that has none says why.
    """
    try:
        raw, _ = jsonread.load(path)
        total = sum(_weights(raw, path))
    except SuiteError as error:
        place = f" (line {error.where})" if error.where else ""
        return f"{error.message}{place}"
    return "" if total == FULL_MARKS else f"sum={total} (expected {FULL_MARKS})"


def _weights(raw: object, path: str) -> Iterator[int]:
    checklist = raw.get("checklist") if isinstance(raw, dict) else None
    if not isinstance(checklist, list):
        raise SuiteError(path, "", 'has no "checklist" list')
    for position, criterion in enumerate(checklist, 1):
        weight = criterion.get("max_score") if isinstance(criterion, dict) else None
        if type(weight) is not int:
            given = "missing" if weight is None else kind(weight)
            raise SuiteError(
                path, "", f"criterion {position}: max_score must be a whole number, not {given}"
            )
        if weight < 0:
            raise SuiteError(path, "", f"criterion {position}: max_score {weight} is negative")
        yield weight
