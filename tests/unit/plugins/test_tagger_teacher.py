"""The teacher of the English tagger: its network, and what it sees of words."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from disambig_encoder.encoder import BATCH_PIECES, batches_by_length
from disambig_random_subspace.experiments import with_penn_colons

from disambig.features import WordClasses
from disambig.text import hash_words

SOURCE = Path(__file__).parents[3] / "corpora" / "disambig_en_tagger" / "teacher.py"


@pytest.fixture(scope="module")
def teacher():
    spec = importlib.util.spec_from_file_location("tagger_teacher", SOURCE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture(scope="module")
def classes():
    words = np.sort(hash_words(["dogs", "bark", "cats", "sleep"]))
    return WordClasses(words, np.arange(4, dtype=np.uint16)[:, None] % 2)


def silent(stage, done, total):
    pass


def test_the_gradients_are_those_of_the_loss(teacher):
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((6, 3)).astype(np.float32)
    labels = np.array([0, 1, 0, 1, 1, 0])
    network = teacher.Network(hidden=4, epochs=1, batch=2, dropout=0.0)
    network.fit(lambda rows: inputs[rows], labels, 2, silent)
    gradients = network._gradients(inputs, labels, rng)

    def loss():
        return -network.log_probabilities(inputs)[np.arange(6), labels].mean(dtype=np.float64)

    for weights, gradient in zip(network.weights, gradients, strict=True):
        flat, at = weights.reshape(-1), 1
        before, step = flat[at], np.float32(1e-2)
        flat[at] = before + step
        above = loss()
        flat[at] = before - step
        below = loss()
        flat[at] = before
        assert (above - below) / (2 * step) == pytest.approx(gradient.reshape(-1)[at], abs=2e-3)


def test_the_network_learns_what_no_linear_model_can(teacher):
    inputs = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 64, np.float32)
    labels = (inputs.sum(axis=1) == 1).astype(np.int64)
    network = teacher.Network(hidden=16, epochs=200, batch=32, rate=1e-2, dropout=0.0)
    network.fit(lambda rows: inputs[rows], labels, 2, silent)
    shares = np.exp(network.log_probabilities(inputs))
    assert (shares.argmax(axis=1) == labels).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-5)


def test_the_teacher_reads_states_and_keeps_to_the_possible_tags(teacher, classes):
    sentences = [(["dogs", "bark"], ["NNS", "VBP"]), (["saw", "saw"], ["NNS", "VBP"])] * 64
    # the first state tells the tag; "saw" has both
    states = np.array([[1, 0], [-1, 0]] * 128, np.float16)
    network = teacher.Network(hidden=8, epochs=60, batch=32, rate=1e-2)
    learned = teacher.Teacher(classes, [0], network).fit(sentences, states)
    free = [(["saw", "saw"], [(), ()]), (["saw", "saw"], [("VBP", "unknown"), ("XX",)])]
    (_, first), (words, second) = learned.tag(free, states[:4])
    assert first == ["NNS", "VBP"]
    assert words == ["saw", "saw"] and second == ["VBP", "VBP"]


def test_attributes_of_a_word_do_not_cross_sentences(teacher, classes):
    alone = teacher.attributes_of_words([["Dogs", "bark"]], classes, [0])
    beside = teacher.attributes_of_words([["cats"], ["Dogs", "bark"], ["SLEEP", "!"]], classes, [0])
    np.testing.assert_array_equal(beside[1:3], alone)
    upper = teacher.attributes_of_words([["DOGS", "bark"]], classes, [0])
    assert (upper != alone).any()


@pytest.mark.parametrize(
    ("word", "other"), [("dogs", "Dogs"), ("Dogs", "DOGS"), ("A", "AA"), ("12", "a12"), ("a@b", "a-b")]
)
def test_shapes_differ(teacher, word, other):
    shapes = teacher.shape_number(word), teacher.shape_number(other)
    assert shapes[0] != shapes[1] and max(shapes) < teacher.N_SHAPES


def test_batches_have_every_sentence_once_and_few_pieces():
    lengths = np.random.default_rng(0).integers(3, 120, 200).tolist()
    batches = list(batches_by_length(lengths))
    assert sorted(i for batch in batches for i in batch) == list(range(200))
    assert max(len(batch) * max(lengths[i] for i in batch) for batch in batches) <= BATCH_PIECES


def test_dashes_and_semicolons_get_the_tag_of_the_penn_treebank():
    words = ["a", ",", "--", "b", ";", "c", "\u2013", "d", "...", "e", "-", "f", "..."]
    tags = ["X", ",", ",", "X", ",", "X", ",", "X", ",", "X", "HYPH", "X", "."]
    ((_, mapped),) = with_penn_colons([(words, tags)])
    assert mapped == ["X", ",", ":", "X", ":", "X", ":", "X", ":", "X", "HYPH", "X", "."]
    assert tags[2] == ","  # the sentences that were given are not changed
