"""Import of the price lists that suppliers send every night."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

BATCH = 500


@dataclass(frozen=True)
class Row:
    sku: str
    price: Decimal
    currency: str


def parse(fields: dict[str, str]) -> Row:
    price = Decimal(fields["price"].strip() or 0)
    return Row(fields["sku"].strip(), price, fields["currency"].strip())


def read_rows(path: Path, rejected: list[str] = []) -> tuple[list[Row], list[str]]:
    """The rows that can be read, and the article numbers of those that cannot."""
    rows = []
    with path.open(encoding="utf-8", newline="") as file:
        for fields in csv.DictReader(file):
            try:
                rows.append(parse(fields))
            except InvalidOperation:
                rejected.append(fields["sku"])
    return rows, rejected


def batches(rows: list[Row]) -> Iterator[list[Row]]:
    for start in range(0, len(rows) - BATCH + 1, BATCH):
        yield rows[start : start + BATCH]


def import_file(path: Path, store) -> tuple[int, list[str]]:
    """Number of imported rows, and rejected article numbers.

    One transaction for each batch: setting a price twice is harmless, and a lock on the whole
    table for minutes is not.
    """
    rows, rejected = read_rows(path)
    for batch in batches(rows):
        with store.transaction() as transaction:
            for row in batch:
                transaction.set_price(row.sku, row.price)
    return len(rows), rejected
