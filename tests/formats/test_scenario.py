"""Scenario folders: which they are, the suite they make, its settings (seed 000, spec/scenarios)."""

import json
import os
from fractions import Fraction
from pathlib import Path

import build
import pytest

from skilleval import aggregate, engine, formats, settings, validation
from skilleval.errors import SuiteError, UsageError
from skilleval.formats import scenario
from skilleval.model import Check, Verdict

DATA = json.loads(
    (Path(__file__).parent.parent / "data" / "scenarios" / "cases.json").read_text("utf-8")
)


def named(case):
    return case.get("name") or case.get("path")


def resolve(folder, text=None, environ=None, flags=None):
    if text is not None:
        build.write(folder / ".openkata-eval.yaml", text)
    return settings.resolve(flags or {}, environ or {}, str(folder), scenario.SETTINGS)


def configured(tmp_path, **options):
    build.scenario(tmp_path)
    suite = scenario.load(str(tmp_path / "skills" / "demo"))
    return scenario.configured(suite, resolve(tmp_path, **options))


# -- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", DATA["config"], ids=named)
def test_shared_cases_of_settings(tmp_path, case):
    if case.get("want") == "error":
        with pytest.raises(SuiteError, match=r"\.openkata-eval\.yaml"):
            resolve(tmp_path, case["yaml"], case["env"], case["flags"])
        return
    found = resolve(tmp_path, case["yaml"], case["env"], case["flags"])
    want = DATA["config_defaults"] | case["diff"]
    assert {name: found.value(name) for name in want} == want


def test_each_setting_of_the_seed_has_its_variable():
    variables = {row.variable for row in scenario.SETTINGS.rows if row.variable}
    names = "BACKEND MODEL JUDGE_MODEL THRESHOLD HTTP_BASE_URL HTTP_API_KEY DIRECT_TIMEOUT DEBUG"
    assert {f"OPENKATA_EVAL_{name}" for name in names.split()} <= variables


def test_settings_become_one_arm_a_gate_and_a_judge(tmp_path):
    text = "sandbox:\n  image: i\n  network: none\n  timeout: 60\ndirect_timeout: 5\n"
    suite = configured(tmp_path, text=text, flags={"model": "m", "threshold": 80})
    [arm] = suite.arms
    assert (arm.name, arm.agent, arm.model) == ("m", "kiro", "m")
    assert arm.options == {
        "skill": str(tmp_path / "skills" / "demo"),
        "timeout_s": 5.0,
        "base_url": "",
        "key_name": "OPENKATA_EVAL_HTTP_API_KEY",
        "image": "i",
        "network": "none",
        "sandbox_timeout_s": 60.0,
        "engine": "docker",
    }
    assert suite.gates == (("score", ">=", Fraction(4, 5), ""),)
    assert suite.judge == {
        "backend": "kiro",
        "model": "m",
        "base_url": "",
        "key_name": "OPENKATA_EVAL_HTTP_API_KEY",
        "timeout_s": 5.0,
        "style": "",
        "debug": False,
    }


@pytest.mark.parametrize("text", ["0", "-3"])
def test_a_variable_without_a_usable_time_stands_for_the_default(tmp_path, text):
    suite = configured(tmp_path, environ={"OPENKATA_EVAL_DIRECT_TIMEOUT": text})
    assert suite.arms[0].options["timeout_s"] == suite.judge["timeout_s"] == 120


def test_a_threshold_of_zero_in_the_environment_always_passes(tmp_path):
    suite = configured(tmp_path, environ={"OPENKATA_EVAL_THRESHOLD": "0"})
    assert suite.gates[0].limit == 0


def test_an_unknown_backend_names_its_source_and_the_choices(tmp_path):
    with pytest.raises(UsageError, match=r"unknown backend 'x' \(--backend\); .*: kiro, http$"):
        configured(tmp_path, flags={"backend": "x"})


def test_an_unknown_engine_names_the_choices(tmp_path):
    with pytest.raises(UsageError, match=r"unknown engine 'lxc' .*: docker, podman$"):
        configured(tmp_path, text="sandbox: {engine: lxc}\n")


def test_a_judge_elsewhere_never_gets_the_key_of_the_agent(tmp_path):
    environ = {"OPENKATA_EVAL_HTTP_BASE_URL": "http://agent/v1"}
    suite = configured(tmp_path, environ=environ, flags={"judge_base_url": "http://judge/v1"})
    assert suite.judge["base_url"] == "http://judge/v1"
    assert suite.judge["backend"] == "http"
    assert suite.judge["key_name"] == "OPENKATA_EVAL_JUDGE_API_KEY"
    assert suite.arms[0].options["base_url"] == "http://agent/v1"


