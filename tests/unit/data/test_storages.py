"""The storages of a batch: linear algebra that holds for each, and the conversions between them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from disambig.data import Columns, CrossedRows, DenseBlocks, SparseRows, convert, numbered
from disambig.errors import UserError
from disambig.testing.checks import require_batch
from disambig.types import CandidateBatch


@st.composite
def dense_blocks(draw, *, tied=True):
    n, k, a = (draw(st.integers(1, most)) for most in (5, 4, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    column_of = np.arange(k * a).reshape(k, a)
    if draw(st.booleans()):
        column_of = rng.permutation(k * a).reshape(k, a)
    n_columns = k * a
    if tied and draw(st.booleans()):  # attributes that candidates, or one candidate, share
        n_columns = draw(st.integers(1, k * a))
        column_of = rng.integers(n_columns, size=(k, a))
    values = (rng.normal(size=(n, k, a)) * rng.integers(0, 2, (n, k, a))).astype(np.float32)
    costs = rng.integers(0, 2, (n, k)).astype(np.float32)
    columns = Columns(
        np.zeros(n_columns, np.int32), rng.integers(2, size=n_columns).astype(np.int32), ("a", "b")
    )
    return DenseBlocks(values, column_of, columns, costs)


@st.composite
def sparse_rows(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    n_columns = draw(st.integers(1, 6))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    rows = rng.normal(size=(offsets[-1], n_columns)) * rng.integers(0, 2, (offsets[-1], n_columns))
    return SparseRows(
        csr_array(rows), offsets, rng.random(offsets[-1]).astype(np.float32), numbered(n_columns)
    )


@st.composite
def crossed_rows(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, k, d = (draw(st.integers(1, most)) for most in (5, 4, 5))
    rows = rng.normal(size=(n, d)) * rng.integers(0, 2, (n, d))
    costs = rng.integers(0, 2, (n, k)).astype(np.float32)
    return CrossedRows(csr_array(rows) if draw(st.booleans()) else rows, costs, numbered(k * d))


batches = st.one_of(dense_blocks(), sparse_rows(), crossed_rows())


def matrix(batch):
    """Return the features of every row, shape (n_rows, n_columns), from scores alone."""
    n = len(batch.columns)
    return np.stack([batch.scores(unit) for unit in np.eye(n)], axis=1)


@given(batches)
def test_adjoint_is_the_adjoint_of_scores(batch):
    assert isinstance(batch, CandidateBatch)
    require_batch(batch, "batch")
    rows = matrix(batch)
    mass = np.random.default_rng(1).normal(size=len(batch.cost))
    assert batch.adjoint(mass) == pytest.approx(rows.T @ mass, abs=1e-5)


@given(batches)
def test_row_sqnorm(batch):
    rows = matrix(batch)
    shared = isinstance(batch, DenseBlocks) and any(len(set(row)) < len(row) for row in batch.column_of)
    if not shared:  # a candidate that meets one weight twice has the norm of its attributes, not their sum
        assert batch.row_sqnorm() == pytest.approx((rows**2).sum(axis=1), abs=1e-4)


@given(batches, st.data())
def test_take_by_numbers_and_by_mask(batch, data):
    n = len(batch.offsets) - 1
    index = np.array(data.draw(st.lists(st.integers(0, n - 1), max_size=6)), np.int64)
    rows = matrix(batch)
    wanted = [row for i in index for row in range(batch.offsets[i], batch.offsets[i + 1])]
    taken = batch.take(index)
    assert taken.offsets.tolist() == [0, *np.cumsum(np.diff(batch.offsets)[index])]
    assert taken.cost.tolist() == batch.cost[wanted].tolist()
    assert len(taken.columns) == len(batch.columns)
    assert matrix(taken) == pytest.approx(rows[wanted], abs=1e-6)
    mask = np.isin(np.arange(n), index)
    assert matrix(batch.take(mask)) == pytest.approx(matrix(batch.take(np.flatnonzero(mask))))


@given(dense_blocks(tied=False))
def test_conversions_of_blocks_keep_scores(batch):
    sparse = convert(batch, SparseRows)
    assert matrix(sparse) == pytest.approx(matrix(batch), abs=1e-6)
    assert sparse.cost.tolist() == batch.cost.tolist()
    assert sparse.offsets.tolist() == batch.offsets.tolist()
    crossed = convert(batch, CrossedRows)
    _, k, a = batch.values.shape
    own = np.zeros((k, k * a), bool)  # the weights of the crossed batch that the blocks have as well
    for r in range(k):
        own[r, r * a : (r + 1) * a] = True
    weights = np.random.default_rng(2).normal(size=len(batch.columns))
    lifted = np.zeros((k, k * a))
    lifted[own] = weights[batch.column_of.ravel()]
    assert crossed.scores(lifted.ravel()) == pytest.approx(batch.scores(weights), abs=1e-5)
    assert len(crossed.columns) == k * k * a
    assert crossed.cost.tolist() == batch.cost.tolist()
    groups = batch.columns.groups[batch.column_of.ravel()]
    assert (crossed.columns.groups.reshape(k, k * a) == groups).all()


@given(dense_blocks())
def test_kesler_rows_of_blocks_with_shared_weights(batch):
    assert matrix(convert(batch, SparseRows)) == pytest.approx(matrix(batch), abs=1e-5)


@given(crossed_rows())
def test_crossed_rows_written_out_keep_scores(batch):
    sparse = convert(batch, SparseRows)
    assert matrix(sparse) == pytest.approx(matrix(batch), abs=1e-9)
    assert sparse.row_sqnorm() == pytest.approx(batch.row_sqnorm())


def test_a_conversion_that_has_no_meaning_is_refused():
    batch = SparseRows(csr_array(np.eye(2)), np.array([0, 2]), np.zeros(2, np.float32), numbered(2))
    assert convert(batch, SparseRows) is batch
    with pytest.raises(UserError, match=r"D459.*accepts DenseBlocks.*produce SparseRows"):
        convert(batch, DenseBlocks)
    assert convert(batch, DenseBlocks, SparseRows) is batch
    with pytest.raises(UserError, match=r"D459.*accepts DenseBlocks or CrossedRows"):
        convert(batch, DenseBlocks, CrossedRows)


@given(dense_blocks())
def test_curvature_is_the_hessian_of_the_log_sums(batch):
    from disambig.data import segments

    n_columns = len(batch.columns)
    rng = np.random.default_rng(3)
    weights, step = rng.normal(size=n_columns), 1e-4

    def gradient(at):
        return batch.adjoint(segments.softmax(batch.scores(at), batch.offsets))

    numeric = np.stack(
        [(gradient(weights + d) - gradient(weights - d)) / (2 * step) for d in step * np.eye(n_columns)]
    )
    shares = segments.softmax(batch.scores(weights), batch.offsets)
    exact = batch.curvature(shares)
    assert exact == pytest.approx(numeric, abs=1e-4)
    assert np.linalg.eigvalsh(exact).min() >= -1e-6


def test_curvature_of_more_instances_than_a_chunk_holds(monkeypatch):
    from disambig.data import batches as dense
    from disambig.data import segments

    rng = np.random.default_rng(4)
    values = rng.normal(size=(11, 3, 2)).astype(np.float32)
    batch = DenseBlocks(values, np.arange(6).reshape(3, 2), numbered(6), np.zeros((11, 3), np.float32))
    shares = segments.softmax(batch.scores(np.ones(6)), batch.offsets)
    whole = batch.curvature(shares)
    monkeypatch.setattr(dense, "_CHUNK", 4)
    assert batch.curvature(shares) == pytest.approx(whole)


def test_feature_groups_of_columns():
    columns = Columns(np.zeros(3, np.int32), np.array([0, 1, 0], np.int32), ("2-gram", "bias"))
    assert columns.in_groups(["2-gram"]).tolist() == [True, False, True]
    assert columns.in_groups([]).tolist() == [False] * 3
    with pytest.raises(UserError) as caught:
        columns.in_groups(["3-gram"])
    assert caught.value.code == "D451"
    assert "2-gram, bias" in str(caught.value)
