"""Copies of a folder: as it is, with names, contents, modes and links."""

import os
import shutil
import stat
from pathlib import Path

import pytest

from skilleval.trial import template


def build(folder):
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "a.txt").write_text("a\r\nb")
    (folder / "deep" / "er" / "none").write_bytes(b"")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "open.txt").write_text("for all")
    (folder / "open.txt").chmod(0o666)
    (folder / "fixed").write_bytes(b"\x00\xff")
    (folder / "fixed").chmod(0o444)
    (folder / "link").symlink_to("a.txt")
    (folder / "dead").symlink_to("nowhere")
    (folder / "large").write_bytes(os.urandom(template.SMALL_BYTES + 1))
    (folder / "large").chmod(0o640)
    (folder / "ünï\udcff").write_text("name")


def described(folder):
    """Everything below: kind, mode, and content or target."""
    found = {}
    for place, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(place, name)
            status = os.lstat(path)
            kind = stat.S_IFMT(status.st_mode)
            if stat.S_ISLNK(status.st_mode):
                content = os.readlink(path)
            else:
                content = Path(path).read_bytes() if stat.S_ISREG(status.st_mode) else None
            mode = None if stat.S_ISLNK(status.st_mode) else stat.S_IMODE(status.st_mode)
            found[os.path.relpath(path, folder)] = (kind, mode, content)
    return found


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    build(folder)
    return folder


def test_a_copy_is_like_its_source(source, tmp_path):
    template.read(source).write(tmp_path / "copy")
    assert described(tmp_path / "copy") == described(source)


def test_copies_do_not_share_anything(source, tmp_path):
    mould = template.read(source)
    mould.write(tmp_path / "one")
    (tmp_path / "one" / "a.txt").write_text("changed")
    mould.write(tmp_path / "two")
    assert (tmp_path / "two" / "a.txt").read_bytes() == b"a\r\nb"


def test_a_folder_that_may_not_be_written_is_filled_before(source, tmp_path):
    locked = source / "deep" / "er"
    locked.chmod(0o555)
    try:
        template.read(source).write(tmp_path / "copy")
        assert described(tmp_path / "copy") == described(source)
    finally:
        for root in (source, tmp_path / "copy"):
            (root / "deep" / "er").chmod(0o755)


def test_contents_beyond_the_limit_are_read_from_the_source_again(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    size = template.SMALL_BYTES
    count = template.KEPT_BYTES // size + 3
    for number in range(count):
        (source / f"{number:03}").write_bytes(bytes([number]) * size)
    found = template.read(source)
    assert sum(entry.content is not None for entry in found.files) == count - 3
    found.write(tmp_path / "copy")
    assert described(tmp_path / "copy") == described(source)


def test_pipes_are_left_out(source, tmp_path):
    os.mkfifo(source / "pipe")
    template.read(source).write(tmp_path / "copy")
    assert "pipe" not in described(tmp_path / "copy")


def test_a_copy_needs_a_free_place(source, tmp_path):
    (tmp_path / "copy").mkdir()
    with pytest.raises(FileExistsError):
        template.read(source).write(tmp_path / "copy")


def test_copies_can_be_made_without_the_folder_if_memory_holds_all(source, tmp_path):
    assert not template.read(source).is_whole
    (source / "large").unlink()
    whole, made = described(source), template.read(source)
    shutil.rmtree(source)
    assert made.is_whole
    made.write(tmp_path / "copy")
    assert described(tmp_path / "copy") == whole
