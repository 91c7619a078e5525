"""Whole sentences on whole outcomes: what a rule decides, and what it leaves to a judge."""

import json
import random
import time
from pathlib import Path

import pytest
from evidence import calls, decided, of_block, outcome, verdict

from skilleval import assertions
from skilleval.assertions import Rule, classify

BLOCKS = json.loads(
    (Path(__file__).parents[1] / "data/suites/claims.json").read_text(encoding="utf-8")
)
ROWS = [
    (block, text, want)
    for block in BLOCKS
    for want in ("pass", "fail", "judge", "skip")
    for text in block.get(want, ())
]


@pytest.mark.parametrize(
    ("block", "text", "want"),
    ROWS,
    ids=[f"{block['about']}: {want}: {text[:60]}" for block, text, want in ROWS],
)
def test_sentence_has_its_verdict(block, text, want):
    assert decided(text, of_block(block), block.get("should_trigger", True)) == want


def test_there_are_many_sentences_of_each_verdict():
    counts = {want: sum(row[2] == want for row in ROWS) for want in ("pass", "fail", "judge")}
    assert min(counts.values()) >= 300


def test_no_mixture_of_sentences_breaks_the_reading_or_the_grading():
    chance = random.Random(5)
    outcomes = [of_block(block) for block in BLOCKS]
    words = [word for _, text, _ in ROWS for word in text.split()]
    for _ in range(3000):
        first, second = (chance.choice(ROWS)[1].split() for _ in "12")
        joint = chance.choice(["and", "but", "or", "then", "without", ", not", "before", "except"])
        cut = chance.randrange(len(first) + 1)
        text = " ".join([*first[:cut], chance.choice([joint, chance.choice(words)]), *second])
        assert decided(text, chance.choice(outcomes), chance.random() < 0.5)


def test_five_hundred_assertions_are_understood_at_once():
    start = time.perf_counter()
    for _, text, _ in ROWS[:500]:
        classify(text)
    assert time.perf_counter() - start < 1


MEGABYTE = 1_000_000


@pytest.mark.parametrize(
    "text",
    [
        "`" * 100_000,
        "'a " * 30_000,
        "a/" * 50_000,
        "." * 100_000,
        "a branch and " * 8_000,
        '"' * 99,
    ],
    ids=["ticks", "quotes", "slashes", "dots", "words", "straight"],
)
def test_no_text_takes_long_to_understand(text):
    start = time.perf_counter()
    assertions.check(1, text, True)
    assert time.perf_counter() - start < 2


