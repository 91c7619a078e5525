"""The folder of a trial, looked at from within and after its end."""

import contextlib
import os
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from harness_fake import SKILL, Fake, arm, case, environ, git, repository, skill, tools

from skilleval.errors import NotStarted, SkillevalError, UsageError
from skilleval.model import Arm
from skilleval.process import owner
from skilleval.trial import gitfiles, removal, temporary, workspace
from skilleval.trial.workspace import ControlBroken, prepare


def left(tmp_path):
    """The folders of trials that are still there."""
    return [
        folder
        for form in ("skilleval-*/trial-*", f"{temporary.KEPT}*")
        for folder in (tmp_path / "temporary").glob(form)
    ]


@pytest.fixture
def open_place(tmp_path):
    """Opens places; all are closed when the test ends."""
    with contextlib.ExitStack() as stack:

        def make(case_=None, arm_=None, program=None, **variables):
            given = tools(tmp_path, **variables)
            context = prepare(case_ or case(""), arm_ or arm(tmp_path), program or Fake(), given)
            return stack.enter_context(context)

        yield make


# Where it is


def test_each_trial_has_a_folder_of_its_own(open_place):
    first, second = open_place(), open_place()
    assert first.workspace != second.workspace
    assert Path(first.workspace).is_dir()


def test_folder_is_the_users_alone(open_place):
    assert os.stat(open_place().folder).st_mode & 0o077 == 0


def test_folder_is_outside_any_repository(open_place):
    assert gitfiles.repository_of(open_place().folder) == ""


def test_git_does_not_look_above_the_workspace(tmp_path, open_place):
    place = open_place()
    git(tmp_path, "init", "-q")  # above the temporary folder, which was outside until now
    inner = Path(place.workspace) / "inner"
    inner.mkdir()
    done = subprocess.run(
        ["git", "-C", place.folder, "rev-parse", "--show-toplevel"],
        env=dict(place.environ),
        capture_output=True,
    )
    assert done.returncode != 0
    top = ["git", "-C", str(inner), "rev-parse", "--show-toplevel"]
    shown = subprocess.run(top, env=dict(place.environ), capture_output=True, text=True)
    assert shown.stdout.strip() == place.workspace


def test_folder_is_gone_afterwards(tmp_path):
    with prepare(case(""), arm(tmp_path), Fake(), tools(tmp_path)) as place:
        Path(place.workspace, "new").write_text("x")
    assert left(tmp_path) == []


def test_folder_is_gone_after_an_error(tmp_path):
    with (
        pytest.raises(ZeroDivisionError),
        prepare(case(""), arm(tmp_path), Fake(), tools(tmp_path)),
    ):
        raise ZeroDivisionError
    assert left(tmp_path) == []


@pytest.mark.parametrize(("value", "kept"), [("1", True), ("", False), ("0", False)])
def test_folder_is_kept_when_asked(tmp_path, value, kept):
    given = tools(tmp_path, SKILL_EVAL_KEEP_WORKSPACE=value)
    with prepare(case(""), arm(tmp_path), Fake(), given):
        pass
    assert bool(left(tmp_path)) is kept


def test_folder_in_which_no_agent_was_is_not_kept(tmp_path):
    given = tools(tmp_path, SKILL_EVAL_KEEP_WORKSPACE="1")
    with pytest.raises(NotStarted), prepare(case(""), arm(tmp_path), Fake(), given):
        raise NotStarted("budget: spent", "budget")
    assert left(tmp_path) == []


def test_marker_says_that_the_folder_is_ours(open_place):
    assert Path(open_place().folder, temporary.MARKER).read_text() == f"{owner.ours().text}\n"


# What the agent finds


def described(folder):
    """All below a folder: how it is found, what is in it, and how old it is in whole hours."""
    found = {}
    for at, folders, names in os.walk(folder):
        for name in folders + names:
            path = Path(at, name)
            status = path.lstat()
            content = path.read_bytes() if path.is_file() and ".git/" not in f"{path}" else b""
            age_h = (time.time() - status.st_mtime) // 3600
            links = 1 if path.is_dir() else status.st_nlink
            found[str(path.relative_to(folder))] = (status.st_mode, links, content, age_h)
    return found


