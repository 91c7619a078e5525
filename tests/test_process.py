"""Real programs only: whether they are dead is read from /proc, by a mark in their environment."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from skilleval.process import (
    TOKEN_NAME,
    Command,
    Completed,
    complaint,
    end_all,
    find_executable,
    owner,
    run,
)

posix = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell and POSIX signals")
linux = pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="needs /proc to see what is alive"
)
ROOT = Path(__file__).parent.parent


def marked(mark: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


@pytest.fixture
def mark():
    """A value that everything a test starts carries; a failed test leaves nothing behind."""
    value = f"test-{uuid.uuid4().hex}"
    yield value
    for pid in marked(value):
        os.kill(pid, signal.SIGKILL)


def shell(script: str, mark: str = "", **options) -> Command:
    env = {**os.environ, TOKEN_NAME: mark} if mark else None
    return Command(["sh", "-c", script], **{"timeout_s": 20, "env": env, **options})


def python(script: str, mark: str = "", **options) -> Command:
    env = {**os.environ, TOKEN_NAME: mark} if mark else None
    argv = [sys.executable, "-c", textwrap.dedent(script)]
    return Command(argv, **{"timeout_s": 20, "env": env, **options})


def helper(script: str, **environ: str) -> subprocess.Popen[str]:
    """A program of our user's: Python that imports the package and calls `run` itself."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environ},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


# What a program says and how it ends


def test_output_and_exit_code_are_those_of_the_program():
    done = run(python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"))
    assert (done.exit_code, done.stdout.strip(), done.stderr.strip()) == (3, "out", "err")
    assert (done.timed_out, done.not_found, done.error) == (False, False, "")


@posix
def test_death_by_signal_is_a_negative_exit_code():
    assert run(shell("kill -9 $$")).exit_code == -9


def test_bytes_that_are_not_utf8_are_replaced():
    done = run(python(r"import sys; sys.stdout.buffer.write(b'a\xff\xfe\xc3\xa9')"))
    assert done.stdout == "a\ufffd\ufffdé"


def test_stdin_is_empty_by_default_and_never_ours():
    asked = helper("""
        import sys
        from skilleval.process import Command, run
        script = "import sys; print(repr(sys.stdin.read()))"
        print(run(Command([sys.executable, "-c", script], timeout_s=20)).stdout)
    """)
    assert asked.communicate("typed by the user", timeout=20)[0].strip() == "''"


@pytest.mark.parametrize("size", [3, 1_000_000])
def test_stdin_reaches_the_program_whole(size):
    text = b"x" * (size - 1) + b"y"
    done = run(python("import sys; d = sys.stdin.read(); print(len(d), d[-1])", stdin=text))
    assert done.stdout.split() == [str(size), "y"]


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="there are none here anyway")
@pytest.mark.parametrize(
    "without", ["del os.memfd_create", "os.memfd_create = lambda name: os.open('/none', 0)"]
)
def test_stdin_reaches_the_program_where_there_are_no_files_in_memory(without):
    script = (
        f"import os, sys\n{without}\nfrom skilleval.process import Command, run\n"
        "print(run(Command(['cat'], 20, stdin=b'whole')).stdout)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, cwd=ROOT
    )
    assert (done.stdout, done.stderr) == ("whole\n", "")


def test_program_that_ignores_its_stdin_is_no_problem():
    assert run(python("print('done')", stdin=b"x" * 1_000_000)).exit_code == 0


@linux
def test_environment_is_what_was_given_and_the_token():
    done = run(Command(["/bin/cat", "/proc/self/environ"], timeout_s=20, env={"A": "1", "B": "é"}))
    variables = done.stdout.strip("\0").split("\0")
    assert variables[:2] == ["A=1", "B=é"]
    assert [variable.split("=")[0] for variable in variables[2:]] == [TOKEN_NAME]


