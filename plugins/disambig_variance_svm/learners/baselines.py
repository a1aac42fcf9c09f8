"""Baselines: SumLM, the unsupervised sum of log counts, and the majority class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from disambig.api import Arrays, CandidateBatch, Fitted, LinearScorer


@dataclass(frozen=True, slots=True, kw_only=True)
class SumLM:
    """Choose the candidate with the largest sum of log counts (Bergsma et al. 2009; 2010, eq. 5).

    Parameters
    ----------
    patterns : list of str
        Feature groups that are summed.
    minus : list of str
        Feature groups that are subtracted. The fillers "it" minus "they" are the unsupervised system for
        "it", whose threshold is the model's decision offset.
    """

    patterns: tuple[str, ...] | list[str] = ("3-gram", "4-gram", "5-gram")
    minus: tuple[str, ...] | list[str] = ()
    needs_training: ClassVar[bool] = False

    def fit(
        self, batch: CandidateBatch, *, dev: CandidateBatch | None = None, rng: Generator | None = None
    ) -> Fitted:
        """Return the sum over the chosen patterns; the examples are not used."""
        weights = batch.columns.in_groups(self.patterns, setting="SumLM.patterns").astype(np.float64)
        return Fitted(LinearScorer(weights - batch.columns.in_groups(self.minus, setting="SumLM.minus")))

    def from_state(self, arrays: Arrays) -> LinearScorer:
        """Rebuild a saved scorer."""
        return LinearScorer.from_state(arrays)


@dataclass(frozen=True, slots=True, kw_only=True)
class Majority:
    """Choose the candidate that is most often correct in training, regardless of the context.

    The examples must have one bias column per candidate (feature group ``"bias"``).
    """

    def fit(
        self, batch: CandidateBatch, *, dev: CandidateBatch | None = None, rng: Generator | None = None
    ) -> Fitted:
        """Return the candidates' frequencies as bias weights."""
        right = batch.adjoint((batch.cost == 0).astype(np.float64))
        return Fitted(
            LinearScorer(np.where(batch.columns.in_groups(["bias"], setting="Majority"), right, 0.0))
        )

    def from_state(self, arrays: Arrays) -> LinearScorer:
        """Rebuild a saved scorer."""
        return LinearScorer.from_state(arrays)
