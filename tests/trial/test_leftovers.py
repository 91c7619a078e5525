"""What killed runners leave is swept by who comes next: real processes, killed with SIGKILL.

Each test has a temporary folder of its own, so that it sees nobody else's leftovers. A mark in the
outer token finds everything that the killed runner had started.
"""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import build
import pytest

from skilleval.process import TOKEN_NAME, owner
from skilleval.trial import temporary
from skilleval.trial.leftovers import Swept

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="needs /proc to find processes"
)
# two that work on when their shell is gone, out of reach of every signal to its group
AGENT = "touch out.txt; setsid sleep 300 & setsid sh -c 'trap \"\" TERM; exec sleep 300' & {}"


class Place:
    """A repository with a suite, a temporary folder, and the runners that were started there."""

    def __init__(self, root):
        self.root, self.mark = root, f"test-{uuid.uuid4().hex}"
        self.temporary = root / "tmp"
        self.temporary.mkdir()
        self.environ = {"TMPDIR": str(self.temporary)}
        build.skill(root)
        case = {"prompt": "p", "expected_output": "e", "assertions": ["The file `out.txt` exists"]}
        document = {"skill_name": "demo", "evals": [{"id": f"c{i}", **case} for i in range(3)]}
        build.write(root / "skills/demo/evals/evals.json", json.dumps(document))

    def arguments(self, last, *more):
        """Of a run whose agent leaves processes, and ends with a command of a shell."""
        agent = build.write(self.root / "agent", f"#!/bin/sh\n{AGENT.format(last)}\n")
        agent.chmod(0o755)
        suite = "skills/demo/evals/evals.json"
        program = ("--agent", "command", "--agent-command", str(agent))
        return ["run", suite, *program, "--concurrency", "3", *more]

    def start(self, *arguments, **environ):
        return subprocess.Popen(
            [sys.executable, "-m", "skilleval", *arguments],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": str(build.ROOT), **self.environ, **environ},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def started(self, *more):
        """A runner, and its three agents at work: three processes each."""
        begun = self.root / "begun"
        last = f"echo >>{begun}; exec sleep 300"
        runner = self.start(*self.arguments(last, *more), **{TOKEN_NAME: self.mark})
        wait_until(lambda: begun.exists() and len(begun.read_text()) == 3)
        wait_until(lambda: len(self.processes) == 10)
        return runner

    def killed(self, *more):
        runner = self.started(*more)
        kill(runner)
        return runner

    def call(self, *arguments, **environ):
        return build.skilleval(*arguments, cwd=self.root, env={**self.environ, **environ})

    def next_run(self, **environ):
        """A run that ends by itself."""
        done = self.call(*self.arguments("exit 0"), **environ)
        assert done.returncode == 0, done.stderr
        return done

    @property
    def folders(self):
        return sorted(path for path in self.temporary.iterdir() if path.name[:3] in ("ski", "ope"))

    @property
    def processes(self):
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if self.mark.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except (OSError, ValueError):
                continue
        return found


def wait_until(is_so):
    until = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.02)


def kill(runner):
    runner.send_signal(signal.SIGKILL)
    runner.wait()


@pytest.fixture
def place(tmp_path):
    made = Place(tmp_path)
    yield made
    for pid in made.processes:  # whatever a failed test left
        os.kill(pid, signal.SIGKILL)


# What killed runs leave


def test_next_run_ends_and_removes_what_a_killed_one_left(place):
    runner = place.killed()
    assert (len(place.processes), len(place.folders)) == (9, 1)
    done = place.next_run()
    assert (place.processes, place.folders) == ([], [])
    said = f"ended 9 processes and removed 1 folder that a killed run (pid {runner.pid}) left\n"
    assert said in done.stderr


@pytest.mark.parametrize("delay_s", [0.15, 0.25, 0.35, 0.5, 0.7, 1.0])
def test_whenever_it_was_killed_nothing_stays(place, delay_s):
    """Trials begin, end and are removed all the time, until the runner itself ends."""
    runs = ("--runs", "4", "--quiet")
    runner = place.start(*place.arguments("sleep 0.05", *runs), **{TOKEN_NAME: place.mark})
    time.sleep(delay_s)
    kill(runner)
    place.next_run()
    assert (place.processes, place.folders) == ([], [])


def test_where_nothing_was_left_nothing_is_said(place):
    for number in (1, 2):
        results = f"results: eval-workspace/demo-workspace/iteration-{number}\n"
        assert place.next_run().stderr == results


def test_folders_kept_on_purpose_stay_and_their_processes_end(place):
    place.killed("--keep-workspaces")
    kept = [path for path in place.folders if path.name.startswith(temporary.KEPT)]
    assert len(kept) in range(3, 7)
    for _ in range(2):
        place.next_run()
        assert (place.processes, place.folders) == ([], kept)


def test_folders_that_a_finished_run_kept_stay(place):
    place.next_run(SKILL_EVAL_KEEP_WORKSPACE="1")
    kept = place.folders
    assert len(kept) == 6
    assert "killed run" not in place.next_run().stderr
    assert place.folders == kept


