"""Adds up the amounts of an expense file."""

import argparse
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path


def amounts(lines: Iterable[str]) -> Iterator[Decimal]:
    """The amounts, one a line; blank lines and comments do not count."""
    for line in lines:
        text = line.partition("#")[0].strip()
        if text:
            yield Decimal(text)


def total(lines: Iterable[str]) -> Decimal:
    return round(sum(amounts(lines), Decimal()), 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    print(total(arguments.file.read_text(encoding="utf-8").splitlines()))


if __name__ == "__main__":
    main()
