"""Heads of constituents, by Collins's rules."""

from __future__ import annotations

import pytest
from disambig_exponentiated_gradient.treebank import Tree, head_child, head_rules, heads
from hypothesis import given
from made_trees import plain_trees, tree_of, trees


@pytest.mark.parametrize(
    ("label", "children", "head"),
    [
        ("S", "NP VP .", 1),
        ("S", "PP , NP VP .", 3),
        ("S", "S , NP VP .", 3),
        ("S", "S CC S", 0),
        ("VP", "MD RB VP", 0),
        ("VP", "TO VP", 0),
        ("VP", "VBD VP CC VP", 0),
        ("VP", "VP CC VP", 0),
        ("NP", "DT JJ NN", 2),
        ("NP", "DT NN NN", 2),
        ("NP", "NP PP", 0),
        ("NP", "NNP NNP POS", 2),
        ("NP", "NN CC NN", 0),
        ("NP", "NP , NP CC NP", 0),
        ("NP", "DT CD", 1),
        ("NP", "$ CD", 0),
        ("NP", "DT JJ", 1),
        ("NP", "DT", 0),
        ("NML", "NN HYPH NN", 2),
        ("PP", "IN NP", 0),
        ("PP", "ADVP IN NP", 1),
        ("PP", "VBG IN NP", 1),
        ("SBAR", "WHNP S", 0),
        ("SBAR", "IN S", 0),
        ("ADJP", "RB JJ", 1),
        ("ADJP", "NP JJ", 1),
        ("ADVP", "RB RB", 1),
        ("QP", "IN CD NNS", 0),
        ("WHNP", "WDT NN", 0),
        ("PRN", "-LRB- NP -RRB-", 0),
        ("FRAG", "NP : NP", 2),
        ("CAPTION", "LST NP .", 1),
        ("TOP", "S .", 0),
        ("UNKNOWN", "A B C", 0),
    ],
)
def test_head_of(label, children, head):
    assert head_child(label, children.split()) == head


def test_every_rule_can_be_read():
    rules = head_rules()
    assert {"NP", "VP", "S", "PP", "NML", "TOP"} <= set(rules)
    assert rules["NML"] == rules["NP"]
    for label, steps in rules.items():
        assert steps, label
        assert all(step.side in ("left", "right", "last") for step in steps)


def test_head_words():
    trees_ = [heads(tree) for tree in plain_trees()]
    assert [each.word for each in trees_][:5] == ["sleeps", "sees", "sing", "know", "is"]
    assert [each.tag for each in trees_][:5] == ["VBZ", "VBZ", "VBP", "VBP", "VBZ"]
    sentence = heads(tree_of("((S (NP (DT the) (NN cat) (POS 's)) (VP (VBZ sleeps))))")).children[0]
    assert (sentence.word, sentence.place, sentence.head) == ("sleeps", 3, 1)
    assert (sentence.children[0].word, sentence.children[0].place) == ("'s", 2)


@given(trees())
def test_the_head_is_that_of_the_head_child(tree):
    words = tree.words()
    open_ = [heads(tree)]
    assert open_[0].tree is tree
    while open_:
        node = open_.pop()
        assert words[node.place] == node.word
        if node.tree.word is not None:
            assert node.head == -1
            continue
        below = node.children[node.head]
        assert (below.place, below.word, below.tag) == (node.place, node.word, node.tag)
        open_ += node.children


@given(trees())
def test_any_labels_have_a_head(tree):
    for node in tree.preorder():
        if node.children:
            assert 0 <= head_child(node.label, [child.label for child in node.children]) < len(node.children)


def test_a_deep_tree_has_a_head():
    tree = Tree("NN", (), "end")
    for _ in range(5000):
        tree = Tree("NP", (tree,))
    assert heads(tree).word == "end"
