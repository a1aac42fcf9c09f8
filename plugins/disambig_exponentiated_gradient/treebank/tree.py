"""A tree as plain data: traversal, text form, words, and constituents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

T = TypeVar("T")
TOP = "TOP"
"""Label of the bracket around a sentence."""


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A constituent, or a word with its tag."""

    label: str  # category, or the tag of a word
    children: tuple[Tree, ...] = ()  # empty for a word; at least one for a constituent
    word: str | None = None

    def __post_init__(self) -> None:
        if (self.word is None) == (not self.children):
            raise ValueError(f"({self.label}: a tree has either a word or children")

    def preorder(self) -> Iterator[Tree]:
        """Yield each node before its children, from left to right."""
        open_ = [self]
        while open_:
            node = open_.pop()
            yield node
            open_.extend(reversed(node.children))

    def leaves(self) -> list[Tree]:
        """Return the nodes with a word."""
        return [node for node in self.preorder() if node.word is not None]

    def words(self) -> list[str]:
        """Return the words of the sentence."""
        return [node.word for node in self.preorder() if node.word is not None]

    def tags(self) -> list[str]:
        """Return the tag of each word."""
        return [node.label for node in self.preorder() if node.word is not None]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return self is other or self._flat() == other._flat()

    def __hash__(self) -> int:
        return hash(self._flat())

    def __repr__(self) -> str:
        return f"Tree({format_one_line(self)!r})"

    def _flat(self) -> tuple[tuple[str, int, str | None], ...]:
        return tuple((node.label, len(node.children), node.word) for node in self.preorder())


@dataclass(frozen=True, slots=True)
class TreeNodes:
    """The nodes of a tree in preorder, by columns."""

    nodes: list[Tree]
    parents: list[int]  # index of each node's parent; -1 for the root
    children: list[list[int]]  # indices of each node's children
    # the words of each node, from `starts` to before `ends`
    starts: list[int]
    ends: list[int]

    @classmethod
    def from_tree(cls, tree: Tree) -> TreeNodes:
        """Return the nodes of a tree."""
        nodes: list[Tree] = []
        parents: list[int] = []
        children: list[list[int]] = []
        starts: list[int] = []
        n_words = 0
        open_ = [(tree, -1)]
        while open_:
            node, parent = open_.pop()
            starts.append(n_words)
            n_words += node.word is not None
            open_.extend((child, len(nodes)) for child in reversed(node.children))
            if parent >= 0:
                children[parent].append(len(nodes))
            nodes.append(node)
            parents.append(parent)
            children.append([])
        ends = [start + 1 for start in starts]
        for i in range(len(nodes) - 1, 0, -1):  # in preorder, children come after their parents
            ends[parents[i]] = max(ends[parents[i]], ends[i])
        return cls(nodes, parents, children, starts, ends)

    def label(self, i: int) -> str:
        """Return the label of a node."""
        return self.nodes[i].label

    def labels_below(self, i: int) -> list[str]:
        """Return the labels of the children of a node."""
        return [self.label(child) for child in self.children[i]]

    def word(self, i: int) -> str:
        """Return the word of a node in lower case, empty if it has none."""
        return (self.nodes[i].word or "").lower()


def fold_tree(tree: Tree, make: Callable[[Tree, Sequence[T]], T]) -> T:
    """Return the result of `make` for the root, computed from the bottom up.

    It is called as ``make(node, results_of_children)``.
    """
    made: list[T] = []
    open_: list[tuple[Tree, bool]] = [(tree, False)]
    while open_:
        node, is_done = open_.pop()
        if is_done or not node.children:
            first = len(made) - len(node.children)
            below = made[first:]
            del made[first:]
            made.append(make(node, below))
        else:
            open_.append((node, True))
            open_.extend((child, False) for child in reversed(node.children))
    return made[0]


def format_one_line(tree: Tree) -> str:
    """Return a tree on one line, such as ``(TOP (S (NP (PRP I)) (VP (VBP agree))))``."""
    return _format_node(tree, lambda node, depth: " ")


def format_indented(tree: Tree) -> str:
    """Return a tree with each constituent on its own line, and words on their parent's line."""
    return _format_node(tree, lambda node, depth: " " if node.word is not None else "\n" + " " * (depth * 2))


def _format_node(tree: Tree, gap: Callable[[Tree, int], str]) -> str:
    """Return a tree in brackets; `gap` returns what separates a node from what precedes it."""
    parts: list[str] = []
    open_: list[tuple[Tree | None, int]] = [(tree, 0)]
    while open_:
        node, depth = open_.pop()
        if node is None:
            parts.append(")")
            continue
        if depth:
            parts.append(gap(node, depth))
        if node.word is not None:
            parts.append(f"({node.label} {node.word})")
            continue
        parts.append(f"({node.label}")
        open_.append((None, depth))
        open_.extend((child, depth + 1) for child in reversed(node.children))
    return "".join(parts)


_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_ESCAPED = {sign: name for name, sign in _BRACKETS.items() if sign in "()"}


def unescape_word(word: str) -> str:
    """Return a word of a treebank without escapes."""
    return _BRACKETS.get(word) or word.replace("\\/", "/").replace("\\*", "*")


def escape_word(word: str) -> str:
    """Return a word that may occur in a bracketed tree: no brackets, no white space, not empty.

    Words that are single brackets get the treebank names; any other bracket is replaced by its
    name within the word.
    """
    if word in _ESCAPED:
        return _ESCAPED[word]
    for sign, name in _ESCAPED.items():
        word = word.replace(sign, name)
    return "_".join(word.split()) or "_"


class Constituent(NamedTuple):
    """A constituent."""

    label: str
    # its words, from `start` to before `end`
    start: int
    end: int
    parent: int  # index of its parent among the constituents of the tree; -1 for the first


def list_constituents(tree: Tree) -> list[Constituent]:
    """Return the constituents of a tree in preorder, without words; the first one contains all words.

    The bracket `TOP` is included only if the sentence is not a single constituent below it.
    """
    nodes = TreeNodes.from_tree(below_top(tree))
    number = {-1: -1}
    rows: list[Constituent] = []
    for i, node in enumerate(nodes.nodes):
        if node.word is None:
            number[i] = len(rows)
            rows.append(Constituent(node.label, nodes.starts[i], nodes.ends[i], number[nodes.parents[i]]))
    return rows


def below_top(tree: Tree) -> Tree:
    """Return the only constituent below the bracket `TOP`, or the tree itself if there are several."""
    is_around_one = tree.label == TOP and len(tree.children) == 1 and tree.children[0].word is None
    return tree.children[0] if is_around_one else tree
