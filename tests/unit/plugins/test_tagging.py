"""The tagger: what it learns, that it is Collins's perceptron, its scorer, its model, its data."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from disambig_random_subspace import OF_TAG, OF_WORD
from disambig_random_subspace.learners import RandomSubspaces
from disambig_random_subspace.tagger import (
    StructuredPerceptron,
    TagTask,
    distinct_tags,
    make_batch,
    train_tagger,
)
from scipy.sparse import csr_array

from disambig.api.batches import SequenceRows
from disambig.api.decoding import Chain
from disambig.api.text import SpacyTokens
from disambig.decode import ChainScorer
from disambig.errors import UserError
from disambig.models import load_model, save_model
from disambig.testing import check_learner, check_task

SENTENCES = [
    ("the dog barks".split(), "DT NN VBZ".split()),
    ("a cat sleeps".split(), "DT NN VBZ".split()),
    ("dogs bark".split(), "NNS VBP".split()),
    ("cats sleep".split(), "NNS VBP".split()),
    ("the cat barks".split(), "DT NN VBZ".split()),
    ("I like the dogs".split(), "PRP VBP DT NNS".split()),
    ("a dog likes cats".split(), "DT NN VBZ NNS".split()),
] * 2


def toy(seed=0, n=14, k=3, d=6):
    """Return sequences of random features whose labels hang on the one before."""
    rng = np.random.default_rng(seed)
    rows = (rng.random((n, d)) < 0.5).astype(np.float32)
    gold = rng.integers(k, size=n)
    costs = (np.arange(k) != gold[:, None]).astype(np.float32)
    return SequenceRows(csr_array(rows), costs, np.repeat(np.arange(4), [4, 1, 6, 3]))


def by_hand(batch, passes, seed=0):
    """Collins's averaged perceptron over the parts written out, by the decoder of the core."""
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
def test_it_is_the_averaged_perceptron_of_collins(passes):
    batch = toy()
    learned = StructuredPerceptron(passes=passes).fit(batch).scorer.weights()
    assert learned == pytest.approx(by_hand(batch, passes), abs=1e-6)


def test_a_hand_computed_step():
    # one sentence of two words; label 0 everywhere at first, so the second word is wrong
    rows = csr_array(np.array([[1, 0], [0, 1]], np.float32))
    batch = SequenceRows(rows, np.array([[0, 1], [1, 0]], np.float32), np.array([0, 0]))
    weights = StructuredPerceptron(passes=1).fit(batch).scorer.weights()
    # label 0: -1 for word 1; label 1: +1 for word 1; first label: right; steps 0-0: -1, 0-1: +1
    assert weights.tolist() == [0, -1, 0, 1, 0, 0, -1, 1, 0, 0]


def test_the_best_labels_are_those_of_all_labellings():
    batch, k = toy(3), 3
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


def test_the_learner_keeps_its_contract():
    batch, _ = make_batch(SENTENCES, distinct_tags(SENTENCES))
    for learner in (
        StructuredPerceptron(),
        RandomSubspaces(base=StructuredPerceptron(passes=3), n_subspaces=3),
    ):
        for check in check_learner(learner, batch, least=1.0):
            check()


def test_without_removal_the_average_over_subspaces_is_the_base_learner():
    batch = toy(1)
    base = StructuredPerceptron(passes=2)
    averaged = RandomSubspaces(base=base, n_subspaces=3, removal_rate=0.0).fit(batch).scorer
    assert averaged.weights() == pytest.approx(base.fit(batch).scorer.weights(), abs=1e-6)


def test_masked_features_weigh_nothing_and_do_not_bear_on_others():
    batch = toy(2)
    mask = np.array([[1, 0, 1, 1, 0, 1]], np.uint8)
    masked = StructuredPerceptron().fit_masked(batch, mask)
    copy = SequenceRows(csr_array(batch.rows.toarray() * mask), batch.costs, batch.sequences)
    assert masked == pytest.approx(StructuredPerceptron().fit_masked(copy, np.ones((1, 6), np.uint8)))
    assert not masked[:18].reshape(3, 6)[:, [1, 4]].any()


def test_pruned_and_rounded_weights_come_back_as_they_are():
    scorer = StructuredPerceptron(passes=3).fit(toy(5)).scorer.pruned(0.5).rounded()
    state = scorer.state()
    assert state["amounts"].dtype == np.int16 and state["labels"].dtype == np.uint8
    again = ChainScorer.from_state(state)
    assert again.scores(toy(5)).tolist() == scorer.scores(toy(5)).tolist()
    own = np.abs(again.weights()[:18])
    assert own[own > 0].min() >= 0.5 - 1 / 64


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("sizes", np.array([3], np.uint8)),
        ("sizes", np.array([2**63, 2**63 + 1], np.uint64)),
        ("labels", np.array([9], np.uint8)),
        ("labels", np.array([-1], np.int8)),
        ("amounts", np.zeros((1, 1), np.float32)),
        ("step", np.zeros((2, 3), np.float32)),
        ("first", np.zeros(0, np.float32)),
    ],
)
def test_a_damaged_scorer_is_refused(name, array):
    state = {
        "sizes": np.array([1, 0], np.uint8),
        "labels": np.array([1], np.uint8),
        "amounts": np.array([64], np.int16),
        "first": np.zeros(2, np.float32),
        "step": np.zeros((2, 2), np.float32),
    }
    assert ChainScorer.from_state(state).weights()[2] == 1.0
    with pytest.raises(ValueError, match="chain scorer"):
        ChainScorer.from_state({**state, name: array})


def test_the_scorer_refuses_what_it_was_not_learned_for():
    scorer = StructuredPerceptron().fit(toy()).scorer
    with pytest.raises(ValueError, match="6 features and 3 labels for a batch of 5 and 3"):
        scorer.best(toy(d=5))


