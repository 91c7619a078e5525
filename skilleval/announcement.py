"""Tells the CI system that we run in what came of a run. Owns when, and where it is written.

What it says is made by `sinks.github`. Outside of GitHub nothing is done.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from skilleval import console
from skilleval.reading import textfile
from skilleval.sinks import github
from skilleval.sinks.view import View


def announce(views: Sequence[View], environ: Mapping[str, str]) -> None:
    """Appends to the step summary, and annotates, as far as the environment asks for it.

    Annotations go to stderr, which GitHub reads too: stdout stays the report. A summary that cannot
    be written is a warning, for the verdicts stand.
    """
    path = environ.get("GITHUB_STEP_SUMMARY", "")
    if path:
        try:
            _append(path, views)
        except OSError as error:
            console.note(f"warning: the step summary: {path}: {textfile.reason(error)}")
    if is_logged(environ):
        commands = github.commands(views)
        if commands:
            console.note(commands.rstrip("\n"))


def is_logged(environ: Mapping[str, str]) -> bool:
    """Does a GitHub runner read what we print, and obey the commands in it?"""
    return environ.get("GITHUB_ACTIONS") == "true"


def shown(text: str, environ: Mapping[str, str]) -> str:
    """Text for stdout: in the log of a runner, fenced where the runner would obey a part of it.

    A text that holds nothing to obey stays as it is, and so does one that goes to a file: a report
    is not spoilt by being redirected, piped or captured. No Markdown of ours holds a command.
    """
    if not is_logged(environ) or console.is_file() or not github.has_command(text):
        return text
    return github.fenced(text, os.urandom(16).hex())


def _append(path: str, views: Sequence[View]) -> None:
    """Raises `OSError`. What another step of the job wrote takes of the room."""
    taken = os.path.getsize(path) if os.path.exists(path) else 0
    text = github.summary(views, github.SUMMARY_LIMIT_BYTES - taken)
    with open(path, "a", encoding="utf-8") as file:
        file.write(text)
