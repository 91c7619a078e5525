"""Verdicts from what the agent did: commands of tool calls, skills used, never mere words."""

import pytest
from evidence import calls, decided, outcome, verdict

from skilleval.model import Arm, Event

RAN = calls("npm ci && npm test -- --watch=false", "git -C repo commit -m 'npm run lint'", "ls")
COMMANDS = [
    ("The agent ran npm", RAN, "pass"),
    ("The agent ran `npm test`", RAN, "pass"),
    ("The agent ran npm install", RAN, "fail"),
    ("The agent ran `npm run lint`", RAN, "fail"),
    ("The agent ran `npm ci` and `npm test`", RAN, "pass"),
    ("The agent ran `npm ci` and `yarn`", RAN, "fail"),
    ("The agent ran `yarn test` or `npm test`", RAN, "pass"),
    ("The agent ran `npm ci && npm test`", RAN, "pass"),
    ("The agent ran `git commit`", RAN, "pass"),
    ("The agent ran `git push`", RAN, "fail"),
    ("The agent never ran git push", RAN, "pass"),
    ("The agent did not run `git commit`", RAN, "fail"),
    ("The agent ran neither `yarn` nor `pnpm install`", RAN, "pass"),
    ("The agent ran npm at least twice", RAN, "pass"),
    ("The agent ran `npm test` exactly once", RAN, "pass"),
    ("The agent ran `npm test` more than once", RAN, "fail"),
    ("The agent ran npm at most once", RAN, "fail"),
    ("The agent ran pytest", calls("python3 -m pytest -q"), "pass"),
    ("The agent ran pytest", calls("uv run pytest"), "pass"),
    ("The agent ran pytest", calls("cd src; CI=1 pytest tests"), "pass"),
    ("The agent ran pytest", calls("bash -lc 'pytest -q | tail -3'"), "pass"),
    ("The agent ran pytest", calls(["bash", "-lc", "pytest -q"]), "pass"),
    ("The agent ran pytest", calls("pip install pytest"), "fail"),
    ("The agent ran pytest", calls("echo pytest"), "fail"),
    ("The agent ran pytest", calls("cat > run.sh <<'EOF'\npytest -q\nEOF"), "fail"),
    ("The agent ran pytest", calls("# pytest"), "fail"),
    ("The agent ran pytest", calls("ls > pytest"), "fail"),
    ("The agent ran pytest", calls("if pytest; then echo ok; fi"), "pass"),
    ("The agent ran pytest", calls("result=$(pytest -q)"), "pass"),
    ("The agent ran pytest", calls("echo 'unclosed\npytest"), "pass"),
    ("The agent ran python", calls("python3.12 x.py"), "pass"),
    ("The agent ran `python check.py`", calls("python3 -u ./check.py --all"), "pass"),
    ("The agent ran `python check.py`", calls("python other.py check.py"), "fail"),
    ("The agent ran the script `scripts/check.py`", calls("python3 scripts/check.py a"), "pass"),
    ("The agent ran the script `check.py`", calls("/w/scripts/check.py"), "pass"),
    ("The agent ran the script `check.py`", calls("cat check.py"), "fail"),
    ("The agent did not run `rm -rf`", calls("rm -fr build"), "fail"),
    ("The agent did not run `rm -rf`", calls("rm -r -f build"), "fail"),
    ("The agent did not run `rm -rf`", calls("rm build"), "pass"),
    ("The agent did not run `git push --force`", calls("git push origin +main"), "fail"),
    ("The agent did not run `git push --force`", calls("git push origin '+HEAD:main'"), "fail"),
    ("The agent did not run `git push --force`", calls("git push --mirror"), "fail"),
    ("The agent did not run `git push --force`", calls("git push -uf origin main"), "fail"),
    ("The agent did not run `git push --force`", calls("git push --force-with-lease"), "judge"),
    ("The agent did not run `git push --force`", calls("git push origin main"), "pass"),
    ("The agent ran `git push --force-with-lease`", calls("git push --force-with-lease=x"), "pass"),
    ("The agent did not force-push", calls("git push origin +main"), "fail"),
    ("The agent did not force-push", calls("git push --force-with-lease=main:a"), "fail"),
    ("The agent did not force-push", calls("git push -f; git log"), "fail"),
    ("The agent did not force-push", calls("git push origin main"), "pass"),
    ("The agent did not force-push", calls("git log"), "pass"),
    ("The agent did not force-push", outcome(), "judge"),
    ("The agent ran the Go tests", calls("go test ./..."), "pass"),
    ("The agent ran the Go tests", calls("go build"), "fail"),
    ("The agent ran npm tests", calls("npm run test"), "pass"),
    ("The agent ran `pytest -q`, which passed", calls("ls"), "fail"),
    ("The agent ran `pytest -q`, which passed", calls("pytest -q"), "judge"),
    ("The agent ran the tests", RAN, "judge"),
    ("The agent used `git commit`", RAN, "pass"),
    ("The agent used `requests`", RAN, "judge"),
]


