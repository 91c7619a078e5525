"""What the original left of a trial, as the outcome that it tells of: nothing is guessed."""

import foreign
import pytest

from skilleval.errors import SuiteError
from skilleval.graders import exhibit
from skilleval.model import Outcome, Usage
from skilleval.runfolder import evidencefiles

OUTPUTS = "outputs"


def whole(root, agent="codex", known=None, **content):
    place = foreign.trial(root, **content)
    known = Outcome("ok", source=str(place), exit_code=0) if known is None else known
    return evidencefiles.whole(known._replace(source=str(place)), agent, str(root))


def test_output_and_git_states_are_the_evidence(tmp_path):
    found = whole(tmp_path, output="Done.", stderr="note\n")
    assert (found.status, found.output, found.stderr) == ("ok", "Done.", "note\n")
    assert found.before.git["local_branches"] == ["main"]
    assert found.delta.git["new_branches"] == ["notes"]
    assert found.delta.git["new_commit_shas"] == [foreign.NEW]


def test_files_of_the_workspace_are_unknown_and_not_absent(tmp_path):
    found = whole(tmp_path)
    assert (found.before.files, found.after.files) == (None, None)
    assert exhibit.NOT_STORED in exhibit.shown(found, 10_000)


@pytest.mark.parametrize(
    ("agent", "name", "command", "skill"),
    [
        ("codex", "codex/skill-codex.jsonl", "SKILL.md", "demo-skill"),
        ("opencode", "opencode/skill-opencode.jsonl", "", "demo-skill"),
        ("claude-code", "claude/skill.jsonl", "", "demo-skill"),
        ("another", "codex/skill-codex.jsonl", "SKILL.md", "demo-skill"),
    ],
)
def test_the_stream_is_read_by_the_agents_own_reader(tmp_path, agent, name, command, skill):
    found = whole(tmp_path, agent, stdout=foreign.transcript(name))
    commands = [event.input.get("command", "") for event in found.events if event.name == "shell"]
    assert any(command in each for each in commands) or not command
    assert [event.name for event in found.events if event.kind == "skill"] == [skill]


def test_a_stream_without_an_end_is_a_failure_of_the_agent_that_the_folder_names(tmp_path):
    given = {"stdout": "", "output": "", "post_state": foreign.IDLE}
    assert whole(tmp_path, "codex", **given).failure == "agent"
    assert whole(tmp_path, "fake", **given).failure == ""


def test_tokens_are_those_of_the_stream_and_the_rest_is_from_timing(tmp_path):
    known = Outcome("ok", exit_code=0, usage=Usage(99, 99, 99, 0.5, "pricing-config"))
    usage = whole(tmp_path, known=known).usage
    assert (usage.input, usage.output, usage.cached, usage.uncached) == (10, 5, 4, 6)
    assert (usage.cost_usd, usage.cost_source) == (0.5, "pricing-config")


def test_a_zero_of_timing_is_unknown_where_the_stream_tells_no_tokens(tmp_path):
    known = Outcome("ok", exit_code=None, timed_out=True, usage=Usage(0, 0, 0))
    assert whole(tmp_path, known=known, stdout="").usage == Usage()


def test_a_program_without_a_reader_has_the_tokens_of_timing(tmp_path):
    known = Outcome("ok", exit_code=0, usage=Usage(1, 1, 0))
    found = whole(tmp_path, "fake", known, stdout="a plain text\n", output="a plain text")
    assert (found.usage, found.events, found.status) == (Usage(1, 1, 0), (), "ok")


def test_the_fake_of_the_original_is_not_taken_for_ours(tmp_path):
    stdout = '{"failure": "infrastructure", "error": "no"}'
    assert whole(tmp_path, "fake", stdout=stdout, output=stdout).status == "ok"


def test_what_failed_around_the_agent_is_an_error_and_no_answer(tmp_path):
    stdout = foreign.transcript("claude/e401-r0.json")
    found = whole(tmp_path, "claude-code", stdout=stdout, output="Invalid API key")
    assert (found.status, found.failure) == ("error", "infrastructure")


