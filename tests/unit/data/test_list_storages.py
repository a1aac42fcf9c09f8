"""Lists of unequal length in every storage: the contract, conversions, and what joining makes of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from disambig.data import (
    Columns,
    CrossedRows,
    DenseBlocks,
    DenseLists,
    JoinedRows,
    SparseRows,
    conversions,
    convert,
    row_owners,
)
from disambig.errors import UserError
from disambig.features import join
from disambig.testing import blocks, chains, check_batch, crossed, crossed_lists, dense_lists, lists
from disambig.types import Features


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
def test_contract(check):
    check()


def matrix(batch):
    return np.stack([batch.scores(unit) for unit in np.eye(len(batch.columns))], axis=1)


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
    made = convert(batch, storage)
    assert type(made) is storage
    assert matrix(made) == pytest.approx(matrix(batch), abs=1e-6)
    assert made.cost.tolist() == batch.cost.tolist()
    assert made.offsets.tolist() == batch.offsets.tolist()
    assert made.columns.labels.tolist() == batch.columns.labels.tolist()
    assert made.columns.group_names == batch.columns.group_names


@pytest.mark.parametrize(
    ("batch", "storage"),
    [
        (blocks(3), DenseLists),  # each candidate has columns of its own
        (dense_lists(9), DenseBlocks),
        (convert(with_shared_columns(), DenseLists), DenseBlocks),  # of equal length, but lists all the same
        (crossed_lists(5), CrossedRows),  # unless the caller accepts labels of their own
        (lists(9), CrossedRows),
        (chains(3), SparseRows),  # single words of sequences are no candidates
        (JoinedRows.from_parts([lists(3), lists(3)]), CrossedRows),
    ],
)
def test_what_has_no_such_form_is_refused(batch, storage):
    with pytest.raises(UserError, match="D459"):
        convert(batch, storage)


def test_sparse_rows_that_are_too_wide_are_not_made_dense(monkeypatch):
    monkeypatch.setattr(conversions, "MOST_BYTES", 100)
    with pytest.raises(UserError, match=r"D417.*8 columns"):
        convert(lists(5), DenseLists)


@given(st.integers(0, 2**16), st.integers(2, 30))
def test_crossed_lists_score_alike_however_many_labels_there_are(seed, labels):
    """Few labels are scored all, of many only those that are candidates."""
    rng = np.random.default_rng(seed)
    batch = crossed_lists(4, labels=labels, columns=labels + 2, seed=seed)
    weights = rng.normal(size=len(batch.columns))
    of_all = np.asarray(batch.rows @ weights.reshape(labels, -1).T)
    assert batch.scores(weights) == pytest.approx(of_all[row_owners(batch.offsets), batch.labels.values])


# Joining


def features(batch, found=1):
    evidence = np.full(len(batch.cost), found, np.int32)
    return Features(batch, evidence, evidence)


def test_class_blocks_and_crossed_rows_are_joined():
    counts, words = blocks(6), replace(crossed(6), costs=blocks(6).costs)
    both = join([features(counts), features(words, 2)])
    joint = both.batch
    weights = np.random.default_rng(0).normal(size=len(joint.columns))
    expected = counts.scores(weights[:15]) + words.scores(weights[15:])
    assert joint.scores(weights) == pytest.approx(expected)
    assert joint.columns.group_names == ("2-gram", "3-gram", "4-gram", "5-gram", "bias", "words")
    assert joint.columns.in_groups(["bias"]).sum() == 3 + 3
    assert joint.columns.labels.tolist() == [*counts.columns.labels, *words.columns.labels]
    assert (joint.columns.names[0], joint.columns.names[15]) == ("0: 2-gram", "")
    assert both.found.tolist() == [3] * 18


@pytest.mark.parametrize(
    ("parts", "storage"),
    [
        ((lists(5), lists(5)), SparseRows),
        ((dense_lists(5), dense_lists(5)), DenseLists),
        ((lists(5), dense_lists(5)), SparseRows),
        ((crossed_lists(5), crossed_lists(5)), CrossedRows),
        ((blocks(5), crossed(5), blocks(5)), JoinedRows),
        ((blocks(5), convert(blocks(5), SparseRows)), JoinedRows),
    ],
)
def test_what_is_joined_scores_as_the_sum_of_its_parts(parts, storage):
    joint = join([features(part) for part in parts]).batch
    assert type(joint) is storage
    assert len(joint.columns) == sum(len(part.columns) for part in parts)
    assert joint.scores(np.ones(len(joint.columns))) == pytest.approx(
        sum(part.scores(np.ones(len(part.columns))) for part in parts), abs=1e-5
    )
    for check in check_batch(joint):
        check()


def test_candidates_of_other_labels_stay_beside_one_another():
    first = crossed_lists(5)
    other = replace(first, labels=replace(first.labels, values=first.labels.values[::-1].copy()))
    assert type(join([features(first), features(other)]).batch) is JoinedRows


def test_parts_that_cannot_be_joined_are_named():
    one = features(lists(3))
    assert join([one]) is one
    with pytest.raises(UserError, match=r"D416.*counts \(SparseRows\) and words \(SparseRows\).*3 instances"):
        join([one, features(lists(4))], names=["counts", "words"])
    with pytest.raises(UserError, match=r"D416.*instance 0 has .* candidates in one"):
        join([one, features(lists(3, seed=5))])
    with pytest.raises(UserError, match=r"D416.*SequenceRows is decided together"):
        join([features(chains(3)), features(chains(3))])


def test_an_empty_batch_is_one_in_every_storage():
    nothing = np.zeros(0, np.int64)
    for name, batch in BATCHES.items():
        empty = batch.take(nothing)
        assert empty.offsets.tolist() == [0], name
        assert len(empty.scores(np.zeros(len(batch.columns)))) == 0
        assert not empty.adjoint(np.zeros(0)).any()
    assert csr_array(convert(crossed(3).take(nothing), SparseRows).rows).shape == (0, 24)
