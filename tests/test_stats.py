"""Exact means, against plain fractions."""

import random
from fractions import Fraction

from skilleval.stats import exact_mean


def test_the_mean_of_nothing_is_unknown():
    assert exact_mean([]) is None


def test_tenths_do_not_lose_a_bit():
    assert exact_mean([(1, 10), (2, 10)]) == Fraction(3, 20)
    assert exact_mean([(4, 5)]) == Fraction(4, 5)


def test_a_whole_mean_is_an_int():
    assert [type(exact_mean([(3, 3), (2, 2)])), exact_mean([(3, 3), (2, 2)])] == [int, 1]
    assert exact_mean([(0, 3)]) == 0


def test_points_may_be_fractions_of_a_check():
    assert exact_mean([(0.5, 2), (1, 1)]) == Fraction(5, 8)


def test_it_equals_the_mean_of_fractions():
    source = random.Random(7)
    for _ in range(300):
        pairs = [(source.randint(0, 9), source.randint(1, 9)) for _ in range(source.randint(1, 8))]
        assert exact_mean(pairs) == sum(Fraction(n, d) for n, d in pairs) / len(pairs)
