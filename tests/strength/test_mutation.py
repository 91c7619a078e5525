"""Mutants of an answer: each operator, and what all of them keep to."""

from random import Random

import pytest

from skilleval.strength import mutation

ANSWER = """\
Use `run_all` first.

# Cause

The cache is stale, see cache.load() in src/app.py.

## Detail

```python
cache.load(max_age=1)  # never use this
```

# Fix

Pass --force to `run_all`.
"""


def of(text, operator, **more):
    return [m for m in mutation.mutants(text, **more) if m.operator == operator]


def texts(text, operator):
    return [mutant.text for mutant in of(text, operator)]


def described(text, operator):
    return [mutant.description for mutant in of(text, operator)]


def test_each_line_is_dropped():
    assert texts("a1\nb2\nc3", "drop-line") == ["b2\nc3", "a1\nc3", "a1\nb2\n"]


def test_code_lines_are_dropped():
    assert "```\nb = 2\n```\n" in texts("```\na = 1\nb = 2\n```\n", "drop-line")


@pytest.mark.parametrize("line", ["", "  ", "---", "|--|--|", "```"])
def test_line_without_a_letter_is_not_dropped(line):
    assert described(f"a\n{line}\nb\n{line}\n", "drop-line") == ["a", "b"]


def test_blank_line_in_a_code_block_is_not_dropped():
    assert described("```\na\n\nb\n```\n", "drop-line") == ["a", "b"]


def test_dropped_line_is_named_by_its_number():
    assert [m.line for m in of("a\n\nb\n", "drop-line")] == [1, 3]


def test_section_goes_with_the_nested_ones():
    cause = of(ANSWER, "drop-section")[0]
    assert (cause.line, cause.description) == (3, "# Cause")
    assert cause.text == "Use `run_all` first.\n\n# Fix\n\nPass --force to `run_all`.\n"


def test_nested_section_is_dropped_alone():
    [detail] = [m for m in of(ANSWER, "drop-section") if m.description == "## Detail"]
    assert "cache.load(max_age" not in detail.text
    assert "The cache is stale" in detail.text
    assert "# Fix" in detail.text


def test_fenced_block_is_dropped_as_a_section():
    [block] = [m for m in of(ANSWER, "drop-section") if m.description.startswith("```python")]
    assert block.line == 9
    assert "```" not in block.text
    assert "## Detail" in block.text


def test_sections_come_in_text_order():
    assert [m.line for m in of(ANSWER, "drop-section")] == [3, 7, 9, 13]


def test_heading_in_a_code_block_begins_no_section():
    assert described("```\n# a\nb\n```\nc\n", "drop-section") == ["``` # a b ```"]


def test_answer_without_headings_and_blocks_has_no_sections():
    assert of("a\n\nb\n", "drop-section") == []


@pytest.mark.parametrize(
    "name",
    ["max_age", "os.path", "a::b", "camelCase", "src/app.py", "setup.cfg", "--force"],
)
def test_identifier_is_found_in_prose(name):
    assert [d.split(" -> ")[0] for d in described(f"See {name}, please", "swap-identifier")] == [
        name
    ]


def test_called_and_quoted_words_are_identifiers():
    assert described("Call foo() with `bar`", "swap-identifier") == ["foo -> bar", "bar -> foo"]


def test_short_flag_is_an_identifier():
    assert described("Run it with -n or --all", "swap-identifier") == ["-n -> --all", "--all -> -n"]


@pytest.mark.parametrize(
    "text", ["Plain words only", "an _emphasised_ word", "the file(s) and/or a read-only GitHub"]
)
def test_prose_has_no_identifiers(text):
    assert of(text, "swap-identifier") == []


def test_identifier_is_swapped_wherever_it_stands():
    swapped = texts("a_b, c_d and a_b(\n```\nx.a_b\n```", "swap-identifier")[0]
    assert swapped == "c_d, c_d and c_d(\n```\nx.c_d\n```"


def test_part_of_a_longer_name_is_not_swapped():
    swapped = texts("`ab`, abc, ab-c and --ab", "swap-identifier")[0]
    assert swapped == "`ba`, abc, ab-c and --ab"


def test_identifier_becomes_one_of_its_sort():
    found = described("--one a/b.py x_y --two c/d.py z_w", "swap-identifier")
    assert set(found) >= {"--one -> --two", "a/b.py -> c/d.py", "x_y -> z_w"}


def test_only_identifier_is_misspelt():
    assert texts("see max_age", "swap-identifier") == ["see mxa_age"]


def test_longer_form_is_no_replacement():
    # "a.b.c" still contains "a.b": not the wrong name, only a longer one
    assert described("a.bc then a.bc.d", "swap-identifier")[0] == "a.bc -> a.cb"


