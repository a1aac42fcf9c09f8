"""Files of mistakes and of clean paragraphs, read and checked.

A mistake is a line such as ``{"before": "We rely in it.", "start": 8, "end": 10, "old": "in", "new": "on",
"class": "preposition", "kind": "replace", "tier": 1, "repo": "who/wrote"}``; ``sub`` and ``id`` are kept
as well, other keys are passed over. Without ``kind`` it is what `old` and `new` say, without ``class``
``"other"``, without ``tier`` 1, without ``repo`` the text is a project of its own. A clean paragraph is
``{"text": ..., "repo": ...}``. Packed files (.gz, .xz, .zst) are read as they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from disambig.errors import UserError
from disambig.files.opening import READ_ERRORS, open_bytes, read_error
from disambig.formats.documents import can_be_encoded
from disambig.formats.fixes.fix import KINDS, Clean, Fix, kind_of
from disambig.formats.lines import read_lines, text_of

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
    found = [fix for said, where in _objects(str(path), _FORM) if (fix := _fix(said, where)).tier <= tier]
    if not found:
        of_tier = "" if tier >= MOST_TIERS else f" of tier {tier}"
        raise UserError("D346", path=path, what=f"mistake{of_tier}", form=_FORM)
    return found


def read_clean(path: str | Path) -> list[Clean]:
    """Read the clean paragraphs of a file, or of standard input (``-``).

    Raises
    ------
    UserError
        D345 for a line that is no paragraph, D346 where there is none; D300 to D308 for the file.
    """
    found = [_clean(said, where) for said, where in _objects(str(path), _CLEAN_FORM)]
    if not found:
        raise UserError("D346", path=path, what="paragraph", form=_CLEAN_FORM)
    return found


def _objects(path: str, form: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the JSON object of each line, and where it stands."""
    try:
        with open_bytes(path) as stream:
            for line in read_lines(stream):
                text = text_of(line, path).removeprefix("\ufeff").strip()
                if not text:
                    continue
                where = f"{path}, line {line.number}"
                try:
                    said = json.loads(text)
                except (ValueError, RecursionError) as problem:
                    raise _refused(where, f"no JSON ({problem})", form) from None
                if not isinstance(said, dict):
                    raise _refused(where, "no JSON object", form)
                yield {key: value for key, value in said.items() if value is not None}, where
    except READ_ERRORS as problem:
        raise read_error(path, problem) from problem


def _fix(said: dict[str, Any], where: str) -> Fix:
    problem = _problem(said)
    if problem:
        raise _refused(where, problem, _FORM)
    kind = kind_of(said["old"], said["new"])
    return Fix(
        before=said["before"],
        start=said["start"],
        end=said["end"],
        old=said["old"],
        new=said["new"],
        category=said.get("class") or "other",
        sub=said.get("sub", ""),
        kind=kind,
        tier=said.get("tier", 1),
        repo=said.get("repo") or said["before"],
        where=where,
        id=said.get("id", ""),
    )


def _problem(said: dict[str, Any]) -> str:
    """Say why this is no mistake; empty if it is one."""
    for key in (*_TEXTS, *(key for key in _OPTIONAL if key in said)):
        if not isinstance(said.get(key), str) or not can_be_encoded(said[key]):
            return f"no {key!r} that is text" if key in said else f"no {key!r}"
    before, old, new = (said[key] for key in _TEXTS)
    start, end = said.get("start"), said.get("end")
    if type(start) is not int or type(end) is not int:
        return '"start" and "end" are no whole numbers'
    if not 0 <= start <= end <= len(before):
        return f"{start} to {end} is no part of {len(before)} characters"
    if before[start:end] != old:
        return f"{before[start:end]!r} stands at {start} to {end}, not {old!r}"
    if old.split() == new.split():
        return f'"old" and "new" are the same, {old!r}'
    if said.get("kind", kind_of(old, new)) != kind_of(old, new):
        known = said["kind"] if said["kind"] in KINDS else repr(said["kind"])
        return f"the kind is {known}, and {old!r} becoming {new!r} is {kind_of(old, new)}"
    if type(said.get("tier", 1)) is not int or not 1 <= said.get("tier", 1) <= MOST_TIERS:
        return f"the tier is {said['tier']!r}, not 1 or {MOST_TIERS}"
    return ""


def _clean(said: dict[str, Any], where: str) -> Clean:
    for key in ("text", "repo"):
        if not isinstance(said.get(key, ""), str) or not can_be_encoded(said.get(key, "")):
            raise _refused(where, f"no {key!r} that is text", _CLEAN_FORM)
    if "text" not in said:
        raise _refused(where, "no 'text'", _CLEAN_FORM)
    return Clean(said["text"], said.get("repo") or said["text"], where)


def _refused(where: str, problem: str, form: str) -> UserError:
    return UserError("D345", where=where, problem=problem, form=form)
