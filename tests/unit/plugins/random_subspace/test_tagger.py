"""The tagger: its perceptron, its scorer, its model, and the teacher of the English tagger."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
import spacy
from disambig_encoder.encoder import BATCH_PIECES, batches_by_length
from disambig_random_subspace import OF_TAG, OF_WORD
from disambig_random_subspace.experiments import with_penn_colons
from disambig_random_subspace.learners import RandomSubspaces
from disambig_random_subspace.tagger import (
    StructuredPerceptron,
    TagTask,
    distinct_tags,
    make_batch,
    train_tagger,
)
from scipy.sparse import csr_array
from toy_texts import TAGGED

from disambig.api.batches import SequenceRows
from disambig.api.decoding import Chain
from disambig.decode import ChainScorer
from disambig.errors import UserError
from disambig.features import WordClasses
from disambig.models import load_model, save_model
from disambig.testing import check_learner
from disambig.text import hash_words


def make_sequences(seed=0, n=14, k=3, d=6):
    """Return sequences of random features whose labels depend on the one before."""
    rng = np.random.default_rng(seed)
    rows = (rng.random((n, d)) < 0.5).astype(np.float32)
    gold = rng.integers(k, size=n)
    costs = (np.arange(k) != gold[:, None]).astype(np.float32)
    return SequenceRows(csr_array(rows), costs, np.repeat(np.arange(4), [4, 1, 6, 3]))


def perceptron_by_hand(batch, passes, seed=0):
    """Collins's averaged perceptron on dense features, with the decoder of the core."""
    edges, chain = batch.edges(), Chain(batch.costs.shape[1])
    weights, total, steps = np.zeros(batch.n_weights), np.zeros(batch.n_weights), 0
    order = np.random.default_rng(seed).permutation(len(edges.offsets) - 1)
    for _, i in itertools.product(range(passes), order):
        one = edges.take(np.array([i]))
        scores = one.scores(weights)
        right = chain.best(np.where(one.cost == 0, 0.0, -np.inf), one.offsets)
        weights = weights + one.adjoint(right - chain.best(scores, one.offsets))
        # the weights before this step's change count for the time until now
        total, steps = total + weights, steps + 1
    return total / steps


@pytest.mark.parametrize("passes", [1, 2, 5])
def test_averaged_perceptron(passes):
    batch = make_sequences()
    learned = StructuredPerceptron(passes=passes).fit(batch).scorer.weights()
    assert learned == pytest.approx(perceptron_by_hand(batch, passes), abs=1e-6)


def test_hand_computed_steps_and_best_labels():
    # one sentence of two words; label 0 everywhere at first, so the second word is wrong
    rows = csr_array(np.array([[1, 0], [0, 1]], np.float32))
    batch = SequenceRows(rows, np.array([[0, 1], [1, 0]], np.float32), np.array([0, 0]))
    weights = StructuredPerceptron(passes=1).fit(batch).scorer.weights()
    # label 0: -1 for word 1; label 1: +1 for word 1; first label: right; steps 0-0: -1, 0-1: +1
    assert weights.tolist() == [0, -1, 0, 1, 0, 0, -1, 1, 0, 0]
    batch, k = make_sequences(3), 3
    scorer = StructuredPerceptron(passes=3).fit(batch).scorer
    edges, weights = batch.edges(), scorer.weights()
    scores = edges.scores(weights)
    for i in range(len(edges.offsets) - 1):
        first, last = batch.layout[i : i + 2]
        candidates = itertools.product(range(k), repeat=int(last - first))
        totals = {c: scores[edges.offsets[i] + Chain(k).edges(np.array(c))].sum() for c in candidates}
        assert totals[tuple(scorer.best(batch)[first:last].tolist())] == pytest.approx(max(totals.values()))
    marginals = scorer.scores(batch).reshape(-1, k)
    assert marginals.argmax(axis=1).tolist() == scorer.best(batch).tolist()


