"""What a correction changes: words put in, taken out and replaced, with their spaces and capitals."""

from __future__ import annotations

import pytest

from disambig.formats.edits import edit_of


def edited(text, word, replacement, *, at=None):
    start = text.index(word) if at is None else at
    end = start + len(word)
    record = {"start": start, "end": end, "observed": word, "replacement": replacement}
    made = edit_of(record, text)
    return text[: made["start"]] + made["replacement"] + text[made["end"] :]


@pytest.mark.parametrize(
    ("text", "word", "replacement", "after"),
    [
        ("It was quite here.", "quite", "quiet", "It was quiet here."),
        ("We saw the dogs.", "the", "", "We saw dogs."),
        ("The life is short.", "The", "", "Life is short."),
        ("A \u00e9tude, she said", "A", "", "\u00c9tude, she said"),
        ("THE LIFE", "THE", "", "LIFE"),
        ("The 3 dogs", "The", "", "3 dogs"),
        ("what for the?", "the", "", "what for?"),
        ("at end the", "the", "", "at end"),
        ("in the\nhouse", "the", "", "in\nhouse"),
        ("here. The\nhouse", "The", "", "here.\nHouse"),
        ("the", "the", "", ""),
        ("see (the) one", "the", "", "see () one"),
    ],
)
def test_words(text, word, replacement, after):
    assert edited(text, word, replacement) == after


def test_a_word_put_in():
    assert edited("We saw dog.", "", "the ", at=7) == "We saw the dog."
