"""Batches as rows with one model a candidate; of lists each candidate is a row, which is right or not."""

from __future__ import annotations

import numpy as np

from disambig.api import CandidateBatch, CrossedRows, SparseRows, UserError
from disambig.api.batches import CrossedColumns, convert, own_columns
from disambig.api.decoding import from_the_least

TAKES: tuple[type, ...] = (CrossedRows, SparseRows)
"""Storages that the learners take."""


def read(batch: CandidateBatch) -> CrossedRows:
    """Return a batch as crossed rows.

    Candidates of lists become instances of their own, between being right and nothing else: one model, whose
    score says how right a candidate is. Right are those of least cost in their list.

    Raises
    ------
    UserError
        D459 for a batch that can be read in neither way.
    """
    try:
        return convert(batch, CrossedRows)
    except UserError:
        lists = convert(batch, SparseRows)
    wrong = (from_the_least(lists) > 0).astype(np.float32)
    return CrossedRows(lists.rows, wrong[:, None], CrossedColumns(lists.columns, ("right",)))


def as_given(read_rows: CrossedRows, batch: CandidateBatch) -> CandidateBatch:
    """Return what was read of lists, perhaps in other columns, as lists again; other rows as they are."""
    if len(read_rows.offsets) == len(batch.offsets):
        return read_rows
    columns = own_columns(read_rows.columns, int(read_rows.rows.shape[1]))
    return SparseRows(read_rows.rows, batch.offsets, batch.cost, columns)
