"""versions.json: every skill, rule and profile with its version and its benchmarks (seed 000).

Owns that file's shape, and which report of a model counts: its newest, if it is about the current
version (spec/scenarios section 17). Runs nothing but one `git tag`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from skilleval import skill
from skilleval.errors import SuiteError
from skilleval.process import Command
from skilleval.reading import jsonread, textfile
from skilleval.reading.jsonvalues import mapping
from skilleval.tools import Tools

UNKNOWN_VERSION = "0.0.0"
GIT_TIMEOUT_S = 30.0
# JSON can spell numbers that no float holds
LARGEST_PERCENTAGE = 1e9


def build(root: str, tools: Tools) -> dict[str, Any]:
    """The document for a repository, its maps sorted by name."""
    tags = _tags(root, tools)

    def entries(kind: str, manifest: Callable[[str], str]) -> dict[str, Any]:
        folder = os.path.join(root, kind)
        found = {}
        for name in _folders(folder):
            path = os.path.join(folder, name, manifest(name))
            if os.path.isfile(path):
                found[name] = _entry(path, tags.get(f"{kind}/{name}", ""))
        return found

    return {
        "skills": entries("skills", lambda name: skill.MANIFEST),
        "rules": entries("rules", lambda name: "RULE.md"),
        "profiles": entries("profiles", lambda name: f"{name}.md"),
    }


def render(document: Mapping[str, Any]) -> str:
    """The document as text: two-space indented UTF-8 with a newline at the end."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _folders(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if os.path.isdir(f"{folder}/{name}"))
    except OSError:
        return []


def _tags(root: str, tools: Tools) -> dict[str, str]:
    """The newest version of each `<kind>/<name>/v<version>` tag; empty without git or tags."""
    argv = ["git", "-C", root, "tag", "--list", "--sort=-v:refname"]
    completed = tools.run(Command(argv, GIT_TIMEOUT_S, env=tools.environ))
    newest: dict[str, str] = {}
    if completed.exit_code == 0:
        for tag in completed.stdout.split():
            name, found, version = tag.rpartition("/v")
            if found:
                newest.setdefault(name, version)
    return newest


def _entry(manifest: str, tagged: str) -> dict[str, Any]:
    folder = os.path.dirname(manifest)
    version = tagged or skill.version(folder) or UNKNOWN_VERSION
    description, tags = skill.description_and_tags(textfile.read_text(manifest))
    entry: dict[str, Any] = {"version": version, "description": description}
    if tags:
        entry["tags"] = tags
    models = dict(_models(os.path.join(folder, "evals", "results"), version))
    if models:
        entry["models"] = models
    return entry


def _models(results: str, version: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for model in _folders(results):
        folder = os.path.join(results, model)
        report = _newest(folder)
        if report and report.get("skill_version") == version:
            config = mapping(report.get("config"))
            entry = {
                "label": str(config.get("model_label") or ""),
                "effectiveness": int(report["overall_percentage"] + 0.5),
                "scenarios": [_scenario(row) for row in _rows(report)],
            }
            # a model whose name has a slash cannot be a folder: its report has the name
            name = str(config.get("agent_model") or model) if "__" in model else model
            yield name, entry


def _newest(folder: str) -> dict[str, Any] | None:
    """The report with the greatest name; None if there is none or it cannot be used."""
    reports = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    if not reports:
        return None
    try:
        report, _ = jsonread.load(os.path.join(folder, reports[-1]))
    except SuiteError:
        return None
    if not isinstance(report, dict):
        return None
    overall: Any = report.get("overall_percentage")
    usable = type(overall) in (int, float) and abs(overall) < LARGEST_PERCENTAGE
    return report if usable else None


def _rows(report: Mapping[str, Any]) -> Sequence[Any]:
    rows = report.get("scenarios")
    return rows if isinstance(rows, list) else ()


def _scenario(row: Any) -> dict[str, Any]:
    return {key: mapping(row).get(key) for key in ("name", "description", "pass")}
