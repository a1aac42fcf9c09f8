"""Compiled functions that read trees and write their features."""

from __future__ import annotations

import numpy as np

from disambig.api.kernels import compiled, fmix64

from .symbols import CC, END, FIXED, LEFT, NONE, PP, RIGHT, ZERO

# Numba infers the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs


FIRST = len(FIXED)
"""Symbol of the first template."""
_BEGIN = np.uint64(0xA24BAED4963EE407)
_STEP = np.uint64(0x9FB21C651E98DF25)
# symbols of lengths up to 20, in steps that grow with the length (see `size`)
_LENGTHS = np.array([0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9, 10], np.int32)


@compiled
def emit(buffer, n, out):
    """Write the feature that consists of the first `n` symbols of a buffer.

    After the first two numbers of `out`, features follow one another, each as its length and its symbols. The
    first number is the position for the next feature, the second the number of features. Features without
    room are left out, and the two numbers count on.
    """
    at = out[0]
    if at + n < len(out):
        out[at] = n
        for i in range(n):
            out[at + 1 + i] = buffer[i]
    out[0] = at + n + 1
    out[1] += 1


@compiled
def write_keys(out, hashes, keys):
    """Write the key of each feature: the hashes of its symbols, combined from left to right."""
    at = 2
    for feature in range(len(keys)):
        n = out[at]
        key = _BEGIN
        for i in range(at + 1, at + 1 + n):
            key = fmix64(key * _STEP + hashes[out[i]])
        keys[feature] = key
        at += n + 1


@compiled
def write_starts(out, begins):
    """Write the start of each feature."""
    at = 2
    for feature in range(len(begins)):
        begins[feature] = at
        at += out[at] + 1


@compiled
def put(buffer, n, symbol):
    """Append a symbol; return the new length."""
    buffer[n] = symbol
    return n + 1


@compiled
def write(buffer, out, template, a, b, c=-1, d=-1, e=-1, f=-1, g=-1):
    """Write a feature of two to seven symbols after its template; -1, which is no symbol, stands for none."""
    buffer[0] = FIRST + template
    buffer[1], buffer[2], buffer[3], buffer[4], buffer[5], buffer[6], buffer[7] = a, b, c, d, e, f, g
    emit(buffer, 3 + (c >= 0) + (d >= 0) + (e >= 0) + (f >= 0) + (g >= 0), out)


@compiled
def children(node, after, kids):
    """Write the children of a constituent; return their number."""
    n, child = 0, node + 1
    while child >= 0:
        kids[n] = child
        n += 1
        child = after[child]
    return n


@compiled
def size(number):
    """Return the symbol for a length, in coarser steps for longer ones."""
    return ZERO + _LENGTHS[min(number, 20)]


@compiled
def word_or_tag(leaf, label, word, closed):
    """Return the word of a leaf if it belongs to a closed class, otherwise its tag."""
    return word[leaf] if closed[label[leaf]] or closed[word[leaf]] else label[leaf]


MODIFIER, WORDS, HEAD_WORD, OWN_WORD, TAGS, DISTANCE = 13, 14, 15, 16, 17, 18
ATTACHED, ATTACHED_HEAD, ATTACHED_OBJECT, ATTACHED_BOTH = 19, 20, 21, 22
TWO_HEADS = 41


@compiled
def modifiers(node, n_kids, kids, forest, closed, buffer, out):
    """Write the features of each child relative to the head child."""
    label, word, parent, _, start, _, head, leaf, leaf_of = forest
    above, head_child = parent[node], head[node]
    name, grand = label[node], label[above] if above >= 0 else NONE
    top = leaf[node]
    place = 0
    while kids[place] != head_child:
        place += 1
    for i in range(n_kids):
        if i == place:
            continue
        side = LEFT if i < place else RIGHT
        child = kids[i]
        below = leaf[child]
        near = ZERO + (abs(i - place) == 1)
        # pairs of labels and words
        write(buffer, out, MODIFIER, name, grand, label[head_child], label[child], side, near)
        write(buffer, out, WORDS, name, label[head_child], label[child], side, word[top], word[below])
        write(buffer, out, HEAD_WORD, name, label[head_child], label[child], side, word[top], label[below])
        write(buffer, out, OWN_WORD, name, label[head_child], label[child], side, label[top], word[below])
        first, last = min(start[top], start[below]), max(start[top], start[below])
        far = size(last - first)
        write(buffer, out, TAGS, name, label[head_child], label[child], side, label[top], label[below], far)
        commas = 0
        for at in range(first + 1, last):
            tag = label[leaf_of[at]]
            commas += closed[tag] and tag == word[leaf_of[at]]  # punctuation is its own tag
        write(buffer, out, DISTANCE, name, label[head_child], label[child], side, far, ZERO + min(commas, 3))
        if label[child] == PP and head[child] >= 0:
            _attached(name, label[head_child], top, child, side, forest, buffer, out)


