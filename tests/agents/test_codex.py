"""Codex: its command line, and what its output means (seed 002; spec/agents 3 to 5)."""

import itertools
import json
import tomllib
from pathlib import Path

import build
import pytest

from skilleval.agents import codex
from skilleval.model import Arm, Suite, Usage
from skilleval.tools import Tools
from skilleval.trial.harness import Ask

SAMPLES = Path(__file__).parent.parent / "data" / "transcripts" / "codex"
ASK = Ask("PROMPT", "/w", "/h")

# of each sample: exit status, output, failure, what is in its error, events without warnings, input
OK, INFRA = "", "infrastructure"
SKILL = "call:shell skill:demo-skill call:shell text"
EXPECTED = {
    "apply-patch-shell.jsonl": (0, "patched", OK, "", "call:write text", 200),
    "badflag.jsonl.stderr": (2, "", INFRA, "--nope", "", None),
    "bypass.jsonl": (0, "All done.", OK, "", "text call:shell text", 200),
    "down.jsonl": (None, "", INFRA, "waiting for network", "retry " * 5, None),
    "e401.jsonl": (1, "", INFRA, "401", "retry", None),
    "e429.jsonl": (1, "", INFRA, "429", "", None),
    "e429x1.jsonl": (0, "All done.", OK, "", "retry text call:shell text", 200),
    "e500.jsonl": (1, "", INFRA, "high demand", "retry", None),
    "e529.jsonl": (1, "", INFRA, "529", "retry", None),
    "enokey.jsonl": (1, "", INFRA, "FAKE_API_KEY", "", None),
    "env-only.jsonl": (None, "", INFRA, "waiting for network", "retry " * 7, None),
    "fullauto.jsonl.stderr": (2, "", INFRA, "--full-auto", "", None),
    "parallel.jsonl": (0, "fin", OK, "", "text call:shell call:shell text", 200),
    "skill-agents.jsonl": (0, "Wrote greeting.txt", OK, "", SKILL, 300),
    "skill-claude.jsonl": (0, "Wrote greeting.txt", OK, "", SKILL, 300),
    "skill-codex.jsonl": (0, "Wrote greeting.txt", OK, "", SKILL, 300),
    "skill-mention.jsonl": (0, "Wrote greeting.txt", OK, "", "failed:shell call:shell text", 300),
    "toolfail.jsonl": (0, "fin", OK, "", "failed:shell text", 200),
}


def kinds(told):
    return [
        ":".join(filter(None, ["failed" if event.failed else event.kind, event.name]))
        for event in told.events
        if event.kind != "warning"
    ]


def read(*records, exit_code=0, stderr=""):
    return codex.read("\n".join(map(json.dumps, records)), stderr, exit_code)


def item(kind, **fields):
    return {"type": "item.completed", "item": {"id": fields.pop("id", "i"), "type": kind, **fields}}


def turn(**usage):
    return {"type": "turn.completed", "usage": usage}


def test_every_sample_is_expected():
    assert {path.name for path in SAMPLES.iterdir()} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_sample_says(name):
    exit_code, output, failure, error, events, tokens = EXPECTED[name]
    text = (SAMPLES / name).read_text("utf-8")
    streams = ("", text) if name.endswith(".stderr") else (text, "")
    told = codex.read(*streams, exit_code)
    assert (told.output, told.failure, told.notes) == (output, failure, ())
    assert error in told.error
    assert bool(error) == bool(told.error)
    assert kinds(told) == events.split()
    assert (told.usage.input, told.usage.cost_usd, told.skills) == (tokens, None, None)


def test_warning_of_a_good_run_is_no_failure():
    told = codex.read((SAMPLES / "bypass.jsonl").read_text("utf-8"), "", 0)
    assert told.events[0].kind == "warning"
    assert told.events[0].output.startswith("Model metadata")


def test_command_is_without_the_shell_around_it():
    told = codex.read((SAMPLES / "toolfail.jsonl").read_text("utf-8"), "", 0)
    call = told.events[1]
    assert (call.input, call.output) == ({"command": "echo bad >&2; exit 3"}, "bad\n")


