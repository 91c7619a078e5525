"""One writer of a run folder: real processes, really killed."""

import json
import os
import signal
import subprocess
import sys
import time

import build
import pytest

from skilleval.errors import UsageError
from skilleval.runfolder import lock
from skilleval.trial import temporary

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs the locks of POSIX")
HOLD = """
import sys
from skilleval.runfolder import lock
with lock.held(sys.argv[1]):
    print("held", flush=True)
    input()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that writes the folder."""
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(build.ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "held\n"
    yield child
    child.kill()
    child.communicate()


def test_second_writer_is_refused_and_told_who_the_first_is(tmp_path, holder):
    message = f"^{tmp_path} is being written by process {holder.pid}, .* end it .kill {holder.pid}"
    with pytest.raises(UsageError, match=message), lock.held(str(tmp_path)):
        pytest.fail("it was let in")


def test_refusal_leaves_the_lock_to_its_holder(tmp_path, holder):
    for _ in range(2):
        with pytest.raises(UsageError), lock.held(str(tmp_path)):
            pass


def test_killed_writer_is_never_in_the_way(tmp_path, holder):
    holder.kill()
    holder.wait()
    assert (tmp_path / lock.NAME).exists()
    with lock.held(str(tmp_path)):
        assert (tmp_path / lock.NAME).read_text() == f"{os.getpid()}\n"


def test_nothing_is_left_of_it(tmp_path):
    with lock.held(str(tmp_path)):
        assert os.listdir(tmp_path) == [lock.NAME]
    assert os.listdir(tmp_path) == []


def test_same_process_is_no_exception(tmp_path):
    with lock.held(str(tmp_path)):
        with pytest.raises(UsageError), lock.held(str(tmp_path)):
            pass
        with pytest.raises(UsageError), lock.held(str(tmp_path)):
            pass


def test_other_folders_are_free(tmp_path, holder):
    (tmp_path / "other").mkdir()
    with lock.held(str(tmp_path / "other")):
        pass


def test_where_no_file_can_be_made_nothing_is_locked(tmp_path):
    with lock.held(str(tmp_path / "gone")):
        pass
    assert not (tmp_path / "gone").exists()


def test_link_in_its_place_is_not_followed(tmp_path):
    precious = build.write(tmp_path / "precious", "x")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / lock.NAME).symlink_to(precious)
    with lock.held(str(folder)):
        pass
    assert precious.read_text() == "x"
    assert (folder / lock.NAME).is_symlink()


COUNT = """
import os, sys
from skilleval.errors import UsageError
from skilleval.runfolder import lock
inside = os.path.join(sys.argv[1], "inside")
for _ in range(300):
    try:
        with lock.held(sys.argv[1]):
            os.close(os.open(inside, os.O_CREAT | os.O_EXCL))  # raises if somebody else is in
            os.unlink(inside)
    except UsageError:
        pass
"""


