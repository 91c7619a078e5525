"""A skill's whole way, run -> report -> grade -> compare, with the three agent programs of npm.

What a user types, in a process of its own; the model follows a script (see `model_server`). The
skill's own case passes with the skill and fails without it, the control passes in both arms.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import agent_programs as programs
import pytest
from checkout import ROOT
from model_server import ModelServer

AGENTS = list(programs.PROGRAMS)
ARMS = ("with_skill", "without_skill")
EVALS = {
    "skill_name": programs.NAME,
    "evals": [
        {
            "id": "greet",
            "prompt": programs.PROMPT,
            "expected_output": "A file with a greeting.",
            "assertions": [
                "The file `greeting.txt` exists",
                'The output contains "with the skill"',
            ],
        },
        {
            "id": "control",
            "prompt": programs.ASIDE,
            "expected_output": "A number.",
            "should_trigger": False,
            "assertions": ["A git commit was created", 'The output contains "Eighty"'],
        },
    ],
}


class Bench(NamedTuple):
    """A folder with a skill and its cases, and what a user does there."""

    folder: Path
    url: str

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "skilleval", *arguments],
            cwd=self.folder,
            env={**programs.environment(self.folder / "home"), "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=150,
        )

    def run(self, agent: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        skill = ["--skill", programs.NAME, "--evals", "evals.json", "--workspace", "W"]
        model = ["--harness-base-url", self.url, "--agent-model", "fake-model"]
        return self.command("run", *skill, "--agent", agent, *model, *arguments)

    def iteration(self, number: int = 1) -> Path:
        return self.folder / "W" / f"{programs.NAME}-workspace" / f"iteration-{number}"

    def trial(self, agent: str, arm: str, case: str, repeat: int) -> Path:
        return self.iteration() / f"eval-{case}" / agent / arm / f"run-{repeat}"


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    programs.make_skill(folder)
    (folder / "evals.json").write_text(json.dumps(EVALS))
    with ModelServer(programs.SCRIPT) as server:
        yield Bench(folder, server.url)


@pytest.fixture(scope="module")
def ran(bench):
    """The first iteration: every agent, two trials of each case in each arm."""
    programs.require(*AGENTS)
    others = [f"--agent={agent}" for agent in AGENTS[1:]]
    return bench.run(AGENTS[0], *others, "--runs", "2", "--concurrency", "3")


each_agent = pytest.mark.parametrize("agent", AGENTS)
each_arm = pytest.mark.parametrize("arm", ARMS)


def test_run_measures_and_says_so(ran):
    assert (ran.returncode, "Traceback" in ran.stderr) == (0, False), ran.stderr
    assert all(agent in ran.stdout for agent in AGENTS)


@each_agent
def test_skill_makes_the_difference(bench, ran, agent):
    benchmark = read(bench.iteration() / "benchmark.json")
    rates = [benchmark["run_summary"][f"{agent}_{arm}"]["pass_rate"]["mean"] for arm in ARMS]
    assert rates == [1.0, 0.5]
    # of the eval that should trigger: the negative control passes on both sides
    assert benchmark["deltas"][agent]["pass_rate"] == 1.0


@each_agent
@each_arm
def test_every_trial_has_its_files(bench, ran, agent, arm):
    for case in ("greet", "control"):
        for repeat in (1, 2):
            trial = bench.trial(agent, arm, case, repeat)
            outputs = {
                "output.txt",
                "stdout.log",
                "stderr.log",
                "pre_state.json",
                "post_state.json",
            }
            assert {"timing.json", "grading.json", "run_meta.json"} <= set(os.listdir(trial))
            assert outputs <= set(os.listdir(trial / "outputs"))


@each_agent
def test_verdicts_follow_from_what_was_done(bench, ran, agent):
    passed = {
        (arm, case): [
            row["passed"]
            for row in read(bench.trial(agent, arm, case, 1) / "grading.json")["assertion_results"]
        ]
        for arm in ARMS
        for case in ("greet", "control")
    }
    assert passed == {
        ("with_skill", "greet"): [True, True],
        ("without_skill", "greet"): [False, False],
        ("with_skill", "control"): [True, True],
        ("without_skill", "control"): [True, True],
    }


@each_agent
def test_tokens_and_text_are_the_program_s_own(bench, ran, agent):
    trial = bench.trial(agent, "with_skill", "greet", 2)
    timing = read(trial / "timing.json")
    used = (timing["output_tokens"], timing["cached_tokens"], timing["exit_code"])
    assert used == (60, 90, 0)
    assert timing["total_tokens"] == timing["input_tokens"] + timing["output_tokens"]
    assert (trial / "outputs/output.txt").read_text().strip() == "Greeted with the skill."


def test_report_has_a_row_for_each_arm(bench, ran):
    workspace = str(bench.iteration().parent)
    done = bench.command("report", "--workspace", workspace, "--show-evidence")
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert all(agent in done.stdout for agent in AGENTS)
    assert "greeting.txt" in done.stdout  # the evidence of what failed without the skill


def test_grading_again_changes_no_verdict(bench, ran, tmp_path):
    copy = shutil.copytree(bench.iteration(), tmp_path / "iteration-1")
    before = {path.relative_to(copy): read(path) for path in copy.rglob("grading.json")}
    assert len(before) == len(AGENTS) * len(ARMS) * 2 * 2
    done = bench.command("grade", "--workspace", str(copy))
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert {path.relative_to(copy): read(path) for path in copy.rglob("grading.json")} == before


def test_iterations_are_compared(bench, ran):
    again = bench.run("claude-code", "--iteration", "2")
    assert again.returncode == 0, again.stderr
    done = bench.command("compare", "--workspace", str(bench.iteration().parent), "1", "2")
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert "claude-code" in done.stdout


def test_server_that_is_down_is_nothing_measured(bench):
    programs.require("claude-code")
    with ModelServer({}) as gone:
        pass
    away = bench._replace(url=gone.url)
    done = away.run("claude-code", "--iteration", "3", "--timeout", "20", "--retries", "0")
    assert (done.returncode, "Traceback" in done.stderr) == (3, False), done.stderr
