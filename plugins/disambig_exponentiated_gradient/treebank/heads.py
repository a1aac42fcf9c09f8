"""The head child of each constituent of English, by a table of rules.

Collins, Head-driven statistical models for natural language parsing (PhD thesis, University of Pennsylvania,
1999), appendix A; the labels that CRAFT adds (NML, CAPTION, ...) go by their nearest relatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .tree import Tree, folded

TABLE = Path(__file__).with_name("head_rules.tsv")
_SIDES, _MODES = ("left", "right", "last"), ("each", "any")


@dataclass(frozen=True, slots=True)
class Step:
    """One look for a head among the children.

    Attributes
    ----------
    side : str
        Where the look begins; ``"last"``: at the last child alone.
    each : bool
        Whether labels are looked for one after another, the first one first; else the first child of any of
        them is taken.
    labels : tuple of str
    """

    side: str
    each: bool
    labels: tuple[str, ...]

    def find(self, children: Sequence[str]) -> int:
        """Return the index of the head, -1 where there is none."""
        order = range(len(children)) if self.side == "left" else range(len(children) - 1, -1, -1)
        seen = order[:1] if self.side == "last" else order
        for labels in ((label,) for label in self.labels) if self.each else (self.labels,):
            for i in seen:
                if children[i] in labels:
                    return i
        return -1


@cache
def head_rules() -> dict[str, tuple[Step, ...]]:
    """Return the steps by which the head of each label is found, from the table."""
    rules: dict[str, tuple[Step, ...]] = {}
    same: dict[str, str] = {}
    for line in TABLE.read_text(encoding="utf8").splitlines():
        parent, _, said = line.partition("\t")
        if line.startswith("#"):
            continue
        if " " not in said:
            same[parent] = said
            continue
        steps = [tuple(step.split()) for step in said.split(";")]
        assert all(step[0] in _SIDES and step[1] in _MODES for step in steps), line
        rules[parent] = tuple(Step(step[0], step[1] == "each", step[2:]) for step in steps)
    return rules | {parent: rules[other] for parent, other in same.items()}


def head_child(label: str, children: Sequence[str]) -> int:
    """Return which child is the head, as an index.

    Parameters
    ----------
    label : str
        Of the constituent; one that the table does not have begins with the left.
    children : sequence of str
        Labels of the children, without function tags.
    """
    steps = head_rules().get(label, ())
    for step in steps:
        found = step.find(children)
        if found >= 0:
            break
    else:
        found = len(children) - 1 if steps and steps[-1].side == "right" else 0
    if found > 1 and children[found - 1] == "CC":  # of what is joined the first is the head
        return found - 2
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Headed:
    """A tree with the head of each node.

    Attributes
    ----------
    tree : Tree
    children : tuple of Headed
    head : int
        Index of the head child; -1 of a word.
    place : int
        The head word, as an index in the sentence.
    word, tag : str
        The head word and its tag.
    """

    tree: Tree
    children: tuple[Headed, ...]
    head: int
    place: int
    word: str
    tag: str


def heads(tree: Tree) -> Headed:
    """Return a tree with the head child and the head word of each constituent."""
    place = -1

    def make(node: Tree, children: Sequence[Headed]) -> Headed:
        nonlocal place
        if node.word is not None:
            place += 1
            return Headed(node, (), -1, place, node.word, node.label)
        head = head_child(node.label, [child.tree.label for child in children])
        below = children[head]
        return Headed(node, tuple(children), head, below.place, below.word, below.tag)

    return folded(tree, make)
