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
        partition = segments.log_sums(scores, layout)
        return np.exp(scores - np.repeat(partition, np.diff(layout))), partition

    def top(
        self, scores: Floats, layout: NDArray[np.int64], k: int
    ) -> list[tuple[Floats, NDArray[np.int64]]]:
        """Return the `k` best candidates of each instance, best first; fewer where there are fewer.

        Returns
        -------
        list of (scores, rows)
            Shapes ``(k,)`` and ``(k,)``.

        Raises
        ------
        ValueError
            For a `k` below 1.
        """
        if k < 1:
            raise ValueError(f"the {k} best candidates are none")
        found = [rows[(rows >= 0) & (scores[rows] > -np.inf)] for rows in segments.top(scores, layout, k)]
        return [(scores[rows], rows) for rows in found]
