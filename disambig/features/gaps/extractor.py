"""Gap odds: whether a place is one for a word of the group at all, as an attribute of no word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.columns import Columns
from disambig.data.batches.dense import DenseBlocks
from disambig.data.batches.dense_lists import DenseLists
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.data.interned import distinct
from disambig.data.lists import CandidateLists
from disambig.features.gaps.model import Gaps
from disambig.text.view import TokenView
from disambig.types import Arrays, Features

GROUP_NAME = "gap"
ZERO = ""


@dataclass(frozen=True, slots=True)
class GapOdds:
    """Extractor of one attribute: for no word, the log-odds that there is none; zero for words.

    Parameters
    ----------
    gaps : path
        A folder with weights that `disambig.features.gaps.learning.learn_gaps` learned.
    """

    gaps: str | Path

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> GapOdds:
        """Return self: the weights were learned beforehand."""
        return self

    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return one attribute a candidate, shape ``(n, K, 1)``; it is no evidence for a flag.

        Of instances with candidates of their own as `DenseLists`, whose column all candidates share.
        """
        if instances.own is not None:
            return self._of_lists(view, instances, instances.own, group)
        n, k = len(instances), len(group.candidates)
        values = np.zeros((n, k, 1), np.float32)
        if ZERO in group.candidates and n:
            values[:, group.candidates.index(ZERO), 0] = -self._odds(view, instances)
        costs = instances.costs(group).reshape(n, k)
        nothing = np.zeros(n * k, np.int32)
        batch = DenseBlocks(values, np.arange(k).reshape(k, 1), _columns_of(group), costs)
        return Features(batch, nothing, nothing)

    def _of_lists(self, view: TokenView, instances: Instances, own: CandidateLists, group: Group) -> Features:
        sizes = np.diff(own.offsets)
        values = np.zeros((int(own.offsets[-1]), 1), np.float32)
        texts, row = distinct(own.texts)
        empty = np.array([text == ZERO for text in texts], bool)[row]
        if empty.any():
            values[empty, 0] = -np.repeat(self._odds(view, instances), sizes)[empty]
        nothing = np.zeros(len(values), np.int32)
        batch = DenseLists(values, own.offsets, instances.costs(group), _OF_LISTS)
        return Features(batch, nothing, nothing)

    def _odds(self, view: TokenView, instances: Instances) -> NDArray[np.float32]:
        """Return the log-odds that a word stands in each place, shape (n,), whatever stands there."""
        after = instances.positions + instances.lengths
        return gaps_in(str(self.gaps)).log_odds(view, instances.positions - 1, after)

    def state(self) -> Arrays:
        """Return nothing: the weights are referred to, not copied."""
        return {}

    def from_state(self, arrays: Arrays) -> GapOdds:
        """Return self."""
        return self


@lru_cache(maxsize=256)
def _columns_of(group: Group) -> Columns:
    k = len(group.candidates)
    names = [f"{candidate or 'no word'}: place" for candidate in group.candidates]
    return Columns(np.arange(k, dtype=np.int32), np.zeros(k, np.int32), (GROUP_NAME,), names)


_OF_LISTS = Columns(np.full(1, -1, np.int32), np.zeros(1, np.int32), (GROUP_NAME,), ["no word: place"])


@lru_cache(maxsize=8)
def gaps_in(folder: str) -> Gaps:
    """Return the weights in a folder, read once."""
    return Gaps.load(Path(folder))