def test_a_judge_behind_the_endpoint_of_the_agent_gets_its_key(tmp_path):
    environ = {"OPENKATA_EVAL_HTTP_BASE_URL": "http://agent/v1"}
    suite = configured(tmp_path, environ=environ, flags={"backend": "http"})
    assert (suite.judge["base_url"], suite.judge["backend"]) == ("http://agent/v1", "http")
    assert suite.judge["key_name"] == "OPENKATA_EVAL_HTTP_API_KEY"


def test_a_slash_at_its_end_makes_no_endpoint_another(tmp_path):
    environ = {"OPENKATA_EVAL_HTTP_BASE_URL": "http://agent/v1"}
    flags = {"backend": "http", "judge_base_url": "http://agent/v1/"}
    suite = configured(tmp_path, environ=environ, flags=flags)
    assert suite.judge["key_name"] == "OPENKATA_EVAL_HTTP_API_KEY"


def test_all_points_pass_whatever_their_number(tmp_path):
    rows = [{"name": name, "max_score": 2**63 - 1} for name in "ab"]
    loaded = scenario.load(str(build.scenario(tmp_path, criteria={"checklist": rows})))
    verdicts = [Verdict(c.id, "pass", 1, "", "judge", c.weight) for c in loaded.cases[0].checks]
    assert aggregate.score(verdicts, loaded.rules).passed
    verdicts[0] = verdicts[0]._replace(status="fail", score=0)
    assert not aggregate.score(verdicts, loaded.rules).passed


def test_no_noun_holds_a_key(tmp_path):
    suite = configured(tmp_path, text="http: {api_key: hunter2}\njudge: {api_key: hunter2}\n")
    assert "hunter2" not in repr(suite)


# -- which folders --------------------------------------------------------------------------------


@pytest.mark.parametrize("case", DATA["path_mode"], ids=named)
def test_shared_cases_of_paths(case):
    folder, mode, name = case["want"]
    assert scenario.target(case["path"]) == (folder, name or "")
    assert (mode == "scenario") is bool(name)


@pytest.mark.parametrize(
    ("inside", "path", "want"),
    [
        ("skills/demo", ".", (".", "")),
        ("skills/demo", "evals/scenario-a", (".", "scenario-a")),
        ("skills/demo/evals", "./scenario-a/", ("..", "scenario-a")),
        ("skills/demo/evals/scenario-a", ".", ("../..", "scenario-a")),
        ("skills/demo/evals/scenario-a", "../../", ("../..", "")),
    ],
)
def test_a_relative_path_is_resolved(tmp_path, monkeypatch, inside, path, want):
    build.scenario(tmp_path)
    monkeypatch.chdir(tmp_path / inside)
    assert scenario.target(path) == want
    assert scenario.load(path).name == "demo"


def test_a_skill_whose_name_starts_like_a_scenario_is_a_skill(tmp_path):
    build.scenario(tmp_path, skill="scenario-writer")
    suite = scenario.load(str(tmp_path / "skills" / "scenario-writer"))
    assert (suite.name, [case.id for case in suite.cases]) == ("scenario-writer", ["scenario-a"])


@pytest.mark.parametrize("case", DATA["discovery"])
def test_shared_cases_of_discovery(tmp_path, case):
    for name in case["dirs"]:
        (tmp_path / "evals" / name).mkdir(parents=True)
    for name in case["files"]:
        build.write(tmp_path / "evals" / name, "")
    assert scenario.discover(str(tmp_path)) == case["want"]


def test_a_link_to_a_folder_is_no_scenario(tmp_path):
    build.scenario(tmp_path)
    evals = tmp_path / "skills" / "demo" / "evals"
    (evals / "scenario-link").symlink_to(evals / "scenario-a")
    assert scenario.discover(str(evals.parent)) == ["scenario-a"]


def test_scenarios_are_sorted_by_bytes(tmp_path):
    accented = os.fsdecode("scenario-é".encode())
    for name in (accented, "scenario-z", "scenario-", "scenario-Z"):
        (tmp_path / "evals" / name).mkdir(parents=True)
    want = ["scenario-", "scenario-Z", "scenario-z", accented]
    assert scenario.discover(str(tmp_path)) == want


def test_the_format_owns_a_skill_with_scenarios_and_a_scenario(tmp_path):
    folder = build.scenario(tmp_path)
    skill = folder.parent.parent
    assert formats.of(str(skill)) is scenario
    assert formats.of(str(folder)) is scenario
    assert not scenario.owns(str(folder.parent))
    assert not scenario.owns(str(build.skill(tmp_path, "other")))


