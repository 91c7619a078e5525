"""What a judge is shown of an outcome: all that an assertion may be about, the changes first."""

from evidence import calls, git, outcome

from skilleval.graders import exhibit
from skilleval.model import Outcome

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
    delta = came.delta._replace(git={"new_branches": ["feat"], "new_commits": ["bbb fix: Parser"]})
    text = exhibit.shown(came._replace(delta=delta), ROOM)
    assert "- new branches: feat\n- new commits: bbb fix: Parser\n" in text


def test_commands_are_shown_in_their_order():
    text = exhibit.shown(calls("npm test", "npm publish\nx"), ROOM)
    assert "- npm test\n- npm publish\\nx\n" in text


def test_lone_surrogate_can_be_sent():
    came = outcome(output="a \ud835", now=git())
    delta = came.delta._replace(git={"new_branches": ["\ud835"]})
    assert exhibit.shown(came._replace(delta=delta), ROOM).encode()
