"""Compiled functions that find n-grams and score words."""

from __future__ import annotations

import numpy as np

from disambig.jit import compiled
from disambig.language_models import model as arrays
from disambig.language_models.model import NgramLevel
from disambig.text import fmix64

# Numba finds the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs


@compiled
def find_rows(begins, words, contexts, last, rows):
    """Fill `rows` (int32) with the row of context ``contexts[i]`` followed by ``last[i]``; -1 if absent.

    `begins` and `words` are those of an `NgramLevel`; nothing follows the context -1.
    """
    for i in range(len(last)):
        rows[i] = -1
        context, word = contexts[i], last[i]
        if context < 0:
            continue
        # binary search among the words after this context, which ascend
        low, high = begins[context], begins[context + 1]
        end = high
        while low < high:
            middle = (low + high) >> 1
            if words[middle] < word:
                low = middle + 1
            else:
                high = middle
        if low < end and words[low] == word:
            rows[i] = low


def sample_ngram_rows() -> None:
    """Call the compiled functions on tiny inputs, so that `disambig doctor --compile` compiles them."""
    one = np.zeros(1, np.int32)
    find_rows(np.array([0, 1]), one, one, one, np.empty(1, np.int32))


_FREE = np.uint64(arrays.FREE)
_SLOTS, _N_SLOTS = np.uint64(arrays.SLOTS), np.uint64(arrays.N_SLOTS)
_STATES, _FIRSTS = np.uint64(arrays.STATES), np.uint64(arrays.FIRSTS)
_N_WORDS, _N_PARTS = np.uint64(arrays.N_WORDS), np.uint64(arrays.N_PARTS)
_ONE_PART = np.uint64(arrays.PARTS)
_TWO_PARTS = np.uint64(arrays.PARTS + arrays.PART)
_ROOT, _START, _KNOWN = np.uint64(arrays.ROOT), np.uint64(arrays.START_STATE), np.uint64(arrays.KNOWN)
_LOG_WEIGHT, _LOG_SHARE = np.uint64(arrays.LOG_WEIGHT), np.uint64(arrays.LOG_SHARE)
_0, _1, _2, _S32 = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@compiled
def place_outcomes(slots, keys, outcomes):
    """Insert distinct keys and their outcomes into free slots; there must be more slots than keys."""
    n = np.uint64(len(slots))
    for i in range(len(keys)):
        # the upper half of the hash, a number below 2**32, scaled to the n slots without a division
        slot = ((fmix64(keys[i]) >> _S32) * n) >> _S32
        while slots[slot, 0] != _FREE:
            slot += _1
            if slot == n:
                slot = _0
        slots[slot, 0], slots[slot, 1] = keys[i], outcomes[i]


@compiled
def _find_outcome(table, key):
    """Return whether the n-gram exists, and its outcome."""
    n, slots = table[_N_SLOTS], table[_SLOTS]
    slot = ((fmix64(key) >> _S32) * n) >> _S32
    while True:
        found_key = table[slots + _2 * slot]
        if found_key == key:
            return True, table[slots + _2 * slot + _1]
        if found_key == _FREE:  # linear probing ends at a free slot
            return False, _0
        slot += _1
        if slot == n:
            slot = _0


@compiled
def _small_float(number):
    """Return the float32 in the lower half of a number, as float64."""
    return np.float64(np.uint32(number & _LOW).view(np.float32))


@compiled
def _large_float(number):
    """Return the float64 with the bits of a number."""
    return np.uint64(number).view(np.float64)


@compiled
def _component_score(table, part, row, state, word):
    """Return ln P(word | state) in the component at offset `part`, and its next state (uint64).

    `row` is the offset of its single words.
    """
    total = 0.0
    if word >= table[part + _KNOWN]:
        word = _0
    if word == _0:
        total = _large_float(table[part + _LOG_SHARE])
    # back off until the word was seen after the context, or the context is empty
    while True:
        shorter = table[table[_STATES] + state]
        if shorter >> _S32 == _0:
            break
        seen, outcome = _find_outcome(table, state << _S32 | word)
        if seen:
            return total + _small_float(outcome), outcome >> _S32
        total += _small_float(shorter)
        state = (shorter >> _S32) - _1
    if word == _0:
        total -= _large_float(table[part + _LOG_SHARE])  # the single-word row already contains this share
    outcome = table[row + word]
    return total + _small_float(outcome), outcome >> _S32


@compiled
def _word_number(table, word):
    """Return the number of a word as uint64, 0 for a word outside the vocabulary."""
    number = np.int64(word)
    return _0 if number < 0 or number >= np.int64(table[_N_WORDS]) else np.uint64(number)


@compiled
def _mix_states(table, place):
    """Return the states of the components, read from `table` at `place`, packed into one int64."""
    state = table[_ONE_PART + place]
    if table[_N_PARTS] > _1:
        state |= table[_TWO_PARTS + place] << _S32
    return np.int64(state)


