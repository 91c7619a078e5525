"""The programs that start another one, and where in their words the command of that one begins.

Owns the table of them, and of the programs to which all arguments are data. How a command line
falls into words is `shell`'s.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Starter(NamedTuple):
    """How a program is told what to start.

    `values` are its options whose value is the next word, `operands` how many words that are no
    options come before the command. `is_text`: all that follows is one text for a shell.
    """

    values: frozenset[str] = frozenset()
    operands: int = 0
    is_text: bool = False


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _starter(values: str = "", operands: int = 0, *, is_text: bool = False) -> Starter:
    return Starter(_words(values), operands, is_text)


_IN_CONTAINER = _starter("-e --env --env-file -u --user -w --workdir --detach-keys", 1)
_NEW_CONTAINER = _starter(
    "-a --add-host --cap-add --cap-drop --cpus --device --dns -e --env --env-file --gpus"
    " -h --hostname -l --label -m --memory --mount --name --net --network -p --publish --platform"
    " --pull --security-opt --shm-size --tmpfs -u --user --ulimit -v --volume -w --workdir",
    1,
)
_SERVICE = _starter("-e --env -u --user -w --workdir --index --name -v --volume -p --publish", 1)
_CONDA = _starter("-n --name -p --prefix --cwd")
_UV = "--with --with-editable --with-requirements -p --python --extra --group --no-group"
_UV += " --only-group --directory --project --env-file --package --index --index-url --from -w"
_STARTERS: Mapping[tuple[str, ...], Starter] = {
    ("sudo",): _starter("-u --user -g --group -h --host -p --prompt -C -r -t -T -U -D --chdir -R"),
    ("doas",): _starter("-u -C"),
    ("env",): _starter("-u --unset -C --chdir"),
    ("nohup",): _starter(),
    ("setsid",): _starter(),
    ("nice",): _starter("-n --adjustment"),
    ("ionice",): _starter("-c --class -n --classdata"),
    ("stdbuf",): _starter("-i --input -o --output -e --error"),
    ("unbuffer",): _starter(),
    ("chronic",): _starter(),
    ("xargs",): _starter(
        "-I -n -P -L -d -s -E -a --max-args --max-procs --max-lines --delimiter --arg-file"
    ),
    ("timeout",): _starter("-s --signal -k --kill-after", 1),
    ("gtimeout",): _starter("-s --signal -k --kill-after", 1),
    ("chroot",): _starter("", 1),
    ("flock",): _starter("-w --timeout -E", 1),
    ("strace",): _starter("-o -e -s -p -E -u"),
    ("watch",): _starter("-n --interval", is_text=True),
    ("eval",): _starter(is_text=True),
    ("ssh",): _starter("-i -p -l -o -F -J -L -R -D -b -c -m -S -W", 1, is_text=True),
    ("docker", "exec"): _IN_CONTAINER,
    ("docker", "container", "exec"): _IN_CONTAINER,
    ("podman", "exec"): _IN_CONTAINER,
    ("docker", "run"): _NEW_CONTAINER,
    ("docker", "container", "run"): _NEW_CONTAINER,
    ("podman", "run"): _NEW_CONTAINER,
    ("docker", "compose", "exec"): _SERVICE,
    ("docker", "compose", "run"): _SERVICE,
    ("docker-compose", "exec"): _SERVICE,
    ("docker-compose", "run"): _SERVICE,
    ("conda", "run"): _CONDA,
    ("mamba", "run"): _CONDA,
    ("micromamba", "run"): _CONDA,
    ("npx",): _starter("-p --package"),
    ("bunx",): _starter("-p --package"),
    ("uvx",): _starter(_UV),
    ("uv", "tool", "run"): _starter(_UV),
    ("uv", "run"): _starter(_UV),
    ("pipx", "run"): _starter("--spec --python"),
    ("poetry", "run"): _starter(),
    ("pipenv", "run"): _starter(),
    ("pdm", "run"): _starter("-p --project"),
    ("rye", "run"): _starter(),
    ("pixi", "run"): _starter("-e --environment"),
    ("hatch", "run"): _starter(),
    ("bundle", "exec"): _starter("--gemfile"),
    ("pnpm", "exec"): _starter(),
    ("pnpm", "dlx"): _starter("--package"),
    ("yarn", "dlx"): _starter("-p --package"),
    ("npm", "exec"): _starter("-p --package"),
    ("coverage", "run"): _starter("--source --include --omit --rcfile --data-file --context"),
    ("deno", "run"): _starter(),
    ("go", "run"): _starter(),
    ("git", "bisect", "run"): _starter(),
}
_LONGEST = max(map(len, _STARTERS))
_PYTHON = frozenset({"-W", "-X", "--check-hash-based-pycs"})
_EXEC = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_FD_EXEC = frozenset({"-x", "--exec", "-X", "--exec-batch"})
# what reads, shows or moves what it is given, and starts nothing by it
_DATA = _words(
    "echo printf grep egrep fgrep zgrep rg ag ack cat tac nl head tail less more wc ls cd pushd"
    " mkdir rmdir touch rm cp mv ln chmod chown stat file du df tree basename dirname realpath"
    " readlink which whereis type man whatis command hash test [ [[ sed jq yq diff cmp comm sort"
    " uniq cut tr tee paste column fold base64 xxd od md5sum sha256sum tar zip unzip gzip gunzip"
    " curl wget gh glab locate read return exit true false : sleep kill pkill pgrep ps"
    " id whoami pwd date uname hostname unset"
)
# subcommands of git that may start programs
_OF_GIT = frozenset({"bisect", "rebase", "submodule", "filter-branch", "difftool", "mergetool"})
_MANAGERS = _words(
    "pip pipx uv poetry pdm rye pipenv conda mamba micromamba npm pnpm yarn bun apt apt-get apk dnf"
    " yum brew gem cargo go composer bundle choco winget"
)
_MANAGING = _words(
    "install i add uninstall remove rm upgrade update show info view list ls search download"
    " require get freeze why outdated"
)
_PRINTERS = frozenset({"echo", "printf"})


def started(words: Sequence[str]) -> tuple[list[str], bool] | None:
    """The words of the command that a command starts, and whether they are one text for a shell.

    None if it starts none that its words tell. The first word is a program's name alone.
    """
    if words[0] in ("python", "pypy"):
        return _of_python(words)
    if words[0] in ("find", "fd", "fdfind"):
        return _of_find(words, _EXEC if words[0] == "find" else _FD_EXEC)
    for length in range(min(_LONGEST, len(words)), 0, -1):
        starter = _STARTERS.get(tuple(words[:length]))
        if starter:
            if any(word.startswith("--entrypoint") for word in words):
                return None
            return _behind_options(words[length:], starter), starter.is_text
    return None


def _behind_options(words: Sequence[str], starter: Starter) -> list[str]:
    left, position = starter.operands, 0
    while position < len(words):
        word = words[position]
        if word == "--":
            return list(words[position + 1 + left :])
        if word.startswith("-") and len(word) > 1:
            position += 2 if _takes_value(word, starter.values) else 1
        elif left:
            left, position = left - 1, position + 1
        else:
            break
    return list(words[position:])


def _takes_value(option: str, values: frozenset[str]) -> bool:
    """Is the next word the value of an option? In `-Eu me` it is, in `-ume` the value is there."""
    if option in values:
        return True
    letters = option[1:] if re.fullmatch("-[A-Za-z]{2,}", option) else ""
    valued = [letter for letter in letters if f"-{letter}" in values]
    return bool(valued) and letters.index(valued[0]) == len(letters) - 1


def _of_python(words: Sequence[str]) -> tuple[list[str], bool] | None:
    position = 1
    while position < len(words) and words[position].startswith("-"):
        word = words[position]
        if word == "-m":
            return list(words[position + 1 :]), False
        if word.startswith("-m"):
            return [word[2:], *words[position + 1 :]], False
        if word in ("-c", "-"):
            return None
        position += 2 if word in _PYTHON else 1
    return None


def _of_find(words: Sequence[str], flags: frozenset[str]) -> tuple[list[str], bool] | None:
    starts = [n for n, word in enumerate(words, 1) if word in flags]
    if len(starts) != 1:
        return None
    [start] = starts
    end = next((n for n in range(start, len(words)) if words[n] in (";", "+")), len(words))
    return list(words[start:end]), False


def takes_data(words: Sequence[str]) -> bool:
    """Are all arguments of a command data, so that none of them can be a command?"""
    name, *rest = words
    if name in ("find", "fd", "fdfind"):
        return not {*rest} & (_EXEC | _FD_EXEC)
    if name == "git":
        return not any(word in _OF_GIT or word.startswith("alias.") for word in rest)
    operands = [word for word in rest if not word.startswith("-")]
    if name in _MANAGERS:
        verb = operands[1:2] if operands[:1] in (["pip"], ["tool"], ["mod"]) else operands[:1]
        return bool(verb) and verb[0] in _MANAGING
    return name in _DATA


def printed(words: Sequence[str], fed: str) -> str:
    """What a command hands on to the next one of a pipeline, as far as its words tell."""
    if words and words[0] in _PRINTERS:
        return " ".join(words[1:]).replace("\\n", "\n")
    return fed if words and words[0] in ("cat", "tee") else ""
