"""Streams of JSON as agent programs write them, and as they should not; the rules for all of them."""

import json
import sys
import time

import pytest

from skilleval.model import Event
from skilleval.process import Command, run
from skilleval.trial import transcript


def lines(*records):
    return "\n".join(
        record if isinstance(record, str) else json.dumps(record) for record in records
    )


def shell(command, output="", failed=False):
    return Event("call", "shell", {"command": command}, output, failed)


def skills(event):
    return list(transcript.used_skills(event))


def test_one_object_over_many_lines_is_read():
    assert transcript.stream(json.dumps({"a": [1]}, indent=2)).records == ({"a": [1]},)


def test_list_of_objects_is_read_like_lines():
    assert transcript.stream('[{"a": 1}, 2, {"b": 2}]').records == ({"a": 1}, {"b": 2})


def test_lines_that_are_no_json_are_counted():
    found = transcript.stream(lines("warning: old config", {"a": 1}, "3", "", {"b": 2}))
    assert found.records == ({"a": 1}, {"b": 2})
    assert found.notes == ("2 lines of the output skipped: no JSON",)


def test_truncated_last_line_is_counted():
    found = transcript.stream(lines({"a": 1}, '{"b": "hal'))
    assert (found.records, found.notes) == (({"a": 1},), ("1 line of the output skipped: no JSON",))


def test_plain_text_is_no_broken_json():
    assert transcript.stream("hello\nworld") == transcript.Stream((), "hello\nworld")


def test_truncated_object_is_no_plain_text():
    found = transcript.stream('{"result": "a long ans')
    assert (found.records, found.plain) == ((), "")
    assert found.notes


def test_cut_of_a_flood_is_told_with_its_size():
    flood = (
        lines({"a": 1}, '{"b": "hal') + "\n[... 190000000 bytes cut ...]\n" + lines('f"}', {"c": 3})
    )
    found = transcript.stream(flood)
    assert found.records == ({"a": 1}, {"c": 3})
    assert "190000000 bytes of the output cut" in found.notes[1]


def test_flood_of_a_real_process_keeps_its_first_and_last_record():
    code = 'print(\'{"a": 1}\\n{"b": "\' + \'x\' * 20_000_000 + \'"}\\n{"c": 3}\')'
    done = run(Command([sys.executable, "-c", code], 60, output_limit_bytes=100_000))
    found = transcript.stream(done.stdout)
    assert found.records == ({"a": 1}, {"c": 3})
    assert f"{done.stdout_cut_bytes} bytes of the output cut" in found.notes[1]


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        (lines({"a": 1}, {"b": 2}), True),
        (lines("warning: old config", {"a": 1}, "[info] done"), True),
        ("hello\nworld", True),
        (lines({"a": 1}, '{"b": "hal'), False),
        (lines({"a": 1}, "[... 9 bytes cut ...]", {"c": 3}), False),
        ("hello\n[... 9 bytes cut ...]\nworld", False),
        ('[{"a": 1}, {"b": "hal', False),
    ],
)
def test_stream_that_lost_a_part_is_not_whole(text, whole):
    assert transcript.stream(text).whole is whole


def test_ten_megabytes_take_seconds_at_most():
    started = time.perf_counter()
    found = transcript.stream(lines(*[{"type": "text", "text": "x" * 1000}] * 10_000))
    assert len(found.records) == 10_000
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\x85"])
def test_only_a_line_feed_ends_a_record(separator):
    text = json.dumps({"a": f"x{separator}y"}, ensure_ascii=False)
    assert transcript.stream(f"{text}\n{text}").records == ({"a": f"x{separator}y"},) * 2


def test_carriage_returns_and_a_byte_order_mark_are_no_harm():
    assert transcript.stream('\ufeff{"a": 1}\r\n{"b": 2}\r\n').records == ({"a": 1}, {"b": 2})


@pytest.mark.parametrize(
    "around", ["\x1b[0m", "\x1b[2K\r", "\x1b]0;title\a", "\ufeff", "\x1b[1;91m\0 "]
)
def test_what_a_terminal_hides_around_a_record_is_no_harm(around):
    text = f'warning: old\n{around}{{"a": 1}}\n{{"b": 2}}{around}\n{around}\n{around}{{"c": "hal'
    found = transcript.stream(text)
    assert (found.records, found.whole) == (({"a": 1}, {"b": 2}), False)
    assert found.notes == ("2 lines of the output skipped: no JSON",)


