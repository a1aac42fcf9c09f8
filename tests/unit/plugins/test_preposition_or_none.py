"""Prepositions that may be missing or one too many: which places are found, and in what order."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_variance_svm.prepositions import (
    MISSING_WEIGHTS,
    PARTS_OF_SPEECH,
    Preposition,
    PrepositionNetwork,
    PrepositionOdds,
    most_frequent_kind,
)
from disambig_variance_svm.prepositions import missing_training as missing
from disambig_variance_svm.prepositions.task import PREPOSITIONS

from disambig.api.features import WORD_KINDS, PartsOfSpeech, WordNetwork
from disambig.api.tasks import Gaps, learn_gaps
from disambig.api.text import hash_words
from disambig.errors import UserError
from disambig.features import transform_checked
from disambig.testing import check_extractor, check_task
from disambig.text import Words

TEXT = "They want to listen music and discuss about it at length. He gave up waiting the bus in May."


def places(task, text=TEXT):
    """What stands at each place, and the word from there on."""
    view = Words()([text])
    found = task.instances(view)
    shown = []
    for position, length, observed in zip(found.positions, found.lengths, found.observed, strict=True):
        word = text[view.starts[position] : view.ends[position]]
        candidate = task.groups[0].candidates[observed]
        assert candidate == (word.lower() if length else "")
        shown.append((candidate, word))
    return shown


def test_where_one_may_be_missing_or_one_too_many():
    assert places(Preposition(or_none=True)) == [
        ("", "music"),
        ("about", "about"),
        ("at", "at"),
        ("", "the"),
        ("in", "in"),
    ]


def test_no_word_is_the_last_candidate_of_the_one_group():
    (group,) = Preposition(or_none=True).groups
    (usual,) = Preposition().groups
    assert group.candidates == (*PREPOSITIONS, "") and group.name == usual.name
    assert group.variants == usual.variants
    (few,) = Preposition(words=["in", "on"], or_none=True).groups
    assert few.candidates == ("in", "on", "")


def test_by_default_nothing_is_missing():
    assert Preposition().groups[0].candidates == PREPOSITIONS
    assert places(Preposition()) == [place for place in places(Preposition(or_none=True)) if place[0]]


@pytest.mark.parametrize("text", [TEXT, "", "Up.", "to to to", "In it we go to, up. On and on without end"])
def test_an_empty_place_is_beside_no_preposition_whatever_it_is_used_as(text):
    """All places without a limit of odds: between any two words that are apart from a preposition."""
    view = Words()([text])
    found = Preposition(or_none=True, least_odds=-99.0).instances(view)
    assert (np.diff(found.positions) > 0).all()
    words = Words().words(text)
    beside = {p for at, word in enumerate(words) if word in PREPOSITIONS for p in (at, at + 1)}
    empty = set(found.positions[found.lengths == 0].tolist())
    assert not beside & empty
    assert bool(empty) == (text in (TEXT, "In it we go to, up. On and on without end"))
    assert Preposition(or_none=True, least_odds=99.0).instances(view).lengths.all()


def test_a_candidate_of_two_words_has_no_empty_place_behind_it():
    task = Preposition(words=["out of", "in"], or_none=True, least_odds=-99.0, only_as_preposition=False)
    view = Words()(["We ran out of town early."])
    found = task.instances(view)
    assert list(zip(found.positions.tolist(), found.lengths.tolist(), strict=True)) == [
        (2, 0),
        (3, 2),
        (6, 0),
    ]


def test_more_empty_places_are_learned_from_than_decided():
    view = Words()([TEXT])
    task = Preposition(or_none=True)
    decided, learned = task.instances(view), task.examples(view)
    assert set(decided.positions.tolist()) < set(learned.positions.tolist())
    assert (learned.lengths == 0).sum() > (decided.lengths == 0).sum()
    same = Preposition(or_none=True, least_odds=-6.0)
    assert np.array_equal(same.examples(view).positions, same.instances(view).positions)
    assert np.array_equal(Preposition().examples(view).positions, Preposition().instances(view).positions)


@pytest.mark.parametrize("or_none", [False, True])
@pytest.mark.parametrize("candidate", ["", "in front of"])
def test_a_candidate_that_cannot_be_found_is_refused(or_none, candidate):
    with pytest.raises(UserError, match="D450"):
        Preposition(words=["in", candidate], or_none=or_none).instances(Words()(["in it"]))


@pytest.mark.parametrize("settings", [{}, {"only_as_preposition": False, "least_odds": -4.0}])
def test_the_suites(settings):
    task = Preposition(or_none=True, **settings)
    for check in [*check_task(task, [TEXT, ""]), *check_extractor(PrepositionOdds(), task, [TEXT])]:
        check()


def test_the_weights_that_ship_know_what_they_are_of():
    gaps = Gaps.load(MISSING_WEIGHTS)
    assert gaps.header["words"] == list(PREPOSITIONS) and gaps.header["tokenisation"] == Words.name
    assert len(gaps.header["sources"]) == 12 and gaps.header["licence"]


def test_weights_of_ones_own(tmp_path):
    texts = ["We ask him to come. They ask for bread." for _ in range(50)]
    learn_gaps([Words()(texts)], ["for"], bits=12).save(tmp_path)
    task = Preposition(words=["for"], or_none=True, gaps=tmp_path, least_odds=0.0)
    assert places(task, "They ask bread. We ask him.") == [("", "bread")]
    with pytest.raises(UserError, match="D424"):
        places(Preposition(or_none=True, gaps=tmp_path / "none"))


def test_learning_takes_every_domain_and_says_which(tmp_path):
    import lzma

    (tmp_path / "english").mkdir()
    for domain, verb in (("one", "wait"), ("two", "ask")):
        with lzma.open(tmp_path / "english" / f"{domain}.train.txt.xz", "wt", encoding="utf8") as out:
            out.write(f"They {verb} for bread.\n" * 30)
    first, second = (tmp_path / name for name in ("a", "b"))
    missing.main(tmp_path, first)
    missing.main(tmp_path, second)
    learned, again = Gaps.load(first), Gaps.load(second)
    assert learned.header["sources"] == ["english/one.train.txt.xz", "english/two.train.txt.xz"]
    assert np.array_equal(learned.weights, again.weights)
    view = Words()(["They wait bread. They ask bread. They bread."])
    at = np.flatnonzero(view.hashes == view.hashes[3])
    assert (learned.log_odds(view, at - 1, at)[:2] > 0).all()


def test_the_kinds_of_words_that_ship():
    parts = PartsOfSpeech.load(PARTS_OF_SPEECH)
    assert parts.header["tokenisation"] == Words.name and len(parts.header["sources"]) == 12
    said = {"listen": "verb", "music": "noun", "the": "determiner", "them": "pronoun", "of": "other"}
    kinds = parts.word_kinds(hash_words(list(said)))
    assert [WORD_KINDS[kind] for kind in kinds.tolist()] == list(said.values())


@pytest.mark.parametrize(
    ("tags", "kind"),
    [
        ({"NN": 9, "VB": 1}, "noun"),
        ({"NN": 6, "VBP": 4}, "noun or verb"),
        ({"VBD": 4, "VBN": 6}, "verb"),
        ({"VBD": 2, "VBN": 8}, "participle"),
        ({"NN": 6, "VBG": 4}, "gerund"),
        ({"JJ": 5, "RB": 4}, "adjective"),
        ({"PRP$": 3}, "determiner"),
        ({",": 3}, "other"),
    ],
)
def test_a_word_is_what_it_mostly_is(tags, kind):
    assert most_frequent_kind(tags) == kind


def test_a_network_is_told_the_head_words():
    texts = [f"They {verb} {filler} to {noun}." for verb, noun in (("listen", "music"), ("talk", "Anna"))
             for filler in ("", "very often", "now and again")]  # fmt: skip
    texts += [
        text.replace(" to ", " of ").replace("listen", "dream").replace("talk", "sing") for text in texts
    ]
    task, view = Preposition(words=["to", "of"], only_as_preposition=False), Words()(texts * 40)
    network = PrepositionNetwork(near=1, far=1, hidden=8, dimensions=8, epochs=4)
    learned = network.fit(view, task.instances(view), task.groups)
    assert learned.weights.hidden.shape == ((2 + 3 + 1) * 8, 8)
    for check in check_extractor(learned, task, texts):
        check()
    alone = WordNetwork(near=1, far=1, hidden=8, dimensions=8, epochs=4)
    new = Words()(["They dream always and ever to Anna.", "They listen always and ever of music."])
    places = task.instances(new)

    def preferred(one):
        values = transform_checked(one, new, places, task.groups[0]).batch.values[:, :, 0]
        return values.argmax(axis=1).tolist()

    assert preferred(learned) == [1, 0]
    assert preferred(alone.fit(view, task.instances(view), task.groups)) != [1, 0]
    with pytest.raises(ValueError, match="size"):
        alone.from_state(learned.state())
