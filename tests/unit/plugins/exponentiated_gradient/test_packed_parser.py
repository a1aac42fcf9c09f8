"""Packed charts with features and costs, and a parser that learns from them and is saved."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_exponentiated_gradient.grammar import PLAIN, Derivation, TreebankGrammar, TreebankParser
from disambig_exponentiated_gradient.learners import EG
from disambig_exponentiated_gradient.packed_parser import (
    NUMBERS,
    UNIT,
    ChartVocabulary,
    EdgeCosts,
    NamedEdges,
    PackedParser,
    PartFeatures,
    TrainingCharts,
    force_derivations,
    train_packed_parser,
    wrong_labels,
)
from disambig_exponentiated_gradient.treebank import read_trees
from made_trees import parse_tree, plain_trees

from disambig.api.decoding import Hypergraph
from disambig.errors import UserError

MORE = """
(S (NP (PRP we)) (VP (VBP see) (NP (DT the) (NN dog)) (PP (IN in) (NP (DT a) (NN tree)))) (. .))
(S (NP (NNS birds)) (VP (VBP see) (NP (NN sleep))) (. .))
"""
TREES = [*plain_trees(), *map(parse_tree, MORE.strip().splitlines())]


@pytest.fixture(scope="module")
def grammar():
    return TreebankGrammar.from_trees(TREES, PLAIN)


def make_charts(grammar, trees, threshold=0.0):
    """Return charts of the sentences of trees, words' scores and names."""
    sentences = [tree.words() for tree in trees]
    words = grammar.score_words(sentences)
    charts = TreebankParser(grammar, threshold).charts.charts(words)
    return charts, words, sentences


def tree_of_mass(grammar, named, graphs, mass, i):
    """Return the tree of the edges of one chart that have a mass."""
    first, last = graphs.offsets[i : i + 2]
    rows = first + np.flatnonzero(mass[first:last] > 0)
    return grammar.tree(named.sentences[i], Derivation.from_edges(named.edges.take(rows)))


def test_gold_trees_cost_nothing_and_all_others_something(grammar):
    charts, words, sentences = make_charts(grammar, TREES)
    assert charts.sentences.tolist() == list(range(len(TREES)))
    same, rows = force_derivations(grammar, charts, words, [grammar.derivation(tree) for tree in TREES])
    assert len(same.edges) == len(charts.edges) and all(edge_rows is not None for edge_rows in rows)
    named = NamedEdges.from_charts(grammar, charts, sentences)
    gold = EdgeCosts.from_trees(named, grammar.binarisation, TREES, rows)
    assert (gold.missing, gold.wrong_labels) == (0, 0)
    for totals, _ in Hypergraph().top(-gold.cost.astype(float), charts.graphs, 3):
        assert totals[0] == 0.0 and (totals[1:] < 0).all()
    wrong = wrong_labels(named, grammar.binarisation, TREES)  # those that the tree does not have
    for i, edge_rows in enumerate(rows):
        assert not wrong[charts.graphs.offsets[i] + edge_rows].any()
    assert wrong.any()
    for costs in (gold.cost, wrong):
        mass = Hypergraph().best(-costs.astype(float), charts.graphs)
        trees_of_masses = [tree_of_mass(grammar, named, charts.graphs, mass, i) for i in range(len(TREES))]
        assert trees_of_masses == TREES


def test_a_derivation_that_was_pruned_is_put_in_again(grammar):
    charts, words, sentences = make_charts(grammar, TREES)
    keep = Hypergraph().best(charts.scores, charts.graphs) > 0
    graphs, rows = charts.graphs.keep(keep)  # one tree each is left
    same = [getattr(charts, name) for name in ("sentences", "thresholds", "without_parse", "too_large")]
    small = type(charts)(graphs, charts.scores[rows], charts.edges.take(rows), *same)
    others = [second_best(grammar, charts, i) for i in range(len(TREES))]
    assert sum(other is not None for other in others) >= 3
    forced, derivations = force_derivations(grammar, small, words, others)
    assert len(forced.edges) > len(small.edges)
    for i, (derivation, edge_rows) in enumerate(zip(others, derivations, strict=True)):
        if derivation is None:
            assert edge_rows is None
            continue
        first, last = forced.graphs.offsets[i : i + 2]
        edges = forced.edges.take(first + edge_rows)
        expected = grammar.tree(sentences[i], derivation)
        assert grammar.tree(sentences[i], Derivation.from_edges(edges)) == expected
        assert forced.scores[first + edge_rows].sum() == pytest.approx(
            grammar.score(sentences[i], derivation)
        )
        scores = np.full(len(forced.edges), -np.inf)
        scores[first + edge_rows] = 0.0
        one = forced.graphs.take(np.array([i]))
        assert Hypergraph().best(scores[first:last], one).sum() == len(edge_rows)  # it is whole
        best = Hypergraph().top(forced.scores[first:last], one, 1)[0][0][0]
        assert best == pytest.approx(Hypergraph().top(charts.scores, charts.graphs, 1)[i][0][0])


def second_best(grammar, charts, i):
    """Return the second derivation of a chart, or None if it has only one."""
    totals, derivations = Hypergraph().top(charts.scores, charts.graphs, 2)[i]
    return Derivation.from_edges(charts.edges.take(derivations[1])) if len(totals) > 1 else None


def test_a_gold_tree_that_the_grammar_lacks_has_another_in_its_place(grammar):
    tree = parse_tree("(S (NP (DT the) (NN garden)) (X (VBZ sleeps)) (. .))")
    made_charts = TrainingCharts.from_trees(grammar, [tree])
    assert made_charts.gold_missing == 1 and made_charts.wrong_labels >= 1 and len(made_charts) == 1
    assert Hypergraph().top(-made_charts.cost.astype(float), made_charts.graphs, 1)[0][0][0] == 0.0