def test_text_behind_an_object_makes_it_none():
    assert transcript.stream('{"a": 1} and more').records == ()


def test_lone_surrogate_and_nul_are_replaced_and_a_pair_is_not():
    (record,) = transcript.stream(r'{"a\ud800": ["\ud83d", "\u0000", "\ud83d\ude00"]}').records
    assert record == {"a\ufffd": ["\ufffd", "\ufffd", "\U0001f600"]}
    json.dumps(record, ensure_ascii=False).encode("utf-8")


def test_raw_control_characters_in_a_string_are_read():
    (record,) = transcript.stream('{"a": "\x1b[31mred\x07\t\x00"}').records
    assert record == {"a": "\x1b[31mred\x07\t\ufffd"}


def test_replaced_bytes_are_only_text():
    text = b'{"a": "\xff\xfe"}'.decode("utf-8", "replace")
    assert transcript.stream(text).records == ({"a": "\ufffd\ufffd"},)


@pytest.mark.parametrize("depth", [100, 5_000, 200_000])
def test_nesting_without_end_is_no_recursion_without_end(depth):
    found = transcript.stream(lines({"b": 2}, '{"a":' * depth + "1" + "}" * depth))
    assert found.records[0] == {"b": 2}
    json.dumps(found.records)


def test_number_of_thousands_of_digits_is_junk():
    assert transcript.stream(lines({"a": 1}, '{"b": ' + "9" * 10_000 + "}")).records == ({"a": 1},)


def test_not_a_number_is_unknown():
    assert transcript.stream('{"a": NaN, "b": Infinity}').records == ({"a": None, "b": None},)


def test_price_of_nothing_for_tokens_is_unknown():
    assert transcript.cost(0, 100, 20) is None
    assert transcript.cost(0, 0, None) == 0
    assert transcript.cost(0.5, 100, 20) == 0.5


def test_answer_is_what_was_said_after_the_last_call():
    said = Event("text", output="I will look."), shell("ls"), Event("text", output="One.")
    assert transcript.final([*said, Event("text", output="Two.")]) == "One.\nTwo."


def test_last_text_is_the_answer_if_none_followed_the_last_call():
    assert transcript.final([Event("text", output="I will look."), shell("ls")]) == "I will look."


def test_message_without_a_text_is_no_line_of_the_answer():
    said = (Event("text", output=each) for each in ("", "one", "", "two"))
    assert transcript.final(said) == "one\ntwo"


@pytest.mark.parametrize(
    ("error", "said"),
    [("out", "out"), ({"message": "out"}, "out"), ({"message": 1}, ""), (None, "")],
)
def test_complaint_is_a_text_or_has_one(error, said):
    assert transcript.complaint(error) == said


def test_sub_agent_gives_no_answer():
    said = Event("text", output="mine"), Event("text", output="its", parent="call_1")
    assert transcript.final(said) == "mine"


@pytest.mark.parametrize(
    "command",
    [
        "cat .codex/skills/demo/SKILL.md",
        "sed -n 1,80p /home/me/.agents/skills/demo/references/a.md",
        "cat r0/demo/SKILL.md",
        "python3 '.claude/skills/demo/scripts/run.py' x",
        r"type .codex\skills\demo\SKILL.md",
        "cat .codex/skills/.system/demo/SKILL.md",
    ],
)
def test_command_that_touches_a_skill_used_it(command):
    assert skills(shell(command)) == ["demo"]


@pytest.mark.parametrize(
    "command",
    [
        "ls .codex/skills/",
        "cat myskills/demo/notes.md",
        "cat SKILL.md",
        "printf x > .claude/skills/demo/SKILL.md",
        "echo skills/",
        "cat skills/*/notes.md",
    ],
)
def test_command_that_touches_no_installed_skill_used_none(command):
    assert skills(shell(command)) == []


def test_skill_is_named_so_that_another_one_does_not_count():
    assert skills(shell("cat .codex/skills/other/SKILL.md")) == ["other"]


