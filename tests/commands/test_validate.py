"""`skilleval validate` as its users call it."""

import json
import os
import shutil
import subprocess
import sys

import build
import pytest


def run(root, *arguments):
    return build.skilleval("validate", *arguments, cwd=root)


def test_a_sound_skill_exits_0(tmp_path):
    build.skill(tmp_path)
    done = run(tmp_path, "skills")
    assert (done.returncode, done.stdout) == (0, "1 skill checked: 0 errors, 0 warnings\n")


def test_problems_are_sorted_with_place_rule_and_message(tmp_path):
    build.skill(tmp_path, "b", examples={"t1": "apiCall( bad ="})
    build.skill(tmp_path, "a", tasks=b"{")
    done = run(tmp_path, ".")
    assert done.returncode == 1
    first, second, last = done.stdout.splitlines()
    assert first.startswith("skills/a/evals/tasks.json:1: F01: invalid JSON")
    assert second.startswith("skills/b/evals/tasks.json:1: task t1: F04: examples/t1.md fails")
    assert last == "2 skills checked: 2 errors, 0 warnings"


def test_warnings_exit_0_and_with_strict_1(tmp_path):
    build.skill(tmp_path, examples={"t1": build.GOOD, "orphan": "x"})
    relaxed, strict = run(tmp_path, "skills"), run(tmp_path, "--strict", "skills")
    assert "F03: warning:" in relaxed.stdout
    assert (relaxed.returncode, strict.returncode) == (0, 1)


@pytest.mark.parametrize("name", ["", "SKILL.md", "evals/tasks.json", "evals/examples/t1.md"])
def test_any_file_of_a_skill_stands_for_the_skill(tmp_path, name):
    build.skill(tmp_path, examples={"t1": "no"})
    done = run(tmp_path, f"skills/demo/{name}")
    assert done.returncode == 1
    assert "skills/demo/evals/tasks.json:1: task t1: F04" in done.stdout


def test_a_skill_behind_a_link_is_checked(tmp_path):
    real = build.skill(tmp_path / "elsewhere", examples={"t1": "no"})
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "demo").symlink_to(real)
    done = run(tmp_path, "skills")
    assert done.returncode == 1
    assert "skills/demo/evals/tasks.json:1: task t1: F04" in done.stdout
    named = run(tmp_path, "skills/demo/evals/tasks.json")
    assert named.stdout == done.stdout


