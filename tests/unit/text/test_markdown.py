"""Markdown as plain text."""

from __future__ import annotations

import pytest

from disambig.markup import plain_text, read_markup
from disambig.text import HIDDEN


def plain(text):
    """Return the plain text, legible: ``¶`` ends a sentence, ``#`` is hidden."""
    return (
        plain_text("x.md", text)
        .replace("\u2029", "¶")
        .translate(dict.fromkeys([0xFFFC, 0xE000, 0xE001], "#"))
        .replace(HIDDEN, " ")
    )


def squeezed(text):
    """Return the same with runs of one mark and of blanks drawn together."""
    words = plain(text)
    for mark in "¶# ":
        while mark * 2 in words:
            words = words.replace(mark * 2, mark)
    return words.strip(" ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a *b* c", "a  b  c"),
        ("a **b** _c_ ***d***.", "a   b    c     d   ."),
        ("**a _b_ c**", "  a  b  c  "),
        ("5 * 3 * 2 and a_b_c", "5 * 3 * 2 and a_b_c"),
        ("*a", "*a"),
        ("a\\*b", "####"),
        ("it \\* is", "it  * is"),
        ("un**able** to", "########   to"),
        ("~~old~~ new", "        new"),
        ("about ~~ 5", "about ~~ 5"),
        ('see [the docs](http://a.b/c_d "e") now', "see  the docs                         now"),
        ("see [a](<b c>) and [d](e(f)g).", "see  a        and  d         ."),
        ("a [b] c", "a [b] c"),
        ("a [b](c d) e", "a [b](c d) e"),
        ("a[^1] b", "a     b"),
        ("as [@smith, p. 3] says", "as ############## says"),
        ("![a cat](b.png)", "##a cat########"),
        ("[![a](b)](c) d", " ##a####     d"),
        ("the `in x` and ``a ` b`` is", "the ###### and ######### is"),
        ("one ` only", "one ` only"),
        ("is $x_1 = y$ or $$z$$ so", "is ######### or ##### so"),
        ("$5 or $10", "$5 or $10"),
        ("a &amp; b&nbsp;c caf&eacute;", "a ##### b      c ###########"),
        ("a <b>b</b> <!-- c --> d", "a    b                d"),
        ("H<sub>2</sub>O is", "############## is"),
        ("a <code>b c</code> <kbd>d</kbd> e", "a ################ ############ e"),
        ("a <https://b.c> <d@e.f> g", "a ############# ####### g"),
        ("see https://a.b/c_d. Then", "see ###############. Then"),
        ("x {{ y.z }} {% if a %} b", "x ######### ########## b"),
    ],
)
def test_marks_in_a_line(text, expected):
    assert plain(text).split() == expected.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A title #\nText", "¶ A title ¶Text"),
        ("A title\n===\nText", "A title\n¶\nText"),
        ("Text\n\n---\n\nmore", "Text\n\n¶\n\nmore"),
        ("#no title", "# title"),
        ("- a\n* b\n  c\n1) d", "¶ a\n¶ b\n c\n¶ d"),
        ("born in\n1984. It was", "born in\n1984. It was"),
        ("- [ ] a\n- [x] b", "¶ a\n¶ b"),
        ("- a\n\n      x = 1\n\n  b", "¶ a\n\n b"),
        ("a\n\n    x = 1\n\nb", "a\n\nb"),
        ("a\n    b", "a\n b"),
        ("a\n```py\nx\n\ny\n```\nb", "a\n¶\n\n ¶\nb"),
        ("a\n~~~\nx", "a\n¶\n"),
        ("> a\nb\n\nc", "¶ \n\nc"),
        ("> [!NOTE]\n> a\n> b\n\nc", "¶\n¶ a\n b\n\nc"),
        ("> **Note**\n> a\n\n> b", "¶ Note\n a\n\n¶"),
        ("> ⚠️ __Warning:__ a\nb", "¶ ⚠️ Warning: a\nb"),
        ("> tip: a", "¶ tip: a"),
        ("> **Noted** a\n> Note: b", "¶\n¶"),
        ("a z | b z\n--|--\nc z | d z\ne z\n\nf", "a z ¶ b z\n¶\nc z ¶ d z¶e z\n\nf"),
        ("a | b c\n--|--\n then | d", "# ¶ b c\n¶\n # ¶ #"),
        ("a | b\nc | d", "a | b\nc | d"),
        ("[a]: http://b.c 'd'\nsee [a]", "¶\nsee a"),
        ("[^1]: A note.\n\n    More of it.", "¶ A note.\n\n More of it."),
        ("---\na: b\n---\nText", "¶\nText"),
        ("---\nText", "¶\nText"),
        ("<pre>\na\n\nb</pre>\nc", "¶\n¶\n\n¶\nc"),
        ("<p align=x>\na\n</p>", "¶\na\n¶"),
        ("$$\n- a\n$$\nb", "¶\n¶\n¶\nb"),
    ],
)
def test_blocks(text, expected):
    assert squeezed(text).replace(" \n", "\n").replace("\n\n\n", "\n\n") == expected.replace(" \n", "\n")


def test_comments_are_found_outside_of_code_only():
    text = "a <!-- b --> `<!-- c -->`\n\n    <!-- d -->\n\n```\n<!-- e -->\n```\n<!-- f\n\ng --> h <!-- i"
    found = read_markup("x.md", text)
    assert [text[start:end] for start, end in found.comments] == ["<!-- b -->", "<!-- f\n\ng -->"]
    assert "h" in found.text and "g" not in found.text
