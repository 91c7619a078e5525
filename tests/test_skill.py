"""A skill on disk: front matter, version, and what guides an agent."""

import json
import os
from pathlib import Path

import build
import pytest

from skilleval import skill
from skilleval.errors import SuiteError
from skilleval.reading import textfile

DATA = json.loads((Path(__file__).parent / "data" / "cases" / "fixtures.json").read_text("utf-8"))


@pytest.mark.parametrize("case", DATA["frontmatter"], ids=lambda case: case["text"][:30])
def test_description_and_tags_of_the_shared_cases(case):
    assert list(skill.description_and_tags(case["text"])) == case["want"]


@pytest.mark.parametrize("case", DATA["skill_version"], ids=lambda case: case["changelog"][:30])
def test_versions_of_the_shared_cases(case):
    assert skill.released_version(case["changelog"].replace("\r\n", "\n")) == case["want"]


@pytest.mark.parametrize(
    ("changelog", "version"),
    [
        ("## [unreleased]\n## [1.0.0]", "1.0.0"),
        ("```\n## [9.9.9]\n```\n## [1.0.0]", "1.0.0"),
        ("## [v2.0] - x", "v2.0"),
        ("# [3.0.0]", ""),
    ],
)
def test_a_release_is_a_bracketed_heading_outside_fences(changelog, version):
    assert skill.released_version(changelog) == version


def test_a_line_of_dashes_inside_a_value_does_not_end_the_front_matter():
    front = skill.front_matter("---\na: |\n  x\n  ---\nb: 2\n---\nbody\n")
    assert front.fields == {"a": "x\n---\n", "b": 2}
    assert front.body_line == 7


@pytest.mark.parametrize(
    ("text", "problem", "line"),
    [
        ("# no", "has no front matter", 1),
        ("---\na: 1\n", "front matter is not closed", 1),
        ("---\na: 1\na: 2\n---\n", "invalid front matter", 3),
        ("---\n- a\n---\n", "front matter is not a mapping", 1),
    ],
)
def test_broken_front_matter_says_why_and_where(text, problem, line):
    front = skill.front_matter(text)
    assert front.fields is None
    assert problem in front.problem
    assert front.line == line


def test_front_matter_may_be_empty():
    assert skill.front_matter("---\n---\n").fields == {}


def test_the_corpus_is_skill_references_and_rules_only(tmp_path):
    folder = build.skill(tmp_path, text="in-skill")
    inside = ["references/a.md", "references/deep/b.txt", "rules/c.md", "RULE.md"]
    outside = [
        "CHANGELOG.md",
        "references/CHANGELOG.md",
        "README.md",
        "scripts/x.py",
        "assets/y",
        "evals/references/z.md",
    ]
    for name in inside + outside:
        build.write(folder / name, f"<{name}>")
    for name in ("demo.md", "demo.mdc", "demo/RULE.md", "other.md"):
        build.write(tmp_path / "rules" / name, f"<rule {name}>")
    errors = []
    text = "\n".join(skill.corpus(str(folder), errors.append).values())
    assert errors == []
    assert all(f"<{name}>" in text for name in inside)
    assert not any(f"<{name}>" in text for name in outside)
    assert [f"<rule {n}>" in text for n in ("demo.md", "demo.mdc", "demo/RULE.md", "other.md")] == [
        True, True, True, False,
    ]  # fmt: skip


def test_links_in_references_are_not_followed(tmp_path):
    folder = build.skill(tmp_path)
    build.write(tmp_path / "secret.md", "secret")
    (folder / "references").mkdir()
    (folder / "references" / "s.md").symlink_to(tmp_path / "secret.md")
    errors = []
    assert [*skill.corpus(str(folder), errors.append)] == [str(folder / "SKILL.md")]
    assert errors == []


def test_names_are_the_folders_with_a_skill_sorted(tmp_path):
    for name in ("b", "a"):
        build.skill(tmp_path, name)
    (tmp_path / "skills" / "empty").mkdir()
    build.write(tmp_path / "skills" / "file.md", "x")
    assert skill.names(str(tmp_path)) == ["a", "b"]


def test_fixtures_without_a_skill_are_refused(tmp_path):
    (build.skill(tmp_path) / "SKILL.md").unlink()
    with pytest.raises(SuiteError, match=r"demo: has evals/tasks\.json but no SKILL\.md"):
        skill.names(str(tmp_path))


