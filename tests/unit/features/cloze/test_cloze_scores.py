"""Scores of words in context: the formula, both engines, any batch, the extractor and its contract."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toy_cloze import articles, random_cloze
from toy_ways import OwnLists

from disambig.data import CandidateFinder, CandidateLists, Group, Instances
from disambig.errors import UserError
from disambig.features import (
    PRODUCT_STEP,
    STATE_STEP,
    UNKNOWN_WORD_SCORE,
    ContextPlaces,
    WordsInContext,
    context_vectors,
    score_candidates,
    token_numbers,
    transform_checked,
)
from disambig.features import cloze as given_room
from disambig.features import cloze as room
from disambig.tasks import OwnCandidates
from disambig.testing import check_extractor
from disambig.text import SpacyTokens, Web1T, Words, hash_word

VOCABULARY = "the a to in it was home we they cat . ,".split()
TEXTS = [
    "They went to the home in town. We saw it.",
    "It was a cat, wasn\N{RIGHT SINGLE QUOTATION MARK}t it?\r\nThe cat \N{GRINNING FACE} was in.",
    "",
    "Naïve cafe\N{COMBINING ACUTE ACCENT}s in 1997",
]
MODEL = random_cloze(VOCABULARY)


def every_place(view):
    """Each token as a place, and each empty one before it."""
    tokens = np.flatnonzero(view.ends > view.starts)
    return ContextPlaces(np.concatenate([tokens, tokens]), np.concatenate([tokens + 1, tokens]))


def all_scores(view, places, model=MODEL):
    n, k = len(places.positions), model.nothing + 1
    rows, candidates = np.repeat(np.arange(n), k), np.tile(np.arange(k, dtype=np.int32), n)
    return score_candidates(model, context_vectors(model, view, places), rows, candidates).reshape(n, k)


def written_out(model, numbers, view, position, behind):
    """The scores of all candidates at one place, by the formula, word by word."""
    (sentence,) = [
        (a, b) for a, b in zip(view.sentences, view.sentences[1:], strict=False) if a <= position < b
    ]
    around = [position - 1 - i for i in range(model.left)] + [behind + i for i in range(model.right)]
    sums = np.rint(model.hidden_bias / PRODUCT_STEP)
    for place, at in enumerate(around):
        word = numbers[at] if sentence[0] <= at < sentence[1] else model.vocabulary.outside
        given = model.embeddings[word].astype(float) @ model.inputs[place].astype(float)
        sums += np.rint(given * np.float32(model.word_scale[word] * model.input_scale[0] / PRODUCT_STEP))
    hidden = np.clip(np.rint(sums * PRODUCT_STEP / model.hidden_step[0]), 0, 255)
    scale = model.state_scale * model.hidden_step[0] / STATE_STEP
    state = np.rint((hidden @ model.states.astype(float)) * scale + model.state_bias / STATE_STEP)
    state = np.clip(state, -4095, 4095)
    return (model.outputs.astype(float) @ state) * STATE_STEP * model.output_scale + model.output_bias


@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_it_is_the_formula(engine, monkeypatch):
    monkeypatch.setenv("DISAMBIG_ENGINE", engine)
    view = Words()(TEXTS)
    places = every_place(view)
    found, numbers = all_scores(view, places), token_numbers(MODEL, view)
    assert len(found) > 40 and np.ptp(found) > 5
    for row, position, behind in zip(found, places.positions, places.behind, strict=True):
        expected = written_out(MODEL, numbers, view, position, behind)
        assert row == pytest.approx(expected, abs=0.1)  # between two steps float32 may take the other one


def test_a_model_made_by_hand_says_what_its_rules_say():
    model = articles()
    view = Words()(["She ate apple. She hates house."])
    at = [int(np.flatnonzero(view.hashes == np.uint64(hash_word(word)))[0]) for word in ("apple", "house")]
    found = all_scores(view, ContextPlaces(np.array(at), np.array(at)), model)
    number = dict(
        zip(("a", "an", "the", ""), model.numbers_of_candidates(("a", "an", "the", "")), strict=True)
    )
    assert number[""] == model.nothing
    for row, expected in zip(
        found, ({"a": 0, "an": 8, "the": 4, "": -1}, {"a": 6, "an": 0, "the": 7, "": -1}), strict=True
    ):
        assert {word: row[i] for word, i in number.items()} == pytest.approx(expected, abs=0.1)


def test_what_stands_in_a_place_and_in_other_sentences_is_not_looked_at():
    one, other = Words()(["We saw a cat. It was."]), Words()(["We saw the cat. They went home."])
    place = ContextPlaces(np.array([3]), np.array([4]))
    assert np.array_equal(all_scores(one, place), all_scores(other, place))


words = st.lists(st.sampled_from([*VOCABULARY, "town", "naïve", "Cat", "x" * 300, "y" * 300]), max_size=30)


@given(st.lists(words.map(" ".join), max_size=4), st.integers(1, 9))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_engines_batches_and_blocks_agree_to_the_bit(monkeypatch, texts, block):
    view = Words()(texts)
    places, found = every_place(view), {}
    for engine in ("numpy", "numba"):
        monkeypatch.setenv("DISAMBIG_ENGINE", engine)
        monkeypatch.setattr(room, "BLOCK", 4096)
        found[engine] = all_scores(view, places)
    monkeypatch.setattr(room, "BLOCK", block)
    assert np.array_equal(found["numpy"], found["numba"])
    assert np.array_equal(found["numpy"], all_scores(view, places))
    apart = [Words()([text]) for text in texts]
    single = [all_scores(each, every_place(each)) for each in apart]
    halves = [each[: len(each) // 2] for each in single] + [each[len(each) // 2 :] for each in single]
    assert np.array_equal(np.concatenate([np.empty((0, MODEL.nothing + 1)), *halves]), found["numpy"])


def test_words_too_long_for_a_hash_are_one_and_the_same():
    """They share a hash, so that which of them comes first in a batch must not matter."""
    long = ["We saw " + letter * 300 + " at home." for letter in "xy"]
    for texts in (long, long[::-1]):
        view = Words()(texts)
        at = np.flatnonzero(view.hashes == 0)
        assert len(at) == 2
        places = ContextPlaces(at - 1, at)
        assert np.ptp(all_scores(view, places), axis=0).max() == 0


@pytest.mark.parametrize("tokenisation", [Words(), Web1T(), SpacyTokens("en")], ids=lambda each: each.name)
def test_unknown_words_are_told_apart_by_their_endings_alone(tokenisation):
    model = replace(MODEL, header={"tokenisation": tokenisation.name})
    view = tokenisation(["walking talking walked \N{LEFT DOUBLE QUOTATION MARK}"])
    spelled = {
        view.texts[0][s:e]: n
        for s, e, n in zip(view.starts, view.ends, token_numbers(model, view), strict=True)
    }
    assert spelled["walking"] == spelled["talking"] != spelled["walked"]
    assert all(0 <= number < model.vocabulary.outside for number in spelled.values())


def test_candidates_are_cut_as_the_text_is():
    texts = ("it", "It", "", "went", "the cat", "the")
    it, the = VOCABULARY.index("it"), VOCABULARY.index("the")
    assert MODEL.numbers_of_candidates(texts).tolist() == [it, it, MODEL.nothing, -1, -1, the]
    curly = random_cloze(["isn't"]).numbers_of_candidates(["isn\N{RIGHT SINGLE QUOTATION MARK}t"])
    assert curly.tolist() == [0] and MODEL.numbers_of_candidates(()).tolist() == []


# The extractor


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("cloze") / "words"
    MODEL.save(path)
    return path


def own(instances, lists):
    return replace(instances, own=CandidateLists.from_texts(lists))


def test_the_attribute_of_lists_is_that_of_the_group(folder):
    view = Words()(TEXTS)
    group = Group("to/in/it", ("to", "in", "it"))
    instances = CandidateFinder.from_groups([group]).find(view)
    extractor = WordsInContext(words=str(folder))
    fixed = transform_checked(extractor, view, instances, group)
    listed = transform_checked(extractor, view, own(instances, [group.candidates] * len(instances)), group)
    assert np.array_equal(fixed.batch.values.ravel(), listed.batch.values.ravel())
    assert np.array_equal(fixed.batch.costs.ravel(), listed.batch.cost)
    assert listed.batch.values.dtype == np.float32 and len(listed.batch.columns) == 1
    assert not listed.found.any() and not listed.asked.any()


def test_candidates_that_are_not_known_stand_below_the_others(folder):
    view = Words()(["They went to town."])
    place = Instances(np.array([3]), np.ones(1, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32))
    lists = [("to", "in", "out of", "unheard", "")]
    values = transform_checked(
        WordsInContext(words=folder), view, own(place, lists), Group("any", ())
    ).batch.values
    to, into, out_of, unheard, nothing = values[:, 0].tolist()
    assert out_of == unheard == pytest.approx(max(to, into, nothing) - UNKNOWN_WORD_SCORE)
    alone = transform_checked(
        WordsInContext(words=folder), view, own(place, [("unheard",)]), Group("any", ())
    )
    assert alone.batch.values.tolist() == [[-UNKNOWN_WORD_SCORE]]


@pytest.mark.parametrize(
    "task",
    [
        OwnCandidates(candidates=["to", "in", ""]),
        OwnCandidates(candidates=["it", "cat"]),
        OwnLists(("to", "")),
    ],
)
def test_the_suite_for_words_in_context(folder, task):
    for check in check_extractor(WordsInContext(words=folder), task, TEXTS):
        check()


def test_without_instances_there_are_no_rows(folder):
    extractor, group = WordsInContext(words=folder), Group("a/b", ("a", "b"))
    for texts in ([], [""], ["Nothing here"]):
        view = Words()(texts)
        none = CandidateFinder.from_groups([group]).find(view)
        assert transform_checked(extractor, view, none, group).batch.values.shape == (0, 2, 1)
        assert transform_checked(extractor, view, own(none, []), Group("any", ())).batch.values.shape == (
            0,
            1,
        )


@pytest.mark.parametrize("text", ["They went to town.", "Nothing"])
def test_another_tokenisation_is_refused(folder, text):
    view, group = Web1T()([text]), Group("to/in", ("to", "in"))
    with pytest.raises(UserError, match=r"D992.*disambig\.words\.v1, not of web1t\.v1"):
        transform_checked(
            WordsInContext(words=folder), view, CandidateFinder.from_groups([group]).find(view), group
        )


def test_it_goes_to_other_processes_without_its_model(folder):
    extractor = WordsInContext(words=str(folder))
    view, group = Words()(TEXTS), Group("to/in", ("to", "in"))
    found = transform_checked(
        extractor, view, CandidateFinder.from_groups([group]).find(view), group
    ).batch.values
    kept = pickle.dumps(extractor)
    assert len(kept) < 500
    again = transform_checked(
        pickle.loads(kept), view, CandidateFinder.from_groups([group]).find(view), group
    ).batch.values
    assert np.array_equal(again, found)


@pytest.mark.parametrize("frequent", [0, 3, 1000])
def test_what_frequent_words_give_is_found_once_and_is_the_same(frequent, monkeypatch):
    monkeypatch.setattr(given_room, "FREQUENT", frequent)
    model, asked = random_cloze(VOCABULARY), []
    plain = given_room._compute_projections
    monkeypatch.setattr(
        given_room, "_compute_projections", lambda *of: asked.append(of[1].tolist()) or plain(*of)
    )
    words = np.arange(model.vocabulary.outside + 1, dtype=np.int32)
    places = len(model.inputs)
    for part in (words[1::2], words, words[:0], words):
        for few in (0, 1000):
            monkeypatch.setattr(given_room, "_FEW", few)
            projections, rows = given_room.project_words(model, part)
            of_both = np.concatenate([projections.frequent, projections.rare])
            assert np.array_equal(of_both[rows], plain(model, part))
            which = np.repeat(rows[:, None], places, axis=1)
            taken = projections.take(which, len(model.hidden_bias))
            assert np.array_equal(taken.reshape(plain(model, part).shape), plain(model, part))
    often = [word for part in asked for word in part]
    assert [often.count(word) for word in words.tolist()] == [
        1 if word < min(frequent, len(VOCABULARY)) else 2 * (2 + word % 2) for word in words.tolist()
    ]
