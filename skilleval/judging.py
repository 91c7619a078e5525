"""Which model judges a suite, and with whose key (seed 002). Owns that choice; asks nobody.

A key is sent only to the endpoint it belongs to: OPENROUTER_API_KEY to OpenRouter, OPENAI_API_KEY
to OpenAI, unless a base URL says where. Without a key, and without a base URL that may need none,
there is no judge: what only it could decide is skipped, and said before the run starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilleval.model import EMPTY, Suite
from skilleval.settings import DEFAULT, HIDDEN, Row, Setting, Settings

OPENROUTER, OPENAI = "https://openrouter.ai/api/v1", "https://api.openai.com/v1"
OPENROUTER_MODEL, OPENAI_MODEL = "deepseek/deepseek-v4-flash", "gpt-5-mini"
KEYS = ("OPENROUTER_API_KEY", "OPENAI_API_KEY")
TIMEOUT_S = 120.0
ROWS = (
    Row("judge_model", "", variable="EVAL_JUDGE_MODEL", flag="--judge-model"),
    Row("judge_base_url", "", variable="OPENAI_BASE_URL", flag="--judge-base-url"),
)


def settings(chosen: Settings, environ: Mapping[str, str]) -> Mapping[str, Any]:
    """The settings of the judge (see `graders.judge`), empty if there is none."""
    base_url = chosen.value("judge_base_url")
    key_name = next((name for name in KEYS if environ.get(name)), "")
    if not base_url and not key_name:
        return EMPTY
    of_openai = key_name == "OPENAI_API_KEY" and not base_url
    return {
        "backend": "http",
        "model": chosen.value("judge_model") or (OPENAI_MODEL if of_openai else OPENROUTER_MODEL),
        "base_url": base_url or (OPENAI if of_openai else OPENROUTER),
        "key_name": key_name,
        "timeout_s": TIMEOUT_S,
        "style": "",
        "debug": bool(environ.get("OPENKATA_EVAL_DEBUG")),
    }


def asked(suite: Suite) -> int:
    """How many checks go to the judge at once; those that a rule leaves open come on top."""
    return sum(check.grader == "judge" for case in suite.cases for check in case.checks)


def warnings(suite: Suite, why: str = "") -> tuple[str, ...]:
    """What is said before a run whose assertions nobody could judge; `why`, if that is meant."""
    count = asked(suite)
    if suite.judge or not count:
        return ()
    needing = "1 assertion needs" if count == 1 else f"{count} assertions need"
    missing = f"there is none; set {' or '.join(KEYS)}, or --judge-base-url"
    return (f"{needing} a judge and will be SKIPPED: {why or missing}",)


def shown(chosen: Settings, environ: Mapping[str, str], unwanted: str = "") -> dict[str, Setting]:
    """For `--print-config`: the judge that comes of the settings, and whose key it is sent.

    `unwanted` is the option that switches it off, if there is one. A key is never shown; without a
    judge, its model is None.
    """
    judge = {} if unwanted else settings(chosen, environ)
    if not judge:
        return {"judge_model": Setting(None, unwanted or f"neither {' nor '.join(KEYS)} is set")}
    found = {}
    for name, field in (("judge_model", "model"), ("judge_base_url", "base_url")):
        found[name] = Setting(judge[field], chosen.source(name))
    key = judge["key_name"]
    return {**found, "judge_key": Setting(HIDDEN if key else "", key or DEFAULT)}
