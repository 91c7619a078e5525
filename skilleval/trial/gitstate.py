"""The state of a workspace's git repository, and what changed between two looks at it.

Owns the mapping in the field names of seed 002's `pre_state.json`, and how it is read: refs and
object ids only, never a list for the eye (`git branch`), and no git process for what has not
changed. Commits are those that branches, remote branches, tags and HEAD reach; a stash is none.

The repository is an agent's by then. Only a real `.git` folder of the workspace itself is read, so
that no link and no missing folder leads to a repository above. Does not own files (`snapshot`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from skilleval.errors import SkillevalError
from skilleval.model import EMPTY
from skilleval.process import Command, complaint
from skilleval.tools import Tools
from skilleval.trial import gitfiles, ownership, remotes

TIMEOUT_S = 120.0
# of seed 002's pre_state.json; `commit_shas` holds all new ones, however many
LINES, IDS = 20, 50
NEW_LIMIT = 5000
# ids of a million commits, of which none may be cut out
OUTPUT = 64 * 1024 * 1024
# who commits in a workspace: the user's own identity is not the agent's
IDENTITY = ("skilleval", "skilleval@localhost")
_HEADS, _REMOTES, _TAGS = gitfiles.HEADS, "refs/remotes/", gitfiles.TAGS
# what configuration could make git run, print or do behind our back, and a branch of a known name
_CALM: tuple[str, ...] = (
    "-c",
    "core.fsmonitor=false",
    "-c",
    "log.showSignature=false",
    "-c",
    "gc.auto=0",
)
_CALM += ("-c", "maintenance.auto=false", "-c", "init.defaultBranch=main")
_REF_FORMAT = "%(refname)%00%(objectname)%00%(symref)"


class Look(NamedTuple):
    """A look at a repository: its `state`, and what the next look needs to see what changed.

    `state` is empty where there is no repository. `tips` are the ids that refs pointed to. The
    marks stand for the content of the files that hold refs and index.
    """

    state: Mapping[str, Any] = EMPTY
    tips: frozenset[str] = frozenset()
    refs_mark: str = ""
    index_mark: str = ""


class _Commits(NamedTuple):
    """Commits, newest first: ids, and `short subject` lines of the first ones."""

    ids: tuple[str, ...]
    lines: tuple[str, ...]
    parents: frozenset[str] = frozenset()


def read(workspace: str, tools: Tools) -> Mapping[str, Any]:
    """The state of the workspace's repository; empty if there is none. Raises `SkillevalError`."""
    return look(workspace, tools).state


def look(
    workspace: str,
    tools: Tools,
    since: Look | None = None,
    *,
    touched: bool = True,
    remote: str = "",
    hidden: Sequence[str] = (),
) -> Look:
    """A look at the repository, by at most 4 git processes; by none if nothing has changed `since`.

    `touched`: may files of the working tree have changed? `remote` is the bare repository behind
    `origin` if it is on this machine: its branches are true whatever was fetched. Paths in and
    below `hidden` are left out of the status. Raises `SkillevalError` if git cannot read it.

    New commits are those that no ref reached before, so a rewritten history of any length makes no
    old commit new.
    """
    if not gitfiles.is_repository(workspace):
        return Look()
    git = _Git(workspace, tools)
    refs, index = marks(workspace, remote)
    if since and since.state and since.refs_mark == refs:
        state, tips = dict(since.state), since.tips
    else:
        state, tips = _refs_state(git, since or Look(), remote)
    if not (since and (since.refs_mark, since.index_mark) == (refs, index)) or touched:
        state |= _worktree(git, hidden)
    return Look(state, tips, refs, index)


def initial(workspace: str, subject: str) -> Look:
    """What `look` gives for a repository of ours with one commit, and all of its files in it.

    It is read from the files of the repository, by no git process.
    """
    heads = gitfiles.heads(os.path.join(workspace, ".git"))
    ((branch, sha),) = heads.items()
    state: dict[str, Any] = {
        "local_branches": [branch],
        "remote_branches": [],
        "current_branch": branch,
        "head_sha": sha,
        "commit_count": 1,
        "commits": [f"{sha[:7]} {subject}"],
        "remote_names": [],
        "open_prs": [],
        "branch_heads": heads,
        "remote_branch_heads": {},
        "commit_shas": [sha],
        "tags": {},
        "other_pushes": {},
        "pushes": {},
        "status_porcelain": [],
        "changed_files": [],
    }
    return Look(state, frozenset([sha]), *marks(workspace))


def marks(workspace: str, remote: str = "") -> tuple[str, str]:
    """What stands for the refs (of the remote, too) and for the index: equal while they are."""
    folder = os.path.join(workspace, ".git")
    refs = gitfiles.refs_mark(folder) + (gitfiles.refs_mark(remote) if remote else "")
    return refs, gitfiles.index_mark(folder)


