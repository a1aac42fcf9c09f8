"""AP: the averaged structured perceptron (Collins 2002), first order, with Viterbi decoding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from disambig.api import Arrays, CandidateBatch, Fitted, LinearScorer, Scorer, UserError
from disambig.api.arrays import Floats
from disambig.api.batches import SequenceRows
from disambig.api.decoding import Chain, ChainScorer, averaged_perceptron, structured_examples
from disambig.api.settings import COUNT, DECODER, NON_NEGATIVE_COUNT, validate_settings


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuredPerceptron:
    """Perceptron over structures: add the right structure's features, subtract the predicted ones.

    Sequences of labels are trained by a compiled function; the structures of other decoders are trained one
    example at a time.

    Parameters
    ----------
    passes : int
        Number of passes over the sequences.
    seed : int
        Seed for the order of the sequences, the same in every pass and under every mask.
    decoder : Decoder, optional
        Combines rows into structures; by default sequences of labels.
    """

    passes: int = 5
    seed: int = 0
    decoder: Any = None
    of_sequences: ClassVar[bool] = True

    def __post_init__(self) -> None:
        validate_settings(self, decoder=DECODER, passes=COUNT, seed=NON_NEGATIVE_COUNT)

    def fit(
        self, batch: CandidateBatch, *, dev: CandidateBatch | None = None, rng: Generator | None = None
    ) -> Fitted:
        """Return the scorer of the averaged weights; `dev` and `rng` are not used.

        Raises D459 for a batch that does not consist of sequences, D705 for one without instances, D793 if an
        instance has no right label.
        """
        if self.decoder is not None and not (
            isinstance(self.decoder, Chain) and isinstance(batch, SequenceRows)
        ):
            if len(batch.offsets) < 2:
                raise UserError("D705")
            examples = structured_examples(batch, self.decoder)
            learned, mistakes = averaged_perceptron(examples, passes=self.passes, seed=self.seed)
            report = {"passes": self.passes, "mistakes_of_last_pass": mistakes}
            return Fitted(LinearScorer(learned), report)
        rows = _check_batch(batch)
        no_mask = np.ones((1, self.dimensions(rows)), np.uint8)
        weights, mistakes = self._sum(rows, no_mask)
        report = {"passes": self.passes, "mistakes_of_last_pass": mistakes}
        return Fitted(self.make_scorer(weights, batch), report)

    def dimensions(self, batch: CandidateBatch) -> int:
        """Return the number of features, which masks may remove; pairs of labels are never removed."""
        return int(_check_batch(batch).rows.shape[1])

    def fit_masked(self, batch: CandidateBatch, masks: NDArray[Any]) -> Floats:
        """Return the sum of the flat averaged weights learned under each mask, masks of shape (M, D)."""
        return self._sum(_check_batch(batch), masks)[0]

    def make_scorer(self, weights: Floats, batch: CandidateBatch) -> ChainScorer:
        """Return the scorer for flat weights."""
        return ChainScorer.of_weights(weights, _check_batch(batch).costs.shape[1])

    def _sum(self, batch: SequenceRows, masks: NDArray[Any]) -> tuple[Floats, int]:
        """Return the sum of the weights under each mask, and the number of mistakes in the last pass."""
        from ._perceptron_kernels import perceptron_passes

        d, k = self.dimensions(batch), batch.costs.shape[1]
        gold = batch.costs.argmin(axis=1)
        n_without_right = int((batch.costs.min(axis=1) > 0).sum())
        if n_without_right:
            raise UserError("D793", n=n_without_right)
        starts = batch.layout
        order = np.random.default_rng(self.seed).permutation(len(starts) - 1)
        total = np.zeros((d, k))
        first_total, step_total = np.zeros(k), np.zeros((k, k))
        weights, late = np.empty((d, k), np.float32), np.empty((d, k))
        mistakes = 0
        for mask in masks:
            weights[:], late[:] = 0.0, 0.0
            first, step = np.zeros((2, k)), np.zeros((2, k, k))
            mistakes = perceptron_passes(
                *_csr(batch.rows), gold, starts, order, mask.astype(np.uint8), self.passes,
                weights, late, first, step,
            )  # fmt: skip
            total += late
            first_total += first[0]
            step_total += step[0]
        return np.concatenate([total.T.ravel(), first_total, step_total.ravel()]), int(mistakes)

    @property
    def takes(self) -> tuple[type, ...]:
        """Sequences of labels; with another decoder any batch."""
        return (SequenceRows,) if self.decoder is None or isinstance(self.decoder, Chain) else ()

    def from_state(self, arrays: Arrays) -> Scorer:
        """Rebuild a saved scorer."""
        if "weights" in arrays:
            return LinearScorer.from_state(arrays)
        return ChainScorer.from_state(arrays)


def _csr(rows: Any) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
    """Return the three arrays of a sparse matrix in the types that the function is compiled for."""
    return (
        rows.indptr.astype(np.int32, copy=False),
        rows.indices.astype(np.int32, copy=False),
        rows.data.astype(np.float32, copy=False),
    )


def _check_batch(batch: CandidateBatch) -> SequenceRows:
    if not isinstance(batch, SequenceRows):
        raise UserError("D459", wanted="SequenceRows", seen=type(batch).__name__)
    if not len(batch.costs):
        raise UserError("D705")
    return batch
