"""The three agent programs as npm has them, at work on a model server that follows a script.

A trial is run as the pipeline does it, by the agent's module; what is real is the program, its
tools, its requests and its processes. Each takes a second, OpenCode six.
"""

import uuid
from pathlib import Path
from typing import Any, NamedTuple

import agent_programs as programs
import pytest
from model_server import Asked, ModelServer

from skilleval import agents
from skilleval.model import Arm, Case, Outcome
from skilleval.tools import Tools

ENOUGH_S = 90
# until a tool is at work for sure: OpenCode asks its first question after four seconds, or ten on a
# busy machine
AT_WORK_S = {"claude-code": 6, "codex": 6, "opencode": 20}
# what follows a deadline: grace, sweep, and our own work
ENDING_S = 8


class Ran(NamedTuple):
    outcome: Outcome
    requests: list[Asked]


def trial(agent: str, folder: Path, script: Any, *, with_skill: bool = True, **options: Any) -> Ran:
    """What comes of the prompt, where the model follows the script; None: there is no server."""
    case = Case("greet", programs.PROMPT, annotations={"fixtures": str(folder)})
    tools = Tools(environ={**programs.environment(folder / "home"), **options.pop("environ", {})})
    with ModelServer(script or {}) as server:
        given = {
            "skill": str(programs.make_skill(folder)),
            "skill_name": programs.NAME,
            "timeout_s": ENOUGH_S,
            "retries": 0,
            "base_url": server.url,
            "home": "isolated",
        }
        model = str(options.pop("model", "fake-model"))
        arm = Arm(f"{agent}-arm", agent, model, with_skill, {**given, **options})
        if script is not None:
            return Ran(agents.get(agent).run(case, arm, tools), server.requests)
    return Ran(agents.get(agent).run(case, arm, tools), server.requests)


@pytest.fixture(scope="module", params=programs.PROGRAMS)
def agent(request):
    programs.require(request.param)
    return request.param


@pytest.fixture(scope="module")
def skilled(agent, tmp_path_factory):
    return trial(agent, tmp_path_factory.mktemp("skilled"), programs.SCRIPT)


@pytest.fixture(scope="module")
def baseline(agent, tmp_path_factory):
    folder = tmp_path_factory.mktemp("baseline")
    return trial(agent, folder, programs.SCRIPT, with_skill=False)


def written(outcome: Outcome) -> dict[str, str]:
    assert outcome.delta is not None
    assert (outcome.delta.modified, outcome.delta.deleted) == ((), ())
    return {file.path: file.content for file in outcome.delta.added}


def test_answer_is_the_last_text(skilled):
    outcome = skilled.outcome
    assert (outcome.status, outcome.failure, outcome.error) == ("ok", "", "")
    assert (outcome.output, outcome.exit_code) == ("Greeted with the skill.", 0)


def test_delta_has_what_the_agent_wrote_and_nothing_else(skilled):
    assert written(skilled.outcome) == {"greeting.txt": "zebra\n", "said.txt": "zebra\n"}


def test_tool_calls_are_events_with_their_results(skilled):
    calls = [event for event in skilled.outcome.events if event.kind == "call"]
    (shell,) = [call for call in calls if "tee said.txt" in str(call.input)]
    assert "zebra" in shell.output
    assert not any(call.failed for call in calls)


def test_tokens_are_those_of_all_answers(agent, skilled):
    usage = skilled.outcome.usage
    # each program counts the input in its own way: without the cache, with it, without what was read
    input_tokens = {"claude-code": 100, "codex": 137, "opencode": 107}[agent]
    assert (usage.input, usage.output, usage.cached) == (3 * input_tokens, 60, 90)


def test_skill_is_listed_to_the_model_and_used(skilled):
    assert programs.DESCRIPTION in skilled.requests[-1].text
    assert programs.NAME in skilled.outcome.skills
    used = [event.name for event in skilled.outcome.events if event.kind == "skill"]
    assert used == [programs.NAME]


def test_baseline_is_really_without_the_skill(baseline):
    assert not any(programs.NAME in asked.text for asked in baseline.requests)
    assert programs.NAME not in baseline.outcome.skills
    assert [event for event in baseline.outcome.events if event.kind == "skill"] == []
    assert baseline.outcome.failure == ""
    assert written(baseline.outcome) == {"plain.txt": "hello\n"}


def test_model_that_answered_is_the_one_that_the_program_tells(agent, skilled):
    assert skilled.outcome.model == {"claude-code": "fake-model"}.get(agent, "")
    assert skilled.outcome.session != ""