def test_what_belongs_to_a_living_run_stays(place):
    runner = place.started()
    before = place.processes, place.folders
    assert "killed run" not in place.next_run().stderr
    assert (place.processes, place.folders) == before
    kill(runner)
    place.next_run()
    assert (place.processes, place.folders) == ([], [])


def test_run_inside_a_killed_run_goes_with_it(place):
    """An agent may evaluate skills itself; what its run starts carries both tokens."""
    inner = json.dumps(place.arguments("sleep 300"))
    script = f"import json, subprocess, sys; subprocess.run(['true']); a = {inner!r}"
    build.write(place.root / "inner.py", f"{script}\nfrom skilleval.cli import main\n"
                "sys.exit(main(json.loads(a)))\n")  # fmt: skip
    program = f"cd {place.root}; PYTHONPATH={build.ROOT} exec {sys.executable} inner.py"
    agent = build.write(place.root / "outer", f"#!/bin/sh\n{program}\n")
    agent.chmod(0o755)
    suite = ("run", "skills/demo/evals/evals.json", "--case", "c0", "--no-baseline")
    outer = ("--agent", "command", "--agent-command", str(agent))
    runner = place.start(*suite, *outer, **{TOKEN_NAME: place.mark})
    wait_until(lambda: len(place.processes) >= 10)
    kill(runner)
    place.next_run()
    assert (place.processes, place.folders) == ([], [])


def test_cleanup_sweeps_too_without_a_question(place):
    runner = place.killed()
    done = place.call("cleanup")
    assert (place.processes, place.folders) == ([], [])
    assert f"1 folder that a killed run (pid {runner.pid}) left\n" in done.stderr
    assert done.returncode == 0


def test_scenario_run_on_this_machine_is_swept(place):
    build.scenario(place.root, text="---\nname: demo\ndescription: D. Use when.\n---\n")
    begun = place.root / "begun"
    kiro = build.write(
        place.root / "bin" / "kiro-cli", f"#!/bin/sh\n{AGENT.format(f'echo >{begun}; sleep 300')}\n"
    )
    kiro.chmod(0o755)
    build.write(place.root / "skills/demo/evals/scenario-a/scenario.json", '{"sandbox": false}')
    path = f"{kiro.parent}{os.pathsep}{os.environ['PATH']}"
    scenario = ("run", "skills/demo/evals/scenario-a")
    runner = place.start(*scenario, PATH=path, **{TOKEN_NAME: place.mark})
    wait_until(begun.exists)
    kill(runner)
    assert place.processes
    [folder] = place.folders
    assert folder.name.startswith("openkata-eval-agent-")
    place.next_run()
    assert (place.processes, place.folders) == ([], [])


@pytest.mark.parametrize("next_one", ["run", "cleanup"])
def test_container_is_removed_by_the_next_run_that_needs_the_engine(place, next_one):
    build.scenario(place.root, text="---\nname: demo\ndescription: D. Use when.\n---\n")
    begun, boxes = place.root / "begun", place.root / "boxes"
    kiro = build.write(place.root / "bin/kiro-cli", f"#!/bin/sh\necho >{begun}; exec sleep 300\n")
    kiro.chmod(0o755)
    path = os.pathsep.join([str(kiro.parent), str(build.ROOT / "tests/bin"), os.environ["PATH"]])
    environ = {"PATH": path, "FAKE_DOCKER": str(place.root)}
    runner = place.start("run", "skills/demo", **environ, **{TOKEN_NAME: place.mark})
    wait_until(begun.exists)
    kill(runner)
    assert len(os.listdir(boxes)) == 1
    build.write(kiro, "#!/bin/sh\nexit 1\n")
    done = place.call(next_one, *(["skills/demo"] if next_one == "run" else []), **environ)
    assert f"removed 1 container that a killed run (pid {runner.pid}) left\n" in done.stderr
    assert (os.listdir(boxes), place.processes, place.folders) == ([], [], [])


# The proof


def dead(place, *, marked="True", last="os.kill(os.getpid(), 9)"):
    """The folder of a trial that a killed process made, and the process."""
    script = (
        "import os, tempfile\nfrom skilleval.process import owner\nfrom skilleval.trial import "
        "temporary\nfolder = tempfile.mkdtemp(prefix=f'skilleval-{owner.ours().tag}-')\n"
        f"if {marked}: temporary.mark(folder)\n"
        f"print(folder); print(owner.ours().text, flush=True)\n{last}"
    )
    environ = {**os.environ, "PYTHONPATH": str(build.ROOT), **place.environ}
    done = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True)
    folder, text = done.stdout.decode().splitlines()
    return Path(folder), owner.parse(text)


def sweep(place, **environ):
    """What a new process sweeps, a line each."""
    script = (
        "import os\nfrom skilleval.trial import leftovers\n"
        "for each in leftovers.sweep(os.environ): print(each.text)"
    )
    environ = {**os.environ, "PYTHONPATH": str(build.ROOT), **place.environ, **environ}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environ, capture_output=True, text=True, timeout=60
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_folder_whose_marker_names_a_dead_process_goes(place):
    folder, made = dead(place)
    build.write(folder / "workspace" / "locked" / "file", "x")
    (folder / "workspace" / "locked").chmod(0)
    (folder / "workspace").chmod(0)
    assert sweep(place) == [f"removed 1 folder that a killed run (pid {made.pid}) left"]
    assert not folder.exists()


