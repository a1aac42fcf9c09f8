"""Tokenisations: both implementations against a naive one, Web 1T, spaCy's tokens, layers."""

from __future__ import annotations

import itertools
import subprocess
import sys
import tracemalloc
import unicodedata
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import spacy
from hypothesis import given, settings, strategies as st
from spacy.tokens import Doc
from spacy.vocab import Vocab

from disambig.errors import UserError
from disambig.text import (
    END_HASH,
    LONGEST_PASSAGE,
    SPOKEN_CONSONANT,
    SPOKEN_VOWEL,
    START_HASH,
    UNKNOWN,
    SpacyTokens,
    TokenView,
    Web1T,
    Words,
    content_words,
    hash_word,
    paragraph_offsets,
    passage_offsets,
    spacy_tokens as stems,
    stem_layer,
    view_of_docs,
)

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


def assert_equal_views(first: TokenView, second: TokenView) -> None:
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


def test_overlong_words_have_no_hash():
    texts = ["a " + "x" * 255 + " " + "y" * 256 + " " + "\u00e9" * 128 + "=" * 300 + " b"]
    for view in both(texts):
        assert [value == UNKNOWN for value in view.hashes.tolist()] == [0, 0, 0, 1, 1, 1, 0, 0]
        assert view.ends[2] - view.starts[2] == 255
        assert view.ends[3] - view.starts[3] == 256
        assert view.hashes[2] == hash_word("x" * 255)


@given(st.lists(TEXT, max_size=4))
@settings(max_examples=max(100, settings.default.max_examples), deadline=None)
def test_kernel_and_reference_agree(texts):
    assert_equal_views(*both(texts))


@given(TEXT)
@settings(max_examples=max(100, settings.default.max_examples), deadline=None)
def test_words_equal_a_naive_reading(text):
    assert inner(text) == naive(text)
    view = words([text])
    width = view.ends > view.starts
    assert view.hashes[width].tolist() == [hash_word(word) for word in naive(text)]


def naive(text):
    """Tokenise character by character with Python's Unicode data, following the module's docstring."""

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
    result = []
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
            result[-1] += small
        else:
            result.append(small)
    return result


@given(st.lists(TEXT, max_size=4))
@settings(max_examples=max(100, settings.default.max_examples), deadline=None)
def test_a_view_of_several_documents_joins_their_views(texts):
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
    monkeypatch.setattr(words_reference, "_MAX_CACHED", 10)
    monkeypatch.setattr(words_reference, "_hashes", words_reference._Hashes(words_reference.normalised))
    names = [f"w{chr(97 + i)}{chr(97 + j)}" for i in range(5) for j in range(5)]
    view = words([" ".join(names)])
    assert view.hashes[1:-1].tolist() == [hash_word(name) for name in names]
    assert len(words_reference._hashes) <= 10


def test_text_with_many_tokens_per_character():
    text = "\u3042\u3002" * 2000
    assert_equal_views(*both([text]))
    assert len(words([text])) == 8000


def test_a_huge_line_needs_at_most_twenty_times_its_size(monkeypatch):
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
def test_web1t_words(text, expected):
    assert " ".join(web1t.words(text)) == expected


@given(st.lists(st.text(st.characters(exclude_categories=[]), max_size=30), max_size=3))
@settings(max_examples=100, deadline=None)
def test_web1t_views_equal_their_words(texts):
    view = web1t(texts)
    assert len(view.documents) == len(texts) + 1
    for i, text in enumerate(texts):
        tokens = slice(*view.documents[i : i + 2])
        listed = web1t.words(text)
        assert view.hashes[tokens].tolist() == [hash_word(word) for word in listed]
        assert (np.diff(view.starts[tokens]) >= 0).all()
        for word, start, end in zip(listed, view.starts[tokens], view.ends[tokens], strict=True):
            assert start == end or len(text[start:end]) == len(word)
    assert view.sentences[-1] == len(view)


@given(st.from_regex(r"[a-z]([ -~]{0,30})", fullmatch=True), st.sampled_from("\u00e9\u4e2d\U0001f600"))
def test_web1t_words_beside_other_characters(text, character):
    assert web1t.words(f"{character} {text}")[2:] == web1t.words(text)[1:]


def test_clitics_have_offsets():
    view = web1t(["So I can't."])
    assert [("So I can't."[a:b]) for a, b in zip(view.starts, view.ends, strict=True)] == [
        "", "So", "I", "ca", "n't", ".", "",
    ]  # fmt: skip


TOKENS = SpacyTokens()
NLP = spacy.blank("en")

SPACY_PIECES = st.sampled_from(
    ["It's", " ", "  ", "\n", "\n\n", ".", "...", "(", ")", '"', "U.S.", "mark", "\U0001f600", "!"]
)

