"""Two arms against each other, case by case. Owns the test, the interval and the verdict.

The unit is the case: repeats of one are not independent of each other, so they make its rate more
precise and are no further evidence about other cases (Miller 2024, arXiv 2411.00640).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, fsum, sqrt
from typing import TYPE_CHECKING, Literal, NamedTuple

from skilleval.stats.estimators import Z95, Interval

if TYPE_CHECKING:
    from fractions import Fraction

ALPHA = 0.05
POWER = 0.8
# Fewer cases that differ cannot reach p <= ALPHA, whichever way they go: 2 / 2 ** 5 > 0.05.
FEWEST = 6
# An even split looks as uneven as this, or more so, at least half of the time: no lean at all.
NO_LEAN = 0.5
# A difference below this, of rates in [0, 1], is none that anybody would keep on looking for.
RELEVANT = 0.1


class Paired(NamedTuple):
    """What `pairs` cases say that were graded in both arms.

    `wins`, `losses` and `ties` count the cases that are better, worse, and alike with the skill.
    `effect` is the mean difference of the rates, `interval` its 95 % interval, `p_value` that of
    the exact two-sided sign test; for cases that only pass or fail it is McNemar's exact test.
    `normalised_gain` is the share of what was left to gain, (with - without) / (1 - without).
    `needed`: how many more cases that differ it takes, if they go on as so far, to tell the arms
    apart with a power of 80 %; None where the verdict asks for no more.
    """

    pairs: int
    wins: int
    losses: int
    ties: int
    with_mean: float | None
    without_mean: float | None
    effect: float | None
    interval: Interval | None
    p_value: float | None
    normalised_gain: float | None
    verdict: Literal["improves", "hurts", "no difference seen", "underpowered"]
    needed: int | None
    reason: str

    @property
    def text(self) -> str:
        """The verdict in words."""
        if self.needed is None:
            return self.verdict
        return f"{self.verdict} (need about {self.needed} more cases that differ)"


def paired(pairs: Sequence[tuple[Fraction | int, Fraction | int]]) -> Paired:
    """What (rate with, rate without), one per case and exact, say about the difference.

    The verdict is `improves` or `hurts` if the sign test says p <= 0.05 and the mean goes the same
    way; else `underpowered` if fewer than 6 cases were paired, or if those that differ lean to one
    side (p <= 0.5) and the interval does not rule out a difference of 0.1; else `no difference
    seen`.
    """
    if not pairs:
        reason = "no case was graded in both arms"
        unknown = (None, None, None, None, None, None)
        return Paired(0, 0, 0, 0, *unknown, "underpowered", FEWEST, reason)
    from fractions import Fraction

    differences = [with_ - without for with_, without in pairs]
    wins = sum(difference > 0 for difference in differences)
    losses = sum(difference < 0 for difference in differences)
    counts = (wins, losses, len(pairs) - wins - losses)
    with_mean = Fraction(sum(with_ for with_, _ in pairs), len(pairs))
    without_mean = Fraction(sum(without for _, without in pairs), len(pairs))
    effect = with_mean - without_mean
    gain = None if without_mean == 1 else float(effect / (1 - without_mean))
    p_value = sign_test(wins, losses)
    means = (float(with_mean), float(without_mean), float(effect))
    interval = mean_interval([float(difference) for difference in differences])
    verdict = _verdict(counts, means[2], p_value, interval)
    return Paired(len(pairs), *counts, *means, interval, p_value, gain, *verdict)


def _verdict(
    counts: tuple[int, int, int], effect: float, p_value: float, interval: Interval | None
) -> tuple[Literal["improves", "hurts", "no difference seen", "underpowered"], int | None, str]:
    wins, losses, ties = counts
    seen = f"{wins} better, {losses} worse, {ties} alike: p = {p_value:.2g}"
    if p_value <= ALPHA:
        if effect * (wins - losses) > 0:
            return "improves" if effect > 0 else "hurts", None, seen
        return "no difference seen", None, f"{seen}, but the mean difference goes the other way"
    n = wins + losses + ties
    if n >= FEWEST and p_value > NO_LEAN:
        return "no difference seen", None, seen
    if interval and interval.low > -RELEVANT and interval.high < RELEVANT:
        return "no difference seen", None, f"{seen}; one of {RELEVANT:g} or more is ruled out"
    needed = further_discordant(wins, losses)
    if wins + losses < FEWEST:
        seen += f"; fewer than {FEWEST} cases that differ cannot reach p <= {ALPHA:g}"
    if wins + losses:
        seen += f"; at this rate it takes about {ceil(needed * n / (wins + losses))} more cases"
    return "underpowered", needed, seen


def sign_test(wins: int, losses: int) -> float:
    """The p value, two-sided and exact, of a split that is at least as uneven under even odds.

    Cases that do not differ say nothing and are left out (Dixon and Mood 1946; McNemar 1947). Two-
    sided, because the verdict may be either; 1 if no case differs.
    """
    n, fewer = wins + losses, min(wins, losses)
    term = tail = 1  # C(n, 0), and the sum of C(n, i) up to the smaller side
    for i in range(fewer):
        term = term * (n - i) // (i + 1)
        tail += term
    return min(1.0, tail / (1 << n) * 2)


def mean_interval(differences: Sequence[float]) -> Interval | None:
    """The 95 % interval of the mean of differences within [-1, 1]; None of none.

    Two cases are added, one better and one worse in full: with 0 and 1 that is the adjusted Wald
    interval for paired proportions of Bonett and Price (2012, J. Educ. Behav. Stat. 37:479), and
    for rates in between it errs on the wide side. It has a width also where all are alike.
    """
    if not differences:
        return None
    n = len(differences) + 2
    mean = fsum(differences) / n
    variance = (fsum(value * value for value in differences) + 2) / n - mean * mean
    half = Z95 * sqrt(variance / n)
    return Interval(max(-1.0, mean - half), min(1.0, mean + half))


def further_discordant(wins: int, losses: int) -> int:
    """How many more cases that differ it takes until the sign test has a power of 80 %.

    Supposed that they split as those seen did. An even split has nothing to find: then the number
    that the test needs at all.
    """
    seen = wins + losses
    if wins == losses:
        return max(FEWEST - seen, 1)
    share = min(wins, losses) / seen
    even, leaning = _Tail(0.5), _Tail(share)
    while True:
        # The smaller side must stay at or below `k` for p <= ALPHA; `k` grows with n.
        if 2 * even.following().sum <= ALPHA:
            even, leaning = even.following(), leaning.following()
        elif even.n > seen and 2 * even.sum <= ALPHA and leaning.sum >= POWER:
            return even.n - seen
        else:
            even, leaning = even.longer(), leaning.longer()


class _Tail(NamedTuple):
    """The chance of at most `k` among `n` tries of chance `p`: `sum`; of exactly k: `term`."""

    p: float
    n: int = 0
    k: int = 0
    term: float = 1.0
    sum: float = 1.0

    def following(self) -> _Tail:
        """The same with k + 1."""
        odds = self.p / (1 - self.p)
        term = self.term * (self.n - self.k) / (self.k + 1) * odds
        return self._replace(k=self.k + 1, term=term, sum=self.sum + term)

    def longer(self) -> _Tail:
        """The same with n + 1: what ends beyond k had exactly k, and one more."""
        total = self.sum - self.term * self.p
        term = self.term * (self.n + 1) / (self.n + 1 - self.k) * (1 - self.p)
        return _Tail(self.p, self.n + 1, self.k, term, total)
