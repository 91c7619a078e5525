"""The engine commands and their order, against the executable fake tests/bin/docker.

tests/real/test_docker.py is the same with a real engine.
"""

import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from checkout import ROOT

from skilleval import process, sandboxes
from skilleval.errors import AgentUnavailable, SkillevalError, UsageError
from skilleval.process import Command, Completed, owner
from skilleval.sandboxes import Spec, docker
from skilleval.snapshot import delta, describe
from skilleval.tools import Tools
from skilleval.trial.leftovers import Swept

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the fake engine is a shell script")
KIRO = ["kiro-cli", "chat", "--agent", "eval-agent", "--trust-all-tools", "--no-interactive"]
AGENT = ".kiro/agents/eval-agent.json"
# group `docker_sequence`: what the original runs for a skill with SKILL.md and references/ and a
# scenario with task.md and inputs/ whose network is `none`
ORIGINAL = """
create --name $N --network none -v $HOME/.aws:/root/.aws:ro -w /workspace img:1 sleep infinity
start $N
exec $N mkdir -p /workspace/skill
cp $SKILL/SKILL.md $N:/workspace/skill/SKILL.md
cp $SKILL/references $N:/workspace/skill/references
cp $SCENARIO/task.md $N:/workspace/task.md
cp $SCENARIO/inputs/. $N:/workspace/
exec $N mkdir -p /workspace/.kiro/agents
cp $TMP $N:/workspace/.kiro/agents/eval-agent.json
cp $N:/workspace/. $BEFORE
exec $N timeout 60 kiro-cli chat --agent eval-agent --trust-all-tools --no-interactive $PROMPT
cp $N:/workspace/. $AFTER
rm -f $N
"""
PROMPT = "\n---\nname: x\n---\nDo it."


class Engine(NamedTuple):
    """The fake engine in a folder, and a skill with a scenario for it."""

    folder: Path

    @property
    def environ(self) -> dict[str, str]:
        path = f"{self.folder}/bin:{ROOT}/tests/bin:{os.environ['PATH']}"
        return {
            "PATH": path,
            "HOME": str(self.folder / "home"),
            "FAKE_DOCKER": str(self.folder),
            "CALLS": str(self.folder / "calls"),
        }

    def tools(self, **variables: str) -> Tools:
        return Tools(environ={**self.environ, **variables})

    @property
    def calls(self) -> list[list[str]]:
        text = (self.folder / "calls").read_text()
        return [call.split("\x1f")[:-1] for call in text.split("\x1e")[:-1]]

    @property
    def boxes(self) -> list[str]:
        return os.listdir(self.folder / "boxes") if (self.folder / "boxes").exists() else []

    def agent(self, script: str) -> None:
        """The `kiro-cli` in the image."""
        file = self.folder / "bin/kiro-cli"
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)

    def spec(self, **fields) -> Spec:
        given = {
            "image": "img:1",
            "network": "none",
            "timeout_s": 60,
            "home": f"{self.folder}/home",
        }
        return Spec("scenario-x", **{**given, **fields})


