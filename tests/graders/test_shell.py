"""Which simple commands a command line holds, and when one of them is the command meant."""

import random
import time

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
        ("sudo -u x npm test", ["sudo -u x npm test", "npm test"]),
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


def test_no_line_breaks_the_reading():
    chance = random.Random(3)
    signs = "ab -=$'\"`;&|<>()\\\n#{}!"
    for _ in range(3000):
        line = "".join(chance.choices(signs, k=chance.randrange(30)))
        assert all(
            words and all(isinstance(w, str) for w in words) for words in shell.segments(line)
        )


LINES = [
    ("sudo -Eu me -- pytest", "pytest"),
    ("sudo -u pytest ls", "ls"),
    ("env -u X A=b pytest", "pytest"),
    ("nohup pytest &", "pytest"),
    ("nice -n 5 pytest", "pytest"),
    ("stdbuf -oL pytest", "pytest"),
    ("stdbuf -o L pytest", "pytest"),
    ("timeout -k 5 10s pytest", "pytest"),
    ("timeout --signal=KILL 10 pytest", "pytest"),
    ("ls | xargs -n 1 -I{} pytest {}", "pytest {}"),
    ("conda run -n e pytest", "pytest"),
    ("docker exec -it -e A=b c pytest", "pytest"),
    ("docker run --rm -v a:b image pytest", "pytest"),
    ("docker compose exec -T web pytest", "pytest"),
    ("uv run --with x pytest", "pytest"),
    ("find . -name t -exec pytest {} \\;", "pytest {}"),
    ("find . -execdir pytest {} + -print", "pytest {}"),
    ("python -X dev -mpytest -q", "pytest -q"),
    ("git bisect run pytest", "pytest"),
    ('eval "cd x; pytest"', "pytest"),
    ("ssh -p 22 host 'cd x && pytest'", "pytest"),
    ("watch -n 5 pytest", "pytest"),
    ("npx -c 'pytest; ls'", "pytest"),
    ("bash <<EOF\npytest\nEOF", "pytest"),
    ("sudo bash -s <<'EOF' x\npytest\nEOF", "pytest"),
    ("bash <<< 'pytest'", "pytest"),
    ("cat <<EOF | bash\npytest\nEOF", "pytest"),
    ("printf 'ls\\npytest\\n' | sh", "pytest"),
    ("cat <<EOF\n$(pytest)\nEOF", "pytest"),
    ('echo "was: $(pytest -q "$x") `ls`"', "ls"),
    ('echo "was: $(pytest)"', "pytest"),
    ("> out.txt pytest", "pytest"),
    ("pytest <in -q 2>&1 | tee log", "pytest -q"),
    ("ls # it's\npytest", "pytest"),
    ("time -p pytest", "pytest"),
    ("npx jest@29", "jest"),
]


@pytest.mark.parametrize(("line", "found"), LINES, ids=[line for line, _ in LINES])
def test_command_that_another_one_starts_is_found(line, found):
    assert found in [" ".join(words) for words in shell.segments(line)]


@pytest.mark.parametrize(
    "line",
    [
        "python -c 'run(\"pytest\")'",
        "python <<EOF\nrun('pytest')\nEOF",
        "echo 'run(\"pytest\")' | node",
        "awk 'BEGIN{system(\"pytest\")}'",
        "TOOL=pytest; $TOOL -q",
        "for tool in pytest ruff; do $tool; done",
        "alias t=pytest; t",
        "trap pytest EXIT",
        "make pytest",
        "hatch run test:pytest",
        "docker run --entrypoint pytest image",
        "git rebase -x pytest main",
        "find . -exec ls {} + -exec pytest {} +",
        "bash run.sh pytest",
        "su me -c pytest",
        "ls;" * 300 + "pytest",
        "sudo " * 9 + "pytest",
    ],
)
def test_what_may_start_a_command_is_told_as_loose(line):
    read = shell.read(line)
    assert ["pytest"] not in read.segments
    assert any("pytest" in text for text in read.loose)


@pytest.mark.parametrize(
    "line",
    [
        "echo pytest",
        "grep -r pytest . | head",
        "git commit -m 'pytest is green'",
        "git commit -m \"$(cat <<'EOF'\nrun `pytest`; don't wait\nEOF\n)\"",
        "cat > run.sh <<EOF\npytest\nEOF",
        "pip install pytest",
        "sudo apt-get install -y pytest",
        "uv pip install pytest",
        "command -v pytest",
        "which pytest",
        "gh pr create --body 'pytest is green'",
        "cd pytest && ls",
        "ls # pytest",
        "uv run --with pytest ruff",
    ],
)
def test_what_is_only_data_is_neither_a_command_nor_loose(line):
    read = shell.read(line)
    assert not any(words[0] == "pytest" for words in read.segments)
    assert not any("pytest" in text for text in read.loose)


def test_what_a_line_writes_to_a_file_is_told():
    line = "cat > a.sh <<EOF\npytest\nEOF\necho ls >> b.sh; echo 'x' | tee c.sh"
    assert shell.read(line).written == [("a.sh", "pytest"), ("b.sh", "ls"), ("c.sh", "x")]


def test_nesting_ends_somewhere():
    assert len(shell.segments("sudo " * 1000 + "ls")) < 20
    assert len(shell.segments("ls;" * 100_000)) == 200


@pytest.mark.parametrize(
    "text",
    [
        '"' + "$(" * 300_000 + '"',
        '"$(' + "a " * 300_000,
        "cat <<E\n" * 100_000,
        "bash <<E\n" + "$(a)`b`\n" * 100_000 + "E",
        "A=b;" * 200_000,
        "a > b " * 100_000,
        "sudo -u " * 100_000,
        "eval " * 100_000,
    ],
    ids=["openings", "words", "heredocs", "body", "values", "files", "starters", "evals"],
)
def test_no_line_takes_long_to_read(text):
    start = time.perf_counter()
    shell.read(text)
    assert time.perf_counter() - start < 5