def test_contracts():
    batch, _ = make_batch(TAGGED, distinct_tags(TAGGED))
    averaged = RandomSubspaces(base=StructuredPerceptron(passes=3), n_subspaces=3)
    for checks in (
        check_learner(StructuredPerceptron(), batch, least=1.0),
        check_learner(averaged, batch, least=1.0),
    ):
        for check in checks:
            check()


def test_averaged_perceptron_without_removal_or_with_masks():
    batch = make_sequences(1)
    base = StructuredPerceptron(passes=2)
    averaged = RandomSubspaces(base=base, n_subspaces=3, removal_rate=0.0).fit(batch).scorer
    assert averaged.weights() == pytest.approx(base.fit(batch).scorer.weights(), abs=1e-6)
    batch = make_sequences(2)
    mask = np.array([[1, 0, 1, 1, 0, 1]], np.uint8)
    masked = StructuredPerceptron().fit_masked(batch, mask)
    copy = SequenceRows(csr_array(batch.rows.toarray() * mask), batch.costs, batch.sequences)
    assert masked == pytest.approx(StructuredPerceptron().fit_masked(copy, np.ones((1, 6), np.uint8)))
    assert not masked[:18].reshape(3, 6)[:, [1, 4]].any()


def test_pruned_rounded_and_many_weights_round_trip():
    scorer = StructuredPerceptron(passes=3).fit(make_sequences(5)).scorer.pruned(0.5).rounded()
    state = scorer.state()
    assert state["amounts"].dtype == np.int16 and state["labels"].dtype == np.uint8
    again = ChainScorer.from_state(state)
    assert again.scores(make_sequences(5)).tolist() == scorer.scores(make_sequences(5)).tolist()
    magnitudes = np.abs(again.weights()[:18])
    assert magnitudes[magnitudes > 0].min() >= 0.5 - 1 / 64
    k = 300
    weights = np.arange(1.0, k + 1)  # one feature that weighs for every label
    scorer = ChainScorer.of_weights(np.concatenate([weights, np.zeros(k + k * k)]), k)
    state = scorer.state()
    assert state["sizes"].dtype == state["labels"].dtype == np.uint16
    assert ChainScorer.from_state(state).weights().tolist() == scorer.weights().tolist()


def test_damaged_scorers():
    state = {"sizes": np.array([1, 0], np.uint8), "labels": np.array([1], np.uint8)}
    state |= {"amounts": np.array([64], np.int16), "first": np.zeros(2, np.float32)}
    state["step"] = np.zeros((2, 2), np.float32)
    assert ChainScorer.from_state(state).weights()[2] == 1.0
    for name, array in (
        ("sizes", np.array([3], np.uint8)),
        ("sizes", np.array([2**63, 2**63 + 1], np.uint64)),
        ("labels", np.array([9], np.uint8)),
        ("labels", np.array([-1], np.int8)),
        ("amounts", np.zeros((1, 1), np.float32)),
        ("step", np.zeros((2, 3), np.float32)),
        ("first", np.zeros(0, np.float32)),
    ):
        with pytest.raises(ValueError, match="chain scorer"):
            ChainScorer.from_state({**state, name: array})
    scorer = StructuredPerceptron().fit(make_sequences()).scorer
    with pytest.raises(ValueError, match="6 features and 3 labels for a batch of 5 and 3"):
        scorer.best(make_sequences(d=5))


def test_invalid_settings():
    for tags in ([], ["A"], ["A", "A"], ["A", ""], "NN"):
        with pytest.raises(UserError, match="D792"):
            TagTask(tags=tags)
    for settings, code in (({"passes": 0}, "D452"), ({"passes": 1.5}, "D452"), ({"seed": -1}, "D457")):
        with pytest.raises(UserError, match=code):
            StructuredPerceptron(**settings)


