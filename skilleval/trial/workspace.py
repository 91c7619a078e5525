"""The folder of one trial: workspace, home, temporary folder, and what the agent's program sees.

    <temporary root>/skilleval-TAG-XXXX/trial-XXXX/
        workspace/      a copy of the case's ground, with the skill or without; the agent's cwd
        home/  tmp/     its HOME and TMPDIR
        remote.git/     what it pushes to, if the source repository is one on this machine
        evals/          a decoy with a canary: who finds it has looked where answers lie
        gitconfig       its git configuration; MARKER says that all of this is ours to remove

Owns its making, its proof that the arm is what it claims, and its end. It protects from finding
things by accident, not from intent: an agent runs with the user's rights and can read what the user
can. What the ground holds is `grounds`', what comes of a trial `harness`'.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from skilleval.errors import NotStarted, SkillevalError, UsageError
from skilleval.model import Arm, Case, File
from skilleval.process import turns
from skilleval.reading.textfile import contains_path
from skilleval.skill import MANIFEST, NOT_INSTALLED
from skilleval.snapshot import Snapshot
from skilleval.tools import Tools
from skilleval.trial import gitstate, grounds, temporary, visibility
from skilleval.trial.removal import remove

MARKER = temporary.MARKER
KEEP = "SKILL_EVAL_KEEP_WORKSPACE"
USER, ISOLATED = "user", "isolated"
# the variables of ours that every agent sees; beside them, only what its program names
SEEN = frozenset(
    {"PATH", "LANG", "LANGUAGE", "TERM", "TZ", "USER", "LOGNAME", "SHELL", "NO_COLOR", "COLORTERM"}
    # where compilers and interpreters are, that a home folder cannot tell any more
    | {"CARGO_HOME", "CONDA_PREFIX", "GOPATH", "GOROOT", "JAVA_HOME", "NVM_DIR", "PYENV_ROOT"}
    | {"RUSTUP_HOME", "VIRTUAL_ENV", "VOLTA_HOME"}
    | {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"}
    | {"http_proxy", "https_proxy", "no_proxy", "all_proxy"}
    | {"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "LD_LIBRARY_PATH"}
    | {"SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "WINDIR", "PROGRAMFILES", "PROGRAMDATA"}
)
# with the user's own home: where its programs keep their configuration and logins
OF_USER = frozenset(
    {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"}
    | {"CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCODE_CONFIG_DIR", "APPDATA", "LOCALAPPDATA"}
)
# with a source repository elsewhere, which the agent is meant to push to
OF_REMOTE = frozenset({"SSH_AUTH_SOCK", "GH_TOKEN", "GITHUB_TOKEN", "GITLAB_TOKEN"})


class ControlBroken(SkillevalError):
    """An arm that is not what it claims: with a skill it should lack, or without the one it has."""

    failure = "control"


class Layout(Protocol):
    """What a workspace has to know of an agent program; see `harness.Program`."""

    @property
    def SKILLS(self) -> str: ...
    @property
    def DROPPINGS(self) -> Sequence[str]: ...
    @property
    def CREDENTIALS(self) -> Sequence[str]: ...


class Place(NamedTuple):
    """Where one trial happens. Paths are absolute and real; `environ` is all that the agent sees.

    `installed` is the folder of the skill `skill`, "" in an arm without it; `skills_folder` is
    where the program has its skills, relative to the workspace. `hidden` are the paths in there
    that are no work of the agent. `skills` are those that could be found on disk at the start,
    `look` is how its repository was then. `remote` is the bare repository behind `origin`, "" if
    that is elsewhere.
    """

    folder: str
    home: str
    environ: Mapping[str, str]
    skill: str
    skills_folder: str
    installed: str
    hidden: tuple[str, ...]
    ground: grounds.Ground
    remote: str = ""
    look: gitstate.Look = gitstate.Look()
    skills: tuple[str, ...] = ()

    @property
    def workspace(self) -> str:
        return temporary.inside(self.folder)

    def files(self, tools: Tools) -> Snapshot:
        """What the workspace holds now, without what is hidden. Raises `OSError` if it is gone."""
        if os.path.islink(self.workspace) or os.path.islink(self.folder):
            raise FileNotFoundError(errno.ENOENT, "is a link now", self.workspace)
        temporary.unlock()
        for folder in (self.folder, self.workspace):
            with contextlib.suppress(OSError):  # the agent may have locked it
                os.chmod(folder, stat.S_IRWXU)
        return grounds.visible_files(tools.look(self.workspace, self.ground.files), self.hidden)

    def git(self, tools: Tools, *, touched: bool = True) -> gitstate.Look:
        """How the repository is now. `touched`: have files changed? Raises `SkillevalError`."""
        return gitstate.look(
            self.workspace,
            tools,
            self.look,
            touched=touched,
            remote=self.remote,
            hidden=self.hidden,
        )

    def is_pristine(self, tools: Tools) -> bool:
        """Is everything in the workspace, its repository and its remote as it was at the start?"""
        try:
            files = self.files(tools).files
            git = self.git(tools, touched=False)
        except (OSError, SkillevalError):
            return False
        before = self.ground.files.files
        refs = git.refs_mark == self.look.refs_mark and git.state == self.look.state
        return refs and _digests(files) == _digests(before)

    def visible(self) -> dict[str, str]:
        """The skills that can be found on disk now: their names by folder."""
        around = (self.workspace, self.home, *visibility.above(self.workspace))
        found = visibility.found(around, self.skill, [self.skills_folder])
        return {**found, **visibility.moved(self.environ, self.skill)}


@contextlib.contextmanager
def prepare(case: Case, arm: Arm, program: Layout, tools: Tools) -> Iterator[Place]:
    """A furnished place, gone when the context ends unless $SKILL_EVAL_KEEP_WORKSPACE is set.

    The arm's options: `skill` (folder), `skill_name`, `source_repo`, `home` (`isolated`, `user`),
    `pass_env` (names of variables of ours that the agent may see, too).
    Raises `ControlBroken` if the arm is not what it claims, `UsageError` for a bad option, and
    `SkillevalError` if it cannot be made.
    """
    skill = skill_name(arm)
    own = f"{program.SKILLS}/{skill}" if skill else program.SKILLS
    hidden = tuple(dict.fromkeys([own, *program.DROPPINGS]))
    ground = grounds.ground(case, arm, hidden, tools)
    kept = is_kept(tools.environ)
    folder = temporary.new_folder(tools.environ, temporary.KEPT if kept else temporary.TRIAL)
    try:
        place = Place(
            folder=folder,
            home=_home(arm, folder, tools.environ),
            environ=_environ(arm, folder, program.CREDENTIALS, tools.environ),
            skill=skill,
            skills_folder=program.SKILLS,
            installed=os.path.join(temporary.inside(folder), own) if arm.with_skill else "",
            hidden=hidden,
            ground=ground,
            remote=os.path.join(folder, "remote.git") if ground.remote else "",
        )
        yield furnish(place, arm)
    except NotStarted:
        kept = False  # nobody was in it
        raise
    except SkillevalError as error:
        error.folder = folder if kept else ""
        raise
    finally:
        if not kept:
            turns.later(lambda: remove(folder, MARKER))


def furnish(place: Place, arm: Arm) -> Place:
    """The place as new, whatever is in it. Raises as `prepare` does."""
    with temporary.making(f"furnish {place.folder}"):
        _clear(place.folder)
        _plant(place)
        place = place._replace(ground=place.ground.furnish(place.workspace))
        if place.remote:
            _copy_remote(place)
        if place.installed:
            _install(str(arm.options.get("skill") or ""), place.installed)
    look = place.ground.look
    if place.remote or not look.refs_mark:  # else they are those of what was copied
        marks = gitstate.marks(place.workspace, place.remote)
        look = look._replace(refs_mark=marks[0], index_mark=marks[1])
    found = place.visible()
    prove(place, found)
    return place._replace(look=look, skills=tuple(sorted(set(found.values()))))


def restored(place: Place, arm: Arm) -> Place:
    """The place as it is, or as new if another trial's agent took it away while it waited.

    Raises as `prepare` does.
    """
    temporary.unlock()
    if os.path.isdir(place.workspace):
        return place
    with temporary.making(f"make {place.folder} again"):
        os.makedirs(place.folder, stat.S_IRWXU, exist_ok=True)
    return furnish(place, arm)


def prove(place: Place, found: Mapping[str, str]) -> None:
    """Raises `ControlBroken` unless the arm's skill is found where it was installed and only there.

    An arm without the skill must not find it anywhere.
    """
    wanted = {place.installed} - {""}
    there = {folder for folder, called in found.items() if called == place.skill}
    if extra := sorted(there - wanted):
        arm, finds = ("with", "also finds") if wanted else ("without", "finds")
        raise ControlBroken(
            f"control broken: the arm {arm} the skill {finds} {place.skill!r} in"
            f" {', '.join(extra)}; {_remedy(place, extra)}"
        )
    if wanted - there:
        raise ControlBroken(
            f"control broken: the skill {place.skill!r} is not in {place.installed}"
        )


def _remedy(place: Place, found: Sequence[str]) -> str:
    """What to do about skills that the agent should not find in those folders."""
    if any(contains_path(place.workspace, folder) for folder in found):
        return (
            "the source repository or the files of the case bring it along: take it out of them, or"
            " give the skill under test another name"
        )
    users = not contains_path(place.folder, place.home)
    if users and any(contains_path(place.home, folder) for folder in found):
        return "remove it there, or run with --home isolated"
    return "remove it there"


def skill_name(arm: Arm) -> str:
    """What the arm's skill is called; "" if there is none in its suite.

    Raises `UsageError` for what cannot be the name of a folder.
    """
    folder = str(arm.options.get("skill") or "")
    name = str(
        arm.options.get("skill_name") or (folder and os.path.basename(os.path.abspath(folder)))
    )
    if os.path.basename(name) != name or name in (".", ".."):
        raise UsageError(f"skill name {name!r} must be the name of a folder, and no path")
    return name


def is_kept(environ: Mapping[str, str]) -> bool:
    """Do trials leave their folders behind (seed 002, for debugging)?"""
    return environ.get(KEEP, "").lower() not in ("", "0", "false", "no")


def _clear(folder: str) -> None:
    with os.scandir(folder) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                remove(entry.path)
            else:
                os.unlink(entry.path)


def _plant(place: Place) -> None:
    """All around the workspace: folders, git configuration, decoy and marker."""
    for name in ("home", "tmp", "evals"):
        os.mkdir(os.path.join(place.folder, name))
    real_home = "" if place.home.startswith(place.folder) else place.home
    _write(place.folder, "gitconfig", _git_configuration(real_home))
    temporary.mark(place.folder)
    temporary.plant_canary(place.folder)


def _git_configuration(home: str) -> str:
    """Of the agent: an identity to commit with; with the user's home, also the user's own."""
    name, email = gitstate.IDENTITY
    included = f"[include]\n\tpath = {home}/.gitconfig\n" if home else ""
    return (
        f"{included}[user]\n\tname = {name}\n\temail = {email}\n"
        "[init]\n\tdefaultBranch = main\n[commit]\n\tgpgSign = false\n[tag]\n\tgpgSign = false\n"
        "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
    )


def _copy_remote(place: Place) -> None:
    """A remote for this trial alone: another trial's branch of the same name is no obstacle.

    Its objects stay where they are, and it knows where: pushed ones come beside them.
    """
    source = place.ground.remote
    shutil.copytree(source, place.remote, symlinks=True, ignore=_only_at(source, "objects"))
    os.makedirs(os.path.join(place.remote, "objects", "info"))
    _write(place.remote, "objects/info/alternates", os.path.join(source, "objects") + "\n")
    path = os.path.join(place.workspace, ".git", "config")
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text.replace(source, place.remote))


def _install(source: str, target: str) -> None:
    """Raises `ControlBroken` if there is no skill to install."""
    if not source or not os.path.isfile(os.path.join(source, MANIFEST)):
        raise ControlBroken(
            f"control broken: there is no {MANIFEST} in the skill folder {source!r}"
        )
    name, called = os.path.basename(target), visibility.name_of(source)
    if called not in ("", name):
        raise ControlBroken(
            f"control broken: the skill in {source} is named {called!r}, the suite's {name!r}"
        )
    if os.path.lexists(target):
        remove(target)
    ignore = _only_at(source, *NOT_INSTALLED)
    shutil.copytree(source, target, ignore=ignore, ignore_dangling_symlinks=True)


def _only_at(folder: str, *names: str) -> Callable[[str, list[str]], set[str]]:
    """For `copytree`: leaves out those names, in the folder itself only."""
    return lambda place, found: set(names) & set(found) if place == folder else set()


def _write(folder: str, name: str, text: str) -> None:
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def _is_user_home(arm: Arm) -> bool:
    home = arm.options.get("home") or ISOLATED
    if home not in (ISOLATED, USER):
        raise UsageError(f"unknown home {home!r}; choose one of: {ISOLATED}, {USER}")
    return bool(home == USER)


def _home(arm: Arm, folder: str, environ: Mapping[str, str]) -> str:
    if not _is_user_home(arm):
        return os.path.join(folder, "home")
    return os.path.realpath(environ.get("HOME") or os.path.expanduser("~"))


def _environ(
    arm: Arm, folder: str, credentials: Sequence[str], environ: Mapping[str, str]
) -> dict[str, str]:
    """All that the agent sees of our environment, by name, and what is its own."""
    user = _is_user_home(arm)
    named = {*SEEN, *credentials, *arm.options.get("pass_env", ()), *(OF_USER if user else ())}
    if grounds.is_address(str(arm.options.get("source_repo") or "")):
        named |= OF_REMOTE
    kept = {key: environ[key] for key in environ if key in named or key.startswith("LC_")}
    home = _home(arm, folder, environ)
    ours = {
        "HOME": home,
        "TMPDIR": os.path.join(folder, "tmp"),
        "GIT_CONFIG_GLOBAL": os.path.join(folder, "gitconfig"),
        "GIT_CEILING_DIRECTORIES": os.pathsep.join([folder, os.path.dirname(folder)]),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_DEFAULT_REF_FORMAT": "files",
    }
    if not user:
        ours["GIT_CONFIG_NOSYSTEM"] = "1"
    if os.name == "nt":
        ours |= {"USERPROFILE": home, "TEMP": ours["TMPDIR"], "TMP": ours["TMPDIR"]}
    return {"PATH": os.defpath, "TERM": "dumb", **kept, **ours}


def _digests(files: Sequence[File]) -> list[tuple[str, str]]:
    return [(file.change.path, file.digest) for file in files]
