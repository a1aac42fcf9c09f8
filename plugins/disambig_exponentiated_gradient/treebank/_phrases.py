"""Phrases while a tree is built from dependencies: gaps, auxiliary phrases, places of punctuation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .tree import escape_word

_COLONS = frozenset(
    {";", ":", "--", "-", "---", "...", "....", "\N{EN DASH}", "\N{EM DASH}", "\N{HORIZONTAL ELLIPSIS}"}
)
_QUOTE_SIGNS = frozenset(
    {'"', "``", "''", "\N{LEFT DOUBLE QUOTATION MARK}", "\N{RIGHT DOUBLE QUOTATION MARK}"}
)
PUNCTUATION = frozenset({",", ".", ":", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP"})
"""Tags of punctuation."""


@dataclass(slots=True)
class TreePhrase:
    """A constituent that is being built: a label, and phrases and words (indices) in order."""

    label: str
    children: list[TreePhrase | int] = field(default_factory=list)

    @property
    def start(self) -> int:
        """Index of the first word."""
        first = self.children[0]
        return first if isinstance(first, int) else first.start

    @property
    def end(self) -> int:
        """Index of the last word."""
        last = self.children[-1]
        return last if isinstance(last, int) else last.end


PhraseItem = TreePhrase | int
"""A phrase, or the index of a word that has no phrase of its own."""


def first_word(item: PhraseItem) -> int:
    """Return the index of the first word."""
    return item if isinstance(item, int) else item.start


def last_word(item: PhraseItem) -> int:
    """Return the index of the last word."""
    return item if isinstance(item, int) else item.end


def item_label(item: PhraseItem) -> str:
    """Return the label of a phrase, empty for a word."""
    return "" if isinstance(item, int) else item.label


def list_words(item: PhraseItem) -> list[int]:
    """Return the words of a phrase in order."""
    if isinstance(item, int):
        return [item]
    return [word for child in item.children for word in list_words(child)]


def close_gaps(root: TreePhrase, rank: dict[int, int]) -> TreePhrase:
    """Return a phrase without gaps: what stands after foreign words moves up until there are none.

    Shared dependents of conjuncts can leave a gap. The longest run of a phrase keeps its label.
    """

    def close(node: TreePhrase) -> list[PhraseItem]:
        children: list[PhraseItem] = []
        for child in node.children:
            children += [child] if isinstance(child, int) else close(child)
        children.sort(key=first_word)
        runs: list[list[PhraseItem]] = [[]]
        for child in children:
            if runs[-1] and rank[first_word(child)] != rank[last_word(runs[-1][-1])] + 1:
                runs.append([])
            runs[-1].append(child)
        longest = max(runs, key=lambda run: rank[last_word(run[-1])] - rank[first_word(run[0])])
        whole: list[PhraseItem] = []
        for run in runs:
            whole += [TreePhrase(node.label, run)] if run is longest else run
        return whole

    items = close(root)
    if len(items) == 1 and isinstance(items[0], TreePhrase):
        return items[0]
    return TreePhrase(root.label, items)  # pragma: no cover - the root has all words


_CLAUSES = frozenset({"S", "SQ", "SBARQ", "SINV", "FRAG", "SBAR", "INTJ"})
_SPLICED = frozenset({"X-FLAT", "PRED", "VP-SPLIT"})
"""Labels of auxiliary phrases, whose children belong to the phrase above."""


def tidy_phrase(node: TreePhrase) -> None:
    """Remove auxiliary phrases, and phrases with no other child than one of the same label."""
    children: list[PhraseItem] = []
    for child in node.children:
        if isinstance(child, int):
            children.append(child)
            continue
        tidy_phrase(child)
        children += child.children if child.label in _SPLICED else [child]
    node.children = children
    if node.label == "S-LIST":
        node.label = "S"
    only = node.children[0]
    if len(node.children) == 1 and not isinstance(only, int) and only.label == node.label:
        node.children = only.children


def penn_punctuation(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    """Return the tags with semicolons, dashes and ellipses as ``:``, as in the Penn Treebank.

    EWT has ``,`` for many of them; hyphens within words (``HYPH``) and symbols are unchanged.
    """
    changed = {",", ".", ":", "NFP"}
    return [":" if word in _COLONS and tag in changed else tag for word, tag in zip(words, tags, strict=True)]


def spell_word(word: str, tag: str) -> str:
    """Return a word in treebank spelling."""
    if word in _QUOTE_SIGNS and tag in ("``", "''"):
        return tag
    return escape_word(word.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))


@dataclass(slots=True)
class MarkPlacer:
    """Puts punctuation into a phrase that lacks it."""

    root: TreePhrase  # the phrase of all words; it is changed
    tags: Sequence[str]  # tags of all words, with those of the marks
    marks: list[int]  # indices of the marks, in order

    def place(self) -> None:
        """Put pairs of brackets and of quotation marks around what they enclose, then the other marks."""
        for opening, closing in self._pairs():
            self._put_pair(opening, closing)
        for mark in self.marks:
            self._put_mark(mark)

    def _pairs(self) -> list[tuple[int, int]]:
        """Return pairs of brackets and of quotation marks, inner ones first."""
        pairs = []
        for left, right in (("-LRB-", "-RRB-"), ("``", "''")):
            open_: list[int] = []
            for i in self.marks:
                if self.tags[i] == left:
                    open_.append(i)
                elif self.tags[i] == right and open_:
                    pairs.append((open_.pop(), i))
        return pairs

    def _put_pair(self, opening: int, closing: int) -> None:
        """Put a pair of marks around whole constituents, into the same phrase; brackets form PRN.

        If no phrase has only whole children between them, they are put like other marks.
        """
        node = self.root
        while True:
            inside = [
                k
                for k, item in enumerate(node.children)
                if opening < first_word(item) and last_word(item) < closing
            ]
            below = [item for item in node.children if not isinstance(item, int)]
            around = [item for item in below if item.start < opening and item.end > closing]
            partly = [
                item
                for item in below
                if item.start < opening < item.end <= closing or opening <= item.start < closing < item.end
            ]
            if around or (len(partly) == 1 and not inside):
                node = [*around, *partly][0]
                continue
            break
        if partly or not inside:
            return
        is_bracket = self.tags[opening] == "-LRB-"
        first, last = inside[0], inside[-1] + 1
        if is_bracket and not (node is self.root and last - first == len(node.children)):
            node.children[first:last] = [TreePhrase("PRN", [opening, *node.children[first:last], closing])]
        else:
            node.children[first:last] = [opening, *node.children[first:last], closing]
        self.marks = [i for i in self.marks if i not in (opening, closing)]

    def _put_mark(self, mark: int) -> None:
        """Attach a mark to the lowest constituent that contains both words beside it, else to the root.

        A full stop or question mark after a clause that something else follows belongs to that clause.
        """
        node = self.root
        if node.start < mark < node.end:
            while True:
                around = [
                    item
                    for item in node.children
                    if not isinstance(item, int) and item.start < mark < item.end
                ]
                if not around:
                    break
                node = around[0]
        place = sum(first_word(item) < mark for item in node.children)
        before = node.children[place - 1] if place else mark
        is_inside = self.tags[mark] == "." and place < len(node.children)
        if is_inside and not isinstance(before, int) and before.label in _CLAUSES:
            before.children.append(mark)
        else:
            node.children.insert(place, mark)
