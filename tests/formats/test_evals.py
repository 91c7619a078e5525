"""The reading of evals.json: every wrong shape is named with its place, and every right one kept."""

import json
import os

import build
import pytest
from evidence import CASES

from skilleval.errors import SuiteError
from skilleval.formats import evals, of
from skilleval.model import Arm
from skilleval.trial import harness
from skilleval.trial.grounds import targets


def entry(**fields):
    return {
        "id": "e1",
        "prompt": "Do it",
        "expected_output": "Done",
        "assertions": ["A commit was created"],
    } | fields


def without(key):
    found = entry()
    del found[key]
    return found


def suite(*entries, **fields):
    return {"skill_name": "demo", "evals": list(entries or [entry()])} | fields


def write(tmp_path, raw, files=("files/a.txt",)):
    """An evals.json in a folder of its own, with fixtures."""
    data = raw if isinstance(raw, bytes) else json.dumps(raw).encode()
    for name in files:
        build.write(tmp_path / "evals" / name, "x")
    return str(build.write(tmp_path / "evals/evals.json", data))


def messages(tmp_path, raw, level="error", **options):
    found = evals.problems(write(tmp_path, raw), **options)
    return [f"{p.rule} {p.where}: {p.message}" for p in found if p.level == level]


def the_message(tmp_path, raw):
    [message] = messages(tmp_path, raw)
    with pytest.raises(SuiteError):
        evals.load(str(tmp_path / "evals/evals.json"))
    return message


def test_the_fields_of_the_seed_are_read(tmp_path):
    full = entry(files=["files/a.txt"], stage_files=True, force_skill_invocation=True)
    path = write(tmp_path, suite(full, entry(id=2, should_trigger=False)))
    loaded = evals.load(path)
    first, second = loaded.cases
    assert (loaded.name, loaded.skill, loaded.path) == ("demo", "demo", path)
    assert (first.id, first.prompt, first.expected, first.files) == (
        "e1",
        "Do it",
        "Done",
        ("files/a.txt",),
    )
    assert first.annotations == {
        "force": True,
        "stage": True,
        "fixtures": str(tmp_path / "evals"),
        "expected": "Done",
        "skill": "demo",
    }
    assert (second.id, second.should_trigger, second.source) == ("2", False, path)
    assert [check.id for check in first.checks] == ["assertion/1"]


def test_what_nobody_decided_is_left_out_of_the_rate(tmp_path):
    rules = evals.load(write(tmp_path, suite())).rules
    assert (rules.unanswered, rules.errored, rules.no_outcome) == ("skip", "skip", "skip")


def test_a_negative_control_turns_its_checks_around(tmp_path):
    loaded = evals.load(write(tmp_path, suite(entry(should_trigger=False))))
    assert loaded.cases[0].checks[0].negate


def test_expectations_are_assertions(tmp_path):
    raw = without("assertions") | {"expectations": ["`a.md` exists"], "name": "a title"}
    loaded = evals.load(write(tmp_path, suite(raw)))
    assert [check.text for check in loaded.cases[0].checks] == ["`a.md` exists"]


def test_schema_may_be_named_for_an_editor(tmp_path):
    path = write(tmp_path, suite(**{"$schema": "./evals.schema.json"}))
    assert evals.load(path).name == "demo"