@pytest.mark.parametrize("unset", ["OPENAI_API_KEY", "CODEX_API_KEY"])
def test_codex_takes_either_key_to_an_endpoint(unset, tmp_path):
    programs.require("codex")
    outcome, _ = trial("codex", tmp_path, programs.SCRIPT, environ={unset: ""})
    assert (outcome.status, outcome.output) == ("ok", "Greeted with the skill.")


def test_opencode_speaks_openais_own_protocol_with_openais_models(tmp_path):
    programs.require("opencode")
    outcome, requests = trial("opencode", tmp_path, programs.SCRIPT, model="openai/gpt-5")
    assert {asked.path for asked in requests} == {"/v1/responses"}
    assert (outcome.status, outcome.output) == ("ok", "Greeted with the skill.")
    assert written(outcome) == {"greeting.txt": "zebra\n", "said.txt": "zebra\n"}
    assert (outcome.usage.output, outcome.usage.cached) == (60, 90)


def test_effort_reaches_the_model(agent, tmp_path):
    model = {"opencode": "openai/gpt-5"}.get(agent, "fake-model")
    _, requests = trial(agent, tmp_path, programs.SCRIPT, model=model, effort="low")
    told = requests[-1].body.get("output_config") or requests[-1].body["reasoning"]
    assert told["effort"] == "low"


@pytest.mark.parametrize("status", [401, 429, 529])
def test_model_that_refuses_is_no_fault_of_the_agent(agent, status, tmp_path):
    script = {"errors": [{"status": status, "retry_after": 0.1}]}
    limit_s = AT_WORK_S[agent]  # Codex tries for 25 s
    outcome, requests = trial(agent, tmp_path, script, timeout_s=limit_s)
    assert requests != []
    assert (outcome.status, outcome.failure, outcome.output) == ("error", "infrastructure", "")
    assert str(status) in outcome.error
    assert outcome.seconds < limit_s + ENDING_S


def test_request_that_is_refused_in_mid_run_is_no_fault_of_the_agent(agent, tmp_path):
    refused = {"contains": ["seen 42"], "errors": [{"status": 400, "message": "Invalid value"}]}
    told = {"turns": [{"calls": [{"shell": "echo seen $((40+2)) | tee a"}]}], "rules": [refused]}
    outcome, _ = trial(agent, tmp_path, told)
    assert (outcome.status, outcome.failure, outcome.exit_code) == ("error", "infrastructure", 1)
    assert "Invalid value" in outcome.error


def test_server_that_is_down_is_no_fault_of_the_agent(agent, tmp_path):
    limit_s = AT_WORK_S[agent]  # Codex tries for ever
    outcome, requests = trial(agent, tmp_path, None, timeout_s=limit_s)
    assert requests == []
    assert (outcome.status, outcome.failure, outcome.output) == ("error", "infrastructure", "")
    assert outcome.seconds < limit_s + ENDING_S


def test_model_that_recovers_is_no_failure(agent, tmp_path):
    errors = [{"status": 529, "times": 1, "retry_after": 0.1}]
    outcome, _ = trial(agent, tmp_path, {**programs.SCRIPT, "rules": [], "errors": errors})
    assert (outcome.status, outcome.failure) == ("ok", "")
    assert written(outcome) == {"plain.txt": "hello\n"}


def shell(command: str) -> Any:
    return {"turns": [{"calls": [{"shell": command}]}, {"text": "Done."}]}


@pytest.fixture
def token(monkeypatch):
    """In the environment of all that this test starts, the way that a run in a run has it."""
    made = uuid.uuid4().hex
    monkeypatch.setenv("SKILLEVAL_RUN", made)
    return made


def test_deadline_ends_a_tool_that_ignores_it(agent, token, tmp_path):
    begun = tmp_path / "begun"
    # in a session of its own, deaf, and with the program's pipe in its hands
    deaf = f"setsid sleep 300 & trap '' TERM INT HUP; echo >{begun}; while :; do sleep 1; done"
    outcome, _ = trial(agent, tmp_path, shell(deaf), timeout_s=AT_WORK_S[agent])
    assert begun.exists()
    assert programs.processes(token) == []
    assert (outcome.status, outcome.failure, outcome.timed_out) == ("error", "timeout", True)
    assert outcome.seconds < AT_WORK_S[agent] + ENDING_S


def test_nothing_goes_on_in_the_background(agent, token, tmp_path):
    pid = tmp_path / "pid"
    left = f"setsid sleep 300 >/dev/null 2>&1 & echo $! >{pid}"
    outcome, _ = trial(agent, tmp_path, shell(left))
    assert (outcome.status, outcome.output) == ("ok", "Done.")
    assert programs.processes(token) == []
    assert not programs.is_alive(int(pid.read_text()))
