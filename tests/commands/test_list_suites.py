"""`skilleval list`: suites and skills below a folder."""

import json

import build

EVALS = json.dumps({"skill_name": "demo", "evals": [{"id": 1}]})


def test_suites_and_skills_are_listed_with_their_pairing(tmp_path):
    build.skill(tmp_path)
    build.write(tmp_path / "examples" / "demo" / "evals.json", EVALS)
    done = build.skilleval("list", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split() for line in done.stdout.splitlines() if line and line[0] != "-"] == [
        ["SUITE", "FORMAT", "SKILL", "CASES", "PAIRING"],
        ["examples/demo/evals.json", "suites", "demo", "1", "external-suite"],
        ["skills/demo/evals/tasks.json", "fixtures", "demo", "1", "paired"],
        ["SKILL", "FOLDER", "PAIRING"],
        ["demo", "skills/demo", "paired"],
    ]


def test_a_broken_suite_is_listed_as_such(tmp_path):
    build.write(tmp_path / "evals" / "evals.json", "{")
    done = build.skilleval("list", "--root", tmp_path, cwd=tmp_path)
    assert done.returncode == 0
    assert "(unparseable)" in done.stdout


def test_json_is_for_machines(tmp_path):
    build.skill(tmp_path)
    document = json.loads(build.skilleval("list", "--json", cwd=tmp_path).stdout)
    assert document["suites"][0]["cases"] == 1
    assert document["skills"] == [{"name": "demo", "path": "skills/demo", "pairing": "paired"}]


def test_an_empty_folder_says_what_to_do(tmp_path):
    done = build.skilleval("list", cwd=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[0]) == (
        0,
        "no suites; `skilleval init NAME` makes one",
    )


def test_no_such_folder_is_a_usage_error(tmp_path):
    done = build.skilleval("list", "--root", "gone", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "error: gone: no such folder\n")
