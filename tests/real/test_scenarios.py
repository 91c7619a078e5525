"""A whole skill, sandboxed in real containers and judged over real HTTP.

The image holds a fake `kiro-cli` that works on the files; see test_docker for what an engine needs.
"""

import json
import subprocess
import uuid

import build
import pytest
from loopback import Loopback, reply_json

from skilleval.sandboxes import docker
from skilleval.tools import Tools

CHAT = "/v1/chat/completions"
FAKE_KIRO = """#!/bin/sh
echo 'The work is done, see the files.'
echo new > made.txt
echo changed > data.txt
rm gone.txt
"""
NEVER = "#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 1; done\n"


def engine(*arguments):
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """Makes an image of busybox with a `kiro-cli` that is the given script."""
    if reason := docker.available("docker", Tools()):
        pytest.skip(reason)
    made = []

    def make(script):
        name = f"skilleval-test:{uuid.uuid4().hex[:8]}"
        program = tmp_path_factory.mktemp("image") / "kiro-cli"
        program.write_text(script)
        program.chmod(0o755)
        container = engine("create", "busybox", "true")
        engine("cp", str(program), f"{container}:/bin/kiro-cli")
        engine("commit", container, name)
        engine("rm", container)
        made.append(name)
        return name

    yield make
    for name in made:
        engine("rmi", name)


def judge(received):
    text = received.json()["messages"][-1]["content"]
    rows = [
        {"number": 1, "name": "says-hello", "pass": "made.txt" in text, "reason": "the new file"},
        {
            "number": 2,
            "name": "is-short",
            "pass": "- gone.txt" in text,
            "reason": "the removed one",
        },
    ]
    return reply_json({"choices": [{"message": {"content": json.dumps(rows)}}]})


def run(root, server, image, *arguments, timeout=30):
    settings = f"sandbox:\n  image: {image}\n  network: none\n  timeout: {timeout}\n"
    build.write(root / ".openkata-eval.yaml", settings)
    environment = {
        "OPENKATA_EVAL_BACKEND": "http",
        "OPENKATA_EVAL_HTTP_BASE_URL": f"{server.url}/v1",
        "HOME": str(root / "home"),
    }
    return build.script("eval-local.py", "skills/demo", *arguments, cwd=root, env=environment)


def skill(root):
    (root / "home").mkdir(exist_ok=True)
    for name in ("scenario-a", "scenario-b"):
        files = {"inputs/data.txt": "old\n", "inputs/gone.txt": "x\n"}
        build.scenario(root, name, files=files)


def containers():
    return engine("ps", "-aq", "--filter", "label=skilleval.run").split()


def test_changes_in_the_container_reach_the_judge_and_the_report(tmp_path, image):
    skill(tmp_path)
    with Loopback() as server:
        server.on(CHAT, judge)
        done = run(tmp_path, server, image(FAKE_KIRO))
    assert done.returncode == 0, done.stderr + done.stdout
    assert "Overall: 100% PASS" in done.stdout
    assert len(server.requests) == 2
    for received in server.requests:
        text = received.json()["messages"][-1]["content"]
        assert "The work is done, see the files." in text
        assert "**made.txt**\n```\nnew\n" in text
        assert "**data.txt**\n```\nchanged\n" in text
        assert "- gone.txt\n" in text
    assert containers() == []


def test_a_recorded_sandboxed_run_is_replayed_without_an_engine(tmp_path, image, monkeypatch):
    skill(tmp_path)
    with Loopback() as server:
        server.on(CHAT, judge)
        recorded = run(tmp_path, server, image(FAKE_KIRO), "--record", "tape")
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent.sock")
    with Loopback() as server:
        replayed = run(tmp_path, server, "no-such-image", "--replay", "tape")
        assert server.requests == []
    assert (replayed.stdout, replayed.returncode) == (recorded.stdout, 0)


def test_a_timeout_is_an_error_of_its_scenario_and_leaves_no_container(tmp_path, image):
    skill(tmp_path)
    with Loopback() as server:
        server.on(CHAT, judge)
        done = run(tmp_path, server, image(NEVER), timeout=1)
        assert server.requests == []
    assert done.returncode == 1
    assert done.stdout.count("(error: agent completion: ") == 2
    assert containers() == []
