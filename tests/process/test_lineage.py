import os
import subprocess
import time
import uuid
from pathlib import Path

import pytest

from skilleval.process.lineage import Lineage, look, readable

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="needs /proc to find processes"
)


@pytest.fixture
def sleeper():
    """A process in a session of its own, with the token "mark-…" and its output in a pipe."""
    token = f"mark-{uuid.uuid4().hex}"
    child = subprocess.Popen(
        ["sleep", "60"],
        env={**os.environ, "MARK": token},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    # on a busy machine it may be within execve still, where a process shows nothing
    while token.encode() not in Path(f"/proc/{child.pid}/environ").read_bytes():
        pass
    yield child, token.encode()
    child.kill()
    child.communicate()


def test_this_proc_is_ours():
    assert readable()


def test_carrier_of_the_token_is_a_member(sleeper):
    child, token = sleeper
    assert look(Lineage(token)).members == [child.pid]


def test_holder_of_the_output_is_a_member(sleeper):
    child, _ = sleeper
    pipe = os.fstat(child.stdout.fileno())
    marks = Lineage(b"nobody-has-this", 0, frozenset({(pipe.st_dev, pipe.st_ino)}))
    assert look(marks).members == [child.pid]


def test_session_mate_is_a_member():
    script = "env -i sleep 60 >/dev/null & echo $!; wait"
    leader = subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, start_new_session=True)
    mate = int(leader.stdout.readline())
    try:
        assert look(Lineage(b"nobody-has-this", leader.pid)).members == [mate]
    finally:
        os.killpg(leader.pid, 9)
        leader.communicate()


def test_stranger_is_no_member(sleeper):
    assert look(Lineage(b"nobody-has-this", leader=0)).members == []


def test_leader_and_our_own_process_are_no_members(sleeper):
    child, token = sleeper
    assert look(Lineage(token, leader=child.pid)).members == []


def test_brief_look_sees_what_is_younger_than_the_leader(sleeper):
    child, token = sleeper
    assert look(Lineage(token, leader=child.pid - 1), brief=True).members == [child.pid]


def test_brief_look_passes_over_what_is_older(sleeper):
    child, token = sleeper
    assert look(Lineage(token, leader=child.pid + 1), brief=True).members == []


def test_dead_process_that_nobody_reaped_is_no_member():
    leader = subprocess.Popen(
        ["sh", "-c", "sleep 0 & echo $!; exec sleep 60"],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    zombie = int(leader.stdout.readline())
    try:
        stat = Path(f"/proc/{zombie}/stat")
        while ") Z" not in stat.read_text():
            pass
        seen = look(Lineage(b"nobody-has-this", leader.pid))
        assert seen.members == []
        assert zombie in seen.doubtful
    finally:
        os.killpg(leader.pid, 9)
        leader.communicate()


def test_leaders_of_other_runs_are_not_looked_at(sleeper):
    child, token = sleeper
    assert look(Lineage(token)).members == [child.pid]
    assert look(Lineage(token), others={child.pid}).members == []


def test_dead_process_from_before_the_leader_is_in_no_doubt():
    """Many a machine has one that nobody ever reaps; it would cost every run a second look."""
    command = ["sh", "-c", "sleep 0 & echo $!; exec sleep 60"]
    before = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    zombie = int(before.stdout.readline())
    leader = None
    try:
        while ") Z" not in Path(f"/proc/{zombie}/stat").read_text():
            pass
        time.sleep(0.05)  # the kernel counts in hundredths of a second
        leader = subprocess.Popen(["sleep", "60"], start_new_session=True)
        assert zombie not in look(Lineage(b"nobody-has-this", leader.pid)).doubtful
    finally:
        os.killpg(before.pid, 9)
        before.communicate()
        if leader:
            leader.kill()
            leader.wait()
