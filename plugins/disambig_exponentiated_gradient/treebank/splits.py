"""Splits of labels: what tells constituents of one label apart that a treebank does not.

Klein and Manning, Accurate unlexicalized parsing (ACL 2003): those of theirs that pay with few trees. Each is
a function of the tree alone and gives a mark or nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .heads import head_child
from .tree import Nodes, Tree


@dataclass(frozen=True, slots=True)
class Place:
    """A tree's nodes, with the children of each.

    Attributes
    ----------
    found : Nodes
    children : list of lists of int
        Indices of the children of each node.
    """

    found: Nodes
    children: list[list[int]]

    @classmethod
    def of(cls, tree: Tree) -> Place:
        """Return the places of a tree."""
        found = Nodes.of(tree)
        children: list[list[int]] = [[] for _ in found.nodes]
        for i, parent in enumerate(found.parents):
            if parent >= 0:
                children[parent].append(i)
        return cls(found, children)

    def label(self, i: int) -> str:
        """Return the label of a node."""
        return self.found.nodes[i].label

    def below(self, i: int) -> list[str]:
        """Return the labels of the children."""
        return [self.label(child) for child in self.children[i]]

    def head(self, i: int) -> int:
        """Return the index of the head child among the children."""
        return head_child(self.label(i), self.below(i))

    def word(self, i: int) -> str:
        """Return the word of a node in lower case, nothing where it has none."""
        return (self.found.nodes[i].word or "").lower()


_VERBS = frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD"})
_BE = frozenset("be am is are was were been being 's 're 'm".split())
_HAVE = frozenset("have has had having 've 'd".split())
_NAMED_IN = frozenset({"of", "that", "than"})


def auxiliary(place: Place, i: int) -> str:
    """Tell forms of "be" and of "have" from all other verbs."""
    if place.label(i) not in _VERBS or place.label(i) == "MD":
        return ""
    word = place.word(i)
    return "be" if word in _BE else "have" if word in _HAVE else ""


def preposition(place: Place, i: int) -> str:
    """Tell "of", "that" and "than" from the other words of the tag IN."""
    return place.word(i) if place.label(i) == "IN" and place.word(i) in _NAMED_IN else ""


def alone(place: Place, i: int) -> str:
    """Mark determiners and adverbs that are a constituent of their own."""
    if place.label(i) not in ("DT", "RB"):
        return ""
    return "alone" if len(place.children[place.found.parents[i]]) == 1 else ""


def base(place: Place, i: int) -> str:
    """Mark noun phrases that have no constituent within them."""
    if place.label(i) != "NP":
        return ""
    return "base" if all(place.found.nodes[child].word is not None for child in place.children[i]) else ""


def verb_form(place: Place, i: int) -> str:
    """Mark verb phrases by the form of their verb: finite, infinitive, participle."""
    if place.label(i) != "VP":
        return ""
    node = i
    while place.label(node) == "VP" and place.children[node]:
        node = place.children[node][place.head(node)]
        if place.label(node) in _VERBS or place.label(node) == "TO":
            break
    tag = place.label(node)
    return "fin" if tag in ("VBD", "VBZ", "VBP", "MD") else tag.lower() if tag in (*_VERBS, "TO") else ""


SPLITS: dict[str, Callable[[Place, int], str]] = {
    "auxiliary": auxiliary,
    "preposition": preposition,
    "alone": alone,
    "base": base,
    "verb_form": verb_form,
}
"""Every split by its name."""
DEFAULT = tuple(SPLITS)
"""All of them: what else was tried (single children, genitives, clauses without subject, "not", "but", noun
phrases with a verb) gained nothing on section 00, three parts of which were held out in turn."""
