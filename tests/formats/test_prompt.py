"""The bytes of a scenario's prompt (seed 000; spec/scenarios section 5)."""

import json
import os
from pathlib import Path

import build
import pytest

from skilleval.formats import prompt
from skilleval.formats.prompt import Unreadable

DATA = json.loads(
    (Path(__file__).parent.parent / "data" / "scenarios" / "cases.json").read_text("utf-8")
)
SCENARIO = "evals/scenario-q"


def whole(root, tree):
    for name, content in tree.items():
        build.write(root / name, content)
    folder = str(root)
    return prompt.of_scenario(prompt.of_skill(folder), os.path.join(folder, SCENARIO), folder)


def with_task(**tree):
    return {"SKILL.md": "S", f"{SCENARIO}/task.md": "T"} | tree


def with_inputs(**inputs):
    return with_task(**{f"{SCENARIO}/inputs/{name}": text for name, text in inputs.items()})


@pytest.mark.parametrize("case", DATA["prompt"])
def test_shared_cases(tmp_path, case):
    if case["want"].startswith("error: "):
        with pytest.raises(Unreadable, match=case["want"].removeprefix("error: ")):
            whole(tmp_path, case["tree"])
    else:
        assert whole(tmp_path, case["tree"]) == case["want"]


def test_nothing_is_trimmed_and_nothing_normalised(tmp_path):
    tree = with_task(**{"SKILL.md": b"\xef\xbb\xbf---\r\n\n", "assets/a": b" \r\n"})
    assert whole(tmp_path, tree) == "\ufeff---\r\n\n\n\n--- a ---\n \r\n\n\nT"


def test_files_are_sorted_by_the_bytes_of_their_path(tmp_path):
    accented = os.fsdecode("é".encode())
    names = ("a.md", "a/b", "a-c", accented, "Z")
    whole(tmp_path, with_task(**{f"references/{name}": "" for name in names}))
    found = [file.name for file in prompt.files(str(tmp_path / "references"))]
    assert found == ["Z", "a-c", "a.md", "a/b", accented]


def test_hidden_files_are_included(tmp_path):
    assert whole(tmp_path, with_inputs(**{".commitlintrc": "{}"})).endswith(
        "```.commitlintrc\n{}\n```"
    )


def test_only_trailing_newlines_of_an_input_are_stripped(tmp_path):
    assert whole(tmp_path, with_inputs(a="\n x \n\n")) == "S\n\nT\n\n```a\n\n x \n```"


@pytest.mark.parametrize(
    ("text", "fence"),
    [("``", "```"), ("a```b", "````"), ("```js\n`````\n```", "``````"), ("", "```")],
)
def test_the_fence_is_longer_than_any_in_the_input(tmp_path, text, fence):
    assert whole(tmp_path, with_inputs(a=text)) == f"S\n\nT\n\n{fence}a\n{text}\n{fence}"


def test_a_binary_file_is_one_line_with_its_size(tmp_path):
    tree = with_inputs(a=b"\x89PNG\0\0") | {"assets/b": b"\0"}
    assert whole(tmp_path, tree) == (
        "S\n\n--- b ---\n(binary file, 1 bytes, not shown)\n\nT\n\n"
        "```a\n(binary file, 6 bytes, not shown)\n```"
    )


def test_bytes_that_are_no_utf8_are_replaced(tmp_path):
    assert whole(tmp_path, with_inputs(a=b"caf\xe9")) == "S\n\nT\n\n```a\ncaf\ufffd\n```"


def test_a_link_is_followed_inside_the_skill_only(tmp_path):
    secret = build.write(tmp_path / "secret", "outside")
    skill = tmp_path / "skill"
    build.write(skill / "shared" / "s.md", "inside")
    (skill / "references").mkdir(parents=True)
    (skill / "references" / "in.md").symlink_to(Path("..") / "shared" / "s.md")
    (skill / "references" / "out.md").symlink_to(secret)
    (skill / "references" / "etc").symlink_to("/etc")
    (skill / "references" / "loop").symlink_to("loop")
    (skill / "references" / "up").symlink_to("..")
    assert whole(skill, with_task()) == "S\n\n--- in.md ---\ninside\n\nT"
    names = prompt.left_out(str(skill / "references"), str(skill))
    assert names == ["etc", "loop", "out.md", "up"]


def test_a_folder_that_is_a_link_is_left_out(tmp_path):
    build.write(tmp_path / "elsewhere" / "a.md", "A")
    (tmp_path / "references").symlink_to("elsewhere")
    assert whole(tmp_path, with_task()) == "S\n\nT"
    assert prompt.left_out(str(tmp_path / "references"), str(tmp_path)) == ["."]


def test_a_pipe_is_left_out_and_waits_for_nobody(tmp_path):
    build.write(tmp_path / "assets" / "a", "A")
    os.mkfifo(tmp_path / "assets" / "pipe")
    assert whole(tmp_path, with_task()) == "S\n\n--- a ---\nA\n\nT"


def test_a_name_with_a_line_break_cannot_leave_its_line(tmp_path):
    assert "```a?b\nA\n```" in whole(tmp_path, with_inputs(**{"a\nb": "A"}))


def test_a_name_of_any_bytes_gives_a_valid_text(tmp_path):
    name = os.fsdecode(b"caf\xe9")
    whole(tmp_path, with_inputs(**{name: "A"})).encode()


def test_an_input_of_megabytes_is_whole(tmp_path):
    text = "x" * 5_000_000
    assert text in whole(tmp_path, with_inputs(big=text))


@pytest.mark.parametrize("name", ["SKILL.md", f"{SCENARIO}/task.md"])
def test_a_required_file_that_is_no_text_is_named(tmp_path, name):
    with pytest.raises(Unreadable, match=rf"^reading {os.path.basename(name)}: is binary"):
        whole(tmp_path, with_task(**{name: b"\0"}))


def test_a_task_that_is_a_folder_is_named(tmp_path):
    (tmp_path / SCENARIO / "task.md").mkdir(parents=True)
    with pytest.raises(Unreadable, match=r"^reading task\.md: is a directory$"):
        whole(tmp_path, {"SKILL.md": "S"})


def test_braces_and_percent_signs_pass_as_they_are(tmp_path):
    text = "{{x}} {% if %} {# ${HOME} %s {0} ---"
    assert text in whole(tmp_path, with_inputs(a=text))
