"""Reads what others have written into a run folder: a text or a JSON object, or why it is neither.

Another tool wrote it, or an agent that found the folder: a file may be missing, cut or of any size,
and a link may lead to what is nobody's business. Owns that caution, and nothing of what is meant.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from skilleval.errors import SuiteError
from skilleval.reading import textfile


def text(path: str, root: str) -> str | None:
    """The decoded text of a file below the folder `root`; None if there is none.

    Raises `SuiteError` for what cannot be read, or is outside of `root` once links are followed.
    """
    target, folder = os.path.realpath(path), os.path.realpath(root)
    if not textfile.contains_path(folder, target):
        raise SuiteError(path, "", f"is a link that leaves {root}")
    try:
        return textfile.read_text(target)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SuiteError(path, "", f"cannot be read: {textfile.reason(error)}") from None


def document(path: str, root: str) -> Mapping[str, Any] | None:
    """The JSON object in a file below `root`; None if there is no file. Raises `SuiteError`."""
    found = text(path, root)
    if found is None:
        return None
    try:
        value = json.loads(found)
    except (ValueError, RecursionError) as error:
        raise SuiteError(path, "", f"is damaged: {error}") from None
    if not isinstance(value, dict):
        raise SuiteError(path, "", f"must hold an object, not {_kind(value)}")
    return value


def texts(value: Any) -> list[str] | None:
    """The value if it is a list of texts, else None."""
    listed = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return value if listed else None


def _kind(value: Any) -> str:
    if isinstance(value, list):
        return "a list"
    return {str: "a text", bool: "true or false", type(None): "null"}.get(type(value), "a number")