def test_failed_command_used_no_skill():
    assert skills(shell("cat skills/demo/SKILL.md", "No such file or directory", True)) == []


def test_failed_command_that_printed_the_skill_used_it():
    printed = "---\nname: demo\ndescription: Does.\n---\n"
    assert skills(shell("cat skills/demo/SKILL.md; exit 1", printed, True)) == ["demo"]


def test_skill_read_from_within_its_folder_is_known_by_its_front_matter():
    printed = "---\ndescription: Does.\nname: demo\n---\n"
    assert skills(shell("cd skills && cat */SKILL.md", printed)) == ["demo"]


def test_file_of_a_skill_that_was_read_is_its_use():
    read = Event("call", "read", {"path": "/w/.claude/skills/demo/SKILL.md"})
    assert skills(read) == ["demo"]
    assert skills(read._replace(name="write")) == []
    assert skills(read._replace(failed=True)) == []


@pytest.mark.parametrize("given", ["demo", "plugin:demo", "/demo"])
def test_call_of_the_skill_tool_is_its_use(given):
    call = Event("call", "skill", {"skill": given})
    assert skills(call) == ["demo"]
    assert skills(call._replace(failed=True)) == []
    assert skills(call._replace(kind="denied")) == []


def test_search_for_a_skill_in_a_long_word_is_quick():
    started = time.perf_counter()
    assert skills(shell("a" * 300_000)) == []
    assert time.perf_counter() - started < 2


def test_skill_event_follows_its_first_use_and_keeps_the_sub_agent():
    call = Event("call", "skill", {"skill": "demo"}, parent="call_1")
    events = transcript.with_skills([shell("ls"), call, call])
    assert [event.kind for event in events] == ["call", "call", "skill", "call"]
    assert events[2] == Event("skill", "demo", parent="call_1")


@pytest.mark.parametrize(
    "message",
    [
        "unexpected status 401 Unauthorized: no key",
        "exceeded retry limit, last status: 429 Too Many Requests",
        "API Error: 529 overloaded",
        "Connection failed: error sending request",
        "stream disconnected before completion",
        "Missing environment variable: `OPENAI_API_KEY`.",
        "Not logged in · Please run /login",
        "Credit balance is too low",
        '{"type": "error", "error": {"message": "Invalid value for input[3].content"}}',
        '{"detail": "Unsupported parameter"}',
        "400 Bad Request",
    ],
)
def test_surroundings_are_to_blame(message):
    assert transcript.blame(message) == "infrastructure"


@pytest.mark.parametrize(
    "message",
    [
        "boom",
        "",
        '{"level": "fatal", "message": "boom"}',
        "prompt is too long: 210000 tokens > 200000 (status: 400)",
        '{"error": {"message": "prompt is too long: 210000 tokens"}}',
    ],
)
def test_agent_is_to_blame(message):
    assert transcript.blame(message) == "agent"


def test_status_of_the_server_tells_more_than_the_words():
    assert transcript.blame("scripted failure", 500) == "infrastructure"


def test_killed_program_is_judged_by_who_killed_it():
    assert transcript.stopped("anything", None, "result") == ("", "")


def test_program_that_ends_well_without_its_last_word_failed():
    assert transcript.stopped("", 0, "result") == ("agent", "the output has no result")


def test_crash_is_the_agents():
    assert transcript.stopped("segfault", 3, "result") == ("agent", "exit status 3: segfault")


@pytest.mark.parametrize(
    "said",
    [
        "error: unknown option '--x'",
        "error: option '--max-budget-usd <amount>' argument '0' is invalid. It must be a number",
        "error: invalid value 'nope' for '--sandbox <SANDBOX_MODE>'",
        "error: a value is required for '--model <MODEL>' but none was supplied",
        "Error loading config.toml: invalid type: string",
        "run PROGRAM with a message\n\nOptions:\n  -h, --help  show help",
    ],
)
def test_command_line_that_was_refused_is_not_the_agents_failure(said):
    assert transcript.stopped(said, 1, "result")[0] == "infrastructure"


def test_reason_is_bounded():
    assert len(transcript.reason("exit status 1", "x" * 1_000_000)) < 3_000
