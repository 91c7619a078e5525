"""The opposite of a sentence."""

import pytest

from skilleval.strength import negation

PAIRS = {
    "Use X.": "Do not use X.",
    "Then use X.": "Then do not use X.",
    "In CI, run X.": "In CI, do not run X.",
    "You need X, we use Y.": "You need X, we do not use Y.",
    "The file is empty.": "The file is not empty.",
    "It must end.": "It must not end.",
    "Servers MUST answer.": "Servers MUST NOT answer.",
    "It can fail.": "It cannot fail.",
    "It has failed.": "It has not failed.",
    "It's safe.": "It's not safe.",
    "This needs a rebase.": "This does not need a rebase.",
    "Always pin it.": "Never pin it.",
    "Avoid X.": "Prefer X.",
    "Never push it.": "Push it.",
    "It never ends.": "It ends.",
    "Do not use X.": "Do use X.",
    "Don't use X.": "Do use X.",
    "It isn’t there.": "It is there.",
    "It cannot fail.": "It can fail.",
    "It can't fail.": "It can fail.",
    "It won't fail.": "It will fail.",
    "It MUST NOT end.": "It MUST end.",
    "It stands there, not here.": "It stands there, here.",
    "There it ran without a lock.": "There it ran with a lock.",
    "Nothing ran here.": "Something ran here.",
    "It no longer fails.": "It still fails.",
    "No tests ran.": "Some tests ran.",
    "Do it\nnow, it is\nnot late.": "Do not do it\nnow, it is\nnot late.",
}


def negated(sentence):
    change = negation.opposite(sentence)
    return sentence[: change.start] + change.new + sentence[change.end :]


@pytest.mark.parametrize(("sentence", "expected"), PAIRS.items(), ids=PAIRS)
def test_opposite(sentence, expected):
    assert negated(sentence) == expected


@pytest.mark.parametrize(
    "sentence",
    ["", "A list of names.", "must-have, is-a", "In May 2026", "Die Datei fehlt.", "this island"],
)
def test_sentence_that_no_rule_fits_has_no_opposite(sentence):
    assert negation.opposite(sentence) is None


def test_leftmost_place_is_changed():
    assert negated("It is what must not be.") == "It is not what must not be."


@pytest.mark.parametrize("sentence", PAIRS)
def test_opposite_differs(sentence):
    assert negated(sentence) != sentence
