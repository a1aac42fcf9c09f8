"""Examples from running text: the author's own words are taken as right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.data.instances import Instances
from disambig.features.joining import described
from disambig.text.view import TokenView
from disambig.types import FeatureExtractor, Features, Task


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """A view of some text and the decisions to take in it.

    Attributes
    ----------
    view : TokenView
    instances : Instances
    n_words : int
        Words of the text, sentence ends not counted.
    """

    view: TokenView
    instances: Instances
    n_words: int

    @classmethod
    def of(cls, view: TokenView, instances: Instances) -> Examples:
        """Count the words and keep the rest."""
        return cls(view, instances, int(np.count_nonzero(view.ends > view.starts)))

    def rows(
        self, group: int, *, most: int | None = None, rng: np.random.Generator | None = None
    ) -> NDArray[np.int64]:
        """Return which instances belong to a group: all, or a random sample of `most`."""
        rows = np.flatnonzero(self.instances.groups == group)
        if most is not None and len(rows) > most:
            assert rng is not None
            rows = np.sort(rng.choice(rows, most, replace=False))
        return rows

    def features(
        self, rows: NDArray[np.int64], group: int, task: Task, extractors: Sequence[FeatureExtractor]
    ) -> Features:
        """Return the features of the instances in `rows`, all of one group."""
        part = self.instances.take(rows)
        return described(extractors, self.view, part, task.groups[group])
