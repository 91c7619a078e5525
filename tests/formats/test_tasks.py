"""The reading of tasks.json: every wrong shape is named, with its place and the fix."""

import json
import os

import build
import pytest

import skilleval
from skilleval.errors import SuiteError
from skilleval.formats import tasks
from skilleval.reading import textfile


def problems(tmp_path, raw, name="demo"):
    folder = build.skill(
        tmp_path, name, tasks=raw if isinstance(raw, (str, bytes)) else json.dumps(raw)
    )
    return tasks.read(str(folder / "evals" / "tasks.json")).problems


def messages(tmp_path, raw):
    return [f"{p.rule} {p.where}: {p.message}" for p in problems(tmp_path, raw)]


def task(**fields):
    return {"id": "t1", "prompt": "p", "must_include": ["a("]} | fields


BROKEN_FILES = {
    "empty": (b"", "is empty"),
    "blank": (b" \n", "is empty"),
    "cut": (b'{"tasks": [', "invalid JSON"),
    "trailing": (b"[] x", "invalid JSON: extra data"),
    "nan": (b'[{"id": NaN}]', "NaN is not a JSON value"),
    "infinity": (b'[{"id": -Infinity}]', "-Infinity is not a JSON value"),
    "twice": (b'{"tasks": [], "tasks": []}', "the key 'tasks' is given twice"),
    "deep": (b"[" * 100_000, "nested too deeply"),
    "digits": (b"[" + b"9" * 5000 + b"]", "invalid JSON"),
    "latin": (b'["\xe9"]', "is not UTF-8"),
    "null": (b"null", "tasks must be a list of tasks, not null"),
    "text": (b'"x"', "tasks must be a list of tasks, not text"),
    "no tasks": (b"{}", 'has no "tasks" list'),
    "no task": (b"[]", "has no tasks; add at least one"),
}


@pytest.mark.parametrize(("raw", "message"), BROKEN_FILES.values(), ids=BROKEN_FILES)
def test_a_broken_file_is_one_problem_that_says_why(tmp_path, raw, message):
    [problem] = problems(tmp_path, raw)
    assert message in problem.message
    assert problem.rule == "F01"
    with pytest.raises(SuiteError, match=r"evals.tasks\.json"):
        tasks.load(str(tmp_path / "skills" / "demo"))


def test_a_syntax_error_names_its_line(tmp_path):
    [problem] = problems(tmp_path, b'[\n {"id" 1}\n]')
    assert problem.line == 2


def test_a_file_over_the_limit_is_refused(tmp_path):
    folder = build.skill(tmp_path)
    with (folder / "evals" / "tasks.json").open("wb") as file:
        file.truncate(100_000_000)
    [problem] = tasks.read(str(folder / "evals" / "tasks.json")).problems
    assert "is larger than 67 MB" in problem.message


def test_a_byte_order_mark_and_crlf_are_read(tmp_path):
    raw = b"\xef\xbb\xbf" + json.dumps([task()], indent=1).replace("\n", "\r\n").encode()
    assert problems(tmp_path, raw) == ()


def test_list_and_object_form_are_the_same(tmp_path):
    folder = build.skill(tmp_path, tasks=json.dumps([task()]))
    as_list = tasks.load(str(folder))
    build.skill(tmp_path, tasks=json.dumps({"skill": "demo", "tasks": [task()]}))
    assert tasks.load(str(folder)) == as_list


def test_task_is_an_alias_of_prompt(tmp_path):
    raw = {"id": "t1", "task": "Do it", "must_include": ["a("]}
    folder = build.skill(tmp_path, tasks=[raw])
    assert tasks.load(str(folder)).cases[0].prompt == "Do it"


WRONG_TASKS = {
    "number": (1, "F01 task 1: must be an object, not a whole number"),
    "no id": ({"prompt": "p", "must_include": ["a"]}, "F02 task 1: has no id"),
    "null id": (task(id=None), "F02 task 1: has no id"),
    "number id": (task(id=7), "F02 task 1: id must be text, not a whole number"),
    "true id": (task(id=True), "F02 task 1: id must be text, not true or false"),
    "empty id": (task(id=""), "F02 task 1: id '' cannot be a file name"),
    "slash": (task(id="a/b"), "F02 task a/b: id 'a/b' cannot be a file name"),
    "dots": (task(id=".."), "F02 task ..: id '..' cannot be a file name"),
    "nul": (task(id="a\0"), "cannot be a file name"),
    "newline": (task(id="a\n"), "cannot be a file name"),
    "upper": (task(id="T1"), "F02 task T1: id 'T1' cannot be a file name"),
    "long": (task(id="a" * 300), "id has 300 characters; as a file name at most 200"),
    "no prompt": ({"id": "t1", "must_include": ["a"]}, 'F01 task t1: has no "prompt"'),
    "blank prompt": (task(prompt=" \n"), "F01 task t1: prompt is blank"),
    "nul prompt": (task(prompt="ab\0"), "F01 task t1: prompt has a NUL as character 3, which no"),
    "list prompt": (task(prompt=["p"]), "F01 task t1: prompt must be text, not a list"),
    "null prompt": (task(prompt=None), "F01 task t1: prompt must be text, not null"),
    "both prompts": (task(task="p"), "F01 task t1: prompt and task mean the same; keep prompt"),
    "include text": (
        task(must_include="a"),
        "F01 task t1: must_include must be a list of texts, not text",
    ),
    "include null": (
        task(must_include=None),
        "F01 task t1: must_include must be a list of texts, not null",
    ),
    "include object": (
        task(must_include={}),
        "must_include must be a list of texts, not an object",
    ),
    "exclude number": (
        task(must_not_include=[1.5]),
        "must_not_include entry 1 must be text, not a number",
    ),
    "exclude null": (
        task(must_not_include=["x", None]),
        "must_not_include entry 2 must be text, not null",
    ),
    "empty needle": (task(must_include=[""]), "F08 task t1: an empty text is in every answer"),
    "no checks": ({"id": "t1", "prompt": "p"}, "F06 task t1: has no checks"),
    "empty lists": (task(must_include=[]), "F06 task t1: has no checks"),
    "description": (
        task(description=3),
        "F01 task t1: description must be text, not a whole number",
    ),
    "allow": (task(allow="W13"), "F01 task t1: allow must be a list of texts, not text"),
    "misspelt": (
        task(must_inlcude=["a"]),
        "unknown key 'must_inlcude' (did you mean 'must_include'?)",
    ),
    "foreign": (task(zzz=1), "unknown key 'zzz' (known: allow, description, id"),
}