def test_a_skill_named_by_many_files_is_checked_once(tmp_path):
    build.skill(tmp_path)
    done = run(tmp_path, "skills/demo/SKILL.md", "skills/demo/evals/tasks.json", "skills")
    assert done.stdout == "1 skill checked: 0 errors, 0 warnings\n"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nope", "nope: no such file or folder"),
        ("empty", "empty: no skill and no suite below this folder"),
        ("empty/x.md", "empty/x.md: belongs to no skill"),
    ],
)
def test_a_path_with_nothing_to_check_is_a_usage_error(tmp_path, path, message):
    build.write(tmp_path / "empty" / "x.md", "x")
    done = run(tmp_path, path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_is_no_file_is_called_so_and_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    for path in ("pipe.json", os.devnull):
        done = run(tmp_path, path)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"{path}: is no regular file but a pipe, a socket or a device" in done.stderr


def bound_by_modes(root, *arguments):
    """Runs it in a process that may read what the modes of files say, also if that is of root."""
    program = []
    if os.name != "posix" or os.geteuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("needs POSIX permissions, and as root `setpriv`")
        lost = "-dac_override,-dac_read_search"
        program = ["setpriv", f"--bounding-set={lost}", f"--inh-caps={lost}"]
    return subprocess.run(
        [*program, sys.executable, "-m", "skilleval", "validate", *arguments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(build.ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_skill_that_cannot_be_looked_into_is_an_error_and_not_passed_over(tmp_path):
    build.skill(tmp_path, "open")
    locked = build.skill(tmp_path, "locked")
    locked.chmod(0)
    done = bound_by_modes(tmp_path, "skills")
    locked.chmod(0o755)
    assert done.returncode == 1, done.stderr
    assert "skills/locked: S01: cannot be read: Permission denied\n" in done.stdout
    assert "1 skill checked: 1 error, 0 warnings" in done.stdout


def test_a_folder_of_a_skill_that_cannot_be_looked_into_is_an_error_of_strict(tmp_path):
    locked = build.skill(tmp_path) / "scripts"
    locked.mkdir(mode=0)
    done = bound_by_modes(tmp_path, "--strict", "skills")
    locked.chmod(0o755)
    assert done.returncode == 1, done.stderr
    assert "skills/demo/scripts: S01: cannot be read: Permission denied\n" in done.stdout


def test_a_folder_far_from_skills_that_cannot_be_looked_into_is_a_warning(tmp_path):
    build.skill(tmp_path)
    (tmp_path / "data" / "files").mkdir(parents=True)
    (tmp_path / "data" / "gone").symlink_to("nowhere")
    (tmp_path / "data" / "files").chmod(0)
    done = bound_by_modes(tmp_path, ".")
    (tmp_path / "data" / "files").chmod(0o755)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "data/files: S01: warning: cannot be read: Permission denied\n" in done.stdout
    assert "gone" not in done.stdout


def test_a_link_in_the_place_of_a_skill_that_leads_nowhere_is_an_error(tmp_path):
    folder = build.skill(tmp_path)
    (folder.parent / "gone").symlink_to("nowhere")
    (folder.parent / "README.md").symlink_to("demo/SKILL.md")
    (folder.parent / ".hidden").symlink_to("nowhere")
    done = build.skilleval("validate", "skills", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("skills/gone: S01: cannot be read: is a link to what is not th")
    assert "1 skill checked: 1 error, 0 warnings" in done.stdout
    named = build.skilleval("validate", "skills/gone", cwd=tmp_path)
    assert (named.returncode, named.stderr) == (
        *(2, "error: skills/gone: is a link to what is not there\n"),
    )


def test_a_file_or_a_link_in_the_place_of_what_a_skill_has_is_said(tmp_path):
    folder = build.skill(tmp_path)
    shutil.rmtree(folder / "evals")
    (folder / "evals").write_text("")
    (folder / "SKILL.md").unlink()
    (folder / "SKILL.md").symlink_to("nowhere")
    done = build.skilleval("validate", "skills", cwd=tmp_path)
    assert done.returncode == 1
    assert "skills/demo/evals: F01: is no folder; make it one" in done.stdout
    assert "skills/demo: S01: its SKILL.md is a link to what is not there" in done.stdout


def test_a_skill_without_evals_is_an_error(tmp_path):
    folder = build.skill(tmp_path)
    (folder / "evals" / "tasks.json").unlink()
    assert "skills/demo: F01: has no evals: add evals/tasks.json" in run(tmp_path, "skills").stdout


def test_fixtures_without_a_skill_are_an_error(tmp_path):
    (build.skill(tmp_path) / "SKILL.md").unlink()
    done = run(tmp_path, "skills")
    assert "skills/demo: S01: has no SKILL.md" in done.stdout
    assert "F05" not in done.stdout


def test_a_broken_front_matter_names_its_line(tmp_path):
    build.skill(tmp_path, text="---\nname: demo\nname: demo\n---\napiCall(\n")
    assert "skills/demo/SKILL.md:3: S03: invalid front matter" in run(tmp_path, "skills").stdout


def test_json_has_every_problem_and_the_counts(tmp_path):
    build.skill(tmp_path, examples={"t1": "no"})
    done = run(tmp_path, "--json", "skills")
    found = json.loads(done.stdout)
    assert (found["skills"], found["errors"], found["warnings"]) == (1, 1, 0)
    assert list(found["problems"][0]) == ["path", "line", "where", "rule", "level", "message"]
    assert done.returncode == 1


def test_sarif_is_one_run_with_the_results(tmp_path):
    build.skill(tmp_path, examples={"t1": "no"})
    found = json.loads(run(tmp_path, "--format", "sarif", "skills").stdout)
    [result] = found["runs"][0]["results"]
    assert (found["version"], result["ruleId"], result["level"]) == ("2.1.0", "F04", "error")


def test_allow_silences_a_warning_of_its_task_only(tmp_path):
    task = build.TASK | {"must_not_include": ["SLA"]}
    build.skill(
        tmp_path,
        tasks=[task, task | {"id": "t2", "allow": ["W13"]}],
        examples={"t1": build.GOOD, "t2": build.GOOD},
    )
    done = run(tmp_path, "skills")
    assert "task t1: W13" in done.stdout
    assert "task t2" not in done.stdout


def suite(tmp_path, *assertions):
    case = {"id": "one", "prompt": "p", "expected_output": "e", "assertions": list(assertions)}
    document = {"skill_name": "demo", "evals": [case]}
    return build.write(tmp_path / "suites" / "demo" / "evals.json", json.dumps(document))


def test_a_suite_shows_what_decides_each_assertion_and_why(tmp_path):
    suite(tmp_path, "A git commit was created", "The tone is friendly")
    done = run(tmp_path, "suites/demo/evals.json")
    assert done.returncode == 0
    first, rule, judge, last = done.stdout.splitlines()
    assert first == "suites/demo/evals.json: 1 case, 2 assertions: 1 by rule, 1 by the judge"
    assert rule.startswith("  one: state: ")
    assert judge.startswith("  one: judge: ")
    assert last == "1 suite checked: 0 errors, 0 warnings"


@pytest.mark.parametrize("name", ["examples/demo/evals/evals.json", "mine.json"])
def test_a_suite_needs_no_skill_around_it(tmp_path, name):
    file = suite(tmp_path, "A git commit was created")
    file.rename(build.write(tmp_path / name, ""))
    done = run(tmp_path, name)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{name}: 1 case, 1 assertion: 1 by rule")


def test_a_broken_file_of_any_name_is_an_invalid_suite(tmp_path):
    build.write(tmp_path / "mine.json", "{")
    done = run(tmp_path, "mine.json")
    assert done.returncode == 1
    assert "mine.json:1: E01: invalid JSON" in done.stdout


def test_suites_outside_of_skills_are_found_below_a_folder(tmp_path):
    suite(tmp_path, "A git commit was created")
    build.skill(tmp_path)
    done = run(tmp_path, ".")
    assert done.stdout.endswith("1 skill and 1 suite checked: 0 errors, 0 warnings\n")
    assert "  one: " not in done.stdout
    assert "  one: state" in run(tmp_path, "--routes", ".").stdout


def test_a_broken_suite_is_an_error_with_its_place(tmp_path):
    suite(tmp_path, "").write_text(
        '{"skill_name": "demo", "evals": [{"id": "one", "shuold_trigger": 1}]}'
    )
    done = run(tmp_path, "suites/demo/evals.json")
    assert done.returncode == 1
    assert "did you mean 'should_trigger'?" in done.stdout


def test_json_holds_the_routes(tmp_path):
    suite(tmp_path, "A git commit was created")
    found = json.loads(run(tmp_path, "--json", "suites").stdout)
    [row] = found["assertions"]
    assert (row["case_id"], row["grader"]) == ("one", "state")


NOUNS = """
import sys, typing
sys.path.insert(0, sys.argv[1])
from skilleval.cli import main
main(["validate", sys.argv[2]])
loaded = [module for name, module in sys.modules.items() if name.startswith("skilleval")]
nouns = {n for m in loaded for n in vars(m).values() if hasattr(n, "_fields")}
print("nouns:", len(nouns))
for noun in nouns:
    if any(isinstance(kind, typing.ForwardRef) for kind in noun.__annotations__.values()):
        print("compiled:", noun.__name__)
"""


def test_no_noun_has_an_annotation_that_is_compiled_at_each_start(tmp_path):
    build.skill(tmp_path)
    command = [sys.executable, "-c", NOUNS, str(build.ROOT), str(tmp_path / "skills")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    _, counted, *compiled = done.stdout.splitlines()
    assert int(counted.removeprefix("nouns: ")) > 20
    assert compiled == []


# what only some rules, suites, flags or messages need
SELDOM = {
    *("skilleval.assertions", "skilleval.formats.evals", "skilleval.lint.rules"),
    *("skilleval.lint.skill_style", "skilleval.lint.vocabulary", "skilleval.reading.markdown"),
    *("skilleval.sinks.sarif", "skilleval.strength", "skilleval.tools", "difflib", "shutil"),
}


def test_sound_fixtures_load_nothing_that_they_do_not_need(tmp_path):
    build.skill(tmp_path)
    code = NOUNS.split("loaded =")[0] + "print(*sys.modules)"
    command = [sys.executable, "-S", "-c", code, str(build.ROOT), str(tmp_path / "skills")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "skilleval.lint.needles" in loaded
    assert not loaded & SELDOM


QUERIES = [{"query": "Make it", "should_trigger": True}, {"query": "Hi", "should_trigger": False}]


def test_a_list_of_queries_says_how_many_should_trigger_and_how_each_is_graded(tmp_path):
    folder = build.skill(tmp_path)
    case = {"id": "one", "prompt": "p", "expected_output": "e", "assertions": ["It is friendly"]}
    build.write(folder / "evals/evals.json", json.dumps({"skill_name": "demo", "evals": [case]}))
    build.write(folder / "evals/eval_queries.json", json.dumps(QUERIES))
    done = run(tmp_path, "skills/demo/evals/eval_queries.json")
    assert done.stdout == (
        "skills/demo/evals/eval_queries.json: 2 queries, 1 should trigger the skill and 1 should"
        " not: 2 by rule, 0 by the judge\n"
        "  query-1: trace: skill 'demo' (looks at the skills that the agent used): \"Make it\"\n"
        "  query-2: trace: no skill 'demo' (looks at the skills that the agent used): \"Hi\"\n"
        "1 skill checked: 0 errors, 0 warnings\n"
    )
    assert "1 query" not in run(tmp_path, "skills/demo/evals/evals.json").stdout
    both = run(tmp_path, "skills").stdout
    assert "evals.json: 1 case, 1 assertion: " in both
    assert "eval_queries.json: 2 queries, " in both


def test_a_list_of_queries_in_no_skill_is_shown_as_well(tmp_path):
    build.write(tmp_path / "lists/eval_queries.json", json.dumps(QUERIES[:1]))
    done = run(tmp_path, "lists/eval_queries.json")
    assert done.stdout.startswith(
        "lists/eval_queries.json: 1 query, 1 should trigger the skill and 0 should not: 1 by rule"
    )
