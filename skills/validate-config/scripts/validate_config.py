#!/usr/bin/env python3
"""Check JSON or TOML configuration files against a schema; print machine-readable findings.

Owns the checks and the finding codes (references/error-codes.md explains each). Owns no policy:
fields, limits and combinations come from a schema file (references/schema.md). It reads the files
and changes none. Values of fields that hold secrets are never printed.
"""

from __future__ import annotations

import argparse
import difflib
import json
import math
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

DEFAULT_SCHEMA = Path(__file__).resolve().parent.parent / "assets" / "service-schema.json"
EPILOG = """\
examples:
  validate_config.py service.toml
  validate_config.py --strict --format text deploy/*.toml
  validate_config.py --schema my-schema.json settings.json

exit status:
  0  every file is valid (warnings allowed, unless --strict)
  1  at least one finding
  2  nothing was decided: wrong usage, unreadable file, broken schema
"""

Key = tuple[str, ...]
TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "list": (list,),
}
ATTRIBUTES: dict[str, Any] = {
    "type": str,
    "required": bool,
    "enum": list,
    "min": (int, float),
    "max": (int, float),
    "pattern": str,
    "secret": str,
    "deprecated": str,
}
SECRET_FIXES = {
    "value": "move it out, refer to it by `env:NAME` or `file:/path`, and replace the secret",
    "in_url": "leave the password out of the URL, and replace the secret",
}
SECRET_REFERENCE = re.compile(r"env:[A-Z][A-Z0-9_]*|file:/\S+")
PASSWORD_IN_URL = re.compile(r"://[^/@\s]*:[^/@\s]+@")


class Unusable(Exception):
    """Nothing can be decided: the message goes to stderr, exit status 2."""


class Finding(NamedTuple):
    """One thing wrong. `path` is dotted, empty for the file as a whole."""

    path: str
    code: str
    level: str
    message: str
    fix: str


class Schema(NamedTuple):
    """The rules of one kind of file: `fields` by key, and `rules` over several fields."""

    fields: dict[Key, dict[str, Any]]
    rules: list[dict[str, Any]]


def dotted(key: Key) -> str:
    return ".".join(key)


def split(path: str) -> Key:
    return tuple(path.split("."))


def error(path: str, code: str, message: str, fix: str) -> Finding:
    return Finding(path, code, "error", message, fix)


def load_schema(path: Path) -> Schema:
    """Raises Unusable with the place of the first mistake: a broken schema decides nothing."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise Unusable(f"{path}: cannot read the schema: {problem}") from problem
    if not isinstance(raw, dict) or not isinstance(raw.get("fields"), dict):
        raise Unusable(f"{path}: a schema is an object with `fields`")
    for name, field in raw["fields"].items():
        check_field(path, name, field)
    for index, rule in enumerate(raw.get("rules", [])):
        check_rule(f"{path}: rules[{index}]", rule, raw["fields"])
    fields = {split(name): field for name, field in raw["fields"].items()}
    return Schema(fields, raw.get("rules", []))


def check_field(path: Path, name: str, field: Any) -> None:
    where = f"{path}: fields.{name}"
    if not isinstance(field, dict) or field.get("type") not in TYPES:
        raise Unusable(f"{where}: `type` must be one of {', '.join(TYPES)}")
    for attribute, value in field.items():
        if attribute not in ATTRIBUTES:
            known = ", ".join(ATTRIBUTES)
            raise Unusable(f"{where}: unknown attribute `{attribute}`; known: {known}")
        if not isinstance(value, ATTRIBUTES[attribute]):
            raise Unusable(f"{where}: `{attribute}` has a wrong type")
    if field.get("secret", "value") not in SECRET_FIXES:
        raise Unusable(f"{where}: `secret` must be one of {', '.join(SECRET_FIXES)}")
    if "pattern" in field and field["type"] != "string":
        raise Unusable(f"{where}: `pattern` needs the type string")
    try:
        re.compile(field.get("pattern", ""))
    except re.error as problem:
        raise Unusable(f"{where}: bad pattern: {problem}") from problem


def check_rule(where: str, rule: Any, fields: dict[str, Any]) -> None:
    parts = {"when": dict, "require": list, "forbid": dict}
    if (
        not isinstance(rule, dict)
        or not rule.get("when")
        or any(not isinstance(value, parts.get(part, ())) for part, value in rule.items())
    ):
        raise Unusable(f"{where}: a rule is an object of `when` and `require` or `forbid`")
    for name in [*rule["when"], *rule.get("require", []), *rule.get("forbid", {})]:
        if name not in fields:
            raise Unusable(f"{where}: `{name}` is not one of the fields")


def read_config(path: Path) -> tuple[Any, list[Finding]]:
    """The parsed file and what its syntax is guilty of; (None, findings) when it does not parse."""
    try:
        data = path.read_bytes()
    except OSError as problem:
        raise Unusable(f"{path}: cannot read: {problem.strerror}") from problem
    repeated: list[str] = []
    try:
        text = data.decode("utf-8-sig")
        config = tomllib.loads(text) if path.suffix == ".toml" else parse_json(text, repeated)
    except (ValueError, RecursionError) as problem:
        fix = "mend the syntax at the named place; nothing else was checked"
        return None, [error("", "parse_error", str(problem), fix)]
    message = "written twice in one object; the last one wins in silence"
    return config, [
        error(name, "duplicate_key", message, "keep one of the two") for name in repeated
    ]


def parse_json(text: str, repeated: list[str]) -> Any:
    """Strict JSON: no NaN; a key that is written twice is appended to `repeated`."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in items]
        repeated.extend(sorted({name for name in names if names.count(name) > 1}))
        return dict(items)

    def constant(word: str) -> Any:
        raise ValueError(f"{word} is not JSON")

    return json.loads(text, object_pairs_hook=pairs, parse_constant=constant)


