"""Claude Code: its command line, and what its output means (seed 002; spec/agents 3 to 5)."""

import json
import os
from pathlib import Path

import pytest

from skilleval.agents import claude_code
from skilleval.model import Arm, Suite, Usage
from skilleval.tools import Tools
from skilleval.trial.harness import Ask

SAMPLES = Path(__file__).parent.parent / "data" / "transcripts" / "claude"
ASK = Ask("PROMPT", "/w", "/h")
FLAGS = ["-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"]

# of each sample: exit status, output, failure, what is in its error, events, input, output, cost
OK, INFRA = "", "infrastructure"
EXPECTED = {
    "acceptEdits.json": (0, "All done.", OK, "", "", 200, 40, 0.0016),
    "basic.json": (0, "All done: wrote out.txt and out2.txt.", OK, "", "", 300, 60, 0.0024),
    "budget.json": (1, "", "budget", "maximum budget", "", 100, 20, 0.0008),
    "down-r1.json": (1, "", INFRA, "ECONNREFUSED", "", 0, 0, 0),
    "e400.json": (1, "", INFRA, "400 scripted", "", 0, 0, 0),
    "e401-r0.json": (1, "", INFRA, "Invalid API key", "", 0, 0, 0),
    "e401-sj.jsonl": (None, "", INFRA, "(status 401)", "retry " * 8, None, None, None),
    "e404.json": (1, "", INFRA, "selected model", "", 0, 0, 0),
    "e429-r1.json": (1, "", INFRA, "429", "", 0, 0, 0),
    "e529-r1-sj.jsonl": (1, "", INFRA, "529", "retry warning", 0, 0, 0),
    "enokey.json": (1, "", INFRA, "Not logged in", "", 0, 0, 0),
    "maxturns.json": (1, "", "agent", "maximum number of turns", "", 100, 20, 0.0008),
    "noskip.json": (0, "All done.", "permission", "shell", "denied:shell", 200, 40, 0.0016),
    "parallel.jsonl": (0, "fin", OK, "", "text call:shell call:write text", 200, 40, 0.0016),
    "root-nosandbox.stderr": (1, "", INFRA, "root", "", None, None, None),
    "skill-missing.jsonl": (0, "fin", OK, "", "failed:skill text", 200, 40, 0.0016),
    "skill-slash.jsonl": (0, "All done.", OK, "", "text call:shell text", 200, 40, 0.0016),
    "skill.jsonl": (
        *(0, "Wrote greeting.txt", OK, ""),
        *("call:skill skill:demo-skill call:write text", 300, 60, 0.0024),
    ),
    "streamjson-noverbose.stderr": (1, "", INFRA, "requires --verbose", "", None, None, None),
    "streamjson.jsonl": (0, "All done.", OK, "", "text call:shell text", 200, 40, 0.0004),
    "toolfail.jsonl": (0, "fin", OK, "", "failed:shell text", 200, 40, 0.0016),
}


def kinds(told):
    """The events in short: `call:shell`, `failed:shell`, `text` …"""
    return [
        ":".join(filter(None, ["failed" if event.failed else event.kind, event.name]))
        for event in told.events
    ]


def read(*records, exit_code=0, stderr=""):
    return claude_code.read("\n".join(map(json.dumps, records)), stderr, exit_code)


def said(*blocks, number=1, parent=None, **usage):
    message = {"id": f"msg_{number}", "content": list(blocks), "usage": usage}
    return {"type": "assistant", "message": message, "parent_tool_use_id": parent}


def answered(key, content, **more):
    block = {"type": "tool_result", "tool_use_id": key, "content": content, **more}
    return {"type": "user", "message": {"content": [block]}}


def use(key, name, **given):
    return {"type": "tool_use", "id": key, "name": name, "input": given}


TEXT = {"type": "text", "text": "hello"}
RESULT = {"type": "result", "subtype": "success", "is_error": False, "result": "done"}


