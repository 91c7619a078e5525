"""Which recorded pushes leave no trace in the repository they come from. Owns how they are read.

git notes what it pushed to a remote that has a name. What goes to an address, or to a remote that
is removed afterwards, only the command tells.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

# options of git, and of its push, whose value is the next word
_OF_GIT = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"})
_OF_PUSH = frozenset({"-o", "--push-option", "--receive-pack", "--exec", "--repo"})
# what a word of a shell holds that is no name of a remote: of an address, a path, or a variable
_OF_ADDRESS = frozenset("/:\\$`~")
_OPEN = frozenset("*$`")


class Push(NamedTuple):
    """Where a push goes ("" if to where the repository says), and the branches that it names.

    `branches` is None where it may be any.
    """

    to: str
    branches: tuple[str, ...] | None


def untraced(segments: Sequence[Sequence[str]], remotes: Collection[str]) -> list[Push]:
    """The pushes of simple commands that went to none of the remotes that there are afterwards."""
    added = {words[-2] for words in _of(segments, "remote") if words[:1] == ["add"] and words[2:]}
    return [
        push
        for push in map(_read, _of(segments, "push"))
        if push.to not in ("", *remotes)
        and (_OF_ADDRESS & {*push.to} or push.to in (".", "..") or push.to in added)
    ]


def _of(segments: Sequence[Sequence[str]], subcommand: str) -> Iterator[list[str]]:
    """What follows a subcommand of git, each time."""
    for name, *rest in segments:
        if name == "git":
            words = _without_options(rest, _OF_GIT)
            if words[:1] == [subcommand]:
                yield words[1:]


def _read(words: Sequence[str]) -> Push:
    to, *refs = [*_without_options(words, _OF_PUSH), ""]
    repository = [word.removeprefix("--repo=") for word in words if word.startswith("--repo=")]
    ends = [ref.rpartition(":")[2].removeprefix("+") for ref in refs if ref and ref[0] != "-"]
    ends = [end.removeprefix("refs/heads/") for end in ends]
    unclear = {"--all", "--branches", "--mirror"} & {*words} or any(
        end in ("", "HEAD", "@") or _OPEN & {*end} for end in ends
    )
    return Push(to or "".join(repository[-1:]), None if unclear or not ends else tuple(ends))


def _without_options(words: Sequence[str], values: Collection[str]) -> list[str]:
    """The words from the first one on that is no option and no value of one."""
    position = 0
    while position < len(words) and words[position].startswith("-"):
        if words[position] == "--":
            return list(words[position + 1 :])
        position += 2 if words[position] in values else 1
    return list(words[position:])