@compiled
def empty_state(model):
    """Return the state without any words of context."""
    return _mix_states(model.table, _ROOT)


@compiled
def start_state(model):
    """Return the state at the start of a sentence."""
    return _mix_states(model.table, _START)


@compiled
def _mixed_score(table, state, number):
    """Return ln P(word | state) under both components, and the next state."""
    row, states = table[_FIRSTS], np.uint64(state)
    first, after = _component_score(table, _ONE_PART, row, states & _LOW, number)
    second, other = _component_score(table, _TWO_PARTS, row + table[_N_WORDS], states >> _S32, number)
    first += _large_float(table[_ONE_PART + _LOG_WEIGHT])
    second += _large_float(table[_TWO_PARTS + _LOG_WEIGHT])
    log_prob = max(first, second)
    if log_prob > -np.inf:  # log-sum-exp; both are -inf for the sentence start
        log_prob += np.log1p(np.exp(min(first, second) - log_prob))
    return log_prob, np.int64(after | other << _S32)


@compiled
def score_word(model, state, word):
    """Return ln P(word | state) (float64), and the state after the word (int64)."""
    table = model.table
    number = _word_number(table, word)
    if table[_N_PARTS] > _1:
        return _mixed_score(table, state, number)
    log_prob, after = _component_score(table, _ONE_PART, table[_FIRSTS], np.uint64(state), number)
    return log_prob, np.int64(after)


@compiled
def state_behind(model, words, n):
    """Return the state after the first `n` of `words`, the oldest first, with no earlier context."""
    state = empty_state(model)
    for i in range(n):
        state = np.int64(state_after(model, state, words[i]))
    return state


@compiled
def state_after(model, state, word):
    """Return the state after a word."""
    return score_word(model, state, word)[1]


@compiled
def word_log_probability(model, context, n, word):
    """Return ln P(word | the first n of `context`, the oldest first), for any n."""
    return score_word(model, state_behind(model, context, n), word)[0]


@compiled
def seen_word(model, state, word):
    """Return whether the word was seen in `state`, ln P(word | state), and the state after it.

    If it was not seen, the other two values are meaningless. For a mixture, this function, `back_off_weight`
    and `shorter_state` use the background model only.
    """
    table, number, at = model.table, _word_number(model.table, word), np.uint64(state) & _LOW
    if table[table[_STATES] + at] >> _S32 == _0:
        seen, outcome = True, table[table[_FIRSTS] + number]
    else:
        seen, outcome = _find_outcome(table, at << _S32 | number)
    return seen, _small_float(outcome), np.int64(outcome >> _S32)


@compiled
def back_off_weight(model, state):
    """Return ln of the weight of the shorter context, for a word that was not seen."""
    return _small_float(model.table[model.table[_STATES] + (np.uint64(state) & _LOW)])


@compiled
def shorter_state(model, state):
    """Return the state of the next shorter context (int64), -1 if there is none."""
    return np.int64(model.table[model.table[_STATES] + (np.uint64(state) & _LOW)] >> _S32) - 1


@compiled
def score_sentences(model, ids, offsets, n_known, sums):
    """Add up ln P of the words of sentences and of their ends.

    ``sums[i]`` (float64, shape (n_sentences, 4)) receives ln P of the known words and the end, their number,
    ln P of the unknown words, and their number. Words below `n_known` are known, except 0.
    """
    for i in range(len(offsets) - 1):
        state = start_state(model)
        for at in range(offsets[i], offsets[i + 1]):
            word = ids[at]
            log_prob, state = score_word(model, state, word)
            column = 2 if word == 0 or word >= n_known else 0
            sums[i, column] += log_prob
            sums[i, column + 1] += 1.0
        sums[i, 0] += score_word(model, state, 2)[0]
        sums[i, 1] += 1.0


@compiled
def score_all(model, ids, offsets, scores):
    """Write ln P of each word, and of the end after each sentence, to `scores` (float64)."""
    n = 0
    for i in range(len(offsets) - 1):
        state = start_state(model)
        for at in range(offsets[i], offsets[i + 1]):
            scores[n], state = score_word(model, state, ids[at])
            n += 1
        scores[n] = score_word(model, state, 2)[0]
        n += 1


def sample_word_scores() -> None:
    """Call the compiled functions on tiny inputs, so that `disambig doctor --compile` compiles them."""
    ids = np.arange(3, dtype=np.int32)
    logs = np.zeros(3, np.float32)
    level = NgramLevel(np.array([0, 3]), ids, logs, logs)
    model = arrays.make_arrays([([level], 0.0), ([level], 0.0)], 3)
    score_sentences(model, ids[:1], np.array([0, 1]), 3, np.zeros((1, 4)))
    score_all(model, ids[:1], np.array([0, 1]), np.empty(2))
    word_log_probability(model, ids, 1, 0)
    seen_word(model, empty_state(model), 0)
    back_off_weight(model, 0)
    shorter_state(model, 0)