def test_every_sample_is_expected():
    assert {path.name for path in SAMPLES.iterdir()} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_sample_says(name):
    exit_code, output, failure, error, events, tokens_in, tokens_out, cost = EXPECTED[name]
    text = (SAMPLES / name).read_text("utf-8")
    streams = ("", text) if name.endswith(".stderr") else (text, "")
    told = claude_code.read(*streams, exit_code)
    assert (told.output, told.failure, told.notes) == (output, failure, ())
    assert error in told.error
    assert bool(error) == bool(told.error)
    assert kinds(told) == events.split()
    assert told.usage[:2] == (tokens_in, tokens_out)
    assert told.usage.cost_usd == pytest.approx(cost)
    assert told.usage.cost_source == ("" if cost is None else "cli")


def test_listed_skills_are_those_of_the_start():
    listed = claude_code.read((SAMPLES / "skill.jsonl").read_text("utf-8"), "", 0).skills
    assert listed[:2] == ("demo-skill", "deep-research")
    baseline = claude_code.read((SAMPLES / "toolfail.jsonl").read_text("utf-8"), "", 0).skills
    assert "demo-skill" not in baseline
    assert claude_code.read((SAMPLES / "basic.json").read_text("utf-8"), "", 0).skills is None


def test_session_and_model_are_kept():
    told = claude_code.read((SAMPLES / "skill.jsonl").read_text("utf-8"), "", 0)
    assert (told.session[:8], told.model) == ("230eca43", "claude-opus-5-5")


def test_model_is_the_one_that_answered():
    records = [json.loads(line) for line in (SAMPLES / "skill.jsonl").read_text().splitlines()]
    for record in records:
        if record["type"] == "assistant":
            record["message"]["model"] = "claude-haiku-4-5"
    asides = {"message": {"model": "other"}, "type": "assistant", "parent_tool_use_id": "x"}
    assert read(*records, asides).model == "claude-haiku-4-5"
    assert claude_code.read((SAMPLES / "basic.json").read_text(), "", 0).model == "claude-opus-5-5"


def test_no_model_has_answered_a_refused_request():
    assert claude_code.read((SAMPLES / "e529-r1-sj.jsonl").read_text(), "", 1).model == ""


def test_call_holds_its_input_and_its_result():
    told = claude_code.read((SAMPLES / "toolfail.jsonl").read_text("utf-8"), "", 0)
    assert told.events[0].input["command"] == "echo bad >&2; exit 3"
    assert (told.events[0].output, told.events[0].failed) == ("Exit code 3\nbad", True)


def test_seeds_json_format_is_read_with_its_cache():
    told = read(
        {
            **RESULT,
            "result": "hi there",
            "total_cost_usd": 0.0125,
            "usage": {
                "input_tokens": 11,
                "output_tokens": 7,
                "cache_read_input_tokens": 300,
                "cache_creation_input_tokens": 20,
            },
        }
    )
    assert told.output == "hi there"
    assert told.usage == Usage(11, 7, 300, 0.0125, "cli")
    assert told.details == {"cache_creation": 20, "uncached": 11}


def test_text_that_is_no_json_is_the_answer():
    told = claude_code.read("not json at all", "", 0)
    assert (told.output, told.failure, told.usage) == ("not json at all", "", Usage())


def test_result_without_usage_has_unknown_tokens():
    told = read({"result": "x"})
    assert (told.output, told.usage, told.details) == ("x", Usage(), {})


@pytest.mark.parametrize("field", ["usage", "result", "modelUsage", "permission_denials", "errors"])
def test_null_in_a_result_is_only_unknown(field):
    assert read({**RESULT, field: None}).failure == ""


def test_list_instead_of_an_object_is_read():
    told = claude_code.read(
        json.dumps([said(TEXT), {**RESULT, "usage": {"input_tokens": 5}}]), "", 0
    )
    assert (told.output, told.usage.input, kinds(told)) == ("done", 5, ["text"])


