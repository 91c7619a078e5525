"""`skilleval run` on suites (evals.json) and for collecting answers, as users call it."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import build
import pytest
from loopback import Loopback

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
    assert "fake/with_skill" in done.stdout
    assert "fake/without_skill" in done.stdout
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


def test_the_seeds_short_flags_are_understood(tmp_path):
    suite(tmp_path)
    mode = script(tmp_path, PASSING)
    done = run(
        tmp_path, "-s", "skills/demo", "-e", "skills/demo/evals/evals.json", "-a", "fake", "-m",
        "haiku", "-n", "2", "-c", "2", "-i", "3", "-w", "w", "--fake", mode, "--quiet",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    workspace = "w/demo-workspace"
    for command in (
        ("report", "-w", workspace, "-i", "3", "-f", "markdown"),
        ("compare", "-w", workspace, "3", "3"),
        ("grade", "-w", f"{workspace}/iteration-3"),
        ("cleanup", "-i", f"{workspace}/iteration-3", "-y"),
        ("list", "-r", "skills"),
        ("init", "new-one", "-o", "skills"),
    ):
        found = build.skilleval(*command, cwd=tmp_path)
        assert found.returncode == 0, (command, found.stderr)


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
    assert "1 assertion needs a judge and will be SKIPPED" in done.stderr
    assert done.returncode == 3


def test_results_that_cannot_be_written_are_shown_all_the_same(tmp_path):
    suite(tmp_path)
    fake(tmp_path)
    for name in ("summary.json", "benchmark.json"):
        (iteration(tmp_path) / name).unlink()
    (iteration(tmp_path) / "benchmark.json").mkdir()
    done = fake(tmp_path, "--resume")
    assert "benchmark.json: Is a directory" in done.stderr
    assert "fake/with_skill" in done.stdout


def test_a_command_line_with_options_is_one_text(tmp_path):
    line = "sh -c 'echo done; touch out.txt' -- {prompt}"
    suite(tmp_path)
    done = run(
        tmp_path, "skills/demo/evals/evals.json", "--agent", "command", "--agent-command", line
    )
    assert done.returncode == 0
    output = iteration(tmp_path) / "eval-one/command/with_skill/outputs/output.txt"
    assert output.read_text() == "done\n"


def keyed(root, *arguments, env=None):
    """A run of an agent that prints the variable MY_LOGIN wherever it can."""
    suite(root)
    code = """
