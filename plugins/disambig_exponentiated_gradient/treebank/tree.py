"""A tree as plain data, and the walks over it; nothing here is recursive, so no depth is too much."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")
TOP = "TOP"
"""Label of what is around each sentence."""


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A constituent, or a word with its tag.

    Attributes
    ----------
    label : str
        Category, or tag of a word.
    children : tuple of Tree
        None of a word; one at least of a constituent.
    word : str or None
    """

    label: str
    children: tuple[Tree, ...] = ()
    word: str | None = None

    def __post_init__(self) -> None:
        if (self.word is None) == (not self.children):
            raise ValueError(f"({self.label}: a tree has either a word or children")

    def preorder(self) -> Iterator[Tree]:
        """Yield each node before its children, these from the left to the right."""
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
        return hash(tuple(self._flat()))

    def __repr__(self) -> str:
        from .writing import one_line

        return f"Tree({one_line(self)!r})"

    def _flat(self) -> list[tuple[str, int, str | None]]:
        return [(node.label, len(node.children), node.word) for node in self.preorder()]


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes of a tree in preorder, by columns.

    Attributes
    ----------
    nodes : list of Tree
    parents : list of int
        Index of each one's parent; -1 of the first.
    starts, ends : lists of int
        The words of each: those from `starts` to before `ends`.
    """

    nodes: list[Tree]
    parents: list[int]
    starts: list[int]
    ends: list[int]

    @classmethod
    def of(cls, tree: Tree) -> Nodes:
        """Return the nodes of a tree."""
        nodes: list[Tree] = []
        parents: list[int] = []
        starts: list[int] = []
        n_words = 0
        open_ = [(tree, -1)]
        while open_:
            node, parent = open_.pop()
            starts.append(n_words)
            n_words += node.word is not None
            open_.extend((child, len(nodes)) for child in reversed(node.children))
            nodes.append(node)
            parents.append(parent)
        ends = [start + 1 for start in starts]
        for i in range(len(nodes) - 1, 0, -1):  # children stand behind their parents
            ends[parents[i]] = max(ends[parents[i]], ends[i])
        return cls(nodes, parents, starts, ends)


def folded(tree: Tree, make: Callable[[Tree, Sequence[T]], T]) -> T:
    """Return what `make` makes of the root and of what it has made of its children, from below.

    Parameters
    ----------
    tree : Tree
    make : callable
        ``make(node, made_of_children)``.
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
