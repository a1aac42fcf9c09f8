"""Mistakes that people made and corrected, and clean paragraphs, as JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disambig.data import record_edit
from disambig.errors import UserError
from disambig.files import READ_ERRORS, open_bytes, read_error
from disambig.formats.documents import can_be_encoded, decode_line, read_lines

KINDS = ("replace", "insert", "delete")
_CLOSING = tuple(".,;:!?)]}")


@dataclass(frozen=True, slots=True)
class Fix:
    """One place of a text where a writer put one word in, took one out, or changed it.

    Attributes
    ----------
    before : str
        The text with the mistake.
    start, end : int
        Character offsets of the place in `before`; equal where a word is missing: just before the next one.
    old, new : str
        What stands there, ``before[start:end]``, and what should; empty for no word.
    category : str
        What kind of mistake it is, such as ``"preposition"`` (``"class"`` in the file).
    sub : str
        The kind within the category, such as ``"its/it's"``.
    kind : str
        What the correction does: one of `KINDS`.
    tier : int
        1: very likely the correction of a mistake; 2: often clearer wording or taste.
    repo : str
        The project that the text is of; its texts are alike, so it is what must not be split.
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
        """Return the text with this one mistake corrected, a space put in or taken out with the word."""
        left, right, new = self.before[: self.start], self.before[self.end :], self.new
        if self.kind == "delete":
            record = {"start": self.start, "end": self.end, "observed": self.old, "replacement": ""}
            made = record_edit(record, self.before)
            return self.before[: made["start"]] + made["replacement"] + self.before[made["end"] :]
        if self.kind == "insert":
            new = f" {new}" if left[-1:].isalnum() else new
            new = f"{new} " if right and not right[0].isspace() and right[0] not in _CLOSING else new
        return left + new + right


@dataclass(frozen=True, slots=True)
class Clean:
    """A paragraph without a known mistake, and the project that it is of."""

    text: str
    repo: str
    where: str = ""


def fix_kind(old: str, new: str) -> str:
    """Return what a correction does: one of `KINDS`."""
    return "insert" if not old else "replace" if new else "delete"


MOST_TIERS = 2
_TEXTS = ("before", "old", "new")
_OPTIONAL = ("class", "sub", "kind", "repo", "id")
_FORM = 'a mistake is {"before": ..., "start": ..., "end": ..., "old": ..., "new": ...}'
_CLEAN_FORM = 'a clean paragraph is {"text": ..., "repo": ...}'


def read_fixes(path: str | Path, *, tier: int = MOST_TIERS) -> list[Fix]:
    """Read the mistakes of a file, or of standard input (``-``).

    Parameters
    ----------
    tier : int
        Read those of this tier and of lower ones.

    Raises
    ------
    UserError
        D345 for a line that is no mistake, D346 where there is none; D300 to D308 for the file.
    """
    fixes = [
        fix
        for entry, where in _objects(str(path), _FORM)
        if (fix := _read_fix_line(entry, where)).tier <= tier
    ]
    if not fixes:
        of_tier = "" if tier >= MOST_TIERS else f" of tier {tier}"
        raise UserError("D346", path=path, what=f"mistake{of_tier}", form=_FORM)
    return fixes


def read_clean(path: str | Path) -> list[Clean]:
    """Read the clean paragraphs of a file, or of standard input (``-``).

    Raises
    ------
    UserError
        D345 for a line that is no paragraph, D346 where there is none; D300 to D308 for the file.
    """
    paragraphs = [_read_clean_line(entry, where) for entry, where in _objects(str(path), _CLEAN_FORM)]
    if not paragraphs:
        raise UserError("D346", path=path, what="paragraph", form=_CLEAN_FORM)
    return paragraphs


def _objects(path: str, form: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the JSON object of each line, and where it stands."""
    try:
        with open_bytes(path) as stream:
            for line in read_lines(stream):
                text = decode_line(line, path).removeprefix("\ufeff").strip()
                if not text:
                    continue
                where = f"{path}, line {line.number}"
                try:
                    entry = json.loads(text)
                except (ValueError, RecursionError) as problem:
                    raise _fix_error(where, f"no JSON ({problem})", form) from None
                if not isinstance(entry, dict):
                    raise _fix_error(where, "no JSON object", form)
                yield {key: value for key, value in entry.items() if value is not None}, where
    except READ_ERRORS as problem:
        raise read_error(path, problem) from problem


def _read_fix_line(entry: dict[str, Any], where: str) -> Fix:
    problem = _fix_problem(entry)
    if problem:
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
    """Say why this is no mistake; empty if it is one."""
    for key in (*_TEXTS, *(key for key in _OPTIONAL if key in entry)):
        if not isinstance(entry.get(key), str) or not can_be_encoded(entry[key]):
            return f"no {key!r} that is text" if key in entry else f"no {key!r}"
    before, old, new = (entry[key] for key in _TEXTS)
    start, end = entry.get("start"), entry.get("end")
    if type(start) is not int or type(end) is not int:
        return '"start" and "end" are no whole numbers'
    if not 0 <= start <= end <= len(before):
        return f"{start} to {end} is no part of {len(before)} characters"
    if before[start:end] != old:
        return f"{before[start:end]!r} stands at {start} to {end}, not {old!r}"
    if old.split() == new.split():
        return f'"old" and "new" are the same, {old!r}'
    if entry.get("kind", fix_kind(old, new)) != fix_kind(old, new):
        given = entry["kind"] if entry["kind"] in KINDS else repr(entry["kind"])
        return f"the kind is {given}, and {old!r} becoming {new!r} is {fix_kind(old, new)}"
    if type(entry.get("tier", 1)) is not int or not 1 <= entry.get("tier", 1) <= MOST_TIERS:
        return f"the tier is {entry['tier']!r}, not 1 or {MOST_TIERS}"
    return ""


def _read_clean_line(entry: dict[str, Any], where: str) -> Clean:
    for key in ("text", "repo"):
        if not isinstance(entry.get(key, ""), str) or not can_be_encoded(entry.get(key, "")):
            raise _fix_error(where, f"no {key!r} that is text", _CLEAN_FORM)
    if "text" not in entry:
        raise _fix_error(where, "no 'text'", _CLEAN_FORM)
    return Clean(entry["text"], entry.get("repo") or entry["text"], where)


def _fix_error(where: str, problem: str, form: str) -> UserError:
    return UserError("D345", where=where, problem=problem, form=form)
