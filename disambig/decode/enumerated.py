"""The decoder of listed candidates: a softmax or an argmax over each instance's rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disambig.data import segments

Floats = NDArray[np.float64]


class Enumerated:
    """Decode listed candidates; the layout is the batch's `offsets`."""

    def best(self, scores: Floats, layout: NDArray[np.int64]) -> Floats:
        """Return a mass of one on each instance's best row (the first of ties)."""
        mass = np.zeros(len(scores))
        if len(layout) > 1:
            mass[layout[:-1] + segments.argmax(scores, layout)] = 1.0
        return mass

    def marginals(self, scores: Floats, layout: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return softmax shares and the log partition of each instance."""
        return segments.softmax(scores, layout), segments.log_sums(scores, layout)

    def top(self, scores: Floats, layout: NDArray[np.int64], k: int) -> NDArray[np.int64]:
        """Return the rows of the `k` best candidates, shape ``(n, k)``, -1 where there are fewer."""
        return segments.top(scores, layout, k)