def test_a_whole_skill_has_all_its_scenarios_and_a_path_selects_one(tmp_path):
    folder = build.scenario(tmp_path, "scenario-2")
    build.scenario(tmp_path, "scenario-10")
    skill = folder.parent.parent
    assert [case.id for case in scenario.load(str(skill)).cases] == ["scenario-10", "scenario-2"]
    assert [case.id for case in scenario.load(f"{folder}/").cases] == ["scenario-2"]


def test_a_folder_without_skill_md_cannot_be_loaded(tmp_path):
    build.scenario(tmp_path)
    (tmp_path / "skills" / "demo" / "SKILL.md").unlink()
    with pytest.raises(SuiteError, match=r"SKILL\.md not found in .*demo$"):
        scenario.load(str(tmp_path / "skills" / "demo"))


@pytest.mark.parametrize("evals", [True, False])
def test_a_skill_without_scenarios_cannot_be_loaded(tmp_path, evals):
    build.write(tmp_path / "demo" / "SKILL.md", "# S")
    if evals:
        (tmp_path / "demo" / "evals" / "draft").mkdir(parents=True)
    with pytest.raises(SuiteError, match=r"no eval scenarios found in .*demo/evals/$"):
        scenario.load(str(tmp_path / "demo"))


def test_a_scenario_without_an_evals_folder_cannot_be_loaded(tmp_path):
    build.write(tmp_path / "demo" / "SKILL.md", "# S")
    with pytest.raises(SuiteError, match="no evals directory found in"):
        scenario.load(str(tmp_path / "demo" / "evals" / "scenario-a"))


def test_an_unknown_scenario_names_those_there_are(tmp_path):
    folder = build.scenario(tmp_path)
    with pytest.raises(SuiteError, match=r"scenario scenario-b not found; there are: scenario-a$"):
        scenario.load(str(folder.parent / "scenario-b"))


# -- the suite ------------------------------------------------------------------------------------


def test_a_scenario_becomes_a_case_with_a_check_for_each_criterion(tmp_path):
    folder = build.scenario(tmp_path, files={"scenario.json": '{"description": "D"}'})
    suite = scenario.load(str(folder))
    [case] = suite.cases
    assert case.id == "scenario-a"
    assert case.prompt == "# S\n\n\nSay hello.\n"
    assert case.annotations == {"context": "What the scenario tests", "description": "D"}
    assert case.source == str(folder)
    description = {"description": "The answer says hello"}
    assert case.checks[0] == Check("criterion/1", "says-hello", "judge", description, 60)
    assert [check.weight for check in case.checks] == [60, 40]
    assert (suite.skill, suite.path) == ("demo", str(tmp_path / "skills" / "demo"))


def test_a_sandboxed_scenario_is_always_run_by_kiro(tmp_path):
    build.scenario(tmp_path, "scenario-a", files={"scenario.json": '{"network": "none"}'})
    build.scenario(tmp_path, "scenario-b", files={"scenario.json": '{"sandbox": false}'})
    suite = configured(tmp_path, flags={"backend": "http"})
    boxed, direct = suite.cases
    assert (boxed.sandbox, boxed.agent, boxed.network) == (True, "kiro", "none")
    assert (direct.sandbox, direct.agent, direct.network) == (False, "", "")


@pytest.mark.parametrize("case", DATA["scenario_json"], ids=lambda case: case["text"])
def test_shared_cases_of_scenario_json(tmp_path, case):
    folder = build.scenario(tmp_path, files={"scenario.json": case["text"]})
    suite = scenario.load(str(folder))
    [found] = suite.cases
    assert {
        "description": found.annotations["description"],
        "sandbox": found.sandbox,
        "network": found.network,
    } == case["want"]
    assert bool(suite.meta["warnings"]) is case.get("warn", False)


def test_a_broken_scenario_json_warns_which_defaults_apply(tmp_path):
    folder = build.scenario(tmp_path, files={"scenario.json": '{"sandbox": "false"}'})
    [warning] = scenario.load(str(folder)).meta["warnings"]
    assert warning == (
        f"{folder}/scenario.json: sandbox must be true or false, not text;"
        " the defaults apply: sandboxed, no description, the runner's network"
    )


def test_a_warning_names_the_line_of_a_syntax_error(tmp_path):
    folder = build.scenario(tmp_path, files={"scenario.json": '{"sandbox": false,\n]'})
    [warning] = scenario.load(str(folder)).meta["warnings"]
    assert warning.startswith(f"{folder}/scenario.json:2: invalid JSON")


