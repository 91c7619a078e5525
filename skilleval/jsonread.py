"""Strict reading of JSON that people write. Owns syntax errors and their places; knows no schema.

Stricter than the standard library where that loses something in silence: a key given twice, NaN
and Infinity are errors. More lenient where nothing is lost: a byte order mark is dropped.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from skilleval import textfile
from skilleval.errors import SuiteError


class _Refused(ValueError):
    """Our own reason to refuse, raised from within the parser."""


def _no_constant(name: str) -> NoReturn:
    raise _Refused(f"{name} is not a JSON value; write a number, or null for unknown")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _Refused(f"the key {twice!r} is given twice in one object; keep one of them")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)


def loads(text: str, source: str) -> Any:
    """The value of a JSON text. Raises `SuiteError` naming `source` and the line."""
    if not text.strip():
        raise SuiteError(source, "", "is empty; expected JSON")
    try:
        return _DECODER.decode(text)
    except _Refused as error:
        raise SuiteError(source, "", str(error)) from None
    except json.JSONDecodeError as error:
        message = f"invalid JSON: {error.msg[:1].lower()}{error.msg[1:]} (column {error.colno})"
        raise SuiteError(source, str(error.lineno), message) from None
    except RecursionError:
        raise SuiteError(source, "", "invalid JSON: nested too deeply") from None
    except ValueError as error:  # an integer of thousands of digits
        raise SuiteError(source, "", f"invalid JSON: {error}") from None


def load(path: str) -> tuple[Any, str]:
    """The value and the text of a JSON file. Raises `SuiteError`, also if it cannot be read."""
    try:
        data = textfile.read_bytes(path)
    except FileNotFoundError:
        raise SuiteError(path, "", "no such file") from None
    except OSError as error:
        raise SuiteError(path, "", f"cannot be read: {textfile.reason(error)}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SuiteError(path, str(line), "is not UTF-8; save the file as UTF-8") from None
    return loads(text, path), text
