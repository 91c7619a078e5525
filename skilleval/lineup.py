"""Which agents a command line wants a suite to be run with, and what it tells them.

Owns the arms of such a run, and that none is told what no agent of it heeds. What an option means
is the agent's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from skilleval import agents
from skilleval import skill as skills
from skilleval.errors import UsageError
from skilleval.model import SIDES, Arm, Suite
from skilleval.settings import DEFAULT, Setting, Settings

if TYPE_CHECKING:
    import argparse

DEFAULT_AGENT, HOME = "opencode", "isolated"
# the options of an arm that some agents heed and others do not, with their arguments
_HEEDED = {
    "command": "agent_command",
    "fake": "fake",
    "base_url": "harness_base_url",
    "effort": "effort",
    "max_budget_usd": "max_budget_usd",
}
# of these, the agents that are meant where such an option is given and no agent is named
_OWN = ("command", "fake")


def names(arguments: argparse.Namespace) -> list[str]:
    """The agents of the run. Raises `UsageError` for one that is unknown or runs no suites."""
    meant = [agent for agent in _OWN if getattr(arguments, _HEEDED[agent])]
    found = list(dict.fromkeys(arguments.agent or meant or [DEFAULT_AGENT]))
    for name in found:
        if agents.get(name).OPTIONS is None:
            raise UsageError(
                f"agent {name!r} runs no suites; choose one of: {', '.join(agents.of_suites())}"
                " (an endpoint or kiro-cli runs scenario folders: --backend)"
            )
    return found


def shown(arguments: argparse.Namespace) -> dict[str, Setting]:
    """For `--print-config`: what the command line says of the agents, and with which option.

    Raises `UsageError` for agents and models that do not fit.
    """
    run = names(arguments)
    models = _models(arguments, run)
    named = ", ".join(f"{agent}={model}" for agent, model in models.items() if model)
    meant = [_flag(agent) for agent in _OWN if getattr(arguments, _HEEDED[agent])]
    source = "--agent" if arguments.agent else ", ".join(meant)
    return {
        "agent": Setting(", ".join(run), source or DEFAULT),
        "agent_model": Setting(named, _given(arguments, "agent_model", "model")),
        "home": Setting(arguments.home or HOME, _given(arguments, "home")),
        "harness_base_url": Setting(
            arguments.harness_base_url or "", _given(arguments, "harness_base_url")
        ),
        "max_budget_usd": Setting(arguments.max_budget_usd, _given(arguments, "max_budget_usd")),
    }


def _given(arguments: argparse.Namespace, *options: str) -> str:
    """Those of the options that the command line has, as it has them."""
    given = [name for name in options if getattr(arguments, name) not in (None, "", [])]
    return ", ".join(map(_spelled, given)) or DEFAULT


def check(arguments: argparse.Namespace) -> None:
    """Raises `UsageError` for an option that no agent of the run heeds.

    A budget always means something: the judge's costs are counted, too. Of a run that is gone on
    with, nobody has named the agents; there, what it was not told is refused as a difference.
    """
    if arguments.resume and not arguments.agent:
        return
    run = names(arguments)
    for option, argument in _HEEDED.items():
        heeded = any(option in (agents.get(name).OPTIONS or ()) for name in run)
        if getattr(arguments, argument) and option != "max_budget_usd" and not heeded:
            flag, others = _flag(option), " or ".join(agents.of_suites(option))
            raise UsageError(
                f"{flag} means nothing for {' and '.join(run)}: add --agent {others},"
                f" or leave out {flag}"
            )


def warnings(suite: Suite) -> Iterator[str]:
    """What not all agents of a run heed, though it is told to all."""
    run = dict.fromkeys(arm.agent for arm in suite.arms)
    for option in _HEEDED:
        told = any(arm.options.get(option) not in (None, "", ()) for arm in suite.arms)
        deaf = [name for name in run if told and option not in (agents.get(name).OPTIONS or ())]
        who = " and ".join(deaf)
        if deaf and option == "max_budget_usd":
            yield f"{_flag(option)} counts no trial of {who}: their cost is not told"
        elif deaf and option not in _OWN:
            yield f"{_flag(option)} means nothing for {who}: those trials are without it"


def _flag(option: str) -> str:
    return _spelled(_HEEDED[option])


def _spelled(argument: str) -> str:
    return f"--{argument.replace('_', '-')}"


def arms(
    arguments: argparse.Namespace, chosen: Settings, folder: str, suite: Suite
) -> tuple[Arm, ...]:
    """The arms of a run with the skill in `folder`; what names a place does so from anywhere."""
    run = names(arguments)
    models = _models(arguments, run)
    options = {
        "skill": os.path.abspath(folder),
        "skill_digest": skills.digest(folder),
        "timeout_s": float(chosen.value("timeout")),
        "retries": chosen.value("retries"),
        "base_url": arguments.harness_base_url or "",
        "source_repo": _source(arguments.source_repo or ""),
        "home": arguments.home or HOME,
        "effort": arguments.effort or "",
        "max_budget_usd": arguments.max_budget_usd,
        "command": _template(arguments.agent_command or (), needed="command" in run),
        "pass_env": tuple(dict.fromkeys(arguments.pass_env or ())),
        "fake": _mode(arguments.fake or ""),
    }
    return tuple(
        Arm(f"{name}-{SIDES[with_skill]}", name, models.get(name, ""), with_skill, options)
        for name in run
        for with_skill in _sides(arguments, suite)
    )


def _source(given: str) -> str:
    from skilleval.trial import grounds

    return given if not given or grounds.is_address(given) else os.path.abspath(given)


def _mode(given: str) -> str:
    """The mode of the agent `fake`, with the place of its script."""
    mode, _, path = given.partition(":")
    return f"{mode}:{os.path.abspath(path)}" if path and mode == "scripted" else given


def _template(given: Sequence[str], *, needed: bool) -> Sequence[str]:
    """The argv of the agent `command`; one text is in the words of a shell, so may have options."""
    form = "write how it is called, such as 'my-agent --print {prompt}'"
    if needed and not given:
        raise UsageError(f"--agent command needs --agent-command '...': {form}")
    if not given:
        return ()
    if not given[0].strip():
        raise UsageError(f"--agent-command: the program is missing; {form}")
    from skilleval.agents import command

    try:
        return command.words(given[0] if len(given) == 1 else tuple(given))
    except ValueError as error:
        raise UsageError(f"--agent-command cannot be read: {error}; {form}") from None


def _sides(arguments: argparse.Namespace, suite: Suite) -> tuple[bool, ...]:
    """Both arms, unless told otherwise.

    Answers are collected with the skill alone; whether it triggers cannot be seen without it.
    """
    both = arguments.baseline
    if both is None:
        both = suite.meta.get("baseline", True) and not arguments.save_answers
    return (True, False) if both else (True,)


def _models(arguments: argparse.Namespace, run: Sequence[str]) -> dict[str, str]:
    """The model of each agent; a bare one is for all that have none of their own (seed 002)."""
    named, bare = {}, arguments.model or ""
    for given in arguments.agent_model or ():
        agent, equals, model = given.partition("=")
        if not equals:
            agent, model = "", given
        elif not agent:
            raise UsageError(
                f"--agent-model {given!r}: the agent is missing; write AGENT=MODEL, or MODEL alone"
            )
        if not model:
            raise UsageError(f"--agent-model {given!r}: the model is missing")
        if agent and agent not in run:
            raise UsageError(f"--agent-model {given!r}: --agent has only {', '.join(run)}")
        if agent:
            named[agent] = model
        else:
            bare = model
    return {name: named.get(name, bare) for name in run}
