"""Trees of at most two children, with the context of each node in its symbol; the way there and back.

From the left to the right: parting children outward from the head gave no better parses.

Johnson, PCFG models of linguistic tree representations (Computational Linguistics 24, 1998), for labels of
parents; Klein and Manning, Accurate unlexicalized parsing (ACL 2003), for horizontal and vertical
Markovisation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from disambig.api import UserError, nearest_first

from .splits import DEFAULT, SPLITS, Place
from .symbols import INSIDE, is_inside, label_of, quoted, without_parents
from .tree import Tree, folded


@dataclass(frozen=True, slots=True)
class Binarisation:
    """How trees are made binary, and what their symbols remember.

    Attributes
    ----------
    horizontal : int
        Labels of children before that an intermediate symbol remembers.
    vertical : int
        1: constituents know nothing above them; 2: their parent's label; 3: that of its parent as well.
    tag_parents : bool
        Whether tags know their parent's label.
    splits : tuple of str
        Names of `disambig_exponentiated_gradient.treebank.splits.SPLITS`.
    """

    horizontal: int = 1
    vertical: int = 2
    tag_parents: bool = True
    splits: tuple[str, ...] = DEFAULT

    def __post_init__(self) -> None:
        for name, least, most in (("horizontal", 0, 9), ("vertical", 1, 9)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
                wanted = f"give a whole number from {least} to {most}"
                raise UserError("D633", what=f"Binarisation.{name}", value=value, wanted=wanted)
        for name in self.splits:
            if name not in SPLITS:
                wanted = f"there are {nearest_first(str(name), SPLITS)}"
                raise UserError("D633", what="Binarisation.splits", value=name, wanted=wanted)

    def __call__(self, tree: Tree) -> Tree:
        """Return a tree whose nodes have two children, one or a word, and symbols for labels."""
        place = Place.of(tree)
        marks = [SPLITS[name] for name in self.splits]
        nodes, parents = place.found.nodes, place.found.parents
        plain = [quoted(node.label) for node in nodes]
        made: list[Tree | None] = [None] * len(nodes)
        for i in range(len(nodes) - 1, -1, -1):  # children stand behind their parents
            symbol = plain[i] + "".join("~" + mark for split in marks if (mark := split(place, i)))
            levels = self.vertical if nodes[i].word is None else 1 + self.tag_parents
            above = i
            for _ in range(levels - 1):
                above = parents[above]
                if above < 0:
                    break
                symbol += "^" + plain[above]
            if nodes[i].word is not None:
                made[i] = Tree(symbol, (), nodes[i].word)
                continue
            below = place.children[i]
            children = [child for j in below if (child := made[j]) is not None]
            made[i] = Tree(symbol, self._paired(symbol, children, [plain[j] for j in below]))
        root = made[0]
        assert root is not None
        return root

    def _paired(self, symbol: str, children: list[Tree], labels: list[str]) -> tuple[Tree, ...]:
        """Return one or two children in place of many: the first one is parted from all others, and so on.

        Symbols between know nothing of the node's parent: with few trees that is best.
        """
        made = tuple(children[-2:])
        for first in range(len(children) - 2, 0, -1):
            seen = "_".join(labels[max(0, first - self.horizontal) : first])
            inside = INSIDE + without_parents(symbol) + ("|" + seen if seen else "")
            made = (children[first - 1], Tree(inside, made))
        return made


def restored(tree: Tree) -> Tree:
    """Return the tree that a `Binarisation` made this one of."""

    def make(node: Tree, children: Sequence[list[Tree]]) -> list[Tree]:
        if node.word is not None:
            return [Tree(label_of(node.label), (), node.word)]
        below = [child for each in children for child in each]
        return below if is_inside(node.label) else [Tree(label_of(node.label), tuple(below))]

    return folded(tree, make)[0]
