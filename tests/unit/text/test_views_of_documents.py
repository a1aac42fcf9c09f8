"""Views of Docs equal views of their texts; character spans are mapped to spaCy's tokens."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from disambig.text import Words, align_tokens, documents, view_of_docs, view_of_texts

words = Words()


PIECES = st.sampled_from(
    [
        *("it's", "It\u2019s", "cannot", "can not", "id", "don't", "U.S.", "10:30", "o'clock", "well-known"),
        *(" ", "  ", "\n", "\n\n", "\t", "\u00a0", ".", "...", ",", "(", "a/b", "$5"),
        *("\u201cHi\u201d", "\U0001f600", "e\u0301t\u00e9"),
    ]
)


TEXT = st.lists(PIECES, max_size=15).map("".join)


@pytest.fixture(scope="module")
def nlp():
    import spacy

    return spacy.blank("en")


def assert_same(view, other):
    for column in ("hashes", "starts", "ends", "sentences", "documents"):
        assert getattr(view, column).tolist() == getattr(other, column).tolist(), column


def token_at(doc):
    """Return the token that contains each character, or None."""
    result = [None] * len(doc.text)
    for token in doc:
        for at in range(token.idx, token.idx + len(token)):
            result[at] = token.i
    return result


def assert_covered(doc, starts, ends):
    first, stop = align_tokens(doc, starts, ends)
    at = token_at(doc)
    for start, end, a, b in zip(starts.tolist(), ends.tolist(), first.tolist(), stop.tolist(), strict=True):
        inside = {token for token in at[start:end] if token is not None}
        assert set(range(a, b)) == inside
        assert not inside or len(inside) == b - a


@given(st.lists(TEXT, min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_a_doc_has_the_words_of_its_text(nlp, texts):
    docs = [nlp.make_doc(text) for text in texts]
    view = view_of_docs(docs, words)
    assert_same(view, words(texts))
    for i, doc in enumerate(docs):
        own = slice(*view.documents[i : i + 2])
        assert_covered(doc, view.starts[own], view.ends[own])


@given(st.lists(st.tuples(PIECES, st.booleans()), max_size=12))
@settings(max_examples=60, deadline=None)
def test_a_doc_made_from_words_has_the_words_of_its_text(nlp, tokens):
    from spacy.tokens import Doc

    doc = Doc(nlp.vocab, words=[word for word, _ in tokens], spaces=[space for _, space in tokens])
    view = view_of_docs([doc], words)
    assert_same(view, words([doc.text]))
    assert_covered(doc, view.starts, view.ends)


def test_merged_and_split_tokens_change_no_word(nlp):
    text = "We cannot go to New  York today."
    doc = nlp(text)
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[5:8])
        retokenizer.split(doc[len(doc) - 2], ["to", "day"], [doc[0], doc[0]])
    view = view_of_docs([doc], words)
    assert_same(view, words([text]))
    assert_covered(doc, view.starts, view.ends)
    assert "New  York" in [token.text for token in doc]


@given(TEXT, st.data())
@settings(max_examples=60, deadline=None)
def test_any_span_gets_the_tokens_it_touches(nlp, text, data):
    doc = nlp.make_doc(text)
    bounds = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).map(sorted)
    spans = np.array(data.draw(st.lists(bounds, max_size=6)), dtype=np.int32).reshape(-1, 2)
    assert_covered(doc, spans[:, 0], spans[:, 1])


def test_an_empty_doc_has_empty_ranges(nlp):
    first, stop = align_tokens(nlp.make_doc(""), np.array([0]), np.array([0]))
    assert first.tolist() == stop.tolist() == [0]


def test_the_same_batch_is_tokenised_once(monkeypatch):
    calls = []

    class Counting:
        name = "test.counting.v1"
        words = words.words

        def __call__(self, texts):
            calls.append(texts)
            return words(texts)

    monkeypatch.setattr(documents, "_cached_texts", {})
    counting = Counting()
    first = view_of_texts(["One text.", "Two."], counting)
    assert view_of_texts(["One " + "text.", "Two."], counting) is first
    assert len(calls) == 1
    assert view_of_texts(["One text."], counting) is not first
    assert view_of_texts(["One text."], words).tokenisation == words.name
    assert "protected" not in view_of_texts(["One text."], words).layers
    assert "protected" in view_of_texts(["One text."], words, protected=True).layers


def test_a_large_batch_is_not_kept(monkeypatch):
    monkeypatch.setattr(documents, "_MAX_CACHED_CHARACTERS", 5)
    view_of_texts(["A longer text."], words)
    assert words.name not in documents._cached_texts


def test_spacy_is_not_imported():
    code = "import sys, disambig.text.documents; sys.exit('spacy' in sys.modules or 'numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
