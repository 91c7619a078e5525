"""Two runs side by side."""

import json

import recorded

from skilleval import aggregate
from skilleval.sinks import changes as sink
from skilleval.stats.changes import changes

FEWER = recorded.SUITE._replace(cases=recorded.CASES[:2])
NAMES = ("iteration-1", "iteration-2")


def found(after=FEWER):
    reports = [
        aggregate.report(suite, recorded.results(repeats, suite))
        for repeats, suite in ((3, recorded.SUITE), (2, after))
    ]
    return changes(*reports)


def test_every_configuration_is_a_row_with_its_change():
    lines = sink.render(found(), NAMES).splitlines()
    assert lines[0].split()[:4] == ["Configuration", "iteration-1", "iteration-2", "Change"]
    assert lines[2].startswith("claude-code/with_skill     68.1% (12/12)  79.2% (4/4)   +11.1%")
    assert "n=2: underpowered" in lines[2]


def test_what_is_missing_in_a_run_is_a_dash():
    only = recorded.SUITE._replace(arms=recorded.ARMS[:1])
    rows = [line.split() for line in sink.render(found(only), NAMES).splitlines()]
    [row] = [row for row in rows if row and row[0] == "codex/with_skill"]
    assert row[2:] == ["(11/12)", "-", "-", "-"]


def test_checks_that_fail_more_or_less_often_are_named():
    text = sink.render(found(), NAMES)
    assert (
        "  failed 1/3, now 1/2: claude-code/with_skill: natural: "
        "The breaking change is mentioned | prominently\n"
    ) in text
    assert "\ncases only in the earlier run\n  negative-control\n" in text


def test_markdown_escapes_what_it_shows():
    text = sink.as_markdown(found(), NAMES)
    assert "- hostile &lt;b&gt;" in text
    assert "| claude-code/with\\_skill |" in text


def test_json_has_the_keys_of_the_original_and_numbers():
    document = json.loads(sink.as_json(found(), "w", NAMES))
    assert list(document)[:4] == ["workspace", "iteration_a", "iteration_b", "rows"]
    row = document["rows"][0]
    assert row["configuration"] == document["checks"][0]["name"] == "claude-code_with_skill"
    assert {"configuration", "pass_rate_a", "pass_rate_b", "pass_rate_delta"} <= set(row)
    assert (row["full_pass_a"], row["time_delta"]) == (7 / 12, -0.5)
    assert row["paired"]["verdict"] == "underpowered"
