"""Rows of shared parts are the rows written out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from disambig.api import Columns, SparseRows
from disambig.data import PartRows
from disambig.decode import Hypergraph, Hypergraphs, averaged_perceptron, structured_examples
from disambig.testing import check_batch


def columns_of(n):
    return Columns(np.full(n, -1, np.int32), np.zeros(n, np.int32), ("all",))


def pairs(n):
    """Return the layout of `n` hypergraphs of six rows: two nodes of two rows each, and two rows for both."""
    heads = np.tile(np.repeat(np.arange(3), 2), n)
    tails = np.tile([[-1, -1]] * 4 + [[0, 1], [1, 0]], (n, 1))
    return Hypergraphs(6 * np.arange(n + 1), 3 * np.arange(n + 1), heads, tails)


@pytest.fixture
def batch():
    rng = np.random.default_rng(0)
    features = csr_array(rng.normal(size=(7, 5)) * (rng.random((7, 5)) < 0.6))
    parts = rng.integers(-1, 7, size=(24, 3)).astype(np.int32)
    return PartRows(features, parts, pairs(4), rng.random(24).astype(np.float32), columns_of(5))


def written_out(batch):
    dense = np.vstack([batch.features.toarray(), np.zeros(batch.features.shape[1])])
    return dense[batch.parts].sum(axis=1)


def test_scores_sums_and_norms(batch):
    rng = np.random.default_rng(1)
    rows, weights, mass = written_out(batch), rng.normal(size=5), rng.normal(size=24)
    assert batch.rows().toarray() == pytest.approx(rows)
    assert batch.scores(weights) == pytest.approx(rows @ weights)
    assert batch.adjoint(mass) == pytest.approx(rows.T @ mass)
    assert batch.row_sqnorm() == pytest.approx((rows**2).sum(axis=1))


def test_norms_of_parts_that_have_nothing_in_common(batch):
    """The second place has columns 3 and 4 alone, the first one the others: no row has to be written out."""
    rng = np.random.default_rng(3)
    dense = rng.normal(size=(8, 5))
    dense[:4, 3:] = dense[4:, :3] = 0.0
    parts = np.column_stack([rng.integers(-1, 4, 24), rng.integers(4, 8, 24)]).astype(np.int32)
    apart = PartRows(csr_array(dense), parts, batch.layout, batch.cost, batch.columns)
    assert apart._apart(apart.features.multiply(apart.features))
    assert not batch._apart(batch.features.multiply(batch.features))
    assert apart.row_sqnorm() == pytest.approx((written_out(apart) ** 2).sum(axis=1))


def test_fewer_columns(batch):
    one = batch.take(np.array([3]))
    narrow, columns = one.narrowed()
    weights, mass = np.random.default_rng(4).normal(size=5), np.arange(6.0)
    assert len(narrow.columns) == len(columns) == len(set(one.features.indices.tolist()))
    assert narrow.scores(weights[columns]) == pytest.approx(one.scores(weights))
    whole = np.zeros(5)
    whole[columns] = narrow.adjoint(mass)
    assert whole == pytest.approx(one.adjoint(mass))


@pytest.mark.parametrize("check", range(len(check_batch(None))))
def test_contract(batch, check):
    check_batch(batch)[check]()


def test_some_instances(batch):
    index = np.array([2, 0, 2])
    taken = batch.take(index)
    rows = np.concatenate([np.arange(6 * i, 6 * i + 6) for i in index])
    assert written_out(taken) == pytest.approx(written_out(batch)[rows])
    assert np.array_equal(taken.cost, batch.cost[rows])
    assert taken.offsets.tolist() == [0, 6, 12, 18]
    own = batch.take(np.array([1]))
    assert own.features.shape[0] == len(set(batch.parts[6:12].ravel().tolist()) - {-1})
    none = batch.take(np.zeros(0, np.int64))
    assert none.scores(np.ones(5)).shape == (0,) and not none.adjoint(np.zeros(0)).any()
    assert np.array_equal(batch.take(np.array([False, True, False, False])).parts, own.parts)


def test_learners_learn_from_them():
    rng = np.random.default_rng(2)
    features = csr_array(rng.normal(size=(30, 6)))
    parts = rng.integers(0, 30, size=(60, 2)).astype(np.int32)
    layout, columns = pairs(10), columns_of(6)
    batch = PartRows(features, parts, layout, np.zeros(60, np.float32), columns)
    right = Hypergraph().best(batch.scores(rng.normal(size=6)), layout)
    batch = PartRows(features, parts, layout, (1.0 - right).astype(np.float32), columns)
    weights, mistakes = averaged_perceptron(structured_examples(batch, Hypergraph()), passes=200, seed=0)
    assert mistakes == 0
    assert np.array_equal(Hypergraph().best(batch.scores(weights), layout), right)
    plain = SparseRows(batch.rows(), layout.offsets, batch.cost, columns)
    assert plain.scores(weights) == pytest.approx(batch.scores(weights))


def test_what_is_no_batch(batch):
    with pytest.raises(ValueError, match="parts 0 to 7: expected -1 to 6"):
        PartRows(
            batch.features,
            np.maximum(batch.parts, 7 * (batch.parts == 6)),
            batch.layout,
            batch.cost,
            batch.columns,
        )
    with pytest.raises(ValueError, match="for 24 rows"):
        PartRows(batch.features, batch.parts[:-1], batch.layout, batch.cost, batch.columns)
    with pytest.raises(ValueError, match="but 4 names"):
        PartRows(batch.features, batch.parts, batch.layout, batch.cost, columns_of(4))
