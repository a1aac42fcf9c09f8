"""Text to sentences of a treebank's words, and the grammar that each of them gets."""

from __future__ import annotations

import json

import pytest
from disambig_exponentiated_gradient.grammar import TreebankGrammar, WordDomains
from disambig_exponentiated_gradient.parser import (
    FILE,
    ParagraphReader,
    Parser,
    SentenceCutter,
    as_in_treebank,
    ends_sentence,
    grammar_digest,
    read_parser,
    read_sentences,
    save_parser,
)
from disambig_exponentiated_gradient.treebank import Tree, format_one_line, read_raw_trees, read_trees
from hypothesis import given, strategies as st
from made_trees import MANY, TEXT, parser, plain_trees

from disambig.errors import UserError
from disambig.files import HEADER

QUOTED = 'The cat (a "wild" one) can\'t sleep. It\u2019s  well-known!\n\nA title'


@pytest.mark.parametrize("cuts", [True, False])
def test_words_and_offsets_are_those_of_the_treebank(cuts):
    (cut_sentence,) = SentenceCutter({"``", "''"}, cuts_hyphens=cuts)([QUOTED])
    hyphens = ["well", "-", "known"] if cuts else ["well-known"]
    assert [list(sentence.words) for sentence in cut_sentence] == [
        "The cat -LRB- a `` wild '' one -RRB- ca n't sleep .".split(),
        ["It", "'s", *hyphens, "!"],
        ["A", "title"],
    ]
    assert cut_sentence[1].source_words == ["It", "\u2019s", *hyphens, "!"]
    assert cut_sentence[0].source_text == 'The cat (a "wild" one) can\'t sleep.'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a 3-4-5 b", ["a", "3-4-5", "b"]),
        ("a state-of-the-art b", ["a", "state-of-the-art", "b"]),
        ("one - two", ["one", "-", "two"]),
        ("-x y-", None),
        ("- -", ["-", "-"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_hyphens_are_put_together_within_words_alone(text, words):
    found = SentenceCutter(set(), cuts_hyphens=False)([text])[0]
    seen = [word for sentence in found for word in sentence.source_words]
    assert seen == words if words is not None else "".join(seen) == text.replace(" ", "")


def test_of_several_ways_the_one_that_the_treebank_has():
    quoted = ["\u201c", "a", "\u201d", "[", "\u2014", "1/2"]
    vocabulary = {"``", "''", "-LSB-", "--", "1\\/2"}
    assert as_in_treebank(quoted, vocabulary) == ["``", "a", "''", "-LSB-", "--", "1\\/2"]
    assert as_in_treebank(quoted, {"\u201c", "["}) == quoted
    assert as_in_treebank(['"', "a", '"', '"'], set()) == ["``", "a", "''", "``"]


@given(st.lists(st.text(min_size=1, max_size=6), max_size=6))
def test_any_words_can_be_in_brackets(words):
    spelt = as_in_treebank(words, set())
    assert len(spelt) == len(words)
    if words:
        tree = Tree("TOP", tuple(Tree("NN", (), word) for word in spelt))
        (again,) = read_raw_trees(format_one_line(tree))
        assert again.words() == spelt


@given(st.text(max_size=60))
def test_words_stand_in_their_text_in_order(text):
    for sentence in SentenceCutter(set(), cuts_hyphens=False)([text])[0]:
        at = 0
        for start, end in zip(sentence.starts, sentence.ends, strict=True):
            assert at <= start < end <= len(text)
            at = end


@pytest.mark.parametrize(
    ("line", "language", "ends"),
    [
        ("It is so.", "en", True),
        ('He said "no."', "en", True),
        ("as Mr.", "en", False),
        ("of the", "en", False),
        ("What?", "en", True),
        ("at 5 p.m.", "en", False),
        ("Brot usw.", "de", False),
        ("Brot usw.", "en", True),
    ],
)
def test_where_a_sentence_ends(line, language, ends):
    assert ends_sentence(line, language) is ends


def test_sentences_and_paragraphs_over_lines():
    # The language of the parser says where one ends, and a line may be one
    ((sentence,),) = SentenceCutter(set())(["One. Two."], whole=True)
    assert sentence.words == ("One", ".", "Two", ".")
    german = Parser(TreebankGrammar.from_trees(plain_trees()), language="de")
    blocks = [[("a:1", "Er kauft Brot usw.")], [("a:2", "und geht.")]]
    first, *_ = read_sentences(german, blocks, "text")
    assert not [sentence.source_text for _, sentence in first], "the line does not end a sentence"
    texts = {"a:1": "One two", "a:2": "three.", "a:3": "Four", "a:4": "", "a:5": "Five", "b:1": "Six"}
    lines = list(texts.items())
    gather = ParagraphReader()
    assert list(gather.take(lines[:1])) == []
    assert list(gather.take(lines[1:])) == [("a:1", "One two\nthree."), ("a:3", "Four"), ("a:5", "Five")]
    assert list(gather.rest()) == [("b:1", "Six")]
    assert list(gather.rest()) == []
    assert list(ParagraphReader(at_once=True).take(lines[:2])) == lines[:2]


OTHER_DOMAIN = """
(TOP (S (NP (NN Ice)) (VP (VBZ melts)) (. .)))
(TOP (HEADING (NN Ice)))
(TOP (S (NP (DT The) (NN ice)) (VP (VBZ melts) (PP (IN in) (NP (NN water)))) (. .)))
"""


@pytest.fixture(scope="module")
def both():
    return Parser(parser().grammar, second=TreebankGrammar.from_trees(list(read_trees(OTHER_DOMAIN * 120))))


def test_each_sentence_has_the_grammar_of_its_words(both):
    assert [both.domain(words.split()) for words in ("a cat slept", "ice melts", "Ice")] == [0, 1, 1]
    assert both.domain(["zork", "blick"]) == both.domain([]) == 0
    first, second = both.parse("The cat saw the dog. Ice melts in water.")
    assert first == parser().parse("The cat saw the dog.")[0]
    expected = "(TOP (S (NP (NN Ice)) (VP (VBZ melts) (PP (IN in) (NP (NN water)))) (. .)))"
    assert format_one_line(second) == expected
    assert both.parse_words([["Ice"], ["It", "slept", "."]])[0].children[0].label == "HEADING"
    (tagged,) = both.parses([both.cutter.from_words(["Ice", "melts", "."], ["NN", "VBZ", "."])])
    assert (tagged.kind, tagged.best.tags()) == ("parsed", ["NN", "VBZ", "."])
    assert both.nbest(TEXT, 3) == parser().nbest(TEXT, 3)
    assert "melts" in both.cutter.known_words and "slept" in both.cutter.known_words
    assert len(list(read_trees(MANY))) == 1200
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
