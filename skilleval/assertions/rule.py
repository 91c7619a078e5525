"""What an assertion asks, once it is understood. Owns the two nouns, and their way into a check.

A `Rule` says all that a grader needs to decide it from stored evidence; a `Judge` says why no rule
can. Neither knows the sentence that it was read from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

# kinds whose sense `should_trigger: false` turns around (seed 002, "How grading works")
INVERTED = frozenset({"branch", "commit", "push", "pull_request"})
# kinds that are decided by what the agent did, and not by what it left
TRACED = frozenset({"command", "skill"})
_FIELDS_OF_TUPLES = ("names", "events", "title")
_WORDS = {
    "branch": "a new branch, checked out",
    "commit": "a new commit at HEAD",
    "push": "a remote head that moved to the local one",
    "pull_request": "a new, open pull request",
    "file": "the files before and after",
    "folder": "the folders before and after",
    "command": "the commands in the agent's tool calls",
    "contains": "a text",
    "json": "strict JSON",
    "skill": "the skills that the agent used",
    "head": "the branch that is checked out, and heads before and after",
    "deleted_branch": "the local branches before and after",
    "status": "the status of the working tree",
    "rename": "the files before and after",
    "length": "the length of a text",
    "key": "the keys of a JSON object",
    "exit_code": "how the agent's program ended",
    "all": "several claims",
}


class Rule(NamedTuple):
    """A claim that stored evidence decides.

    `kind`: one of `_WORDS`, or `all` of `parts`. `negated`: the claim is that it is not so.
    `quantity` is (`==`, `>=` or `<=`, a number). `names` are the texts that the sentence quotes, or
    the files that it names; all of them count, or with `any_name` one. `only`: these, and no
    others; of messages and pushes: all of them. `where` is the file to look in, the folder of a
    file, the branch of a commit, the base of a pull request. `events` say what happened: to a file
    `exists`, `created`, `modified`, `deleted`, `empty` (several: any of them); how a text, the
    message of a commit or the name of a branch fits: `is`, `has`, `starts`, `ends`, `mentions`,
    `conventional`, and beside that `word` (as words of its own), `exact` (in these letters) and
    `last` (of the commit at HEAD alone); in what a length is counted; the type of JSON, or the
    value of its key, as JSON; of commands `in_order`; a pull request is a `draft` or `ready`.
    `title` is how that of a pull request fits, in the words of a message, and the text. `partial`:
    the sentence claims more than the rule sees, so the rule can fail it and never pass it.
    """

    kind: str
    negated: bool = False
    quantity: tuple[str, int] | None = None
    names: tuple[str, ...] = ()
    where: str = ""
    events: tuple[str, ...] = ()
    any_name: bool = False
    only: bool = False
    partial: bool = False
    parts: tuple[Rule, ...] = ()
    title: tuple[str, ...] = ()

    @property
    def grader(self) -> str:
        """Who decides it: the grader of the state, or that of the trace."""
        if self.parts:
            return "trace" if all(part.grader == "trace" for part in self.parts) else "state"
        return "trace" if self.kind in TRACED else "state"

    @property
    def explain(self) -> str:
        """One line on how it is decided, for `validate`."""
        return _explain(self)


class Judge(NamedTuple):
    """No rule decides this assertion, and why."""

    reason: str

    @property
    def explain(self) -> str:
        """The same line as a rule has."""
        return f"judge: {self.reason}"


def _explain(rule: Rule) -> str:
    if rule.parts:
        text = " + ".join(_explain(part).partition(": ")[2] for part in rule.parts)
    else:
        joined = " or " if rule.any_name else ", "
        parts = [
            "no" if rule.negated else "",
            f"{rule.quantity[0]} {rule.quantity[1]}" if rule.quantity else "",
            "only" if rule.only else "",
            "last" if "last" in rule.events else "",
            rule.kind.replace("_", " "),
            "/".join(event for event in rule.events if event != "last"),
            joined.join(repr(name) for name in rule.names),
            f"in {rule.where!r}" if rule.where else "",
            f"whose title {rule.title[0]} {rule.title[1]!r}" if rule.title else "",
        ]
        text = f"{' '.join(filter(None, parts))} (looks at {_WORDS[rule.kind]})"
    rest = "; the judge decides the rest" if rule.partial else ""
    return f"{rule.grader}: {text}{rest}"


def to_params(rule: Rule) -> dict[str, Any]:
    """The rule's fields as plain JSON values, those that say nothing left out."""
    params: dict[str, Any] = {}
    for name, value in rule._asdict().items():
        if name == "parts":
            value = [to_params(part) for part in rule.parts]
        if value not in (False, None, "", (), []):
            params[name] = list(value) if isinstance(value, tuple) else value
    return params


def from_params(params: Mapping[str, Any]) -> Rule:
    """The rule that `to_params` made these of; what is no field of a rule is passed over."""
    fields = {name: params[name] for name in Rule._fields if name in params}
    for name in _FIELDS_OF_TUPLES:
        fields[name] = tuple(fields.get(name, ()))
    if "quantity" in fields:
        op, number = fields["quantity"]
        fields["quantity"] = (str(op), int(number))
    fields["parts"] = tuple(map(from_params, fields.get("parts", ())))
    return Rule(**fields)
