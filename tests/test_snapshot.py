"""Real trees in a temporary folder; what an untrusted agent may leave in one is made for real."""

import os
import random
import shutil
import socket
import time
from pathlib import Path

import pytest

from skilleval import snapshot
from skilleval.model import Delta, File, FileChange
from skilleval.runfolder import serial
from skilleval.snapshot import FILE_LIMIT_BYTES, TEXT_LIMIT_BYTES, Snapshot, delta, describe, take

posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX links and special files")
not_root = pytest.mark.skipif(
    hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may read everything"
)
# as the original behaves (group `diff`): before, after, and what is added, modified, deleted
CHANGES = [
    (
        {"keep": "1", "mod": "old", "gone": "x"},
        {"keep": "1", "mod": "new", "b/new": "n", "a": "n2"},
        (["a", "b/new"], ["mod"], ["gone"]),
    ),
    ({"a": "1"}, {"a": "1"}, ([], [], [])),
    ({"a": "x\n"}, {"a": "x"}, ([], ["a"], [])),
    ({"A": "1"}, {"a": "1"}, (["a"], [], ["A"])),
]


def fill(folder: Path, files: dict[str, str | bytes]) -> Path:
    for path, content in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    folder.mkdir(exist_ok=True)
    return folder


def names(change: Delta) -> tuple[list[str], list[str], list[str]]:
    added, modified = ([each.path for each in part] for part in change[:2])
    return added, modified, list(change.deleted)


def only(found: Snapshot) -> FileChange:
    [file] = found.files
    return file.change


@pytest.mark.parametrize(("before", "after", "expected"), CHANGES)
def test_change_is_by_content(tmp_path, before, after, expected):
    old, new = (take(fill(tmp_path / str(i), files)) for i, files in enumerate([before, after]))
    assert names(delta(old, new)) == expected


def test_mode_and_time_are_no_change(tmp_path):
    fill(tmp_path, {"a": "x"})
    before = take(tmp_path)
    (tmp_path / "a").chmod(0o700)
    os.utime(tmp_path / "a", (1, 1))
    assert delta(before, take(tmp_path)) == Delta()


def test_empty_folder_is_invisible(tmp_path):
    (tmp_path / "a/b").mkdir(parents=True)
    assert take(tmp_path) == Snapshot()


def test_hidden_file_is_seen(tmp_path):
    fill(tmp_path, {".config/.rc": "x"})
    assert only(take(tmp_path)).path == ".config/.rc"


