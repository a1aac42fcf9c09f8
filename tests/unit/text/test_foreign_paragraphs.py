"""Paragraphs in other languages, and English ones that must not be mistaken for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from processor_time import grows_linearly

from disambig.text import (
    LANGUAGE_NAMES,
    NO_LANGUAGE,
    describe_foreign,
    find_foreign_paragraphs,
    foreign_to_all,
)

FILE = Path(__file__).parents[2] / "texts" / "foreign.tsv"  # a code of a language, a TAB, a paragraph
ROWS = [tuple(line.split("\t")) for line in FILE.read_text(encoding="utf8").splitlines()]
PARAGRAPHS = [row for row in ROWS if row[0] != "en"]
NOT_FOREIGN = [text for code, text in ROWS if code == "en"]


@pytest.mark.parametrize("code", sorted({code for code, _ in PARAGRAPHS}))
def test_paragraphs_of_another_language(code):
    for text in (text for language, text in PARAGRAPHS if language == code):
        (paragraph,) = find_foreign_paragraphs(text, "en")
        assert (paragraph.start, paragraph.end) == (0, len(text)), text
        assert LANGUAGE_NAMES[paragraph.language] == LANGUAGE_NAMES[code], text
        assert find_foreign_paragraphs(text, code) == (), text  # not foreign to its own language


def test_english_names_and_code_are_never_another_language():
    assert [text for text in NOT_FOREIGN if find_foreign_paragraphs(text, "en")] == []


def test_paragraphs_end_at_blank_lines_separators_and_long_lines():
    german, english = "Das ist nicht gut, und es wird nicht besser.", "This is not a bad thing to do at all."
    text = f"{english}\n{english}\n\n{german}\n{german}\n \n{english}\u2029{german}\u2029{english}"
    paragraphs = find_foreign_paragraphs(text, "en")
    assert [text[one.start : one.end] for one in paragraphs] == [f"{german}\n{german}", german]
    lines = f"{english * 4}\n{german * 4}\n{english}"
    assert [lines[one.start : one.end] for one in find_foreign_paragraphs(lines, "en")] == [german * 4]


def test_the_expected_language_can_be_another():
    text = "This is an English paragraph, and it is not read."
    assert [one.language for one in find_foreign_paragraphs(text, "de")] == ["en"]
    assert find_foreign_paragraphs("Das ist nicht gut.", "xx") == ()
    assert find_foreign_paragraphs("Das ist nicht gut.", "ja") == ()


def test_short_paragraphs_of_a_text_in_another_language():
    sentences = "Das ist ein Satz, den man nicht lesen muss.\n\n" * 3
    short = "zeigt einen Hilfstext an\n\nsetzt den Wert\n\nThe value is set.\n\nGerman names\n\n"
    foreign = [
        (short + sentences)[part.start : part.end]
        for part in find_foreign_paragraphs(short + sentences, "en")
    ]
    assert foreign[:2] == ["zeigt einen Hilfstext an", "setzt den Wert"]
    assert not {"The value is set.", "German names"} & set(foreign)
    english = "This is a sentence that one must not read.\n\n" * 6
    foreign = [
        (short + sentences + english)[part.start : part.end]
        for part in find_foreign_paragraphs(short + sentences + english, "en")
    ]
    assert "setzt den Wert" not in foreign


def test_rows_of_names_and_numbers_are_not_a_language():
    names = "alice harry rachel robert".split()
    rows = "\n".join(f"{name} {other} tea juice 0.{len(name)}" for name in names for other in names)
    prose = "The tea is for them. " * 10
    text = f"{rows}\n\n{prose}\n\n{' '.join(names * 10)}"
    paragraphs = find_foreign_paragraphs(text, "en")
    assert [text[one.start : one.end] for one in paragraphs] == [rows, " ".join(names * 10)]
    assert {one.language for one in paragraphs} == {NO_LANGUAGE}
    assert find_foreign_paragraphs(" ".join(names * 4), "en") == ()
    assert find_foreign_paragraphs(f"{' '.join(names * 9)} and the", "en") == ()


def test_a_paragraph_in_one_of_several_languages_is_not_foreign():
    text = (
        "Das ist nicht gut.\n\nThis is not a bad thing to do.\n\nQuesto non è un errore, ma è molto strano."
    )
    assert [one.language for one in foreign_to_all(text, ["en", "de"])] == ["it"]
    assert foreign_to_all(text, []) == []


@pytest.mark.parametrize(
    ("counts", "phrase"),
    [
        ({"de": 1}, "1 paragraph that is not in English (it looks like German)"),
        ({"de": 2}, "2 paragraphs that are not in English (they look like German)"),
        ({"de": 2, "fr": 1}, "3 paragraphs that are not in English (most look like German)"),
        ({NO_LANGUAGE: 2}, "2 paragraphs that are not in English (they look like lists or data)"),
    ],
)
def test_the_phrase_for_messages(counts, phrase):
    assert describe_foreign(counts, ["en"]) == phrase


@pytest.mark.parametrize(
    "piece", ["a ", "ü ", "der ", "\n", "\n\n", "\u2029", "das ist die\n\n", "я ", "水", "x" * 130 + "\n"]
)
def test_time_is_linear(piece):
    def find(size: int) -> None:
        find_foreign_paragraphs(piece * (size // len(piece)), "en")

    assert grows_linearly(find, 70_000)
