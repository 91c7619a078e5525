"""Real processes: who they are, and whether it can be told that they are dead."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import ROOT

from skilleval.process import owner
from skilleval.process.owner import Owner, parse

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
TELL = "from skilleval.process import owner; print(owner.ours().text, flush=True)"
THREADS = """
import sys
from threading import Barrier, Thread
from skilleval.process import owner
sys.setswitchinterval(1e-6)
start, found = Barrier(16), set()
def ask():
    start.wait()
    found.add(owner.ours())
threads = [Thread(target=ask) for _ in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(found))
"""
TOKEN = "0123456789abcdef" * 2


def program(script: str) -> tuple[subprocess.Popen[str], Owner]:
    """A process that says who it is, and what it said."""
    child = subprocess.Popen(
        [sys.executable, "-c", f"{TELL}; {script}"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    told = parse(child.stdout.readline())
    assert told is not None
    assert told.pid == child.pid
    return child, told


def ended() -> Owner:
    child, told = program("pass")
    child.communicate()
    return told


def test_all_threads_are_one_owner():
    """The first call of a process is what counts, so this is a process of its own."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", THREADS], env=environ, capture_output=True)
    assert done.stdout == b"1\n"


def test_written_form_is_read_back():
    assert parse(owner.ours().text) == owner.ours()
    assert parse(f"{owner.ours().text}\n") == owner.ours()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1\n",  # what markers held once
        f"0 1 m {TOKEN}",
        f"-5 1 m {TOKEN}",
        f"²3 1 m {TOKEN}",
        f"{2**31} 1 m {TOKEN}",
        f"{'9' * 5000} 1 m {TOKEN}",
        f"5 1 m {TOKEN[:-1]}",
        f"5 1 m {TOKEN[:-1]}=",
        "5 1 m PATH",  # would be in the environment of every process
        f"5 1 m {TOKEN} more",
    ],
    ids=lambda text: text[:30],
)
def test_any_other_text_is_about_nobody(text):
    assert parse(text) is None


@posix
def test_ended_process_is_dead():
    assert ended().is_dead()


@posix
def test_living_process_is_not_dead():
    child, told = program("input()")
    try:
        assert not told.is_dead()
    finally:
        child.kill()
        child.communicate()


@linux
def test_killed_process_that_nobody_reaped_is_dead():
    child, told = program("input()")
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert Path(f"/proc/{child.pid}").exists()
    assert told.is_dead()
    child.communicate()


@linux
def test_pid_that_was_given_away_again_is_of_a_dead_one():
    assert owner.ours()._replace(start="1").is_dead()


def test_where_starts_are_unknown_a_living_pid_may_be_the_same():
    assert not owner.ours()._replace(start=owner.UNKNOWN).is_dead()


@pytest.mark.parametrize("machine", ["elsewhere/pid:[1]", "-/-"])
def test_of_another_machine_nobody_is_known_to_be_dead(machine):
    assert not ended()._replace(machine=machine).is_dead()


@posix
def test_fork_is_another_owner():
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writing, owner.ours().text.encode())
        os._exit(0)
    os.waitpid(pid, 0)
    told = parse(os.read(reading, 1000).decode())
    os.close(reading)
    os.close(writing)
    assert told is not None
    assert (told.pid, told.token != owner.ours().token) == (pid, True)