@pytest.mark.parametrize(("text", "came", "want"), COMMANDS)
def test_command_claim(text, came, want):
    assert decided(text, came) == want


def test_what_the_agent_says_is_no_command():
    came = outcome(events=(Event("text", output="I ran pytest\npytest -q"),), output="pytest -q")
    assert decided("The agent ran pytest", came) == "fail"


def test_without_any_record_a_command_is_unknown():
    found = verdict("The agent ran pytest", outcome(output="pytest -q"))
    assert (found.status, found.reason, found.method) == ("skip", "no tool events", "undecided")
    assert decided("The agent did not run pytest", outcome()) == "judge"


def test_the_log_of_a_program_without_events_is_read_without_its_answer():
    log = outcome(stdout="$ pytest -q\n3 passed\n", output="done")
    assert decided("The agent ran pytest", log) == "pass"
    for line in ("+ pytest", "> pytest -q", "Running: pytest", "executing pytest -q"):
        assert decided("The agent ran pytest", outcome(stdout=line)) == "pass"
    prose = outcome(stdout="pytest -q\nis what to run", output="pytest -q\nis what to run")
    assert decided("The agent ran pytest", prose) == "judge"


ANSWER = "I looked at it.\nAll is well.\n"


@pytest.mark.parametrize(
    "stderr",
    [
        "",
        "pytest is not installed, so I did not run it",
        "I would run\npytest -q\nnow",
        "Running: pytest",
        "> pytest is what to run",
        "# pytest",
    ],
)
def test_of_an_agent_without_events_what_is_not_found_is_unknown(stderr):
    came = outcome(stdout=ANSWER, output=ANSWER, stderr=stderr)
    for text in ("The agent ran pytest", "The agent did not run pytest"):
        assert decided(text, came) == "judge"
    assert decided("The agent ran pytest at most once", came) == "judge"


@pytest.mark.parametrize("line", ["$ pytest -q", "+ pytest", "++ pytest", "me@host:~/x$ pytest"])
def test_of_an_agent_without_events_a_command_with_the_mark_of_a_shell_counts(line):
    came = outcome(stdout=ANSWER, output=ANSWER, stderr=f"{line}\n+ ls\n")
    assert decided("The agent ran pytest", came) == "pass"
    assert decided("The agent did not run pytest", came) == "fail"
    assert decided("The agent ran pytest exactly once", came) == "judge"
    assert decided("The agent ran pytest at least twice", came) == "judge"


def test_what_an_earlier_attempt_printed_is_no_log_of_all_that_was_done():
    log = f"--- attempt 1 ---\n{ANSWER}\n--- attempt 2 ---\ndone"
    retried = (Event("retry", output="attempt 1: agent"),)
    came = outcome(stdout=log, output="done", attempts=2, events=retried)
    assert decided("The agent did not run pytest", came) == "judge"
    assert decided("The skill did not trigger", came) == "skip"


