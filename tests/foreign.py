"""Makes run folders as seed 002's original writes them (spec/suites section 4). Asserts nothing.

There is no run.json and no trial.json: evals_meta.json, and for each trial its outputs, git states,
timing, run_meta and grading.
"""

import json
from pathlib import Path

import build

TRANSCRIPTS = Path(__file__).parent / "data" / "transcripts"
FIRST, NEW = "1" * 40, "2" * 40
NOTES = ["A new git branch was created", "A git commit was created"]


def state(branches=None, current="main", **fields):
    """A pre_state.json or post_state.json; `branches` maps names to the ids of their heads."""
    heads = {"main": FIRST} if branches is None else branches
    shas = sorted(set(heads.values()), reverse=True)
    return {
        "local_branches": sorted(heads),
        "remote_branches": [],
        "current_branch": current,
        "head_sha": heads.get(current, ""),
        "commit_count": len(shas),
        "commits": [f"{sha[:7]} {'Initial commit' if sha == FIRST else 'notes'}" for sha in shas],
        "remote_names": [],
        "open_prs": [],
        "branch_heads": heads,
        "remote_branch_heads": {},
        "commit_shas": shas,
        **fields,
    }


IDLE = state()
COMMITTED = state({"main": FIRST, "notes": NEW}, "notes")


def meta(root, *evals, **fields):
    """evals_meta.json; an eval is an object that lacks what has a default."""
    found = [
        {
            "prompt": "Write the notes.",
            "expected_output": "Notes that are committed.",
            "files": [],
            "should_trigger": True,
            "force_skill_invocation": False,
            "stage_files": False,
            **each,
        }
        for each in evals
    ]
    document = {"skill_name": "demo", "evals": found, "source_repo": None, **fields}
    build.write(Path(root) / "evals_meta.json", json.dumps(document))


def trial(root, place="eval-notes/codex/with_skill", **content):
    """The folder of a trial; `content` replaces a file's, None leaves the file out.

    Keys are names without the extension. Texts are written as they are, all else as JSON.
    """
    folder = Path(root) / place
    parts = place.split("/")
    files = {
        "run_meta.json": {
            "eval_id": parts[0].removeprefix("eval-"),
            "agent": parts[1],
            "with_skill": parts[2] == "with_skill",
            "iteration": 1,
            "skill_name": "demo",
            "source_repo": None,
            "run_id": "0a1b2c3d",
            "run_index": 1,
        },
        "timing.json": {
            "total_tokens": 15,
            "input_tokens": 10,
            "output_tokens": 5,
            "cached_tokens": 0,
            "duration_ms": 2000,
            "exit_code": 0,
            "timed_out": False,
            "retries": 0,
        },
        "grading.json": grading(),
        "outputs/output.txt": "The notes are written and committed.",
        "outputs/stdout.log": said("The notes are written and committed."),
        "outputs/stderr.log": "",
        "outputs/pre_state.json": IDLE,
        "outputs/post_state.json": COMMITTED,
    }
    unknown = set(content) - {Path(name).stem for name in files}
    assert not unknown, unknown
    for name, default in files.items():
        value = content.get(Path(name).stem, default)
        if value is not None:
            text = value if isinstance(value, str | bytes) else json.dumps(value)
            build.write(folder / name, text)
    return folder


def said(text, *commands):
    """What `codex exec --json` prints where the agent ran commands and said a text."""
    items = [
        {"type": "command_execution", "command": command, "exit_code": 0, "status": "completed"}
        for command in commands
    ]
    items.append({"type": "agent_message", "text": text})
    records = [{"type": "thread.started", "thread_id": "t"}]
    records += [
        {"type": "item.completed", "item": {"id": f"item_{number}", **item}}
        for number, item in enumerate(items)
    ]
    usage = {"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 5}
    records.append({"type": "turn.completed", "usage": usage})
    return "".join(json.dumps(record) + "\n" for record in records)


def transcript(name):
    """The recorded output of a real program: `claude/basic.json`, `opencode/basic.jsonl` …"""
    return (TRANSCRIPTS / name).read_text(encoding="utf-8")


def row(text, passed=True, method="deterministic", evidence="as it was found", skipped=False):
    """A row of grading.json."""
    return {
        "text": text,
        "passed": passed,
        "evidence": evidence,
        "method": method,
        "skipped": skipped,
    }


def grading(*rows):
    """grading.json with its summary."""
    skipped = sum(each["skipped"] for each in rows)
    passed = sum(each["passed"] for each in rows)
    graded = len(rows) - skipped
    return {
        "assertion_results": list(rows),
        "summary": {
            "passed": passed,
            "failed": graded - passed,
            "total": len(rows),
            "pass_rate": passed / graded if graded else 0.0,
            "skipped": skipped,
        },
    }
