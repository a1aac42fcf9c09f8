"""Compiled functions of word networks, of hashed weights, and of the network of words in context."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from disambig.features.context_window import MULTIPLIERS, SEEDS
from disambig.jit import compiled
from disambig.text import END_HASH, START_HASH

if TYPE_CHECKING:
    from disambig.features.rows import Surroundings
    from disambig.features.word_network import NetworkWeights

# Numba finds the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs


LANES = 16
"""Length of the array in which `dot` accumulates."""


@compiled
def dot(a, b, lanes):
    """Return the inner product, accumulated in lanes so that the compiler can vectorise it."""
    lanes[:] = 0
    whole = len(a) - len(a) % LANES
    for j in range(0, whole, LANES):
        for lane in range(LANES):
            lanes[lane] += a[j + lane] * b[j + lane]
    total = np.float32(0)
    for lane in range(LANES):
        total += lanes[lane]
    for j in range(whole, len(a)):
        total += a[j] * b[j]
    return total


def sample_dot() -> None:
    """Call the compiled function on tiny inputs, so that `disambig doctor --compile` compiles it."""
    dot(np.zeros(LANES, np.float32), np.zeros(LANES, np.float32), np.zeros(LANES, np.float32))


_S32 = np.uint64(32)
# as in `word_network`, which is not imported here: models that need only other functions load faster
_UNKNOWN, _OUTSIDE, _FIRST_KNOWN = 0, 1, 2
_TOPIC_SHIFT = 3
_NEGLIGIBLE_UNIT = np.float32(2e-4)
"""Probability errors below this are not propagated; this holds for most of 34 candidates."""


@compiled
def _word_row(word, begins, shift, keys):
    """Return the embedding row of a word."""
    key = np.uint32(word >> _S32)
    bucket = key >> shift
    for slot in range(begins[bucket], begins[bucket + 1]):
        if keys[slot] == key:
            return slot + _FIRST_KNOWN
    return _UNKNOWN


@compiled
def _rows(hashes, begins, shift, keys, rows):
    for i in range(len(hashes)):
        rows[i] = _word_row(hashes[i], begins, shift, keys)


def rows_of_words(
    hashes: NDArray[np.uint64], vocabulary: NDArray[np.uint32], directory: tuple[NDArray[np.int32], np.uint32]
) -> NDArray[np.int32]:
    """Return the embedding row of each word, shape ``(n,)``."""
    rows = np.empty(len(hashes), np.int32)
    _rows(hashes, *directory, vocabulary, rows)
    return rows


@compiled
def _index_rows(rows, index_of, distinct, ends):
    """Replace each row number by its index in `distinct`, the distinct rows of each position.

    `index_of` is all zero before and after; in between, it has the index of each row, counted from 1.
    """
    n_distinct = 0
    for p in range(len(rows)):
        begin = n_distinct
        for i in range(rows.shape[1]):
            row = rows[p, i]
            if index_of[row] == 0:
                distinct[n_distinct] = row
                n_distinct += 1
                index_of[row] = n_distinct
            rows[p, i] = index_of[row] - 1
        # forget the rows of this position: clearing these entries is faster than filling the whole array
        for j in range(begin, n_distinct):
            index_of[distinct[j]] = 0
        ends[p] = n_distinct


@compiled
def _look_up_rows(
    hashes, first, last, low, high, places, heads, begins, shift, keys, rows, index_of, distinct, ends
):
    """Look up the embedding rows of near words and of head words; `rows` has the shape (places, n).

    `distinct` gets the distinct rows of each position, of which those before ``ends[p]`` are of the first
    positions up to p, and `rows` the index of each row among them.
    """
    for i in range(len(first)):
        for side in range(2):
            for distance in range(1, places + 1):
                token = first[i] - distance if side == 0 else last[i] + distance
                row = _OUTSIDE
                if token >= low[i] and token < high[i]:
                    row = _word_row(hashes[token], begins, shift, keys)
                rows[side * places + distance - 1, i] = row
        for number in range(heads.shape[1]):
            row = _OUTSIDE
            if heads[i, number] >= 0:
                row = _word_row(hashes[heads[i, number]], begins, shift, keys)
            rows[2 * places + number, i] = row
    _index_rows(rows, index_of, distinct, ends)


@compiled
def _sum_far(hashes, first, last, begin, end, near, far, begins, shift, keys, far_rows, sums):
    """Fill `sums`, shape (n, d), with the scaled-down sums of the embeddings of far words."""
    d = far_rows.shape[1]
    total = np.empty(d, np.int32)
    for i in range(len(first)):
        total[:] = 0
        for side in range(2):
            for distance in range(near + 1, far + 1):
                token = first[i] - distance if side == 0 else last[i] + distance
                row = _OUTSIDE
                if token >= begin[i] and token < end[i]:
                    row = _word_row(hashes[token], begins, shift, keys)
                for j in range(d):
                    total[j] += far_rows[row, j]
        for j in range(d):
            sums[i, j] = total[j] >> _TOPIC_SHIFT


@compiled
def _fill_units(sums, parts, part_of, scale, bias, units):
    """Fill `units`, shape (n, H), from the sums of far words and the contributions of near words."""
    n, h = sums.shape
    total = np.empty(h, np.float32)
    half, lowest, highest = np.float32(0.5), np.float32(0), np.float32(255)
    for i in range(n):
        total[:] = sums[i]
        for p in range(len(part_of)):
            part = parts[part_of[p, i]]
            for j in range(h):
                total[j] += part[j]
        for j in range(h):
            units[i, j] = np.uint8(min(max(np.floor(total[j] * scale[j] + bias[j] + half), lowest), highest))


def network_hidden_units(
    hashes: NDArray[np.uint64], around: Surroundings, heads: NDArray[np.int64], weights: NetworkWeights
) -> NDArray[np.uint8]:
    """Return the hidden units, shape (n, H); see `WordNetwork`.

    The contribution of a word at a position is computed once, however often the word occurs there.
    """
    w, n = weights, len(around.first)
    d, h = w.near.shape[1], w.hidden.shape[1]
    rows = np.empty((len(w.hidden) // d - 1, n), np.int32)
    table = *w.directory, w.vocabulary
    distinct, ends = np.empty(rows.size, np.int32), np.empty(len(rows), np.int64)
    indices = rows, np.zeros(len(w.near), np.int32), distinct, ends
    place = around.first, around.last
    _look_up_rows(hashes, *place, *around.sentence, around.near, heads, *table, *indices)
    words = w.near[distinct[: ends[-1]]].astype(np.float32)
    parts = np.empty((len(words), h), np.float32)
    begin = 0
    for p, end in enumerate(ends.tolist()):
        np.matmul(words[begin:end], w.hidden_floats[p * d : (p + 1) * d], out=parts[begin:end])
        begin = end
    sums = np.zeros((n, h), np.float32)
    if around.far > around.near:
        far = np.empty((n, d), np.float32)
        _sum_far(hashes, *place, *around.document, around.near, around.far, *table, w.far, far)
        np.matmul(far, w.hidden_floats[-d:], out=sums)
    units = np.empty((n, h), np.uint8)
    _fill_units(sums, parts, rows, w.hidden_scale, w.hidden_bias, units)
    return units


@compiled
def embed(near_rows, far_rows, near, far, scale, inputs):
    """Fill `inputs` with the embeddings of rows `near` (n, P) and the scaled sum of those of `far` (n, F)."""
    d = near_rows.shape[1]
    for i in range(len(near)):
        for p in range(near.shape[1]):
            for j in range(d):
                inputs[i, p * d + j] = near_rows[near[i, p], j]
        start = near.shape[1] * d
        for j in range(d):
            inputs[i, start + j] = 0
        for p in range(far.shape[1]):
            if far[i, p] >= _FIRST_KNOWN:
                for j in range(d):
                    inputs[i, start + j] += far_rows[far[i, p], j]
        for j in range(d):
            inputs[i, start + j] *= scale


@compiled
def learn_embeddings(near_rows, far_rows, near_seen, far_seen, near, far, scale, gradient, rate):
    """Take an AdaGrad step for the embeddings, with a rate per word; the far rows 0 and 1 stay zero."""
    d = near_rows.shape[1]
    tiny = np.float32(1e-8)
    start = near.shape[1] * d
    for i in range(len(near)):
        for p in range(near.shape[1]):
            row = near[i, p]
            square = np.float32(0)
            for j in range(d):
                square += gradient[i, p * d + j] * gradient[i, p * d + j]
            near_seen[row] += square / np.float32(d)
            step = rate / np.sqrt(near_seen[row] + tiny)
            for j in range(d):
                near_rows[row, j] -= step * gradient[i, p * d + j]
        square = np.float32(0)
        for j in range(d):
            square += (scale * gradient[i, start + j]) ** 2
        square /= np.float32(d)
        for p in range(far.shape[1]):
            row = far[i, p]
            if row < _FIRST_KNOWN:
                continue
            far_seen[row] += square
            step = rate * scale / np.sqrt(far_seen[row] + tiny)
            for j in range(d):
                far_rows[row, j] -= step * gradient[i, start + j]


@compiled
def output_gradients(
    units, output, bias, begins, sizes, groups, right, output_gradient, bias_gradient, units_gradient
):
    """Fill the gradients of the log loss of a softmax over each instance's group; return the loss."""
    n, h = units.shape
    scores = np.empty(sizes.max(), np.float32)
    lanes = np.empty(LANES, np.float32)
    output_gradient[:] = 0
    bias_gradient[:] = 0
    loss = 0.0
    for i in range(n):
        begin, size = begins[groups[i]], sizes[groups[i]]
        highest = np.float32(-np.inf)
        for r in range(size):
            scores[r] = bias[begin + r] + dot(units[i], output[begin + r], lanes)
            highest = max(highest, scores[r])
        normaliser = np.float32(0)
        for r in range(size):
            scores[r] = np.exp(scores[r] - highest)
            normaliser += scores[r]
        loss -= np.log(scores[right[i]] / normaliser + 1e-30)
        for j in range(h):
            units_gradient[i, j] = 0
        for r in range(size):
            error = scores[r] / normaliser - (np.float32(1) if r == right[i] else np.float32(0))
            if abs(error) < _NEGLIGIBLE_UNIT:
                continue
            bias_gradient[begin + r] += error
            for j in range(h):
                output_gradient[begin + r, j] += error * units[i, j]
                units_gradient[i, j] += error * output[begin + r, j]
    return loss


