"""Machine code that reads trees from their brackets, and finds their head words."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.api.kernels import compiled

OPEN, CLOSE = 0, 1
"""Symbols of brackets."""


@compiled
def read_tree(tokens, first, last, deepest, at, leaf, label, word, parent, after, start, end, leaf_of):
    """Write the nodes of a tree in preorder, from node `at` and word `leaf` on; return whether it is one.

    Parameters
    ----------
    tokens : array of int32
        Symbols; the tree's are those from `first` to before `last`.
    deepest : int
        Brackets within each other, at most.
    label, word : arrays of int32
        Symbols; -1 for the word of a constituent.
    parent, after : arrays of int32
        A node's parent, and the next of its parent's children; -1 for none.
    start, end : arrays of int32
        The words of each node.
    leaf_of : array of int32
        The node of each word.
    """
    stack = np.empty(deepest, np.int32)
    latest = np.full(deepest + 1, -1, np.int32)  # the last child seen at each depth
    depth = 0
    place = first
    root = at
    while place < last:
        token = tokens[place]
        if token == CLOSE:
            if depth == 0 or latest[depth] < 0:
                return False
            depth -= 1
            end[stack[depth]] = leaf
            place += 1
            if depth == 0:
                return place == last
            continue
        if token != OPEN or place + 3 >= last or depth == deepest or (depth == 0 and at > root):
            return False
        name = tokens[place + 1]
        if name == OPEN or name == CLOSE:
            return False
        label[at], word[at] = name, -1
        parent[at] = stack[depth - 1] if depth else -1
        after[at] = -1
        if latest[depth] >= 0 and depth:
            after[latest[depth]] = at
        latest[depth] = at
        start[at] = leaf
        inside = tokens[place + 2]
        if inside == OPEN:
            stack[depth] = at
            depth += 1
            latest[depth] = -1
            place += 2
        else:
            if inside == CLOSE or tokens[place + 3] != CLOSE or depth == 0:
                return False
            word[at] = inside
            leaf_of[leaf] = at
            leaf += 1
            end[at] = leaf
            place += 4
        at += 1
    return False


@compiled
def read_forest(
    tokens, token_starts, deepest, node_starts, word_starts, label, word, parent, after, start, end, leaf_of,
    sound,
):  # fmt: skip
    """Read trees; `sound` says of each whether its brackets make one."""
    for tree in range(len(sound)):
        sound[tree] = token_starts[tree] == token_starts[tree + 1] or read_tree(
            tokens, token_starts[tree], token_starts[tree + 1], deepest, node_starts[tree], word_starts[tree],
            label, word, parent, after, start, end, leaf_of,
        )  # fmt: skip


@compiled
def rule_keys(label, word, after, keys, mix):
    """Write a key of each constituent's label and those of its children; 0 for a word."""
    for node in range(len(label)):
        if word[node] >= 0:
            keys[node] = 0
            continue
        key = np.uint64(label[node] + 1) * mix
        child = node + 1
        while child >= 0:
            key = (key ^ (key >> np.uint64(29))) * mix + np.uint64(label[child] + 1)
            child = after[child]
        keys[node] = (key ^ (key >> np.uint64(32))) | np.uint64(1)


@compiled
def head_words(word, after, which, head, leaf):
    """Write the head child and the head leaf of each node, given `which` child is the head.

    A word is its own head leaf and has no head child (-1).
    """
    for node in range(len(word) - 1, -1, -1):  # children stand behind their parents
        if word[node] >= 0:
            head[node], leaf[node] = -1, node
            continue
        child = node + 1
        for _ in range(which[node]):
            child = after[child]
        head[node], leaf[node] = child, leaf[child]
