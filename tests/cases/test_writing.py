"""Texts after public reports raise the flags of their table; how flags on learner sentences are counted."""

from learner_sentences import Sentence, flags_of_sentences, read_sentences
from writing_cases import raised_flags, read_cases


def test_flags_are_those_of_the_table():
    cases = read_cases()
    raised = raised_flags(cases)
    differences = ((case.id, case.text, case.difference(raised[case.id])) for case in cases)
    assert [row for row in differences if row[-1]] == []


def test_half_of_the_sentences_are_right_and_none_stands_twice():
    sentences = read_sentences()
    assert len(sentences) == len({item.text for item in sentences}) == 300
    right = [item for item in sentences if item.is_right]
    wrong = [item for item in sentences if not item.is_right]
    assert len(right) == len(wrong) == 150
    assert {item.kind for item in right} == {item.kind for item in wrong}


def test_flags_belong_to_their_sentences():
    sentences = [
        Sentence("She opened a old box.", "She opened an old box.", "article wrong"),
        Sentence("We met in the garden.", "We met in the garden.", "article missing"),
        Sentence("He went to the the shop.", "He went to the shop.", "doubled"),
    ]
    for paragraph in (0, 1, 2, 10):
        flags = flags_of_sentences(sentences, paragraph=paragraph, options=[])
        assert [item.outcome(raised) for item, raised in zip(sentences, flags, strict=True)] == [
            "right",
            "silent",
            "right",
        ]
    assert sentences[0].outcome([(11, 12, "the")]) == "wrong"
    assert sentences[0].outcome([]) == "missed"
    assert sentences[1].outcome([(3, 6, "meet")]) == "false"
