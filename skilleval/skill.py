"""A skill on disk: SKILL.md, its front matter, what an agent gets with it, and its version.

Owns where a skill's files are (agentskills.io layout; seeds 000 and 001). It judges nothing:
`lint.skill_md` does. The annotations are values, not text: `model` says why.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from skilleval.errors import SuiteError
from skilleval.reading import textfile

MANIFEST, CHANGELOG = "SKILL.md", "CHANGELOG.md"
# what an agent is given of a skill besides SKILL.md; everything else stays behind (seed 000)
FOLDERS = ("references", "scripts", "assets")
# of a scenario: the task, and the files it needs (seed 000, "What a scenario is")
TASK, INPUTS = "task.md", "inputs"
# no part of a skill as an agent gets it, beside its SKILL.md (seed 002, agentskills.io)
NOT_INSTALLED = frozenset({"evals", "__pycache__", ".git"})
# folders that hold no skills of the repository, however deep they lie
SKIPPED = frozenset({"node_modules", "__pycache__", "build", "dist", "venv", "eval-workspace"})


OnError = Callable[[OSError], None]


class FrontMatter(NamedTuple):
    """The YAML between the first two `---` lines. `problem` says why `fields` is None."""

    fields: Mapping[str, Any] | None
    body_line: int
    problem: str = ""
    line: int = 1


def front_matter(text: str) -> FrontMatter:
    """The front matter of a SKILL.md text, `fields` None if there is none or it is broken.

    Only a line that is exactly `---` ends it: one inside a value does not.
    """
    if not text.startswith("---\n"):
        return FrontMatter(None, 1, "has no front matter: start the file with a line `---`")
    end = text.find("\n---", 3)
    while end >= 0 and text[end + 4 : end + 5] not in ("", "\n"):
        end = text.find("\n---", end + 4)
    if end < 0:
        return FrontMatter(None, 1, "front matter is not closed: end it with a line `---`")
    from skilleval import yamlread

    block = text[4 : end + 1]
    body_line = block.count("\n") + 3
    try:
        fields = yamlread.load(block, MANIFEST)
    except SuiteError as error:
        line = int(error.where or 0) + 1
        return FrontMatter(None, body_line, f"invalid front matter: {error.message}", line)
    if fields is None:
        fields = {}
    if not isinstance(fields, dict):
        return FrontMatter(None, body_line, "front matter is not a mapping of keys to values")
    return FrontMatter(fields, body_line)


def description_and_tags(text: str) -> tuple[str, str]:
    """What a catalogue shows of a SKILL.md text: one-line description, tags; "" where absent.

    Tags stand at the top level or under `metadata` (seed 000, spec/scenarios section 17).
    """
    fields = front_matter(text).fields
    if fields is None:
        fields = _fields_by_line(text)
    metadata = fields.get("metadata")
    tags = fields.get("tags") or (metadata.get("tags") if isinstance(metadata, dict) else None)
    if isinstance(tags, list):
        tags = ", ".join(map(str, tags))
    return " ".join(str(fields.get("description") or "").split()), str(tags or "")


def _fields_by_line(text: str) -> dict[str, str]:
    """What a front matter that is no YAML says, each key with the rest of its line.

    Seed 000's own reader knows no YAML, and files that count on that are common: a description
    with a colon in it (spec/scenarios section 17). `tags` may stand under `metadata`.
    """
    import re

    found: dict[str, str] = {}
    above = block = ""
    opening, *lines = text.split("\n")
    end = next((i for i, line in enumerate(lines) if line.startswith("---")), 0)
    for line in lines[:end] if opening.startswith("---") else ():
        entry = re.match(r"(\s*)([\w-]+):\s*(.*)$", line)
        if entry and not entry[1]:
            above = entry[2]
        if entry and (not entry[1] or (above, entry[2]) == ("metadata", "tags")):
            value = entry[3].strip().strip("\"'")
            block = entry[2] if re.fullmatch(r"|[>|][-+]?", value) else ""
            found.setdefault(entry[2], "" if block else value)
        elif block and line.startswith((" ", "\t")):
            found[block] = f"{found[block]} {line.strip()}"
    return found


def released_version(changelog: str) -> str:
    """The version of the first released heading `## [x]` of a changelog; "" if there is none.

    The text between the brackets is taken as it is. `Unreleased`, in any case, is no release, and
    a heading inside a fenced block is none either (spec/scenarios section 14).
    """
    from skilleval.reading import markdown

    for line in markdown.lines(changelog):
        if line.kind == "heading" and line.text.startswith("## [") and "]" in line.text:
            version = line.text[4 : line.text.index("]")].strip()
            if version and version.lower() != "unreleased":
                return version
    return ""


def version(folder: str) -> str:
    """The released version in the skill's CHANGELOG.md; "" if there is none."""
    try:
        return released_version(textfile.read_text(os.path.join(folder, CHANGELOG)))
    except OSError:
        return ""


