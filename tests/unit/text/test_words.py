"""The tokenisation `disambig.words.v1`: examples, a naive oracle, and both implementations."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from disambig.text import END_HASH, START_HASH, UNKNOWN, TokenView, Words, hash_word

words = Words()
TRICKY = st.sampled_from(
    [*"aAbBzZ01.'\u2019\u02bc,:!?\u2026\u3002\uff01\n\r\t \"\u201c\u201d\u201e)(]\u00ab\u00bb-_",
     *"=\x00\ud800\u0301\u00ad\u2029", "\u0130", "\u03a3", "\u00e9", "\u00df", "\U0001f600", "\U0001d400",
     "\u4e09", "\u0662", "\u00bd", "\r\n", "\n\n", "Mr.", "J.", ". A", "it's", " "]
)  # fmt: skip
TEXT = st.one_of(
    st.lists(TRICKY, max_size=30).map("".join), st.text(st.characters(exclude_categories=[]), max_size=40)
)
COLUMNS = ("hashes", "starts", "ends", "sentences", "documents")


def both(texts):
    """Return the views of both implementations."""
    views = []
    with pytest.MonkeyPatch.context() as patch:
        for engine in ("numpy", "numba"):
            patch.setenv("DISAMBIG_ENGINE", engine)
            views.append(words(texts))
    return views


def same(first: TokenView, second: TokenView) -> None:
    for column in COLUMNS:
        a, b = getattr(first, column), getattr(second, column)
        assert a.dtype == b.dtype
        assert a.tolist() == b.tolist(), column


def inner(text):
    """Return the words without boundaries."""
    return [word for word in words.words(text) if word not in ("<S>", "</S>")]


def sentences(text):
    return " ".join(words.words(text)).replace("<S>", "").replace("</S>", "|").split("|")[:-1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It's three o'clock.", "it's three o'clock ."),
        ("It\u2019s they\u02bcre", "it's they're"),
        ("cannot can not", "cannot can not"),
        ("a well-known 2nd-hand shop", "a well - known 0nd - hand shop"),
        ("'tis the dogs' \u2018house\u2019", "' tis the dogs ' ' house '"),
        ("3.14 1,000 10:30 1..2 3. 4 v1.2b 1990's", "0.00 0,000 00:00 0 .. 0 0 . 0 v0.0b 0000 ' s"),
        ("a--b ... == ?!", "a -- b ... == ? !"),
        ("\u201cHi\u201d \u201ethere\u201f", '" hi " " there "'),
        ("\u00dcBER Stra\u00dfe \u0130x", "\u00fcber stra\u00dfe \u0130x"),
        ("e\u0301t\u00e9 don\u2019\u2019t", "e\u0301t\u00e9 don '' t"),
        ("\u0661\u0662 \u00bd x\u00b2", "00 \u00bd x\u00b2"),
        ("nul\x00in\u00adside", "nul in side"),
        ("lone\ud800surrogate", "lone surrogate"),
        ("\U0001f600\U0001f600 snake_case", "\U0001f600\U0001f600 snake _ case"),
        ("\U0001d400b\U00010400", "\U0001d400b\U00010428"),
    ],
)
def test_words(text, expected):
    assert " ".join(inner(text)) == expected


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("He left. She stayed.", 2),
        ("He left. she stayed", 1),
        ("He said \u201cStop.\u201d Then he left.", 2),
        ('He said "Why?" and left.', 1),
        ("He left (at last.) Then we ate.", 2),
        ("Wait... 3 of us came!? (Really.) Yes.", 4),
        ("Mr. Fox met Dr. Henry. J. Cow came.", 2),
        ("See Fig. 2 and p. 4 of it.", 1),
        ("The U.S. Senate", 1),
        ("No! Mr.. Fox", 3),
        ("We ate. \u00bfQu\u00e9 tal?", 2),
        ("one\ntwo", 1),
        ("one\n\ntwo", 2),
        ("one\r\ntwo", 1),
        ("one\r\n\r\ntwo", 2),
        ("one\r\rtwo", 2),
        ("one\r \n\x0b\ntwo", 2),
        ("one\u2029two", 2),
        ("one\u2028two", 1),
        ("\u3042\u3002\u3044\uff01\u300c\u3046\u3002\u300d\u3048", 4),
        ("End.", 1),
    ],
)
def test_sentences(text, count):
    assert len(sentences(text)) == count


@pytest.mark.parametrize("text", ["", " ", "\n\n\n", "\x00", "\ud800 \u00ad", "\r\n \u2029"])
def test_a_document_without_words_has_no_tokens(text):
    for view in both([text, "a", text]):
        assert view.documents.tolist() == [0, 0, 3, 3]
        assert view.sentences.tolist() == [0, 3]
    assert words.words(text) == []


def test_no_documents():
    for view in both([]):
        assert len(view) == 0
        assert view.documents.tolist() == [0]
        assert view.sentences.tolist() == [0]


def test_offsets_are_into_the_own_text_and_boundaries_have_no_width():
    texts = ["  Hi  there. You", "x\U0001f600y"]
    for view in both(texts):
        cut = [
            texts[d][a:b]
            for d, a, b in zip(
                view.document_indices(np.arange(len(view))), view.starts, view.ends, strict=True
            )
        ]
        assert cut == ["", "Hi", "there", ".", "", "", "You", "", "", "x", "\U0001f600", "y", ""]
        assert view.starts[[0, 4, 5]].tolist() == [2, 12, 13]
        assert view.hashes[[0, 4]].tolist() == [START_HASH, END_HASH]


def test_a_word_too_long_to_be_one_stays_without_a_hash():
    texts = ["a " + "x" * 255 + " " + "y" * 256 + " " + "\u00e9" * 128 + "=" * 300 + " b"]
    for view in both(texts):
        assert [value == UNKNOWN for value in view.hashes.tolist()] == [0, 0, 0, 1, 1, 1, 0, 0]
        assert view.ends[2] - view.starts[2] == 255
        assert view.ends[3] - view.starts[3] == 256
        assert view.hashes[2] == hash_word("x" * 255)


@given(st.lists(TEXT, max_size=4))
@settings(max_examples=max(100, settings.default.max_examples), deadline=None)
def test_kernel_and_reference_agree(texts):
    same(*both(texts))


@given(TEXT)
@settings(max_examples=max(100, settings.default.max_examples), deadline=None)
def test_words_are_those_of_a_naive_reading(text):
    assert inner(text) == naive(text)
    view = words([text])
    width = view.ends > view.starts
    assert view.hashes[width].tolist() == [hash_word(word) for word in naive(text)]


def naive(text):
    """Read characters one by one with Python's Unicode data, as the module's docstring says it."""

    def kind(c):
        if c in "'\u2019\u02bc":
            return "'"
        category = unicodedata.category(c)
        if category == "Nd":
            return "0"
        if category[0] in "LMN":
            return "a"
        return " " if category[0] == "Z" or category in ("Cc", "Cf", "Cs") else c

    kinds = [kind(c) for c in text]
    joined = list(kinds)
    for i in range(1, len(kinds) - 1):
        around = kinds[i - 1] + kinds[i + 1]
        if (kinds[i] == "'" and around == "aa") or (kinds[i] in ".,:" and around == "00"):
            joined[i] = "a"
    found = []
    for i, c in enumerate(text):
        if joined[i] == " ":
            continue
        small = "0" if kinds[i] == "0" else c.lower() if len(c.lower()) == 1 else c
        small = {"\u02bc": "'", **dict.fromkeys("\u2018\u2019\u201b", "'"),
                 **dict.fromkeys("\u201c\u201d\u201e\u201f", '"')}.get(c, small)  # fmt: skip
        inside = joined[i] in "a0"
        if i and (
            (inside and joined[i - 1] in "a0")
            or (not inside and c == text[i - 1] and joined[i - 1] not in "a0")
        ):
            found[-1] += small
        else:
            found.append(small)
    return found


@given(st.lists(TEXT, max_size=4))
@settings(max_examples=max(100, settings.default.max_examples), deadline=None)
def test_a_view_of_several_documents_is_the_views_of_each_in_a_row(texts):
    view = words(texts)
    alone = [words([text]) for text in texts]
    for column in ("hashes", "starts", "ends"):
        assert getattr(view, column).tolist() == [x for one in alone for x in getattr(one, column).tolist()]
    at = np.cumsum([0, *map(len, alone)])
    assert view.documents.tolist() == at.tolist()
    assert view.sentences.tolist() == [
        *(
            first + int(start)
            for one, start in zip(alone, at, strict=False)
            for first in one.sentences[:-1].tolist()
        ),
        int(at[-1]),
    ]


@given(TEXT)
@settings(deadline=None)
def test_every_sentence_begins_and_ends_with_its_boundary(text):
    view = words([text])
    assert (view.hashes[view.sentences[:-1]] == START_HASH).all()
    assert (view.hashes[view.sentences[1:] - 1] == END_HASH).all() or not len(view)
    assert (np.diff(view.sentences) > 2).all()


def test_the_hash_memory_is_bounded(monkeypatch):
    from disambig.text import tokenisations as words_reference

    monkeypatch.setenv("DISAMBIG_ENGINE", "numpy")
    monkeypatch.setattr(words_reference, "_REMEMBERED", 10)
    monkeypatch.setattr(words_reference, "_hashes", words_reference._Hashes())
    names = [f"w{chr(97 + i)}{chr(97 + j)}" for i in range(5) for j in range(5)]
    view = words([" ".join(names)])
    assert view.hashes[1:-1].tolist() == [hash_word(name) for name in names]
    assert len(words_reference._hashes) <= 10


def test_dense_text_needs_more_room_than_ordinary_text():
    text = "\u3042\u3002" * 2000
    same(*both([text]))
    assert len(words([text])) == 8000


def test_a_huge_line_stays_within_twenty_times_its_size(monkeypatch):
    monkeypatch.setenv("DISAMBIG_ENGINE", "numba")
    words(["warm up"])
    text = "Some words, in one line. " * 400_000  # 10 MB
    tracemalloc.start()
    view = words([text])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(view) == 400_000 * 9
    assert peak < 20 * len(text)


def test_a_text_beyond_the_offsets_is_refused():
    from disambig.errors import UserError

    class Long(str):
        def __len__(self):
            return 2**31

    with pytest.raises(UserError, match=r"\[D201\] text 2 .*2,147,483,648"):
        words(["a", Long("b")])


def test_little_text_loads_no_numba():
    code = (
        "import sys; from disambig.text.tokenisations import Words; Words()(['A.']); "
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-W", "error", "-c", code], check=False).returncode == 0
