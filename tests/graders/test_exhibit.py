"""What a judge is shown of an outcome: all that an assertion may be about, the changes first."""

import json

import pytest
from evidence import OPEN, RULES, calls, git, outcome, sha
from loopback import Loopback, reply_json

from skilleval import assertions, engine
from skilleval.graders import exhibit
from skilleval.model import Case, Delta, Event, Outcome, State
from skilleval.tools import Tools

ROOM = 10_000


def test_output_stands_alone_where_nobody_looked_at_a_workspace():
    assert exhibit.shown(Outcome("ok", "said"), ROOM) == "said"


def test_changes_come_before_what_the_agent_left_as_it_was():
    came = outcome({"in.txt": "old words", "b": "1"}, {"in.txt": "old words", "b": "2", "c": "new"})
    text = exhibit.shown(came, ROOM)
    places = [text.index(part) for part in ("### Added", "### Modified", "### Unchanged")]
    assert places == sorted(places)
    assert text.index("**in.txt**\n```\nold words\n```") > places[-1]


def test_files_beyond_the_room_are_left_out_with_a_note():
    files = {f"{number}.txt": "x" * 5000 for number in range(9)}
    text = exhibit.shown(outcome(files, {**files, "made": "yes"}, output="said"), 6000)
    assert len(text.encode()) < 6200
    assert "**made**" in text
    assert text.endswith(" bytes are left out here]\n")


def test_commits_are_shown():
    came = outcome(now=git("ba", "feat main", "feat", subjects=["fix: Parser"]))
    text = exhibit.shown(came, ROOM)
    assert "- current branch: feat (before: main)\n- new branches: feat\n" in text
    assert "- new commits: bbbbbbb fix: Parser\n" in text


def section(came, title):
    """The lines below a heading."""
    _, _, rest = exhibit.shown(came, ROOM).partition(f"### {title}\n\n")
    return rest.partition("\n\n")[0].splitlines()


SEEN = {"tags": {}, "remote_tags": {}, "open_prs_of": "o/r"}


def test_what_was_looked_for_and_is_not_there_is_said():
    state = {**git(), **SEEN}
    came = outcome(was=state, now=state, events=(Event("text", output="x"),))
    assert section(came, "Git") == [
        "- current branch: main (as before)",
        "- new branches: none",
        "- deleted branches: none",
        "- new commits: none",
        "- new tags: none",
        "- pushed branches: none",
        "- pushed tags: none",
        "- branches that are gone from the remote: none",
        "- uncommitted changes: none",
    ]
    assert section(came, "Pull Requests")[0] == "- opened by the agent: none"
    for title in ("Skills Used", "Denied Tool Calls", "Commands, in their order"):
        assert section(came, title) == ["none"]
    assert "## Workspace Changes\n\nnone\n" in exhibit.shown(came, ROOM)


def test_what_nobody_looked_for_is_unknown():
    state = git()
    del state["status_porcelain"]
    came = outcome(was=state, now=state)
    lines = section(came, "Git")
    for title in ("new tags", "pushed tags", "uncommitted changes"):
        assert f"- {title}: unknown" in lines
    for title in ("Pull Requests", "Skills Used", "Denied Tool Calls", "Commands, in their order"):
        assert section(came, title) == ["unknown"]
    nowhere = came._replace(before=State(()), after=State(()))
    assert (section(nowhere, "Git"), section(nowhere, "Pull Requests")) == (
        ["unknown"],
        ["unknown"],
    )


@pytest.mark.parametrize("listed", [None, []], ids=["could not be listed", "not on GitHub"])
def test_pull_requests_that_nobody_listed_are_unknown(listed):
    assert section(outcome(now={**git(), "open_prs": listed}), "Pull Requests") == ["unknown"]


def test_pull_requests_are_shown_with_all_that_is_known_of_them():
    old = {**OPEN, "number": 1, "title": "Old", "isDraft": False}
    new = {**OPEN, "title": "Fix: it\n- x", "isDraft": True}
    theirs = {**OPEN, "number": 3, "headRefName": "theirs", "title": "T", "state": "MERGED"}
    was = {**git(prs=[old]), **SEEN}
    heads, log = {"feat": "b", "theirs": "c"}, {"feat": [["0" * 40, sha("b")]]}
    now = git("ba", "feat main", "feat", heads, [new, theirs, {**old, "state": "CLOSED"}])
    came = outcome(was=was, now={**now, **SEEN, "pushes": log})
    assert section(came, "Pull Requests") == [
        "- opened by the agent: #2 from feat into main, OPEN, a draft, titled: Fix: it\\n- x",
        "- opened by the agent or by somebody else: #3 from theirs into main, MERGED,"
        " draft: unknown, titled: T",
        "- changed: #1 from feat into main, CLOSED, no draft, titled: Old; before:"
        " #1 from feat into main, OPEN, no draft, titled: Old",
    ]


