"""Compiled functions of the class bigram: the best words of a conversion and their probability."""

from __future__ import annotations

import numpy as np

from disambig.api.kernels import compiled_in_place, fmix64

from ._lattice_kernels import find

# Numba infers the types of compiled functions.
# mypy: allow-untyped-defs


_BASE = np.uint64(0x9E3779B97F4A7C15)


@compiled_in_place
def score_candidates(tables, codes, offsets, firsts, letters, text_offsets, bounds, words, work, scores):
    """Write the cost of each candidate; return False if room is missing.

    Line i is ``codes[offsets[i]:offsets[i + 1]]``; its candidates are those from ``firsts[i]`` to
    ``firsts[i + 1]``, exclusive. A candidate has a text (`letters`, `text_offsets`) and words (`bounds`,
    `words`), which say which part of the text belongs to which part of the line.
    """
    for line in range(len(offsets) - 1):
        start, n = offsets[line], offsets[line + 1] - offsets[line]
        if n + 1 > len(work.begins) or not _look_up(tables, codes, start, n, work):
            return False
        shared, before = np.int64(0), np.int64(-1)
        for candidate in range(firsts[line], firsts[line + 1]):
            _align(letters, text_offsets, bounds, words, candidate, n, work)
            if before >= 0:
                shared = _shared(bounds, words, before, candidate)
            before = candidate
            cost = _search(tables, n, bounds, words, candidate, shared, work)
            if cost < 0:
                return False
            scores[candidate] = cost
    return True


@compiled_in_place
def _look_up(tables, codes, start, n, work):
    """Write the nodes of the trie for the stretches that begin at each place; return False without room."""
    count = np.int64(0)
    for place in range(n):
        work.begins[place] = count
        node, at = np.int64(0), place
        while at < n:
            edge = find(tables.labels, tables.begins[node], tables.begins[node + 1], codes[start + at])
            if edge < 0:
                break
            node, at = edge + 1, at + 1
            if tables.entry_begins[node + 1] > tables.entry_begins[node]:
                if count == len(work.trie_nodes):
                    return False
                work.trie_nodes[count], work.ends[count] = node, at
                count += 1
    work.begins[n] = count
    return True


@compiled_in_place
def _align(letters, text_offsets, bounds, words, candidate, n, work):
    """Write the place in the text of each place of the line, -1 within words, and the word there.

    Hashes of the beginnings of the text are written too (as in `hash_texts`).
    """
    first, size = text_offsets[candidate], text_offsets[candidate + 1] - text_offsets[candidate]
    work.hashes[0], work.powers[0] = np.uint64(0), np.uint64(1)
    for at in range(size):
        work.hashes[at + 1] = work.hashes[at] * _BASE + fmix64(np.uint64(letters[first + at]))
        work.powers[at + 1] = work.powers[at] * _BASE
    work.text_at[: n + 1] = -1
    work.text_at[0], at = 0, np.int64(0)
    for word in range(bounds[candidate], bounds[candidate + 1]):
        work.word_at[words[word].start : words[word].end] = word
        at += words[word].size
        work.text_at[words[word].end] = at
    work.word_at[n] = bounds[candidate + 1]


@compiled_in_place
def _shared(bounds, words, one, other):
    """Return the place up to which two candidates have the same words."""
    place = np.int64(0)
    for i in range(min(bounds[one + 1] - bounds[one], bounds[other + 1] - bounds[other])):
        a, b = words[bounds[one] + i], words[bounds[other] + i]
        if a.kind != b.kind or a.end != b.end:
            break
        place = np.int64(a.end)
    return place


@compiled_in_place
def _search(tables, n, bounds, words, candidate, shared, work):
    """Return the least cost of a candidate; -1 without room. Nodes up to `shared` are kept."""
    if shared == 0:
        work.sizes[0], work.nodes[0, 0].text, work.nodes[0, 0].right, work.nodes[0, 0].cost = 1, 0, 0, 0.0
    work.sizes[shared + 1 : n + 1] = 0
    for place in range(n):
        if work.sizes[place] == 0:
            continue
        # at places before `shared`, only words that end after it are new
        word = work.word_at[place]
        if work.text_at[place] >= 0 and words[word].end > shared:
            cost = tables.unknown[0] + tables.unknown[1] * (words[word].end - place)
            until = work.text_at[place] + words[word].size
            end, kind = np.int64(words[word].end), tables.other
            if not _enter(tables, work, place, work.text_at[place], end, until, kind, kind, cost):
                return -1.0
        for at in range(work.begins[place], work.begins[place + 1]):
            end, node = work.ends[at], work.trie_nodes[at]
            if end <= shared:
                continue
            low = high = work.text_at[end]
            if low < 0:  # within a word: at any character within it
                inside = work.word_at[end]
                low = work.text_at[words[inside].start] + 1
                high = work.text_at[words[inside].start] + words[inside].size - 1
            before = np.int64(-1)
            # Each place in the text at which a word from this place of the line may begin, and each at which
            # it may end: its spelling is what is between them, which is compared by its hash.
            for i in range(work.sizes[place]):
                text = work.nodes[place, i].text
                if text == before:  # nodes of a place are sorted by their place in the text
                    continue
                before = text
                for until in range(max(low, text + 1), high + 1):
                    value = work.hashes[until] - work.hashes[text] * work.powers[until - text]
                    first, last = tables.entry_begins[node], tables.entry_begins[node + 1]
                    entry = find(tables.hashes, first, last, value)
                    if entry < 0:
                        continue
                    for token in range(tables.token_begins[entry], tables.token_begins[entry + 1]):
                        one = tables.tokens[token]
                        left, right, cost = np.int64(one.left), np.int64(one.right), np.float64(one.cost)
                        if not _enter(tables, work, place, text, end, until, left, right, cost):
                            return -1.0
    best = np.inf
    for i in range(work.sizes[n]):
        best = min(best, work.nodes[n, i].cost + tables.connections[work.nodes[n, i].right, 0])
    return best


@compiled_in_place
def _enter(tables, work, place, text, end, until, left, right, cost):
    """Follow a word from the nodes of a place to `until` in the text; return False if room is missing."""
    best = np.inf
    for i in range(work.sizes[place]):
        node = work.nodes[place, i]
        if node.text == text:
            best = min(best, node.cost + tables.connections[node.right, left])
    best += cost
    size = work.sizes[end]
    at = size
    for i in range(size):
        node = work.nodes[end, i]
        if node.text == until and node.right == right:
            work.nodes[end, i].cost = min(node.cost, best)
            return True
        if node.text > until and at == size:
            at = i
    if size == work.nodes.shape[1]:
        return False
    for i in range(size, at, -1):
        work.nodes[end, i] = work.nodes[end, i - 1]
    work.nodes[end, at].text, work.nodes[end, at].right, work.nodes[end, at].cost = until, right, best
    work.sizes[end] += 1
    return True


def sample() -> None:
    """Run a small example, so that `disambig doctor --compile` compiles the functions."""
    from .class_bigram import TOKEN, ClassBigram
    from .decoding import WORD, LatticePaths

    tokens = np.zeros(1, TOKEN)
    words = np.array([(0, 0, 1), (0, 0, 1)], WORD)
    paths = LatticePaths(np.array([0, 2]), np.zeros(2), np.array([0, 1, 2]), words)
    connections = np.zeros((1, 1), np.float32)
    model = ClassBigram(("か",), ("a",), np.ones(1, np.int64), tokens, connections, 0, (1.0, 1.0), 1.0)
    model.log_probs(["か"], paths, ["a", "b"])
