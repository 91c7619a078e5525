"""The command line around the commands: help, unknown names, our own bugs."""

import subprocess
import sys

import build
import pytest


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"], ["help"]], ids=str)
def test_help_lists_the_commands_and_the_exit_codes(tmp_path, arguments):
    done = build.skilleval(*arguments, cwd=tmp_path)
    assert done.returncode == 0
    assert "run-evals" in done.stdout
    assert "exit codes: 0" in done.stdout


@pytest.mark.parametrize("flag", ["--version", "-V", "-v"])
def test_version_is_printed(tmp_path, flag):
    import skilleval

    assert build.skilleval(flag, cwd=tmp_path).stdout == f"skilleval {skilleval.__version__}\n"


def test_an_unknown_command_names_the_nearest(tmp_path):
    done = build.skilleval("validat", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: unknown command 'validat'; did you mean 'validate'?\n"


def test_every_command_has_help_with_examples(tmp_path):
    from skilleval.cli import COMMANDS

    for name in COMMANDS:
        done = build.skilleval(name, "--help", cwd=tmp_path)
        assert done.returncode == 0, name
        assert "examples:" in done.stdout, name
        assert "exit codes:" in done.stdout, name


def test_a_bug_of_ours_exits_70_with_its_traceback(tmp_path):
    program = (
        "import sys\n"
        f"sys.path.insert(0, {str(build.ROOT)!r})\n"
        "from skilleval import cli\n"
        "cli.COMMANDS = {'x': ('skilleval.no_such_module', '')}\n"
        "sys.exit(cli.main(['x']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 70
    assert "ModuleNotFoundError" in done.stderr
    assert "this is a bug in skilleval" in done.stderr
