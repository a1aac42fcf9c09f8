"""Features of many groups at once are those of each group by itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import pytest
from scipy.sparse import csr_array

from disambig.data import (
    CandidateLists,
    Columns,
    CrossedColumns,
    CrossedRows,
    DenseBlocks,
    Group,
    Instances,
    numbered,
)
from disambig.errors import UserError
from disambig.features import by_group, transform_checked
from disambig.features.rows import as_features
from disambig.models import iterate_features
from disambig.models import model as rows_once
from disambig.types import Features

GROUPS = (Group("one", ("a", "b", "c")), Group("two", ("x", "y")))
INSTANCES = Instances(
    np.arange(5),
    np.ones(5, np.int32),
    np.array([0, 1, 0, 1, 1], np.int32),
    np.array([2, -1, 0, 1, 0], np.int32),
)


OWN = Columns(np.full(5, -1, np.int32), np.zeros(5, np.int32), ("position",))


@dataclass
class Positions:
    """One column a position; the evidence is the position."""

    rows_are_shared: bool = True
    asked: int = 0

    @by_group
    def transform(self, view, instances, group):
        self.asked += 1
        n, k = len(instances), len(group.candidates)
        instances.costs(group)  # as extractors do
        rows = csr_array((np.ones(n), (np.arange(n), instances.positions)), (n, 5))
        costs = (np.arange(k) != instances.observed[:, None]).astype(np.float32)
        found = np.repeat(instances.positions, k).astype(np.int32)
        return Features(CrossedRows(rows, costs, CrossedColumns(OWN, group.candidates)), found, found + 1)


@pytest.mark.parametrize("shared", [True, False])
def test_each_group_gets_its_own(shared):
    extractor = Positions(shared)
    blocks = [(g, np.flatnonzero(INSTANCES.groups == g)) for g in range(len(GROUPS))]
    described = iterate_features([extractor, Positions(shared)], None, INSTANCES, GROUPS, blocks)
    for (g, rows), (number, same_rows, taken, found) in zip(blocks, chain(*described), strict=True):
        group = GROUPS[g]
        assert number == g and same_rows is rows
        np.testing.assert_array_equal(taken.positions, INSTANCES.positions[rows])
        alone = transform_checked(Positions(), None, INSTANCES.take(rows), group)
        np.testing.assert_array_equal(found.batch.costs, alone.batch.costs)
        np.testing.assert_array_equal(found.batch.rows.toarray()[:, :5], alone.batch.rows.toarray())
        np.testing.assert_array_equal(found.found, 2 * alone.found)
        np.testing.assert_array_equal(found.asked, 2 * alone.asked)
        assert len(found.batch.columns) == 10 * len(group.candidates)
        assert found.batch.columns.candidates == group.candidates
    assert extractor.asked == len(GROUPS)


def test_only_crossed_rows_can_be_shared():
    class Blocks:
        rows_are_shared = True

        @by_group
        def transform(self, view, instances, group):
            n, k = len(instances), len(group.candidates)
            costs = np.ones((n, k), np.float32)
            batch = DenseBlocks(
                np.zeros((n, k, 1), np.float32), np.zeros((k, 1), np.int64), numbered(1), costs
            )
            return Features(batch, np.zeros(n * k, np.int32), np.zeros(n * k, np.int32))

    with pytest.raises(UserError, match=r"D414.*extractor Blocks: transform gave DenseBlocks;.* CrossedRows"):
        list(iterate_features([Blocks()], None, INSTANCES, GROUPS, [(0, np.array([0, 2]))]))


def test_rows_of_lists_of_ones_own_are_found_for_each_group():
    lists = CandidateLists.from_texts([GROUPS[group].candidates for group in INSTANCES.groups])
    rows = np.flatnonzero(INSTANCES.groups == 1)
    own = replace(INSTANCES, own=lists)

    class Lists:
        rows_are_shared = True

        def transform(self, view, table):
            return as_features(made(table.instances), OWN, table, self)

    def made(instances):
        n = len(instances)
        return csr_array((np.ones(n), (np.arange(n), instances.positions)), (n, 5)), np.ones(n), np.ones(n)

    [[(_, _, _, found)]] = iterate_features([Lists()], None, own, GROUPS, [(1, rows)])
    assert found.batch.labels is not None and found.batch.labels.values.tolist() == [0, 1] * 3


def test_groups_are_described_together_but_no_more_than_fit_the_cache(monkeypatch):
    asked = []

    class Together(Positions):
        def transform(self, view, table):
            asked.append([len(instances) for instances, _ in table.parts])
            return Positions.transform(self, view, table)

    blocks = [(0, np.array([0])), (1, np.array([1, 3])), (0, np.array([2])), (1, np.array([4]))]
    monkeypatch.setattr(rows_once, "TOGETHER", 3)
    found = list(iterate_features([Together(rows_are_shared=False)], None, INSTANCES, GROUPS, blocks))
    assert asked == [[1, 2], [1, 1]]
    assert [[each[2].positions.tolist() for each in piece] for piece in found] == [[[0], [1, 3]], [[2], [4]]]
