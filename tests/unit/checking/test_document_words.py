"""Words that stand in a document's code are meant as they are written."""

from __future__ import annotations

import time

import pytest

from disambig.checking import DocumentWords, find_flags
from disambig.markup import read_markup
from disambig.models import ModelSource


@pytest.fixture(scope="module")
def annotate():
    return ModelSource().load()


def names(text: str, path: str = "x.md") -> frozenset[str]:
    return DocumentWords(text, read_markup(path, text)).names


def flagged(annotate, text: str) -> list[str]:
    plain = read_markup("x.md", text)
    return [flag.observed for flag in find_flags("x.md", text, plain, annotate([plain.text])).flags]


def test_names_are_those_of_code_and_not_of_prose_markup_or_addresses():
    text = (
        "Prose *here* with `lat` and [a page](target.md) or <kbd>key</kbd>, https://host.example/path.\n\n"
        "```\nfor alias in max_size:\n```\n\n<!-- comment -->\n"
    )
    found = names(text)
    assert {"lat", "alias", "max_size"} <= found
    assert not found & {"Prose", "here", "page", "target", "comment", "host", "path", "for", "in"}


def test_the_code_around_comments_counts():
    assert {"decimals", "round_to"} <= names("def round_to(decimals):\n    # all of them\n    pass\n", "x.py")


def test_plain_text_has_no_code():
    assert names("the word lat", "x.txt") == frozenset()


def test_a_name_is_not_flagged(annotate):
    text = "Steps along lat at a time are averaged."
    assert flagged(annotate, text) == ["lat"]
    assert flagged(annotate, f"{text}\n\nA `lat` is a number.\n") == []


@pytest.mark.parametrize("sentence", ["If {} is true, it is read.", "Make sure that {} isn't set."])
def test_a_name_that_ends_in_s_means_one_thing_or_several(annotate, sentence):
    text = sentence.format("the slots")
    assert len(flagged(annotate, text)) == 1
    assert flagged(annotate, f"{text}\n\n```\n__slots__ = slots\n```\n") == []
    assert len(flagged(annotate, f"{text}\n\n```\nslot\n```\n")) == 1


def test_no_word_is_missing_before_a_name(annotate):
    text = "If you do not declare message in the schema, it is dropped."
    assert flagged(annotate, text) == [""]
    assert flagged(annotate, f"{text}\n\nThe `message` is a string.\n") == []


def test_a_word_that_is_repeated_is_not_flagged(annotate):
    text = "Steps along lat at a time are averaged."
    assert flagged(annotate, text) == ["lat"]
    assert (
        flagged(annotate, f"{text}\n\nEach lat lies behind a lat. The lat has a door, and every lat a fan.")
        == []
    )


def test_forms_and_common_words_may_be_wrong_again_and_again():
    text = "The server allow it. " * 9 + "It is better then that. " * 9
    words = DocumentWords(text, read_markup("x.txt", text))
    assert not words.is_own("allow", "allows", 16)
    assert not words.is_own("then", "than", 200)


def test_a_sure_mistake_and_a_common_word_are_flagged_all_the_same(annotate):
    text = "It depends on there choice.\n\nA `there` is a `choice` `their`.\n"
    assert flagged(annotate, text) == ["there"]


def test_long_code_takes_linear_time():
    def seconds(n: int) -> float:
        text = "Prose.\n\n```\n" + "a_b(c) " * n + "\n```\n\n" + "`x` and " * n
        plain = read_markup("x.md", text)
        start = time.process_time()
        assert {"a_b", "c", "x"} <= DocumentWords(text, plain).names
        return time.process_time() - start

    assert seconds(40_000) < 12 * seconds(10_000)