_START, _END = np.uint64(START_HASH), np.uint64(END_HASH)


@compiled
def _fill_buckets(hashes, left, right, shift, buckets):
    """Fill `buckets` with the bucket of every feature of one place (see `feature_buckets`)."""
    before, after = hashes[left], hashes[right]
    further = hashes[left - 1] if left > 0 and before != _START else before
    beyond = hashes[right + 1] if right + 1 < len(hashes) and after != _END else after
    for t in range(len(SEEDS)):
        value = SEEDS[t] + MULTIPLIERS[t, 0] * further + MULTIPLIERS[t, 1] * before
        value += MULTIPLIERS[t, 2] * after + MULTIPLIERS[t, 3] * beyond
        buckets[t] = value >> shift


@compiled
def sum_gap_weights(hashes, left, right, weights, bits, sums):
    """Fill `sums` with the sum of the weights at each place."""
    buckets = np.empty(len(SEEDS), np.uint64)
    shift = np.uint64(64 - bits)
    for i in range(len(left)):
        _fill_buckets(hashes, left[i], right[i], shift, buckets)
        total = 0
        for t in range(len(SEEDS)):
            total += weights[buckets[t]]
        sums[i] = total


@compiled
def descend_gaps(hashes, left, right, filled, weights, seen, bits, rate):
    """Take AdaGrad steps for the weights, place by place."""
    buckets = np.empty(len(SEEDS), np.uint64)
    shift = np.uint64(64 - bits)
    for i in range(len(left)):
        _fill_buckets(hashes, left[i], right[i], shift, buckets)
        score = 0.0
        for t in range(len(SEEDS)):
            score += weights[buckets[t]]
        probability = 1.0 / (1.0 + np.exp(-score))
        error = probability - (1.0 if filled[i] else 0.0)
        for t in range(len(SEEDS)):
            bucket = buckets[t]
            seen[bucket] += error * error
            weights[bucket] -= rate * error / np.sqrt(seen[bucket])


