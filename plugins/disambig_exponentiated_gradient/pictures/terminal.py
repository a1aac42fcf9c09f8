"""A tree in the terminal: from the top down where it is not too wide, else as an outline."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from disambig_exponentiated_gradient.treebank.tree import Tree
from disambig_exponentiated_gradient.treebank.written_words import as_written

from .layout import Layout

_PICTURES = {**{code: chr(0x2400 + code) for code in range(32)}, 0x7F: "\N{SYMBOL FOR DELETE}"}
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def drawn(tree: Tree, *, width: int = 100, words: Sequence[str] | None = None) -> str:
    """Return a picture of a tree in lines of text, each ended.

    Parameters
    ----------
    tree : Tree
    width : int
        Columns that there are: a wider tree becomes an outline.
    words : sequence of str, optional
        What is shown for each of its words; by default as people write them.
    """
    shown = [visible(word) for word in (map(as_written, tree.words()) if words is None else words)]
    shown = [word or "\N{WHITE SQUARE}" for word in shown]
    if sum(columns(word) + 1 for word in shown) <= width + 1:
        grid = _grid(tree, shown)
        if all(len(row) <= width for row in grid):
            return "".join("".join(row).rstrip() + "\n" for row in grid)
    return _outline(tree, shown)


def visible(text: str) -> str:
    """Return a text on one line, without what moves the cursor or turns what follows round."""
    plain = " ".join(text.split()).translate(_PICTURES)
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(sign) in _UNSEEN else sign for sign in plain
    )


def columns(text: str) -> int:
    """Return how many columns a text takes in a terminal."""
    return sum(_columns(sign) for sign in text)


def _columns(sign: str) -> int:
    if unicodedata.category(sign) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def _grid(tree: Tree, words: Sequence[str]) -> list[list[str]]:
    """Return rows of cells, one a column of the terminal; the second one of a wide sign is empty."""
    of_leaf = dict(zip(map(id, tree.leaves()), words, strict=True))

    def width_of(node: Tree) -> float:
        return float(max(columns(visible(node.label)), columns(of_leaf.get(id(node), ""))))

    if len(of_leaf) < len(words):  # one object stands in several places of the tree
        return _grid(_apart(tree), words)
    layout = Layout.of(tree, width_of, 2.0)
    top = layout.levels[0]
    rows = [[" "] * (int(layout.width) + 2) for _ in range(2 * top + 2)]
    places = [int(centre) for centre in layout.centres]
    for i, node in enumerate(layout.nodes.nodes):
        row = 2 * (top - layout.levels[i])
        _put(rows[row], places[i], visible(node.label))
        if node.word is not None:
            _put(rows[row + 1], places[i], of_leaf[id(node)])
            continue
        below = layout.children[i]
        _branch(rows[row + 1], places[i], [places[child] for child in below])
        for child in below:
            for line in range(row + 2, 2 * (top - layout.levels[child])):
                rows[line][places[child]] = "\N{BOX DRAWINGS LIGHT VERTICAL}"
    for row_of in rows:
        while row_of and row_of[-1] == " ":
            row_of.pop()
    return rows


def _apart(tree: Tree) -> Tree:
    """Return a tree equal to this, in which every node is an object of its own."""
    from disambig_exponentiated_gradient.treebank.tree import folded

    return folded(tree, lambda node, children: Tree(node.label, tuple(children), node.word))


def _put(row: list[str], centre: int, text: str) -> None:
    at = centre - columns(text) // 2
    for sign in text:
        wide = _columns(sign)
        if wide == 0:  # belongs to the sign before
            row[max(at - 1, 0)] += sign
            continue
        row[at] = sign
        if wide == 2:
            row[at + 1] = ""
        at += wide


def _branch(row: list[str], parent: int, children: Sequence[int]) -> None:
    """Draw the line below a node from which its children hang."""
    first, last = children[0], children[-1]
    if first == last:
        row[first] = "│"
        return
    for at in range(first, last + 1):
        row[at] = "─"
    for child in children:
        row[child] = "┬"
    row[first], row[last] = "┌", "┐"
    row[parent] = {"─": "┴", "┬": "┼", "┌": "├", "┐": "┤"}[row[parent]]


def _outline(tree: Tree, words: Sequence[str]) -> str:
    """Return a tree with a constituent a line, each below its parent."""
    lines: list[str] = []
    number = iter(words)
    open_: list[tuple[Tree, str, str]] = [(tree, "", "")]
    while open_:
        node, before, behind = open_.pop()
        said = visible(node.label) + ("" if node.word is None else "  " + next(number))
        lines.append(before + said + "\n")
        last = len(node.children) - 1
        for i in range(last, -1, -1):
            here, below = ("└─ ", "   ") if i == last else ("├─ ", "│  ")
            open_.append((node.children[i], behind + here, behind + below))
    return "".join(lines)
