"""Machine code for features of words: what is above them, and what lies between two of them."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

from disambig.api.kernels import compiled

from .emitting_kernels import END, FIRST, NONE, emit, put, put3, put4, put5, word_or_tag

PARENT, TWO_ABOVE, LARGEST, SPINE, SPINE_WORD = 33, 34, 35, 36, 37
BETWEEN, BETWEEN_FIRST, BETWEEN_SECOND = 38, 39, 40


@compiled
def ancestors(node, forest, closed, buffer, out):
    """Write a word with what is above it."""
    label, word, parent, _, _, _, _, leaf, _ = forest
    above = parent[node]
    higher = parent[above]
    put3(PARENT, word[node], label[node], label[above], buffer, out)
    top = label[higher] if higher >= 0 else NONE
    put4(TWO_ABOVE, word[node], label[node], label[above], top, buffer, out)
    n = put(buffer, put(buffer, 0, FIRST + SPINE), label[node])
    at = node
    while parent[at] >= 0 and leaf[parent[at]] == node:
        at = parent[at]
        n = put(buffer, n, label[at])
    end = parent[at]
    n = put(buffer, put(buffer, n, END), label[end] if end >= 0 else NONE)
    emit(buffer, n, out)
    buffer[0] = FIRST + SPINE_WORD
    emit(buffer, put(buffer, n, word[node]), out)
    beside = word_or_tag(leaf[end], label, word, closed) if end >= 0 else NONE
    highest = label[end] if end >= 0 else NONE
    put5(LARGEST, word[node], label[node], label[at], highest, beside, buffer, out)


@compiled
def between(left, right, forest, closed, buffer, out):
    """Write the way from a word to the next one through the tree."""
    label, word, parent, _, start, _, _, _, _ = forest
    n = put(buffer, put(buffer, 0, FIRST + BETWEEN), label[left])
    at, place = parent[left], start[right]
    _, _, _, _, _, end, _, _, _ = forest
    while end[at] <= place:
        n = put(buffer, n, label[at])
        at = parent[at]
    n = put(buffer, put(buffer, n, END), label[at])
    n = put(buffer, n, END)
    below = right
    while below != at:
        n = put(buffer, n, label[below])
        below = parent[below]
    emit(buffer, n, out)
    if closed[label[left]] or closed[word[left]]:
        buffer[0] = FIRST + BETWEEN_FIRST
        emit(buffer, put(buffer, n, word[left]), out)
    if closed[label[right]] or closed[word[right]]:
        buffer[0] = FIRST + BETWEEN_SECOND
        emit(buffer, put(buffer, n, word[right]), out)
