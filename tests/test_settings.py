"""Where a setting comes from: precedence, types, lines, and what is said about what is ignored."""

import json
import os

import build
import pytest

from skilleval import settings
from skilleval.errors import SuiteError
from skilleval.settings import Row, Table

TABLE = Table(
    ".eval.yaml",
    (
        Row("model", "m-default", "model", "EVAL_MODEL", "--model"),
        Row("judge_model", "", "judge_model", "EVAL_JUDGE", "--judge-model", like="model"),
        Row("limit", 95, "limit", "EVAL_LIMIT", "--limit"),
        Row("strict", False, "strict", "EVAL_STRICT"),
        Row("http.api_key", "", "http.api_key", "EVAL_API_KEY"),
        Row("http.base_url", "", "http.base_url", "EVAL_BASE_URL"),
        Row("box.timeout", 300, "box.timeout"),
        Row("output", "", flag="--output"),
    ),
)


def resolve(folder, text=None, environ=None, **flags):
    if text is not None:
        build.write(folder / TABLE.file, text)
    return settings.resolve(flags, environ or {}, str(folder), TABLE)


def chosen(found, name):
    return found.value(name), found.source(name)


def refusal(folder, text):
    with pytest.raises(SuiteError) as caught:
        resolve(folder, text)
    return caught.value


def test_nothing_set_gives_the_defaults(tmp_path):
    found = resolve(tmp_path)
    assert chosen(found, "model") == ("m-default", "default")
    assert found == settings.defaults(TABLE)


def test_each_place_wins_over_the_one_before(tmp_path):
    text, environ = "# settings\nmodel: m-file\n", {"EVAL_MODEL": "m-env"}
    assert chosen(resolve(tmp_path, text), "model") == ("m-file", ".eval.yaml:2")
    assert chosen(resolve(tmp_path, text, environ), "model") == ("m-env", "EVAL_MODEL")
    assert chosen(resolve(tmp_path, text, environ, model="m"), "model") == ("m", "--model")


def test_a_flag_that_is_not_given_or_empty_leaves_the_rest(tmp_path):
    found = resolve(tmp_path, "model: m\n", {"EVAL_MODEL": ""}, model=None, judge_model="")
    assert chosen(found, "model") == ("m", ".eval.yaml:1")


def test_parsed_arguments_that_are_no_settings_are_left_alone(tmp_path):
    assert resolve(tmp_path, func="x", model="m").value("model") == "m"


def test_a_setting_like_another_follows_its_final_value(tmp_path):
    found = resolve(tmp_path, "model: m-file\n", model="m-flag")
    assert chosen(found, "judge_model") == ("m-flag", "as model")
    assert not found.is_set("judge_model")


def test_a_setting_like_another_keeps_what_was_set_lower(tmp_path):
    found = resolve(tmp_path, "judge_model: j\n", model="m-flag")
    assert chosen(found, "judge_model") == ("j", ".eval.yaml:1")
    assert found.is_set("judge_model")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("box:\n  timeout: 60\n", 2),
        ("# timeout: 1\nbox:\n  # timeout: 2\n  timeout: 60\n", 4),
        ("timeout: 9\nbox: {timeout: 60}\n", 2),
        ('{"http": {"base_url": "timeout: 1"},\n "box":\n  {"timeout": 60}}', 3),
        ("{http: {}, box: {timeout: 60}}", 1),
        ("'box':\r\n  \"timeout\": 60\r\n", 2),
        ("other:\n  box: 1\nbox:\n  timeout: 60\n", 4),
        ("\ufeffbox:\n  timeout: 60\n", 2),
    ],
)
def test_the_source_of_a_nested_setting_is_its_line(tmp_path, text, line):
    assert chosen(resolve(tmp_path, text), "box.timeout") == (60, f".eval.yaml:{line}")


