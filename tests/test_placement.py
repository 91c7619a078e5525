"""The hint where to look for room: given where there is one, and never a hindrance."""

import os
import struct
import sys

import pytest

from skilleval.placement import spread

fcntl = pytest.importorskip("fcntl", reason="the hint is for Linux")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the hint is for Linux")

GET_FLAGS, TOP = 0x80086601, 0x20000


def flags(folder):
    """The attributes of a folder (chattr(1)), None where it has none."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        return struct.unpack("l", fcntl.ioctl(handle, GET_FLAGS, bytes(8)))[0]
    except OSError:
        return None
    finally:
        os.close(handle)


def is_ext4(folder):
    with open("/proc/self/mounts") as file:
        mounts = [line.split()[1:3] for line in file]
    holding = [each for each in mounts if os.path.commonpath([each[0], folder]) == each[0]]
    return max(holding, key=lambda each: len(each[0]))[1] == "ext4"


@pytest.mark.skipif(sys.maxsize < 2**32, reason="the number above is for 64 bits")
def test_folders_in_it_may_lie_anywhere(tmp_path):
    if not is_ext4(os.path.realpath(tmp_path)):
        pytest.skip("the temporary folder is on no ext4")
    before = flags(tmp_path)
    assert not before & TOP
    spread(str(tmp_path))
    assert flags(tmp_path) == before | TOP


@pytest.mark.parametrize("name", ["file", "missing"])
def test_nothing_happens_where_there_is_no_folder(tmp_path, name):
    (tmp_path / "file").write_text("x")
    spread(str(tmp_path / name))
    assert os.listdir(tmp_path) == ["file"]


def test_nothing_happens_where_the_file_system_has_no_such_hint():
    spread("/proc/self")
