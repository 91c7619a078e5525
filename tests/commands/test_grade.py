"""`skilleval grade`: a run graded again, its files written anew."""

import json
import shutil
from pathlib import Path

import build
import foreign
import pytest
from loopback import Loopback, Reply, reply_json

RUNS = Path(__file__).parent.parent / "data" / "runs"
NO_KEYS = {"OPENROUTER_API_KEY": "", "OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}
QUIET = {**NO_KEYS, "GITHUB_ACTIONS": "", "GITHUB_STEP_SUMMARY": ""}


CASE = {"prompt": "Write the notes.", "expected_output": "Notes that are committed."}
MADE = ["The file `NOTES.md` exists", "The notes are polite"]
SUITE = {
    "skill_name": "demo",
    "evals": [
        {"id": "notes", "assertions": MADE, **CASE},
        {"id": "control", "assertions": foreign.NOTES, "should_trigger": False, **CASE},
    ],
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run of a new skill with an agent that does nothing; its workspaces are gone."""
    root = tmp_path_factory.mktemp("finished")
    text = "---\nname: demo\ndescription: Writes notes. Use when asked.\n---\n\nWrite NOTES.md.\n"
    build.write(root / "demo" / "SKILL.md", text)
    suite = build.write(root / "demo" / "evals" / "evals.json", json.dumps(SUITE))
    done = build.skilleval(
        *("run", "--skill", "demo", "--evals", suite, "--agent", "fake", "--fake", "nop"),
        "--quiet",
        cwd=root,
        env=QUIET,
    )
    assert done.returncode == 0, done.stderr
    return root / "eval-workspace" / "demo-workspace" / "iteration-1"


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
    assert done.stdout == "graded 4 trials again: 0 verdicts changed; 4/8 checks pass\n"
    after = files(run)
    assert {name for name in after if after[name] != before.get(name)} == set()


def test_a_verdict_that_somebody_wrote_is_put_right(run, tmp_path):
    place = run / "eval-notes" / "fake" / "with_skill"
    document = json.loads((place / "trial.json").read_text())
    document["result"]["verdicts"][0].update(status="pass", score=1.0)
    (place / "trial.json").write_text(json.dumps(document))
    before = files(run, "benchmark.json")
    done = grade(run, "--json", cwd=tmp_path)
    [changed] = json.loads(done.stdout)["changed"]
    assert (changed["before"], changed["after"]) == ("pass", "fail")
    assert changed["trial"] == "notes/fake-with_skill/r1"
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


ASSERTIONS = [*foreign.NOTES, "The file `NOTES.md` exists", "The notes are polite"]
POLITE = foreign.row(ASSERTIONS[3], False, "llm", "there is no key", skipped=True)


@pytest.fixture
def original(tmp_path):
    """A run of seed 002's original: two agents, two repeats, a negative control."""
    root = tmp_path / "demo-workspace" / "iteration-1"
    control = {"id": 7, "assertions": foreign.NOTES, "should_trigger": False}
    foreign.meta(root, {"id": "notes", "assertions": ASSERTIONS}, control)
    rows = [foreign.row(text) for text in ASSERTIONS[:3]]
    for agent, stdout in (("codex", foreign.said("Done.")), ("fake", "Done.\n")):
        for side in ("with_skill", "without_skill"):
            for repeat in (1, 2):
                place = f"{agent}/{side}/run-{repeat}"
                texts = {"stdout": stdout, "output": "Done, politely and in a whole sentence."}
                given = foreign.grading(*rows, POLITE)
                foreign.trial(root, f"eval-notes/{place}", grading=given, **texts)
                foreign.trial(root, f"eval-7/{place}", post_state=foreign.IDLE, **texts)
    return root


def test_a_run_of_the_original_is_graded_and_no_file_of_ours_is_added(original, tmp_path):
    before = files(original)
    done = grade("--workspace", original, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == (
        "graded 16 trials again: 24 verdicts changed; 32/48 checks pass"
    )
    assert "The file `NOTES.md` exists: pass -> skip (the files of the" in done.stdout
    added = {Path(name).name for name in files(original).keys() - before.keys()}
    assert added == {"grading.previous.json"}


def test_the_benchmark_of_the_original_is_written_anew_when_asked(original, tmp_path):
    build.write(original / "summary.json", '{"of": "the original"}')
    assert grade(original, "--recompute-benchmark", cwd=tmp_path).returncode == 0
    found = json.loads((original / "benchmark.json").read_text())
    assert set(found["run_summary"]) == {
        f"{agent}_{side}" for agent in ("codex", "fake") for side in ("with_skill", "without_skill")
    }
    assert found["run_summary"]["codex_with_skill"]["pass_rate"]["mean"] == 1.0
    assert (original / "summary.json").read_text() == '{"of": "the original"}'


def said(request):
    """A judge that finds everything to be so."""
    count = request.json()["messages"][-1]["content"].count("description") or 2
    opinions = [{"number": n, "reason": "seen", "pass": True} for n in range(1, count)]
    message = {"content": json.dumps(opinions)}
    return reply_json({"choices": [{"message": message, "finish_reason": "stop"}]})


def test_a_judge_can_be_named_for_a_run_of_the_original(original, tmp_path):
    with Loopback() as server:
        server.on("/v1/chat/completions", said)
        url, env = f"{server.url}/v1", {"OPENAI_API_KEY": "sk-of-a-judge"}
        arguments = ("--grader-model", "judge-of-the-day", "--grader-base-url", url, "-c", "3")
        done = grade("--workspace", original, *arguments, cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    assert "warning: a judge decides 1 check: its verdicts may flip\n" in done.stderr
    assert {request.json()["model"] for request in server.requests} == {"judge-of-the-day"}
    place = original / "eval-notes" / "codex" / "with_skill" / "run-1"
    rows = json.loads((place / "grading.json").read_text())["assertion_results"]
    assert [row["passed"] for row in rows] == [True] * 4
    assert [row["method"] for row in rows] == ["deterministic"] * 2 + ["llm"] * 2
    assert "sk-of-a-judge" not in "".join(files(original).values())


def test_what_a_run_of_the_original_lacks_is_named_and_the_rest_is_graded(original, tmp_path):
    cut = original / "eval-notes" / "codex" / "with_skill" / "run-1" / "outputs" / "post_state.json"
    cut.write_text('{"local_branches": ["main"')
    done = grade("--workspace", original, cwd=tmp_path)
    assert done.returncode == 3
    assert done.stderr.startswith(f"warning: {cut}: is damaged: ")
    assert "graded 15 trials again" in done.stdout


@pytest.mark.parametrize("text", [None, "{"])
def test_without_its_evals_nothing_of_the_original_can_be_graded(original, tmp_path, text):
    (original / "evals_meta.json").unlink()
    if text:
        build.write(original / "evals_meta.json", text)
    before = files(original)
    done = grade("--workspace", original, cwd=tmp_path)
    assert done.returncode == 3
    assert f"{original}/evals_meta.json: is" in done.stderr
    assert "graded 0 trials again" in done.stdout
    assert files(original) == before


@pytest.mark.parametrize("form", ["table", "markdown", "html", "junit", "json"])
def test_a_run_of_the_original_is_reported_after_it_was_graded(original, tmp_path, form):
    grade("--workspace", original, cwd=tmp_path)
    arguments = ("--workspace", original, "--format", form, "--show-evidence")
    done = build.skilleval("report", *arguments, cwd=tmp_path, env=QUIET)
    assert (done.returncode, done.stderr) == (0, "")
    assert "were not stored with this trial" in done.stdout
    for place in ("codex", "fake"):
        assert place in done.stdout


def test_two_runs_of_the_original_are_compared(original, tmp_path):
    shutil.copytree(original, original.parent / "iteration-2")
    grade("--workspace", original.parent / "iteration-2", cwd=tmp_path)
    arguments = ("--workspace", original.parent, "1", "2")
    done = build.skilleval("compare", *arguments, cwd=tmp_path, env=QUIET)
    assert (done.returncode, done.stderr) == (0, "")
    assert "codex/with_skill     100.0% (2/4)  100.0% (4/4)  +0.0%" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name one run folder"),
        (["gone"], "gone: no such folder"),
        ([RUNS], "holds 3 runs; name one"),
        ([RUNS.parent / "lint"], "holds no run"),
        (["x", "--concurrency", "0"], "--concurrency must be at least 1"),
    ],
)
def test_a_wrong_call_is_a_usage_error(tmp_path, arguments, message):
    done = grade(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
