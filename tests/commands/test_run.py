"""`skilleval run` on scenario folders as its users call it: real processes, a real loopback server."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import build
import pytest
from loopback import Loopback, Reply, reply_json

CHAT = "/v1/chat/completions"
MARK = "You check the work of an AI agent"


def scenario(root, name, criteria=(("subject", 60), ("body", 40)), skill="demo", **options):
    folder = Path(root) / "skills" / skill
    build.write(
        folder / "SKILL.md", f"---\nname: {skill}\ndescription: D. Use when.\n---\nGuide.\n"
    )
    build.write(folder / "CHANGELOG.md", "## [1.2.0] - 2031-01-01\n")
    checklist = [{"name": n, "description": f"Has {n}", "max_score": w} for n, w in criteria]
    document = {"context": "c", "type": "weighted_checklist", "checklist": checklist}
    build.write(folder / "evals" / name / "criteria.json", json.dumps(document))
    build.write(folder / "evals" / name / "task.md", f"Do {name}.")
    settings = {"sandbox": False, "description": f"About {name}", **options}
    build.write(folder / "evals" / name / "scenario.json", json.dumps(settings))
    return folder


def is_judge(received):
    return MARK in received.body.decode()


def said(text):
    return reply_json({"choices": [{"message": {"content": text}}]})


def model(fails=(), delay_s=0.0):
    """Answers as an agent, and as a judge who passes all criteria but `fails`."""

    def reply(received):
        if not is_judge(received):
            return said("A long enough answer of the agent.")._replace(delay_s=delay_s)
        prompt = received.json()["messages"][-1]["content"]
        names = [name for name in ("subject", "body") if name in prompt]
        verdicts = [
            {"number": i, "name": n, "pass": n not in fails, "reason": f"because of {n}"}
            for i, n in enumerate(names, 1)
        ]
        return said(json.dumps(verdicts))

    return reply


@pytest.fixture
def server():
    with Loopback() as running:
        running.on(CHAT, model())
        yield running


def environment(server, **more):
    return {
        "OPENKATA_EVAL_BACKEND": "http",
        "OPENKATA_EVAL_HTTP_BASE_URL": f"{server.url}/v1",
        "OPENKATA_EVAL_HTTP_API_KEY": "sk-test-secret-key",
        "no_proxy": "127.0.0.1",
        **more,
    }


def run(root, server, *arguments, **more):
    return build.script("eval-local.py", *arguments, cwd=root, env=environment(server, **more))


def reports(root):
    return sorted((Path(root) / "skills" / "demo" / "evals" / "results").rglob("*.json"))


def test_a_whole_skill_is_run_judged_scored_and_reported(tmp_path, server):
    scenario(tmp_path, "scenario-b")
    scenario(tmp_path, "scenario-a")
    done = run(tmp_path, server, "skills/demo", "--model", "m1", "--model-label", "Model One")
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "skills/demo\n"
        "  scenario-a: About scenario-a\n"
        "    ✓ subject (60/60)\n"
        "    ✓ body (40/40)\n"
        "    Score: 100/100 (100%) PASS\n"
        "  scenario-b: About scenario-b\n"
        "    ✓ subject (60/60)\n"
        "    ✓ body (40/40)\n"
        "    Score: 100/100 (100%) PASS\n"
        "\n"
        "  Overall: 100% PASS (threshold: 95%)\n"
    )
    [path] = reports(tmp_path)
    assert path.parent.name == "m1"
    report = json.loads(path.read_text())
    assert report["skill_version"] == "1.2.0"
    assert report["config"] == {
        "backend": "http",
        "agent_model": "m1",
        "judge_model": "m1",
        "model_label": "Model One",
    }
    assert f"report: {path.relative_to(tmp_path)}" in done.stderr


def test_below_the_threshold_exits_1(tmp_path, server):
    scenario(tmp_path, "scenario-a")
    server.on(CHAT, model(fails=("body",)))
    done = run(tmp_path, server, "skills/demo")
    assert done.returncode == 1
    assert "✗ body (0/40) — because of body" in done.stdout
    assert run(tmp_path, server, "skills/demo", "--threshold", "60").returncode == 0


@pytest.mark.parametrize("slash", ["", "/"])
def test_one_scenario_always_exits_0_and_writes_nothing(tmp_path, server, slash):
    scenario(tmp_path, "scenario-a")
    server.on(CHAT, model(fails=("body",)))
    before = sorted(tmp_path.rglob("*"))
    done = run(tmp_path, server, f"skills/demo/evals/scenario-a{slash}")
    assert (done.returncode, "60%" in done.stdout) == (0, True)
    assert sorted(tmp_path.rglob("*")) == before


def test_one_scenario_writes_where_output_says(tmp_path, server):
    scenario(tmp_path, "scenario-a")
    run(tmp_path, server, "skills/demo/evals/scenario-a", "--output", "out/r")
    [path] = (tmp_path / "out").iterdir()
    assert path.name.startswith("r-")
    assert json.loads(path.read_text())["scenarios"][0]["name"] == "scenario-a"


def test_the_requests_are_the_documented_ones(tmp_path, server):
    scenario(tmp_path, "scenario-a")
    run(tmp_path, server, "skills/demo", "--model", "m1", "--judge-model", "j1")
    agent, judge = server.requests
    assert list(agent.json()) == ["model", "messages"]
    assert [m["role"] for m in agent.json()["messages"]] == ["user"]
    assert agent.json()["messages"][0]["content"].endswith("Do scenario-a.")
    assert (agent.json()["model"], judge.json()["model"]) == ("m1", "j1")
    assert agent.headers["authorization"] == "Bearer sk-test-secret-key"


def test_a_scenario_that_cannot_be_completed_counts_0_and_the_others_go_on(tmp_path, server):
    folder = scenario(tmp_path, "scenario-a")
    scenario(tmp_path, "scenario-b")
    (folder / "evals" / "scenario-a" / "criteria.json").write_text("{")
    done = run(tmp_path, server, "skills/demo")
    assert done.returncode == 1
    assert "scenario-a: About scenario-a (error: parsing criteria.json" in done.stdout
    assert "Overall: 50% FAIL" in done.stdout


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(401, b"no sk-test-secret-key"), "HTTP 401"),
        (Reply(200, b"<html>"), "parsing response"),
        (said(""), "judge parse failed after retry"),
        (said("I think it passes."), "judge parse failed after retry"),
    ],
    ids=["401", "html", "empty", "prose"],
)
def test_a_judge_that_does_not_answer_is_an_error_and_its_key_is_not_shown(
    tmp_path, server, reply, error
):
    scenario(tmp_path, "scenario-a")
    good = model()
    server.on(CHAT, lambda received: reply if is_judge(received) else good(received))
    done = run(tmp_path, server, "skills/demo", "--concurrency", "1")
    assert done.returncode == 1
    assert "(error: judge: " in done.stdout
    assert error in done.stdout
    assert "sk-test-secret-key" not in done.stdout + done.stderr
    for path in tmp_path.rglob("*.json"):
        assert "sk-test-secret-key" not in path.read_text()


def test_results_are_kept_beside_the_report(tmp_path, server):
    scenario(tmp_path, "scenario-a")
    run(tmp_path, server, "skills/demo", "--model", "m1")
    folder = tmp_path / "eval-workspace" / "demo-workspace" / "iteration-1"
    assert json.loads((folder / "summary.json").read_text())["score"] == 1.0
    assert json.loads((folder / "run.json").read_text())["settings"]["model"] == {
        "value": "m1",
        "source": "--model",
    }
    trial = json.loads(next(folder.rglob("trial.json")).read_text())
    [call] = trial["result"]["calls"]
    assert call["model"] == "m1"
    assert call["request_bytes"] > 500


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
def test_after_kill_9_resume_repeats_no_finished_scenario(tmp_path, server):
    for name in ("a", "b", "c"):
        scenario(tmp_path, f"scenario-{name}")
    good = model()

    def hanging(received):
        slow = not is_judge(received) and "Do scenario-c" in received.body.decode()
        return good(received)._replace(delay_s=30) if slow else good(received)

    server.on(CHAT, hanging)
    command = [
        sys.executable,
        str(build.SCRIPTS / "eval-local.py"),
        "skills/demo",
        "--concurrency",
        "2",
    ]
    started = subprocess.Popen(command, cwd=tmp_path, env={**os.environ, **environment(server)})
    until = time.monotonic() + 30
    while len(list(tmp_path.rglob("trial.json"))) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    started.send_signal(signal.SIGKILL)
    started.wait()
    assert len(list(tmp_path.rglob("trial.json"))) == 2
    assert reports(tmp_path) == []
    server.on(CHAT, good)
    before = len(server.requests)
    resumed = run(tmp_path, server, "skills/demo", "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert len(server.requests) - before == 2
    fresh = run(tmp_path, server, "skills/demo")
    assert fresh.stdout == resumed.stdout


def test_an_interrupt_keeps_what_is_finished_and_says_how_to_go_on(tmp_path, server):
    scenario(tmp_path, "scenario-a")
    scenario(tmp_path, "scenario-b")
    good = model()

    def hanging(received):
        slow = "Do scenario-b" in received.body.decode() and not is_judge(received)
        return good(received)._replace(delay_s=30) if slow else good(received)

    server.on(CHAT, hanging)
    command = [sys.executable, str(build.SCRIPTS / "eval-local.py"), "skills/demo"]
    command += ["--model-label", "it's mine"]
    environ = {**os.environ, **environment(server)}
    started = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 30
    while not list(tmp_path.rglob("trial.json")) and time.monotonic() < until:
        time.sleep(0.05)
    started.send_signal(signal.SIGINT)
    output, errors = started.communicate(timeout=25)
    assert (started.returncode, output) == (130, "")
    assert "Traceback" not in errors
    again = errors.partition("; to go on with it:\n")[2].splitlines()[0]
    assert shlex.split(again) == [*command, "--resume", "--iteration", "1"]
    server.on(CHAT, good)
    before = len(server.requests)
    resumed = subprocess.run(
        again, shell=True, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60
    )
    assert resumed.returncode == 0, resumed.stderr
    assert len(server.requests) - before == 2  # the agent and the judge of scenario-b


def test_an_impatient_ctrl_c_does_not_cut_short_what_ends_the_agents(tmp_path):
    scenario(tmp_path, "scenario-a")
    scenario(tmp_path, "scenario-b")
    place = tmp_path / "bin"
    # it ignores SIGTERM, so that ending it takes until SIGKILL
    build.write(place / "kiro-cli", "#!/bin/sh\ntrap '' TERM\necho x >> $MARK\nsleep 60\n")
    (place / "kiro-cli").chmod(0o755)
    mark = tmp_path / "started"
    started = subprocess.Popen(
        [sys.executable, str(build.SCRIPTS / "eval-local.py"), "skills/demo"],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{place}:{os.environ['PATH']}", "MARK": str(mark)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 30
    while (not mark.exists() or len(mark.read_text()) < 4) and time.monotonic() < until:
        time.sleep(0.05)
    for _ in range(3):
        started.send_signal(signal.SIGINT)
        time.sleep(0.3)
    errors = started.communicate(timeout=25)[1]
    assert started.returncode == 130
    assert "still ending what runs" in errors
    assert "Traceback" not in errors
    assert subprocess.run(["pgrep", "-f", str(place)], capture_output=True).stdout == b""


def unfinished(root, server, *arguments):
    """A run of two scenarios that ended before the second one; returns its folder."""
    for name in ("a", "b", "c"):
        scenario(root, f"scenario-{name}")
    cases = ("--case", "scenario-a", "scenario-b")
    assert run(root, server, "skills/demo", *cases, *arguments).returncode == 0
    folder = root / "eval-workspace" / "demo-workspace" / "iteration-1"
    (folder / "summary.json").unlink()
    shutil.rmtree(folder / "eval-scenario-b")
    return folder


def test_a_resumed_run_is_of_the_cases_and_settings_that_it_was_started_with(tmp_path, server):
    folder = unfinished(tmp_path, server, "--model", "m1", "--threshold", "60")
    server.on(CHAT, model(fails=("body",)))
    asked = len(server.requests)
    done = run(tmp_path, server, "skills/demo", "--resume", OPENKATA_EVAL_MODEL="m2")
    assert (done.returncode, len(server.requests) - asked) == (0, 2), done.stderr
    assert "Overall: 80% PASS (threshold: 60%)" in done.stdout
    assert "scenario-c" not in done.stdout
    settings = json.loads((folder / "run.json").read_text())["settings"]
    assert settings["model"] == {"value": "m1", "source": "--model"}


@pytest.mark.parametrize(
    ("arguments", "difference"),
    [
        (["skills/demo", "--model", "m2"], "is of models http=claude-sonnet-4.6; this would"),
        (["skills/demo", "--case", "scenario-a"], "is of cases scenario-b; this would be of cases"),
        (["skills/demo/evals/scenario-a"], "is of cases scenario-b; this would be of cases fewer"),
        (["skills/demo", "--backend", "kiro"], "is of agents http; "),
    ],
)
def test_a_resumed_run_is_of_nothing_else(tmp_path, server, arguments, difference):
    folder = unfinished(tmp_path, server)
    before, asked = (folder / "run.json").read_bytes(), len(server.requests)
    done = run(tmp_path, server, *arguments, "--resume")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"the run in {folder.relative_to(tmp_path)} {difference}" in done.stderr
    assert ((folder / "run.json").read_bytes(), len(server.requests)) == (before, asked)


def test_no_scenario_is_started_after_a_result_that_could_not_be_kept(tmp_path, server):
    scenario(tmp_path, "scenario-a")
    scenario(tmp_path, "scenario-b")
    folder = tmp_path / "eval-workspace" / "demo-workspace" / "iteration-1"
    build.write(folder / "eval-scenario-a", "a file where the folder should be")
    done = run(tmp_path, server, "skills/demo", "--resume", "--concurrency", "1")
    assert (done.returncode, len(server.requests), reports(tmp_path)) == (3, 2, [])
    assert "iteration-1 cannot be written: Not a directory" in done.stderr
    (folder / "eval-scenario-a").unlink()
    assert run(tmp_path, server, "skills/demo", "--resume").returncode == 0
    assert len(reports(tmp_path)) == 1


def test_resume_without_a_run_is_a_usage_error(tmp_path, server):
    scenario(tmp_path, "scenario-a")
    done = run(tmp_path, server, "skills/demo", "--resume")
    assert done.returncode == 2
    assert "no run to resume; leave out --resume to start one" in done.stderr


def test_a_recorded_run_is_replayed_without_a_network(tmp_path, server):
    scenario(tmp_path, "scenario-a")
    server.on(CHAT, model(fails=("body",)))
    recorded = run(tmp_path, server, "skills/demo", "--record", "tape")
    asked = len(server.requests)
    replayed = run(tmp_path, server, "skills/demo", "--replay", "tape", "--workspace", "again")
    assert (replayed.stdout, replayed.returncode) == (recorded.stdout, 1)
    assert len(server.requests) == asked
    assert "sk-test-secret-key" not in "".join(
        path.read_text() for path in (tmp_path / "tape").rglob("*.json")
    )


def test_a_replay_of_what_has_changed_since_says_so(tmp_path, server):
    folder = scenario(tmp_path, "scenario-a")
    run(tmp_path, server, "skills/demo", "--record", "tape")
    same = run(tmp_path, server, "skills/demo", "--replay", "tape")
    assert "has changed since it was recorded" not in same.stderr
    build.write(folder / "evals" / "scenario-a" / "task.md", "Do something else.")
    changed = run(tmp_path, server, "skills/demo", "--replay", "tape")
    assert "scenario-a/" in changed.stderr
    assert "has changed since it was recorded" in changed.stderr


def test_a_replay_writes_no_report_among_the_results(tmp_path, server):
    scenario(tmp_path, "scenario-a")
    run(tmp_path, server, "skills/demo", "--record", "tape")
    before = reports(tmp_path)
    run(tmp_path, server, "skills/demo", "--replay", "tape", "--model", "other")
    assert reports(tmp_path) == before


def test_a_missing_exchange_is_an_error_that_names_the_case(tmp_path, server):
    scenario(tmp_path, "scenario-a")
    run(tmp_path, server, "skills/demo", "--record", "tape")
    scenario(tmp_path, "scenario-b")
    done = run(tmp_path, server, "skills/demo", "--replay", "tape")
    assert done.returncode == 1
    assert "scenario-b: About scenario-b (error: " in done.stdout
    assert "replay: case 'scenario-b' has no usable exchange" in done.stdout


def test_a_replay_of_nothing_is_refused_before_it_writes_a_report(tmp_path, server):
    scenario(tmp_path, "scenario-a")
    done = run(tmp_path, server, "skills/demo", "--replay", "tpae")
    assert (done.returncode, reports(tmp_path)) == (2, [])
    assert "--replay tpae: no such folder" in done.stderr


@pytest.mark.parametrize("option", ["--workspace", "--record"])
def test_a_folder_that_cannot_be_made_stops_the_run_before_it_costs(tmp_path, server, option):
    scenario(tmp_path, "scenario-a")
    build.write(tmp_path / "file", "x")
    done = run(tmp_path, server, "skills/demo", option, "file/below")
    assert (done.returncode, server.requests) == (3, [])
    assert done.stderr == "error: file/below: cannot be written: Not a directory\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "name what to run"),
        (["skills/missing"], 1, "SKILL.md not found"),
        (["skills/demo/evals/scenario-missing"], 1, "scenario scenario-missing not found"),
        (["skills/demo", "--backend", "kirro"], 2, "unknown backend 'kirro'"),
        (["skills/demo", "--threshold", "x"], 2, "--threshold"),
        (["skills/demo", "--case", "nope"], 2, "unknown case nope; there are: scenario-a"),
        (["skills/demo", "--record", "a", "--replay", "b"], 2, "exclude each other"),
        (["skills/demo", "--backend", "kiro"], 1, "kiro-cli not found on PATH"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_cannot_start_says_why_with_the_seeds_exit_code(
    tmp_path, server, arguments, code, message
):
    scenario(tmp_path, "scenario-a")
    bare = tmp_path / "bin"
    bare.mkdir()
    done = run(tmp_path, server, *arguments, PATH=str(bare))
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert server.requests == []


def test_http_without_a_base_url_fails_before_anything_is_started(tmp_path, server):
    scenario(tmp_path, "scenario-a")
    done = run(tmp_path, server, "skills/demo", OPENKATA_EVAL_HTTP_BASE_URL="")
    assert done.returncode == 1
    assert "OPENKATA_EVAL_HTTP_BASE_URL" in done.stderr


def test_a_broken_settings_file_is_an_error_with_its_line(tmp_path, server):
    scenario(tmp_path, "scenario-a")
    build.write(tmp_path / ".openkata-eval.yaml", "model: m\nthreshold: high\n")
    done = run(tmp_path, server, "skills/demo")
    assert done.returncode == 2
    assert ".openkata-eval.yaml:2:" in done.stderr


def test_print_config_names_each_source_and_hides_the_key(tmp_path, server):
    scenario(tmp_path, "scenario-a")
    build.write(tmp_path / ".openkata-eval.yaml", "model: m-file\nconcurrency: 5\n")
    done = run(tmp_path, server, "skills/demo", "--threshold", "60", "--print-config", "--json")
    found = json.loads(done.stdout)
    assert found["model"] == {"value": "m-file", "source": ".openkata-eval.yaml:1"}
    assert found["threshold"] == {"value": 60, "source": "--threshold"}
    assert found["backend"]["source"] == "OPENKATA_EVAL_BACKEND"
    assert "sk-test-secret-key" not in done.stdout
    assert server.requests == []


def test_dry_run_lists_what_would_run_and_starts_nothing(tmp_path, server):
    scenario(tmp_path, "scenario-a")
    done = run(tmp_path, server, "skills/demo", "--dry-run")
    assert "scenario-a: http, " in done.stdout
    assert "1 agent run with claude-sonnet-4.6, 1 judge call with" in done.stdout
    assert server.requests == []


def test_dry_run_of_scenarios_is_a_document_for_machines(tmp_path, server):
    scenario(tmp_path, "scenario-a")
    done = run(tmp_path, server, "skills/demo", "--dry-run", "--json")
    plan = json.loads(done.stdout)
    assert [(case["id"], case["checks"], case["judged"]) for case in plan["cases"]] == [
        ("scenario-a", 2, 2)
    ]
    assert (plan["trials"], plan["judge"]["model"]) == (1, "claude-sonnet-4.6")
    assert server.requests == []


def test_only_the_named_cases_are_run(tmp_path, server):
    scenario(tmp_path, "scenario-a")
    scenario(tmp_path, "scenario-b")
    done = run(tmp_path, server, "skills/demo", "--case", "scenario-b")
    assert "scenario-a" not in done.stdout
    assert "scenario-b" in done.stdout


def test_json_prints_the_report_and_nothing_else(tmp_path, server):
    scenario(tmp_path, "scenario-a")
    done = run(tmp_path, server, "skills/demo", "--json")
    assert json.loads(done.stdout)["overall_percentage"] == 100


def test_a_report_that_cannot_be_written_loses_no_result(tmp_path, server):
    folder = scenario(tmp_path, "scenario-a")
    build.write(folder / "evals" / "results", "a file where the folder should be")
    done = run(tmp_path, server, "skills/demo")
    assert done.returncode == 0
    assert "error writing output: " in done.stderr
    assert list(tmp_path.rglob("trial.json"))


def test_a_report_that_could_not_be_written_is_made_by_resume(tmp_path, server):
    folder = scenario(tmp_path, "scenario-a")
    build.write(folder / "evals" / "results", "a file where the folder should be")
    assert "skills/demo --resume --iteration 1" in run(tmp_path, server, "skills/demo").stderr
    asked = len(server.requests)
    (folder / "evals" / "results").unlink()
    assert run(tmp_path, server, "skills/demo", "--resume").returncode == 0
    assert len(server.requests) == asked
    [written] = reports(tmp_path)
    assert json.loads(written.read_text())["overall_percentage"] == 100


def test_a_malformed_scenario_json_is_a_warning_that_names_the_default(tmp_path, server):
    folder = scenario(tmp_path, "scenario-a")
    (folder / "evals" / "scenario-a" / "scenario.json").write_text('{"sandbox": "false"}')
    done = run(tmp_path, server, "skills/demo", "--dry-run")
    assert "scenario-a: sandboxed kiro" in done.stdout
    assert "warning: " in done.stderr
    assert "sandbox" in done.stderr


def test_colour_is_used_when_forced_and_not_with_no_color(tmp_path, server):
    scenario(tmp_path, "scenario-a")
    assert "\x1b[32m✓" in run(tmp_path, server, "skills/demo", FORCE_COLOR="1").stdout
    assert "\x1b" not in run(tmp_path, server, "skills/demo", FORCE_COLOR="1", NO_COLOR="1").stdout
