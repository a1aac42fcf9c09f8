"""Drawings of trees: in the terminal, as SVG, and as an HTML page."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from disambig.api.formats import escape, page_head

from ..treebank.tree import Tree, TreeNodes, below_top, fold_tree, format_indented, unescape_word


@dataclass(frozen=True, slots=True)
class TreeLayout:
    """A tree's nodes in preorder, with their positions."""

    nodes: TreeNodes
    centres: list[float]  # horizontal centre of each node, from the left
    levels: list[int]  # 0 for words and their tags
    width: float  # total width

    @classmethod
    def from_tree(cls, tree: Tree, width: Callable[[Tree], float], gap: float) -> TreeLayout:
        """Return the layout of a tree.

        `width` returns the width of a node itself; `gap` is the distance between two words.
        """
        nodes = TreeNodes.from_tree(tree)
        n = len(nodes.nodes)
        # width of each subtree, centre of the node in it, level, and left edge in the subtree of the parent
        widths, centres, levels, lefts = [0.0] * n, [0.0] * n, [0] * n, [0.0] * n
        for i in range(n - 1, -1, -1):  # in preorder, children come after their parents
            node = width(nodes.nodes[i])
            below, at = nodes.children[i], 0.0
            if not below:
                widths[i], centres[i] = node, node / 2
                continue
            for child in below:
                lefts[child] = at
                at += widths[child] + gap
            first, last = below[0], below[-1]
            centre = (lefts[first] + centres[first] + lefts[last] + centres[last]) / 2
            shift = max(0.0, node / 2 - centre)  # a label that is wider than its subtree
            for child in below:
                lefts[child] += shift
            centres[i] = centre + shift
            widths[i] = max(at - gap + shift, centres[i] + node / 2)
            levels[i] = 1 + max(levels[child] for child in below)
        for i in range(1, n):
            lefts[i] += lefts[nodes.parents[i]]
        middles = [left + centre for left, centre in zip(lefts, centres, strict=True)]
        return cls(nodes, middles, levels, widths[0])


ROW, TAGS, EDGE, MARGIN, GAP = 46.0, 34.0, 24.0, 14.0, 16.0
"""Sizes in pixels: height of a level and of the row of words, bend of a line, margin, gap between words."""
_LABEL, _WORD = 12.5, 15.0
"""Font sizes."""
KINDS = {
    "noun": ("NP", "NX", "QP", "NML", "WHNP", "NAC"),
    "verb": ("VP",),
    "clause": ("S", "SBAR", "SQ", "SINV", "SBARQ", "RRC"),
    "preposition": ("PP", "WHPP", "PRT"),
    "modifier": ("ADJP", "ADVP", "WHADVP", "WHADJP", "CONJP", "PRN"),
}
"""Labels with the same colour."""
_KIND = {label: kind for kind, labels in KINDS.items() for label in labels}
_NARROW, _WIDE = frozenset("ijltfrI.,:;'`!|()[]/ -"), frozenset("mwMW@%")


def svg(tree: Tree, words: Sequence[str] | None = None) -> str:
    """Return the SVG drawing of a tree.

    `words` is the text to show for each word; by default the words without treebank escapes.
    """
    shown = iter(map(unescape_word, tree.words()) if words is None else words)
    tree = fold_tree(  # show the given words, and make each node a separate object
        tree,
        lambda node, children: Tree(
            node.label, tuple(children), None if node.word is None else " ".join(next(shown).split()) or " "
        ),
    )
    layout = TreeLayout.from_tree(tree, _width, GAP)
    top = layout.levels[0]
    nodes = layout.nodes.nodes
    xs = [MARGIN + centre for centre in layout.centres]
    ys = [MARGIN + ROW * (top - level) + 9 for level in layout.levels]
    lines, labels, texts = [], [], []
    for i, node in enumerate(nodes):
        parent = layout.nodes.parents[i]
        if parent >= 0:
            lines.append(_line(xs[parent], ys[parent] + 10, xs[i], ys[i] - 11))
        kind = "tag" if node.word is not None else _KIND.get(node.label.partition("-")[0], "other")
        labels.append(_label(xs[i], ys[i], node.label, kind))
        if node.word is not None:
            texts.append(_text(xs[i], ys[i] + TAGS - 8, node.word, "word"))
    width, height = layout.width + 2 * MARGIN, 2 * MARGIN + ROW * top + TAGS + 10
    label = escape(" ".join(node.word or "" for node in nodes if node.word is not None))
    return (
        f'<svg role="img" aria-label="{label}" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" xmlns="http://www.w3.org/2000/svg">\n'
        f'<path class="lines" d="{"".join(lines)}"/>\n{"".join(labels)}\n{"".join(texts)}\n</svg>'
    )


