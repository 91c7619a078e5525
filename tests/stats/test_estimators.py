"""Estimators against brute force: every choice and every outcome counted."""

import itertools
import json
import math
import random
import statistics
from fractions import Fraction
from pathlib import Path

import pytest

from skilleval.stats.estimators import Z95, Interval, pass_at_k, pass_hat_k, spread, wilson

DATA = json.loads(
    (Path(__file__).parent.parent / "data/statistics/pass_at_k.json").read_text("utf-8")
)
SMALL = [(n, passes, k) for n in range(1, 9) for passes in range(n + 1) for k in range(1, n + 1)]


def share_of_choices(n, passes, k, wanted):
    tries = [True] * passes + [False] * (n - passes)
    choices = list(itertools.combinations(tries, k))
    return sum(map(wanted, choices)) / len(choices)


def chance(n, k, p):
    return math.comb(n, k) * p**k * (1 - p) ** (n - k)


def test_pass_at_k_is_the_share_of_choices_with_a_pass():
    for n, passes, k in SMALL:
        assert pass_at_k(n, passes, k) == share_of_choices(n, passes, k, any)


def test_pass_hat_k_is_the_share_of_choices_of_passes_alone():
    for n, passes, k in SMALL:
        assert pass_hat_k(n, passes, k) == share_of_choices(n, passes, k, all)


def test_pass_at_k_is_unbiased():
    for p, n, k in [(0.3, 5, 2), (0.1, 8, 3), (0.9, 4, 4)]:
        expected = sum(chance(n, c, p) * pass_at_k(n, c, k) for c in range(n + 1))
        assert expected == pytest.approx(1 - (1 - p) ** k, abs=1e-12)


def test_pass_hat_k_is_unbiased():
    for p, n, k in [(0.3, 5, 2), (0.1, 8, 3), (0.9, 4, 4)]:
        expected = sum(chance(n, c, p) * pass_hat_k(n, c, k) for c in range(n + 1))
        assert expected == pytest.approx(p**k, abs=1e-12)


@pytest.mark.parametrize("estimate", [pass_at_k, pass_hat_k])
def test_more_tries_than_were_seen_are_unknown(estimate):
    assert estimate(0, 0, 1) is None
    assert estimate(3, 3, 4) is None


@pytest.mark.parametrize("estimate", [pass_at_k, pass_hat_k])
@pytest.mark.parametrize("counts", [(3, 4, 1), (3, -1, 1), (3, 1, 0)])
def test_counts_that_cannot_be_are_refused(estimate, counts):
    with pytest.raises(ValueError, match="need 0 <= passes <= n"):
        estimate(*counts)


def test_ten_thousand_tries_lose_no_bit():
    n = 10_000
    assert pass_at_k(n, 1, 1) == 1e-4
    assert pass_at_k(n, 1, n - 1) == float(Fraction(n - 1, n))
    assert pass_at_k(n, n // 2, n // 2) == 1.0
    assert pass_hat_k(n, n - 1, n // 2) == 0.5
    assert pass_hat_k(n, n // 2, n // 2) == 0.0


@pytest.mark.parametrize("row", DATA, ids=[row["id"] for row in DATA])
def test_documented_runs_give_the_documented_estimates(row):
    runs = row["runs_full_pass"].values()
    for name, estimate in [("unbiased", pass_at_k), ("pass_hat_k_all", pass_hat_k)]:
        for key, wanted in row[name].items():
            k = int(key[5:])
            found = statistics.mean(estimate(len(run), sum(run), k) for run in runs)
            assert found == pytest.approx(wanted, abs=1e-12)


def test_wilson_has_a_width_at_all_and_at_none():
    assert wilson(1, 10) == Interval(pytest.approx(0.7225, abs=1e-4), 1.0)
    assert wilson(0, 10) == Interval(0.0, pytest.approx(0.2775, abs=1e-4))


def test_wilson_bounds_are_the_shares_that_the_score_test_just_accepts():
    for n in (1, 2, 7, 40, 10_000):
        for passes in {0, 1, n // 3, n // 2, n}:
            for bound in wilson(passes / n, n):
                if 0 < bound < 1:
                    score = (passes / n - bound) / math.sqrt(bound * (1 - bound) / n)
                    assert abs(score) == pytest.approx(Z95, rel=1e-9)


def test_wilson_of_nothing_is_unknown():
    assert wilson(None, 3) is None
    assert wilson(0.5, 0) is None


def test_wilson_refuses_what_is_no_share():
    for share, n in [(1.5, 3), (-0.1, 3), (float("nan"), 3), (0.5, -1)]:
        with pytest.raises(ValueError, match="a share lies in"):
            wilson(share, n)


@pytest.mark.parametrize("n", [5, 10, 30])
def test_wilson_covers_95_percent_on_average(n):
    intervals = [wilson(k / n, n) for k in range(n + 1)]
    shares = [i / 200 for i in range(1, 200)]
    covered = [
        sum(chance(n, k, p) for k, (low, high) in enumerate(intervals) if low <= p <= high)
        for p in shares
    ]
    assert 0.945 <= statistics.mean(covered) <= 0.965
    assert min(covered) > 0.83  # known: just beside 0 and 1, and no better than that


def test_wilson_is_cautious_for_means_of_scores_in_between():
    source = random.Random(5)
    samples = [[source.betavariate(2, 3) for _ in range(8)] for _ in range(2000)]
    intervals = [wilson(sum(sample) / 8, 8) for sample in samples]
    assert sum(low <= 0.4 <= high for low, high in intervals) / 2000 >= 0.95


def test_spread_is_over_what_is_known():
    values = [1.5, None, 4, 2]
    known = [1.5, 4, 2]
    wanted = (3, statistics.mean(known), statistics.stdev(known))
    assert spread(values) == pytest.approx(wanted)


def test_one_number_has_no_deviation_and_none_has_no_mean():
    assert spread([None, 3]) == (1, 3.0, None)
    assert spread([None]) == (0, None, None)


def test_spread_of_equal_numbers_is_exactly_zero():
    assert spread([0.1] * 10_000) == (10_000, 0.1, 0.0)


def test_spread_survives_numbers_far_from_zero():
    values = [1e9 + i % 2 for i in range(10_000)]
    assert spread(values).stddev == pytest.approx(statistics.stdev(values), rel=1e-9)
