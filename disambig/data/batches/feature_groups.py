"""Feature groups of crossed rows: their lengths, and the columns in use.

A sum of normalised linear kernels, ``k(x, y) = sum_g weight_g <x_g, y_g> / (|x_g| |y_g|)``, is the inner
product of rows whose parts are scaled: so it stays linear, with weights and no support rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.columns import Columns
from disambig.data.batches.crossed_columns import CrossedColumns, candidates_of, own_columns
from disambig.data.batches.sparse import CrossedRows
from disambig.errors import UserError, nearest_first

_SMALLEST, _LARGEST = 1e-200, 1e200
"""Squared lengths beyond have lost digits, or all."""


def normalised(
    batch: CrossedRows, weights: Mapping[str, float] | None = None, *, together: bool = False
) -> CrossedRows:
    """Scale each feature group's part of each row to the squared length that its weight says.

    Parameters
    ----------
    batch : CrossedRows
        Of sparse rows; it stays as it is.
    weights : mapping of str to float, optional
        Of each feature group, not negative; equal ones of sum 1 if not given.
    together : bool
        Whether whole rows are scaled to length one instead; `weights` are not looked at then.

    Returns
    -------
    CrossedRows
        A part without features stays empty: its row is shorter.

    Raises
    ------
    UserError
        D451 for a weight of no feature group, D476 for a feature group without one, or a negative one.
    """
    from scipy.sparse import csr_array

    rows = csr_array(batch.rows)
    of_row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    data = np.asarray(rows.data, np.float64)
    if together:
        part, share = of_row, np.ones(1)
        which = np.zeros(len(data), np.int32)
        n_groups = 1
    else:
        own = own_columns(batch.columns, int(batch.rows.shape[1]))
        share = _shares(own.group_names, weights)
        n_groups = len(own.group_names)
        which = own.groups[rows.indices]
        part = of_row * n_groups + which
    n_parts = rows.shape[0] * n_groups
    with np.errstate(over="ignore", under="ignore"):
        squares = np.bincount(part, data * data, minlength=n_parts)
    extreme = ((squares < _SMALLEST) | (squares > _LARGEST))[part]
    if extreme.any():  # squares that leave the range of floating point: the largest number becomes one first
        largest = np.zeros(n_parts)
        np.maximum.at(largest, part[extreme], np.abs(data[extreme]))
        data = data / np.where(largest > 0, largest, 1.0)[part]
        squares = np.bincount(part, data * data, minlength=n_parts)
    scale = np.sqrt(share[which] / np.where(squares > 0, squares, 1.0)[part])
    return replace(batch, rows=csr_array((data * scale, rows.indices, rows.indptr), rows.shape))


def _shares(names: tuple[str, ...], weights: Mapping[str, float] | None) -> NDArray[np.float64]:
    if weights is None:
        return np.full(len(names), 1.0 / max(len(names), 1))
    unknown = [name for name in weights if name not in names]
    if unknown:
        raise UserError("D451", setting="weights", name=unknown[0], names=nearest_first(unknown[0], names))
    for name in names:
        value = weights.get(name)
        if value is None or not 0 <= value < np.inf:
            raise UserError("D476", name=name, seen="none" if value is None else value)
    return np.array([weights[name] for name in names], np.float64)


def used_columns(batch: CrossedRows) -> NDArray[np.int64]:
    """Return the columns that have an entry in some row, rising."""
    from scipy.sparse import csr_array

    return np.unique(csr_array(batch.rows).indices).astype(np.int64)


def restricted(batch: CrossedRows, columns: NDArray[np.integer]) -> CrossedRows:
    """Return the batch with these columns only; `columns` rise, shape ``(d,)``."""
    from scipy.sparse import csr_array

    rows = csr_array(batch.rows)
    at = np.searchsorted(columns, rows.indices)
    known = columns[np.minimum(at, len(columns) - 1)] == rows.indices if len(columns) else at < 0
    ends = np.concatenate([[0], np.cumsum(known)])[rows.indptr]
    kept = csr_array((rows.data[known], at[known].astype(np.int32), ends), (rows.shape[0], len(columns)))
    own = own_columns(batch.columns, int(batch.rows.shape[1]))
    names = [own.names[column] for column in columns] if len(own.names) else ()
    columns_kept = Columns(own.labels[columns], own.groups[columns], own.group_names, names)
    candidates = candidates_of(batch.columns, batch.costs.shape[1])
    return CrossedRows(kept, batch.costs, CrossedColumns(columns_kept, candidates))
