"""`skilleval schema evals` prints what an editor can use."""

import json

import build


def test_schema_is_printed(tmp_path):
    done = build.skilleval("schema", "evals", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    schema = json.loads(done.stdout)
    assert schema["title"] == "skilleval eval suite"
    assert schema["$defs"]["eval"]["properties"]["should_trigger"]["default"] is True


def test_unknown_format_is_a_usage_error(tmp_path):
    done = build.skilleval("schema", "tasks", cwd=tmp_path)
    assert done.returncode == 2
    assert "evals" in done.stderr