@pytest.fixture
def engine(tmp_path):
    for path, text in {
        "skill/SKILL.md": "---\nname: x\n---\n",
        "skill/references/guide.md": "guide",
        "scenario/task.md": "Do it.",
        "scenario/inputs/.rc": "old",
        "scenario/inputs/src/gone.txt": "x",
        "home/.aws/credentials": "key",
        "bin/kiro-cli": "",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    made = Engine(tmp_path)
    made.agent("echo did it")
    return made


def sequence(engine: Engine, tools: Tools, **fields) -> tuple[Completed, str]:
    """What the agent `kiro` does for a sandboxed scenario: its end, and the change as text."""
    with docker.open_box(engine.spec(**fields), tools) as box:
        for name in ("SKILL.md", "references"):
            box.copy_in(f"{engine.folder}/skill/{name}", f"skill/{name}")
        box.copy_in(f"{engine.folder}/scenario/task.md", "task.md")
        box.copy_in(f"{engine.folder}/scenario/inputs", "")
        box.write(AGENT, "{}", "agent config")
        before = box.snapshot()
        done = box.run([*KIRO, PROMPT])
        return done, describe(delta(before, box.snapshot(before)))


def test_commands_are_those_of_the_original_and_what_we_add(engine):
    sequence(engine, engine.tools())
    known = {
        engine.calls[0][2]: "$N",
        f"{engine.folder}/skill": "$SKILL",
        f"{engine.folder}/scenario": "$SCENARIO",
        f"{engine.folder}/home": "$HOME",
        PROMPT: "$PROMPT",
    }
    lines = []
    for call in engine.calls:
        line = " ".join(call)
        for value, name in known.items():
            line = line.replace(value, name)
        lines.append(line)
    # ours: two labels, and a kill when SIGTERM is not enough
    ours = f" --label skilleval.run=$N --label skilleval.owner={owner.ours().text}"
    lines[0] = lines[0].replace(ours, "")
    lines[10] = lines[10].replace(" timeout -k 5 60 ", " timeout 60 ")
    expected = ORIGINAL.strip().splitlines()
    for number, name in ((8, "$TMP"), (9, "$BEFORE"), (11, "$AFTER")):
        expected[number] = re.sub(rf"\S*{re.escape(name)}\S*", name, expected[number])
        temporary = [word for word in lines[number].split() if word.startswith("/")]
        lines[number] = lines[number].replace(temporary[0], name)
    assert lines == expected


def test_program_reads_and_changes_the_workspace(engine):
    engine.agent("cat task.md; echo new >.rc; rm src/gone.txt; echo 1 >made; echo oops >&2; exit 3")
    done, text = sequence(engine, engine.tools())
    assert (done.stdout, done.stderr, done.exit_code) == ("Do it.", "oops\n", 3)
    assert text == (
        "## Workspace Changes\n\n### Added Files\n\n**made**\n```\n1\n\n```\n\n"
        "### Modified Files\n\n**.rc**\n```\nnew\n\n```\n\n### Deleted Files\n\n- src/gone.txt\n\n"
    )


def test_name_is_unique_and_says_what_for(engine):
    tools = Tools(now=lambda: 1.5, environ=engine.environ)
    for _ in range(2):
        with docker.open_box(Spec("a b/scenario-0"), tools):
            pass
    names = [call[2] for call in engine.calls if call[0] == "create"]
    assert len(set(names)) == 2
    for name in names:
        assert re.fullmatch("openkata-eval-1500-[0-9a-f]{8}-a-b-scenario-0", name)


def test_label_carries_the_run(engine):
    with docker.open_box(engine.spec(run="r7"), engine.tools()):
        pass
    assert "skilleval.run=r7" in engine.calls[0]


def test_podman_is_another_name_for_the_same_commands(engine):
    (engine.folder / "bin/podman").symlink_to(ROOT / "tests/bin/docker")
    with docker.open_box(engine.spec(engine="podman"), engine.tools(FAKE_DOCKER_FAILS="info")):
        pass
    assert [call[0] for call in engine.calls] == ["create", "start", "rm"]
    reason = docker.available("podman", engine.tools(FAKE_DOCKER_FAILS="info"))
    assert reason.startswith("podman info: exit code 1")


def test_unknown_engine_lists_the_known(engine):
    with pytest.raises(UsageError, match="'lxc'; choose one of: docker, podman"):
        docker.available("lxc", engine.tools())
    with pytest.raises(UsageError), docker.open_box(engine.spec(engine="lxc"), engine.tools()):
        pass
    assert not (engine.folder / "calls").exists()


def test_missing_credentials_folder_is_made_for_the_user_and_not_by_the_engine(engine):
    (engine.folder / "new").mkdir()
    with docker.open_box(engine.spec(home=f"{engine.folder}/new"), engine.tools()):
        assert (engine.folder / "new/.aws").stat().st_mode & 0o777 == 0o700
    assert f"{engine.folder}/new/.aws:/root/.aws:ro" in engine.calls[0]


@pytest.mark.parametrize("home", ["", "nowhere"])
def test_without_a_home_no_credentials_are_mounted(engine, home):
    home = home and f"{engine.folder}/{home}"
    with docker.open_box(engine.spec(home=home), engine.tools()):
        pass
    assert "-v" not in engine.calls[0]
    assert not (engine.folder / "nowhere").exists()


def test_only_named_variables_are_passed_and_no_value_is_in_an_argument(engine):
    tools = engine.tools(API_KEY="s3cret", OTHER="x")
    with docker.open_box(engine.spec(variables=("API_KEY", "ABSENT")), tools) as box:
        box.run(["true"])
    assert engine.calls[2][:3] == ["exec", "-e", "API_KEY"]
    assert "ABSENT" not in engine.calls[2]
    assert "s3cret" not in (engine.folder / "calls").read_text()


def test_folder_is_made_once(engine):
    with docker.open_box(engine.spec(), engine.tools()) as box:
        box.write("a/b/1", "")
        box.write("a/b/2", "")
        box.write("3", "")
    made = [call[2:] for call in engine.calls if call[0] == "exec"]
    assert made == [["mkdir", "-p", "/workspace/a/b"]]


def test_source_that_is_a_link_is_copied_as_what_it_leads_to(engine):
    (engine.folder / "link").symlink_to("skill/SKILL.md")
    with docker.open_box(engine.spec(), engine.tools()) as box:
        box.copy_in(f"{engine.folder}/link", "SKILL.md")
        [file] = box.snapshot().files
    assert (file.change.note, file.change.content) == ("", "---\nname: x\n---\n")


def test_source_with_a_colon_is_not_taken_for_a_container(engine):
    (engine.folder / "a:b").write_text("x")
    with docker.open_box(engine.spec(), engine.tools()) as box:
        box.copy_in(os.path.relpath(engine.folder / "a:b"), "c")
    assert engine.calls[2][:2] == ["cp", f"{engine.folder}/a:b"]


@pytest.mark.parametrize("target", ["/etc/x", "../x", "a/../../x", "..", "."])
def test_target_outside_the_workspace_is_refused(engine, target):
    with (
        docker.open_box(engine.spec(), engine.tools()) as box,
        pytest.raises(ValueError, match="in"),
    ):
        box.write(target, "x")


@pytest.mark.parametrize("target", ["a", "é f", "$x", "..x", "a/.b"])
def test_text_is_written_byte_for_byte(engine, target):
    with docker.open_box(engine.spec(), engine.tools()) as box:
        box.write(target, "é\r\n")
        [file] = box.snapshot().files
    assert (file.change.path, file.change.content) == (target, "é\r\n")


FAILING = [
    ("create *", "docker create"),
    ("start *", "docker start"),
    ("cp */SKILL.md *", "copy SKILL.md"),
    ("cp */references *", "copy references"),
    ("cp */task.md *", "copy task.md"),
    ("cp */inputs/. *", "copy inputs"),
    ("cp */eval-agent.json *", "copy agent config"),
    ("cp *:/workspace/. *", "snapshot before"),
]


@pytest.mark.parametrize(("pattern", "what"), FAILING, ids=[what for _, what in FAILING])
def test_failure_says_what_failed_and_ends_with_what_the_engine_said(engine, pattern, what):
    with pytest.raises(SkillevalError) as caught:
        sequence(engine, engine.tools(FAKE_DOCKER_FAILS=pattern))
    said = "Error response from daemon: no, says FAKE_DOCKER_FAILS"
    assert str(caught.value) == f"{what}: exit code 1: {said}"
    assert engine.boxes == []
    # a container that the engine refused to create cannot be removed
    assert engine.calls[-1][0] == ("create" if what == "docker create" else "rm")


def test_second_snapshot_that_fails_is_named(engine):
    with docker.open_box(engine.spec(), engine.tools()) as box:
        box.snapshot()
        (engine.folder / "boxes" / engine.calls[0][2] / "workspace").rmdir()
        with pytest.raises(SkillevalError, match=r"^snapshot after: exit code 1: cp: "):
            box.snapshot()


def test_folder_that_cannot_be_made_shows_in_the_copy_into_it(engine):
    tools = engine.tools(FAKE_DOCKER_FAILS="exec *")
    message = r"^copy SKILL\.md: exit code 1: cp: "
    with docker.open_box(engine.spec(), tools) as box, pytest.raises(SkillevalError, match=message):
        box.copy_in(f"{engine.folder}/skill/SKILL.md", "skill/SKILL.md")


def test_missing_image_says_how_to_make_it(engine):
    opened = docker.open_box(engine.spec(image="missing:1"), engine.tools())
    with pytest.raises(AgentUnavailable, match="'missing:1' locally; build it with `make eval-im"):
        opened.__enter__()


def test_missing_engine_says_so(engine):
    tools = Tools(environ={"PATH": str(engine.folder)})
    assert docker.available("docker", tools) == (
        "cannot start 'docker': not found on PATH; install it, or give its full path;"
        " sandboxed scenarios need a container engine"
    )
    with pytest.raises(AgentUnavailable, match="docker create: cannot start 'docker'"):
        docker.open_box(engine.spec(), tools).__enter__()


def test_engine_that_answers_is_available(engine):
    assert docker.available("docker", engine.tools()) == ""


def test_engine_that_does_not_answer_is_quoted(engine):
    assert docker.available("docker", engine.tools(FAKE_DOCKER_FAILS="info")) == (
        "docker info: exit code 1: Error response from daemon: no, says FAKE_DOCKER_FAILS;"
        " start docker, or check that you may use it"
    )


def test_long_output_of_a_failure_is_cut_to_its_end(engine):
    (engine.folder / "bin/docker").write_text("#!/bin/sh\nseq 1 9999 >&2\nexit 1\n")
    (engine.folder / "bin/docker").chmod(0o755)
    reason = docker.available("docker", engine.tools())
    assert len(reason) < 750
    assert " 9998 9999;" in reason


def test_prompt_that_no_linux_takes_is_refused_before_it_is_tried(engine):
    with docker.open_box(engine.spec(), engine.tools()) as box:
        box.run(["true", "x" * (128 * 1024 - 1)])
        with pytest.raises(SkillevalError, match=r"131072 bytes.* 131071 in one argument; shorten"):
            box.run(["true", "é" * (64 * 1024)])
    assert [call[0] for call in engine.calls] == ["create", "start", "exec", "rm"]


def test_timeout_inside_is_a_timeout_and_nothing_works_on(engine):
    engine.agent("echo begun; sleep 600")
    with docker.open_box(engine.spec(timeout_s=0.5), engine.tools()) as box:
        done = box.run(KIRO)
    assert (done.timed_out, done.exit_code, done.stdout) == (True, None, "begun\n")
    assert done.error == "kiro-cli: timed out after 0.5 s"
    assert [call[0] for call in engine.calls[-3:]] == ["exec", "kill", "rm"]


def test_code_of_a_timeout_that_comes_early_is_the_programs_own(engine):
    engine.agent("exit 124")
    with docker.open_box(engine.spec(), engine.tools()) as box:
        done = box.run(KIRO)
    assert (done.timed_out, done.exit_code) == (False, 124)


def impatient(command: Command) -> Completed:
    """Runs a command with a deadline that a test can wait for."""
    return process.run(command._replace(timeout_s=min(command.timeout_s, 0.6), grace_s=0))


def test_engine_that_hangs_is_ended_from_outside(engine):
    asked = []

    def run(command: Command) -> Completed:
        asked.append(command)
        return impatient(command)

    tools = engine.tools(FAKE_DOCKER_HANGS="exec * kiro-cli *")._replace(run=run)
    done, _ = sequence(engine, tools)
    assert (done.timed_out, done.error) == (True, "kiro-cli: timed out after 60 s")
    assert [command.timeout_s for command in asked if "kiro-cli" in command.argv] == [90]
    assert all(command.timeout_s <= 600 for command in asked)


def test_timeout_of_zero_is_the_default(engine):
    with docker.open_box(engine.spec(timeout_s=0), engine.tools()) as box:
        box.run(["true"])
    assert engine.calls[2][2:] == ["timeout", "-k", "5", "300", "true"]


def test_removal_that_hangs_is_bounded_and_told(engine, capsys):
    deadlines = []

    def run(command: Command) -> Completed:
        if command.argv[1] in ("rm", "kill"):
            deadlines.append(command.timeout_s)
        return impatient(command)

    tools = engine.tools(FAKE_DOCKER_HANGS="rm *")._replace(run=run)
    with docker.open_box(engine.spec(), tools):
        pass
    assert deadlines == [30, 30, 30]
    [name] = engine.boxes
    assert capsys.readouterr().err == (
        "warning: docker rm: docker: timed out after 0.6 s; remove the container yourself:"
        f" docker rm -f {name}\n"
    )


def test_container_that_is_gone_already_is_no_problem(engine, capsys):
    with docker.open_box(engine.spec(), engine.tools()):
        process.run(Command(["rm", "-r", f"{engine.folder}/boxes"], 10))
    assert capsys.readouterr().err == ""
    assert engine.calls[-1][0] == "rm"


def test_interrupted_creation_is_cleaned_up(engine):
    """The engine may have made the container all the same."""
    tools = engine.tools(FAKE_DOCKER_HANGS="create *")._replace(run=impatient)
    with pytest.raises(AgentUnavailable, match=r"^docker create: docker: timed out"):
        docker.open_box(engine.spec(), tools).__enter__()
    assert [call[0] for call in engine.calls] == ["create", "rm"]


def test_container_is_removed_while_everything_is_being_stopped(engine):
    stopped = []
    tools = engine.tools(FAKE_DOCKER_SLOW="rm *").stopping(lambda: bool(stopped))
    with docker.open_box(engine.spec(), tools) as box:
        stopped.append(True)
        assert box.run(["sleep", "60"]).stopped
    assert engine.boxes == []


INTERRUPTED = """
import sys
from skilleval.sandboxes import Spec, docker
from skilleval.tools import Tools
from skilleval.trial.leftovers import Swept
try:
    with docker.open_box(Spec("scenario-x"), Tools()) as box:
        box.run(["kiro-cli"])
except KeyboardInterrupt:
    sys.exit(130)
"""


def interrupted(engine: Engine, *moments: str, **variables: str) -> int:
    """The exit code of a program that gets a SIGINT when the calls hold each word."""
    environ = {**engine.environ, **variables, "PYTHONPATH": str(ROOT)}
    program = subprocess.Popen([sys.executable, "-c", textwrap.dedent(INTERRUPTED)], env=environ)
    calls = engine.folder / "calls"
    for moment in moments:
        until = time.monotonic() + 20
        while not (calls.exists() and moment in calls.read_text()):
            assert time.monotonic() < until
            time.sleep(0.02)
        time.sleep(0.1)
        program.send_signal(signal.SIGINT)
    return program.wait(30)


@pytest.mark.parametrize("moment", ["create", "start", "exec"])
def test_ctrl_c_leaves_no_container(engine, moment):
    engine.agent("sleep 600")
    hangs = "" if moment == "exec" else f"{moment} *"
    assert interrupted(engine, moment, FAKE_DOCKER_HANGS=hangs) == 130
    assert engine.boxes == []
    assert [call[0] for call in engine.calls][-1] == "rm"


def test_second_ctrl_c_does_not_cost_the_removal(engine):
    """The first removal is made slow, so that the second interrupt hits it."""
    slow = engine.folder / "bin/docker"
    slow.write_text(
        f"#!/bin/sh\n[ $1 = rm ] && echo rm-begun >>$CALLS && [ $(grep -c rm-begun $CALLS) = 1 ]"
        f' && sleep 60\nexec {ROOT}/tests/bin/docker "$@"\n'
    )
    slow.chmod(0o755)
    engine.agent("sleep 600")
    assert interrupted(engine, "exec", "rm-begun") == 130
    assert engine.boxes == []


def test_box_leaves_no_temporary_file(engine, tmp_path):
    (tmp_path / "tmp").mkdir()
    environ = {**engine.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path / "tmp")}
    script = INTERRUPTED.replace("box.run", "box.write('a', 'x'); box.snapshot(); box.run")
    subprocess.run([sys.executable, "-c", script], env=environ, check=True)
    assert os.listdir(tmp_path / "tmp") == []


