"""Which simple commands a command line holds, and when one of them is the command meant."""

import random

import pytest

from skilleval.graders import shell


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("npm test", ["npm test"]),
        ("cd x && npm test", ["cd x", "npm test"]),
        ("a; b | c & d || e\nf", ["a", "b", "c", "d", "e", "f"]),
        ("echo 'a; b'", ["echo a; b"]),
        ("CI=1 FOO='x y' npm test", ["npm test"]),
        ("npm test > out.txt 2>&1", ["npm test"]),
        ("sudo -u x npm test", ["sudo -u x npm test", "x npm test"]),
        ("timeout 30 pytest", ["timeout 30 pytest", "pytest"]),
        ("bash -lc 'npm ci && npm test'", ["bash -lc npm ci && npm test", "npm ci", "npm test"]),
        ("(cd x; make)", ["cd x", "make"]),
        ("v=$(git rev-parse HEAD)", ["git rev-parse HEAD"]),
        ("for f in *; do cat $f; done", ["for f in *", "cat $f", "done"]),
        ("a \\\n  b", ["a b"]),
        ("/usr/bin/python3.11 -m pytest", ["python -m pytest", "pytest"]),
        ("cat <<EOF > f\nnpm test\nEOF\nls", ["cat", "ls"]),
        ("cat <<'E'\n$(x)\nE", ["cat"]),
        ("# npm test", []),
        ("v/bin/python3 -m pytest", ["v/bin/python3 -m pytest", "pytest"]),
        ("go run main.go", ["go run main.go", "main.go"]),
        ("", []),
        (["bash", "-c", "ls"], ["bash -c ls", "ls"]),
        ([], []),
    ],
)
def test_simple_commands_of_a_line(line, found):
    assert [" ".join(words) for words in shell.segments(line)] == found


@pytest.mark.parametrize(
    ("wanted", "segment", "runs"),
    [
        ("npm", "npm test", True),
        ("npm test", "npm run test", True),
        ("npm test", "npm --silent test -- x", True),
        ("npm test", "npm install test", False),
        ("git push", "git -C repo push", True),
        ("git push", "git stash push", False),
        ("rm -rf", "rm -f -r x", True),
        ("rm -rf", "rm -r x", False),
        ("python check.py", "python -u scripts/check.py", True),
        ("python check.py", "python xcheck.py", False),
        ("check.py", "python scripts/check.py", True),
        ("check.py", "check.py", True),
        ("check.py", "cat -n notes check.py", False),
        ("jest", "node_modules/.bin/jest", True),
        ("check.py", "cat scripts/check.py", False),
        ("scripts/check.py", "wc -l scripts/check.py", False),
        ("check.sh", "source ./check.sh", True),
        ("check.py", "venv/bin/python3 -u check.py", True),
        ("git push --force", "git push origin main --force", True),
        ("git push --force", "git push --tags origin", False),
        ("git push --force origin", "git push origin --force", True),
        ("git --version", "git commit --version", False),
    ],
)
def test_command_is_in_a_segment(wanted, segment, runs):
    assert shell.runs(wanted.split(), segment.split()) is runs


def test_no_line_breaks_the_reading():
    chance = random.Random(3)
    signs = "ab -=$'\"`;&|<>()\\\n#{}!"
    for _ in range(3000):
        line = "".join(chance.choices(signs, k=chance.randrange(30)))
        assert all(
            words and all(isinstance(w, str) for w in words) for words in shell.segments(line)
        )


def test_nesting_ends_somewhere():
    assert len(shell.segments("sudo " * 1000 + "ls")) < 20
    assert len(shell.segments("ls;" * 100_000)) == 200
