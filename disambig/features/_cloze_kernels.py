"""Compiled functions of the network that scores words in context (`cloze`, `_cloze_network`)."""

from __future__ import annotations

import numpy as np

from disambig.features._network_kernels import LANES, dot
from disambig.jit import compiled

# Numba finds the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs


@compiled
def sum_projections(frequent, rare, rows, bias, sums):
    """Fill `sums`, shape (n, H), with the bias plus the projection of the word at each place.

    `frequent` and `rare` have the shape (words, places * H). `rows`, shape (n, places), contains row
    numbers; those from ``len(frequent)`` on stand for the rows of `rare`.
    """
    n, places = rows.shape
    h = len(bias)
    for i in range(n):
        total = sums[i]
        for k in range(h):
            total[k] = bias[k]
        for p in range(places):
            word = rows[i, p]
            if word < len(frequent):
                part = frequent[word, p * h : (p + 1) * h]
            else:
                part = rare[word - len(frequent), p * h : (p + 1) * h]
            for k in range(h):
                total[k] += part[k]


@compiled
def candidate_products(states, rows, candidates, outputs, sums):
    """Fill `sums`, shape (m,), with the product of each candidate's weights and the state of its place."""
    size = states.shape[1]
    for r in range(len(rows)):
        state, output = states[rows[r]], outputs[candidates[r]]
        total = np.int32(0)
        for k in range(size):
            total += np.int32(state[k]) * np.int32(output[k])
        sums[r] = total


def sample_cloze_states() -> None:
    """Call the compiled functions on tiny inputs, so that `disambig doctor --compile` compiles them."""
    projections, which, bias = np.zeros((1, 2), np.int16), np.zeros((1, 1), np.int32), np.zeros(2, np.int32)
    sum_projections(projections, projections, which, bias, np.empty((1, 2), np.int32))
    states, outputs = np.zeros((1, 2), np.int16), np.zeros((1, 2), np.int8)
    candidate_products(states, np.zeros(1, np.int64), np.zeros(1, np.int32), outputs, np.empty(1, np.int32))


_NEGLIGIBLE = np.float32(1e-4)
"""Probability errors below this are skipped, which are those of most candidates."""


@compiled
def hidden_units(projections, around, bias, units):
    """Fill `units`, shape (n, H), from the projection of each word at each place, (places, words, H)."""
    n, places = around.shape
    h = len(bias)
    for p in range(places):  # outer loop: the projections of one place stay in the cache
        for i in range(n):
            row, part = units[i], projections[p, around[i, p]]
            if p == 0:
                for k in range(h):
                    row[k] = bias[k] + part[k]
            else:
                for k in range(h):
                    row[k] += part[k]
    for i in range(n):
        for k in range(h):
            units[i, k] = max(units[i, k], np.float32(0))


@compiled
def gather_errors(errors, around, place, sums):
    """Add up the errors of all rows, shape (n, H), by the word that each row has at one place."""
    sums[:] = 0
    n, h = errors.shape
    for i in range(n):
        row, part = sums[around[i, place]], errors[i]
        for k in range(h):
            row[k] += part[k]


@compiled
def output_errors(states, truth, offsets, numbers, outputs, bias, begins, negatives, shared, errors, losses):
    """Fill the probability errors of candidates, and the log losses.

    The candidates of row i are written to ``errors[begins[i]:]``. `shared`, shape (n, n_negatives), holds the
    scores of the negatives and is overwritten with their errors.
    """
    lanes = np.empty(LANES, np.float32)
    zero = np.float32(0)
    for i in range(len(states)):
        right = truth[i]
        first, size, begin = offsets[right], offsets[right + 1] - offsets[right], begins[i]
        highest = np.float32(-np.inf)
        for j in range(size):
            candidate = numbers[first + j]
            errors[begin + j] = bias[candidate] + dot(states[i], outputs[candidate], lanes)
            highest = max(highest, errors[begin + j])
        for j in range(len(negatives)):
            highest = max(highest, shared[i, j])
        total = zero
        for j in range(size):
            errors[begin + j] = np.exp(errors[begin + j] - highest)
            total += errors[begin + j]
        for j in range(len(negatives)):
            # the right answer may be drawn as a negative, but must not compete with itself
            shared[i, j] = zero if negatives[j] == right else np.exp(shared[i, j] - highest)
            total += shared[i, j]
        for j in range(size):
            errors[begin + j] /= total
        for j in range(len(negatives)):
            shared[i, j] /= total
        # the small number keeps the logarithm finite if the probability underflows
        losses[i] = -np.log(errors[begin] + np.float32(1e-30))
        errors[begin] -= np.float32(1)


@compiled
def learn_outputs(
    states,
    truth,
    offsets,
    numbers,
    begins,
    errors,
    outputs,
    seen,
    bias,
    bias_seen,
    rate,
    state_gradients,
    half,
    low,
    high,
):
    """Take an Adagrad step for each candidate of each row, in the columns from `low` to `high`.

    The columns are learned in two halves, by threads; half 0 also updates the biases.
    These columns of `state_gradients` are filled. `seen` and `bias_seen` are the sums of squared gradients
    that Adagrad divides by.
    """
    width = np.float32(high - low)
    for i in range(len(states)):
        state, gradient = states[i, low:high], state_gradients[i, low:high]
        norm = np.float32(0)
        for k in range(len(state)):
            gradient[k] = 0
            norm += state[k] * state[k]
        first, size = offsets[truth[i]], offsets[truth[i] + 1] - offsets[truth[i]]
        for j in range(size):
            error = errors[begins[i] + j]
            if abs(error) < _NEGLIGIBLE:
                continue
            candidate = numbers[first + j]
            output = outputs[candidate, low:high]
            seen[candidate, half] += error * error * norm / width
            step = rate * error / np.sqrt(seen[candidate, half])
            for k in range(len(state)):
                gradient[k] += error * output[k]
                output[k] -= step * state[k]
            if half == 0:
                bias_seen[candidate] += error * error
                bias[candidate] -= rate * error / np.sqrt(bias_seen[candidate])


def sample_cloze_learning() -> None:
    """Train a tiny model, so that `disambig doctor --compile` compiles all functions of training."""
    from disambig.features.cloze import ClozeVocabulary
    from disambig.features.cloze_learning import learn_cloze
    from disambig.text import END_HASH, START_HASH

    vocabulary = ClozeVocabulary(np.array([START_HASH, END_HASH, 1, 2], np.uint64), 1)
    text = np.array([0, 2, 3, 1], np.uint16)
    rivals = np.array([0, 0, 0, 1, 2]), np.array([3, 2])
    learn_cloze([text], vocabulary, rivals, none_beside=np.zeros(0, np.int64), dimensions=2, hidden=2)
