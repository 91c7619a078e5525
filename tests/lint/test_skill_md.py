import json
import re
from pathlib import Path

import pytest

from skilleval.lint.rules import RULES
from skilleval.lint.skill_md import problems
from skilleval.lint.skill_text import SkillText

DATA = Path(__file__).parent.parent / "data" / "lint"
CASES = json.loads((DATA / "skills.json").read_text(encoding="utf-8"))
DESCRIPTION = "Refunds a card. Use when a customer wants money back."


def long(value):
    """`LONG65` stands for a text of 65 characters."""
    found = re.fullmatch(r"LONG(\d+)", value) if isinstance(value, str) else None
    return "a" * int(found[1]) if found else value


def skill_of(case):
    front = {"name": "refund-card", "description": DESCRIPTION, **case["front"]}
    front = {key: long(value) for key, value in front.items() if key not in case.get("drop", ())}
    lines = ["---", *(f"{key}: …" for key in front), "---", "Ask for the charge.", ""]
    directory = long(case.get("directory", "refund-card"))
    return SkillText("SKILL.md", "\n".join(lines), directory, front, len(front) + 3)


def without_front(text, problem="", line=0):
    return SkillText("SKILL.md", text, "a", None, 1, (), problem, line)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["front"] or case["drop"]))
def test_front_matter_keeps_the_contract(case):
    found = list(problems(skill_of(case)))
    assert [(p.rule, p.level) for p in found] == [(rule, level) for rule, level, _ in case["want"]]
    for problem, (_, _, says) in zip(found, case["want"], strict=True):
        assert says in problem.message


@pytest.mark.parametrize("name", ["Bad Name", "Ünï  Code", "-A_b--", "A" * 80, "Ⅷ/X", "Навык"])
def test_a_name_that_is_suggested_is_valid(name):
    found = list(problems(skill_of({"front": {"name": name}, "directory": ""})))
    suggested = re.findall(r"write '(.*)'", "\n".join(problem.message for problem in found))
    assert len(suggested) == (name != "Навык")
    for better in suggested:
        assert not list(problems(skill_of({"front": {"name": better}, "directory": better})))


def test_problem_is_placed_at_its_key():
    skill = skill_of({"front": {"license": None, "tags": "x"}})
    assert [(p.line, p.rule) for p in problems(skill)] == [(4, "S12"), (5, "S16")]


def test_problem_of_an_absent_key_is_placed_at_the_opening():
    skill = skill_of({"front": {}, "drop": ["name"]})
    assert [p.line for p in problems(skill)] == [1]


def test_key_in_the_body_is_not_where_a_problem_is():
    skill = skill_of({"front": {}, "drop": ["name"]})
    skill = skill._replace(text=skill.text + "name: x\n")
    assert [p.line for p in problems(skill)] == [1]


@pytest.mark.parametrize(
    ("text", "rule", "says"),
    [
        ("", "S01", "no front matter"),
        ("# Refund\n", "S01", "no front matter"),
        ("\n---\nname: a\n---\n", "S01", "further down"),
        ("---\nname: a\n", "S02", "not closed"),
        ("---\nname: a\n--- \n", "S02", "not closed"),
        ("---\n- a\n---\n", "S03", "not a mapping"),
    ],
)
def test_front_matter_that_cannot_be_read_is_one_error(text, rule, says):
    (problem,) = problems(without_front(text))
    assert (problem.rule, problem.level, problem.line) == (rule, "error", 1)
    assert says in problem.message


def test_reader_of_the_front_matter_has_the_word_on_what_is_wrong():
    (problem,) = problems(without_front("---\na: [\n---\n", "bad list", 2))
    assert problem == ("SKILL.md", 2, "", "S03", "error", "bad list")


def test_byte_order_mark_is_an_error_beside_the_others():
    skill = skill_of({"front": {"tags": "x"}})
    found = problems(skill._replace(text="\ufeff" + skill.text))
    assert [(p.rule, p.level) for p in found] == [("S04", "error"), ("S16", "warning")]


def test_bytes_that_are_not_utf_8_are_an_error_at_their_line():
    skill = skill_of({"front": {}})
    text = skill.text.replace("Ask for the charge.\n", "Ask for the charge\udce9.\n")
    assert [p[1:5] for p in problems(skill._replace(text=text))] == [(5, "", "S04", "error")]


def test_crlf_is_a_warning_at_its_first_line():
    skill = skill_of({"front": {}})
    text = skill.text.replace("Ask for the charge.\n", "Ask for the charge.\r\n")
    assert [p[1:5] for p in problems(skill._replace(text=text))] == [(5, "", "S05", "warning")]


def test_crlf_front_matter_is_front_matter():
    found = problems(without_front("---\r\n- a\r\n---\r\n"))
    assert [p.rule for p in found] == ["S05", "S03"]


def test_every_contract_rule_has_a_case():
    fired = {rule for case in CASES for rule, _, _ in case["want"]}
    by_text = {"S01", "S02", "S03", "S04", "S05"}
    assert fired | by_text == {rule for rule in RULES if "S00" < rule < "S20"}
