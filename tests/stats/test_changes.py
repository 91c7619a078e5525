"""A run against an earlier one: same arms, same cases, checks of the same text."""

from skilleval import aggregate
from skilleval.model import Arm, Case, Check, Outcome, Result, Suite, Trial, Verdict
from skilleval.stats.changes import changes

ARM, BASE = Arm("codex-with_skill", "codex"), Arm("codex-without_skill", "codex", with_skill=False)

OK = Outcome("ok")


def case(name, *texts, prompt="p"):
    return Case(name, prompt, tuple(Check(f"row {n}", t, "text") for n, t in enumerate(texts, 1)))


def report(*rows, arms=(ARM,), outcome=OK):
    """A row is (case, its verdicts as letters: p, f or s)."""
    names = {"p": ("pass", 1.0), "f": ("fail", 0.0), "s": ("skip", None)}
    suite = Suite("demo", "p", tuple(each for each, _ in rows), arms=arms)
    results = [
        Result(
            Trial(each.id, arm.name, 1),
            outcome,
            tuple(Verdict(c.id, *names[x]) for c, x in zip(each.checks, letters, strict=True)),
        )
        for each, letters in rows
        for arm in arms
    ]
    return aggregate.report(suite, results)


def test_the_change_is_over_the_cases_of_both():
    before = report((case("a", "x", "y"), "pf"), (case("gone", "x"), "p"))
    after = report((case("a", "x", "y"), "pp"), (case("new", "x"), "f"))
    found = changes(before, after)
    [arm] = found.arms
    assert (arm.delta.effect.pairs, arm.delta.effect.effect) == (1, 0.5)
    assert (arm.before.pass_rate.mean, arm.after.pass_rate.mean) == (0.75, 0.5)
    assert (found.added, found.removed, found.edited) == (("new",), ("gone",), ())


def test_checks_are_the_same_by_text_and_not_by_number():
    before = report((case("a", "x", "y"), "fp"))
    after = report((case("a", "new", "x", "y"), "ffp"))
    found = changes(before, after)
    assert found.arms[0].delta.effect.effect == 0
    assert found.checks == ()
    assert found.edited == ("a",)


def test_a_case_with_another_prompt_is_another_case():
    before = report((case("a", "x"), "p"), (case("b", "x"), "p"))
    after = report((case("a", "x", prompt="other"), "f"), (case("b", "x"), "p"))
    found = changes(before, after)
    assert (found.arms[0].delta.effect.pairs, found.arms[0].delta.effect.effect) == (1, 0)
    assert found.edited == ("a",)


def test_the_second_check_of_a_text_is_one_of_its_own():
    before = report((case("a", "x", "x"), "pf"))
    [row] = changes(before, report((case("a", "x", "x"), "pp"))).checks
    assert (row.text, row.before_failed, row.after_failed) == ("x (2)", 1, 0)


def test_a_check_that_one_run_did_not_decide_has_not_changed():
    before = report((case("a", "x", "y"), "ps"))
    assert changes(before, report((case("a", "x", "y"), "pf"))).checks == ()


def test_an_arm_of_one_run_only_has_no_difference():
    before = report((case("a", "x"), "p"), arms=(ARM, BASE))
    found = changes(before, report((case("a", "x"), "p")))
    assert [(arm.name, arm.after is None, arm.delta is None) for arm in found.arms] == [
        ("codex_with_skill", False, False),
        ("codex_without_skill", True, True),
    ]


def test_an_edited_prompt_is_said():
    before = report((case("a", "x"), "p"))
    assert changes(before, report((case("a", "x", prompt="q"), "p"))).edited == ("a",)


def test_a_trial_that_failed_counts_in_no_check():
    failed = report((case("a", "x"), "f"), outcome=Outcome("error", failure="timeout"))
    assert changes(report((case("a", "x"), "p")), failed).checks == ()
