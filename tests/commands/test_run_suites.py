"""`skilleval run` on suites (evals.json) and for collecting answers, as users call it."""

import json
import os
import signal
import subprocess
import sys
import time

import build
import pytest

PASSING = [{"say": "alpha and beta"}, {"write": ["out.txt", "Total: 42\n"]}]


def suite(root, cases=None, skill="demo"):
    folder = root / "skills" / skill
    build.write(
        folder / "SKILL.md", f"---\nname: {skill}\ndescription: D. Use when.\n---\nGuide.\n"
    )
    case = {
        "id": "one",
        "prompt": "Write out.txt",
        "expected_output": "a file",
        "assertions": ["The file `out.txt` exists", 'The output contains "alpha"'],
    }
    document = {"skill_name": skill, "evals": cases or [case]}
    build.write(folder / "evals" / "evals.json", json.dumps(document))
    return folder


def script(root, steps):
    build.write(root / "script.json", json.dumps(steps))
    return "scripted:script.json"


def run(root, *arguments, env=None):
    bare = {"OPENROUTER_API_KEY": "", "OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}
    return build.skilleval("run", *arguments, cwd=root, env={**bare, **(env or {})})


def fake(root, *arguments, steps=PASSING):
    mode = script(root, steps)
    return run(root, "skills/demo/evals/evals.json", "--agent", "fake", "--fake", mode, *arguments)


def iteration(root, number=1):
    return root / "eval-workspace" / "demo-workspace" / f"iteration-{number}"


def read(path):
    return json.loads(path.read_text())


def test_with_and_without_the_skill_are_run_graded_and_compared(tmp_path):
    suite(tmp_path)
    done = fake(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "fake_with_skill" in done.stdout
    assert "fake_without_skill" in done.stdout
    assert "underpowered" in done.stdout
    folder = iteration(tmp_path)
    benchmark = read(folder / "benchmark.json")
    assert benchmark["run_summary"]["fake_with_skill"]["pass_rate"]["mean"] == 1.0
    assert sorted(p.name for p in (folder / "eval-one" / "fake").iterdir()) == [
        "with_skill",
        "without_skill",
    ]


def test_the_run_folder_has_the_documented_files(tmp_path):
    suite(tmp_path)
    fake(tmp_path, "--runs", "2")
    folder = iteration(tmp_path)
    assert {"evals_meta.json", "cleanup.json", "benchmark.json", "run.json", "summary.json"} <= {
        path.name for path in folder.iterdir()
    }
    trial = folder / "eval-one" / "fake" / "with_skill" / "run-2"
    found = {p.relative_to(trial).as_posix() for p in trial.rglob("*") if p.is_file()}
    assert {
        "timing.json",
        "grading.json",
        "run_meta.json",
        "outputs/output.txt",
        "outputs/stdout.log",
        "outputs/stderr.log",
        "outputs/pre_state.json",
        "outputs/post_state.json",
    } <= found
    assert (
        read(folder / "evals_meta.json")["evals"][0]["assertions"][0] == "The file `out.txt` exists"
    )


def test_the_seeds_own_spelling_is_understood(tmp_path):
    suite(tmp_path)
    mode = script(tmp_path, PASSING)
    done = run(
        tmp_path, "--skill", "./skills/demo", "--evals", "./skills/demo/evals/evals.json",
        "--agent", "fake", "--agent-model", "fake=haiku", "--fake", mode, "--runs", "2",
        "--concurrency", "2", "--iteration", "3", "--no-baseline", "--timeout", "60",
        "--retries", "1", "--workspace", "./w",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    meta = read(
        tmp_path / "w/demo-workspace/iteration-3/eval-one/fake/with_skill/run-1/run_meta.json"
    )
    assert (meta["agent"], meta["model"], meta["with_skill"]) == ("fake", "haiku", True)


def test_an_iteration_is_never_mixed_with_another(tmp_path):
    suite(tmp_path)
    fake(tmp_path, "--iteration", "1")
    again = fake(tmp_path, "--iteration", "1")
    assert again.returncode == 2
    assert "is there already" in again.stderr
    fake(tmp_path)
    assert iteration(tmp_path, 2).is_dir()


def test_exit_3_when_nothing_could_be_measured(tmp_path):
    suite(tmp_path)
    done = fake(tmp_path, "--retries", "0", steps=[{"fail": "down"}])
    assert done.returncode == 3
    assert "failed to run" in done.stdout


def test_a_missing_program_is_said_before_anything_starts(tmp_path):
    suite(tmp_path)
    bare = tmp_path / "bin"
    bare.mkdir()
    done = run(
        tmp_path, "skills/demo/evals/evals.json", "--agent", "codex", env={"PATH": str(bare)}
    )
    assert done.returncode == 3
    assert "codex" in done.stderr
    assert not (tmp_path / "eval-workspace").exists()


def test_without_a_judge_its_assertions_are_skipped_and_said_before(tmp_path):
    case = {
        "id": "one",
        "prompt": "p",
        "expected_output": "e",
        "assertions": ["The tone is friendly"],
    }
    suite(tmp_path, [case])
    done = fake(tmp_path)
    assert "1 assertions need a judge and will be SKIPPED" in done.stderr
    assert done.returncode == 3


def test_results_that_cannot_be_written_are_shown_all_the_same(tmp_path):
    suite(tmp_path)
    fake(tmp_path)
    for name in ("summary.json", "benchmark.json"):
        (iteration(tmp_path) / name).unlink()
    (iteration(tmp_path) / "benchmark.json").mkdir()
    done = fake(tmp_path, "--resume")
    assert "benchmark.json: Is a directory" in done.stderr
    assert "fake_with_skill" in done.stdout


def test_a_command_line_with_options_is_one_text(tmp_path):
    line = "sh -c 'echo done; touch out.txt' -- {prompt}"
    suite(tmp_path)
    done = run(
        tmp_path, "skills/demo/evals/evals.json", "--agent", "command", "--agent-command", line
    )
    assert done.returncode == 0
    output = iteration(tmp_path) / "eval-one/command/with_skill/outputs/output.txt"
    assert output.read_text() == "done\n"


def test_a_threshold_is_a_gate(tmp_path):
    suite(tmp_path)
    assert fake(tmp_path, "--threshold", "100").returncode == 0
    assert fake(tmp_path, "--threshold", "60", steps=[{"say": "alpha"}]).returncode == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--agent", "clode"], "unknown agent 'clode'"),
        (["--agent-model", "fake="], "the model is missing"),
        (["--agent-model", "codex=m"], "--agent has only fake"),
        (["--shard", "3/2"], "write I/N"),
        (["--case", "two"], "unknown case two; there are: one"),
        (["--backend", "http"], "--backend: means nothing for"),
        (["--concurrency", "x"], "--concurrency"),
        (["--max-budget-usd", "nan"], "nan is no amount of dollars"),
        (["--max-budget-usd", "-1"], "--max-budget-usd"),
        (["--iteration", "0"], "0 is no number of a run"),
        (["--skill", "nope"], "nope: no SKILL.md there"),
    ],
    ids=str,
)
def test_a_wrong_option_is_a_usage_error_with_the_choices(tmp_path, arguments, message):
    suite(tmp_path)
    extra = [] if "--agent" in arguments else ["--agent", "fake"]
    done = run(tmp_path, "skills/demo/evals/evals.json", *extra, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert not (tmp_path / "eval-workspace").exists()


def test_options_of_suites_mean_nothing_for_scenarios(tmp_path):
    build.scenario(tmp_path)
    done = run(tmp_path, "skills/demo", "--runs", "3", "--agent", "fake")
    assert done.returncode == 2
    assert "--agent, --runs: means nothing for skills/demo; it is for evals.json" in done.stderr


def test_shards_take_all_cases_between_them(tmp_path):
    cases = [
        {
            "id": f"c{i}",
            "prompt": "p",
            "expected_output": "e",
            "assertions": ["The file `x` exists"],
        }
        for i in range(5)
    ]
    suite(tmp_path, cases)
    seen = []
    for part in ("1/2", "2/2"):
        done = fake(tmp_path, "--shard", part, "--dry-run")
        seen.append(int(done.stdout.split(" cases x ")[0].split()[-1]))
    assert seen == [3, 2]


def test_dry_run_counts_what_would_be_started(tmp_path):
    suite(tmp_path)
    done = fake(tmp_path, "--runs", "3", "--dry-run")
    assert "1 cases x 2 arms x 3 = 6 agent runs" in done.stdout
    assert not (tmp_path / "eval-workspace").exists()


def test_print_config_shows_the_variables(tmp_path):
    suite(tmp_path)
    done = run(
        tmp_path,
        "skills/demo/evals/evals.json",
        "--print-config",
        env={"SKILL_EVAL_AGENT_TIMEOUT": "77"},
    )
    assert "timeout" in done.stdout
    assert "77" in done.stdout
    assert "SKILL_EVAL_AGENT_TIMEOUT" in done.stdout


def test_a_budget_starts_no_further_trial_and_exits_3(tmp_path):
    suite(tmp_path)
    done = fake(tmp_path, "--max-budget-usd", "0", "--runs", "2")
    assert done.returncode == 3
    trials = [read(path) for path in iteration(tmp_path).rglob("trial.json")]
    assert {trial["result"]["outcome"]["failure"] for trial in trials} == {"budget"}


def test_a_run_that_the_budget_ended_goes_on_with_a_larger_one(tmp_path):
    suite(tmp_path)
    fake(tmp_path, "--max-budget-usd", "0")
    assert fake(tmp_path, "--max-budget-usd", "1", "--resume").returncode == 0
    assert "no unfinished run" in fake(tmp_path, "--resume").stderr


def test_a_budget_that_cannot_be_kept_is_said(tmp_path):
    suite(tmp_path)
    agent = ("--agent", "command", "--agent-command", "true")
    done = run(tmp_path, "skills/demo/evals/evals.json", *agent, "--max-budget-usd", "1")
    assert "--max-budget-usd 1 was no limit for 2 trials" in done.stderr


def test_an_empty_name_switches_the_judge_off(tmp_path):
    suite(tmp_path)
    key = {"OPENAI_API_KEY": "sk-x"}
    path = ("skills/demo/evals/evals.json", "--agent", "fake", "--dry-run")
    assert "(no judge)" in run(tmp_path, *path, "--judge-model", "", env=key).stdout
    assert "(judge gpt" in run(tmp_path, *path, env=key).stdout


def test_answers_of_an_agent_are_collected_for_run_evals(tmp_path):
    build.skill(tmp_path)
    mode = script(tmp_path, [{"say": "Use apiCall( here."}])
    done = run(
        tmp_path, "skills/demo/evals/tasks.json", "--agent", "fake", "--fake", mode,
        "--save-answers", "answers",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "apiCall(" in (tmp_path / "answers" / "demo" / "t1.md").read_text()
    scored = build.script("run-evals.py", "--answers", "answers", cwd=tmp_path)
    assert "demo  1.000" in scored.stdout


def test_trials_are_graded_alike_again_without_their_workspaces(tmp_path):
    suite(tmp_path)
    fake(tmp_path)
    folder = iteration(tmp_path)
    before = {p.relative_to(folder): read(p) for p in folder.rglob("grading.json")}
    done = build.skilleval(
        "grade", "--workspace", str(folder), "--recompute-benchmark", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert {p.relative_to(folder): read(p) for p in folder.rglob("grading.json")} == before


def test_a_recorded_run_is_replayed(tmp_path):
    suite(tmp_path)
    recorded = fake(tmp_path, "--record", "tape")
    replayed = fake(tmp_path, "--replay", "tape", steps=[{"fail": "never started"}])
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr
    untimed = [line for line in recorded.stdout.splitlines() if "time" not in line.lower()]
    assert [x for x in replayed.stdout.splitlines() if "time" not in x.lower()][:3] == untimed[:3]


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
@pytest.mark.parametrize("moment", range(10))
def test_kill_9_at_any_moment_loses_and_repeats_no_finished_trial(tmp_path, moment):
    cases = [
        {
            "id": f"c{i}",
            "prompt": "p",
            "expected_output": "e",
            "assertions": ["The file `out.txt` exists"],
        }
        for i in range(4)
    ]
    suite(tmp_path, cases)
    steps = [{"run": ["sh", "-c", f"date +%s%N >> {tmp_path}/starts"]}, *PASSING]
    mode = script(tmp_path, steps)
    arguments = [
        "run",
        "skills/demo/evals/evals.json",
        "--agent",
        "fake",
        "--fake",
        mode,
        "--quiet",
    ]
    command = [sys.executable, "-m", "skilleval", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(build.ROOT)}
    started = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    wanted, until = moment % 8, time.monotonic() + 30
    while time.monotonic() < until and started.poll() is None:
        if len(list(tmp_path.rglob("trial.json"))) >= wanted and iteration(tmp_path).exists():
            break
        time.sleep(0.002)
    time.sleep(moment * 0.004)
    started.send_signal(signal.SIGKILL)
    started.wait()
    if (iteration(tmp_path) / "summary.json").exists():
        pytest.skip("it had finished before it could be killed")
    kept = {p: p.read_bytes() for p in tmp_path.rglob("trial.json")}
    resumed = build.skilleval(*arguments, "--resume", cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    assert {p: p.read_bytes() for p in kept} == kept
    assert len(list(tmp_path.rglob("trial.json"))) == 8
    assert "8 trials: 8 graded" in resumed.stdout