def test_error_with_exit_status_0_is_no_answer():
    told = read({**RESULT, "is_error": True, "result": "API Error: 401", "api_error_status": 401})
    assert (told.output, told.failure, told.error) == ("", "infrastructure", "API Error: 401")


def test_error_of_its_own_is_the_agents():
    told = read(
        {"type": "result", "is_error": True, "subtype": "error_during_execution"}, exit_code=1
    )
    assert (told.failure, told.error) == ("agent", "error_during_execution")


def test_conversation_that_outgrew_the_model_is_the_agents():
    error = {"is_error": True, "result": "Prompt is too long", "terminal_reason": "api_error"}
    assert read({**RESULT, **error}).failure == "agent"


def test_answer_before_a_limit_of_turns_is_kept():
    told = read(said(TEXT), {"type": "result", "is_error": True, "subtype": "error_max_turns"})
    assert (told.output, told.failure) == ("hello", "agent")


def test_exit_status_after_a_good_result_is_a_failure():
    told = read(RESULT, exit_code=2, stderr="crash")
    assert (told.output, told.failure, told.error) == ("done", "agent", "exit status 2: crash")


def test_message_told_three_times_is_counted_once():
    snapshot = said(TEXT, input_tokens=100, output_tokens=5, cache_read_input_tokens=7)
    usage = {"input_tokens": 200, "output_tokens": 40}
    assert read(snapshot, snapshot, snapshot, {**RESULT, "usage": usage}).usage[:2] == (200, 40)
    told = read(snapshot, snapshot, snapshot, exit_code=None)
    assert told.usage[:3] == (100, 5, 7)
    assert kinds(told) == ["text"]


def test_tokens_without_a_result_are_a_lower_bound_and_cost_nothing_known():
    told = read(
        said(TEXT, number=1, input_tokens=100),
        said(TEXT, number=2, input_tokens=50),
        exit_code=None,
    )
    assert (told.usage.input, told.usage.cost_usd, told.failure) == (150, None, "")
    assert "lower bound" in told.notes[0]


def test_tokens_of_sub_agents_are_counted():
    models = {
        "big": {"inputTokens": 100, "outputTokens": 10, "costUSD": 1},
        "small": {"inputTokens": 30, "outputTokens": 5, "costUSD": 0.1},
    }
    told = read(
        {**RESULT, "usage": {"input_tokens": 100, "output_tokens": 10}, "modelUsage": models}
    )
    assert told.usage[:2] == (130, 15)


def test_cost_of_a_model_without_a_list_price_is_marked():
    models = {"fake": {"inputTokens": 1, "costBasis": "fallback"}}
    told = read({**RESULT, "total_cost_usd": 0.5, "modelUsage": models})
    assert (told.usage.cost_usd, told.usage.cost_source) == (0.5, "cli-unreconciled")


def test_stream_that_ends_early_is_a_failure():
    told = read(said(TEXT))
    assert (told.output, told.failure, told.error) == ("hello", "agent", "the output has no result")


def test_bash_before_the_skill_does_not_hide_it():
    told = read(said(use("1", "Bash", command="ls")), said(use("2", "Skill", skill="demo")), RESULT)
    assert kinds(told) == ["call:shell", "call:skill", "skill:demo"]


def test_skill_used_by_a_sub_agent_counts():
    told = read(said(use("1", "Skill", skill="demo"), parent="task_1"), RESULT)
    assert [(event.name, event.parent) for event in told.events if event.kind == "skill"] == [
        ("demo", "task_1")
    ]


def test_skill_that_was_read_counts():
    path = "/w/.claude/skills/demo/SKILL.md"
    assert kinds(read(said(use("1", "Read", file_path=path)), RESULT)) == [
        "call:read",
        "skill:demo",
    ]