def test_first_trial_of_a_case_finds_what_the_others_find(tmp_path, open_place):
    cases = case("", tmp_path, {"files/p/deep/a.txt": "A", "files/p/b.sh": "B", "files/c": "C"})
    old = Path(cases.annotations["fixtures"], "files")
    (old / "p" / "b.sh").chmod(0o755)
    for path in (*old.rglob("*"), old):
        os.utime(path, (1577836800, 1577836800))
    places = [open_place(cases._replace(files=("files",))) for _ in range(3)]
    first, *others = [described(place.workspace) for place in places]
    assert "files/p/deep/a.txt" in first
    assert all(each.keys() == first.keys() for each in others)
    assert others == [first, first]
    for place in places:
        assert git(place.workspace, "status", "--porcelain") == ""


def test_what_an_agent_lays_where_a_workspace_was_made_is_in_no_other_trial(tmp_path, open_place):
    cases = case("", tmp_path, {"files/a.txt": "A"})
    first = open_place(cases)
    assert list(Path(first.folder).parent.glob("ground-*")) == []
    planted = Path(first.ground.workspace)
    planted.mkdir(parents=True)
    (planted / "planted.txt").write_text("x")
    second = open_place(cases)
    assert sorted(os.listdir(second.workspace)) == [".fake", ".git", "a.txt"]


def test_agent_starts_with_the_files_of_the_case(tmp_path, open_place):
    place = open_place(case("", tmp_path, {"files/a.txt": "A"}))
    assert Path(place.workspace, "a.txt").read_text() == "A"
    assert git(place.workspace, "status", "--porcelain") == ""


def test_skill_is_installed_without_its_answers(open_place):
    place = open_place()
    root = Path(place.workspace, ".fake", "skills", SKILL)
    found = sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
    assert found == ["SKILL.md", "scripts/check.py", "scripts/evals/kept.txt"]
    assert place.skills == (SKILL,)


def test_skill_and_the_programs_own_files_are_no_change(tmp_path, open_place):
    place = open_place()
    Path(place.workspace, ".fake", "session.log").write_text("x")
    Path(place.workspace, ".fake-log").write_text("x")
    assert git(place.workspace, "status", "--porcelain") == ""
    assert place.files(tools(tmp_path)).files == ()


def test_arm_without_the_skill_does_not_have_it(tmp_path, open_place):
    place = open_place(arm_=arm(tmp_path, with_skill=False))
    assert not Path(place.workspace, ".fake").exists()
    assert place.skills == ()


def test_arms_differ_in_the_skill_alone(tmp_path, open_place):
    files = {"files/a.txt": "A"}
    cases = case("", tmp_path, files)
    with_skill = open_place(cases)
    without = open_place(cases, arm(tmp_path, with_skill=False))
    differing = subprocess.run(
        ["diff", "-rq", with_skill.folder, without.folder], capture_output=True, text=True
    )
    assert differing.stdout.strip() == f"Only in {with_skill.workspace}: .fake"


def test_canary_is_beside_the_workspace_and_not_in_it(open_place):
    place = open_place()
    answers = Path(place.folder, "evals", "evals.json")
    assert temporary.canary() in answers.read_text()
    assert subprocess.run(["grep", "-rq", temporary.canary(), place.workspace]).returncode == 1


def test_link_in_the_skill_is_installed_as_what_it_points_to(tmp_path, open_place):
    folder = skill(tmp_path)
    (tmp_path / "shared.md").write_text("shared")
    (folder / "shared.md").symlink_to(tmp_path / "shared.md")
    installed = Path(open_place().installed, "shared.md")
    assert (installed.is_symlink(), installed.read_text()) == (False, "shared")


@pytest.mark.parametrize("name", ["../../..", "a/b", "..", "/etc"])
def test_name_of_a_skill_is_no_path(tmp_path, open_place, name):
    with pytest.raises(UsageError, match="must be the name of a folder"):
        open_place(arm_=arm(tmp_path, skill_name=name))