def sample_gaps() -> None:
    """Call the compiled functions on tiny inputs, so that `disambig doctor --compile` compiles them."""
    hashes, places = np.arange(4, dtype=np.uint64), np.array([1, 2])
    sum_gap_weights(hashes, places - 1, places, np.zeros(4, np.int8), 2, np.empty(2, np.int32))
    filled, rate = np.array([True, False]), np.float32(0.1)
    descend_gaps(hashes, places - 1, places, filled, np.zeros(4, np.float32), np.ones(4, np.float32), 2, rate)


@compiled
def fill_cloze_units(frequent, rare, rows, bias, scale, units):
    """Fill `units`, shape (n, H), from the bias and the projections of the words at each place.

    `frequent` and `rare` have the shape (words, places * H). `rows`, shape (n, places), contains row
    numbers; those from ``len(frequent)`` on stand for the rows of `rare`.
    """
    n, places = rows.shape
    h, m = len(bias), len(frequent)
    total = np.empty(h, np.int32)
    lowest, highest = np.float32(0), np.float32(255)
    for i in range(n):
        total[:] = bias
        if places % 2:
            part = frequent[rows[i, 0]] if rows[i, 0] < m else rare[rows[i, 0] - m]
            for k in range(h):
                total[k] += part[k]
        for p in range(places % 2, places, 2):  # two words at a time, which are read in parallel
            part = frequent[rows[i, p]] if rows[i, p] < m else rare[rows[i, p] - m]
            other = frequent[rows[i, p + 1]] if rows[i, p + 1] < m else rare[rows[i, p + 1] - m]
            for k in range(h):
                total[k] += np.int32(part[p * h + k]) + np.int32(other[(p + 1) * h + k])
        for k in range(h):
            units[i, k] = min(max(np.rint(np.float32(total[k]) * scale), lowest), highest)


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
    fill_cloze_units(projections, projections, which, bias, np.float32(1), np.empty((1, 2), np.float32))
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

    vocabulary = ClozeVocabulary(np.array([START_HASH, END_HASH, 1, 2], np.uint64), 1)
    text = np.array([0, 2, 3, 1], np.uint16)
    rivals = np.array([0, 0, 0, 1, 2]), np.array([3, 2])
    learn_cloze([text], vocabulary, rivals, none_beside=np.zeros(0, np.int64), dimensions=2, hidden=2)