@pytest.mark.parametrize("text", ["", "# nothing\n", "{}", "model:\n", "http: {}\n", "http:\n"])
def test_an_empty_file_or_null_sets_nothing(tmp_path, text):
    found = resolve(tmp_path, text)
    assert (found.chosen, found.warnings) == (settings.defaults(TABLE).chosen, ())


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ("model: [oops\n", "2", "'[' of line 1 is still open"),
        ("model: m\n\tlimit: 3\n", "2", "tab"),
        ('{"model": "m"', "1", "invalid JSON"),
        ("- model\n", "1", "must be a mapping of settings to values, not a list"),
        ("just text\n", "1", "must be a mapping of settings to values, not text"),
        ("model: m\nlimit: high\n", "2", "limit must be a whole number, not text 'high'"),
        ("limit: '90'\n", "1", "not text '90'; remove the quotes"),
        ("limit: 90.5\n", "1", "limit must be a whole number, not a number"),
        ("limit: true\n", "1", "limit must be a whole number, not true or false"),
        ("limit: 99999999999\n", "1", "limit is too large; use at most 1000000000"),
        ("\nstrict: yes\n", "2", "strict must be true or false, not text 'yes'; YAML 1.2 reads"),
        ("model: 4.6\n", "1", "model must be text, not a number; put it in quotes"),
        ("model: [a]\n", "1", "model must be text, not a list"),
        ("http: u\n", "1", "http must be a mapping of keys to values, not text"),
        ("box:\n  timeout:\n    s: 3\n", "3", "box.timeout must be a whole number, not a mapping"),
    ],
)
def test_a_broken_file_is_an_error_with_its_line(tmp_path, text, where, message):
    error = refusal(tmp_path, text)
    assert (error.path, error.where) == (str(tmp_path / TABLE.file), where)
    assert message in error.message
    assert error.exit_code == 2


def test_a_file_that_cannot_be_read_is_an_error(tmp_path):
    (tmp_path / TABLE.file).mkdir()
    with pytest.raises(SuiteError, match=r"cannot be read: is a directory"):
        resolve(tmp_path)


def test_a_file_that_is_not_utf8_is_an_error(tmp_path):
    with pytest.raises(SuiteError, match="is not UTF-8"):
        resolve(tmp_path, b"model: \xff\n")


def test_a_wrong_type_never_shows_a_secret(tmp_path):
    assert "hunter2" not in str(refusal(tmp_path, "http:\n  api_key: [hunter2]\n"))


@pytest.mark.parametrize("text", ["high", "2m", "9.5", "1_000", " 7", "٣", "9" * 30])
def test_a_variable_that_is_no_whole_number_is_ignored_and_said(tmp_path, text):
    found = resolve(tmp_path, "limit: 70\n", {"EVAL_LIMIT": text})
    assert chosen(found, "limit") == (70, ".eval.yaml:1")
    [warning] = found.warnings
    assert warning.startswith("EVAL_LIMIT is ignored")


@pytest.mark.parametrize(("text", "value"), [("0", 0), ("-5", -5), ("+80", 80)])
def test_a_variable_may_be_any_whole_number(tmp_path, text, value):
    found = resolve(tmp_path, None, {"EVAL_LIMIT": text})
    assert (found.value("limit"), found.warnings) == (value, ())


def test_a_number_below_the_least_counts_as_not_set_and_says_so(tmp_path):
    found = resolve(tmp_path, "limit: 0\nbox:\n  timeout: -1\n", limit=0)
    assert chosen(found, "limit") == (95, "default")
    assert chosen(found, "box.timeout") == (300, "default")
    assert [warning.partition(":")[0] for warning in found.warnings] == [
        ".eval.yaml",
        ".eval.yaml",
        "--limit",
    ]


def test_any_text_in_the_environment_turns_a_switch_on(tmp_path):
    assert resolve(tmp_path, None, {"EVAL_STRICT": "0"}).value("strict") is True
    assert resolve(tmp_path, None, {"EVAL_STRICT": ""}).value("strict") is False


