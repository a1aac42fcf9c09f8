"""Why a decision came out as it did: each n-gram asked for, its count, its weight and what it added."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.data.columns import Columns
from disambig.data.crossed_columns import CrossedColumns
from disambig.data.dense import DenseBlocks
from disambig.data.instances import Instances
from disambig.data.sparse import CrossedRows, SparseRows
from disambig.features.contexts import CONTEXTS
from disambig.model.model import Model
from disambig.text.view import SENTENCE_END, SENTENCE_START, TokenView
from disambig.types import CandidateBatch

_PATTERNS = {" ".join(["."] * left + ["_"] + ["."] * right): c for c, (left, right) in enumerate(CONTEXTS)}
"""Which context a column is about, by its name (see `disambig.features.ngram_counts.columns_of`)."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One attribute of one candidate.

    Attributes
    ----------
    candidate : str
    evidence : str
        The n-gram, or the attribute's name where it is no n-gram.
    value : float
        The attribute: log(count + 1), or whatever the extractor makes of the n-gram.
    count : int or None
        The count, for n-grams.
    weight : float
    contribution : float
        ``weight * value``; a candidate's contributions sum to its score.
    """

    candidate: str
    evidence: str
    value: float
    count: int | None
    weight: float
    contribution: float


def explain(model: Model, view: TokenView, index: int) -> list[Reason]:
    """Return the reasons behind decision `index` of ``model.instances(view)``, candidate by candidate.

    Attributes of value zero are left out. A scorer that is linear says so by ``linear(batch)`` (see
    `disambig.types.Scorer`); for others the list is empty.
    """
    instances = model.instances(view).take(np.array([index]))
    group = int(instances.groups[0])
    candidates = model.task.groups[group].candidates
    features = model.features(view, instances, group)
    linear = getattr(model.scorer(group, features), "linear", None)
    if linear is None:
        return []
    batch, weights = linear(features.batch)
    names = _names(batch, features.batch)
    counts = _counts(model, view, instances, group)
    position, length = int(instances.positions[0]), int(instances.lengths[0])
    reasons = []
    for r, candidate in enumerate(candidates):
        for column, value in zip(*_row(batch, r), strict=True):
            if value == 0:
                continue
            about, _, what = names(column).rpartition(": ")
            context = _PATTERNS.get(what) if about in candidates else None
            count = None
            shown = what if about in ("", candidate) else f"{about}: {what}"
            if counts is not None and context is not None and counts[candidates.index(about), context] >= 0:
                count = int(counts[candidates.index(about), context])
                shown = _filled(view, position, length, CONTEXTS[context], about)
            reasons.append(
                Reason(
                    candidate,
                    shown,
                    float(value),
                    count,
                    float(weights[column]),
                    float(weights[column] * value),
                )
            )
    return reasons


def _row(batch: CandidateBatch, r: int) -> tuple[list[int], list[float]]:
    """Return columns and values of the attributes of candidate `r` of the only instance."""
    if isinstance(batch, DenseBlocks):
        return batch.column_of[r].tolist(), batch.values[0, r].tolist()
    if isinstance(batch, CrossedRows):
        row, width = batch.rows[[0]], batch.rows.shape[1]
        if hasattr(row, "tocsr"):
            return (r * width + row.tocsr().indices).tolist(), row.tocsr().data.tolist()
        return (r * width + np.arange(width)).tolist(), np.asarray(row).ravel().tolist()
    if isinstance(batch, SparseRows):
        row = batch.rows[[r]].tocsr()
        return row.indices.tolist(), row.data.tolist()
    raise TypeError(f"no explanation of {type(batch).__name__}")


def _names(batch: CandidateBatch, own: CandidateBatch) -> Callable[[int], str]:
    """Return what names a column of `batch`, which may be `own` with all attributes for each candidate.

    A name is that of its attribute, or of its feature group and a number where it has none.
    """
    if isinstance(batch, CrossedRows) and isinstance(own, DenseBlocks):
        return lambda column: _name(own.columns, int(own.column_of.flat[column % own.column_of.size]))
    return lambda column: _name(batch.columns, column)


def _name(columns: Columns, column: int) -> str:
    named = str(columns.names[column]) if len(columns.names) else ""
    if isinstance(columns, CrossedColumns) and len(columns.group_names) > 1:  # "river" of which extractor?
        group = columns.group_names[columns.own.groups[column % len(columns.own)]]
        return f"{named} ({group})" if named else f"{group} {column}"
    return named or f"{columns.group_names[columns.groups[column]]} {column}"


def _counts(model: Model, view: TokenView, instances: Instances, group: int) -> NDArray[np.int64] | None:
    """Return the count of each candidate in each context, shape (K, 14), in the first table there is.

    It is -1 for contexts that reach past the sentence: there is no n-gram to show.
    """
    from disambig.features.ngram_counts import NgramCounts

    for extractor in model.extractors:
        if isinstance(extractor, NgramCounts):
            ranks, usable = extractor.look_up(view, instances, model.task.groups[group])
            return np.where(usable[0], extractor.table.values[ranks[0]].astype(np.int64), -1)
    return None


def _filled(view: TokenView, position: int, length: int, context: tuple[int, int], candidate: str) -> str:
    left, right = context
    before = [_word(view, position - left + i) for i in range(left)]
    after = [_word(view, position + length + i) for i in range(right)]
    return " ".join([*before, *candidate.split(), *after])


def _word(view: TokenView, token: int) -> str:
    start, end = int(view.starts[token]), int(view.ends[token])
    if start == end:
        is_start = token in view.sentences
        return SENTENCE_START if is_start else SENTENCE_END
    document = int(view.document_of(np.array([token]))[0])
    return view.texts[document][start:end].lower()
