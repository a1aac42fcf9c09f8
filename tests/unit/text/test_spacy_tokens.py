"""spaCy's own tokens as words: the Doc's, a text's, and sentences that are cut already."""

from __future__ import annotations

import numpy as np
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.vocab import Vocab

from disambig.errors import UserError
from disambig.text import END_HASH, START_HASH, SpacyTokens, hash_word, view_of_docs

TOKENS = SpacyTokens()
NLP = spacy.blank("en")
PIECES = st.sampled_from(
    ["It's", " ", "  ", "\n", "\n\n", ".", "...", "(", ")", '"', "U.S.", "mark", "\U0001f600", "!"]
)
TEXTS = st.lists(st.lists(PIECES, max_size=12).map("".join), max_size=4)


@given(TEXTS)
@settings(deadline=None)
def test_a_view_holds_the_tokens_of_every_document(texts):
    view = TOKENS(texts)
    words = view.ends > view.starts
    docs = [NLP.make_doc(text) for text in texts]
    for i, doc in enumerate(docs):
        inside = np.arange(view.documents[i], view.documents[i + 1])
        own = inside[words[inside]]
        expected = [token for token in doc if not token.is_space]
        assert view.starts[own].tolist() == [token.idx for token in expected]
        assert view.ends[own].tolist() == [token.idx + len(token) for token in expected]
        assert view.hashes[own].tolist() == [hash_word(token.lower_) for token in expected]
    bounds = view.hashes[view.sentences[:-1]], view.hashes[view.sentences[1:] - 1]
    assert (bounds[0] == START_HASH).all() and (bounds[1] == END_HASH).all()
    assert np.count_nonzero(~words) == 2 * (len(view.sentences) - 1)
    assert set(view.documents.tolist()) <= set(view.sentences.tolist())


def test_sentences_end_after_stops_with_what_closes_and_at_blank_lines():
    said = TOKENS.words('She left (at last!) He stayed. "Why?" they ask ... No\n\nNever')
    assert " ".join(said) == (
        '<S> she left ( at last ! ) </S> <S> he stayed . " </S> <S> why ? " </S> '
        "<S> they ask ... </S> <S> no </S> <S> never </S>"
    )


def test_sentences_that_a_doc_has_are_kept():
    doc = Doc(NLP.vocab, words=["One", ".", "Two", "three"], sent_starts=[True, False, False, True])
    view = TOKENS.of_docs([doc, NLP.make_doc("One. Two")])
    assert np.diff(view.sentences).tolist() == [5, 3, 4, 3]


def test_where_a_doc_says_nothing_of_sentences_the_rule_does():
    words = ["One", ".", "Two", ".", "three", "four", "."]
    doc = Doc(NLP.vocab, words=words, sent_starts=[None, None, False, None, None, True, None])
    assert np.diff(TOKENS.of_docs([doc]).sentences).tolist() == [6, 3, 4]


def test_docs_without_spacys_word_attributes_have_words_as_well():
    data = NLP.make_doc("The  Cats sat").to_bytes()
    view = TOKENS.of_docs([Doc(Vocab()).from_bytes(data)])
    assert view.hashes[view.ends > view.starts].tolist() == [hash_word(w) for w in ("the", "cats", "sat")]


def test_a_language_that_spacy_does_not_know_is_named():
    with pytest.raises(UserError, match=r"D202.*'zz'"):
        SpacyTokens("zz")(["a"])


def test_docs_with_tokens_of_their_own_are_taken_as_they_are():
    doc = Doc(NLP.vocab, words=["New York", "is", "big"])
    view = view_of_docs([doc], TOKENS)
    assert view.hashes[1] == hash_word("new york")
    assert view.tokenisation == "disambig.spacy_tokens.v1"


def test_given_sentences_are_one_document_each():
    view = TOKENS.of_sentences([["It", "'s", "late"], [], ["Yes"]])
    assert list(view.texts) == ["It 's late", "", "Yes"]
    assert view.starts[1:4].tolist() == [0, 3, 6] and view.ends[1:4].tolist() == [2, 5, 10]
    assert view.documents.tolist() == [0, 5, 5, 8]


def test_no_document_at_all():
    for view in (TOKENS([]), TOKENS.of_docs([]), TOKENS.of_sentences([]), TOKENS([""])):
        assert len(view) == 0 and view.sentences.tolist() == [0]


def test_another_language_has_another_name():
    assert SpacyTokens("de").name != TOKENS.name
    assert SpacyTokens("de").words("z. B. heute")[1:-1] == ["z.", "b.", "heute"]


def test_docs_of_two_vocabularies_in_one_batch():
    other = spacy.blank("en")
    view = TOKENS.of_docs([NLP.make_doc("alpha mark"), other.make_doc("omegaword")])
    words = view.hashes[view.ends > view.starts]
    assert words.tolist() == [hash_word(word) for word in ("alpha", "mark", "omegaword")]


@pytest.mark.parametrize("text", ["\ud800 lone", "a" * 300])
def test_odd_texts(text):
    assert len(TOKENS([text])) > 2
