"""What a user gets: one version everywhere, the single file, and the files that go with them."""

import re
import subprocess
import sys
import tomllib
import zipfile

import pytest
from checkout import ROOT

import skilleval
from skilleval import bench
from skilleval.skill import released_version

BUILD = ROOT / "scripts" / "build-zipapp.py"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def python(*arguments, cwd=None):
    """Runs this interpreter, which finds the package only in what it is given."""
    command = [sys.executable, "-I", "-B", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The single file, built once."""
    path = tmp_path_factory.mktemp("archive") / "skilleval.pyz"
    assert python(BUILD, path).returncode == 0
    return path


@pytest.fixture
def skills(tmp_path):
    """A folder with two skills whose examples pass."""
    bench.write_skills(str(tmp_path), bench.Size(2, 1, 4))
    return tmp_path


def test_package_version_is_a_release_number():
    assert re.fullmatch(r"\d+\.\d+\.\d+", skilleval.__version__)


def test_project_takes_its_version_from_the_package():
    assert "version" not in PROJECT["project"]
    assert PROJECT["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "skilleval.__version__"}


def test_newest_release_of_the_changelog_is_this_version():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert released_version(changelog) == skilleval.__version__


def test_project_needs_nothing_at_run_time():
    assert PROJECT["project"]["dependencies"] == []


def test_package_says_that_it_is_typed():
    assert (ROOT / "skilleval" / "py.typed").is_file()


def test_make_builds_the_single_file(checkout):
    done = subprocess.run(
        ["make", "zipapp", f"PYTHON={sys.executable}"], cwd=checkout, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    version = subprocess.run(
        [sys.executable, checkout / "skilleval.pyz", "--version"], capture_output=True, text=True
    )
    assert version.stdout == f"skilleval {skilleval.__version__}\n"


def test_single_file_is_a_program_of_its_own(archive, tmp_path):
    done = subprocess.run([archive, "--version"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"skilleval {skilleval.__version__}\n")


def test_single_file_exits_with_0_when_all_examples_pass(archive, skills):
    done = python(archive, "run-evals", cwd=skills)
    assert done.returncode == 0, done.stderr
    assert "2/2 tasks" in done.stdout


def test_single_file_exits_with_1_when_an_example_fails(archive, skills):
    next(skills.glob("skills/*/evals/examples/*.md")).write_text("no call at all\n")
    assert python(archive, "run-evals", cwd=skills).returncode == 1


def test_single_file_exits_with_2_for_an_unknown_skill(archive, skills):
    done = python(archive, "run-evals", "--skill", "nope", cwd=skills)
    assert (done.returncode, done.stdout) == (2, "")


def test_single_file_has_every_command(archive, skills):
    from skilleval.cli import COMMANDS

    for name in COMMANDS:
        done = python(archive, name, "--help", cwd=skills)
        assert done.returncode == 0, done.stderr


def test_single_file_validates(archive, skills):
    done = python(archive, "validate", "skills", cwd=skills)
    assert done.returncode == 0, done.stderr


def test_single_file_holds_the_whole_package(archive):
    held = set(zipfile.ZipFile(archive).namelist())
    package = (path for path in (ROOT / "skilleval").rglob("*") if path.is_file())
    wanted = {str(path.relative_to(ROOT)) for path in package if "__pycache__" not in path.parts}
    assert held == wanted | {"__main__.py"}


def test_same_sources_give_the_same_bytes(checkout, tmp_path):
    first, second = tmp_path / "first.pyz", tmp_path / "second.pyz"
    script = checkout / "scripts" / BUILD.name
    python(script, first)
    for path in (checkout / "skilleval").rglob("*.py"):
        path.touch()
    python(script, second)
    assert first.read_bytes() == second.read_bytes()
    (checkout / "skilleval" / "cli.py").write_text("main = None\n")
    python(script, second)
    assert first.read_bytes() != second.read_bytes()