BROKEN = {
    "broken json": (b"{", "E01 : invalid JSON"),
    "empty": (b"", "E01 : is empty"),
    "list": ([], 'E01 : must be an object with "skill_name" and "evals", not a list'),
    "latin-1": (b'{"skill_name": "caf\xe9"}', "E01 : is not UTF-8"),
    "nan": (b'{"skill_name": NaN}', "NaN is not a JSON value"),
    "twice": (b'{"evals": [], "evals": []}', "the key 'evals' is given twice"),
    "no evals": ({"skill_name": "demo"}, 'E01 : "evals" is missing'),
    "evals no list": ({"skill_name": "demo", "evals": {}}, 'E01 : "evals" must be a list, not an object'),
    "no cases": ({"skill_name": "demo", "evals": []}, "E06 : has no evals; add at least one"),
    "no skill name": ({"evals": [entry()]}, 'E03 : has no "skill_name"'),
    "skill name up": (suite(skill_name="../.."), "E03 : skill_name '../..' cannot be a folder's name"),
    "skill name empty": (suite(skill_name=""), "it is empty"),
    "skill name device": (suite(skill_name="con"), "Windows keeps it for a device"),
    "skill name long": (suite(skill_name="a" * 101), "it has 101 characters; at most 100"),
    "unknown top key": (suite(skil_name="x"), "unknown key 'skil_name' (did you mean 'skill_name'?)"),
    "case no object": (suite("x"), "E01 eval 1: must be an object, not text"),
    "typo assertion": (suite(entry(assertion=["x"])), "eval e1: unknown key 'assertion' (did you mean 'assertions'?)"),
    "typo trigger": (suite(entry(shuold_trigger=True)), "unknown key 'shuold_trigger' (did you mean 'should_trigger'?)"),
    "no id": (suite(without("id")), "E02 eval 1: has no id"),
    "id true": (suite(entry(id=True)), "E02 eval 1: id must be text or a whole number, not true or false"),
    "id float": (suite(entry(id=1.5)), "E02 eval 1: id must be text or a whole number, not a number"),
    "id negative": (
        suite(entry(id=-1)),
        "E02 eval 1: id must be a number from 0 on with at most 15 digits, or text, not -1",
    ),
    "id too long": (
        suite(entry(id=10**15)),
        "E02 eval 1: id must be a number from 0 on with at most 15 digits, or text, not 10000",
    ),
    "id with slash": (suite(entry(id="group/a")), "E02 eval 1: id 'group/a' cannot be a folder's name"),
    "id up": (suite(entry(id="../../escaped")), "E02 eval 1: id '../../escaped' cannot be a folder's name"),
    "id dots": (suite(entry(id="..")), "E02 eval 1: id '..' cannot be a folder's name"),
    "id line break": (suite(entry(id="a\n")), "E02 eval 1: id 'a\\n' cannot be a folder's name"),
    "id end dot": (suite(entry(id="a.")), "E02 eval 1: id 'a.' cannot be a folder's name"),
    "id twice": (suite(entry(id=1), entry(id="1")), "E02 eval 1: id is used twice (first as '1')"),
    "id case": (suite(entry(id="A"), entry(id="a")), "E02 eval a: id is used twice (first as 'A')"),
    "prompt nul": (suite(entry(prompt="ab\0")), "E01 eval e1: prompt has a NUL as character 3, which no program"),
    "no prompt": (suite(without("prompt")), 'E01 eval e1: has no "prompt"'),
    "blank prompt": (suite(entry(prompt=" ")), "E01 eval e1: prompt is blank"),
    "no expected": (suite(without("expected_output")), 'E01 eval e1: has no "expected_output"'),
    "no assertions": (suite(without("assertions")), "E06 eval e1: has no assertions"),
    "assertions empty": (suite(entry(assertions=[])), "E06 eval e1: has no assertions"),
    "assertion empty": (suite(entry(assertions=["a", " "])), "E06 eval e1: assertions entry 2 is empty"),
    "assertion object": (suite(entry(assertions=[{"type": "x"}])), "assertions entry 1 must be text, not an object"),
    "assertions text": (suite(entry(assertions="x")), "assertions must be a list of texts, not text"),
    "both names": (suite(entry(expectations=["x"])), "assertions and expectations mean the same"),
    "trigger text": (suite(entry(should_trigger="no")), "should_trigger must be true or false, not text"),
    "forced control": (suite(entry(should_trigger=False, force_skill_invocation=True)), "E07 eval e1: force_skill_invocation makes"),
    "file up": (suite(entry(files=["../x"])), "E04 eval e1: file '../x' must be a path inside of"),
    "file absolute": (suite(entry(files=["/etc/passwd"])), "E04 eval e1: file '/etc/passwd' must be a path inside of"),
    "file drive": (suite(entry(files=["C:\\x"])), "E04 eval e1: file 'C:\\\\x' must be a path inside of"),
    "file empty": (suite(entry(files=[""])), "E04 eval e1: file '' must be a path inside of"),
    "file missing": (suite(entry(files=["files/b.txt"])), "E04 eval e1: file 'files/b.txt' is not there; put it into"),
    "file twice": (suite(entry(files=["files/a.txt", "./files/a.txt"])), "E05 eval e1: file './files/a.txt' is named twice"),
    "the answers": (suite(entry(files=["evals.json"])), "is or holds the suite itself, which the agent must not see"),
}  # fmt: skip


@pytest.mark.parametrize(("raw", "message"), BROKEN.values(), ids=BROKEN)
def test_a_mistake_is_named_with_its_place(tmp_path, raw, message):
    assert message in the_message(tmp_path, raw)


def test_every_mistake_of_a_file_is_reported_at_once(tmp_path):
    raw = suite(entry(id="a/b", should_trigger=1), entry(assertion=[]), "x", skil="x")
    assert len(messages(tmp_path, raw)) == 5


