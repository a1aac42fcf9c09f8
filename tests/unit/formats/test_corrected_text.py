"""Corrections applied to a text, and written as M2."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest
from fake_models import annotate_texts
from format_samples import annotated
from hypothesis import given, strategies as st

from disambig.data import Group
from disambig.errors import UserError
from disambig.formats import (
    AnnotatedDocument,
    Document,
    Input,
    M2Format,
    check_inputs,
    corrected_text,
    guess_format,
    make_format,
    read,
    split_tokens,
)

TEXT = "It was a quite place."


def apply_edits(data: str) -> list[list[str]]:
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


def corrected_tokens(actual: AnnotatedDocument) -> list[list[str]]:
    lines = io.StringIO(corrected_text(actual), newline=None).read().split("\n")
    return [tokens for line in lines if (tokens := split_tokens(line))]


def test_sentences_and_edits():
    actual = annotated("It was a quite place, they don't say.\n\nHere is nothing\nDuring 1997 it rained.")
    assert M2Format().encode([actual]).decode() == (
        "S It was a quite place , they don't say .\n"
        "A 3 4|||R:SPELLING|||quiet|||REQUIRED|||-NONE-|||0\n\n"
        "S Here is nothing\n"
        "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0\n\n"
        "S During 1997 it rained .\n"
        "A 0 1|||R:PREPOSITION|||From|||REQUIRED|||-NONE-|||0\n\n"
    )


PARTS = "quite place|during 1997|it|in|Quite place|.|don\u2019t|\n|\r\n|\n\n|x\ty".split("|")


@given(st.lists(st.sampled_from([*PARTS, "||"])))
def test_applying_the_edits_gives_the_corrected_text(parts):
    actual = annotated(" ".join(parts))
    assert apply_edits(M2Format().encode([actual]).decode()) == corrected_tokens(actual)


def with_edit(text: str, start: int, end: int, replacement: str) -> AnnotatedDocument:
    """Return a document with one edit of any kind."""
    (decisions,) = annotate_texts(["quite place"], ["spelling"])
    group = Group("any", (text[start:end], replacement))
    starts, ends = decisions.starts * 0 + start, decisions.ends * 0 + end
    decisions = replace(decisions, table=(group,), starts=starts, ends=ends)
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
    actual = with_edit("It is rain", start, end, replacement)
    data = M2Format().encode([actual]).decode()
    assert line in data
    assert apply_edits(data) == corrected_tokens(actual)


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"id": 1, "meta": {"text": TEXT, "n": 1}, "tags": ["x"]}, "meta.text"),
        ({"a.b": {"c": {"d.e": TEXT}}, "a": {"c": 1}}, "a.b.c.d.e"),
        ({"meta.text": TEXT, "n": 1}, "meta.text"),
        ({"a": {"n": 1}, "a.b": {"c": TEXT}}, "a.b.c"),
        ({"a.b": {"n": 1}, "a": {"b.c": TEXT, "b": {}}}, "a.b.c"),
        ({"meta": {"n": 1}, "meta.text": TEXT}, "meta.text"),
        ({"a": {"n": 1, "b": {"c": TEXT}}, "a.b": {}}, "a.b.c"),
    ],
)
def test_corrected_objects_keep_their_form(tmp_path, row, field):
    (tmp_path / "a.jsonl").write_text(json.dumps(row))
    (document,) = read(Input(str(tmp_path / "a.jsonl"), "a.jsonl", "json"), field=field)
    result = AnnotatedDocument(document, tuple(annotate_texts([TEXT])))
    (line,) = make_format("corrected", field=field).encode([result]).splitlines()
    assert json.loads(line) == json.loads(json.dumps(row).replace("quite", "quiet"))


def test_m2_is_a_format_of_plain_text():
    assert guess_format("a.m2") == guess_format("a.m2.gz") == "m2"
    assert make_format("m2").encode([]) == b""
    with pytest.raises(UserError, match="D321"):
        check_inputs(make_format("m2"), [Input("a.conllu", "a.conllu", "conllu")])