def test_features_of_edges_do_not_depend_on_their_position(grammar):
    """The same sentence, alone and after another one, has the same features."""
    charts, _, sentences = make_charts(grammar, TREES[:2])
    alone, _, other = make_charts(grammar, TREES[1:2])
    both = PartFeatures.from_edges(NamedEdges.from_charts(grammar, charts, sentences))
    one = PartFeatures.from_edges(NamedEdges.from_charts(grammar, alone, other))
    vocabulary = ChartVocabulary.from_features(both, 1)
    cost = [np.zeros(len(features.edges), np.float32) for features in (charts, alone)]
    second = vocabulary.batch(both, charts.graphs, cost[0]).take(np.array([1]))
    first = vocabulary.batch(one, alone.graphs, cost[1])
    difference = second.rows() - first.rows()
    assert np.abs(difference.toarray()).max() < 1e-6
    weights = np.zeros(len(vocabulary))
    weights[0] = UNIT  # the score of the grammar
    np.testing.assert_allclose(first.scores(weights), alone.scores, rtol=1e-6)


def test_vocabularies_of_charts(grammar):
    charts, _, sentences = make_charts(grammar, TREES)
    features = PartFeatures.from_edges(NamedEdges.from_charts(grammar, charts, sentences))
    sizes = [len(ChartVocabulary.from_features(features, least)) for least in (1, 2, 10**6)]
    assert sizes[0] == len(NUMBERS) + len(np.unique(features.keys)) > sizes[1] > sizes[2] == len(NUMBERS)
    cost = np.zeros(len(charts.edges), np.float32)
    batch = ChartVocabulary.from_features(features, 10**6).batch(features, charts.graphs, cost)
    assert batch.features.shape[1] == len(NUMBERS)
    parts = [TrainingCharts.from_trees(grammar, TREES[:3]), TrainingCharts.from_trees(grammar, TREES[3:])]
    joined = TrainingCharts.concat(parts)
    assert len(joined) == len(TREES) and joined.trees == tuple(TREES)
    vocabulary = ChartVocabulary.from_features(joined.features, 1)
    weights = np.random.default_rng(0).normal(size=len(vocabulary))
    batches = (vocabulary.batch(part.features, part.graphs, part.cost) for part in (*parts, joined))
    scores = [batch.scores(weights) for batch in batches]
    np.testing.assert_allclose(np.concatenate(scores[:2]), scores[2])


def test_charts_of_folds_are_independent_of_their_own_trees():
    """A word that only occurs in one tree is unknown to the grammar that makes the chart of that tree."""
    made_charts = TrainingCharts.held_out(TREES * 3, folds=3)
    whole = TrainingCharts.held_out(TREES * 3, folds=3, longest=4)
    assert len(made_charts) == 3 * len(TREES)
    assert made_charts.gold_missing == 0  # each tree is in the other folds, too
    assert 0 < len(whole) < len(made_charts)
    mixed_ones = [*TREES, *TREES[:3]]  # three that are in another fold, too
    alone = TrainingCharts.held_out(mixed_ones, folds=len(mixed_ones))
    assert len(alone) - alone.gold_missing == 6
    assert alone.gold_missing + alone.without_chart == len(TREES) - 3
    assert len(TrainingCharts.held_out(TREES * 3, folds=3, maximum=5)) == 5


# what the noun phrase after "in" belongs to is for the verb to say: a PCFG of labels cannot see it
PLACES = ("box", "room", "bag", "hall")


def attachments():
    """Return sentences in which only the verb decides the attachment of a prepositional phrase."""
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


def test_saved_and_read_again(learned):
    again = PackedParser.from_state(learned.parser.state())
    sentences = [tree.words() for tree in attachments()]
    assert again.trees(sentences) == learned.parser.trees(sentences)
    np.testing.assert_array_equal(again.weights, learned.parser.weights)
    trees = learned.parser.trees([[], ["we", "put", "a", "zebra", "in", "the", "bag"], ["in", "in", "in"]])
    assert trees[0] is None
    assert trees[1] is not None and trees[1].words()[3] == "zebra"
    by_grammar = TreebankParser(learned.parser.grammar).trees([["in", "in", "in"]])
    assert trees[2] == by_grammar[0]


BROKEN = {
    "keys": [None, np.array([2, 1], np.uint64), np.uint64(1)],
    "weights": [None, np.zeros(1), np.array(["one"])],
    "threshold": [
        *(None, np.zeros(0), np.float64(0.1), np.zeros((1, 1))),
        *(np.array([bad]) for bad in ("one", np.nan, -0.1)),
    ],
}


@pytest.mark.parametrize("name", BROKEN)
def test_invalid_arrays_are_reported(learned, name):
    for value in BROKEN[name]:
        state = {**learned.parser.state(), name: value}
        if value is None:
            del state[name]
        with pytest.raises(UserError, match="D612"):
            PackedParser.from_state(state)


def test_nothing_to_learn_from():
    for trees, settings, code in (
        ([], {}, "D634"),
        (plain_trees(), {"longest": 1}, "D613"),
        (plain_trees(), {"folds": 1}, "D614"),
    ):
        with pytest.raises(UserError, match=code):
            train_packed_parser(trees, EG(decoder=Hypergraph()), **settings)
    with pytest.raises(ValueError, match="columns"):
        vocabulary = ChartVocabulary(np.zeros(0, np.uint64))
        PackedParser(TreebankGrammar.from_trees(plain_trees()), vocabulary, np.zeros(5))
