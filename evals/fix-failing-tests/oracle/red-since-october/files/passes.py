"""Season passes of the swimming pool."""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Pass:
    number: int
    last_day: date


def is_valid(card: Pass, today: date) -> bool:
    """Up to its last day, and on it."""
    return today <= card.last_day
