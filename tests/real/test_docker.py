"""Sandboxed runs in real containers, with a fake `kiro-cli` in the image that obeys its prompt.

Looks for an engine as the docker client does (DOCKER_HOST …) and for an image `busybox`, which is
pulled if need be; `.ci/docker` starts an engine that has both. Podman is not tested here.
"""

import os
import signal
import subprocess
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from checkout import ROOT
from loopback import Loopback, Reply

from skilleval.errors import AgentUnavailable
from skilleval.process import LONGEST_ARGUMENT_BYTES
from skilleval.sandboxes import Spec, docker
from skilleval.snapshot import delta, describe
from skilleval.tools import Tools
from skilleval.trial.leftovers import Swept

KIRO = ["kiro-cli", "chat", "--agent", "eval-agent", "--trust-all-tools", "--no-interactive"]
AGENT = ".kiro/agents/eval-agent.json"
# runs its last argument as a shell script, if it was called as the original calls it
FAKE_KIRO = """#!/bin/sh
[ "$*" != "${*#chat --agent eval-agent --trust-all-tools --no-interactive }" ] || exit 64
[ -e .kiro/agents/eval-agent.json ] || exit 65
for prompt; do :; done
eval "$prompt"
"""


def engine(*arguments: str) -> str:
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    if reason := docker.available("docker", Tools()):
        pytest.skip(reason)
    made = f"skilleval-test:{uuid.uuid4().hex[:8]}"
    program = tmp_path_factory.mktemp("image") / "kiro-cli"
    program.write_text(FAKE_KIRO)
    program.chmod(0o755)
    container = engine("create", "busybox", "true")
    engine("cp", str(program), f"{container}:/bin/kiro-cli")
    engine("commit", container, made)
    engine("rm", container)
    yield made
    engine("rmi", made)


@pytest.fixture
def spec(image, tmp_path):
    """For a box of this test; fails if it leaves a container, and removes it."""
    (tmp_path / "home/.aws").mkdir(parents=True)
    (tmp_path / "home/.aws/credentials").write_text("key")
    run = uuid.uuid4().hex
    yield Spec("scenario-x", image, "none", timeout_s=30, home=str(tmp_path / "home"), run=run)
    left = containers(run)
    for container in left:
        engine("rm", "-f", container)
    assert left == []


def containers(run: str) -> list[str]:
    return engine("ps", "-aq", "--filter", f"label=skilleval.run={run}").split()


def processes(mark: str) -> list[str]:
    """The command lines on this machine, in containers too, that hold the mark."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if mark in line:
            found.append(line)
    return found


@pytest.fixture
def scenario(tmp_path):
    for path, text in {
        "skill/SKILL.md": "---\nname: x\n---\n",
        "skill/references/guide.md": "guide",
        "scenario/task.md": "Do it.",
        "scenario/inputs/.rc": "old",
        "scenario/inputs/src/gone.txt": "x",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def obey(box, script: str):
    """What comes of the script as a prompt; a prompt begins with a line break."""
    box.write(AGENT, "{}")
    return box.run([*KIRO, f"\n{script}"])


def test_changes_in_the_container_are_described(spec, scenario):
    with docker.open_box(spec, Tools()) as box:
        for name in ("SKILL.md", "references"):
            box.copy_in(f"{scenario}/skill/{name}", f"skill/{name}")
        box.copy_in(f"{scenario}/scenario/task.md", "task.md")
        box.copy_in(f"{scenario}/scenario/inputs", "")
        box.write(AGENT, "{}", "agent config")
        before = box.snapshot()
        script = (
            "cat task.md skill/SKILL.md; echo new >.rc; rm src/gone.txt; echo 1 >src/made; exit 3"
        )
        done = obey(box, script)
        text = describe(delta(before, box.snapshot(before)))
    assert [file.change.path for file in before.files] == [
        AGENT,
        ".rc",
        "skill/SKILL.md",
        "skill/references/guide.md",
        "src/gone.txt",
        "task.md",
    ]
    assert (done.stdout, done.exit_code) == ("Do it.---\nname: x\n---\n", 3)
    assert text == (
        "## Workspace Changes\n\n### Added Files\n\n**src/made**\n```\n1\n\n```\n\n"
        "### Modified Files\n\n**.rc**\n```\nnew\n\n```\n\n### Deleted Files\n\n- src/gone.txt\n\n"
    )


def test_credentials_can_be_read_and_not_written(spec):
    with docker.open_box(spec, Tools()) as box:
        done = obey(box, "cat /root/.aws/credentials; echo x >/root/.aws/credentials")
    assert done.stdout == "key"
    assert "Read-only file system" in done.stderr
    assert Path(spec.home, ".aws/credentials").read_text() == "key"


def test_named_variable_reaches_the_agent_and_no_other(spec):
    tools = Tools(environ={**os.environ, "API_KEY": "s3cret", "OTHER": "x"})
    with docker.open_box(spec._replace(variables=("API_KEY",)), tools) as box:
        assert obey(box, "echo $API_KEY,$OTHER").stdout == "s3cret,\n"


def test_network_none_has_no_way_out_and_host_has(spec):
    with Loopback() as server:
        server.on("/", Reply(200, body=b"reached"))
        host, port = server.url.removeprefix("http://").split(":")
        ask = f"printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 5 {host} {port}"
        script = f"ip route; ls /sys/class/net; {ask}"
        with docker.open_box(spec, Tools()) as box:
            closed = obey(box, script)
        with docker.open_box(spec._replace(network="host"), Tools()) as box:
            open_ = obey(box, script)
    assert closed.stdout == "lo\n"
    assert closed.exit_code != 0
    assert open_.stdout.endswith("reached")
    assert len(server.requests) == 1


def test_timeout_leaves_nothing_that_works_on_and_no_container(spec):
    mark = f"86399.{time.time_ns()}"
    script = f"""trap '' TERM
        setsid sh -c 'trap "" TERM; while :; do echo x >>beat; sleep 0.05; done' {mark} &
        echo begun; sleep {mark}"""
    with docker.open_box(spec._replace(timeout_s=1), Tools()) as box:
        done = obey(box, script)
        assert containers(spec.run) != []
        assert processes(mark) == []
        first = box.snapshot()
        time.sleep(0.3)
        assert box.snapshot() == first
    assert (done.timed_out, done.exit_code, done.stdout) == (True, None, "begun\n")
    assert "beat" in first.by_path
    assert containers(spec.run) == []


INTERRUPTED = """
import sys
from skilleval.sandboxes import Spec, docker
from skilleval.tools import Tools
image, run, mark = sys.argv[1:]
try:
    with docker.open_box(Spec("x", image, "none", 60, run=run), Tools()) as box:
        box.run(["sh", "-c", f"trap '' TERM INT; sleep {mark}"])
