"""The agent kiro-cli, direct and in a container (seed 000; spec/scenarios sections 6, 9 and 20).

The programs are real processes: the fakes kiro-cli and docker of tests/bin.
"""

import json
import os

import build
import pytest
from kiro_fake import Kiro

from skilleval import engine, settings
from skilleval.agents import kiro
from skilleval.errors import SkillevalError
from skilleval.formats import scenario
from skilleval.process import Completed

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the fake engine is a shell script")
DIRECT = {"scenario.json": '{"sandbox": false}'}
SKILL_FILES = {
    "references/guide.md": "G",
    "CHANGELOG.md": "not for the agent",
    "scripts/run.sh": "echo",
}


def suite(root, files=None, name="scenario-a", text=None, **flags):
    """The suite of a skill with one scenario; `text` is a settings file."""
    folder = build.scenario(root, name, text="---\nname: demo\n---\n", files=files)
    for path, content in SKILL_FILES.items():
        build.write(folder.parent.parent / path, content)
    if text:
        build.write(root / ".openkata-eval.yaml", text)
    chosen = settings.resolve(flags, {}, str(root), scenario.SETTINGS)
    return scenario.configured(scenario.load(str(folder)), chosen)


def run(fake, loaded):
    return kiro.run(loaded.cases[0], loaded.arms[0], fake.tools)


def placed(argv):
    """An engine command with the parts that differ from run to run taken out."""
    words = [
        "NAME" if word.startswith("openkata-eval-") and ":" not in word else word for word in argv
    ]
    return [
        f"NAME:{word.partition(':')[2]}" if "openkata-eval-" in word and ":/w" in word else word
        for word in words
    ]


# -- direct ---------------------------------------------------------------------------------------


def test_a_direct_run_calls_kiro_with_its_agent_and_model(tmp_path):
    fake = Kiro(tmp_path, "> Hello\n")
    loaded = suite(tmp_path, DIRECT, model="m")
    outcome = run(fake, loaded)
    [call] = fake.calls
    options = ["chat", "--agent", "eval-agent", "--no-interactive", "--model", "m"]
    assert call["argv"] == [*options, f"\n\n{loaded.cases[0].prompt}"]
    assert (outcome.status, outcome.output, outcome.attempts) == ("ok", "Hello", 1)
    assert (outcome.exit_code, outcome.delta) == (0, None)


def test_a_direct_run_never_trusts_tools_and_never_asks_the_engine(tmp_path):
    fake = Kiro(tmp_path, "x")
    run(fake, suite(tmp_path, DIRECT))
    assert [argv[0] for argv in fake.commands] == ["kiro-cli"]
    assert "--trust-all-tools" not in fake.commands[0]


def test_a_direct_run_finds_the_skill_and_its_agent_file_and_no_answer_key(tmp_path):
    fake = Kiro(tmp_path, "x")
    run(fake, suite(tmp_path, DIRECT))
    files = fake.calls[0]["files"]
    assert sorted(files) == [
        ".kiro/agents/eval-agent.json",
        "skill/SKILL.md",
        "skill/references/guide.md",
        "skill/scripts/run.sh",
    ]
    document = json.loads(files[".kiro/agents/eval-agent.json"])
    assert sorted(document) == ["name", "resources"]


def test_a_direct_run_is_in_a_folder_of_its_own_that_is_gone_afterwards(tmp_path):
    fake = Kiro(tmp_path, "x")
    run(fake, suite(tmp_path, DIRECT))
    folder = fake.calls[0]["cwd"]
    assert os.path.basename(os.path.dirname(folder)).startswith("openkata-eval-agent-")
    assert not os.path.exists(folder)


def test_an_empty_model_is_no_option(tmp_path):
    fake = Kiro(tmp_path, "x")
    loaded = suite(tmp_path, DIRECT)
    run(fake, loaded._replace(arms=(loaded.arms[0]._replace(model=""),)))
    assert "--model" not in fake.calls[0]["argv"]


def test_a_throttled_model_is_asked_again(tmp_path):
    throttled = {"exit": 1, "stderr": "ThrottlingException: rate exceeded"}
    fake = Kiro(tmp_path, throttled, throttled, "Hello")
    outcome = run(fake, suite(tmp_path, DIRECT))
    assert (outcome.status, outcome.output, outcome.attempts) == ("ok", "Hello", 3)
    assert (len(fake.calls), fake.sleeps) == (3, [1, 2])


