"""Suites and skills below a folder, and which belong together."""

import json

import build
import pytest

from skilleval import inventory

MANIFEST = "---\nname: x\ndescription: y\n---\n"
EVALS = json.dumps({"skill_name": "a", "evals": [{"id": 1}, {"id": 2}]})


def suites(root):
    return [
        (s.path, s.format, s.skill, s.cases, s.pairing) for s in inventory.take(str(root)).suites
    ]


def test_every_format_is_known_by_its_file(tmp_path):
    home = tmp_path / "skills" / "a"
    build.write(home / "SKILL.md", MANIFEST)
    build.write(home / "evals" / "evals.json", EVALS)
    build.write(home / "evals" / "tasks.json", '{"tasks": [{}]}')
    build.write(home / "evals" / "eval_queries.json", "[{}, {}, {}]")
    build.write(home / "evals" / "scenario-x" / "criteria.json", "{}")
    build.write(home / "eval.yaml", "name: x\n")
    assert suites(tmp_path) == [
        ("skills/a/eval.yaml", "harness", "a", None, "paired"),
        ("skills/a/evals/eval_queries.json", "triggers", "a", 3, "paired"),
        ("skills/a/evals/evals.json", "suites", "a", 2, "paired"),
        ("skills/a/evals/scenario-x", "scenarios", "a", 1, "paired"),
        ("skills/a/evals/tasks.json", "fixtures", "a", 1, "paired"),
    ]


def test_a_suite_elsewhere_is_paired_by_the_name_that_it_says(tmp_path):
    build.write(tmp_path / "skills" / "a" / "SKILL.md", MANIFEST)
    build.write(tmp_path / "examples" / "one" / "evals" / "evals.json", EVALS)
    build.write(tmp_path / "examples" / "two" / "evals.json", EVALS.replace('"a"', '"gone"'))
    assert [row[-1] for row in suites(tmp_path)] == ["external-suite", "missing-skill"]
    [skill] = inventory.take(str(tmp_path)).skills
    assert (skill.name, skill.path, skill.pairing) == ("a", "skills/a", "paired")


def test_a_skill_without_a_suite_is_said(tmp_path):
    build.write(tmp_path / "skills" / "a" / "SKILL.md", MANIFEST)
    [skill] = inventory.take(str(tmp_path)).skills
    assert skill.pairing == "missing-evals"


def test_the_root_may_be_a_skill_itself(tmp_path):
    build.write(tmp_path / "a" / "SKILL.md", MANIFEST)
    build.write(tmp_path / "a" / "evals" / "evals.json", EVALS)
    assert suites(tmp_path / "a") == [("evals/evals.json", "suites", "a", 2, "paired")]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"evals": 1}', "\xff", '{"skill_name": 1}'])
def test_a_suite_that_cannot_be_read_is_listed_with_the_reason(tmp_path, text):
    build.write(tmp_path / "evals" / "evals.json", text.encode("latin-1"))
    [suite] = inventory.take(str(tmp_path)).suites
    assert suite.cases is None
    assert suite.problem


@pytest.mark.parametrize(
    "folder", [".git", "node_modules", "eval-workspace", "a-workspace", "venv"]
)
def test_folders_without_files_of_the_repository_are_left_out(tmp_path, folder):
    build.write(tmp_path / folder / "a" / "SKILL.md", MANIFEST)
    build.write(tmp_path / folder / "a" / "evals" / "evals.json", EVALS)
    assert inventory.take(str(tmp_path)) == inventory.Inventory((), ())


def test_a_skill_that_is_called_like_a_folder_of_runs_is_a_skill(tmp_path):
    build.write(tmp_path / "skills" / "setup-workspace" / "SKILL.md", MANIFEST)
    assert [skill.name for skill in inventory.take(str(tmp_path)).skills] == ["setup-workspace"]


def test_a_link_to_a_skill_that_lies_elsewhere_is_followed(tmp_path):
    outside = build.skill(tmp_path / "elsewhere", "real")
    root = tmp_path / "root"
    (build.skill(root, "own").parent / "linked").symlink_to(outside)
    (root / "skills" / "again").symlink_to(root / "skills" / "own")
    found = inventory.take(str(root))
    assert [skill.path for skill in found.skills] == ["skills/linked", "skills/own"]
    assert [suite.pairing for suite in found.suites] == ["paired", "paired"]


def test_a_file_of_a_common_name_counts_only_in_evals(tmp_path):
    build.write(tmp_path / "tasks.json", '{"tasks": []}')
    build.write(tmp_path / "criteria.json", "{}")
    assert suites(tmp_path) == []


def test_paths_are_in_natural_order(tmp_path):
    for number in (10, 2):
        build.write(tmp_path / f"s{number}" / "evals.json", EVALS)
    assert [row[0] for row in suites(tmp_path)] == ["s2/evals.json", "s10/evals.json"]
