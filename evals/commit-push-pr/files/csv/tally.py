"""Adds up the amounts of an expense file."""

import argparse
import csv
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path


def amounts(lines: Iterable[str]) -> Iterator[Decimal]:
    """The amounts, one a line; blank lines and comments do not count."""
    for line in lines:
        text = line.partition("#")[0].strip()
        if text:
            yield Decimal(text)


def amounts_of_csv(lines: Iterable[str]) -> Iterator[Decimal]:
    """The amounts of the column `amount`."""
    for row in csv.DictReader(lines):
        yield Decimal(row["amount"])


def total(lines: Iterable[str]) -> Decimal:
    return round(sum(amounts(lines), Decimal()), 2)


def total_of_csv(lines: Iterable[str]) -> Decimal:
    return round(sum(amounts_of_csv(lines), Decimal()), 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    add_up = total_of_csv if arguments.file.suffix == ".csv" else total
    print(add_up(arguments.file.read_text(encoding="utf-8").splitlines()))


if __name__ == "__main__":
    main()
