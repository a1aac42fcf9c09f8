"""Features of several extractors side by side: one batch with all their attributes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from disambig.data.columns import Columns
from disambig.data.dense import DenseBlocks
from disambig.types import Features


def join(parts: Sequence[Features]) -> Features:
    """Put class blocks of the same instances side by side; evidence is that of all parts together.

    Raises
    ------
    TypeError
        For batches that are no class blocks with candidate-specific weights: only those can be joined.
    """
    if len(parts) == 1:
        return parts[0]
    batches = []
    for part in parts:
        if not isinstance(part.batch, DenseBlocks):
            raise TypeError(f"only dense class blocks can be joined, not {type(part.batch).__name__}")
        batches.append(part.batch)
    k = batches[0].values.shape[1]
    widths = [batch.values.shape[2] for batch in batches]
    names = tuple(dict.fromkeys(name for batch in batches for name in batch.columns.group_names))
    groups = [
        np.array([names.index(name) for name in batch.columns.group_names], np.int32)[
            batch.columns.groups[batch.column_of]
        ]
        for batch in batches
    ]  # each (K, A)
    labelled = [
        np.array(list(batch.columns.names) or [""] * len(batch.columns), object)[batch.column_of]
        for batch in batches
    ]
    total = sum(widths)
    columns = Columns(
        np.repeat(np.arange(k, dtype=np.int32), total),
        np.concatenate(groups, axis=1).ravel(),
        names,
        [str(name) for name in np.concatenate(labelled, axis=1).ravel()],
    )
    return Features(
        DenseBlocks(
            np.concatenate([batch.values for batch in batches], axis=2),
            np.arange(k * total).reshape(k, total),
            columns,
            batches[0].costs,
        ),
        np.sum([part.found for part in parts], axis=0, dtype=np.int32),
        np.sum([part.asked for part in parts], axis=0, dtype=np.int32),
    )
