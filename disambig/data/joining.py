"""Features of several extractors side by side: one batch with all their attributes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from disambig.data.columns import Columns
from disambig.data.crossed_columns import CrossedColumns, beside, candidates_of, own_columns
from disambig.data.dense import DenseBlocks
from disambig.data.sparse import CrossedRows
from disambig.types import Features


def join(parts: Sequence[Features]) -> Features:
    """Put features of the same instances side by side; evidence is that of all parts together.

    Raises
    ------
    TypeError
        For batches that are neither all class blocks with candidate-specific weights nor all crossed rows.
    """
    if len(parts) == 1:
        return parts[0]
    crossed = [part.batch for part in parts if isinstance(part.batch, CrossedRows)]
    batch = _side_by_side(crossed) if len(crossed) == len(parts) else _blocks(parts)
    return Features(
        batch,
        np.sum([part.found for part in parts], axis=0, dtype=np.int32),
        np.sum([part.asked for part in parts], axis=0, dtype=np.int32),
    )


def _side_by_side(batches: Sequence[CrossedRows]) -> CrossedRows:
    """Join sparse rows; feature groups of one name become one."""
    from scipy.sparse import csr_array, hstack

    rows = csr_array(hstack([csr_array(batch.rows) for batch in batches], format="csr"))
    rows.sort_indices()
    own = beside(*(own_columns(batch.columns, int(batch.rows.shape[1])) for batch in batches))
    first = batches[0]
    return CrossedRows(
        rows, first.costs, CrossedColumns(own, candidates_of(first.columns, first.costs.shape[1]))
    )


def _blocks(parts: Sequence[Features]) -> DenseBlocks:
    batches = []
    for part in parts:
        if not isinstance(part.batch, DenseBlocks):
            raise TypeError(f"{type(part.batch).__name__} cannot be joined with other features")
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
    return DenseBlocks(
        np.concatenate([batch.values for batch in batches], axis=2),
        np.arange(k * total).reshape(k, total),
        columns,
        batches[0].costs,
    )