@compiled
def _attached(name, head_label, top, child, side, forest, buffer, out):
    """Write the features of a prepositional phrase: its attachment, its preposition, its object."""
    label, word, _, after, _, _, head, leaf, _ = forest
    preposition = word[leaf[child]]
    last, at = -1, child + 1
    while at >= 0:
        if at != head[child]:
            last = at
        at = after[at]
    write(buffer, out, ATTACHED, name, head_label, side, preposition, label[top])
    write(buffer, out, ATTACHED_HEAD, name, head_label, side, preposition, word[top])
    if last >= 0:
        write(buffer, out, ATTACHED_OBJECT, name, head_label, side, preposition, label[top], word[leaf[last]])
        write(buffer, out, ATTACHED_BOTH, name, head_label, side, preposition, word[top], word[leaf[last]])


@compiled
def two_heads(node, forest, closed, buffer, out):
    """Write a constituent's head and its parent's head, if they differ."""
    label, word, parent, _, _, _, _, leaf, _ = forest
    above = parent[node]
    if above >= 0 and leaf[above] != leaf[node]:
        low = word_or_tag(leaf[node], label, word, closed)
        high = word_or_tag(leaf[above], label, word, closed)
        write(buffer, out, TWO_HEADS, label[node], label[above], low, high)


RULE, RULE_PARENT, RULE_CLOSED, TWO_RULES = 0, 1, 2, 3
PAIR, PAIR_PARENT, PAIR_CLOSED, PAIR_WORDS, PAIR_FIRST, PAIR_SECOND, PAIR_RULE = 4, 5, 6, 7, 8, 9, 10
TRIPLE, TRIPLE_CLOSED = 11, 12


@compiled
def _put_with_head(at, n, label, word, leaf, closed, buffer):
    """Append a node's symbol and its head, if that is of a closed class; return the length, and if it is."""
    n = put(buffer, n, label[at])
    if _is_closed(at, label, word, leaf, closed):
        return put(buffer, n, word[leaf[at]]), True
    return n, False


@compiled
def rules(node, n_kids, kids, uncles, forest, closed, buffer, out):
    """Write the features of a constituent's rule.

    Its `n_kids` children are in `kids`; `uncles` is a buffer for the children of its parent.
    """
    label, word, parent, after, _, _, _, leaf, _ = forest
    above = parent[node]
    n = put(buffer, put(buffer, 0, FIRST + RULE), label[node])
    for i in range(n_kids):
        n = put(buffer, n, label[kids[i]])
    emit(buffer, n, out)
    buffer[0] = FIRST + RULE_PARENT
    emit(buffer, put(buffer, n, label[above] if above >= 0 else NONE), out)
    n, any_head = put(buffer, 0, FIRST + RULE_CLOSED), False
    for i in range(-1, n_kids):
        at = node if i < 0 else kids[i]
        n, has_head = _put_with_head(at, n, label, word, leaf, closed, buffer)
        any_head = any_head or has_head
    if any_head:
        emit(buffer, n, out)
    if above >= 0:
        n = _rule_above(node, above, uncles, label, after, buffer, TWO_RULES)
        for i in range(n_kids):
            n = put(buffer, n, label[kids[i]])
        emit(buffer, n, out)
    _pairs(node, n_kids, kids, uncles, forest, closed, buffer, out)


