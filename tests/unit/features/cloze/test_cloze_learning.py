"""Learning words in context: a toy language, the same bits with any threads, numbers near the floats'."""

from __future__ import annotations

import numpy as np
import pytest
from cloze_toys import NONE_BESIDE, SMALL, learned, material, sentences

from disambig.errors import UserError
from disambig.features import (
    NAMES,
    Cloze,
    ClozeCandidates,
    ClozeExamples,
    ClozeNetwork,
    ClozeSettings,
    ContextPlaces,
    FloatWeights,
    ThreadPool,
    context_vectors,
    learn_cloze,
    quantise,
    score_candidates,
)
from disambig.text import Words


@pytest.fixture(scope="module")
def toy():
    return learned(sentences(600), epochs=12)


def leads(model, texts, word, other, *, empty=False):
    """Return by how much `word` is above `other` where it stands; of empty places, before each token."""
    view = Words()(texts)
    numbers = model.vocabulary.view_numbers(view)
    asked = model.numbers_of_candidates([word, other])
    positions = np.flatnonzero(numbers == asked[0])
    if empty:
        positions = np.arange(2, len(view) - 2)
    states = context_vectors(model, view, ContextPlaces(positions, positions + (not empty)))
    rows = np.repeat(np.arange(len(positions)), 2)
    scores = score_candidates(model, states, rows, np.tile(asked, len(positions))).reshape(-1, 2)
    return scores[:, 0] - scores[:, 1]


def test_a_toy_language_is_learned_to_near_certainty(toy):
    texts = sentences(200, seed=1)
    for one, other in (("a", "an"), ("an", "a"), ("walks", "walk"), ("walk", "walks"), ("sleep", "sleeps")):
        lead = leads(toy, texts, one, other)
        assert len(lead) > 20
        assert (lead > 3).mean() > 0.99


def test_words_that_none_stands_beside_are_missed_where_they_are_left_out(toy):
    whole = sentences(100, seed=2)
    assert (leads(toy, whole, "an", "") > 3).all()
    assert (leads(toy, ["The boy near Tom walks with a pear."], "", "an", empty=True) > 0).mean() > 0.8
    (lead,) = leads(toy, ["The boy near Tom walks with apple."], "an", "", empty=True)[5:6]
    assert lead > 0


def test_any_number_of_threads_gives_the_same_bits():
    texts = sentences(120)
    one, two, three = (learned(texts, threads=threads) for threads in (1, 2, 3))
    for name in NAMES[1:]:
        for other in (two, three):
            assert getattr(one, name).tobytes() == getattr(other, name).tobytes()
    assert one.header == two.header
    other = learned(texts, seed=1)
    assert other.embeddings.tobytes() != one.embeddings.tobytes()


def test_a_learned_model_is_kept_whole(toy, tmp_path):
    toy.save(tmp_path)
    kept = Cloze.load(tmp_path)
    texts = sentences(30, seed=3)
    assert leads(kept, texts, "walks", "walk").tolist() == leads(toy, texts, "walks", "walk").tolist()
    assert kept.header["learned"]["loss"] < 1.0
    assert kept.header["learned"]["dimensions"] == SMALL["dimensions"]


def test_scores_in_small_integers_are_near_those_of_the_floats():
    texts = sentences(400)
    blocks, vocabulary, rivals, beside = material(texts)
    settings = ClozeSettings(**SMALL, epochs=6, seed=0)
    text = ClozeExamples(blocks, vocabulary, None, settings)
    with ThreadPool(1) as team:
        network = ClozeNetwork(
            FloatWeights.start(settings, len(vocabulary), vocabulary.outside),
            ClozeCandidates.from_rivals(len(vocabulary), rivals, beside),
            team,
        )
        for number, batch in enumerate(text.batches()):
            network.step(text.places(batch, np.random.default_rng(number)), 0.02, number + 1)
        view = Words()(sentences(60, seed=4))
        numbers = vocabulary.view_numbers(view)
        found = np.flatnonzero(view.ends > view.starts)
        whole = ClozeExamples([numbers], vocabulary, None, settings)
        places = whole.places(np.array([0]), np.random.default_rng(0))
        filled = places.truth < len(vocabulary)
        forward = network.forward(places)
        floats = network.weights
    model = quantise(
        vocabulary,
        floats.arrays(),
        left=SMALL["left"],
        right=SMALL["right"],
        most_hidden=float(forward.units.max()),
        header={"tokenisation": Words.name},
    )
    words = np.arange(len(vocabulary) + 1, dtype=np.int32)
    states = context_vectors(model, view, ContextPlaces(found, found + 1))
    assert len(found) == filled.sum()
    rows = np.repeat(np.arange(len(found)), len(words))
    ours = score_candidates(model, states, rows, np.tile(words, len(found))).reshape(len(found), -1)
    theirs = forward.states[filled] @ floats.outputs.T + floats.output_bias
    assert np.corrcoef(ours.ravel(), theirs.ravel())[0, 1] > 0.999
    assert np.abs(ours - theirs).mean() < 0.05 * np.abs(theirs).mean()


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("dimensions", 1),
        ("dimensions", 1041),
        ("dimensions", 12.0),
        ("hidden", 519),
        ("hidden", True),
        ("left", 0),
        ("right", -1),
        ("epochs", 0),
        ("seed", -1),
        ("batch", 0),
        ("rate", 0.0),
        ("rate", float("nan")),
        ("rate", 1),
        ("threads", 0),
        ("checkpoint_every", 0),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(setting, value):
    with pytest.raises(UserError, match=f"D993.*{setting} {value!r}: it must be "):
        learned(sentences(40), **{setting: value})


def test_text_and_rivals_of_another_vocabulary_are_refused():
    blocks, vocabulary, rivals, beside = material(sentences(40))

    def learn(blocks=blocks, rivals=rivals, beside=beside):
        return learn_cloze(blocks, vocabulary, rivals, none_beside=beside, **SMALL)

    with pytest.raises(ValueError, match="no text"):
        learn(blocks=[])
    with pytest.raises(ValueError, match="does not have"):
        learn(blocks=[np.array([vocabulary.outside], np.int32)])
    with pytest.raises(ValueError, match="does not have"):
        learn(blocks=[np.array([-1], np.int32)])
    with pytest.raises(ValueError, match="rivals of"):
        learn(rivals=(rivals[0][:-1], rivals[1]))
    with pytest.raises(ValueError, match="not a word number"):
        learn(rivals=(rivals[0], rivals[1] + len(vocabulary)))
    with pytest.raises(ValueError, match="not a word number"):
        learn(beside=np.array([-1]))


def test_progress_tells_each_step():
    told = []
    learned(sentences(40), progress=lambda stage, done, total: told.append((stage, done, total)))
    assert told
    assert [done for _, done, _ in told] == list(range(told[0][2]))
    assert {stage for stage, _, _ in told} == {"learning words in context"}


def test_words_that_are_not_asked_for_are_no_places():
    blocks, vocabulary, _, beside = material(sentences(40))
    asked = np.zeros(len(vocabulary), bool)
    asked[beside] = True
    text = ClozeExamples(blocks, vocabulary, asked, ClozeSettings(**SMALL, epochs=1, seed=0))
    truth = text.places(np.arange(len(blocks)), np.random.default_rng(0)).truth
    assert set(truth.tolist()) == set(beside.tolist())
    assert len(NONE_BESIDE) == len(set(truth.tolist()))