@pytest.mark.parametrize("line", ["ls 'un", "bash script.sh", "make -c x", "sh -lc a b"])
def test_other_commands_stay_as_they_are(line):
    told = read(item("command_execution", command=line, status="completed", exit_code=0), turn())
    assert told.events[0].input == {"command": line}


def test_answer_and_tokens_are_the_seeds():
    told = read(
        {"type": "thread.started", "thread_id": "t"},
        item("reasoning", text="think"),
        item("command_execution", command="ls"),
        item("agent_message", text="done A"),
        item("agent_message", text="done B"),
        turn(input_tokens=100, cached_input_tokens=60, output_tokens=9, reasoning_output_tokens=4),
    )
    assert (told.output, told.session) == ("done A\ndone B", "t")
    assert told.usage == Usage(100, 9, 60)
    assert told.details == {"reasoning": 4, "uncached": 40}


def test_tokens_of_all_turns_are_summed():
    assert read(turn(input_tokens=1, output_tokens=2), turn(input_tokens=3)).usage[:2] == (4, 2)


def test_null_usage_is_unknown():
    assert read({"type": "turn.completed", "usage": None}).usage == Usage()


def test_turn_that_never_ended_is_a_failure():
    told = read(item("agent_message", text="half"))
    assert (told.output, told.failure) == ("half", "agent")
    assert read(item("agent_message", text="half"), exit_code=None).failure == ""


def test_turn_that_failed_by_itself_is_the_agents():
    told = read({"type": "turn.failed", "error": {"message": "gave up"}}, exit_code=1)
    assert (told.failure, told.error) == ("agent", "gave up")


def test_request_that_the_server_refused_is_no_failure_of_the_agent():
    body = '{"error": {"type": "invalid_request_error", "message": "Invalid value for input[3]"}}'
    told = read({"type": "turn.failed", "error": {"message": body}}, exit_code=1)
    assert (told.failure, told.error) == ("infrastructure", body)


def test_turn_that_failed_with_a_plain_text_says_it():
    told = read({"type": "turn.failed", "error": "usage limit reached"}, exit_code=1)
    assert (told.failure, told.error) == ("infrastructure", "usage limit reached")


def test_item_that_is_told_again_is_done_once():
    ran = item("command_execution", id="1", command="ls", status="completed", exit_code=0)
    said = item("agent_message", id="2", text="done")
    told = read(ran, ran, said, said, turn())
    assert (kinds(told), told.output) == (["call:shell", "text"], "done")
    unnamed = item("agent_message", id="", text="done")
    assert read(unnamed, unnamed, turn()).output == "done\ndone"


def test_exit_status_after_a_good_turn_is_a_failure():
    assert read(turn(), exit_code=3, stderr="crash").error == "exit status 3: crash"


def test_command_that_was_still_running_is_a_call():
    started = {"type": "item.started", "item": {"id": "1", "type": "command_execution"}}
    started["item"] |= {"command": "bash -lc 'make test'", "status": "in_progress"}
    told = read(started, exit_code=None)
    assert [(event.name, event.input["command"]) for event in told.events] == [
        ("shell", "make test")
    ]


def test_declined_command_is_denied():
    told = read(item("command_execution", command="rm x", status="declined"), turn())
    assert (kinds(told), told.failure) == (["denied:shell"], "permission")


def test_command_that_only_the_log_calls_rejected_is_denied():
    line = 'ERROR: exec error: Rejected("`rm -rf \\"x\\"` is not permitted")'
    told = codex.read(json.dumps(turn()) + "\n", f"{line}\n", 0)
    assert [(e.kind, e.name, e.output) for e in told.events] == [
        ("denied", "shell", '`rm -rf "x"` is not permitted')
    ]
    assert told.failure == "permission"


def test_changes_of_files_are_calls():
    changes = [{"path": name, "kind": name} for name in ("add", "update", "delete")]
    told = read(item("file_change", changes=changes, status="completed"), turn())
    assert [(e.name, e.input["path"]) for e in told.events] == [
        ("write", "add"),
        ("edit", "update"),
        ("delete", "delete"),
    ]


def test_tool_of_a_server_is_a_call():
    result = {"content": [{"type": "text", "text": "found"}]}
    told = read(item("mcp_tool_call", tool="search", arguments={"q": "x"}, result=result), turn())
    assert (told.events[0].name, told.events[0].output) == ("search", "found")


