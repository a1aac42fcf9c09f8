"""Views of Docs and of texts, protected spans, and the characters and hashes of words."""

from __future__ import annotations

import subprocess
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from disambig.text import (
    Words,
    align_tokens,
    characters as ch,
    documents,
    documents as protected,
    hash_word,
    hash_words,
    ngram_keys,
    protected_layer,
    protected_spans,
    view_of_docs,
    view_of_texts,
)

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
        places = slice(*view.documents[i : i + 2])
        assert_covered(doc, view.starts[places], view.ends[places])


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


def test_a_view_keeps_what_is_computed_from_it():
    view, computed = Words()(["one two", "three"]), []

    def tokens_from(view, first):
        computed.append(first)
        return np.arange(first, len(view))

    kept = view.cached(tokens_from, 1)
    assert view.cached(tokens_from, 1) is kept and view.cached(tokens_from, 2).tolist() == kept[1:].tolist()
    assert computed == [1, 2]
    layered = view.with_layer("near", np.ones(len(view), bool))
    assert layered.cached(tokens_from, 1) is not kept and list(layered.layers) == ["near"]
    assert not view.layers and np.array_equal(layered.hashes, view.hashes)


def test_a_large_batch_is_not_kept(monkeypatch):
    monkeypatch.setattr(documents, "_MAX_CACHED_CHARACTERS", 5)
    view_of_texts(["A longer text."], words)
    assert words.name not in documents._cached_texts


def test_spacy_is_not_imported():
    code = "import sys, disambig.text.documents; sys.exit('spacy' in sys.modules or 'numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


tokens = Words()


def spans(text):
    return [(text[start:end], kind) for start, end, kind in protected_spans(text)]


def layer(text):
    view = tokens([text])
    keep = protected_layer(view)
    return [text[start:end] for start, end in zip(view.starts[keep], view.ends[keep], strict=True)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('He said "go in" and left.', ['"go in"']),
        (
            "He said \u201cgo in\u201d and \u201ethere\u201c and \u00abhere\u00bb.",
            ["\u201cgo in\u201d", "\u201ethere\u201c", "\u00abhere\u00bb"],
        ),
        ('A 5" pipe of 6" length', []),
        ('A 5" pipe, "so called"', ['"so called"']),
        ('She said "go.\n\nThen "stop" came.', ['"stop"']),
        ('She said "go\non" then', ['"go\non"']),
        ("\u201cone \u201ctwo\u201d three", ["\u201ctwo\u201d"]),
        ("It's 'single' quoted", []),
        # marks beside hidden markup, as in "*emphasis*" and in the strings of notebooks
        ('He said "\x1fthe the\x1f" and left.', ['"\x1fthe the\x1f"']),
        ('He said "\x1fthe the"\x1f and "\x1fof of"\x1f', ['"\x1fthe the"', '"\x1fof of"']),
        ('a 5\x1f" or 6\x1f" board', []),
    ],
)
def test_quotations(text, expected):
    assert spans(text) == [(span, "quote") for span in expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Use `in x` or ``a ` b`` here.", ["`in x`", "``a ` b``"]),
        ("One ` only", []),
        ("One ` here\n\nand ` there", []),
        ("So:\n```py\nx in y\n```\nend", ["```py\nx in y\n```"]),
        ("So:\n~~~\nx in y", ["~~~\nx in y"]),
        ("A:\n\n    if x == y:\n    go in\n\nB", ["    if x == y:\n    go in\n"]),
        ("\tf(x);\n", ["\tf(x);\n"]),
        ("A line\n    went on = here", []),
        ("\tHe went to the house.\n", []),
        ("So:\n$ git add x\n  $ run -x\nend", ["$ git add x", "  $ run -x"]),
        (">>> print(in)\nit is", [">>> print(in)"]),
        ("It is\n$ 5 or $ five, a >>> b", []),
        ("It is <b class='in'>here</b> < 5 > 3", ["<b class='in'>", "</b>"]),
        ("a < b and c > d", []),
        ("x <!-- to do --> y", ["<!-- to do -->"]),
    ],
)
def test_code(text, expected):
    result = spans(text)
    assert {kind for _, kind in result} <= {"code"}
    assert list(dict.fromkeys(span for span, _ in result)) == expected


def _lines(*lines):
    return "\n".join(lines) + "\n"


NAMES = ("acid", "acid house", "of", "or", "than that", "by the sea side", "to | too, also.", "in")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (_lines(*NAMES), [_lines(*NAMES)]),
        ("Names:\n\n" + _lines(*NAMES) + "\nWe go there.", [_lines(*NAMES)]),
        (_lines(*NAMES[1:]), []),
        (_lines(*NAMES[:4], "this is one line of five words", *NAMES[4:]), []),
        (_lines(*NAMES[:4], "it ends,", *NAMES[4:]), []),
        (_lines(*(f"- {name}" for name in NAMES)), []),
        (_lines(*(f"  {name}  here" for name in NAMES)), []),
    ],
)
def test_word_lists(text, expected):
    assert spans(text) == [(span, "list") for span in expected]


