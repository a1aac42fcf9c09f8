"""Penn-style brackets to trees: as they stand, each in a bracket of its own (then see `cleaning`).

A word is ``(TAG word)``, a constituent ``(LABEL child ...)``, a sentence ``( child ...)`` or a constituent.
Only ASCII white space parts: a no-break space belongs to its word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from disambig.api import UserError

from .tree import TOP, Tree

DEEPEST = 500
"""Brackets within each other, at most (30 in the Penn Treebank)."""
LONGEST = 10_000
"""Characters of a label or a word, at most."""
MOST_WORDS = 20_000
"""Words of a tree, at most (376 in CRAFT)."""
ROOTS = frozenset({"", "ROOT", "S1", TOP})
"""Labels of the bracket around a sentence, in the treebanks and parsers there are."""
_TOKEN = re.compile(r"[()]|[^() \t\r\n\f\v]+")


@dataclass(slots=True)
class _Open:
    """A bracket that is not closed yet, and where in the text it is."""

    at: int
    label: str = ""
    word: str | None = None
    children: list[Tree] = field(default_factory=list)


def raw_trees(text: str, path: str = "trees") -> Iterator[Tree]:
    """Yield the trees of a text as they are written, each in a bracket `TOP`.

    Parameters
    ----------
    text : str
    path : str
        Where it is from, for messages.

    Raises
    ------
    UserError
        D630, with `path` and line, for brackets that make no tree; D631 for a tree beyond all bounds.
    """
    open_: list[_Open] = []
    n_words = 0
    try:
        for match in _TOKEN.finditer(text):
            at, token = match.start(), match[0]
            if token == "(":
                if open_ and open_[-1].word is not None:
                    raise _Problem(at, f"a bracket opens behind the word {open_[-1].word[:40]!r}")
                open_.append(_Open(at))
                _bounded(at, "brackets in each other", len(open_), DEEPEST)
            elif token == ")":
                if not open_:
                    raise _Problem(at, "a bracket closes that none opened")
                node = _closed(open_.pop(), at, is_root=not open_)
                if node.word is not None:
                    n_words += 1
                    _bounded(at, "words in a tree", n_words, MOST_WORDS)
                if open_:
                    open_[-1].children.append(node)
                else:
                    n_words = 0
                    yield node
            elif not open_:
                raise _Problem(at, f"{token[:40]!r} stands outside of all brackets")
            else:
                _bounded(at, "characters in a word", len(token), LONGEST)
                _named(open_[-1], token, at)
        if open_:
            raise _Problem(open_[-1].at, "the bracket that opens here is never closed")
    except _Problem as problem:
        line = 1 + text.count("\n", 0, problem.at)
        if problem.most:
            raise UserError("D631", path=path, line=line, what=problem.said, most=problem.most) from None
        raise UserError("D630", path=path, line=line, problem=problem.said) from None


class _Problem(Exception):
    """What is wrong, and where: lines are counted only if something is."""

    def __init__(self, at: int, said: str, most: int = 0) -> None:
        super().__init__(said)
        self.at, self.said, self.most = at, said, most


def _bounded(at: int, what: str, seen: int, most: int) -> None:
    if seen > most:
        raise _Problem(at, what, most)


def _named(node: _Open, token: str, at: int) -> None:
    """Take a token as the label or the word of what is open."""
    if node.children or node.word is not None:
        raise _Problem(at, f"{token[:40]!r} stands behind what ({node.label[:40]} already has")
    if node.label:
        node.word = token
    else:
        node.label = token


def _closed(node: _Open, at: int, *, is_root: bool) -> Tree:
    """Return the tree of a bracket that is being closed."""
    if node.word is None and not node.children:
        raise _Problem(at, f"there is nothing in ({node.label[:40]}")
    if not is_root:
        if not node.label:
            raise _Problem(node.at, "a bracket in a tree has no label")
        return Tree(node.label, tuple(node.children), node.word)
    if node.word is None and node.label in ROOTS:
        return Tree(TOP, tuple(node.children))
    return Tree(TOP, (Tree(node.label, tuple(node.children), node.word),))
