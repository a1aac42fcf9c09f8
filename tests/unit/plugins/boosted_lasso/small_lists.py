"""Small lists of candidates with counts, for the learners of the boosted lasso."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from disambig.data import Columns, SparseRows


def make_batch(rows, offsets, cost, *, base=True):
    """Return lists; the first column is the base score if there is one."""
    rows = csr_array(np.asarray(rows, np.float64))
    kinds = np.ones(rows.shape[1], np.int32)
    kinds[0] = 0 if base else 1
    columns = Columns(np.full(len(kinds), -1, np.int32), kinds, ("base score", "words"))
    return SparseRows(rows, np.asarray(offsets, np.int64), np.asarray(cost, np.float32), columns)


def word_lists(n=60, *, size=5, words=12, most=2, seed=0, alike=0):
    """Return lists of counts up to `most` whose right candidates tend to have words of even numbers.

    Each of `alike` more columns is nearly the sum of two words, as headword bigrams nearly are of bigrams.
    """
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, most + 1, (n * size, words)) * (rng.random((n * size, words)) < 0.4)
    sizes = np.random.default_rng(12).uniform(0.3, 1.5, words)
    worth = np.where(np.arange(words) % 2 == 0, 1.0, -1.0) * sizes
    hidden = (counts @ worth + rng.normal(0, 1.0, n * size)).reshape(n, size)
    cost = (hidden.max(axis=1, keepdims=True) - hidden > 0).ravel() * rng.integers(1, 4, n * size)
    parts = [rng.normal(-cost, 2.0)[:, None], counts]
    for number in range(alike):
        first, second = number % words, (number + 2) % words
        noise = rng.random(n * size) < 0.15
        parts.append(np.where(noise, 0, counts[:, first] + counts[:, second])[:, None])
    return make_batch(np.concatenate(parts, axis=1), np.arange(0, n * size + 1, size), cost)


def differences(batch, base=()):
    """Return the dense differences of all pairs as defined in the paper; ties go to the first candidate."""
    rows, result = batch.rows.toarray(), []
    for start, end in zip(batch.offsets[:-1], batch.offsets[1:], strict=True):
        cost = batch.cost[start:end]
        if cost.min() == cost.max():
            continue
        least = [row for row in range(start, end) if batch.cost[row] == cost.min()]
        right = max(least, key=lambda row: (rows[row, list(base)].sum(), -row))
        result += [rows[right] - rows[row] for row in range(start, end) if row != right]
    return np.array(result).reshape(-1, rows.shape[1])


def exp_loss(batch, weights, base=(0,)):
    """Return ExpLoss, eq. (6)."""
    return float(np.exp(-differences(batch, base) @ weights).sum())
