"""Divides a bill among the people at the table."""


def split(total_cents: int, people: int) -> list[int]:
    """What each one pays. The shares add up to the total; odd cents are paid by the first ones."""
    if people < 1:
        raise ValueError("nobody is at the table")
    share, odd = divmod(total_cents, people)
    return [share + 1] * odd + [share] * (people - odd)
