"""The rules of the house that a machine can check: who imports whom, sizes, effects of an import.

A new module needs a place in LAYERS. The arrows point down: what is higher imports what is lower.
"""

import ast
import functools
import json
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from checkout import ROOT

PACKAGE = ROOT / "skilleval"
MODULES = sorted(PACKAGE.rglob("*.py"))
SCRIPTS = sorted((ROOT / "scripts").glob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))

# lowest first; `x.*` stands for the modules of a folder that are not named themselves
LAYERS = [
    ["skilleval", "model", "errors", "trial", "reading", "asking", "runfolder"],
    [
        "asking.address",
        "process.capture",
        "console",
        "stats.estimators",
        "process.lineage",
        "process.turns",
        "runfolder.lock",
        "reading.markdown",
        "strength.negation",
        "ordering",
        "trial.ownership",
        "trial.removal",
        "plaintext",
        "asking.retry",
        "bench.workloads",
        "placement",
        "workers",
    ],
    ["process.owner", "redaction", "reading.reply", "graders.starters"],
    [
        "stats.activation",
        "reading.jsonvalues",
        "stats.paired",
        "runfolder.serial",
        "graders.shell",
        "stats",
        "reading.textfile",
        "asking.throttling",
    ],
    ["graders.meant", "graders.pushes", "graders.worktree", "writing", "yamlscalar"],
    [
        "runfolder.foreignfiles",
        "trial.gitfiles",
        "http",
        "reading.jsonread",
        "process",
        "snapshot",
        "yamlread",
    ],
    ["tools", "trial.remotes", "trial.template", "seats"],
    [
        "asking.chat",
        "trial.commandline",
        "trial.gitstate",
        "asking.kiro",
        "trial.pullrequests",
        "skill",
        "trial.transcript",
    ],
    ["trial.attempts", "trial.firstcommit", "trial.temporary", "trial.visibility"],
    ["trial.grounds"],
    ["runfolder.artefacts"],
    ["runfolder.store", "trial.workspace"],
    ["trial.integrity", "trial.leftovers"],
    ["trial.harness"],
    ["runfolder.cleaning", "runfolder.exchanges", "inventory", "progress"],
    ["assertions.*"],
    ["assertions"],
    # the contracts, and what several implementations of one share
    ["agents", "formats", "formats.fields", "graders", "graders.text", "sandboxes"],
    ["graders.finding"],
    ["formats.criteria", "formats.fixturefiles", "formats.prompt", "settings"],
    ["graders.activity", "graders.checkout", "graders.repository", "graders.workfiles"],
    ["graders.contents", "graders.exhibit"],
    ["graders.claims"],
    ["lint.*"],
    ["lint"],
    ["agents.*", "formats.*", "graders.*", "sandboxes.*"],
    ["runfolder.evalsmeta", "runfolder.evidencefiles"],
    ["runfolder.gradingfiles"],
    ["judging", "plan", "runfolder.runs", "scaffold"],
    ["engine"],
    ["aggregate", "stats.arms", "gates", "lineup"],
    ["stats.deltas"],
    ["stats.changes", "stats.comparison"],
    ["strength.mutation"],
    [
        "budget",
        "evaluation",
        "runfolder.resuming",
        "runfolder.keeper",
        "runfolder.regrading",
        "strength",
        "validation",
        "versions",
    ],
    ["execution"],
    ["api"],
    ["sinks"],
    ["sinks.stylesheet", "sinks.svg", "sinks.view"],
    ["sinks.markdown", "sinks.suites", "sinks.trialpage"],
    ["sinks.*"],
    ["announcement", "sinks.problems"],
    ["commands"],
    ["commands.suite_results"],
    ["commands.*"],
    ["bench", "cli"],
    ["__main__"],
]
# folders whose modules work together
TOGETHER = {"assertions", "lint"}
# folders of adapters: from another of them they may import its contract, and nothing behind it but
# what is no adapter itself
ADAPTERS = {"agents", "formats", "graders", "sandboxes", "sinks"}
SHARED = ADAPTERS | {"formats.fields", "formats.prompt"}
# the only module that may import each
GATES = {
    "http": "http",
    "multiprocessing": "process",
    "socket": "http",
    "ssl": "http",
    "subprocess": "process",
    "urllib": "http",
}
HARMLESS = "urllib.parse."  # text in, text out
# what a start of the program cannot afford: each costs a millisecond or more
HEAVY = {
    "argparse",
    "asyncio",
    "concurrent",
    "dataclasses",
    "difflib",
    "email",
    "fractions",
    "html",
}
HEAVY |= {"http", "inspect", "json", "logging", "pathlib", "random", "re", "shutil", "socket"}
HEAVY |= {"ssl", "subprocess", "tempfile", "threading", "traceback", "typing", "unittest", "urllib"}
HEAVY |= {"xml", "zipfile"}
# test files that are about no single module of the package
NO_MODULE = re.compile(
    r"test_(conftest|evals_folder|layout|model_server|packaging|readme|recording|scripts|skills|skill_script\w*)\.py"
)


