"""The recorded run of scenarios in evals/recordings: it replays to the report that is shown.

And its two answers of direct scenarios, given once more by a real endpoint, get the same verdicts.
"""

import json
import re
from pathlib import Path

import build
import pytest
from checkout import ROOT
from loopback import Loopback, Reply

from skilleval.http import Response
from skilleval.runfolder import serial

SKILL = Path("skills") / "review-diff"  # as a user types it: the report names it so
RECORDING = ROOT / "evals" / "recordings" / "review-diff"
REPORT = RECORDING.with_suffix(".txt")
SCENARIOS = sorted(path.name for path in RECORDING.iterdir())
CHAT = "/v1/chat/completions"
NOBODY = "http://127.0.0.1:9/v1"  # the port of `discard`: nothing answers there
JUDGE = "You check the work of an AI agent"
SANDBOXED = "scenario-price-import-patch"
DIRECT = [name for name in SCENARIOS if name != SANDBOXED]


def run(tmp_path, *arguments, base_url=NOBODY, path=""):
    """The command, where it finds no program of a container engine; and its JSON report."""
    environment = {"OPENKATA_EVAL_HTTP_BASE_URL": base_url, "no_proxy": "127.0.0.1", "PATH": path}
    options = ("--backend", "http", "--model", "example-model", *arguments)
    outputs = ("--workspace", tmp_path / "runs", "--output", f"{tmp_path}/")
    done = build.script("eval-local.py", SKILL, *options, *outputs, cwd=ROOT, env=environment)
    [report] = tmp_path.glob("results-*.json")
    return done, json.loads(report.read_text(encoding="utf-8"))


def exchanges(scenario):
    return sorted((RECORDING / scenario / "example-model" / "r1").iterdir())


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def body(path):
    """What the endpoint answered in a recorded exchange."""
    return serial.from_json(Response, load(path)["response"]).body


@pytest.fixture(scope="module")
def replayed(tmp_path_factory):
    return run(tmp_path_factory.mktemp("replayed"), "--replay", RECORDING)


@pytest.fixture
def endpoint():
    """A server that gives the recorded answers of agent and judge to whoever asks for them."""

    def reply(received):
        prompt = received.json()["messages"][-1]["content"]
        is_judge = JUDGE in received.body.decode()
        for scenario in DIRECT:
            folder = ROOT / SKILL / "evals" / scenario
            task = (folder / "task.md").read_text(encoding="utf-8").strip()
            name = load(folder / "criteria.json")["checklist"][0]["name"]
            if (f'"{name}"' if is_judge else task) in prompt:
                return Reply(200, body(exchanges(scenario)[1 if is_judge else 0]))
        return Reply(404, b"no recorded answer to this")

    with Loopback() as server:
        server.on(CHAT, reply)
        yield server


def test_replay_prints_the_stored_report(replayed):
    done, _ = replayed
    assert done.stdout == REPORT.read_text(encoding="utf-8")
    assert done.returncode == 0


def test_replay_writes_the_report_of_all_three_scenarios(replayed):
    _, report = replayed
    assert [row["name"] for row in report["scenarios"]] == SCENARIOS
    assert [row["percentage"] for row in report["scenarios"]] == [100, 88, 100]
    assert report["overall_percentage"] == 96
    assert report["pass"] is True


def test_replay_keeps_the_reason_of_the_one_criterion_that_failed(replayed):
    _, report = replayed
    failed = [c for row in report["scenarios"] for c in row["criteria"] if not c["pass"]]
    [criterion] = failed
    assert criterion["name"] == "unknown-report"
    assert criterion["reason"].startswith("The removed 404 branch is not mentioned")


def test_live_endpoint_with_the_recorded_answers_gives_the_same_verdicts(
    tmp_path, replayed, endpoint
):
    _, live = run(tmp_path, "--case", *DIRECT, base_url=f"{endpoint.url}/v1")
    assert live["scenarios"] == [r for r in replayed[1]["scenarios"] if r["name"] in DIRECT]
    assert len(endpoint.requests) == 4


def test_sandboxed_scenario_was_run_in_a_container_and_cleaned_up():
    argvs = [load(path)["request"].get("argv", []) for path in exchanges(SANDBOXED)]
    engine = [argv[1] for argv in argvs if argv]
    assert engine[:2] == ["create", "start"]
    assert engine[-1] == "rm"
    assert any("kiro-cli" in argv for argv in argvs)


def recorded_texts():
    for scenario in SCENARIOS:
        for path in exchanges(scenario):
            yield path.read_text(encoding="utf-8")
            if path.name.endswith("-post.json"):
                yield body(path).decode("utf-8")


def test_recording_names_no_machine_and_no_secret():
    texts = "\n".join(recorded_texts())
    # of absolute paths, only those inside of the container and of its user's temporary folder
    assert re.findall(r"/tmp/(?!openkata-eval-)\S+|/(?:home|Users)/(?!user/)\S+", texts) == []
    assert str(ROOT) not in texts
    assert re.findall(r"(?i)\bsk-\w{8,}|authorization\W+bearer", texts) == []


def test_recording_is_small():
    assert sum(path.stat().st_size for s in SCENARIOS for path in exchanges(s)) < 150_000
