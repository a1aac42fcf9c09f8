"""What learners minimise, written once for lists, sequences and charts: log loss and structured hinge.

The decoder says how rows combine; the rest is the batch's linear algebra. With `mu` the marginals of the
rows, the gradient of the log loss is ``adjoint(mu - mu of the right candidates)``: expected counts less
those seen. The hinge's subgradient is ``adjoint(rival - right)``, the rival the best by ``scores + cost``.

Right is what costs nothing. Where an instance has no such candidate, the one of least cost is right, and
costs are counted from it: an n-best list need not hold the reference.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from disambig.data import segments
from disambig.decode.enumerated import Enumerated
from disambig.types import CandidateBatch, Decoder

Floats = NDArray[np.float64]
MOST_ROWS = 1 << 21
"""Rows that are scored at a time: chains have many, which are never all in memory."""


@dataclass(frozen=True, slots=True, eq=False)
class Structures:
    """Examples, with the decoder that says how their rows combine.

    Attributes
    ----------
    batch : CandidateBatch
        Of candidates or of their parts.
    decoder : Decoder
    cost : array of float64, shape (n_rows,)
        The batch's costs, counted from each instance's least.
    """

    batch: CandidateBatch
    decoder: Decoder
    cost: Floats

    @classmethod
    def of(cls, batch: CandidateBatch, decoder: Decoder | None = None) -> Structures:
        """Return examples; without a decoder each row is a candidate of its own."""
        decoder = Enumerated() if decoder is None else decoder
        return cls(batch, decoder, from_the_least(batch, decoder))

    def __len__(self) -> int:
        return len(self.batch.offsets) - 1

    @property
    def layout(self) -> Any:
        """How rows combine: listed candidates lie between the offsets, whatever else the batch says."""
        return self.batch.offsets if isinstance(self.decoder, Enumerated) else self.batch.layout

    def blocks(self, most: int = MOST_ROWS) -> list[Structures]:
        """Return the examples in blocks of about so many rows, one instance at least."""
        offsets = self.batch.offsets
        if offsets[-1] <= most:
            return [self]
        number = (offsets[1:] - 1) // most
        starts = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(self)]
        return [
            Structures(
                self.batch.take(np.arange(start, end)), self.decoder, self.cost[offsets[start] : offsets[end]]
            )
            for start, end in pairwise(starts)
        ]

    def only(self, instance: int) -> Structures:
        """Return one of the examples."""
        offsets = self.batch.offsets
        own = slice(int(offsets[instance]), int(offsets[instance + 1]))
        return Structures(self.batch.take(np.array([instance])), self.decoder, self.cost[own])

    def right(self, scores: Floats) -> Floats:
        """Return the mass of the right candidate of each instance, of several that which scores best."""
        return self.decoder.best(np.where(self.cost > 0, -np.inf, scores), self.layout)

    def rival(self, scores: Floats, *, margin: float = 1.0) -> Floats:
        """Return the mass of what scores best with its costs, `margin` times, added."""
        return self.decoder.best(scores + margin * self.cost, self.layout)

    def log_loss(self, weights: Floats) -> tuple[float, Floats]:
        """Return minus the log probability of the right candidates together, and its gradient."""
        scores, layout = self.batch.scores(weights), self.layout
        shares, partition = self.decoder.marginals(scores, layout)
        right, of_right = self.decoder.marginals(np.where(self.cost > 0, -np.inf, scores), layout)
        return float(np.sum(partition - of_right)), self.batch.adjoint(shares - right)

    def hinge(self, weights: Floats, *, margin: float = 1.0) -> tuple[float, Floats]:
        """Return ``sum_i max_y [score_y + margin cost_y] - max_right score`` and a subgradient of it."""
        scores = self.batch.scores(weights)
        right, rival = self.right(scores), self.rival(scores, margin=margin)
        loss = rival @ (scores + margin * self.cost) - right @ scores
        return float(loss), self.batch.adjoint(rival - right)


@runtime_checkable
class DecidedTogether(Protocol):
    """A batch whose instances are parts of something larger, such as the words of a sentence."""

    def together(self) -> CandidateBatch:
        """Return the same examples with an instance for each of these, and rows as its decoder wants them."""


def structures_of(batch: CandidateBatch, decoder: Decoder | None = None) -> Structures:
    """Return the examples of a batch: of instances that are decided together, what they are parts of."""
    together = decoder is not None and not isinstance(decoder, Enumerated)
    return Structures.of(
        batch.together() if together and isinstance(batch, DecidedTogether) else batch, decoder
    )


def from_the_least(batch: CandidateBatch, decoder: Decoder | None = None) -> Floats:
    """Return a batch's costs, counted from the least that a candidate of the instance costs.

    Of parts: where no candidate costs nothing, those of a candidate of least cost cost nothing.
    """
    cost = batch.cost.astype(np.float64)
    if not len(cost):
        return cost
    if decoder is None or isinstance(decoder, Enumerated):
        least = -segments.maxima(-cost, batch.offsets)
        return cost - np.repeat(least, np.diff(batch.offsets))
    best = decoder.best(-cost, batch.layout)
    lost = np.add.reduceat(best * cost, batch.offsets[:-1]) > 0
    return np.where((best > 0) & np.repeat(lost, np.diff(batch.offsets)), 0.0, cost)
