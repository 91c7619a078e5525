"""The files of this checkout, for tests that need a copy of it. Owns what belongs to it.

Reads the folder and not git's index: the tests also run from an unpacked archive.
"""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# what .gitignore leaves out
MADE = ("__pycache__", "*.egg-info", "*.py[co]", "skilleval.pyz", "eval-workspace")
MADE_AT_THE_TOP = {"build", "dist"}
HIDDEN = {".ci", ".gitignore", ".pre-commit-config.yaml", ".pre-commit-hooks.yaml"}


def copy(folder: Path) -> Path:
    """Copies the checkout into a new folder, without what was made in it. Returns that folder."""
    shutil.copytree(ROOT, folder, ignore=_ignored, symlinks=True)
    return folder


def _ignored(folder: str, names: list[str]) -> set[str]:
    ignored = shutil.ignore_patterns(*MADE)(folder, names)
    if Path(folder) == ROOT:
        hidden = {name for name in names if name.startswith(".")}
        ignored |= (hidden - HIDDEN) | MADE_AT_THE_TOP.intersection(names)
    return ignored
