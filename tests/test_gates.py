"""Gates and the exit codes they lead to."""

from fractions import Fraction

import pytest

from skilleval import gates
from skilleval.model import Gate, Summary


def summary(score):
    return Summary(score, 1, 1, 1, 1)


@pytest.mark.parametrize(
    ("score", "limit", "code"),
    [
        (Fraction(4, 5), Fraction("0.8"), 0),
        (Fraction(79, 100), Fraction("0.8"), 1),
        (1, 1, 0),
        (0, 0, 0),
        (None, 0, 3),
    ],
)
def test_at_or_above_is_0_below_is_1_unknown_is_3(score, limit, code):
    assert gates.exit_code([Gate("score", ">=", limit)], summary(score)) == code


def test_a_ceiling_is_kept_at_or_below():
    gate = Gate("checks_total", "<=", 1)
    assert gates.failed([gate], summary(1)) == ()
    assert gates.failed([gate._replace(limit=0)], summary(1)) == (gate._replace(limit=0),)


def test_an_unknown_figure_keeps_no_gate():
    gate = Gate("score", ">=", 0)
    assert gates.failed([gate], summary(None)) == (gate,)


def test_every_gate_has_to_be_kept():
    both = [Gate("score", ">=", Fraction(1, 2)), Gate("cases_passed", ">=", 2)]
    assert gates.failed(both, summary(1)) == (both[1],)
