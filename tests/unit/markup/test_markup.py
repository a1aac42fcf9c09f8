"""Markup as plain text of the same length: what holds for Markdown and LaTeX."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from processor_time import grows_linearly

from disambig.markup import BREAK, OPAQUE, has_markup, plain_text, read_markup
from disambig.text import HIDDEN, Words, protected_layer

SAMPLES = Path(__file__).parents[2] / "texts"


PIECES = [
    *"aA .\n\r\t*_~`$[](){}<>|#>-+=&\\%!^:'\"1é\u2029\ufeff\U0001f600\ud800",
    *(
        "\n\n", "\r\n", "```", "~~~", "<!--", "-->", "    ", "- ", "1. ", "> ", "[!NOTE]", "](", "[^1]",
        "|-|-|\n",
    ),
    *(
        "<code>", "</code>", "<pre>", "</pre>", "$$", "[a]:", "---\n", "===\n", "{{", "}}", "http://x",
        "&amp;",
    ),
    *(
        "\\begin{", "\\end{", "verbatim}", "equation}", "tabular}", "itemize}", "document}", "\\emph{",
        "\\cite[",
    ),
    *("\\verb|", "\\foo", "\\(", "\\)", "\\[", "\\]", "\\'", "\\c{", "\\item[", "``", "''", "\\footnote{"),
]  # fmt: skip


TEXT = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


PATHS = ("x.md", "x.tex")


@given(TEXT, st.sampled_from(PATHS))
@settings(max_examples=max(100, settings.default.max_examples), deadline=None)
def test_offsets_stay_those_of_the_file(text, path):
    result = read_markup(path, text)
    assert len(result.text) == len(text)
    for old, new in zip(text, result.text, strict=True):
        assert new in (old, HIDDEN, " ", OPAQUE, BREAK, "\u201c", "\u201d", "\u2018")
        assert old in "\r\n" or new not in "\r\n"
    for start, end in result.comments:
        assert 0 <= start < end <= len(text)


@given(st.text(alphabet="abc ,.é", max_size=60), st.sampled_from(PATHS))
def test_prose_without_marks_stays_as_it_is(text, path):
    assert plain_text(path, "A " + text) == "A " + text


@pytest.mark.parametrize("size", [25_000, pytest.param(300_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "mark",
    [
        "[", "*", "`", "{", "$", "_", "<", "](", "![", "[](x", "<!--", "~~", "- ", "> ", "\\(", "\\[",
        "a*", "$a ", "\\emph{", "\\begin{align}", "\\begin{verbatim}", "\\verb|", "%\n", "|\n", "&", "<a ",
        "{{", "- x\n", "\\foo[", "``", "[a]: b\n", "a\n=\n", "\r", "\r\n", "> [!NOTE]\n> ", "\\'", "}",
        "$$\n", "<code>",
    ],
)  # fmt: skip
def test_many_marks_take_linear_time(path, mark, size):
    assert grows_linearly(lambda size: plain_text(path, mark * (size // len(mark))), size)


@pytest.mark.parametrize(
    ("path", "remaining"),
    [("a.md", "x \x1fy\x1f"), ("A.MARKDOWN", "x \x1fy\x1f"), ("a.txt", "x *y*"), ("md", "x *y*")],
)
def test_the_suffix_says_what_markup_there_is(path, remaining):
    assert plain_text(path, "x *y*") == remaining
    assert has_markup(path) == (remaining != "x *y*")


def test_text_without_markup_has_html_comments_as_well():
    text = "a <!-- b --> c <!-- d <!-- --> e <!-- f"
    result = read_markup("a.txt", text)
    assert result.text == text
    assert [text[start:end] for start, end in result.comments] == ["<!-- b -->", "<!-- d <!-- -->"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Call `f x` or `g` now.", "Call ##### or ### now."),
        ("Set `x`, (`y`) and `z`.\r\n", "Set ###, (###) and ###.\r\n"),
        ("An ``is`` word.", "An ###### word."),
    ],
)
def test_code_in_text_without_markup(text, expected):
    assert plain_text("a.txt", text).replace(OPAQUE, "#") == expected


@pytest.mark.parametrize(
    "text",
    [
        "He said `go away' and `stay', and then `no'.",
        "It is ``like'' this, or (``like'',``that'').",
        "It`s late, and they don`t know.",
        "`Twas late and `tis cold.",
        "A ` alone, ` two apart ` and `not\nclosed` in its line.",
        "```\nfenced\n```",
    ],
)
def test_other_backticks_in_text_without_markup(text):
    assert plain_text("a.txt", text) == text


def test_the_sound_of_code_in_text_decides_about_the_article():
    text = "an `int` and a `string`"
    assert plain_text("a.txt", text) == plain_text("a.md", text) != text


def left_to_decide(path):
    """Return the words of a sample that are neither protected nor hidden."""
    text = (SAMPLES / path).read_text(encoding="utf8")
    view = Words()([plain_text(path, text)])
    free = ~protected_layer(view) & (view.ends > view.starts)
    return [text[start:end] for start, end in zip(view.starts[free], view.ends[free], strict=True)]


@pytest.mark.parametrize("path", ["markup-sample.md", "markup-sample.tex"])
def test_only_prose_of_the_samples_is_left(path):
    """The words "quite", "there" and "usual" stand in them only where nothing is to be decided."""
    words = left_to_decide(path)
    assert not {"quite", "there", "usual", "def", "pot(", "usepackage", "python"} & {w.lower() for w in words}
    for phrase in (
        "Most herbs grow well in pots",
        "A pot with a hole in it",
        "that lets water through",
        "much of it",
        "Any shop will do",
        "into the house",
        "Growing herbs on a balcony",
    ):
        assert f" {phrase.lower()} " in f" {' '.join(words).lower()} ", phrase


@pytest.mark.parametrize("path", ["markup-sample.md", "markup-sample.tex"])
def test_line_ends_of_windows_change_nothing(path):
    text = (SAMPLES / path).read_text(encoding="utf8")
    on_windows = text.replace("\n", "\r\n")
    plain, other = Words()([plain_text(path, text)]), Words()([plain_text(path, on_windows)])
    assert plain.hashes.tolist() == other.hashes.tolist()
    assert plain.sentences.tolist() == other.sentences.tolist()
