"""Charts compared with all parses, with and without pruning, and sentences without a parse."""

from __future__ import annotations

import numpy as np
import pytest
from brute_force import nest_edges, parses, random_grammar, random_words, with_coarser
from hypothesis import given, settings, strategies as st

from disambig.decode import (
    COUNT,
    BinaryGrammar,
    ChartEdges,
    ChartParser,
    Charts,
    Hypergraph,
    WordScores,
    totals,
)
from disambig.errors import UserError

DECODER = Hypergraph()
LEXICAL, BINARY, UNARY, SELF = ChartEdges.LEXICAL, ChartEdges.BINARY, ChartEdges.UNARY, ChartEdges.SELF
MOST = 3000


@st.composite
def problems(draw):
    """Draw a grammar with a coarser one, and sentences with few enough parses."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(1, 5))
    coarse = np.minimum(rng.integers(0, 3, n), np.arange(n))
    coarse = np.unique(coarse, return_inverse=True)[1]
    rules = {"binary": draw(st.integers(0, 9)), "unary": draw(st.integers(0, 4))}
    grammar = random_grammar(rng, n=n, **rules, coarse=coarse)
    sentences = [random_words(rng, grammar, int(rng.integers(1, 5))) for _ in range(draw(st.integers(0, 3)))]
    listed = [parses(grammar, words) for words in sentences]
    few = [i for i, result in enumerate(listed) if len(result) <= MOST]
    return grammar, [sentences[i] for i in few], [listed[i] for i in few]


@given(problems())
@settings(deadline=None, max_examples=50)
def test_a_chart_has_all_parses_and_no_others(problem):
    grammar, sentences, listed = problem
    charts = Charts.parse(grammar, sentences, threshold=0.0)
    assert charts.sentences.tolist() == [i for i, result in enumerate(listed) if result]
    assert charts.without_parse.tolist() == [i for i, result in enumerate(listed) if not result]
    counts = totals(charts.graphs, [1] * len(charts.scores), COUNT)
    assert counts == [len(result) for result in listed if result]
    top = DECODER.top(charts.scores, charts.graphs, MOST)
    for (scores, derivations), result in zip(top, filter(None, listed), strict=True):
        assert scores == pytest.approx([score for score, _ in result])
        assert {nest_edges(charts.edges.take(rows)) for rows in derivations} == {tree for _, tree in result}
    if len(charts):
        mass, partition = DECODER.marginals(charts.scores, charts.graphs)
        assert mass.min() > 0
        sums = [np.logaddexp.reduce([score for score, _ in result]) for result in listed if result]
        assert partition == pytest.approx(sums)


@given(problems())
@settings(deadline=None, max_examples=40)
def test_the_best_parse_is_that_of_the_chart(problem):
    grammar, sentences, listed = problem
    for parse, result in zip(ChartParser(grammar, threshold=0.0).best(sentences), listed, strict=True):
        assert (parse is None) == (not result)
        if parse is not None:
            assert parse.score == pytest.approx(result[0][0])
            assert any(
                tree == nest_edges(parse.edges) for score, tree in result if score > result[0][0] - 1e-9
            )


def coarse_posteriors(grammar, words):
    """Return the posteriors of (layer, start, end, symbol) in the coarser grammar, by brute force."""
    best = {}
    for place, symbol, score in zip(words.positions, words.symbols, words.scores, strict=True):
        key = int(place), int(grammar.coarse[symbol])
        best[key] = max(float(score), best.get(key, -np.inf))
    keys = np.array(list(best), np.int32).reshape(-1, 2)
    coarse = WordScores(words.length, keys[:, 0], keys[:, 1], np.array(list(best.values())))
    sums = {}
    listed = parses(grammar.coarser, coarse)
    partition = np.logaddexp.reduce([score for score, _ in listed]) if listed else -np.inf
    chart = Charts.parse(grammar.coarser, [coarse])
    if listed:
        mass, partitions = DECODER.marginals(chart.scores, chart.graphs)
        assert partitions == pytest.approx([partition])
        edges = chart.edges
        for row, share in enumerate(mass):
            layer = "above" if edges.kinds[row] in (SELF, UNARY) else "below"
            key = layer, int(edges.starts[row]), int(edges.ends[row]), int(edges.symbols[row])
            sums[key] = sums.get(key, 0.0) + share
    return sums


@given(problems(), st.sampled_from([1e-300, 1e-3, 0.05, 0.3]))
@settings(deadline=None, max_examples=50)
def test_pruning_leaves_what_is_likely_in_the_coarser_grammar(problem, threshold):
    grammar, sentences, _ = problem
    everything = Charts.parse(grammar, sentences, threshold=0.0)
    charts = Charts.parse(grammar, sentences, threshold=threshold)
    assert charts.sentences.tolist() == everything.sentences.tolist()
    for at, (i, used) in enumerate(zip(charts.sentences, charts.thresholds, strict=True)):
        sums = coarse_posteriors(grammar, sentences[i])
        edges = charts.edges.take(np.arange(*charts.graphs.offsets[at : at + 2]))
        for row in range(len(edges)):
            layer = "above" if edges.kinds[row] in (SELF, UNARY) else "below"
            coarse = int(grammar.coarse[edges.symbols[row]])
            if used:
                assert sums[layer, int(edges.starts[row]), int(edges.ends[row]), coarse] > used * (1 - 1e-6)
        if threshold == 1e-300:
            assert len(edges) == np.diff(everything.graphs.offsets)[at]
        best = parses(grammar, sentences[i])
        ((scores, (derivation,)),) = DECODER.top(
            charts.scores[slice(*charts.graphs.offsets[at : at + 2])], charts.graphs.take(np.array([at])), 1
        )
        assert any(tree == nest_edges(edges.take(derivation)) for _, tree in best)
        assert scores[0] <= best[0][0] + 1e-9
    best_scores = [
        parse.score for parse in ChartParser(grammar, threshold=threshold).best(sentences) if parse
    ]
    best_of_charts = [scores[0] for scores, _ in DECODER.top(charts.scores, charts.graphs, 1)]
    assert best_scores == pytest.approx(best_of_charts)


def make_grammar(symbols, binary, unary=()):
    """Return a grammar from rules with scores, such as ("S", "a", "b", -1.0)."""
    number = {symbol: i for i, symbol in enumerate(symbols)}

    def arrays(rules, width):
        named = [[number[item] for item in rule[:-1]] for rule in rules]
        return np.array(named, np.int32).reshape(-1, width), np.array([rule[-1] for rule in rules], float)

    return BinaryGrammar(tuple(symbols), 0, *arrays(binary, 3), *arrays(unary, 2))


DOGS = make_grammar("S N V D M".split(), [("S", "N", "V", -0.5), ("M", "D", "N", -1.0)], [("N", "M", -0.2)])


def changed(grammar=DOGS, **fields):
    names = ("symbols", "root", "binary", "binary_scores", "unary", "unary_scores", "coarser", "coarse")
    return BinaryGrammar(**{name: fields.get(name, getattr(grammar, name)) for name in names})


def make_words(length, *entries):
    places, symbols, scores = zip(*entries, strict=True) if entries else ((), (), ())
    numbers = np.array(places, np.int32), np.array(symbols, np.int32)
    return WordScores(length, *numbers, np.array(scores, float))


def test_edges_of_a_parse():
    words = make_words(3, (2, 2, -4.0), (0, 3, -1.0), (1, 1, -3.0))
    (parse,) = ChartParser(DOGS).best([words])
    assert parse.score == pytest.approx(-0.5 - 0.2 - 1.0 - 1.0 - 3.0 - 4.0)
    edges = parse.edges
    names = [DOGS.symbols[symbol] for symbol in edges.symbols]
    assert names == ["S", "S", "N", "M", "D", "D", "N", "N", "V", "V"]
    assert edges.kinds.tolist() == [
        SELF, BINARY, UNARY, BINARY, SELF, LEXICAL, SELF, LEXICAL, SELF, LEXICAL
    ]  # fmt: skip
    assert edges.rules.tolist() == [-1, 0, 0, 1, -1, 1, -1, 2, -1, 0]
    assert edges.starts.tolist() == [0, 0, 0, 0, 0, 0, 1, 1, 2, 2]
    assert edges.ends.tolist() == [3, 3, 2, 2, 1, 1, 2, 2, 3, 3]
    assert edges.splits.tolist() == [3, 2, 2, 1, 1, 1, 2, 2, 3, 3]


def test_a_sentence_without_a_parse_does_not_stop_the_batch():
    good = make_words(2, (0, 1, -1.0), (1, 2, -1.0))
    unknown, nothing = make_words(2, (0, 1, -1.0)), make_words(2)
    forbidden = make_words(2, (0, 1, -np.inf), (1, 2, -1.0))
    charts = Charts.parse(DOGS, [unknown, good, nothing, good, forbidden])
    assert charts.sentences.tolist() == [1, 3] and charts.without_parse.tolist() == [0, 2, 4]
    assert len(charts) == 2 and not len(charts.too_large)
    assert [parse is not None for parse in ChartParser(DOGS).best([unknown, good])] == [False, True]
    none = Charts.parse(DOGS, [unknown])
    assert len(none) == len(none.graphs) == len(none.scores) == 0
    assert len(Charts.parse(DOGS, [])) == 0 and ChartParser(DOGS).best([]) == []


def test_one_word():
    words = make_words(1, (0, 1, -1.0))
    assert not len(Charts.parse(DOGS, [words]))
    grammar = make_grammar("SN", [], [("S", "N", -0.5)])
    (parse,) = ChartParser(grammar).best([words])
    assert parse.score == -1.5 and parse.edges.kinds.tolist() == [UNARY, LEXICAL]


def test_a_parse_that_pruning_loses_is_found_without_it():
    """The coarser grammar has no parse of a sentence that the finer one can parse."""
    grammar = changed(coarser=make_grammar("Sx", []), coarse=np.array([0, 1, 1, 1, 1], np.int32))
    charts = Charts.parse(grammar, [make_words(2, (0, 1, -1.0), (1, 2, -1.0))], threshold=0.1)
    assert charts.thresholds.tolist() == [0.0] and charts.sentences.tolist() == [0]


def test_a_smaller_threshold_is_tried_before_no_pruning():
    """The only fine parse has a posterior of about 1e-3 in the coarser grammar: more than 1e-4."""
    rules = [("S", "a", "b", -7.0), ("S", "b", "a", 0.0)]
    fine, coarse = make_grammar("Sab", rules[:1]), np.arange(3, dtype=np.int32)
    grammar = changed(fine, coarser=make_grammar("Sab", rules), coarse=coarse)
    words = make_words(2, *((place, symbol, -1.0) for place in range(2) for symbol in (1, 2)))
    charts = Charts.parse(grammar, [words], threshold=0.1)
    assert charts.thresholds == pytest.approx([1e-4])


def test_the_number_of_symbols_in_a_cell_is_limited():
    rng = np.random.default_rng(5)
    grammar = random_grammar(rng, n=8, binary=60, unary=0)
    words = random_words(rng, grammar, 6, density=1.0)
    whole, few = (Charts.parse(grammar, [words], most=most) for most in (None, 2))
    assert len(few.scores) < len(whole.scores)
    cells = np.column_stack([few.edges.starts, few.edges.ends, few.edges.symbols])
    cells = np.unique(cells[few.edges.kinds == SELF], axis=0)
    assert np.unique(cells[:, :2], axis=0, return_counts=True)[1].max() == 2
    best = [DECODER.top(item.scores, item.graphs, 1)[0][0][0] for item in (whole, few)]
    assert best[1] <= best[0]
    assert len(Charts.parse(grammar, [words], most=8).scores) == len(whole.scores)


def test_a_chart_that_is_too_large_is_abandoned():
    rng = np.random.default_rng(5)
    grammar = random_grammar(rng, n=10, binary=800, unary=0)
    long, short = (random_words(rng, grammar, n, density=1.0) for n in (14, 2))
    charts = Charts.parse(grammar, [long, short], most_edges=3000)
    assert charts.too_large.tolist() == [0] and charts.sentences.tolist() == [1]
    assert ChartParser(grammar, most_edges=3000).best([long])[0] is not None


def test_long_sentences_and_large_scores():
    grammar = with_coarser(make_grammar("Sa", [("S", "S", "a", -50.0), ("S", "a", "a", -60.0)]), [0, 1])
    words = make_words(120, *((place, 1, -900.0) for place in range(120)))
    (parse,) = ChartParser(grammar).best([words])
    assert parse.score == pytest.approx(-120 * 900 - 118 * 50 - 60)
    charts = Charts.parse(grammar, [words])
    assert charts.thresholds == [1e-4] and len(charts.scores) == 120 * 2 + 2 * 119


def test_charts_are_pruned_by_marginals():
    rng = np.random.default_rng(1)
    grammar = random_grammar(rng, n=6, binary=80, unary=4)
    charts = Charts.parse(grammar, [random_words(rng, grammar, 5, density=1.0) for _ in range(3)])
    pruned = charts.pruned(charts.scores, 0.05)
    assert 0 < len(pruned.scores) < len(charts.scores) and len(pruned.graphs) == 3
    top = (DECODER.top(item.scores, item.graphs, 1) for item in (charts, pruned))
    best, left = ([scores[0] for scores, _ in item] for item in top)
    assert left == pytest.approx(best)
    assert len(pruned.edges) == len(pruned.scores)


WRONG_WORDS = {
    "words at 0 to 2 of a sentence of 2": make_words(2, (0, 1, -1.0), (2, 1, -1.0)),
    "symbols 1 to 5 of words: there are 5": make_words(2, (0, 1, -1.0), (1, 5, -1.0)),
    "scores of words are NaN": make_words(1, (0, 1, np.nan)),
    "a sentence of 0 words": make_words(0),
    "1 places, 0 symbols": WordScores(1, np.zeros(1, np.int32), np.zeros(0, np.int32), np.zeros(1)),
}


@pytest.mark.parametrize("problem", WRONG_WORDS)
def test_invalid_words(problem):
    with pytest.raises(ValueError, match=problem):
        Charts.parse(DOGS, [WRONG_WORDS[problem]])


WRONG_GRAMMARS = {
    "the root 5 is not one of the 5 symbols": changed(root=5),
    "binary rules have symbols 0 to 9": changed(binary=np.array([[0, 9, 1]] * 2, np.int32)),
    r"unary rules of shape \(1, 2\) with scores of shape \(3,\)": changed(unary_scores=np.zeros(3)),
    "scores of binary rules are NaN": changed(binary_scores=np.array([0.0, np.nan])),
    "`coarser` and `coarse` go together": changed(coarser=DOGS),
    "`coarse` must map 5 symbols": changed(coarser=DOGS, coarse=np.zeros(3, np.int32)),
    "the root is not the coarser": changed(coarser=DOGS, coarse=np.ones(5, np.int32)),
}


@pytest.mark.parametrize("problem", WRONG_GRAMMARS)
def test_invalid_grammars(problem):
    with pytest.raises(ValueError, match=problem):
        ChartParser(WRONG_GRAMMARS[problem])


@pytest.mark.parametrize(
    ("code", "setting"),
    [("D620", {"threshold": 1.0}), ("D620", {"threshold": -0.1}), ("D620", {"threshold": np.nan}),
     ("D621", {"most": 0}), ("D621", {"most_edges": 0})],
)  # fmt: skip
def test_settings_out_of_range(code, setting):
    with pytest.raises(UserError, match=code):
        ChartParser(DOGS, **setting)
