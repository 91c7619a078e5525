"""Parts of JSON that programs and endpoints wrote: a value if it is of a type, else nothing of it.

They leave fields out, write null, and change a type from version to version: then a number is
unknown, and nothing stops the reading. What people write by hand is read strictly, by `jsonread`
and `formats.fields`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

LARGEST = 1e15


def mapping(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one: a null never stops the reading."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> Sequence[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else ()


def word(value: Any) -> str:
    """The value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def count(value: Any) -> int | None:
    """A number of tokens, None for anything that is none."""
    number = amount(value)
    return None if number is None else int(number)


def amount(value: Any) -> float | None:
    """A number from 0, None for anything that is none (a boolean, a text, a negative one).

    So is one that nothing can have counted: its digits may be thousands.
    """
    usable = isinstance(value, int | float) and not isinstance(value, bool)
    return value if usable and 0 <= value < LARGEST else None


def total(values: Iterable[Any]) -> int | None:
    """The sum of those that are numbers of tokens; None if none is: unknown is not 0."""
    numbers = [number for number in map(count, values) if number is not None]
    return sum(numbers) if numbers else None
