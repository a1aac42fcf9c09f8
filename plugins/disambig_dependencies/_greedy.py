"""Greedy parsing with NumPy, for texts so short that loading the compiled functions would take longer.

All sentences advance together, one action at a time; the results are those of `_kernels.parse`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from disambig.api.arrays import HashVocabulary, Ints, offsets_from_sizes, row_owners, row_ranks

from ._features import (
    COLUMNS,
    HEAD,
    LABEL,
    LEFT,
    LEFT2,
    N_LEFT,
    N_RIGHT,
    N_ROWS,
    RIGHT,
    RIGHT2,
    SET_LEFT,
    SET_RIGHT,
    SOURCES,
    STACK,
    TEMPLATES,
    WORD_AND_TAG,
)

if TYPE_CHECKING:
    from .parser import Weights

_IMPOSSIBLE = np.iinfo(np.int64).min
"""Score of an action that a state does not allow."""


def parse_with_numpy(
    bounds: Ints,
    atoms: NDArray[np.uint64],
    n_labels: int,
    weights: Weights,
    heads: NDArray[np.int32],
    labels: NDArray[np.int32],
    totals: Ints,
) -> None:
    """Write the heads (0 for the root's) and labels of all words, and the score of each sentence."""
    first_rows, lengths = bounds[:-1], np.diff(bounds) - 1
    states = np.zeros((N_ROWS, len(lengths), int(lengths.max(initial=0)) + 2), np.int64)
    sizes, buffers = np.zeros(len(lengths), np.int64), np.ones(len(lengths), np.int64)
    totals[:] = 0
    starts = offsets_from_sizes(weights.sizes)
    vocabulary = HashVocabulary(weights.keys)
    for step in range(2 * int(lengths.max(initial=0)) - 1):
        at = np.flatnonzero(step < 2 * lengths - 1)
        keys = _keys(states, at, sizes[at], buffers[at], lengths[at], first_rows[at], atoms)
        scores = _scores(keys, n_labels, weights, starts, vocabulary)
        can_shift = buffers[at] <= lengths[at]
        scores[~can_shift, 0] = _IMPOSSIBLE
        scores[~(can_shift & (sizes[at] >= 1)), 1 : n_labels + 1] = _IMPOSSIBLE
        scores[sizes[at] < 2, n_labels + 1 :] = _IMPOSSIBLE
        best = scores.argmax(axis=1)
        totals[at] += scores[np.arange(len(at)), best]
        _apply_actions(states, at, sizes, buffers, best, n_labels)
    words = row_ranks(bounds)
    sentences = row_owners(bounds)
    heads[:] = states[HEAD, sentences, words]
    labels[:] = states[LABEL, sentences, words]


def _keys(
    states: Ints, at: Ints, sizes: Ints, buffers: Ints, n: Ints, rows: Ints, atoms: NDArray[np.uint64]
) -> NDArray[np.uint32]:
    """Return the hashed features of some states, shape ``(n_states, n_features)``."""
    words = [np.where(sizes > i, states[STACK, at, sizes - 1 - i], 0) for i in range(3)]
    words += [np.where(buffers + i <= n, buffers + i, 0) for i in range(3)]
    columns = np.zeros((len(at), len(COLUMNS)), np.uint64)
    for i, (place, child, what) in enumerate(SOURCES.tolist(), 1):
        word = words[place] if child < 0 else states[child, at, words[place]]
        if what < 0:
            columns[:, i] = states[-what, at, word]
        elif what == WORD_AND_TAG:
            columns[:, i] = atoms[rows + word, 0] ^ (atoms[rows + word, 1] << np.uint64(1))
        else:
            columns[:, i] = atoms[rows + word, what]
    s0 = words[0]
    beside = np.where(s0 > 1, s0 - 1, 0), np.where((s0 > 0) & (s0 < n), s0 + 1, 0)
    columns[:, -5], columns[:, -4] = _distances(s0, words[3]), _distances(words[1], s0)
    columns[:, -3], columns[:, -2] = (atoms[rows + word, 1] for word in beside)
    columns[:, -1] = atoms[rows + n, 0]
    half, factor = np.uint64(32), np.uint64(0xD6E8FEB86659FD93)
    numbers = np.arange(1, len(TEMPLATES) + 1, dtype=np.uint64)
    hashes = numbers * np.uint64(0x9E3779B97F4A7C15) + columns[:, TEMPLATES[:, 0]]
    for column in (1, 2):
        hashes = (hashes ^ (hashes >> half)) * factor + columns[:, TEMPLATES[:, column]]
    hashes = (hashes ^ (hashes >> half)) * factor
    return (hashes >> half).astype(np.uint32)


def _distances(first: Ints, second: Ints) -> NDArray[np.uint64]:
    """Return the distances between words in classes: 1 to 5, 6 up to 10, 7 beyond; 0 if one is missing."""
    distance = second - first
    grouped = np.where(distance > 10, 7, np.where(distance > 5, 6, distance))
    return np.where((first == 0) | (second == 0), 0, grouped).astype(np.uint64)


def _scores(
    keys: NDArray[np.uint32], n_labels: int, weights: Weights, starts: Ints, vocabulary: HashVocabulary
) -> Ints:
    """Return the score of each action, shape ``(n_states, 2 * n_labels + 1)``."""
    rows = vocabulary.lookup(keys.ravel())
    weighted = np.flatnonzero(rows >= 0)
    sizes = weights.sizes[rows[weighted]].astype(np.int64)
    places = np.repeat(starts[rows[weighted]], sizes) + row_ranks(offsets_from_sizes(sizes))
    n_actions = 2 * n_labels + 1
    cells = np.repeat(weighted // keys.shape[1] * n_actions, sizes) + weights.actions[places]
    # sums of whole numbers below 2**53 are exact
    sums = np.bincount(cells, weights.weights[places], minlength=len(keys) * n_actions)
    return sums.astype(np.int64).reshape(len(keys), n_actions)


def _apply_actions(states: Ints, at: Ints, sizes: Ints, buffers: Ints, actions: Ints, n_labels: int) -> None:
    """Carry out one possible action of each state in `at`."""
    shifts = at[actions == 0]
    states[STACK, shifts, sizes[shifts]] = buffers[shifts]
    sizes[shifts] += 1
    buffers[shifts] += 1
    for is_left in (True, False):
        is_arc = (actions > 0) & ((actions <= n_labels) == is_left)
        arcs, label = at[is_arc], actions[is_arc]
        sizes[arcs] -= 1
        child = states[STACK, arcs, sizes[arcs]]
        if is_left:
            head, rows = buffers[arcs], (LEFT, LEFT2, N_LEFT, SET_LEFT)
        else:
            head, rows = states[STACK, arcs, sizes[arcs] - 1], (RIGHT, RIGHT2, N_RIGHT, SET_RIGHT)
            label = label - n_labels
        last, last_but_one, number, kinds = rows
        states[last_but_one, arcs, head] = states[last, arcs, head]
        states[last, arcs, head] = child
        states[number, arcs, head] += 1
        states[kinds, arcs, head] |= 1 << (label % 31)
        states[HEAD, arcs, child] = head
        states[LABEL, arcs, child] = label