def test_two_are_never_in_at_once(tmp_path):
    """Each removes the file as it leaves: who has opened it before must not take it for the lock."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", COUNT, str(tmp_path)],
            env={**os.environ, "PYTHONPATH": str(build.ROOT)},
            stderr=subprocess.PIPE,
        )
        for _ in range(4)
    ]
    assert [each.communicate(timeout=60)[1] for each in started] == [b""] * 4


# As users meet it


def arguments(root, waits_for="go"):
    build.skill(root)
    case = {
        "id": "one",
        "prompt": "p",
        "expected_output": "e",
        "assertions": ["The file `out.txt` exists"],
    }
    document = json.dumps({"skill_name": "demo", "evals": [case]})
    build.write(root / "skills/demo/evals/evals.json", document)
    # what works on, out of reach of every signal to its group, must not hold the lock
    agent = (
        f"sh -c 'touch out.txt; echo >> {root}/begun; setsid sleep 300 & cat {root}/{waits_for}'"
    )
    return ["run", "skills/demo/evals/evals.json", "--agent", "command", "--agent-command", agent]


@pytest.fixture
def alive(tmp_path):
    """A run that goes on until the file `go` is filled, and what else is needed to call it."""
    (tmp_path / "tmp").mkdir()
    os.mkfifo(tmp_path / "go")
    environ = {"TMPDIR": str(tmp_path / "tmp")}
    command = [sys.executable, "-m", "skilleval", *arguments(tmp_path)]
    started = subprocess.Popen(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(build.ROOT), **environ},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 30
    while not (tmp_path / "begun").exists() and time.monotonic() < until:
        time.sleep(0.02)
    yield started
    started.send_signal(signal.SIGTERM)
    started.wait(20)
    # whatever a failed test left
    build.skilleval("cleanup", "--yes", cwd=tmp_path, env=environ)


def call(root, *words):
    return build.skilleval(*words, cwd=root, env={"TMPDIR": str(root / "tmp")})


def test_living_run_is_neither_resumed_nor_graded(tmp_path, alive):
    folder = "eval-workspace/demo-workspace/iteration-1"
    for words in ([*arguments(tmp_path), "--resume"], ["grade", folder]):
        done = call(tmp_path, *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"{folder} is being written by process {alive.pid}, which is still alive" in (
            done.stderr
        )
    assert alive.poll() is None


def test_a_run_is_locked_until_all_of_it_is_written_and_told(tmp_path):
    os.mkfifo(tmp_path / "told")  # it waits there for a reader
    build.write(tmp_path / "ready", "done\n")
    words = [sys.executable, "-m", "skilleval", *arguments(tmp_path, "ready")]
    environ = {"PYTHONPATH": str(build.ROOT), "GITHUB_STEP_SUMMARY": str(tmp_path / "told")}
    folder = tmp_path / "eval-workspace/demo-workspace/iteration-1"
    (tmp_path / "tmp").mkdir()
    ending = subprocess.Popen(
        words, cwd=tmp_path, env={**os.environ, **environ}, stdout=subprocess.DEVNULL
    )
    until = time.monotonic() + 30
    while not (folder / "benchmark.json").exists() and time.monotonic() < until:
        time.sleep(0.02)
    refused = call(tmp_path, "grade", str(folder))
    (tmp_path / "told").read_text()
    assert ending.wait(30) == 0
    assert (refused.returncode, f"by process {ending.pid}" in refused.stderr) == (2, True)
    assert call(tmp_path, "grade", str(folder)).returncode == 0


def test_what_a_living_run_lists_is_not_cleaned_up(tmp_path, alive):
    folder = tmp_path / "eval-workspace/demo-workspace/iteration-1"
    kept = tmp_path / "tmp" / "skilleval-kept-abc"
    kept.mkdir()
    temporary.mark(str(kept))
    build.write(folder / "cleanup.json", json.dumps({"workspaces": [str(kept)]}))
    done = call(tmp_path, "cleanup", "--yes")
    assert (done.returncode, done.stdout) == (0, "nothing to clean up in 1 run\n")
    assert "left alone: eval-workspace/demo-workspace/iteration-1 is being" in done.stderr
    alive.kill()
    alive.wait()
    assert call(tmp_path, "cleanup", "--yes").stdout.endswith("removed 1 of 1\n")
    assert not kept.exists()


def test_killed_run_is_resumed_though_its_agent_lives(tmp_path, alive):
    alive.kill()
    alive.wait()
    (tmp_path / "go").unlink()
    build.write(tmp_path / "go", "done\n")
    done = call(tmp_path, *arguments(tmp_path), "--resume")
    assert done.returncode == 0, done.stderr
    assert not list((tmp_path / "eval-workspace").rglob(lock.NAME))


def test_another_run_beside_a_living_one_is_no_problem(tmp_path, alive):
    build.write(tmp_path / "ready", "done\n")
    assert call(tmp_path, *arguments(tmp_path, "ready")).returncode == 0
    assert (tmp_path / "eval-workspace/demo-workspace/iteration-2/summary.json").exists()
    assert alive.poll() is None
