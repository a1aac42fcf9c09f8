"""Learning from counted text: each example's attributes are counts less those of its own paragraph."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.dense import DenseBlocks
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.features.counts.contexts import CONTEXTS, Candidates, fits, room
from disambig.features.counts.ngram_counts import NgramCounts, context_keys
from disambig.text.view import TokenView

_APART = np.uint64(0x9E3779B97F4A7C15)


def with_left_out(extractor: NgramCounts, view: TokenView, instances: Instances, group: Group) -> DenseBlocks:
    """Return what `extractor` would say had the paragraph of each instance not been counted.

    Parameters
    ----------
    extractor : NgramCounts
        Of an exact table in which every paragraph of `view` was counted, nothing pruned.
    instances : Instances
        All those of `group` in `view`, with the candidates observed.
    """
    batch = extractor.transform(view, instances, group).batch
    assert isinstance(batch, DenseBlocks)
    candidates = Candidates.of(group)
    left, right = room(view, instances)
    usable = fits(left, right, candidates.longest, shortest=int(candidates.lengths.min()))
    seed = extractor.table.seed(view.tokenisation)
    paragraph = view.document_of(instances.positions).astype(np.uint64) * _APART
    values = batch.values.copy()
    for context in range(len(CONTEXTS)):
        rows = np.flatnonzero(usable[:, context])
        if not len(rows):
            continue
        keys, known = context_keys(view, instances, candidates, rows, context, seed)
        counts = extractor.table.counts(keys.ravel()).reshape(keys.shape).astype(np.float64)
        asked = keys + paragraph[rows, None]
        own = asked[np.arange(len(rows)), instances.observed[rows]]
        left_over = np.maximum(counts - _times(own[known.all(axis=1)], asked), 0.0)
        values[rows, :, context] = np.log1p(np.where(known, left_over, 0.0))
    return replace(batch, values=values)


def _times(seen: NDArray[np.uint64], asked: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return how often each of `asked` is in `seen`."""
    distinct, counts = np.unique(seen, return_counts=True)
    if not len(distinct):
        return np.zeros(asked.shape, np.int64)
    at = np.minimum(np.searchsorted(distinct, asked), len(distinct) - 1)
    return np.where(distinct[at] == asked, counts[at], 0)
