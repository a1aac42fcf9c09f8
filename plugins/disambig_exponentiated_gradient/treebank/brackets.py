"""The labelled brackets of a tree, as evalb sees them with its parameters COLLINS.prm.

Sekine and Collins, evalb (1997); Black et al., A procedure for quantitatively comparing the syntactic
coverage of English grammars (Speech and Natural Language, 1991).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .tree import TOP, Nodes, Tree

DELETED = frozenset({TOP, "-NONE-", ",", ":", "``", "''", "."})
"""Labels that count for nothing: brackets of these, and words of such a tag."""
EQUAL = {"PRT": "ADVP"}
"""Labels that are the same as another."""
_TAIL = re.compile(r"[-=]")


@dataclass(frozen=True, slots=True)
class Brackets:
    """Words, tags and brackets of a tree, nothing deleted yet.

    Attributes
    ----------
    words, tags : tuples of str
    labels : tuple of str
        Of each bracket that is not deleted by its label, in preorder; without function tags.
    starts, ends : tuples of int
        Its words, from `starts` to before `ends`.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    labels: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @classmethod
    def of(cls, tree: Tree) -> Brackets:
        """Return the brackets of a tree."""
        found = Nodes.of(tree)
        rows = [
            (label, start, end)
            for node, start, end in zip(found.nodes, found.starts, found.ends, strict=True)
            if node.word is None and (label := compared_label(node.label)) not in DELETED
        ]
        labels, starts, ends = zip(*rows, strict=True) if rows else ((), (), ())
        return cls(tuple(tree.words()), tuple(tree.tags()), labels, starts, ends)

    def counted(self, is_deleted: Sequence[bool]) -> list[tuple[str, int, int]]:
        """Return label, start and end of each bracket that some word stays in, places counted anew."""
        place = [0]
        for gone in is_deleted:
            place.append(place[-1] + (not gone))
        spans = zip(self.labels, self.starts, self.ends, strict=True)
        return [(label, place[start], place[end]) for label, start, end in spans if place[start] < place[end]]


def compared_label(label: str) -> str:
    """Return a label as it is compared: without function tags, ADVP for PRT."""
    tail = _TAIL.search(label, 1)
    plain = label[: tail.start()] if tail and label[0] not in "-=" else label
    return EQUAL.get(plain, plain)


def compared_tag(tag: str) -> str:
    """Return a tag as it is compared."""
    return EQUAL.get(tag, tag)
