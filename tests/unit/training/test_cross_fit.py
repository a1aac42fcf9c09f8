"""What extractors learn from labels comes out of fold, whatever storage they give."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from toy_learners import Constant
from toy_plugin import Marks, NearbyWords

from disambig.data import (
    Columns,
    CrossedRows,
    DenseBlocks,
    DenseLists,
    JoinedRows,
    Ragged,
    SparseRows,
    convert,
    stack_batches,
)
from disambig.errors import UserError
from disambig.formats import Labelled
from disambig.text import Words
from disambig.training import FoldResampling, label_instances
from disambig.types import Features

TASK = Marks(("quite/quiet",))
TEXTS = [f"It is quite {word}." for word in ("late", "early", "old", "new", "green", "big", "warm")]
EXAMPLES = [Labelled(text, 6, 11, ("quite", "quiet")[i % 2], text) for i, text in enumerate(TEXTS)]
STORAGES = (DenseBlocks, DenseLists, SparseRows, CrossedRows)


@dataclass(frozen=True)
class Seen:
    """One shared column: how many examples it was fitted to; in `storage`."""

    storage: type
    own_labels: bool = False
    n: int = 0
    cross_fit: bool = True

    def fit(self, view, instances, groups):
        return replace(self, n=len(instances))

    def transform(self, view, instances, group):
        n, k = len(instances), len(group.candidates)
        costs = (np.arange(k) != instances.observed[:, None]).astype(np.float32)
        if self.own_labels:
            labels = Ragged(np.tile(np.arange(k), n), np.arange(n + 1) * k)
            batch = CrossedRows(np.full((n, 1), self.n), costs.ravel(), columns([0, 1]), labels)
        elif self.storage is CrossedRows:
            batch = CrossedRows(np.full((n, 1), self.n), costs, columns([0, 1]))
        else:
            values = np.full((n, k, 1), self.n, np.float32)
            batch = DenseBlocks(values, np.zeros((k, 1), np.int64), columns([-1]), costs)
        found = (instances.positions.repeat(k) * 2 + np.tile(np.arange(k), n)).astype(np.int32)
        return Features(convert(batch, self.storage, own_labels=True), found, found)

    def state(self):
        return {"n": np.array(self.n)}

    def from_state(self, arrays):
        return replace(self, n=int(arrays["n"]))


def columns(labels):
    return Columns(np.array(labels, np.int32), np.zeros(len(labels), np.int32), ("seen",))


def prepared(extractor):
    marked = label_instances(TASK, Words(), EXAMPLES)
    parts = {"task": TASK, "extractors": {"seen": extractor}, "baseline": Constant()}
    return marked, FoldResampling(marked).prepare(parts, lambda *told: None)


@pytest.mark.parametrize("extractor", [*map(Seen, STORAGES), Seen(CrossedRows, own_labels=True)], ids=str)
def test_every_example_is_described_out_of_fold(extractor):
    marked, ready = prepared(extractor)
    assert type(ready.features[0].batch) is extractor.storage
    batch, sizes = ready.features[0].batch, np.bincount(ready.folds)
    expected = np.repeat(7 - sizes[ready.folds], 2)
    assert set(expected.tolist()) == {5, 6}  # folds differ in size: rows that change places are seen
    assert batch.scores(np.ones(len(batch.columns))).tolist() == expected.tolist()
    assert batch.cost.tolist() == [c for g in marked.examples.instances.observed for c in (g != 0, g != 1)]
    positions = marked.examples.instances.positions
    assert ready.features[0].found.tolist() == [2 * at + c for at in positions for c in (0, 1)]


def test_other_columns_in_every_fold_are_refused():
    class Learned(NearbyWords):
        cross_fit = True

        def fit(self, view, instances, groups):
            return Learned(self.reach, super().fit(view, instances, groups).vocabulary)

    with pytest.raises(
        UserError, match=r"D414.*extractor Learned: .*CrossedRows with \d+ columns.*cross_fit"
    ):
        prepared(Learned())


def test_storages_that_are_not_stacked():
    _, ready = prepared(Seen(SparseRows))
    sparse = ready.features[0].batch
    assert stack_batches([sparse, convert(sparse, DenseLists)]) is None
    assert stack_batches([JoinedRows.from_parts([sparse, sparse])] * 2) is None
