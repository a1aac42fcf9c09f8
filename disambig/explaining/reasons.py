"""The parts of a score: each attribute of each candidate, its weight, and what stands behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from disambig.data.batches.columns import Columns
from disambig.data.batches.crossed_columns import CrossedColumns
from disambig.data.batches.dense import DenseBlocks
from disambig.data.batches.dense_lists import DenseLists
from disambig.data.batches.joined import JoinedRows
from disambig.data.batches.sparse import CrossedRows, SparseRows
from disambig.data.instances import Instances
from disambig.features.evidence import Evidence, Explains, NamesFeatures
from disambig.model.model import Model
from disambig.text.view import TokenView
from disambig.types import CandidateBatch, Linear


@dataclass(frozen=True, slots=True)
class Reason:
    """One attribute of one candidate.

    Attributes
    ----------
    candidate : str
    evidence : str
        What was looked up, such as an n-gram, or the attribute's name.
    value : float
        The attribute: log(count + 1), or whatever the extractor makes of what it found.
    count : int or None
        How often what was looked up was seen.
    weight : float
    contribution : float
        ``weight * value``; a candidate's contributions sum to its score.
    least : int or None
        What `disambig.features.evidence.Evidence.least` says of an attribute with a count.
    attribute : str
        The attribute's name without the candidate: the same of all candidates, such as ``". _"``.
    """

    candidate: str
    evidence: str
    value: float
    count: int | None
    weight: float
    contribution: float
    least: int | None = 1
    attribute: str = ""


def with_names(model: Model, view: TokenView) -> Model:
    """Return a model whose extractors name the features of its places in a view, where they can."""
    if not any(isinstance(extractor, NamesFeatures) for extractor in model.extractors):
        return model
    instances = model.instances(view)
    named = [
        extractor.with_names(view, instances) if isinstance(extractor, NamesFeatures) else extractor
        for extractor in model.extractors
    ]
    return replace(model, extractors=tuple(named))


def explain(model: Model, view: TokenView, index: int) -> list[Reason] | None:
    """Return the parts of the scores of decision `index` of ``model.instances(view)``, by candidate.

    Those of a candidate sum to its score. Attributes of value zero are left out, unless something was looked
    up for them. None for scorers that are not `disambig.types.Linear`: their scores are no sums.
    """
    instances = model.instances(view).take(np.array([index]))
    group = int(instances.groups[0])
    own = instances.own
    candidates = model.task.groups[group].candidates if own is None else own.of_instance(0)
    features = model.features(view, instances, group)
    scorer = model.scorer(group, features)
    if not isinstance(scorer, Linear):
        return None
    batch, weights = scorer.linear(features.batch)
    names = _names(batch, features.batch)
    known = _evidence(model, view, instances, group)
    reasons = []
    for r, candidate in enumerate(candidates):
        for column, value in zip(*_row(batch, r), strict=True):
            name = names(column)
            about, _, what = name.rpartition(": ")
            behind = known.get((about or candidate, what))
            if value == 0 and behind is None:
                continue
            shown = what if about in ("", candidate) else f"{about}: {what}"
            weight = float(weights[column])
            reasons.append(
                Reason(
                    candidate,
                    shown if behind is None else behind.text,
                    float(value),
                    None if behind is None else behind.count,
                    weight,
                    weight * float(value),
                    1 if behind is None else behind.least,
                    what,
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
    if isinstance(batch, DenseLists):
        return list(range(batch.values.shape[1])), batch.values[r].tolist()
    if isinstance(batch, JoinedRows):
        columns, values, width = [], [], 0
        for part in batch.parts:
            own, theirs = _row(part, r)
            columns += [width + column for column in own]
            values += theirs
            width += len(part.columns)
        return columns, values
    mass = np.zeros(int(batch.offsets[-1]))
    mass[r] = 1.0
    row = batch.adjoint(mass)  # whatever the storage: the features of this row alone
    used = np.flatnonzero(row)
    return used.tolist(), row[used].tolist()


def _names(batch: CandidateBatch, own: CandidateBatch) -> Callable[[int], str]:
    """Return what names a column of `batch`, which may be `own` with all attributes for each candidate.

    A name is that of its attribute; where it has none, its number among the features of its group.
    """
    if isinstance(batch, CrossedRows) and isinstance(own, DenseBlocks):
        return lambda column: _name(own.columns, int(own.column_of.flat[column % own.column_of.size]))
    return lambda column: _name(batch.columns, column)


def _name(columns: Columns, column: int) -> str:
    named = str(columns.names[column]) if len(columns.names) else ""
    if isinstance(columns, CrossedColumns) and len(columns.group_names) > 1:  # "river" of which extractor?
        group = columns.group_names[columns.own.groups[column % len(columns.own)]]
        return f"{named} ({group})" if named else _unnamed(group, column)
    return named or _unnamed(columns.group_names[columns.groups[column]], column)


def _unnamed(group: str, column: int) -> str:
    return f"feature {column} of {group} (it has no name)"


def _evidence(
    model: Model, view: TokenView, instances: Instances, group: int
) -> dict[tuple[str, str], Evidence]:
    """Return what the extractors say of their columns; of two of one name what the first extractor says."""
    found: dict[tuple[str, str], Evidence] = {}
    for extractor in model.extractors:
        if isinstance(extractor, Explains):
            found = {**extractor.evidence(view, instances, model.task.groups[group]), **found}
    return found
