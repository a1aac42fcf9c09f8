"""A toy plugin: confusion sets that are decided by nearby words, with one model per set."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from toy_learners import Constant, KernelRidge, Perceptron

from disambig.api import (
    CandidateFinder,
    Columns,
    CrossedRows,
    Decides,
    Features,
    Group,
    by_group,
    hookimpl,
)


@dataclass(frozen=True)
class Pairs:
    """Decide between words of a pair, wherever one stands."""

    pairs: tuple[str, ...] | list[str] = ("quite/quiet", "peace/piece")
    name: str = "pairs"
    language: str = ""

    @cached_property
    def groups(self):
        return tuple(Group(pair, tuple(pair.split("/"))) for pair in self.pairs)

    def instances(self, view):
        return CandidateFinder.from_groups(self.groups).find(view)


@dataclass(frozen=True)
class Marks(Pairs):
    """A task that labels each word of a pair with the word that it should be."""

    decides = Decides(between="labels")
    name: str = "marks"

    def instances(self, view):
        return super().instances(view).without_labels()


@dataclass(frozen=True, eq=False)
class NearbyWords:
    """An extractor of the nearby words known from training; one row per instance, crossed with labels."""

    reach: int = 2
    vocabulary: np.ndarray | None = None
    requires = ()

    def fit(self, view, instances, groups):
        return NearbyWords(self.reach, np.unique(self.around(view, instances)))

    def around(self, view, instances):
        steps = np.array([step for step in range(-self.reach, self.reach + 1) if step])
        ahead = instances.positions[:, None] + np.where(steps > 0, instances.lengths[:, None] - 1, 0) + steps
        padded = np.concatenate(
            [np.zeros(self.reach, np.uint64), view.hashes, np.zeros(self.reach, np.uint64)]
        )
        return padded[ahead + self.reach]

    @by_group
    def transform(self, view, instances, group):
        return self.transform_group(view, instances, group)

    def transform_group(self, view, instances, group):
        words = self.around(view, instances)
        rows = np.array([np.isin(self.vocabulary, row) for row in words], np.float64)
        rows = rows.reshape(len(instances), len(self.vocabulary))
        k, d = len(group.candidates), len(self.vocabulary)
        costs = (np.arange(k) != instances.observed[:, None]).astype(np.float32)
        columns = Columns(np.repeat(np.arange(k, dtype=np.int32), d), np.zeros(k * d, np.int32), ("words",))
        n_hits = np.repeat(rows.sum(axis=1).astype(np.int32), k)
        return Features(CrossedRows(rows, costs, columns), n_hits, np.maximum(n_hits, 2 * self.reach))

    def state(self):
        return {"vocabulary": self.vocabulary}

    def from_state(self, arrays):
        return NearbyWords(self.reach, arrays["vocabulary"])


@hookimpl
def disambig_register_tasks(register):
    register("toys.Pairs.v1", Pairs)
    register("toys.Marks.v1", Marks)


@hookimpl
def disambig_register_extractors(register):
    register("toys.NearbyWords.v1", NearbyWords)


@hookimpl
def disambig_register_learners(register):
    register("toys.Perceptron.v1", lambda: Perceptron())
    register("toys.KernelRidge.v1", lambda: KernelRidge())
    register("toys.Constant.v1", lambda: Constant())
