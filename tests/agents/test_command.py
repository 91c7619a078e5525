"""The agent that is any program: its template, and what is read of its output."""

import json
import sys
from pathlib import Path

import build
import pytest

from skilleval.agents import command
from skilleval.errors import UsageError
from skilleval.model import Arm, Case, Suite
from skilleval.tools import Tools
from skilleval.trial.harness import Ask

SAMPLES = Path(__file__).parent.parent / "data" / "transcripts"
ECHO = [sys.executable, "-c", "import json, sys; print(json.dumps(sys.argv[1:]))"]


def run(folder, template, *, prompt="do it", model="", **options):
    build.write(folder / "skill" / "SKILL.md", "---\nname: skill\ndescription: Does.\n---\n")
    given = {"command": template, "skill": str(folder / "skill"), "retries": 0, **options}
    case = Case("c1", prompt, annotations={"fixtures": str(folder)})
    return command.run(case, Arm("a", "command", model, True, given), Tools())


def program(*template):
    return command._Command(template)


def test_placeholders_are_elements_of_their_own_and_no_shell_sees_them(tmp_path):
    prompt = "do `it` && $(rm) {model} '\" \n--help"
    outcome = run(tmp_path, [*ECHO, "--model={model}", "{prompt}"], prompt=prompt, model="m")
    assert json.loads(outcome.output) == ["--model=m", prompt]
    assert (outcome.status, outcome.failure, outcome.exit_code) == ("ok", "", 0)


def test_workspace_is_where_it_runs(tmp_path):
    code = "import os, sys; print(os.path.samefile(sys.argv[1], '.'))"
    assert run(tmp_path, [sys.executable, "-c", code, "{workspace}", "{prompt}"]).output == "True\n"


def test_other_braces_stay(tmp_path):
    assert json.loads(run(tmp_path, [*ECHO, '{"a": {x}}', "{prompt}"]).output)[0] == '{"a": {x}}'


def test_template_may_be_one_text_in_the_words_of_a_shell():
    arm = Arm("a", "command", options={"command": "agent --say 'a b' {prompt}"})
    assert command._template(arm) == ("agent", "--say", "a b", "{prompt}")


def test_path_of_a_program_starts_where_we_were_started():
    arm = Arm("a", "command", options={"command": ["./agent.sh", "{prompt}"]})
    assert command._template(arm) == (str(Path.cwd() / "agent.sh"), "{prompt}")


def test_prompt_without_a_place_is_standard_input():
    ask = Ask("--help ü", "/w", "/h")
    assert program("agent").stdin(ask) == "--help ü".encode()
    assert program("agent", "{prompt}").stdin(ask) is None


def test_text_is_the_answer_and_tokens_are_unknown(tmp_path):
    outcome = run(tmp_path, ["printf", "%s\n", "{prompt}"], prompt="hello")
    assert (outcome.output, outcome.usage.input, outcome.events) == ("hello\n", None, ())


def test_json_of_its_own_is_the_answer(tmp_path):
    assert run(tmp_path, ["printf", "%s", "{prompt}"], prompt='{"a": 1}').output == '{"a": 1}'


@pytest.mark.parametrize(
    "name", ["claude/skill.jsonl", "codex/skill-codex.jsonl", "opencode/skill-opencode.jsonl"]
)
def test_stream_of_a_known_program_is_read(name):
    told = program("agent").read((SAMPLES / name).read_text("utf-8"), "", 0)
    assert told.output == "Wrote greeting.txt"
    assert (told.usage.input, told.usage.output) == (300, 60)
    assert [event.name for event in told.events if event.kind == "skill"] == ["demo-skill"]


def test_failure_is_told_with_what_it_printed(tmp_path):
    outcome = run(tmp_path, ["sh", "-c", "echo boom >&2; exit 3", "{prompt}"])
    assert (outcome.failure, outcome.error) == ("agent", "exit status 3: boom")


def test_server_that_is_down_is_no_failure_of_the_agent(tmp_path):
    outcome = run(tmp_path, ["sh", "-c", "echo 'Connection refused' >&2; exit 1", "{prompt}"])
    assert outcome.failure == "infrastructure"


def test_killed_program_is_judged_by_who_killed_it():
    assert program("agent").read("half", "", None).failure == ""


def test_lone_surrogates_and_nul_do_not_reach_the_answer():
    assert program("agent").read("a\0\ud83d", "", 0).output == "a\ufffd\ufffd"


def test_variables_that_are_named_are_all_that_it_sees(tmp_path):
    tools = Tools(environ={**Tools().environ, "MY_KEY": "one", "OTHER_KEY": "two"})
    code = "import os, sys; print(os.environ.get('MY_KEY'), os.environ.get('OTHER_KEY'))"
    template = [sys.executable, "-c", code, "{prompt}"]
    build.write(tmp_path / "skill" / "SKILL.md", "---\nname: skill\ndescription: Does.\n---\n")
    options = {"command": template, "skill": str(tmp_path / "skill"), "pass_env": ["MY_KEY"]}
    arm = Arm("a", "command", "", True, options)
    assert command.run(Case("c1", "x"), arm, tools).output == "one None\n"


@pytest.mark.parametrize("template", [None, [], "", ["agent", 3], "agent 'x", {"a": 1}])
def test_template_that_is_none_is_a_usage_error(template):
    options = {} if template is None else {"command": template}
    suite = Suite("s", "s", (), arms=(Arm("mine", "command", options=options),))
    with pytest.raises(UsageError, match=r"arm 'mine'.*write it as a list"):
        command.preflight(suite, Tools())


def test_missing_program_is_reported_once(tmp_path):
    arms = [Arm(name, "command", options={"command": ["no-such-agent", name]}) for name in "ab"]
    tools = Tools(environ={"PATH": str(tmp_path)})
    (reason,) = command.preflight(Suite("s", "s", (), arms=tuple(arms)), tools)
    assert reason.startswith(
        "no-such-agent not found on PATH; name a program that is there first in --a"
    )


def test_output_of_which_the_middle_was_cut_is_not_whole(tmp_path):
    code = "print('x' * 10_000_100); print('end')"
    outcome = run(tmp_path, [sys.executable, "-c", code, "{prompt}"])
    assert (outcome.output_whole, outcome.events_whole) == (False, False)
    outcome = run(tmp_path, [*ECHO, "{prompt}"])
    assert (outcome.output_whole, outcome.events_whole) == (True, True)
