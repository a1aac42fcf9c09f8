"""Learning models of words in context: vocabulary, gradients, checkpoints, endings of words."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from cloze_language import NONE_BESIDE, SMALL, learned, material, numbered, sentences
from hypothesis import given, strategies as st

from disambig.errors import UserError
from disambig.features import (
    CLOZE_ARRAYS,
    DENSE,
    ENDING_LENGTH,
    ENDING_SHARE,
    HALVES,
    Cloze,
    ClozeCandidates,
    ClozeExamples,
    ClozeNetwork,
    ClozeSettings,
    ContextPlaces,
    FloatWeights,
    ThreadPool,
    TrainingPlaces,
    WordEndings,
    _cloze_network as learning_endings,
    adagrad,
    adam,
    context_vectors,
    count_vocabulary,
    learn_cloze,
    quantise,
    score_candidates,
)
from disambig.text import Words, hash_word, hash_words

TEXTS = sentences(120)


@pytest.fixture(scope="module")
def model():
    return learned(sentences(600), epochs=12)


def leads(model, texts, word, other, *, empty=False):
    """Return the lead of `word` over `other` where it occurs; for the empty word, before each token."""
    view = Words()(texts)
    numbers = model.vocabulary.view_numbers(view)
    candidate_numbers = model.numbers_of_candidates([word, other])
    positions = np.flatnonzero(numbers == candidate_numbers[0])
    if empty:
        positions = np.arange(2, len(view) - 2)
    states = context_vectors(model, view, ContextPlaces(positions, positions + (not empty)))
    rows = np.repeat(np.arange(len(positions)), 2)
    scores = score_candidates(model, states, rows, np.tile(candidate_numbers, len(positions))).reshape(-1, 2)
    return scores[:, 0] - scores[:, 1]


def test_learns_the_language_and_saves_all_of_it(model, tmp_path):
    texts = sentences(200, seed=1)
    for one, other in (("a", "an"), ("an", "a"), ("walks", "walk"), ("walk", "walks"), ("sleep", "sleeps")):
        lead = leads(model, texts, one, other)
        assert len(lead) > 20 and (lead > 3).mean() > 0.99
    whole = sentences(100, seed=2)
    assert (leads(model, whole, "an", "") > 3).all()
    assert (leads(model, ["The boy near Tom walks with a pear."], "", "an", empty=True) > 0).mean() > 0.8
    (lead,) = leads(model, ["The boy near Tom walks with apple."], "an", "", empty=True)[5:6]
    assert lead > 0
    model.save(tmp_path)
    kept = Cloze.load(tmp_path)
    texts = sentences(30, seed=3)
    assert leads(kept, texts, "walks", "walk").tolist() == leads(model, texts, "walks", "walk").tolist()
    assert kept.header["learned"]["loss"] < 1.0
    assert kept.header["learned"]["dimensions"] == SMALL["dimensions"]


def same_weights(one, other):
    return all(getattr(one, name).tobytes() == getattr(other, name).tobytes() for name in CLOZE_ARRAYS[1:])


def test_quantised_scores_are_near_those_of_the_floats():
    texts = sentences(400)
    blocks, vocabulary, rivals, beside = material(texts)
    settings = ClozeSettings(**SMALL, epochs=6, seed=0)
    text = ClozeExamples(blocks, vocabulary, None, settings)
    with ThreadPool(1) as team:
        weights = FloatWeights.initial(settings, len(vocabulary), vocabulary.outside)
        network = ClozeNetwork(weights, ClozeCandidates.from_rivals(len(vocabulary), rivals, beside), team)
        for number, batch in enumerate(text.batches()):
            network.step(text.places(batch, np.random.default_rng(number)), 0.02, number + 1)
        view = Words()(sentences(60, seed=4))
        numbers = vocabulary.view_numbers(view)
        result = np.flatnonzero(view.ends > view.starts)
        whole = ClozeExamples([numbers], vocabulary, None, settings)
        places = whole.places(np.array([0]), np.random.default_rng(0))
        filled = places.truth < len(vocabulary)
        forward = network.forward(places)
        floats = network.weights
    sizes = {"left": SMALL["left"], "right": SMALL["right"], "most_hidden": float(forward.units.max())}
    model = quantise(vocabulary, floats.arrays(), **sizes, header={"tokenisation": Words.name})
    words = np.arange(len(vocabulary) + 1, dtype=np.int32)
    states = context_vectors(model, view, ContextPlaces(result, result + 1))
    assert len(result) == filled.sum()
    rows = np.repeat(np.arange(len(result)), len(words))
    ours = score_candidates(model, states, rows, np.tile(words, len(result))).reshape(len(result), -1)
    theirs = forward.states[filled] @ floats.outputs.T + floats.output_bias
    assert np.corrcoef(ours.ravel(), theirs.ravel())[0, 1] > 0.999
    assert np.abs(ours - theirs).mean() < 0.05 * np.abs(theirs).mean()


INVALID = {"dimensions": (1, 1041, 12.0), "hidden": (519, True), "rate": (0.0, float("nan"), 1)}
INVALID |= {"left": (0,), "right": (-1,), "epochs": (0,), "seed": (-1,), "batch": (0,), "threads": (0,)}
INVALID["checkpoint_every"] = (0,)


@pytest.mark.parametrize(("setting", "value"), [(name, value) for name in INVALID for value in INVALID[name]])
def test_invalid_learning_settings_are_refused(setting, value):
    with pytest.raises(UserError, match=f"D993.*{setting} {value!r}: it must be "):
        learned(sentences(40), **{setting: value})


def test_text_and_rivals_of_another_vocabulary_are_refused():
    blocks, vocabulary, rivals, beside = material(sentences(40))
    good = {"blocks": blocks, "rivals": rivals, "none_beside": beside}
    for changed, message in (
        ({"blocks": []}, "no text"),
        ({"blocks": [np.array([vocabulary.outside], np.int32)]}, "does not have"),
        ({"blocks": [np.array([-1], np.int32)]}, "does not have"),
        ({"rivals": (rivals[0][:-1], rivals[1])}, "rivals of"),
        ({"rivals": (rivals[0], rivals[1] + len(vocabulary))}, "not a word number"),
        ({"none_beside": np.array([-1])}, "not a word number"),
    ):
        arguments = {**good, **changed}
        with pytest.raises(ValueError, match=message):
            learn_cloze(arguments.pop("blocks"), vocabulary, arguments.pop("rivals"), **arguments, **SMALL)
    with pytest.raises(ValueError, match="spellings of 1 words for a vocabulary of"):
        learned_with_endings(spellings=["one"])


def test_reports_every_step_and_predicts_only_the_chosen_words():
    notes = []
    learned(sentences(40), progress=lambda *note: notes.append(note))
    assert notes
    assert [done for _, done, _ in notes] == list(range(notes[0][2]))
    assert {stage for stage, _, _ in notes} == {"learning words in context"}
    blocks, vocabulary, _, beside = material(sentences(40))
    is_predicted = np.zeros(len(vocabulary), bool)
    is_predicted[beside] = True
    text = ClozeExamples(blocks, vocabulary, is_predicted, ClozeSettings(**SMALL, epochs=1, seed=0))
    truth = text.places(np.arange(len(blocks)), np.random.default_rng(0)).truth
    assert set(truth.tolist()) == set(beside.tolist())
    assert len(NONE_BESIDE) == len(set(truth.tolist()))


SETTINGS = {"epochs": 2, "checkpoint_every": 3}


def interrupt_at(step):
    """Return a progress callback that interrupts learning before one of its steps."""

    def progress(stage, done, total):
        assert total > step
        if done == step:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("step", [1, 3, 5])
def test_an_interrupted_run_resumes_with_the_same_bits(tmp_path, step):
    path = tmp_path / "state.npz"
    whole = learned(TEXTS, **SETTINGS)
    with pytest.raises(KeyboardInterrupt):
        learned(TEXTS, **SETTINGS, checkpoint=path, progress=interrupt_at(step))
    assert path.exists() == (step >= 3)
    notes = []
    again = learned(TEXTS, **SETTINGS, checkpoint=path, progress=lambda *note: notes.append(note))
    assert notes[0][1] == step // 3 * 3
    assert same_weights(whole, again)
    assert whole.header == again.header
    assert [item.name for item in tmp_path.iterdir()] == ["state.npz"]


def test_a_state_of_another_run_is_refused(tmp_path):
    path = tmp_path / "state.npz"
    learned(TEXTS, **SETTINGS, checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(UserError, match=r"D994.*state\.npz.*other seed; remove it"):
        learned(TEXTS, **SETTINGS, checkpoint=path, seed=5)
    with pytest.raises(UserError, match=r"D994.*other text"):
        learned(TEXTS[::-1], **SETTINGS, checkpoint=path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("damage", ["short", "text", "other", "folder"])
def test_a_damaged_state_is_refused(tmp_path, damage):
    path = tmp_path / "state.npz"
    learned(TEXTS, **SETTINGS, checkpoint=path)
    whole = path.read_bytes()
    path.unlink()
    if damage == "other":
        np.savez(path, done=np.array(3))
    elif damage == "folder":
        path.mkdir()
    else:
        path.write_bytes(whole[: len(whole) // 2] if damage == "short" else b"no state")
    with pytest.raises(UserError, match="D994"):
        learned(TEXTS, **SETTINGS, checkpoint=path)


def test_a_checkpoint_that_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(UserError, match="D309"):
        learned(TEXTS, **SETTINGS, checkpoint=tmp_path / "nowhere" / "state.npz")


@pytest.fixture
def low_bounds(monkeypatch):
    """Let endings count that only two words have, and those of the most frequent words."""
    monkeypatch.setattr(learning_endings, "_N_WITHOUT_ENDINGS", 0)
    monkeypatch.setattr(learning_endings, "_MIN_WORDS", 2)


def learned_with_endings(**settings):
    blocks, vocabulary, rivals, beside, spellings = numbered(TEXTS)
    arguments = {"none_beside": beside, "spellings": spellings, **SMALL, "epochs": 2, **settings}
    return learn_cloze(blocks, vocabulary, rivals, **arguments)


def test_a_step_of_an_ending_moves_all_its_words(low_bounds):
    endings = WordEndings(["walking", "talking", "sung", "table", "4ng"])
    # "sung" has two letters before
    members = {"g": [0, 1, 2], "ng": [0, 1, 2], "ing": [0, 1], "king": [0, 1]}
    assert len(endings) == len(members)
    slopes = np.arange(10, dtype=np.float32).reshape(5, 2)
    values, seen = np.ones((5, 2), np.float32), np.full(4, 0.5, np.float32)
    target = values.copy()
    for rows in members.values():
        slope = slopes[rows].sum(axis=0)
        target[rows] -= ENDING_SHARE * 0.1 * slope / np.sqrt(0.5 + np.square(slope).mean())
    endings.spread(values, slopes, seen, np.float32(0.1))
    assert np.allclose(values, target, atol=1e-6)
    assert values[3:].tolist() == [[1, 1], [1, 1]]
    assert (seen > 0.5).all()


def test_frequent_words_and_rare_endings_share_nothing():
    assert len(WordEndings([])) == 0
    assert len(WordEndings([f"word{letter}ing" for letter in "abcdefgh"])) == 0
    many = [f"{a}{b}t" for a in "abcdefgh" for b in "abcdefghij"]
    assert len(many) == 80 and len(WordEndings(many)) == 1


def test_endings_change_the_model_but_threads_and_interruptions_do_not(low_bounds, tmp_path):
    one, two = learned_with_endings(threads=1), learned_with_endings(threads=2)
    assert same_weights(one, two)
    assert not same_weights(one, learned_with_endings(spellings=()))
    path, whole = tmp_path / "state.npz", learned_with_endings()
    with pytest.raises(KeyboardInterrupt):
        learned_with_endings(checkpoint=path, checkpoint_every=3, progress=interrupt_at(4))
    assert path.exists()
    assert same_weights(whole, learned_with_endings(checkpoint=path))


ANY_TEXTS = st.lists(st.text(st.sampled_from("abcdeÉß\u2019'1 .\n"), max_size=40), min_size=1, max_size=6)


@given(texts=ANY_TEXTS, n_words=st.integers(3, 12), endings=st.integers(1, 50), cut=st.integers(0, 6))
def test_word_numbers(texts, n_words, endings, cut):
    views = [Words()(part) for part in (texts[:cut], texts[cut:])]
    if not sum(map(len, views)):
        with pytest.raises(ValueError, match="no text"):
            count_vocabulary(views, n_words, endings)
        return
    vocabulary, counts, spellings = count_vocabulary(views, n_words, endings)
    words = [word for text in texts for word in Words().words(text)]
    truth = Counter(words)
    assert dict(zip(spellings, counts.tolist(), strict=True)) == {w: truth[w] for w in spellings}
    assert len(vocabulary) == min(n_words, len(truth))
    assert {"<S>", "</S>"} <= set(spellings)
    frequent = [w for w in spellings if w not in ("<S>", "</S>")]
    left_out = [n for word, n in truth.items() if word not in spellings]
    assert min((truth[w] for w in frequent), default=0) >= max(left_out, default=0)
    assert vocabulary.hash_numbers(hash_words(spellings)).tolist() == list(range(len(vocabulary)))
    for view, part in zip(views, (texts[:cut], texts[cut:]), strict=True):
        named = [word for text in part for word in Words().words(text)]
        for word, number in zip(named, vocabulary.view_numbers(view).tolist(), strict=True):
            if word in spellings:
                assert spellings[number] == word
            else:
                assert number == len(vocabulary) + hash_word(word[-ENDING_LENGTH:]) % endings
        assert (vocabulary.view_numbers(view) < vocabulary.outside).all()


def test_sentence_ends_have_numbers_and_overlong_words_have_none():
    vocabulary, counts, spellings = count_vocabulary([Words()(["so so so so very very. go"])], 3, 2)
    assert sorted(spellings) == ["</S>", "<S>", "so"] and spellings[0] == "so"
    assert counts.tolist() == [4, 1, 1] and len(np.unique(vocabulary.words)) == 3
    vocabulary, _, spellings = count_vocabulary([Words()(["x" * 300 + " " + "y" * 300 + " so"] * 5)], 9, 2)
    assert sorted(spellings) == ["</S>", "<S>", "so"]
    assert len(vocabulary) == 3
    for setting, sizes in (("n_words", (2, 4)), ("endings", (8, 0))):
        with pytest.raises(UserError, match=f"D993.*{setting}"):
            count_vocabulary([Words()(["a b"])], *sizes)


STEP = 2e-3
NO_RATE = np.float32(0)


@pytest.fixture
def network_and_batch():
    """Return a network with random weights, including outputs, and a batch."""
    blocks, vocabulary, rivals, beside = material(sentences(40))
    settings = ClozeSettings(**{**SMALL, "dimensions": 7}, epochs=1, seed=0)
    weights = FloatWeights.initial(settings, len(vocabulary), vocabulary.outside)
    rng = np.random.default_rng(0)
    weights.outputs[:] = rng.standard_normal(weights.outputs.shape)
    weights.output_bias[:] = rng.standard_normal(len(weights.output_bias))
    weights.embeddings[:] *= 8
    candidates = ClozeCandidates.from_rivals(len(vocabulary), rivals, beside)
    network = ClozeNetwork(weights, candidates, ThreadPool(1))
    batch = ClozeExamples(blocks, vocabulary, None, settings).places(np.arange(3), rng)
    return network, batch


def loss(network, batch):
    return float(network.forward(batch).losses.mean(dtype=np.float64))


def slope(network, batch, array, at):
    """Return the numerical derivative of the loss with respect to one element of an array."""
    kept = array[at]
    array[at] = kept + STEP
    above = loss(network, batch)
    array[at] = kept - STEP
    below = loss(network, batch)
    array[at] = kept
    return (above - below) / (2 * STEP)


def test_gradients_of_dense_weights_and_embeddings_are_slopes_of_the_loss(network_and_batch):
    network, batch = network_and_batch
    result = network.forward(batch)
    back = network._outputs(batch, result, NO_RATE)
    dense, embeddings = network.gradients(batch, result, back)
    assert set(dense) == set(DENSE)
    rng = np.random.default_rng(1)
    for name, gradient in dense.items():
        compare(network, batch, getattr(network.weights, name), gradient, rng)
    whole = np.zeros_like(network.weights.embeddings)
    whole[batch.words] = embeddings
    compare(network, batch, network.weights.embeddings, whole, rng, rows=batch.words)


def compare(network, batch, array, gradient, rng, rows=None):
    assert np.abs(gradient).max() > 1e-3
    ours, theirs = [], []
    for _ in range(40):
        at = tuple(rng.integers(array.shape))
        if rows is not None:
            at = (int(rng.choice(rows)), *at[1:])
        ours.append(gradient[at])
        theirs.append(slope(network, batch, array, at))
    near = np.abs(np.array(ours) - theirs) < 0.01 * np.abs(theirs).max()
    assert near.mean() > 0.9  # a step may cross the kink of a hidden unit


def test_outputs_step_down_the_gradient(network_and_batch):
    network, batch = network_and_batch
    one = TrainingPlaces(batch.words, batch.around[4:5], batch.truth[4:5], batch.negatives[:5])
    w, d = network.weights, network.weights.outputs.shape[1]
    n = len(w.outputs)
    slopes = np.array([[slope(network, one, w.outputs, (row, k)) for k in range(d)] for row in range(n)])
    of_bias = np.array([slope(network, one, w.output_bias, (row,)) for row in range(n)])
    before, bias_before = w.outputs.copy(), w.output_bias.copy()
    result, rate = network.forward(one), np.float32(1e-3)
    network._outputs(one, result, rate)
    notes = network._candidates
    listed = notes.numbers[notes.offsets[one.truth[0]] : notes.offsets[one.truth[0] + 1]]
    both = np.intersect1d(listed, one.negatives)  # two steps each: told apart by neither
    for half in range(HALVES):
        columns = slice(half * d // HALVES, (half + 1) * d // HALVES)
        root = np.sqrt(network.outputs_seen[:, half])[:, None]
        taken = (before[:, columns] - w.outputs[:, columns]) * root / rate
        kept = np.setdiff1d(np.arange(len(before)), both)
        assert taken[kept] == pytest.approx(slopes[kept, columns], abs=5e-3)
    assert np.abs(slopes).max() > 0.1
    taken = (bias_before - w.output_bias) * np.sqrt(network.bias_seen) / rate
    kept = np.setdiff1d(np.arange(len(before)), both)
    assert taken[kept] == pytest.approx(of_bias[kept], abs=5e-3)


def test_the_observed_word_is_not_a_negative(network_and_batch):
    network, batch = network_and_batch
    right = int(batch.truth[0])
    alone = TrainingPlaces(batch.words, batch.around[:1], batch.truth[:1], np.array([], np.int32))
    itself = TrainingPlaces(batch.words, batch.around[:1], batch.truth[:1], np.array([right], np.int32))
    assert network.forward(itself).losses == pytest.approx(network.forward(alone).losses)
    assert network.forward(itself).shared.tolist() == [[0.0]]


def test_adam_and_adagrad_minimise_a_quadratic():
    values, first, second = (np.full(3, start, np.float32) for start in (2.0, 0.0, 0.0))
    for number in range(1, 400):
        adam(values, first, second, 2 * values, 0.02, number)
    assert np.abs(values).max() < 0.05
    first_step = np.ones(3, np.float32)
    adam(first_step, np.zeros(3, np.float32), np.zeros(3, np.float32), first_step * 7, 0.1, 1)
    assert first_step == pytest.approx([0.9] * 3, abs=1e-5)  # the learning rate, for any gradient
    table, seen = np.full((4, 2), 3.0, np.float32), np.full(4, 1e-6, np.float32)
    rows = np.array([1, 3], np.int32)
    for _ in range(300):
        adagrad(table, seen, rows, 2 * table[rows], np.float32(0.5))
    assert np.abs(table[rows]).max() < 0.05
    assert (table[[0, 2]] == 3.0).all()
