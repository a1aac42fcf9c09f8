"""Machine code for features of rules: wholes, pairs and triples of children, with what is above them."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

from disambig.api.kernels import compiled

from .emitting_kernels import END, FIRST, LEFT, NONE, RIGHT, children, emit, put, put5, put7

RULE, RULE_PARENT, RULE_CLOSED, TWO_RULES = 0, 1, 2, 3
PAIR, PAIR_PARENT, PAIR_CLOSED, PAIR_WORDS, PAIR_FIRST, PAIR_SECOND, PAIR_RULE = 4, 5, 6, 7, 8, 9, 10
TRIPLE, TRIPLE_CLOSED = 11, 12


@compiled
def rules(node, m, kids, uncles, forest, closed, buffer, out):
    """Write the features of the rule of a constituent.

    Parameters
    ----------
    m : int
        Number of its children, which are in `kids`.
    uncles : array of int32
        To write the children of its parent to.
    """
    label, word, parent, after, _, _, _, leaf, _ = forest
    above = parent[node]
    n = put(buffer, put(buffer, 0, FIRST + RULE), label[node])
    for i in range(m):
        n = put(buffer, n, label[kids[i]])
    emit(buffer, n, out)
    buffer[0] = FIRST + RULE_PARENT
    emit(buffer, put(buffer, n, label[above] if above >= 0 else NONE), out)
    n, some = put(buffer, 0, FIRST + RULE_CLOSED), False
    for i in range(-1, m):
        at = node if i < 0 else kids[i]
        n = put(buffer, n, label[at])
        if _is_closed(at, label, word, leaf, closed):
            n = put(buffer, n, word[leaf[at]])
            some = True
    if some:
        emit(buffer, n, out)
    if above >= 0:
        n = _rule_above(node, above, uncles, label, after, buffer, TWO_RULES)
        for i in range(m):
            n = put(buffer, n, label[kids[i]])
        emit(buffer, n, out)
    _pairs(node, m, kids, uncles, forest, closed, buffer, out)


@compiled
def _is_closed(node, label, word, leaf, closed):
    return word[node] < 0 and (closed[label[leaf[node]]] or closed[word[leaf[node]]])


@compiled
def _rule_above(node, above, uncles, label, after, buffer, template):
    """Begin a feature with the rule above a constituent, in which it is marked, and its label."""
    n = put(buffer, put(buffer, 0, FIRST + template), label[above])
    for i in range(children(above, after, uncles)):
        if uncles[i] == node:
            n = put(buffer, n, END)
        n = put(buffer, n, label[uncles[i]])
    return put(buffer, put(buffer, n, END), label[node])


@compiled
def _pairs(node, m, kids, uncles, forest, closed, buffer, out):
    """Write the features of two and three children side by side, the ends of the rule among them."""
    label, word, parent, after, _, _, head, leaf, _ = forest
    above = parent[node]
    name, grand = label[node], label[above] if above >= 0 else NONE
    before_head = True
    for i in range(-1, m):
        if i >= 0 and kids[i] == head[node]:
            before_head = False
        side = LEFT if before_head else RIGHT
        first = label[kids[i]] if i >= 0 else END
        second = label[kids[i + 1]] if i + 1 < m else END
        put5(PAIR, name, label[head[node]], side, first, second, buffer, out)
        put5(PAIR_PARENT, name, grand, side, first, second, buffer, out)
        first_word = word[leaf[kids[i]]] if i >= 0 else END
        second_word = word[leaf[kids[i + 1]]] if i + 1 < m else END
        if i >= 0 and i + 1 < m:
            put7(
                PAIR_WORDS, name, side, first, first_word, second, second_word, label[head[node]], buffer, out
            )
        if i >= 0:
            put5(PAIR_FIRST, name, side, first, first_word, second, buffer, out)
        if i + 1 < m:
            put5(PAIR_SECOND, name, side, first, second, second_word, buffer, out)
        _closed_run(node, i, 2, m, kids, label, word, leaf, closed, buffer, out)
        if i + 2 <= m:
            third = label[kids[i + 2]] if i + 2 < m else END
            put5(TRIPLE, name, side, first, second, third, buffer, out)
            _closed_run(node, i, 3, m, kids, label, word, leaf, closed, buffer, out)
        if above >= 0:
            n = _rule_above(node, above, uncles, label, after, buffer, PAIR_RULE)
            emit(buffer, put(buffer, put(buffer, put(buffer, n, side), first), second), out)


@compiled
def _closed_run(node, i, length, m, kids, label, word, leaf, closed, buffer, out):
    """Write two or three children from the one at `i` on, and their parent, with heads of closed classes."""
    n, some = put(buffer, 0, FIRST + (PAIR_CLOSED if length == 2 else TRIPLE_CLOSED)), False
    for j in range(-1, length):
        if j >= 0 and (i + j < 0 or i + j >= m):
            n = put(buffer, n, END)
            continue
        at = node if j < 0 else kids[i + j]
        n = put(buffer, n, label[at])
        if _is_closed(at, label, word, leaf, closed):
            n = put(buffer, n, word[leaf[at]])
            some = True
    if some:
        emit(buffer, n, out)
