"""The gate at the entrance."""

from passes import Pass, is_valid


def opens(card: Pass | None) -> bool:
    return card is not None and is_valid(card)
