import pytest

from skilleval.lint.skill_md import problems
from skilleval.lint.skill_text import SkillText

DESCRIPTION = "Refunds a card. Use when a customer wants money back."
FILES = ("SKILL.md", "references/api.md", "references/two words.md", "scripts/run.py")


def skill(body="Ask for the charge.\n", **front):
    fields = {"name": "refund-card", "description": DESCRIPTION}
    fields |= {key.replace("_", "-"): value for key, value in front.items()}
    text = "\n".join(["---", *(f"{key}: …" for key in fields), "---", body])
    return SkillText("SKILL.md", text, fields["name"], fields, len(fields) + 3, FILES)


def strict(text):
    return [(p.line, p.rule) for p in problems(text, strict=True)]


def rules(text):
    return [rule for _, rule in strict(text)]


def test_sound_skill_has_no_problem():
    assert strict(skill()) == []


def test_style_is_no_matter_by_default():
    text = skill("", name="helper", description="I help you", allowed_tools="Read, Write")
    assert list(problems(text)) == []
    assert rules(text) == ["S28", "S23", "S24", "S25", "S26"]


def test_body_of_500_lines_is_not_long():
    assert rules(skill("a\n" * 500)) == []


def test_body_of_501_lines_is_long():
    assert strict(skill("a\n" * 501)) == [(5, "S20")]


def test_body_of_5000_tokens_is_not_large():
    assert rules(skill("a" * 20_000)) == []


def test_body_of_5001_tokens_is_large():
    assert strict(skill("a" * 20_004)) == [(5, "S21")]


@pytest.mark.parametrize("body", ["", "\n", "  \n\n"])
def test_empty_body_is_a_warning(body):
    assert rules(skill(body)) == ["S28"]


@pytest.mark.parametrize(
    "body",
    [
        "[a](references/api.md)",
        "[a](./references/api.md#top)",
        "[a](references/two%20words.md)",
        "[a](<references/api.md>)",
        '[a](references/api.md "the API")',
        "[a](references/) and [b](scripts)",
        "[a](https://example.com/x.md) [b](mailto:x@example.com) [c](#top)",
        "[a]({{ url }})",
        "`[a](missing.md)`",
        "```\n[a](missing.md)\n```",
        "~~~~\n```\n[a](missing.md)\n~~~~",
        "```\n```js\n[a](missing.md)\n```",
        "````\n```\n[a](missing.md)\n````",
        "[a](.)",
    ],
)
def test_link_that_leads_somewhere_is_fine(body):
    assert rules(skill(body)) == []


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("missing.md", "no file of the skill"),
        ("references/API.md", "no file of the skill"),
        ("/etc/passwd", "absolute"),
        ("../other/SKILL.md", "leaves the skill folder"),
        ("..", "leaves the skill folder"),
        ("references/../../x.md", "leaves the skill folder"),
    ],
)
def test_broken_link_is_a_warning_at_its_line(target, says):
    (problem,) = problems(skill(f"one\n```\n```\nsee ![a]({target})\n"), strict=True)
    assert (problem.line, problem.rule) == (8, "S22")
    assert says in problem.message


def test_link_of_a_skill_with_unknown_files_is_not_judged():
    assert strict(skill("[a](missing.md)")._replace(files=())) == []


@pytest.mark.parametrize(
    "description",
    [
        "Refunds a card when a customer asks.",
        "Refunds a card. Use this for money back.",
        "Refunds a card before the dispute.",
        "退款：客户要求退款的场景",
    ],
)
def test_description_with_a_when_clause_is_fine(description):
    assert rules(skill(description=description)) == []


def test_description_without_a_when_clause_is_a_warning():
    assert strict(skill(description="Refunds a card.")) == [(3, "S23")]


@pytest.mark.parametrize(
    "description",
    ["I can refund a card when asked.", "When asked, we refund.", "Lets you refund if needed."],
)
def test_description_in_first_or_second_person_is_a_warning(description):
    assert rules(skill(description=description)) == ["S24"]


@pytest.mark.parametrize(
    "description",
    [
        'Refunds a card. Use when the user says "refund my card".',
        "Refunds a card. Use when you need the money back.",
        "Explains type I errors when a test fails.",
    ],
)
def test_description_that_quotes_a_user_is_fine(description):
    assert rules(skill(description=description)) == []


@pytest.mark.parametrize("name", ["helper", "common-utils", "my-skill"])
def test_vague_name_is_a_warning(name):
    assert strict(skill(name=name)) == [(2, "S25")]


@pytest.mark.parametrize("name", ["data-migration", "pdf-tools"])
def test_name_with_one_telling_word_is_fine(name):
    assert rules(skill(name=name)) == []


def test_commas_between_tools_are_a_warning():
    assert strict(skill(allowed_tools="Read, Write")) == [(4, "S26")]


def test_comma_inside_the_pattern_of_a_tool_is_fine():
    assert rules(skill(allowed_tools="Bash(git log,git diff) Read")) == []


@pytest.mark.parametrize("amount", ["<10", ">10"])
def test_angle_bracket_in_the_description_is_a_warning(amount):
    assert rules(skill(description=f"Refunds {amount} when asked.")) == ["S27"]


def test_wrong_types_are_left_to_the_contract():
    assert rules(skill(description=["a"])) == ["S10"]