def test_each_run_has_a_token_of_its_own_beside_the_outer_one():
    script = f"import os; print(os.environ['{TOKEN_NAME}'])"
    first, second = (run(python(script, "outer")).stdout.strip().split(":") for _ in "ab")
    assert (first[0], first[1], len(first)) == ("outer", owner.ours().token, 3)
    assert second[:2] == first[:2]
    assert first[2] != second[2]


def test_program_runs_in_its_folder(tmp_path):
    done = run(python("import os; print(os.getcwd())", cwd=tmp_path))
    assert Path(done.stdout.strip()).samefile(tmp_path)


def test_arguments_are_never_read_by_a_shell():
    argv = [sys.executable, "-c", "import sys; print(sys.argv[1])", "$HOME; `id` *"]
    assert run(Command(argv, timeout_s=20)).stdout.strip() == "$HOME; `id` *"


@posix
def test_prompt_survives_an_ascii_locale():
    asked = helper(
        r"""
        from skilleval.process import Command, run
        done = run(Command(["printf", "%s", "\u2014 \U0001f600"], timeout_s=20))
        print(ascii(done.stdout or done.error))
        """,
        LC_ALL="C",
        PYTHONUTF8="0",
        PYTHONCOERCECLOCALE="0",
    )
    assert asked.communicate(timeout=20)[0].strip() == r"'\u2014 \U0001f600'"


# What cannot be started is a value


def test_missing_program_is_a_value():
    done = run(Command(["no-such-program-here"], timeout_s=5))
    assert (done.not_found, done.exit_code) == (True, None)
    assert done.error == (
        "cannot start 'no-such-program-here': not found on PATH; install it, or give its full path"
    )


def test_missing_folder_is_named(tmp_path):
    done = run(python("print()", cwd=tmp_path / "gone"))
    assert done.not_found
    assert f"its working folder '{tmp_path / 'gone'}' does not exist" in done.error