# What the agent sees of our environment


def test_home_and_temporary_folder_are_the_trials_own(open_place):
    place = open_place()
    assert place.environ["HOME"] == place.home
    assert list(Path(place.home).iterdir()) == []
    assert Path(place.environ["TMPDIR"]).parent == Path(place.folder)


def test_home_is_not_below_the_temporary_folder(open_place):
    place = open_place()
    assert not place.home.startswith(place.environ["TMPDIR"])


def test_only_named_variables_are_seen(open_place):
    place = open_place(
        FAKE_API_KEY="of the agent",
        OPENROUTER_API_KEY="of the judge",
        AWS_SECRET_ACCESS_KEY="x",
        CLAUDE_CONFIG_DIR="/x",
        GH_TOKEN="x",
        LANG="C.UTF-8",
        LC_TIME="C",
    )
    ours = {"HOME", "TMPDIR", "PATH", "TERM"}
    git_ours = {name for name in place.environ if name.startswith("GIT_")}
    assert set(place.environ) - ours - git_ours == {"FAKE_API_KEY", "LANG", "LC_TIME"}


def test_login_of_a_remote_is_seen_where_the_source_is_elsewhere(tmp_path, open_place):
    source = repository(tmp_path / "source")
    variables = {"GH_TOKEN": "x"}
    here = open_place(arm_=arm(tmp_path, source_repo=str(source)), **variables)
    elsewhere = open_place(arm_=arm(tmp_path, source_repo=f"file://{source}"), **variables)
    assert ("GH_TOKEN" in here.environ, "GH_TOKEN" in elsewhere.environ) == (False, True)


def test_agent_can_commit_and_is_not_the_user(tmp_path, open_place):
    environ(tmp_path)
    (tmp_path / "user" / ".gitconfig").write_text("[user]\n\tname = Me\n\temail = me@x\n")
    place = open_place()
    argv = ["git", "commit", "-q", "--allow-empty", "-m", "x"]
    done = subprocess.run(argv, cwd=place.workspace, env=dict(place.environ), capture_output=True)
    assert done.returncode == 0
    assert git(place.workspace, "log", "-1", "--format=%an") == "skilleval"


def test_home_of_the_user_is_given_when_asked(tmp_path, open_place):
    environ(tmp_path)
    (tmp_path / "user" / ".gitconfig").write_text("[alias]\n\tmine = status\n")
    place = open_place(arm_=arm(tmp_path, home="user"), CLAUDE_CONFIG_DIR=str(tmp_path / "x"))
    assert place.home == place.environ["HOME"] == str(tmp_path / "user")
    assert place.environ["CLAUDE_CONFIG_DIR"] == str(tmp_path / "x")
    argv = ["git", "config", "alias.mine"]
    done = subprocess.run(argv, cwd=place.workspace, env=dict(place.environ), capture_output=True)
    assert done.stdout == b"status\n"


def test_home_of_the_user_is_left_alone(tmp_path):
    (tmp_path / "user").mkdir()
    (tmp_path / "user" / "mine").write_text("x")
    with prepare(case(""), arm(tmp_path, home="user"), Fake(), tools(tmp_path)):
        pass
    assert (tmp_path / "user" / "mine").read_text() == "x"


def test_unknown_home_is_refused(tmp_path, open_place):
    with pytest.raises(UsageError, match="choose one of: isolated, user"):
        open_place(arm_=arm(tmp_path, home="mine"))


# The arm is what it claims, or there is no trial


@pytest.mark.parametrize("with_skill", [True, False])
def test_same_named_skill_in_the_users_home_is_refused(tmp_path, open_place, with_skill):
    there = skill(tmp_path, SKILL, "user/.claude/skills")
    message = f"finds 'demo' in {there}; remove it there, or run with --home isolated$"
    with pytest.raises(ControlBroken, match=message):
        open_place(arm_=arm(tmp_path, with_skill, home="user"))


