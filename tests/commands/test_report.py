"""`skilleval report`: run folders in, text of five kinds out."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import build
import pytest
import recorded

RUNS = Path(__file__).parent.parent / "data" / "runs"
RECORDED = RUNS / "write-release-notes-workspace"
QUIET = {"GITHUB_ACTIONS": "", "GITHUB_STEP_SUMMARY": "", "NO_COLOR": "1"}
SMALL = recorded.SUITE._replace(cases=recorded.CASES[:3], arms=recorded.ARMS[:2])


def report(*arguments, cwd, env=QUIET):
    return build.skilleval("report", *arguments, cwd=cwd, env={**QUIET, **env})


def test_a_recorded_run_is_shown(tmp_path):
    done = report("--workspace", RECORDED, "--show-evidence", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("write-release-notes, iteration-1\n2 cases, 8 trials: 8 graded\n")
    assert "claude-code/with_skill     4/4     91.7% +/- 16.7%  29% to 100%" in done.stdout
    assert "    [FAIL] The breaking change is mentioned | prominently — not found;" in done.stdout


def test_a_run_folder_and_its_workspace_show_the_same(tmp_path):
    texts = {report(path, cwd=tmp_path).stdout for path in (RECORDED, RECORDED / "iteration-1")}
    assert len(texts) == 1


def test_all_runs_are_shown_in_natural_order(tmp_path):
    done = report(RUNS, cwd=tmp_path)
    assert re.findall(r"^\S+, iteration-\d+$", done.stdout, re.MULTILINE) == [
        "original, iteration-2",
        "original, iteration-10",
        "write-release-notes, iteration-1",
    ]


def test_one_iteration_is_chosen_by_its_number(tmp_path):
    done = report(RUNS / "original-workspace", "--iteration", "10", cwd=tmp_path)
    assert done.stdout.startswith("original, iteration-10\n")
    assert "iteration-2\n" not in done.stdout


def test_the_default_workspace_is_that_of_run(tmp_path):
    recorded.make(tmp_path / "eval-workspace", 1, SMALL)
    assert report(cwd=tmp_path).stdout.startswith("write-release-notes, iteration-1\n")


def test_a_run_of_the_original_is_shown(tmp_path):
    done = report(RUNS / "original-workspace", "-i", "10", "--show-evidence", cwd=tmp_path)
    assert "  codex/with_skill: 1/2 passed (100.0%, 1 skipped), ended with" in done.stdout
    assert "    [SKIPPED] It is polite — No LLM grader configured\n" in done.stdout


@pytest.mark.parametrize(
    ("form", "start"),
    [
        ("markdown", "## write-release-notes, iteration-1\n"),
        ("html", "<!DOCTYPE html>\n"),
        ("junit", '<?xml version="1.0" encoding="utf-8"?>\n<testsuites'),
        ("json", '{\n  "runs": ['),
    ],
)
def test_every_format_is_written_to_stdout_or_a_file(tmp_path, form, start):
    done = report(RECORDED, "--format", form, cwd=tmp_path)
    assert done.stdout.startswith(start)
    said = report(RECORDED, "--format", form, "--output", "out/x", cwd=tmp_path)
    assert said.stdout == "wrote out/x\n"
    assert (tmp_path / "out" / "x").read_text("utf-8") == done.stdout


def test_json_holds_the_benchmark_of_each_run(tmp_path):
    [found] = json.loads(report(RECORDED, "--json", cwd=tmp_path).stdout)["runs"]
    assert found["run_summary"]["claude-code_with_skill"]["pass_rate"]["mean"] == 11 / 12
    assert (found["run"], found["problems"]) == (str(RECORDED / "iteration-1"), [])


def test_html_shows_the_evidence_from_the_files_of_each_trial(tmp_path):
    text = report(recorded.make(tmp_path), "--format", "html", cwd=tmp_path).stdout
    assert "No such file" in text
    assert '<span class="add">+- **Breaking:** `run` needs a name</span>' in text
    assert "characters more; the rest is in" not in text


def test_junit_of_hostile_text_parses(tmp_path):
    text = report(recorded.make(tmp_path), "-f", "junit", cwd=tmp_path).stdout
    assert int(ElementTree.fromstring(text.encode()).get("failures")) > 0


def test_an_unfinished_run_says_so(tmp_path):
    done = report(recorded.make(tmp_path, 1, SMALL, only=3), cwd=tmp_path)
    assert "3 trials of 6 planned (the run is not finished): 3 graded" in done.stdout


def test_a_damaged_result_is_a_doubt_and_the_rest_is_shown(tmp_path):
    folder = Path(recorded.make(tmp_path, 1, SMALL))
    (folder / "eval-natural" / "claude-code" / "with_skill" / "trial.json").write_text("{")
    done = report(folder, cwd=tmp_path)
    assert done.returncode == 0
    assert re.search(
        r"doubts:\n(?:  .*\n)*  .*trial\.json: is damaged: .*; left out\n", done.stdout
    )


def test_a_run_that_cannot_be_read_is_said_and_the_others_are_shown(tmp_path):
    recorded.make(tmp_path, 1, SMALL)
    build.write(tmp_path / "write-release-notes-workspace" / "iteration-2" / "run.json", "{")
    done = report(tmp_path, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.startswith("warning: ")
    assert "iteration-2/run.json: is damaged" in done.stderr
    assert done.stdout.startswith("write-release-notes, iteration-1\n")


def test_without_any_result_nothing_could_be_measured(tmp_path):
    (tmp_path / "x-workspace" / "iteration-1").mkdir(parents=True)
    done = report(tmp_path, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert "holds no result yet" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone"], "gone: no such folder"),
        (["."], ".: holds no run"),
        ([RECORDED, "--workspace", RECORDED], "give one of them"),
        ([RECORDED, "--iteration", "7"], "has no iteration 7; there are: iteration-1"),
        ([RECORDED, "--iteration", "0"], "has no iteration 0"),
        ([RECORDED, "--format", "pdf"], "invalid choice: 'pdf'"),
    ],
)
def test_a_wrong_call_is_a_usage_error(tmp_path, arguments, message):
    done = report(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_file_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "out").mkdir()
    done = report(RECORDED, "--output", "out", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "error: out: cannot be written: Is a directory\n"


def test_on_github_the_summary_is_written_and_the_log_is_fenced(tmp_path):
    env = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    done = report(recorded.make(tmp_path), "--show-evidence", cwd=tmp_path, env=env)
    token = re.match(r"::stop-commands::(\w{32})\n", done.stdout)[1]
    assert done.stdout.endswith(f"\n::{token}::\n")
    assert done.stderr.startswith("::error file=evals/write-release-notes/evals.json,title=")
    assert "## write-release-notes, iteration-1\n" in (tmp_path / "summary.md").read_text("utf-8")


def test_on_github_markdown_can_be_piped_into_a_comment(tmp_path):
    arguments = (RECORDED, "--format", "markdown", "--show-evidence")
    on_github = report(*arguments, cwd=tmp_path, env={"GITHUB_ACTIONS": "true"})
    assert on_github.stdout == report(*arguments, cwd=tmp_path).stdout


def test_on_github_a_machine_format_stays_as_it_is(tmp_path):
    done = report(RECORDED, "--json", cwd=tmp_path, env={"GITHUB_ACTIONS": "true"})
    assert json.loads(done.stdout)["runs"]