def test_an_agent_that_failed_is_graded_by_what_it_said(tmp_path):
    known = Outcome("ok", exit_code=1)
    found = whole(tmp_path, known=known, output="Half of it.", stderr="panic")
    assert (found.status, found.failure) == ("ok", "agent")
    assert found.notes[-1].startswith("agent: ")


def test_an_agent_that_failed_without_a_word_or_deed_is_an_error(tmp_path):
    known = Outcome("ok", exit_code=1)
    found = whole(tmp_path, known=known, output="", stdout="", post_state=foreign.IDLE)
    assert (found.status, found.failure) == ("error", "agent")


def test_a_deadline_is_a_timeout_and_what_was_there_is_graded(tmp_path):
    known = Outcome("ok", exit_code=None, timed_out=True)
    found = whole(tmp_path, known=known, output="Half of it.", stdout="")
    assert (found.status, found.failure) == ("ok", "timeout")


def test_an_exit_code_that_nobody_wrote_down_is_no_failure(tmp_path):
    found = whole(tmp_path, known=Outcome("ok", exit_code=None))
    assert (found.status, found.failure) == ("ok", "")


def test_without_output_txt_the_stream_tells_the_answer(tmp_path):
    assert whole(tmp_path, output=None).output == "The notes are written and committed."


def test_without_a_log_nothing_is_known_of_what_the_agent_did(tmp_path):
    found = whole(tmp_path, stdout=None)
    assert (found.status, found.events, found.output[:9]) == ("ok", (), "The notes")


def test_where_no_outputs_are_nothing_is_added(tmp_path):
    known = Outcome("ok", exit_code=0)
    found = whole(tmp_path, known=known, output=None, stdout=None)
    assert found._replace(source="") == known


@pytest.mark.parametrize("missing", ["pre_state", "post_state"])
@pytest.mark.parametrize("content", [None, {}])
def test_one_state_alone_tells_no_change(tmp_path, missing, content):
    found = whole(tmp_path, **{missing: content})
    assert (found.before.git, found.after.git, found.delta.git) == ({}, {}, {})


def test_a_state_without_any_ref_is_that_of_a_repository_that_is_gone(tmp_path):
    gone = foreign.state({}, "", branch_heads={}, commits=[], commit_shas=[])
    found = whole(tmp_path, post_state=gone)
    assert found.before.git
    assert found.after.git == {}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("local_branches", "main"),
        ("local_branches", None),
        ("commit_shas", [["x"]]),
        ("commits", {"a": 1}),
        ("current_branch", ["main"]),
        ("head_sha", 5),
        ("branch_heads", ["main"]),
        ("remote_branch_heads", {"main": None}),
        ("open_prs", ["#1"]),
        ("open_prs", [{"number": [1]}]),
        ("open_prs", 0),
    ],
)
def test_a_state_of_other_types_is_damaged(tmp_path, field, value):
    with pytest.raises(SuiteError, match=rf"post_state\.json: no {field} of the type"):
        whole(tmp_path, post_state=foreign.state(**{field: value}))


def test_a_state_that_lacks_a_field_is_damaged(tmp_path):
    cut = {key: value for key, value in foreign.IDLE.items() if key != "branch_heads"}
    with pytest.raises(SuiteError, match="no branch_heads"):
        whole(tmp_path, pre_state=cut)


def test_branches_that_the_originals_listing_loses_are_there(tmp_path):
    # it drops every line with HEAD in it, and marks what another worktree has checked out
    heads = {"main": foreign.FIRST, "fix-HEAD-parsing": foreign.NEW, "wt": foreign.FIRST}
    after = foreign.state(heads, local_branches=["+ wt", "main"])
    found = whole(tmp_path, post_state=after)
    assert found.delta.git["new_branches"] == ["fix-HEAD-parsing", "wt"]


def test_requests_that_nobody_could_list_are_unknown(tmp_path):
    assert (
        whole(tmp_path, post_state={**foreign.IDLE, "open_prs": None}).after.git["open_prs"] is None
    )


def test_what_a_trial_lacks_is_named(tmp_path):
    place = foreign.trial(tmp_path, output=None, pre_state=None)
    assert evidencefiles.absent(str(place)) == ("output.txt", "pre_state.json")
