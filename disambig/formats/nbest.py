"""N-best lists as JSON Lines: reading, conversion to columns, and writing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import CandidateLists, CandidateWords, Decisions, Instances, offsets_from_sizes, segments
from disambig.errors import UserError
from disambig.formats.documents import can_be_encoded, document_id, read_text_lines

_MAX_CANDIDATES = 1_000_000
"""Maximum number of candidates of a list."""


@dataclass(frozen=True, slots=True)
class NBestList:
    """One list of candidates."""

    id: str
    candidates: tuple[str, ...]  # in the order of the source
    # one per candidate; None if not given
    scores: tuple[float, ...] | None
    costs: tuple[float, ...] | None
    features: tuple[Mapping[str, float], ...]  # one mapping per candidate
    reference: str | None  # the right text, which need not be among the candidates
    # The document, else the reference, else the id. It is never split between training and testing
    document: str
    where: str  # file and line, for messages
    source: Mapping[str, Any]  # the original JSON object
    # the words of each candidate and a tag for each word; None if not given
    words: tuple[tuple[str, ...], ...] | None = None
    tags: tuple[tuple[str, ...], ...] | None = None


def read_nbest(
    paths: str | Sequence[str], *, bad: Callable[[UserError], object] | None = None
) -> Iterator[NBestList]:
    """Yield the lists of files, which may be compressed; ``-`` is standard input.

    Raises D334 for a line that is not a list; D300 to D308 for the file.

    `bad`: called with the error of each line that is not a list, which is then left out.
    """
    for path in [paths] if isinstance(paths, str) else paths:
        for number, text in read_text_lines(path):
            try:
                item = parse_line(text, f"{path}:{number}", document_id(None, path, number))
            except UserError as error:
                if bad is None:
                    raise
                bad(error)
                continue
            yield item


def parse_line(text: str, where: str, name: str = "") -> NBestList:
    """Parse the list in a line; `name` is its id if it has none. Raises D334 if it is not a list."""
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError("D334", where=where, problem=f"not JSON ({error})") from None
    entry = _without_nulls(entry)
    if problem := _problem(entry):
        raise UserError("D334", where=where, problem=problem)
    candidates = entry["candidates"]
    reference = entry.get("reference")
    identity = str(entry["id"]) if entry.get("id") not in (None, "") else name or where
    document = str(entry.get("document") or reference or identity)
    return NBestList(
        identity,
        tuple(candidate["text"] for candidate in candidates),
        _column(candidates, "score"),
        _column(candidates, "cost"),
        tuple(candidate.get("features") or {} for candidate in candidates),
        reference,
        document,
        where,
        entry,
        _texts(candidates, "words"),
        _texts(candidates, "tags"),
    )


def _without_nulls(tree: Any) -> Any:
    """Return a JSON value without the keys whose value is null."""
    if isinstance(tree, dict):
        return {key: _without_nulls(value) for key, value in tree.items() if value is not None}
    return [_without_nulls(item) for item in tree] if isinstance(tree, list) else tree


def _column(candidates: Sequence[Mapping[str, Any]], key: str) -> tuple[float, ...] | None:
    return tuple(float(candidate[key]) for candidate in candidates) if key in candidates[0] else None


def _texts(candidates: Sequence[Mapping[str, Any]], key: str) -> tuple[tuple[str, ...], ...] | None:
    return tuple(tuple(candidate[key]) for candidate in candidates) if key in candidates[0] else None


def _problem(entry: Any) -> str:
    """Return why a JSON value is not a list of candidates; empty if it is."""
    if not isinstance(entry, dict):
        return "not a JSON object"
    candidates = entry.get("candidates")
    if not isinstance(candidates, list) or not candidates:
        return '"candidates" must be a list with at least one candidate'
    if len(candidates) > _MAX_CANDIDATES:
        return f"{len(candidates):,} candidates: more than {_MAX_CANDIDATES:,}"
    for key in ("reference", "document"):
        if not isinstance(entry.get(key, ""), str) or not can_be_encoded(entry.get(key, "")):
            return f"{key!r} is not text"
    if isinstance(entry.get("id", ""), list | dict | bool | float):
        return '"id" is neither a text nor a whole number'
    for number, candidate in enumerate(candidates, 1):
        if problem := _column_problem(candidate):
            return f"candidate {number}: {problem}"
    for key in ("score", "cost", "words", "tags"):
        n = sum(key in candidate for candidate in candidates)
        if 0 < n < len(candidates):
            return f"{n} of {len(candidates)} candidates have {key!r}: give it to all of them, or to none"
    return ""


def _column_problem(candidate: Any) -> str:
    if not isinstance(candidate, dict) or not isinstance(candidate.get("text"), str):
        return 'not an object with a "text"'
    if not can_be_encoded(candidate["text"]):
        return "half a surrogate pair in its text"
    for key in ("score", "cost"):
        if key in candidate and not _is_number(candidate[key]):
            return f"{key!r} is {candidate[key]!r}, not a finite number"
    if candidate.get("cost", 0) < 0:
        return f'"cost" is {candidate["cost"]!r}, below zero'
    if problem := _words_problem(candidate):
        return problem
    features = candidate.get("features", {})
    if not isinstance(features, dict):
        return '"features" is not an object with names and numbers'
    invalid = next((name for name, value in features.items() if not _is_number(value)), None)
    return "" if invalid is None else f"the feature {invalid!r} is {features[invalid]!r}, not a finite number"


def _words_problem(candidate: Mapping[str, Any]) -> str:
    for key in ("words", "tags"):
        texts = candidate.get(key, [])
        if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
            return f"{key!r} is not a list of non-empty texts"
        if not all(map(can_be_encoded, texts)):
            return f"half a surrogate pair in {key!r}"
    if "tags" in candidate and len(candidate["tags"]) != len(candidate.get("words", ())):
        return f'{len(candidate["tags"])} "tags" for {len(candidate.get("words", ()))} "words"'
    return ""


def _is_number(value: Any) -> bool:
    # the comparison is false for NaN and infinity too
    return isinstance(value, int | float) and not isinstance(value, bool) and -1e30 < value < 1e30


CostMeasure = Callable[[Sequence[str], Sequence[str]], NDArray[np.float32]]


def to_candidate_lists(items: Sequence[NBestList], measure: CostMeasure | None = None) -> CandidateLists:
    """Convert lists to columns.

    `measure`: maps texts and references to costs, for lists that have a reference but no costs.
    Costs are NaN if neither the list nor the measure gives them. If some lists have words, the texts
    of the others are split at white space; there are tags only if all lists have them.
    """
    plain = CandidateLists.from_texts([item.candidates for item in items])
    scores, costs = np.zeros(len(plain.texts)), np.full(len(plain.texts), np.nan, np.float32)
    texts: list[str] = []
    references: list[str] = []
    rows: list[range] = []
    for item, start, stop in zip(items, plain.offsets[:-1].tolist(), plain.offsets[1:].tolist(), strict=True):
        if item.scores is not None:
            scores[start:stop] = item.scores
        if item.costs is not None:
            costs[start:stop] = item.costs
        elif item.reference is not None and measure is not None:
            texts += item.candidates
            references += [item.reference] * len(item.candidates)
            rows.append(range(start, stop))
    if rows and measure is not None:
        costs[np.concatenate([np.array(row) for row in rows])] = measure(texts, references)
    names = tuple(sorted({name for item in items for values in item.features for name in values}))
    features, words = _features(items, names), _words(items)
    return CandidateLists(plain.offsets, plain.texts, scores, plain.ranks, costs, features, names, words)


def list_instances(lists: CandidateLists) -> Instances:
    """Return lists as instances outside any text; the observed candidate is the first with the lowest cost.

    It is -1 in lists without costs.
    """
    gains = np.where(np.isnan(lists.costs), np.inf, -lists.costs.astype(np.float64))
    has_costs = segments.maxima(gains, lists.offsets) < np.inf
    observed = np.where(has_costs, segments.argmax(gains, lists.offsets), -1).astype(np.int32)
    zeros = np.zeros(len(lists), np.int32)
    return Instances(np.arange(len(lists), dtype=np.int64), zeros, zeros, observed, lists)


def _words(items: Sequence[NBestList]) -> CandidateWords | None:
    if all(item.words is None for item in items):
        return None
    words_of_lists = (item.words or [text.split() for text in item.candidates] for item in items)
    tagged = all(item.tags is not None for item in items)
    tags = (tag for item in items for tag in item.tags or ()) if tagged else None
    return CandidateWords.from_words((words for lists in words_of_lists for words in lists), tags)


def _features(items: Sequence[NBestList], names: Sequence[str]) -> object:
    if not names:
        return None
    from scipy.sparse import csr_array

    number = {name: i for i, name in enumerate(names)}
    rows = [row for item in items for row in item.features]
    columns = [number[name] for row in rows for name in row]
    values = [float(value) for row in rows for value in row.values()]
    starts = offsets_from_sizes(map(len, rows))
    matrix = csr_array((np.array(values), np.array(columns, np.int64), starts), (len(rows), len(names)))
    matrix.sort_indices()
    return matrix


@contextmanager
def name_error_place(items: Sequence[NBestList]) -> Iterator[None]:
    """Add file, line and candidate to errors in the block that are about a text.

    Such an error has the values ``text``, of a candidate or a reference, and ``path``, which is replaced.
    """
    try:
        yield
    except UserError as error:
        where = _text_place(items, error.values.get("text")) if "path" in error.values else ""
        if not where:
            raise
        raise UserError(error.code, **(error.values | {"path": where})) from None


def _text_place(items: Sequence[NBestList], text: object) -> str:
    for item in items:
        if text in item.candidates:
            return f"{item.where}, candidate {item.candidates.index(str(text)) + 1:,}"
        if text is not None and text == item.reference:
            return f"{item.where}, reference"
    return ""


def format_lines(items: Sequence[NBestList], decisions: Decisions) -> Iterator[str]:
    """Yield the line of each list; each candidate gets ``"model_score"`` and ``"rank"``, its original index.

    `decisions`: one decision per list, in the same order.
    """
    for i, item in enumerate(items):
        low, high = int(decisions.offsets[i]), int(decisions.offsets[i + 1])
        scores = decisions.scores[low:high].astype(np.float64)
        order = np.argsort(-scores, kind="stable").tolist()
        originals = item.source["candidates"]
        candidates = [{**originals[c], "model_score": round(float(scores[c]), 6), "rank": c} for c in order]
        entry = {
            **item.source,
            "candidates": candidates,
            "probability": round(float(decisions.probabilities[i]), 6),
            "margin": round(float(decisions.margins[i]), 4) if len(originals) > 1 else None,
        }
        yield json.dumps(entry, ensure_ascii=False)
