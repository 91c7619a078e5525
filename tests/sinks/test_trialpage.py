"""One trial in the HTML report: checks, answer, transcript, changed files."""

import pytest
import recorded

from skilleval.model import Delta, Event, FileChange, Outcome
from skilleval.sinks import trialpage

ARM, CASE = recorded.ARMS[0], recorded.CASES[0]
OUTCOME = recorded.outcome(CASE, ARM, 1)


def changed(delta, before=None, limit=100_000):
    outcome = Outcome("ok", delta=delta, before=before)
    return "".join(trialpage.changes(outcome, limit, "eval-x"))


def test_an_added_file_is_all_plus():
    text = changed(Delta(added=(FileChange("a.txt", 4, "1\n2\n"),)))
    assert '<span class="add">+1</span><span class="add">+2</span>' in text
    assert 'a.txt <span class="tag">added</span>' in text


def test_a_modified_file_shows_what_went_and_what_came():
    before = recorded.state(("CHANGES.md", recorded.OLD))
    text = changed(Delta(modified=(FileChange("CHANGES.md", 9, recorded.NEW),)), before)
    assert '<span class="cut">-- a typo</span>' in text
    assert '<span class="add">+- **Breaking:** `run` needs a name</span>' in text
    assert "- the first" in text


def test_a_modified_file_of_which_the_old_content_is_unknown_shows_the_new_one():
    text = changed(Delta(modified=(FileChange("a", 3, "new"),)), recorded.state())
    assert "content before is not known" in text
    assert "<pre>new</pre>" in text


def test_a_deleted_file_shows_what_is_gone():
    text = changed(Delta(deleted=("old.txt",)), recorded.state(("old.txt", "old\n")))
    assert '<span class="cut">-old</span>' in text


@pytest.mark.parametrize(
    ("note", "shown"),
    [
        ("binary", "binary, 70 bytes in all"),
        ("cut", "cut, 70 bytes in all"),
        ("link to /etc/<passwd>", "link to /etc/&lt;passwd&gt;</p>"),
    ],
)
def test_what_is_not_kept_of_a_file_is_said(note, shown):
    assert shown in changed(Delta(added=(FileChange("f", 70, "", note),)))


def test_a_name_of_a_file_is_data():
    text = changed(Delta(added=(FileChange("<img src=x>\n\x1b[2J", 0),)))
    assert "&lt;img src=x&gt; <span" in text


def test_changes_in_git_are_listed_and_nothing_is_no_row():
    text = changed(Delta(git={"new_branches": ["feat/<x>"], "head_advanced": False}))
    assert "<td>[&quot;feat/&lt;x&gt;&quot;]</td>" in text
    assert "head_advanced" not in text


def test_nothing_changed_is_nothing_to_show():
    assert changed(Delta()) == ""
    assert changed(None) == ""


def test_many_files_and_long_files_are_cut_and_said():
    added = tuple(FileChange(f"f{n}", 6, "line\n" * 2000) for n in range(150))
    text = changed(Delta(added=added))
    assert len(text) < 150_000
    assert "50 more files: eval-x" in text
    assert "…" in text


def test_a_difference_of_very_many_lines_is_not_computed():
    lines = "".join(f"{n}\n" for n in range(5000))
    assert "<pre>0\n1\n2\n" in changed(Delta(added=(FileChange("f", 1, lines),)))


def test_a_transcript_shows_what_was_said_and_done():
    text = "".join(trialpage.transcript(OUTCOME.events, 10_000, ""))
    assert "used the skill</span> <strong>write-release-notes</strong>" in text
    assert "<pre>git log --oneline</pre><pre>a1b2c3" in text
    assert (
        '<li class="failed"><span class="soft">called</span> <strong>Bash</strong> (failed)' in text
    )
    assert "said in a sub-agent" in text


def test_several_inputs_of_a_call_have_their_names():
    event = Event("call", "Write", {"path": "a.txt", "lines": [1, 2]})
    text = "".join(trialpage.transcript((event,), 10_000, ""))
    assert "<pre>path: a.txt\nlines: [1, 2]</pre>" in text


def test_a_long_transcript_is_cut_and_says_where_the_rest_is():
    events = tuple(Event("text", output="x" * 5000) for _ in range(1000))
    text = "".join(trialpage.transcript(events, 100_000, "eval-x/codex"))
    assert len(text) < 150_000
    assert "875 more events are in eval-x/codex." in text
    assert "characters more" in text


def test_checks_are_told_by_sign_and_word():
    result = recorded.results(2)[1]
    text = "".join(trialpage.check_table(CASE.checks, result.verdicts, 1000))
    assert '<span aria-hidden="true">✗</span> failed' in text
    assert '<span aria-hidden="true">✓</span> passed' in text


def test_facts_of_a_failed_trial_are_shown():
    outcome = Outcome(
        "error", error="HTTP 429\n<b>", failure="infrastructure", timed_out=True, exit_code=-9
    )
    text = "".join(trialpage.facts(outcome))
    assert "! </span>" not in text
    assert "infrastructure</span> HTTP 429\n&lt;b&gt;" in text
    assert "The time ran out" in text
    assert "Exit code -9." in text


@pytest.mark.parametrize(
    ("skills", "shown"), [((), "see: none"), (("a", "b"), "see: a, b"), (None, "")]
)
def test_skills_are_named_as_far_as_they_are_known(skills, shown):
    text = "".join(trialpage.facts(Outcome("ok", skills=skills)))
    assert shown in text
    assert ("could see" in text) == (skills is not None)
