"""Layers of spaCy's tokens: tags, stems and lemmas stand beside the right words."""

from __future__ import annotations

import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc

from disambig.errors import UserError
from disambig.text import SpacyTokens, content_words, hash_word, stem_layer
from disambig.text import spacy_tokens as stems

TEXT = "The banks were closed. He RUNS to  the river's mouth!\n\nNo. 5 mark"


def shown(view, layer):
    """Return (word, value) of every token with a value in a layer."""
    values = view.layers[layer].tolist()
    document = view.document_indices(np.arange(len(view))).tolist()
    return [
        (view.texts[d][s:e], v)
        for d, s, e, v in zip(document, view.starts.tolist(), view.ends.tolist(), values, strict=True)
        if v
    ]


def test_stems_are_those_of_content_words():
    view = SpacyTokens(layers=["stem"])([TEXT])
    expected = {"banks": "bank", "closed": "close", "RUNS": "run", "river": "river", "mouth": "mouth"}
    expected |= {"5": "5", "mark": "mark"}
    assert shown(view, "stem") == [(word, hash_word(stem)) for word, stem in expected.items()]
    assert (content_words(view, "en") == (view.layers["stem"] != 0)).all()


def test_threads_do_not_disturb_each_others_stems(monkeypatch):
    stems._stems.cache_clear()
    monkeypatch.setattr(stems, "_MOST_KEPT", 500)  # what is remembered is forgotten while others read
    endings = ("ing", "ational", "fulness", "ed", "ies", "ization")
    words = [f"{a}{b}{c}{end}" for a in "bdgkmt" for b in "aeiou" for c in "lnrst" for end in endings]
    views = [SpacyTokens().of_sentences([part]) for part in (words, words[::-1], words[300:] + words[:300])]
    expected = [stem_layer(view, "en") for view in views]
    stems._stems.cache_clear()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(lambda view: stem_layer(view, "en"), views * 6))
    finally:
        sys.setswitchinterval(interval)
    assert all((each == right).all() for each, right in zip(found, expected * 6, strict=True))


def test_another_language_has_its_own_stemmer():
    view = SpacyTokens("de", layers=["stem"])(["Die Häuser standen leer"])
    assert ("Häuser", hash_word("haus")) in shown(view, "stem")


@pytest.mark.parametrize(
    ("settings", "code"),
    [({"layers": ["stems"]}, "D204"), ({"layers": "stem"}, "D204")],
)
def test_layers_that_there_are_not(settings, code):
    with pytest.raises(UserError, match=code):
        SpacyTokens(**settings)


def test_a_language_without_stems():
    with pytest.raises(UserError, match="D203"):
        SpacyTokens("ja", layers=["stem"]).of_sentences([["a"]])


def test_docs_bring_tags_and_lemmas_of_their_own():
    nlp = spacy.blank("en")
    words, tags = ["Geese", "fly", "to", "the", "SYM"], ["NNS", "VBP", "IN", "DT", "SYM"]
    doc = Doc(nlp.vocab, words=words, tags=tags, lemmas=["Goose", "fly", "to", "the", "root"])
    view = SpacyTokens(layers=["tag", "lemma"]).of_docs([doc])
    assert shown(view, "tag") == [(word, hash_word(tag)) for word, tag in zip(words, tags, strict=True)]
    expected = [("Geese", "goose"), ("fly", "fly"), ("SYM", "root")]  # no stop words
    assert shown(view, "lemma") == [(word, hash_word(lemma)) for word, lemma in expected]


def test_docs_without_tags_get_one_clear_warning_and_no_layer():
    doc = spacy.blank("en")("The bank is closed.")
    with pytest.warns(UserWarning, match="no tags here.*disambig_tagger"):
        view = SpacyTokens(layers=["tag", "stem"]).of_docs([doc])
    assert set(view.layers) == {"stem"}


def test_tags_of_some_docs_are_used():
    nlp = spacy.blank("en")
    tagged = Doc(nlp.vocab, words=["Birds"], tags=["NNS"])
    with pytest.warns(UserWarning, match="no tags here"):
        view = SpacyTokens(layers=["tag"]).of_docs([nlp("A bird"), tagged, nlp("")])
    assert shown(view, "tag") == [("Birds", hash_word("NNS"))]


def test_coarse_tags_stand_in_for_tags():
    vocab = spacy.blank("en").vocab
    coarse = Doc(vocab, words=["They", "bank"], pos=["PRON", "VERB"])
    fine = Doc(vocab, words=["banks"], pos=["NOUN"], tags=["NNS"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        view = SpacyTokens(layers=["tag"]).of_docs([coarse, fine])
    expected = [("They", "PRON"), ("bank", "VERB"), ("banks", "NNS")]
    assert shown(view, "tag") == [(word, hash_word(tag)) for word, tag in expected]


def test_no_docs_and_empty_docs_need_no_warning():
    tokens = SpacyTokens(layers=["tag", "stem", "lemma"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(tokens.of_docs([])) == 0
        assert len(tokens.of_docs([spacy.blank("en")("")])) == 0


def test_the_name_tells_layers_apart():
    names = {
        SpacyTokens(**settings).name
        for settings in (
            {},
            {"layers": ["tag"]},
            {"layers": ["stem"]},
            {"layers": ["tag"], "tagger": "other"},
            {"language": "de", "layers": ["stem"]},
        )
    }
    assert len(names) == 5


@given(st.lists(st.lists(st.text(min_size=1, max_size=6), max_size=6), max_size=4))
def test_stems_of_any_words(sentences):
    tokens = SpacyTokens()
    view = tokens.of_sentences(sentences)
    layer = stem_layer(view, "en")
    assert layer.shape == view.hashes.shape
    known = {}
    for hashed, stem in zip(view.hashes.tolist(), layer.tolist(), strict=True):
        assert known.setdefault(hashed, stem) == stem
    assert not layer[view.ends == view.starts].any()
