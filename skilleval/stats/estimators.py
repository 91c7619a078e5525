"""What a handful of numbers says about the rest. Owns means, intervals and pass@k of one sample.

Two samples against each other are `paired`'s. None = not to be known from so few numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import comb, fsum, sqrt
from typing import NamedTuple

Z95 = 1.959963984540054  # the 97.5 % quantile of the normal distribution: intervals of 95 %


class Interval(NamedTuple):
    """From `low` to `high`, at 95 % confidence."""

    low: float
    high: float


class Spread(NamedTuple):
    """`n` known numbers: mean (None of none), sample standard deviation (None of fewer than 2)."""

    n: int
    mean: float | None
    stddev: float | None


def spread(values: Iterable[float | None]) -> Spread:
    """Mean and sample standard deviation (n - 1) of the values that are known."""
    known = [float(value) for value in values if value is not None]
    if not known:
        return Spread(0, None, None)
    mean = fsum(known) / len(known)
    if len(known) == 1:
        return Spread(1, mean, None)
    squares = fsum((value - mean) ** 2 for value in known)
    return Spread(len(known), mean, sqrt(squares / (len(known) - 1)))


def wilson(share: float | None, n: int) -> Interval | None:
    """The score interval of a share of `n` independent tries (Wilson 1927); None for n = 0.

    Never of zero width, also at 0 and 1. For the mean of scores within [0, 1] it is cautious: no
    such scores vary more than passes and fails do. Raises `ValueError` for a share outside [0, 1].
    """
    if share is None or n == 0:
        return None
    if not 0 <= share <= 1 or n < 0:
        raise ValueError(f"a share lies in [0, 1] and n is not negative, not {share!r} of {n}")
    squared = Z95 * Z95
    middle = (share + squared / (2 * n)) / (1 + squared / n)
    half = Z95 * sqrt(share * (1 - share) / n + squared / (4 * n * n)) / (1 + squared / n)
    return Interval(
        0.0 if share == 0 else max(0.0, middle - half),
        1.0 if share == 1 else min(1.0, middle + half),
    )


def pass_at_k(n: int, passes: int, k: int) -> float | None:
    """The chance that at least one of `k` tries passes, by `passes` of `n` seen; None for k > n.

    Unbiased: the share of all choices of k among the n tries that hold a pass, 1 - C(n - passes, k)
    / C(n, k) (Chen et al. 2021, arXiv 2107.03374). Exact to the last bit. Raises `ValueError` for
    counts that cannot be.
    """
    _must_be_counts(n, passes, k)
    if k > n:
        return None
    choices = comb(n, k)
    return (choices - comb(n - passes, k)) / choices


def pass_hat_k(n: int, passes: int, k: int) -> float | None:
    """The chance that all of `k` tries pass, by `passes` of `n` seen; None for k > n.

    Unbiased: C(passes, k) / C(n, k) (Yao et al. 2024, arXiv 2406.12045). Raises `ValueError`.
    """
    _must_be_counts(n, passes, k)
    return None if k > n else comb(passes, k) / comb(n, k)


def _must_be_counts(n: int, passes: int, k: int) -> None:
    if not 0 <= passes <= n or k < 1:
        raise ValueError(f"need 0 <= passes <= n and k >= 1, not {passes} of {n} and k = {k}")
