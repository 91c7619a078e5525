"""The table and the JSON values of the check strength."""

import json

import build
import pytest

from skilleval import strength
from skilleval.sinks import strength as sink
from skilleval.strength import (
    CheckStrength,
    OperatorStrength,
    SkillStrength,
    StrengthReport,
    TaskStrength,
)
from skilleval.strength.mutation import Mutant

EXAMPLE = """\
Call connect() first.

The port is 8080.

Then close it with `shut_down`.
"""
TABLE = """\
check strength: mutants of the worked examples that a check notices (seed 0)
        mutants     noticed  line  section  identifier  sentence  truncate  counterexample
bare  left out: has no evals/tasks.json
demo
  good       11     5  45 %   2/3        -         1/2       0/3       1/2             1/1
    never catches anything: must_include "e"
    not tested by any mutant: must_not_include "sudo": extend counterexamples/good.md
  lost  left out: no worked example
  weak       10     0   0 %   0/3        -         0/2       0/3       0/2               -
    unnoticed: truncate line 3: "cut after 1 of 3 lines"
    unnoticed: negate-sentence line 1: "Call -> Do not call: Do not call connect() forth, before th…"
    unnoticed: swap-identifier line 1: "connect -> shut_down"
    unnoticed: 7 more (--json lists all)
    never catches anything: must_include "th"
    never catches anything: must_include "ort"
    not tested by any mutant: must_not_include "kill": write counterexamples/weak.md
total: skills 2, tasks 3 (1 left out), mutants noticed 5/21 (23 %), \
checks that never catch anything 3, not tested 2
"""


@pytest.fixture
def report(tmp_path):
    tasks = [
        {"id": "good", "include": ["connect(", "8080", "e"], "exclude": ["kill -9", "sudo"]},
        {"id": "lost", "include": ["8080"], "exclude": []},
        {"id": "weak", "include": ["th", "ort"], "exclude": ["kill"]},
    ]
    folder = build.skill(
        tmp_path,
        tasks=[
            {
                "id": task["id"],
                "prompt": "How?",
                "must_include": task["include"],
                "must_not_include": task["exclude"],
            }
            for task in tasks
        ],
        examples={"good": EXAMPLE, "weak": EXAMPLE.replace("first", "forth, before the port")},
    )
    build.write(folder / "evals" / "counterexamples" / "good.md", "connect( to 8080, kill -9")
    build.write(tmp_path / "skills" / "bare" / "SKILL.md", "x")
    return strength.of_skills(str(tmp_path / "skills" / name) for name in ("bare", "demo"))


def test_table(report):
    assert sink.render(report) == TABLE


def test_document_is_complete_json(report):
    document = json.loads(json.dumps(sink.document(report)))
    assert (document["seed"], document["limit_per_operator"]) == (0, 25)
    assert (document["mutants"], document["noticed"], document["share"]) == (21, 5, 5 / 21)
    bare, demo = document["skills"]
    assert (bare["left_out"], bare["share"], bare["tasks"]) == ("has no evals/tasks.json", None, [])
    good, lost, weak = demo["tasks"]
    assert (lost["left_out"], lost["share"], good["left_out"]) == ("no worked example", None, None)
    assert len(weak["unnoticed"]) == weak["mutants"] - weak["noticed"] == 10
    assert list(good["operators"]) == list(strength.OPERATORS)
    assert good["operators"]["truncate"] == {"mutants": 2, "noticed": 1, "share": 0.5}
    assert good["operators"]["drop-section"] == {"mutants": 0, "noticed": 0, "share": None}
    assert weak["checks"][2] == {
        "id": "must_not_include/1",
        "type": "must_not_include",
        "value": "kill",
        "caught": 0,
        "tried": 10,
    }


def test_unnoticed_mutant_in_the_document_says_where_and_what(report):
    weak = sink.document(report)["skills"][1]["tasks"][2]
    assert weak["unnoticed"][0] == {
        "operator": "drop-line",
        "line": 1,
        "description": "Call connect() forth, before the port.",
    }


def table(task_id="t1", **fields):
    task = TaskStrength(task_id, **fields)
    return sink.render(StrengthReport(0, (SkillStrength("demo", "demo", (task,)),)))


def test_text_of_a_user_stays_on_one_line_and_is_escaped():
    hostile = "a\nb\t\x1b[31m\x9b\u202e\x7f\"'\ud800"
    shown = table(
        operators=(OperatorStrength("drop-line", 1, 0),),
        unnoticed=(Mutant("drop-line", 1, hostile, ""),),
        checks=(CheckStrength("c", hostile, False, 0, 1),),
    )
    assert len(shown.splitlines()) == 7
    assert shown.replace("\n", "").isprintable()
    assert r'"a\nb\t\u001b[31m\x9b\u202e\x7f\"' in shown


def test_long_text_is_cut():
    assert sink.quoted("x" * 61, sink.EXCERPT) == '"' + "x" * 59 + '…"'
    assert sink.quoted("x" * 60, sink.EXCERPT) == '"' + "x" * 60 + '"'


def test_long_id_is_cut():
    assert max(map(len, table("x" * 200).splitlines())) < 140


def test_task_that_is_not_weak_shows_no_mutants():
    mutants = (Mutant("drop-line", 1, "x", ""),) * 3
    of_line = OperatorStrength("drop-line", 4, 1)
    assert "unnoticed" not in table(operators=(of_line,), unnoticed=mutants)
    weaker = of_line._replace(mutants=5)
    assert "unnoticed" in table(operators=(weaker,), unnoticed=mutants)


def test_share_of_nothing_is_unknown():
    assert "unknown" in table().splitlines()[3]


@pytest.mark.parametrize(
    ("part", "whole", "shown"),
    [(0, 3, "0 %"), (1, 1000, "1 %"), (999, 1000, "99 %"), (3, 3, "100 %"), (0, 0, "unknown")],
)
def test_only_all_reads_100_and_only_nothing_reads_0(part, whole, shown):
    assert sink.percent(part, whole) == shown


def test_no_skills_still_make_a_table():
    assert sink.render(StrengthReport(0, ())).endswith(
        "total: skills 0, tasks 0 (0 left out), mutants noticed 0/0 (unknown),"
        " checks that never catch anything 0, not tested 0\n"
    )
