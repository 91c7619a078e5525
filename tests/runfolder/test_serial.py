"""Nouns to JSON and back."""

import json

import pytest

from skilleval.http import Response
from skilleval.model import (
    Call,
    Delta,
    FileChange,
    Outcome,
    Result,
    State,
    Trial,
    Usage,
    Verdict,
)
from skilleval.runfolder import serial

RESULT = Result(
    Trial("a", "m", 2),
    Outcome(
        "ok",
        "text\ud800",
        usage=Usage(1, None, 3, 0.5, "cli"),
        delta=Delta((FileChange("f", 3, "abc"),), (), ("gone",), {"head": "x"}),
        seconds=1.5,
    ),
    (Verdict("c", "pass", 1), Verdict("d", "error", None, "why", value={"k": [1]})),
    (Call("judge", "j", 10, 0.1),),
)


def test_a_result_survives_the_way_through_json():
    text = json.dumps(serial.to_json(RESULT))
    assert serial.from_json(Result, json.loads(text)) == RESULT


def test_bytes_survive():
    response = Response(200, b"\xff\x00", {"a": "b"}, 0.1)
    assert serial.from_json(Response, json.loads(json.dumps(serial.to_json(response)))) == response


def test_unknown_stays_unknown():
    assert serial.to_json(Usage()) == {
        "input": None,
        "output": None,
        "cached": None,
        "cost_usd": None,
        "cost_source": "",
        "uncached": None,
        "cache_creation": None,
        "reasoning": None,
    }


def test_a_missing_field_gets_its_default_and_an_unknown_one_is_dropped():
    assert serial.from_json(Trial, {"case_id": "a", "arm": "m", "later": 1}) == Trial("a", "m")


@pytest.mark.parametrize("value", [None, [], "x", 3])
def test_what_is_no_such_noun_is_refused(value):
    with pytest.raises(ValueError, match="expected Trial"):
        serial.from_json(Trial, value)


def test_an_outcome_keeps_what_was_lost_of_it_and_an_old_one_is_whole():
    cut = Outcome("ok", output_whole=False, events_whole=False, after=State(None))
    assert serial.from_json(Outcome, serial.to_json(cut)) == cut
    old = serial.from_json(Outcome, {"status": "ok"})
    assert (old.output_whole, old.events_whole) == (True, True)
