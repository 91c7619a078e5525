"""The kinds of lines: fences, indented code, headings."""

import pytest

from skilleval.reading import markdown


def kinds(text):
    return [line.kind for line in markdown.lines(text)]


@pytest.mark.parametrize("text", ["", "\n", "a", "a\n", "a\n\nb", "a\x0cb\u2028c\r\n\td"])
def test_lines_joined_are_the_text(text):
    lines = markdown.lines(text)
    assert "".join(line.text for line in lines) == text
    assert [text[line.start : line.end] for line in lines] == [line.text for line in lines]
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))


def test_fenced_lines_are_code():
    assert kinds("a\n```bash\n# no heading\n\n```\nb") == [
        "prose",
        "fence",
        "code",
        "code",
        "fence",
        "prose",
    ]


def test_fence_ends_with_its_own_mark_only():
    assert kinds("~~~~\n```\n~~~\n~~~~ x\n~~~~\na") == ["fence", *["code"] * 3, "fence", "prose"]


def test_unclosed_fence_reaches_to_the_end():
    assert kinds("```\na\nb") == ["fence", "code", "code"]


def test_code_span_of_three_marks_opens_no_fence():
    assert kinds("```a``` is code\nb") == ["prose", "prose"]


def test_fence_in_a_list_is_a_fence():
    assert kinds("1. a\n\n    ```\n    x\n    ```\n    b") == [
        "prose",
        "blank",
        "fence",
        "code",
        "fence",
        "prose",
    ]


def test_indented_block_is_code():
    assert kinds("a\n\n    x = 1\n\n\ty\nb") == ["prose", "blank", "code", "blank", "code", "prose"]


def test_indented_line_that_goes_on_with_a_paragraph_is_prose():
    assert kinds("a\n    b") == ["prose", "prose"]


def test_indented_paragraph_of_a_list_item_is_prose():
    assert kinds("- a\n\n    b\n") == ["prose", "blank", "prose"]


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("# a", 1),
        ("   ###### a", 6),
        ("##", 2),
        ("**Cause**", markdown.BOLD_LEVEL),
        ("**Cause**:\n", markdown.BOLD_LEVEL),
        ("#a", 0),
        ("####### a", 0),
        ("**a** and **b**", 0),
    ],
)
def test_level_of_a_heading(text, level):
    [line] = markdown.lines(text)
    assert (line.level, line.kind) == (level, "heading" if level else "prose")


@pytest.mark.parametrize("text", ["---", "***", "|---|:-:|", "…"])
def test_line_of_punctuation_is_a_rule(text):
    assert kinds(text) == ["rule"]


@pytest.mark.parametrize(
    ("text", "fence"),
    [("", "```"), ("a `b` ``c``", "```"), ("```\nx\n```", "````"), ("a\n`````x", "``````")],
)
def test_fence_is_longer_than_any_run_of_backticks(text, fence):
    assert markdown.fence(text) == fence
