"""The wheel that pip builds from this checkout, installed into an environment of its own."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import checkout
import pytest

import skilleval

INDEX = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}


def call(command, **options):
    """Runs a command that has to succeed, and returns its stdout."""
    environ = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **INDEX}
    done = subprocess.run(
        [str(part) for part in command], env=environ, capture_output=True, text=True, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The built wheel. Skips where pip cannot get its build backend."""
    folder = tmp_path_factory.mktemp("wheel")
    source = checkout.copy(folder / "source")
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, source]
    done = subprocess.run(build, capture_output=True, text=True, timeout=300)
    if "No matching distribution found for setuptools" in done.stdout + done.stderr:
        pytest.skip("no package index to get setuptools from")
    assert done.returncode == 0, done.stdout + done.stderr
    [path] = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def programs(wheel, tmp_path_factory):
    """The folder of programs of an environment with nothing but the wheel in it."""
    environment = tmp_path_factory.mktemp("environment")
    call([sys.executable, "-m", "venv", environment])
    call([environment / "bin" / "pip", "install", "--no-index", wheel])
    return environment / "bin"


def test_wheel_holds_the_whole_package_and_no_more(wheel):
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    package = (path for path in (checkout.ROOT / "skilleval").rglob("*") if path.is_file())
    wanted = {
        path.relative_to(checkout.ROOT).as_posix()
        for path in package
        if "__pycache__" not in path.parts
    }
    assert held == wanted
    assert "skilleval/py.typed" in held


def test_wheel_is_for_every_platform_and_has_the_license(wheel):
    assert wheel.name.endswith("-py3-none-any.whl")
    assert [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith("/LICENSE")]


@pytest.mark.parametrize("name", ["skilleval", "skill-eval"])
def test_installed_command_tells_its_version(programs, name):
    assert call([programs / name, "--version"]) == f"skilleval {skilleval.__version__}\n"


def test_installed_command_passes_its_exit_code_on(programs, tmp_path):
    done = subprocess.run([programs / "skilleval", "run-evals"], cwd=tmp_path, capture_output=True)
    assert done.returncode == 2


def test_installed_command_scores_the_shipped_skills(programs, tmp_path):
    shutil.copytree(checkout.ROOT / "skills", tmp_path / "skills")
    assert "Overall: 1" in call([programs / "skilleval", "run-evals"], cwd=tmp_path)


def test_environment_holds_no_other_package(programs):
    listed = call([programs / "pip", "list", "--format", "freeze"]).split()
    names = {line.partition("==")[0] for line in listed}
    assert names - {"pip", "setuptools"} == {"skilleval-kit"}


def test_installed_package_is_not_the_checkout(programs, tmp_path):
    code = "import skilleval; print(skilleval.__file__)"
    where = call([programs / "python", "-c", code], cwd=tmp_path)
    assert Path(where).is_relative_to(programs.parent)
