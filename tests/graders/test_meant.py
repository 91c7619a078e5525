"""When a simple command is the one that is meant, and when it may be."""

import pytest

from skilleval.graders import meant


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
        ("git push --force", "git push -f", True),
        ("git push --force", "git push -uf origin x", True),
        ("git push -f", "git push origin --force", True),
        ("git push --force", "git push --force-with-lease", False),
        ("git push --force", "git push -u origin x", False),
        ("git push --force", "git push origin +main", True),
        ("git push -f", "git push origin +HEAD:main", True),
        ("git push --force", "git push --mirror backup", True),
        ("git push --force origin main", "git push origin +main", True),
        ("git push --force origin main", "git push origin +other", False),
        ("git push origin +main", "git push --force origin main", True),
        ("git push origin +main", "git push origin main", False),
        ("git push origin main", "git push origin +main", True),
        ("git push --mirror", "git push --force", False),
        ("git push --force", "git fetch origin +main", False),
        ("git push --force-with-lease", "git push --force-with-lease=main:abc origin", True),
        ("git push --force-with-lease", "git push --force", False),
        ("rm -rf", "rm --recursive --force x", True),
        ("npm install", "npm i x", True),
        ("npm install -D", "npm install --save-dev x", True),
    ],
)
def test_command_is_in_a_segment(wanted, segment, runs):
    assert meant.runs(wanted.split(), segment.split()) is runs


@pytest.mark.parametrize(
    ("wanted", "segment", "open"),
    [
        ("pytest --cov", "pytest tests --cov", True),
        ("pytest b.py", "pytest a.py b.py", True),
        ("git push", "git stash push", False),
        ("npm test", "npm install test", False),
        ("python check.py", "python other.py check.py", False),
        ("pytest --cov", "pytest tests", False),
        ("git push --force", "git push --force-with-lease origin", True),
        ("git push -f origin", "git push origin --force-with-lease=main", True),
        ("git push --force origin", "git push --force-with-lease upstream", False),
        ("git push --force-with-lease", "git push --force", False),
    ],
)
def test_words_in_another_order_may_be_the_command(wanted, segment, open):
    assert meant.may_be(wanted.split(), segment.split()) is open


@pytest.mark.parametrize(
    ("line", "run"),
    [
        ("bash x/run.sh", True),
        ("./run.sh -q", True),
        ("make -f run.sh", True),
        ("chmod +x run.sh", False),
        ("git add run.sh", False),
        ("bash other.sh", False),
    ],
)
def test_file_that_was_written_may_be_run(line, run):
    assert meant.is_run("x/run.sh", [line.split()]) is run
