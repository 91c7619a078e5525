"""benchmark.json: the seed's layout and meaning, and what stands beside it."""

import json
import tracemalloc
from pathlib import Path

import pytest
import trials
from trials import WITH, WITHOUT

from skilleval import aggregate, writing
from skilleval.model import Arm, Case, Check, Event, Outcome, Result, Suite, Trial, Usage, Verdict
from skilleval.runfolder import serial, store
from skilleval.sinks.benchmark import document, files, for_viewers
from skilleval.stats.comparison import compare

DATA = Path(__file__).parent.parent / "data" / "statistics" / "benchmark.json"
ROWS = json.loads(DATA.read_text("utf-8"))


def benchmark(report, **changes):
    return document(compare(report), report, **changes)


def documented(row):
    """The report of a documented benchmark's runs, baseline arms included."""
    arms = tuple(
        Arm(f"{agent}-{side}_skill", agent, with_skill=side == "with")
        for agent in row["agents"]
        for side in ("with", "without")
    )
    results = []
    for run in row["runs"]:
        side = "with" if run["with_skill"] else "without"
        passed = run["grading"]["summary"]["pass_rate"] * 2
        verdicts = tuple(
            Verdict(f"c{i}", "pass" if i < passed else "fail", float(i < passed)) for i in range(2)
        )
        timing = run["timing"]
        usage = Usage(timing["total_tokens"], 0, None, timing["cost_usd"])
        outcome = Outcome("ok", seconds=timing["duration_ms"] / 1000, usage=usage)
        results.append(Result(Trial("e", f"{run['agent']}-{side}_skill"), outcome, verdicts))
    checks = tuple(Check(f"c{i}", f"check {i}", "text") for i in range(2))
    suite = Suite("demo", "evals.json", (Case("e", "do it", checks),), trials.RULES, arms)
    return aggregate.report(suite, results)


def unknown_is_null(configuration):
    """What the documented file says of an arm without runs, with null for what it has as 0."""
    if configuration["time_seconds"]["mean"]:
        return configuration
    nothing = {"mean": None, "stddev": None}
    rates = {"pass_rate": nothing, "time_seconds": nothing, "tokens": nothing}
    return configuration | rates | {"full_pass_rate": None, "pass_at_k": None}


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_documented_runs_give_the_documented_file(row):
    found, wanted = benchmark(documented(row)), row["benchmark"]
    summary = {key: unknown_is_null(each) for key, each in wanted["run_summary"].items()}
    assert found["run_summary"] == summary
    assert found["deltas"] == wanted["deltas"]
    assert found["delta"] == wanted["delta"]


def test_pass_at_k_is_any_of_k_as_the_seed_has_it():
    found = benchmark(trials.report({"a": ("f f p", "f"), "b": ("f f f", "f")}))
    with_skill = found["run_summary"]["codex_with_skill"]
    assert (with_skill["pass_at_k"], with_skill["k"]) == (0.5, 3)


def test_ungraded_runs_are_left_out_and_not_zero():
    found = benchmark(trials.report({"a": ("p s timeout", "s")}))
    assert found["run_summary"]["codex_with_skill"]["pass_rate"] == {"mean": 1.0, "stddev": 0.0}
    assert found["run_summary"]["codex_without_skill"]["pass_rate"]["mean"] is None
    assert found["delta"]["pass_rate"] is None


def test_deviation_is_that_of_a_sample():
    found = benchmark(trials.report({"a": ("p f", "p")}))
    assert found["run_summary"]["codex_with_skill"]["pass_rate"]["stddev"] == pytest.approx(
        0.5**0.5
    )


def test_a_side_that_was_not_run_has_its_keys():
    found = benchmark(trials.report({"a": ("p",)}, arms=(WITH,)))
    assert list(found["run_summary"]) == ["codex_with_skill", "codex_without_skill"]
    assert found["run_summary"]["codex_without_skill"] == {
        "pass_rate": {"mean": None, "stddev": None},
        "time_seconds": {"mean": None, "stddev": None},
        "tokens": {"mean": None, "stddev": None},
        "full_pass_rate": None,
        "pass_at_k": None,
        "k": 1,
        "cost_usd": None,
        "cost_runs": 0,
    }
    assert (found["deltas"], found["delta"]) == ({}, None)


def test_a_side_where_every_run_failed_has_no_delta():
    found = benchmark(trials.report({"a": ("p p", "timeout agent")}))
    assert (found["deltas"], found["delta"]) == ({}, None)
    assert any("all 2 trials failed" in note for note in found["notes"])


def test_a_delta_is_the_paired_difference_that_the_report_prints():
    """`a` was graded on both sides, `b` on one only, and `n` should not trigger the skill."""
    control = trials.case("n", should_trigger=False)
    words = {"a": ("p f", "f f"), "b": ("f f f", "timeout"), "n": ("p", "f")}
    report = trials.report(words, cases=[control])
    found, [printed] = benchmark(report), compare(report).deltas
    assert found["delta"]["pass_rate"] == printed.effect.effect == 0.5
    assert found["delta"]["time_seconds"] == printed.seconds
    assert found["deltas"] == {"codex": found["delta"]}
    assert for_viewers(found, "codex")["run_summary"]["delta"]["pass_rate"] == 0.5
    means = [
        found["run_summary"][f"codex_{side}_skill"]["pass_rate"]["mean"]
        for side in ("with", "without")
    ]
    assert means[0] - means[1] != 0.5


