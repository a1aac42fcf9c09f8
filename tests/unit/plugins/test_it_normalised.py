"""The second view: classes and stems, cut from the words of `disambig.words.v1`."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_variance_svm.pronoun_it import NormalisedWords, frequent_stems
from hypothesis import given
from hypothesis import strategies as st

from disambig.text import Words, hash_word


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It's important.", "<S> it 's impo . </S>"),
        ("They don't know themselves.", "<S> they do n't know they . </S>"),
        ("Give ME 42 of hers!", "<S> give <pronoun> <number> of <pronoun> ! </S>"),
        ("Its roof", "<S> it roof </S>"),
        ("We\u2019ll zzzyqx", "<S> <pronoun> 'll <rare> </S>"),
        ("items", "<S> item </S>"),
        ("", ""),
    ],
)
def test_words_become_classes_and_stems(text, words):
    assert NormalisedWords().words(text) == words.split()


TEXTS = st.lists(
    st.text()
    | st.lists(st.sampled_from("it's don't its they We'll 12 a. B , \n\n caf\u00e9\u2019s".split(" "))).map(
        " ".join
    )
)


@given(TEXTS)
def test_hashes_are_those_of_the_words_and_offsets_those_of_the_text(texts):
    view = NormalisedWords()(texts)
    plain = Words()(texts)
    spelled = [hash_word(word) for text in texts for word in NormalisedWords().words(text)]
    known = view.hashes != 0
    assert view.hashes[known].tolist() == np.array(spelled, np.uint64)[known].tolist()
    assert (view.ends >= view.starts).all()
    # the parts of a word cover it without a hole
    assert np.isin(plain.starts, view.starts).all() and np.isin(plain.ends, view.ends).all()
    inner = ~np.isin(view.starts, plain.starts)
    assert (view.starts[np.flatnonzero(inner)] == view.ends[np.flatnonzero(inner) - 1]).all()
    assert len(view.documents) == len(plain.documents)
    assert view.documents[-1] == len(view) and view.sentences[-1] == len(view)
    assert (view.hashes[view.sentences[:-1]] == hash_word("<S>")).all()


def test_the_list_of_stems_is_what_it_says():
    stems = frequent_stems()
    assert len(stems) == 5000
    assert max(map(len, stems)) <= 4
    assert {"the", "impo", ".", "'s", "n't"} <= stems
