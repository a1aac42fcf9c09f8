"""Feature groups: lengths of their parts, the kernel that comes of it, and the columns in use."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from disambig.data import Columns, CrossedColumns, CrossedRows, normalised, restricted, used_columns
from disambig.errors import UserError
from disambig.testing import crossed

GROUPS = np.array([0, 0, 1, 1, 2], np.int32)
NAMES = ("local", "broad", "near")
WORDS = ["a", "b", "c", "d", "e"]
ROWS = arrays(np.float64, st.tuples(st.integers(1, 5), st.just(5)), elements=st.integers(-3, 3).map(float))
WEIGHTS = st.fixed_dictionaries({name: st.sampled_from([0.0, 0.3, 1.0, 2.5]) for name in NAMES})


def batch_of(rows, names=()):
    rows = np.array(rows, float)
    own = Columns(np.full(5, -1, np.int32), GROUPS, NAMES, names)
    costs = np.zeros((len(rows), 2), np.float32)
    return CrossedRows(csr_array(rows), costs, CrossedColumns(own, ("river", "money")))


@given(ROWS, WEIGHTS)
def test_inner_products_are_the_weighted_sum_of_normalised_kernels(rows, weights):
    scaled = normalised(batch_of(rows), weights).rows
    expected = np.zeros((len(rows), len(rows)))
    for g, name in enumerate(NAMES):
        part = rows[:, g == GROUPS]
        lengths = np.linalg.norm(part, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            cosines = np.where(np.outer(lengths, lengths) > 0, part @ part.T / np.outer(lengths, lengths), 0)
        expected += weights[name] * cosines
    np.testing.assert_allclose((scaled @ scaled.T).toarray(), expected, atol=1e-12)


@given(ROWS)
def test_each_part_has_the_length_that_its_weight_says_or_none(rows):
    squares = normalised(batch_of(rows)).rows.toarray() ** 2
    for g in range(3):
        full = (rows[:, g == GROUPS] != 0).any(axis=1)
        np.testing.assert_allclose(squares[:, g == GROUPS].sum(axis=1), np.where(full, 1 / 3, 0))


@given(ROWS)
def test_together_each_row_has_length_one_or_none(rows):
    scaled = normalised(batch_of(rows), together=True).rows.toarray()
    full = (rows != 0).any(axis=1)
    np.testing.assert_allclose((scaled**2).sum(axis=1), full)
    lengths = np.linalg.norm(rows, axis=1)
    np.testing.assert_allclose(scaled * lengths[:, None], rows, atol=1e-12)


@pytest.mark.parametrize("together", [False, True])
@given(ROWS, st.sampled_from([1e-320, 1e-170, 1e-110, 1e110, 1e170, 1e300]))
def test_lengths_are_right_however_small_or_large_the_numbers_are(together, rows, factor):
    both = np.concatenate([rows[:1], rows[:1] * factor])
    found = normalised(batch_of(both), together=together).rows.toarray()
    np.testing.assert_allclose(found[1], found[0], rtol=1e-2 if factor < 1e-300 else 1e-12, atol=1e-12)


def test_of_a_row_with_all_parts_the_product_with_itself_is_the_sum_of_weights():
    scaled = normalised(batch_of([[1, 2, 3, 0, 5]]), {"local": 0.3, "broad": 0.2, "near": 0.5}).rows
    assert (scaled @ scaled.T).toarray() == pytest.approx(1.0)


def test_the_batch_stays_as_it_is():
    batch = batch_of([[3, 4, 0, 0, 1]])
    normalised(batch)
    assert batch.rows.toarray().tolist() == [[3, 4, 0, 0, 1]]
    assert normalised(batch).costs is batch.costs
    assert normalised(batch).columns is batch.columns


def test_columns_without_crossing_have_groups_too():
    scaled = normalised(crossed(labels=2, columns=4)).rows.toarray()
    np.testing.assert_allclose(scaled[:, -1], np.sqrt(0.5))
    np.testing.assert_allclose((scaled[:, :-1] ** 2).sum(axis=1), 0.5)


@pytest.mark.parametrize(
    ("weights", "code", "said"),
    [
        ({"local": 1, "broad": 1, "near": 1, "brood": 1}, "D451", "brood"),
        ({"local": 1, "broad": 1}, "D476", "near' is none"),
        ({"local": 1, "broad": -0.5, "near": 1}, "D476", "broad' is -0.5"),
        ({"local": 1, "broad": float("nan"), "near": 1}, "D476", "broad' is nan"),
        ({"local": 1, "broad": float("inf"), "near": 1}, "D476", "broad' is inf"),
    ],
)
def test_weights_that_make_no_sense_are_refused(weights, code, said):
    with pytest.raises(UserError, match=f"(?s){code}.*{said}|{said}.*{code}"):
        normalised(batch_of([[1, 1, 1, 1, 1]]), weights)


@given(ROWS)
def test_restricted_rows_keep_every_product(rows):
    batch = batch_of(rows, WORDS)
    columns = used_columns(batch)
    assert columns.tolist() == [c for c in range(5) if (rows[:, c] != 0).any()]
    small = restricted(batch, columns)
    assert small.rows.toarray().tolist() == rows[:, columns].tolist()
    assert small.columns.own.groups.tolist() == GROUPS[columns].tolist()
    assert list(small.columns.own.names) == [WORDS[c] for c in columns]
    assert small.columns.group_names == NAMES
    assert small.columns.candidates == ("river", "money")
    assert len(small.columns) == 2 * len(columns)


def test_columns_of_other_rows_are_dropped():
    small = restricted(batch_of([[1, 2, 3, 4, 5], [0, 0, 0, 0, 6]]), np.array([1, 3]))
    assert small.rows.toarray().tolist() == [[2, 4], [0, 0]]
    assert len(small.columns.own.names) == 0
    none = restricted(batch_of([[1, 2, 3, 4, 5]]), np.zeros(0, np.int64))
    assert none.rows.shape == (1, 0)
    assert len(none.columns) == 0
