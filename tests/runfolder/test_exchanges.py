"""Record and replay at the `Tools` seam."""

import json

import pytest

from skilleval.errors import SkillevalError
from skilleval.http import Request, Response
from skilleval.model import File, FileChange, Trial
from skilleval.process import Command, Completed
from skilleval.runfolder import exchanges
from skilleval.snapshot import Snapshot
from skilleval.tools import Tools

TRIAL = Trial("case/1", "m", 2)
SNAPSHOT = Snapshot((File(FileChange("a.txt", 3, "abc"), "d1"),))


def world(said=()):
    """Tools that answer with a running number, and take note of every effect."""

    def answer(kind, value):
        def act(*arguments):
            said.append(kind)
            return value(len(said))

        return act

    return Tools(
        run=answer("run", lambda n: Completed(0, f"out {n}", seconds=n)),
        post=answer("post", lambda n: Response(200, b"\xff body", {"set-cookie": "c"}, n)),
        look=answer("look", lambda n: SNAPSHOT),
        sleep=answer("sleep", lambda n: None),
        environ={"MY_API_KEY": "sk-0123456789"},
    )


def session(tools):
    request = Request("http://h/v1", {"authorization": "Bearer tok-987654321"}, b"{}", 5)
    tools.sleep(1)
    return [
        tools.run(Command(["true"], 5)),
        tools.post(request),
        tools.look("/folder", None),
        tools.run(Command(["x", "sk-0123456789", "tok-987654321"], 5)),
    ]


def test_a_replay_gives_back_what_was_recorded_and_touches_nothing(tmp_path):
    recorded = session(exchanges.recording(str(tmp_path))(world([]), TRIAL))
    effects = []
    replayed = session(exchanges.replaying(str(tmp_path))(world(effects), TRIAL))
    assert effects == []
    assert replayed == [*recorded[:1], recorded[1]._replace(headers={}), *recorded[2:]]


def test_a_recording_that_cannot_be_written_is_told_once_and_loses_no_result(tmp_path, capsys):
    (tmp_path / "tape").write_text("a file where the folder should be")
    answers = session(exchanges.recording(str(tmp_path / "tape"))(world([]), TRIAL))
    assert answers[0] == Completed(0, "out 2", seconds=2)
    said = capsys.readouterr().err
    assert said.startswith("warning: the recording is incomplete: ")
    assert said.count("\n") == 1


def test_exchanges_are_numbered_files_of_their_trial(tmp_path):
    session(exchanges.recording(str(tmp_path))(world([]), TRIAL))
    names = [path.relative_to(tmp_path).as_posix() for path in sorted(tmp_path.rglob("*.json"))]
    folder = "case%2F1/m/r2"
    assert names == [
        f"{folder}/00{n}-{k}.json" for n, k in ((1, "run"), (2, "post"), (3, "look"), (4, "run"))
    ]


def test_no_secret_and_no_header_is_written(tmp_path):
    session(exchanges.recording(str(tmp_path))(world([]), TRIAL))
    text = "".join(path.read_text() for path in tmp_path.rglob("*.json"))
    assert "sk-0123456789" not in text
    assert "authorization" not in text.lower()
    assert "set-cookie" not in text


def test_trials_do_not_mix(tmp_path):
    equip, tools = exchanges.recording(str(tmp_path)), world([])
    for repeat in (1, 2):
        equip(tools, TRIAL._replace(repeat=repeat)).run(Command(["true"], 5))
    back = exchanges.replaying(str(tmp_path))
    outputs = [
        back(tools, TRIAL._replace(repeat=n)).run(Command(["true"], 5)).stdout for n in (2, 1)
    ]
    assert outputs == ["out 2", "out 1"]


@pytest.mark.parametrize("text", [None, "{", "[]", json.dumps({"response": []})])
def test_a_missing_or_damaged_exchange_names_the_case_and_the_fix(tmp_path, text):
    tools = exchanges.replaying(str(tmp_path))(world([]), TRIAL)
    if text is not None:
        folder = tmp_path / "case%2F1" / "m" / "r2"
        folder.mkdir(parents=True)
        (folder / "001-run.json").write_text(text)
    with pytest.raises(
        SkillevalError, match=r"case 'case/1' has no usable exchange .*record it again"
    ):
        tools.run(Command(["true"], 5))


def test_another_kind_of_exchange_is_not_taken_for_it(tmp_path):
    exchanges.recording(str(tmp_path))(world([]), TRIAL).run(Command(["true"], 5))
    tools = exchanges.replaying(str(tmp_path))(world([]), TRIAL)
    with pytest.raises(SkillevalError, match="001-post"):
        tools.post(Request("http://h", {}, b"", 5))