def test_folder_whose_marker_an_agent_removed_goes_by_the_marker_of_a_trial(place):
    folder, made = dead(place)
    (folder / "trial-abc").mkdir()
    (folder / temporary.MARKER).rename(folder / "trial-abc" / temporary.MARKER)
    assert sweep(place) == [f"removed 1 folder that a killed run (pid {made.pid}) left"]
    assert not folder.exists()


def test_marker_of_a_trial_is_no_proof_in_a_folder_of_another_name(place):
    folder, _ = dead(place)
    copy = place.temporary / "skilleval-debug" / "trial-abc"
    copy.mkdir(parents=True)
    (folder / temporary.MARKER).rename(copy / temporary.MARKER)
    assert (sweep(place), copy.exists()) == ([], True)


def test_folder_without_a_marker_goes_with_others_of_its_tag(place):
    _, made = dead(place)
    bare = place.temporary / f"skilleval-{made.tag}-abc"
    strange = place.temporary / f"skilleval-{'0' * 8}-abc"
    bare.mkdir()
    strange.mkdir()
    assert sweep(place) == [f"removed 2 folders that a killed run (pid {made.pid}) left"]
    assert place.folders == [strange]


def test_folder_without_a_marker_is_nobodys_alone(place):
    folder, _ = dead(place, marked="False")
    assert (sweep(place), folder.exists()) == ([], True)


@pytest.mark.parametrize(
    "marker",
    ["", "1\n", "{pid}\n", "{pid} - - {token}", "{pid} {start} elsewhere/- {token}", "x" * 9999],
    ids=["empty", "pid of 1", "pid alone", "unknown place", "other machine", "long"],
)
def test_marker_that_proves_no_death_keeps_the_folder(place, marker):
    folder, made = dead(place)
    (folder / temporary.MARKER).write_text(marker.format(**made._asdict()))
    assert (sweep(place), folder.exists()) == ([], True)


def test_marker_of_a_living_process_keeps_the_folder(place):
    folder, _ = dead(place)
    (folder / temporary.MARKER).write_text(owner.ours().text)
    assert (sweep(place), folder.exists()) == ([], True)


def test_links_are_not_followed(place):
    folder, _ = dead(place)
    precious = place.root / "precious"
    folder.rename(precious)
    (place.temporary / "skilleval-link").symlink_to(precious)
    marker = place.temporary / "skilleval-marker"
    marker.mkdir()
    (marker / temporary.MARKER).symlink_to(precious / temporary.MARKER)
    assert sweep(place) == []
    assert (precious / temporary.MARKER).exists()
    assert marker.exists()


def test_link_within_is_removed_and_what_it_leads_to_stays(place):
    folder, _ = dead(place)
    precious = build.write(place.root / "precious" / "file", "x")
    (folder / "link").symlink_to(precious.parent)
    assert len(sweep(place)) == 1
    assert (folder.exists(), precious.exists()) == (False, True)


def test_other_names_and_deeper_folders_are_not_ours(place):
    folder, _ = dead(place)
    other = folder.rename(place.temporary / "other")
    (place.temporary / "below").mkdir()
    below, _ = dead(place)
    below = below.rename(place.temporary / "below" / below.name)
    assert (sweep(place), other.exists(), below.exists()) == ([], True, True)


def test_pipe_in_place_of_the_marker_holds_nobody_up(place):
    folder, _ = dead(place)
    (folder / temporary.MARKER).unlink()
    os.mkfifo(folder / temporary.MARKER)
    assert (sweep(place), folder.exists()) == ([], True)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("given", ["", temporary.MARKER], ids=["folder", "marker"])
def test_what_is_another_users_stays(place, given):
    folder, _ = dead(place)
    os.chown(folder / given, 12345, 12345)
    assert (sweep(place), folder.exists()) == ([], True)


def test_program_of_a_dead_run_does_not_sweep_what_is_its_own(place):
    folder, made = dead(place)
    assert sweep(place, **{TOKEN_NAME: f"x:{made.token}:y"}) == []
    assert folder.exists()


# What is said


@pytest.mark.parametrize(
    ("swept", "text"),
    [
        (Swept(7, 1, 0), "ended 1 process that a killed run (pid 7) left"),
        (
            Swept(7, 3, 2),
            "ended 3 processes and removed 2 folders that a killed run (pid 7) left",
        ),
        (Swept(7, containers=1), "removed 1 container that a killed run (pid 7) left"),
        (
            Swept(7, folders=1, stuck=("/tmp/a\n\x1b[2Jb",)),
            "removed 1 folder that a killed run (pid 7) left; cannot remove /tmp/a b",
        ),
        (
            Swept(7, stuck=("container x",)),
            "found things that a killed run (pid 7) left; cannot remove container x",
        ),
    ],
    ids=["process", "both", "container", "stuck", "all stuck"],
)
def test_sentence_counts_what_was_done(swept, text):
    assert swept.text == text
