"""Whole runs as users meet them: two at once, and a disk that takes no more."""

import os
import shutil
import subprocess
import sys

import build
import fake_suite
import pytest

LIMIT_BYTES = 1 << 20
# each trial adds a line to a file of ours; the second one says more than the disk can hold
TALKER = f"""
import sys
with open(sys.argv[1], "a+") as begun:
    begun.write("x\\n")
    begun.seek(0)
    count = len(begun.readlines())
open("out.txt", "w").write("alpha")
print("alpha" + "x" * ({2 * LIMIT_BYTES} if count == 2 else 0))
"""


@pytest.fixture
def small(tmp_path):
    """A workspace on a full disk (or one whose files may not grow), and what a run needs there.

    Gives the arguments and options of `fake_suite.run`.
    """
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={LIMIT_BYTES}", "tmpfs", str(place)]
    if os.geteuid() == 0 and subprocess.run(mount, capture_output=True).returncode == 0:
        yield {}
        subprocess.run(["umount", "--lazy", str(place)], check=True)
    else:
        resource = pytest.importorskip("resource")
        limits = (LIMIT_BYTES, LIMIT_BYTES)
        yield {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits)}


def talk(root, *arguments, **options):
    """A run of four trials on the small disk."""
    build.write(root / "talker.py", TALKER)
    agent = (
        "--agent",
        "command",
        "--agent-command",
        f"{sys.executable} {root}/talker.py {root}/begun",
    )
    workspace = ("--workspace", "disk", "--runs", "2")
    return fake_suite.run(root, *workspace, *arguments, agent=agent, **options)


def begun(root):
    return len((root / "begun").read_text().splitlines())


def kept(root):
    return len(list((root / "disk").rglob("trial.json")))


def test_disk_that_is_full_ends_a_run_before_it_pays_for_what_cannot_be_kept(tmp_path, small):
    fake_suite.make(tmp_path)
    done = talk(tmp_path, "--cleanup", **small)
    assert done.returncode == 3, done.stderr
    assert (begun(tmp_path), kept(tmp_path)) == (2, 1)
    assert done.stderr.count("cannot be written: ") == 1
    assert "4 trials: 2 graded, 2 not started: storage" in done.stdout
    assert "what could be written is kept in disk/demo-workspace/iteration-1; to go on" in (
        done.stderr
    )
    assert not list((tmp_path / "disk").rglob("summary.json"))


def test_run_that_a_full_disk_has_ended_is_resumed_where_there_is_room(tmp_path, small):
    fake_suite.make(tmp_path)
    talk(tmp_path, **small)
    shutil.copytree(tmp_path / "disk", tmp_path / "eval-workspace")
    done = fake_suite.resume(tmp_path)
    assert (done.returncode, begun(tmp_path)) == (0, 5), done.stderr
    assert "4 trials: 4 graded" in done.stdout


def test_run_whose_folder_cannot_be_written_at_all_starts_nothing(tmp_path):
    fake_suite.make(tmp_path)
    folder = fake_suite.folder(tmp_path)
    (folder / "evals_meta.json").mkdir(parents=True)  # where a file should be
    done = fake_suite.run(tmp_path, "--resume")
    assert (done.returncode, done.stdout) == (3, "")
    assert "iteration-1: cannot be written: Is a directory" in done.stderr
    assert fake_suite.trials(tmp_path) == {}


def test_two_runs_at_once_in_a_workspace_have_an_iteration_each_and_mix_nothing(tmp_path):
    fake_suite.make(tmp_path, cases=("one", "two", "three"))
    started = []
    for name in ("first", "second"):
        build.write(tmp_path / f"{name}.py", f"open('out.txt', 'w')\nprint('alpha {name}')\n")
        agent = ("--agent", "command", "--agent-command", f"{sys.executable} {tmp_path}/{name}.py")
        command = fake_suite.line("--concurrency", "2", "--json", agent=agent)
        started.append(
            subprocess.Popen(
                command,
                cwd=tmp_path,
                env=fake_suite.environ(),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    ended = [process.communicate(timeout=60) for process in started]
    assert [process.returncode for process in started] == [0, 0], ended
    said = []
    for number in (1, 2):
        trials = fake_suite.trials(tmp_path, number)
        assert len(trials) == 6
        [words] = {trial["result"]["outcome"]["output"].strip() for trial in trials.values()}
        said.append(words)
        assert fake_suite.read(fake_suite.folder(tmp_path, number) / "summary.json")["passed"]
    assert sorted(said) == ["alpha first", "alpha second"]
    assert not fake_suite.folder(tmp_path, 3).exists()