@compiled
def _is_closed(node, label, word, leaf, closed):
    """Return True for a constituent whose head is of a closed class."""
    return word[node] < 0 and (closed[label[leaf[node]]] or closed[word[leaf[node]]])


@compiled
def _rule_above(node, above, uncles, label, after, buffer, template):
    """Start a feature with the rule above a constituent, with the constituent marked, and its label."""
    n = put(buffer, put(buffer, 0, FIRST + template), label[above])
    for i in range(children(above, after, uncles)):
        if uncles[i] == node:
            n = put(buffer, n, END)
        n = put(buffer, n, label[uncles[i]])
    return put(buffer, put(buffer, n, END), label[node])


@compiled
def _pairs(node, n_kids, kids, uncles, forest, closed, buffer, out):
    """Write the features of two and three adjacent children, including the ends of the rule."""
    label, word, parent, after, _, _, head, leaf, _ = forest
    above = parent[node]
    name, grand = label[node], label[above] if above >= 0 else NONE
    top = label[head[node]]
    before_head = True
    for i in range(-1, n_kids):
        if i >= 0 and kids[i] == head[node]:
            before_head = False
        side = LEFT if before_head else RIGHT
        first = label[kids[i]] if i >= 0 else END
        second = label[kids[i + 1]] if i + 1 < n_kids else END
        write(buffer, out, PAIR, name, top, side, first, second)
        write(buffer, out, PAIR_PARENT, name, grand, side, first, second)
        first_word = word[leaf[kids[i]]] if i >= 0 else END
        second_word = word[leaf[kids[i + 1]]] if i + 1 < n_kids else END
        if i >= 0 and i + 1 < n_kids:
            write(buffer, out, PAIR_WORDS, name, side, first, first_word, second, second_word, top)
        if i >= 0:
            write(buffer, out, PAIR_FIRST, name, side, first, first_word, second)
        if i + 1 < n_kids:
            write(buffer, out, PAIR_SECOND, name, side, first, second, second_word)
        _closed_run(node, i, 2, n_kids, kids, label, word, leaf, closed, buffer, out)
        if i + 2 <= n_kids:
            third = label[kids[i + 2]] if i + 2 < n_kids else END
            write(buffer, out, TRIPLE, name, side, first, second, third)
            _closed_run(node, i, 3, n_kids, kids, label, word, leaf, closed, buffer, out)
        if above >= 0:
            n = _rule_above(node, above, uncles, label, after, buffer, PAIR_RULE)
            emit(buffer, put(buffer, put(buffer, put(buffer, n, side), first), second), out)


@compiled
def _closed_run(node, i, length, n_kids, kids, label, word, leaf, closed, buffer, out):
    """Write two or three children from the one at `i` on, and their parent, with heads of closed classes."""
    n, any_head = put(buffer, 0, FIRST + (PAIR_CLOSED if length == 2 else TRIPLE_CLOSED)), False
    for j in range(-1, length):
        if j >= 0 and (i + j < 0 or i + j >= n_kids):
            n = put(buffer, n, END)
            continue
        at = node if j < 0 else kids[i + j]
        n, has_head = _put_with_head(at, n, label, word, leaf, closed, buffer)
        any_head = any_head or has_head
    if any_head:
        emit(buffer, n, out)


HEAVY, NEIGHBOURS, FIRST_WORD, LAST_WORD, WORD_BEFORE, WORD_BEHIND, EDGES = 23, 24, 25, 26, 27, 28, 29
RIGHT_BRANCH, ALIKE, LENGTHS = 30, 31, 32
_DEEP = 4


@compiled
def edges(node, first, last, forest, closed, buffer, out):
    """Write the features of the start and end of a constituent.

    The words of its sentence are from `first` to before `last`.
    """
    label, word, _, _, start, end, _, _, leaf_of = forest
    name, begin, stop = label[node], start[node], end[node]
    opening, closing = leaf_of[begin], leaf_of[stop - 1]
    long = size(stop - begin)
    before = label[leaf_of[begin - 1]] if begin > first else END
    behind = label[leaf_of[stop]] if stop < last else END
    write(buffer, out, HEAVY, name, long, behind, ZERO + min(last - stop, 2))
    write(buffer, out, NEIGHBOURS, name, long, before, behind)
    write(buffer, out, FIRST_WORD, name, word[opening], long)
    write(buffer, out, LAST_WORD, name, word[closing], long)
    write(buffer, out, WORD_BEFORE, name, word[leaf_of[begin - 1]] if begin > first else END)
    write(buffer, out, WORD_BEHIND, name, word[leaf_of[stop]] if stop < last else END)
    write(buffer, out, EDGES, name, before, label[opening], label[closing], behind)