def test_a_mistake_has_the_line_of_its_case(tmp_path):
    path = write(tmp_path, json.dumps(suite(entry(), entry(id=7, files=["no"])), indent=1).encode())
    [problem] = evals.problems(path)
    with open(path, encoding="utf-8") as file:
        assert '"id": 7' in file.read().splitlines()[problem.line - 1]


def test_a_byte_order_mark_is_no_mistake(tmp_path):
    path = write(tmp_path, b"\xef\xbb\xbf" + json.dumps(suite()).encode())
    assert evals.problems(path) == []


@pytest.mark.parametrize(
    "identifier", ["explicit-invoke", "a b", "A.1", "1", 0, 12, "prüfung", "a_b"]
)
def test_an_id_that_can_be_a_folder_is_kept(tmp_path, identifier):
    [case] = evals.load(write(tmp_path, suite(entry(id=identifier)))).cases
    assert case.id == str(identifier)
    (tmp_path / f"eval-{case.id}").mkdir()


RETURN_CODES = {
    "broken JSON": b"{",
    "top level list": [],
    'duplicate id 1 and "1"': suite(entry(id=1), entry(id="1")),
    "unknown keys (typos)": suite(entry(shuold_trigger=True)),
    "no assertions": suite(without("assertions")),
    "fixture ../ path": suite(entry(files=["../x"])),
    "skill_name with ../": suite(skill_name="../x"),
    "id with /": suite(entry(id="a/b")),
    "missing fixture file": suite(entry(files=["files/no.txt"])),
    "fixture is a symlink": suite(entry(files=["files/link"])),
    "UTF-8 BOM": b"\xef\xbb\xbf" + json.dumps(suite()).encode(),
    "latin-1 bytes": b'{"skill_name": "\xe9"}',
}
# where the original is wrong: a mark at the start is no mistake, and neither is a link inside
GOOD = {"UTF-8 BOM", "fixture is a symlink"}


@pytest.mark.parametrize("row", CASES["validate_exit"], ids=lambda row: row["input"])
def test_what_the_original_refuses_is_refused(tmp_path, row):
    path = write(tmp_path, RETURN_CODES[row["input"]])
    os.symlink("a.txt", tmp_path / "evals/files/link")
    errors = [problem for problem in evals.problems(path) if problem.level == "error"]
    assert bool(errors) is (row["input"] not in GOOD)


def test_a_link_that_leaves_the_folder_is_refused(tmp_path):
    path = write(tmp_path, suite(entry(files=["files/link"]), entry(id="e2", files=["files"])))
    build.write(tmp_path / "secret", "x")
    os.symlink("../../secret", tmp_path / "evals/files/link")
    found = [problem.message for problem in evals.problems(path)]
    assert len(found) == 2
    assert all("is or holds a link that leaves" in message for message in found)


def test_a_link_to_the_suite_is_refused(tmp_path):
    path = write(tmp_path, suite(entry(files=["files/link"])))
    os.symlink("../evals.json", tmp_path / "evals/files/link")
    assert "is or holds the suite itself" in evals.problems(path)[0].message


def test_a_link_that_leads_nowhere_is_named_so(tmp_path):
    path = write(tmp_path, suite(entry(files=["files/link"])))
    os.symlink("gone", tmp_path / "evals/files/link")
    assert "is a link that leads nowhere" in evals.problems(path)[0].message


def test_a_folder_may_be_a_fixture(tmp_path):
    assert evals.problems(write(tmp_path, suite(entry(files=["files"])))) == []


def test_paths_of_agentskills_are_relative_to_the_skill(tmp_path):
    [case] = evals.load(write(tmp_path, suite(entry(files=["evals/files/a.txt"])))).cases
    assert case.files == ("files/a.txt",)


def test_two_files_with_one_place_are_refused(tmp_path):
    files = ["files/x/a.txt", "files/a.txt"]
    path = write(tmp_path, suite(entry(files=files)), files)
    [problem] = evals.problems(path)
    assert (problem.rule, "both 'a.txt'" in problem.message) == ("E05", True)


@pytest.mark.parametrize("row", CASES["fixture_map"], ids=lambda row: ",".join(row["files"]))
def test_fixtures_have_their_place_in_the_workspace(tmp_path, row):
    path = write(tmp_path, suite(entry(files=row["files"])), row["files"])
    [case] = evals.load(path).cases
    found = {place: f"E/{file}" for file, place in targets(case.files).items()}
    assert found == row["map"]
    assert row["collisions"] == {}