SPACY_TEXTS = st.lists(st.lists(SPACY_PIECES, max_size=12).map("".join), max_size=4)


@given(SPACY_TEXTS)
@settings(deadline=None)
def test_a_view_holds_the_tokens_of_every_document(texts):
    view = TOKENS(texts)
    words = view.ends > view.starts
    docs = [NLP.make_doc(text) for text in texts]
    for i, doc in enumerate(docs):
        inside = np.arange(view.documents[i], view.documents[i + 1])
        tokens = inside[words[inside]]
        expected = [token for token in doc if not token.is_space]
        assert view.starts[tokens].tolist() == [token.idx for token in expected]
        assert view.ends[tokens].tolist() == [token.idx + len(token) for token in expected]
        assert view.hashes[tokens].tolist() == [hash_word(token.lower_) for token in expected]
    bounds = view.hashes[view.sentences[:-1]], view.hashes[view.sentences[1:] - 1]
    assert (bounds[0] == START_HASH).all() and (bounds[1] == END_HASH).all()
    assert np.count_nonzero(~words) == 2 * (len(view.sentences) - 1)
    assert set(view.documents.tolist()) <= set(view.sentences.tolist())


def test_sentences_end_after_stops_with_what_closes_and_at_blank_lines():
    expected = TOKENS.words('She left (at last!) He stayed. "Why?" they ask ... No\n\nNever')
    assert " ".join(expected) == (
        '<S> she left ( at last ! ) </S> <S> he stayed . " </S> <S> why ? " </S> '
        "<S> they ask ... </S> <S> no </S> <S> never </S>"
    )


def test_sentences_that_a_doc_has_are_kept():
    doc = Doc(NLP.vocab, words=["One", ".", "Two", "three"], sent_starts=[True, False, False, True])
    view = TOKENS.of_docs([doc, NLP.make_doc("One. Two")])
    assert np.diff(view.sentences).tolist() == [5, 3, 4, 3]


def test_unset_sentence_starts_follow_the_rule():
    words = ["One", ".", "Two", ".", "three", "four", "."]
    doc = Doc(NLP.vocab, words=words, sent_starts=[None, None, False, None, None, True, None])
    assert np.diff(TOKENS.of_docs([doc]).sentences).tolist() == [6, 3, 4]


def test_docs_without_word_attributes():
    data = NLP.make_doc("The  Cats sat").to_bytes()
    view = TOKENS.of_docs([Doc(Vocab()).from_bytes(data)])
    assert view.hashes[view.ends > view.starts].tolist() == [hash_word(w) for w in ("the", "cats", "sat")]


def test_the_tokens_of_a_doc_are_kept():
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


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("zh", ["\u6211\u6765\u3002", "\u4f60\u597d\uff01\u300d", "\u662f\uff1f", "\u597d"]),
        ("ar", ["\u0646\u0627\u0645 \u061f ", "\u0646\u0639\u0645 ."]),
        ("hi", ["\u0930\u093e\u092e \u0917\u092f\u093e \u0964 ", "\u0935\u0939 \u0906\u0908 \u0964"]),
        ("en", ['He said "yes . . . " ', "(Then?) ", "No!? ... ", "Maybe"]),
    ],
)
def test_sentences_end_after_the_stops_of_every_script(language, sentences):
    text = "".join(sentences)
    view = SpacyTokens(language)([text])
    starts = [text[view.starts[i] :] for i in view.sentences[:-1].tolist()]
    assert starts == ["".join(sentences[i:]) for i in range(len(sentences))]


def test_japanese_texts_longer_than_the_tokeniser_accepts():
    pytest.importorskip("sudachipy")
    pytest.importorskip("sudachidict_core")
    sentence = "\u72ac\u304c\u3044\u308b\u3002 \u732b\n"
    text = sentence * 5_000
    tokens = SpacyTokens("ja")
    view, alone = tokens([text, "\u72ac" * 20_000]), tokens([sentence])
    n_tokens = int(view.documents[1])
    words = view.ends[:n_tokens] > view.starts[:n_tokens]
    expected = alone.hashes[alone.ends > alone.starts].tolist() * 5_000
    assert view.hashes[:n_tokens][words].tolist() == expected
    last = np.flatnonzero(words)[-1]
    assert text[view.starts[last] : view.ends[last]] == "\u732b" and view.ends[last] == len(text) - 1


def test_docs_of_two_vocabularies_in_one_batch():
    other = spacy.blank("en")
    view = TOKENS.of_docs([NLP.make_doc("alpha mark"), other.make_doc("omegaword")])
    words = view.hashes[view.ends > view.starts]
    assert words.tolist() == [hash_word(word) for word in ("alpha", "mark", "omegaword")]