def _line(x: float, y: float, to_x: float, to_y: float) -> str:
    """Return a line that bends to its child's column at once and then goes straight down."""
    if abs(x - to_x) < 0.5:
        return f"M{x:.1f} {y:.1f}V{to_y:.1f}"
    bend = min(y + EDGE, to_y)
    middle = (y + bend) / 2
    return f"M{x:.1f} {y:.1f}C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {bend:.1f}V{to_y:.1f}"


def _label(x: float, y: float, label: str, kind: str) -> str:
    width = _advance(label, _LABEL) + 12
    if kind == "tag":
        return _text(x, y + 4, label, "tag")
    return (
        f'<rect class="k {kind}" x="{x - width / 2:.1f}" y="{y - 10:.1f}" width="{width:.1f}" height="20" '
        f'rx="5"/>{_text(x, y + 4.5, label, "label")}'
    )


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _width(node: Tree) -> float:
    return max(_advance(node.label, _LABEL) + 12, _advance(node.word or "", _WORD))


def _advance(text: str, size: float) -> float:
    """Return an approximate text width; the viewer's fonts are unknown."""
    return size * sum(map(_relative_width, text))


def _relative_width(sign: str) -> float:
    """Return the width of a character as a share of the font size."""
    if unicodedata.category(sign) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(sign) in "WF":
        return 1.05
    if sign in _NARROW:
        return 0.36
    return 0.9 if sign in _WIDE else 0.72 if sign.isupper() else 0.58


_NAMES = {
    "noun": "noun phrase",
    "verb": "verb phrase",
    "clause": "clause",
    "preposition": "prepositional phrase",
    "modifier": "adjective, adverb and the like",
}


def html_head(title: str, *, language: str = "en") -> str:
    """Return the page up to the first sentence."""
    key = "".join(f'<li class="{kind}">{_NAMES[kind]}</li>' for kind in KINDS)
    head = page_head(escape(title), Path(__file__).with_name("page.css"), language=language)
    return f"""{head}
<body>
<header lang="en">
<h1>{escape(title)}</h1>
<ul class="key">{key}</ul>
</header>
<main>
"""


def html_section(
    number: int,
    sentence: str,
    trees: Sequence[Tree],
    *,
    words: Sequence[str] | None = None,
    notes: Sequence[str] = (),
    is_flat: bool = False,
) -> str:
    """Return the HTML of a sentence and its trees.

    `words` is the text to show for each word, and `notes` has a line above each tree, for example its score.
    With `is_flat` there is no parse, and no drawing.
    """
    parts = [
        f'<section id="s{number}">\n<h2 dir="auto"><span class="n">{number}</span>{escape(sentence)}</h2>\n'
    ]
    for i, tree in enumerate(trees):
        if i < len(notes):
            parts.append(f'<p class="score" lang="en">{escape(notes[i])}</p>\n')
        if is_flat:
            continue
        drawn = below_top(tree)
        plain = escape(format_indented(tree))
        brackets = f'<details lang="en"><summary>brackets</summary><pre>{plain}</pre></details>'
        parts.append(f'<div class="picture">{svg(drawn, words)}</div>\n{brackets}\n')
    return "".join(parts) + "</section>\n"


