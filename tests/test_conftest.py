"""The rules that conftest.py adds for tests of real components, tried on a small project."""

import subprocess
import sys

import checkout
import pytest


@pytest.fixture
def project(tmp_path):
    """Runs pytest on a project with the conftest of this one and a file in tests/real."""

    def run(text, *arguments, required):
        real = tmp_path / "tests" / "real"
        real.mkdir(parents=True)
        (real / "test_component.py").write_text(text)
        for name in ("conftest.py", "checkout.py"):
            (tmp_path / "tests" / name).write_text((checkout.ROOT / "tests" / name).read_text())
        (tmp_path / "pyproject.toml").write_text((checkout.ROOT / "pyproject.toml").read_text())
        command = [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", *arguments]
        environ = {"PATH": "/usr/bin:/bin", "SKILLEVAL_REAL": required}
        done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True)
        return done.returncode, done.stdout

    return run


SKIPS = "import pytest\n\ndef test_it():\n    pytest.skip('no such program')\n"
SKIPS_AT_IMPORT = "import pytest\n\npytest.importorskip('no_such_module')\n"
FAILS = "def test_it():\n    raise AssertionError('it ran')\n"


def test_real_test_is_skipped_with_a_reason_when_nobody_asked(project):
    code, output = project(FAILS, required="")
    assert code == 0
    assert "needs a real component" in output


def test_real_test_runs_when_the_marker_is_asked_for(project):
    code, output = project(FAILS, "-m", "real", required="")
    assert code == 1
    assert "it ran" in output


def test_real_test_may_skip_where_components_are_optional(project):
    code, output = project(SKIPS, "-m", "real", required="")
    assert code == 0
    assert "no such program" in output


@pytest.mark.parametrize("text", [SKIPS, SKIPS_AT_IMPORT], ids=["in a test", "at import"])
def test_skip_fails_with_its_reason_where_components_are_required(project, text):
    code, output = project(text, "-m", "real", required="1")
    assert code != 0
    assert "may not skip" in output
    assert "no such" in output or "no_such_module" in output
