"""`run-evals` as its users call it: real processes, real files (seed 001, spec/fixtures 3 and 4)."""

import json
import os
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import build
import pytest

DATA = json.loads((Path(__file__).parent.parent / "data" / "cases" / "fixtures.json").read_text())


def run(root, *arguments, **options):
    return build.script("run-evals.py", *arguments, cwd=root, **options)


def report(root, *arguments):
    done = run(root, *arguments, "--json")
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def answers(root, texts, skill="demo"):
    folder = Path(root) / "answers" / skill
    folder.mkdir(parents=True, exist_ok=True)
    for identifier, text in texts.items():
        build.write(folder / f"{identifier}.md", text)
    return "answers"


def numbered(count, **more):
    return [
        {"id": f"t{i}", "prompt": "Do it", "must_include": [f"apiCall{i}("], **more}
        for i in range(1, count + 1)
    ]


def test_passing_examples_exit_0_with_scores(tmp_path):
    build.skill(tmp_path)
    done = run(tmp_path)
    assert (
        done.stdout
        == "demo  1.000  (1/1 tasks)\nOverall: 1.000 (1/1 tasks, 2/2 checks), min score 1\n"
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_one_failing_check_of_an_example_exits_1_and_names_the_text(tmp_path):
    build.skill(tmp_path, examples={"t1": "I use bad = 1"})
    done = run(tmp_path)
    assert done.returncode == 1
    assert '  FAIL t1 0.00\n    missing: "apiCall("\n    present: "bad ="\n' in done.stdout


@pytest.mark.parametrize("case", DATA["fixtures_score"], ids=lambda case: case["name"])
def test_scores_of_the_shared_cases(tmp_path, case):
    build.skill(tmp_path, tasks=DATA["fixtures_tasks"], examples={})
    found = report(tmp_path, "--answers", answers(tmp_path, case["answers"]))
    tasks = {task["id"]: task for task in found["skills"][0]["tasks"]}
    for identifier, score in case["tasks"].items():
        assert tasks[identifier]["score"] == float(Fraction(score))
    assert found["score"] == case["overall"]
    assert [i for i, task in tasks.items() if task["missing"]] == case.get("missing", [])


@pytest.mark.parametrize("case", DATA["fixtures_exit"], ids=lambda case: str(case))
def test_exit_codes_of_the_shared_cases(tmp_path, case):
    share = Fraction(case.get("overall", 1))
    total = share.limit_denominator(100).denominator
    passing = share * total
    texts = {f"t{i}": f"apiCall{i}(" if i <= passing else "no" for i in range(1, total + 1)}
    build.skill(tmp_path, "s", tasks=numbered(total), examples=texts)
    answers(tmp_path, texts, "s")
    (tmp_path / "answers").rename(tmp_path / "A")
    done = run(tmp_path, *case["argv"])
    assert done.returncode == case["want"], done.stderr
    if case["want"] == 2:
        assert done.stdout == ""
        assert done.stderr


@pytest.mark.parametrize("text", [*DATA["fixtures_min_score_ok"], "1.0", "+0.5", "0.", "1e-3"])
def test_decimals_from_0_to_1_are_minimum_scores(tmp_path, text):
    build.skill(tmp_path)
    assert run(tmp_path, "--min-score", text).returncode == 0


@pytest.mark.parametrize(
    "text",
    ["nan", "NaN", "1.01", "1/2", "1e400", "1e99999999", "١", "0,5", " 1", "1_0", "infinity"],
)
def test_other_texts_are_no_minimum_score(tmp_path, text):
    build.skill(tmp_path)
    done = run(tmp_path, f"--min-score={text}")
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not a number from 0 to 1" in done.stderr


def test_four_of_five_keeps_a_minimum_of_0_8_exactly(tmp_path):
    texts = {f"t{i}": f"apiCall{i}(" for i in range(1, 5)} | {"t5": "no"}
    build.skill(tmp_path, tasks=numbered(5), examples=texts)
    assert run(tmp_path, "--min-score", "0.8").returncode == 0
    assert run(tmp_path, "--min-score", "0.80000000000000000001").returncode == 1


@pytest.mark.parametrize(
    ("limit", "shown"),
    [("0.667", "0.6667"), ("0.6666", "0.6667"), ("0.66667", "0.666667"), ("0.5", "0.667")],
)
def test_a_score_that_is_not_its_minimum_does_not_look_like_it(tmp_path, limit, shown):
    texts = {f"t{i}": f"apiCall{i}(" for i in range(1, 3)} | {"t3": "no"}
    build.skill(tmp_path, tasks=numbered(3), examples=texts)
    last = run(tmp_path, "--min-score", limit).stdout.splitlines()[-1]
    assert last == f"Overall: {shown} (2/3 tasks, 2/3 checks), min score {limit}"


def test_a_score_just_below_1_is_not_printed_as_1(tmp_path):
    texts = {f"t{i}": f"apiCall{i}(" for i in range(1, 3001)} | {"t1": "no"}
    build.skill(tmp_path, tasks=numbered(3000), examples=texts)
    assert "Overall: 0.9997 (2999/3000 tasks" in run(tmp_path).stdout


def test_an_empty_answer_is_not_missing_and_is_flagged(tmp_path):
    task = {
        "id": "t1",
        "prompt": "p",
        "must_include": ["a("],
        "must_not_include": ["b(", "c(", "d("],
    }
    build.skill(tmp_path, tasks=[task], examples={})
    folder = answers(tmp_path, {"t1": ""})
    [found] = report(tmp_path, "--answers", folder)["skills"][0]["tasks"]
    assert (found["score"], found["missing"], found["empty"]) == (0.75, False, True)
    assert "FAIL t1 0.75 (empty answer)" in run(tmp_path, "--answers", folder).stdout


def test_a_missing_answer_scores_0_with_all_checks_failed(tmp_path):
    build.skill(tmp_path)
    (tmp_path / "answers").mkdir()
    found = report(tmp_path, "--answers", "answers")
    [task] = found["skills"][0]["tasks"]
    assert (task["score"], task["missing"], task["checks_passed"]) == (0, True, 0)
    assert [check["passed"] for check in task["checks"]] == [False, False]
    done = run(tmp_path, "--answers", "answers")
    assert (done.returncode, done.stdout.splitlines()[1]) == (0, "  FAIL t1 0.00 (no answer file)")


def test_with_answers_the_default_minimum_only_reports(tmp_path):
    build.skill(tmp_path)
    (tmp_path / "answers").mkdir()
    assert run(tmp_path, "--answers", "answers").returncode == 0
    assert run(tmp_path, "--answers", "answers", "--min-score", "0.1").returncode == 1


def test_overall_is_the_mean_over_tasks_and_not_over_skills(tmp_path):
    build.skill(tmp_path, "one", tasks=numbered(1), examples={"t1": "no"})
    build.skill(
        tmp_path, "three", tasks=numbered(3), examples={f"t{i}": f"apiCall{i}(" for i in (1, 2, 3)}
    )
    found = report(tmp_path)
    assert found["score"] == 0.75
    assert [(s["skill"], s["score"]) for s in found["skills"]] == [("one", 0.0), ("three", 1.0)]


def test_selected_skills_come_once_and_in_alphabetical_order(tmp_path):
    for name in ("a", "b", "c"):
        build.skill(tmp_path, name)
    done = run(tmp_path, "--skill", "c", "--skill", "a", "--skill", "c")
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["a", "c", "Overall:"]


def test_unknown_skills_are_all_named_with_the_nearest_before_anything_is_scored(tmp_path):
    build.skill(tmp_path, "billing")
    done = run(tmp_path, "--skill", "biling", "--skill", "billing", "--skill", "zzz")
    assert (done.returncode, done.stdout) == (2, "")
    assert "'biling' (did you mean 'billing'?)" in done.stderr
    assert "'zzz'" in done.stderr


def test_a_comma_does_not_separate_skills(tmp_path):
    build.skill(tmp_path, "a")
    build.skill(tmp_path, "b")
    assert "'a,b'" in run(tmp_path, "--skill=a,b").stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["extra"],
        ["--min-score"],
        ["--answers"],
        ["--jsn"],
        ["--min", "1"],
        ["--answers", "a", "--answers", "b"],
    ],
    ids=str,
)
def test_usage_errors_exit_2_with_nothing_on_stdout(tmp_path, arguments):
    build.skill(tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    done = run(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "error" in done.stderr


def test_answers_that_is_a_file_is_a_usage_error(tmp_path):
    build.skill(tmp_path)
    build.write(tmp_path / "answers", "x")
    done = run(tmp_path, "--answers", "answers")
    assert (done.returncode, done.stderr) == (2, "error: --answers answers: is no folder\n")


def test_a_repository_without_skills_exits_2(tmp_path):
    assert "no skills found" in run(tmp_path).stderr
    assert "gone/skills/<name>/SKILL.md" in run(tmp_path, "--root", "gone").stderr
    (tmp_path / "skills").mkdir()
    assert run(tmp_path).returncode == 2


def test_a_skill_without_tasks_exits_2_and_is_named(tmp_path):
    build.skill(tmp_path, "good")
    build.write(tmp_path / "skills" / "bare" / "SKILL.md", "x")
    done = run(tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "bare/evals/tasks.json: no such file" in done.stderr.replace(os.sep, "/")
    assert run(tmp_path, "--skill", "good").returncode == 0


def test_fixtures_without_a_skill_are_an_error_and_not_skipped(tmp_path):
    build.skill(tmp_path, "good")
    (build.skill(tmp_path, "lost") / "SKILL.md").unlink()
    done = run(tmp_path)
    assert done.returncode == 2
    assert "has evals/tasks.json but no SKILL.md" in done.stderr


def test_answers_that_belong_to_no_task_are_warned_about_and_listed(tmp_path):
    build.skill(tmp_path, "demo")
    build.skill(tmp_path, "other")
    answers(tmp_path, {"t1": build.GOOD, "t1x": "misspelt"})
    answers(tmp_path, {"t1": build.GOOD}, "dmo")
    answers(tmp_path, {"t1": build.GOOD}, "other")
    build.write(tmp_path / "answers" / "stray.txt", "x")
    build.write(tmp_path / "answers" / ".DS_Store", "x")
    done = run(tmp_path, "--answers", "answers", "--skill", "demo", "--json")
    assert json.loads(done.stdout)["unused_answers"] == ["demo/t1x.md", "dmo/t1.md", "stray.txt"]
    assert done.stderr.count("warning:") == 3


def test_a_folder_in_place_of_an_answer_is_missing_with_a_warning(tmp_path):
    build.skill(tmp_path)
    (tmp_path / "answers" / "demo" / "t1.md").mkdir(parents=True)
    done = run(tmp_path, "--answers", "answers")
    assert "(no answer file)" in done.stdout
    assert "t1.md: is a directory; counts as missing" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX files")
def test_a_named_pipe_in_place_of_an_answer_does_not_block(tmp_path):
    build.skill(tmp_path)
    folder = tmp_path / answers(tmp_path, {}) / "demo"
    os.mkfifo(folder / "t1.md")
    assert "not a regular file" in run(tmp_path, "--answers", "answers").stderr


def test_a_link_that_leaves_the_answers_is_not_followed(tmp_path):
    build.skill(tmp_path)
    folder = tmp_path / answers(tmp_path, {}) / "demo"
    secret = build.write(tmp_path / "secret.md", build.GOOD)
    (folder / "t1.md").symlink_to(secret)
    done = run(tmp_path, "--answers", "answers")
    assert "symbolic link that leaves" in done.stderr
    assert "0/1 tasks" in done.stdout


def test_a_link_within_the_answers_is_followed(tmp_path):
    build.skill(tmp_path)
    folder = tmp_path / answers(tmp_path, {}) / "demo"
    build.write(folder / "real.txt", build.GOOD)
    (folder / "t1.md").symlink_to("real.txt")
    assert "1/1 tasks" in run(tmp_path, "--answers", "answers").stdout


def test_bad_bytes_in_an_answer_are_replaced_and_the_rest_counts(tmp_path):
    build.skill(tmp_path)
    folder = answers(tmp_path, {"t1": b"\xff\xfe apiCall( \x80"})
    assert report(tmp_path, "--answers", folder)["score"] == 1


def test_a_byte_order_mark_and_crlf_do_not_matter(tmp_path):
    task = {"id": "t1", "prompt": "p", "must_include": ["a(\nb("]}
    build.skill(tmp_path, tasks=[task], examples={"t1": b"\xef\xbb\xbfa(\r\nb("})
    assert run(tmp_path).returncode == 0


@pytest.mark.parametrize("needle", ["a.b(", "$1", "*", "[x]", "\\d+", "ünïcode", "日本"])
def test_a_needle_is_taken_literally(tmp_path, needle):
    task = {"id": "t1", "prompt": "p", "must_include": [needle]}
    build.skill(tmp_path, tasks=[task], examples={"t1": f"<{needle}>"})
    assert run(tmp_path).returncode == 0
    build.skill(tmp_path, tasks=[task], examples={"t1": "axb( 1 x 5"})
    assert run(tmp_path).returncode == 1


def test_json_is_the_whole_output_with_the_documented_keys(tmp_path):
    build.skill(tmp_path)
    found = report(tmp_path)
    assert list(found) == [
        "mode", "answers_dir", "min_score", "score", "passed", "tasks_passed", "tasks_total",
        "checks_passed", "checks_total", "unused_answers", "skills",
    ]  # fmt: skip
    [suite] = found["skills"]
    assert list(suite) == ["skill", "score", "tasks_passed", "tasks_total", "tasks"]
    [task] = suite["tasks"]
    assert list(task) == [
        "id", "score", "passed", "missing", "empty", "answer", "checks_passed", "checks_total", "checks",
    ]  # fmt: skip
    assert task["checks"] == [
        {"type": "must_include", "value": "apiCall(", "passed": True},
        {"type": "must_not_include", "value": "bad =", "passed": True},
    ]
    assert (found["mode"], found["answers_dir"], found["min_score"]) == ("examples", None, 1)


def test_it_runs_from_a_bare_checkout_in_an_ascii_locale(tmp_path):
    task = {"id": "t1", "prompt": "p", "must_include": ["é("]}
    build.skill(tmp_path, tasks=[task], examples={"t1": "e"})
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C"}
    environment |= {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-B", str(build.SCRIPTS / "run-evals.py")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 1, done.stderr
    assert b'missing: "\\xe9("' in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
@pytest.mark.parametrize(("example", "code"), [(build.GOOD, 0), ("no", 1)])
def test_a_closed_stdout_keeps_the_exit_code_and_prints_no_traceback(tmp_path, example, code):
    count = 2000
    texts = {f"t{i}": f"apiCall{i}(" for i in range(1, count + 1)} | {
        "t1": example.replace("apiCall(", "apiCall1(")
    }
    build.skill(tmp_path, tasks=numbered(count), examples=texts)
    command = f"{sys.executable} {build.SCRIPTS / 'run-evals.py'} --json; echo $? >&2"
    done = subprocess.run(
        ["bash", "-c", f"({command}) | head -1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == f"{code}\n"
    assert done.stdout == "{\n"


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
def test_ctrl_c_exits_130_without_a_traceback(tmp_path):
    build.skill(tmp_path)
    program = (
        "import os, signal, sys\n"
        f"sys.path.insert(0, {str(build.ROOT)!r})\n"
        "from skilleval import cli\n"
        "class Interrupting(dict):\n"
        "    def __contains__(self, name):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        return True\n"
        "cli.COMMANDS = Interrupting(cli.COMMANDS)\n"
        "sys.exit(cli.main(['run-evals']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr, signal.SIGINT) == (130, "interrupted\n", signal.SIGINT)