def test_a_model_throttled_three_times_is_an_error(tmp_path):
    fake = Kiro(tmp_path, {"exit": 1, "stderr": "429"})
    outcome = run(fake, suite(tmp_path, DIRECT))
    assert outcome.error == (
        "agent completion: throttled after 3 attempts: kiro-cli failed (exit status 1): 429"
    )
    assert (outcome.status, outcome.attempts, fake.sleeps) == ("error", 3, [1, 2, 4])
    assert outcome.failure == "infrastructure"


def test_any_other_failure_is_an_error_at_once(tmp_path):
    fake = Kiro(tmp_path, {"exit": 2, "stderr": "not logged in"}, "never")
    outcome = run(fake, suite(tmp_path, DIRECT))
    assert outcome.error == ("agent completion: kiro-cli failed (exit status 2): not logged in")
    assert (outcome.exit_code, len(fake.calls), fake.sleeps) == (2, 1, [])
    assert outcome.failure == "infrastructure"


def test_an_empty_answer_is_an_error(tmp_path):
    outcome = run(Kiro(tmp_path, "\n"), suite(tmp_path, DIRECT))
    assert (outcome.status, outcome.error) == (
        "error",
        "agent completion: kiro-cli: empty response",
    )


def test_a_direct_run_has_the_direct_timeout(tmp_path):
    fake = Kiro(tmp_path, {"sleep": 30})
    outcome = run(fake, suite(tmp_path, DIRECT, text="direct_timeout: 1\n"))
    assert outcome.error.startswith("agent completion: kiro-cli: timed out after 1 s")
    assert (outcome.timed_out, outcome.failure) == (True, "timeout")
    assert 1 <= outcome.seconds < 10


@pytest.mark.parametrize("sandbox", ["true", "false"])
def test_a_prompt_that_is_too_long_starts_nothing(tmp_path, sandbox):
    files = {"scenario.json": f'{{"sandbox": {sandbox}}}', "inputs/a": "x" * 131_072}
    fake = Kiro(tmp_path, "x")
    outcome = run(fake, suite(tmp_path, files))
    assert outcome.status == "error"
    assert "kiro-cli takes at most 131071" in outcome.error
    assert fake.commands == []


# -- in a container -------------------------------------------------------------------------------


def test_a_sandboxed_run_is_the_sequence_of_the_original(tmp_path):
    fake = Kiro(tmp_path, "done")
    text = "sandbox: {image: 'img:1', network: bridge, timeout: 60}\n"
    loaded = suite(tmp_path, {"inputs/a.txt": "A"}, "scenario-x", text)
    run(fake, loaded)
    skill, folder = loaded.path, loaded.cases[0].source
    commands = [placed(argv) for argv in fake.commands]
    create = commands.pop(0)
    assert create[:5] == ["docker", "create", "--name", "NAME", "--network"]
    assert create[5] == "bridge"
    assert f"{tmp_path}/.aws:/root/.aws:ro" in create
    assert create[-3:] == ["img:1", "sleep", "infinity"]
    temporary = commands[8].pop(2)
    assert os.path.basename(temporary) == "eval-agent.json"
    snapshots = [commands[9].pop(), commands[11].pop()]
    assert snapshots[0] != snapshots[1]
    timeout = ["timeout", "-k", "5", "60"]
    agent = ["kiro-cli", "chat", "--agent", "eval-agent", "--trust-all-tools", "--no-interactive"]
    assert commands == [
        ["docker", "start", "NAME"],
        ["docker", "exec", "NAME", "mkdir", "-p", "/workspace/skill"],
        ["docker", "cp", f"{skill}/SKILL.md", "NAME:/workspace/skill/SKILL.md"],
        ["docker", "cp", f"{skill}/references", "NAME:/workspace/skill/references"],
        ["docker", "cp", f"{skill}/scripts", "NAME:/workspace/skill/scripts"],
        ["docker", "cp", f"{folder}/task.md", "NAME:/workspace/task.md"],
        ["docker", "cp", f"{folder}/inputs/.", "NAME:/workspace/"],
        ["docker", "exec", "NAME", "mkdir", "-p", "/workspace/.kiro/agents"],
        ["docker", "cp", "NAME:/workspace/.kiro/agents/eval-agent.json"],
        ["docker", "cp", "NAME:/workspace/."],
        ["docker", "exec", "NAME", *timeout, *agent, f"\n{loaded.cases[0].prompt}"],
        ["docker", "cp", "NAME:/workspace/."],
        ["docker", "rm", "-f", "NAME"],
    ]


