"""Strict reading of JSON that people write. Owns syntax errors and their places; knows no schema.

Stricter than the standard library where that loses something in silence: a key given twice, NaN
and Infinity are errors. More lenient where nothing is lost: a byte order mark is dropped.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from skilleval.errors import SuiteError
from skilleval.reading import textfile


class _Refused(ValueError):
    """Our own reason to refuse, raised from within the parser, which does not say where it is."""

    def __init__(self, message: str, *, token: str = "", key: str = "") -> None:
        super().__init__(message)
        self.token, self.key = token, key


def _no_constant(name: str) -> NoReturn:
    message = f"{name} is not a JSON value; write a number, or null for unknown"
    raise _Refused(message, token=name)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        message = f"the key {twice!r} is given twice in one object; keep one of them"
        raise _Refused(message, key=twice)
    return found


# compiled when something is refused, and only then
_TOKEN = r'(?P<key>"(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|-?Infinity|NaN|[{}\[\]]'
_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)


def loads(text: str, source: str) -> Any:
    """The value of a JSON text. Raises `SuiteError` naming `source` and the line."""
    if not text.strip():
        raise SuiteError(source, "", "is empty; expected JSON")
    try:
        return _DECODER.decode(text)
    except _Refused as error:
        raise SuiteError(source, _line_of(error, text), str(error)) from None
    except json.JSONDecodeError as error:
        message = f"invalid JSON: {error.msg[:1].lower()}{error.msg[1:]} (column {error.colno})"
        raise SuiteError(source, str(error.lineno), message) from None
    except RecursionError:
        raise SuiteError(source, "", "invalid JSON: nested too deeply") from None
    except ValueError:
        raise SuiteError(source, "", "invalid JSON: a number of thousands of digits") from None


def _line_of(error: _Refused, text: str) -> str:
    """The 1-based line of what was refused; the parser found nothing else wrong before it."""
    keys: list[set[str]] = []  # of the objects and lists that are open
    for found in re.finditer(_TOKEN, text):
        token = found[0]
        if token in ("{", "["):
            keys.append(set())
        elif token in ("}", "]"):
            keys.pop()
        elif found["key"]:
            name = json.loads(found["key"])
            if name == error.key and name in keys[-1]:
                return str(text.count("\n", 0, found.start()) + 1)
            keys[-1].add(name)
        elif token == error.token:
            return str(text.count("\n", 0, found.start()) + 1)
    return ""


def load(path: str) -> tuple[Any, str]:
    """The value and the text of a JSON file. Raises `SuiteError`, also if it cannot be read."""
    text = textfile.read_strict(path)
    return loads(text, path), text