def change(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """What changed from one state to the other (seed 002's state diff; spec/suites section 5).

    `pushed_branches` are remote branches that are new or point elsewhere, by the trial's own doing
    (`ownership`), those of another remote than `origin` with its name; so are `new_remote_branches`
    and `new_open_prs`. `deleted_remote_branches` may be others' doing. `eval_branch` is the branch
    that the agent worked on, None if it made none; a detached HEAD is no branch.
    """
    own, elsewhere = ownership.pushed(before, after), ownership.elsewhere(before, after)
    remote = own if "pushes" in after else after.get("remote_branch_heads", {})
    branch = _eval_branch(before, after)
    head = after.get("head_sha", "")
    pushed = {heads[branch] for heads in (remote, *elsewhere.values()) if branch in heads}
    current = after.get("current_branch", "")
    foreign = set(after.get("remote_branch_heads", {})) - set(remote)
    return {
        "new_branches": _added(before, after, "local_branches"),
        "new_remote_branches": [
            name for name in _added(before, after, "remote_branches") if name not in foreign
        ],
        "pushed_branches": sorted(
            [*own, *(f"{name}/{each}" for name, heads in elsewhere.items() for each in heads)]
        ),
        "deleted_remote_branches": sorted(ownership.deleted(before, after)),
        "deleted_branches": _added(after, before, "local_branches"),
        "current_branch": current,
        "current_branch_changed": current != before.get("current_branch", ""),
        "head_advanced": bool(before.get("head_sha") and head) and head != before["head_sha"],
        "new_commits": _fresh(before, after, "commits"),
        "new_commit_shas": _fresh(before, after, "commit_shas"),
        "new_open_prs": ownership.requests(before, after),
        "eval_branch": branch or None,
        "eval_branch_pushed": bool(pushed),
        "eval_branch_pushed_matches_head": bool(head) and head in pushed,
    }


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Variables for a git process of our own: nothing of the user's configuration has a say."""
    kept = {name: environ[name] for name in ("PATH", "SYSTEMROOT", "TMPDIR") if name in environ}
    return {
        "PATH": os.defpath,
        **kept,
        "LC_ALL": "C",
        "HOME": os.devnull,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_DEFAULT_REF_FORMAT": "files",
        "GIT_AUTHOR_NAME": IDENTITY[0],
        "GIT_AUTHOR_EMAIL": IDENTITY[1],
        "GIT_COMMITTER_NAME": IDENTITY[0],
        "GIT_COMMITTER_EMAIL": IDENTITY[1],
    }


def run_git(
    arguments: Sequence[str], tools: Tools, *, where: Sequence[str] = (), **options: Any
) -> str:
    """What git prints for a verb and its arguments. Raises `SkillevalError`, in git's words.

    `where` are options before the verb, `options` fields of `Command`.
    """
    options = {"env": environment(tools.environ), "timeout_s": TIMEOUT_S, **options}
    done = tools.run(Command(["git", *where, *_CALM, *arguments], **options))
    if done.exit_code != 0:
        raise SkillevalError(f"git {arguments[0]}: {complaint(done)}")
    return done.stdout


def within(path: str, folders: Iterable[str]) -> bool:
    """Is a path (`/` between its parts) one of the folders, or below one?"""
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


class _Git(NamedTuple):
    """git on the repository of a workspace, wherever that repository says its files are."""

    workspace: str
    tools: Tools

    @property
    def folder(self) -> str:
        return os.path.join(self.workspace, ".git")

    def __call__(self, *arguments: str, stdin: bytes | None = None) -> str:
        where = [f"--git-dir={self.folder}", f"--work-tree={self.workspace}"]
        options = {"cwd": self.workspace, "stdin": stdin, "output_limit_bytes": OUTPUT}
        return run_git(arguments, self.tools, where=where, **options)


def _refs_state(git: _Git, since: Look, remote: str) -> tuple[dict[str, Any], frozenset[str]]:
    """All of a state but the status of the working tree, and the tips."""
    refs = dict(_refs(git))
    branch, detached = _head(git.folder, refs)
    head = detached or refs.get(_HEADS + branch, "")
    kept = {name: sha for name, sha in refs.items() if name.startswith((_HEADS, _REMOTES, _TAGS))}
    tips = frozenset([*kept.values(), *([head] if head else [])])
    elsewhere = remotes.fields(git.folder, kept, remote)
    # what is behind `origin` may be others', too, unless it is on this machine
    fetched = remotes.fetched(kept, elsewhere.get("pushes"))
    commits, count = _commits(git, tips, since, fetched)
    local, tags = (
        {name.removeprefix(kind): sha for name, sha in kept.items() if name.startswith(kind)}
        for kind in (_HEADS, _TAGS)
    )
    state = {
        "local_branches": sorted(local),
        "current_branch": "HEAD" if detached else branch,
        "head_sha": head,
        "commit_count": count,
        "commits": list(commits.lines[:LINES]),
        "open_prs": [],
        "branch_heads": local,
        "commit_shas": list(commits.ids),
        "tags": tags,
        **elsewhere,
    }
    return state, tips


def _refs(git: _Git) -> Iterator[tuple[str, str]]:
    """(full name, id) of every ref that is not the name of another one."""
    for line in git("for-each-ref", f"--format={_REF_FORMAT}").splitlines():
        name, sha, symbolic = [*line.split("\0"), "", ""][:3]
        if not symbolic:
            yield name, sha


def _head(folder: str, refs: Mapping[str, str]) -> tuple[str, str]:
    """(branch, "") or, if HEAD is on none, ("", id)."""
    content = gitfiles.head(folder)
    if content.startswith("ref:"):
        name = content.removeprefix("ref:").strip()
        return name.removeprefix(_HEADS), "" if name.startswith(_HEADS) else refs.get(name, "")
    return "", content


def _commits(
    git: _Git, tips: frozenset[str], since: Look, fetched: frozenset[str]
) -> tuple[_Commits, int]:
    """The newest commits (all new ones first), and how many there are in all.

    Those that `fetched` ids reach are known like those of earlier tips.
    """
    if not tips:
        return _Commits((), ()), 0
    if not since.state:
        newest = _log(git, tips, (), IDS)
        whole = len(newest.ids) < IDS
        count = len(newest.ids) if whole else int(_rev_list(git, tips, "--count"))
        return newest, count
    moved = tips - since.tips - fetched
    fresh = _log(git, moved, since.tips | fetched, NEW_LIMIT) if moved else _Commits((), ())
    ids, lines = since.state["commit_shas"], since.state["commits"]
    count = since.state["commit_count"] + len(fresh.ids)
    # an old tip that is one still, or the parent of a new commit, is reached: nothing is lost
    if since.tips - tips - fresh.parents:
        reached = set(_rev_list(git, tips).split())
        lost = [sha for sha in ids if sha not in reached]
        ids = [sha for sha in ids if sha in reached]
        lines = [line for line in lines if not _speaks_of(line, lost)]
        count = len(reached)
    return _Commits((*fresh.ids, *ids), (*fresh.lines, *lines)), count


def _speaks_of(line: str, ids: Sequence[str]) -> bool:
    """Does a `short subject` line speak of one of the commits?"""
    short = line.partition(" ")[0]
    return any(sha.startswith(short) for sha in ids)


def _log(git: _Git, tips: Iterable[str], known: Iterable[str], limit: int) -> _Commits:
    # an id that is gone with its history is passed over
    options = [f"--max-count={limit}", "--ignore-missing", "--format=%H%x00%P%x00%h %s"]
    text = git("log", *options, "--stdin", stdin=_revisions(tips, known))
    rows = [line.split("\0", 2) for line in text.split("\n") if line.count("\0") >= 2]
    parents = frozenset(sha for row in rows for sha in row[1].split())
    return _Commits(tuple(row[0] for row in rows), tuple(row[2] for row in rows[:LINES]), parents)


def _rev_list(git: _Git, tips: Iterable[str], *options: str) -> str:
    options = ("--ignore-missing", *options, "--stdin")
    return git("rev-list", *options, stdin=_revisions(tips)).strip()


def _revisions(tips: Iterable[str], known: Iterable[str] = ()) -> bytes:
    return "".join([*(f"{sha}\n" for sha in tips), *(f"^{sha}\n" for sha in known)]).encode()


def _worktree(git: _Git, hidden: Sequence[str]) -> dict[str, list[str]]:
    entries = [each for each in _status(git) if not within(each[1], hidden)]
    return {
        "status_porcelain": [line for line, _ in entries],
        "changed_files": [path for _, path in entries],
    }


def _status(git: _Git) -> Iterator[tuple[str, str]]:
    """(line as `git status --porcelain` has it, path) of everything that is not committed."""
    entries = iter(git("status", "--porcelain", "-z", "--untracked-files=all").split("\0"))
    for entry in entries:
        code, path = entry[:2], entry[3:]
        if "R" in code or "C" in code:
            yield f"{code} {next(entries, '')} -> {path}", path
        elif path:
            yield entry, path


def _eval_branch(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    current = str(after.get("current_branch", ""))
    new = _added(before, after, "local_branches")
    if current == "HEAD":
        current = ""
    if current in new or (not new and current and current not in _known(before)):
        return current
    return new[0] if new else ""


def _known(state: Mapping[str, Any]) -> set[str]:
    remote = state.get("remote_branches", ())
    return {state.get("current_branch", ""), *state.get("local_branches", ()), *remote}


def _added(before: Mapping[str, Any], after: Mapping[str, Any], field: str) -> list[str]:
    return sorted(set(after.get(field, ())) - set(before.get(field, ())))


def _fresh(before: Mapping[str, Any], after: Mapping[str, Any], field: str) -> list[str]:
    old = set(before.get(field, ()))
    return [each for each in after.get(field, ()) if each not in old]
