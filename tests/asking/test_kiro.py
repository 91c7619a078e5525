"""How kiro-cli is called and what its output means (seed 000; spec/scenarios section 6)."""

import json
from pathlib import Path

import pytest
from kiro_fake import Kiro

from skilleval.asking import kiro
from skilleval.errors import ModelError
from skilleval.process import Completed
from skilleval.tools import Tools

DATA = json.loads(
    (Path(__file__).parent.parent / "data" / "scenarios" / "cases.json").read_text("utf-8")
)


def ask(fake, prompt="judge this", model="m", timeout_s=20):
    return kiro.ask(prompt, model, timeout_s, fake.tools)


@pytest.mark.parametrize("case", DATA["clean"])
def test_shared_cases_of_cleaning(case):
    assert kiro.clean(case["in"]) == case["want"]


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("\n\n> Hello\nthere\n", "Hello\nthere"),
        ("> one line", "one line"),
        ("a\n> quoted\nb", "a\n> quoted\nb"),
        ("\x1b[38;5;141m> \x1b[0mHello", "Hello"),
        ("\x1b[?25l\x1b]0;title\x07Hi\x1b[?25h", "Hi"),
        ("```js\nx\n```", "```js\nx\n```"),
        (">no prefix", ">no prefix"),
        ("\x1b[2K\n \n", ""),
    ],
)
def test_cleaning_takes_nothing_of_an_answer(output, text):
    assert kiro.clean(output) == text


def test_the_agent_file_of_a_container_names_its_tools():
    assert json.loads(kiro.configuration(tools=True)) == DATA["agent_json"]["sandbox"]


def test_the_agent_file_of_a_direct_run_has_no_tools_keys():
    assert json.loads(kiro.configuration(tools=False)) == DATA["agent_json"]["direct"]


def test_a_judge_call_has_no_agent_and_trusts_no_tool(tmp_path):
    fake = Kiro(tmp_path, "> [1]\n")
    assert ask(fake) == "[1]"
    [call] = fake.calls
    assert call["argv"] == ["chat", "--no-interactive", "--model", "m", "judge this"]
    assert call["cwd"] == str(Path.cwd())


def test_no_model_is_no_option(tmp_path):
    fake = Kiro(tmp_path, "x")
    ask(fake, model="")
    assert fake.calls[0]["argv"] == ["chat", "--no-interactive", "judge this"]


def test_a_prompt_never_looks_like_an_option():
    assert kiro.arguments("--- x", "--a") == ["kiro-cli", "chat", "--a", "\n--- x"]


def test_a_prompt_of_the_largest_size_reaches_the_program(tmp_path):
    fake = Kiro(tmp_path, "x")
    prompt = "é" * (kiro.LONGEST_PROMPT_BYTES // 2) + "x"
    assert ask(fake, prompt) == "x"
    assert fake.calls[0]["argv"][-1] == prompt


def test_a_larger_prompt_is_refused_before_anything_is_started(tmp_path):
    fake = Kiro(tmp_path, "x")
    with pytest.raises(
        ModelError, match=r"the prompt has 131072 bytes, and kiro-cli takes at most 131071"
    ):
        ask(fake, "x" * 131_072)
    assert fake.calls == []


def test_a_prompt_with_a_nul_is_refused():
    with pytest.raises(ModelError, match="NUL"):
        kiro.arguments("a\0b")


def test_standard_error_is_no_part_of_the_answer(tmp_path):
    assert ask(Kiro(tmp_path, {"stdout": "yes", "stderr": "loading"})) == "yes"


def test_a_failure_keeps_what_standard_error_said(tmp_path):
    fake = Kiro(tmp_path, {"exit": 3, "stderr": "\x1b[31mThrottlingException\x1b[0m\n"})
    with pytest.raises(ModelError) as caught:
        ask(fake)
    assert str(caught.value) == "kiro-cli failed (exit status 3): ThrottlingException"


def test_a_timeout_says_after_how_long(tmp_path):
    fake = Kiro(tmp_path, {"sleep": 30})
    with pytest.raises(ModelError, match=r"^kiro-cli: timed out after 0\.5 s"):
        ask(fake, timeout_s=0.5)


@pytest.mark.parametrize("output", ["", " \n", "\x1b[2K"])
def test_nothing_said_is_an_empty_response(tmp_path, output):
    with pytest.raises(ModelError, match="empty response"):
        ask(Kiro(tmp_path, output))


def test_a_missing_program_says_how_to_get_it(tmp_path):
    tools = Tools(environ={"PATH": str(tmp_path)})
    with pytest.raises(ModelError, match=r"'kiro-cli': not found on PATH.*--backend http"):
        kiro.ask("x", "m", 5, tools)


def test_fifty_megabytes_of_output_are_bounded_and_said(tmp_path):
    answer = ask(Kiro(tmp_path, {"flood": 50_000_000}))
    assert 1_000_000 < len(answer) < 11_000_000


def test_a_long_error_keeps_its_end():
    done = Completed(exit_code=1, stderr="x" * 5000 + "the cause")
    with pytest.raises(ModelError) as caught:
        kiro.answer(done)
    assert str(caught.value).endswith("the cause")
    assert len(str(caught.value)) < 2_100