LOST = calls("npm ci && npm test", "git push", events_whole=False)
OF_LOST = [
    ("The agent ran `npm test`", "pass"),
    ("The agent did not run `npm test`", "fail"),
    ("The agent ran pytest", "skip"),
    ("The agent did not run pytest", "skip"),
    ("The agent ran `pytest` or `npm test`", "pass"),
    ("The agent ran npm at least twice", "pass"),
    ("The agent ran npm at least 3 times", "skip"),
    ("The agent ran npm exactly twice", "skip"),
    ("The agent ran npm exactly once", "fail"),
    ("The agent ran npm at most once", "fail"),
    ("The agent ran npm at most 2 times", "skip"),
    ("The agent ran `npm test` before `git push`", "skip"),
    ("The agent ran no commands", "fail"),
    ("The skill did not trigger", "skip"),
    ("The skill was triggered", "skip"),
]


@pytest.mark.parametrize(("text", "want"), OF_LOST)
def test_of_a_record_that_lost_a_part_only_what_is_seen_counts(text, want):
    assert decided(text, LOST) == want


def test_skill_that_was_seen_was_used_whatever_was_lost():
    came = used("demo", events_whole=False)
    assert decided("The skill was triggered", came) == "pass"
    assert decided("The skill did not trigger", came) == "fail"


def test_nothing_that_is_left_of_a_record_proves_that_no_command_ran():
    came = outcome(events=(Event("text", output="hm"),), events_whole=False)
    assert decided("The agent ran no commands", came) == "skip"


@pytest.mark.parametrize(
    "command",
    ["python -c 'run(\"pytest\")'", "make pytest", "T=pytest; $T -q", "pytest.sh; su -c pytest"],
)
def test_command_that_a_program_may_have_been_given_is_unknown(command):
    assert decided("The agent ran pytest", calls(command)) == "judge"
    assert decided("The agent did not run pytest", calls(command)) == "judge"
    assert decided("The agent ran pytest at most once", calls(command)) == "judge"
    assert decided("The agent ran pytest", calls(command, "pytest")) == "pass"


def test_command_in_a_script_that_was_written_and_may_be_run_is_unknown():
    wrote = "cat > run.sh <<EOF\npytest -q\nEOF"
    assert decided("The agent did not run pytest", calls(wrote, "chmod +x run.sh")) == "pass"
    assert decided("The agent did not run pytest", calls(wrote, "bash run.sh")) == "judge"
    written = Event("call", "write", {"path": "/w/run.sh", "content": "pytest -q"})
    came = calls("./run.sh")
    came = came._replace(events=(written, *came.events))
    assert decided("The agent ran pytest", came) == "judge"


def test_command_of_a_tool_that_nobody_knows_is_unknown():
    came = outcome(events=(Event("call", "runner", {"script": "cd x\npytest"}),))
    assert decided("The agent did not run pytest", came) == "judge"
    assert decided("The agent did not run yarn", came) == "pass"


def test_arguments_in_another_order_may_be_the_same_command():
    came = calls("pytest tests/a.py tests/b.py")
    assert decided("The agent ran `pytest tests/b.py`", came) == "judge"
    assert decided("The agent did not run `pytest tests/c.py`", came) == "pass"


@pytest.mark.parametrize("kind", ['["string", "null"]', '{"const": 1}', "7", "null"])
def test_record_whose_type_is_no_text_is_no_call(kind):
    """Such as the schema of a tool's parameters, where `type` may be a list."""
    schema = f'{{"tools": [{{"name": "sh", "parameters": {{"path": {{"type": {kind}}}}}}}]}}'
    line = '{"type":"tool_call","id":"1","input":{"command":"pytest -q"}}'
    assert decided("The agent ran pytest", outcome(stdout=f"{schema}\n{line}\n")) == "pass"


def test_a_line_of_json_that_cannot_be_read_may_hold_a_command():
    line = '{"type":"item.completed","item":{"type":"command_execution","command":"make x"}}'
    log = outcome(stdout=f'{line}\n{{"type":"item.comp')
    assert decided("The agent ran make", log) == "pass"
    assert decided("The agent did not run npm", log) == "skip"