def test_an_unknown_key_is_ignored(tmp_path):
    found = resolve(tmp_path, "colour: red\nmodel: m\nnested:\n  deep: {a: 1}\n")
    assert (found.value("model"), found.warnings) == ("m", ())


def test_an_unknown_key_near_a_known_one_is_told(tmp_path):
    [warning] = resolve(tmp_path, "box:\n  timeuot: 60\n").warnings
    assert warning.endswith(
        ":2: unknown key 'box.timeuot' is ignored (did you mean 'box.timeout'?)"
    )


def test_a_key_that_only_a_flag_can_set_says_which(tmp_path):
    found = resolve(tmp_path, "output: x\n")
    assert found.value("output") == ""
    assert "not set in this file, but by --output" in found.warnings[0]


def test_secrets_are_shown_nowhere(tmp_path):
    text = "http:\n  api_key: hunter2\n  base_url: http://me:swordfish@h/v1\n"
    found = resolve(tmp_path, text)
    for shown in (settings.render(found), json.dumps(settings.document(found)), repr(found)):
        assert "hunter2" not in shown
        assert "swordfish" not in shown
        assert "***" in shown


def test_a_secret_that_is_not_set_is_shown_as_that(tmp_path):
    assert settings.document(resolve(tmp_path))["http.api_key"] == {
        "value": "",
        "source": "default",
    }


def test_settings_of_an_earlier_run_hold_unless_a_flag_says_otherwise(tmp_path):
    before = resolve(tmp_path, environ={"EVAL_MODEL": "a"}, limit=3)
    now = resolve(tmp_path, environ={"EVAL_MODEL": "b", "EVAL_STRICT": "1"}, limit=5)
    found = now.resumed(settings.document(before))
    assert chosen(found, "model") == ("a", "EVAL_MODEL")
    assert chosen(found, "judge_model") == ("a", "as model")
    assert chosen(found, "strict") == (False, "default")
    assert chosen(found, "limit") == (5, "--limit")


def test_what_an_earlier_run_has_not_written_down_is_taken_from_now(tmp_path):
    logged_in = {"EVAL_BASE_URL": "http://me:hunter22@x/v1", "EVAL_API_KEY": "hunter22"}
    stored = settings.document(resolve(tmp_path, environ=logged_in))
    now = {"EVAL_BASE_URL": "http://y/v1", "EVAL_API_KEY": "stronger"}
    found = resolve(tmp_path, environ=now).resumed({**stored, "limit": {"value": "x"}, "model": 7})
    for name, value in {"http.base_url": "http://y/v1", "http.api_key": "stronger"}.items():
        assert found.value(name) == value
    assert (found.value("limit"), found.value("model")) == (95, "m-default")


def test_the_table_shows_name_value_and_source(tmp_path):
    lines = settings.render(resolve(tmp_path, "limit: 80\n", model="m")).splitlines()
    assert lines[0].split() == ["model", "m", "--model"]
    assert lines[2].split() == ["limit", "80", ".eval.yaml:1"]
    assert lines[-1].split() == ["output", '""', "default"]


def test_secrets_go_into_the_environment_under_their_variable(tmp_path):
    found = resolve(tmp_path, "http:\n  api_key: hunter2\n", {"EVAL_API_KEY": "stronger"})
    assert found.environment({"A": "b"}) == {"A": "b", "EVAL_API_KEY": "stronger"}
    assert settings.defaults(TABLE).environment({"A": "b"}) == {"A": "b"}


def test_the_file_of_the_working_folder_is_named_without_a_path(tmp_path, monkeypatch):
    build.write(tmp_path / TABLE.file, "model: 4\n")
    monkeypatch.chdir(tmp_path)
    for folder in ("", ".", os.curdir):
        with pytest.raises(SuiteError, match=r"^\.eval\.yaml:1: "):
            settings.resolve({}, {}, folder, TABLE)
