"""The features of lists of trees, found on those to learn from, and what weights choose in others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch, FeatureExtractor, Group, Instances, SparseRows, Words, resolve
from disambig.api.batches import join, segments
from disambig.api.tasks import CandidateLists
from disambig_exponentiated_gradient.reranking.lists import TreeLists

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
FEATURES = {
    "base": {"@disambig_extractors": "disambig.SourceFeatures.v1", "rank": False, "features": False},
    "trees": {"@disambig_extractors": "exponentiated_gradient.TreeFeatures.v1", "least": 5},
}
"""As in a config: the log probability, in units of what the second one is behind, and the tree's features."""
_GROUP = Group("tree", ())
_AT_ONCE = 500
"""Lists whose features are in memory together, where no learner wants them all."""


@dataclass(frozen=True, slots=True, eq=False)
class Described:
    """What tells candidates from one another.

    Attributes
    ----------
    extractors : list of FeatureExtractor
    train : CandidateBatch
        The lists that they were found on.
    """

    extractors: list[FeatureExtractor]
    train: CandidateBatch

    @classmethod
    def of(cls, lists: CandidateLists) -> Described:
        """Find the features of lists to learn from."""
        instances, view = _instances(lists), Words()([])
        made = resolve({"extractors": FEATURES})["extractors"].values()
        extractors = [each.fit(view, instances, [_GROUP]) for each in made]
        return cls(extractors, _batch(extractors, instances))

    def parts(self, lists: CandidateLists) -> Iterator[CandidateBatch]:
        """Yield the features of other lists, some lists at a time."""
        for first in range(0, len(lists), _AT_ONCE):
            yield _batch(self.extractors, _instances(lists.take(slice(first, first + _AT_ONCE))))

    def scores(self, lists: CandidateLists, weights: Sequence[Floats]) -> list[Floats]:
        """Return the scores of all candidates of other lists by each of some weights."""
        found = [[batch.scores(each) for each in weights] for batch in self.parts(lists)]
        return [np.concatenate(each) for each in zip(*found, strict=True)]


def chosen(found: TreeLists, scores: Floats) -> Ints:
    """Return the candidate of the best score of each list, as a row; of equal ones the first."""
    at: Ints = found.lists.offsets[:-1] + segments.argmax(scores, found.lists.offsets)
    return at


def f1(found: TreeLists, scores: Floats) -> float:
    """Return the bracket F1 of the best by some scores, in %."""
    return 100 * found.counts.take(chosen(found, scores)).f1


def _instances(lists: CandidateLists) -> Instances:
    n = len(lists)
    observed = segments.argmax(-lists.costs.astype(np.float64), lists.offsets).astype(np.int32)
    nothing = np.zeros(n, np.int32)
    return Instances(np.arange(n, dtype=np.int64), nothing, nothing, observed, lists)


def _batch(extractors: Sequence[FeatureExtractor], instances: Instances) -> CandidateBatch:
    view: Any = Words()([])
    return telling(join([each.transform(view, instances, _GROUP) for each in extractors]).batch)


def telling(batch: Any) -> CandidateBatch:
    """Return lists of sparse rows without what all candidates of a list have alike: it cancels out."""
    from scipy.sparse import csr_array

    rows, width = csr_array(batch.rows), batch.rows.shape[1]
    kept = np.zeros(len(rows.data), np.bool_)
    bounds = rows.indptr[batch.offsets].tolist()
    for begin, end, size in zip(bounds[:-1], bounds[1:], np.diff(batch.offsets).tolist(), strict=True):
        columns, values = rows.indices[begin:end], rows.data[begin:end]
        n = np.bincount(columns, minlength=width)
        total, squares = (np.bincount(columns, each, minlength=width) for each in (values, values**2))
        alike = (n == size) & (size * squares == total**2)  # counts: no rounding
        kept[begin:end] = ~alike[columns]
    starts = np.concatenate([[0], np.cumsum(kept)])[rows.indptr]
    fewer = csr_array((rows.data[kept], rows.indices[kept], starts), rows.shape)
    return SparseRows(fewer, batch.offsets, batch.cost, batch.columns)
