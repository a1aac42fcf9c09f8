"""Treebank grammars and their lexicons: probabilities by hand, derivations, saving."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_exponentiated_gradient.grammar import (
    MIN_UNCHANGED,
    PLAIN,
    Derivation,
    LexiconSettings,
    TagLexicon,
    TreebankGrammar,
    TreebankParser,
    flat_tree,
    tree_cells,
    word_classes,
)
from disambig_exponentiated_gradient.treebank import (
    Binarisation,
    Tree,
    coarse_symbol,
    format_one_line,
    read_trees,
)
from examples import fewer_examples
from hypothesis import given, strategies as st
from made_trees import parse_tree, plain_trees, trees
from slow_trees import best_derivation

from disambig.errors import UserError

SMALL = """
((S (NP (NN cats)) (VP (VB see) (NP (NN dogs)))))
((S (NP (NN dogs)) (VP (VB sleep))))
((NP (NP (NN dogs)) (PP (IN in) (NP (NN cats)))))
"""


def small(binarisation=PLAIN):
    return TreebankGrammar.from_trees(list(read_trees(SMALL)), binarisation)


def name_rules(grammar):
    """Return binary and unary rules with their scores, by names."""
    rules, binary, unary = grammar.grammar, {}, {}
    for rule, score in zip(rules.binary, rules.binary_scores, strict=True):
        binary[tuple(rules.symbols[i] for i in rule)] = float(score)
    for rule, score, path in zip(rules.unary, rules.unary_scores, grammar.paths, strict=True):
        unary[(*(rules.symbols[i] for i in rule), path)] = float(score)
    return binary, unary


def test_cells_and_their_spans():
    (tree,) = read_trees("((S (NP (NN dogs)) (VP (VB sleep))))")
    cells = [(c.above.label, c.below.label, c.path, c.start, c.middle, c.end) for c in tree_cells(tree)]
    assert cells == [("TOP", "S", (), 0, 1, 2), ("NP", "NN", (), 0, 1, 1), ("VP", "VB", (), 1, 2, 2)]
    (tree,) = read_trees("((S (VP (VB sleep))))")
    assert [c.path for c in tree_cells(tree)] == [("S", "VP")]
    with pytest.raises(ValueError, match="binarised"):
        list(tree_cells(parse_tree("((NP (DT a) (JJ b) (NN c)))")))


def test_probabilities_by_hand():
    """A symbol that a chain may have made bears what it costs to be unchanged: see `grammar.scores`."""
    binary, unary = name_rules(small())
    log = np.log
    assert binary["S", "NP", "VP"] == pytest.approx(0.0)  # never above: nothing to bear
    assert binary["VP", "VB", "NP"] == pytest.approx(log(1 / 2))  # one of two VP is no VB
    assert binary["PP", "IN", "NP"] == pytest.approx(0.0)
    assert binary["NP", "NP", "PP"] == pytest.approx(log(MIN_UNCHANGED / 5))  # an NP above: always a chain
    assert unary["TOP", "S", ()] == pytest.approx(log(2 / 3))
    assert unary["TOP", "NP", ()] == pytest.approx(log(1 / 3) - log(MIN_UNCHANGED / 5))
    assert unary["NP", "NN", ()] == pytest.approx(0.0)
    assert unary["VP", "VB", ()] == pytest.approx(log(1 / 2))


@fewer_examples
@given(st.lists(trees(8), min_size=1, max_size=4), st.integers(0, 2), st.integers(1, 2))
def test_every_tree_of_the_treebank_has_its_derivation(made, horizontal, vertical):
    grammar = TreebankGrammar.from_trees(made, Binarisation(horizontal, vertical))
    for tree in made:
        derivation = grammar.derivation(tree)
        assert derivation is not None
        assert grammar.tree(tree.words(), derivation) == tree
        assert len(derivation.binary) == len(derivation.tags) - 1
        coarser = grammar.coarser or grammar
        assert coarser.tree(tree.words(), coarser.derivation(tree)) == tree


def test_a_tree_with_another_rule_has_no_derivation():
    grammar = small()
    clauses = "((S (VP (VB see)) (NP (NN cats))))", "((S (NP (NN cats)) (VP (NN sleep))))"
    for text in (*clauses, "((X (NN cats)))", "((NP (JJ cats)))"):
        assert grammar.derivation(parse_tree(text)) is None


def test_the_best_tree_by_plain_cky_and_by_the_charts():
    """End to end: the slow and the fast parser find the same trees of new sentences."""
    grammar = TreebankGrammar.from_trees(plain_trees(), Binarisation(1, 2))
    parser = TreebankParser(grammar, threshold=0.0)
    texts = "the dog sleeps .", "the grey old cat sees a dog .", "birds sleep in a tree ."
    sentences = [text.split() for text in texts]
    for words in sentences:
        derivation, score = best_derivation(grammar.grammar, grammar.word_scores(words))
        assert grammar.score(words, derivation) == pytest.approx(score)
        (parse,) = parser.parses([words])
        assert parse.scores == (pytest.approx(score),)
        assert parse.best == grammar.tree(words, derivation)
        assert not parse.is_fallback
    expected = "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ sleeps)) (. .)))"
    assert format_one_line(parser.trees(sentences[:1])[0]) == expected


@fewer_examples
@given(st.lists(trees(5), min_size=1, max_size=3))
def test_the_fast_parser_finds_a_tree_as_good_as_the_treebanks(made):
    grammar = TreebankGrammar.from_trees(made)
    sentences = [tree.words() for tree in made]
    parses = TreebankParser(grammar).parses(sentences)
    for tree, parse in zip(made, parses, strict=True):
        best = best_derivation(grammar.grammar, grammar.word_scores(tree.words()))
        assert parse.scores[0] == pytest.approx(best[1], abs=1e-6)
        assert parse.scores[0] >= grammar.score(tree.words(), grammar.derivation(tree)) - 1e-6


def test_sentences_without_a_parse():
    grammar = TreebankGrammar.from_trees(plain_trees())
    parser = TreebankParser(grammar)
    few, none, empty = parser.parses([["the", "the", "cat"], [".", "."], []])
    assert few.is_fallback == bool(few.trees)
    assert none.best is None
    assert not none.is_fallback
    assert empty.best is None
    assert parser.trees([]) == []
    assert format_one_line(flat_tree(["a", "b"], ["DT", "NN"])) == "(TOP (DT a) (NN b))"
    words = ["birds", "sleep"]
    (tree,) = parser.trees([words], [["NNS", "VBP"]])
    assert tree.tags() == ["NNS", "VBP"]


def test_the_coarser_grammar():
    texts = "((S (NP (NN a)) (VP (VB b))))", "((X (VP (VB b) (NP (NN a)))))"
    grammar = TreebankGrammar.from_trees([parse_tree(text) for text in texts], Binarisation(1, 2, splits=()))
    (parse,) = TreebankParser(grammar).parses([["a", "b", "a"]])  # needs a VP of two below S
    assert parse.is_fallback
    assert format_one_line(parse.best) == "(TOP (S (NP (NN a)) (VP (VB b) (NP (NN a)))))"
    grammar = TreebankGrammar.from_trees(plain_trees(), Binarisation(1, 2))
    fine, coarser = grammar.grammar, grammar.grammar.coarser
    assert [coarser.symbols[i] for i in fine.coarse] == [coarse_symbol(symbol) for symbol in fine.symbols]
    assert coarser.symbols[coarser.root] == fine.symbols[fine.root] == "TOP"
    assert coarser is grammar.coarser.grammar
    assert grammar.coarser.coarser is None
    rules = {tuple(rule) for rule in coarser.binary.tolist()}
    assert {tuple(fine.coarse[list(rule)].tolist()) for rule in fine.binary} == rules


def put(array, value, at):
    array[at] = value
    return array


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("settings", lambda a: a[:-1]),
        ("settings", lambda a: np.frombuffer(b"[]", np.uint8)),
        ("settings", lambda a: np.frombuffer(b'{"binarisation": {"splits": [], "x": 1}}', np.uint8)),
        ("symbols", lambda a: a[:-1]),
        ("symbols", lambda a: put(a, 0xFF, 0)),
        ("symbols_sizes", lambda a: put(a, -1, 0)),
        ("symbols_sizes", lambda a: a.astype(float)),
        ("binary", lambda a: put(a, 10**6, (0, 0))),
        ("binary", lambda a: put(a, -1, (0, 1))),
        ("binary", lambda a: put(a, 0, (0, 3))),
        ("binary", lambda a: a[:, :3].copy()),
        ("binary", lambda a: a.ravel()),
        ("chains", lambda a: put(a, 10**6, (0, 1))),
        ("chains", lambda a: put(a, 10**9, (0, 2))),
        ("words_counts", lambda a: put(a, 10**6, (0, 0))),
        ("looks_counts", lambda a: put(a, -5, (0, 2))),
        ("lexical", lambda a: a[:0]),
    ],
)
def test_arrays_without_a_grammar(name, change):
    arrays = TreebankGrammar.from_trees(plain_trees()).state()
    with pytest.raises(UserError, match="D635"):
        TreebankGrammar.from_state({**arrays, name: change(arrays[name].copy())})


def test_arrays_that_lack_one():
    arrays = TreebankGrammar.from_trees(plain_trees()).state()
    for name in arrays:
        with pytest.raises(UserError, match=f"lack {name}") as caught:
            TreebankGrammar.from_state({key: array for key, array in arrays.items() if key != name})
        assert str(caught.value).count("D635") == 1 == str(caught.value).count("lack")


def test_treebanks_that_are_refused():
    with pytest.raises(UserError, match=r"D634.* 0 trees"):
        TreebankGrammar.from_trees([])
    with pytest.raises(UserError, match=r"D634.*TOP"):
        TreebankGrammar.from_trees([Tree("S", (Tree("UH", (), "yes"),))])
    empty = Derivation.from_rows([], [], [3])
    assert (empty.binary.shape, empty.unary.shape, empty.tags.tolist()) == ((0, 4), (0, 3), [3])


NOUNS = [(f"{stem}ness", "NN^NP") for stem in ("kind", "sad", "glad", "ill", "weak", "dark")]
VERBS = [(f"{stem}ing", "VBG^VP") for stem in ("walk", "sing", "jump", "read", "fall", "hold")]
NAMES = [(name, "NNP^NP") for name in ("Anna", "Berta", "Carla", "Dora", "Emma", "Fritz")]
THE = [("the", "DT^NP")] * 40
WORD_SENTENCES = [[*THE, word] for word in (*NOUNS, *VERBS, *NAMES)]


def best_symbol(lexicon, word, place=1):
    """Return the most probable symbol of a word, by P(symbol | word) up to a constant."""
    scores = lexicon.scores(["x"] * place + [word])[-1]
    usual = {symbol: len([1 for s in WORD_SENTENCES for _, t in s if t == symbol]) for symbol in scores}
    return max(scores, key=lambda symbol: scores[symbol] + np.log(usual[symbol]))


def test_new_and_rare_words_by_their_looks():
    lexicon = TagLexicon.from_sentences(WORD_SENTENCES)
    assert best_symbol(lexicon, "fondness") == "NN^NP"
    assert best_symbol(lexicon, "glorping") == "VBG^VP"
    assert best_symbol(lexicon, "Gerda") == "NNP^NP"
    for word in ("fondness", "glorping", "thee", "3", "Gerda"):
        assert "DT^NP" not in lexicon.scores([word])[0]
    assert list(lexicon.scores(["a", "the"])[1]) == ["DT^NP"]
    lexicon = TagLexicon.from_sentences([*WORD_SENTENCES, [("walking", "NN^NP"), ("kindness", "NN^NP")]])
    assert {"VBG^VP", "NN^NP"} <= set(lexicon.scores(["a", "walking"])[1])


def test_seen_words_by_hand():
    # P(word | symbol) = P(symbol | word) P(word) / P(symbol), the share of looks included
    settings = LexiconSettings(prior=1.0, least=1e-9)
    lexicon = TagLexicon.from_sentences([[("a", "DT"), ("a", "DT"), ("a", "NN"), ("b", "NN")]], settings)
    scores = lexicon.scores(["x", "a"])[1]
    # no kind is open: any has one share for each kind a word has, DT 1 of 3, NN 2 of 3
    assert scores["DT"] == pytest.approx(np.log((2 + 1 / 3) / 4) + np.log(3) - np.log(2))
    assert scores["NN"] == pytest.approx(np.log((1 + 2 / 3) / 4) + np.log(3) - np.log(2))
    seen = [[("walk", "NN^NP")] * 2 + [(f"w{i}", "NN^NX") for i in range(2)]]
    scores = TagLexicon.from_sentences(seen, LexiconSettings(parents=2.0)).scores(["a", "walk"])[1]
    # (2 + 2 * 1/2) and (0 + 2 * 1/2) of 4; both symbols have been seen twice
    assert scores["NN^NP"] - scores["NN^NX"] == pytest.approx(np.log(3.0))
    lexicon = TagLexicon.from_sentences([[("dogs", "NNS"), ("bark", "VBP")]] * 5)
    assert lexicon.scores(["Dogs"])[0]["NNS"] == lexicon.scores(["x", "dogs"])[1]["NNS"]
    assert lexicon.scores(["x", "Dogs"])[1] != lexicon.scores(["Dogs"])[0]


def test_known_and_plain_tags():
    lexicon = TagLexicon.from_sentences(WORD_SENTENCES)
    assert set(lexicon.scores(["fondness"], ["NN"])[0]) == {"NN^NP"}
    assert set(lexicon.scores(["glorp"], ["DT"])[0]) == {"DT^NP"}
    assert lexicon.scores(["glorp"], ["XYZ"]) == lexicon.scores(["glorp"])
    assert lexicon.tags == {"DT", "NN", "NNP", "VBG"}
    plain = TagLexicon.from_sentences(WORD_SENTENCES).coarse()
    assert set(plain.scores(["the", "walking"])[1]) <= {"NN", "NNP", "VBG"}
    assert plain.words["the"] == {"DT": 40 * 18}
    lexicon = TagLexicon.from_sentences([*MARKED, [("odd", "JJ^NP"), (",", ",^S")]])
    words = ["bark", ";", "!", "odd"]
    assert lexicon.scores(words, ["NNS", ",", ",", "NNS"])[:3] == lexicon.scores(words)[:3]
    assert list(lexicon.scores(words, ["NNS", ",", ",", "NNS"])[3]) == ["NNS^NP"]  # a rare word
    assert lexicon.scores(words, ["ZZ"] * 4) == lexicon.scores(words)


@pytest.mark.parametrize(
    ("word", "is_first", "classes"),
    [
        ("walking", False, ("a", "a g", "a ng", "a ing")),
        ("Walking", True, ("Aa<", "Aa< g", "Aa< ng", "Aa< ing")),
        ("IBM", False, ("A", "A m", "A bm")),
        ("McDonald", False, ("AaA", "AaA d", "AaA ld", "AaA ald")),
        ("co-op", False, ("-a", "-a p", "-a op", "-a -op")),
        ("1,000", False, ("number",)),
        ("-5", False, ("signed number",)),
        ("20th", False, ("da", "da h", "da th", "da 0th")),
        ("--", False, ("signs",)),
        ("a", False, ("a", "a a")),
        ("eBay", False, ("aA", "aA y", "aA ay", "aA bay")),
    ],
)
def test_classes_of_words(word, is_first, classes):
    assert word_classes(word, is_first) == classes


@fewer_examples
@given(st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=5))
def test_every_word_may_be_something(words):
    lexicon = TagLexicon.from_sentences(WORD_SENTENCES)
    for scores in lexicon.scores(words):
        assert scores
        assert all(np.isfinite(list(scores.values())))


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"prior": 0}, "prior is 0"), ({"rare": "3"}, "rare is '3'"), ({"least": 0.5}, "least is 0.5: .*0.01")],
)
def test_settings_that_cannot_be(settings, message):
    with pytest.raises(UserError, match=rf"D633.*{message}"):
        LexiconSettings(**settings)


MARKED = [
    [("dogs", "NNS^NP"), ("bark", "VBP^VP"), (mark, tag)] for mark, tag in ((".", ".^S"), (";", ":^S"))
] * 150


@pytest.mark.parametrize(
    ("sign", "tag"),
    [("!", "."), ("?!", "."), ("\N{INTERROBANG}", "."), ("\N{EM DASH}", ":"), ("...", ":"), ("--", ":")],
)
def test_unseen_punctuation_has_the_tags_of_its_kind(sign, tag):
    lexicon = TagLexicon.from_sentences(MARKED)
    assert list(lexicon.scores(["bark", sign])[1]) == [f"{tag}^S"]
    assert lexicon.scores(["bark", "\N{PILCROW SIGN}"])[1].keys() >= {"NNS^NP"}  # of no kind: any tag
