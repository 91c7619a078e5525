"""How prompts and endpoints are handed to agent programs."""

import pytest

from skilleval.process import LONGEST_ARGUMENT_BYTES, Command, run
from skilleval.tools import Tools
from skilleval.trial import commandline


def test_prompt_that_begins_with_dashes_is_no_option():
    assert commandline.prompt_arguments("--help me") == ("--", "--help me")
    assert commandline.prompt_input("--help me") is None


@pytest.mark.parametrize(
    "prompt", ["x" * 200_000, "a\0b", "\ud83d"], ids=["long", "nul", "surrogate"]
)
def test_prompt_that_is_no_argument_goes_to_standard_input(prompt):
    assert commandline.prompt_arguments(prompt) == ()
    assert commandline.prompt_input(prompt) == prompt.encode("utf-8", "replace")


def test_longest_argument_can_be_given_to_a_program():
    longest = "x" * LONGEST_ARGUMENT_BYTES
    assert commandline.fits(longest)
    assert not commandline.fits(f"{longest}x")
    assert run(Command(["true", longest], 10)).exit_code == 0


@pytest.mark.parametrize(
    ("given", "anthropic", "openai"),
    [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
        ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
        ("https://h.example/api/v1/", "https://h.example/api", "https://h.example/api/v1"),
        ("https://h.example/gateway", "https://h.example/gateway", "https://h.example/gateway"),
    ],
)
def test_endpoint_is_given_as_each_client_wants_it(given, anthropic, openai):
    assert commandline.anthropic_url(given) == anthropic
    assert commandline.openai_url(given) == openai


def test_missing_program_is_named_with_its_fix(tmp_path):
    tools = Tools(environ={"PATH": str(tmp_path)})
    assert commandline.missing("agent", "install it", tools) == (
        "agent not found on PATH; install it",
    )


def test_program_on_path_is_not_missing(tmp_path):
    (tmp_path / "agent").write_text("#!/bin/sh\n")
    (tmp_path / "agent").chmod(0o755)
    assert commandline.missing("agent", "install it", Tools(environ={"PATH": str(tmp_path)})) == ()