def test_working_folder_that_cannot_be_entered_is_named_as_such(tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir(mode=0)
    script = (
        "import os, sys\nfrom skilleval.process import Command, run\nrun(Command(['true'], 20))\n"
        "if os.getuid() == 0: os.setuid(65534)  # root enters everything\n"
        "print(run(Command(['true'], 20, cwd=sys.argv[1])).error)"
    )
    argv = [sys.executable, "-c", script, str(folder)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert f"its working folder '{folder}' cannot be entered" in done.stdout


@posix
@pytest.mark.parametrize(
    ("content", "mode", "reason"),
    [
        (None, 0o755, "no such file"),
        ("#!/bin/sh\n", 0o644, "not executable"),
        ("#!/no/such/interpreter\n", 0o755, 'the interpreter in its "#!" line is missing'),
        ("echo hello\n", 0o755, 'a script needs a "#!" line'),
    ],
    ids=["missing", "mode", "interpreter", "no-shebang"],
)
def test_file_that_cannot_be_started_says_why(tmp_path, content, mode, reason):
    if content is not None:
        (tmp_path / "tool").write_text(content)
        (tmp_path / "tool").chmod(mode)
    done = run(Command(["./tool"], timeout_s=5, cwd=tmp_path))
    assert done.not_found
    assert reason in done.error


@pytest.mark.parametrize(
    ("argument", "reason"),
    [
        pytest.param("a\0b", "null byte", id="nul"),
        pytest.param("\ud83d", "surrogates not allowed", id="lone-surrogate"),
        pytest.param("x" * 4_000_000, "too long; pass long text on stdin", id="too-long"),
    ],
)
@posix
def test_argument_that_no_program_can_be_given_is_a_value(argument, reason):
    done = run(Command(["echo", argument], timeout_s=5))
    assert done.not_found
    assert reason in done.error


def test_empty_command_is_a_value():
    assert "the command is empty" in run(Command([], timeout_s=5)).error


@posix
def test_program_is_looked_up_on_the_path_that_it_is_given(tmp_path):
    tool = tmp_path / "proc-tool"
    tool.write_text("#!/bin/sh\necho found\n")
    tool.chmod(0o755)
    env = {"PATH": str(tmp_path)}
    assert run(Command(["proc-tool"], timeout_s=5, env=env)).stdout == "found\n"
    assert find_executable("proc-tool", env) == str(tool)
    assert find_executable("proc-tool") is None


# The deadline, and the end of everything that was started


def test_timeout_keeps_what_was_said_before():
    done = run(python("print('so far', flush=True); import time; time.sleep(60)", timeout_s=0.5))
    assert (done.timed_out, done.exit_code, done.stdout.strip()) == (True, None, "so far")
    assert done.error.endswith("timed out after 0.5 s")
    assert 0.5 <= done.seconds < 1.5


@linux
def test_timeout_kills_what_the_program_forked(mark):
    done = run(shell("sleep 60 & sleep 60 & wait", mark, timeout_s=0.2))
    assert done.timed_out
    assert marked(mark) == []


@linux
def test_timeout_kills_what_left_the_session(mark):
    script = "setsid sh -c 'echo started; trap \"\" TERM; while :; do sleep 1; done' & wait"
    done = run(shell(script, mark, timeout_s=0.3, grace_s=0.1))
    assert (done.timed_out, done.stdout) == (True, "started\n")
    assert done.survivors
    assert marked(mark) == []


@linux
def test_program_that_ignores_sigterm_is_killed_after_the_grace(mark):
    began = time.monotonic()
    done = run(shell("trap '' TERM; while :; do sleep 1; done", mark, timeout_s=0.2, grace_s=0.3))
    assert done.timed_out
    assert 0.5 <= time.monotonic() - began < 1.5
    assert marked(mark) == []


@linux
def test_everything_is_over_six_seconds_after_the_deadline(mark):
    script = "trap '' TERM; setsid sleep 60 & while :; do setsid sleep 0.3; sleep 0.1; done"
    began = time.monotonic()
    done = run(shell(script, mark, timeout_s=0.2, grace_s=60))
    assert done.timed_out
    assert 5 < time.monotonic() - began < 6.2
    assert marked(mark) == []


@posix
def test_program_may_say_goodbye_within_the_grace():
    script = "trap 'sleep 0.2; echo bye; exit 0' TERM; echo hi; while :; do sleep 0.05; done"
    done = run(shell(script, timeout_s=0.3))
    assert (done.timed_out, done.exit_code, done.stdout) == (True, None, "hi\nbye\n")


@linux
def test_grace_is_for_the_children_of_a_wrapper_too(mark, tmp_path):
    inner = "trap 'sleep 0.3; touch saved; exit' TERM; while :; do sleep 0.05; done"
    run(shell(f'sh -c "{inner}" & wait', mark, timeout_s=0.3, cwd=tmp_path))
    assert (tmp_path / "saved").exists()
    assert marked(mark) == []


@linux
def test_child_that_holds_stdout_delays_nothing(mark):
    done = run(shell("sleep 60 & echo answer", mark))
    assert (done.stdout, done.exit_code, done.survivors) == ("answer\n", 0, 1)
    assert done.seconds < 5
    assert marked(mark) == []


@linux
def test_daemon_is_dead_after_a_normal_exit(mark):
    daemon = """
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                null = os.open(os.devnull, os.O_RDWR)
                for fd in range(3):
                    os.dup2(null, fd)
                time.sleep(60)
            os._exit(0)
        os.wait()
        print("up")
    """
    done = run(python(daemon, mark))
    assert (done.stdout, done.exit_code, done.survivors) == ("up\n", 0, 1)
    assert marked(mark) == []


@linux
def test_daemon_that_races_with_the_exit_is_dead_too(mark):
    # The program is gone before its daemon has left the session, forked or begun to run.
    for _ in range(30):
        run(shell("(setsid sh -c 'sleep 60 &' &) >/dev/null 2>&1", mark))
    assert marked(mark) == []


@linux
def test_process_without_the_token_is_found_by_the_output_it_holds(tmp_path):
    script = "env -i /usr/bin/env setsid sh -c 'echo $$; exec sleep 60' & sleep 0.3"
    done = run(shell(script))
    assert done.survivors == 1
    assert not Path(f"/proc/{done.stdout.strip()}/exe").exists()


@linux
def test_strangers_stay_alive(mark):
    stranger = subprocess.Popen(
        ["sleep", "60"], env={**os.environ, TOKEN_NAME: mark}, start_new_session=True
    )
    try:
        done = run(shell("sleep 60 & sleep 0.6", mark))
        assert done.survivors == 1
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


@linux
def test_everything_that_a_killed_process_has_started_can_be_ended(mark):
    killed = helper(
        """
        import os, sys
        from skilleval.process import Command, owner, run
        print(owner.ours().token, flush=True)
        run(Command(["sh", "-c", os.environ["SCRIPT"]], timeout_s=60))
        """,
        SCRIPT="setsid sleep 60 & setsid sh -c 'trap \"\" TERM; sleep 60' & echo >&2; sleep 60",
        **{TOKEN_NAME: mark},
    )
    token, until = killed.stdout.readline().strip(), time.monotonic() + 10
    while len(marked(token)) < 5 and time.monotonic() < until:
        time.sleep(0.02)
    killed.kill()
    killed.communicate()
    assert end_all(token) == 5
    assert marked(mark) == []
    assert end_all(token) == 0


@posix
def test_stop_ends_a_program_before_its_deadline():
    until = time.monotonic() + 0.3
    done = run(shell("sleep 60", stop=lambda: time.monotonic() > until))
    assert (done.stopped, done.timed_out, done.exit_code) == (True, False, None)
    assert done.seconds < 5
    assert done.error == "sh: stopped before its end"


INTERRUPTED = """
    import os, sys
    from skilleval.process import Command, run
    script = sys.argv[1] if len(sys.argv) > 1 else os.environ["SCRIPT"]
    try:
        run(Command(["sh", "-c", script], timeout_s=60))
    except KeyboardInterrupt:
        print("interrupted")
"""


def when_it_runs(asked: subprocess.Popen[str], started: Path) -> None:
    until = time.monotonic() + 10
    while not started.exists() and time.monotonic() < until:
        time.sleep(0.01)
    assert started.exists()
    asked.send_signal(signal.SIGINT)


@linux
def test_interrupt_kills_the_program_and_goes_on(mark, tmp_path):
    script = f"setsid sleep 60 & touch {tmp_path}/up; sleep 60"
    asked = helper(INTERRUPTED, SCRIPT=script, **{TOKEN_NAME: mark})
    when_it_runs(asked, tmp_path / "up")
    assert asked.communicate(timeout=10)[0] == "interrupted\n"
    assert marked(mark) == []


@linux
def test_second_interrupt_cuts_the_grace_short(mark, tmp_path):
    script = f"trap 'touch {tmp_path}/asked' TERM; touch {tmp_path}/up; while :; do sleep 0.1; done"
    asked = helper(INTERRUPTED, SCRIPT=script, **{TOKEN_NAME: mark})
    when_it_runs(asked, tmp_path / "up")
    when_it_runs(asked, tmp_path / "asked")
    assert asked.communicate(timeout=3)[0] == "interrupted\n"
    assert marked(mark) == []


# Much output


@posix
def test_huge_output_keeps_head_and_tail():
    script = "echo first; head -c 5000000 /dev/zero | tr '\\0' x; echo last"
    done = run(shell(script, output_limit_bytes=1000))
    assert done.exit_code == 0
    assert done.stdout.startswith("first\nxxx")
    assert done.stdout.endswith("xxxlast\n")
    assert done.stdout_cut_bytes == 6 + 5_000_000 + 5 - 1000
    assert f"\n[... {done.stdout_cut_bytes} bytes cut ...]\n" in done.stdout
    assert done.stderr_cut_bytes == 0


@linux
def test_200_megabytes_of_output_cost_little_memory():
    asked = helper("""
        import json, resource
        from skilleval.process import Command, run
        run(Command(["true"], timeout_s=20))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        done = run(Command(["head", "-c", "200000000", "/dev/zero"], timeout_s=60))
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(json.dumps([done.exit_code, len(done.stdout), done.stdout_cut_bytes, after - before]))
    """)
    exit_code, length, cut, growth_kib = json.loads(asked.communicate(timeout=60)[0])
    assert (exit_code, cut) == (0, 190_000_000)
    assert length == 10_000_000 + len("\n[... 190000000 bytes cut ...]\n")
    assert growth_kib < 64 * 1024


@linux
def test_endless_output_is_ended(mark):
    done = run(shell("yes & yes >&2", mark, flood_limit_bytes=20_000_000, timeout_s=20))
    assert (done.overflow, done.timed_out, done.exit_code) == (True, False, None)
    assert done.seconds < 10
    assert "wrote more than 20000000 bytes" in done.error
    assert marked(mark) == []


@linux
def test_last_words_in_an_enlarged_pipe_are_kept():
    done = run(
        python("""
            import fcntl, os
            fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 1 << 20)
            os.write(1, b"x" * (1 << 20))
            os._exit(0)
        """)
    )
    assert len(done.stdout) == 1 << 20


@posix
def test_output_reopened_by_the_program_is_kept():
    done = run(shell("echo one >&2; echo two > /dev/stderr; echo three >&2"))
    assert done.stderr == "one\ntwo\nthree\n"


# Many at once, and other platforms


@linux
def test_twenty_threads_do_not_disturb_each_other(mark):
    def one(number: int):
        return run(shell(f"setsid sleep 60 & echo {number}; sleep 0.1", mark))

    with ThreadPoolExecutor(20) as pool:
        done = list(pool.map(one, range(40)))
    assert [each.stdout for each in done] == [f"{number}\n" for number in range(40)]
    assert {each.exit_code for each in done} == {0}
    assert {each.survivors for each in done} == {1}
    assert marked(mark) == []


@linux
def test_platform_without_pidfd_reads_and_kills_as_well(mark):
    asked = helper(
        """
        import json, os
        del os.pidfd_open
        from skilleval.process import Command, run
        script = "sleep 60 & echo out; echo err >&2; exit 4"
        first = run(Command(["sh", "-c", script], timeout_s=20))
        second = run(Command(["sh", "-c", "echo hi; sleep 60"], timeout_s=0.3))
        print(json.dumps([first.exit_code, first.stdout, first.stderr, first.survivors]))
        print(json.dumps([second.timed_out, second.stdout]))
        """,
        **{TOKEN_NAME: mark},
    )
    lines = asked.communicate(timeout=20)[0].splitlines()
    assert [json.loads(line) for line in lines] == [[4, "out\n", "err\n", 1], [True, "hi\n"]]
    assert marked(mark) == []


@pytest.mark.parametrize(
    ("done", "said"),
    [
        (Completed(error="x: timed out after 1 s", stderr="noise"), "x: timed out after 1 s"),
        (Completed(exit_code=1, stderr="first\n\x1b[31mlast\n", stdout="answer"), "first last"),
        (Completed(exit_code=1, stderr=" \n", stdout="said here"), "said here"),
        (Completed(exit_code=3), "exit code 3"),
    ],
    ids=["our own error", "stderr", "stdout", "nothing said"],
)
def test_complaint_is_what_the_program_said_on_one_line(done, said):
    assert complaint(done) == said


def test_complaint_is_the_end_of_a_long_text():
    assert complaint(Completed(exit_code=1, stderr=f"{'x' * 900} why"), 10) == "xxxxxx why"


def test_program_that_is_to_stop_before_it_starts_is_not_started(tmp_path):
    done = run(Command(["touch", str(tmp_path / "begun")], 10, stop=lambda: True))
    assert (done.stopped, done.exit_code, done.not_found) == (True, None, False)
    assert not (tmp_path / "begun").exists()