def test_skill_of_the_users_home_is_out_of_sight_in_an_isolated_one(tmp_path, open_place):
    skill(tmp_path, SKILL, "user/.claude/skills")
    assert open_place(arm_=arm(tmp_path, with_skill=False)).skills == ()


def test_same_named_skill_above_the_workspace_is_refused(tmp_path, open_place):
    skill(tmp_path, SKILL, ".agents/skills")
    message = r"arm without the skill finds 'demo' in .*/\.agents/skills/demo; remove it there$"
    with pytest.raises(ControlBroken, match=message):
        open_place(arm_=arm(tmp_path, with_skill=False))


def test_same_named_skill_in_the_source_repository_is_refused(tmp_path, open_place):
    source = repository(tmp_path / "source")
    skill(source, SKILL, ".codex/skills")
    (source / ".codex/skills/demo/.git/HEAD").unlink()
    (source / ".codex/skills/demo/.git").rmdir()
    git(source, "add", "--all")
    git(source, "commit", "-q", "-m", "skill")
    message = r"finds 'demo' in .*/\.codex/skills/demo; the source repository or the files of"
    with pytest.raises(ControlBroken, match=message):
        open_place(arm_=arm(tmp_path, with_skill=False, source_repo=str(source)))


def test_skill_of_the_source_repository_is_replaced_where_it_is_installed(tmp_path, open_place):
    source = repository(tmp_path / "source")
    (source / ".fake/skills/demo").mkdir(parents=True)
    (source / ".fake/skills/demo/SKILL.md").write_text("old")
    (source / ".fake/skills/demo/old.txt").write_text("old")
    git(source, "add", "--all")
    git(source, "commit", "-q", "-m", "skill")
    place = open_place(arm_=arm(tmp_path, source_repo=str(source)))
    assert not Path(place.installed, "old.txt").exists()
    assert Path(place.installed, "SKILL.md").read_text() != "old"


def test_other_skill_of_the_user_is_recorded(tmp_path, open_place):
    skill(tmp_path, "other", "user/.agents/skills")
    place = open_place(arm_=arm(tmp_path, home="user"))
    assert place.skills == (SKILL, "other")


def test_arm_with_a_skill_that_is_not_there_is_refused(tmp_path, open_place):
    with pytest.raises(ControlBroken, match=r"no SKILL\.md in the skill folder '/nowhere'"):
        open_place(arm_=Arm("a", "fake-agent", options={"skill": "/nowhere"}))


def test_skill_that_calls_itself_otherwise_is_refused(tmp_path, open_place):
    skill(tmp_path, manifest="---\nname: other\ndescription: x\n---\n")
    with pytest.raises(ControlBroken, match="is named 'other', the suite's 'demo'"):
        open_place()


def test_arm_with_no_skill_at_all_is_refused(open_place):
    with pytest.raises(ControlBroken, match=r"no SKILL\.md in the skill folder ''"):
        open_place(arm_=Arm("a", "fake-agent"))


def test_suite_without_a_skill_has_an_arm_without_it(open_place):
    assert open_place(arm_=Arm("a", "fake-agent", with_skill=False)).skills == ()


# The remote of a local source


def test_push_reaches_a_remote_of_the_trial_and_not_the_source(tmp_path, open_place):
    source = repository(tmp_path / "source")
    place = open_place(arm_=arm(tmp_path, source_repo=str(source)))
    git(place.workspace, "checkout", "-q", "-b", "feat")
    git(place.workspace, "commit", "-q", "--allow-empty", "-m", "x")
    git(place.workspace, "push", "-q", "-u", "origin", "feat")
    assert git(place.remote, "rev-parse", "feat") == git(place.workspace, "rev-parse", "HEAD")
    assert git(source, "branch", "--list", "feat") == ""
    assert git(place.ground.remote, "branch", "--list", "feat") == ""