def test_missing_folder_is_an_error(tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        take(tmp_path / "nowhere")


@posix
def test_link_is_recorded_and_not_followed(tmp_path):
    fill(tmp_path / "outside", {"secret": "hunter2"})
    fill(tmp_path / "box", {})
    (tmp_path / "box/file").symlink_to(tmp_path / "outside/secret")
    (tmp_path / "box/folder").symlink_to(tmp_path / "outside")
    (tmp_path / "box/loop").symlink_to("loop")
    found = take(tmp_path / "box")
    assert {file.change.path: file.change.note for file in found.files} == {
        "file": f"link to {tmp_path}/outside/secret",
        "folder": f"link to {tmp_path}/outside",
        "loop": "link to loop",
    }
    assert "hunter2" not in repr(found)


@posix
def test_link_that_leads_elsewhere_is_modified(tmp_path):
    (tmp_path / "a").symlink_to("one")
    before = take(tmp_path)
    (tmp_path / "a").unlink()
    (tmp_path / "a").symlink_to("two")
    assert names(delta(before, take(tmp_path))) == ([], ["a"], [])


@posix
def test_file_that_becomes_a_link_to_the_same_content_is_modified(tmp_path):
    fill(tmp_path, {"a": "x", "b": "x"})
    before = take(tmp_path)
    (tmp_path / "a").unlink()
    (tmp_path / "a").symlink_to("b")
    assert names(delta(before, take(tmp_path))) == ([], ["a"], [])


@posix
def test_pipe_and_socket_are_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        found = take(tmp_path)
    assert [(each.change.path, each.change.note) for each in found.files] == [
        ("pipe", "special file"),
        ("socket", "special file"),
    ]


@posix
@not_root
def test_unreadable_file_is_noted(tmp_path):
    fill(tmp_path, {"a": "x"})
    (tmp_path / "a").chmod(0)
    assert only(take(tmp_path)).note == "unreadable: Permission denied"


@posix
def test_too_deep_a_folder_is_noted(tmp_path):
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(30):  # its path is longer than any that can be opened
        os.mkdir("d" * 200, dir_fd=here)
        inner = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    try:
        change = only(take(tmp_path))
    finally:
        shutil.rmtree(tmp_path, ignore_errors=True)
    assert (change.path[-2:], change.note) == ("d/", "unreadable: File name too long")


def test_nothing_is_deleted_in_a_folder_that_became_unreadable():
    def file(path: str, note: str = "") -> File:
        return File(FileChange(path, 0, note=note), note or "0")

    before = Snapshot((file("a/b"), file("ab")))
    after = Snapshot((file("a/", "unreadable: Permission denied"),))
    assert names(delta(before, after)) == (["a/"], [], ["ab"])


def test_long_text_is_cut_and_its_whole_size_kept(tmp_path):
    fill(tmp_path, {"a": "é" * FILE_LIMIT_BYTES})
    change = only(take(tmp_path))
    assert change == FileChange("a", 2 * FILE_LIMIT_BYTES, "é" * (FILE_LIMIT_BYTES // 2), "cut")


def test_text_is_not_cut_within_a_character(tmp_path):
    fill(tmp_path, {"a": "x" + "é" * FILE_LIMIT_BYTES})
    assert "\ufffd" not in only(take(tmp_path)).content


def test_text_of_just_the_limit_is_whole(tmp_path):
    fill(tmp_path, {"a": "x" * FILE_LIMIT_BYTES})
    assert only(take(tmp_path)).note == ""


def test_change_beyond_what_is_kept_is_seen(tmp_path):
    fill(tmp_path, {"a": "x" * FILE_LIMIT_BYTES + "1"})
    before = take(tmp_path)
    fill(tmp_path, {"a": "x" * FILE_LIMIT_BYTES + "2"})
    assert names(delta(before, take(tmp_path))) == ([], ["a"], [])


@posix
def test_file_of_a_terabyte_takes_no_time(tmp_path):
    with (tmp_path / "a").open("wb") as file:
        file.truncate(1 << 40)
    started = time.monotonic()
    before = take(tmp_path)
    assert time.monotonic() - started < 10
    assert only(before) == FileChange("a", 1 << 40, note="binary")
    with (tmp_path / "a").open("r+b") as file:
        file.seek(1 << 39)
        file.write(b"x")
    assert names(delta(before, take(tmp_path))) == ([], ["a"], [])


@pytest.mark.parametrize("content", [b"a\0b", bytes(range(128, 256)), "naïf".encode("utf-16")])
def test_binary_is_binary(tmp_path, content):
    fill(tmp_path, {"a": content})
    assert only(take(tmp_path)) == FileChange("a", len(content), note="binary")


def test_wrong_byte_here_and_there_does_not_make_a_text_binary(tmp_path):
    fill(tmp_path, {"a": "une pensée tardive".encode("latin-1")})
    assert only(take(tmp_path)).content == "une pens\ufffde tardive"


def test_line_ends_are_kept(tmp_path):
    fill(tmp_path, {"a": "x\r\ny\r"})
    assert only(take(tmp_path)).content == "x\r\ny\r"


@posix
def test_name_that_is_no_text_can_be_written_down(tmp_path):
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff")).write_text("x")
    assert only(take(tmp_path)).path == "\\xff"


def test_git_folder_shows_commits_and_no_objects(tmp_path):
    told = ["HEAD", "COMMIT_EDITMSG", "packed-refs", "refs/heads/main", "refs/tags/v1", "logs/HEAD"]
    other = ["index", "config", "objects/ab/cd", "hooks/pre-commit", "logs/refs/heads/main"]
    fill(tmp_path, {f"sub/.git/{path}": "x" for path in told + other})
    found = [file.change.path for file in take(tmp_path).files]
    assert found == sorted(f"sub/.git/{path}" for path in told)


def test_git_file_of_a_worktree_and_names_that_only_look_alike_are_seen(tmp_path):
    fill(tmp_path, {".git": "gitdir: x", ".github/ci.yml": "x", "x.git/objects/a": "x"})
    found = [file.change.path for file in take(tmp_path).files]
    assert found == [".git", ".github/ci.yml", "x.git/objects/a"]


def test_content_that_was_there_before_is_not_kept_twice(tmp_path):
    fill(tmp_path, {"same": "x", "other": "y"})
    before = take(tmp_path)
    fill(tmp_path, {"other": "z"})
    after = take(tmp_path, before)
    assert {file.change.path: file.change.content for file in after.files} == {
        "same": "",
        "other": "z",
    }
    assert delta(before, after) == delta(before, take(tmp_path))


def test_contents_of_a_snapshot_are_bounded(tmp_path):
    count = snapshot.KEPT_LIMIT_BYTES // FILE_LIMIT_BYTES + 2
    fill(tmp_path, {"first": "x" * FILE_LIMIT_BYTES})
    for number in range(count - 1):
        os.link(tmp_path / "first", tmp_path / str(number))
    notes = [file.change.note for file in take(tmp_path).files]
    assert (notes.count("not kept"), notes.count("")) == (2, count - 2)


def test_snapshot_can_be_stored_and_read_back(tmp_path):
    fill(tmp_path, {"a": "x", "b": b"\0"})
    found = take(tmp_path)
    assert serial.from_json(Snapshot, serial.to_json(found)) == found


@pytest.mark.parametrize("seed", range(30))
def test_delta_of_random_trees_is_what_was_done_to_them(tmp_path, seed):
    chance = random.Random(seed)
    paths = [f"{folder}{name}" for folder in ("", "p/", "p/q/", "é f/") for name in "abcd"]

    def tree() -> dict[str, bytes]:
        chosen = chance.sample(paths, chance.randrange(len(paths)))
        return {path: chance.choice([b"", b"1", b"2\n", b"\0", b"x" * 70_000]) for path in chosen}

    before, after = tree(), tree()
    old = take(fill(tmp_path / "old", before))
    new = take(fill(tmp_path / "new", after), old)
    change = delta(old, new)
    assert names(change) == (
        sorted(after.keys() - before.keys()),
        sorted(path for path in before.keys() & after.keys() if before[path] != after[path]),
        sorted(before.keys() - after.keys()),
    )
    for each in change.added + change.modified:
        assert each.size == len(after[each.path])
        assert each.note or each.content.encode() == after[each.path]


def test_description_has_the_sections_of_the_seed():
    change = Delta(
        added=(FileChange("a", 2, "1\n"), FileChange("b/new", 1, "2")),
        modified=(FileChange("mod", 3, "new"),),
        deleted=("gone", "x/y"),
    )
    assert describe(change) == (
        "## Workspace Changes\n\n"
        "### Added Files\n\n**a**\n```\n1\n\n```\n\n**b/new**\n```\n2\n```\n\n"
        "### Modified Files\n\n**mod**\n```\nnew\n```\n\n"
        "### Deleted Files\n\n- gone\n- x/y\n\n"
    )


def test_description_of_no_change_is_the_heading_alone():
    assert describe(Delta()) == "## Workspace Changes\n\n"


def test_section_without_entries_is_absent():
    assert "### Added" not in describe(Delta(deleted=("a",)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (FileChange("a", 5, note="binary"), "**a**\nbinary, 5 bytes\n"),
        (FileChange("a", 1, note="link to /etc/passwd"), "**a**\nlink to /etc/passwd\n"),
        (FileChange("a", 9, "x", "cut"), "**a**\n```\nx\n```\ntruncated, 9 bytes in all\n"),
        (FileChange("a", 9, note="not kept"), "**a**\ntruncated, 9 bytes in all\n"),
        (FileChange("a", 0, note="unreadable: no"), "**a**\nunreadable: no\n"),
    ],
)
def test_what_is_not_shown_is_said(change, said):
    assert said in describe(Delta(added=(change,)))


def test_content_cannot_close_its_fence():
    text = describe(Delta(added=(FileChange("a", 9, "```\n````\n"),)))
    assert "**a**\n`````\n```\n````\n\n`````\n" in text


def test_name_cannot_make_a_heading():
    evil = "a\n### Deleted Files\n"
    text = describe(Delta(added=(FileChange(evil, 0, note=f"link to {evil}"),), deleted=(evil,)))
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "## Workspace Changes",
        "### Added Files",
        "### Deleted Files",
    ]


def test_description_is_bounded():
    files = tuple(FileChange(f"{i:04}", 60_000, "x" * 60_000) for i in range(100))
    text = describe(Delta(added=files, modified=files))
    assert TEXT_LIMIT_BYTES * 0.9 < len(text) <= TEXT_LIMIT_BYTES
    assert text.count("truncated, 60000 bytes in all") == 200


def test_description_of_small_and_large_files_is_bounded():
    small = tuple(FileChange(f"{i:04}", 5_000, "x" * 5_000) for i in range(50))
    large = tuple(FileChange(f"{i:04}", 60_000, "x" * 60_000) for i in range(20))
    text = describe(Delta(added=large, modified=small))
    assert TEXT_LIMIT_BYTES * 0.9 < len(text) <= TEXT_LIMIT_BYTES
    assert text.count("truncated") == 20


def test_huge_file_does_not_hide_a_small_one():
    added = tuple(FileChange(f"a{i}", 60_000, "x" * 60_000) for i in range(20))
    text = describe(Delta(added=added, modified=(FileChange("small", 5, "whole"),)))
    assert "**small**\n```\nwhole\n```\n\n" in text


def test_names_that_do_not_fit_are_counted():
    paths = tuple(f"{i:06}" + "n" * 200 for i in range(10_000))
    changes = tuple(FileChange(path, 1, "x") for path in paths)
    text = describe(Delta(changes, changes, paths))
    assert len(text) <= TEXT_LIMIT_BYTES
    shown = text.count("**") // 2 + text.count("\n- ")
    hidden = [int(line.split()[1]) for line in text.splitlines() if line.endswith("more files")]
    assert (len(hidden), shown + sum(hidden)) == (3, 30_000)
