"""Text to sentences of a treebank's words, each where it stands."""

from __future__ import annotations

import pytest
from disambig_exponentiated_gradient.grammar import TreebankGrammar
from disambig_exponentiated_gradient.parser import (
    ParagraphReader,
    Parser,
    SentenceCutter,
    as_in_treebank,
    ends_sentence,
    read_sentences,
)
from hypothesis import given, strategies as st
from made_trees import plain_trees

TEXT = 'The cat (a "wild" one) can\'t sleep. It\u2019s  well-known!\n\nA title'


@pytest.mark.parametrize("cuts", [True, False])
def test_words_are_the_treebanks_and_stand_where_they_stood(cuts):
    (found,) = SentenceCutter({"``", "''"}, cuts_hyphens=cuts)([TEXT])
    hyphens = ["well", "-", "known"] if cuts else ["well-known"]
    assert [list(sentence.words) for sentence in found] == [
        "The cat -LRB- a `` wild '' one -RRB- ca n't sleep .".split(),
        ["It", "'s", *hyphens, "!"],
        ["A", "title"],
    ]
    assert found[1].source_words == ["It", "\u2019s", *hyphens, "!"]
    assert found[0].source_text == 'The cat (a "wild" one) can\'t sleep.'


def test_a_line_may_be_a_sentence():
    ((sentence,),) = SentenceCutter(set())(["One. Two."], whole=True)
    assert sentence.words == ("One", ".", "Two", ".")


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
    assert as_in_treebank(quoted, {"``", "''", "-LSB-", "--", "1\\/2"}) == [
        "``",
        "a",
        "''",
        "-LSB-",
        "--",
        "1\\/2",
    ]
    assert as_in_treebank(quoted, {"\u201c", "["}) == ["\u201c", "a", "\u201d", "[", "\u2014", "1/2"]
    assert as_in_treebank(['"', "a", '"', '"'], set()) == ["``", "a", "''", "``"]


@given(st.lists(st.text(min_size=1, max_size=6), max_size=6))
def test_any_word_can_stand_in_brackets(words):
    from disambig_exponentiated_gradient.treebank import Tree, format_one_line, read_raw_trees

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


def test_the_language_of_the_parser_says_where_a_sentence_ends():
    german = Parser(TreebankGrammar.from_trees(plain_trees()), language="de")
    blocks = [[("a:1", "Er kauft Brot usw.")], [("a:2", "und geht.")]]
    found = [
        [sentence.source_text for _, sentence in each] for each in read_sentences(german, blocks, "text")
    ]
    assert found[0] == [], "the line does not end a sentence"


def test_paragraphs_come_when_they_are_whole():
    lines = [
        ("a:1", "One two"),
        ("a:2", "three."),
        ("a:3", "Four"),
        ("a:4", ""),
        ("a:5", "Five"),
        ("b:1", "Six"),
    ]
    gather = ParagraphReader()
    assert list(gather.take(lines[:1])) == []
    assert list(gather.take(lines[1:])) == [("a:1", "One two\nthree."), ("a:3", "Four"), ("a:5", "Five")]
    assert list(gather.rest()) == [("b:1", "Six")]
    assert list(gather.rest()) == []
    assert list(ParagraphReader(at_once=True).take(lines[:2])) == lines[:2]
