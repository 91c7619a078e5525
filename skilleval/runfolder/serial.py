"""Nouns to JSON and back. Owns the one pair that every stored file goes through.

A noun becomes an object of its fields, a tuple a list, bytes their text (or base64). Reading is by
the types that the noun declares; a field that the file lacks gets its default, one that the noun
lacks is dropped: a newer version may have written it.
"""

from __future__ import annotations

import base64
import types
import typing
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")


def to_json(value: Any) -> Any:
    """Plain JSON values of a noun, and of everything in it."""
    if value is None or isinstance(value, str | int | float):
        return value  # most values, and the quickest to tell
    if isinstance(value, tuple):
        names = getattr(value, "_fields", None)
        if names is not None:
            return {name: to_json(item) for name, item in zip(names, value, strict=True)}
        return [to_json(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [to_json(item) for item in value]
    if isinstance(value, bytes):
        try:
            return {"utf-8": value.decode()}  # readable, and so are differences
        except UnicodeDecodeError:
            return {"base64": base64.b64encode(value).decode()}
    return str(value)


def from_json(kind: type[T], value: Any) -> T:
    """A noun of that kind from what `to_json` made of one. Raises `ValueError` if it cannot be."""
    found = _read(kind, value)
    if not isinstance(found, kind):
        raise ValueError(f"expected {kind.__name__}, found {type(value).__name__}")
    return found


@cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _read(kind: Any, value: Any) -> Any:
    if value is None:
        return None
    if hasattr(kind, "_fields") and isinstance(value, dict):
        hints = _hints(kind)
        return kind(**{name: _read(hints[name], value[name]) for name in hints if name in value})
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        [only, *_] = [part for part in typing.get_args(kind) if part is not type(None)]
        return _read(only, value)
    if typing.get_origin(kind) is tuple and isinstance(value, list):
        return _read_tuple(typing.get_args(kind), value)
    if kind is bytes and isinstance(value, dict):
        return value["utf-8"].encode() if "utf-8" in value else base64.b64decode(value["base64"])
    return value


def _read_tuple(parts: tuple[Any, ...], value: list[Any]) -> tuple[Any, ...]:
    if len(parts) == 2 and parts[1] is Ellipsis:
        return tuple(_read(parts[0], item) for item in value)
    return tuple(_read(part, item) for part, item in zip(parts, value, strict=True))
