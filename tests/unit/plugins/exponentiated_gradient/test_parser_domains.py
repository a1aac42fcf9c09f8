"""A parser with grammars of two domains: choice by words, storage, words that no treebank has."""

from __future__ import annotations

import json

import pytest
from disambig_exponentiated_gradient.grammar import TreebankGrammar, WordDomains
from disambig_exponentiated_gradient.parser import FILE, Parser, grammar_digest, read_parser, save_parser
from disambig_exponentiated_gradient.treebank import format_one_line, read_trees
from made_parser import MANY, TEXT, parser

from disambig.errors import UserError
from disambig.files import HEADER

OTHER = """
(TOP (S (NP (NN Ice)) (VP (VBZ melts)) (. .)))
(TOP (HEADING (NN Ice)))
(TOP (S (NP (DT The) (NN ice)) (VP (VBZ melts) (PP (IN in) (NP (NN water)))) (. .)))
"""


@pytest.fixture(scope="module")
def both():
    return Parser(parser().grammar, second=TreebankGrammar.from_trees(list(read_trees(OTHER * 120))))


def test_each_sentence_has_the_grammar_of_its_words(both):
    assert [both.domain(words.split()) for words in ("a cat slept", "ice melts", "Ice")] == [0, 1, 1]
    assert both.domain(["zork", "blick"]) == both.domain([]) == 0
    first, second = both.parse("The cat saw the dog. Ice melts in water.")
    assert first == parser().parse("The cat saw the dog.")[0]
    assert format_one_line(second) == (
        "(TOP (S (NP (NN Ice)) (VP (VBZ melts) (PP (IN in) (NP (NN water)))) (. .)))"
    )
    assert both.parse_words([["Ice"], ["It", "slept", "."]])[0].children[0].label == "HEADING"
    (tagged,) = both.parses([both.cutter.from_words(["Ice", "melts", "."], ["NN", "VBZ", "."])])
    assert (tagged.kind, tagged.best.tags()) == ("parsed", ["NN", "VBZ", "."])
    assert both.nbest(TEXT, 3) == parser().nbest(TEXT, 3)


def test_one_treebank_needs_no_choice():
    lexicon = parser().grammar.lexicon
    assert WordDomains.from_lexicons([lexicon]).scores == {}
    same = WordDomains.from_lexicons([lexicon, lexicon])
    assert same.choose(["cat", "dog"]) == 0
    assert same.choose(["cat"]) == 0


def test_both_are_stored(both, tmp_path):
    save_parser(both, tmp_path / "both")
    again = read_parser(tmp_path / "both")
    text = f"{TEXT} Ice melts."
    assert again.parse(text) == both.parse(text)
    assert grammar_digest(again) == grammar_digest(both) != grammar_digest(parser())
    header = json.loads((tmp_path / "both" / HEADER).read_text())
    assert header["format"] == "disambig.treebank_parser.v2"
    save_parser(parser(), tmp_path / "one")
    (tmp_path / "both" / FILE).write_bytes((tmp_path / "one" / FILE).read_bytes())
    with pytest.raises(UserError, match="D900"):
        read_parser(tmp_path / "both")


def test_words_of_both_are_known_to_the_cutter(both):
    assert "melts" in both.cutter.known_words and "slept" in both.cutter.known_words
    assert len(list(read_trees(MANY))) == 1200
