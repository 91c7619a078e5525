"""Runs agents on a suite, grades what they did, and reports.

TARGET is a skill or scenario folder (evals/scenario-*), an evals.json, or a tasks.json. What else
may be said depends on it: an option that means nothing for the target's format is refused.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from importlib import import_module

from skilleval import formats
from skilleval.asking import address
from skilleval.errors import UsageError
from skilleval.settings import LARGEST
from skilleval.trial import attempts

EXAMPLES = """examples:
  skilleval run skills/x                                   all scenarios of a skill
  skilleval run skills/x/evals/scenario-a                  one, to see why it fails
  skilleval run skills/x --backend http --model m          an OpenAI-compatible endpoint
  skilleval run --skill skills/x --evals evals/x/evals.json --agent claude-code --runs 3
                                                           with and without the skill
  skilleval run skills/x/evals/tasks.json --agent codex --save-answers answers
                                                           collect answers for run-evals
  skilleval run TARGET --record tape                       keep every exchange, for ...
  skilleval run TARGET --replay tape                       ... the same run without a network
  skilleval run TARGET --resume                            go on with an interrupted run

Scenario settings: defaults < .openkata-eval.yaml < OPENKATA_EVAL_* variables < options. Suites:
defaults < SKILL_EVAL_* variables < options. --print-config shows each value and its source.
exit codes: 0 at or above the gate; 1 below it, or a scenario run that cannot start; 2 usage error;
3 nothing could be measured, the budget ended the run, or a result could not be kept; 130
interrupted (what to type to go on is printed then)
"""
SCENARIOS, SUITES = "run_scenarios", "run_suites"
# which options mean something for one kind of target only
ONLY = {
    SCENARIOS: {"backend", "engine", "output", "model_label"},
    SUITES: {
        "skill", "evals", "agent", "agent_model", "runs", "timeout", "retries", "baseline",
        "harness_base_url", "source_repo", "home", "effort", "max_budget_usd",
        "cleanup", "no_llm_judges", "save_answers", "agent_command", "pass_env", "fake", "shard",
        "keep_workspaces",
    },
}  # fmt: skip


def configure(parser: argparse.ArgumentParser) -> None:
    """Every option of every format; the seeds' other spellings are aliases."""
    parser.add_argument("target", metavar="TARGET", nargs="?", help="folder or file to run")
    _add_suite(parser.add_argument_group("suites (evals.json, tasks.json)"))
    _add_scenarios(parser.add_argument_group("scenario folders"))
    _add_judge(parser.add_argument_group("model and judge"))
    _add_pace(parser.add_argument_group("pace, run folder, output"))


