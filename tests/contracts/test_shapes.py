"""One learner for lists, sequences and charts; lists with costs, kernels, paths and subspaces."""

from __future__ import annotations

import numpy as np
import pytest
from toy_decoders import Chart, chain_batch, chart_batch, graph_batch, unpacked
from toy_learners import (
    ExponentiatedGradient,
    KernelRidge,
    Perceptron,
    RandomSubspaces,
    gold,
    right_share,
)

from disambig.api import Columns, CrossedRows, Enumerated, SparseRows
from disambig.api.batches import segments
from disambig.api.decoding import Chain, Hypergraph
from disambig.models import stack, unstack
from disambig.testing import blocks, check_learner, crossed, lists

LEARNERS = {
    "perceptron-blocks": check_learner(Perceptron(), blocks(), least=1.0),
    "perceptron-lists": check_learner(Perceptron(), lists(), least=1.0),
    "perceptron-labels": check_learner(Perceptron(), crossed(), least=1.0),
    "gradient-lists": check_learner(ExponentiatedGradient(eta=0.02, steps=200), lists(), least=0.95),
    "kernel-labels": check_learner(KernelRidge(), crossed(), least=1.0),
    "subspaces-labels": check_learner(RandomSubspaces(), crossed(), least=1.0),
    "subspaces-lists": check_learner(RandomSubspaces(), lists(20), least=0.9),
}


@pytest.mark.parametrize(
    "check",
    [pytest.param(check, id=f"{name}-{check}") for name, checks in LEARNERS.items() for check in checks],
)
def test_learner(check):
    check()


def mistakes(decoder, batch, weights):
    """Return the parts that cost something in the best structures."""
    return decoder.best(batch.scores(weights), batch.layout) @ batch.cost


def test_the_same_perceptron_learns_sequences_and_charts():
    rng = np.random.default_rng(4)
    for decoder, batch in (
        (Chain(3), chain_batch(rng)),
        (Chart(), chart_batch(rng)),
        (Hypergraph(), graph_batch(rng)),
    ):
        fitted = Perceptron(decoder, epochs=300).fit(batch)
        assert mistakes(decoder, batch, np.zeros(len(batch.columns))) > 0
        assert fitted.report["mistakes"] == 0
        assert mistakes(decoder, batch, fitted.scorer.weights) == 0


def test_the_gradient_of_a_softmax_loss_is_a_difference_of_masses():
    rng = np.random.default_rng(5)
    for decoder, batch in (
        (Enumerated(), lists(8)),
        (Chain(3), chain_batch(rng)),
        (Chart(), chart_batch(rng)),
        (Hypergraph(), graph_batch(rng)),
    ):
        right = gold(decoder, batch, np.zeros(len(batch.cost)))

        def loss(weights, decoder=decoder, batch=batch, right=right):
            scores = batch.scores(weights)
            return decoder.marginals(scores, batch.layout)[1].sum() - right @ scores

        weights = rng.normal(size=len(batch.columns))
        shares, _ = decoder.marginals(batch.scores(weights), batch.layout)
        gradient = batch.adjoint(shares - right)
        for column in range(len(weights)):
            step = np.zeros(len(weights))
            step[column] = 1e-5
            slope = (loss(weights + step) - loss(weights - step)) / 2e-5
            assert gradient[column] == pytest.approx(slope, abs=1e-5)


def test_of_several_right_candidates_the_nearest_to_winning_is_the_gold_one():
    batch = lists(3)
    assert (batch.cost[-2:] == 0).all()
    for better in (-1, -2):
        scores = np.zeros(len(batch.cost))
        scores[better] = 1.0
        scores[batch.offsets[-2]] = 9.0  # wins, and is wrong
        assert gold(Enumerated(), batch, scores)[better] == 1.0
        assert gold(Enumerated(), batch, scores).sum() == 3.0


# Exponentiated gradient: Collins' worked example


def test_exponentiated_gradient_step_of_the_slides():
    scores, cost = np.array([13.6, 13.0, 14.8, 3.3]), np.array([0.0, 1.0, 1.0, 1.0])
    old = np.array([0.1, 0.3, 0.5, 0.1])
    theta = np.log(old) + 1.0 * (cost + scores)
    new, _ = Enumerated().marginals(theta, np.array([0, 4]))
    assert new == pytest.approx([0.02, 0.088, 0.89, 0.0], abs=2e-3)
    nabla = (cost + scores)[1:] - scores[0]
    assert nabla == pytest.approx([0.4, 2.2, -9.3])


