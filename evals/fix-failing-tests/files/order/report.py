"""Lines of the monthly report."""

import os

DEFAULT = "EUR"


def currency() -> str:
    return os.environ.get("REPORT_CURRENCY", DEFAULT)


def line(name: str, cents: int) -> str:
    return f"{name}: {cents / 100:.2f} {currency()}"
