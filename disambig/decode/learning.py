"""The decoder for listed candidates, and objectives of structured learning for any decoder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import SequenceRows, segments
from disambig.errors import UserError
from disambig.type_aliases import Floats
from disambig.types import CandidateBatch, Decoder


class Enumerated:
    """Decode listed candidates; the layout is the batch's `offsets`."""

    def best(self, scores: Floats, layout: NDArray[np.int64]) -> Floats:
        """Return a mass of one for the best row of each instance (the first of ties)."""
        mass = np.zeros(len(scores))
        if len(layout) > 1:
            mass[segments.best_rows(scores, layout)] = 1.0
        return mass

    def marginals(self, scores: Floats, layout: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return the softmax of the rows, and the log partition of each instance."""
        partition = segments.log_sums(scores, layout)
        return np.exp(scores - np.repeat(partition, np.diff(layout))), partition

    def top(
        self, scores: Floats, layout: NDArray[np.int64], k: int
    ) -> list[tuple[Floats, NDArray[np.int64]]]:
        """Return up to `k` best candidates of each instance, the best first; `k` is at least 1.

        Returns
        -------
        list of (scores, rows)
            Shapes ``(k,)`` and ``(k,)``.
        """
        if k < 1:
            raise ValueError(f"k must be at least 1, not {k}")
        best_rows = [rows[(rows >= 0) & (scores[rows] > -np.inf)] for rows in segments.top(scores, layout, k)]
        return [(scores[rows], rows) for rows in best_rows]


MAX_ROWS = 1 << 21
"""Maximum number of rows that are scored at a time: those of all chains may not fit into memory."""


@dataclass(frozen=True, slots=True, eq=False)
class StructuredExamples:
    """Examples with the decoder that combines their rows."""

    batch: CandidateBatch  # rows are candidates or parts of them
    decoder: Decoder
    cost: Floats  # float64 (n_rows,): costs of the batch above the lowest of each instance

    @classmethod
    def from_batch(cls, batch: CandidateBatch, decoder: Decoder | None = None) -> StructuredExamples:
        """Return the examples of a batch; without a decoder every row is a candidate."""
        decoder = Enumerated() if decoder is None else decoder
        return cls(batch, decoder, from_the_least(batch, decoder))

    def __len__(self) -> int:
        return len(self.batch.offsets) - 1

    @property
    def layout(self) -> Any:
        """The layout for the decoder; for listed candidates the offsets, whatever the batch's layout is."""
        return self.batch.offsets if isinstance(self.decoder, Enumerated) else self.batch.layout

    def blocks(self, maximum: int = MAX_ROWS) -> list[StructuredExamples]:
        """Split the examples into blocks of about `maximum` rows, with at least one instance each."""
        offsets = self.batch.offsets
        if offsets[-1] <= maximum:
            return [self]
        block = (offsets[1:] - 1) // maximum
        starts = [0, *(np.flatnonzero(np.diff(block)) + 1).tolist(), len(self)]
        return [
            StructuredExamples(
                self.batch.take(np.arange(start, end)), self.decoder, self.cost[offsets[start] : offsets[end]]
            )
            for start, end in pairwise(starts)
        ]

    def only(self, instance: int) -> StructuredExamples:
        """Return a single example."""
        offsets = self.batch.offsets
        rows = slice(int(offsets[instance]), int(offsets[instance + 1]))
        return StructuredExamples(self.batch.take(np.array([instance])), self.decoder, self.cost[rows])

    def right(self, scores: Floats) -> Floats:
        """Return the mass of the right candidate of each instance; the one with the best score of several."""
        return self.decoder.best(np.where(self.cost > 0, -np.inf, scores), self.layout)

    def rival(self, scores: Floats, *, margin: float = 1.0) -> Floats:
        """Return the mass of the best candidate by ``scores + margin * cost``."""
        return self.decoder.best(scores + margin * self.cost, self.layout)

    def log_loss(self, weights: Floats) -> tuple[float, Floats]:
        """Return minus the log of the total probability of the right candidates, and its gradient."""
        scores, layout = self.batch.scores(weights), self.layout
        shares, partition = self.decoder.marginals(scores, layout)
        right, right_partition = self.decoder.marginals(np.where(self.cost > 0, -np.inf, scores), layout)
        return float(np.sum(partition - right_partition)), self.batch.adjoint(shares - right)

    def hinge(self, weights: Floats, *, margin: float = 1.0) -> tuple[float, Floats]:
        """Return ``sum_i max_y [score_y + margin cost_y] - max_right score`` and a subgradient of it."""
        scores = self.batch.scores(weights)
        right, rival = self.right(scores), self.rival(scores, margin=margin)
        loss = rival @ (scores + margin * self.cost) - right @ scores
        return float(loss), self.batch.adjoint(rival - right)


def structured_examples(batch: CandidateBatch, decoder: Decoder | None = None) -> StructuredExamples:
    """Return the examples of a batch; for instances that are decided jointly, their structures."""
    if decoder is not None and not isinstance(decoder, Enumerated) and isinstance(batch, SequenceRows):
        return StructuredExamples.from_batch(batch.as_chains(), decoder)
    return StructuredExamples.from_batch(batch, decoder)


def from_the_least(batch: CandidateBatch, decoder: Decoder | None = None) -> Floats:
    """Return a batch's costs above the lowest cost of a candidate of each instance.

    For parts: if no candidate has cost zero, the costs of the parts of one with the lowest cost are set to
    zero. Raises D459 if the rows have no layout for the decoder.
    """
    cost = batch.cost.astype(np.float64)
    if not len(cost):
        return cost
    if decoder is None or isinstance(decoder, Enumerated):
        minimum = -segments.maxima(-cost, batch.offsets)
        return cost - np.repeat(minimum, np.diff(batch.offsets))
    if not isinstance(batch.layout, getattr(decoder, "needs_layout", object)):
        wanted = f"rows for its decoder {type(decoder).__name__}"
        raise UserError("D459", wanted=wanted, seen=type(batch).__name__)
    best = decoder.best(-cost, batch.layout)
    has_cost = np.add.reduceat(best * cost, batch.offsets[:-1]) > 0
    return np.where((best > 0) & np.repeat(has_cost, np.diff(batch.offsets)), 0.0, cost)


def averaged_perceptron(
    examples: StructuredExamples, *, passes: int, seed: int, watch: Callable[[Floats], object] | None = None
) -> tuple[Floats, int]:
    """Return the averaged weights (Collins 2002) and the number of mistakes in the last pass.

    The features of the right candidate are added, those of the best one subtracted; of several right
    candidates, the one with the best score is used. The average is over the weights after each example.
    """
    n = len(examples)
    weights = np.zeros(len(examples.batch.columns))
    # sum of time * change, so that the average needs no sum at each example
    weighted_changes = np.zeros_like(weights)
    shuffled = [examples.only(i) for i in np.random.default_rng(seed).permutation(n)]
    time, mistakes = 0, 0
    for _ in range(passes):
        mistakes = 0
        for example in shuffled:
            scores = example.batch.scores(weights)
            predicted = example.rival(scores, margin=0.0)
            if predicted @ example.cost > 0:
                change = example.batch.adjoint(example.right(scores) - predicted)
                weights += change
                weighted_changes += time * change
                mistakes += 1
            time += 1
        if watch is not None:
            watch(weights - weighted_changes / max(time, 1))
    return weights - weighted_changes / max(time, 1), mistakes


def subgradient(examples: StructuredExamples, *, alpha: float, passes: int, seed: int) -> Floats:
    """Minimise the structured hinge loss and squared norm by stochastic subgradient descent.

    Each step uses the best candidate by ``scores + cost``. Step sizes are ``1 / (alpha (t0 + t))`` with t0
    from Bottou's heuristic.

    Parameters
    ----------
    alpha : float
        Weight of half the squared norm; the loss is the mean over examples.
    """
    # the weights are `scale * weights`: shrinking them changes one number, not the vector
    weights, scale, t = np.zeros(len(examples.batch.columns)), 1.0, 0.0
    t0 = 1.0 / (np.sqrt(1.0 / np.sqrt(alpha)) * alpha)
    shuffled = [examples.only(i) for i in np.random.default_rng(seed).permutation(len(examples))]
    for _ in range(passes):
        for example in shuffled:
            scores = scale * example.batch.scores(weights)
            right, rival = example.right(scores), example.rival(scores)
            step = 1.0 / (alpha * (t0 + t))
            scale *= max(0.0, 1.0 - step * alpha)
            if scale < 1e-9:
                weights, scale = weights * scale, 1.0
            if (rival - right) @ scores + rival @ example.cost > 0:
                weights += step / scale * example.batch.adjoint(right - rival)
            t += 1.0
    return weights * scale
