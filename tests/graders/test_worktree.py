"""What a name means among the files of a workspace."""

import pytest
from evidence import file, outcome

from skilleval.graders import worktree
from skilleval.model import FileChange, Outcome, State

PATHS = ("a.md", "docs/a.md", "docs/b/c.md", "src/[id].ts", "x.tar.gz")


@pytest.mark.parametrize(
    ("name", "folder", "found"),
    [
        ("a.md", "", ["a.md", "docs/a.md"]),
        ("docs/a.md", "", ["docs/a.md"]),
        ("b/c.md", "", ["docs/b/c.md"]),
        ("./a.md", "", ["a.md", "docs/a.md"]),
        ("docs\\a.md", "", ["docs/a.md"]),
        ("cs/a.md", "", []),
        ("c.md", "docs", ["docs/b/c.md"]),
        ("c.md", "docs/", ["docs/b/c.md"]),
        ("c.md", "b", ["docs/b/c.md"]),
        ("a.md", "src", []),
        ("../a.md", "", []),
        ("/a.md", "", []),
        ("~/a.md", "", []),
        ("", "", []),
        ("*.md", "", ["a.md", "docs/a.md", "docs/b/c.md"]),
        ("docs/*.md", "", ["docs/a.md"]),
        ("docs/**/*.md", "", ["docs/a.md", "docs/b/c.md"]),
        ("?.md", "", ["a.md", "docs/a.md", "docs/b/c.md"]),
        ("[id].ts", "", ["src/[id].ts"]),
        ("x.tar.*", "", ["x.tar.gz"]),
        ("a.m", "", []),
    ],
)
def test_name_means_these_paths(name, folder, found):
    assert list(worktree.matching(name, PATHS, folder)) == found


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/x", "~/x", "C:/x", "c:\\x"])
def test_name_that_leads_out_is_none_of_the_workspace(name):
    assert worktree.inside(name) is None


def test_difference_is_of_digests():
    tree = worktree.read(outcome({"a": "1", "b": "1", "c": "1"}, {"a": "1", "b": "2", "d": "1"}))
    assert (tree.created, tree.modified, tree.deleted) == (("d",), ("b",), ("c",))


def test_installed_skills_and_git_are_no_work_of_the_agent():
    places = (".claude/skills/x/SKILL.md", "sub/.agents/skills/x/a.py", ".git/HEAD")
    tree = worktree.read(outcome({}, {**dict.fromkeys(places, "x"), ".claude/settings.json": "{}"}))
    assert tree.created == (".claude/settings.json",)


def test_without_a_state_before_there_is_no_difference():
    came = outcome({}, {"a": "1"})._replace(before=None)
    tree = worktree.read(came)
    assert tree.before is None
    assert tree.created == ()


def test_without_a_state_after_there_is_no_tree():
    assert worktree.read(Outcome("ok")) is None


def test_content_is_told_with_whether_it_is_whole():
    came = outcome(
        {}, {"a": "x", "b": FileChange("", 9, "be", "cut"), "c": FileChange("", 9, "", "binary")}
    )
    tree = worktree.read(came)
    assert tree.content("a") == ("x", True)
    assert tree.content("b") == ("be", False)
    assert tree.content("c") is None


def test_file_changed_without_content_has_not_the_old_one():
    came = outcome({"a": "old"}, {"a": FileChange("", 9, "", "not kept")})
    assert worktree.read(came).content("a") is None
    assert file(("a", "old")).digest != came.after.files[0].digest


def test_files_that_were_not_stored_are_no_empty_workspace():
    unknown = State(None, {"head_sha": "a"})
    assert worktree.read(Outcome("ok", before=unknown, after=unknown)) is None
    came = outcome({}, {"a.md": "new"})
    assert worktree.read(came._replace(before=unknown)).before is None


def test_files_that_are_missing_were_not_stored_or_are_gone():
    unknown, came = State(None), outcome({"a": "x"}, {})
    assert "not stored" in worktree.missing(Outcome("ok", before=unknown, after=unknown))
    assert "gone when the agent had ended" in worktree.missing(came._replace(after=unknown))


def test_name_of_a_path_from_the_top_can_leave_out_those_below():
    tree = worktree.read(outcome({"a.md": "x", "docs/a.md": "x"}, {"a.md": "x", "docs/a.md": "y"}))
    top = worktree.without_namesakes(tree, ["a.md"])
    assert worktree.matching("a.md", tree.modified) == ("docs/a.md",)
    assert worktree.matching("a.md", top.modified) == ()
    assert worktree.matching("a.md", top.after) == ("a.md",)


def test_name_of_no_path_from_the_top_has_no_namesakes():
    tree = worktree.read(outcome({}, {"docs/a.md": "x", "b.md": "x"}))
    assert worktree.without_namesakes(tree, ["a.md", "b.md", "*.md"]) is None


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("docs", {"docs"}),
        ("b", {"docs/b"}),
        ("docs/b/", {"docs/b"}),
        ("./src", {"src"}),
        ("oc", set()),
        ("../docs", set()),
    ],
)
def test_folder_is_told_by_what_it_holds(name, found):
    assert worktree.folders(name, PATHS) == found
