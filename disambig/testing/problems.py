"""Small learning problems with known answers, one for each storage of a batch, and one of sequences.

In all of them some columns are larger for the right candidate by a clear margin, so some weights
make no mistake; the others are noise. The first candidate is right in more than half of the instances.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.columns import Columns
from disambig.data.batches.crossed_lists import CrossedLists
from disambig.data.batches.dense import DenseBlocks
from disambig.data.batches.dense_lists import DenseLists
from disambig.data.batches.sequences import SequenceRows
from disambig.data.batches.sparse import CrossedRows, SparseRows

GROUPS = ("2-gram", "3-gram", "4-gram", "5-gram", "bias")


def blocks(n: int = 60, *, labels: int = 3, seed: int = 0) -> DenseBlocks:
    """Return class blocks with one attribute for each of `GROUPS`; counts like those of n-grams.

    Equal weights on the 3-grams choose right everywhere, and so does each learner that finds them.
    """
    rng = np.random.default_rng(seed)
    right = _labels(n, labels, rng)
    values = np.log1p(rng.poisson(2.0, size=(n, labels, len(GROUPS)))).astype(np.float32)
    values[np.arange(n), right, 1] = values[:, :, 1].max(axis=1) + 1 + rng.random(n)
    values[:, :, -1] = 1.0
    columns = Columns(
        np.repeat(np.arange(labels, dtype=np.int32), len(GROUPS)),
        np.tile(np.arange(len(GROUPS), dtype=np.int32), labels),
        GROUPS,
        [f"{label}: {name}" for label in range(labels) for name in GROUPS],
    )
    return DenseBlocks(
        values, np.arange(values[0].size).reshape(values.shape[1:]), columns, _costs(right, labels)
    )


def lists(n: int = 60, *, longest: int = 6, columns: int = 8, seed: int = 0) -> SparseRows:
    """Return n-best lists of different lengths with costs; the last instance has two right candidates."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, longest + 1, size=n)
    sizes[-1] = longest
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    cost = rng.integers(1, 5, size=offsets[-1]).astype(np.float32)
    cost[offsets[:-1] + np.where(rng.random(n) < 0.6, 0, sizes - 1)] = 0.0
    cost[-2:] = 0.0
    rows = rng.normal(size=(len(cost), columns)) * (rng.random((len(cost), columns)) < 0.5)
    rows[:, 0] = -cost + rng.uniform(0.0, 0.5, len(cost))
    return SparseRows(csr_array(rows), offsets, cost, _shared(columns))


def crossed(n: int = 60, *, labels: int = 3, columns: int = 8, seed: int = 0) -> CrossedRows:
    """Return one sparse row an instance, crossed with labels: some words, and a constant column last."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(seed)
    right = _labels(n, labels, rng)
    rows = (rng.random((n, columns)) < 0.3).astype(np.float64)
    rows[:, :labels] = 3.0 * np.eye(labels)[right]
    rows[:, -1] = 1.0
    meaning = Columns(
        np.repeat(np.arange(labels, dtype=np.int32), columns),
        np.tile(np.array([*[0] * (columns - 1), 1], np.int32), labels),
        ("words", "bias"),
    )
    return CrossedRows(csr_array(rows), _costs(right, labels), meaning)


def dense_lists(n: int = 60, *, longest: int = 6, seed: int = 0) -> DenseLists:
    """Return lists of different lengths whose candidates share one attribute for each of `GROUPS`.

    Equal weights on the 3-grams choose right everywhere; costs are graded, as in `lists`.
    """
    sparse = lists(n, longest=longest, seed=seed)
    rng = np.random.default_rng(seed + 1)
    values = np.log1p(rng.poisson(2.0, size=(len(sparse.cost), len(GROUPS)))).astype(np.float32)
    values[:, 1] = 4.0 - sparse.cost / 2 + rng.uniform(0.0, 0.2, len(sparse.cost))
    values[:, -1] = 1.0
    groups = np.arange(len(GROUPS), dtype=np.int32)
    columns = Columns(np.full(len(GROUPS), -1, np.int32), groups, GROUPS, list(GROUPS))
    return DenseLists(values, sparse.offsets, sparse.cost, columns)


def crossed_lists(n: int = 60, *, labels: int = 5, columns: int = 10, seed: int = 0) -> CrossedLists:
    """Return one sparse row an instance and a few labels that it may have, the right one among them."""
    whole = crossed(n, labels=labels, columns=columns, seed=seed)
    rng = np.random.default_rng(seed + 1)
    kept = (rng.random(whole.costs.shape) < 0.5) | (whole.costs == 0)
    kept[:, -1] |= kept.sum(axis=1) < 2
    kept[:, 0] |= kept.sum(axis=1) < 2
    offsets = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int64)
    label_of = np.nonzero(kept)[1].astype(np.int64)
    return CrossedLists(whole.rows, label_of, offsets, whole.costs[kept], whole.columns)


def chains(n: int = 30, *, labels: int = 3, words: int = 6, longest: int = 6, seed: int = 0) -> SequenceRows:
    """Return sequences of words and labels; the words at the end say nothing, but the label before does.

    Such a word has the label that comes after that of the word before it. Some weights of words and of pairs
    of labels make no mistake; those of words alone make many.
    """
    from scipy.sparse import csr_array

    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, longest + 1, size=n)
    sequences = np.repeat(np.arange(n), sizes)
    place = np.concatenate([np.arange(size) for size in sizes])
    speaks = place <= np.repeat(rng.integers(0, sizes), sizes) // 2
    half = words // 2
    word = rng.integers(half, size=len(sequences)) + np.where(speaks, 0, half)
    right = np.zeros(len(sequences), np.int64)
    for i in range(len(right)):
        right[i] = word[i] % labels if speaks[i] else (right[i - 1] + 1) % labels
    return SequenceRows(csr_array(np.eye(words)[word]), _costs(right, labels), sequences)


def _labels(n: int, labels: int, rng: np.random.Generator) -> NDArray[np.int64]:
    right = np.where(rng.random(n) < 0.5, 0, rng.integers(labels, size=n))
    right[: min(n, labels)] = np.arange(min(n, labels))  # every label occurs
    return right


def _costs(right: NDArray[np.int64], labels: int) -> NDArray[np.float32]:
    costs: NDArray[np.float32] = (np.arange(labels) != right[:, None]).astype(np.float32)
    return costs


def _shared(n: int) -> Columns:
    return Columns(np.full(n, -1, np.int32), np.zeros(n, np.int32), ("all",))