def digest(folder: str) -> str:
    """A hash of all files of the skill that an agent could be given: paths and contents.

    Its evals, caches and git files are no part of it (seed 002's skill_hash). Raises `SuiteError`
    for a file or folder that cannot be read.
    """
    import hashlib

    found = hashlib.sha256()
    try:
        for path in files_below(folder):
            relative = os.path.relpath(path, folder).replace(os.sep, "/")
            first, *rest = relative.split("/")
            if first not in NOT_INSTALLED and "__pycache__" not in rest:
                found.update(relative.encode("utf-8", "surrogateescape") + b"\0")
                found.update(textfile.read_bytes(path) + b"\0")
    except OSError as error:
        place = str(error.filename or folder)
        raise SuiteError(place, "", f"cannot be read: {textfile.reason(error)}") from None
    return found.hexdigest()


def names(root: str) -> list[str]:
    """The skills of a repository: the folders in `root`/skills with a SKILL.md, sorted.

    Raises `SuiteError` for one that would not be scored without anybody noticing: it cannot be
    read, or has evals/tasks.json but no SKILL.md.
    """
    found = []
    folder = os.path.join(root, "skills")
    try:
        entries = sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise SuiteError(folder, "", f"cannot be read: {textfile.reason(error)}") from None
    for name in entries:
        path = os.path.join(folder, name)
        if exists(path):
            found.append(name)
        elif os.path.exists(os.path.join(path, "evals", "tasks.json")):
            raise SuiteError(path, "", f"has evals/tasks.json but no {MANIFEST}; add one")
        elif os.path.isdir(path) and not os.access(path, os.R_OK | os.X_OK):
            raise SuiteError(path, "", "cannot be read: permission denied")
    return found


def find(root: str, files: Collection[str] = (), on_error: OnError | None = None) -> list[str]:
    """The folders below `root` (itself included) that hold a SKILL.md or evals, sorted.

    With them, the files outside of any skill that have one of the given names. Hidden folders and
    those in `SKIPPED` are left out; nothing is looked for inside a skill. A link to a skill that is
    not found otherwise stands for it, any other link is not followed. Why a folder cannot be looked
    into, or what a link leads to, is handed to `on_error`.
    """
    found: list[str] = []
    links: list[str] = []
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        names, folders = _listing(folder, on_error)
        if MANIFEST in names or _has_fixtures(folder, folders):
            found.append(folder)
        else:
            found += [os.path.join(folder, name) for name in names.intersection(files)]
            others = names.difference(folders)
            links += links_to_skills(folder, others)
            _look_behind(folder, others, on_error)
            waiting += [
                os.path.join(folder, name)
                for name in folders
                if name[0] != "." and name not in SKIPPED
            ]
    return sorted(found + not_among(links, found))


def links_to_skills(folder: str, names: Iterable[str]) -> list[str]:
    """Which of the names in a folder are links to a folder with a SKILL.md; hidden ones are not."""
    paths = (os.path.join(folder, name) for name in names if name[0] != ".")
    return [path for path in paths if os.path.islink(path) and exists(path)]