def leaves(config: dict[str, Any], tables: set[Key]) -> Iterator[tuple[Key, Any]]:
    """Every value with its key, tables opened where the schema has one or knows nothing better."""
    waiting: list[tuple[Key, Any]] = [((), config)]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, dict) and (value or key in tables):
            waiting.extend((*((*key, name),), item) for name, item in reversed(value.items()))
        else:
            yield key, value


def check(config: Any, schema: Schema) -> list[Finding]:
    """All findings of a parsed file, in no particular order."""
    if not isinstance(config, dict):
        return [error("", "wrong_type", "the top level must be a table", "wrap the values in one")]
    tables = {key[:depth] for key in schema.fields for depth in range(len(key))}
    values = dict(leaves(config, tables))
    findings = [
        finding for item in values.items() for finding in check_value(*item, schema, tables)
    ]
    broken = {split(finding.path) for finding in findings if finding.code == "wrong_type"}
    for key, field in schema.fields.items():
        if field.get("required") and key not in values:
            fix = f"add `{dotted(key)}` ({field['type']})"
            findings.append(error(dotted(key), "missing_field", "a required field is missing", fix))
    named = {dotted(key): value for key, value in values.items()}
    for rule in schema.rules:
        findings += check_combination(rule, named)
    return [finding for finding in findings if not follows_from(finding, broken)]


def follows_from(finding: Finding, broken: set[Key]) -> bool:
    """A table that is no table is one finding, not one more for each field that it cannot hold."""
    key = split(finding.path)
    absent = finding.code in ("missing_field", "requires_field")
    return absent and any(key[:depth] in broken for depth in range(1, len(key) + 1))


def check_value(key: Key, value: Any, schema: Schema, tables: set[Key]) -> Iterator[Finding]:
    path = dotted(key)
    field = schema.fields.get(key)
    if field is not None:
        yield from check_field_value(path, value, field)
    elif key in tables:
        yield error(path, "wrong_type", f"expected a table, found {kind(value)}", "make it a table")
    elif owner := next((key[:n] for n in range(1, len(key)) if key[:n] in schema.fields), None):
        expected = schema.fields[owner]["type"]
        fix = f"write one {expected} there"
        yield error(dotted(owner), "wrong_type", f"expected {expected}, found table", fix)
    else:
        near = difflib.get_close_matches(path, [dotted(name) for name in schema.fields], 1)
        fix = f"did you mean `{near[0]}`?" if near else "remove it, or add it to the schema"
        yield error(path, "unknown_field", "the schema has no such field", fix)