def test_a_sandboxed_run_passes_no_model_whatever_is_set(tmp_path):
    fake = Kiro(tmp_path, "done")
    run(fake, suite(tmp_path, model="m"))
    assert not any("--model" in argv for argv in fake.commands)


def test_the_prompt_in_a_container_always_begins_with_a_newline(tmp_path):
    fake = Kiro(tmp_path, "done")
    loaded = suite(tmp_path)
    build.write(tmp_path / "skills" / "demo" / "SKILL.md", "# S\n")
    run(fake, scenario.load(loaded.cases[0].source)._replace(arms=loaded.arms))
    assert fake.calls[0]["argv"][-1].startswith("\n# S\n")


def test_the_network_of_the_scenario_wins(tmp_path):
    fake = Kiro(tmp_path, "done")
    run(fake, suite(tmp_path, {"scenario.json": '{"network": "none"}'}))
    create = fake.commands[0]
    assert create[create.index("--network") + 1] == "none"


def test_the_agent_in_the_container_has_the_task_the_inputs_and_its_tools(tmp_path):
    fake = Kiro(tmp_path, "done")
    run(fake, suite(tmp_path, {"inputs/src/a.js": "A", "inputs/.hidden": "H"}))
    files = fake.calls[0]["files"]
    assert sorted(files) == [
        ".hidden",
        ".kiro/agents/eval-agent.json",
        "skill/SKILL.md",
        "skill/references/guide.md",
        "skill/scripts/run.sh",
        "src/a.js",
        "task.md",
    ]
    tools = ["fs_read", "fs_write", "execute_bash", "grep", "glob"]
    document = json.loads(files[".kiro/agents/eval-agent.json"])
    assert (document["tools"], document["allowedTools"]) == (tools, tools)


def test_what_the_agent_changed_is_in_the_outcome(tmp_path):
    reply = {"stdout": "\x1b[1mdone\x1b[0m\n", "stderr": "log\n"}
    reply |= {"write": {"new.txt": "N", "a.txt": "changed"}, "remove": ["b.txt"]}
    fake = Kiro(tmp_path, reply)
    outcome = run(fake, suite(tmp_path, {"inputs/a.txt": "A", "inputs/b.txt": "B"}))
    assert (outcome.status, outcome.output) == ("ok", "done\nlog\n")
    assert [(c.path, c.content) for c in outcome.delta.added] == [("new.txt", "N")]
    assert [(c.path, c.content) for c in outcome.delta.modified] == [("a.txt", "changed")]
    assert outcome.delta.deleted == ("b.txt",)


def test_an_agent_in_the_container_may_say_nothing(tmp_path):
    outcome = run(Kiro(tmp_path, {"write": {"new.txt": "N"}}), suite(tmp_path))
    assert (outcome.status, outcome.output) == ("ok", "")


def test_a_failing_agent_is_an_error_with_the_end_of_its_output(tmp_path):
    reply = {"exit": 3, "stdout": "half", "stderr": "boom", "write": {"new.txt": "N"}}
    outcome = run(Kiro(tmp_path, reply), suite(tmp_path))
    assert outcome.error == "agent completion: kiro-cli failed (exit status 3): halfboom"
    assert (outcome.status, outcome.exit_code, outcome.failure) == ("error", 3, "agent")
    assert [change.path for change in outcome.delta.added] == ["new.txt"]


def test_a_throttled_agent_in_the_container_is_not_asked_again(tmp_path):
    fake = Kiro(tmp_path, {"exit": 1, "stderr": "429"})
    assert run(fake, suite(tmp_path)).status == "error"
    assert (len(fake.calls), fake.sleeps) == (1, [])