def test_invalid_sentences():
    for sentences in ([], [([], [])]):
        with pytest.raises(UserError, match="D790"):
            train_tagger(sentences, TAGGED, name="bad")
    for sentence in ((["a"], []), (["a", ""], ["X", "Y"]), (["a", "b"], [1, 2])):
        with pytest.raises(UserError, match="D791"):
            train_tagger([sentence], TAGGED, name="bad")
    for sentence in ([("a", "DT"), ("dog", "NN"), ("ran", "VBD")], ("a dog", "DT NN")):
        with pytest.raises(UserError, match=r"D791.*sentence 1 is not a pair of words and tags"):
            train_tagger([sentence], TAGGED, name="bad")
    with pytest.raises(UserError, match=r"D791.*sentence 1 has 2 words and 1 tags"):
        train_tagger(TAGGED, [(["a", "b"], ["DT"])], name="bad")  # sentences for calibration
    with pytest.raises(UserError, match="D791"):
        make_batch([(["a", ""], ["DT", "NN"])], distinct_tags(TAGGED))
    batch, _ = make_batch([(["wow", "dogs"], ["UH", "NNS"])], distinct_tags(TAGGED))
    with pytest.raises(UserError, match=r"D793.*1 tokens"):
        StructuredPerceptron().fit(batch)


@pytest.mark.parametrize("language", ["de", ""])
def test_a_tagger_of_another_language(tmp_path, language):
    sentences = [(["Der", "Hund", "bellt"], ["ART", "NN", "VVFIN"])] * 3
    model = train_tagger(iter(sentences), sentences, name="my/tagger", language=language)
    save_model(model, tmp_path / "tagger")
    nlp = spacy.blank("de")
    nlp.add_pipe("disambig_tagger", config={"model": str(tmp_path / "tagger")})
    assert [token.tag_ for token in nlp("Der Hund bellt")] == ["ART", "NN", "VVFIN"]


def test_unknown_tags_are_wrong():
    batch, extractor = make_batch(TAGGED, distinct_tags(TAGGED))
    other, _ = make_batch([(["dogs", "wow"], ["NNS", "UH"])], distinct_tags(TAGGED), extractor)
    assert other.costs.min(axis=1).tolist() == [0.0, 1.0]
    assert batch.costs.min() == 0
    model = train_tagger(TAGGED, [(["dogs", "wow"], ["NNS", "UH"])], name="few")
    assert "50.00% of 2 words" in model.provenance["notes"][0]
    for sentences in ([], [(["wow"], ["UH"])]):
        with pytest.raises(UserError, match=r"D790.*no tagged words to calibrate"):
            train_tagger(TAGGED, sentences, name="none")


def test_saved_tagger(tmp_path):
    model = train_tagger(TAGGED, TAGGED, name="tiny/tag", least=0.1)
    save_model(model, tmp_path / "tag")
    again = load_model(tmp_path / "tag")
    view = again.tokenisation(["The dogs like a cat. I sleep", ""])
    instances, chosen = again.choose(view)
    names = again.task.groups[0].candidates
    assert [names[c] for c in chosen][:5] == ["DT", "NNS", "VBP", "DT", "NN"]
    assert chosen.tolist() == model.choose(view)[1].tolist()
    decisions = again.decide(view)
    assert decisions.chosen.tolist() == chosen.tolist()
    assert len(decisions) == len(instances) == 8
    shares = again.candidate_probabilities(decisions).reshape(8, -1)
    assert shares.sum(axis=1) == pytest.approx(np.ones(8))
    assert shares.argmax(axis=1).tolist() == chosen.tolist()


