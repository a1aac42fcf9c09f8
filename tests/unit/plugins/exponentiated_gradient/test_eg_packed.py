"""Exponentiated gradient by parts: on chains it makes the same weights as on the labellings written out."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from disambig_exponentiated_gradient.learners import EG, ChainDual, ListDual, PackedDual, ReducedLists
from scipy.sparse import csr_array

from disambig.data import SequenceRows, SparseRows
from disambig.decode import Chain, path_edges
from disambig.errors import UserError
from disambig.testing import chains


def small_chains(seed=0, *, labels=3, sizes=(1, 4, 2, 3, 4), words=5):
    """Return short sequences of random features and labels."""
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    costs = np.ones((n, labels), np.float32)
    costs[np.arange(n), rng.integers(0, labels, n)] = 0.0
    rows = csr_array(rng.integers(0, 3, (n, words)) * (rng.random((n, words)) < 0.6))
    return SequenceRows(rows.astype(np.float64), costs, np.repeat(np.arange(len(sizes)), sizes))


def written_out(batch):
    """Return a list of all labellings for each sequence."""
    edges, k, starts = batch.edges(), batch.costs.shape[1], batch.layout
    rows, cost, sizes = [], [], []
    for i, (first, last) in enumerate(pairwise(starts)):
        for labels in product(range(k), repeat=int(last - first)):
            own = edges.offsets[i] + path_edges(np.array(labels), k)
            rows.append(edges.rows[own].sum(axis=0))
            cost.append(edges.cost[own].sum())
        sizes.append(k ** int(last - first))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return SparseRows(csr_array(np.array(rows)), offsets, np.array(cost, np.float32), batch.columns)


def test_terms_of_chains_add_up_to_the_edges():
    edges = small_chains().as_chains()
    weights = np.random.default_rng(1).normal(size=len(edges.columns))
    np.testing.assert_allclose(edges.of_terms(edges.terms(weights)), edges.scores(weights), atol=1e-12)
    np.testing.assert_allclose(edges.of_terms(edges.cost_terms), edges.cost)


@pytest.mark.parametrize("make", [lambda: small_chains().as_chains(), lambda: small_chains().edges()])
def test_narrowed_batches_say_the_same(make):
    batch = make().take(np.array([2, 0]))
    narrow, columns = batch.narrowed()
    weights = np.random.default_rng(1).normal(size=len(batch.columns))
    assert len(np.unique(columns)) == len(columns) == len(narrow.columns)
    np.testing.assert_allclose(narrow.scores(weights[columns]), batch.scores(weights), atol=1e-12)
    mass = np.random.default_rng(2).random(len(batch.cost))
    whole = np.zeros(len(weights))
    whole[columns] = narrow.adjoint(mass)
    np.testing.assert_allclose(whole, batch.adjoint(mass), atol=1e-12)


@pytest.mark.parametrize("storage", ["sequences", "edges", "written edges"])
@pytest.mark.parametrize("loss", ["cost", "log"])
@pytest.mark.parametrize("C", [0.05, 1.0])
@pytest.mark.parametrize("steps", [0, 1, 4])
def test_packed_makes_the_weights_of_all_labellings(storage, loss, C, steps):
    """Online with so many steps a visit; 0: all at once."""
    chain = small_chains()
    explicit = ListDual(ReducedLists.from_batch(written_out(chain)), loss, C, steps=steps, floor=np.inf)
    if storage == "sequences":
        packed = ChainDual(chain, loss, C, steps=steps)
    elif storage == "edges":
        packed = PackedDual(chain, Chain(), loss, C, steps=steps)
    else:
        packed = PackedDual(chain.edges(), Chain(3), loss, C, steps=steps)
    for dual in (explicit, packed):  # each would begin with units of its own
        dual.restart(kappa=2.0, eta=0.3)
    orders = np.random.default_rng(0)
    for _ in range(6 if steps <= 1 else 2):  # later some alphas are 0 or 1 but for rounding
        assert packed.dual == pytest.approx(explicit.dual, rel=1e-9)
        assert packed.gap() == pytest.approx(explicit.gap(), rel=1e-7)
        np.testing.assert_allclose(packed.weights, explicit.weights, atol=1e-9)
        before = packed.dual
        order = orders.permutation(len(packed))
        for dual in (explicit, packed):
            if steps:
                dual.epoch(order)
            else:
                dual.batch_step()
        assert packed.dual >= before - 1e-9 * abs(before)
    assert np.abs(packed.weights).max() > 0.05


def test_a_tagger_learns_and_is_saved():
    batch = chains(30)
    for loss in ("cost", "log"):
        learner = EG(C=3.0, loss=loss, decoder=Chain(), epochs=30)
        fitted = learner.fit(batch, dev=chains(10, seed=1))
        best = fitted.scorer.scores(batch).reshape(batch.costs.shape).argmax(axis=1)
        assert (best == batch.costs.argmin(axis=1)).mean() > 0.95
        again = learner.from_state(fitted.scorer.state())
        np.testing.assert_array_equal(again.scores(batch), fitted.scorer.scores(batch))
        assert len(fitted.report["path"]["dev_cost"]) == fitted.report["epochs"]


def test_it_comes_to_the_optimum_of_all_labellings():
    chain = small_chains(3)
    listed = EG(C=0.5, gap=1e-5, epochs=3000).fit(written_out(chain))
    packed = EG(C=0.5, gap=1e-4, epochs=3000, decoder=Chain()).fit(chain)
    assert packed.report["gap"] <= 1e-4
    found = packed.scorer.weights()
    assert np.linalg.norm(found - listed.scorer.weights) <= 0.03 * np.linalg.norm(listed.scorer.weights)


def test_a_place_without_a_right_label_is_counted():
    chain = small_chains()
    chain.costs[0] = [3.0, 1.0, 2.0]
    fitted = EG(C=1.0, decoder=Chain()).fit(chain)
    assert fitted.report["gold_missing"] == 1
    assert fitted.scorer.scores(chain)[:3].argmax() == 1


def test_what_cannot_be_packed_is_said():
    with pytest.raises(UserError, match="D611"):
        EG(loss="hinge", decoder=Chain())
    chain = small_chains()
    chain.rows.data[0] = np.nan
    with pytest.raises(UserError, match="D703"):
        EG(decoder=Chain()).fit(chain)
