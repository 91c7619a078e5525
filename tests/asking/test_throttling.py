"""When a throttled model is asked again (seed 000; spec/scenarios section 7)."""

import json
from pathlib import Path

import pytest

from skilleval.asking import throttling
from skilleval.errors import ModelError

DATA = json.loads(
    (Path(__file__).parent.parent / "data" / "scenarios" / "cases.json").read_text("utf-8")
)


class Model:
    """Fails as often as it is told, then answers."""

    def __init__(self, failures, message="HTTP 429: slow down"):
        self.failures, self.message, self.calls = failures, message, 0

    def __call__(self):
        self.calls += 1
        if self.calls <= self.failures:
            raise ModelError(f"{self.message} (call {self.calls})")
        return "ok"


@pytest.mark.parametrize("case", DATA["throttle"], ids=lambda case: case["msg"])
def test_shared_cases_of_messages(case):
    assert throttling.is_throttled(case["msg"]) is case["want"]


@pytest.mark.parametrize(
    ("message", "throttled"),
    [
        ("Rate limit exceeded", True),
        ("RateLimitError", True),
        ("TooManyRequestsException", True),
        ("Too many requests", True),
        ("port 14290 is in use", False),
        ("the limit of tokens", False),
    ],
)
def test_the_words_count_in_any_case_and_numbers_only_whole(message, throttled):
    assert throttling.is_throttled(message) is throttled


@pytest.mark.parametrize("case", DATA["retry"])
def test_shared_cases_of_asking_again(case):
    model, sleeps = Model(case["fail_first"], case.get("kind", "HTTP 429")), []
    if case["want"] == "error":
        with pytest.raises(ModelError, match=case["kind"]):
            throttling.persist(model, sleeps.append)
    else:
        assert throttling.persist(model, sleeps.append) == ("ok", case["calls"])
    assert (model.calls, sleeps) == (case["calls"], case["sleeps"])


def test_after_three_attempts_the_last_error_is_told():
    model, sleeps = Model(9), []
    with pytest.raises(ModelError) as caught:
        throttling.persist(model, sleeps.append)
    assert str(caught.value) == "throttled after 3 attempts: HTTP 429: slow down (call 3)"
    assert (model.calls, sleeps) == (3, [1, 2, 4])
