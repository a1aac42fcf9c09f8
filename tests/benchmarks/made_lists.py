"""Synthetic candidate lists: sentences like those of a converter, and lists like those of parse reranking.

`made_lists`: a sentence is a row of readings, each of which has two to four words of Zipfian frequency; which
is right depends on the reading and on the word before. The candidates are the right sentence and others that
differ from it in one to three places. Each has a base score, blind to the word before, its words and pairs of
words as features, and the number of wrong words as its cost.

`made_reranking`: feature frequencies follow Zipf's law. Most features of a list belong to its sentence, and
each candidate lacks some of them; the others occur in a few candidates only. The quality of a candidate is
the sum of the hidden weights of its features, plus noise; its cost is the difference to the best quality,
rounded up. The base score is correlated with the quality.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, vstack

from disambig.data import Columns, SparseRows

WORDS = 4


def made_lists(n, *, candidates=20, length=13, readings=20_000, least=2, seed=0):
    """Return `n` lists; columns with fewer than `least` candidates are omitted."""
    rng = np.random.default_rng(seed)
    language = np.random.default_rng(12)
    n_words = language.integers(2, WORDS + 1, readings)
    prior = np.sort(language.gumbel(size=(readings, WORDS)) * 1.5, axis=1)[:, ::-1]
    share = 1.0 / np.arange(1, readings + 1)
    sentence = rng.choice(readings, size=(n, length), p=share / share.sum())
    options = n_words[sentence]
    right = np.zeros((n, length), np.int64)
    for place in range(length):
        before = sentence[:, place - 1] * WORDS + right[:, place - 1] if place else np.zeros(n, np.int64)
        context = (before * 2654435761 + sentence[:, place] * 40503) % 1009
        usual = (prior[sentence[:, place]] + rng.gumbel(size=(n, WORDS))).argmax(axis=1)
        right[:, place] = np.where(context % 3 == 0, context, usual) % options[:, place]
    chosen = np.repeat(right[:, None], candidates, axis=1)
    for turn in range(3):
        place = rng.integers(length, size=(n, candidates))
        changes = rng.random((n, candidates)) < (1.0 if turn == 0 else 0.5)
        changes[:, 0] = False
        at = np.nonzero(changes)
        where = (*at, place[at])
        of = options[at[0], place[at]]
        chosen[where] = (chosen[where] + rng.integers(1, WORDS, len(at[0])) % (of - 1) + 1) % of
    words = (sentence[:, None] * WORDS + chosen).reshape(n * candidates, length)
    wrong = (chosen != right[:, None]).sum(axis=2).ravel()
    base = prior[words // WORDS, words % WORDS].sum(axis=1) + rng.normal(0, 2.0, len(words))
    return _batch(words, base, wrong, candidates, readings * WORDS, least)


def _batch(words, base, wrong, candidates, n_words, least):
    n_rows = len(words)
    pairs = n_words + words[:, :-1] * n_words + words[:, 1:]
    keys, column, counts = np.unique(
        np.concatenate([words, pairs], axis=1), return_inverse=True, return_counts=True
    )
    kept = counts >= least
    number = np.where(kept, np.cumsum(kept), 0)
    column = number[column.ravel()].reshape(n_rows, -1)
    rows = np.repeat(np.arange(n_rows), column.shape[1])
    inside = column.ravel() > 0
    data, place = np.ones(inside.sum()), (rows[inside], column.ravel()[inside])
    matrix = csr_array((data, place), (n_rows, int(kept.sum()) + 1))
    matrix.sum_duplicates()
    first = csr_array((base, (np.arange(n_rows), np.zeros(n_rows, np.int64))), matrix.shape)
    names = ["base score", *keys[kept].tolist()]
    groups = np.array([0] + [1] * int(kept.sum()), np.int32)
    columns = Columns(np.full(len(names), -1, np.int32), groups, ("base score", "words"), names)
    offsets = np.arange(0, n_rows + 1, candidates)
    return SparseRows(csr_array(matrix + first), offsets, wrong.astype(np.float32), columns)


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
        matrix = csr_array(
            (np.ones(len(at[0]), np.float32), drawn[at[0], at[2]].astype(np.int32), ends), shape
        )
        matrix.sum_duplicates()
        base = (hidden + rng.normal(0, 3.0, hidden.shape)).ravel().round(2).astype(np.float32)
        parts.append(_with_first_column(matrix, base))
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
