"""The agent without a model, in its modes, through the trial that every agent runs in (seed 002)."""

import json

import build
import pytest

from skilleval.agents import fake
from skilleval.errors import SuiteError, UsageError
from skilleval.model import Arm, Case, Suite, Usage
from skilleval.tools import Tools


class Trials:
    """Runs cases of a suite in a folder, with a skill beside it."""

    def __init__(self, folder):
        self.suite = folder / "suite"
        self.skill = folder / "skills" / "tidy"
        build.write(
            self.skill / "SKILL.md", "---\nname: tidy\ndescription: Tidies.\n---\n\nTidy.\n"
        )
        self.suite.mkdir()

    def arm(self, mode="", with_skill=True, **options):
        given = {"fake": mode, "skill": str(self.skill), "skill_name": "tidy", "retries": 0}
        return Arm("fake-arm", "fake", with_skill=with_skill, options={**given, **options})

    def run(self, prompt="do it", mode="", *, with_skill=True, triggers=True, **options):
        notes = {"fixtures": str(self.suite)}
        case = Case("c1", prompt, annotations=notes, should_trigger=triggers)
        return fake.run(case, self.arm(mode, with_skill, **options), Tools())

    def script(self, *steps):
        path = build.write(self.suite / "script.json", json.dumps(steps))
        return f"scripted:{path}"

    def oracle(self, **files):
        for name, content in files.items():
            build.write(self.suite / "oracle" / "c1" / name.replace("__", "/"), content)


@pytest.fixture
def trials(tmp_path):
    return Trials(tmp_path)


def kinds(outcome):
    return [":".join(filter(None, [event.kind, event.name])) for event in outcome.events]


def added(outcome):
    return {change.path: change.content for change in outcome.delta.added}


def test_seeds_fake_formats_with_the_skill(trials):
    outcome = trials.run("Please format it")
    assert json.loads(outcome.output) == {"formatted": True, "status": "formatted-json-ok"}
    assert (outcome.usage, outcome.exit_code) == (Usage(1, 1, 0, 0.0, "fake"), 0)
    assert kinds(outcome) == ["call:skill", "skill:tidy", "text"]
    assert outcome.skills == ("tidy",)


def test_seeds_fake_says_its_sentence_without_the_skill(trials):
    outcome = trials.run("Please format it", with_skill=False)
    assert outcome.output == "fake-agent baseline output: no formatting performed"
    assert outcome.skills == ()


def test_seeds_fake_says_its_sentence_to_other_prompts(trials):
    outcome = trials.run("Please tidy it")
    assert outcome.output == "fake-agent baseline output: no formatting performed"
    assert kinds(outcome) == ["text"]


def test_seeds_fake_makes_the_file_that_the_prompt_names(trials):
    assert added(trials.run("fake-create-file: notes/a.txt")) == {"notes/a.txt": ""}


def test_nop_changes_and_uses_nothing(trials):
    outcome = trials.run("format it", "nop")
    assert (outcome.status, outcome.output, kinds(outcome)) == ("ok", "nop", ["text"])
    assert (outcome.delta.added, outcome.delta.modified, outcome.delta.deleted) == ((), (), ())


def test_oracle_does_what_was_laid_down_for_the_case(trials):
    commands = [["git", "checkout", "-q", "-b", "feat"], ["git", "add", "a.txt"]]
    commands.append(["git", "commit", "-q", "-m", "feat: a"])
    trials.oracle(**{"output.txt": "All done: ü\n", "files__a.txt": "A\n", "files__d__b": "B\n"})
    trials.oracle(**{"commands.json": json.dumps(commands)})
    outcome = trials.run(mode="oracle")
    assert (outcome.status, outcome.failure, outcome.error) == ("ok", "", "")
    assert outcome.output == "All done: ü\n"
    assert added(outcome) == {"a.txt": "A\n", "d/b": "B\n"}
    assert outcome.delta.git["new_branches"] == ["feat"]
    shells = [event.input["command"] for event in outcome.events if event.name == "shell"]
    assert shells == ["git checkout -q -b feat", "git add a.txt", "git commit -q -m 'feat: a'"]


def test_oracle_uses_the_skill_where_the_case_wants_that(trials):
    trials.oracle(**{"output.txt": "x"})
    assert "skill:tidy" in kinds(trials.run(mode="oracle"))
    assert "skill:tidy" not in kinds(trials.run(mode="oracle", triggers=False))
    assert "skill:tidy" not in kinds(trials.run(mode="oracle", with_skill=False))


def test_oracle_without_an_answer_is_an_error_that_says_where_it_belongs(trials):
    outcome = trials.run(mode="oracle")
    assert (outcome.status, outcome.failure) == ("error", "agent")
    assert str(trials.suite / "oracle" / "c1") in outcome.error


