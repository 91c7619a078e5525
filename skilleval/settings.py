"""Settings from four places, each value with where it came from. Owns precedence and types.

Defaults < a file in the working folder < environment < flags (seed 000, "Settings"). It knows no
setting by name: a format brings a `Table` of rows, and what the values mean is the format's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from skilleval.errors import SuiteError
from skilleval.formats.fields import kind
from skilleval.reading import textfile
from skilleval.redaction import REDACTED, SECRET_WORDS, redact

DEFAULT = "default"
HIDDEN = "***"
LARGEST = 1_000_000_000
_INTEGER = re.compile(r"[+-]?[0-9]+")
# what YAML 1.1 read as true and false, and YAML 1.2 reads as text
_FORMER_BOOLEANS = frozenset({"yes", "no", "on", "off", "y", "n"})


class Row(NamedTuple):
    """One setting. Its type is that of `default`: text, a whole number, or true or false.

    `key` is its place in the file (dots for nesting), `variable` and `flag` name it elsewhere;
    each may be empty: it cannot be set there. Where nobody sets it, it takes the final value of
    the setting `like`. A number below `least`, in the file or a flag, counts as not set; if it is
    `bounded`, also one in the variable (seed 000 takes any there).
    """

    name: str
    default: str | int | bool
    key: str = ""
    variable: str = ""
    flag: str = ""
    like: str = ""
    least: int = 1
    bounded: bool = False

    @property
    def secret(self) -> bool:
        """Does its name speak of a key, a token, a secret or a password?"""
        names = f"{self.name} {self.variable}".lower()
        return any(word in names for word in SECRET_WORDS)


class Table(NamedTuple):
    """The settings of a format, and the file that may hold them (empty: none may)."""

    file: str
    rows: tuple[Row, ...]


class Setting(NamedTuple):
    """A value, and who set it: `default`, `.openkata-eval.yaml:3`, `--model`, a variable's name."""

    value: Any
    source: str
    secret: bool = False

    @property
    def shown(self) -> Any:
        """The value as it may be printed."""
        if not isinstance(self.value, str):
            return self.value
        return HIDDEN if self.secret and self.value else redact(self.value, ())

    def __repr__(self) -> str:
        """Safe in a log and in a traceback."""
        return f"Setting({self.shown!r}, {self.source!r})"


class Settings(NamedTuple):
    """Every setting of a table by name, in its order. `warnings` say what was ignored, and why."""

    table: Table
    chosen: Mapping[str, Setting]
    warnings: tuple[str, ...] = ()

    def value(self, name: str) -> Any:
        """The value of the setting of that name."""
        return self.chosen[name].value

    def source(self, name: str) -> str:
        """Where that value came from."""
        return self.chosen[name].source

    def is_set(self, name: str) -> bool:
        """Did anybody set it? False for a default and for the value of another setting."""
        source = self.source(name)
        return source != DEFAULT and not source.startswith("as ")

    def resumed(self, stored: Mapping[str, Any]) -> Settings:
        """The settings as an earlier run had them (see `document`), where no flag says otherwise.

        Secrets are not stored, so they stay as they are, as does what was written without one.
        """
        found = dict(self.chosen)
        for row in self.table.rows:
            named = row.flag and self.source(row.name) == row.flag
            known = stored.get(row.name)
            if named or row.secret or not isinstance(known, Mapping):
                continue
            value = known.get("value")
            if type(value) is type(row.default) and REDACTED not in str(value):
                found[row.name] = Setting(value, str(known.get("source")))
        return self._replace(chosen=found)

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """`environ` with the secrets under their variables, so that no noun has to carry them."""
        secrets = {
            row.variable: self.value(row.name)
            for row in self.table.rows
            if row.secret and row.variable and self.value(row.name)
        }
        return {**environ, **secrets}


def defaults(table: Table) -> Settings:
    """The settings when nobody sets anything."""
    return _merged(table, {}, ())