def test_what_is_gone_from_the_remote_and_what_is_tagged_is_shown():
    was = {**git("a", remote={"main": "a", "side": "a"}), "tags": {"old": "1", "moved": "1"}}
    now = {**git("a", remote={"main": "a"}), "tags": {"old": "1", "moved": "2", "v1": "3"}}
    assert "- branches that are gone from the remote: side" in section(
        outcome({}, {}, was, now), "Git"
    )
    assert "- new tags: moved, v1" in section(outcome({}, {}, was, now), "Git")
    shared = outcome({}, {}, was, {**now, "pushes": {}})
    assert any(
        line.endswith("side (by the agent, or by somebody else)") for line in section(shared, "Git")
    )


def test_skills_and_what_was_denied_are_shown():
    denied = Event("denied", "shell", {"command": "rm -rf /\n# sh"})
    came = outcome(events=(Event("skill", "demo"), denied, Event("denied", "write", {"path": "a"})))
    assert section(came, "Skills Used") == ["- demo"]
    assert section(came, "Denied Tool Calls") == [
        "- shell: rm -rf /\\n# sh",
        '- write: {"path": "a"}',
    ]


def test_facts_stand_before_the_files_that_may_fill_the_room():
    came = outcome({}, {"big.txt": "x" * 50_000}, output="said")
    assert "### Pull Requests" in exhibit.shown(came, 4000)


def test_long_lists_are_cut_and_said():
    now = git("a", " ".join(f"b{n}" for n in range(1000)) + " main", "main")
    [line] = [each for each in section(outcome(now=now), "Git") if "new branches" in each]
    assert line.endswith(" and 950 more")


def test_a_judge_is_shown_the_pull_request_that_it_is_asked_about():
    new = {**OPEN, "title": "Fix the parser", "isDraft": False}
    now = git("ba", "feat main", "feat", {"feat": "b"}, [new])
    check = assertions.check(1, "The title of the pull request is polite", True)
    assert check.grader == "judge"

    def answer(received):
        shown = "titled: Fix the parser" in received.json()["messages"][-1]["content"]
        said = json.dumps([{"number": 1, "reason": "it says so", "pass": shown}])
        return reply_json({"choices": [{"message": {"content": said}, "finish_reason": "stop"}]})

    with Loopback() as server:
        server.on("/v1/chat/completions", answer)
        judge = {"backend": "http", "base_url": f"{server.url}/v1", "model": "j", "timeout_s": 9.0}
        case = Case("c", "do it", (check,))
        came = outcome(now={**now, **SEEN}, output="I have opened a pull request for you.")
        [found] = engine.grade(case, came, RULES, Tools(), judge=judge).verdicts
    assert (found.status, found.method) == ("pass", "judge")


def test_commands_are_shown_in_their_order():
    text = exhibit.shown(calls("npm test", "npm publish\nx"), ROOM)
    assert "- npm test\n- npm publish\\nx\n" in text


def test_lone_surrogate_can_be_sent():
    came = outcome(output="a \ud835", now=git(branches="main \ud835"))
    assert exhibit.shown(came, ROOM).encode()


def test_where_files_were_not_stored_the_calls_say_what_became_of_them():
    events = (
        Event("call", "write", {"path": "a\n.md", "content": "x"}),
        Event("call", "edit", {"path": "b.md"}),
        Event("call", "edit", {"path": "b.md"}),
        Event("call", "delete", {"path": "c.md"}, failed=True),
        Event("call", "read", {"path": "d.md"}),
    )
    unknown = State(None, {})
    came = Outcome("ok", "said", events=events, delta=Delta(), before=unknown, after=unknown)
    text = exhibit.shown(came, ROOM)
    assert f"{exhibit.NOT_STORED}By its calls:\n- written: a\\n.md\n- edited: b.md\n\n" in text
    assert not {"c.md", "d.md"} & {*text.split()}


def test_a_repository_that_git_could_not_read_is_not_said_to_be_gone():
    came = outcome(now=git("ba"))
    for state, said in ((None, "unknown"), ({}, "there is no repository any more")):
        after = came.after._replace(git=state)
        assert f"### Git\n\n{said}\n" in exhibit.shown(came._replace(after=after), ROOM)


def test_of_a_record_that_lost_a_part_the_judge_is_told_so():
    text = exhibit.shown(calls("npm test", events_whole=False), ROOM)
    assert "- npm test\n[a part of the record was lost: there may be more]\n" in text
    assert "### Skills Used\n\nunknown\n" in text
    assert "[a part of" not in exhibit.shown(calls("npm test"), ROOM)