@compiled
def parallels(node, n_kids, kids, forest, buffer, out):
    """Write the similarity of adjacent constituents in a constituent with a conjunction."""
    label, word, _, _, start, end, _, _, _ = forest
    joined = False
    for i in range(n_kids):
        joined = joined or label[kids[i]] == CC
    if not joined:
        return
    before = -1
    for i in range(n_kids):
        child = kids[i]
        if word[child] >= 0:
            continue
        if before >= 0:
            same = label[before] == label[child]
            write(buffer, out, ALIKE, label[node], label[child], ZERO, ZERO + same)
            if same:
                for depth in range(1, _DEEP):
                    same = _alike(before, child, depth, label, word, start, end)
                    write(buffer, out, ALIKE, label[node], label[child], ZERO + depth, ZERO + same)
                    if not same:
                        break
            longer = (end[child] - start[child]) - (end[before] - start[before])
            side = RIGHT if longer > 0 else LEFT
            far, is_last = size(abs(longer)), ZERO + (i == n_kids - 1)
            write(buffer, out, LENGTHS, label[node], label[child], side, far, is_last)
        before = child


@compiled
def _next_node(node, stop, depth, inside, word, start, end):
    """Return the next node of a tree in preorder that is no deeper than `depth`, and its depth.

    The depth of a node is the number of its open ancestors, whose ends are in `inside`.
    """
    node += 1
    depth_of_node = 0
    while node < len(word) and start[node] < stop:
        while len(inside) > 1 and start[node] >= inside[-1]:
            inside.pop()
        depth_of_node = len(inside)
        if word[node] < 0:
            inside.append(end[node])
        if depth_of_node <= depth:
            break
        node += 1
    return node, depth_of_node


@compiled
def _alike(first, second, depth, label, word, start, end):
    """Return True if two constituents are equal down to some depth below them, without words."""
    a, b = first, second
    stop_a, stop_b = end[first], end[second]
    inside_a, inside_b = [end[first]], [end[second]]
    while True:  # compare nodes in preorder down to this depth
        a, depth_a = _next_node(a, stop_a, depth, inside_a, word, start, end)
        b, depth_b = _next_node(b, stop_b, depth, inside_b, word, start, end)
        over_a = a >= len(label) or start[a] >= stop_a
        over_b = b >= len(label) or start[b] >= stop_b
        if over_a or over_b:
            return over_a and over_b
        if label[a] != label[b] or depth_a != depth_b:
            return False