def check_field_value(path: str, value: Any, field: dict[str, Any]) -> Iterator[Finding]:
    if new := field.get("deprecated"):
        yield Finding(path, "deprecated_field", "warning", "an old name", f"use `{new}`")
    wanted = field["type"]
    # bool is an int in Python: `port = true` is not a port
    if not isinstance(value, TYPES[wanted]) or (isinstance(value, bool) and wanted != "boolean"):
        message = f"expected {wanted}, found {kind(value)}"
        yield error(path, "wrong_type", message, f"write the value as {wanted}")
        return
    shown = "the value" if "secret" in field else json.dumps(value, default=str)[:60]
    if "enum" in field and value not in field["enum"]:
        choices = ", ".join(map(str, field["enum"]))
        yield error(path, "not_allowed", f"{shown} is not allowed", f"use one of {choices}")
    if isinstance(value, (int, float)) and not in_range(value, field):
        limits = f"{field.get('min', '-inf')} to {field.get('max', 'inf')}"
        yield error(path, "out_of_range", f"{shown} is out of range", f"stay within {limits}")
    if "pattern" in field and not re.fullmatch(field["pattern"], str(value)):
        yield error(path, "bad_format", f"{shown} has a wrong form", f"match {field['pattern']}")
    if secret_in_plain_text(value, field):
        fix = SECRET_FIXES[field["secret"]]
        yield error(path, "plain_secret", "a secret in plain text (value not shown)", fix)


def in_range(value: float, field: dict[str, Any]) -> bool:
    low, high = field.get("min", -math.inf), field.get("max", math.inf)
    return math.isfinite(value) and low <= value <= high


def secret_in_plain_text(value: Any, field: dict[str, Any]) -> bool:
    if field.get("secret") == "value":
        return not SECRET_REFERENCE.fullmatch(str(value))
    return field.get("secret") == "in_url" and bool(PASSWORD_IN_URL.search(str(value)))


def kind(value: Any) -> str:
    names = [name for name, types in TYPES.items() if type(value) in types]
    return names[0] if names else {dict: "table", type(None): "null"}.get(type(value), "date")


def check_combination(rule: dict[str, Any], values: dict[str, Any]) -> Iterator[Finding]:
    def holds(path: str, wanted: Any) -> bool:
        return path in values and type(values[path]) is type(wanted) and values[path] == wanted

    if not all(holds(path, wanted) for path, wanted in rule["when"].items()):
        return
    reason = " and ".join(f"{path} = {json.dumps(v)}" for path, v in rule["when"].items())
    for path in rule.get("require", []):
        if path not in values:
            yield error(path, "requires_field", f"needed because {reason}", f"add `{path}`")
    for path, wanted in rule.get("forbid", {}).items():
        if holds(path, wanted):
            message = f"{json.dumps(wanted)} does not go with {reason}"
            yield error(path, "forbidden_combination", message, "change one of the two")


def validate(path: Path, schema: Schema) -> list[Finding]:
    """The findings of one file, sorted by path and code. Raises Unusable."""
    if path.suffix not in (".json", ".toml"):
        raise Unusable(f"{path}: unknown format `{path.suffix}`; use .json or .toml")
    config, findings = read_config(path)
    if not any(finding.code == "parse_error" for finding in findings):
        findings += check(config, schema)
    return sorted(set(findings))


def render_json(found: list[tuple[Path, Finding]], valid: bool) -> str:
    levels = [finding.level for _, finding in found]
    report = {
        "valid": valid,
        "error_count": levels.count("error"),
        "warning_count": levels.count("warning"),
        "findings": [{"file": str(path), **finding._asdict()} for path, finding in found],
    }
    return json.dumps(report, indent=2, ensure_ascii=False)


def render_text(found: list[tuple[Path, Finding]], valid: bool) -> str:
    lines = [
        f"{path}: {item.path or '(file)'}: {item.level} {item.code}: {item.message}; {item.fix}"
        for path, item in found
    ]
    return "\n".join([*lines, "valid" if valid else f"invalid, findings: {len(found)}"])


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0] if __doc__ else "",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("config", nargs="+", type=Path, help="a .json or .toml file")
    parser.add_argument("--schema", type=Path, default=DEFAULT_SCHEMA, help="schema file (JSON)")
    parser.add_argument("--format", choices=("json", "text"), default="json")
    parser.add_argument("--strict", action="store_true", help="warnings make a file invalid, too")
    args = parser.parse_args(argv)
    try:
        schema = load_schema(args.schema)
        found = [(path, finding) for path in args.config for finding in validate(path, schema)]
    except Unusable as problem:
        print(f"validate_config: {problem}", file=sys.stderr)
        return 2
    valid = not any(finding.level == "error" or args.strict for _, finding in found)
    print(render_json(found, valid) if args.format == "json" else render_text(found, valid))
    return 0 if valid else 1


if __name__ == "__main__":
    raise SystemExit(main())
