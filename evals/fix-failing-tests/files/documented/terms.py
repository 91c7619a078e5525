"""When an invoice has to be paid."""

from datetime import date, timedelta

DAYS = 30


def due(invoiced: date) -> date:
    return invoiced + timedelta(days=DAYS)


def reminder(invoiced: date) -> date:
    """A week after the day on which it was due."""
    return due(invoiced) + timedelta(days=7)
