"""What a text decides that is not all UTF-8: what was replaced in it may be what is looked for."""

import pytest
from evidence import decided, outcome

LATIN = "caf\ufffd and tea in the garden"
UTF_16 = "\ufffd\ufffdn\ufffde\ufffde\ufffdd\ufffd"
CLAIMS = [
    ('contains "café"', LATIN, "judge"),
    ('does not contain "café"', LATIN, "judge"),
    ('contains "café"', f"{LATIN}, café", "pass"),
    ('does not contain "café"', f"{LATIN}, café", "fail"),
    ('contains "tea"', LATIN, "pass"),
    ('contains "coffee"', LATIN, "fail"),
    ('does not contain "coffee"', LATIN, "pass"),
    ('contains "café" and "coffee"', LATIN, "fail"),
    ('contains "café" and "tea"', LATIN, "judge"),
    ('contains "café" or "tea"', LATIN, "pass"),
    ('contains neither "café" nor "tea"', LATIN, "fail"),
    ('contains "need"', UTF_16, "judge"),
    ('does not contain "need"', UTF_16, "judge"),
    ('contains "don\'t"', "I don\ufffdt", "judge"),
    ('contains "don\'t"', "I \ufffd do", "fail"),
    ('starts with "café"', LATIN, "judge"),
    ('starts with "tea"', LATIN, "fail"),
    ('ends with "garden"', LATIN, "pass"),
    ("has at least 3 words", LATIN, "pass"),
    ("is at most 30 bytes long", LATIN, "judge"),
    ("is valid JSON", '{"a": "caf\ufffd"}', "judge"),
    ("is valid JSON", LATIN, "fail"),
]


@pytest.mark.parametrize(("claim", "text", "want"), CLAIMS, ids=[row[0] for row in CLAIMS])
@pytest.mark.parametrize("place", ["The output", "The file `a.md`"])
def test_what_is_no_utf8_leaves_open_what_it_may_hide(place, claim, text, want):
    came = outcome({}, {"a.md": text}) if "file" in place else outcome(output=text)
    assert decided(f"{place} {claim}", came) == want


@pytest.mark.parametrize(("key", "want"), [("a", "pass"), ("b", "fail"), ("é", "judge")])
def test_a_key_in_ascii_is_read_from_json_that_is_not_all_utf8(key, want):
    came = outcome(output='{"a": "caf\ufffd", "\ufffd": 1}')
    assert decided(f'The output has the JSON key "{key}"', came) == want
