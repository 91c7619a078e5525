"""kiro-cli: how it is called and what its output means (seed 000). Owns both, for agent and judge.

It starts no container and decides no verdict. `--trust-all-tools` is in no command line of its own:
only `agents.kiro` asks for it, inside a container.
"""

from __future__ import annotations

import json

from skilleval.errors import ModelError
from skilleval.plaintext import without_sequences
from skilleval.process import LONGEST_ARGUMENT_BYTES, Command, Completed
from skilleval.tools import Tools

PROGRAM = "kiro-cli"
INSTALL = "install it (https://kiro.dev), or choose --backend http"
AGENT = "eval-agent"
AGENT_FILE = f".kiro/agents/{AGENT}.json"
TOOLS = ("fs_read", "fs_write", "execute_bash", "grep", "glob")
RESOURCES = (
    "file://skill/SKILL.md",
    "file://skill/references/**",
    "file://skill/scripts/**",
    "file://skill/assets/**",
)
# a prompt is one argument
LONGEST_PROMPT_BYTES = LONGEST_ARGUMENT_BYTES
TAIL_CHARACTERS = 2_000


def configuration(*, tools: bool) -> str:
    """The agent file: the skill as its resources; with `tools`, those that it may use unasked.

    Without tools neither key is there: an empty list would be something else.
    """
    document: dict[str, object] = {"name": AGENT}
    if tools:
        document |= {"tools": TOOLS, "allowedTools": TOOLS}
    return json.dumps(document | {"resources": RESOURCES})


def arguments(prompt: str, *options: str) -> list[str]:
    """`kiro-cli chat` with the options, and the prompt as its last argument.

    The prompt never looks like an option (SKILL.md starts with `---`). Raises `ModelError` for one
    that no program can be given.
    """
    if prompt.startswith("-"):
        prompt = f"\n{prompt}"
    size = len(prompt.encode("utf-8", "surrogateescape"))
    if size > LONGEST_PROMPT_BYTES:
        raise ModelError(
            f"the prompt has {size} bytes, and {PROGRAM} takes at most {LONGEST_PROMPT_BYTES}:"
            " make the skill or the inputs smaller, or choose --backend http without a sandbox"
        )
    if "\0" in prompt:
        raise ModelError(f"the prompt holds a NUL character, which {PROGRAM} cannot be given")
    return [PROGRAM, "chat", *options, prompt]


def model_option(model: str) -> tuple[str, ...]:
    """`--model` with its value; nothing for an empty one."""
    return ("--model", model) if model else ()


def ask(prompt: str, model: str, timeout_s: float, tools: Tools) -> str:
    """The cleaned answer to a prompt without an agent, as a judge asks. Raises `ModelError`."""
    argv = arguments(prompt, "--no-interactive", *model_option(model))
    return answer(tools.run(Command(argv, timeout_s, env=tools.environ)))


def answer(completed: Completed) -> str:
    """The cleaned standard output of a run that ended well. Raises `ModelError` for every other.

    Standard error stays in the message: that it was throttled is told nowhere else.
    """
    if completed.not_found:
        raise ModelError(f"{completed.error}; {INSTALL}")
    said = tail(completed.stderr)
    if completed.error:
        raise ModelError(f"{completed.error}{said}")
    if completed.exit_code != 0:
        raise ModelError(f"{PROGRAM} failed (exit status {completed.exit_code}){said}")
    text = clean(completed.stdout)
    if not text:
        raise ModelError(f"{PROGRAM}: empty response{said}")
    return text


def tail(output: str) -> str:
    """The end of an output behind `: `, for an error message; "" for none."""
    text = without_sequences(output).strip()
    if len(text) > TAIL_CHARACTERS:
        text = f"…{text[-TAIL_CHARACTERS:]}"
    return f": {text}" if text else ""


def clean(output: str) -> str:
    """What was said, without colours, the `> ` before its first line, and white space around.

    Only there is `> ` the program's: further down it is a quotation, and a fence is part of the
    answer. (The original drops every such line, and with it whole answers: spec/scenarios 6.)
    """
    return without_sequences(output).strip().removeprefix("> ").strip()