@pytest.mark.parametrize(("raw", "message"), WRONG_TASKS.values(), ids=WRONG_TASKS)
def test_a_wrong_task_is_named_and_the_runner_refuses_the_file(tmp_path, raw, message):
    found = messages(tmp_path, [raw])
    assert any(message in text for text in found), found
    done = build.script("run-evals.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "tasks.json" in done.stderr


def test_every_problem_of_a_file_is_reported_at_once(tmp_path):
    raw = {
        "skil": "x",
        "tasks": [task(id="a/b"), task(prompt=""), task(id="t2", must_include=[""])],
    }
    assert [p.rule for p in problems(tmp_path, raw)] == ["F01", "F02", "F01", "F08"]


def test_a_problem_of_a_task_names_its_line(tmp_path):
    raw = json.dumps([task(), task(id="t2", prompt="")], indent=1)
    [problem] = problems(tmp_path, raw)
    assert raw.splitlines()[problem.line - 1].strip() == '"id": "t2",'


@pytest.mark.parametrize("second", ["t1", "T1"])
def test_an_id_used_twice_is_an_error_also_in_other_case(tmp_path, second):
    found = messages(tmp_path, [task(), task(id=second)])
    assert any(f"F02 task {second}: id is used twice (first as 't1')" in text for text in found)


def test_a_skill_that_is_not_the_folder_is_an_error(tmp_path):
    found = messages(tmp_path, {"skill": "other", "tasks": [task()]})
    assert found == ["F01 : skill is 'other', but the file belongs to skill 'demo'"]


def test_an_unknown_key_of_the_file_names_the_nearest(tmp_path):
    found = messages(tmp_path, {"task": [], "tasks": [task()]})
    assert found == ["F01 : unknown key 'task' (did you mean 'tasks'?)"]


def test_checks_come_in_the_order_of_the_lists(tmp_path):
    folder = build.skill(tmp_path, tasks=[task(must_include=["a", "b"], must_not_include=["c"])])
    [case] = tasks.load(str(folder)).cases
    assert [(c.id, c.text, c.negate) for c in case.checks] == [
        ("must_include/1", "a", False),
        ("must_include/2", "b", False),
        ("must_not_include/1", "c", True),
    ]


def test_load_takes_the_folder_or_the_file(tmp_path):
    folder = build.skill(tmp_path)
    suite = skilleval.load(str(folder))
    assert skilleval.load(str(folder / "evals" / "tasks.json")) == suite
    assert (suite.name, len(suite.cases)) == ("demo", 1)


def test_nothing_is_written_by_a_refused_file(tmp_path):
    build.skill(tmp_path, tasks=b"{")
    before = sorted(tmp_path.rglob("*"))
    build.script("run-evals.py", cwd=tmp_path)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("identifier", ["t1\nx", "\x1b[31mt1", "t\0", "a" * 300], ids=ascii)
def test_an_id_that_would_break_the_line_is_told_by_its_position(tmp_path, identifier):
    [problem] = problems(tmp_path, [task(id=identifier)])
    assert problem.where == "task 1"
    assert problem.message.isprintable()


def test_an_example_that_cannot_be_read_says_why(tmp_path):
    folder = build.skill(tmp_path, examples={})
    (folder / "evals" / "examples" / "t1.md").mkdir()
    [problem] = [p for p in tasks.problems(str(folder)) if p.rule == "F03"]
    assert problem.message == "examples/t1.md cannot be read: is a directory"


def test_an_example_that_the_runner_does_not_follow_is_none(tmp_path):
    folder = build.skill(tmp_path, examples={})
    good = build.write(tmp_path / "elsewhere.md", build.GOOD)
    (folder / "evals" / "examples" / "t1.md").symlink_to(good)
    [problem] = [p for p in tasks.problems(str(folder)) if p.rule == "F03"]
    assert "examples/t1.md cannot be read: is a symbolic link that leaves" in problem.message


def test_a_reference_that_cannot_be_read_is_told_in_place_of_what_it_might_hold(tmp_path):
    folder = build.skill(tmp_path, text="")
    os.truncate(build.write(folder / "references" / "a.md", ""), textfile.LIMIT_BYTES + 1)
    [problem] = [p for p in tasks.problems(str(folder)) if p.rule == "F05"]
    assert problem.path.endswith("a.md")
    assert problem.message.startswith("cannot be read: is larger than")


def test_a_folder_of_examples_that_cannot_be_read_is_not_said_to_lack_them(tmp_path):
    folder = build.skill(tmp_path)
    examples = folder / "evals" / "examples"
    (examples / "t1.md").unlink()
    examples.rmdir()
    examples.symlink_to(examples)  # a link to itself can be read by nobody, not even by root
    [problem] = tasks.problems(str(folder))
    assert problem.rule == "F03"
    assert problem.message.startswith("examples/t1.md cannot be read: ")