def test_sentence_is_negated_in_prose():
    [negated] = of("Hello.\nUse X. Or Y.", "negate-sentence")
    assert (negated.text, negated.line) == ("Hello.\nDo not use X. Or Y.", 2)
    assert negated.description == "Use -> Do not use: Do not use X."


def test_each_sentence_is_negated_once():
    found = texts("It is here. It must be, it can be.", "negate-sentence")
    assert found == [
        "It is not here. It must be, it can be.",
        "It is here. It must not be, it can be.",
    ]


def test_sentence_over_two_lines_is_one():
    [negated] = of("The cache\nis old.", "negate-sentence")
    assert (negated.line, negated.text) == (2, "The cache\nis not old.")


@pytest.mark.parametrize(
    "text",
    [
        "```\nThis is code. Use it.\n```",
        "see\n\n    This is code",
        "see `it is so`",
        "see https://a.example/is/it",
        "# It is a heading",
    ],
)
def test_code_and_headings_are_not_negated(text):
    assert of(text, "negate-sentence") == []


@pytest.mark.parametrize("lead", ["- ", "1. ", "> ", "- [x] ", "**", "  * "])
def test_order_after_a_marker_is_negated(lead):
    assert texts(f"{lead}Use X", "negate-sentence") == [f"{lead}Do not use X"]


def test_items_of_a_list_are_sentences_even_without_a_full_stop():
    assert texts("- Use X\n- Use Y", "negate-sentence") == [
        "- Do not use X\n- Use Y",
        "- Use X\n- Do not use Y",
    ]


def test_cells_of_a_table_are_sentences():
    assert texts("| Use X | it is |", "negate-sentence") == [
        "| Do not use X | it is |",
        "| Use X | it is not |",
    ]


def test_end_is_cut_after_each_quarter_of_the_lines():
    text = "a\n\nb\nc\nd\ne\nf\ng\nh\n"
    assert texts(text, "truncate") == ["a\n\nb\n", "a\n\nb\nc\nd\n", "a\n\nb\nc\nd\ne\nf\n"]


def test_short_text_is_cut_once_at_each_place():
    assert [m.description for m in of("a\nb\nc", "truncate")] == ["cut after 1 of 3 lines"]
    assert of("a", "truncate") == []


def test_cut_is_named_by_the_first_line_that_is_missing():
    assert [m.line for m in of("a\n\nb\n\nc\n\nd\n", "truncate")] == [3, 5, 7]


NUMBERED = "".join(f"line number {i}\n" for i in range(100))


def test_same_seed_gives_the_same_mutants():
    assert list(mutation.mutants(NUMBERED, 7)) == list(mutation.mutants(NUMBERED, 7))


def test_another_seed_gives_another_sample_over_the_limit():
    one, other = of(NUMBERED, "drop-line", seed=1), of(NUMBERED, "drop-line", seed=2)
    assert one != other
    assert len(one) == len(other) == mutation.LIMIT_PER_OPERATOR


def test_sample_of_a_seed_is_the_same_on_every_machine():
    chosen = of(NUMBERED, "drop-line", seed=0, limit_per_operator=5)
    assert [m.line for m in chosen] == [15, 25, 40, 77, 82]


def test_seed_has_no_influence_within_the_limit():
    assert list(mutation.mutants(ANSWER, 1)) == list(mutation.mutants(ANSWER, 2))


def test_sample_keeps_the_order_of_the_text():
    lines = [m.line for m in of(NUMBERED, "drop-line")]
    assert lines == sorted(lines)


def test_equal_mutants_are_made_once():
    assert texts("a\na\n", "drop-line") == ["a\n"]


def test_edit_that_changes_nothing_is_no_mutant():
    assert of("---a_b and c_d", "swap-identifier")[0].description == "c_d -> a_b"


def test_empty_text_has_no_mutants():
    assert list(mutation.mutants("")) == []


PIECES = (
    *("Use X. ", "it is not so", "never", "`a_b`", "a_b(", "--force", "-f", "src/a.py", "# ", "\n"),
    *("\n\n", "```\n", "~~~", "    ", "- ", "| a |", "**b**", "ü", "\x00", "\u2028", "\r\n", "…"),
)


@pytest.mark.parametrize("seed", range(200))
def test_no_mutant_equals_the_text_or_another_one(seed):
    random = Random(seed)
    text = "".join(random.choice(PIECES) for _ in range(random.randrange(60)))
    found = [mutant.text for mutant in mutation.mutants(text, seed, 5)]
    assert len({text, *found}) == len(found) + 1


@pytest.mark.parametrize("seed", range(20))
def test_mutant_names_a_line_of_the_text(seed):
    random = Random(seed)
    text = "".join(random.choice(PIECES) for _ in range(60))
    for mutant in mutation.mutants(text):
        assert 1 <= mutant.line <= text.count("\n") + 1
        assert "\n" not in mutant.description