class Import(NamedTuple):
    """`name` is the full name of what is imported, which may be in a module: `a.b.thing`."""

    name: str
    line: int
    relative: bool
    at_runtime: bool


def line_count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def label(path: Path) -> str:
    return str(path.relative_to(ROOT))


def dotted(path: Path) -> str:
    """The name of a module within the package; that of the package itself is `skilleval`."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts) or "skilleval"


NAMES = {dotted(path) for path in MODULES}


@functools.cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imports(path: Path) -> Iterator[Import]:
    yield from _imports(tree(path), at_runtime=True)


def _imports(node: ast.AST, at_runtime: bool) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        yield from (Import(alias.name, node.lineno, False, at_runtime) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            name = f"{node.module or ''}.{alias.name}"
            yield Import(name, node.lineno, node.level > 0, at_runtime)
    elif isinstance(node, ast.FunctionDef) and node.name == "__getattr__":
        return  # a public name that is loaded when somebody asks for it: no arrow of the module
    elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        for child in node.body:
            yield from _imports(child, at_runtime=False)
        for child in node.orelse:
            yield from _imports(child, at_runtime)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _imports(child, at_runtime)


def imported_modules(path: Path) -> set[str]:
    """The modules of the package that one of them imports when it runs, wherever it does so."""
    found = set()
    for each in imports(path):
        if each.at_runtime and each.name.split(".")[0] == "skilleval":
            name = each.name.removeprefix("skilleval.")
            found.add(name if name in NAMES else name.rpartition(".")[0] or "skilleval")
    return found


def layer(name: str) -> int:
    """The number of a module's layer, from 0 at the bottom. A name counts before its folder."""
    for wanted in (name, f"{name.rpartition('.')[0]}.*"):
        for number, names in enumerate(LAYERS):
            if wanted in names:
                return number
    raise AssertionError(f"{name} has no layer: give it a place in LAYERS")


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def interpreter(code: str, *arguments: str) -> str:
    """What a bare interpreter (no site, no user's variables) prints for the code."""
    command = [sys.executable, "-I", "-S", "-B", "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


each_module = pytest.mark.parametrize("path", MODULES, ids=dotted)
each_source = pytest.mark.parametrize("path", MODULES + SCRIPTS, ids=label)


@each_source
def test_only_the_standard_library_is_imported(path):
    known = sys.stdlib_module_names | {"skilleval"}
    foreign = {each.name for each in imports(path) if each.name.split(".")[0] not in known}
    assert not foreign


@each_source
def test_imports_are_absolute(path):
    assert [each.line for each in imports(path) if each.relative] == []


@each_module
def test_module_imports_only_lower_layers(path):
    name, folder = dotted(path), dotted(path).rpartition(".")[0]
    assert layer(name) >= 0
    for target in imported_modules(path):
        if folder in TOGETHER and target.rpartition(".")[0] == folder:
            continue
        assert layer(target) < layer(name), f"{name} imports {target}, which is not below it"


@each_module
def test_adapters_do_not_meet(path):
    folder = dotted(path).partition(".")[0]
    others = {name for name in imported_modules(path) - SHARED if not name.startswith(f"{folder}.")}
    assert folder not in ADAPTERS or not {name.partition(".")[0] for name in others} & ADAPTERS


def test_no_imports_go_in_a_circle():
    graph = {dotted(path): imported_modules(path) - {dotted(path)} for path in MODULES}
    before = None
    while graph != before:  # takes away who imports none of the rest, and whom none imports
        before = graph
        imported = set().union(*graph.values())
        graph = {
            name: targets & graph.keys()
            for name, targets in graph.items()
            if targets & graph.keys() and name in imported
        }
    assert graph == {}


def test_every_layer_names_a_module_once():
    names = [name for names in LAYERS for name in names]
    assert sorted(names) == sorted(set(names))


@each_source
def test_script_is_not_imported(path):
    scripts = {script.stem for script in SCRIPTS} | {"scripts"}
    assert not {each.name.split(".")[0] for each in imports(path)} & scripts


@each_module
def test_effects_have_one_gate_each(path):
    for each in imports(path):
        gate = GATES.get(each.name.split(".")[0])
        if each.at_runtime and gate and not each.name.startswith(HARMLESS):
            assert dotted(path) == gate, f"line {each.line}: {each.name}"


def test_only_commands_and_the_default_tools_know_the_terminal():
    known = {dotted(path) for path in MODULES if "console" in imported_modules(path)}
    allowed = {"announcement", "bench", "cli", "tools"}  # what calls them says how they tell
    assert {name for name in known if not name.startswith("commands.")} == allowed


@each_module
def test_nothing_prints(path):
    calls = [node for node in ast.walk(tree(path)) if isinstance(node, ast.Call)]
    printing = [call.lineno for call in calls if ast.unparse(call.func) in ("print", "pprint")]
    assert printing == [], "use console.write in a command, and return text elsewhere"


def broad_handlers(path: Path) -> Iterator[ast.ExceptHandler]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ExceptHandler):
            names = {"BaseException"} if node.type is None else set(_caught(node.type))
            if names & {"Exception", "BaseException"}:
                yield node