@pytest.mark.parametrize("text", ["\ud800 lone", "a" * 300])
def test_odd_texts(text):
    assert len(TOKENS([text])) > 2


SHORT_TEXT = st.text(st.sampled_from("aB c.!?'\n1,"), max_size=30)


def test_sentences_of_a_document_do_not_depend_on_the_one_before():
    """A quotation mark at the start follows a document that ends with a stop."""
    tokens = SpacyTokens()
    alone, second = tokens(["'1?"]), tokens(["'1?", "'1?"]).take(np.array([1]))
    assert second.sentences.tolist() == alone.sentences.tolist()
    assert second.hashes.tolist() == alone.hashes.tolist()


@given(
    st.lists(SHORT_TEXT, max_size=5),
    st.data(),
    st.sampled_from([Words(), Web1T(), SpacyTokens(layers=["stem"])]),
)
def test_taking_some_documents(texts, data, tokenisation):
    index = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=6)) if texts else []
    view = tokenisation(texts)
    view = replace(view, layers=dict(view.layers) | {"length": view.ends - view.starts})
    taken, alone = view.take(np.array(index, np.int64)), tokenisation([texts[i] for i in index])
    assert list(taken.texts) == list(alone.texts)
    assert taken.tokenisation == alone.tokenisation
    for column in ("hashes", "starts", "ends", "sentences", "documents"):
        result, expected = getattr(taken, column), getattr(alone, column)
        assert result.dtype == expected.dtype
        assert result.tolist() == expected.tolist(), column
    for name, layer in alone.layers.items():
        assert taken.layers[name].tolist() == layer.tolist()
    assert taken.layers["length"].tolist() == (alone.ends - alone.starts).tolist()


@given(
    st.lists(st.lists(st.text(st.sampled_from("aB c.!?'1,"), max_size=20), max_size=4), max_size=3),
    st.sampled_from(["\n\n", "\n \t\n", "\u2029"]),
)
def test_offsets_of_paragraphs(documents, gap):
    view = Words()([gap.join(paragraphs) for paragraphs in documents])
    alone = Words()([text for paragraphs in documents for text in paragraphs or [""]])
    assert paragraph_offsets(view).tolist() == np.unique(alone.documents).tolist()


@pytest.mark.parametrize("find", [paragraph_offsets, passage_offsets])
def test_offsets_are_found_once_and_cannot_be_changed(find):
    view = Words()([f"{sentence(90)} {sentence(90)}\n\n{sentence(90)} {sentence(90)}"])
    offsets = find(view)
    assert find(view) is offsets
    with pytest.raises(ValueError, match="read-only"):
        offsets[0] = 1


def sentence(n_words: int) -> str:
    return " ".join(["Words", *["again"] * (n_words - 1)]) + "."


@given(st.lists(st.integers(1, 130), min_size=1, max_size=12), st.integers(1, 130))
def test_long_paragraphs_are_cut_between_sentences(sizes, before):
    text = " ".join(map(sentence, sizes))
    view = Words()([f"{sentence(before)}\n\n{text}", text])
    offsets = passage_offsets(view)
    assert set(offsets.tolist()) <= {*view.sentences.tolist(), len(view)}
    for start, end in itertools.pairwise(offsets.tolist()):
        inside = (view.sentences > start) & (view.sentences < end)
        assert end - start <= LONGEST_PASSAGE or not inside.any()
    # the cuts do not depend on earlier paragraphs, and there are no more than necessary
    alone = np.diff(passage_offsets(Words()([text])))
    first = np.diff(passage_offsets(Words()([sentence(before)])))
    assert np.diff(offsets).tolist() == [*first, *alone, *alone]
    assert (alone[:-1] + alone[1:] > LONGEST_PASSAGE).all()


BANKS = "The banks were closed. He RUNS to  the river's mouth!\n\nNo. 5 mark"


def test_sentences_of_tokens():
    view = Words()([BANKS, "", "A b. C"])
    positions = np.arange(len(view))
    sentences = view.sentence_indices(positions)
    assert sentences.tolist() == [
        i for i, size in enumerate(np.diff(view.sentences).tolist()) for _ in range(size)
    ]
    bounds = [view.sentence_bounds(position) for position in positions.tolist()]
    assert bounds == [tuple(view.sentences[i : i + 2].tolist()) for i in sentences.tolist()]


def layer_values(view, layer):
    """Return (word, value) of every token with a value in a layer."""
    values = view.layers[layer].tolist()
    document = view.document_indices(np.arange(len(view))).tolist()
    return [
        (view.texts[d][s:e], v)
        for d, s, e, v in zip(document, view.starts.tolist(), view.ends.tolist(), values, strict=True)
        if v
    ]


