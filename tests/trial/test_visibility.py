"""Skills in real folders, at the places where agent programs look for them."""

import pytest
from harness_fake import skill

from skilleval.trial import visibility


@pytest.mark.parametrize("place", visibility.PLACES)
def test_skill_is_found_where_some_program_looks(tmp_path, place):
    folder = skill(tmp_path, "demo", place)
    assert visibility.found([str(tmp_path)], "demo") == {str(folder): "demo"}


def test_skill_is_found_at_a_place_of_the_program(tmp_path):
    folder = skill(tmp_path, "demo", ".fake/skills")
    assert visibility.found([str(tmp_path)], "demo") == {}
    assert visibility.found([str(tmp_path)], "demo", [".fake/skills"]) == {str(folder): "demo"}


def test_skill_in_a_group_of_skills_is_found(tmp_path):
    folder = skill(tmp_path, "demo", ".codex/skills/.system")
    assert visibility.found([str(tmp_path)], "demo") == {str(folder): "demo"}


def test_folder_without_a_manifest_is_no_skill(tmp_path):
    (tmp_path / ".claude" / "skills" / "demo").mkdir(parents=True)
    assert visibility.found([str(tmp_path)], "demo") == {}


def test_skill_in_a_folder_of_another_name_is_called_by_its_manifest(tmp_path):
    text = "---\nname: demo\ndescription: Does it.\n---\n"
    folder = skill(tmp_path, "other", ".claude/skills", manifest=text)
    assert visibility.found([str(tmp_path)], "demo") == {str(folder): "demo"}
    assert visibility.found([str(tmp_path)], "third") == {str(folder): "other"}


def test_linked_skill_is_found(tmp_path):
    real = skill(tmp_path, "demo", "elsewhere")
    (tmp_path / ".agents" / "skills").mkdir(parents=True)
    link = tmp_path / ".agents" / "skills" / "demo"
    link.symlink_to(real)
    assert visibility.found([str(tmp_path)], "demo") == {str(link): "demo"}


@pytest.mark.parametrize(("variable", "place"), visibility.MOVED.items())
def test_skill_is_found_where_a_variable_leads(tmp_path, variable, place):
    folder = skill(tmp_path, "demo", place)
    assert visibility.moved({variable: str(tmp_path)}, "demo") == {str(folder): "demo"}


def test_changed_manifest_is_read_again(tmp_path):
    folder = skill(tmp_path, "demo")
    assert visibility.name_of(str(folder)) == "demo"
    (folder / "SKILL.md").write_text("---\nname: renamed\ndescription: x\n---\n")
    assert visibility.name_of(str(folder)) == "renamed"


def test_folders_above_are_all_up_to_the_root(tmp_path):
    assert list(visibility.above("/a/b/c")) == ["/a/b", "/a", "/"]
