"""Machine code for features of heads and their modifiers, and of what phrases are attached to."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

from disambig.api.kernels import compiled

from .emitting_kernels import LEFT, NONE, PP, RIGHT, ZERO, put4, put5, put6, put7, size, word_or_tag

MODIFIER, WORDS, HEAD_WORD, OWN_WORD, TAGS, DISTANCE = 13, 14, 15, 16, 17, 18
ATTACHED, ATTACHED_HEAD, ATTACHED_OBJECT, ATTACHED_BOTH = 19, 20, 21, 22
TWO_HEADS = 41


@compiled
def modifiers(node, m, kids, forest, closed, buffer, out):
    """Write the features of each child beside the head child."""
    label, word, parent, _, start, _, head, leaf, leaf_of = forest
    above, own = parent[node], head[node]
    name, grand = label[node], label[above] if above >= 0 else NONE
    top = leaf[node]
    place = 0
    while kids[place] != own:
        place += 1
    for i in range(m):
        if i == place:
            continue
        side = LEFT if i < place else RIGHT
        child = kids[i]
        below = leaf[child]
        near = ZERO + (abs(i - place) == 1)
        # pairs of labels and words
        put6(MODIFIER, name, grand, label[own], label[child], side, near, buffer, out)
        put6(WORDS, name, label[own], label[child], side, word[top], word[below], buffer, out)
        put6(HEAD_WORD, name, label[own], label[child], side, word[top], label[below], buffer, out)
        put6(OWN_WORD, name, label[own], label[child], side, label[top], word[below], buffer, out)
        first, last = min(start[top], start[below]), max(start[top], start[below])
        far = size(last - first)
        put7(TAGS, name, label[own], label[child], side, label[top], label[below], far, buffer, out)
        commas = 0
        for at in range(first + 1, last):
            tag = label[leaf_of[at]]
            commas += closed[tag] and tag == word[leaf_of[at]]  # punctuation is its own tag
        put6(DISTANCE, name, label[own], label[child], side, far, ZERO + min(commas, 3), buffer, out)
        if label[child] == PP and head[child] >= 0:
            _attached(name, label[own], top, child, side, forest, buffer, out)


@compiled
def _attached(name, own, top, child, side, forest, buffer, out):
    """Write the features of a prepositional phrase: what it stands beside, its preposition, its object."""
    label, word, _, after, _, _, head, leaf, _ = forest
    preposition = word[leaf[child]]
    last, at = -1, child + 1
    while at >= 0:
        if at != head[child]:
            last = at
        at = after[at]
    put5(ATTACHED, name, own, side, preposition, label[top], buffer, out)
    put5(ATTACHED_HEAD, name, own, side, preposition, word[top], buffer, out)
    if last >= 0:
        put6(ATTACHED_OBJECT, name, own, side, preposition, label[top], word[leaf[last]], buffer, out)
        put6(ATTACHED_BOTH, name, own, side, preposition, word[top], word[leaf[last]], buffer, out)


@compiled
def two_heads(node, forest, closed, buffer, out):
    """Write a constituent's head and that of its parent, where they differ."""
    label, word, parent, _, _, _, _, leaf, _ = forest
    above = parent[node]
    if above >= 0 and leaf[above] != leaf[node]:
        low = word_or_tag(leaf[node], label, word, closed)
        high = word_or_tag(leaf[above], label, word, closed)
        put4(TWO_HEADS, label[node], label[above], low, high, buffer, out)