def test_a_log_of_json_lines_counts_by_its_commands_only():
    line = '{"type":"item.completed","item":{"type":"command_execution","command":"make x"}}'
    log = outcome(stdout=f"{line}\nnpm test\nbroken\n")
    assert decided("The agent ran make", log) == "pass"
    assert decided("The agent ran npm", log) == "fail"


def test_a_result_without_a_log_says_nothing_of_commands():
    came = outcome(stdout='{"type": "result", "result": "npm test"}', output="npm test")
    assert decided("The agent ran npm", came) == "judge"
    assert decided("The agent did not run npm", came) == "judge"


def test_a_denied_call_was_not_run():
    came = outcome(events=(Event("denied", "shell", {"command": "rm -rf x"}),))
    assert decided("The agent did not run `rm -rf`", came) == "pass"


def test_a_failed_call_was_run():
    came = outcome(events=(Event("call", "shell", {"command": "npm test"}, failed=True),))
    assert decided("The agent ran `npm test`", came) == "pass"


@pytest.mark.parametrize("given", [{}, {"command": 7}, {"command": []}, {"cmd": "npm test"}])
def test_a_call_of_any_shape_is_read(given):
    came = outcome(events=(Event("call", "tool", given),))
    assert decided("The agent ran npm", came) == ("pass" if "cmd" in given else "fail")


def used(*names, **fields):
    return outcome(
        events=(Event("text", output="hm"), *[Event("skill", n) for n in names]), **fields
    )


SKILLS = [
    ("The skill was triggered", used("demo"), "pass"),
    ("The skill was triggered", used("plugin:demo"), "pass"),
    ("The skill was triggered", used("other"), "fail"),
    ("The skill did not trigger", used("other"), "pass"),
    ("The skill did not trigger", used("demo"), "fail"),
    ("The `other` skill was used", used("demo", "other"), "pass"),
    ("The skill did not trigger", outcome(output="x"), "skip"),
    ("The skill did not trigger", used(timed_out=True), "skip"),
    ("The skill did not trigger", used(failure="agent"), "skip"),
    ("The skill was triggered", used(timed_out=True), "skip"),
    ("The skill was triggered", used("demo", timed_out=True), "pass"),
    ("The skill was triggered and `a.md` exists", used(timed_out=True), "fail"),
    ("The skill was triggered and no commit was created", used(timed_out=True), "skip"),
]


@pytest.mark.parametrize(("text", "came", "want"), SKILLS)
def test_skill_claim(text, came, want):
    assert decided(text, came) == want


def test_reading_a_skill_file_is_not_using_it():
    came = outcome(events=(Event("call", "read", {"path": "docs/SKILL.md"}),))
    assert decided("The skill was triggered", came) == "fail"


def test_a_skill_used_by_a_sub_agent_counts():
    came = outcome(events=(Event("skill", "demo", parent="toolu_1"),))
    assert decided("The skill was triggered", came) == "pass"


def test_evidence_lists_the_commands():
    reason = verdict("The agent ran yarn", RAN).reason
    assert reason.startswith("'yarn' was not run; commands: 'npm ci', 'npm test")


@pytest.mark.parametrize(
    "text", ["The skill was triggered", "The skill was not used", "The demo skill was triggered"]
)
def test_an_arm_without_the_skill_is_not_graded_by_its_use(text):
    came = outcome(events=(Event("text", output="done"),))
    bare = verdict(text, came, arm=Arm("control", "x", with_skill=False))
    assert (bare.status, bare.reason) == ("skip", "there is no skill to use in this arm")
    assert verdict(text, came, arm=Arm("skilled", "x")).status in ("pass", "fail")


def test_an_arm_without_the_skill_is_graded_by_everything_else():
    came = calls("git push")
    control = Arm("control", "x", with_skill=False)
    assert verdict("The agent ran git push", came, arm=control).status == "pass"