def html_foot() -> str:
    """Return the end of the page."""
    return "</main>\n</body>\n</html>\n"


_PICTURES = {**{code: chr(0x2400 + code) for code in range(32)}, 0x7F: "\N{SYMBOL FOR DELETE}"}
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def draw_tree(tree: Tree, *, width: int = 100, words: Sequence[str] | None = None) -> str:
    """Return a drawing of a tree as lines of text, each with a line end.

    A tree that is wider than `width` columns is drawn as an outline. `words` is the text to show for each
    word; by default the words without treebank escapes.
    """
    shown = [visible(word) for word in (map(unescape_word, tree.words()) if words is None else words)]
    shown = [word or "\N{WHITE SQUARE}" for word in shown]
    if sum(columns(word) + 1 for word in shown) <= width + 1:
        grid = _grid(tree, shown)
        if all(len(row) <= width for row in grid):
            return "".join("".join(row).rstrip() + "\n" for row in grid)
    return _outline(tree, shown)


def visible(text: str) -> str:
    """Return a text on one line, without control characters and changes of text direction."""
    plain = " ".join(text.split()).translate(_PICTURES)
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(sign) in _UNSEEN else sign for sign in plain
    )


def columns(text: str) -> int:
    """Return the number of terminal columns of a text."""
    return sum(_columns(sign) for sign in text)


def _columns(sign: str) -> int:
    if unicodedata.category(sign) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def _grid(tree: Tree, words: Sequence[str]) -> list[list[str]]:
    """Return rows of cells, one per terminal column; the second cell of a wide character is empty."""
    word_of_leaf = dict(zip(map(id, tree.leaves()), words, strict=True))

    def width(node: Tree) -> float:
        return float(max(columns(visible(node.label)), columns(word_of_leaf.get(id(node), ""))))

    if len(word_of_leaf) < len(words):  # one object may occur at several places in the tree
        copy = fold_tree(tree, lambda node, children: Tree(node.label, tuple(children), node.word))
        return _grid(copy, words)
    layout = TreeLayout.from_tree(tree, width, 2.0)
    top = layout.levels[0]
    rows = [[" "] * (int(layout.width) + 2) for _ in range(2 * top + 2)]
    places = [int(centre) for centre in layout.centres]
    for i, node in enumerate(layout.nodes.nodes):
        row = 2 * (top - layout.levels[i])
        _put(rows[row], places[i], visible(node.label))
        if node.word is not None:
            _put(rows[row + 1], places[i], word_of_leaf[id(node)])
            continue
        below = layout.nodes.children[i]
        _branch(rows[row + 1], places[i], [places[child] for child in below])
        for child in below:
            for line in range(row + 2, 2 * (top - layout.levels[child])):
                rows[line][places[child]] = "\N{BOX DRAWINGS LIGHT VERTICAL}"
    for cells in rows:
        while cells and cells[-1] == " ":
            cells.pop()
    return rows


def _put(row: list[str], centre: int, text: str) -> None:
    at = centre - columns(text) // 2
    for sign in text:
        wide = _columns(sign)
        if wide == 0:  # belongs to the preceding character
            row[max(at - 1, 0)] += sign
            continue
        row[at] = sign
        if wide == 2:
            row[at + 1] = ""
        at += wide


def _branch(row: list[str], parent: int, children: Sequence[int]) -> None:
    """Draw the horizontal line below a node, from which its children hang."""
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
    """Return a tree as an outline, one constituent per line, each below its parent."""
    lines: list[str] = []
    number = iter(words)
    open_: list[tuple[Tree, str, str]] = [(tree, "", "")]
    while open_:
        node, before, behind = open_.pop()
        line = visible(node.label) + ("" if node.word is None else "  " + next(number))
        lines.append(before + line + "\n")
        last = len(node.children) - 1
        for i in range(last, -1, -1):
            branch, below = ("└─ ", "   ") if i == last else ("├─ ", "│  ")
            open_.append((node.children[i], behind + branch, behind + below))
    return "".join(lines)
