"""Some documents of a view are the view of these documents."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from disambig.text import SpacyTokens, Web1T, Words, paragraph_offsets

TEXT = st.text(st.sampled_from("aB c.!?'\n1,"), max_size=30)


def test_sentences_of_a_document_do_not_depend_on_the_one_before():
    """A quotation mark in front, behind a document that ends with a stop."""
    tokens = SpacyTokens()
    alone, second = tokens(["'1?"]), tokens(["'1?", "'1?"]).take(np.array([1]))
    assert second.sentences.tolist() == alone.sentences.tolist()
    assert second.hashes.tolist() == alone.hashes.tolist()


@given(
    st.lists(TEXT, max_size=5),
    st.data(),
    st.sampled_from([Words(), Web1T(), SpacyTokens(layers=["stem"])]),
)
def test_some_documents(texts, data, tokenisation):
    index = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=6)) if texts else []
    view = tokenisation(texts)
    view = replace(view, layers=dict(view.layers) | {"length": view.ends - view.starts})
    taken, alone = view.take(np.array(index, np.int64)), tokenisation([texts[i] for i in index])
    assert list(taken.texts) == list(alone.texts)
    assert taken.tokenisation == alone.tokenisation
    for column in ("hashes", "starts", "ends", "sentences", "documents"):
        found, expected = getattr(taken, column), getattr(alone, column)
        assert found.dtype == expected.dtype
        assert found.tolist() == expected.tolist(), column
    for name, layer in alone.layers.items():
        assert taken.layers[name].tolist() == layer.tolist()
    assert taken.layers["length"].tolist() == (alone.ends - alone.starts).tolist()


@given(
    st.lists(st.lists(st.text(st.sampled_from("aB c.!?'1,"), max_size=20), max_size=4), max_size=3),
    st.sampled_from(["\n\n", "\n \t\n", "\u2029"]),
)
def test_paragraphs_begin_where_they_do_as_documents(documents, gap):
    view = Words()([gap.join(paragraphs) for paragraphs in documents])
    alone = Words()([text for paragraphs in documents for text in paragraphs or [""]])
    assert paragraph_offsets(view).tolist() == np.unique(alone.documents).tolist()