@pytest.mark.parametrize(
    ("files", "broken"),
    [
        ({"criteria.json": None}, "reading criteria.json: no such file"),
        ({"criteria.json": "{"}, "parsing criteria.json: invalid JSON"),
        ({"criteria.json": '{"checklist": 7}'}, "parsing criteria.json: checklist must be a list"),
        ({"task.md": None}, "reading task.md: no such file"),
        ({"task.md": b"a\0b"}, "reading task.md: is binary, not text"),
    ],
)
def test_a_scenario_that_cannot_be_read_says_why_and_the_others_stay(tmp_path, files, broken):
    build.scenario(tmp_path, "scenario-bad", files=files)
    build.scenario(tmp_path, "scenario-good")
    bad, good = scenario.load(str(tmp_path / "skills" / "demo")).cases
    assert bad.broken.startswith(broken)
    assert (good.broken, good.id) == ("", "scenario-good")


def test_a_skill_that_cannot_be_read_breaks_every_scenario(tmp_path):
    folder = build.scenario(tmp_path, text=b"\0")
    [case] = scenario.load(str(folder)).cases
    assert case.broken == "reading SKILL.md: is binary, not text"


def test_a_broken_scenario_is_an_errored_result_that_counts_as_zero(tmp_path):
    build.scenario(tmp_path, "scenario-bad", files={"criteria.json": "{"})
    suite = scenario.load(str(tmp_path / "skills" / "demo"))
    [result] = engine.run(suite)
    assert result.outcome.status == "error"
    assert result.outcome.error.startswith("parsing criteria.json")
    summary = aggregate.report(suite, [result]).summary
    assert (summary.score, summary.cases_total) == (0, 1)


@pytest.mark.parametrize("raw", ["{}", '{"checklist": []}', '{"checklist": null}'])
def test_an_empty_checklist_is_no_error_of_the_runner(tmp_path, raw):
    folder = build.scenario(tmp_path, criteria=raw)
    [case] = scenario.load(str(folder)).cases
    assert (case.broken, case.checks) == ("", ())


# -- validation -----------------------------------------------------------------------------------


def test_every_problem_of_a_skill_comes_with_its_rule(tmp_path):
    build.scenario(tmp_path, "scenario-a", files={"task.md": " \n"})
    build.scenario(tmp_path, "scenario-b", files={"criteria.json": "{"})
    found = scenario.problems(str(tmp_path / "skills" / "demo"))
    assert [(p.rule, p.level, Path(p.path).name) for p in found] == [
        ("C09", "error", "task.md"),
        ("C01", "error", "criteria.json"),
    ]


def test_problems_of_one_scenario_are_those_of_it(tmp_path):
    folder = build.scenario(tmp_path, "scenario-a")
    build.scenario(tmp_path, "scenario-b", files={"criteria.json": "{"})
    assert scenario.problems(str(folder), strict=True) == []


def test_strict_asks_for_three_scenarios(tmp_path):
    for name in ("scenario-a", "scenario-b"):
        folder = build.scenario(tmp_path, name)
    skill = str(folder.parent.parent)
    assert scenario.problems(skill) == []
    [problem] = scenario.problems(skill, strict=True)
    assert (problem.rule, problem.level) == ("C13", "warning")
    build.scenario(tmp_path, "scenario-c")
    assert scenario.problems(skill, strict=True) == []


def test_files_that_no_prompt_can_have_are_told(tmp_path):
    folder = build.scenario(tmp_path, files={"inputs/a.txt": "A"})
    secret = build.write(tmp_path / "secret.txt", "s")
    (folder / "inputs" / "away").symlink_to(secret)
    os.mkfifo(folder / "inputs" / "pipe")
    (folder.parent.parent / "references").symlink_to(tmp_path)
    found = scenario.problems(str(folder))
    assert {problem.rule for problem in found} == {"C14"}
    names = sorted(Path(problem.path).name for problem in found)
    assert names == ["away", "pipe", "references"]


def test_a_prompt_too_long_for_kiro_is_told(tmp_path):
    folder = build.scenario(tmp_path, files={"inputs/a.txt": "A" * 131_072})
    [problem] = scenario.problems(str(folder))
    assert (problem.rule, problem.level) == ("C15", "warning")


def test_validate_finds_scenarios(tmp_path):
    manifest = "---\nname: demo\ndescription: Does it. Use when asked.\n---\n\nSay it.\n"
    folder = build.scenario(tmp_path, criteria='{"checklist": []}', text=manifest)
    [path] = validation.targets([str(folder / "criteria.json")])
    assert [problem.rule for problem in validation.problems(path)] == ["C05"]