@pytest.mark.parametrize(
    ("losses", "margins", "expected"),
    [
        ([1, 1, 1, 1, 1], [1.0, 1.5, 10.3, 4.2, 2.5], 0.0),
        ([1, 1, 1, 1, 1], [0.6, 1.5, 10.3, 4.2, 2.5], 0.4),
        ([1, 1, 1, 1, 1], [0.6, -1.2, 10.3, 4.2, 2.5], 2.2),
        ([5.0, 1.0, 2.3, 1.7, 2.5], [0.6, -1.2, 10.3, 4.2, 2.5], 4.4),
    ],
)
def test_hinge_losses_of_the_slides(losses, margins, expected):
    scores = np.concatenate([[0.0], -np.array(margins)])
    cost = np.concatenate([[0.0], losses])
    assert segments.maxima(cost + scores, np.array([0, 6]))[0] == pytest.approx(expected)


def test_exponentiated_gradient_reaches_the_optimum_of_a_general_solver():
    cvxpy = pytest.importorskip("cvxpy")
    batch = lists(12, columns=5)
    batch = batch.take(np.arange(11))  # the last has two right candidates
    fitted = ExponentiatedGradient(C=0.5, eta=0.05, steps=2000).fit(batch)
    right = batch.offsets[:-1] + segments.argmax(-batch.cost.astype(float), batch.offsets)
    rows = batch.rows.toarray()
    weights = cvxpy.Variable(len(batch.columns))
    hinges = [
        cvxpy.max(batch.cost[a:b] + (rows[a:b] - rows[y]) @ weights)
        for a, b, y in zip(batch.offsets[:-1], batch.offsets[1:], right, strict=True)
    ]
    best = cvxpy.Problem(cvxpy.Minimize(0.5 * cvxpy.sum_squares(weights) + 0.5 * sum(hinges))).solve()
    duals = np.array(fitted.report["duals"])
    assert (np.diff(duals) >= -1e-9).all()
    assert duals[-1] <= best + 1e-6
    assert duals[-1] == pytest.approx(best, rel=2e-3)


def test_packed_gradient_equals_gradient_over_all_parses():
    packed = chart_batch(np.random.default_rng(6))
    learner = ExponentiatedGradient(Chart(), eta=0.05, steps=40)
    over_parts = learner.fit(packed).scorer.weights
    own = ExponentiatedGradient(Hypergraph(), eta=0.05, steps=40)
    assert own.fit(graph_batch(np.random.default_rng(6))).scorer.weights == pytest.approx(over_parts)
    over_parses = ExponentiatedGradient(eta=0.05, steps=40).fit(unpacked(packed)).scorer.weights
    assert np.abs(over_parts).max() > 0.1
    assert over_parts == pytest.approx(over_parses, abs=1e-9)


# Kernels


def xor():
    rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 3, np.float64)
    right = (rows[:, 0] != rows[:, 1]).astype(int)
    costs = (np.arange(2) != right[:, None]).astype(np.float32)
    columns = Columns(np.repeat(np.arange(2, dtype=np.int32), 2), np.zeros(4, np.int32), ("all",))
    return CrossedRows(rows, costs, columns)


def test_a_kernel_scorer_keeps_support_rows_and_needs_no_weights():
    batch = xor()
    fitted = KernelRidge().fit(batch)
    assert right_share(batch, fitted.scorer.scores(batch)) == 1.0
    assert right_share(batch, Perceptron().fit(batch).scorer.scores(batch)) < 1.0
    assert not hasattr(fitted.scorer, "weights")


def test_kernel_scorers_of_several_groups_go_through_the_store():
    large, small = KernelRidge().fit(xor()).scorer, KernelRidge().fit(xor().take(np.arange(4))).scorer
    states = unstack(stack([large.state(), {}, small.state()]), 3)
    assert states[1] == {}
    for scorer, state in ((large, states[0]), (small, states[2])):
        again = KernelRidge().from_state(state)
        assert np.array_equal(again.scores(xor()), scorer.scores(xor()))


def test_a_learner_says_which_storage_it_needs():
    with pytest.raises(TypeError, match="a row an instance, not SparseRows"):
        KernelRidge().fit(lists())


def test_a_reranker_may_have_a_row_for_each_candidate_and_any_number_of_candidates():
    batch = lists(30, longest=9)
    sizes = np.diff(batch.offsets)
    assert isinstance(batch, SparseRows)
    assert len(np.unique(sizes)) > 3
    weights = Perceptron().fit(batch).scorer.weights
    assert right_share(batch, batch.scores(weights)) == 1.0
