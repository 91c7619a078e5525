"""Removing what an agent has had, however it left it."""

import os

from skilleval.trial.removal import remove


def deep(folder, levels):
    """Folders in folders; with a file at the bottom."""
    handle = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=handle)
        below = os.open("d", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = below
    os.close(os.open("f", os.O_CREAT | os.O_WRONLY, dir_fd=handle))
    os.close(handle)


def test_a_tree_nested_deeper_than_calls_may_be_goes(tmp_path):
    folder = tmp_path / "trial"
    folder.mkdir()
    (folder / "mark").write_text("ours")
    deep(folder, 3000)
    assert remove(str(folder), "mark")
    assert not folder.exists()


def test_wide_and_locked_tree_goes(tmp_path):
    folder = tmp_path / "trial"
    for one in range(5):
        for two in range(5):
            (folder / str(one) / str(two)).mkdir(parents=True)
            (folder / str(one) / str(two) / "f").write_text("x")
    for place, _, _ in os.walk(folder, topdown=False):
        os.chmod(place, 0)
    assert remove(str(folder))


def test_link_in_its_place_is_left_alone(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "f").write_text("x")
    (tmp_path / "trial").symlink_to("precious")
    assert not remove(str(tmp_path / "trial"))
    assert (tmp_path / "precious" / "f").read_text() == "x"


def test_links_below_are_not_followed(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "f").write_text("x")
    folder = tmp_path / "trial"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "precious")
    (folder / "locked").mkdir()
    (folder / "locked" / "link").symlink_to(tmp_path / "precious")
    (folder / "locked").chmod(0)
    assert remove(str(folder))
    assert (tmp_path / "precious" / "f").read_text() == "x"


def test_what_is_not_there_is_gone(tmp_path):
    assert remove(str(tmp_path / "nothing"))