def test_skill_in_its_own_listing_form_counts():
    told = read(item("command_execution", command="cat r0/demo/SKILL.md", exit_code=0), turn())
    assert kinds(told) == ["call:shell", "skill:demo"]


def test_command_line_of_this_version_has_the_successor_of_full_auto():
    found = codex.argv(ASK._replace(help="--dangerously-bypass-approvals-and-sandbox"))
    assert found == [
        *("codex", "exec", "--json", "--dangerously-bypass-approvals-and-sandbox"),
        *("--", "PROMPT"),
    ]


def test_command_line_of_an_old_version_is_the_seeds():
    found = codex.argv(ASK._replace(help="--full-auto  --skip-git-repo-check  --sandbox"))
    assert found == [
        "codex",
        "exec",
        "--json",
        "--full-auto",
        "--skip-git-repo-check",
        "--",
        "PROMPT",
    ]


def test_command_line_of_a_version_without_both_has_a_sandbox():
    found = codex.argv(ASK._replace(help="-s, --sandbox <MODE>"))
    assert found[3:5] == ["--sandbox", "workspace-write"]


def test_command_line_without_any_help_is_that_of_today():
    found = codex.argv(ASK)
    assert found[3:5] == ["--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check"]


def test_model_and_effort_are_flags():
    found = codex.argv(ASK._replace(model="MODEL", effort="high"))
    assert found[5:9] == ["--model", "MODEL", "-c", 'model_reasoning_effort="high"']


def provider_of(ask):
    found = codex.argv(ask)
    given = [value for flag, value in itertools.pairwise(found) if flag == "-c"]
    config = tomllib.loads("\n".join(given))
    return config["model_providers"][config["model_provider"]]


def test_endpoint_is_a_provider_in_toml():
    provider = provider_of(ASK._replace(base_url='http://h:1/"x"'))
    assert provider["base_url"] == 'http://h:1/"x"'
    assert (provider["wire_api"], provider["env_key"]) == ("responses", "OPENAI_API_KEY")


@pytest.mark.parametrize(
    ("keys", "sent"),
    [
        (("CODEX_API_KEY",), "CODEX_API_KEY"),
        (("CODEX_API_KEY", "OPENAI_API_KEY"), "OPENAI_API_KEY"),
        (("OPENAI_PROJECT",), "OPENAI_API_KEY"),
    ],
)
def test_endpoint_is_sent_the_key_that_is_there(keys, sent):
    assert provider_of(ASK._replace(base_url="http://h", keys=keys))["env_key"] == sent


@pytest.mark.parametrize(
    ("base_url", "key", "said"),
    [
        ("http://h", "", ["codex needs a key for --harness-base-url: set OPENAI_API_KEY or CODEX"]),
        ("http://h", "CODEX_API_KEY", []),
        ("", "", []),
    ],
)
def test_endpoint_without_a_key_is_refused_before_the_start(base_url, key, said, tmp_path):
    build.write(tmp_path / "codex", "").chmod(0o755)
    suite = Suite("s", "s", (), arms=(Arm("a", "codex", options={"base_url": base_url}),))
    tools = Tools(environ={"PATH": str(tmp_path), key: "sk-x"})
    assert [reason[: len(said[0])] for reason in codex.preflight(suite, tools)] == said


def test_huge_prompt_goes_to_standard_input():
    huge = ASK._replace(prompt="x" * 200_000)
    assert codex.argv(huge)[-1] == "--skip-git-repo-check"
    assert codex.stdin(huge) == b"x" * 200_000
    assert codex.stdin(ASK) is None


@pytest.mark.parametrize("lost", ["[... 900 bytes cut ...]", '{"type": "item.comp'])
def test_stream_that_lost_a_part_is_neither_whole_in_output_nor_in_events(lost):
    good = json.dumps(item("agent_message", text="done"))
    told = codex.read(f"{lost}\n{good}", "", 0)
    assert (told.output, told.output_whole, told.events_whole) == ("done", False, False)
    told = codex.read(good, "", 0)
    assert (told.output_whole, told.events_whole) == (True, True)