def test_oracle_stays_beside_the_suite(trials, tmp_path):
    build.write(tmp_path / "suite" / "outside" / "output.txt", "leak")
    (tmp_path / "suite" / "oracle").mkdir()
    case = Case("../outside", "x", annotations={"fixtures": str(trials.suite)})
    outcome = fake.run(case, trials.arm("oracle"), Tools())
    assert (outcome.status, outcome.output) == ("error", "")


def test_command_of_the_oracle_that_fails_is_an_error(trials):
    trials.oracle(**{"output.txt": "x", "commands.json": '[["git", "no-such-command"]]'})
    outcome = trials.run(mode="oracle")
    assert outcome.failure == "agent"
    assert "git no-such-command" in outcome.error


def test_script_is_taken_step_by_step(trials):
    script = trials.script(
        {"say": "I will."},
        {"skill": "tidy"},
        {"write": ["a/b.txt", "x\n"]},
        {"run": ["sh", "-c", "cat a/b.txt; exit 3"]},
        {"sleep": 0},
        {"say": "Done."},
    )
    outcome = trials.run(mode=script)
    assert (outcome.output, outcome.failure) == ("Done.", "")
    assert kinds(outcome) == [
        "text",
        "call:skill",
        "skill:tidy",
        "call:write",
        "call:shell",
        "text",
    ]
    run = outcome.events[4]
    assert (run.output, run.failed) == ("x\n", True)
    assert added(outcome) == {"a/b.txt": "x\n"}


def test_script_may_be_written_for_each_case(trials):
    path = build.write(trials.suite / "s.json", json.dumps({"c1": [{"say": "one"}], "c2": []}))
    assert trials.run(mode=f"scripted:{path}").output == "one"


def test_skill_that_is_not_there_is_not_used(trials):
    outcome = trials.run(mode=trials.script({"skill": "tidy"}, {"say": "x"}), with_skill=False)
    assert kinds(outcome) == ["call:skill", "text"]
    assert outcome.events[0].failed


@pytest.mark.parametrize(
    ("step", "failure"),
    [
        ({"fail": "gave up"}, "agent"),
        ({"fail": {"failure": "infrastructure", "error": "gave up"}}, "infrastructure"),
    ],
)
def test_failure_of_a_script_is_of_the_kind_it_says(trials, step, failure):
    outcome = trials.run(mode=trials.script({"run": ["true"]}, step))
    assert (outcome.status, outcome.failure, outcome.exit_code) == ("error", failure, 1)
    assert "gave up" in outcome.error


@pytest.mark.parametrize("step", [{"shout": "x"}, {}, {"say": "x", "run": ["ls"]}, "say", 3])
def test_unknown_step_is_an_error_that_lists_the_steps(trials, step):
    outcome = trials.run(mode=trials.script(step))
    assert outcome.failure == "agent"
    assert "choose one of: copy, fail, must, run, say, skill, sleep, tell, write" in outcome.error


def test_sleep_beyond_the_deadline_is_a_timeout_that_keeps_what_was_said(trials):
    script = trials.script({"say": "begun"}, {"sleep": 30}, {"say": "never"})
    outcome = trials.run(mode=script, timeout_s=1.5)
    assert (outcome.timed_out, outcome.failure, outcome.output) == (True, "timeout", "begun")


def test_workspace_that_holds_modules_is_not_imported(trials):
    build.write(trials.suite / "json.py", "raise SystemExit('imported')\n")
    case = Case("c1", "x", files=("json.py",), annotations={"fixtures": str(trials.suite)})
    assert fake.run(case, trials.arm("nop"), Tools()).output == "nop"


def suite(arm):
    return Suite("s", "s", (), arms=(arm,))


def test_unknown_mode_is_a_usage_error_that_lists_the_modes(trials):
    with pytest.raises(UsageError, match='choose one of: "", nop, oracle, scripted:FILE'):
        fake.preflight(suite(trials.arm("oracel")), Tools())


@pytest.mark.parametrize("content", ["{", "3"])
def test_unusable_script_is_found_before_anything_runs(trials, content):
    path = build.write(trials.suite / "s.json", content)
    with pytest.raises(UsageError, match=r"s\.json"):
        fake.preflight(suite(trials.arm(f"scripted:{path}")), Tools())


def test_script_that_is_not_there_is_named(trials):
    with pytest.raises(SuiteError, match=r"gone\.json"):
        fake.preflight(suite(trials.arm(f"scripted:{trials.suite}/gone.json")), Tools())


def test_modes_are_known_before_anything_runs(trials):
    for mode in ("", "nop", "oracle", trials.script()):
        assert fake.preflight(suite(trials.arm(mode)), Tools()) == ()


def test_junk_in_its_output_is_no_event():
    told = fake.read('{"skills": []}\n{"kind": "text", "nonsense": 1}\n{"kind": 3}\nx', "", 0)
    assert (told.events, told.skills) == ((), ())


def test_script_may_be_longer_than_a_command_line(trials):
    assert trials.run(mode=trials.script({"say": "x" * 300_000})).output == "x" * 300_000
