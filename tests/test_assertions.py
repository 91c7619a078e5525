"""How sentences are understood: kind, polarity, quantity, names; and when only a judge will do."""

import json
import random
import re
from pathlib import Path

import pytest
from evidence import CASES

from skilleval import assertions
from skilleval.assertions import Judge, Rule, classify, rule

ROWS = json.loads(
    (Path(__file__).parent / "data/suites/assertions.json").read_text(encoding="utf-8")
)
GRADERS = {"llm": "judge", "command-ran": "trace"}


def graded(text):
    """How an assertion is graded, without what the rules look at."""
    return re.sub(r" \(looks at [^)]*\)", "", classify(text).explain)


@pytest.mark.parametrize("row", ROWS, ids=[row["assertion"][:60] for row in ROWS])
def test_assertion_is_understood(row):
    found = graded(row["assertion"])
    assert (
        found.partition(":")[0] == "judge" if row["grading"] == "judge" else found == row["grading"]
    )


def test_rows_are_of_every_kind():
    text = " ".join(row["grading"] for row in ROWS)
    kinds = ("branch", "commit", "push", "pull request", "file", "folder", "command", "contains")
    assert len(ROWS) >= 300
    assert all(kind in text for kind in (*kinds, "json", "skill", "judge"))


@pytest.mark.parametrize("row", CASES["routes"], ids=lambda row: row["assertion"])
def test_routes_of_the_original_are_kept(row):
    """Rule or judge as in the original, except that one kind is told from another by words."""
    check = assertions.check(1, row["assertion"], True)
    assert check.grader == GRADERS.get(row["original"], "state")


def test_a_rule_is_plain_json_in_its_check_and_back():
    for text in [row["assertion"] for row in ROWS]:
        found = classify(text)
        if isinstance(found, Rule):
            params = json.loads(json.dumps(rule.to_params(found)))
            assert rule.from_params({**params, "description": "x", "fallback": "judge"}) == found


def test_a_check_has_the_text_for_a_judge_and_says_what_to_fall_back_to():
    check = assertions.check(3, "A commit was created", True)
    assert (check.id, check.text, check.grader) == ("assertion/3", "A commit was created", "state")
    assert check.params == {
        "description": "A commit was created",
        "kind": "commit",
        "fallback": "judge",
    }


def test_a_check_of_a_judge_says_why_no_rule_decides():
    check = assertions.check(1, "The tone is polite", True)
    assert check.grader == "judge"
    assert check.params["description"] == "The tone is polite"
    assert assertions.explain(check) == "judge: no rule knows what it is about"


@pytest.mark.parametrize(
    ("text", "turned"),
    [
        ("A new branch was created", True),
        ("A commit was created", True),
        ("Changes were pushed", True),
        ("A PR was opened", True),
        ("A branch and a commit were created", True),
        ("No branch was created", False),
        ("The file `a.md` exists", False),
        ('The output contains "x"', False),
        ("The output is valid JSON", False),
        ("The agent ran `npm test`", False),
        ("The tone is polite", False),
    ],
)
def test_negative_control_turns_git_claims_around_that_do_not_deny_already(text, turned):
    assert assertions.check(1, text, False).negate is turned
    assert assertions.check(1, text, True).negate is False


def test_explanation_says_that_a_control_is_turned_around():
    text = assertions.explain(assertions.check(1, "A commit was created", False))
    assert text.endswith("turned around: it must not have happened")


def test_the_skill_is_that_of_the_suite():
    check = assertions.check(1, "The skill was not triggered", True, ("demo", "Demo"))
    assert check.grader == "trace"
    assert check.params["names"] == ["demo", "Demo"]


def test_typographic_apostrophe_denies_like_a_straight_one():
    assert classify("The agent didn’t push") == classify("The agent didn't push")


def test_composed_and_decomposed_names_are_one():
    assert classify("The file `re\u0301sume\u0301.md` exists").names == ("r\u00e9sum\u00e9.md",)


def test_a_control_text_of_the_original_changes_nothing():
    text = 'The output contains "Could not deterministically check"'
    assert classify(text).names == ("Could not deterministically check",)


def test_capitals_change_nothing_but_names():
    upper = classify('THE OUTPUT DOES NOT CONTAIN "Abc"')
    assert upper == classify('the output does not contain "Abc"')


@pytest.mark.parametrize("punctuation", ["", ".", "!", " .", "...", ";"])
def test_punctuation_at_the_end_is_no_part_of_a_name(punctuation):
    assert classify(f"The file exists: README.md{punctuation}").names == ("README.md",)


WORDS = """the a no not never without neither nor agent branch commit pushed file README.md `x` "y" or
    and but , ; . ( ) exactly two at least once only if contains output valid json ran npm skill
    created exists deleted not “z” 'w' in with"""


def test_no_sentence_breaks_the_reading():
    chance = random.Random(7)
    for _ in range(3000):
        text = " ".join(chance.choices(WORDS.split(), k=chance.randrange(1, 12)))
        found = classify(text)
        assert isinstance(found, Rule | Judge)
        assert found.explain


def test_no_text_breaks_the_reading():
    chance = random.Random(8)
    signs = "aA .,\"'`“”‘’„«»\n\t\\/*?#🙂\u0301\x00\ud800-:(){}[]é"
    for _ in range(3000):
        text = "".join(chance.choices(signs, k=chance.randrange(40)))
        assert classify(text).explain


def test_a_huge_assertion_is_read_in_no_time():
    assert isinstance(classify("a branch " * 20_000), Judge)
    assert isinstance(classify("`" * 20_000), Judge)
    assert isinstance(classify("'" * 4_000 + "x"), Judge)