def test_unknown_sandbox_lists_the_known():
    with pytest.raises(UsageError, match="unknown sandbox 'chroot'; choose one of: docker, local"):
        sandboxes.get("chroot")


def test_every_sandbox_can_be_got():
    for name in sandboxes.SANDBOXES:
        assert sandboxes.get(name).__name__ == f"skilleval.sandboxes.{name}"


# What a killed run left


def killed(engine: Engine) -> owner.Owner:
    """Who opened a box and was killed while its agent was at work."""
    engine.agent("sleep 300")
    environ = {**engine.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(engine.folder)}
    program = subprocess.Popen([sys.executable, "-c", INTERRUPTED], env=environ)
    calls, until = engine.folder / "calls", time.monotonic() + 20
    while not (calls.exists() and "kiro-cli" in calls.read_text()):
        assert time.monotonic() < until
        time.sleep(0.02)
    program.kill()
    program.wait()
    [label] = (engine.folder / "boxes").glob("*/owner")
    made = owner.parse(label.read_text())
    assert made is not None
    assert made.pid == program.pid
    process.end_all(made.token)
    return made


def test_containers_of_a_killed_run_are_swept_and_no_other(engine):
    made = killed(engine)
    with docker.open_box(engine.spec(), engine.tools()) as box:
        assert len(engine.boxes) == 2
        assert docker.sweep("docker", engine.tools()) == (Swept(made.pid, containers=1),)
        assert engine.boxes == [box.name]
        assert docker.sweep("docker", engine.tools()) == ()


def test_container_that_cannot_be_removed_is_named(engine):
    made = killed(engine)
    [swept] = docker.sweep("docker", engine.tools(FAKE_DOCKER_FAILS="rm *"))
    [name] = engine.boxes
    assert swept == Swept(made.pid, stuck=(f"container {name[:12]}",))


@pytest.mark.parametrize("fails", ["ps *", "inspect *"])
def test_engine_that_does_not_answer_sweeps_nothing(engine, fails):
    killed(engine)
    assert docker.sweep("docker", engine.tools(FAKE_DOCKER_FAILS=fails)) == ()


def test_where_no_container_is_ours_the_engine_is_asked_once(engine):
    assert docker.sweep("docker", engine.tools()) == ()
    assert [call[0] for call in engine.calls] == ["ps"]
