"""Paired comparisons against every outcome that there could have been."""

import itertools
import math
import random
from fractions import Fraction

import pytest

from skilleval.stats.paired import (
    ALPHA,
    POWER,
    further_discordant,
    mean_interval,
    paired,
    sign_test,
)

WIN, LOSS, TIE = (1, 0), (0, 1), (1, 1)


def splits(n, p):
    """The chance of each number of wins among n."""
    return [math.comb(n, wins) * p**wins * (1 - p) ** (n - wins) for wins in range(n + 1)]


def verdict(wins, losses, ties=0):
    return paired([WIN] * wins + [LOSS] * losses + [TIE] * ties).verdict


def test_p_value_is_the_share_of_outcomes_at_least_as_uneven():
    for n in range(11):
        outcomes = [abs(2 * sum(each) - n) for each in itertools.product((0, 1), repeat=n)]
        for wins in range(n + 1):
            uneven = sum(other >= abs(2 * wins - n) for other in outcomes)
            assert sign_test(wins, n - wins) == uneven / 2**n


def test_p_value_of_ten_thousand_cases_does_not_overflow():
    assert sign_test(5_000, 5_000) == 1.0
    assert sign_test(5_100, 4_900) == pytest.approx(0.04658553, abs=1e-8)
    assert sign_test(10_000, 0) == 0.0


def test_cases_that_do_not_differ_say_nothing():
    assert paired([WIN] * 4 + [TIE] * 50).p_value == sign_test(4, 0) == 0.125


@pytest.mark.parametrize(("wins", "losses"), [(1, 0), (3, 0), (5, 0), (0, 5)])
def test_fewer_than_six_cases_that_differ_prove_nothing(wins, losses):
    found = paired([WIN] * wins + [LOSS] * losses)
    assert (found.verdict, found.needed) == ("underpowered", 6 - wins - losses)


def test_six_cases_better_and_none_worse_improve():
    assert verdict(6, 0) == "improves"
    assert verdict(0, 6) == "hurts"


def test_equal_gains_in_three_cases_are_no_proof():
    found = paired([(Fraction(1, 2), Fraction(1, 4))] * 3)
    assert found.verdict == "underpowered"
    assert found.interval.low < 0 < found.interval.high


def test_no_lean_in_enough_cases_is_no_difference_seen():
    for counts in [(0, 0, 6), (1, 1, 4), (5, 5), (6, 4), (1, 0, 20)]:
        assert verdict(*counts) == "no difference seen"


def test_a_lean_too_small_to_matter_is_no_difference_seen():
    found = paired([WIN] * 3 + [TIE] * 200)
    assert (found.verdict, found.needed) == ("no difference seen", None)
    assert "0.1 or more is ruled out" in found.reason


@pytest.mark.parametrize(("wins", "losses"), [(3, 0), (0, 3)])
def test_a_lean_is_too_small_only_if_the_whole_interval_is(wins, losses):
    found = paired([WIN] * wins + [LOSS] * losses + [TIE] * 40)
    assert max(map(abs, found.interval)) > 0.1 > min(map(abs, found.interval))
    assert found.verdict == "underpowered"


def test_a_lean_that_is_not_proven_is_underpowered():
    for counts in [(2, 0, 10), (3, 0, 10), (5, 1), (8, 2), (60, 40)]:
        assert verdict(*counts) == "underpowered"


def test_too_few_cases_are_underpowered_even_if_alike():
    found = paired([TIE] * 5)
    assert (found.verdict, found.needed) == ("underpowered", 6)


def test_nothing_paired_is_underpowered_and_unknown():
    found = paired([])
    assert found[:4] == (0, 0, 0, 0)
    assert (found.effect, found.interval, found.p_value) == (None, None, None)
    assert found.text == "underpowered (need about 6 more cases that differ)"


def test_more_cases_better_is_no_improvement_if_the_mean_falls():
    small = (Fraction(51, 100), Fraction(1, 2))
    found = paired([small] * 11 + [LOSS])
    assert found.p_value <= ALPHA
    assert found.verdict == "no difference seen"
    assert "the mean difference goes the other way" in found.reason


def test_more_cases_better_is_no_improvement_if_the_mean_stays():
    small = (Fraction(51, 100), Fraction(1, 2))
    found = paired([small] * 11 + [(Fraction(39, 100), Fraction(1, 2))])
    assert (found.effect, found.verdict) == (0.0, "no difference seen")


def test_a_small_gain_in_every_case_improves():
    found = paired([(Fraction(51, 100), Fraction(1, 2))] * 6)
    assert found.verdict == "improves"
    assert "cannot reach" not in found.reason


@pytest.mark.parametrize("differ", [0.2, 0.6, 1.0])
def test_equal_arms_get_a_verdict_in_5_percent_at_most(differ):
    for n in range(1, 16):
        wrong = sum(
            chance * sum(p for wins, p in enumerate(splits(d, 0.5)) if decides(wins, d - wins, n))
            for d, chance in enumerate(splits(n, differ))
        )
        assert wrong <= ALPHA


