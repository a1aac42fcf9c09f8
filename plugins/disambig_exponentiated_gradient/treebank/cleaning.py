"""What parsers are trained on: no traces, no indices, and, as a rule, no function tags."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from disambig.api import UserError

from .reading import raw_trees
from .tree import Tree, folded

EMPTY = "-NONE-"
"""Tag of traces and of all else that has no sound."""
_FIRST = re.compile(r"[-=|]")
_INDEX = re.compile(r"[-=][0-9]+(?=[-=]|$)")


@lru_cache(10_000)
def plain_label(label: str, *, functions: bool = False) -> str:
    """Return a label without what stands behind its category.

    ``NP-SBJ-1``, ``NP=2`` and ``ADVP|PRT`` get ``NP``, ``NP`` and ``ADVP``; what begins with a sign, such as
    ``-LRB-``, stays.

    Parameters
    ----------
    label : str
    functions : bool
        Whether function tags stay: ``NP-SBJ-1`` gets ``NP-SBJ``.
    """
    if functions:
        return label[:1] + _INDEX.sub("", label[1:])
    end = _FIRST.search(label, 1) if label[:1] not in "-=|" else None
    return label[: end.start()] if end else label


def cleaned(tree: Tree, *, functions: bool = False) -> Tree | None:
    """Return a tree without traces, the constituents that they leave empty, indices and function tags.

    Parameters
    ----------
    tree : Tree
    functions : bool
        Whether function tags stay.

    Returns
    -------
    Tree or None
        None where no word is left.
    """

    def make(node: Tree, children: Sequence[Tree | None]) -> Tree | None:
        if node.word is not None:
            if node.label == EMPTY:
                return None
            tag = plain_label(node.label, functions=functions)
            return node if tag == node.label else Tree(tag, (), node.word)
        kept = tuple(child for child in children if child is not None)
        return Tree(plain_label(node.label, functions=functions), kept) if kept else None

    return folded(tree, make)


def read_trees(text: str, path: str = "trees", *, functions: bool = False) -> Iterator[Tree]:
    """Yield the clean trees of a text; what has no word is left out.

    Parameters
    ----------
    text : str
    path : str
        Where it is from, for messages.
    functions : bool
        Whether function tags stay.

    Raises
    ------
    UserError
        D630 and D631, with `path` and line.
    """
    for raw in raw_trees(text, path):
        tree = cleaned(raw, functions=functions)
        if tree is not None:
            yield tree


def first_tree(text: str) -> Tree | None:
    """Return the first tree of a candidate's text, clean, or None for a text without a word.

    Raises
    ------
    UserError
        D630 and D631, whose value ``text`` tells the core which candidate of which list it was.
    """
    try:
        return next(read_trees(text, "a tree of a list"), None)
    except UserError as error:
        raise UserError(error.code, **error.values, text=text) from None
