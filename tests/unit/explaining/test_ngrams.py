from __future__ import annotations

import pytest

from disambig.explain import (
    Contribution,
    NgramPair,
    compare_ngrams,
    counted_ngrams,
    flag_evidence,
    ngram_pairs,
    ngram_sentence,
    strongest,
)
from disambig.models import ModelSource


@pytest.fixture(scope="module")
def models():
    return {model.task.name: model for model in ModelSource().correcting_models()}


def test_the_ngrams_of_both_words_stand_beside_each_other(models):
    text = "The weather was better then we had hoped."
    start = text.index("then")
    found = compare_ngrams(models["slip"], text, start, start + 4, "than")
    seen = {(each.written, each.proposed) for each in found}
    assert ("better then", "better than") in seen
    assert all(each.written.replace("then", "than") == each.proposed for each in found)
    assert all(each.written_count or each.proposed_count for each in found)
    assert ngram_sentence(found).startswith('"better than" was seen ')


def test_a_missing_word_and_a_place_that_nobody_decides(models):
    text = "A large number people ate."
    start = text.index("people")
    found = compare_ngrams(models["preposition"], text, start, start, "of")
    pairs = [
        ([word for word in each.written.split() if word != "_"], each.proposed.split()) for each in found
    ]
    assert (["number", "people"], ["number", "of", "people"]) in pairs
    assert all(written == [word for word in proposed if word != "of"] for written, proposed in pairs)
    assert "<0>" not in str(found)
    assert compare_ngrams(models["slip"], text, 0, 1, "than") == []


def test_of_two_counts_of_an_ngram_the_first_table_has_the_word():
    """Such as the n-grams in line and those of head words, which may be the same words."""
    parts = [("listen to", 5, ". _"), ("listen to", 3, "governor _"), ("listen <0>", 2, "verb _")]
    reasons = [Contribution("to", text, 1.0, n, 1.0, 1.0, 1, attribute) for text, n, attribute in parts]
    reasons += [
        Contribution("to", "bias", 1.0, None, 1.0, 1.0),
        Contribution("at", "listen at", 1.0, 9, 1.0, 1.0),
    ]
    assert [(each.evidence, each.count) for each in counted_ngrams(reasons, "to")] == [
        ("listen to", 5),
        ("listen _", 2),
    ]


def test_the_evidence_of_a_flag_has_the_counts_of_its_ngrams(models):
    text = "We were waiting at the bus for an hour."
    start = text.index("at")
    beside = compare_ngrams(models["preposition"], text, start, start + 2, "for")
    shown = {
        (each.ngram, each.count)
        for each in flag_evidence(models["preposition"], text, start, start + 2, "for").counts
    }
    both = [(each.written, each.written_count) for each in beside]
    both += [(each.proposed, each.proposed_count) for each in beside]
    assert shown
    assert {each for each in shown if each[1]} <= set(both)


@pytest.mark.parametrize(
    ("count", "said"), [(0, '"b" never.'), (1, '"b" only once.'), (1200, '"b" only 1,200 times.')]
)
def test_the_sentence_names_what_speaks_most(count, said):
    most = NgramPair("b", count, "a", 5000)
    assert (
        ngram_sentence([NgramPair("x", 10, "y", 11), most])
        == f'"a" was seen 5,000 times in the counted text, {said}'
    )
    assert ngram_sentence([NgramPair("x", 11, "y", 10)]) == ""
    assert ngram_sentence([]) == ""


@pytest.mark.parametrize(
    ("least", "said"), [(1, "never."), (3, "fewer than 3 times."), (None, "was not kept.")]
)
def test_what_is_not_in_the_table_may_have_been_seen(least, said):
    assert ngram_sentence([NgramPair("b", 0, "a", 5000, least)]).endswith(f'"b" {said}')


def test_the_strongest_speak_for_what_is_proposed_and_stay_in_the_sentence():
    beside = [
        NgramPair("a b", 9, "a c", 10),
        NgramPair("<S> b", 0, "<S> c", 10**6),
        NgramPair("b d", 5, "c d", 500),
        NgramPair("b e", 500, "c e", 5),
        NgramPair("b </S>", 1, "c </S>", 10**6),
        NgramPair("f b", 0, "f c", 40, 3),
    ]
    assert [each.proposed for each in strongest(beside, 5)] == ["c d", "f c", "a c"]
    assert strongest(beside, 1) == [beside[2]]
    assert ngram_sentence(beside).startswith('"c d" was seen 500 times')
    assert ngram_sentence(beside[1:2]) == ""


@pytest.mark.parametrize(
    ("count", "least", "most"), [(7, 3, 7), (7, None, 7), (0, 3, 2), (0, 1, 0), (0, None, None)]
)
def test_how_often_at_most_what_is_written_was_seen(count, least, most):
    assert NgramPair("b", count, "a", 9, least).at_most == most


def test_parts_of_scores_are_paired_by_their_attribute():
    def part(word, text, count, attribute):
        return Contribution(word, text, 1.0, count, 1.0, 1.0, 2, attribute)

    reasons = [part("of", "full of", 8, ". _"), part("off", "full off", 0, ". _")]
    reasons += [part("of", "of it", 0, "_ ."), part("off", "off it", 0, "_ ."), part("of", "x of", 3, "x")]
    assert ngram_pairs(reasons, "off", "of") == [NgramPair("full off", 0, "full of", 8, 2)]