def test_an_agent_that_takes_too_long_is_an_error_and_leaves_no_container(tmp_path):
    fake = Kiro(tmp_path, {"sleep": 60})
    outcome = run(fake, suite(tmp_path, text="sandbox: {timeout: 1}\n"))
    assert outcome.error.startswith("agent completion: kiro-cli: timed out after 1 s")
    assert outcome.timed_out
    assert os.listdir(tmp_path / "docker" / "boxes") == []


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("create", "docker create: "),
        ("start", "docker start: "),
        ("cp */SKILL.md", "copy SKILL.md: "),
        ("cp */references", "copy references: "),
        ("cp */task.md", "copy task.md: "),
        ("cp */inputs/.", "copy inputs: "),
        ("cp *eval-agent.json", "copy agent config: "),
        ("cp openkata", "snapshot before: "),
    ],
)
def test_each_step_that_fails_is_named_and_leaves_no_container(tmp_path, command, text):
    loaded = suite(tmp_path, {"inputs/a": "A"})
    fake = Kiro(tmp_path, "done", FAKE_DOCKER_FAILS=f"{command}*")
    with pytest.raises(SkillevalError, match=f"^{text}"):
        run(fake, loaded)
    boxes = tmp_path / "docker" / "boxes"
    assert not boxes.exists() or os.listdir(boxes) == []
    assert fake.calls == []


def test_a_failed_agent_is_told_also_when_no_snapshot_can_be_taken(tmp_path):
    reply = {"exit": 1, "stderr": "boom"}
    fake = Kiro(tmp_path, reply)
    run_all, seen = fake.tools.run, []

    def run_until_the_end(command):
        seen.append(command.argv[1])
        after = command.argv[1] == "cp" and "exec" in seen[-2:]
        failing = command._replace(env={**command.env, "FAKE_DOCKER_FAILS": "cp *"})
        return run_all(failing if after and len(fake.calls) else command)

    loaded = suite(tmp_path)
    tools = fake.tools._replace(run=run_until_the_end)
    outcome = kiro.run(loaded.cases[0], loaded.arms[0], tools)
    assert outcome.error == "agent completion: kiro-cli failed (exit status 1): boom"
    assert outcome.delta is None


def test_the_engine_runs_a_sandboxed_case_in_a_container_whatever_the_backend(tmp_path):
    fake = Kiro(tmp_path, "done")
    loaded = suite(tmp_path, backend="http")._replace(judge={})
    [result] = engine.run(loaded, engine.Session(fake.tools))
    assert (result.outcome.status, result.outcome.output) == ("ok", "done")
    assert fake.commands[0][:2] == ["docker", "create"]


# -- before the run -------------------------------------------------------------------------------


def test_all_is_there(tmp_path):
    fake = Kiro(tmp_path)
    assert kiro.preflight(suite(tmp_path), fake.tools) == ()
    assert fake.commands == [["docker", "info"]]


def test_without_a_sandboxed_scenario_the_engine_is_never_asked(tmp_path):
    fake = Kiro(tmp_path)
    assert kiro.preflight(suite(tmp_path, DIRECT), fake.tools) == ()
    assert fake.commands == []


def test_a_missing_kiro_is_named_with_a_hint(tmp_path):
    fake = Kiro(tmp_path)
    (fake.programs / "kiro-cli").unlink()
    [problem] = kiro.preflight(suite(tmp_path), fake.tools)
    first, hint = problem.splitlines()
    assert first == "kiro-cli not found on PATH"
    assert hint.startswith("install it")


def test_another_backend_needs_no_kiro_on_this_machine(tmp_path):
    fake = Kiro(tmp_path)
    (fake.programs / "kiro-cli").unlink()
    assert kiro.preflight(suite(tmp_path, backend="http"), fake.tools) == ()


def test_an_engine_that_does_not_answer_is_quoted(tmp_path):
    fake = Kiro(tmp_path, FAKE_DOCKER_FAILS="info")
    [problem] = kiro.preflight(suite(tmp_path), fake.tools)
    assert "docker info" in problem
    assert "no, says FAKE_DOCKER_FAILS" in problem


@pytest.mark.parametrize(("cut", "whole"), [(0, True), (9, False)])
def test_output_that_was_cut_is_not_whole(cut, whole):
    assert kiro._outcome([Completed(0, stdout_cut_bytes=cut)]).output_whole is whole
