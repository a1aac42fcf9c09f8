"""Synthetic candidate lists with the statistics of parse reranking.

Feature frequencies follow Zipf's law. Most features of a list belong to its sentence, and each candidate
lacks some of them; the others occur in a few candidates only. The quality of a candidate is the sum of the
hidden weights of its features, plus noise; its cost is the difference to the best quality, rounded up. The
base score is correlated with the quality.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, vstack

from disambig.data import Columns, SparseRows

CHUNK = 500
SHARED, OWN = 120, 150
"""Features of the sentence, of which 85 in 100 are in a candidate, and others, of which 15 in 100 are."""


def made_reranking(n, *, candidates=28, features=500_000, seed=0):
    """Return `n` lists; the first column is the base score. Values are of single precision."""
    rng = np.random.default_rng(seed)
    worth = np.random.default_rng(12).normal(size=features) * 0.5
    share = np.cumsum(1.0 / (np.arange(features) + 20.0))
    parts, costs = [], []
    for start in range(0, n, CHUNK):
        m = min(CHUNK, n - start)
        drawn = np.searchsorted(share, rng.random((m, SHARED + OWN)) * share[-1]).clip(0, features - 1)
        has = np.concatenate(
            [rng.random((m, candidates, SHARED)) < 0.85, rng.random((m, candidates, OWN)) < 0.15], axis=2
        )
        value = np.einsum("mcf,mf->mc", has, worth[drawn])
        hidden = value + rng.normal(0, 1.0, value.shape)
        behind = np.ceil(hidden.max(axis=1, keepdims=True) - hidden)
        costs.append(behind.ravel())
        at = np.nonzero(has)
        sizes = has.sum(axis=2).ravel()
        ends = np.concatenate([[0], np.cumsum(sizes)])
        shape = (m * candidates, features)
        own = csr_array((np.ones(len(at[0]), np.float32), drawn[at[0], at[2]].astype(np.int32), ends), shape)
        own.sum_duplicates()
        base = (hidden + rng.normal(0, 3.0, hidden.shape)).ravel().round(2).astype(np.float32)
        parts.append(_with_first_column(own, base))
    rows = vstack(parts, format="csr") if len(parts) > 1 else parts[0]
    groups = np.ones(features + 1, np.int32)
    groups[0] = 0
    columns = Columns(np.full(features + 1, -1, np.int32), groups, ("base score", "features"))
    offsets = np.arange(0, n * candidates + 1, candidates)
    return SparseRows(csr_array(rows), offsets, np.concatenate(costs).astype(np.float32), columns)


def _with_first_column(rows, first):
    """Return rows with a column before the others."""
    starts = rows.indptr[:-1]
    indices, data = np.insert(rows.indices + 1, starts, 0), np.insert(rows.data, starts, first)
    indptr = rows.indptr + np.arange(len(rows.indptr))
    return csr_array((data, indices.astype(np.int32), indptr), (rows.shape[0], rows.shape[1] + 1))
