"""What an extractor gave, held against its contract: a plugin's mistake is named before anything learns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from disambig.data.batches.crossed_lists import CrossedLists
from disambig.data.batches.dense import DenseBlocks
from disambig.data.batches.sequences import SequenceRows
from disambig.data.batches.sparse import CrossedRows, SparseRows
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.errors import UserError, broken
from disambig.fields import describes, rows_are_shared
from disambig.text.view import TokenView
from disambig.types import CandidateBatch, DescribesTogether, FeatureExtractor, Features


def transformed(extractor: FeatureExtractor, view: TokenView, instances: Instances, group: Group) -> Features:
    """Return the features of instances of one group, checked.

    Raises
    ------
    UserError
        D414 where rows or evidence are not one a candidate; D418, D419 (see `check_describes`).
    """
    return transformed_all(extractor, view, [(instances, group)])[0]


def transformed_all(
    extractor: FeatureExtractor, view: TokenView, parts: Sequence[tuple[Instances, Group]]
) -> list[Features]:
    """Return the features of instances of several groups, part by part, checked; there is one at least.

    Raises
    ------
    UserError
        As `transformed`.
    """
    own = any(instances.own is not None for instances, _ in parts)
    check_describes(extractor, own=own)
    if len(parts) > 1 and not own and isinstance(extractor, DescribesTogether):
        found = extractor.transform_all(view, parts)
    else:
        found = [extractor.transform(view, instances, group) for instances, group in parts]
    return [_checked(extractor, *each) for each in zip(found, parts, strict=True)]


def _checked(extractor: FeatureExtractor, found: object, part: tuple[Instances, Group]) -> Features:
    if not isinstance(found, Features):
        raise fault(extractor, f"transform returned {type(found).__name__}", "Features")
    n_rows = _check_rows(extractor, found.batch, *part)
    _check_storage(extractor, found.batch)
    for name in ("found", "asked"):
        counts: Any = getattr(found, name)
        if getattr(counts, "shape", None) != (n_rows,) or counts.dtype.kind not in "iu":
            seen = f"{name} is {_described(counts)}"
            raise fault(extractor, seen, f"an integer array of shape ({n_rows},): one a candidate")
    return found


def _check_rows(
    extractor: FeatureExtractor, batch: CandidateBatch, instances: Instances, group: Group
) -> int:
    """Refuse a batch without a row for each candidate; return how many there are."""
    n, k = len(instances), len(group.candidates)
    if isinstance(batch, DenseBlocks) and batch.costs.shape == (n, k) and instances.own is None:
        return n * k
    offsets = instances.offsets(group)
    own = np.asarray(batch.offsets)
    if own.shape != offsets.shape or not np.array_equal(own, offsets):
        seen = f"transform gave {len(own) - 1:,} instances with {int(own[-1]):,} rows"
        raise fault(extractor, seen, f"{n:,} with {int(offsets[-1]):,}: one row a candidate")
    return int(offsets[-1])


def _check_storage(extractor: FeatureExtractor, batch: CandidateBatch) -> None:
    """Refuse a batch whose rows, costs and offsets do not fit together."""
    if rows_are_shared(extractor) and not isinstance(batch, CrossedRows | CrossedLists):
        wanted = "CrossedRows: rows_are_shared says that rows tell nothing of the candidates"
        raise fault(extractor, f"transform gave {type(batch).__name__}", wanted)
    if isinstance(batch, DenseBlocks) and batch.values.shape[:2] == batch.costs.shape:
        return
    n, n_rows = len(batch.offsets) - 1, int(batch.offsets[-1])
    if len(batch.cost) != n_rows:
        wanted = f"{n_rows:,}, one a candidate"
        raise fault(extractor, f"transform gave a batch with {len(batch.cost):,} costs", wanted)
    for storages, held in ((SparseRows, n_rows), (CrossedRows | SequenceRows | CrossedLists, n)):
        if isinstance(batch, storages) and batch.rows.shape[0] != held:
            seen = f"transform gave {type(batch).__name__} with {batch.rows.shape[0]:,} rows of features"
            raise fault(
                extractor, seen, f"{held:,}, one {'a candidate' if held == n_rows else 'an instance'}"
            )
        if isinstance(batch, SequenceRows):
            continue  # its columns are made of its rows, which takes longer than to tag them
        if isinstance(batch, storages) and batch.rows.shape[1] * _times(batch) > len(batch.columns):
            seen = f"transform gave {batch.rows.shape[1]:,} features a row and {len(batch.columns):,} columns"
            raise fault(extractor, seen, "columns for all of them")


def _times(batch: CandidateBatch) -> int:
    """Return how often a row's features have columns: once, or once for each label."""
    return 1 if isinstance(batch, SparseRows | CrossedLists) else batch.costs.shape[1]  # type: ignore


def fitted(
    extractor: FeatureExtractor, view: TokenView, instances: Instances, groups: Sequence[Group]
) -> FeatureExtractor:
    """Return an extractor fitted to instances of all groups, checked.

    Raises
    ------
    UserError
        D414 where what `fit` returned is no extractor; D418, D419 (see `check_describes`).
    """
    check_describes(extractor, own=instances.own is not None)
    found = extractor.fit(view, instances, groups)
    for name in ("transform", "state", "from_state"):
        if not callable(getattr(found, name, None)):
            raise fault(extractor, f"fit returned {type(found).__name__} without {name}", "an extractor")
    return found


def fault(extractor: FeatureExtractor, seen: str, wanted: str) -> UserError:
    """Return the error of an extractor that breaks its contract."""
    return broken(f"the extractor {type(extractor).__name__}", seen, wanted)


def check_describes(extractor: FeatureExtractor, *, own: bool) -> None:
    """Refuse an extractor that does not know such candidates: instances' own (`own`), or those of a group.

    Raises
    ------
    UserError
        D418 or D419.
    """
    knows = describes(extractor)
    if knows != "any" and knows != ("own" if own else "group"):
        raise UserError("D419" if own else "D418", extractor=type(extractor).__name__)


def _described(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return f"of {value.dtype} and shape {shape}" if shape is not None else type(value).__name__