def test_words_between_commas():
    text = "They are a, an, the,\nof, it's, its, then, than, and been."
    assert spans(text) == [(", an, the,\nof, it's, its, then, than,", "list")]
    for prose in ("It is red, green, blue, white, black, or, as they say, grey.", ", a,\n\nb, c, d, e, f,"):
        assert spans(prose) == []


def test_code_elements():
    assert ("<code>go to</code>", "code") in spans("See <code>go to</code> it")
    assert ("<pre>a <b>to</b> c</pre>", "code") in spans("See <pre>a <b>to</b> c</pre> it")
    assert all("go" not in span for span, _ in spans("See <code> go to"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See https://a.org/in?x=1, now", [("https://a.org/in?x=1", "url")]),
        ("See (www.a.org).", [("www.a.org", "url")]),
        ("Mail joe.in@x.org.", [("joe.in@x.org", "email")]),
        ("Hi @there_now and #their1!", [("@there_now", "tag"), ("#their1", "tag")]),
        ("in /usr/in or ~/to or ./by", [("/usr/in", "path"), ("~/to", "path"), ("/by", "path")]),
        ("C:\\in\\x and \\\\host\\in", [("C:\\in\\x", "path"), ("\\\\host\\in", "path")]),
        ("a/in.txt or a/b/c", [("a/in.txt", "path"), ("a/b/c", "path")]),
        ("call os.path or go_in now", [("os.path", "path"), ("go_in", "code")]),
        ("add Sub::To (in Net::in) to it", [("Sub::To", "code"), ("Net::in", "code")]),
        ("in: his :: hers::", []),
        ("his and/or her, 1/2, in/out", []),
        ("_in the house_ he was", []),
        ("at 5 @ 3 # 1 / 2 \\ _", []),
        ("The end.The start 3.14", []),
    ],
)
def test_chunks(text, expected):
    assert spans(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Bank of England was here.", ["Bank", "England"]),
        ("We saw Gone With the Wind.", ["Gone", "With", "Wind"]),
        ("Their house. There we go.", []),
        ("Then Mr. To, In and O'Brien", ["Mr", "To", "In"]),
        ("One line\nThere we go", []),
        ("Note: There we go (There too)", []),
        ("WHO is IT for?", ["WHO", "IT"]),
        ("WE GO TO THEIR HOUSE", []),
        ("I am A man and I'm I", ["A"]),
        ("Level A and all. A key, an array A: A lists", ["A", "A"]),
        ("The The man. Go Gone, and To To", ["Gone", "To", "To"]),
        ("\u00c9ole saw \u00c9ole", ["\u00c9ole"]),
    ],
)
def test_names(text, expected):
    assert layer(text) == expected


def test_words_that_overlap_a_span_are_protected():
    assert layer('so "go in" to') == ['"', "go", "in", '"']
    assert layer("mail me@x.org.") == ["me", "@", "x", ".", "org"]


MARKUP_PIECES = [
    *'aA .\n\t"`<>/@#_\\;=~\u201c\u201d\U0001f600\ud800',
    *("\n\n", "```", "~~~", "<code>", "</code>", "<!--", "-->", "    ", "in", "Go", "://", "www."),
]

MARKED_TEXT = st.lists(st.sampled_from(MARKUP_PIECES), max_size=25).map("".join)


@given(st.lists(MARKED_TEXT, max_size=3))
@settings(max_examples=max(100, settings.default.max_examples), deadline=None)
def test_the_layer_of_a_batch_equals_those_of_its_texts(texts):
    view = tokens(texts)
    keep = protected_layer(view)
    assert keep.tolist() == [flag for text in texts for flag in protected_layer(tokens([text])).tolist()]
    assert not keep[view.starts == view.ends].any()


@given(MARKED_TEXT, st.integers(1, 4))
@settings(max_examples=max(100, settings.default.max_examples), deadline=None)
def test_long_texts_are_processed_in_blocks(text, size):
    view = tokens(["The OLD Bank of BIG Ben, Gone. To\nTHE WHO " + text])
    whole = protected_layer(view)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(protected, "_WORDS_PER_PIECE", size)
        assert protected_layer(view).tolist() == whole.tolist()


@given(MARKED_TEXT)
@settings(max_examples=max(100, settings.default.max_examples), deadline=None)
def test_spans_lie_in_the_text_and_cover_words_in_the_layer(text):
    view = tokens([text])
    keep = protected_layer(view)
    for start, end, kind in protected_spans(text):
        assert 0 <= start < end <= len(text)
        assert kind in {"quote", "code", "url", "email", "tag", "path"}
        assert keep[(view.starts < end) & (view.ends > start) & (view.starts < view.ends)].all()