def _caught(node: ast.expr) -> Iterator[str]:
    for item in node.elts if isinstance(node, ast.Tuple) else [node]:
        yield ast.unparse(item)


def ends_in_raise(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def test_at_most_three_handlers_swallow_every_exception():
    swallowing = [
        f"{label(path)}:{handler.lineno}"
        for path in MODULES
        for handler in broad_handlers(path)
        if not ends_in_raise(handler)
    ]
    assert len(swallowing) <= 3, swallowing
    assert {place.partition(":")[0] for place in swallowing} <= {
        "skilleval/cli.py",
        "skilleval/engine.py",
    }


@each_source
def test_module_says_what_it_owns(path):
    assert (ast.get_docstring(tree(path)) or "").strip()


@each_module
def test_module_has_at_most_400_lines(path):
    assert line_count(path) <= 400


@pytest.mark.parametrize("path", SCRIPTS, ids=label)
def test_script_has_at_most_40_lines_and_can_be_started(path):
    assert line_count(path) <= 40
    assert path.read_text(encoding="utf-8").startswith("#!/usr/bin/env python3\n")
    assert os.access(path, os.X_OK)


@each_source
def test_function_has_at_most_60_lines_and_6_parameters(path):
    for node in functions(path):
        given = node.args
        named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
        parameters = [each.arg for each in named if each.arg not in ("self", "cls")]
        assert length(node) <= 60, node.name
        assert len(parameters) <= 6, node.name


def test_half_of_the_functions_have_at_most_12_lines():
    assert statistics.median(length(node) for path in MODULES for node in functions(path)) <= 12


@each_module
def test_names_are_not_a_drawer_for_everything(path):
    assert not re.search(r"util|helper|common|manager|misc", dotted(path))


@pytest.mark.parametrize("path", TESTS, ids=label)
def test_test_file_is_about_a_module(path):
    inside = path.relative_to(ROOT / "tests")
    if inside.parts[0] == "real" or NO_MODULE.fullmatch(str(inside)):
        return
    module = PACKAGE / inside.with_name(inside.name.removeprefix("test_"))
    assert module.exists() or module.with_suffix("").is_dir()


LOADED = "import sys; sys.path.insert(0, sys.argv[1]); {}; print('\\n' + ' '.join(sys.modules))"


@pytest.mark.parametrize(
    "code",
    ["import skilleval", "from skilleval.cli import main; main(['--help'])"],
    ids=["import skilleval", "skilleval --help"],
)
def test_start_loads_no_heavy_module(code):
    loaded = interpreter(LOADED.format(code), str(ROOT)).rpartition("\n\n")[2].split()
    assert "skilleval" in loaded
    assert not {name.split(".")[0] for name in loaded} & HEAVY


# Imports everything and tells every event that a mere import does not need. Files that the
# interpreter opens to import from are code; a folder is listed to find them.
EFFECTS = """
import importlib, json, sys
sys.path.insert(0, sys.argv[1])
names, effects, code = sys.argv[2:], [], (".py", ".pyc", ".so", ".zip")
def watch(event, given):
    if event == "open" and not str(given[0]).endswith(code):
        effects.append(f"open {given[0]}")
    elif event.startswith(("subprocess.", "socket.", "os.system", "os.exec", "os.posix_spawn")):
        effects.append(event)
    elif event in ("os.mkdir", "os.remove", "os.rename", "os.putenv", "os.chdir", "os.chmod"):
        effects.append(event)
sys.addaudithook(watch)
for name in names:
    importlib.import_module(name)
print(json.dumps(effects))
"""


def test_import_has_no_effects():
    names = ["skilleval" if name == "skilleval" else f"skilleval.{name}" for name in sorted(NAMES)]
    names.remove("skilleval.__main__")
    assert json.loads(interpreter(EFFECTS, str(ROOT), *names)) == []


def test_no_pattern_repeats_a_group_possessively():
    """Python 3.11.2 (Debian 12) matches `(…)*+` wrongly; an atomic group is the same, and right."""
    for path in MODULES:
        found = re.findall(r"\)[*+?]\+", path.read_text(encoding="utf-8"))
        assert not found, f"{label(path)}: write (?>(…)*) in place of (…)*+"
