import pytest

from skilleval.lint import answers
from skilleval.lint.fixture import Finding, Fixture, FixtureTask
from skilleval.lint.needles import problems

TASK = FixtureTask("t1", "How?", ("refundId",), ("card_number =",))
SKILL = "see `refundId`"
GOOD = "pass refundId"


def of(fixture, strict=False):
    return [(p.where, p.rule, p.level) for p in problems(fixture, strict=strict)]


def fixture(task=TASK, **changes):
    return Fixture("evals/tasks.json", (task,), SKILL, "", {"t1": GOOD})._replace(**changes)


@pytest.mark.parametrize("examples", [{}, {"t1": None}])
def test_task_without_example_is_an_error(examples):
    assert of(fixture(examples=examples)) == [("task t1", "F03", "error")]


def test_example_without_task_is_a_warning_naming_the_nearest():
    (problem,) = problems(fixture(orphans=("t11",)), strict=False)
    assert problem[:5] == ("evals/tasks.json", 0, "example t11", "F03", "warning")
    assert "orphan" in problem.message
    assert "did you mean 't1'?" in problem.message


def test_empty_example_is_judged_and_not_missing():
    (problem,) = problems(fixture(examples={"t1": ""}), strict=False)
    assert (problem.rule, "missing" in problem.message) == ("F04", True)


def test_task_with_nothing_demanded_is_an_error():
    (problem,) = problems(fixture(TASK._replace(must_include=())), strict=False)
    assert (problem.rule, problem.level) == ("F06", "error")
    assert "an empty answer passes" in problem.message


def test_task_without_checks_is_an_error_of_its_own_words():
    task = TASK._replace(must_include=(), must_not_include=())
    (problem,) = problems(fixture(task), strict=False)
    assert problem.message.startswith("has no checks")


def test_task_without_checks_is_passed_by_nothing():
    assert not answers.passes(FixtureTask("t1", "How?"), "anything")


def test_counterexample_that_passes_is_an_error():
    assert of(fixture(counterexamples={"t1": "refundId, never"})) == [("task t1", "F09", "error")]


def test_counterexample_that_fails_a_check_is_fine():
    assert of(fixture(counterexamples={"t1": "refundId card_number = 4"})) == []


def test_counterexample_without_task_is_a_warning():
    orphaned = fixture(counterexamples={"t9": "nothing"})
    assert of(orphaned) == [("counterexample t9", "F09", "warning")]


def test_some_needles_in_the_prompt_are_warnings():
    task = TASK._replace(prompt="What is refundId?", must_include=("refundId", "charge_id"))
    found = fixture(task, corpus=f"{SKILL} charge_id", examples={"t1": "refundId charge_id"})
    assert of(found) == [("task t1", "W16", "warning")]


def test_all_needles_in_the_prompt_are_errors():
    found = fixture(TASK._replace(prompt="What is refundId?"))
    assert of(found) == [("task t1", "W16", "error"), ("task t1", "W20", "error")]


def test_allowing_w16_leaves_the_prompt_that_passes():
    task = TASK._replace(prompt="What is refundId?", allow=frozenset({"W16"}))
    assert of(fixture(task)) == [("task t1", "W20", "error")]


def test_copy_of_the_skill_that_passes_is_a_strict_warning():
    found = fixture(skill_text=SKILL)
    assert of(found) == []
    assert of(found, strict=True) == [("task t1", "W20", "warning")]


def test_example_of_every_other_task_that_passes_is_named():
    found = fixture(examples={"t1": GOOD, "b": GOOD, "a": GOOD, "c": "no", "d": None})
    (problem,) = problems(found, strict=True)
    assert (problem.rule, problem.message[:33]) == ("W21", "examples/a.md, examples/b.md pass")


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("W13x", "did you mean 'W13'?"),
        ("w13", "did you mean 'W13'?"),
        ("denial", "known: F08, W10"),
        ("F04", "cannot be silenced"),
        ("S07", "cannot be silenced"),
    ],
)
def test_allow_that_cannot_silence_is_a_warning(rule, says):
    (problem,) = problems(fixture(TASK._replace(allow=frozenset({rule}))), strict=False)
    assert (problem.rule, problem.level, says in problem.message) == ("W23", "warning", True)


def test_allow_with_nothing_to_silence_is_a_strict_warning():
    idle = fixture(TASK._replace(allow=frozenset({"W13"})))
    assert of(idle) == []
    assert of(idle, strict=True) == [("task t1", "W23", "warning")]


def test_allow_silences_only_its_own_task():
    denied = TASK._replace(must_not_include=("SLA",))
    allowed = denied._replace(id="t2", allow=frozenset({"W13"}))
    both = fixture()._replace(tasks=(denied, allowed), examples={"t1": GOOD, "t2": GOOD})
    assert of(both) == [("task t1", "W13", "warning")]


def test_f_error_stays_beside_a_silenced_warning():
    task = TASK._replace(allow=frozenset({"F08"}))
    kept = answers.allowed(task, [Finding("F08", "error", "empty")], strict=False)
    assert list(kept) == [Finding("F08", "error", "empty")]


def test_nested_fence_does_not_end_a_bad_block():
    corpus = "Avoid:\n````md\n```js\neval(x)\n```\n````\n"
    assert answers.line_outside_bad_code("eval(", corpus) is None


def test_heading_before_labels_its_block_and_the_word_in_a_sentence_does_not():
    block = "```\neval(x)\n```\n"
    assert answers.line_outside_bad_code("eval(", f"## Before\n{block}") is None
    assert answers.line_outside_bad_code("eval(", f"Before you start:\n{block}") == "eval(x)"


def test_label_before_a_bad_block_does_not_reach_the_next_one():
    corpus = "Bad:\n```\na\n```\nGood:\n```\neval(x)\n```\n"
    assert answers.line_outside_bad_code("eval(", corpus) == "eval(x)"
