"""The two treebanks of the experiments: every tree is read and comes back, parses are as measured."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from disambig_exponentiated_gradient.grammar import TreebankGrammar, TreebankParser
from disambig_exponentiated_gradient.treebank import (
    Binarisation,
    Parseval,
    craft_articles,
    filter_by_length,
    format_indented,
    format_one_line,
    heads,
    penn_sections,
    penn_split,
    read_trees,
    restore_tree,
)

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def data():
    folder = os.environ.get("DISAMBIG_DATA")
    if not folder:
        pytest.skip("DISAMBIG_DATA is not set")
    return Path(folder)


def check(trees, settings):
    """Hold what must hold of every tree of a treebank."""
    for tree in trees:
        assert list(read_trees(format_one_line(tree))) == [tree]
        assert restore_tree(settings(tree)) == tree
        assert heads(tree).word in tree.words()
        for node in tree.preorder():
            assert "-NONE-" not in (node.label, node.word)
            assert node.label == node.label.strip("=0123456789")
    assert list(read_trees("\n".join(map(format_indented, trees)))) == list(trees)
    figures = Parseval.from_trees(trees, trees)
    assert (figures.f1, figures.exact, figures.tagging, figures.crossing.sum()) == (1.0, 1.0, 1.0, 0)


@pytest.mark.slow
def test_penn(data):
    sections = penn_sections(data)
    assert {section: len(files) for section, files in sections.items()} == {"00": 99, "01": 100}
    trees = [tree for files in sections.values() for file in files.values() for tree in file]
    assert len(trees) == 3914
    assert sum(len(tree.words()) for tree in trees) == 94084
    check(trees, Binarisation(2, 3))


@pytest.mark.slow
def test_craft(data):
    articles = craft_articles(data)
    assert len(articles) == 97
    trees = [tree for article in articles.values() for tree in article]
    assert len(trees) == 30830
    check(trees[::5], Binarisation())


@pytest.mark.slow
def test_pcfg_of_one_section(data):
    """A grammar that is broken loses much more than what lies between this and what was measured."""
    split = penn_split(data)
    test = filter_by_length(split.test)[::4]
    parser = TreebankParser(TreebankGrammar.from_trees([*split.train, *split.dev]))
    parses = parser.parses([tree.words() for tree in test])
    figures = Parseval.from_trees(test, [parse.best for parse in parses])
    assert figures.f1 > 0.74
    assert figures.tagging > 0.91
    assert figures.failed.sum() == 0
    for tree in test[:20]:
        derivation = parser.grammar.derivation(tree)
        assert derivation is None or parser.grammar.tree(tree.words(), derivation) == tree
