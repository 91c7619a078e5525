"""Makes reports of suites for tests, as if they had run. Owns how results are written down briefly.

A trial is a word: a letter for each check (p pass, f fail, s skip, e error), `-` for one without
checks, or the failure that it ended with (`timeout`, `infrastructure`, `budget` …).
"""

from skilleval import aggregate
from skilleval.model import (
    Arm,
    Case,
    Check,
    Event,
    Outcome,
    Result,
    Rules,
    Suite,
    Trial,
    Usage,
    Verdict,
)

STATUS = {"p": "pass", "f": "fail", "s": "skip", "e": "error"}
WITH = Arm("codex-with_skill", "codex", with_skill=True)
WITHOUT = Arm("codex-without_skill", "codex", with_skill=False)
RULES = Rules(unanswered="skip", errored="skip")
USED = (Event("skill", "demo"),)
IDLE = (Event("text", output="done"),)


def outcome(word="p", **changes):
    """What came of a trial: 2 seconds, 10 tokens and 0.5 USD unless `changes` say otherwise."""
    sound = Outcome(
        "ok", seconds=2.0, usage=Usage(input=7, output=3, cost_usd=0.5), events=IDLE
    )._replace(**changes)
    if set(word) <= {*STATUS, "-"}:
        return sound
    status = "missing" if word == "budget" else "error"
    return sound._replace(
        status=status, failure=word, error=word, timed_out=word == "timeout", events=()
    )


def result(case_id, arm, repeat, word, **changes):
    """A trial with a verdict for each letter; one that did not end has `error` verdicts."""
    came = outcome(word, **changes)
    letters = word.strip("-") if came.status == "ok" else "e"
    verdicts = tuple(
        Verdict(f"c{i}", STATUS[x], {"p": 1, "f": 0}.get(x), "seen")
        for i, x in enumerate(letters, start=1)
    )
    return Result(Trial(case_id, arm.name, repeat), came, verdicts)


def case(identifier, checks=1, **fields):
    """A case with that many checks."""
    made = tuple(Check(f"c{i}", f"says {i}", "text") for i in range(1, checks + 1))
    return Case(identifier, "do it", made, **fields)


def report(words, *, arms=(WITH, WITHOUT), cases=None, results=()):
    """A report of `words`: {case id: (trials of the first arm, of the second …)}.

    The trials of an arm are words in one text. `cases` gives cases that are not plain ones;
    `results` are added as they are.
    """
    given = {each.id: each for each in cases or ()}
    rows, found = [], []
    for identifier, sides in words.items():
        trials = [text.split() for text in sides]
        longest = max(
            (len(word) for side in trials for word in side if set(word) <= {*STATUS}), default=1
        )
        found.append(given.get(identifier, case(identifier, longest)))
        for arm, side in zip(arms, trials, strict=False):
            rows += [result(identifier, arm, n, word) for n, word in enumerate(side, start=1)]
    extra = [each for each in given.values() if each.id not in words]
    suite = Suite("demo", "evals.json", (*found, *extra), RULES, tuple(arms), skill="demo")
    return aggregate.report(suite, (*rows, *results))
