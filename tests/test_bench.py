"""Benchmarks: what they make and how they tell it. How fast anything is, no test asserts."""

import json
import subprocess
import sys

import checkout
import pytest

from skilleval import bench, validation
from skilleval.errors import SkillevalError

TINY = bench.Sizes(
    pairs=1,
    fixtures=bench.Size(2, 2, 4),
    small=bench.Size(1, 1, 2),
    large=bench.Size(2, 2, 4),
    validate=bench.Size(2, 1, 4),
    trials=3,
    at_once=2,
    agent_s=0.1,
)
FIGURES = {"fixtures", "fixtures-peak", "scaling", "help", "validate", "trials", "rounds", "judges"}


def test_generator_makes_the_asked_number_of_tasks_and_checks(tmp_path):
    bench.write_skills(str(tmp_path), bench.Size(3, 2, 8))
    files = sorted(tmp_path.glob("skills/*/evals/tasks.json"))
    tasks = [task for file in files for task in json.loads(file.read_text())["tasks"]]
    assert (len(files), len(tasks)) == (3, 6)
    assert {len(task["must_include"]) for task in tasks} == {6}
    assert {len(task["must_not_include"]) for task in tasks} == {2}


def test_generated_skills_have_no_problem(tmp_path):
    bench.write_skills(str(tmp_path), bench.Size(2, 3, 4))
    folders = validation.targets([str(tmp_path)])
    assert len(folders) == 2
    assert [p for folder in folders for p in validation.problems(folder, strict=True)] == []


def test_bare_loop_agrees_with_our_score(tmp_path):
    bench.write_skills(str(tmp_path), bench.Size(2, 2, 4))
    (tmp_path / "skills/skill-0001/evals/examples/queue-payload-001.md").write_text("nothing")
    loop = [sys.executable, "-c", bench.BARE_LOOP, str(tmp_path)]
    ours = [sys.executable, bench.RUN_EVALS, "--root", str(tmp_path), "--json"]
    bare = subprocess.run(loop, capture_output=True, text=True)
    report = json.loads(subprocess.run(ours, capture_output=True, text=True).stdout)
    assert bare.stdout == f"{report['checks_passed']}/{report['checks_total']} checks\n"
    assert report["checks_passed"] == 13
    assert bare.returncode == 1


def test_every_benchmark_gives_figures_as_json(capsys):
    assert bench.main(["--json"], TINY) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures.keys() == FIGURES
    for name, figure in figures.items():
        unit = "peak_mb" if name == "fixtures-peak" else "ratio"
        assert figure[unit] > 0
        assert figure["ok"] == (figure[unit] <= figure["floor"])
        assert figure["n"] == 1
    assert figures["help"]["median_ms"] > 0
    assert figures["help"]["against_median_ms"] > 0
    assert figures["rounds"]["against_median_ms"] == 200  # of two agents and one
    assert figures["rounds"]["wall_median_ms"] > 200


def test_line_says_name_value_floor_and_whether_it_is_kept():
    figures = [bench.Figure("kept", 1.5, 1.5, 3), bench.Figure("too-big", 30.25, 25, 3, "peak_mb")]
    assert bench.as_lines(figures).split("\n") == [
        "kept       1.50  ratio    floor 1.5    ok",
        "too-big   30.25  peak_mb  floor 25     over",
    ]


def test_over_a_floor_exits_with_1_only_when_checking():
    kept, over = bench.Figure("kept", 1, 1, 3), bench.Figure("over", 1.01, 1, 3)
    assert bench.exit_code([kept, over], check=True) == 1
    assert bench.exit_code([kept, over], check=False) == 0
    assert bench.exit_code([kept], check=True) == 0


def test_unknown_benchmark_is_a_usage_error_that_lists_the_names(capsys):
    assert bench.main(["fixture"]) == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    assert "unknown benchmark 'fixture'; choose from: fixtures, scaling," in streams.err


def test_command_that_fails_is_not_timed():
    with pytest.raises(SkillevalError, match="exit code 4"):
        bench.measure([sys.executable, "-c", "raise SystemExit(4)"])


def test_cost_counts_the_cpu_and_memory_of_the_command_itself():
    # in a process of its own: a child inherits the peak of the one that started it
    code = f"""
from skilleval import bench
busy = "x = bytearray(200_000_000); sum(range(3_000_000))"
print([*bench.measure([{sys.executable!r}, "-c", busy]), *bench.measure(bench.IDLE)])
"""
    given = {"cwd": checkout.ROOT, "capture_output": True, "text": True}
    done = subprocess.run([sys.executable, "-c", code], **given)
    cpu, _, peak, idle_cpu, _, idle_peak = json.loads(done.stdout)
    assert peak > 200
    assert idle_peak < 100
    assert cpu > idle_cpu


def test_script_passes_its_arguments_on():
    script = checkout.ROOT / "scripts" / "bench.py"
    done = subprocess.run([sys.executable, script, "nope"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "unknown benchmark 'nope'" in done.stderr