@compiled
def right_branch(root, stop, last, forest, closed, buffer, out):
    """Count the nodes from the root to the last word that is not punctuation, and all others.

    The tree's nodes are from `root` to before `stop`; `last` is its last word.
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
        write(buffer, out, RIGHT_BRANCH, RIGHT if i < n else LEFT, END)


PARENT, TWO_ABOVE, LARGEST, SPINE, SPINE_WORD = 33, 34, 35, 36, 37
BETWEEN, BETWEEN_FIRST, BETWEEN_SECOND = 38, 39, 40


@compiled
def ancestors(node, forest, closed, buffer, out):
    """Write a word with its ancestors."""
    label, word, parent, _, _, _, _, leaf, _ = forest
    above = parent[node]
    higher = parent[above]
    write(buffer, out, PARENT, word[node], label[node], label[above])
    top = label[higher] if higher >= 0 else NONE
    write(buffer, out, TWO_ABOVE, word[node], label[node], label[above], top)
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
    neighbour = word_or_tag(leaf[end], label, word, closed) if end >= 0 else NONE
    highest = label[end] if end >= 0 else NONE
    write(buffer, out, LARGEST, word[node], label[node], label[at], highest, neighbour)


@compiled
def between(left, right, forest, closed, buffer, out):
    """Write the path through the tree from a word to the next one."""
    label, word, parent, _, start, end, _, _, _ = forest
    n = put(buffer, put(buffer, 0, FIRST + BETWEEN), label[left])
    at, place = parent[left], start[right]
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


_EXTRA_ROOM = 64
"""Room of a buffer for the symbols of a feature besides those of children and ancestors."""


@compiled
def write_features(nodes, words, forest, closed, out, ends):
    """Write the features of trees; `ends` is the number of features up to the end of each tree.

    `nodes` and `words`, shape ``(n_trees + 1,)``, are the starts of each tree's nodes and words, `forest` is
    from `Forest.arrays`, and `closed` says which symbols are of a closed class. See `emit` for `out`.
    """
    word, after, leaf_of = forest[1], forest[3], forest[8]
    out[0], out[1] = 2, 0
    max_nodes = 0
    for tree in range(len(nodes) - 1):
        max_nodes = max(max_nodes, nodes[tree + 1] - nodes[tree])
    buffer = np.empty(3 * max_nodes + _EXTRA_ROOM, np.int32)
    kids, uncles = np.empty(max_nodes, np.int32), np.empty(max_nodes, np.int32)
    for tree in range(len(nodes) - 1):
        first, last = words[tree], words[tree + 1]
        for node in range(nodes[tree], nodes[tree + 1]):
            if word[node] >= 0:
                ancestors(node, forest, closed, buffer, out)
                continue
            n_kids = children(node, after, kids)
            rules(node, n_kids, kids, uncles, forest, closed, buffer, out)
            modifiers(node, n_kids, kids, forest, closed, buffer, out)
            two_heads(node, forest, closed, buffer, out)
            edges(node, first, last, forest, closed, buffer, out)
            parallels(node, n_kids, kids, forest, buffer, out)
        for place in range(first + 1, last):
            between(leaf_of[place - 1], leaf_of[place], forest, closed, buffer, out)
        if last > first:
            right_branch(nodes[tree], nodes[tree + 1], last - 1, forest, closed, buffer, out)
        ends[tree] = out[1]


# ---- reading of trees

OPEN, CLOSE = 0, 1
"""Symbols of brackets."""


@compiled
def read_tree(tokens, first, last, deepest, at, leaf, label, word, parent, after, start, end, leaf_of):
    """Write the nodes of a tree in preorder, from node `at` and word `leaf` on; return whether it is valid.

    The tokens of the tree are from `first` to before `last`, with brackets nested at most `deepest` deep.
    Written are for each node `label` and `word` (-1 for a constituent), `parent`, `after` (the next of its
    parent's children, -1 for none), `start` and `end` (its words); and `leaf_of`, the node of each word.
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
        # "(label word)" and "(label (" follow: at least three more tokens; only one bracket is outermost
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
    """Read trees; `sound` is true for each text whose brackets form a tree."""
    for tree in range(len(sound)):
        sound[tree] = token_starts[tree] == token_starts[tree + 1] or read_tree(
            tokens, token_starts[tree], token_starts[tree + 1], deepest, node_starts[tree], word_starts[tree],
            label, word, parent, after, start, end, leaf_of,
        )  # fmt: skip


@compiled
def rule_keys(label, word, after, keys):
    """Write a key of each constituent's label and its children's labels; 0 for a word."""
    mix = np.uint64(0x9E3779B97F4A7C15)
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
    """Write the head child and the head leaf of each node, given the index `which` of the head child.

    A word is its own head leaf and has no head child (-1).
    """
    for node in range(len(word) - 1, -1, -1):  # in preorder, children come after their parents
        if word[node] >= 0:
            head[node], leaf[node] = -1, node
            continue
        child = node + 1
        for _ in range(which[node]):
            child = after[child]
        head[node], leaf[node] = child, leaf[child]


def sample() -> None:
    """Run a small example, so that `disambig doctor --compile` compiles the functions."""
    from .features import TreeOccurrences

    occurrences = TreeOccurrences(["(TOP (NP (NP (DT a) (NN b)) (CC and) (NP (NN c))))"])
    occurrences.names(occurrences.occur(0, 1).places[:1])
