"""One start of an agent program: how it ended, what it told; and what several add up to.

Owns of what kind a failure is, and that nothing of an earlier attempt is lost. When a program is
started again, `harness` says; what it told, its agent module has read (`transcript`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from skilleval.model import Event, Failure, Outcome, Usage
from skilleval.plaintext import one_line

if TYPE_CHECKING:
    from skilleval.process import Completed
    from skilleval.trial.transcript import Transcript

Number = TypeVar("Number", int, float)
# of one attempt, and how many further ones, where nobody says otherwise (seed 002:
# SKILL_EVAL_AGENT_TIMEOUT, SKILL_EVAL_AGENT_RETRIES)
TIMEOUT_S, RETRIES = 600, 1
# another attempt cannot help, or would cost again
FINAL = ("permission", "budget")
EXCERPT = 500


class Attempt(NamedTuple):
    """One start of the program: how it ended, and what it told."""

    done: Completed
    told: Transcript

    @property
    def failure(self) -> tuple[Failure, str]:
        """Of what kind it failed, and how; ("", "") if it did not."""
        done, told = self
        if done.not_found or done.stopped:
            return "infrastructure", done.error
        if told.failure and not (done.timed_out and told.failure == "agent"):
            return told.failure, told.error or done.error or told.failure
        if done.timed_out:
            return "timeout", done.error
        if done.exit_code != 0:
            said = _excerpt(done.stderr) or _excerpt(done.stdout)
            return "agent", done.error or f"exit code {done.exit_code}{said and f': {said}'}"
        return "", ""

    @property
    def may_be_repeated(self) -> bool:
        """Could another attempt fare better?"""
        failure, done = self.failure[0], self.done
        return bool(failure) and failure not in FINAL and not (done.not_found or done.stopped)


def outcome(attempts: Sequence[Attempt]) -> Outcome:
    """What the attempts (one or more) told together; the answer is that of the last.

    An error, until somebody has looked at what the agent did.
    """
    last = attempts[-1]
    return Outcome(
        "error",
        output=last.told.output,
        exit_code=last.done.exit_code,
        timed_out=last.done.timed_out,
        seconds=sum(attempt.done.seconds for attempt in attempts),
        usage=usage(attempts),
        events=(*earlier(attempts), *last.told.events),
        attempts=len(attempts),
        stdout=printed([attempt.done.stdout for attempt in attempts]),
        stderr=printed([attempt.done.stderr for attempt in attempts]),
        model=last.told.model,
        session=last.told.session,
        output_whole=last.told.output_whole,
        events_whole=last.told.events_whole,
    )


def listed(attempts: Sequence[Attempt]) -> tuple[str, ...] | None:
    """The skills that the program listed, the last time that it did; None if it never did."""
    lists = [attempt.told.skills for attempt in attempts if attempt.told.skills is not None]
    return lists[-1] if lists else None


def usage(attempts: Sequence[Attempt]) -> Usage:
    """Of all attempts together. What one did not tell is not in the sum (see `uncounted`)."""
    parts = [_detailed(attempt.told) for attempt in attempts]
    if len(parts) == 1:
        return parts[0]
    sources = dict.fromkeys(part.cost_source for part in parts if part.cost_source)
    return Usage(
        input=_total(part.input for part in parts),
        output=_total(part.output for part in parts),
        cached=_total(part.cached for part in parts),
        cost_usd=_total(part.cost_usd for part in parts),
        cost_source=", ".join(sources),
        uncached=_total(part.uncached for part in parts),
        cache_creation=_total(part.cache_creation for part in parts),
        reasoning=_total(part.reasoning for part in parts),
    )


def _detailed(told: Transcript) -> Usage:
    get = told.details.get
    return told.usage._replace(
        uncached=get("uncached"), cache_creation=get("cache_creation"), reasoning=get("reasoning")
    )


def uncounted(attempts: Sequence[Attempt]) -> Iterator[str]:
    """A note on the attempts whose tokens are unknown while those of others are not."""
    unknown = [str(n) for n, each in enumerate(attempts, 1) if each.told.usage.input is None]
    if 0 < len(unknown) < len(attempts):
        yield f"tokens of attempt {', '.join(unknown)} unknown, and not in the sum"


def earlier(attempts: Sequence[Attempt]) -> Iterator[Event]:
    """What the attempts before the last said: no deed to be graded, but not lost."""
    for number, attempt in enumerate(attempts[:-1], 1):
        failure, error = attempt.failure
        said = f"\n{attempt.told.output}" if attempt.told.output else ""
        yield Event("retry", output=f"attempt {number}: {failure}: {error}{said}")


def printed(texts: Sequence[str]) -> str:
    """One stream of all attempts, a line between them."""
    if len(texts) == 1:
        return texts[0]
    return "\n".join(f"--- attempt {n} ---\n{text}" for n, text in enumerate(texts, 1))


def _total(values: Iterable[Number | None]) -> Number | None:
    known = [value for value in values if value is not None]
    return sum(known[1:], known[0]) if known else None


def _excerpt(text: str) -> str:
    return one_line(text[-4 * EXCERPT :])[-EXCERPT:]
