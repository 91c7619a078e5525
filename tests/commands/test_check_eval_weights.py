"""`check-eval-weights` as its users call it (seed 000, spec/scenarios section 17)."""

import json
from pathlib import Path

import build
import pytest

DATA = json.loads(
    (Path(__file__).parent.parent / "data" / "cases" / "fixtures.json").read_text("utf-8")
)


def run(root, *arguments):
    return build.script("check-eval-weights.py", *arguments, cwd=root)


def criteria(root, text, folder="skills/a/evals/scenario-x"):
    return build.write(Path(root) / folder / "criteria.json", text)


@pytest.mark.parametrize("case", DATA["weights"], ids=lambda case: case["name"])
def test_the_shared_cases(tmp_path, case):
    (tmp_path / "skills").mkdir()
    for name, content in case.get("files", {}).items():
        build.write(tmp_path / name, content if isinstance(content, str) else json.dumps(content))
    for name, content in case.get("files_text", {}).items():
        build.write(tmp_path / name, content)
    done = run(tmp_path, *([case["arg"]] if case["arg"] else []))
    assert done.returncode == case["exit"], done.stderr
    for folder, total in case["fail"]:
        assert f"FAIL: {folder} — sum={total} (expected 100)\n" in done.stdout
    assert done.stdout.count("FAIL") == len(case["fail"])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "invalid JSON"),
        ("", "is empty"),
        ("[]", 'has no "checklist" list'),
        ('{"checklist": {}}', 'has no "checklist" list'),
        ('{"checklist": [{}]}', "criterion 1: max_score must be a whole number, not missing"),
        ('{"checklist": [{"max_score": "100"}]}', "must be a whole number, not text"),
        ('{"checklist": [{"max_score": 100.0}]}', "must be a whole number, not a number"),
        ('{"checklist": [{"max_score": true}]}', "must be a whole number, not true or false"),
        ('{"checklist": [{"max_score": 150}, {"max_score": -50}]}', "max_score -50 is negative"),
        ('{"checklist": [7]}', "criterion 1: max_score must be a whole number, not missing"),
        ('{"checklist": [{"max_score": NaN}]}', "NaN is not a JSON value"),
    ],
)
def test_a_checklist_that_cannot_be_summed_fails_and_says_why(tmp_path, text, problem):
    criteria(tmp_path, text)
    criteria(tmp_path, '{"checklist":[{"max_score":100}]}', "skills/b/evals/scenario-y")
    done = run(tmp_path)
    assert done.returncode == 1
    [line] = done.stdout.splitlines()
    assert line.startswith("FAIL: skills/a/evals/scenario-x — ")
    assert problem in line


def test_all_good_says_how_many_were_checked(tmp_path):
    criteria(tmp_path, '{"checklist":[{"max_score":100}]}')
    done = run(tmp_path)
    assert (done.returncode, done.stdout) == (0, "all weights sum to 100 (1 checked)\n")


def test_only_folders_of_evals_are_checked_at_any_depth(tmp_path):
    criteria(tmp_path, '{"checklist":[]}', "skills/a/other/scenario-x")
    criteria(tmp_path, '{"checklist":[]}', "skills/a/evals")
    assert run(tmp_path).returncode == 0
    criteria(tmp_path, '{"checklist":[]}', "skills/a/evals/group/scenario-x")
    assert "FAIL: skills/a/evals/group/scenario-x — sum=0" in run(tmp_path).stdout


def test_files_may_be_named_as_pre_commit_does(tmp_path):
    path = criteria(tmp_path, '{"checklist":[{"max_score":99}]}')
    done = run(tmp_path, path)
    assert (done.returncode, "sum=99" in done.stdout) == (1, True)
