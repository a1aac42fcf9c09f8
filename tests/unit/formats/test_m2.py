"""Corrections as M2: whoever makes the edits gets the corrected text."""

from __future__ import annotations

import io

import pytest
from fake_models import annotate_texts
from hypothesis import given
from hypothesis import strategies as st

from disambig.formats import (
    AnnotatedDocument,
    Document,
    M2Format,
    check_inputs,
    corrected_text,
    guess_format,
    make_format,
    split_tokens,
)


def result(text: str) -> AnnotatedDocument:
    return AnnotatedDocument(Document("a", text, "a.txt"), tuple(annotate_texts([text])))


def made(data: str) -> list[list[str]]:
    """Apply the edits of each sentence, as scorers do, from the last to the first."""
    sentences = []
    for block in data.strip("\n").split("\n\n") if data else []:
        source, *edits = block.split("\n")
        assert source.startswith("S ")
        tokens = source[2:].split(" ")
        last = len(tokens) + 1
        for edit in reversed(edits):
            place, kind, words, required, comment, annotator = edit.removeprefix("A ").split("|||")
            assert (required, comment, annotator) == ("REQUIRED", "-NONE-", "0")
            if kind == "noop":
                assert (place, words, edits) == ("-1 -1", "-NONE-", [edit])
                continue
            first, stop = map(int, place.split())
            assert 0 <= first <= stop <= min(last, len(tokens)), "they do not overlap"
            tokens[first:stop] = words.split(" ") if words else []
            last = first
        sentences.append(tokens)
    return sentences


def wanted(found: AnnotatedDocument) -> list[list[str]]:
    lines = io.StringIO(corrected_text(found), newline=None).read().split("\n")
    return [tokens for line in lines if (tokens := split_tokens(line))]


def test_sentences_and_edits():
    found = result("It was a quite place, they don't say.\n\nHere is nothing\nDuring 1997 it rained.")
    assert M2Format().encode([found]).decode() == (
        "S It was a quite place , they don't say .\n"
        "A 3 4|||R:SPELLING|||quiet|||REQUIRED|||-NONE-|||0\n\n"
        "S Here is nothing\n"
        "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0\n\n"
        "S During 1997 it rained .\n"
        "A 0 1|||R:PREPOSITION|||From|||REQUIRED|||-NONE-|||0\n\n"
    )


@given(
    st.lists(
        st.sampled_from(
            [
                "quite place",
                "during 1997",
                "it",
                "in",
                "Quite place",
                ".",
                "||",
                "don\u2019t",
                "\n",
                "\r\n",
                "\n\n",
                "x\ty",
            ]
        )
    )
)
def test_whoever_makes_the_edits_gets_the_corrected_text(parts):
    found = result(" ".join(parts))
    assert made(M2Format().encode([found]).decode()) == wanted(found)


def edited(text: str, start: int, end: int, replacement: str) -> AnnotatedDocument:
    """Return a document with one edit of any kind."""
    import dataclasses

    from disambig.data import Group

    (decisions,) = annotate_texts(["quite place"], ["spelling"])
    group = Group("any", (text[start:end], replacement))
    decisions = dataclasses.replace(
        decisions, table=(group,), starts=decisions.starts * 0 + start, ends=decisions.ends * 0 + end
    )
    return AnnotatedDocument(Document("a", text, "a.txt"), (decisions,))


@pytest.mark.parametrize(
    ("start", "end", "replacement", "line"),
    [
        (3, 5, "", "A 1 2|||U:SPELLING||||||REQUIRED"),
        (6, 6, "not ", "A 2 2|||M:SPELLING|||not|||REQUIRED"),
        (3, 5, "was not", "A 1 2|||R:SPELLING|||was not|||REQUIRED"),
    ],
)
def test_words_that_are_missing_or_too_many(start, end, replacement, line):
    found = edited("It is rain", start, end, replacement)
    data = M2Format().encode([found]).decode()
    assert line in data
    assert made(data) == wanted(found)


def test_it_is_a_format_of_files_that_hold_text():
    assert guess_format("a.m2") == guess_format("a.m2.gz") == "m2"
    assert make_format("m2").encode([]) == b""
    from disambig.errors import UserError
    from disambig.formats import Input

    with pytest.raises(UserError, match="D321"):
        check_inputs(make_format("m2"), [Input("a.conllu", "a.conllu", "conllu")])