@pytest.mark.parametrize(
    "mark", ["@", "<code>", "`", '"', "<", "a_", "~~~\n", "    \n", "<!--", "a.b", "://", "\n\n"]
)
def test_many_marks_take_linear_time(mark):
    """Quadratic work on 50,000 marks would not finish within the test run."""
    text = mark * 50_000
    assert isinstance(protected_spans(text), list)
    assert protected_layer(tokens([text])).dtype == np.bool_


@pytest.mark.parametrize(
    "text",
    [
        "The treaty<ref name=A / was signed.\n\nHe left it > there.",
        "The treaty<ref name=A / was signed.\r\n \r\nHe left it > there.",
        "The treaty<ref name=A / was signed.\n" + "He left it.\n" * 12 + "A > B.",
        "The treaty<!ref was signed.\n\nHe left it > there.",
    ],
)
def test_a_stray_bracket_does_not_hide_the_paragraphs_up_to_the_next_one(text):
    assert protected_spans(text) == []


def test_a_tag_may_have_several_lines():
    tag = '<a href="x"\n   class="y"\r\n>'
    assert protected_spans(f"See {tag}this</a>.")[0] == (4, 4 + len(tag), "code")


def test_the_table_equals_the_functions():
    table = ch.table(ch.ALL)
    for code in [*range(0x3000), *range(0xD7F0, 0xE010), *range(0xFE00, 0x10500), *range(0x1D400, 0x1D800),
                 *range(0x1F000, 0x1FB00), 0xE0001, 0xE0100, 0xF0000, 0x10FFFF]:  # fmt: skip
        character = chr(code)
        assert table[code] >> ch.CLASS_SHIFT == ch.character_class(character), hex(code)
        assert table[code] & ch.CODE_MASK == ord(ch.fold_character(character)), hex(code)


def test_no_assigned_character_is_outside_the_crowded_planes():
    """All assigned characters beyond plane 0 are in the two ranges that the table covers."""
    outside = [*range(0x33480, 0xE0000), *range(0xE01F0, 0xF0000)]
    assert {unicodedata.category(chr(code)) for code in outside} == {"Cn"}


@pytest.mark.parametrize("size", [ch.ASCII, ch.ALPHABETS, ch.PLANE_0])
def test_small_tables_are_prefixes(size):
    assert np.array_equal(ch.table(size), ch.table(ch.ALL)[:size])


def test_folding_keeps_word_boundaries():
    """Folding never changes whether a character is a word character, so it cannot move a boundary."""
    table = ch.table(ch.ALL)
    classes = table >> np.uint32(ch.CLASS_SHIFT)
    inside = classes >= ch.FIRST_WORD
    folded = table & np.uint32(ch.CODE_MASK)
    apostrophe = classes == ch.APOSTROPHE
    digits = classes == ch.DIGIT
    assert (folded[digits] == ord("0")).all()
    assert (classes[folded[inside & ~digits]] >= ch.FIRST_LETTER).all()
    assert (folded[apostrophe] == ord("'")).all()


WORDS = ["mark", "root", "number", "the", "it's", "a", "<S>", "</S>", "Übermut", "naïve", "straße", "東京",
         "🙂", "👩‍🚀", "0", "...", "x" * 7, "x" * 8, "x" * 9, "x" * 255]  # fmt: skip


def test_hashes_are_those_of_spacy():
    from spacy.strings import hash_string

    assert [hash_word(word) for word in WORDS] == [hash_string(word) for word in WORDS]


@given(st.text(st.characters(exclude_categories=["Cs"])))
@settings(deadline=None)  # the first call imports spaCy
def test_any_text_has_the_hash_of_spacy(text):
    from spacy.strings import hash_string

    assert hash_word(text) == hash_string(text)


def test_the_kernel_mixes_like_the_reference():
    from disambig.text import fmix, fmix64

    keys = hash_words(WORDS)
    assert [int(fmix64(key)) for key in keys] == fmix(keys).tolist()


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (["the"], 1591514523251476171),
        (["in", "the"], 7850330892135404283),
        (["in", "the", "old", "red", "house"], 5279739841991216300),
    ],
)
def test_keys_of_ngrams_are_fixed_and_are_the_formula(words, key):
    """Count tables on disk contain these numbers, so they must never change; compare with the formula."""
    mask = 2**64 - 1
    places = (
        0xA24BAED4963EE407,
        0x9FB21C651E98DF25,
        0xD6E8FEB86659FD93,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
    )
    seed = hash_word("disambig.words.v1")
    value = seed + len(words) * 0x9E3779B97F4A7C15
    value = (value + sum(place * hash_word(word) for place, word in zip(places, words, strict=False))) & mask
    for multiplier in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value = (value ^ (value >> 33)) * multiplier & mask
    value ^= value >> 33
    assert value == key
    assert ngram_keys(hash_words(words)[None, :], seed).tolist() == [key]


@given(st.lists(st.text(max_size=40), min_size=32, max_size=60))
def test_many_words_hash_like_single_ones(words):
    assert hash_words(words).tolist() == [hash_word(word) for word in words]
