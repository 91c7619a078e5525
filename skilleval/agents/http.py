"""The agent that is a model behind an endpoint: one prompt, one text, no tools (seed 000, "http").

Owns which endpoint an arm means and that a throttled one is asked again. The way there is
`chat`'s, and every case with a sandbox is another agent's.
"""

from __future__ import annotations

from skilleval.asking import chat
from skilleval.asking.retry import Policy
from skilleval.asking.throttling import Throttled, persist
from skilleval.errors import ModelError
from skilleval.model import Arm, Case, Outcome, Suite
from skilleval.tools import Tools

OPTIONS = None
NO_BASE_URL = (
    "the http backend has no base URL; set OPENKATA_EVAL_HTTP_BASE_URL, or http.base_url in"
    " .openkata-eval.yaml, to the URL before /chat/completions"
)


def preflight(suite: Suite, tools: Tools) -> tuple[str, ...]:
    """What the suite's http agents and judge lack: a base URL. Empty if all is there."""
    direct = any(case.agent in ("", "http") for case in suite.cases)
    bases = [arm.options.get("base_url") for arm in suite.arms if arm.agent == "http" and direct]
    if suite.judge.get("backend") == "http":
        bases.append(suite.judge.get("base_url"))
    return () if all(bases) else (NO_BASE_URL,)


def run(case: Case, arm: Arm, tools: Tools) -> Outcome:
    """The model's reply to the case's prompt, without a system text.

    The arm's options: `base_url`, `key_name` (the variable that holds the key, if any) and
    `timeout_s` for one attempt. What the endpoint does wrong is an outcome with an error; only
    throttling is asked again, as in the seed. A missing base URL is found by `preflight`.
    """
    options = arm.options
    timeout_s = options["timeout_s"]
    key = tools.environ.get(options["key_name"], "")
    endpoint = chat.Endpoint(
        options["base_url"],
        arm.model,
        key,
        timeout_s=timeout_s,
        # `persist` asks again, with the waits of the seed
        policy=Policy(tries=1, total_s=timeout_s),
    )
    started = tools.now()
    try:
        reply, attempts = persist(
            lambda: chat.complete(endpoint, "", case.prompt, tools), tools.sleep
        )
    except ModelError as error:
        return Outcome(
            "error",
            error=f"agent completion: {error}",
            failure=error.failure,
            seconds=tools.now() - started,
            attempts=error.attempts if isinstance(error, Throttled) else 1,
        )
    return Outcome(
        "ok",
        reply.text,
        seconds=tools.now() - started,
        usage=reply.usage,
        attempts=attempts,
    )