def resolve(
    flags: Mapping[str, Any], environ: Mapping[str, str], folder: str, table: Table
) -> Settings:
    """The settings by all four places; a later one wins.

    `flags` are parsed arguments: `--judge-model` is `judge_model`, and None means not given; what
    no row names is left alone. Empty text is never a value. An environment variable that should be
    a whole number and is none is ignored with a warning (seed 000; spec/scenarios section 4).
    Raises `SuiteError` with the line for a file that cannot be read or has a field of a wrong type.
    """
    warnings: list[str] = []
    chosen = _from_file(table, folder, warnings)
    chosen |= _from_environment(table, environ, warnings)
    chosen |= _from_flags(table, flags, warnings)
    return _merged(table, chosen, tuple(warnings))


def _merged(table: Table, chosen: Mapping[str, Setting], warnings: tuple[str, ...]) -> Settings:
    found = {
        row.name: chosen.get(row.name, Setting(row.default, DEFAULT, row.secret))
        for row in table.rows
    }
    for row in table.rows:
        if row.like and row.name not in chosen:
            found[row.name] = Setting(found[row.like].value, f"as {row.like}", row.secret)
    return Settings(table, found, warnings)


def _from_flags(table: Table, flags: Mapping[str, Any], warnings: list[str]) -> dict[str, Setting]:
    found = {}
    for row in table.rows:
        value = flags.get(row.flag.lstrip("-").replace("-", "_")) if row.flag else None
        if value is not None and _counts(row, value, row.flag, warnings):
            found[row.name] = Setting(value, row.flag, row.secret)
    return found


def _from_environment(
    table: Table, environ: Mapping[str, str], warnings: list[str]
) -> dict[str, Setting]:
    found = {}
    for row in table.rows:
        text = environ.get(row.variable, "") if row.variable else ""
        if not text:
            continue
        value: str | int | bool = text
        if isinstance(row.default, bool):
            value = True  # a switch: any text turns it on
        elif isinstance(row.default, int):
            if not _INTEGER.fullmatch(text) or len(text) > len(str(LARGEST)):
                warnings.append(f"{row.variable} is ignored: {text[:40]!r} is no whole number")
                continue
            value = int(text)
            if row.bounded and not _counts(row, value, row.variable, warnings):
                continue
        found[row.name] = Setting(value, row.variable, row.secret)
    return found


def _counts(row: Row, value: Any, source: str, warnings: list[str]) -> bool:
    """Does a value count as set? Says so when a number does not: its author thinks it does."""
    if type(value) is int and value < row.least:
        warnings.append(f"{source}: {row.name} {value} counts as not set; use at least {row.least}")
        return False
    return bool(value != "")


def _from_file(table: Table, folder: str, warnings: list[str]) -> dict[str, Setting]:
    if not table.file:
        return {}
    path = os.path.normpath(os.path.join(folder, table.file))
    if not os.path.exists(path):
        return {}
    text = textfile.read_strict(path)
    rows = {row.key: row for row in table.rows if row.key}
    found = {}
    for key, value in _leaves(_parsed(text, path), path, ""):
        line = _line(text, key)
        if key not in rows:
            _check_nesting(key, value, rows, (path, line))
            warnings += _unknown(key, f"{path}:{line}", table)
            continue
        row, source = rows[key], f"{table.file}:{line}"
        _check_type(row, value, path, line)
        if _counts(row, value, source, warnings):
            found[row.name] = Setting(value, source, row.secret)
    return found


def _check_nesting(key: str, value: Any, rows: Mapping[str, Row], place: tuple[str, str]) -> None:
    """Refuses a value in place of a group of settings, and a group in place of a value."""
    for known in rows:
        if known.startswith(f"{key}."):
            message = f"{key} must be a mapping of keys to values, not {kind(value)}"
            raise SuiteError(*place, message)
        if key.startswith(f"{known}."):
            wanted = _WANTED[type(rows[known].default)]
            raise SuiteError(*place, f"{known} must be {wanted}, not a mapping")


