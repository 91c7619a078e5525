"""The script of the skill validate-config, run as its users run it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

SKILL = Path(__file__).resolve().parent.parent / "skills/validate-config"
SCRIPT = SKILL / "scripts/validate_config.py"
TASKS = json.loads((SKILL / "evals/tasks.json").read_text("utf-8"))["tasks"]


def run(*arguments, cwd):
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        cwd=cwd,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def block(text, *languages):
    found = re.search(rf"```({'|'.join(languages)})\n(.*?)```", text, re.DOTALL)
    assert found, f"no block of {languages}"
    return found[2]


VALID = """\
name = "orders"
environment = "staging"
[server]
host = "127.0.0.1"
port = 8080
[database]
url = "postgresql://app@db/orders"
"""
FINDINGS = {
    "parse_error": (("[server]", "[server"), ""),
    "missing_field": (('host = "127.0.0.1"', ""), "server.host"),
    "unknown_field": (("port = 8080", "port = 8080\nprot = 1"), "server.prot"),
    "wrong_type": (("8080", '"8080"'), "server.port"),
    "not_allowed": (("staging", "stage"), "environment"),
    "out_of_range": (("8080", "70000"), "server.port"),
    "bad_format": (('"orders"', '"Orders"'), "name"),
    "requires_field": (('"staging"', '"production"\nreplicas = 2'), "server.tls.enabled"),
    "plain_secret": (("[database]", '[database]\npassword = "pw-7391"'), "database.password"),
    "deprecated_field": (("port = 8080", "port = 8080\ntimeout = 5"), "server.timeout"),
}


def validate(folder, text, *flags, name="service.toml"):
    (folder / name).write_text(text, encoding="utf-8")
    done = run(*flags, name, cwd=folder)
    return done, json.loads(done.stdout)


def codes(report):
    return [(item["path"], item["code"]) for item in report["findings"]]


def test_valid_configuration_has_no_findings(tmp_path):
    done, report = validate(tmp_path, VALID)
    assert (done.returncode, report["valid"], report["findings"]) == (0, True, [])


@pytest.mark.parametrize("code", FINDINGS)
def test_mistake_is_found_with_its_path_and_code(tmp_path, code):
    (old, new), path = FINDINGS[code]
    _, report = validate(tmp_path, VALID.replace(old, new))
    assert codes(report) == [(path, code)]


def test_production_forbids_debug_logging(tmp_path):
    text = VALID.replace('"staging"', '"production"\nreplicas = 2\nlog_level = "debug"')
    tls = '[server.tls]\nenabled = true\ncert_file = "c"\nkey_file = "k"\n'
    done, report = validate(tmp_path, text + tls)
    assert (done.returncode, codes(report)) == (1, [("log_level", "forbidden_combination")])


def test_repeated_json_key_is_found(tmp_path):
    text = '{"server": {"port": 1, "port": 2}}'
    _, report = validate(tmp_path, text, name="settings.json")
    assert ("port", "duplicate_key") in codes(report)


def test_every_code_is_documented_and_tested():
    reference = (SKILL / "references/error-codes.md").read_text("utf-8")
    documented = set(re.findall(r"^\| `(\w+)` \|", reference, re.MULTILINE))
    assert documented == {*FINDINGS, "duplicate_key", "forbidden_combination"}


def test_documented_fields_are_those_of_the_schema():
    reference = (SKILL / "references/schema.md").read_text("utf-8")
    table = reference.split("Combinations:")[0]
    schema = json.loads((SKILL / "assets/service-schema.json").read_text("utf-8"))
    assert re.findall(r"^\| `([\w.]+)` \|", table, re.MULTILINE) == list(schema["fields"])


@pytest.mark.parametrize("output", ["json", "text"])
def test_secrets_are_never_printed(tmp_path, output):
    text = VALID.replace("postgresql://app@", "sqlite://app:pw-7391@") + 'password = "pw-7391"\n'
    (tmp_path / "service.toml").write_text(text, encoding="utf-8")
    done = run("--format", output, "service.toml", cwd=tmp_path)
    assert done.stdout.count("plain_secret") == 2
    assert "pw-7391" not in done.stdout + done.stderr


def test_reference_to_a_secret_is_allowed(tmp_path):
    done, _ = validate(tmp_path, VALID + 'password = "env:DATABASE_PASSWORD"\n')
    assert done.returncode == 0


@pytest.mark.parametrize(("flags", "status"), [((), 0), (("--strict",), 1)])
def test_warnings_count_only_when_strict(tmp_path, flags, status):
    done, report = validate(
        tmp_path, VALID.replace("port = 8080", "port = 8080\ntimeout = 5"), *flags
    )
    assert done.returncode == status
    assert (report["valid"], report["error_count"], report["warning_count"]) == (not status, 0, 1)


@pytest.mark.parametrize("value", ["true", "8080.0", "[8080]", "2026-11-30"])
def test_types_are_strict(tmp_path, value):
    _, report = validate(tmp_path, VALID.replace("8080", value))
    assert codes(report) == [("server.port", "wrong_type")]


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_number_that_is_none_is_out_of_range_without_limits(tmp_path, value):
    _, report = validate(tmp_path, VALID.replace("port = 8080", f"port = 8080\ntimeout = {value}"))
    assert ("server.timeout", "out_of_range") in codes(report)


def test_table_that_is_no_table_is_one_finding(tmp_path):
    text = 'name = "a1"\nenvironment = "staging"\nserver = 3\ndatabase.url = "mysql://a@b/c"\n'
    _, report = validate(tmp_path, text)
    assert codes(report) == [("server", "wrong_type")]


def test_near_match_is_named(tmp_path):
    _, report = validate(tmp_path, VALID.replace("[server]", "replica = 2\n[server]"))
    assert "`replicas`" in report["findings"][0]["fix"]


@pytest.mark.parametrize("text", ["[" * 100_000, "[]", "", "NaN", '{"a": 1,}'])
def test_no_json_input_ends_in_a_traceback(tmp_path, text):
    done, report = validate(tmp_path, text, name="settings.json")
    assert (done.returncode, report["error_count"], done.stderr) == (1, 1, "")


def test_byte_order_mark_is_no_syntax_error(tmp_path):
    done, _ = validate(tmp_path, "\ufeff" + VALID)
    assert done.returncode == 0


@pytest.mark.parametrize("name", ["absent.toml", "service.ini"])
def test_file_that_cannot_be_checked_is_not_invalid_but_undecided(tmp_path, name):
    (tmp_path / "service.ini").write_text("x=1", encoding="utf-8")
    done = run(name, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert name in done.stderr


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("{", "cannot read the schema"),
        ('{"fields": {"a": {"type": "text"}}}', "`type` must be one of"),
        ('{"fields": {"a": {"type": "string", "requird": true}}}', "unknown attribute `requird`"),
        ('{"fields": {"a": {"type": "string", "pattern": "("}}}', "bad pattern"),
        ('{"fields": {"a": {"type": "integer", "max": "9"}}}', "`max` has a wrong type"),
        ('{"fields": {}, "rules": [{"when": {"b": 1}, "require": []}]}', "`b` is not one"),
        ('{"fields": {}, "rules": [{"if": {"b": 1}}]}', "rules[0]"),
    ],
)
def test_broken_schema_decides_nothing(tmp_path, schema, message):
    (tmp_path / "schema.json").write_text(schema, encoding="utf-8")
    (tmp_path / "a.json").write_text("{}", encoding="utf-8")
    done = run("--schema", "schema.json", "a.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_schema_of_the_reference_works(tmp_path):
    reference = (SKILL / "references/schema.md").read_text("utf-8")
    (tmp_path / "schema.json").write_text(block(reference, "json"), encoding="utf-8")
    text = 'mode = "lifo"\n[queue]\nname = "q"\nretries = 0\n'
    _, report = validate(tmp_path, text, "--schema", "schema.json")
    assert codes(report) == [("queue.retries", "forbidden_combination")]


@pytest.mark.parametrize("task", TASKS[:4], ids=lambda task: task["id"])
def test_worked_example_has_the_codes_that_the_script_finds(tmp_path, task):
    config = block(task["prompt"], "toml", "json")
    name = "service.toml" if "```toml" in task["prompt"] else "settings.json"
    _, report = validate(tmp_path, config, name=name)
    answer = (SKILL / f"evals/examples/{task['id']}.md").read_text("utf-8")
    assert report["findings"]
    for path, code in codes(report):
        assert path in answer
        assert code in answer