def test_stems_are_those_of_content_words():
    view = SpacyTokens(layers=["stem"])([BANKS])
    expected = {"banks": "bank", "closed": "close", "RUNS": "run", "river": "river", "mouth": "mouth"}
    expected |= {"5": "5", "mark": "mark"}
    assert layer_values(view, "stem") == [(word, hash_word(stem)) for word, stem in expected.items()]
    assert (content_words(view, "en") == (view.layers["stem"] != 0)).all()


def test_stems_are_thread_safe(monkeypatch):
    stems._stem_cache.cache_clear()
    monkeypatch.setattr(stems, "_MAX_CACHED_STEMS", 500)  # the cache is cleared while other threads read it
    endings = ("ing", "ational", "fulness", "ed", "ies", "ization")
    words = [f"{a}{b}{c}{end}" for a in "bdgkmt" for b in "aeiou" for c in "lnrst" for end in endings]
    views = [SpacyTokens().of_sentences([part]) for part in (words, words[::-1], words[300:] + words[:300])]
    expected = [stem_layer(view, "en") for view in views]
    stems._stem_cache.cache_clear()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            result = list(threads.map(lambda view: stem_layer(view, "en"), views * 6))
    finally:
        sys.setswitchinterval(interval)
    assert all((item == right).all() for item, right in zip(result, expected * 6, strict=True))


def test_another_language_has_its_own_stemmer():
    view = SpacyTokens("de", layers=["stem"])(["Die Häuser standen leer"])
    assert ("Häuser", hash_word("haus")) in layer_values(view, "stem")


@pytest.mark.parametrize(
    ("language", "layers", "code"),
    [("ja", ["stem"], "D203"), ("en", ["stems"], "D204"), ("en", "stem", "D204")],
)
def test_unknown_layers_and_languages_without_stems_are_refused(language, layers, code):
    with pytest.raises(UserError, match=code):
        SpacyTokens(language, layers=layers).of_sentences([["a"]])


def test_a_language_that_spacy_does_not_know_is_named():
    with pytest.raises(UserError, match=r"D202.*'zz'"):
        SpacyTokens("zz")(["a"])


def test_tags_and_lemmas_of_docs_are_used():
    nlp = spacy.blank("en")
    words, tags = ["Geese", "fly", "to", "the", "SYM"], ["NNS", "VBP", "IN", "DT", "SYM"]
    doc = Doc(nlp.vocab, words=words, tags=tags, lemmas=["Goose", "fly", "to", "the", "root"])
    view = SpacyTokens(layers=["tag", "lemma"]).of_docs([doc])
    assert layer_values(view, "tag") == [
        (word, hash_word(tag)) for word, tag in zip(words, tags, strict=True)
    ]
    expected = [("Geese", "goose"), ("fly", "fly"), ("SYM", "root")]  # no stop words
    assert layer_values(view, "lemma") == [(word, hash_word(lemma)) for word, lemma in expected]


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
    assert layer_values(view, "tag") == [("Birds", hash_word("NNS"))]


def test_coarse_tags_replace_missing_tags():
    vocab = spacy.blank("en").vocab
    coarse = Doc(vocab, words=["They", "bank"], pos=["PRON", "VERB"])
    fine = Doc(vocab, words=["banks"], pos=["NOUN"], tags=["NNS"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        view = SpacyTokens(layers=["tag"]).of_docs([coarse, fine])
    expected = [("They", "PRON"), ("bank", "VERB"), ("banks", "NNS")]
    assert layer_values(view, "tag") == [(word, hash_word(tag)) for word, tag in expected]


def test_no_docs_and_empty_docs_need_no_warning():
    tokens = SpacyTokens(layers=["tag", "stem", "lemma"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(tokens.of_docs([])) == 0
        assert len(tokens.of_docs([spacy.blank("en")("")])) == 0


def test_layers_are_in_the_name():
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
    stem_by_hash = {}
    for hashed, stem in zip(view.hashes.tolist(), layer.tolist(), strict=True):
        assert stem_by_hash.setdefault(hashed, stem) == stem
    assert not layer[view.ends == view.starts].any()


@pytest.mark.parametrize("sign", ["\ufffc", SPOKEN_VOWEL, SPOKEN_CONSONANT])
def test_hidden_code_is_one_word(sign):
    text = f"Run {sign * 12}, ({sign}) or an {sign * 3}."
    view = SpacyTokens()([text])
    words = [text[start:end] for start, end in zip(view.starts, view.ends, strict=True) if start < end]
    assert words == ["Run", sign * 12, ",", "(", sign, ")", "or", "an", sign * 3, "."]
    assert list(view.texts) == [text]
