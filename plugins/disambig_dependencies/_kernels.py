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

STACK, HEAD, LABEL, LEFT, LEFT2, RIGHT, RIGHT2, N_LEFT, N_RIGHT, SET_LEFT, SET_RIGHT = range(11)
N_ROWS = 11
N_FEATURES = 128
"""At least the number of features of a state."""
LONG = 300
"""Longer sentences are parsed without a beam, whose time grows with the square of the length."""


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
    if first <= n:
        if size >= 1 and heads[first] == 0:
            shift += 1  # only the bottom of the stack can become the root
        for i in range(size):
            word = state[STACK, i]
            if heads[word] == first:
                shift += 1
            if i < size - 1 and heads[first] == word:
                shift += 1
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


@compiled
def _key(template, a, b, c):
    h = np.uint64(template) * np.uint64(0x9E3779B97F4A7C15) + a
    h = (h ^ (h >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93) + b
    h = (h ^ (h >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93) + c
    h = (h ^ (h >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return np.uint32(h >> np.uint64(32))


@compiled
def _distance(a, b):
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

    `atoms` (n + 1, 4) of uint64 has the words, tags and two word classes. After Zhang and Nivre (2011).
    """
    size, first = place[0], place[1]
    s0 = state[STACK, size - 1] if size >= 1 else 0
    s1 = state[STACK, size - 2] if size >= 2 else 0
    s2 = state[STACK, size - 3] if size >= 3 else 0
    b0 = first if first <= n else 0
    b1 = first + 1 if first + 1 <= n else 0
    b2 = first + 2 if first + 2 <= n else 0
    no = np.uint64(0)
    s0w, s0t, s0c, s0d = atoms[s0, 0], atoms[s0, 1], atoms[s0, 2], atoms[s0, 3]
    s1w, s1t, s1c, s1d = atoms[s1, 0], atoms[s1, 1], atoms[s1, 2], atoms[s1, 3]
    b0w, b0t, b0c, b0d = atoms[b0, 0], atoms[b0, 1], atoms[b0, 2], atoms[b0, 3]
    b1w, b1t, b1c = atoms[b1, 0], atoms[b1, 1], atoms[b1, 2]
    b2t, b2w, s2t, s2w = atoms[b2, 1], atoms[b2, 0], atoms[s2, 1], atoms[s2, 0]
    k = 0
    # single words
    keys[k] = _key(1, s0w, s0t, no)
    k += 1
    keys[k] = _key(2, s0w, no, no)
    k += 1
    keys[k] = _key(3, s0t, no, no)
    k += 1
    keys[k] = _key(4, s1w, s1t, no)
    k += 1
    keys[k] = _key(5, s1w, no, no)
    k += 1
    keys[k] = _key(6, s1t, no, no)
    k += 1
    keys[k] = _key(7, b0w, b0t, no)
    k += 1
    keys[k] = _key(8, b0w, no, no)
    k += 1
    keys[k] = _key(9, b0t, no, no)
    k += 1
    keys[k] = _key(10, b1w, b1t, no)
    k += 1
    keys[k] = _key(11, b1w, no, no)
    k += 1
    keys[k] = _key(12, b1t, no, no)
    k += 1
    keys[k] = _key(13, b2w, b2t, no)
    k += 1
    keys[k] = _key(14, b2t, no, no)
    k += 1
    keys[k] = _key(15, s2w, s2t, no)
    k += 1
    keys[k] = _key(16, s2t, no, no)
    k += 1
    keys[k] = _key(17, s0c, no, no)
    k += 1
    keys[k] = _key(18, s1c, no, no)
    k += 1
    keys[k] = _key(19, b0c, no, no)
    k += 1
    keys[k] = _key(20, b1c, no, no)
    k += 1
    # pairs: top of the stack and buffer
    s0wt, b0wt, s1wt = s0w ^ (s0t << np.uint64(1)), b0w ^ (b0t << np.uint64(1)), s1w ^ (s1t << np.uint64(1))
    keys[k] = _key(21, s0wt, b0wt, no)
    k += 1
    keys[k] = _key(22, s0wt, b0t, no)
    k += 1
    keys[k] = _key(23, s0t, b0wt, no)
    k += 1
    keys[k] = _key(24, s0w, b0w, no)
    k += 1
    keys[k] = _key(25, s0t, b0t, no)
    k += 1
    keys[k] = _key(26, s0w, b0t, no)
    k += 1
    keys[k] = _key(27, s0t, b0w, no)
    k += 1
    keys[k] = _key(28, b0t, b1t, no)
    k += 1
    keys[k] = _key(29, b0w, b1t, no)
    k += 1
    keys[k] = _key(30, b0t, b1w, no)
    k += 1
    keys[k] = _key(31, s0c, b0c, no)
    k += 1
    keys[k] = _key(32, s0c, b0t, no)
    k += 1
    keys[k] = _key(33, s0t, b0c, no)
    k += 1
    keys[k] = _key(34, s0d, b0d, no)
    k += 1
    # pairs: the two words at the top of the stack
    keys[k] = _key(35, s1wt, s0t, no)
    k += 1
    keys[k] = _key(36, s1t, s0wt, no)
    k += 1
    keys[k] = _key(37, s1w, s0w, no)
    k += 1
    keys[k] = _key(38, s1t, s0t, no)
    k += 1
    keys[k] = _key(39, s1w, s0t, no)
    k += 1
    keys[k] = _key(40, s1t, s0w, no)
    k += 1
    keys[k] = _key(41, s1wt, s0wt, no)
    k += 1
    keys[k] = _key(42, s1c, s0c, no)
    k += 1
    keys[k] = _key(43, s1c, s0t, no)
    k += 1
    keys[k] = _key(44, s1t, s0c, no)
    k += 1
    keys[k] = _key(45, s1d, s0d, no)
    k += 1
    # pairs: second of the stack and buffer
    keys[k] = _key(46, s1t, b0t, no)
    k += 1
    keys[k] = _key(47, s1w, b0w, no)
    k += 1
    keys[k] = _key(48, s1w, b0t, no)
    k += 1
    keys[k] = _key(49, s1t, b0w, no)
    k += 1
    keys[k] = _key(50, s1c, b0c, no)
    k += 1
    # children
    s0l, s0r, s0l2, s0r2 = state[LEFT, s0], state[RIGHT, s0], state[LEFT2, s0], state[RIGHT2, s0]
    s1l, s1r, s1l2, s1r2 = state[LEFT, s1], state[RIGHT, s1], state[LEFT2, s1], state[RIGHT2, s1]
    b0l, b0l2 = state[LEFT, b0], state[LEFT2, b0]
    s0lt, s0rt, s1lt, s1rt, b0lt = atoms[s0l, 1], atoms[s0r, 1], atoms[s1l, 1], atoms[s1r, 1], atoms[b0l, 1]
    s0ll, s0rl = np.uint64(state[LABEL, s0l]), np.uint64(state[LABEL, s0r])
    s1ll, s1rl = np.uint64(state[LABEL, s1l]), np.uint64(state[LABEL, s1r])
    b0ll = np.uint64(state[LABEL, b0l])
    keys[k] = _key(51, s0t, b0t, b1t)
    k += 1
    keys[k] = _key(52, b0t, b1t, b2t)
    k += 1
    keys[k] = _key(53, s1t, s0t, b0t)
    k += 1
    keys[k] = _key(54, s2t, s1t, s0t)
    k += 1
    keys[k] = _key(55, s0t, s0lt, b0t)
    k += 1
    keys[k] = _key(56, s0t, s0rt, b0t)
    k += 1
    keys[k] = _key(57, s0t, b0t, b0lt)
    k += 1
    keys[k] = _key(58, s1t, s1lt, s0t)
    k += 1
    keys[k] = _key(59, s1t, s1rt, s0t)
    k += 1
    keys[k] = _key(60, s1t, s0t, s0lt)
    k += 1
    keys[k] = _key(61, s1t, s0t, s0rt)
    k += 1
    keys[k] = _key(62, s1w, s0t, b0t)
    k += 1
    keys[k] = _key(63, s1t, s0w, b0t)
    k += 1
    keys[k] = _key(64, s1t, s0t, b0w)
    k += 1
    keys[k] = _key(65, s1c, s0c, b0t)
    k += 1
    keys[k] = _key(66, s1wt, s0t, atoms[s0l, 0])
    k += 1
    keys[k] = _key(67, s0w, s0ll, s0rl)
    k += 1
    keys[k] = _key(68, s0t, s0ll, s0rl)
    k += 1
    keys[k] = _key(69, s1w, s1ll, s1rl)
    k += 1
    keys[k] = _key(70, s1t, s1ll, s1rl)
    k += 1
    keys[k] = _key(71, b0w, b0ll, no)
    k += 1
    keys[k] = _key(72, b0t, b0ll, no)
    k += 1
    keys[k] = _key(73, s0t, atoms[s0l, 0], s0ll)
    k += 1
    keys[k] = _key(74, s0t, atoms[s0r, 0], s0rl)
    k += 1
    keys[k] = _key(75, s1t, atoms[s1l, 0], s1ll)
    k += 1
    keys[k] = _key(76, s1t, atoms[s1r, 0], s1rl)
    k += 1
    keys[k] = _key(77, b0t, atoms[b0l, 0], b0ll)
    k += 1
    keys[k] = _key(78, s0t, s0lt, atoms[s0l2, 1])
    k += 1
    keys[k] = _key(79, s0t, s0rt, atoms[s0r2, 1])
    k += 1
    keys[k] = _key(80, b0t, b0lt, atoms[b0l2, 1])
    k += 1
    keys[k] = _key(81, s1t, s1rt, atoms[s1r2, 1])
    k += 1
    keys[k] = _key(82, s1t, s1lt, atoms[s1l2, 1])
    k += 1
    keys[k] = _key(83, s1t, s1rl, s0t)
    k += 1
    keys[k] = _key(84, s1t, s0ll, s0t)
    k += 1
    keys[k] = _key(85, s1t, s0rl, s0t)
    k += 1
    # numbers and kinds of children
    s0nl, s0nr = np.uint64(state[N_LEFT, s0]), np.uint64(state[N_RIGHT, s0])
    s1nl, s1nr, b0nl = (
        np.uint64(state[N_LEFT, s1]),
        np.uint64(state[N_RIGHT, s1]),
        np.uint64(state[N_LEFT, b0]),
    )
    keys[k] = _key(86, s0w, s0nl, s0nr)
    k += 1
    keys[k] = _key(87, s0t, s0nl, s0nr)
    k += 1
    keys[k] = _key(88, s1w, s1nr, no)
    k += 1
    keys[k] = _key(89, s1t, s1nl, s1nr)
    k += 1
    keys[k] = _key(90, b0w, b0nl, no)
    k += 1
    keys[k] = _key(91, b0t, b0nl, no)
    k += 1
    s0sl, s0sr = np.uint64(state[SET_LEFT, s0]), np.uint64(state[SET_RIGHT, s0])
    s1sl, s1sr, b0sl = (
        np.uint64(state[SET_LEFT, s1]),
        np.uint64(state[SET_RIGHT, s1]),
        np.uint64(state[SET_LEFT, b0]),
    )
    keys[k] = _key(92, s0t, s0sl, no)
    k += 1
    keys[k] = _key(93, s0t, s0sr, no)
    k += 1
    keys[k] = _key(94, s1t, s1sl, no)
    k += 1
    keys[k] = _key(95, s1t, s1sr, no)
    k += 1
    keys[k] = _key(96, b0t, b0sl, no)
    k += 1
    keys[k] = _key(97, s1w, s1sr, no)
    k += 1
    keys[k] = _key(98, s0w, s0sl, no)
    k += 1
    # distances
    near, across = _distance(s0, b0), _distance(s1, s0)
    keys[k] = _key(99, s0t, near, no)
    k += 1
    keys[k] = _key(100, b0t, near, no)
    k += 1
    keys[k] = _key(101, s0t, b0t, near)
    k += 1
    keys[k] = _key(102, s0w, near, no)
    k += 1
    keys[k] = _key(103, s1t, s0t, across)
    k += 1
    keys[k] = _key(104, s1w, across, no)
    k += 1
    keys[k] = _key(105, s0w, across, no)
    k += 1
    keys[k] = _key(106, s1t, across, no)
    k += 1
    # the word before and after, which the stack does not show
    before = s0 - 1 if s0 > 1 else 0
    keys[k] = _key(107, s0t, atoms[before, 1], no)
    k += 1
    after = s0 + 1 if s0 and s0 < n else 0
    keys[k] = _key(108, s0t, atoms[after, 1], s1t)
    k += 1
    last = atoms[n, 0]
    keys[k] = _key(109, last, s0t, b0t)
    k += 1
    keys[k] = _key(110, s0d, no, no)
    k += 1
    keys[k] = _key(111, b0d, no, no)
    k += 1
    keys[k] = _key(112, s1d, no, no)
    k += 1
    return k


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
        slot, chunk = _first_chunk(table, keys[i])
        first, place = chunk, -1
        while chunk >= 0 and place < 0:
            for j in range(chunks[chunk, 0]):
                if chunks[chunk, 2 * j + 2] == action:
                    place = j
            if place < 0:
                chunk = np.int64(chunks[chunk, 1]) - 1
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
        sums[chunk, place, 0] += chunks[chunk, 2 * place + 3] * (time - sums[chunk, place, 1])
        sums[chunk, place, 1] = time
        chunks[chunk, 2 * place + 3] += by


@compiled
def train_greedy(
    bounds, atoms, heads, labels, order, n_labels, explore, table, chunks, sums, used, clock, seed
):
    """Make one pass with the dynamic oracle; return the numbers of decisions and mistakes.

    `explore` is the probability of following a wrong decision; clock[0] counts the decisions.
    """
    np.random.seed(seed)
    keys, scores = np.empty(N_FEATURES, np.uint32), np.empty(2 * n_labels + 1, np.int64)
    place = np.zeros(2, np.int64)
    longest = 0
    for s in order:
        longest = max(longest, bounds[s + 1] - bounds[s])
    buffer = np.zeros((N_ROWS, longest + 2), np.int32)
    mistakes, decisions = 0, 0
    for s in order:
        n = bounds[s + 1] - bounds[s] - 1  # the first row of a sentence is word 0, none
        own, right_heads, right_labels = (
            atoms[bounds[s] : bounds[s + 1]],
            heads[bounds[s] : bounds[s + 1]],
            labels[bounds[s] : bounds[s + 1]],
        )
        state = buffer[:, : n + 2]
        start(state, place)
        for _ in range(2 * n - 1):
            if used[0] + 4 * N_FEATURES > len(chunks):
                return decisions, -1
            k = features(state, place, n, own, keys)
            _learning_scores(table, chunks, keys, k, scores)
            can_shift, can_left, can_right = possible(place, n)
            shift, left, right = action_costs(state, place, n, right_heads)
            least = 1 << 30
            if can_shift:
                least = min(least, shift)
            if can_left:
                least = min(least, left)
            if can_right:
                least = min(least, right)
            top = state[STACK, place[0] - 1] if place[0] else 0
            left_is_right = top > 0 and right_heads[top] == place[1]
            right_is_right = place[0] >= 2 and right_heads[top] == state[STACK, place[0] - 2]
            best, good = -1, -1
            for a in range(2 * n_labels + 1):
                if a == 0:
                    if not can_shift:
                        continue
                    is_good = shift == least
                elif a <= n_labels:
                    if not can_left:
                        continue
                    is_good = left == least and (not left_is_right or a == right_labels[top])
                else:
                    if not can_right:
                        continue
                    is_good = right == least and (not right_is_right or a - n_labels == right_labels[top])
                if best < 0 or scores[a] > scores[best]:
                    best = a
                if is_good and (good < 0 or scores[a] > scores[good]):
                    good = a
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
def averaged(table, chunks, sums, used, time, least):
    """Return the averaged weights of at least `least`: keys, actions, weights, one row per weight."""
    n = 0
    for chunk in range(used):
        n += chunks[chunk, 0]
    keys, actions, weights = np.empty(n, np.uint32), np.empty(n, np.uint16), np.empty(n, np.float32)
    i = 0
    for at in range(len(table)):
        chunk = (table[at] & 0xFFFFFFFF) - 1
        while chunk >= 0:
            for j in range(chunks[chunk, 0]):
                own = chunks[chunk, 2 * j + 3]
                weight = (sums[chunk, j, 0] + own * (time - sums[chunk, j, 1])) / time
                if abs(weight) >= least:
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


@compiled
def parse_greedy(bounds, atoms, n_labels, table, packed, heads, labels, totals):
    """Write the heads (0 for the root's) and labels of all words, and the score of each sentence."""
    keys, scores = np.empty(N_FEATURES, np.uint32), np.empty(2 * n_labels + 1, np.int64)
    place = np.zeros(2, np.int64)
    longest = 0
    for s in range(len(bounds) - 1):
        longest = max(longest, bounds[s + 1] - bounds[s])
    buffer = np.zeros((N_ROWS, longest + 2), np.int32)
    for s in range(len(bounds) - 1):
        n = bounds[s + 1] - bounds[s] - 1
        own = atoms[bounds[s] : bounds[s + 1]]
        state = buffer[:, : n + 2]
        start(state, place)
        totals[s] = 0
        for _ in range(2 * n - 1):
            k = features(state, place, n, own, keys)
            _scores(table, packed, keys, k, scores)
            can_shift, can_left, can_right = possible(place, n)
            best = -1
            if can_shift:
                best = 0
            if can_left:
                for a in range(1, n_labels + 1):
                    if best < 0 or scores[a] > scores[best]:
                        best = a
            if can_right:
                for a in range(n_labels + 1, 2 * n_labels + 1):
                    if best < 0 or scores[a] > scores[best]:
                        best = a
            totals[s] += scores[best]
            apply(state, place, best, n_labels)
        for i in range(n + 1):
            heads[bounds[s] + i] = state[HEAD, i]
            labels[bounds[s] + i] = state[LABEL, i]


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
def parse_beam(bounds, atoms, n_labels, table, packed, beam, heads, labels, totals):
    """Write the heads, labels and scores, as `parse_greedy`, of the best sequences in a beam."""
    keys, scores = np.empty(N_FEATURES, np.uint32), np.empty(2 * n_labels + 1, np.int64)
    longest = 0
    for s in range(len(bounds) - 1):
        longest = max(longest, bounds[s + 1] - bounds[s])
    states = np.zeros((2, beam, N_ROWS, longest + 2), np.int32)
    places, sums = np.zeros((2, beam, 2), np.int64), np.zeros((2, beam), np.int64)
    origin = np.zeros((beam, 2), np.int64)
    for s in range(len(bounds) - 1):
        n = bounds[s + 1] - bounds[s] - 1
        own = atoms[bounds[s] : bounds[s + 1]]
        width = beam if n <= LONG else 1
        now, size = 0, 1
        start(states[0, 0, :, : n + 2], places[0, 0])
        sums[0, 0] = 0
        for _ in range(2 * n - 1):
            later, more = 1 - now, 0
            for i in range(size):
                k = features(states[now, i], places[now, i], n, own, keys)
                _scores(table, packed, keys, k, scores)
                more = _insert_all(
                    sums[later, :width],
                    origin,
                    more,
                    sums[now, i],
                    scores,
                    i,
                    places[now, i],
                    n,
                    n_labels,
                )
            for i in range(more):
                parent = origin[i, 0]
                states[later, i, :, : n + 2] = states[now, parent, :, : n + 2]
                places[later, i] = places[now, parent]
                apply(states[later, i], places[later, i], origin[i, 1], n_labels)
            now, size = later, more
        totals[s] = sums[now, 0]
        for i in range(n + 1):
            heads[bounds[s] + i] = states[now, 0, HEAD, i]
            labels[bounds[s] + i] = states[now, 0, LABEL, i]


@compiled
def train_beam(bounds, atoms, heads, labels, order, n_labels, beam, table, chunks, sums, used, clock):
    """Make one pass with updates at the largest violation; return the numbers of sentences and updates.

    Huang, Fayong and Guo (2012): the derivation of the tree against the best one in the beam, up to the step
    where the difference of their scores is largest. Trees must be projective. clock[0] counts sentences.
    """
    keys, scores = np.empty(N_FEATURES, np.uint32), np.empty(2 * n_labels + 1, np.int64)
    longest = 0
    for s in order:
        longest = max(longest, bounds[s + 1] - bounds[s])
    states = np.zeros((2, beam, N_ROWS, longest + 2), np.int32)
    places, totals = np.zeros((2, beam, 2), np.int64), np.zeros((2, beam), np.int64)
    origin = np.zeros((beam, 2), np.int64)
    history = np.zeros((2 * longest, beam, 2), np.int64)
    right, wrong = np.zeros(2 * longest, np.int64), np.zeros(2 * longest, np.int64)
    gold, gold_place = np.zeros((N_ROWS, longest + 2), np.int32), np.zeros(2, np.int64)
    updates, done = 0, 0
    for s in order:
        n = bounds[s + 1] - bounds[s] - 1
        if used[0] + 4 * n * N_FEATURES > len(chunks):
            return done, -1
        own, own_heads, own_labels = (
            atoms[bounds[s] : bounds[s + 1]],
            heads[bounds[s] : bounds[s + 1]],
            labels[bounds[s] : bounds[s + 1]],
        )
        now, size = 0, 1
        start(states[0, 0, :, : n + 2], places[0, 0])
        start(gold[:, : n + 2], gold_place)
        totals[0, 0], gold_total, gold_at = 0, np.int64(0), 0
        violation, violated = np.int64(-1), -1
        for step in range(2 * n - 1):
            later, more = 1 - now, 0
            action = static_action(gold, gold_place, n, own_heads, own_labels, n_labels)
            right[step] = action
            if gold_at < 0:
                k = features(gold, gold_place, n, own, keys)
                _learning_scores(table, chunks, keys, k, scores)
                gold_total += scores[action]
            for i in range(size):
                k = features(states[now, i], places[now, i], n, own, keys)
                _learning_scores(table, chunks, keys, k, scores)
                if i == gold_at:
                    gold_total = totals[now, i] + scores[action]
                more = _insert_all(
                    totals[later], origin, more, totals[now, i], scores, i, places[now, i], n, n_labels
                )
            next_gold = -1
            for i in range(more):
                parent = origin[i, 0]
                states[later, i, :, : n + 2] = states[now, parent, :, : n + 2]
                places[later, i] = places[now, parent]
                apply(states[later, i], places[later, i], origin[i, 1], n_labels)
                history[step, i] = origin[i]
                if parent == gold_at and origin[i, 1] == action:
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
        at = 0
        for step in range(violated, -1, -1):
            wrong[step] = history[step, at, 1]
            at = history[step, at, 0]
        for turn in range(2):
            start(gold[:, : n + 2], gold_place)
            differs = False
            for step in range(violated + 1):
                differs |= right[step] != wrong[step]
                action = right[step] if turn == 0 else wrong[step]
                if differs:  # before, the updates of both would cancel
                    k = features(gold, gold_place, n, own, keys)
                    by = 1 if turn == 0 else -1
                    _change(table, chunks, sums, used, keys, k, action, by, clock[0])
                apply(gold, gold_place, action, n_labels)
    return done, updates
