"""What an extractor gave, held against its contract: a plugin's mistake is named before anything learns."""

from __future__ import annotations

from typing import Any

import numpy as np

from disambig.data.batches.crossed_lists import CrossedLists
from disambig.data.batches.sequences import SequenceRows
from disambig.data.batches.sparse import CrossedRows, SparseRows
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.errors import UserError
from disambig.text.view import TokenView
from disambig.types import CandidateBatch, FeatureExtractor, Features


def transformed(extractor: FeatureExtractor, view: TokenView, instances: Instances, group: Group) -> Features:
    """Return the features of instances of one group, checked.

    Raises
    ------
    UserError
        D414 where rows or evidence are not one a candidate.
    """
    found = extractor.transform(view, instances, group)
    if not isinstance(found, Features):
        raise _fault(extractor, f"transform returned {type(found).__name__}", "Features")
    offsets = instances.offsets(group)
    own = np.asarray(found.batch.offsets)
    if own.shape != offsets.shape or not np.array_equal(own, offsets):
        seen = f"transform gave {len(own) - 1:,} instances with {int(own[-1]):,} rows"
        raise _fault(extractor, seen, f"{len(offsets) - 1:,} with {int(offsets[-1]):,}: one row a candidate")
    _check_storage(extractor, found.batch)
    for name in ("found", "asked"):
        counts: Any = getattr(found, name)
        if getattr(counts, "shape", None) != (int(offsets[-1]),) or counts.dtype.kind not in "iu":
            seen = f"{name} is {_described(counts)}"
            raise _fault(extractor, seen, f"an integer array of shape ({int(offsets[-1])},): one a candidate")
    return found


def _check_storage(extractor: FeatureExtractor, batch: CandidateBatch) -> None:
    """Refuse a batch whose rows, costs and offsets do not fit together."""
    n, n_rows = len(batch.offsets) - 1, int(batch.offsets[-1])
    if len(batch.cost) != n_rows:
        wanted = f"{n_rows:,}, one a candidate"
        raise _fault(extractor, f"transform gave a batch with {len(batch.cost):,} costs", wanted)
    for storages, held in ((SparseRows, n_rows), (CrossedRows | SequenceRows | CrossedLists, n)):
        if isinstance(batch, storages) and batch.rows.shape[0] != held:
            seen = f"transform gave {type(batch).__name__} with {batch.rows.shape[0]:,} rows of features"
            raise _fault(
                extractor, seen, f"{held:,}, one {'a candidate' if held == n_rows else 'an instance'}"
            )
        if isinstance(batch, storages) and batch.rows.shape[1] * _times(batch) > len(batch.columns):
            seen = f"transform gave {batch.rows.shape[1]:,} features a row and {len(batch.columns):,} columns"
            raise _fault(extractor, seen, "columns for all of them")


def _times(batch: CandidateBatch) -> int:
    """Return how often a row's features have columns: once, or once for each label."""
    return 1 if isinstance(batch, SparseRows | CrossedLists) else batch.costs.shape[1]  # type: ignore


def fitted(extractor: FeatureExtractor, *material: Any) -> FeatureExtractor:
    """Return an extractor fitted to (view, instances, groups), checked.

    Raises
    ------
    UserError
        D414 where what `fit` returned is no extractor.
    """
    found = extractor.fit(*material)
    for name in ("transform", "state", "from_state"):
        if not callable(getattr(found, name, None)):
            raise _fault(extractor, f"fit returned {type(found).__name__} without {name}", "an extractor")
    return found


def _fault(extractor: FeatureExtractor, seen: str, wanted: str) -> UserError:
    return UserError("D414", part=f"the extractor {type(extractor).__name__}", problem=seen, wanted=wanted)


def _described(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return f"of {value.dtype} and shape {shape}" if shape is not None else type(value).__name__
