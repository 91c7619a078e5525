"""Problems as SARIF 2.1.0, for code scanning. Owns that format; judges and prints nothing.

For static checks of fixtures and skills only: a score is no static finding (spec/services/formats).
Code scanning takes at most 25,000 results of a run and shows the first 5,000.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skilleval import __version__
from skilleval.model import Problem

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(problems: Sequence[Problem], rules: Mapping[str, str]) -> str:
    """One SARIF document, the same for the same problems in any order.

    `rules` maps rule ids to one line each; only the rules that a problem names are listed, at the
    worst level that they have here. Paths should be relative to the root of the repository.
    """
    import json

    ordered = sorted(problems)
    ids = sorted({problem.rule for problem in ordered})
    failing = {problem.rule for problem in ordered if problem.level == "error"}
    driver = {
        "name": "skilleval",
        "version": __version__,
        "rules": [
            {
                "id": rule,
                "shortDescription": {"text": rules.get(rule, rule)},
                "defaultConfiguration": {"level": "error" if rule in failing else "warning"},
            }
            for rule in ids
        ],
    }
    run = {"tool": {"driver": driver}, "results": list(_results(ordered, ids))}
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2) + "\n"


def _results(problems: Sequence[Problem], ids: Sequence[str]) -> Iterator[dict[str, Any]]:
    seen: dict[str, int] = {}
    for problem in problems:
        key = _key(problem)
        seen[key] = seen.get(key, 0) + 1
        text = f"{problem.where}: {problem.message}" if problem.where else problem.message
        yield {
            "ruleId": problem.rule,
            "ruleIndex": ids.index(problem.rule),
            "level": problem.level,
            "message": {"text": _clean(text)},
            "locations": [_location(problem)],
            "partialFingerprints": {"skilleval/v1": _fingerprint(key, seen[key])},
        }


def _location(problem: Problem) -> dict[str, Any]:
    # code scanning shows nothing without a line: of a whole file, it is the first
    physical = {
        "artifactLocation": _artifact(problem.path),
        "region": {"startLine": max(problem.line, 1)},
    }
    location: dict[str, Any] = {"physicalLocation": physical}
    if problem.where:
        location["logicalLocations"] = [{"fullyQualifiedName": _clean(problem.where)}]
    return location


def _artifact(path: str) -> dict[str, str]:
    path = path.replace("\\", "/")
    if path.startswith("/"):
        return {"uri": f"file://{_encoded(path)}"}
    if path[1:3] == ":/":
        return {"uri": f"file:///{path[:2]}{_encoded(path[2:])}"}
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    return {"uri": _encoded(path), "uriBaseId": "%SRCROOT%"}


def _encoded(path: str) -> str:
    from urllib.parse import quote

    return quote(path, errors="surrogateescape")


def _clean(text: str) -> str:
    """Valid Unicode: a lone surrogate (an undecodable file name) becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _key(problem: Problem) -> str:
    # without the line, so that a finding keeps its identity when something is added above it
    return "\0".join(
        (problem.rule, problem.path.replace("\\", "/"), problem.where, problem.message)
    )


def _fingerprint(key: str, occurrence: int) -> str:
    from hashlib import sha256

    return sha256(f"{key}\0{occurrence}".encode("utf-8", "surrogatepass")).hexdigest()