def test_refused_call_of_the_stream_is_no_call():
    denial = {"tool_name": "Bash", "tool_use_id": "1", "tool_input": {"command": "make"}}
    stream = [said(use("1", "Bash", command="make")), answered("1", "denied", is_error=True)]
    told = read(*stream, {**RESULT, "permission_denials": [denial]})
    assert [(event.kind, event.input["command"]) for event in told.events] == [("denied", "make")]
    assert (told.failure, told.error) == ("permission", "permission denied: shell")


def test_tool_that_worked_later_was_not_denied():
    denial = {"tool_name": "Bash", "tool_use_id": "1", "tool_input": {"command": "rm -rf ~"}}
    stream = [said(use("1", "Bash", command="rm -rf ~")), answered("1", "denied", is_error=True)]
    stream += [said(use("2", "Bash", command="make")), answered("2", "done")]
    told = read(*stream, {**RESULT, "permission_denials": [denial]})
    assert (told.failure, told.events[0].kind) == ("", "denied")


def test_question_to_nobody_is_no_refused_permission():
    denial = {"tool_name": "AskUserQuestion", "tool_use_id": "1", "tool_input": {}}
    told = read({**RESULT, "permission_denials": [denial]})
    assert (told.failure, kinds(told)) == ("", ["denied:AskUserQuestion"])


def test_result_in_blocks_is_text():
    blocks = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
    told = read(said(use("1", "Bash", command="x")), answered("1", blocks), RESULT)
    assert told.events[0].output == "a\nb"


def test_unknown_records_are_ignored():
    assert (
        read(
            {"type": "news", "message": "x"}, {"type": 3, "message": {"content": 4}}, RESULT
        ).output
        == "done"
    )


def test_lone_surrogate_in_the_answer_is_replaced():
    told = claude_code.read('{"type": "result", "is_error": false, "result": "\\ud83d"}', "", 0)
    assert told.output == "\ufffd"


def test_command_line_is_the_seeds_with_a_stream_of_events():
    assert claude_code.argv(ASK) == ["claude", *FLAGS, "--", "PROMPT"]
    found = claude_code.argv(ASK._replace(model="MODEL", effort="high", max_budget_usd=0.5))
    assert found == [
        "claude",
        *FLAGS,
        "--model",
        "MODEL",
        "--effort",
        "high",
        "--max-budget-usd",
        "0.500000",
        "--",
        "PROMPT",
    ]
    assert claude_code.stdin(ASK) is None


def test_huge_prompt_goes_to_standard_input():
    huge = ASK._replace(prompt="x" * 200_000)
    assert claude_code.argv(huge) == ["claude", *FLAGS]
    assert claude_code.stdin(huge) == b"x" * 200_000


def test_endpoint_is_given_without_its_version():
    environ = claude_code.environ(ASK._replace(base_url="https://h.example/api/v1"))
    assert environ["ANTHROPIC_BASE_URL"] == "https://h.example/api"
    assert "ANTHROPIC_BASE_URL" not in claude_code.environ(ASK)


def test_sandbox_is_claimed_by_root_only():
    assert ("IS_SANDBOX" in claude_code.environ(ASK)) == (os.geteuid() == 0)


def test_missing_program_is_reported(tmp_path):
    suite = Suite("s", "s", (), arms=(Arm("a", "claude-code"),))
    (reason,) = claude_code.preflight(suite, Tools(environ={"PATH": str(tmp_path)}))
    assert reason.startswith("claude not found on PATH; install it: npm")


def test_answer_in_the_result_is_whole_whatever_else_of_the_stream_was_lost():
    result = json.dumps({"type": "result", "result": "done", "is_error": False})
    told = claude_code.read(f"[... 900 bytes cut ...]\n{result}", "", 0)
    assert (told.output, told.output_whole, told.events_whole) == ("done", True, False)
    spoken = json.dumps(said({"type": "text", "text": "hm"}))
    told = claude_code.read(f'{spoken}\n{{"type": "resu', "", None)
    assert (told.output, told.output_whole, told.events_whole) == ("hm", False, False)
