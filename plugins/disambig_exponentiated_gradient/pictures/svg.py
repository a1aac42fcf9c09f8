"""A tree as SVG, for a page of HTML: colours are the page's, by class."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from disambig.api.formats import escape
from disambig_exponentiated_gradient.treebank.tree import Tree, folded
from disambig_exponentiated_gradient.treebank.written_words import as_written

from .layout import Layout

ROW, TAGS, EDGE, MARGIN, GAP = 46.0, 34.0, 24.0, 14.0, 16.0
"""Heights of a level and of the words' row, the bend of a line, the margin, the gap between words; pixels."""
_LABEL, _WORD = 12.5, 15.0
"""Sizes of letters."""
KINDS = {
    "noun": ("NP", "NX", "QP", "NML", "WHNP", "NAC"),
    "verb": ("VP",),
    "clause": ("S", "SBAR", "SQ", "SINV", "SBARQ", "RRC"),
    "preposition": ("PP", "WHPP", "PRT"),
    "modifier": ("ADJP", "ADVP", "WHADVP", "WHADJP", "CONJP", "PRN"),
}
"""What labels have a colour in common."""
_KIND = {label: kind for kind, labels in KINDS.items() for label in labels}
_NARROW, _WIDE = frozenset("ijltfrI.,:;'`!|()[]/ -"), frozenset("mwMW@%")


def svg(tree: Tree, words: Sequence[str] | None = None) -> str:
    """Return the picture of a tree.

    Parameters
    ----------
    tree : Tree
    words : sequence of str, optional
        What is shown for each of its words; by default as people write them.
    """
    shown = iter(map(as_written, tree.words()) if words is None else words)
    tree = folded(  # each word as it is shown, each node an object of its own
        tree,
        lambda node, children: Tree(
            node.label, tuple(children), None if node.word is None else " ".join(next(shown).split()) or " "
        ),
    )
    layout = Layout.of(tree, _width, GAP)
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
    said = escape(" ".join(node.word or "" for node in nodes if node.word is not None))
    return (
        f'<svg role="img" aria-label="{said}" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" xmlns="http://www.w3.org/2000/svg">\n'
        f'<path class="lines" d="{"".join(lines)}"/>\n{"".join(labels)}\n{"".join(texts)}\n</svg>'
    )


def _line(x: float, y: float, to_x: float, to_y: float) -> str:
    """Return a line that bends to its child's column at once, and goes straight down there."""
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
    """Return about how wide a text is; the fonts of whoever looks at it are not known."""
    return size * sum(map(_share, text))


def _share(sign: str) -> float:
    if unicodedata.category(sign) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(sign) in "WF":
        return 1.05
    if sign in _NARROW:
        return 0.36
    return 0.9 if sign in _WIDE else 0.72 if sign.isupper() else 0.58
