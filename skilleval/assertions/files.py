"""Reads assertions about which files there are and what became of them. Owns their words.

What a file contains is `texts`' business.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from skilleval.assertions.clause import BLOCKERS, COMMON, CREATED, EXISTS, Prefix, prefix, unknown
from skilleval.assertions.rule import Rule
from skilleval.assertions.sentence import NEGATIONS, Token, is_file, is_folder, word_set

NOUNS = word_set("file files document documents script scripts")
_FOLDERS = word_set("folder folders directory directories")
_OWNERS = word_set("agent assistant model claude codex opencode")
_KINDS = _OWNERS | word_set("skill run session git")
_REPOSITORY = word_set("repository repo")
_PLACES = word_set("workspace repository repo project codebase disk")
_EVENTS = {
    "created": CREATED
    | word_set(
        "write writes wrote written writing generate generates generated generating produce"
        " produces produced producing save saves saved saving"
    ),
    "exists": EXISTS | {"found"},
    "modified": word_set(
        "modify modifies modified modifying edit edits edited editing update updates updated"
        " updating overwrite overwrites overwritten overwriting alter alters altered altering"
    ),
    "deleted": word_set("delete deletes deleted deleting remove removes removed removing"),
    "changed": word_set("change changes changed changing touch touches touched touching"),
}
_EVENT_OF = {word: event for event, words in _EVENTS.items() for word in words}
_WRITTEN = word_set("wrote written saved exported stored")
# what is written to a file changes it; of what is added, nobody can see whether it is that
_WRITES = word_set("write writes wrote written writing save saves saved saving")
_ADDS = word_set("add adds added adding")
_INTO = frozenset({"to", "into", "onto"})
# with one of these before it, nobody says that it was written
_HEDGES = word_set("that how why what false untrue perhaps maybe ideally because would could can")
_HEDGES |= word_set("may might says said claims claimed explains tried tries offers offered asks")
# adjectives that are a claim with its denial
_UNCHANGED = word_set("unchanged untouched unmodified intact alone")
_LEFT = word_set("left leave leaves leaving")
_STAYS = _LEFT | word_set("remain remains remained stays stayed kept still")
_ABSENT = frozenset({"missing", "absent", "gone"})
_RENAMED = word_set("rename renames renamed renaming")
# what a file may be called that has a name
_SORTS = word_set("output test config configuration source input result report data")
_MADE = word_set("made make makes making")  # of changes, they say nothing more
# what `changed` means of a named file, and of a workspace
_CHANGED = {"file": ("modified", "deleted"), "workspace": ("created", "modified", "deleted")}
_LANGUAGES = {
    "markdown": "*.md",
    "json": "*.json",
    "python": "*.py",
    "csv": "*.csv",
    "html": "*.html",
    "text": "*.txt",
    "javascript": "*.js",
    "typescript": "*.ts",
    "pdf": "*.pdf",
    "sql": "*.sql",
    "xml": "*.xml",
    "toml": "*.toml",
    "log": "*.log",
}
_KNOWN = (
    COMMON
    | NOUNS
    | _FOLDERS
    | _PLACES
    | set(_EVENT_OF)
    | _UNCHANGED
    | _ABSENT
    | _SORTS
    | set(_LANGUAGES)
    | word_set("named called in inside into under within , and or only except left remain")
    | word_set("remains remained stays stayed kept empty no-longer either one of both all")
    | word_set("on at content contents following of still leave leaves leaving")
)


def read(tokens: Sequence[Token]) -> Rule | str:
    """The rule of a clause, or why it is none; "" for a clause about something else."""
    words = {token.word for token in tokens}
    files = [token.name for token in tokens if token.is_name and _is_path(token.name)]
    if words & _RENAMED and files:
        return _rename(tokens)
    if _is_of_a_kind(tokens):
        return "it means files of one kind only"
    if not (words & (NOUNS | _FOLDERS) or files):
        return _of_workspace(tokens) if words & (_PLACES | {"changes"}) else ""
    found = prefix(tokens, _KNOWN)
    if found.tail and (not found.is_open or not found.names):
        return _written(tokens) or unknown(found)
    rule = _rule(found)
    return rule if isinstance(rule, Rule) else _written(tokens) or rule


def _is_of_a_kind(tokens: Sequence[Token]) -> bool:
    """Does it speak of `skill files` or `the git config`, where `the agent's files` are any?"""
    nouns = NOUNS | _FOLDERS | _SORTS | _LANGUAGES.keys()
    return any(
        a.word in _KINDS and b.word in nouns and not (a.word in _OWNERS and a.name.endswith("s"))
        for a, b in pairwise(tokens)
    )


def _rename(tokens: Sequence[Token]) -> Rule | str:
    """`a.md was renamed to b.md`; `a.md was not renamed`."""
    found = prefix(tokens, COMMON | NOUNS | _RENAMED | {"to", "from", "as", "into"})
    if found.tail or found.denials > 1 or found.quantities or not all(map(is_file, found.names)):
        return "it says more of a file than what its name became"
    if len(found.names) > 2 or (len(found.names) == 2 and not {"to", "as", "into"} & found.words):
        return "it does not say which name became which"
    if len(found.names) == 2 and found.denials:
        return "it denies a name, or that there is a new one"
    return Rule("rename", found.denials == 1, None, found.names)


def _written(tokens: Sequence[Token]) -> Rule | None:
    """`The agent wrote a summary to out.md`: whatever it wrote, the file is new or changed."""
    names = [n for n, token in enumerate(tokens) if token.is_name]
    words = {token.word for token in tokens}
    if len(names) != 1 or not names[0] or not is_file(tokens[names[0]].name):
        return None
    if tokens[names[0] - 1].word not in ("to", "into", "in", "as") or words & BLOCKERS:
        return None
    before = {token.word for token in tokens[: names[0]]}
    if not before & _WRITTEN or before & _HEDGES or any(token.quantity for token in tokens):
        return None
    return Rule("file", names=(tokens[names[0]].name,), events=("created",), partial=True)


def _is_path(name: str) -> bool:
    return is_file(name) or is_folder(name)


def _of_workspace(tokens: Sequence[Token]) -> Rule | str:
    """`The workspace is unchanged`; `no changes were made to the repository`."""
    found = prefix(
        tokens,
        COMMON | CREATED | _PLACES | _UNCHANGED | set(_EVENT_OF) | {"in", "left", "anything"},
    )
    words = found.words
    if found.tail or found.quantities:
        return ""
    adjective = bool(words & _UNCHANGED)
    verbs = {_EVENT_OF[word] for word in words if word in _EVENT_OF}
    denied = found.denials == 1 and not adjective
    if not (adjective and not found.denials) and not (denied and verbs & {"changed", "modified"}):
        return ""
    files = Rule("file", negated=True, events=_CHANGED["workspace"])
    if not words & _REPOSITORY:
        return files
    # a commit without a file, or a branch, changes a repository as well
    return Rule("all", parts=(files, Rule("commit", negated=True), Rule("branch", negated=True)))


def _rule(found: Prefix) -> Rule | str:
    events, adjective = _events(found)
    denials = found.denials + adjective
    if reason := _doubt(found, events, denials):
        return reason
    names, where = _names(found)
    if isinstance(where, int):
        return "it names a folder in a way that no rule knows"
    if any(not name.strip("*?./\\ ") for name in names):
        return "a bare pattern proves nothing"
    one_of = found.quantities == ((">=", 1),) and "of" in found.words
    negated, quantity = (True, None) if adjective else found.claim
    rule = Rule(
        "folder" if found.words & _FOLDERS and not found.words & NOUNS and not where else "file",
        negated,
        None if one_of else quantity or next(iter(found.quantities), None),
        names=names,
        where=where,
        events=events,
        any_name=len(names) > 1 and (one_of or "or" in found.words),
        only=bool({"only", "except"} & found.words),
        partial=bool(found.tail),
    )
    if rule.kind == "folder" and {"modified", "deleted"} <= {*events} and len(names) == 1:
        rule = rule._replace(kind="file", names=(), where=names[0], events=_CHANGED["workspace"])
    checked = _checked(rule, found)
    return _written_to(checked, found) if isinstance(checked, Rule) else checked


def _written_to(rule: Rule, found: Prefix) -> Rule | str:
    """The rule on a file that something was written or added to: it may have been there before."""
    words = [token.word or "name" for token in found.known if token.word not in ("the", "file")]
    is_target = any(a in _INTO and b == "name" for a, b in pairwise(words))
    if not is_target or rule.events != ("created",) or rule.quantity or rule.only:
        return rule
    if rule.names and found.words & _ADDS:
        return (
            "what was added to a file is not known" if rule.negated else rule._replace(partial=True)
        )
    return rule._replace(events=("created", "modified")) if found.words & _WRITES else rule


def _doubt(found: Prefix, events: Sequence[str], denials: int) -> str:
    """What makes it unclear what is claimed, or denied; "" for nothing."""
    sorts = [b.word for a, b in pairwise([*found.known, Token("")]) if a.word in _SORTS]
    if not set(sorts) <= NOUNS | _SORTS:
        return "it says something of a part of a file"
    if any(a.word in NOUNS and b.quantity for a, b in pairwise(found.known)):
        return "its number says which one it is, not how many"
    if not events:
        return "it says nothing of a file that a rule knows"
    if denials > 1 or len(found.quantities) > 1:
        return "it denies twice, or has two numbers"
    if {"content", "contents"} & found.words and not {"modified", "empty"} & {*events}:
        return "it means what a file holds, not the file"
    if "and" in found.words and len(events) > 1 and not denials:
        return "it claims several things of one file"
    if found.tail and (denials or {"only", "except"} & found.words):
        return unknown(found)
    if denials and not (found.denies_each or found.denies_all_of):
        return "it denies several files, together or each"
    if denials and len(events) > 1 and _is_between(found):
        return "it denies one thing of a file, and claims another"
    return ""


def _is_between(found: Prefix) -> bool:
    """Does a denial stand between two things that happened: `modified, not deleted`?"""
    words = [token.word for token in found.known]
    places = [n for n, word in enumerate(words) if word in _EVENT_OF and word not in _MADE]
    denials = [n for n, word in enumerate(words) if word in NEGATIONS]
    return bool(places) and bool(denials) and places[0] < denials[0] < places[-1]


def _events(found: Prefix) -> tuple[tuple[str, ...], bool]:
    """What happened to the files, and whether that is a denial in one word (`unchanged`)."""
    words = [token.word for token in found.known]
    if "empty" in words:
        return (() if {*words} & _EVENT_OF.keys() else ("empty",)), False
    if "no-longer" in words:
        return (("deleted",) if {*words} & EXISTS else ()), False
    if {*words} & _UNCHANGED:
        # `a.md alone was modified` is about the other files
        is_left = "alone" not in words or {*words} & _LEFT
        return (_CHANGED["file"] if is_left else ()), True
    if {*words} & _ABSENT:
        return ("exists",), True
    events = list(dict.fromkeys(_EVENT_OF[word] for word in words if word in _EVENT_OF))
    if "changes" in words:  # `no changes were made to x`, `there are no changes to x`: the noun
        events = ["changed"] if (_MADE | {"there"}) & {*words} else []
    if "changed" in events:
        events = [event for event in events if event != "changed"] + [*_CHANGED["file"]]
    if not events and {"is", "are", "was"} & {*words} and "there" in words:
        events = ["exists"]
    is_piece = "no" in words and not found.names and not {*words} & _STAYS
    if not events and is_piece:  # of a list: `no files`
        events = ["created"]
    if ("new" in words and events == ["exists"]) or {*events} == {"created", "exists"}:
        events = ["created"] if "or" not in words else events
    return tuple(dict.fromkeys(events)), False


def _names(found: Prefix) -> tuple[tuple[str, ...], str | int]:
    """The files that are named, and the folder that they are said to be in (-1: nobody knows)."""
    names: list[str] = []
    where = ""
    known = found.known
    for position, token in enumerate(known):
        if not token.is_name:
            continue
        before = {each.word for each in known[max(0, position - 2) : position]}
        after = known[position + 1].word if position + 1 < len(known) else ""
        folder = after in _FOLDERS or is_folder(token.name) or before & _FOLDERS
        into = folder and before & _INTO
        if into or (before & {"in", "inside", "into", "under", "within"} and (names or folder)):
            if where or not folder:
                return (), -1
            where = token.name
        else:
            names.append(token.name)
    if not names:
        languages = [_LANGUAGES[word] for word in sorted(found.words) if word in _LANGUAGES]
        names = languages
    return tuple(names), where


def _checked(rule: Rule, found: Prefix) -> Rule | str:
    """The rule, unless it would have to guess what its sentence means."""
    words = found.words
    if rule.only and not (rule.names and _is_clear_only(rule, words)):
        return "only, or except, of something that is not named"
    if rule.only and (words & _SORTS or _is_only_verb(found)):
        return "only of files of one kind, or of what happened to one"
    if rule.kind == "folder" and (rule.quantity or not rule.names or rule.only):
        return "folders are not counted"
    if rule.names and not (words & (NOUNS | _FOLDERS)) and not all(map(_is_path, rule.names)):
        return "it names something that is no file"
    if rule.quantity and rule.names and not any("*" in name for name in rule.names):
        return "it counts files that it names"
    if rule.quantity and (rule.negated or len(rule.events) > 1):
        return "it denies a number, or counts several things"
    if {"all", "both"} & words and (rule.negated or not rule.names) and not words & _UNCHANGED:
        return "all of files that are not named, or not all"
    if "or" in words and "and" in words and not rule.negated:
        return "it joins its claims in several ways"
    if "empty" in rule.events and not rule.names:
        return "it does not name the file"
    return _without_names(rule, found)


def _is_only_verb(found: Prefix) -> bool:
    """Is it `a.md was only modified`, which says nothing of other files?"""
    words = [token.word or "name" for token in found.known]
    place = words.index("only") if "only" in words else 0
    return "name" in words[:place] and words[place + 1 : place + 2] != []


def _is_clear_only(rule: Rule, words: frozenset[str]) -> bool:
    if "except" in words:
        return rule.negated
    return not rule.negated and rule.events != ("exists",)


def _without_names(rule: Rule, found: Prefix) -> Rule | str:
    if rule.names:
        return rule
    definite = any(
        a.word == "the" and b.word in NOUNS and b.word[-1] != "s" for a, b in pairwise(found.known)
    )
    if definite or ("exists" in rule.events and not rule.quantity) or found.words & _SORTS:
        return "it does not say which file"
    return rule
