"""How agent programs are given what they need: a prompt, an endpoint. Owns the rules they share.

The flags of each program are its agent module's; starting it is `process`'s.
"""

from __future__ import annotations

from skilleval.process import LONGEST_ARGUMENT_BYTES, find_executable
from skilleval.tools import Tools


def fits(text: str) -> bool:
    """Can a program be given this text as one argument?"""
    try:
        return "\0" not in text and len(text.encode()) <= LONGEST_ARGUMENT_BYTES
    except UnicodeEncodeError:  # a lone surrogate
        return False


def prompt_arguments(prompt: str) -> tuple[str, ...]:
    """The prompt as the last arguments, where it is no option; none if it has to go to stdin."""
    return ("--", prompt) if fits(prompt) else ()


def prompt_input(prompt: str) -> bytes | None:
    """The prompt as standard input if it does not fit as an argument, else None."""
    return None if fits(prompt) else encoded(prompt)


def encoded(prompt: str) -> bytes:
    """The prompt as UTF-8; what is no text (a lone surrogate) becomes a question mark."""
    return prompt.encode("utf-8", "replace")


def anthropic_url(url: str) -> str:
    """An endpoint as Anthropic's clients want it: without the version, which they add."""
    return url.rstrip("/").removesuffix("/v1")


def openai_url(url: str) -> str:
    """An endpoint as OpenAI's clients want it: with a path. A bare host gets `/v1`."""
    url = url.rstrip("/")
    return url if "/" in url.partition("://")[2] else f"{url}/v1"


def missing(program: str, install: str, tools: Tools) -> tuple[str, ...]:
    """Why the program cannot be started here, with the fix; empty if it is on PATH."""
    if find_executable(program, tools.environ):
        return ()
    return (f"{program} not found on PATH; {install}",)
