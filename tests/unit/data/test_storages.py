"""Storages of batches: linear algebra, conversions and concatenation of each."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.sparse import csr_array

from disambig.data import (
    Columns,
    CrossedRows,
    DenseBlocks,
    DenseLists,
    JoinedRows,
    PartRows,
    SequenceRows,
    SparseRows,
    canonical_rows,
    check_finite,
    convert,
    numbered,
    row_owners,
    run_starts,
    structured,
)
from disambig.decode import Chain, Hypergraph, Hypergraphs, averaged_perceptron, structured_examples
from disambig.errors import UserError
from disambig.features import join
from disambig.testing import blocks, chains, check_batch, crossed, crossed_lists, dense_lists, lists
from disambig.testing.checks import require_batch
from disambig.types import CandidateBatch, Features


@st.composite
def dense_blocks(draw, *, tied=True):
    n, k, a = (draw(st.integers(1, most)) for most in (5, 4, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    column_of = np.arange(k * a).reshape(k, a)
    if draw(st.booleans()):
        column_of = rng.permutation(k * a).reshape(k, a)
    n_columns = k * a
    if tied and draw(st.booleans()):  # attributes share weights, between or within candidates
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
    """Return the features of each row, shape (n_rows, n_columns), computed from scores only."""
    n = len(batch.columns)
    return np.stack([batch.scores(unit) for unit in np.eye(n)], axis=1)


@pytest.mark.parametrize("n_more", [-1, 1])
@pytest.mark.parametrize(
    "batch", [blocks(), crossed(), lists(), dense_lists(), JoinedRows.from_parts([crossed(), blocks()])]
)
def test_other_numbers_of_weights_than_columns_are_refused(batch, n_more):
    """A scorer that forgets to convert its batch would use weights of other columns."""
    with pytest.raises(ValueError, match=r"weights for|mismatch|reshape"):
        batch.scores(np.ones(len(batch.columns) + n_more))


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
    if not shared:  # if two attributes share a weight, the norm is that of the attributes, not of their sum
        assert batch.row_sqnorm() == pytest.approx((rows**2).sum(axis=1), abs=1e-4)


@given(batches, st.data())
def test_take_by_numbers_and_by_mask(batch, data):
    n = len(batch.offsets) - 1
    index = np.array(data.draw(st.lists(st.integers(0, n - 1), max_size=6)), np.int64)
    rows = matrix(batch)
    expected = [row for i in index for row in range(batch.offsets[i], batch.offsets[i + 1])]
    taken = batch.take(index)
    assert taken.offsets.tolist() == [0, *np.cumsum(np.diff(batch.offsets)[index])]
    assert taken.cost.tolist() == batch.cost[expected].tolist()
    assert len(taken.columns) == len(batch.columns)
    assert matrix(taken) == pytest.approx(rows[expected], abs=1e-6)
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
    in_blocks = np.zeros((k, k * a), bool)  # the weights of the crossed batch that also exist in the blocks
    for r in range(k):
        in_blocks[r, r * a : (r + 1) * a] = True
    weights = np.random.default_rng(2).normal(size=len(batch.columns))
    lifted = np.zeros((k, k * a))
    lifted[in_blocks] = weights[batch.column_of.ravel()]
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


def test_unsupported_conversions_name_the_storages():
    batch = SparseRows(csr_array(np.eye(2)), np.array([0, 2]), np.zeros(2, np.float32), numbered(2))
    assert convert(batch, SparseRows) is batch
    with pytest.raises(UserError, match=r"D459.*accepts DenseBlocks.*produce SparseRows"):
        convert(batch, DenseBlocks)
    assert convert(batch, DenseBlocks, SparseRows) is batch
    for rows, advised in ((crossed(3), True), (chains(3), False)):
        with pytest.raises(UserError, match="D459") as caught:
            convert(rows, DenseBlocks)
        assert ("SparseRows, which the author of the learner can add" in str(caught.value)) == advised
    with pytest.raises(UserError, match=r"D459.*accepts DenseBlocks or CrossedRows"):
        convert(batch, DenseBlocks, CrossedRows)


@given(dense_blocks())
def test_curvature_is_the_hessian_of_the_log_sums(batch):
    from disambig.data import batches as dense, segments

    n_columns = len(batch.columns)
    rng = np.random.default_rng(3)
    weights, step = rng.normal(size=n_columns), 1e-4

    def gradient(at):
        return batch.adjoint(segments.softmax(batch.scores(at), batch.offsets))

    numeric = np.stack(
        [(gradient(weights + d) - gradient(weights - d)) / (2 * step) for d in step * np.eye(n_columns)]
    )
    shares = segments.softmax(batch.scores(weights), batch.offsets)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dense, "_CURVATURE_CHUNK", 2)  # instances at a time
        exact = batch.curvature(shares)
    assert exact == pytest.approx(numeric, abs=1e-4)
    assert np.linalg.eigvalsh(exact).min() >= -1e-6


def with_shared_columns(n=6):
    """Return blocks whose candidates share their columns."""
    batch = blocks(n)
    columns = Columns(np.full(5, -1, np.int32), np.arange(5, dtype=np.int32), batch.columns.group_names)
    return DenseBlocks(batch.values, np.tile([4, 0, 1, 2, 3], (3, 1)), columns, batch.costs)


BATCHES = {
    "sparse": lists(8),
    "dense": dense_lists(8),
    "crossed": crossed_lists(8),
    "crossed-dense-rows": replace(crossed_lists(8), rows=crossed_lists(8).rows.toarray()),
    "crossed-many-labels": crossed_lists(3, labels=40, columns=45),
    "blocks": blocks(8),
    "shared": with_shared_columns(8),
    "labels": crossed(8),
    "joined": JoinedRows.from_parts([blocks(8), crossed(8)]),
    "joined-lists": JoinedRows.from_parts([lists(8), replace(dense_lists(8), cost=lists(8).cost)]),
    "edges": chains(5).as_chains(),
}


@pytest.mark.parametrize(
    "check",
    [pytest.param(c, id=f"{name}-{c}") for name, batch in BATCHES.items() for c in check_batch(batch)],
)
def test_storages_keep_the_contract(check):
    check()


TABLE = {
    ("own labels", SparseRows): crossed_lists(5),
    ("own labels", DenseLists): crossed_lists(5),
    (DenseBlocks, SparseRows): blocks(5),
    (DenseBlocks, DenseLists): with_shared_columns(),
    (CrossedRows, SparseRows): crossed(5),
    (CrossedRows, DenseLists): crossed(5),
    (DenseLists, SparseRows): dense_lists(5),
    (SparseRows, DenseLists): lists(5),
    (JoinedRows, SparseRows): JoinedRows.from_parts([blocks(5), crossed(5)]),
}


@pytest.mark.parametrize(
    "pair", TABLE, ids=lambda pair: f"{getattr(pair[0], '__name__', pair[0])}-{pair[1].__name__}"
)
def test_conversions_keep_rows_and_columns(pair):
    batch, storage = TABLE[pair], pair[1]
    built = convert(batch, storage)
    assert type(built) is storage
    assert matrix(built) == pytest.approx(matrix(batch), abs=1e-6)
    assert built.cost.tolist() == batch.cost.tolist()
    assert built.offsets.tolist() == batch.offsets.tolist()
    assert built.columns.labels.tolist() == batch.columns.labels.tolist()
    assert built.columns.group_names == batch.columns.group_names


@pytest.mark.parametrize(
    ("batch", "storage"),
    [
        (blocks(3), DenseLists),  # each candidate has its own columns
        (dense_lists(9), DenseBlocks),
        (convert(with_shared_columns(), DenseLists), DenseBlocks),  # lists, although of equal length
        (crossed_lists(5), CrossedRows),  # unless the caller accepts per-instance labels
        (lists(9), CrossedRows),
        (chains(3), SparseRows),  # single words of sequences are not candidates
        (JoinedRows.from_parts([lists(3), lists(3)]), CrossedRows),
    ],
)
def test_rejects_impossible_conversions(batch, storage):
    with pytest.raises(UserError, match="D459"):
        convert(batch, storage)


def test_sparse_rows_that_are_too_wide_are_not_made_dense(monkeypatch):
    monkeypatch.setattr(structured, "MAX_DENSE_BYTES", 100)
    with pytest.raises(UserError, match=r"D417.*8 columns"):
        convert(lists(5), DenseLists)


@given(st.integers(0, 2**16), st.integers(2, 30))
def test_scores_of_crossed_lists_do_not_depend_on_the_number_of_labels(seed, labels):
    """If there are few labels, all are scored; if there are many, only those that are candidates."""
    rng = np.random.default_rng(seed)
    batch = crossed_lists(4, labels=labels, columns=labels + 2, seed=seed)
    weights = rng.normal(size=len(batch.columns))
    of_all = np.asarray(batch.rows @ weights.reshape(labels, -1).T)
    assert batch.scores(weights) == pytest.approx(of_all[row_owners(batch.offsets), batch.labels.values])


# Joining


def with_evidence(batch, n_hits=1):
    evidence = np.full(len(batch.cost), n_hits, np.int32)
    return Features(batch, evidence, evidence + 1)


def test_joins_blocks_and_crossed_rows():
    counts, words = blocks(6), replace(crossed(6), costs=blocks(6).costs)
    both = join([with_evidence(counts), with_evidence(words, 2)])
    joint = both.batch
    weights = np.random.default_rng(0).normal(size=len(joint.columns))
    expected = counts.scores(weights[:15]) + words.scores(weights[15:])
    assert joint.scores(weights) == pytest.approx(expected)
    assert joint.columns.group_names == ("2-gram", "3-gram", "4-gram", "5-gram", "bias", "words")
    assert joint.columns.in_groups(["bias"]).sum() == 3 + 3
    assert joint.columns.labels.tolist() == [*counts.columns.labels, *words.columns.labels]
    assert (joint.columns.names[0], joint.columns.names[15]) == ("0: 2-gram", "")
    assert (both.n_hits.tolist(), both.n_queries.tolist()) == ([3] * 18, [5] * 18)


@pytest.mark.parametrize(
    ("parts", "storage"),
    [
        ((lists(5), lists(5)), SparseRows),
        ((dense_lists(5), dense_lists(5)), DenseLists),
        ((lists(5), dense_lists(5)), SparseRows),
        ((blocks(5), blocks(5)), DenseBlocks),
        ((crossed_lists(5), crossed_lists(5)), CrossedRows),
        ((blocks(5), crossed(5), blocks(5)), JoinedRows),
        ((blocks(5), convert(blocks(5), SparseRows)), JoinedRows),
    ],
)
def test_joined_batches_score_as_the_sum_of_their_parts(parts, storage):
    joint = join([with_evidence(part) for part in parts]).batch
    assert type(joint) is storage
    assert len(joint.columns) == sum(len(part.columns) for part in parts)
    assert joint.scores(np.ones(len(joint.columns))) == pytest.approx(
        sum(part.scores(np.ones(len(part.columns))) for part in parts), abs=1e-5
    )
    for check in check_batch(joint):
        check()


def test_joined_blocks_have_the_columns_of_both_beside_each_candidate():
    first, second = blocks(6, seed=1), blocks(6, seed=2)
    second = replace(second, column_of=second.column_of[::-1])
    joint = join([with_evidence(first), with_evidence(second)]).batch
    one, other = np.random.default_rng(0).normal(size=(2, len(first.columns)))
    weights = np.concatenate([one[first.column_of], other[second.column_of]], axis=1).ravel()
    assert joint.scores(weights) == pytest.approx(first.scores(one) + second.scores(other), abs=1e-5)


def test_rows_of_different_labels_are_not_merged():
    first = crossed_lists(5)
    other = replace(first, labels=replace(first.labels, values=first.labels.values[::-1].copy()))
    assert type(join([with_evidence(first), with_evidence(other)]).batch) is JoinedRows


def test_parts_that_cannot_be_joined_are_named():
    one = with_evidence(lists(3))
    assert join([one]) is one
    with pytest.raises(UserError, match=r"D416.*counts \(SparseRows\) and words \(SparseRows\).*3 instances"):
        join([one, with_evidence(lists(4))], names=["counts", "words"])
    with pytest.raises(UserError, match=r"D416.*instance 0 has .* candidates in one"):
        join([one, with_evidence(lists(3, seed=5))])
    with pytest.raises(UserError, match=r"D416.*SequenceRows is decided together"):
        join([with_evidence(chains(3)), with_evidence(chains(3))])


def test_an_empty_batch_is_one_in_every_storage():
    nothing = np.zeros(0, np.int64)
    for name, batch in BATCHES.items():
        empty = batch.take(nothing)
        assert empty.offsets.tolist() == [0], name
        assert len(empty.scores(np.zeros(len(batch.columns)))) == 0
        assert not empty.adjoint(np.zeros(0)).any()
    assert csr_array(convert(crossed(3).take(nothing), SparseRows).rows).shape == (0, 24)


def make_columns(n):
    return Columns(np.full(n, -1, np.int32), np.zeros(n, np.int32), ("all",))


def pairs(n):
    """Return the layout of `n` hypergraphs: two nodes with two rows each, and two rows that join them."""
    heads = np.tile(np.repeat(np.arange(3), 2), n)
    tails = np.tile([[-1, -1]] * 4 + [[0, 1], [1, 0]], (n, 1))
    return Hypergraphs(6 * np.arange(n + 1), 3 * np.arange(n + 1), heads, tails)


@pytest.fixture
def shared_parts():
    rng = np.random.default_rng(0)
    features = csr_array(rng.normal(size=(7, 5)) * (rng.random((7, 5)) < 0.6))
    parts = rng.integers(-1, 7, size=(24, 3)).astype(np.int32)
    return PartRows(features, parts, pairs(4), rng.random(24).astype(np.float32), make_columns(5))


def written_out(shared_parts):
    dense = np.vstack([shared_parts.features.toarray(), np.zeros(shared_parts.features.shape[1])])
    return dense[shared_parts.parts].sum(axis=1)


def test_scores_sums_and_norms(shared_parts):
    rng = np.random.default_rng(1)
    rows, weights, mass = written_out(shared_parts), rng.normal(size=5), rng.normal(size=24)
    assert shared_parts.rows().toarray() == pytest.approx(rows)
    assert shared_parts.scores(weights) == pytest.approx(rows @ weights)
    assert shared_parts.adjoint(mass) == pytest.approx(rows.T @ mass)
    assert shared_parts.row_sqnorm() == pytest.approx((rows**2).sum(axis=1))
    unused = replace(shared_parts, parts=np.minimum(shared_parts.parts, 5))  # no row has the last part
    assert unused.adjoint(mass) == pytest.approx(written_out(unused).T @ mass)


def test_norms_of_parts_without_common_columns(shared_parts):
    """The two places have disjoint columns, so that no row has to be made dense."""
    rng = np.random.default_rng(3)
    dense = rng.normal(size=(8, 5))
    dense[:4, 3:] = dense[4:, :3] = 0.0
    parts = np.column_stack([rng.integers(-1, 4, 24), rng.integers(4, 8, 24)]).astype(np.int32)
    apart = PartRows(csr_array(dense), parts, shared_parts.layout, shared_parts.cost, shared_parts.columns)
    assert apart._has_disjoint_columns(apart.features.multiply(apart.features))
    assert not shared_parts._has_disjoint_columns(shared_parts.features.multiply(shared_parts.features))
    assert apart.row_sqnorm() == pytest.approx((written_out(apart) ** 2).sum(axis=1))


@pytest.mark.parametrize("check", range(len(check_batch(None))))
def test_batches_of_shared_parts_keep_the_contract(shared_parts, check):
    check_batch(shared_parts)[check]()


def test_taking_instances_of_shared_parts(shared_parts):
    index = np.array([2, 0, 2])
    taken = shared_parts.take(index)
    rows = np.concatenate([np.arange(6 * i, 6 * i + 6) for i in index])
    assert written_out(taken) == pytest.approx(written_out(shared_parts)[rows])
    assert np.array_equal(taken.cost, shared_parts.cost[rows])
    assert taken.offsets.tolist() == [0, 6, 12, 18]
    single = shared_parts.take(np.array([1]))
    assert single.features.shape[0] == len(set(shared_parts.parts[6:12].ravel().tolist()) - {-1})
    none = shared_parts.take(np.zeros(0, np.int64))
    assert none.scores(np.ones(5)).shape == (0,) and not none.adjoint(np.zeros(0)).any()
    assert np.array_equal(shared_parts.take(np.array([False, True, False, False])).parts, single.parts)


def test_learning_from_shared_parts():
    rng = np.random.default_rng(2)
    features = csr_array(rng.normal(size=(30, 6)))
    parts = rng.integers(0, 30, size=(60, 2)).astype(np.int32)
    layout, columns = pairs(10), make_columns(6)
    shared_parts = PartRows(features, parts, layout, np.zeros(60, np.float32), columns)
    right = Hypergraph().best(shared_parts.scores(rng.normal(size=6)), layout)
    shared_parts = PartRows(features, parts, layout, (1.0 - right).astype(np.float32), columns)
    weights, mistakes = averaged_perceptron(
        structured_examples(shared_parts, Hypergraph()), passes=200, seed=0
    )
    assert mistakes == 0
    assert np.array_equal(Hypergraph().best(shared_parts.scores(weights), layout), right)
    plain = SparseRows(shared_parts.rows(), layout.offsets, shared_parts.cost, columns)
    assert plain.scores(weights) == pytest.approx(shared_parts.scores(weights))


def test_rejects_invalid_parts(shared_parts):
    too_large = np.maximum(shared_parts.parts, 7 * (shared_parts.parts == 6))
    for changes, problem in (
        ({"parts": too_large}, "parts 0 to 7: expected -1 to 6"),
        ({"parts": shared_parts.parts[:-1]}, "for 24 rows"),
        ({"columns": make_columns(4)}, "but 4 names"),
    ):
        with pytest.raises(ValueError, match=problem):
            replace(shared_parts, **changes)


def sequence_batch(seed=0, n=9, k=3, d=4):
    rng = np.random.default_rng(seed)
    rows = csr_array((rng.random((n, d)) < 0.5).astype(np.float32))
    gold = rng.integers(k, size=n)
    costs = (np.arange(k) != gold[:, None]).astype(np.float32)
    return SequenceRows(rows, costs, np.array([4, 4, 4, 7, 9, 9, 9, 9, 2]))


def test_rows_of_sequences_are_in_text_order():
    require_batch(sequence_batch(), "sequences")


def test_columns_of_sequences_describe_the_weights():
    columns = sequence_batch().columns
    assert len(columns) == sequence_batch().n_weights == 3 * (4 + 1 + 3)
    assert columns.in_groups(["label before"]).sum() == 3 + 9
    assert columns.labels[-3:].tolist() == [0, 1, 2]


def test_sequences_begin_where_the_number_changes():
    assert sequence_batch().layout.tolist() == [0, 3, 4, 8, 9]
    assert run_starts(np.zeros(0, np.int64)).tolist() == [0]
    assert sequence_batch().take(np.array([0, 2, 4])).layout.tolist() == [0, 2, 3]


def test_edges_score_as_places_and_steps():
    sequences = sequence_batch()
    edges = sequences.edges()
    weights = np.random.default_rng(1).normal(size=sequences.n_weights)
    place = sequences.scores(weights).reshape(-1, 3)
    first, step = weights[12:15], weights[15:].reshape(3, 3)
    scores = edges.scores(weights)
    assert len(edges.offsets) - 1 == 4
    rng = np.random.default_rng(2)
    for i, (start, stop) in enumerate(pairwise(sequences.layout)):
        states = rng.integers(3, size=stop - start)
        path_edges = edges.offsets[i] + Chain(3).edges(states)
        expected = place[np.arange(start, stop), states].sum() + first[states[0]]
        expected += sum(step[a, b] for a, b in pairwise(states))
        assert scores[path_edges].sum() == pytest.approx(expected)
        costs = sequences.costs[np.arange(start, stop), states].sum()
        assert edges.cost[path_edges].sum() == pytest.approx(costs)


NOT_FINITE = np.zeros((5, 4))
NOT_FINITE[3, 1], NOT_FINITE[4, 2] = np.nan, np.inf
SMALL = NOT_FINITE.astype(np.float32)
SIZES = np.array([0, 1, 3, 5])  # rows 3 and 4 are those of the last of three instances
NO_COST, NO_COSTS = np.zeros(5, np.float32), np.zeros((5, 2), np.float32)


@pytest.mark.parametrize(
    ("batch", "where"),
    [
        (SparseRows(csr_array(NOT_FINITE), SIZES, NO_COST, numbered(4)), "example 2, attribute 1"),
        (DenseLists(SMALL, SIZES, NO_COST, numbered(4)), "example 2, attribute 1"),
        (CrossedRows(NOT_FINITE, NO_COSTS, numbered(8)), "example 3, attribute 1"),
        (SequenceRows(csr_array(NOT_FINITE), NO_COSTS, np.zeros(5, int)), "example 3, attribute 1"),
        (
            DenseBlocks(SMALL.reshape(5, 2, 2), np.arange(4).reshape(2, 2), numbered(4), NO_COSTS),
            "example 3, attribute 1",
        ),
        (
            PartRows(
                csr_array(NOT_FINITE),
                np.array([[0, -1], [1, 2], [0, 0], [0, 1], [4, -1], [2, 3]], np.int32),
                pairs(1),
                np.zeros(6, np.float32),
                numbered(4),
            ),
            "example 0, attribute 1",
        ),
        (
            JoinedRows.from_parts(
                [
                    SparseRows(csr_array(np.ones((5, 1))), SIZES, NO_COST, numbered(1)),
                    SparseRows(csr_array(NOT_FINITE), SIZES, NO_COST, numbered(4)),
                ]
            ),
            "example 2, attribute 1",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_features_that_are_not_finite(batch, where):
    with pytest.raises(
        UserError, match=rf"D703\] attributes: 2 are NaN or infinite, the first in {where}: check"
    ):
        check_finite(batch)


def test_sums_of_finite_features_may_overflow():
    check_finite(SparseRows(csr_array(np.full((5, 4), 1e308)), SIZES, NO_COST, numbered(4)))
    check_finite(blocks())


def test_canonical_rows_are_sorted_and_the_given_ones_unchanged():
    from scipy.sparse import csr_array

    rows = csr_array((np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), np.array([0, 3])), (1, 3))
    canonical = canonical_rows(rows)
    assert canonical.indices.tolist() == [0, 2] and canonical.data.tolist() == [2.0, 5.0]
    assert rows.data.tolist() == [1.0, 2.0, 4.0] and canonical_rows(canonical) is not rows
