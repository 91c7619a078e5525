"""The exact mean, where a threshold depends on it. On the path of every run: cheap to import.

Intervals and estimators are `estimators`', comparisons `paired`'s.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import lcm
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction


def exact_mean(ratios: Iterable[tuple[float, int]]) -> Fraction | int | None:
    """The mean of numerator/denominator pairs, exact; an int where it is one; None of no pairs.

    4 of 5 is then exactly 0.8, whatever binary floating point thinks.
    """
    # all pairs with one denominator are added as numbers: few fractions, however many pairs
    numerators: dict[int, float] = {}
    count = 0
    for numerator, denominator in ratios:
        numerators[denominator] = numerators.get(denominator, 0) + numerator
        count += 1
    if not count:
        return None
    parts = [
        (n, d * scale)
        for d, sum_of_d in numerators.items()
        for n, scale in [sum_of_d.as_integer_ratio()]
    ]
    common = lcm(*(d for _, d in parts))
    above, below = sum(n * (common // d) for n, d in parts), common * count
    if above % below == 0:
        return above // below  # all passed, or none: no need to load `fractions`
    from fractions import Fraction

    return Fraction(above, below)