def decides(wins, losses, n):
    return verdict(wins, losses, n - wins - losses) in ("improves", "hurts")


def power(n, share):
    return sum(
        chance
        for wins, chance in enumerate(splits(n, share))
        if wins > n / 2 and sign_test(wins, n - wins) <= ALPHA
    )


@pytest.mark.parametrize(("wins", "losses"), [(2, 0), (5, 1), (2, 1), (8, 2), (3, 9), (20, 11)])
def test_needed_is_the_first_number_with_enough_power(wins, losses):
    seen, share = wins + losses, max(wins, losses) / (wins + losses)
    first = next(m for m in itertools.count(1) if power(seen + m, share) >= POWER)
    assert further_discordant(wins, losses) == first


def test_an_even_split_needs_what_the_test_needs_at_all():
    assert [further_discordant(n, n) for n in (0, 1, 2, 3)] == [6, 4, 2, 1]


def test_at_least_one_more_is_needed_of_anything():
    assert further_discordant(20, 0) == further_discordant(0, 20) == 1


def test_needed_is_stable_for_thousands_of_cases():
    expected = ((1.959964 * 0.5 + 0.841621 * math.sqrt(0.51 * 0.49)) / 0.01) ** 2
    assert further_discordant(510, 490) + 1000 == pytest.approx(expected, rel=0.01)


def test_reason_says_how_many_cases_that_takes():
    found = paired([WIN] * 3 + [TIE] * 7)
    assert found.text == "underpowered (need about 3 more cases that differ)"
    assert "3 better, 0 worse, 7 alike: p = 0.25" in found.reason
    assert "about 10 more cases" in found.reason


def test_reason_tells_the_limit_of_the_test_only_below_it():
    assert "cannot reach" in paired([WIN] * 4 + [LOSS]).reason
    assert "cannot reach" not in paired([WIN] * 5 + [LOSS]).reason


def test_an_even_split_has_a_rate_of_cases_that_differ():
    assert "about 8 more cases" in paired([WIN, LOSS, TIE, TIE]).reason
    assert "more cases" not in paired([TIE]).reason


def test_effect_is_the_mean_of_the_differences():
    found = paired([(1, Fraction(1, 2)), (Fraction(1, 3), 1), (1, 1)])
    assert found.effect == pytest.approx((1 / 2 - 2 / 3) / 3)
    assert (found.wins, found.losses, found.ties) == (1, 1, 1)


def test_tenths_are_compared_exactly():
    rate = sum([Fraction(1, 10)] * 3)
    assert paired([(rate, Fraction(3, 10))]).ties == 1


def test_normalised_gain_is_the_share_of_what_was_left():
    assert paired([(Fraction(3, 4), Fraction(1, 2))]).normalised_gain == 0.5
    assert paired([(Fraction(1, 4), Fraction(1, 2))]).normalised_gain == -0.5
    assert paired([(1, 1)]).normalised_gain is None


def test_interval_is_that_of_bonett_and_price_for_passes_and_fails():
    wins, losses, n = 7, 2, 15
    more, less = (wins + 1) / (n + 2), (losses + 1) / (n + 2)
    half = 1.959964 * math.sqrt((more + less - (more - less) ** 2) / (n + 2))
    found = mean_interval([1] * wins + [-1] * losses + [0] * (n - wins - losses))
    assert found == pytest.approx((more - less - half, more - less + half), abs=1e-6)


@pytest.mark.parametrize("value", [0, 1, -1, 0.25])
@pytest.mark.parametrize("n", [1, 2, 3, 10_000])
def test_interval_has_a_width_and_holds_the_mean(n, value):
    low, high = mean_interval([value] * n)
    assert -1 <= low <= value <= high <= 1
    assert high - low > 1e-4


def test_interval_of_nothing_is_unknown():
    assert mean_interval([]) is None


@pytest.mark.parametrize("n", [3, 6, 10, 20])
def test_interval_covers_95_percent_on_average(n):
    covered = []
    for better, worse in [(i / 10, j / 10) for i in range(11) for j in range(11 - i)]:
        covered.append(0.0)
        for wins, losses in [(w, x) for w in range(n + 1) for x in range(n + 1 - w)]:
            low, high = mean_interval([1] * wins + [-1] * losses + [0] * (n - wins - losses))
            if low - 1e-12 <= better - worse <= high + 1e-12:
                ways = math.comb(n, wins) * math.comb(n - wins, losses)
                ties = max(0.0, 1 - better - worse) ** (n - wins - losses)
                covered[-1] += ways * better**wins * worse**losses * ties
    assert sum(covered) / len(covered) >= 0.95
    assert min(covered) > 0.88


def test_interval_is_cautious_for_rates_in_between():
    source = random.Random(11)
    samples = [[source.choice((0.1, 0.1, 0.1, -0.5)) for _ in range(12)] for _ in range(2000)]
    intervals = [mean_interval(sample) for sample in samples]
    assert sum(low <= -0.05 <= high for low, high in intervals) / 2000 >= 0.95