def test_the_task_keeps_its_contract():
    for check in check_task(TagTask(tags=("A", "B")), ["One two. Three"], SpacyTokens()):
        check()


@pytest.mark.parametrize("tags", [[], ["A"], ["A", "A"], ["A", ""], "NN"])
def test_a_tag_set_that_makes_no_sense_is_refused(tags):
    with pytest.raises(UserError, match="D792"):
        TagTask(tags=tags)


@pytest.mark.parametrize(
    ("sentences", "code"),
    [([], "D790"), ([([], [])], "D790"), ([(["a"], [])], "D791"), ([(["a", ""], ["X", "Y"])], "D791")],
)
def test_sentences_that_cannot_be_learned_from_are_refused(sentences, code):
    with pytest.raises(UserError, match=code):
        train_tagger(sentences, SENTENCES, name="bad")


def test_settings_are_checked():
    for settings, code in (({"passes": 0}, "D452"), ({"seed": -1}, "D457"), ({"passes": 1.5}, "D452")):
        with pytest.raises(UserError, match=code):
            StructuredPerceptron(**settings)


def test_tags_that_training_did_not_have_are_wrong_whatever_is_chosen():
    batch, extractor = make_batch(SENTENCES, distinct_tags(SENTENCES))
    other, _ = make_batch([(["dogs", "wow"], ["NNS", "UH"])], distinct_tags(SENTENCES), extractor)
    assert other.costs.min(axis=1).tolist() == [0.0, 1.0]
    assert batch.costs.min() == 0
    model = train_tagger(SENTENCES, [(["dogs", "wow"], ["NNS", "UH"])], name="few")
    assert "50.00% of 2 words" in model.provenance["notes"][0]
    with pytest.raises(UserError, match="D790"):
        train_tagger(SENTENCES, [(["wow"], ["UH"])], name="none")


def test_a_model_is_saved_and_tags_the_same(tmp_path):
    model = train_tagger(SENTENCES, SENTENCES, name="tiny/tag", least=0.1)
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


def test_blocks_do_not_cut_sentences(tmp_path, monkeypatch):
    model = train_tagger(SENTENCES, SENTENCES, name="tiny/tag")
    text = "the dog barks a cat sleeps dogs bark I like cats . " * 30
    whole = model.choose(model.tokenisation([text, text]))[1].tolist()
    monkeypatch.setattr("disambig.models.model.BLOCK", 7)
    assert model.choose(model.tokenisation([text, text]))[1].tolist() == whole


def test_a_sentence_of_ten_thousand_words():
    model = train_tagger(SENTENCES, SENTENCES, name="tiny/tag")
    view = model.tokenisation.of_sentences([["dogs", "bark"] * 5_000])
    names = model.task.groups[0].candidates
    chosen = [names[c] for c in model.choose(view)[1]]
    assert len(chosen) == 10_000 and chosen[:2] == ["NNS", "VBP"]


def test_universal_parts_of_speech():
    assert OF_TAG["NNP"] == "PROPN" and OF_WORD["is", "VBZ"] == "AUX" and ("runs", "VBZ") not in OF_WORD
    from spacy.parts_of_speech import IDS

    assert {*OF_TAG.values(), *OF_WORD.values()} <= set(IDS)
    assert {tag for _, tag in OF_WORD} <= set(OF_TAG)


def test_a_tagger_of_many_labels_is_saved_and_loaded():
    k = 300
    weights = np.arange(1.0, k + 1)  # one feature that weighs for every label
    scorer = ChainScorer.of_weights(np.concatenate([weights, np.zeros(k + k * k)]), k)
    state = scorer.state()
    assert state["sizes"].dtype == state["labels"].dtype == np.uint16
    assert ChainScorer.from_state(state).weights().tolist() == scorer.weights().tolist()


def test_probabilities_do_not_hang_on_how_long_the_sentence_is():
    model = train_tagger(SENTENCES, SENTENCES, name="tiny/tag")
    shares = []
    for n in (5, 20_000):
        view = model.tokenisation.of_sentences([["dogs", "bark"] * n])
        decisions = model.decide(view)
        shares.append(model.candidate_probabilities(decisions).reshape(2 * n, -1)[4:6])
    assert shares[1] == pytest.approx(shares[0], abs=1e-4)


def test_sentences_to_calibrate_on_are_checked_too():
    with pytest.raises(UserError, match=r"D791.*sentence 1 has 2 words and 1 tags"):
        train_tagger(SENTENCES, [(["a", "b"], ["DT"])], name="bad")
    with pytest.raises(UserError, match="D791"):
        make_batch([(["a", ""], ["DT", "NN"])], distinct_tags(SENTENCES))


def test_tokens_without_a_right_tag_are_not_learned_as_something_else():
    batch, _ = make_batch([(["wow", "dogs"], ["UH", "NNS"])], distinct_tags(SENTENCES))
    with pytest.raises(UserError, match=r"D793.*1 tokens"):
        StructuredPerceptron().fit(batch)


def test_little_text_is_tagged_without_kernels_to_the_same_bit(monkeypatch):
    found = {}
    for engine in ("numpy", "numba"):
        monkeypatch.setenv("DISAMBIG_ENGINE", engine)
        rng = np.random.default_rng(1)
        weights = rng.normal(size=toy().n_weights)
        scorer = ChainScorer.of_weights(np.where(rng.random(len(weights)) < 0.3, 0.0, weights), 3)
        batch = toy(seed=3)
        found[engine] = scorer.scores(batch).tobytes(), scorer.best(batch).tobytes()
    assert found["numpy"] == found["numba"]
