"""The kernel of `heads`: the steps of `steps`, compiled, on kinds looked up where they are asked for."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.compiling import compiled
from disambig.features.headwords.steps import LEFT, NOUN, OTHER, RIGHT, find_one
from disambig.text.view import END_HASH, START_HASH

_find_one = compiled(find_one)
_START, _END = np.uint64(START_HASH), np.uint64(END_HASH)
_S32 = np.uint64(32)


@compiled
def _kind_of(word, begins, shift, words, kinds):
    if word == _START or word == _END:
        return OTHER
    key = np.uint32(word >> _S32)
    bucket = key >> shift
    for slot in range(begins[bucket], begins[bucket + 1]):
        if words[slot] == key:
            return np.int64(kinds[slot])
    return NOUN


@compiled
def find(hashes, begins, shift, words, kinds, first, after, found):
    """Fill `found`, shape (n, 3), with the heads of places: tokens `first` up to, not with, `after`."""
    window = np.empty(LEFT + RIGHT, np.int64)
    for i in range(len(first)):
        for j in range(LEFT + RIGHT):
            at = first[i] - LEFT + j if j < LEFT else after[i] + j - LEFT
            inside = at >= 0 and at < len(hashes)
            window[j] = _kind_of(hashes[at], begins, shift, words, kinds) if inside else OTHER
        _find_one(window, found[i])
        for h in range(3):
            if found[i, h] >= 0:
                at = first[i] - LEFT + found[i, h] if found[i, h] < LEFT else after[i] + found[i, h] - LEFT
                found[i, h] = at if at >= 0 and at < len(hashes) else -1


def sample() -> None:
    """Do a little of the work, so that `disambig doctor --compile` compiles it."""
    at, bounds = np.ones(1, np.int64), np.array([0, 1, 1], np.int32)
    words, kinds = np.zeros(1, np.uint32), np.zeros(1, np.uint8)
    find(np.ones(3, np.uint64), bounds, np.uint32(31), words, kinds, at, at, np.full((1, 3), -1))