def test_long_texts_and_sentences(monkeypatch):
    model = train_tagger(TAGGED, TAGGED, name="tiny/tag")
    view = model.tokenisation.of_sentences([["dogs", "bark"] * 5_000])
    names = model.task.groups[0].candidates
    chosen = [names[c] for c in model.choose(view)[1]]
    assert len(chosen) == 10_000 and chosen[:2] == ["NNS", "VBP"]
    shares = []
    for n in (5, 20_000):
        decisions = model.decide(model.tokenisation.of_sentences([["dogs", "bark"] * n]))
        shares.append(model.candidate_probabilities(decisions).reshape(2 * n, -1)[4:6])
    assert shares[1] == pytest.approx(shares[0], abs=1e-4)
    text = "the dog barks a cat sleeps dogs bark I like cats . " * 30
    whole = model.choose(model.tokenisation([text, text]))[1].tolist()
    monkeypatch.setattr("disambig.models.deciding.BLOCK", 7)  # blocks do not cut sentences
    assert model.choose(model.tokenisation([text, text]))[1].tolist() == whole


def test_universal_parts_of_speech():
    assert OF_TAG["NNP"] == "PROPN" and OF_WORD["is", "VBZ"] == "AUX" and ("runs", "VBZ") not in OF_WORD
    from spacy.parts_of_speech import IDS

    assert {*OF_TAG.values(), *OF_WORD.values()} <= set(IDS)
    assert {tag for _, tag in OF_WORD} <= set(OF_TAG)


def test_backends_agree(monkeypatch):
    result = {}
    for engine in ("numpy", "numba"):
        monkeypatch.setenv("DISAMBIG_ENGINE", engine)
        rng = np.random.default_rng(1)
        weights = rng.normal(size=make_sequences().n_weights)
        scorer = ChainScorer.of_weights(np.where(rng.random(len(weights)) < 0.3, 0.0, weights), 3)
        batch = make_sequences(seed=3)
        result[engine] = scorer.scores(batch).tobytes(), scorer.best(batch).tobytes()
    assert result["numpy"] == result["numba"]


SOURCE = Path(__file__).parents[4] / "corpora" / "disambig_en_tagger" / "teacher.py"


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


def ignore_progress(stage, done, total):
    pass


def test_network_of_the_teacher(teacher):
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((6, 3)).astype(np.float32)
    labels = np.array([0, 1, 0, 1, 1, 0])
    network = teacher.Network(hidden=4, epochs=1, batch=2, dropout=0.0)
    network.fit(lambda rows: inputs[rows], labels, 2, ignore_progress)
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
    inputs = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 64, np.float32)
    labels = (inputs.sum(axis=1) == 1).astype(np.int64)
    network = teacher.Network(hidden=16, epochs=200, batch=32, rate=1e-2, dropout=0.0)
    network.fit(lambda rows: inputs[rows], labels, 2, ignore_progress)
    shares = np.exp(network.log_probabilities(inputs))
    assert (shares.argmax(axis=1) == labels).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-5)


def test_teacher_keeps_to_possible_tags(teacher, classes):
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
    for pair in ("dogs Dogs", "Dogs DOGS", "A AA", "12 a12", "a@b a-b"):
        one, other = map(teacher.shape_number, pair.split())
        assert one != other and max(one, other) < teacher.N_SHAPES


def test_batches_by_length():
    lengths = np.random.default_rng(0).integers(3, 120, 200).tolist()
    batches = list(batches_by_length(lengths))
    assert sorted(i for batch in batches for i in batch) == list(range(200))
    assert max(len(batch) * max(lengths[i] for i in batch) for batch in batches) <= BATCH_PIECES


def test_penn_colons():
    words = ["a", ",", "--", "b", ";", "c", "\u2013", "d", "...", "e", "-", "f", "..."]
    tags = ["X", ",", ",", "X", ",", "X", ",", "X", ",", "X", "HYPH", "X", "."]
    ((_, mapped),) = with_penn_colons([(words, tags)])
    assert mapped == ["X", ",", ":", "X", ":", "X", ":", "X", ":", "X", "HYPH", "X", "."]
    assert tags[2] == ","  # the sentences that were given are not changed
