"""Safe reading and the fixtures' rule for text."""

import os

import pytest

from skilleval.reading import textfile


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xef\xbb\xbfa", "a"),
        (b"a\r\nb\rc\n", "a\nb\rc\n"),
        (b"\xff", "\ufffd"),
        ("ﬁ É".encode(), "ﬁ É"),
        (b"", ""),
    ],
)
def test_only_the_mark_and_crlf_are_normalised(data, text):
    assert textfile.decode(data) == text


def test_a_file_over_the_limit_is_refused(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"x" * 2_000_001)
    with pytest.raises(OSError, match="larger than 2 MB"):
        textfile.read_bytes(str(path), limit=2_000_000)
    assert len(textfile.read_bytes(str(path), limit=2_000_001)) == 2_000_001


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(OSError, match="is a directory"):
        textfile.read_bytes(str(tmp_path))


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links")
def test_links_are_followed_only_within_the_folder(tmp_path):
    inside = tmp_path / "in"
    inside.mkdir()
    (tmp_path / "secret").write_text("s")
    (inside / "real").write_text("r")
    (inside / "good").symlink_to("real")
    (inside / "bad").symlink_to("../secret")
    (inside / "loop").symlink_to("loop")
    folder = str(inside)
    assert textfile.read_bytes(f"{folder}/good", within=folder) == b"r"
    for name in ("bad", "loop"):
        with pytest.raises(OSError, match=r"symbolic link|Too many levels"):
            textfile.read_bytes(f"{folder}/{name}", within=folder)


@pytest.mark.parametrize(
    ("target", "inside"), [("/a", True), ("/a/b", True), ("/ab", False), ("/", False)]
)
def test_containment_is_by_path_and_not_by_prefix(target, inside):
    root, target = ("/a", target) if os.sep == "/" else ("\\a", target.replace("/", "\\"))
    assert textfile.contains_path(root, target) is inside


def test_links_below_a_folder_are_found_and_not_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_text("x")
    (tmp_path / "real" / "to-file").symlink_to("file")
    (tmp_path / "loop").symlink_to(tmp_path)
    found = {os.path.relpath(path, tmp_path) for path in textfile.links_below(str(tmp_path))}
    assert found == {"loop", os.path.join("real", "to-file")}