def test_two_trials_can_push_the_same_branch(tmp_path, open_place):
    given = arm(tmp_path, source_repo=str(repository(tmp_path / "source")))
    for message in ("one", "two"):
        place = open_place(arm_=given)
        git(place.workspace, "commit", "-q", "--allow-empty", "-m", message)
        git(place.workspace, "push", "-q", "origin", "main:feat")
        assert git(place.remote, "log", "-1", "--format=%s", "feat") == message


# As it was at the start


@pytest.mark.parametrize(
    ("change", "pristine"),
    [
        ("true", True),
        ("git status -s", True),
        ("echo x > .fake/session", True),
        ("echo x > new.txt", False),
        ("echo x > build.log", False),
        ("rm a.txt", False),
        ("git commit -q --allow-empty -m x", False),
        ("git branch b", False),
        ("git push -q ../remote.git main:b", False),
        ("rm -rf .git", False),
        ("rm -rf ../workspace", False),
    ],
)
def test_pristine_is_what_nobody_has_changed(tmp_path, open_place, change, pristine):
    source = repository(tmp_path / "source")
    (source / ".gitignore").write_text("*.log\n")
    git(source, "add", ".")
    git(source, "commit", "-q", "-m", "ignore")
    cases = case("", tmp_path, {"files/a.txt": "A"})
    place = open_place(cases, arm(tmp_path, source_repo=str(source)))
    time.sleep(0.01)
    argv = ["sh", "-c", change]
    subprocess.run(argv, cwd=place.workspace, env=dict(place.environ), check=True)
    assert place.is_pristine(tools(tmp_path)) is pristine


def test_furnishing_again_makes_it_as_new(tmp_path, open_place):
    given = arm(tmp_path)
    place = open_place(case("", tmp_path, {"files/a.txt": "A"}), given)
    for name in ("home/login", "tmp/x", "evals/own", "workspace/.fake/x", "beside"):
        Path(place.folder, name).write_text("x")
    again = workspace.furnish(place, given)
    assert again == place
    assert not [
        n for n in ("home/login", "tmp/x", "evals/own", "beside") if Path(place.folder, n).exists()
    ]
    assert not Path(place.workspace, ".fake", "x").exists()


# Its end, whatever the agent did


def test_link_in_place_of_the_folder_is_not_followed(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "precious")
    assert removal.remove(str(tmp_path / "link")) is False
    assert (tmp_path / "precious" / "file").exists()


def as_another_user(work):
    """What `work` says in a process that permissions hold back, as they do not hold back root."""
    child = os.fork()
    if child == 0:
        code = 2
        with contextlib.suppress(BaseException):
            if os.geteuid() == 0:
                os.setuid(65534)
            code = 0 if work() else 1
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_folder_without_any_permission_is_removed():
    with tempfile.TemporaryDirectory() as root:
        os.chmod(root, 0o777)
        folder = Path(root, "locked")

        def work():
            (folder / "a" / "b" / "c").mkdir(parents=True)
            (folder / "a" / "b" / "c" / "file").touch()
            for path in ("a/b/c/file", "a/b/c", "a/b", "a", ""):
                (folder / path).chmod(0)
            with contextlib.suppress(PermissionError):
                os.listdir(folder)
                return False  # permissions do not count here: the test would prove nothing
            return removal.remove(str(folder))

        assert as_another_user(work) == 0
        assert not folder.exists()


def test_files_of_a_workspace_that_is_a_link_now_are_not_read(tmp_path, open_place):
    place = open_place()
    os.rename(place.workspace, place.workspace + "-old")
    os.symlink("/etc", place.workspace)
    with pytest.raises(OSError, match="is a link now"):
        place.files(tools(tmp_path))


def test_place_that_cannot_be_made_is_an_error_of_its_own(tmp_path, open_place):
    given = arm(tmp_path)
    (tmp_path / "skills" / SKILL / "loop").symlink_to(".")
    with pytest.raises(SkillevalError, match="cannot furnish"):
        open_place(arm_=given)


def test_environment_of_a_test_names_no_real_home(tmp_path):
    assert environ(tmp_path)["HOME"] != os.path.expanduser("~")