def not_among(links: Iterable[str], found: Iterable[str]) -> list[str]:
    """The links that lead to none of the folders, one for each place they lead to."""
    places = {os.path.realpath(link): link for link in sorted(links, reverse=True)}
    known = set(map(os.path.realpath, found)) if places else set()
    return [link for place, link in places.items() if place not in known]


def _look_behind(folder: str, names: Iterable[str], on_error: OnError | None) -> None:
    """Hands on why a link that might lead to a skill leads nowhere."""
    for name in names if on_error else ():
        path = os.path.join(folder, name)
        if name[0] != "." and os.path.islink(path) and not os.path.isfile(path):
            _listing(path, on_error)


def _listing(folder: str, on_error: OnError | None = None) -> tuple[set[str], list[str]]:
    try:
        with os.scandir(folder) as entries:
            kinds = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    except OSError as error:
        if on_error:
            on_error(error)
        return set(), []
    return {name for name, _ in kinds}, [name for name, is_folder in kinds if is_folder]


def _has_fixtures(folder: str, folders: list[str]) -> bool:
    return "evals" in folders and os.path.exists(os.path.join(folder, "evals", "tasks.json"))


def owner(path: str) -> str:
    """The skill folder that a file belongs to; "" if there is none.

    It is the nearest folder above with a SKILL.md, else the one whose `evals` holds the file.
    """
    folder = os.path.dirname(os.path.abspath(path))
    of_evals = ""
    while True:
        if exists(folder):
            return folder
        above, name = os.path.split(folder)
        if name == "evals" and not of_evals:
            of_evals = above
        if above == folder:
            return of_evals
        folder = above


def guidance(folder: str, on_error: OnError | None = None) -> Iterator[str]:
    """The files that guide an agent with the skill: SKILL.md, its references, its rule files.

    These and nothing else make up the corpus in which a `must_include` text has to appear
    (seed 001: "the skill, its rule, or its references"; spec/fixtures section 5). A changelog
    guides nobody, wherever it lies.
    """
    yield os.path.join(folder, MANIFEST)
    names, folders = _listing(folder)
    for name in ("references", "rules"):
        if name in folders:
            for path in files_below(os.path.join(folder, name), on_error):
                if os.path.basename(path) != CHANGELOG:
                    yield path
    if "RULE.md" in names:
        yield os.path.join(folder, "RULE.md")
    rules = os.path.normpath(os.path.join(folder, os.pardir, os.pardir, "rules"))
    if os.path.isdir(rules):
        rules, name = os.path.abspath(rules), os.path.basename(os.path.abspath(folder))
        for rule in (f"{name}.md", f"{name}.mdc", os.path.join(name, "RULE.md")):
            if os.path.isfile(os.path.join(rules, rule)):
                yield os.path.join(rules, rule)


def files_below(folder: str, on_error: OnError | None = None) -> Iterator[str]:
    """Every regular file below a folder, sorted by path; symbolic links are not followed.

    Raises the `OSError` of a folder that cannot be read, or hands it to `on_error`.
    """
    names: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    names += files_below(entry.path, on_error)
                elif entry.is_file(follow_symlinks=False):
                    names.append(entry.path)
    except OSError as error:
        if on_error is None:
            raise
        on_error(error)
    yield from sorted(names)


def exists(folder: str) -> bool:
    """Does the folder hold a SKILL.md?"""
    return os.path.isfile(os.path.join(folder, MANIFEST))


def text(folder: str) -> str:
    """The text of SKILL.md; "" if it is not there or cannot be read."""
    try:
        return textfile.read_text(os.path.join(folder, MANIFEST))
    except OSError:
        return ""


def corpus(folder: str, on_error: OnError) -> dict[str, str]:
    """The texts of all of `guidance` that can be read, by path; why one cannot, `on_error` gets."""
    texts = {}
    for path in guidance(folder, on_error):
        try:
            texts[path] = textfile.read_text(path)
        except OSError as error:
            on_error(error)
    return texts
