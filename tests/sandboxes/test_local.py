"""Real folders and real programs."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from checkout import ROOT

from skilleval.errors import AgentUnavailable, SkillevalError
from skilleval.sandboxes import Spec, fresh_folder, local
from skilleval.snapshot import Snapshot, delta
from skilleval.tools import Tools

SPEC = Spec("scenario-x", timeout_s=20)


def python(script: str) -> list[str]:
    return [sys.executable, "-c", script]


def test_program_works_in_a_fresh_folder_that_is_gone_afterwards():
    with local.open_box(SPEC, Tools()) as box:
        assert box.snapshot() == Snapshot()
        done = box.run(python("import os; print(os.getcwd()); open('a', 'w').write('x')"))
        folder = Path(done.stdout.strip())
        assert (folder / "a").read_text() == "x"
    assert not folder.exists()


def test_changes_of_the_workspace_are_seen(tmp_path):
    (tmp_path / "inputs/sub").mkdir(parents=True)
    (tmp_path / "inputs/.rc").write_text("old")
    (tmp_path / "inputs/sub/gone").write_text("x")
    with local.open_box(SPEC, Tools()) as box:
        box.copy_in(str(tmp_path / "inputs"), "")
        box.write(".kiro/agents/eval-agent.json", "é\r\n")
        before = box.snapshot()
        box.run(python("import os; os.remove('sub/gone'); open('.rc', 'w').write('new')"))
        change = delta(before, box.snapshot(before))
    assert [file.change.path for file in before.files] == [
        ".kiro/agents/eval-agent.json",
        ".rc",
        "sub/gone",
    ]
    assert before.files[0].change.content == "é\r\n"
    assert ([each.content for each in change.modified], change.deleted) == (["new"], ("sub/gone",))


def test_file_and_folder_are_copied_to_their_target(tmp_path):
    (tmp_path / "references").mkdir()
    (tmp_path / "references/guide.md").write_text("x")
    with local.open_box(SPEC, Tools()) as box:
        box.copy_in(str(tmp_path / "references/guide.md"), "skill/SKILL.md")
        box.copy_in(str(tmp_path / "references"), "skill/references")
        found = [file.change.path for file in box.snapshot().files]
    assert found == ["skill/SKILL.md", "skill/references/guide.md"]


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX links")
def test_link_inside_a_copied_folder_stays_a_link(tmp_path):
    (tmp_path / "inputs").mkdir()
    (tmp_path / "inputs/link").symlink_to("/etc/passwd")
    with local.open_box(SPEC, Tools()) as box:
        box.copy_in(str(tmp_path / "inputs"), "")
        [file] = box.snapshot().files
    assert file.change.note == "link to /etc/passwd"


def test_missing_source_is_an_error_that_names_it(tmp_path):
    with (
        local.open_box(SPEC, Tools()) as box,
        pytest.raises(SkillevalError, match=r"^copy task\.md: "),
    ):
        box.copy_in(str(tmp_path / "task.md"), "task.md")


def test_file_that_cannot_be_written_is_an_error_that_names_it():
    with local.open_box(SPEC, Tools()) as box:
        box.write("a/b", "")
        with pytest.raises(SkillevalError, match=r"^copy agent config: "):
            box.write("a", "x", "agent config")


@pytest.mark.parametrize("target", ["/etc/x", "../x", "a/../../x", ".."])
def test_target_outside_the_workspace_is_refused(target):
    with local.open_box(SPEC, Tools()) as box, pytest.raises(ValueError, match="no path inside"):
        box.write(target, "x")


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX links")
def test_link_that_an_agent_left_does_not_lead_us_outside(tmp_path):
    with local.open_box(SPEC, Tools()) as box:
        box.run(python(f"import os; os.symlink({str(tmp_path)!r}, 'out')"))
        with pytest.raises(ValueError, match="no path inside"):
            box.write("out/x", "x")
    assert os.listdir(tmp_path) == []


SHOW = "import os; print(os.environ.get('A'), os.environ.get('B'))"


def test_program_sees_the_whole_environment_by_default():
    tools = Tools(environ={**os.environ, "A": "1", "B": "2"})
    with local.open_box(SPEC, tools) as box:
        assert box.run(python(SHOW)).stdout == "1 2\n"


def test_program_sees_only_the_named_variables():
    tools = Tools(environ={**os.environ, "A": "1", "B": "2"})
    with local.open_box(SPEC._replace(variables=("A", "ABSENT")), tools) as box:
        assert box.run(python(SHOW)).stdout == "1 None\n"


def test_nothing_works_on_after_the_timeout():
    script = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", "import time\\nwhile 1: open('a', 'a').write('x'); time.sleep(.02)"],
                 start_new_session=True)
time.sleep(60)
"""
    with local.open_box(SPEC._replace(timeout_s=1), Tools()) as box:
        done = box.run(python(script))
        before = box.snapshot()
        time.sleep(0.2)
        assert delta(before, box.snapshot()) == delta(before, before)
    assert done.timed_out
    assert [file.change.path for file in before.files] == ["a"]


def test_temporary_folder_in_a_repository_is_refused(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "tmp").mkdir()
    script = (
        "from skilleval.sandboxes import Spec, local\nfrom skilleval.tools import Tools\n"
        "from skilleval.errors import AgentUnavailable\n"
        "try:\n    local.open_box(Spec('x'), Tools()).__enter__()\n"
        "except AgentUnavailable as error:\n    print(error)\n"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path / "tmp")}
    done = subprocess.run(python(script), env=environ, capture_output=True, text=True, check=True)
    assert f"lies in the repository {tmp_path}, whose files" in done.stdout
    assert done.stdout.endswith("set TMPDIR to a folder outside\n")
    assert os.listdir(tmp_path / "tmp") == []


def test_no_place_for_a_folder_is_an_error(tmp_path):
    with pytest.raises(AgentUnavailable, match="cannot make a temporary folder: No such file"):
        fresh_folder("x-", str(tmp_path / "nowhere"))


def test_it_is_always_available():
    assert local.available("docker", Tools(environ={})) == ""
