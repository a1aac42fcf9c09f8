"""Every registered learner with every storage that it accepts; small learners of structures."""

from __future__ import annotations

from dataclasses import replace

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

from disambig import registry
from disambig.api import CrossedRows, Enumerated, SparseRows
from disambig.api.batches import segments
from disambig.api.decoding import Chain, Hypergraph
from disambig.config import resolve
from disambig.data import Columns, DenseBlocks, DenseLists, JoinedRows, convert
from disambig.errors import UserError
from disambig.models import stack, unstack
from disambig.testing import blocks, chains, check_learner, crossed, crossed_lists, dense_lists, lists
from disambig.training import to_accepted_storage
from disambig.types import needs_training


def shared(n):
    """Return blocks whose candidates share their columns: lists of equal length."""
    batch = blocks(n)
    columns = Columns(np.full(5, -1, np.int32), np.arange(5, dtype=np.int32), batch.columns.group_names)
    return DenseBlocks(batch.values, np.tile(np.arange(5), (3, 1)), columns, batch.costs)


PROBLEMS = {
    "blocks": blocks(30),
    "crossed rows": crossed(30),
    "words and counts": JoinedRows.from_parts([blocks(30), replace(crossed(30), costs=blocks(30).costs)]),
    "sparse lists": lists(30),
    "dense lists": dense_lists(30),
    "equal lists": convert(shared(30), DenseLists),
    "crossed lists": crossed_lists(30),
    "joined lists": JoinedRows.from_parts([lists(30), dense_lists(30)]),
    "chains": chains(15),
}


LISTS = {"sparse lists", "dense lists", "equal lists", "crossed lists", "joined lists"}


"""What every linear learner learns from."""


SETTINGS = {
    "random_subspace.RandomSubspaces.v1": {"n_subspaces": 9},
    "variance_svm.KSVM.v1": {"C": 0.3},
    "variance_svm.OneVersusAll.v1": {"C": 0.3},
}


WITH_GROUPS = {"variance_svm.VarianceSVM.v1": "variance", "variance_svm.SumLM.v1": "patterns"}


"""The setting that names feature groups: all that there are."""


CHAIN = {"@disambig_decoders": "disambig.Chain.v1"}


REFUSED = {
    "boosted_lasso.AveragedPerceptron.v1": {"chains"},
    "boosted_lasso.BLasso.v1": {"chains"},
    "boosted_lasso.Boosting.v1": {"chains"},
    "boosted_lasso.FBoosting.v1": {"chains"},
    "boosted_lasso.FSLR.v1": {"chains"},
    "boosted_lasso.PairwiseL2.v1": {"chains"},
    "exponentiated_gradient.EG.v1": {"chains"},
    "kernel_rls.RLSC.v1": {"chains"},
    "kernel_rls.RLSCComb.v1": {"chains"},
    "kernel_rls.RLSCLin.v1": {"chains"},
    "kernel_rls.SVMComb.v1": {"chains"},
    "kernel_rls.SVMLin.v1": {"chains"},
    "random_subspace.ConfidenceWeighted.v1": {"chains"},
    "random_subspace.PassiveAggressive.v1": {"chains"},
    "random_subspace.Perceptron.v1": {"chains"},
    "random_subspace.RandomSubspaces.v1": {"chains"},
    "random_subspace.SGD.v1": {"chains"},
    "random_subspace.StructuredPerceptron.v1": set(PROBLEMS) - {"chains"},
    "variance_svm.KSVM.v1": {"chains"},
    "variance_svm.OneVersusAll.v1": {"chains"},
    "variance_svm.VarianceSVM.v1": {"chains"},
}


"""The storages that a learner says it does not take; without a decoder sequences are none."""


LEARNERS = sorted(registry.load_all("learners"))


CASES = [(name, problem) for name in LEARNERS for problem in PROBLEMS if problem not in REFUSED.get(name, ())]


def learner_of(name, batch, **settings):
    """Return a learner as a config asks for it."""
    section = {"@disambig_learners": name, **SETTINGS.get(name, {}), **settings}
    if name in WITH_GROUPS:
        section[WITH_GROUPS[name]] = [group for group in batch.columns.group_names if group != "bias"]
    return resolve({"learner": section})["learner"]


@pytest.mark.parametrize(("name", "problem"), CASES, ids=[f"{name}-{problem}" for name, problem in CASES])
def test_learners_keep_their_contract(name, problem):
    batch = PROBLEMS[problem]
    if name == "variance_svm.Majority.v1" and "bias" not in batch.columns.group_names:
        pytest.skip("it counts by bias columns")
    for check in check_learner(learner_of(name, batch), batch, least=0.0):
        check()


@pytest.mark.parametrize("name", [name for name in LEARNERS if name in REFUSED])
def test_other_storages_are_refused(name):
    for problem in REFUSED[name]:
        batch = PROBLEMS[problem]
        with pytest.raises(UserError, match="D459"):
            to_accepted_storage(learner_of(name, batch), batch)


def test_every_linear_learner_learns_from_lists():
    for name in LEARNERS:
        if needs_training(learner_of(name, PROBLEMS["blocks"])):
            assert name == "random_subspace.StructuredPerceptron.v1" or not REFUSED.get(name, set()) & LISTS


LEARN_STRUCTURES = (
    "exponentiated_gradient.EG.v1",
    "random_subspace.SGD.v1",
    "variance_svm.ConditionalLogit.v1",
)


@pytest.mark.parametrize("problem", ["chains", "sparse lists"])
@pytest.mark.parametrize("name", [*LEARN_STRUCTURES, "random_subspace.StructuredPerceptron.v1"])
def test_a_decoder_comes_from_the_config(name, problem):
    if name not in LEARNERS:
        pytest.skip("no plugin")
    decoder = CHAIN if problem == "chains" else {"@disambig_decoders": "disambig.Enumerated.v1"}
    learner = learner_of(name, PROBLEMS[problem], decoder=decoder)
    for check in check_learner(learner, PROBLEMS[problem], least=0.9):
        check()


@pytest.mark.parametrize("problem", sorted(LISTS))
def test_learners_of_lists_learn(problem):
    batch = PROBLEMS[problem]
    for name in ("random_subspace.ConfidenceWeighted.v1", "variance_svm.KSVM.v1"):
        if name in LEARNERS:
            learns = {check.name: check for check in check_learner(learner_of(name, batch), batch, least=0.9)}
            learns["learns"]()


SMALL_LEARNERS = {
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
    [
        pytest.param(check, id=f"{name}-{check}")
        for name, checks in SMALL_LEARNERS.items()
        for check in checks
    ],
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


def test_the_best_right_candidate_is_gold():
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