@pytest.mark.parametrize("row", CASES["prompt"], ids=lambda row: row["sent"])
def test_the_prompt_is_sent_as_the_seed_says(tmp_path, row):
    raw = suite(
        entry(prompt=row["prompt"], force_skill_invocation=row["force"]), skill_name=row["skill"]
    )
    [case] = evals.load(write(tmp_path, raw)).cases
    arm = Arm(
        "a",
        "fake",
        with_skill=row["with_skill"],
        options={"skill": row["skill"], "skill_name": row["skill"]},
    )
    assert harness.prompt(case, arm) == row["sent"]


def test_a_suite_is_found_by_its_file_and_by_its_skill(tmp_path):
    path = write(tmp_path, suite())
    assert of(path) is evals
    assert of(str(tmp_path)) is evals
    assert evals.load(str(tmp_path)).path == os.path.join(str(tmp_path), "evals", "evals.json")


def test_any_file_name_will_do_when_it_is_named(tmp_path):
    path = build.write(tmp_path / "mine.json", json.dumps(suite()))
    assert evals.load(str(path)).name == "demo"


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(SuiteError, match=r"evals\.json: no such file"):
        evals.load(str(tmp_path / "evals.json"))


def skill(tmp_path, folder, name):
    return build.write(
        tmp_path / folder / "SKILL.md", f"---\nname: {name}\ndescription: d\n---\nx\n"
    ).parent


def test_a_suite_knows_the_skill_that_it_lies_in(tmp_path):
    skill(tmp_path, "demo", "demo")
    path = write(tmp_path / "demo", suite())
    assert evals.load(path).meta["skill"] == str(tmp_path / "demo")


def test_a_suite_elsewhere_is_told_its_skill(tmp_path):
    folder = skill(tmp_path, "skills/demo", "demo")
    path = write(tmp_path / "examples", suite())
    assert evals.load(path).meta["skill"] == ""
    assert evals.load(path, skill=str(folder)).meta == {"skill": str(folder), "warnings": ()}


def test_a_name_that_is_not_the_skills_is_a_warning(tmp_path):
    folder = skill(tmp_path, "other", "other")
    path = write(folder, suite())
    assert messages(folder, suite(), "warning")[0].startswith("E08 : skill_name is 'demo', but")
    assert len(evals.load(path).meta["warnings"]) == 1


def test_a_skill_may_be_called_as_its_manifest_says(tmp_path):
    folder = skill(tmp_path, "folder", "demo")
    assert evals.load(write(folder, suite())).meta["warnings"] == ()


def test_the_same_assertion_twice_is_a_warning(tmp_path):
    raw = suite(entry(assertions=["x", "x"]))
    assert messages(tmp_path, raw, "warning") == ["E14 eval e1: assertions entry 2 is there twice"]
    assert len(evals.load(write(tmp_path, raw)).cases[0].checks) == 2


def test_strict_adds_what_makes_a_suite_say_little(tmp_path):
    raw = suite(entry(assertions=["The tone is polite"], force_skill_invocation=True))
    assert messages(tmp_path, raw, "warning") == []
    rules = [message[:3] for message in messages(tmp_path, raw, "warning", strict=True)]
    assert rules == ["E10", "E11", "E13"]


def test_routes_show_who_grades_what_and_why(tmp_path):
    texts = ["A commit was created", "The agent ran `npm test`", "The tone is polite"]
    raw = suite(entry(assertions=texts), entry(id="e2", should_trigger=False))
    found = evals.routes(evals.load(write(tmp_path, raw)))
    assert [(route.case_id, route.grader) for route in found] == [
        ("e1", "state"),
        ("e1", "trace"),
        ("e1", "judge"),
        ("e2", "state"),
    ]
    assert found[0].why == "state: commit (looks at a new commit at HEAD)"
    assert found[2].why == "judge: no rule knows what it is about"
    assert found[3].why.endswith("turned around: it must not have happened")


def test_the_schema_has_the_fields_that_are_read():
    schema = json.loads(evals.schema_text())
    case = schema["$defs"]["eval"]
    assert case["properties"].keys() == evals.KEYS
    assert schema["properties"].keys() == {"$schema", "skill_name", "evals"}
    assert schema["additionalProperties"] is case["additionalProperties"] is False
    assert case["required"] == ["id", "prompt", "expected_output"]
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_half_a_surrogate_pair_in_a_prompt_is_a_warning(tmp_path):
    raw = suite(entry(prompt="ab\ud83d"))
    [message] = messages(tmp_path, raw, level="warning")
    assert message == (
        "E01 eval e1: prompt has half a surrogate pair as character 3, which is sent as '?'"
    )
    assert len(evals.load(str(tmp_path / "evals/evals.json")).cases) == 1
