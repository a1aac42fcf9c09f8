"""Compiled functions of the parser: transitions, oracle, features, greedy and beam search, training.

The transition system is arc-hybrid (Kuhlmann, Gomez-Rodriguez and Satta 2011) without an artificial root: a
sentence of n words takes n shifts and n - 1 arcs, and the last word on the stack is the root, so that every
result is a projective tree with one root. Actions are numbered: 0 shifts; 1 to L add an arc from the first
word of the buffer to the top of the stack (left); L + 1 to 2 L add one from the second of the stack to its
top (right).

Words are numbered from 1; 0 means none, so that features need no bounds checks. A state is a table of int32,
shape ``(11, n + 2)``, whose rows are named below, and ``place``, the number of words on the stack and the
first word of the buffer.
"""

# Numba infers the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.api.kernels import compiled

from ._features import (
    HEAD,
    LABEL,
    LEFT,
    LEFT2,
    N_DISTANT,
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

N_FEATURES = 128
"""At least the number of features of a state."""
LONG = 300
"""Longer sentences are parsed without a beam, whose time grows with the square of the length."""


# ---- transitions and oracle


@compiled
def start(state, place):
    """Write the first state: nothing on the stack."""
    state[:] = 0
    place[0], place[1] = 0, 1


@compiled
def apply(state, place, action, n_labels):
    """Carry out an action, which must be possible."""
    if action == 0:
        state[STACK, place[0]] = place[1]
        place[0] += 1
        place[1] += 1
        return
    place[0] -= 1
    child = state[STACK, place[0]]
    label = action
    if action <= n_labels:
        head = place[1]
        state[LEFT2, head] = state[LEFT, head]
        state[LEFT, head] = child
        state[N_LEFT, head] += 1
        state[SET_LEFT, head] |= 1 << (label % 31)
    else:
        label = action - n_labels
        head = state[STACK, place[0] - 1]
        state[RIGHT2, head] = state[RIGHT, head]
        state[RIGHT, head] = child
        state[N_RIGHT, head] += 1
        state[SET_RIGHT, head] |= 1 << (label % 31)
    state[HEAD, child] = head
    state[LABEL, child] = label


@compiled
def possible(place, n):
    """Return whether a shift, a left arc and a right arc are possible."""
    return place[1] <= n, place[0] >= 1 and place[1] <= n, place[0] >= 2


@compiled
def action_costs(state, place, n, heads):
    """Return the number of right heads that a shift, a left arc and a right arc make impossible.

    Goldberg and Nivre (2013), section 4, for a system without an artificial root. `heads` has the right head
    of each word, 0 for the root's.
    """
    size, first = place[0], place[1]
    shift, left, right = 0, 0, 0
    # a shift puts the first word of the buffer beyond the reach of the words on the stack: it is no longer
    # the head of any, nor the child of any but the top
    if first <= n:
        if size >= 1 and heads[first] == 0:
            shift += 1  # only the bottom of the stack can become the root
        for i in range(size):
            word = state[STACK, i]
            if heads[word] == first:
                shift += 1
            if i < size - 1 and heads[first] == word:
                shift += 1
    # an arc removes the top: it gets no more children, and no other head
    if size >= 1:
        top = state[STACK, size - 1]
        for word in range(first, n + 1):
            if heads[word] == top:
                left += 1
                right += 1
        head = heads[top]
        below = state[STACK, size - 2] if size >= 2 else 0
        if head >= first:
            right += 1
        if head > first or (head > 0 and head == below) or (head == 0 and size == 1):
            left += 1
    return shift, left, right


@compiled
def static_action(state, place, n, heads, labels, n_labels):
    """Return the action of the tree from a state of its own derivation: arcs as early as possible."""
    shift, left, right = action_costs(state, place, n, heads)
    can_shift, can_left, can_right = possible(place, n)
    top = state[STACK, place[0] - 1] if place[0] else 0
    if can_left and left == 0 and heads[top] == place[1]:
        return labels[top]
    if can_right and right == 0 and heads[top] == state[STACK, place[0] - 2]:
        return n_labels + labels[top]
    return 0 if can_shift and shift == 0 else -1


# ---- features


@compiled
def _key(template, a, b, c):
    """Return the hash of a template and up to three values."""
    h = np.uint64(template) * np.uint64(0x9E3779B97F4A7C15) + a
    h = (h ^ (h >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93) + b
    h = (h ^ (h >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93) + c
    h = (h ^ (h >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return np.uint32(h >> np.uint64(32))


@compiled
def _distance(a, b):
    """Return the distance between two words in classes: 1 to 5, 6 up to 10, 7 beyond; 0 if one is missing."""
    if a == 0 or b == 0:
        return np.uint64(0)
    d = b - a
    if d > 10:
        d = 7
    elif d > 5:
        d = 6
    return np.uint64(d)


@compiled
def features(state, place, n, atoms, keys):
    """Write the hashed features of a state into `keys`; return their number.

    `atoms` (n + 1, 4) of uint64 has the words, tags and two word classes.
    """
    size, first = place[0], place[1]
    s0 = state[STACK, size - 1] if size >= 1 else 0
    s1 = state[STACK, size - 2] if size >= 2 else 0
    s2 = state[STACK, size - 3] if size >= 3 else 0
    b0 = first if first <= n else 0
    b1 = first + 1 if first + 1 <= n else 0
    b2 = first + 2 if first + 2 <= n else 0
    words = (s0, s1, s2, b0, b1, b2)
    values = np.zeros(len(SOURCES) + 1 + N_DISTANT, np.uint64)  # in the order of `COLUMNS`, the first is 0
    for i in range(len(SOURCES)):
        word, what = words[SOURCES[i, 0]], SOURCES[i, 2]
        if SOURCES[i, 1] >= 0:
            word = state[SOURCES[i, 1], word]
        if what < 0:
            values[i + 1] = np.uint64(state[-what, word])
        elif what == WORD_AND_TAG:
            values[i + 1] = atoms[word, 0] ^ (atoms[word, 1] << np.uint64(1))
        else:
            values[i + 1] = atoms[word, what]
    values[-5] = _distance(s0, b0)
    values[-4] = _distance(s1, s0)
    values[-3] = atoms[s0 - 1 if s0 > 1 else 0, 1]
    values[-2] = atoms[s0 + 1 if s0 and s0 < n else 0, 1]
    values[-1] = atoms[n, 0]
    for k in range(len(TEMPLATES)):
        keys[k] = _key(k + 1, values[TEMPLATES[k, 0]], values[TEMPLATES[k, 1]], values[TEMPLATES[k, 2]])
    return len(TEMPLATES)


# ---- weights that are being learned
#
# `table` (a power of two, int64) leads from a feature to its first chunk. A chunk is one line of the
# processor's cache: its number of weights, the next chunk, and up to seven pairs of action and weight.
# Weights are whole numbers. `sums` (n_chunks, 7, 2) has, for averages, the sum of each weight over time, and
# until when.
CHUNK = 7


@compiled
def _first_chunk(table, key):
    """Return the slot of a feature in the table, and its first chunk, -1 for a feature without weights."""
    mask = len(table) - 1
    at = np.int64(key) & mask
    while table[at] != 0:
        if (table[at] >> 32) & 0xFFFFFFFF == np.int64(key):
            return at, (table[at] & 0xFFFFFFFF) - 1
        at = (at + 1) & mask
    return at, np.int64(-1)


@compiled
def _learning_scores(table, chunks, keys, k, scores):
    """Write the score of each action by the weights that are being learned, from its first `k` keys."""
    scores[:] = 0
    for i in range(k):
        _, chunk = _first_chunk(table, keys[i])
        while chunk >= 0:
            for j in range(chunks[chunk, 0]):
                scores[chunks[chunk, 2 * j + 2]] += chunks[chunk, 2 * j + 3]
            chunk = np.int64(chunks[chunk, 1]) - 1


@compiled
def _change(table, chunks, sums, used, keys, k, action, by, time):
    """Add `by` to the weights of features and an action."""
    for i in range(k):
        # the chunk with the weight of this action, and its place in it, -1 if there is none
        slot, chunk = _first_chunk(table, keys[i])
        first, place = chunk, -1
        while chunk >= 0 and place < 0:
            for j in range(chunks[chunk, 0]):
                if chunks[chunk, 2 * j + 2] == action:
                    place = j
            if place < 0:
                chunk = np.int64(chunks[chunk, 1]) - 1
        # otherwise a new weight, in a new chunk if the first one is full: that becomes the first
        if place < 0:
            if first < 0 or chunks[first, 0] == CHUNK:
                chunk = used[0]
                used[0] += 1
                chunks[chunk, 1] = first + 1
                table[slot] = (np.int64(keys[i]) << 32) | (chunk + 1)
            else:
                chunk = first
            place = chunks[chunk, 0]
            chunks[chunk, 0] += 1
            chunks[chunk, 2 * place + 2] = action
        # the weight had its value since the last change
        sums[chunk, place, 0] += chunks[chunk, 2 * place + 3] * (time - sums[chunk, place, 1])
        sums[chunk, place, 1] = time
        chunks[chunk, 2 * place + 3] += by


@compiled
def longest_sentence(bounds, sentences):
    """Return the number of words of the longest of some sentences, with the root; 0 without sentences."""
    longest = 0
    for s in sentences:
        longest = max(longest, bounds[s + 1] - bounds[s])
    return longest


@compiled
def _best_actions(state, place, n, heads, labels, n_labels, scores):
    """Return the possible action with the highest score, and that among those that cost least.

    Among the latter, arcs of the tree have the right label.
    """
    can_shift, can_left, can_right = possible(place, n)
    shift, left, right = action_costs(state, place, n, heads)
    minimum = 1 << 30
    if can_shift:
        minimum = min(minimum, shift)
    if can_left:
        minimum = min(minimum, left)
    if can_right:
        minimum = min(minimum, right)
    top = state[STACK, place[0] - 1] if place[0] else 0
    left_is_right = top > 0 and heads[top] == place[1]
    right_is_right = place[0] >= 2 and heads[top] == state[STACK, place[0] - 2]
    best, good = -1, -1
    for a in range(2 * n_labels + 1):
        if a == 0:
            if not can_shift:
                continue
            is_good = shift == minimum
        elif a <= n_labels:
            if not can_left:
                continue
            is_good = left == minimum and (not left_is_right or a == labels[top])
        else:
            if not can_right:
                continue
            is_good = right == minimum and (not right_is_right or a - n_labels == labels[top])
        if best < 0 or scores[a] > scores[best]:
            best = a
        if is_good and (good < 0 or scores[a] > scores[good]):
            good = a
    return best, good


@compiled
def train_greedy(
    bounds, atoms, heads, labels, order, n_labels, explore, table, chunks, sums, used, clock, seed
):
    """Make one pass with the dynamic oracle; return the numbers of decisions and mistakes.

    Goldberg and Nivre (2013), training with exploration: `explore` is the probability of following a wrong
    decision. clock[0] counts the decisions. The number of mistakes is -1 if there is no room for weights.
    """
    np.random.seed(seed)
    keys, scores = np.empty(N_FEATURES, np.uint32), np.empty(2 * n_labels + 1, np.int64)
    place = np.zeros(2, np.int64)
    longest = longest_sentence(bounds, order)
    buffer = np.zeros((N_ROWS, longest + 2), np.int32)
    mistakes, decisions = 0, 0
    for s in order:
        n = bounds[s + 1] - bounds[s] - 1  # the first row of a sentence is word 0, none
        sentence_atoms = atoms[bounds[s] : bounds[s + 1]]
        right_heads, right_labels = heads[bounds[s] : bounds[s + 1]], labels[bounds[s] : bounds[s + 1]]
        state = buffer[:, : n + 2]
        start(state, place)
        for _ in range(2 * n - 1):
            if used[0] + 4 * N_FEATURES > len(chunks):
                return decisions, -1
            k = features(state, place, n, sentence_atoms, keys)
            _learning_scores(table, chunks, keys, k, scores)
            best, good = _best_actions(state, place, n, right_heads, right_labels, n_labels, scores)
            decisions += 1
            clock[0] += 1
            if best != good:
                mistakes += 1
                _change(table, chunks, sums, used, keys, k, good, 1, clock[0])
                _change(table, chunks, sums, used, keys, k, best, -1, clock[0])
                if np.random.random() >= explore:
                    best = good
            apply(state, place, best, n_labels)
    return decisions, mistakes


@compiled
def averaged(table, chunks, sums, used, time, minimum):
    """Return the averages of weights over the steps of training whose absolute value is at least `minimum`.

    For each weight its feature (uint32), its action (uint16) and its value (float32). See "weights that are
    being learned" above for the arrays; `used` is the number of chunks, `time` that of steps.
    """
    n = 0
    for chunk in range(used):
        n += chunks[chunk, 0]
    keys, actions, weights = np.empty(n, np.uint32), np.empty(n, np.uint16), np.empty(n, np.float32)
    i = 0
    for at in range(len(table)):
        chunk = (table[at] & 0xFFFFFFFF) - 1
        while chunk >= 0:
            for j in range(chunks[chunk, 0]):
                weight_now = chunks[chunk, 2 * j + 3]
                # sums end at the last change of a weight, which has kept its value since then
                weight = (sums[chunk, j, 0] + weight_now * (time - sums[chunk, j, 1])) / time
                if abs(weight) >= minimum:
                    keys[i] = (table[at] >> 32) & 0xFFFFFFFF
                    actions[i], weights[i] = chunks[chunk, 2 * j + 2], weight
                    i += 1
            chunk = np.int64(chunks[chunk, 1]) - 1
    return keys[:i], actions[:i], weights[:i]


# ---- weights in use: a table from features to rows of packed (weight, action, whether it is the last)


@compiled
def pack_rows(keys, sizes, actions, weights, table, packed):
    """Fill the table of a parser: `table` of int64 (a power of two, zeros), `packed` of int32."""
    mask = len(table) - 1
    j = 0
    for i in range(len(keys)):
        at = np.int64(keys[i]) & mask
        while table[at] != 0:
            at = (at + 1) & mask
        table[at] = (np.int64(keys[i]) << 32) | np.int64(j + 1)
        for _ in range(sizes[i]):
            packed[j] = (np.int32(weights[j]) << 12) | (np.int32(actions[j]) << 1)
            j += 1
        packed[j - 1] |= 1


@compiled
def _scores(table, packed, keys, k, scores):
    """Write the score of each action by the weights in use, from its first `k` keys."""
    mask = len(table) - 1
    scores[:] = 0
    for i in range(k):
        key = np.int64(keys[i])
        at = key & mask
        while True:
            entry = table[at]
            if entry == 0:
                break
            if (entry >> 32) & 0xFFFFFFFF == key:
                j = (entry & 0xFFFFFFFF) - 1
                while True:
                    value = packed[j]
                    scores[(value >> 1) & 0x7FF] += value >> 12
                    if value & 1:
                        break
                    j += 1
                break
            at = (at + 1) & mask


# ---- beam search


@compiled
def _insert(best, origin, size, score, k, action):
    """Insert a continuation into the best ones, best first; return how many there are."""
    beam = len(best)
    if size == beam and score <= best[beam - 1]:
        return size
    at = size if size < beam else beam - 1
    while at > 0 and best[at - 1] < score:
        best[at] = best[at - 1]
        origin[at, 0], origin[at, 1] = origin[at - 1, 0], origin[at - 1, 1]
        at -= 1
    best[at] = score
    origin[at, 0], origin[at, 1] = k, action
    return min(size + 1, beam)


@compiled
def _insert_all(best, origin, size, before, scores, k, place, n, n_labels):
    """Insert the continuations of derivation `k` by all possible actions; return how many there are."""
    can_shift, can_left, can_right = possible(place, n)
    if can_shift:
        size = _insert(best, origin, size, before + scores[0], k, 0)
    if can_left:
        for a in range(1, n_labels + 1):
            size = _insert(best, origin, size, before + scores[a], k, a)
    if can_right:
        for a in range(n_labels + 1, 2 * n_labels + 1):
            size = _insert(best, origin, size, before + scores[a], k, a)
    return size


@compiled
def _continue(states, places, now, origin, i, n, n_labels):
    """Write the state of continuation `i` into the other half of `states`: its parent's, with its action."""
    later, parent = 1 - now, origin[i, 0]
    states[later, i, :, : n + 2] = states[now, parent, :, : n + 2]
    places[later, i] = places[now, parent]
    apply(states[later, i], places[later, i], origin[i, 1], n_labels)


@compiled
def parse(bounds, atoms, n_labels, table, packed, beam, heads, labels, totals):
    """Write the heads (0 for the root's) and labels of all words, and the score of each sentence.

    They are those of the best sequence of actions in a beam; with a beam of 1, of the best action each time.
    """
    keys, scores = np.empty(N_FEATURES, np.uint32), np.empty(2 * n_labels + 1, np.int64)
    longest = longest_sentence(bounds, np.arange(len(bounds) - 1))
    states = np.zeros((2, beam, N_ROWS, longest + 2), np.int32)
    places, sums = np.zeros((2, beam, 2), np.int64), np.zeros((2, beam), np.int64)
    origin = np.zeros((beam, 2), np.int64)
    for s in range(len(bounds) - 1):
        n = bounds[s + 1] - bounds[s] - 1
        sentence_atoms = atoms[bounds[s] : bounds[s + 1]]
        width = beam if n <= LONG else 1
        now, size = 0, 1
        start(states[0, 0, :, : n + 2], places[0, 0])
        sums[0, 0] = 0
        for _ in range(2 * n - 1):
            later, more = 1 - now, 0
            for i in range(size):
                k = features(states[now, i], places[now, i], n, sentence_atoms, keys)
                _scores(table, packed, keys, k, scores)
                best = sums[later, :width]
                more = _insert_all(best, origin, more, sums[now, i], scores, i, places[now, i], n, n_labels)
            if width == 1:  # in place: copies would take a time that grows with the square of the length
                apply(states[now, 0], places[now, 0], origin[0, 1], n_labels)
                sums[now, 0] = sums[later, 0]
                continue
            for i in range(more):
                _continue(states, places, now, origin, i, n, n_labels)
            now, size = later, more
        totals[s] = sums[now, 0]
        for i in range(n + 1):
            heads[bounds[s] + i] = states[now, 0, HEAD, i]
            labels[bounds[s] + i] = states[now, 0, LABEL, i]


@compiled
def _change_along(
    actions, others, by, atoms, n, n_labels, state, place, keys, table, chunks, sums, used, time
):
    """Add `by` to the weights of a derivation's actions, from the first one that another does not have."""
    start(state, place)
    differs = False
    for step in range(len(actions)):
        differs |= actions[step] != others[step]
        if differs:  # before, the updates of both would cancel
            k = features(state, place, n, atoms, keys)
            _change(table, chunks, sums, used, keys, k, actions[step], by, time)
        apply(state, place, actions[step], n_labels)


@compiled
def train_beam(bounds, atoms, heads, labels, order, n_labels, beam, table, chunks, sums, used, clock):
    """Make one pass with updates at the largest violation; return the numbers of sentences and updates.

    Huang, Fayong and Guo (2012), max-violation updates: the derivation of the tree against the best one
    in the beam, up to the step where the difference of their scores is largest. Trees must be projective.
    clock[0] counts sentences. The number of updates is -1 if there is no room for more weights.
    """
    keys, scores = np.empty(N_FEATURES, np.uint32), np.empty(2 * n_labels + 1, np.int64)
    longest = longest_sentence(bounds, order)
    states = np.zeros((2, beam, N_ROWS, longest + 2), np.int32)
    places, totals = np.zeros((2, beam, 2), np.int64), np.zeros((2, beam), np.int64)
    origin = np.zeros((beam, 2), np.int64)
    history = np.zeros((2 * longest, beam, 2), np.int64)
    right, wrong = np.zeros(2 * longest, np.int64), np.zeros(2 * longest, np.int64)  # actions
    gold, gold_place = np.zeros((N_ROWS, longest + 2), np.int32), np.zeros(2, np.int64)
    updates, done = 0, 0
    for s in order:
        n = bounds[s + 1] - bounds[s] - 1
        if used[0] + 4 * n * N_FEATURES > len(chunks):
            return done, -1
        sentence_atoms = atoms[bounds[s] : bounds[s + 1]]
        own_heads, own_labels = heads[bounds[s] : bounds[s + 1]], labels[bounds[s] : bounds[s + 1]]
        now, size = 0, 1
        start(states[0, 0, :, : n + 2], places[0, 0])
        start(gold[:, : n + 2], gold_place)
        # `gold_at`: the place of the tree's derivation in the beam, -1 once it has left it
        totals[0, 0], gold_total, gold_at = 0, np.int64(0), 0
        violation, violated = np.int64(-1), -1
        for step in range(2 * n - 1):
            later, more = 1 - now, 0
            action = static_action(gold, gold_place, n, own_heads, own_labels, n_labels)
            right[step] = action
            if gold_at < 0:
                k = features(gold, gold_place, n, sentence_atoms, keys)
                _learning_scores(table, chunks, keys, k, scores)
                gold_total += scores[action]
            for i in range(size):
                k = features(states[now, i], places[now, i], n, sentence_atoms, keys)
                _learning_scores(table, chunks, keys, k, scores)
                if i == gold_at:
                    gold_total = totals[now, i] + scores[action]
                more = _insert_all(
                    totals[later], origin, more, totals[now, i], scores, i, places[now, i], n, n_labels
                )
            next_gold = -1
            for i in range(more):
                _continue(states, places, now, origin, i, n, n_labels)
                history[step, i] = origin[i]
                if origin[i, 0] == gold_at and origin[i, 1] == action:
                    next_gold = i
            apply(gold, gold_place, action, n_labels)
            now, size, gold_at = later, more, next_gold
            if gold_at != 0 and totals[now, 0] - gold_total > violation:
                violation, violated = totals[now, 0] - gold_total, step
        done += 1
        clock[0] += 1
        if gold_at == 0 or violated < 0:
            continue
        updates += 1
        at = 0  # trace the best derivation in the beam back from the largest violation
        for step in range(violated, -1, -1):
            wrong[step] = history[step, at, 1]
            at = history[step, at, 0]
        good, bad = right[: violated + 1], wrong[: violated + 1]
        arrays = sentence_atoms, n, n_labels, gold, gold_place, keys, table, chunks, sums, used, clock[0]
        _change_along(good, bad, 1, *arrays)
        _change_along(bad, good, -1, *arrays)
    return done, updates


def sample() -> None:
    """Train on a sentence of one word and parse it, for `disambig doctor --compile`."""
    words = np.array([0, 2]), np.zeros((2, 4), np.uint64)
    arcs, order = (np.zeros(2, np.int32), np.zeros(2, np.int32)), np.zeros(1, np.int64)
    n_chunks, used, clock = 8 * N_FEATURES, np.zeros(1, np.int64), np.zeros(1, np.int64)
    chunks, sums = np.zeros((n_chunks, 2 * CHUNK + 2), np.int32), np.zeros((n_chunks, CHUNK, 2), np.int64)
    memory = np.zeros(2 * n_chunks, np.int64), chunks, sums, used, clock
    train_greedy(*words, *arcs, order, 1, 0.0, *memory, 0)
    train_beam(*words, *arcs, order, 1, 2, *memory)
    averaged(*memory[:3], 1, 1, 0.0)
    keys, action = np.zeros(1, np.uint32), np.zeros(1, np.uint16)
    rows = np.zeros(2, np.int64), np.zeros(2, np.int32)
    pack_rows(keys, action + np.uint16(1), action, np.zeros(1, np.int16), *rows)
    parse(*words, 1, *rows, 1, *arcs, np.zeros(1, np.int64))