def test_one_agent_with_two_models_is_two_configurations():
    arms = tuple(Arm(f"codex-{m}", "codex", m) for m in ("m1", "m2"))
    found = benchmark(trials.report({"a": ("p", "f")}, arms=arms))
    assert {key for key in found["run_summary"] if key.endswith("with_skill")} == {
        "codex@m1_with_skill",
        "codex@m2_with_skill",
    }


def test_statistics_hold_the_whole_comparison():
    report = trials.report({"a": ("p", "f")})
    found = benchmark(report)
    assert found["statistics"] == serial.to_json(compare(report))
    assert json.loads(writing.as_json(found))["statistics"] == found["statistics"]


def test_metadata_has_the_names_that_viewers_read():
    skill = {"skill": "skills/demo"}
    arms = tuple(arm._replace(model="m", options=skill) for arm in (WITH, WITHOUT))
    report = trials.report({"a": ("p f", "p")}, arms=arms)
    assert benchmark(report, meta={"timestamp": "2026-01-01T00:00:00Z"})["metadata"] == {
        "skill_name": "demo",
        "skill_path": "skills/demo",
        "executor_model": "m",
        "analyzer_model": None,
        "evals_run": ["a"],
        "runs_per_configuration": 2,
        "timestamp": "2026-01-01T00:00:00Z",
    }


def test_runs_have_the_names_that_viewers_read():
    events = (Event("call", "Bash"), Event("text"), Event("call", "Write"))
    row = trials.result("a", WITH, 2, "pfs", events=events)
    [found] = benchmark(
        trials.report({}, arms=(WITH,), cases=[trials.case("a", 3)], results=[row])
    )["runs"]
    assert found["configuration"] == "with_skill"
    assert (found["eval_id"], found["run_number"], found["agent"]) == ("a", 2, "codex")
    assert found["result"] == {
        "pass_rate": 0.5,
        "passed": 1,
        "failed": 1,
        "total": 3,
        "time_seconds": 2.0,
        "tokens": 10,
        "tool_calls": 2,
        "errors": 0,
    }
    assert found["expectations"][2] == {
        "text": "says 3",
        "passed": False,
        "evidence": "seen",
        "skipped": True,
    }


def test_a_run_that_failed_says_why_and_has_no_rate():
    [found] = benchmark(trials.report({"a": ("timeout",)}, arms=(WITH,)))["runs"]
    assert (found["result"]["pass_rate"], found["result"]["errors"]) == (None, 1)
    assert (found["result"]["tool_calls"], found["notes"]) == (None, ["timeout"])


def test_viewers_get_their_configurations_and_numbers_as_deltas():
    found = for_viewers(benchmark(trials.report({"a": ("p f timeout", "f")})), "codex")
    summary = found["run_summary"]
    assert list(summary) == ["with_skill", "without_skill", "delta"]
    assert summary["with_skill"]["pass_rate"] == {
        "mean": 0.5,
        "stddev": pytest.approx(0.5**0.5),
        "min": 0.0,
        "max": 1.0,
    }
    assert summary["delta"] == {"pass_rate": 0.5, "time_seconds": 0.0, "tokens": 0.0}


def test_viewers_get_one_agent_at_a_time():
    other = (Arm("x-with_skill", "x"), Arm("x-without_skill", "x", with_skill=False))
    report = trials.report({"a": ("p", "p", "f", "f")}, arms=(WITH, WITHOUT, *other))
    found = for_viewers(benchmark(report), "x")
    assert {run["agent"] for run in found["runs"]} == {"x"}
    assert found["run_summary"]["with_skill"]["pass_rate"]["mean"] == 0.0


def test_every_file_has_its_runs_however_often_it_is_written():
    other = (Arm("x-with_skill", "x"), Arm("x-without_skill", "x", with_skill=False))
    report = trials.report({"a": ("p f", "p", "f", "f")}, arms=(WITH, WITHOUT, *other))
    found = files(compare(report), report)
    for _ in range(2):
        written = {name: json.loads(writing.as_json(each)) for name, each in found.items()}
        assert {name: len(each["runs"]) for name, each in written.items()} == {
            "benchmark.json": 5,
            "benchmark-codex.json": 3,
            "benchmark-x.json": 2,
        }
    assert list(written["benchmark.json"]) == [
        "run_summary",
        "deltas",
        "delta",
        "metadata",
        "runs",
        "notes",
        "statistics",
    ]


def test_thousands_of_runs_are_not_in_memory_at_once(tmp_path):
    report = trials.report({str(n): ("p p p", "f f f") for n in range(500)})
    comparison, run = compare(report), store.Run(str(tmp_path), report.suite)
    run.write("warm.json", {})  # what is loaded for it stays
    tracemalloc.start()
    try:
        for name, each in files(comparison, report).items():
            run.write(name, each)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (tmp_path / "benchmark.json").stat().st_size > 1_500_000
    assert peak < 2_000_000
