"""Protected spans: quotations, code, addresses and names."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from disambig.text import Words, documents as protected, protected_layer, protected_spans

words = Words()


def spans(text):
    return [(text[start:end], kind) for start, end, kind in protected_spans(text)]


def layer(text):
    view = words([text])
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


PIECES = [
    *'aA .\n\t"`<>/@#_\\;=~\u201c\u201d\U0001f600\ud800',
    *("\n\n", "```", "~~~", "<code>", "</code>", "<!--", "-->", "    ", "in", "Go", "://", "www."),
]


TEXT = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


@given(st.lists(TEXT, max_size=3))
@settings(max_examples=max(100, settings.default.max_examples), deadline=None)
def test_the_layer_of_a_batch_equals_those_of_its_texts(texts):
    view = words(texts)
    keep = protected_layer(view)
    assert keep.tolist() == [flag for text in texts for flag in protected_layer(words([text])).tolist()]
    assert not keep[view.starts == view.ends].any()


@given(TEXT, st.integers(1, 4))
@settings(max_examples=max(100, settings.default.max_examples), deadline=None)
def test_long_texts_are_processed_in_blocks(text, size):
    view = words(["The OLD Bank of BIG Ben, Gone. To\nTHE WHO " + text])
    whole = protected_layer(view)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(protected, "_WORDS_PER_PIECE", size)
        assert protected_layer(view).tolist() == whole.tolist()


@given(TEXT)
@settings(max_examples=max(100, settings.default.max_examples), deadline=None)
def test_spans_lie_in_the_text_and_cover_words_in_the_layer(text):
    view = words([text])
    keep = protected_layer(view)
    for start, end, kind in protected_spans(text):
        assert 0 <= start < end <= len(text)
        assert kind in {"quote", "code", "url", "email", "tag", "path"}
        assert keep[(view.starts < end) & (view.ends > start) & (view.starts < view.ends)].all()


@pytest.mark.parametrize(
    "mark", ["@", "<code>", "`", '"', "<", "a_", "~~~\n", "    \n", "<!--", "a.b", "://", "\n\n"]
)
def test_many_marks_take_linear_time(mark):
    """Quadratic work on 100,000 marks would not finish within the test run."""
    text = mark * 100_000
    assert isinstance(protected_spans(text), list)
    assert protected_layer(words([text])).dtype == np.bool_


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
