"""The fakes kiro-cli and docker of tests/bin as a test of the agent uses them.

Owns their folders, their replies, and the list of what was run.
"""

import json
import os
from pathlib import Path

from skilleval import process
from skilleval.tools import Tools

BIN = Path(__file__).parent / "bin"


class Kiro:
    """A PATH on which the fakes are the only kiro-cli and docker, and what became of them.

    `sleeps` holds the waits in s that nobody had to sit out, `commands` every argv that was run,
    `calls` what kiro-cli saw. `programs` is the folder to take one away from.
    """

    def __init__(self, root, *replies, **variables):
        self.root = Path(root)
        self.programs = self.root / "fakes"
        self.programs.mkdir()
        for name in ("kiro-cli", "docker"):
            (self.programs / name).symlink_to(BIN / name)
        (self.root / "docker").mkdir()
        self.answer(*replies)
        self.sleeps, self.commands = [], []
        environ = {
            "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}",
            "KIRO_FAKE": str(self.root),
            "FAKE_DOCKER": str(self.root / "docker"),
            "HOME": str(self.root),
            **variables,
        }
        self.tools = Tools(run=self.run, sleep=self.sleeps.append, environ=environ)

    def run(self, command):
        self.commands.append(list(command.argv))
        return process.run(command)

    def answer(self, *replies):
        """What the next calls get; a text is a reply on standard output."""
        given = [{"stdout": reply} if isinstance(reply, str) else reply for reply in replies]
        (self.root / "replies.json").write_text(json.dumps(given), encoding="utf-8")

    @property
    def calls(self):
        log = self.root / "calls.jsonl"
        lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        return [json.loads(line) for line in lines]
