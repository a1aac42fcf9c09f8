"""Read mistakes that people made and corrected, clean paragraphs, and readings of flags from JSON Lines."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disambig.data import record_edit
from disambig.errors import UserError
from disambig.formats.documents import Row, can_be_encoded, read_each, read_text_lines

KINDS = ("replace", "insert", "delete")
_CLOSING = tuple(".,;:!?)]}")


@dataclass(frozen=True, slots=True)
class Fix:
    """One correction by a writer: a word that was inserted, deleted or replaced.

    Attributes
    ----------
    before : str
        The text with the mistake.
    start, end : int
        Character offsets of the place in `before`; for a missing word, both are the start of the next word.
    old, new : str
        The written text, ``before[start:end]``, and the correction; empty for no word.
    category : str
        The kind of mistake, such as ``"preposition"`` (``"class"`` in the file).
    sub : str
        The subclass within the category, such as ``"its/it's"``.
    kind : str
        The edit of the correction: one of `KINDS`.
    tier : int
        1: very likely corrects a mistake; 2: often a matter of wording or taste.
    repo : str
        The project of the text. Texts of a project are similar, so they are never split between sets.
    where : str
        File and line, for messages.
    id : str
    """

    before: str
    start: int
    end: int
    old: str
    new: str
    category: str
    sub: str
    kind: str
    tier: int
    repo: str
    where: str = ""
    id: str = ""

    def corrected(self) -> str:
        """Return the text with this mistake corrected; a space is inserted or deleted with the word."""
        left, right, new = self.before[: self.start], self.before[self.end :], self.new
        if self.kind == "delete":
            record = {"start": self.start, "end": self.end, "observed": self.old, "replacement": ""}
            edit = record_edit(record, self.before)
            return self.before[: edit["start"]] + edit["replacement"] + self.before[edit["end"] :]
        if self.kind == "insert":
            new = f" {new}" if left[-1:].isalnum() else new
            new = f"{new} " if right and not right[0].isspace() and right[0] not in _CLOSING else new
        return left + new + right


@dataclass(frozen=True, slots=True)
class Clean:
    """A paragraph without a known mistake, and its project."""

    text: str
    repo: str
    where: str = ""


FLAG_LABELS = ("mistake", "taste", "wrong")
"""What the text at a flag is: a mistake; informal or one of several accepted forms; right."""


@dataclass(frozen=True, slots=True)
class FlagReading:
    """A reader's verdict on a flag in a clean paragraph, without the text.

    Attributes
    ----------
    paragraph : str
        SHA-256 of the text (see `paragraph_digest`).
    start, end : int
        Character offsets of the replaced text; equal for an insertion.
    new : str
        The suggestion; empty for a deletion.
    label : str
        One of `FLAG_LABELS`.
    right : bool
        Whether the suggestion corrects the mistake; False for other labels.
    where : str
        File and line, for messages.
    """

    paragraph: str
    start: int
    end: int
    new: str
    label: str
    right: bool = False
    where: str = ""


def paragraph_digest(text: str) -> str:
    """Return the SHA-256 by which a reading names the text of a paragraph, as 64 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf8")).hexdigest()


def fix_kind(old: str, new: str) -> str:
    """Return the edit of a correction: one of `KINDS`."""
    return "insert" if not old else "replace" if new else "delete"


_MAX_TIER = 2
_TEXTS = ("before", "old", "new")
_OPTIONAL = ("class", "sub", "kind", "repo", "id")
_FORM = 'a mistake is {"before": ..., "start": ..., "end": ..., "old": ..., "new": ...}'
_CLEAN_FORM = 'a clean paragraph is {"text": ..., "repo": ...}'
_READING_FORM = 'a reading is {"paragraph": ..., "start": ..., "end": ..., "new": ..., "label": ...}'
_DIGEST = re.compile("[0-9a-f]{64}")


def read_fixes(path: str | Path, *, tier: int = _MAX_TIER) -> list[Fix]:
    """Read mistakes from a file, or from standard input (``-``).

    Parameters
    ----------
    tier : int
        Highest tier to read.

    Raises
    ------
    UserError
        D345 for a line that is not a mistake, D346 if there are none; D300 to D308 for the file.
    """
    fixes = [fix for fix in _read_objects(str(path), _FORM, _read_fix_line) if fix.tier <= tier]
    with_tier = "" if tier >= _MAX_TIER else f" of tier {tier}"
    return _not_empty(fixes, path, f"mistake{with_tier}", _FORM)


def read_clean(path: str | Path) -> list[Clean]:
    """Read clean paragraphs from a file, or from standard input (``-``).

    Raises
    ------
    UserError
        D345 for a line that is not a paragraph, D346 if there are none; D300 to D308 for the file.
    """
    paragraphs = _read_objects(str(path), _CLEAN_FORM, _read_clean_line)
    return _not_empty(paragraphs, path, "paragraph", _CLEAN_FORM)


def read_flag_readings(path: str | Path) -> list[FlagReading]:
    """Read what a reader decided about flags in clean paragraphs, from a file or standard input (``-``).

    Raises
    ------
    UserError
        D345 for a line that is not a reading, D346 if there are none; D300 to D308 for the file.
    """
    readings = _read_objects(str(path), _READING_FORM, _read_reading_line)
    return _not_empty(readings, path, "reading", _READING_FORM)


