"""versions.json: which version is current, and which report counts (seed 000)."""

import json
import subprocess
from pathlib import Path

import build
import pytest

from skilleval import versions
from skilleval.tools import Tools

DATA = json.loads(
    (Path(__file__).parent / "data" / "cases" / "scenario_reports.json").read_text("utf-8")
)


def repository(root, version="1.0.0", results=None):
    folder = root / "skills" / "demo"
    build.write(folder / "SKILL.md", "---\nname: demo\ndescription: D.\n---\n")
    if version:
        build.write(folder / "CHANGELOG.md", f"# C\n\n## [Unreleased]\n\n## [{version}] - x\n")
    for model, reports in (results or {}).items():
        for name, content in reports.items():
            text = content if isinstance(content, str) else json.dumps(content)
            build.write(folder / "evals" / "results" / model / name, text)
    return root


def entry(root):
    return versions.build(str(root), Tools())["skills"]["demo"]


def tag(root, *names):
    for arguments in (
        ["init", "-q"],
        ["commit", "-q", "--allow-empty", "-m", "x"],
        *(["tag", n] for n in names),
    ):
        subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", *arguments],
            cwd=root,
            check=True,
        )


@pytest.mark.parametrize("case", DATA["versions"], ids=lambda case: case["name"])
def test_the_shared_cases(tmp_path, case):
    current = "" if case["current"] == "0.0.0" else case["current"]
    found = entry(repository(tmp_path, current, case["results"])).get("models")
    if case["want"] is None:
        assert found is None
    else:
        shown = {m: {k: v[k] for k in ("label", "effectiveness")} for m, v in found.items()}
        assert shown == case["want"]


@pytest.mark.parametrize("overall", ["1e999", "9" * 400, "true", '"90"', "null"])
def test_a_report_without_a_usable_percentage_is_skipped(tmp_path, overall):
    text = f'{{"skill_version": "1.0.0", "overall_percentage": {overall}}}'
    assert "models" not in entry(repository(tmp_path, results={"m": {"a.json": text}}))


@pytest.mark.parametrize("rows", [5, "abc", None, {}])
def test_a_report_whose_scenarios_are_no_list_has_none(tmp_path, rows):
    report = {"skill_version": "1.0.0", "overall_percentage": 90, "scenarios": rows}
    found = entry(repository(tmp_path, results={"m": {"a.json": report}}))
    assert found["models"]["m"]["scenarios"] == []


def test_the_newest_git_tag_is_the_version_before_the_changelog(tmp_path):
    repository(tmp_path)
    tag(tmp_path, "skills/demo/v1.9.0", "skills/demo/v1.10.0", "skills/other/v9.0.0")
    assert entry(tmp_path)["version"] == "1.10.0"


def test_without_tags_the_changelog_says_the_version(tmp_path):
    tag(repository(tmp_path))
    assert entry(tmp_path)["version"] == "1.0.0"


def test_without_either_it_is_0_0_0(tmp_path):
    assert entry(repository(tmp_path, ""))["version"] == "0.0.0"


def test_a_report_of_the_original_is_read(tmp_path):
    text = (
        '{"skill_version": "1.0.0", "overall_percentage": 50, "config": {"model_label": "a \\u003c b"},'
        ' "scenarios": [{"name": "s", "description": "d (error: x)", "criteria": null, "pass": false}]}'
    )
    found = entry(repository(tmp_path, results={"m": {"a.json": text}}))["models"]["m"]
    assert found["label"] == "a < b"
    assert found["scenarios"] == [{"name": "s", "description": "d (error: x)", "pass": False}]


def test_a_model_with_a_slash_gets_its_name_back(tmp_path):
    report = {"skill_version": "1.0.0", "overall_percentage": 1, "config": {"agent_model": "v/m"}}
    found = entry(repository(tmp_path, results={"v__m": {"a.json": report}}))["models"]
    assert list(found) == ["v/m"]


@pytest.mark.parametrize("percentage", [None, "90", True])
def test_a_report_without_a_number_does_not_count(tmp_path, percentage):
    report = {"skill_version": "1.0.0", "overall_percentage": percentage}
    assert "models" not in entry(repository(tmp_path, results={"m": {"a.json": report}}))


def test_rules_and_profiles_are_listed_beside_skills(tmp_path):
    repository(tmp_path)
    build.write(tmp_path / "rules" / "r" / "RULE.md", "---\ndescription: R\ntags: a, b\n---\n")
    build.write(tmp_path / "profiles" / "p" / "p.md", "no front matter")
    build.write(tmp_path / "profiles" / "q" / "other.md", "")
    document = versions.build(str(tmp_path), Tools())
    assert document["rules"] == {"r": {"version": "0.0.0", "description": "R", "tags": "a, b"}}
    assert document["profiles"] == {"p": {"version": "0.0.0", "description": ""}}


def test_an_empty_repository_has_three_empty_maps(tmp_path):
    assert versions.build(str(tmp_path), Tools()) == {"skills": {}, "rules": {}, "profiles": {}}


def test_the_script_writes_the_file_and_prints_it(tmp_path):
    repository(tmp_path)
    done = build.script("versions.py", cwd=tmp_path)
    path = tmp_path / "web" / "static" / "versions.json"
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Wrote ")
    assert json.loads(path.read_text())["skills"]["demo"]["version"] == "1.0.0"
    done = build.script("versions.py", "--out", "v.json", cwd=tmp_path)
    assert done.stdout.startswith("Wrote v.json\n{")
    assert (tmp_path / "v.json").read_text() == path.read_text()
