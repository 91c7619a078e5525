"""What checks notice: by the same graders as a run, and with no say in any result."""

import json

import build
import pytest

from skilleval import strength

EXAMPLE = """\
Call connect() first.

The port is 8080.

Then close it with `shut_down`.
"""


def skill(root, include, exclude=(), examples=None, counterexamples=None):
    task = {"id": "t1", "prompt": "How?", "must_include": include, "must_not_include": exclude}
    found = {"t1": EXAMPLE} if examples is None else examples
    text = "---\nname: demo\ndescription: Says it. Use when asked.\n---\n\nThe port is 8080.\n"
    folder = build.skill(root, tasks=[task], examples=found, text=text)
    for identifier, text in (counterexamples or {}).items():
        build.write(folder / "evals" / "counterexamples" / f"{identifier}.md", text)
    return folder


def measured(root, include, exclude=(), **more):
    [task] = strength.of_skill(str(skill(root, include, exclude, **more))).tasks
    return task


def counts(task):
    return {o.operator: (o.noticed, o.mutants) for o in task.operators}


def test_text_in_one_line_is_missed_when_that_line_is_dropped(tmp_path):
    task = measured(tmp_path, ["8080"])
    assert counts(task)["drop-line"] == (1, 3)
    assert [m.line for m in task.unnoticed if m.operator == "drop-line"] == [1, 5]


def test_mutant_that_passes_is_reported_with_its_text(tmp_path):
    unnoticed = measured(tmp_path, ["8080"]).unnoticed
    [text] = [m.text for m in unnoticed if (m.operator, m.line) == ("negate-sentence", 3)]
    assert text == EXAMPLE.replace("is 8080", "is not 8080")


def test_mutant_is_noticed_by_any_one_check(tmp_path):
    task = measured(tmp_path, ["connect(", "8080", "shut_down"])
    assert counts(task)["drop-line"] == (3, 3)
    assert counts(task)["swap-identifier"] == (2, 2)
    assert [check.caught for check in task.checks] == [2, 2, 4]
    assert {check.tried for check in task.checks} == {task.mutants}


def test_sums_are_those_of_the_operators(tmp_path):
    task = measured(tmp_path, ["8080"])
    assert task.mutants == sum(made for _, made in counts(task).values())
    assert task.noticed == sum(noticed for noticed, _ in counts(task).values())
    assert len(task.unnoticed) == task.mutants - task.noticed


def test_every_operator_is_counted_even_without_a_mutant(tmp_path):
    assert tuple(counts(measured(tmp_path, ["8080"]))) == strength.OPERATORS


def test_check_of_a_text_that_is_everywhere_never_catches_anything(tmp_path):
    assert [c.never_catches for c in measured(tmp_path, ["e", "8080"]).checks] == [True, False]


def test_negated_check_without_a_counterexample_never_catches_anything(tmp_path):
    [_, check] = measured(tmp_path, ["8080"], ["kill -9"]).checks
    assert (check.negate, check.text, check.never_catches) == (True, "kill -9", True)


def test_counterexample_tests_a_negated_check(tmp_path):
    wrong = {"t1": "The port is 8080, or kill -9 it."}
    task = measured(tmp_path, ["8080"], ["kill -9"], counterexamples=wrong)
    assert counts(task)["counterexample"] == (1, 1)
    assert task.checks[1].caught == 1


def test_counterexample_that_passes_is_unnoticed(tmp_path):
    task = measured(tmp_path, ["8080"], counterexamples={"t1": "Not 8080."})
    assert counts(task)["counterexample"] == (0, 1)
    assert task.unnoticed[-1] == ("counterexample", 0, "t1.md", "Not 8080.")


@pytest.mark.parametrize(
    ("examples", "reason"),
    [
        ({}, "no worked example"),
        ({"t1": "Port 80."}, "its example does not pass its own checks"),
    ],
    ids=["missing", "failing"],
)
def test_task_without_a_passing_example_is_left_out(tmp_path, examples, reason):
    task = measured(tmp_path, ["8080"], examples=examples)
    assert (task.left_out, task.mutants, task.checks) == (reason, 0, ())


def test_check_that_nothing_tried_is_not_called_idle(tmp_path):
    task = measured(tmp_path, ["…"], examples={"t1": "…"})
    assert (task.mutants, task.checks[0].never_catches) == (0, False)


def test_skill_with_a_broken_file_is_left_out(tmp_path):
    folder = build.skill(tmp_path, tasks="[{")
    found = strength.of_skill(str(folder))
    assert found.tasks == ()
    assert "tasks.json" in found.left_out


def test_skill_without_fixtures_is_left_out(tmp_path):
    build.write(tmp_path / "bare" / "SKILL.md", "x")
    assert strength.of_skill(str(tmp_path / "bare")) == (
        "bare",
        str(tmp_path / "bare"),
        (),
        "has no evals/tasks.json",
    )


def test_several_skills_are_measured_in_order(tmp_path):
    folders = [str(build.skill(tmp_path, name)) for name in ("two", "one")]
    report = strength.of_skills(folders, seed=3)
    assert (report.seed, [found.skill for found in report.skills]) == (3, ["two", "one"])
    assert all(found.tasks[0].mutants for found in report.skills)


def test_seed_chooses_among_too_many_mutants(tmp_path):
    long = {"t1": "8080\n" + "".join(f"line {i}\n" for i in range(60))}
    folder = str(skill(tmp_path, ["8080"], examples=long))
    assert strength.of_skill(folder, 1) == strength.of_skill(folder, 1)
    assert strength.of_skill(folder, 1) != strength.of_skill(folder, 2)


@pytest.mark.parametrize("form", [(), ("--json",), ("--format", "sarif")])
@pytest.mark.parametrize("answer", [EXAMPLE, "Port 80."], ids=["valid", "invalid"])
def test_strength_changes_no_exit_code_and_no_problem(tmp_path, form, answer):
    skill(tmp_path, ["8080"], ["kill -9"], examples={"t1": answer})
    plain = build.skilleval("validate", *form, "skills", cwd=tmp_path)
    strong = build.skilleval("validate", *form, "--strength", "skills", cwd=tmp_path)
    assert plain.returncode == strong.returncode == (0 if answer == EXAMPLE else 1)
    if form == ("--json",):
        document = json.loads(strong.stdout)
        assert document.pop("strength")["skills"]
        assert document == json.loads(plain.stdout)
    else:
        assert strong.stdout.startswith(plain.stdout)
        assert "check strength: " in strong.stdout + strong.stderr


def test_strength_changes_no_score(tmp_path):
    skill(tmp_path, ["8080"], ["kill -9"])
    before = build.script("run-evals.py", "--json", cwd=tmp_path).stdout
    build.skilleval("validate", "--strength", "skills", cwd=tmp_path)
    assert build.script("run-evals.py", "--json", cwd=tmp_path).stdout == before
    assert json.loads(before)["score"] == 1


def test_strength_stays_out_of_sarif(tmp_path):
    skill(tmp_path, ["8080"])
    done = build.skilleval("validate", "--strength", "--format", "sarif", "skills", cwd=tmp_path)
    assert json.loads(done.stdout)["version"] == "2.1.0"
    assert done.stderr.startswith("check strength: ")


def test_seed_without_strength_is_a_usage_error(tmp_path):
    skill(tmp_path, ["8080"])
    done = build.skilleval("validate", "--seed", "1", "skills", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--strength" in done.stderr
