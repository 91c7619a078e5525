"""SciPy as an oracle: what it says about the same numbers, over a grid and at random.

`spread` and the exact estimators have brute force beside their modules; here are the distributions.
"""

from __future__ import annotations

import random

import pytest

from skilleval.stats.estimators import Z95, pass_at_k, pass_hat_k, spread, wilson
from skilleval.stats.paired import ALPHA, POWER, further_discordant, mean_interval, sign_test

scipy_stats = pytest.importorskip("scipy.stats", reason="SciPy is not installed")
pytestmark = pytest.mark.real


def random_counts(seed, count, largest):
    source = random.Random(seed)
    for _ in range(count):
        n = source.randint(1, largest)
        yield n, source.randint(0, n), source.randint(1, n)


def test_z95_is_the_quantile():
    assert pytest.approx(scipy_stats.norm.ppf(0.975), rel=1e-15) == Z95


@pytest.mark.parametrize("largest", [12, 10_000])
def test_wilson_is_scipys(largest):
    for n, passes, _ in random_counts(1, 150, largest):
        wanted = scipy_stats.binomtest(passes, n).proportion_ci(method="wilson")
        assert wilson(passes / n, n) == pytest.approx((wanted.low, wanted.high), abs=1e-12)


@pytest.mark.parametrize("largest", [12, 400, 10_000])
def test_sign_test_is_the_binomial_test(largest):
    for n, wins, _ in random_counts(2, 60, largest):
        wanted = scipy_stats.binomtest(wins, n).pvalue
        assert sign_test(wins, n - wins) == pytest.approx(wanted, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("largest", [12, 400, 10_000])
def test_pass_at_k_is_hypergeometric(largest):
    for n, passes, k in random_counts(3, 60, largest):
        wanted = scipy_stats.hypergeom.sf(0, n, passes, k)
        assert pass_at_k(n, passes, k) == pytest.approx(wanted, rel=1e-7, abs=1e-300)


@pytest.mark.parametrize("largest", [12, 400])
def test_pass_hat_k_is_hypergeometric(largest):
    for n, passes, k in random_counts(4, 60, largest):
        wanted = scipy_stats.hypergeom.pmf(k, n, passes, k)
        assert pass_hat_k(n, passes, k) == pytest.approx(wanted, rel=1e-7, abs=1e-300)


def test_spread_is_scipys():
    source = random.Random(5)
    for size in (2, 3, 50, 10_000):
        values = [source.uniform(-1e6, 1e6) for _ in range(size)]
        wanted = scipy_stats.describe(values)
        found = spread(values)
        assert found.mean == pytest.approx(float(wanted.mean), rel=1e-9, abs=1e-6)
        assert found.stddev == pytest.approx(float(wanted.variance) ** 0.5, rel=1e-9)


def test_mean_interval_is_the_normal_one_of_the_extended_sample():
    source = random.Random(6)
    for size in (1, 4, 30, 1000):
        values = [source.uniform(-1, 1) for _ in range(size)]
        extended = scipy_stats.describe([*values, 1.0, -1.0], ddof=0)
        error = (float(extended.variance) / (size + 2)) ** 0.5
        low, high = scipy_stats.norm.interval(0.95, loc=float(extended.mean), scale=error)
        assert mean_interval(values) == pytest.approx((max(low, -1), min(high, 1)), abs=1e-12)


@pytest.mark.parametrize(("wins", "losses"), [(5, 1), (3, 2), (60, 40), (900, 850)])
def test_needed_cases_are_the_first_with_enough_power(wins, losses):
    seen, share = wins + losses, losses / (wins + losses)

    def power(n):
        # the most losses that are still significant: one fewer than the quantile, or the quantile
        most = int(scipy_stats.binom.ppf(ALPHA / 2, n, 0.5))
        most -= 2 * scipy_stats.binom.cdf(most, n, 0.5) > ALPHA
        return scipy_stats.binom.cdf(most, n, share)

    found = further_discordant(wins, losses)
    assert power(seen + found) >= POWER
    assert all(power(n) < POWER for n in range(max(seen + 1, seen + found - 300), seen + found))
