"""N-best lists, read: a JSON object a line.

``{"id": "s1", "reference": "...", "document": "...", "candidates": [{"text": "...", "score": -3.2, "cost":
1, "features": {"length": 4}, "words": ["...", ...], "tags": ["...", ...]}, ...]}``; all but ``candidates``
and their texts may be left out. Scores, the higher the better, costs, zero for the right ones, words and
their tags are given for all candidates of a list or for none.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from disambig.errors import UserError
from disambig.files.opening import READ_ERRORS, open_bytes, read_error
from disambig.formats.documents import can_be_encoded, id_of
from disambig.formats.lines import read_lines, text_of

MOST = 1_000_000
"""Candidates of a list, at most."""


@dataclass(frozen=True, slots=True)
class NBest:
    """One list.

    Attributes
    ----------
    id : str
    candidates : tuple of str
        In the order of the source.
    scores, costs : tuple of float, or None
        One a candidate, or not given.
    features : tuple of mapping of str to float
        One mapping a candidate.
    reference : str or None
        What would have been right; it need not be among the candidates.
    document : str
        What must not be split between training and testing: its own, else the reference, else the id.
    where : str
        File and line, for messages.
    source : mapping
        The object as it was read.
    words, tags : tuple of tuple of str, or None
        The words of each candidate and, where there are words, a tag for each of these; or not given.
    """

    id: str
    candidates: tuple[str, ...]
    scores: tuple[float, ...] | None
    costs: tuple[float, ...] | None
    features: tuple[Mapping[str, float], ...]
    reference: str | None
    document: str
    where: str
    source: Mapping[str, Any]
    words: tuple[tuple[str, ...], ...] | None = None
    tags: tuple[tuple[str, ...], ...] | None = None


def read_nbest(
    paths: str | Sequence[str], *, bad: Callable[[UserError], object] | None = None
) -> Iterator[NBest]:
    """Yield the lists of files, ``-`` for standard input; packed ones (.gz, .xz, .zst) too.

    Parameters
    ----------
    bad : callable, optional
        Gets the error of a line that is no list, which is left out then.

    Raises
    ------
    UserError
        D334 for a line that is no list; D300 to D308 for the file.
    """
    for path in [paths] if isinstance(paths, str) else paths:
        try:
            with open_bytes(path) as stream:
                for line in read_lines(stream):
                    text = text_of(line, path).removeprefix("\ufeff").strip()
                    if not text:
                        continue
                    try:
                        found = parsed(text, f"{path}:{line.number}", id_of(None, path, line.number))
                    except UserError as error:
                        if bad is None:
                            raise
                        bad(error)
                        continue
                    yield found
        except READ_ERRORS as problem:
            raise read_error(path, problem) from problem


def parsed(text: str, where: str, name: str = "") -> NBest:
    """Return the list of a line; `name` is its id where it has none.

    Raises
    ------
    UserError
        D334 where it is none.
    """
    try:
        said = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError("D334", where=where, problem=f"no JSON ({error})") from None
    said = _without_nulls(said)
    problem = _problem(said)
    if problem:
        raise UserError("D334", where=where, problem=problem)
    candidates = said["candidates"]
    reference = said.get("reference")
    identity = str(said["id"]) if said.get("id") not in (None, "") else name or where
    document = str(said.get("document") or reference or identity)
    return NBest(
        identity,
        tuple(each["text"] for each in candidates),
        _column(candidates, "score"),
        _column(candidates, "cost"),
        tuple(each.get("features") or {} for each in candidates),
        reference,
        document,
        where,
        said,
        _texts(candidates, "words"),
        _texts(candidates, "tags"),
    )


def _without_nulls(said: Any) -> Any:
    """Return a list without the keys whose value is null: they are left out."""
    if isinstance(said, dict):
        return {key: _without_nulls(value) for key, value in said.items() if value is not None}
    return [_without_nulls(each) for each in said] if isinstance(said, list) else said


def _column(candidates: Sequence[Mapping[str, Any]], key: str) -> tuple[float, ...] | None:
    return tuple(float(each[key]) for each in candidates) if key in candidates[0] else None


def _texts(candidates: Sequence[Mapping[str, Any]], key: str) -> tuple[tuple[str, ...], ...] | None:
    return tuple(tuple(each[key]) for each in candidates) if key in candidates[0] else None


def _problem(said: Any) -> str:
    """Say why this is no list; empty if it is one."""
    if not isinstance(said, dict):
        return "no JSON object"
    candidates = said.get("candidates")
    if not isinstance(candidates, list) or not candidates:
        return 'no "candidates": a list of one at least is wanted'
    if len(candidates) > MOST:
        return f"{len(candidates):,} candidates are more than {MOST:,}"
    for key in ("reference", "document"):
        if not isinstance(said.get(key, ""), str) or not can_be_encoded(said.get(key, "")):
            return f"{key!r} is no text"
    if isinstance(said.get("id", ""), list | dict | bool | float):
        return '"id" is neither a text nor a whole number'
    for number, each in enumerate(candidates, 1):
        problem = _problem_of(each)
        if problem:
            return f"candidate {number}: {problem}"
    for key in ("score", "cost", "words", "tags"):
        n = sum(key in each for each in candidates)
        if 0 < n < len(candidates):
            return f"{n} of {len(candidates)} candidates have {key!r}: give it to all of them, or to none"
    return ""


def _problem_of(candidate: Any) -> str:
    if not isinstance(candidate, dict) or not isinstance(candidate.get("text"), str):
        return 'no object with a "text"'
    if not can_be_encoded(candidate["text"]):
        return "half a surrogate pair in its text"
    for key in ("score", "cost"):
        if key in candidate and not _is_number(candidate[key]):
            return f"{key!r} is {candidate[key]!r}, no finite number"
    if candidate.get("cost", 0) < 0:
        return f'"cost" is {candidate["cost"]!r}, below zero'
    problem = _problem_of_words(candidate)
    if problem:
        return problem
    features = candidate.get("features", {})
    if not isinstance(features, dict):
        return '"features" is no object of names and numbers'
    strange = next((name for name, value in features.items() if not _is_number(value)), None)
    return "" if strange is None else f"the feature {strange!r} is {features[strange]!r}, no finite number"


def _problem_of_words(candidate: Mapping[str, Any]) -> str:
    for key in ("words", "tags"):
        each = candidate.get(key, [])
        if not isinstance(each, list) or not all(isinstance(text, str) and text for text in each):
            return f"{key!r} is no list of texts, none of them empty"
        if not all(map(can_be_encoded, each)):
            return f"half a surrogate pair in {key!r}"
    if "tags" in candidate and len(candidate["tags"]) != len(candidate.get("words", ())):
        return f'{len(candidate["tags"])} "tags" for {len(candidate.get("words", ()))} "words"'
    return ""


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -1e30 < value < 1e30 and math.isfinite(value)
