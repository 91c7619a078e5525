"""Temporary folders: where they are, whose, and what agents may do to them."""

import os
import shutil
from pathlib import Path

import pytest
from harness_fake import environ

from skilleval.errors import SkillevalError, UsageError
from skilleval.process import owner
from skilleval.trial import gitfiles, temporary

# Where temporary folders are


def test_temporary_folders_of_a_process_are_in_one_that_says_whose_it_is(tmp_path):
    first, second = (Path(temporary.new_folder(environ(tmp_path), "trial-")) for _ in range(2))
    assert first != second
    assert first.parent == second.parent
    assert first.parent.name.startswith(f"skilleval-{owner.ours().tag}-")
    assert (first.parent / temporary.MARKER).read_text() == f"{owner.ours().text}\n"
    assert [path.stat().st_mode & 0o777 for path in (first, first.parent)] == [0o700, 0o700]


def test_folder_to_be_kept_is_in_none_that_goes(tmp_path):
    kept = Path(temporary.new_folder(environ(tmp_path), temporary.KEPT))
    assert kept.parent == tmp_path / "temporary"
    assert kept.name.startswith(temporary.KEPT)


def test_folder_that_an_agent_removed_or_locked_is_no_obstacle_to_others(tmp_path):
    shared = Path(temporary.new_folder(environ(tmp_path), "trial-")).parent
    shared.chmod(0)
    assert Path(temporary.new_folder(environ(tmp_path), "trial-")).parent == shared
    assert shared.stat().st_mode & 0o777 == 0o700
    shutil.rmtree(shared)
    other = Path(temporary.new_folder(environ(tmp_path), "trial-")).parent
    assert (other / temporary.MARKER).is_file()


def test_link_in_place_of_the_folder_is_not_followed(tmp_path):
    shared = Path(temporary.new_folder(environ(tmp_path), "trial-")).parent
    precious = tmp_path / "precious"
    precious.mkdir(mode=0o755)
    shared.rename(tmp_path / "moved")
    shared.symlink_to(precious)
    made = Path(temporary.new_folder(environ(tmp_path), "trial-"))
    temporary.unlock()
    assert made.parent != shared
    assert (precious.stat().st_mode & 0o777, list(precious.iterdir())) == (0o755, [])


def test_folder_that_cannot_be_made_is_named_with_its_place(tmp_path):
    place = str(tmp_path)
    while len(place) < 4060:  # a longer name than the kernel takes cannot be made in there
        place = os.path.join(place, "x" * min(200, 4069 - len(place)))
    os.makedirs(place)
    with pytest.raises(SkillevalError, match=r"cannot make a folder in .*xxx: File name too long"):
        temporary.new_folder({"TMPDIR": place}, "trial-")


# Where temporary folders may be


def test_temporary_folder_is_the_users_if_it_is_in_no_repository(tmp_path):
    assert temporary.root_for(environ(tmp_path)) == str(tmp_path / "temporary")


def test_temporary_folder_in_a_repository_is_passed_over(tmp_path):
    (tmp_path / ".git").mkdir()
    root = temporary.root_for(environ(tmp_path))
    assert not root.startswith(str(tmp_path))
    assert gitfiles.repository_of(root) == ""


def test_no_temporary_folder_outside_a_repository_is_an_error_that_says_what_to_do(tmp_path):
    (tmp_path / ".git").mkdir()
    with pytest.raises(UsageError, match=r"set TMPDIR .*looked at: .*temporary"):
        temporary.root_for(environ(tmp_path), others=[str(tmp_path / "user")])
