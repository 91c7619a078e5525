"""Texts that tell that a trial was not what its arm claims."""

from harness_fake import SKILL, Fake, arm, case, skill, tools

from skilleval.model import Check
from skilleval.trial import harness

ASSERTIONS = ('The file "greeting.txt" says hello', "A branch named feature/greeting exists")
MANIFEST = (
    "---\nname: demo\ndescription: 'Use it whenever a greeting is \"wanted\" here'\n---\n\nDo.\n"
)


def asking(script, tmp_path, **fields):
    """A case with assertions, written down with its answers in a folder of the user's."""
    made = case(script, tmp_path, {"files/a.txt": "A"})
    checks = tuple(Check(f"a{i}", text, "text") for i, text in enumerate(ASSERTIONS))
    return made._replace(expected="A greeting that names the day", checks=checks, **fields)


def tried(given, tmp_path, **options):
    return harness.run(Fake(), given, arm(tmp_path, **options), tools(tmp_path))


def answers(tmp_path, text=None):
    path = tmp_path / "real-evals.json"
    path.write_text(text or "\n".join(ASSERTIONS))
    return path


def test_agent_that_was_shown_the_assertions_is_contaminated(tmp_path):
    outcome = tried(asking(f"cat {answers(tmp_path)}", tmp_path), tmp_path)
    assert (outcome.status, outcome.failure) == ("error", "contaminated")
    assert "was shown the case's own assertions" in outcome.error


def test_assertions_are_seen_as_json_has_them(tmp_path):
    text = 'x "The file \\"greeting.txt\\" says hello", "A greeting that names the day"'
    outcome = tried(asking(f"cat {answers(tmp_path, text)}", tmp_path), tmp_path)
    assert outcome.failure == "contaminated"


def test_agent_that_copied_the_assertions_is_contaminated(tmp_path):
    outcome = tried(asking(f"cp {answers(tmp_path)} copy.txt; echo", tmp_path), tmp_path)
    assert outcome.failure == "contaminated"


def test_one_assertion_in_an_answer_is_no_leak(tmp_path):
    outcome = tried(asking(f"cat {answers(tmp_path, ASSERTIONS[0])}", tmp_path), tmp_path)
    assert (outcome.status, outcome.failure) == ("ok", "")


def test_words_that_the_case_itself_gives_are_no_leak(tmp_path):
    given = asking("cat a.txt", tmp_path)
    (tmp_path / "evals" / "files" / "a.txt").write_text("\n".join(ASSERTIONS))
    assert tried(given, tmp_path).status == "ok"


def test_baseline_that_was_shown_the_skill_is_broken(tmp_path):
    folder = skill(tmp_path, manifest=MANIFEST)
    outcome = tried(case(f"cat {folder}/SKILL.md"), tmp_path, with_skill=False)
    assert (outcome.status, outcome.failure) == ("error", "control")
    assert f"without the skill {SKILL!r} was shown its SKILL.md" in outcome.error


def test_agent_with_the_skill_may_read_it(tmp_path):
    folder = skill(tmp_path, manifest=MANIFEST)
    assert tried(case(f"cat {folder}/SKILL.md"), tmp_path).status == "ok"


def test_baseline_whose_prompt_quotes_the_skill_is_not_broken(tmp_path):
    line = "description: Use it whenever a greeting is wanted here"
    skill(tmp_path, manifest=f"---\nname: demo\n{line}\n---\n\nDo.\n")
    assert tried(case(f"echo '{line}'"), tmp_path, with_skill=False).status == "ok"


def test_canary_as_the_name_of_a_branch_is_contamination(tmp_path):
    script = (
        'git branch "$(grep -o "skilleval-canary-[0-9a-f]*" ../evals/evals.json | head -1)"; echo'
    )
    assert tried(asking(script, tmp_path), tmp_path).failure == "contaminated"
