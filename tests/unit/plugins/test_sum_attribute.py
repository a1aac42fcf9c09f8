"""The sum attribute: what it adds, and that what is learned with it folds back exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from disambig_variance_svm.learners import SUM, CrossedScorer, fold_crossed_sum, fold_sum, with_sum

from disambig.data import Columns
from disambig.errors import UserError
from disambig.testing import blocks

PATTERNS = ("3-gram", "4-gram")


def test_the_sum_is_the_last_attribute_and_each_candidates_own():
    batch = blocks(9)
    wider = with_sum(batch, PATTERNS)
    assert wider.values[:, :, -1] == pytest.approx(batch.values[:, :, 1] + batch.values[:, :, 2])
    assert np.array_equal(wider.values[:, :, :-1], batch.values)
    assert wider.columns.in_groups([SUM]).nonzero()[0].tolist() == [15, 16, 17]
    assert wider.columns.labels[-3:].tolist() == [0, 1, 2]
    assert len(wider.columns) == len(wider.columns.names)


def test_folded_weights_score_the_same():
    batch = blocks(9)
    weights = np.random.default_rng(0).normal(size=18)
    folded = fold_sum(weights, batch, PATTERNS)
    assert len(folded) == len(batch.columns)
    assert batch.scores(folded) == pytest.approx(with_sum(batch, PATTERNS).scores(weights), abs=1e-5)


def test_candidates_that_share_their_weights_share_the_sum():
    batch = blocks(9)
    shared = replace(
        batch,
        column_of=np.tile(np.arange(5), (3, 1)),
        columns=Columns(np.full(5, -1, np.int32), np.arange(5, dtype=np.int32), batch.columns.group_names),
    )
    wider = with_sum(shared, PATTERNS)
    assert len(wider.columns) == 6
    weights = np.random.default_rng(0).normal(size=6)
    assert shared.scores(fold_sum(weights, shared, PATTERNS)) == pytest.approx(
        wider.scores(weights), abs=1e-5
    )


def test_partly_shared_columns_have_no_sum():
    batch = blocks(9)
    column_of = batch.column_of.copy()
    column_of[1, 1] = column_of[0, 1]
    with pytest.raises(ValueError, match="share some of the summed columns"):
        with_sum(replace(batch, column_of=column_of), PATTERNS)


def test_folded_crossed_weights_score_the_same():
    batch = blocks(9)
    weights = np.random.default_rng(0).normal(size=3 * 18)
    folded = CrossedScorer(fold_crossed_sum(weights, batch, PATTERNS))
    expected = CrossedScorer(weights).scores(with_sum(batch, PATTERNS))
    assert folded.scores(batch) == pytest.approx(expected, abs=1e-5)
    assert len(folded.columns(batch)) == 45
    again = CrossedScorer.from_state(folded.state())
    assert np.array_equal(again.scores(batch), folded.scores(batch))
    with pytest.raises(ValueError, match="54 weights for 45 crossed columns"):
        CrossedScorer(weights).scores(batch)


def test_an_unknown_group_is_named():
    with pytest.raises(UserError, match="7-gram"):
        with_sum(blocks(3), ("7-gram",))