except KeyboardInterrupt:
    sys.exit(130)
"""


def test_ctrl_c_leaves_no_container(spec):
    mark = f"86399.{time.time_ns()}"
    argv = [sys.executable, "-c", INTERRUPTED, spec.image, spec.run, mark]
    program = subprocess.Popen(argv, env={**os.environ, "PYTHONPATH": str(ROOT)})
    until = time.monotonic() + 20
    # in the container, and not only on its way there
    while not any(line.startswith("sleep") for line in processes(mark)):
        assert time.monotonic() < until
        time.sleep(0.05)
    assert len(containers(spec.run)) == 1
    program.send_signal(signal.SIGINT)
    assert program.wait(20) == 130
    assert containers(spec.run) == []
    assert processes(mark) == []


def test_container_of_a_killed_run_is_swept_and_that_of_a_living_one_is_not(spec, tmp_path):
    mark = f"86398.{time.time_ns()}"
    argv = [sys.executable, "-c", INTERRUPTED, spec.image, spec.run, mark]
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    program = subprocess.Popen(argv, env=environ)
    until = time.monotonic() + 20
    while not any(line.startswith("sleep") for line in processes(mark)):
        assert time.monotonic() < until
        time.sleep(0.05)
    with docker.open_box(spec, Tools()):
        assert program.pid not in {each.pid for each in docker.sweep("docker", Tools())}
        assert len(containers(spec.run)) == 2
        program.kill()
        program.wait()
        assert Swept(program.pid, containers=1) in docker.sweep("docker", Tools())
        assert len(containers(spec.run)) == 1
    # its client was outside, and ended with the container
    until = time.monotonic() + 10
    while processes(mark) and time.monotonic() < until:
        time.sleep(0.05)
    assert processes(mark) == []


def test_workspace_full_of_traps_is_safe_to_look_at(spec, tmp_path):
    (tmp_path / "secret").write_text("hunter2")
    script = f"""ln -s {tmp_path}/secret absolute; ln -s {tmp_path} folder; ln -s loop loop
        mkfifo pipe; printf 'a\\0b' >binary; truncate -s 70000 long
        mkdir closed; echo x >closed/file; chmod 000 closed/file closed"""
    with docker.open_box(spec, Tools()) as box:
        assert obey(box, script).stderr == ""
        found = {file.change.path: file.change.note for file in box.snapshot().files}
    closed = {path: found.pop(path) for path in list(found) if path.startswith("closed")}
    assert found == {
        AGENT: "",
        "absolute": f"link to {tmp_path}/secret",
        "binary": "binary",
        "folder": f"link to {tmp_path}",
        "long": "binary",
        "loop": "link to loop",
        "pipe": "special file",
    }
    # root may read it, and nobody else
    assert closed in ({"closed/file": ""}, {"closed/": "unreadable: Permission denied"})


def test_longest_argument_is_passed_on_whole(spec):
    longest = "x" * LONGEST_ARGUMENT_BYTES
    with docker.open_box(spec, Tools()) as box:
        done = box.run(["sh", "-c", 'echo "${#1}"', "sh", longest])
    assert (done.stdout, done.stderr) == (f"{len(longest)}\n", "")


def test_boxes_of_one_scenario_at_once_do_not_meet(spec):
    def run(number: int) -> str:
        with docker.open_box(spec, Tools()) as box:
            return obey(box, f"echo {number} >mine; sleep 0.2; cat mine").stdout

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, range(4))) == ["0\n", "1\n", "2\n", "3\n"]


def test_missing_program_is_the_end_of_the_program_and_no_traceback(spec):
    with docker.open_box(spec, Tools()) as box:
        done = box.run(["no-such-cli"])
    assert done.exit_code == 127
    assert "no-such-cli" in done.stderr


def test_missing_image_says_how_to_make_it(spec):
    # a registry that is not there, so that nothing is asked of one that is
    opened = docker.open_box(spec._replace(image="127.0.0.1:1/none:1"), Tools())
    with pytest.raises(AgentUnavailable) as caught:
        opened.__enter__()
    assert str(caught.value).startswith("docker create: exit code 1: ")
    assert str(caught.value).endswith("; build it with `make eval-image`")


def test_daemon_that_is_down_is_quoted(spec, tmp_path):
    tools = Tools(environ={**os.environ, "DOCKER_HOST": f"unix://{tmp_path}/none.sock"})
    said = f"Cannot connect to the Docker daemon at unix://{tmp_path}/none.sock"
    assert said in docker.available("docker", tools)
    with pytest.raises(AgentUnavailable, match="Cannot connect to the Docker daemon"):
        docker.open_box(spec, tools).__enter__()
