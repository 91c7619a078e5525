"""`skilleval compare`: two runs side by side."""

import json
from pathlib import Path

import build
import pytest

RUNS = Path(__file__).parent.parent / "data" / "runs"
ORIGINAL = RUNS / "original-workspace"


def compare(*arguments, cwd):
    env = {"GITHUB_ACTIONS": "", "GITHUB_STEP_SUMMARY": ""}
    return build.skilleval("compare", *arguments, cwd=cwd, env=env)


def test_two_iterations_are_shown_by_configuration(tmp_path):
    done = compare("--workspace", ORIGINAL, "2", "10", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].split()[:4] == ["Configuration", "iteration-2", "iteration-10", "Change"]
    assert lines[2].split()[:6] == [
        "codex/with_skill",
        "50.0%",
        "(2/2)",
        "100.0%",
        "(2/2)",
        "+50.0%",
    ]
    assert '  failed 1/1, now 0/1: codex/with_skill: 1: The output contains "ok"' in lines


def test_folders_may_be_named_and_of_different_tools(tmp_path):
    ours = RUNS / "write-release-notes-workspace"
    done = compare(ORIGINAL / "iteration-2", ours, cwd=tmp_path)
    assert done.returncode == 0
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["claude-code/with_skill", "-", "91.7%", "(4/4)", "-", "-"] in rows


def test_json_has_numbers(tmp_path):
    done = compare("-w", ORIGINAL, "2", "10", "--json", cwd=tmp_path)
    rows = json.loads(done.stdout)["rows"]
    assert [row["pass_rate_delta"] for row in rows] == [0.5, 0.0]


def test_markdown_is_a_table(tmp_path):
    done = compare("-w", ORIGINAL, "2", "10", "--format", "markdown", cwd=tmp_path)
    assert done.stdout.startswith("| Configuration | iteration-2 | iteration-10 | Change |")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["2", "3", "-w", ORIGINAL], "has no iteration 3; there are: iteration-2, iteration-10"),
        (["2", "10"], "eval-workspace: no such folder"),
        ([ORIGINAL, ORIGINAL / "iteration-2"], "holds 2 runs; name one of"),
        (["2"], "required: B"),
    ],
)
def test_a_wrong_call_is_a_usage_error(tmp_path, arguments, message):
    done = compare(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
