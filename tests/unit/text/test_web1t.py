from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from disambig.text import UNKNOWN, Web1T, hash_word

web1t = Web1T()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It's his.", "<S> It 's his . </S>"),
        (
            "I can\u2019t, we CAN'T and you wouldn't've.",
            "<S> I ca n't , we CA N'T and you would n't 've . </S>",
        ),
        ("They cannot; we can not.", "<S> They can not ; we can not . </S>"),
        ("She'll say we're, they've, I'd, I'm.", "<S> She 'll say we 're , they 've , I 'd , I 'm . </S>"),
        ("the dogs' o'clock", "<S> the dogs ' o'clock </S>"),
        ("a well-known 2nd try", "<S> a well - known 2nd try </S>"),
        ("on 1/2/2003 at 10:30 for 1,000.50", "<S> on 1/2/2003 at 10:30 for 1,000.50 </S>"),
        ("call 555-1234.", "<S> call 555-1234 . </S>"),
        (
            "Mr. Fox of the U.S. Senate etc. and so on.",
            "<S> Mr. Fox of the U.S. Senate etc. and so on . </S>",
        ),
        ("\u201cStop.\u201d He left\u2026 !!", '<S> " Stop . " </S> <S> He left \u2026 ! ! </S>'),
        ("See http://a.b/c?d=e, or me@x.org.", "<S> See http://a.b/c?d=e , or me@x.org . </S>"),
        ("so -- well... yes", "<S> so -- well ... yes </S>"),
        ("one\n\ntwo", "<S> one </S> <S> two </S>"),
        ("", ""),
        (" \x00", ""),
    ],
)
def test_words(text, expected):
    assert " ".join(web1t.words(text)) == expected


@given(st.lists(st.text(st.characters(exclude_categories=[]), max_size=30), max_size=3))
@settings(max_examples=200, deadline=None)
def test_the_view_is_the_words(texts):
    view = web1t(texts)
    assert len(view.documents) == len(texts) + 1
    for i, text in enumerate(texts):
        own = slice(*view.documents[i : i + 2])
        listed = web1t.words(text)
        assert view.hashes[own].tolist() == [hash_word(word) for word in listed]
        assert (np.diff(view.starts[own]) >= 0).all()
        for word, start, end in zip(listed, view.starts[own], view.ends[own], strict=True):
            assert start == end or len(text[start:end]) == len(word)
    assert view.sentences[-1] == len(view)


def test_clitics_have_offsets():
    view = web1t(["So I can't."])
    assert [("So I can't."[a:b]) for a, b in zip(view.starts, view.ends, strict=True)] == [
        "", "So", "I", "ca", "n't", ".", "",
    ]  # fmt: skip


def test_a_word_too_long_has_no_hash():
    assert web1t(["y" * 256]).hashes[1] == UNKNOWN
