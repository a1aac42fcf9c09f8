"""Slow and simple references: CKY for `BinaryGrammar`, and the features of a tree as strings."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from disambig_exponentiated_gradient.grammar import Derivation
from disambig_exponentiated_gradient.reranking import CLOSED_TAGS, CLOSED_WORDS
from disambig_exponentiated_gradient.treebank import heads

NEVER = float("-inf")


def best_derivation(grammar, words):
    """Return the best derivation of a sentence and its score; None if it has no parse."""
    n = words.length
    below = {(i, j): {} for i in range(n) for j in range(i + 1, n + 1)}
    above = {span: {} for span in below}
    for place, symbol, score in zip(
        words.positions.tolist(), words.symbols.tolist(), words.scores, strict=True
    ):
        below[place, place + 1][symbol] = (float(score), None, None)
    rules = list(zip(range(len(grammar.binary)), grammar.binary.tolist(), grammar.binary_scores, strict=True))
    chains = list(zip(range(len(grammar.unary)), grammar.unary.tolist(), grammar.unary_scores, strict=True))
    for size in range(1, n + 1):
        for start in range(n - size + 1):
            end = start + size
            cell = below[start, end]
            for middle in range(start + 1, end):
                left, right = above[start, middle], above[middle, end]
                for rule, (parent, one, other), score in rules:
                    if one in left and other in right:
                        total = float(score) + left[one][0] + right[other][0]
                        if total > cell.get(parent, (NEVER,))[0]:
                            cell[parent] = (total, rule, middle)
            made = {symbol: (entry[0], None, symbol) for symbol, entry in cell.items()}
            for rule, (parent, child), score in chains:
                if child in cell and float(score) + cell[child][0] > made.get(parent, (NEVER,))[0]:
                    made[parent] = (float(score) + cell[child][0], rule, child)
            above[start, end] = made
    if grammar.root not in above[0, n]:
        return None
    binary, unary, tags = [], [], [0] * n
    open_ = [(0, n, grammar.root)]
    while open_:
        start, end, symbol = open_.pop()
        _, chain, child = above[start, end][symbol]
        if chain is not None:
            unary.append((chain, start, end))
        _, rule, middle = below[start, end][child]
        if rule is None:
            tags[start] = child
            continue
        binary.append((rule, start, middle, end))
        _, left, right = grammar.binary[rule].tolist()
        open_ += [(start, middle, left), (middle, end, right)]
    return Derivation.from_rows(binary, unary, tags), above[0, n][grammar.root][0]


END, NONE = "<end>", "<none>"


class Node:
    """A node with its parent, children, head and span."""

    def __init__(self, headed, parent, start):
        self.parent, self.label, self.start = parent, headed.tree.label, start
        self.word, self.head_at = headed.tree.word, headed.head
        self.head_word, self.head_tag, self.head_place = headed.word, headed.tag, headed.place
        self.kids = []
        end = start
        for child in headed.children:
            self.kids.append(Node(child, self, end))
            end = self.kids[-1].end
        self.end = end if self.kids else start + 1

    def all(self):
        yield self
        for kid in self.kids:
            yield from kid.all()

    @property
    def closed(self):
        return self.head_tag in CLOSED_TAGS or is_closed(self.head_word)

    @property
    def marked(self):
        return [self.label, self.head_word] if self.kids and self.closed else [self.label]

    @property
    def class_of_head(self):
        return self.head_word if self.closed else self.head_tag

    def to_depth(self, depth):
        """Return the labels below the node up to a depth, as nested tuples."""
        return tuple((kid.label, kid.to_depth(depth - 1)) for kid in self.kids) if depth else ()


def is_closed(word):
    return word.lower() in CLOSED_WORDS or word in CLOSED_TAGS


def size(n):
    for limit, bucket in ((5, n), (7, 6), (9, 7), (14, 8), (19, 9)):
        if n <= limit:
            return str(bucket)
    return "10"


def features(tree):
    """Return how often each feature is in a tree, by name."""
    root = Node(heads(tree), None, 0)
    leaves = [node for node in root.all() if node.word is not None]
    names = []
    for node in root.all():
        names += of_word(node) if node.word is not None else of_constituent(node, leaves)
    for left, right in pairwise(leaves):
        names += between(left, right)
    last = len(leaves) - 1
    while last > 0 and leaves[last].label in CLOSED_TAGS and leaves[last].label == leaves[last].word:
        last -= 1
    depth, node = 1, leaves[last]
    while node.parent:
        node, depth = node.parent, depth + 1
    n = len(list(root.all()))
    names += [("right branch", "right", END)] * depth + [("right branch", "left", END)] * (n - depth)
    return Counter(f"{name}: {' '.join(rest)}" for name, *rest in names)


def of_word(node):
    above = node.parent
    top = above.parent.label if above.parent else NONE
    yield "word and parent", node.word, node.label, above.label
    yield "word and two above", node.word, node.label, above.label, top
    spine, at = [node.label], node
    while at.parent and at.parent.head_place == node.start:
        at = at.parent
        spine.append(at.label)
    end = at.parent.label if at.parent else NONE
    beside = at.parent.class_of_head if at.parent else NONE
    yield "spine", *spine, END, end
    yield "spine, word", *spine, END, end, node.word
    yield "word and its largest phrase", node.word, node.label, at.label, end, beside


def between(left, right):
    up, at = [left.label], left.parent
    while at.end <= right.start:
        up.append(at.label)
        at = at.parent
    down, below = [], right
    while below is not at:
        down.append(below.label)
        below = below.parent
    path = [*up, END, at.label, END, *down]
    yield "two words", *path
    if left.closed:
        yield "two words, first", *path, left.word
    if right.closed:
        yield "two words, second", *path, right.word


def rule_above(node):
    labels = [node.parent.label]
    for kid in node.parent.kids:
        labels += [END, kid.label] if kid is node else [kid.label]
    return [*labels, END, node.label]


def of_constituent(node, leaves):
    labels = [kid.label for kid in node.kids]
    grand = node.parent.label if node.parent else NONE
    head = node.kids[node.head_at]
    yield "rule", node.label, *labels
    yield "rule, parent", node.label, *labels, grand
    marked = [node.marked, *(kid.marked for kid in node.kids)]
    if any(len(marks) > 1 for marks in marked):
        yield "rule, closed heads", *(text for marks in marked for text in marks)
    if node.parent:
        yield "two-level rule", *rule_above(node), *labels
        if node.parent.head_place != node.head_place:
            yield "heads of two levels", node.label, grand, node.class_of_head, node.parent.class_of_head
    yield from runs(node, grand, head)
    yield from modifiers(node, grand, head, leaves)
    yield from shape(node, leaves)
    yield from parallels(node)


def runs(node, grand, head):
    padded = [None, *node.kids, None, None]
    for i, (a, b, c) in enumerate(zip(padded, padded[1:], padded[2:], strict=False)):
        side = "left" if i - 1 < node.head_at else "right"
        names = [kid.label if kid else END for kid in (a, b, c)]
        yield "bigram", node.label, head.label, side, *names[:2]
        yield "bigram, parent", node.label, grand, side, *names[:2]
        if a and b:
            yield (
                "bigram, head words",
                *(node.label, side, a.label, a.head_word, b.label, b.head_word, head.label),
            )
        if a:
            yield "bigram, first head word", node.label, side, a.label, a.head_word, names[1]
        if b:
            yield "bigram, second head word", node.label, side, names[0], b.label, b.head_word
        for n, name in ((2, "bigram"), (3, "trigram")):
            if n == 3 and i >= len(node.kids):
                continue
            if n == 3:
                yield "trigram", node.label, side, *names
            marked = [node.marked, *(kid.marked if kid else [END] for kid in (a, b, c)[:n])]
            if any(len(marks) > 1 for marks in marked):
                yield f"{name}, closed heads", *(text for marks in marked for text in marks)
        if node.parent:
            yield "two-level bigram", *rule_above(node), side, *names[:2]


def modifiers(node, grand, head, leaves):
    top_word, top_tag = node.head_word, node.head_tag
    for i, kid in enumerate(node.kids):
        if kid is head:
            continue
        side = "left" if i < node.head_at else "right"
        begin = (node.label, head.label, kid.label, side)
        near = str(int(abs(i - node.head_at) == 1))
        yield "head and modifier", node.label, grand, head.label, kid.label, side, near
        yield "modifier, head words", *begin, top_word, kid.head_word
        yield "modifier, head word", *begin, top_word, kid.head_tag
        yield "modifier, own word", *begin, top_tag, kid.head_word
        first, last = sorted((node.head_place, kid.head_place))
        far = size(last - first)
        yield "modifier, tags", *begin, top_tag, kid.head_tag, far
        inside = leaves[first + 1 : last]
        commas = sum(leaf.label == leaf.word and leaf.label in CLOSED_TAGS | CLOSED_WORDS for leaf in inside)
        yield "modifier, distance", *begin, far, str(min(commas, 3))
        if kid.label == "PP" and kid.kids:
            others = [child for j, child in enumerate(kid.kids) if j != kid.head_at]
            begin = (node.label, head.label, side, kid.head_word)
            yield "attached", *begin, top_tag
            yield "attached, head word", *begin, top_word
            if others:
                yield "attached, object", *begin, top_tag, others[-1].head_word
                yield "attached, head word and object", *begin, top_word, others[-1].head_word


def shape(node, leaves):
    before = leaves[node.start - 1] if node.start else None
    behind = leaves[node.end] if node.end < len(leaves) else None
    opening, closing = leaves[node.start], leaves[node.end - 1]
    tags = [leaf.label if leaf else END for leaf in (before, behind)]
    words = [leaf.word if leaf else END for leaf in (before, behind)]
    long = size(node.end - node.start)
    yield "heavy", node.label, long, tags[1], str(min(len(leaves) - node.end, 2))
    yield "neighbours", node.label, long, *tags
    yield "first word", node.label, opening.word, long
    yield "last word", node.label, closing.word, long
    yield "word before", node.label, words[0]
    yield "word behind", node.label, words[1]
    yield "tags at the edges", node.label, tags[0], opening.label, closing.label, tags[1]


def parallels(node):
    if all(kid.label != "CC" for kid in node.kids):
        return
    phrases = [(i, kid) for i, kid in enumerate(node.kids) if kid.kids]
    for (_, first), (i, second) in pairwise(phrases):
        for depth in range(4):
            same = first.label == second.label and first.to_depth(depth) == second.to_depth(depth)
            yield "alike", node.label, second.label, str(depth), str(int(same))
            if not same:
                break
        longer = (second.end - second.start) - (first.end - first.start)
        side = "right" if longer > 0 else "left"
        at_end = str(int(i == len(node.kids) - 1))
        yield "lengths", node.label, second.label, side, size(abs(longer)), at_end
