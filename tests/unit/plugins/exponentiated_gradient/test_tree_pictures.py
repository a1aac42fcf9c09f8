"""Pictures of trees: nothing crosses, nothing is lost, nothing in a text becomes markup."""

from __future__ import annotations

import re
import xml.etree.ElementTree as xml
from itertools import pairwise

import pytest
from disambig_exponentiated_gradient.parser import (
    TreeLayout,
    columns,
    draw_tree,
    html_page,
    html_section,
    svg,
)
from disambig_exponentiated_gradient.treebank import Tree, read_trees
from hypothesis import given, strategies as st

SMALL = next(read_trees("(S (NP (DT The) (NN cat)) (VP (VBD saw) (NP (PRP me))) (. .))")).children[0]
LABELS = st.sampled_from(["NP", "VP", "S", "A-VERY-LONG-LABEL", "X"])
WORDS = st.sampled_from(["a", "word", "\u732b\u304c", "e\u0301te\u0301", "incomprehensibilities"])
LEAVES = st.builds(lambda tag, word: Tree(tag, (), word), LABELS, WORDS)
TREES = st.recursive(
    LEAVES,
    lambda below: st.builds(Tree, LABELS, st.lists(below, min_size=1, max_size=4).map(tuple)),
    max_leaves=12,
)


def test_small_and_deep_trees_are_drawn():
    assert draw_tree(SMALL, width=40) == (
        "            S\n"
        "    ┌───────┴─┬─────┐\n"
        "    │        VP     │\n"
        "    │      ┌──┴─┐   │\n"
        "   NP      │   NP   │\n"
        " ┌──┴─┐    │    │   │\n"
        "DT   NN   VBD  PRP  .\n"
        "The  cat  saw  me   .\n"
    )
    assert draw_tree(SMALL, width=10) == (
        "S\n├─ NP\n│  ├─ DT  The\n│  └─ NN  cat\n├─ VP\n│  ├─ VBD  saw\n│  └─ NP\n│     └─ PRP  me\n└─ .  .\n"
    )
    tree = Tree("NN", (), "end")
    for _ in range(400):
        tree = Tree("X", (tree,))
    assert draw_tree(tree).count("X") == 400
    assert svg(tree).count(">X<") == 400


@given(TREES)
def test_nothing_stands_over_words_of_another(tree):
    layout = TreeLayout.from_tree(tree, lambda node: float(max(len(node.label), len(node.word or ""))), 2.0)
    nodes = layout.nodes
    for level in set(layout.levels):
        row = [i for i in range(len(nodes.nodes)) if layout.levels[i] == level]
        spans = sorted((layout.centres[i] - len(nodes.nodes[i].label) / 2, nodes.nodes[i].label) for i in row)
        for (left, label), (right, _) in pairwise(spans):
            assert left + len(label) < right
    for i, parent in enumerate(nodes.parents):
        assert parent < 0 or layout.levels[parent] > layout.levels[i]
        assert 0 <= layout.centres[i] <= layout.width


@given(TREES)
def test_every_label_and_word_is_drawn(tree):
    wide, narrow = draw_tree(tree, width=10_000), draw_tree(tree, width=20)
    for text in (wide, narrow):
        for node in tree.preorder():
            assert node.label in text and (node.word or "") in text
    assert all(columns(line) <= 10_000 for line in wide.splitlines())
    last = wide.splitlines()[-1] if tree.children else None
    assert last is None or last.split() == tree.words()


@given(TREES)
def test_svg_is_well_formed_and_has_every_word(tree):
    root = xml.fromstring(svg(tree))
    texts = [
        each.text for each in root.iter("{http://www.w3.org/2000/svg}text") if each.get("class") == "word"
    ]
    assert texts == tree.words()


HOSTILE = [
    "<script>alert(1)</script>",
    '"onload="x',
    "&amp;",
    "a\x00b\x1b[31m",
    "\u202eevil",
    "'",
    "]]>",
    "\ud800",
]


@pytest.mark.parametrize("word", HOSTILE)
def test_nothing_in_a_text_becomes_markup(word):
    tree = Tree("<i>", (Tree("&", (), word), Tree("NN", (), "x")))
    made = html_page(f"About {word}", [html_section(1, word, [tree], words=[word, "x"], notes=[word])])
    made.encode("utf8")
    body = made.partition("<body>")[2]
    assert "<script" not in body and "<i>" not in body and 'onload="' not in body
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", made)
    assert not re.search(r"""(?:src|href)=|@import|url\(""", made), "nothing is loaded from elsewhere"
    assert "default-src 'none'" in made and "prefers-color-scheme:dark" in made
    text = draw_tree(tree, words=[word, "x"])
    assert "\x1b" not in text and "\x00" not in text and "\u202e" not in text and "\ud800" not in text
