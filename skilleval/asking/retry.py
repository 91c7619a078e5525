"""Asking again. Owns when a request is worth another attempt and how long to wait before it.

Does not own the attempt itself (http.py), nor what an answer means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from skilleval.http import Request, Response

RETRY_STATUSES = frozenset({429, 500, 502, 503, 504, 529})


class Policy(NamedTuple):
    """How often and how patiently to retry.

    `tries` attempts at most, all of them and the waits within `total_s`. The n-th wait is drawn
    evenly from 0 to `base_s` * 2**(n-1), or to `cap_s` where that is less ("full jitter": callers
    that failed together do not come back together).
    """

    tries: int = 4
    base_s: float = 1.0
    cap_s: float = 30.0
    total_s: float = 600.0


DEFAULT_POLICY = Policy()


def send(
    request: Request,
    *,
    post: Callable[[Request], Response],
    sleep: Callable[[float], object],
    now: Callable[[], float],
    policy: Policy = DEFAULT_POLICY,
    random: Callable[[], float] | None = None,
) -> Response:
    """The answer to `request`, tried again on 429, 5xx that pass, and failures before any answer.

    `now` gives seconds since the epoch (`Retry-After` may be a date), `random` a number in [0, 1).
    Waits as long as `Retry-After` says, else by the policy; returns the last response at once when
    the wait would end after `total_s`.
    """
    if random is None:
        from random import random as system_random

        random = system_random
    deadline = now() + policy.total_s
    tries = 0
    while True:
        tries += 1
        timeout_s = min(request.timeout_s, deadline - now())
        response = post(request._replace(timeout_s=timeout_s))._replace(tries=tries)
        if tries >= policy.tries or not _may_pass(response):
            return response
        wait_s = retry_after_s(response.headers, now())
        if wait_s is None:
            wait_s = random() * min(policy.cap_s, policy.base_s * 2 ** min(tries - 1, 30))
        if now() + wait_s >= deadline:
            return response
        sleep(wait_s)


def _may_pass(response: Response) -> bool:
    """Whether the same request may fare better later."""
    if response.status is None:
        return response.kind in ("timeout", "connection") and not response.answered
    return response.status in RETRY_STATUSES


def retry_after_s(headers: Mapping[str, str], now_s: float) -> float | None:
    """The seconds that `retry-after` asks for, from a number or any of the three HTTP date forms.

    None when there is no such header, it cannot be read, or its date has passed (RFC 9110 10.2.3).
    Some servers send fractions, which the RFC does not know; they are taken.
    """
    from datetime import UTC
    from email.utils import parsedate_to_datetime

    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.replace(".", "", 1).isdecimal():
        return float(value)
    try:
        date = parsedate_to_datetime(value)
        # the asctime form names no zone and means UTC
        seconds = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now_s
    except (ValueError, OverflowError):
        return None
    return seconds if seconds >= 0 else None