import os, sys
login = os.environ.get("MY_LOGIN")
open("out.txt", "w").write(f"alpha {login}")
print(f"alpha {login}")
print(login, file=sys.stderr)
sys.exit(3)
"""
    build.write(root / "agent.py", code)
    agent = ("--agent", "command", "--agent-command", f"{sys.executable} {root}/agent.py")
    return run(root, "skills/demo/evals/evals.json", *agent, *arguments, env=env)


def test_a_variable_is_passed_by_name_and_its_value_is_written_nowhere(tmp_path):
    value = "hunter22-hunter22"
    places = ("--record", "tape", "--save-answers", "answers", "--no-baseline")
    summary = {"MY_LOGIN": value, "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    done = keyed(tmp_path, *places, "--pass-env", "MY_LOGIN", env=summary)
    answer = tmp_path / "answers" / "demo" / "one.md"
    assert answer.read_text() == "alpha [redacted]\n", done.stderr
    assert value not in done.stdout + done.stderr
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 15
    assert [path for path in files if value in path.read_text()] == []


def test_a_variable_that_nobody_passes_is_not_seen(tmp_path):
    done = keyed(tmp_path, "--no-baseline", "--save-answers", "answers", env={"MY_LOGIN": "x" * 9})
    assert (tmp_path / "answers" / "demo" / "one.md").read_text() == "alpha None\n", done.stderr


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("NOT_THERE", "error: --pass-env NOT_THERE: the variable is not set; export it"),
        ("MY_LOGIN=hunter22", "'MY_LOGIN' must be the name of a variable alone"),
    ],
)
def test_a_variable_that_cannot_be_passed_is_said_before_anything_starts(tmp_path, given, message):
    done = keyed(tmp_path, "--pass-env", given)
    assert done.returncode == 2
    assert message in done.stderr
    assert "hunter22" not in done.stderr
    assert not (tmp_path / "eval-workspace").exists()


def queries(root):
    suite(root)
    rows = [{"query": "Make it", "should_trigger": True}, {"query": "Hi", "should_trigger": False}]
    build.write(root / "skills/demo/evals/eval_queries.json", json.dumps(rows))
    return "skills/demo/evals/eval_queries.json"


@pytest.mark.parametrize(
    ("flags", "arms"), [((), 1), (("--no-baseline",), 1), (("--baseline",), 2)]
)
def test_a_trigger_list_pays_for_no_baseline_unless_told_to(tmp_path, flags, arms):
    done = run(tmp_path, queries(tmp_path), "--agent", "fake", "--dry-run", *flags)
    sides = "1 arm" if arms == 1 else f"{arms} arms"
    assert f"2 cases x {sides} x 3 = {6 * arms} agent runs" in done.stdout


def test_a_trigger_check_of_a_trial_that_timed_out_is_asked_of_no_judge(tmp_path):
    mode = script(tmp_path, [{"say": "I begin."}, {"sleep": 60}])
    flags = ("--agent", "fake", "--fake", mode, "--runs", "1", "--timeout", "4", "--retries", "0")
    with Loopback() as server:
        judge = ("--judge-base-url", f"{server.url}/v1", "--judge-model", "j", "--concurrency", "2")
        done = run(tmp_path, queries(tmp_path), *flags, *judge)
    assert (done.returncode, server.requests) == (3, [])
    assert "instrument suspect: fake/with_skill: all 2 trials timed out" in done.stdout
    assert "recall is unknown" in done.stdout
    rows = [
        read(path)["assertion_results"][0] for path in iteration(tmp_path).rglob("grading.json")
    ]
    assert [row["skipped"] for row in rows] == [True, True]
    assert all("the agent did not come to its end" in row["evidence"] for row in rows)


def test_defaults_of_a_trial_are_those_that_help_and_settings_show(tmp_path):
    suite(tmp_path)
    help_text = " ".join(run(tmp_path, "--help").stdout.split())
    assert "seconds for one attempt (default: 600)" in help_text
    assert "further attempts (default: 1)" in help_text
    shown = json.loads(fake(tmp_path, "--print-config", "--json").stdout)
    assert [shown[name]["value"] for name in ("timeout", "retries")] == [600, 1]


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
        (["--agent-model", "=m"], "--agent-model '=m': the agent is missing; write AGENT=MODEL"),
        (["--agent", "command", "--agent-command", ""], "--agent-command: the program is missing"),
        (["--agent", "command", "--agent-command", "'a"], "--agent-command cannot be read: No clo"),
        (["--agent-command", "true"], "--agent-command means nothing for fake: add --agent c"),
        (["--agent", "codex", "--fake", "nop"], "--fake means nothing for codex: add --agent f"),
        (
            ["--effort", "high"],
            "--effort means nothing for fake: add --agent claude-code or codex or opencode, or lea",
        ),
        (
            ["--agent", "fake", "--agent", "command", "--harness-base-url", "http://x"],
            "--harness-base-url means nothing for fake and command: add --agent claude-code or cod",
        ),
        (["--threshold", "101"], "--threshold: 101 is no percentage; use 0 to 100"),
        (["--threshold", "-1"], "--threshold: -1 is no percentage; use 0 to 100"),
        (["--harness-base-url", "foo"], "--harness-base-url: the URL must look like http://host"),
        (["--harness-base-url", "ftp://me:pw@x"], "--harness-base-url: the URL must look like"),
        (["--judge-base-url", "foo"], "--judge-base-url/--grader-base-url: the URL must look"),
        (["--runs", "100000000"], "are 200000000 trials, and a run has at most 100000: lower --r"),
        (["--timeout", "9" * 30], "is too large; use at most 1000000000"),
        (["--shard", "3/2"], "write I/N"),
        (["--case", "two"], "unknown case two; there are: one"),
        (["--backend", "http"], "--backend: means nothing for"),
        (["--concurrency", "x"], "--concurrency"),
        (
            ["--concurrency", "0"],
            "--concurrency/-c/--parallelism: 0 is too small; use 1 to 10000000",
        ),
        (["--timeout", "-5"], "--timeout: -5 is too small; use 1 to 1000000000"),
        (["--retries", "-1"], "--retries: -1 is too small; use 0 to 1000000000"),
        (["--runs", "0"], "--runs/-n: 0 is too small; use 1 to 1000000000"),
        (["--agent", "command"], "--agent command needs --agent-command '...': write how it is"),
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


@pytest.mark.parametrize(
    ("given", "agents"),
    [
        (("--fake", "nop"), {"fake"}),
        (("--agent-command", "true"), {"command"}),
        (("--agent-command", "true", "--fake", "nop"), {"command", "fake"}),
    ],
    ids=str,
)
def test_an_agent_whose_own_option_is_given_need_not_be_named(tmp_path, given, agents):
    suite(tmp_path)
    done = run(tmp_path, "skills/demo/evals/evals.json", *given, "--dry-run")
    shown = re.findall(r"^  ([a-z]+)/with_skill: ", done.stdout, re.MULTILINE)
    assert (done.returncode, set(shown)) == (0, agents)


def test_what_some_agents_of_a_run_do_not_heed_is_said_before_it_starts(tmp_path):
    suite(tmp_path)
    both = ("--agent", "codex", "--agent", "fake", "--effort", "low", "--max-budget-usd", "1")
    done = run(tmp_path, "skills/demo/evals/evals.json", *both, "--dry-run")
    assert done.returncode == 0
    assert "warning: --effort means nothing for fake: those trials are without it\n" in done.stderr
    assert "warning: --max-budget-usd counts no trial of codex: their cost is not told" in (
        done.stderr
    )


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


def test_a_shard_without_a_case_is_no_failure_and_starts_nothing(tmp_path):
    suite(tmp_path)
    assert "1 trial: 1 graded" in fake(tmp_path, "--shard", "1/3", "--no-baseline").stdout
    done = fake(tmp_path, "--shard", "3/3")
    assert (done.returncode, done.stdout) == (0, "")
    assert (
        done.stderr == "--shard 3/3 has no case of skills/demo/evals/evals.json: nothing to run\n"
    )
    assert not iteration(tmp_path, 2).exists()


@pytest.mark.parametrize("name", ["http", "answers", "kiro"])
def test_agent_that_runs_no_suites_is_refused(tmp_path, name):
    suite(tmp_path)
    done = run(tmp_path, "skills/demo/evals/evals.json", "--agent", name)
    assert done.returncode == 2
    assert f"agent {name!r} runs no suites; choose one of: claude-code, codex" in done.stderr


def test_an_option_that_no_agent_heeds_names_only_agents_that_run_suites(tmp_path):
    suite(tmp_path)
    done = fake(tmp_path, "--harness-base-url", "http://127.0.0.1:9")
    assert done.returncode == 2
    assert "add --agent claude-code or codex or opencode, or leave out" in done.stderr


@pytest.mark.parametrize("save", [(), ("--save-answers", "answers")], ids=["run", "save"])
def test_tasks_of_which_nothing_could_be_measured_exit_3(tmp_path, save):
    build.skill(tmp_path)
    done = run(
        tmp_path, "skills/demo/evals/tasks.json", "--agent", "command", "--agent-command",
        "sh -c 'exit 3'", *save,
    )  # fmt: skip
    assert done.returncode == 3, done.stdout
    assert read(iteration(tmp_path) / "summary.json")["score"] is None


def test_threshold_is_for_the_arms_with_the_skill(tmp_path):
    suite(tmp_path)
    program = "sh -c 'test -e .agents && touch out.txt; echo alpha'"
    arguments = ("--agent", "command", "--agent-command", program, "--threshold", "80")
    done = run(tmp_path, "skills/demo/evals/evals.json", *arguments)
    assert done.returncode == 0, done.stdout
    assert "the score 100.0% keeps the threshold of 80%" in done.stdout


def test_use_of_the_skill_is_no_improvement_on_an_arm_that_lacks_it(tmp_path):
    case = {
        "id": "one", "prompt": "p", "expected_output": "x",
        "assertions": ["The skill was triggered", 'The output contains "alpha"'],
    }  # fmt: skip
    suite(tmp_path, [case])
    steps = [{"say": "alpha"}, {"skill": "demo"}]
    done = fake(tmp_path, steps=steps)
    assert "+0.0%" in done.stdout, done.stdout + done.stderr
    stored = iteration(tmp_path) / "eval-one" / "fake" / "without_skill" / "grading.json"
    assert [row["skipped"] for row in read(stored)["assertion_results"]] == [True, False]


@pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGHUP")
@pytest.mark.parametrize("ignored", [False, True], ids=["closed terminal", "nohup"])
def test_a_closed_terminal_ends_the_agents_unless_it_is_to_be_ignored(tmp_path, ignored):
    suite(tmp_path)
    program = "sh -c 'touch $MARK; sleep 2; echo alpha'"
    prefix = ["nohup"] if ignored else []
    started = subprocess.Popen(
        [*prefix, sys.executable, "-m", "skilleval", "run", "skills/demo/evals/evals.json",
         "--agent", "command", "--agent-command", program, "--pass-env", "MARK"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(build.ROOT), "MARK": str(tmp_path / "mark")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    until = time.monotonic() + 30
    while not (tmp_path / "mark").exists() and time.monotonic() < until:
        time.sleep(0.05)
    started.send_signal(signal.SIGHUP)
    errors = started.communicate(timeout=30)[1]
    assert started.returncode == (0 if ignored else 130), errors
    assert ("--resume" in errors) is not ignored
    assert (iteration(tmp_path) / "summary.json").exists() is ignored


def test_answers_that_cannot_be_written_are_no_bug_of_ours(tmp_path):
    build.skill(tmp_path)
    build.write(tmp_path / "answers", "a file where the folder should be")
    mode = script(tmp_path, [{"say": "Use apiCall( here."}])
    done = run(
        tmp_path, "skills/demo/evals/tasks.json", "--agent", "fake", "--fake", mode,
        "--save-answers", "answers",
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "error: answers/demo: cannot be written: Not a directory\n"
    assert not (tmp_path / "eval-workspace").exists()


@pytest.mark.parametrize("more", [("--runs", "2"), ("--baseline",)], ids=" ".join)
def test_answers_of_more_than_one_trial_of_a_case_are_refused(tmp_path, more):
    suite(tmp_path)
    done = fake(tmp_path, "--save-answers", "answers", *more)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--save-answers keeps one answer of each case: take one --agent" in done.stderr
    assert not (tmp_path / "answers").exists()


def test_answers_that_were_not_saved_are_saved_by_a_resumed_run(tmp_path):
    suite(tmp_path)
    fake(tmp_path, "--no-baseline")
    (iteration(tmp_path) / "summary.json").unlink()
    never = [{"fail": "run again"}]
    done = fake(tmp_path, "--no-baseline", "--resume", "--save-answers", "answers", steps=never)
    assert (done.returncode, done.stderr.count("error")) == (0, 0)
    assert "alpha" in (tmp_path / "answers" / "demo" / "one.md").read_text()


def test_cleanup_removes_afterwards_what_the_run_left_outside_its_folder(tmp_path):
    suite(tmp_path)
    (tmp_path / "tmp").mkdir()
    mode = script(tmp_path, PASSING)
    arguments = ("skills/demo/evals/evals.json", "--agent", "fake", "--fake", mode)
    environ = {"TMPDIR": str(tmp_path / "tmp")}
    run(tmp_path, *arguments, "--keep-workspaces", "--no-baseline", env=environ)
    [kept] = (tmp_path / "tmp").iterdir()
    done = run(tmp_path, *arguments, "--keep-workspaces", "--cleanup", env=environ)
    assert done.returncode == 0
    assert "cleanup: removed 2 of 2\n" in done.stderr
    assert list((tmp_path / "tmp").iterdir()) == [kept]  # which another run has left
    assert read(iteration(tmp_path, 2) / "cleanup.json")["workspaces"] == []


def test_a_kept_workspace_is_named_with_its_trial(tmp_path):
    suite(tmp_path)
    (tmp_path / "tmp").mkdir()
    flags = ("--agent", "fake", "--fake", script(tmp_path, PASSING), "--keep-workspaces")
    environ = {"TMPDIR": str(tmp_path / "tmp")}
    done = run(tmp_path, "skills/demo/evals/evals.json", *flags, env=environ)
    said = re.findall(r"^kept: eval-one (fake/\w+): (.*)/workspace$", done.stderr, re.MULTILINE)
    assert [label for label, _ in said] == ["fake/with_skill", "fake/without_skill"]
    there = [str(folder) for folder in (tmp_path / "tmp").iterdir()]
    assert sorted(folder for _, folder in said) == sorted(there)
    assert "2 workspaces kept, listed in cleanup.json: `skilleval cleanup`" in done.stderr


def test_an_agent_that_crashed_and_is_graded_is_a_doubt(tmp_path):
    case = {"id": "one", "prompt": "p", "expected_output": "e"}
    suite(tmp_path, [{**case, "assertions": ["The output does not contain `zzz`"]}])
    path, crash = "skills/demo/evals/evals.json", "sh -c 'echo partial; exit 7'"
    done = run(tmp_path, path, "--agent-command", crash, "--retries", "0", "--no-baseline")
    assert "command/with_skill: 1/1 passed (100.0%), exit 7\n" in done.stdout
    assert (
        "instrument suspect: command/with_skill: 1 of 1 graded trial did not end well (1 x exit 7)"
    ) in done.stdout


def test_dry_run_counts_what_would_be_started(tmp_path):
    suite(tmp_path)
    done = fake(tmp_path, "--runs", "3", "--dry-run")
    assert "1 case x 2 arms x 3 = 6 agent runs" in done.stdout
    assert not (tmp_path / "eval-workspace").exists()


def test_dry_run_is_a_document_for_machines(tmp_path):
    suite(tmp_path)
    mode = script(tmp_path, PASSING)
    path = ("skills/demo/evals/evals.json", "--agent", "fake", "--fake", mode, "--runs", "3")
    done = run(tmp_path, *path, "--dry-run", "--json", env={"OPENAI_API_KEY": "sk-x"})
    plan = json.loads(done.stdout)
    assert (plan["suite"], plan["skill"], plan["repeats"], plan["trials"]) == (
        *("skills/demo/evals/evals.json", "demo", 3, 6),
    )
    assert plan["cases"] == [{"id": "one", "checks": 2, "judged": 0, "agent": None, "broken": None}]
    assert [(arm["agent"], arm["model"], arm["with_skill"]) for arm in plan["arms"]] == [
        *(("fake", None, True), ("fake", None, False)),
    ]
    assert plan["judge"] == {"model": "gpt-5-mini", "base_url": "https://api.openai.com/v1"}


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


def test_a_variable_out_of_range_counts_as_not_set_and_is_said(tmp_path):
    suite(tmp_path)
    numbers = {"SKILL_EVAL_AGENT_TIMEOUT": "-5", "SKILL_EVAL_AGENT_RETRIES": "-1"}
    done = run(tmp_path, "skills/demo/evals/evals.json", "--print-config", "--json", env=numbers)
    shown = json.loads(done.stdout)
    assert [shown[name]["value"] for name in ("timeout", "retries")] == [600, 1]
    assert done.stderr == (
        "warning: SKILL_EVAL_AGENT_TIMEOUT: timeout -5 counts as not set; use at least 1\n"
        "warning: SKILL_EVAL_AGENT_RETRIES: retries -1 counts as not set; use at least 0\n"
    )


def test_print_config_shows_the_judge_and_the_agents_that_a_run_would_have(tmp_path):
    suite(tmp_path)
    given = ("--print-config", "--json", "--agent", "codex", "--max-budget-usd", "2")
    path, key = "skills/demo/evals/evals.json", {"OPENAI_API_KEY": "sk-zzz"}
    done = run(tmp_path, path, *given, "--harness-base-url", "http://me:hunter22@h/v1", env=key)
    shown = {name: (row["value"], row["source"]) for name, row in json.loads(done.stdout).items()}
    assert shown["judge_model"] == ("gpt-5-mini", "default")
    assert shown["judge_base_url"] == ("https://api.openai.com/v1", "default")
    assert shown["judge_key"] == ("***", "OPENAI_API_KEY")
    assert shown["agent"] == ("codex", "--agent")
    assert shown["home"] == ("isolated", "default")
    assert shown["max_budget_usd"] == (2, "--max-budget-usd")
    assert shown["harness_base_url"] == ("http://[redacted]@h/v1", "--harness-base-url")


@pytest.mark.parametrize(
    ("given", "source"),
    [
        ((), "neither OPENROUTER_API_KEY nor OPENAI_API_KEY is set"),
        (("--no-llm-judges",), "--no-llm-judges"),
        (("--judge-model", ""), "--judge-model ''"),
    ],
)
def test_print_config_says_why_there_is_no_judge(tmp_path, given, source):
    suite(tmp_path)
    key = {"OPENAI_API_KEY": "sk-zzz" if given else ""}
    done = run(tmp_path, "skills/demo/evals/evals.json", "--print-config", *given, env=key)
    assert re.search(rf"^judge_model +none +{source}$", done.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (("--no-llm-judges",), "as --no-llm-judges says"),
        (("--judge-model", ""), "as --judge-model '' says"),
    ],
)
def test_a_judge_that_is_not_wanted_is_not_missed(tmp_path, given, why):
    case = {"id": "one", "prompt": "p", "expected_output": "e", "assertions": ["It is friendly"]}
    suite(tmp_path, [case])
    key = {"OPENAI_API_KEY": "sk-x"}
    path = ("skills/demo/evals/evals.json", "--agent", "fake", "--dry-run")
    done = run(tmp_path, *path, *given, env=key)
    assert done.stderr == f"warning: 1 assertion needs a judge and will be SKIPPED: {why}\n"


@pytest.mark.parametrize("dry", [("--dry-run",), ()], ids=["dry", "run"])
def test_a_broken_front_matter_is_said_before_the_run(tmp_path, dry):
    suite(tmp_path)
    build.write(tmp_path / "skills" / "demo" / "SKILL.md", "Guide.\n")
    done = fake(tmp_path, "--quiet", *dry)
    assert done.stderr.startswith("warning: skills/demo/SKILL.md:1: S01: has no front matter: the")


def test_what_is_wrong_with_a_skill_is_not_said_at_length(tmp_path):
    suite(tmp_path)
    fields = "name: X\ndescription: []\nlicense: []\nmetadata: []\n"
    build.write(tmp_path / "skills" / "demo" / "SKILL.md", f"---\n{fields}---\nGuide.\n")
    warnings = fake(tmp_path, "--dry-run").stderr.splitlines()
    assert [line.split()[2] for line in warnings[:3]] == ["S07:", "S09:", "S10:"]
    assert warnings[3] == f"warning: 2 more: skilleval validate {tmp_path}/skills/demo"


def test_a_budget_starts_no_further_trial_and_exits_3(tmp_path):
    suite(tmp_path)
    done = fake(tmp_path, "--max-budget-usd", "0", "--runs", "2")
    assert done.returncode == 3
    trials = [read(path) for path in iteration(tmp_path).rglob("trial.json")]
    assert {trial["result"]["outcome"]["failure"] for trial in trials} == {"budget"}


def test_a_run_that_the_budget_ended_goes_on_with_a_larger_one(tmp_path):
    suite(tmp_path)
    ended = fake(tmp_path, "--max-budget-usd", "0")
    assert "with a larger --max-budget-usd:\n" in ended.stderr
    assert " --max-budget-usd 1 --resume --iteration 1\n" in ended.stderr
    assert fake(tmp_path, "--max-budget-usd", "1", "--resume").returncode == 0
    assert "iteration-1 is complete: see `skilleval report" in fake(tmp_path, "--resume").stderr


@pytest.mark.parametrize("given", [("--max-budget-usd", "0.006"), ("--max-budget-usd=0.006",)])
def test_the_command_that_goes_on_after_a_spent_budget_does_when_pasted(tmp_path, given):
    suite(tmp_path)
    said = {"type": "result", "session_id": "s", "result": "alpha", "total_cost_usd": 0.004}
    build.write(tmp_path / "agent.py", f"open('out.txt', 'w'); print({json.dumps(said)!r})")
    agent = ("--agent", "command", "--agent-command", f"{sys.executable} {tmp_path}/agent.py")
    done = run(tmp_path, "skills/demo/evals/evals.json", *agent, *given, "--runs", "2")
    assert done.returncode == 3, done.stderr
    [line] = [line for line in done.stderr.splitlines() if line.startswith("  ")]
    assert "=0.016 " in line if len(given) == 1 else " --max-budget-usd 0.016 " in line
    pasted = run(tmp_path, *shlex.split(line)[4:])
    assert pasted.returncode == 0, pasted.stderr
    assert "4 trials: 4 graded" in pasted.stdout


@pytest.mark.skipif(os.name != "posix", reason="needs a first line that names the interpreter")
def test_an_installed_command_is_resumed_by_its_own_name(tmp_path):
    suite(tmp_path)
    program = build.write(
        tmp_path / "bin" / "skilleval",
        f"#!{sys.executable}\nimport sys\nfrom skilleval.cli import main\nsys.exit(main())\n",
    )
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["skilleval", "run", "--agent", "fake", "--max-budget-usd", "0", "--iteration", "3",
         "--case", "one", "--", "skills/demo/evals/evals.json"],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(build.ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )  # fmt: skip
    assert (
        "\n  skilleval run --agent fake --max-budget-usd 1 --iteration 3 --case one --resume"
        " -- skills/demo/evals/evals.json\n"
    ) in done.stderr


def test_trials_at_once_spend_no_more_than_the_budget(tmp_path):
    suite(tmp_path)
    result = {"type": "result", "session_id": "s", "result": "alpha", "total_cost_usd": 0.4}
    build.write(
        tmp_path / "agent.py",
        f"import time; time.sleep(0.2); open('out.txt', 'w'); print({json.dumps(json.dumps(result))})",
    )
    agent = ("--agent", "command", "--agent-command", f"{sys.executable} {tmp_path}/agent.py")
    given = ("--runs", "4", "--concurrency", "4", "--no-baseline", "--max-budget-usd", "1")
    done = run(tmp_path, "skills/demo/evals/evals.json", *agent, *given)
    assert done.returncode == 3, done.stderr
    trials = [read(path)["result"] for path in sorted(iteration(tmp_path).rglob("trial.json"))]
    failures = [trial["outcome"]["failure"] for trial in trials]
    assert sorted(failures) == ["", "", "budget", "budget"]
    refused = next(trial for trial in trials if trial["outcome"]["failure"])
    assert "0.80 of 1.00 USD are spent, a trial has cost up to 0.40" in refused["outcome"]["error"]
    assert {row["status"] for row in refused["verdicts"]} == {"skip"}


def test_a_budget_that_cannot_be_kept_is_said(tmp_path):
    suite(tmp_path)
    agent = ("--agent", "command", "--agent-command", "true")
    done = run(tmp_path, "skills/demo/evals/evals.json", *agent, "--max-budget-usd", "1")
    assert "--max-budget-usd 1 was no limit for everything: 2 costs" in done.stderr


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


def test_a_replay_needs_neither_git_nor_the_source_repository(tmp_path):
    def git(*words):
        subprocess.run(["git", *words], cwd=tmp_path, check=True, timeout=60)

    git("init", "-q", "-b", "main", "work")
    git("-C", "work", "-c", "user.name=n", "-c", "user.email=e", "commit", "-q",
        "--allow-empty", "-m", "first")  # fmt: skip
    git("clone", "-q", "--bare", "work", "shared.git")
    assertions = ["No new commit was created", "A new branch named `b` was created"]
    suite(
        tmp_path, [{"id": "one", "prompt": "p", "expected_output": "e", "assertions": assertions}]
    )
    steps = [{"say": "x"}, {"run": ["git", "checkout", "-q", "-b", "b"]}]
    given = ("--source-repo", f"file://{tmp_path}/shared.git", "--no-baseline", "--json")
    recorded = fake(tmp_path, *given, "--record", "tape", steps=steps)
    assert json.loads(recorded.stdout)["runs"][0]["result"]["pass_rate"] == 1, recorded.stderr
    shutil.rmtree(tmp_path / "shared.git")
    (tmp_path / "empty").mkdir()
    mode = ("--agent", "fake", "--fake", "scripted:script.json")
    replayed = run(
        *(tmp_path, "skills/demo/evals/evals.json", *mode, *given, "--replay", "tape"),
        env={"PATH": str(tmp_path / "empty")},
    )
    assert "changed since" not in replayed.stderr
    results = [json.loads(done.stdout)["runs"] for done in (recorded, replayed)]
    assert results[0] == results[1]


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
