"""Numba kernels that ask language models for the lattice: states, and the words seen behind them.

A *state* of one part is the number of a word, or, beyond the words, that of a pair behind which something was
seen. What is passed are the arrays of `NgramTables`, one by one.
"""

# Numba finds the types of compiled functions.
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.api.kernels import compiled


@compiled
def find(items, first, last, word):
    """Return where a word stands in an ascending stretch of n-grams, -1 where it does not."""
    end = last
    while first < last:
        middle = (first + last) >> 1
        if items[middle].word < word:
            first = middle + 1
        else:
            last = middle
    return first if first < end and items[first].word == word else np.int64(-1)


@compiled
def pair_of(singles, pairs, word, behind):
    """Return the number of a pair of words, -1 for one never seen."""
    return find(pairs, singles[word].begin, singles[word + 1].begin, behind)


@compiled
def triple_of(pairs, triples, pair, behind):
    """Return the number of a triple of words, -1 for one never seen."""
    return find(triples, pairs[pair].begin, pairs[pair + 1].begin, behind)


@compiled
def last_of(singles, pairs, state):
    """Return the last word of a state."""
    n = len(singles) - 1
    return np.int64(state) if state < n else np.int64(pairs[state - n].word)


@compiled
def find_states(singles, pairs, triples):
    """Write the state behind each triple: that of its last two words."""
    for pair in range(len(pairs) - 1):
        for triple in range(pairs[pair].begin, pairs[pair + 1].begin):
            word = triples[triple].word
            below = pair_of(singles, pairs, pairs[pair].word, word)
            triples[triple].state = pairs[below].state if below >= 0 else word


@compiled
def second(singles, pairs, last, word):
    """Return ln P of a word behind one word, and the state behind both."""
    pair = pair_of(singles, pairs, last, word)
    if pair >= 0:
        return np.float64(pairs[pair].log_prob), np.int64(pairs[pair].state)
    return np.float64(singles[last].back_off) + singles[word].log_prob, np.int64(word)


@compiled
def back_off(singles, pairs, state):
    """Return ln of the weight of one word as a context, where a word was not seen behind two."""
    n = len(singles) - 1
    return 0.0 if state < n else np.float64(pairs[state - n].back_off)


@compiled
def step(singles, pairs, triples, state, word):
    """Return ln P of a word behind a state, and the state behind it."""
    n = len(singles) - 1
    if state < n:
        return second(singles, pairs, state, word)
    triple = triple_of(pairs, triples, state - n, word)
    if triple >= 0:
        return np.float64(triples[triple].log_prob), np.int64(triples[triple].state)
    below, behind = second(singles, pairs, np.int64(pairs[state - n].word), word)
    return pairs[state - n].back_off + below, behind


@compiled
def seen_behind_two(singles, pairs, triples, state, word):
    """Return whether a word was seen behind both words of a state."""
    n = len(singles) - 1
    return state >= n and triple_of(pairs, triples, state - n, word) >= 0


@compiled
def mixed(one, other):
    """Return ln of the sum of two probabilities whose ln are given."""
    most = max(one, other)
    if most == -np.inf:
        return most
    return most + np.log1p(np.exp(min(one, other) - most))
