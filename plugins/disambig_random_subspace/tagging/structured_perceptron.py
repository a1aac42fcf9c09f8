"""AP: the averaged structured perceptron (Collins 2002), first order, by Viterbi decoding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, CandidateBatch, Fitted, SequenceRows, UserError

from .chain_scorer import ChainScorer, _csr

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuredPerceptron:
    """Learn sequences by mistakes: the right labelling's features up, the best labelling's down.

    Parameters
    ----------
    passes : int
        Times that all sequences are seen.
    seed : int
        Of the order of the sequences, the same in every pass and under every mask.
    """

    passes: int = 5
    seed: int = 0
    needs_training: bool = True
    of_sequences: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name, least in (("passes", 1), ("seed", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                code = "D452" if least else "D457"
                raise UserError(code, setting=f"StructuredPerceptron.{name}", value=value)

    def fit(
        self,
        batch: CandidateBatch,
        *,
        dev: CandidateBatch | None = None,
        rng: np.random.Generator | None = None,
    ) -> Fitted:
        """Return the scorer of the averaged weights; `dev` and `rng` are not used.

        Raises
        ------
        UserError
            D459 for a batch of no sequences, D705 for one without instances, D793 where an instance has no
            right label.
        """
        rows = _checked(batch)
        everything = np.ones((1, self.dimensions(rows)), np.uint8)
        weights, mistakes = self._sum(rows, everything)
        report = {"passes": self.passes, "mistakes_of_last_pass": mistakes}
        return Fitted(self.scorer_of(weights, batch), report)

    def dimensions(self, batch: CandidateBatch) -> int:
        """Return how many features there are to remove from; pairs of labels are never removed."""
        return int(_checked(batch).rows.shape[1])

    def fit_masked(self, batch: CandidateBatch, masks: NDArray[Any]) -> Floats:
        """Return the sum over masks (M, D) of the flat averaged weights learned under each."""
        return self._sum(_checked(batch), masks)[0]

    def scorer_of(self, weights: Floats, batch: CandidateBatch) -> ChainScorer:
        """Return the scorer of flat weights."""
        return ChainScorer.of_weights(weights, _checked(batch).costs.shape[1])

    def _sum(self, batch: SequenceRows, masks: NDArray[Any]) -> tuple[Floats, int]:
        from .perceptron_kernels import learn

        d, k = self.dimensions(batch), batch.costs.shape[1]
        gold = batch.costs.argmin(axis=1)
        lost = int((batch.costs.min(axis=1) > 0).sum())
        if lost:
            raise UserError("D793", n=lost)
        starts = batch.layout
        order = np.random.default_rng(self.seed).permutation(len(starts) - 1)
        total = np.zeros((d, k))
        first_total, step_total = np.zeros(k), np.zeros((k, k))
        weights, late = np.empty((d, k), np.float32), np.empty((d, k))
        mistakes = 0
        for mask in masks:
            weights[:], late[:] = 0.0, 0.0
            first, step = np.zeros((2, k)), np.zeros((2, k, k))
            mistakes = learn(
                *_csr(batch.rows), gold, starts, order, mask.astype(np.uint8), self.passes,
                weights, late, first, step,
            )  # fmt: skip
            total += late
            first_total += first[0]
            step_total += step[0]
        return np.concatenate([total.T.ravel(), first_total, step_total.ravel()]), int(mistakes)

    def from_state(self, arrays: Arrays) -> ChainScorer:
        """Rebuild a saved scorer."""
        return ChainScorer.from_state(arrays)


def _checked(batch: CandidateBatch) -> SequenceRows:
    if not isinstance(batch, SequenceRows):
        raise UserError("D459", wanted="SequenceRows", seen=type(batch).__name__)
    if not len(batch.costs):
        raise UserError("D705")
    return batch
