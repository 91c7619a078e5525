"""`skilleval grade`: a run graded again, its files written anew."""

import json
import shutil
from pathlib import Path

import build
import pytest
from loopback import Loopback, Reply

RUNS = Path(__file__).parent.parent / "data" / "runs"
NO_KEYS = {"OPENROUTER_API_KEY": "", "OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}
QUIET = {**NO_KEYS, "GITHUB_ACTIONS": "", "GITHUB_STEP_SUMMARY": ""}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run of a new skill with an agent that does nothing; its workspaces are gone."""
    root = tmp_path_factory.mktemp("finished")
    build.skilleval("init", "summarise-minutes", cwd=root)
    suite = root / "summarise-minutes" / "evals" / "evals.json"
    done = build.skilleval(
        *("run", "--skill", "summarise-minutes", "--evals", suite),
        *("--agent", "fake", "--fake", "nop", "--quiet"),
        cwd=root,
        env=QUIET,
    )
    assert done.returncode == 0, done.stderr
    return root / "eval-workspace" / "summarise-minutes-workspace" / "iteration-1"


@pytest.fixture
def run(finished, tmp_path):
    return Path(shutil.copytree(finished, tmp_path / "iteration-1"))


def grade(*arguments, cwd, env=QUIET):
    return build.skilleval("grade", *arguments, cwd=cwd, env={**QUIET, **env})


def files(folder, *names):
    found = sorted(path for path in folder.rglob("*.json") if not names or path.name in names)
    return {str(path.relative_to(folder)): path.read_text() for path in found}


def test_nothing_changes_where_nothing_has_changed(run, tmp_path):
    before = files(run)
    done = grade("--workspace", run, "--recompute-benchmark", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "graded 6 trials again: 0 verdicts changed; 4/12 checks pass\n"
    after = files(run)
    assert {name for name in after if after[name] != before.get(name)} == set()


def test_a_verdict_that_somebody_wrote_is_put_right(run, tmp_path):
    place = run / "eval-explicit-invoke" / "fake" / "with_skill"
    document = json.loads((place / "trial.json").read_text())
    document["result"]["verdicts"][0].update(status="pass", score=1.0)
    (place / "trial.json").write_text(json.dumps(document))
    before = files(run, "benchmark.json")
    done = grade(run, "--json", cwd=tmp_path)
    [changed] = json.loads(done.stdout)["changed"]
    assert (changed["before"], changed["after"]) == ("pass", "fail")
    assert changed["trial"] == "explicit-invoke/fake-with_skill/r1"
    assert files(run, "benchmark.json") == before


def test_the_benchmark_is_written_anew_when_asked(run, tmp_path):
    (run / "benchmark.json").unlink()
    grade(run, cwd=tmp_path)
    assert not (run / "benchmark.json").exists()
    grade(run, "--recompute-benchmark", cwd=tmp_path)
    assert "fake_with_skill" in (run / "benchmark.json").read_text()


def test_an_unfinished_run_stays_one(run, tmp_path):
    (run / "summary.json").unlink()
    assert grade(run, cwd=tmp_path).returncode == 0
    assert not (run / "summary.json").exists()


def test_a_judge_may_flip_and_one_that_is_down_takes_nothing_away(tmp_path):
    source = RUNS / "write-release-notes-workspace" / "iteration-1"
    folder = shutil.copytree(source, tmp_path / "iteration-1")
    env = {"OPENAI_API_KEY": "sk-none-at-all"}
    with Loopback() as server:
        server.on("/v1/chat/completions", Reply(401))
        url = f"{server.url}/v1"
        done = grade(folder, "--grader-base-url", url, "-c", "4", cwd=tmp_path, env=env)
    assert "warning: a judge decides 2 checks: its verdicts may flip\n" in done.stderr
    assert "the verdict before stays" in done.stderr
    assert done.returncode == 3
    assert "sk-none" not in done.stderr + "".join(files(folder).values())


def test_without_a_judge_its_checks_are_skipped(tmp_path):
    source = RUNS / "write-release-notes-workspace" / "iteration-1"
    folder = shutil.copytree(source, tmp_path / "iteration-1")
    done = grade(folder, "--grader-model", "", cwd=tmp_path)
    assert "The agent only answered the question: pass -> skip" in done.stdout
    assert json.loads((folder / "run.json").read_text())["suite"]["judge"] == {}
    assert json.loads((folder / "run.json").read_text())["repeats"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name one run folder"),
        (["gone"], "gone: no such folder"),
        ([RUNS], "holds 3 runs; name one"),
        ([RUNS / "original-workspace" / "iteration-2"], "only report and compare can read"),
        (["x", "--concurrency", "0"], "--concurrency must be at least 1"),
    ],
)
def test_a_wrong_call_is_a_usage_error(tmp_path, arguments, message):
    done = grade(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
