"""Machine code for features of what a constituent looks like: length, edges, neighbours, parallels."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

from disambig.api.kernels import compiled

from .emitting_kernels import CC, END, LEFT, RIGHT, ZERO, put2, put3, put4, put5, size

HEAVY, NEIGHBOURS, FIRST_WORD, LAST_WORD, WORD_BEFORE, WORD_BEHIND, EDGES = 23, 24, 25, 26, 27, 28, 29
RIGHT_BRANCH, ALIKE, LENGTHS = 30, 31, 32
_DEEP = 4


@compiled
def edges(node, first, last, forest, closed, buffer, out):
    """Write the features of where a constituent begins and ends.

    Parameters
    ----------
    first, last : int
        The words of its sentence, from `first` to before `last`.
    """
    label, word, _, _, start, end, _, _, leaf_of = forest
    name, begin, stop = label[node], start[node], end[node]
    opening, closing = leaf_of[begin], leaf_of[stop - 1]
    long = size(stop - begin)
    before = label[leaf_of[begin - 1]] if begin > first else END
    behind = label[leaf_of[stop]] if stop < last else END
    put4(HEAVY, name, long, behind, ZERO + min(last - stop, 2), buffer, out)
    put4(NEIGHBOURS, name, long, before, behind, buffer, out)
    put3(FIRST_WORD, name, word[opening], long, buffer, out)
    put3(LAST_WORD, name, word[closing], long, buffer, out)
    put2(WORD_BEFORE, name, word[leaf_of[begin - 1]] if begin > first else END, buffer, out)
    put2(WORD_BEHIND, name, word[leaf_of[stop]] if stop < last else END, buffer, out)
    put5(EDGES, name, before, label[opening], label[closing], behind, buffer, out)


@compiled
def parallels(node, m, kids, forest, buffer, out):
    """Write how alike constituents are that follow one another in one that has a conjunction."""
    label, word, _, _, start, end, _, _, _ = forest
    joined = False
    for i in range(m):
        joined = joined or label[kids[i]] == CC
    if not joined:
        return
    before = -1
    for i in range(m):
        child = kids[i]
        if word[child] >= 0:
            continue
        if before >= 0:
            same = label[before] == label[child]
            put4(ALIKE, label[node], label[child], ZERO, ZERO + same, buffer, out)
            if same:
                for depth in range(1, _DEEP):
                    same = _alike(before, child, depth, label, word, start, end)
                    put4(ALIKE, label[node], label[child], ZERO + depth, ZERO + same, buffer, out)
                    if not same:
                        break
            longer = (end[child] - start[child]) - (end[before] - start[before])
            side = RIGHT if longer > 0 else LEFT
            put5(
                LENGTHS, label[node], label[child], side, size(abs(longer)), ZERO + (i == m - 1), buffer, out
            )
        before = child


@compiled
def _alike(first, second, depth, label, word, start, end):
    """Tell whether two constituents are the same to a depth below them, words left out."""
    a, b = first, second
    depths_a, depths_b = 0, 0
    stop_a, stop_b = end[first], end[second]
    # nodes in preorder, those too deep left out; a node's depth is how many open ones it stands in
    open_a, open_b = [end[first]], [end[second]]
    while True:
        a += 1
        b += 1
        while a < len(label) and start[a] < stop_a:
            while len(open_a) > 1 and start[a] >= open_a[-1]:
                open_a.pop()
            depths_a = len(open_a)
            if word[a] < 0:
                open_a.append(end[a])
            if depths_a <= depth:
                break
            a += 1
        while b < len(label) and start[b] < stop_b:
            while len(open_b) > 1 and start[b] >= open_b[-1]:
                open_b.pop()
            depths_b = len(open_b)
            if word[b] < 0:
                open_b.append(end[b])
            if depths_b <= depth:
                break
            b += 1
        over_a = a >= len(label) or start[a] >= stop_a
        over_b = b >= len(label) or start[b] >= stop_b
        if over_a or over_b:
            return over_a and over_b
        if label[a] != label[b] or depths_a != depths_b:
            return False


@compiled
def right_branch(root, stop, last, forest, closed, buffer, out):
    """Count the nodes from the root to the last word that is no punctuation, and all others.

    Parameters
    ----------
    root, stop : int
        The nodes of the tree are those from `root` to before `stop`.
    last : int
        Its last word.
    """
    label, word, parent, _, _, _, _, _, leaf_of = forest
    at = leaf_of[last]
    while last > 0 and closed[label[at]] and label[at] == word[at] and leaf_of[last - 1] >= root:
        last -= 1
        at = leaf_of[last]
    n = 0
    while at >= 0:
        at = parent[at]
        n += 1
    for i in range(stop - root):
        put2(RIGHT_BRANCH, RIGHT if i < n else LEFT, END, buffer, out)