def _parsed(text: str, path: str) -> Any:
    """The document. JSON is taken where the file starts as one, and so is YAML's `{a: 1}`."""
    from skilleval import yamlread

    if not text.lstrip().startswith("{"):
        return yamlread.load(text, path)
    from skilleval.reading import jsonread

    try:
        return jsonread.loads(text, path)
    except SuiteError as of_json:
        try:
            return yamlread.load(text, path)
        except SuiteError:
            raise of_json from None


def _leaves(value: Any, path: str, prefix: str) -> Iterator[tuple[str, Any]]:
    """The values that are set, by their dotted keys. Null means not set, as does an empty group."""
    if not isinstance(value, dict):
        if value is not None and not prefix:
            message = f"must be a mapping of settings to values, not {kind(value)}"
            raise SuiteError(path, "1", message)
        if value is not None:
            yield prefix, value
        return
    for key, below in value.items():
        yield from _leaves(below, path, f"{prefix}.{key}" if prefix else str(key))


def _line(text: str, key: str) -> str:
    """The 1-based line of a dotted key: the parser gives no places for values.

    Each part is looked for behind the one before; at the start of a line if it can be, so that a
    comment or a value that holds the same word is not taken for it.
    """
    position = 0
    for depth, part in enumerate(key.split(".")):
        name = rf"[\"']?{re.escape(part)}[\"']?[ \t]*:"
        places = ("^" if depth == 0 else r"^[ \t]+", r"^[ \t]*", r"(?<![^\s{,])")
        patterns = (re.compile(place + name, re.MULTILINE) for place in places)
        found = next(filter(None, (pattern.search(text, position) for pattern in patterns)), None)
        position = found.end() if found else position
    return str(text.count("\n", 0, position) + 1)


def _unknown(key: str, place: str, table: Table) -> Iterator[str]:
    """A key that is nearly a known one is told; every other is ignored (seed 000)."""
    for row in table.rows:
        if key == row.name and not row.key:
            use = row.flag or row.variable
            yield f"{place}: {key} is ignored: it is not set in this file, but by {use}"
            return
    from difflib import get_close_matches

    for close in get_close_matches(key, [row.key for row in table.rows if row.key], 1, 0.75):
        yield f"{place}: unknown key {key!r} is ignored (did you mean {close!r}?)"


def _check_type(row: Row, value: Any, path: str, line: str) -> None:
    wanted = type(row.default)
    if type(value) is not wanted:
        quoted = f" {value[:40]!r}" if isinstance(value, str) and not row.secret else ""
        message = f"{row.key} must be {_WANTED[wanted]}, not {kind(value)}{quoted}"
        raise SuiteError(path, line, message + _fix(wanted, value))
    if type(value) is int and value > LARGEST:
        raise SuiteError(path, line, f"{row.key} is too large; use at most {LARGEST}")


_WANTED = {str: "text", int: "a whole number", bool: "true or false"}


def _fix(wanted: type, value: Any) -> str:
    if wanted is str:
        return "; put it in quotes" if isinstance(value, int | float) else ""
    if not isinstance(value, str):
        return ""
    if value.lower() in _FORMER_BOOLEANS:
        return "; YAML 1.2 reads it as a word, so write true or false" if wanted is bool else ""
    return "; remove the quotes" if wanted is int and _INTEGER.fullmatch(value) else ""


def render(settings: Settings) -> str:
    """A table for `--print-config`: name, value and source; secrets are hidden."""
    words = {"": '""', None: "none"}
    shown = {
        name: words.get(setting.shown) or str(setting.shown)
        for name, setting in settings.chosen.items()
    }
    name_width = max(map(len, shown), default=0)
    value_width = max(map(len, shown.values()), default=0)
    return "\n".join(
        f"{name:<{name_width}}  {shown[name]:<{value_width}}  {setting.source}"
        for name, setting in settings.chosen.items()
    )


def document(settings: Settings) -> dict[str, dict[str, Any]]:
    """The same for machines: name -> value and source; secrets are hidden."""
    return {
        name: {"value": setting.shown, "source": setting.source}
        for name, setting in settings.chosen.items()
    }
