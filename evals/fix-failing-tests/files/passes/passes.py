"""Season passes of the swimming pool."""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Pass:
    number: int
    last_day: date


def is_valid(card: Pass) -> bool:
    """Up to its last day, and on it."""
    return date.today() <= card.last_day
