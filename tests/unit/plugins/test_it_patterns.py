"""Patterns of "it": what they say, where its place is, and that each can hold."""

from __future__ import annotations

import pytest
from disambig_variance_svm.pronoun_it import LABELS, match_patterns, normal_order
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("In the evening it had rained again.", "weather"),
        ("When we woke, it was getting dark.", "weather"),
        ("It is beginning to snow.", "weather"),
        ("It looks like rain.", "weather"),
        ("It has cleared up.", "weather"),
        ("It thawed overnight.", "weather"),
        ("It stays dark until nine.", "weather"),
        ("It was mild enough to sit by the pond.", "weather"),
        ("It was the last of April.", "time"),
        ("It is her birthday.", "time"),
        ("It was a tiring ride back.", "time"),
        ("It may be weeks before they reply.", "time"),
        ("It was lovely seeing you again.", "clause"),
        ("It was rude of him to laugh.", "clause"),
        ("It would be safer if everyone waited.", "clause"),
        ("They had to rough it.", "idiom"),
        ("As it turned out, nobody came.", "idiom"),
        ("Hold it, you two!", "idiom"),
        ("It's Friday, and nobody works.", "time"),
        ("By then it had been two years since the fire.", "time"),
        ("It took the plumber a whole week to come.", "time"),
        ("It was my uncle who sold the farm.", "cleft"),
        ("It was only then that he noticed the smoke.", "cleft"),
        ("It\u2019s clear that the plan has failed.", "clause"),
        ("They found it hard to understand the map.", "clause"),
        ("It doesn't matter what they say.", "clause"),
        ("He trained for a year and never made it.", "idiom"),
        ("We should call it a day.", "idiom"),
        ("She put it on the shelf.", "thing"),
        ("It contains two kinds of oil.", "thing"),
    ],
)
def test_what_a_pattern_tells(sentence, kind):
    found = list(match_patterns(sentence))
    kinds = {name for name, _, _ in found}
    assert kind in kinds and {LABELS[name] for name in kinds} == {LABELS[kind]}
    assert {sentence[start : start + 2].lower() for _, start, _ in found} == {"it"}


@pytest.mark.parametrize(
    "sentence",
    [
        "It was red.",
        "Please close it.",
        "He likes it a lot.",
        "The visit was raining on our plans.",
        "Its roof is clear that way.",
        "I cannot hold it.",
        "He told me of it as it happened.",
        "It clears up the question.",
        "It was warm enough.",
    ],
)
def test_of_most_places_they_tell_nothing(sentence):
    assert not list(match_patterns(sentence))


def test_the_place_is_that_in_the_text_whatever_was_shortened_before():
    sentence = "I don't think we're ready, and he's sure it's true that she'll come."
    assert [start for _, start, _ in match_patterns(sentence, ["clause"])] == [sentence.index("it's")]


@given(st.text(st.sampled_from("it's rain ed don't \u2019,.was who that to"), max_size=60))
def test_any_sentence_can_be_asked(sentence):
    for kind, start, _ in match_patterns(sentence):
        assert kind in LABELS and sentence[start : start + 2].lower() == "it"


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("Was it warm in the hall?", "weather"),
        ("Has it been snowing again?", "weather"),
        ("It hardly ever rains in March.", "weather"),
        ("Last night it was awfully cold.", "weather"),
        ("Isn't it sad that he left?", "clause"),
        ("It's sad he left.", "clause"),
        ("It takes patience to train a dog.", "clause"),
        ("How long did it take to paint the boat?", "clause"),
        ("I gather it he was late.", "clause"),
        ("He hates it when we are late.", "clause"),
        ("They know what it means to be hungry.", "clause"),
        ("It turned out, nobody had locked the door.", "clause"),
        ("Was it your uncle who sold the farm?", "cleft"),
        ("If it hadn't been for you, we would have lost.", "idiom"),
    ],
)
def test_questions_adverbs_and_clauses_without_that(sentence, kind):
    assert kind in {name for name, _, _ in match_patterns(sentence)}


@pytest.mark.parametrize(
    "sentence",
    [
        "It takes up the whole shelf.",
        "It takes coins only.",
        "It took him to the station.",
        "The path is steep, and it is hard to climb.",
        "Was it broken?",
        "Does it have a lid?",
        "Nobody knows what it means.",
        "She found it dry.",
        "It turned the corner.",
    ],
)
def test_things_with_the_same_words(sentence):
    labels = {LABELS[kind] for kind, _, _ in match_patterns(sentence)}
    assert "non-referential" not in labels


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("is it really snowing ?", "it is snowing ?"),
        ("why does n't it ever snow here ?", "why it does n't snow here ?"),
        ("rarely is it necessary to call .", "it is necessary to call ."),
        ("he said it was likely .", "he said it was likely ."),
        ("what i like is it .", "what i like is it ."),
    ],
)
def test_normal_order(written, normal):
    assert normal_order(written) == normal
