"""Listed candidates, and objectives of structured learning that work with any decoder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from disambig.data import segments
from disambig.types import CandidateBatch, Decoder

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


@runtime_checkable
class Narrows(Protocol):
    """A batch that can be had without the columns that do not occur in it."""

    def narrowed(self) -> tuple[CandidateBatch, NDArray[np.int64]]:
        """Return the same rows in fewer columns, and which of the columns these are, none twice."""


@runtime_checkable
class HasTerms(Protocol):
    """A batch whose rows' scores and costs are sums of terms, which are fewer than the rows.

    Terms of one batch may be added and scaled like vectors: ``of_terms`` is linear.
    """

    @property
    def cost_terms(self) -> Floats:
        """Terms of the rows' costs, counted from the least that a candidate of the instance costs."""

    def terms(self, weights: Floats) -> Floats:
        """Return terms of the rows' scores, such that ``of_terms(terms(weights))`` is ``scores(weights)``."""

    def of_terms(self, terms: Floats) -> Floats:
        """Return the numbers of the rows, shape ``(n_rows,)``."""


MOST_ROWS = 1 << 21
"""Rows that are scored at a time: chains have many, which are never all in memory."""


@dataclass(frozen=True, slots=True, eq=False)
class StructuredExamples:
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
    def from_batch(cls, batch: CandidateBatch, decoder: Decoder | None = None) -> StructuredExamples:
        """Return examples; without a decoder each row is a candidate of its own."""
        decoder = Enumerated() if decoder is None else decoder
        return cls(batch, decoder, from_the_least(batch, decoder))

    def __len__(self) -> int:
        return len(self.batch.offsets) - 1

    @property
    def layout(self) -> Any:
        """How rows combine: listed candidates lie between the offsets, whatever else the batch says."""
        return self.batch.offsets if isinstance(self.decoder, Enumerated) else self.batch.layout

    def blocks(self, most: int = MOST_ROWS) -> list[StructuredExamples]:
        """Return the examples in blocks of about so many rows, one instance at least."""
        offsets = self.batch.offsets
        if offsets[-1] <= most:
            return [self]
        number = (offsets[1:] - 1) // most
        starts = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(self)]
        return [
            StructuredExamples(
                self.batch.take(np.arange(start, end)), self.decoder, self.cost[offsets[start] : offsets[end]]
            )
            for start, end in pairwise(starts)
        ]

    def only(self, instance: int) -> StructuredExamples:
        """Return one of the examples."""
        offsets = self.batch.offsets
        own = slice(int(offsets[instance]), int(offsets[instance + 1]))
        return StructuredExamples(self.batch.take(np.array([instance])), self.decoder, self.cost[own])

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
class HasStructures(Protocol):
    """A batch whose instances are parts of something larger, such as the words of a sentence."""

    def as_chains(self) -> CandidateBatch:
        """Return the same examples with an instance for each of these, and rows as its decoder wants them."""


def structured_examples(batch: CandidateBatch, decoder: Decoder | None = None) -> StructuredExamples:
    """Return the examples of a batch: of instances that are decided together, what they are parts of."""
    together = decoder is not None and not isinstance(decoder, Enumerated)
    return StructuredExamples.from_batch(
        batch.as_chains() if together and isinstance(batch, HasStructures) else batch, decoder
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


def averaged_perceptron(
    examples: StructuredExamples, *, passes: int, seed: int, watch: Callable[[Floats], object] | None = None
) -> tuple[Floats, int]:
    """Return the averaged weights (Collins 2002) and the mistakes of the last pass.

    The features of the right candidate go up, those of the best one down; of several right candidates it is
    the one that scores best. The average is that of the weights after each example.
    """
    n = len(examples)
    weights = np.zeros(len(examples.batch.columns))
    late = np.zeros_like(weights)
    each = [examples.only(i) for i in np.random.default_rng(seed).permutation(n)]
    time, mistakes = 0, 0
    for _ in range(passes):
        mistakes = 0
        for one in each:
            scores = one.batch.scores(weights)
            guess = one.rival(scores, margin=0.0)
            if guess @ one.cost > 0:
                change = one.batch.adjoint(one.right(scores) - guess)
                weights += change
                late += time * change
                mistakes += 1
            time += 1
        if watch is not None:
            watch(weights - late / max(time, 1))
    return weights - late / max(time, 1), mistakes


def subgradient(examples: StructuredExamples, *, alpha: float, passes: int, seed: int) -> Floats:
    """Return weights of little structured hinge and squared norm, by stochastic subgradient descent.

    Each step asks for the best candidate by ``scores + cost``. Steps fall as ``1 / (alpha (t0 + t))`` with t0
    after Bottou's heuristic.

    Parameters
    ----------
    alpha : float
        Weight of half the squared norm; the loss is the mean over examples.
    """
    weights, scale, t = np.zeros(len(examples.batch.columns)), 1.0, 0.0
    t0 = 1.0 / (np.sqrt(1.0 / np.sqrt(alpha)) * alpha)
    each = [examples.only(i) for i in np.random.default_rng(seed).permutation(len(examples))]
    for _ in range(passes):
        for one in each:
            scores = scale * one.batch.scores(weights)
            right, rival = one.right(scores), one.rival(scores)
            step = 1.0 / (alpha * (t0 + t))
            scale *= max(0.0, 1.0 - step * alpha)
            if scale < 1e-9:
                weights, scale = weights * scale, 1.0
            if (rival - right) @ scores + rival @ one.cost > 0:
                weights += step / scale * one.batch.adjoint(right - rival)
            t += 1.0
    return weights * scale
