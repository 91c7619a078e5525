"""OpenCode: its command line, and what its output means (seed 002; spec/agents 3 to 5)."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from skilleval.agents import opencode
from skilleval.model import Usage
from skilleval.trial.harness import Ask

SAMPLES = Path(__file__).parent.parent / "data" / "transcripts" / "opencode"
ASK = Ask("do it", "/w", "/h")

# of each sample: exit status, output, failure, what is in its error, events, input, cost
OK, INFRA = "", "infrastructure"
EXPECTED = {
    "badmodel.jsonl": (1, "", INFRA, "UnknownError", "", None, None),
    "basic.jsonl": (0, "All done.", OK, "", "text call:shell text", 200, 0.00028),
    "down.jsonl": (1, "", INFRA, "Cannot connect", "", None, None),
    "e401.jsonl": (1, "", INFRA, "401", "", None, None),
    "e429.jsonl": (1, "", INFRA, "429", "", None, None),
    "e529.jsonl": (1, "", INFRA, "529", "", None, None),
    "perm-ask-noauto.jsonl": (
        *(0, "I will write the file.", "permission", "shell"),
        *("text denied:shell", 100, 0.00014),
    ),
    "skill-agents.jsonl": (
        *(0, "Wrote greeting.txt", INFRA, "ripgrep"),
        *("failed:skill call:write text", 300, 0.00042),
    ),
    "skill-missing.jsonl": (0, "fin", OK, "", "failed:skill text", 200, 0.00028),
    "skill-opencode.jsonl": (
        *(0, "Wrote greeting.txt", OK, ""),
        *("call:skill skill:demo-skill call:write text", 300, 0.00042),
    ),
    "toolfail.jsonl": (0, "fin", OK, "", "failed:shell text", 200, 0.00028),
}


def kinds(told):
    return [
        ":".join(filter(None, ["failed" if e.failed and e.kind == "call" else e.kind, e.name]))
        for e in told.events
    ]


def read(*records, exit_code=0, stderr=""):
    return opencode.read("\n".join(map(json.dumps, records)), stderr, exit_code)


def text(said, key=None):
    return {"type": "text", "sessionID": "s", "part": {"id": key, "text": said}}


def step(given, written, cost=0.01, key=None, **cache):
    tokens = {"input": given, "output": written, "cache": cache}
    return {"type": "step_finish", "part": {"id": key, "cost": cost, "tokens": tokens}}


def tool(name, *, status="completed", exit_code=None, **state):
    state |= {"status": status, "metadata": {"exit": exit_code}}
    return {"type": "tool_use", "part": {"tool": name, "state": state}}


def test_every_sample_is_expected():
    assert {path.name for path in SAMPLES.iterdir()} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_sample_says(name):
    exit_code, output, failure, error, events, tokens, cost = EXPECTED[name]
    told = opencode.read((SAMPLES / name).read_text("utf-8"), "", exit_code)
    assert (told.output, told.failure, told.notes) == (output, failure, ())
    assert error in told.error
    assert bool(error) == bool(told.error)
    assert kinds(told) == events.split()
    assert told.usage.input == tokens
    assert told.usage.cost_usd == pytest.approx(cost)
    assert told.session.startswith("ses_")


def test_call_holds_its_input_and_its_result():
    told = opencode.read((SAMPLES / "skill-opencode.jsonl").read_text("utf-8"), "", 0)
    assert told.events[0].input["skill"] == "demo-skill"
    assert told.events[0].output.startswith("<skill_content")
    assert told.events[2].input["path"] == "greeting.txt"


def test_skills_are_known_from_the_error_that_lists_them():
    told = opencode.read((SAMPLES / "skill-missing.jsonl").read_text("utf-8"), "", 0)
    assert told.skills == ("customize-opencode", "demo-skill")
    assert opencode.read((SAMPLES / "basic.jsonl").read_text("utf-8"), "", 0).skills is None


def test_answer_and_tokens_are_the_seeds():
    told = read(
        {"type": "step_start", "part": {}},
        text("one"),
        step(5, 2, 0.01, read=50, write=3),
        text("two"),
        step(6, 3, 0.02, read=60),
    )
    assert told.output == "one\ntwo"
    assert told.usage == Usage(11, 5, 110, pytest.approx(0.03), "cli")
    assert told.details == {"cache_creation": 3, "uncached": 11}


def test_nothing_at_all_is_a_failure_with_nothing_known():
    told = opencode.read("", "", 0)
    assert (told.output, told.usage, told.failure) == ("", Usage(), "agent")


def test_part_that_is_told_again_is_counted_once():
    told = read(text("Hel", "t1"), text("Hello", "t1"), step(5, 2, key="s1"), step(5, 2, key="s1"))
    assert (told.output, told.usage.input) == ("Hello", 5)


@pytest.mark.parametrize("key", [None, 1, ["p"], {"p": 1}])
def test_part_whose_id_is_no_text_is_itself(key):
    assert read(text("one", key), text("two", key)).output == "one\ntwo"


def test_cost_of_a_model_without_a_price_is_unknown():
    assert read(text("x"), step(5, 2, 0)).usage == Usage(5, 2)


@pytest.mark.parametrize(
    "part", [None, {"cost": None, "tokens": None}, {"tokens": {"cache": None}}]
)
def test_null_usage_is_unknown(part):
    assert read(text("x"), {"type": "step_finish", "part": part}).usage == Usage()


def test_command_with_an_exit_status_failed():
    (call,) = read(tool("bash", exit_code=3, input={"command": "make"}), step(1, 1)).events
    assert (call.name, call.failed) == ("shell", True)


def test_skill_that_was_read_counts():
    given = {"filePath": "/w/.opencode/skills/demo/SKILL.md"}
    assert kinds(read(tool("read", input=given), step(1, 1))) == ["call:read", "skill:demo"]


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        ({"name": "ProviderAuthError", "data": {"message": "no key"}}, "infrastructure"),
        ({"name": "ContextOverflowError", "data": {"message": "full"}}, "agent"),
        (
            {"name": "APIError", "data": {"message": "prompt is too long", "statusCode": 400}},
            "agent",
        ),
        (None, "infrastructure"),
    ],
)
def test_error_event_is_a_failure(error, failure):
    assert read(text("x"), step(1, 1), {"type": "error", "error": error}).failure == failure


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("bad thing", "bad thing"),
        ({"message": "bad thing"}, "bad thing"),
        ({"name": "UnknownError", "data": {}}, "UnknownError"),
        (None, "an error without a name"),
    ],
)
def test_error_event_says_what_it_says(error, said):
    assert read({"type": "error", "error": error}, exit_code=1).error == said


def test_exit_status_after_good_steps_is_a_failure():
    told = read(text("x"), step(1, 1), exit_code=1, stderr="crash")
    assert (told.failure, told.error) == ("agent", "exit status 1: crash")


def test_unknown_flag_is_no_failure_of_the_agent():
    told = opencode.read("", "Unknown argument: dir", 1)
    assert (told.failure, told.error) == ("infrastructure", "exit status 1: Unknown argument: dir")


def test_killed_program_is_judged_by_who_killed_it():
    assert read(text("x"), exit_code=None).failure == ""


LOG = (
    'timestamp=2026-11-30T02:31:30.587Z level=ERROR run=1 message="stream error" small=false'
    ' error.error="AI_APICallError: Cannot connect to API: Unable to connect."\n'
)


def test_killed_program_that_waited_for_the_server_says_so():
    told = opencode.read("", LOG, None)
    assert (told.failure, "Cannot connect" in told.error) == ("infrastructure", True)


@pytest.mark.parametrize(("seconds", "failure"), [(-5, "infrastructure"), (5, "")])
def test_server_that_answered_again_is_no_failure(seconds, failure):
    logged = datetime(2026, 11, 30, 2, 31, 30, tzinfo=UTC).timestamp()
    told = read(text("x") | {"timestamp": (logged + seconds) * 1000}, exit_code=None, stderr=LOG)
    assert told.failure == failure


def test_command_line_without_any_help_is_the_seeds():
    assert opencode.argv(ASK._replace(model="p/m")) == [
        *("opencode", "run", "--dir", "/w", "--format", "json"),
        *("--dangerously-skip-permissions", "--model", "p/m"),
    ]


def test_effort_is_a_variant_of_the_model():
    assert opencode.argv(ASK._replace(effort="high"))[-2:] == ["--variant", "high"]


def test_command_line_follows_the_version():
    found = opencode.argv(ASK._replace(help="--auto  --title  --dir  --print-logs"))
    assert found[6:9] == ["--auto", "--title", "skilleval"]
    assert found[9:] == ["--print-logs", "--log-level", "ERROR"]


@pytest.mark.parametrize("prompt", ["do it", "--help me", "007", "x" * 200_000])
def test_prompt_is_verbatim_on_standard_input(prompt):
    assert opencode.stdin(ASK._replace(prompt=prompt)) == prompt.encode()
    assert prompt not in opencode.argv(ASK._replace(prompt=prompt))


def configuration(**asked):
    return json.loads(opencode.environ(ASK._replace(**asked))["OPENCODE_CONFIG_CONTENT"])


def test_endpoint_serves_a_model_without_a_provider():
    given = {"base_url": "http://h:1", "model": "m"}
    assert opencode.argv(ASK._replace(**given))[-1] == "skilleval/m"
    provider = configuration(**given)["provider"]["skilleval"]
    assert provider["options"] == {"baseURL": "http://h:1/v1", "apiKey": "{env:OPENAI_API_KEY}"}
    assert (provider["npm"], list(provider["models"])) == ("@ai-sdk/openai-compatible", ["m"])


def test_endpoint_takes_the_place_of_a_native_provider():
    found = configuration(base_url="http://h:1/v1", model="openai/gpt-x")
    assert found["provider"] == {
        "openai": {"options": {"baseURL": "http://h:1/v1"}, "models": {"gpt-x": {}}}
    }
    assert found["small_model"] == "openai/gpt-x"


def test_endpoint_without_a_model_is_that_of_openai():
    found = opencode.environ(ASK._replace(base_url="http://h:1"))
    assert found["OPENAI_BASE_URL"] == "http://h:1/v1"
    assert configuration(base_url="http://h:1")["provider"] == {
        "openai": {"options": {"baseURL": "http://h:1/v1"}}
    }


def test_nothing_is_configured_without_an_endpoint():
    assert configuration(model="p/m") == {"autoupdate": False, "share": "disabled"}


def test_stream_that_lost_a_part_is_neither_whole_in_output_nor_in_events():
    good = json.dumps(text("done"))
    told = opencode.read(f"[... 900 bytes cut ...]\n{good}", "", 0)
    assert (told.output, told.output_whole, told.events_whole) == ("done", False, False)
    told = opencode.read(good, "", 0)
    assert (told.output_whole, told.events_whole) == (True, True)
