"""A parser of packed charts learns, is saved, and copes with what it has no chart of."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_exponentiated_gradient.grammar import TreebankGrammar, TreebankParser
from disambig_exponentiated_gradient.learners import EG
from disambig_exponentiated_gradient.packed_parser import ChartVocabulary, PackedParser, train_packed_parser
from disambig_exponentiated_gradient.treebank import read_trees
from made_trees import plain_trees

from disambig.api.decoding import Hypergraph
from disambig.errors import UserError

# what the noun phrase after "in" belongs to is for the verb to say: a PCFG of labels cannot see it
VERBS, PLACES = ("kept", "put"), ("box", "room", "bag", "hall")


def attachments():
    """Return sentences whose verb alone says where a prepositional phrase belongs."""
    text = []
    for place in PLACES:
        for thing in ("book", "pen", "cup", "key"):
            to_verb = f"(VP (VBD put) (NP (DT a) (NN {thing})) (PP (IN in) (NP (DT the) (NN {place}))))"
            to_noun = f"(VP (VBD saw) (NP (NP (DT a) (NN {thing})) (PP (IN in) (NP (DT the) (NN {place})))))"
            text += [f"((S (NP (PRP we)) {phrase}))" for phrase in (to_verb, to_noun)]
    return list(read_trees("\n".join(text)))


@pytest.fixture(scope="module")
def learned():
    return train_packed_parser(attachments(), EG(C=1.0, decoder=Hypergraph()), folds=4, least=1)


def test_it_learns_what_the_grammar_cannot(learned):
    trees = attachments()
    sentences = [tree.words() for tree in trees]
    by_grammar = TreebankParser(TreebankGrammar.from_trees(trees)).trees(sentences)
    assert sum(a == b for a, b in zip(by_grammar, trees, strict=True)) <= len(trees) // 2
    assert learned.parser.trees(sentences) == trees
    report = learned.report
    assert report["charts"] == len(trees) and report["gap"] <= 0.05 and report["gold_missing"] == 0


@pytest.mark.parametrize("loss", ["cost", "log"])
def test_both_losses_learn(loss):
    trees = attachments()
    found = train_packed_parser(trees, EG(C=1.0, loss=loss, decoder=Hypergraph()), folds=4, least=1).parser
    assert found.trees([tree.words() for tree in trees]) == trees


def test_saved_and_read_again(learned):
    again = PackedParser.from_state(learned.parser.state())
    sentences = [tree.words() for tree in attachments()]
    assert again.trees(sentences) == learned.parser.trees(sentences)
    np.testing.assert_array_equal(again.weights, learned.parser.weights)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("keys", None),
        ("keys", np.array([2, 1], np.uint64)),
        ("keys", np.uint64(1)),
        ("weights", np.zeros(1)),
        ("weights", np.array(["one"])),
        ("weights", None),
        ("threshold", None),
        ("threshold", np.zeros(0)),
        ("threshold", np.float64(0.1)),
        ("threshold", np.zeros((1, 1))),
        ("threshold", np.array(["one"])),
        ("threshold", np.array([np.nan])),
        ("threshold", np.array([-0.1])),
    ],
)
def test_broken_arrays_are_said(learned, name, value):
    state = dict(learned.parser.state())
    if value is None:
        del state[name]
    else:
        state[name] = value
    with pytest.raises(UserError, match="D612"):
        PackedParser.from_state(state)


def test_sentences_without_a_chart(learned):
    found = learned.parser.trees([[], ["we", "put", "a", "zebra", "in", "the", "bag"], ["in", "in", "in"]])
    assert found[0] is None
    assert found[1] is not None and found[1].words()[3] == "zebra"
    by_grammar = TreebankParser(learned.parser.grammar).trees([["in", "in", "in"]])
    assert found[2] == by_grammar[0]


def test_nothing_to_learn_from():
    with pytest.raises(UserError, match="D634"):
        train_packed_parser([], EG(decoder=Hypergraph()))
    with pytest.raises(UserError, match="D613"):
        train_packed_parser(plain_trees(), EG(decoder=Hypergraph()), longest=1)
    with pytest.raises(UserError, match="D614"):
        train_packed_parser(plain_trees(), EG(decoder=Hypergraph()), folds=1)


def test_weights_fit_the_columns():
    with pytest.raises(ValueError, match="columns"):
        PackedParser(
            TreebankGrammar.from_trees(plain_trees()), ChartVocabulary(np.zeros(0, np.uint64)), np.zeros(5)
        )
