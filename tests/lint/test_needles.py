import json
from pathlib import Path

import pytest

from skilleval.lint.needles import Fixture, FixtureTask, problems
from skilleval.lint.rules import RULES

DATA = Path(__file__).parent.parent / "data" / "lint"
CASES = json.loads((DATA / "needles.json").read_text(encoding="utf-8"))
FIRING = [case for case in CASES if case["fires"] is not None]
CORPORA = json.loads((DATA / "corpus.json").read_text(encoding="utf-8"))
DENIALS = json.loads((DATA / "denials.json").read_text(encoding="utf-8"))
SOUND = FixtureTask("t1", "How do I refund a charge?", ("refundId",), ("card_number =",), line=3)


def name_of(case):
    return f"{case['rule']}-{case['needle']}-{case['fires']}"


def fixture_of(case, allow=()):
    """The fixture of a case: what it does not give is such that no rule has a word to say."""
    needle, negate = case["needle"], case.get("list") == "must_not_include"
    include = (["basis_key"] if negate else [needle]) + case.get("also", [])
    exclude = ([needle] if negate else []) + case.get("not", [])
    wanted = f"\n{' ; '.join(include)} ;"
    basis = wanted if negate else ""
    corpus = case["corpus"] + basis if "corpus" in case else wanted
    example = case["example"] + basis if "example" in case else wanted
    examples = {"t1": example, **case.get("others", {})}
    prompt = case.get("prompt", "What now?")
    task = FixtureTask("t1", prompt, tuple(include), tuple(exclude), frozenset(allow))
    return Fixture("evals/tasks.json", (task,), corpus, corpus, examples)


def found(fixture, rule, strict):
    return [p for p in problems(fixture, strict=strict) if p.rule == rule]


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_rule_fires_on_its_defect_and_only_on_it(case):
    fired = found(fixture_of(case), case["rule"], case.get("strict", False))
    if case["fires"] is None:
        assert fired == []
    else:
        assert [case["fires"] in problem.message for problem in fired] == [True]


@pytest.mark.parametrize("case", [c for c in FIRING if c.get("strict")], ids=name_of)
def test_strict_rule_is_quiet_by_default(case):
    assert found(fixture_of(case), case["rule"], strict=False) == []


@pytest.mark.parametrize("case", [c for c in FIRING if c["rule"][0] == "W"], ids=name_of)
def test_w_rule_is_silenced_by_allow(case):
    assert found(fixture_of(case, [case["rule"]]), case["rule"], case.get("strict", False)) == []


@pytest.mark.parametrize("case", [c for c in FIRING if c["rule"][0] == "F"], ids=name_of)
def test_f_error_is_not_silenced_by_allow(case):
    assert found(fixture_of(case, [case["rule"]]), case["rule"], strict=False)


@pytest.mark.parametrize("needle", DENIALS["denied"])
def test_forbidden_noun_phrase_fails_its_own_denial(needle):
    case = {"needle": needle, "list": "must_not_include"}
    assert [p.level for p in found(fixture_of(case), "W13", strict=False)] == ["warning"]


@pytest.mark.parametrize("needle", DENIALS["kept"])
def test_forbidden_code_or_act_is_accepted(needle):
    case = {"needle": needle, "list": "must_not_include"}
    assert found(fixture_of(case), "W13", strict=False) == []


def test_sound_fixture_has_no_problem_in_either_mode():
    fixture = Fixture(
        "evals/tasks.json",
        (SOUND,),
        "see `refundId`\ncard_number = 1",
        "see `refundId`\ncard_number = 1",
        {"t1": "pass refundId"},
    )
    strict = list(problems(fixture, strict=True))
    assert list(problems(fixture, strict=False)) == []
    assert [p.rule for p in strict] == ["W15"]  # the skill itself says what the task forbids


def test_problem_carries_path_line_and_task():
    fixture = Fixture("evals/tasks.json", (SOUND,), "refundId", "", {})
    assert [p[:5] for p in problems(fixture, strict=False)] == [
        ("evals/tasks.json", 3, "task t1", "F03", "error")
    ]


def test_unknown_corpus_judges_nothing_by_it():
    fixture = Fixture("evals/tasks.json", (SOUND,), examples={"t1": "refundId"}, corpus_known=False)
    assert list(problems(fixture, strict=True)) == []


@pytest.mark.parametrize(
    ("needle", "levels"),
    [
        ("a\nb", ["warning"]),
        (" a\nb", ["error", "warning"]),
        ("\n", ["error"]),
        ("a\tb", ["error"]),
    ],
)
def test_line_break_is_a_warning_and_other_malformed_text_an_error(needle, levels):
    fired = found(fixture_of({"needle": needle}), "F08", strict=False)
    assert sorted(problem.level for problem in fired) == levels


def test_line_break_warning_can_be_allowed():
    fixture = fixture_of({"needle": "a\nb"}, ["F08"])
    assert list(problems(fixture, strict=False)) == []


def test_needle_listed_twice_is_reported_once_by_the_other_rules():
    fixture = fixture_of({"needle": "nowhere_id", "also": ["nowhere_id"], "corpus": "nothing"})
    assert len(found(fixture, "F05", strict=False)) == 1


@pytest.mark.parametrize("rule", ["W10", "W14", "W16", "W20"])
def test_rule_that_no_good_answer_survives_is_an_error(rule):
    case = next(c for c in FIRING if c["rule"] == rule)
    assert [p.level for p in found(fixture_of(case), rule, strict=False)] == ["error"]


def test_base64_of_a_megabyte_is_searched_in_time():
    corpus = "view" * 250_000
    fired = found(fixture_of({"needle": "view", "corpus": corpus}), "W10", strict=False)
    assert len(fired[0].message) < 250


def test_every_rule_that_fires_is_documented():
    rules = {case["rule"] for case in CASES}
    assert rules <= set(RULES)
    assert {rule for rule in RULES if rule[0] == "W"} - rules == {"W23"}


@pytest.mark.parametrize("case", CORPORA, ids=lambda case: case["name"])
def test_needle_has_its_source_in_what_the_agent_is_given(case):
    charge = ("createCharge(", "idempotency_key")
    tasks = (
        FixtureTask("t1", "How do I charge a card?", charge, ("card_number =",)),
        FixtureTask("t2", "Refund it", ("refundId",)),
    )
    examples = {"t1": "createCharge(idempotency_key)", "t2": "refundId"}
    orphans = tuple(case.get("orphans", ()))
    fixture = Fixture("evals/tasks.json", tasks, case["corpus"], case["corpus"], examples, orphans)
    assert [f"{p.rule} {p.where}" for p in problems(fixture, strict=False)] == case["want"]