def test_find_looks_everywhere_but_in_hidden_and_built_folders(tmp_path):
    for place in ("x/skills", ".git/skills", "node_modules/p/skills", "skills/demo/sub"):
        build.write(tmp_path / place / "s" / "SKILL.md", "x")
    build.skill(tmp_path, "demo")
    found = [os.path.relpath(path, tmp_path) for path in skill.find(str(tmp_path))]
    assert found == [os.path.join("skills", "demo"), os.path.join("x", "skills", "s")]


@pytest.mark.parametrize(
    "name", ["SKILL.md", "evals/tasks.json", "evals/examples/t1.md", "references/new.md"]
)
def test_a_file_belongs_to_the_skill_above_it(tmp_path, name):
    folder = build.skill(tmp_path)
    assert skill.owner(str(folder / name)) == str(folder)


def test_fixtures_without_a_skill_still_have_an_owner(tmp_path):
    folder = build.skill(tmp_path)
    (folder / "SKILL.md").unlink()
    assert skill.owner(str(folder / "evals" / "examples" / "t1.md")) == str(folder)
    assert skill.owner(str(tmp_path / "README.md")) == ""


def test_digest_is_of_what_an_agent_is_given(tmp_path):
    (tmp_path / "references" / "evals").mkdir(parents=True)
    given = tmp_path / "references" / "evals" / "how.md"
    given.write_text("a")
    before = skill.digest(str(tmp_path))
    for left_out in ("evals/evals.json", "scripts/__pycache__/x.pyc", ".git/HEAD"):
        (tmp_path / left_out).parent.mkdir(parents=True)
        (tmp_path / left_out).write_text("b")
    assert skill.digest(str(tmp_path)) == before
    given.write_text("c")
    assert skill.digest(str(tmp_path)) != before


@pytest.mark.parametrize(
    ("lines", "want"),
    [
        ("description: Use when: asked\ntags: a, b", ("Use when: asked", "a, b")),
        ("argument-hint: [a] [b]\ndescription: 'x'", ("x", "")),
        ("description: >-\n  two: 2\n  lines\nmetadata:\n  tags: t\nx: [", ("two: 2 lines", "t")),
    ],
)
def test_a_front_matter_that_is_no_yaml_is_read_by_line(lines, want):
    assert skill.front_matter(f"---\n{lines}\n---\n").fields is None
    assert skill.description_and_tags(f"---\n{lines}\n---\n") == want


def test_a_front_matter_that_is_not_closed_says_nothing():
    assert skill.description_and_tags("---\ndescription: x\n") == ("", "")


def test_a_skill_behind_a_link_is_named(tmp_path):
    build.skill(tmp_path, "real").rename(tmp_path / "elsewhere")
    (tmp_path / "skills" / "linked").symlink_to(tmp_path / "elsewhere")
    assert skill.names(str(tmp_path)) == ["linked"]


def test_a_link_to_a_skill_is_found_unless_the_skill_itself_is(tmp_path):
    outside = build.skill(tmp_path / "elsewhere", "real")
    inside = build.skill(tmp_path / "repository", "own")
    skills = tmp_path / "repository" / "skills"
    (skills / "linked").symlink_to(outside)
    (skills / "again").symlink_to(inside)
    (skills / ".hidden").symlink_to(outside.parent)
    (skills / "no-skill").symlink_to(tmp_path)
    (skills / "round").symlink_to(skills)
    assert skill.find(str(skills)) == [str(skills / "linked"), str(inside)]


def test_why_a_reference_cannot_be_read_is_handed_on(tmp_path):
    folder = build.skill(tmp_path, text="in-skill")
    large = build.write(folder / "references" / "a.md", "")
    os.truncate(large, textfile.LIMIT_BYTES + 1)
    errors = []
    corpus = skill.corpus(str(folder), errors.append)
    assert corpus == {str(folder / "SKILL.md"): "in-skill"}
    assert [error.filename for error in errors] == [str(large)]


def test_a_folder_that_cannot_be_read_raises_or_is_handed_on(tmp_path):
    folder, errors = str(tmp_path / "gone"), []
    with pytest.raises(FileNotFoundError):
        list(skill.files_below(folder))
    assert list(skill.files_below(folder, errors.append)) == []
    assert [error.filename for error in errors] == [folder]


def test_a_skill_that_cannot_be_read_has_no_digest(tmp_path):
    (tmp_path / "scripts").mkdir()
    assert len(skill.digest(str(tmp_path))) == 64
    with pytest.raises(SuiteError, match="nowhere: cannot be read: No such file"):
        skill.digest(str(tmp_path / "nowhere"))