def _not_empty(rows: list[Row], path: str | Path, what: str, form: str) -> list[Row]:
    if not rows:
        raise UserError("D346", path=path, what=what, form=form)
    return rows


def _read_objects(path: str, form: str, read_entry: Callable[[dict[str, Any], str], Row]) -> list[Row]:
    """Read the JSON object of each line; one error names all invalid lines."""

    def read(number: int, text: str) -> list[Row]:
        where = f"{path}, line {number}"
        return [read_entry(_object(text, where, form), where)]

    return read_each(read_text_lines(path), read)


def _object(text: str, where: str, form: str) -> dict[str, Any]:
    """Return the JSON object in a line without the keys that are null."""
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise _fix_error(where, f"not JSON ({problem})", form) from None
    if not isinstance(entry, dict):
        raise _fix_error(where, "not a JSON object", form)
    return {key: value for key, value in entry.items() if value is not None}


def _read_fix_line(entry: dict[str, Any], where: str) -> Fix:
    """Return the mistake in a line. Raises D345 if it is not one."""
    if problem := _fix_problem(entry):
        raise _fix_error(where, problem, _FORM)
    kind = fix_kind(entry["old"], entry["new"])
    return Fix(
        before=entry["before"],
        start=entry["start"],
        end=entry["end"],
        old=entry["old"],
        new=entry["new"],
        category=entry.get("class") or "other",
        sub=entry.get("sub", ""),
        kind=kind,
        tier=entry.get("tier", 1),
        repo=entry.get("repo") or entry["before"],
        where=where,
        id=entry.get("id", ""),
    )


def _fix_problem(entry: dict[str, Any]) -> str:
    """Return why an entry is not a valid mistake; empty if it is."""
    for key in (*_TEXTS, *(key for key in _OPTIONAL if key in entry)):
        if not isinstance(entry.get(key), str) or not can_be_encoded(entry[key]):
            return f"{key!r} is not valid text" if key in entry else f"{key!r} is missing"
    before, old, new = (entry[key] for key in _TEXTS)
    start, end = entry.get("start"), entry.get("end")
    if type(start) is not int or type(end) is not int:
        return '"start" and "end" must be whole numbers'
    if not 0 <= start <= end <= len(before):
        return f"{start} to {end} is not a range in {len(before)} characters"
    if before[start:end] != old:
        return f"the text at {start} to {end} is {before[start:end]!r}, not {old!r}"
    if old.split() == new.split():
        return f'"old" and "new" are the same: {old!r}'
    if entry.get("kind", fix_kind(old, new)) != fix_kind(old, new):
        kind = entry["kind"] if entry["kind"] in KINDS else repr(entry["kind"])
        return f"the kind is {kind}, but changing {old!r} to {new!r} is {fix_kind(old, new)}"
    if type(entry.get("tier", 1)) is not int or not 1 <= entry.get("tier", 1) <= _MAX_TIER:
        return f"the tier is {entry['tier']!r}, not 1 or {_MAX_TIER}"
    return ""


def _read_clean_line(entry: dict[str, Any], where: str) -> Clean:
    for key in ("text", "repo"):
        if not isinstance(entry.get(key, ""), str) or not can_be_encoded(entry.get(key, "")):
            raise _fix_error(where, f"{key!r} is not valid text", _CLEAN_FORM)
    if "text" not in entry:
        raise _fix_error(where, "'text' is missing", _CLEAN_FORM)
    return Clean(entry["text"], entry.get("repo") or entry["text"], where)


def _read_reading_line(entry: dict[str, Any], where: str) -> FlagReading:
    if problem := _reading_problem(entry):
        raise _fix_error(where, problem, _READING_FORM)
    return FlagReading(
        paragraph=entry["paragraph"],
        start=entry["start"],
        end=entry["end"],
        new=entry["new"],
        label=entry["label"],
        right=entry.get("right", False),
        where=where,
    )


def _reading_problem(entry: dict[str, Any]) -> str:
    """Return why an entry is not a valid reading; empty if it is."""
    for key in ("paragraph", "start", "end", "new", "label"):
        if key not in entry:
            return f"{key!r} is missing"
    if not isinstance(entry["paragraph"], str) or not _DIGEST.fullmatch(entry["paragraph"]):
        return f'"paragraph" is {entry["paragraph"]!r}, not a SHA-256 of 64 hexadecimal digits'
    start, end = entry["start"], entry["end"]
    if type(start) is not int or type(end) is not int:
        return '"start" and "end" must be whole numbers'
    if not 0 <= start <= end:
        return f"{start} to {end} is not a range of characters"
    if not isinstance(entry["new"], str) or not can_be_encoded(entry["new"]):
        return "'new' is not valid text"
    if start == end and not entry["new"].strip():
        return "nothing is replaced or inserted"
    if entry["label"] not in FLAG_LABELS:
        return f"the label is {entry['label']!r}, not one of {', '.join(FLAG_LABELS)}"
    right = entry.get("right", False)
    if not isinstance(right, bool):
        return f'"right" is {right!r}, not true or false'
    if right and entry["label"] != "mistake":
        return f'"right" is true, but the label is {entry["label"]}'
    return ""


def _fix_error(where: str, problem: str, form: str) -> UserError:
    return UserError("D345", where=where, problem=problem, form=form)
