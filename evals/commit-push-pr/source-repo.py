#!/usr/bin/env python3
"""Makes the repository that the suite works on, and a GitHub for it on this machine.

    python3 evals/commit-push-pr/source-repo.py FOLDER

FOLDER/tally.git is a bare repository with four commits: all that branches, commits and pushes need.
For pull requests there has to be a GitHub. FOLDER/bin holds a `git` that takes the address of
github.com below for that repository, and a `gh` that keeps pull requests in FOLDER/pulls. With
FOLDER/bin in front of PATH, agent and evaluation use both, and nothing leaves this machine.
"""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ADDRESS = "https://github.com/example/tally"
HERE = Path(__file__).resolve().parent
COMMITS = (
    ("build: ignore the caches of Python", [".gitignore"]),
    ("feat: add up the amounts of a file", ["tally.py"]),
    ("test: cover blank lines and comments", ["test_tally.py"]),
    ("docs: say what a line may hold", ["README.md"]),
)
PERSON = {"NAME": "Ada Example", "EMAIL": "ada@example.com", "DATE": "2026-03-02T10:00:00Z"}


def make(folder: Path) -> Path:
    """The bare repository in `folder`, the same ids every time; and the programs beside it."""
    git = shutil.which("git")
    if git is None:
        raise SystemExit("source-repo.py: needs git on PATH")
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull}
    environment["GIT_CONFIG_NOSYSTEM"] = "1"
    for role in ("AUTHOR", "COMMITTER"):
        environment |= {f"GIT_{role}_{name}": value for name, value in PERSON.items()}

    def run(*arguments: str) -> None:
        subprocess.run([git, *arguments], cwd=tree, env=environment, check=True)

    tree, bare = folder / "tree", folder / "tally.git"
    tree.mkdir(parents=True)
    run("init", "--quiet", "--initial-branch=main")
    for subject, names in COMMITS:
        for name in names:
            shutil.copy(HERE / "source" / name, tree / name)
        run("add", "--", *names)
        run("commit", "--quiet", "-m", subject)
    run("clone", "--quiet", "--bare", str(tree), str(bare))
    shutil.rmtree(tree)
    redirect = f"url.{bare.as_uri().removesuffix('.git')}.insteadOf={ADDRESS}"
    program(folder / "bin" / "git", f"exec {shlex.join([git, '-c', redirect])}")
    shutil.copy(HERE / "gh.py", folder / "bin" / "gh.py")
    program(
        folder / "bin" / "gh",
        f"exec {shlex.join([sys.executable, str(folder / 'bin' / 'gh.py'), str(folder)])}",
    )
    return bare


def program(path: Path, command: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'#!/bin/sh\n{command} "$@"\n', encoding="utf-8")
    path.chmod(0o755)


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: source-repo.py FOLDER", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1]).resolve()
    if folder.exists() and any(folder.iterdir()):
        print(f"source-repo.py: {folder} is not empty; name a new folder", file=sys.stderr)
        return 2
    print(f"without pull requests: --source-repo {make(folder)}")
    print(f'with them:             PATH={folder / "bin"}:"$PATH" ... --source-repo {ADDRESS}.git')
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