def _add_suite(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--skill", "-s", metavar="DIR", help="the skill under test")
    add("--evals", "-e", metavar="FILE", help="the evals.json, instead of TARGET")
    add("--agent", "-a", action="append", metavar="NAME",
        help="repeatable (default: that of --agent-command or --fake, else opencode)")  # fmt: skip
    add("--agent-model", "-m", action="append", metavar="[A=]M", help="model, of all agents or one")
    add("--runs", "-n", type=_least(1), metavar="N",
        help="repeats of each case and arm (default: 1)")  # fmt: skip
    add("--baseline", action=argparse.BooleanOptionalAction, help="also run without the skill")
    add(
        "--timeout",
        type=_least(1),
        metavar="S",
        help=f"seconds for one attempt (default: {attempts.TIMEOUT_S})",
    )
    add(
        "--retries",
        type=_least(0),
        metavar="N",
        help=f"further attempts (default: {attempts.RETRIES})",
    )
    add("--harness-base-url", type=_url, metavar="URL", help="the agents' model endpoint")
    add("--source-repo", metavar="URL", help="clone this as the workspace")
    add("--home", choices=("isolated", "user"), help="the agents' home (default: isolated)")
    add("--effort", "--reasoning-effort", metavar="E", help="reasoning effort")
    add("--max-budget-usd", type=_dollars, metavar="X", help="per trial, and for the whole run")
    add("--agent-command", nargs="+", metavar="ARG",
        help="argv of agent `command`; with options, as one text: 'it -p {prompt}'")  # fmt: skip
    add("--pass-env", metavar="NAME", action="append", type=_variable,
        help="a variable of ours that the agents may see, such as a key; repeatable")  # fmt: skip
    add("--fake", metavar="MODE", help="of agent `fake`: oracle, nop or scripted:FILE")
    add("--save-answers", metavar="DIR", help="write each answer to DIR/<skill>/<id>.md")
    add("--no-llm-judges", action="store_true", help="skip what only a judge can decide")
    add("--shard", metavar="I/N", help="only the I-th of N parts of the cases")
    add("--cleanup", action="store_true", help="then remove what the run left outside its folder")
    add("--keep-workspaces", action="store_true", help="keep the trials' folders")


def _add_scenarios(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--backend", metavar="NAME", help="kiro or http (default: kiro)")
    add("--engine", metavar="NAME", help="docker or podman (default: docker)")
    add("--output", metavar="PATH", help="file or folder for the JSON report")
    add("--model-label", metavar="TEXT", help="readable model name in the report")


def _add_judge(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--model", help="model of the agent")
    add("--judge-model", "--grader-model", metavar="MODEL", help="model of the judge")
    add("--judge-base-url", "--grader-base-url", type=_url, metavar="URL",
        help="endpoint of the judge")  # fmt: skip
    add("--threshold", type=_percentage, metavar="N", help="percentage to reach (scenarios: 95)")


def _add_pace(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--case", "--cases", "--eval-id", nargs="+", action="extend", default=[], metavar="ID",
        help="only these cases")  # fmt: skip
    add("--concurrency", "-c", "--parallelism", type=_least(1), metavar="N", help="agents at once")
    add("--workspace", "-w", metavar="DIR", help="run folders (default: eval-workspace)")
    add(
        "--iteration", "-i", type=_number, metavar="N", help="number of the run (default: the next)"
    )
    add("--resume", action="store_true",
        help="go on with the newest run that has anything left, as it was begun")  # fmt: skip
    add("--record", metavar="DIR", help="write every exchange below DIR")
    add("--replay", metavar="DIR", help="run from what --record wrote, without a network")
    add("--dry-run", action="store_true", help="what would run; nothing is started")
    add("--print-config", action="store_true", help="each value and its source; no run")
    add("--json", action="store_true", help="results as JSON")
    add("--quiet", action="store_true", help="no progress on the terminal")


def _whole(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no whole number") from None
    if abs(number) > LARGEST:
        raise argparse.ArgumentTypeError(f"{text[:40]} is too large; use at most {LARGEST}")
    return number


def _least(least: int) -> Callable[[str], int]:
    """For a number of which too small a one is refused: a run that costs starts as it was meant."""

    def number(text: str) -> int:
        found = _whole(text)
        if found < least:
            raise argparse.ArgumentTypeError(f"{found} is too small; use {least} to {LARGEST}")
        return found

    return number


def _percentage(text: str) -> int:
    number = _whole(text)
    if not 0 <= number <= 100:
        raise argparse.ArgumentTypeError(f"{number} is no percentage; use 0 to 100")
    return number


def _url(text: str) -> str:
    try:
        return text and address.parse(text) and text  # an empty one counts as not given
    except ValueError as error:  # which does not quote it: there may be a password in it
        raise argparse.ArgumentTypeError(str(error)) from None


def _dollars(text: str) -> float:
    amount = float(text)
    if not 0 <= amount < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no amount of dollars")
    return amount


def _variable(text: str) -> str:
    if not text.isidentifier() or not text.isascii():
        name = text.partition("=")[0]  # what comes behind it may be a secret
        raise argparse.ArgumentTypeError(
            f"{name!r} must be the name of a variable alone; its value is taken from ours"
        )
    return text


def _number(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 10**9:
        raise argparse.ArgumentTypeError(f"{text} is no number of a run; use 1 or more")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Finds out what the target is, refuses what means nothing for it, and runs it."""
    arguments.target = arguments.target or arguments.evals
    if not arguments.target:
        raise UsageError("name what to run: a skill folder, a scenario folder, or --evals FILE")
    door = _door(arguments)
    for other, options in ONLY.items():
        given = [name for name in sorted(options) if getattr(arguments, name)]
        if other != door and given:
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in given)
            kind = "scenario folders" if other == SCENARIOS else "evals.json and tasks.json"
            raise UsageError(f"{flags}: means nothing for {arguments.target}; it is for {kind}")
    return int(import_module(f"skilleval.commands.{door}").run(arguments))


def _door(arguments: argparse.Namespace) -> str:
    """The module that runs such a target. Of a skill with both, scenarios are what it runs."""
    if arguments.evals or arguments.target.endswith(".json"):
        return SUITES
    names = formats.owners(arguments.target)
    if "scenarios" in names or not os.path.isdir(arguments.target) or not names:
        return SCENARIOS
    return SUITES
