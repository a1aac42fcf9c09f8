"""The gradients by which words in context are learned, against differences of the loss."""

from __future__ import annotations

import numpy as np
import pytest
from cloze_toys import SMALL, material, sentences

from disambig.features import (
    DENSE,
    HALVES,
    ClozeCandidates,
    ClozeExamples,
    ClozeNetwork,
    ClozeSettings,
    FloatWeights,
    ThreadPool,
    TrainingPlaces,
    adagrad,
    adam,
)

STEP = 2e-3
NO_RATE = np.float32(0)


@pytest.fixture
def made():
    """Return a network with weights at random, outputs too, and a batch."""
    blocks, vocabulary, rivals, beside = material(sentences(40))
    settings = ClozeSettings(**{**SMALL, "dimensions": 7}, epochs=1, seed=0)
    weights = FloatWeights.start(settings, len(vocabulary), vocabulary.outside)
    rng = np.random.default_rng(0)
    weights.outputs[:] = rng.standard_normal(weights.outputs.shape)
    weights.output_bias[:] = rng.standard_normal(len(weights.output_bias))
    weights.embeddings[:] *= 8
    network = ClozeNetwork(
        weights, ClozeCandidates.from_rivals(len(vocabulary), rivals, beside), ThreadPool(1)
    )
    batch = ClozeExamples(blocks, vocabulary, None, settings).places(np.arange(3), rng)
    return network, batch


def loss(network, batch):
    return float(network.forward(batch).losses.mean(dtype=np.float64))


def slope(network, batch, array, at):
    """Return the slope of the loss in one number of an array, by differences."""
    kept = array[at]
    array[at] = kept + STEP
    above = loss(network, batch)
    array[at] = kept - STEP
    below = loss(network, batch)
    array[at] = kept
    return (above - below) / (2 * STEP)


def test_gradients_of_dense_weights_and_embeddings_are_slopes_of_the_loss(made):
    network, batch = made
    found = network.forward(batch)
    back = network._outputs(batch, found, NO_RATE)
    dense, embeddings = network.gradients(batch, found, back)
    assert set(dense) == set(DENSE)
    rng = np.random.default_rng(1)
    for name, gradient in dense.items():
        array = getattr(network.weights, name)
        _compare(network, batch, array, gradient, rng)
    whole = np.zeros_like(network.weights.embeddings)
    whole[batch.words] = embeddings
    _compare(network, batch, network.weights.embeddings, whole, rng, rows=batch.words)


def _compare(network, batch, array, gradient, rng, rows=None):
    assert np.abs(gradient).max() > 1e-3
    ours, theirs = [], []
    for _ in range(40):
        at = tuple(rng.integers(array.shape))
        if rows is not None:
            at = (int(rng.choice(rows)), *at[1:])
        ours.append(gradient[at])
        theirs.append(slope(network, batch, array, at))
    near = np.abs(np.array(ours) - theirs) < 0.01 * np.abs(theirs).max()
    assert near.mean() > 0.9  # a difference may go over the edge of a hidden unit


def test_outputs_of_one_place_go_down_the_slope_of_the_loss(made):
    network, batch = made
    one = TrainingPlaces(batch.words, batch.around[4:5], batch.truth[4:5], batch.negatives[:5])
    w, d = network.weights, network.weights.outputs.shape[1]
    slopes = np.array(
        [[slope(network, one, w.outputs, (row, k)) for k in range(d)] for row in range(len(w.outputs))]
    )
    of_bias = np.array([slope(network, one, w.output_bias, (row,)) for row in range(len(w.output_bias))])
    before, bias_before = w.outputs.copy(), w.output_bias.copy()
    found, rate = network.forward(one), np.float32(1e-3)
    network._outputs(one, found, rate)
    told = network._candidates
    listed = told.numbers[told.offsets[one.truth[0]] : told.offsets[one.truth[0] + 1]]
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


def test_a_word_that_stands_there_is_no_negative_of_itself(made):
    network, batch = made
    right = int(batch.truth[0])
    alone = TrainingPlaces(batch.words, batch.around[:1], batch.truth[:1], np.array([], np.int32))
    itself = TrainingPlaces(batch.words, batch.around[:1], batch.truth[:1], np.array([right], np.int32))
    assert network.forward(itself).losses == pytest.approx(network.forward(alone).losses)
    assert network.forward(itself).shared.tolist() == [[0.0]]


def test_adam_and_adagrad_go_down_a_bowl():
    values, first, second = (np.full(3, start, np.float32) for start in (2.0, 0.0, 0.0))
    for number in range(1, 400):
        adam(values, first, second, 2 * values, 0.02, number)
    assert np.abs(values).max() < 0.05
    first_step = np.ones(3, np.float32)
    adam(first_step, np.zeros(3, np.float32), np.zeros(3, np.float32), first_step * 7, 0.1, 1)
    assert first_step == pytest.approx([0.9] * 3, abs=1e-5)  # the rate, whatever the slope
    table, seen = np.full((4, 2), 3.0, np.float32), np.full(4, 1e-6, np.float32)
    rows = np.array([1, 3], np.int32)
    for _ in range(300):
        adagrad(table, seen, rows, 2 * table[rows], np.float32(0.5))
    assert np.abs(table[rows]).max() < 0.05
    assert (table[[0, 2]] == 3.0).all()