@pytest.mark.parametrize(
    "text",
    [
        "x" * MEGABYTE,
        "[" * MEGABYTE,
        "a-" * (MEGABYTE // 2),
        " " * MEGABYTE,
        "a\n" * (MEGABYTE // 2),
    ],
    ids=["letters", "brackets", "hyphens", "blanks", "lines"],
)
def test_no_evidence_takes_long_to_judge(text):
    claims = ("The output is valid JSON", "The output is at most 9 words", "The agent ran `npm ci`")
    start = time.perf_counter()
    for came in (outcome(output=text), outcome(stdout=text), calls(text)):
        for claim in claims:
            decided(claim, came)
    assert time.perf_counter() - start < 10


@pytest.mark.parametrize("text", ["", " ", '""', "``", "''", "“”", "\u202e", "\u0301", "“ ”"])
def test_a_text_of_no_words_is_for_the_judge(text):
    assert decided(text, outcome(output="x")) == "judge"


def test_both_ends_of_a_range_count():
    found = classify("Between 2 and 4 commits were created")
    assert [part.quantity for part in found.parts] == [(">=", 2), ("<=", 4)]
    assert classify("At least 2 and at most 4 commits were created") == found
    assert classify("2-4 commits were created") == found


def test_a_sentence_may_ask_what_was_done_and_what_is_left():
    found = classify("The agent ran `npm test` and `a.md` was created")
    assert isinstance(found, Rule)
    assert found.grader == "state"
    came = calls("npm test")
    assert decided("The agent ran `npm test` and no file was created", came) == "pass"


@pytest.mark.parametrize(
    ("output", "want"),
    [("one two", "pass"), ("one-two three", "judge"), ("one two three four", "fail")],
)
def test_a_length_that_depends_on_how_it_is_counted_is_for_the_judge(output, want):
    assert decided("The output is at most 2 words", outcome(output=output)) == want


HEAD_AND_TAIL = "one two\n[... 900 bytes cut ...]\nnine ten"
OF_A_PART = [
    ('The output contains "two"', "pass"),
    ('The output does not contain "nine"', "fail"),
    ('The output contains "three"', "skip"),
    ('The output does not contain "three"', "skip"),
    ('The output contains "cut"', "skip"),
    ('The output contains "two\nnine"', "skip"),
    ('The output starts with "one"', "pass"),
    ('The output starts with "two"', "fail"),
    ('The output ends with "ten"', "skip"),
    ('The output is exactly "one"', "skip"),
    ("The output is valid JSON", "skip"),
    ("The output is not valid JSON", "skip"),
    ('The JSON output has the key "a"', "skip"),
    ("The output is at most 2 words", "fail"),
    ("The output is at most 3 words", "skip"),
    ("The output is at least 3 words", "pass"),
    ("The output is at least 4 words", "skip"),
    ("The output is at most 5 characters", "fail"),
    ("The output is at most 90 characters", "skip"),
    ("The output has at most 1 line", "skip"),
]


@pytest.mark.parametrize(("text", "want"), OF_A_PART)
def test_of_an_output_that_was_cut_only_what_is_left_counts(text, want):
    assert decided(text, outcome(output=HEAD_AND_TAIL, output_whole=False)) == want


def test_an_output_that_quotes_a_cut_is_whole():
    came = outcome(output=HEAD_AND_TAIL)
    assert decided('The output does not contain "three"', came) == "pass"


def test_an_answer_of_which_nobody_knows_what_was_lost_has_no_length_and_no_start():
    came = outcome(output="one two three", output_whole=False)
    assert decided('The output contains "two"', came) == "pass"
    for text in ('starts with "one"', "is at most 2 words", "is at least 2 words"):
        assert decided(f"The output {text}", came) == "skip"


def test_a_text_in_other_letters_is_for_the_judge():
    assert decided('The output starts with "Done"', outcome(output="DONE.")) == "judge"
    assert decided('The output is exactly "Done"', outcome(output=" Done\n")) == "pass"


def test_a_command_is_counted_once_though_a_log_tells_of_its_start_and_end():
    item = '{{"type":"item.{}","item":{{"id":"i1","type":"command_execution","command":"make x"}}}}'
    log = outcome(stdout=f"{item.format('started')}\n{item.format('completed')}\n")
    assert decided("The agent ran `make x` exactly once", log) == "pass"


def test_a_log_that_speaks_of_a_command_does_not_prove_that_it_ran():
    for line in ("then run cargo build", "cargo is not needed", "cargo can build it"):
        assert decided("The agent ran cargo", outcome(stdout=line)) == "judge"
        assert decided("The agent did not run cargo", outcome(stdout=line)) == "judge"
    assert decided("The agent ran no commands", outcome(stdout="hello")) == "judge"


def test_what_is_in_order_is_decided_by_what_ran_first():
    text = "The agent ran `npm test` before `git commit`"
    assert decided(text, calls("npm test", "git commit", "npm test")) == "pass"
    assert decided(text, calls("git commit", "npm test")) == "fail"
    assert decided(text, calls("git commit", "npm test", "git commit")) == "judge"
    assert decided(text, calls("npm test")) == "fail"


def test_evidence_says_what_was_compared():
    came = outcome(output='{"status": "bad"}')
    reason = verdict('The JSON output has the key "status" set to "ok"', came).reason
    assert reason == "the output has the key 'status', which is \"bad\""
    reason = verdict("The output is at most 1 word", outcome(output="a b")).reason
    assert reason == "the output has 2 words; asked for at most 1"
