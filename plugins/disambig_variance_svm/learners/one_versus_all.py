"""OvA-SVM: for every class a binary SVM that tells it from all others (Bergsma et al. 2010, section 2.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from disambig.api import Arrays, CandidateBatch, CrossedRows, DenseBlocks, Fitted, SparseRows

from .c_search import settled
from .crossed_scorer import CrossedScorer
from .from_lists import fit_pointwise
from .liblinear import ONE_VERSUS_ALL, Settings, check, crossed, fit_scorer


@dataclass(frozen=True, slots=True, kw_only=True)
class OneVersusAll:
    """K binary linear SVMs over the attributes of all classes, by LIBLINEAR.

    Of lists one that tells right candidates from others (see `from_lists`).

    Parameters
    ----------
    C : float, optional
        Weight of the training loss. By default chosen on development data from `liblinear.GRID`;
        without development data it is 10 divided by the number of examples.
    tolerance : float
        LIBLINEAR's own stopping criterion.
    max_iter : int
        LIBLINEAR's passes over the examples, at most; the report says under ``converged`` whether they
        were enough.
    """

    C: float | None = None
    tolerance: float = 1e-2
    max_iter: int = 1000
    takes: ClassVar[tuple[type, ...]] = (DenseBlocks, CrossedRows, SparseRows)

    def fit(
        self,
        batch: CandidateBatch,
        *,
        dev: CandidateBatch | None = None,
        rng: np.random.Generator | None = None,
    ) -> Fitted:
        """Return the scorer; `rng` is not used: LIBLINEAR's own seed is fixed.

        A class without examples is told from all others like any other.

        Raises
        ------
        UserError
            D452, D700 and D760 for settings, D703 and D705 for examples that make no sense.
        """
        settings = Settings(ONE_VERSUS_ALL, self.C, self.tolerance, self.max_iter)
        check("OneVersusAll", settings, batch)
        rows = crossed(batch)
        if not isinstance(rows, CrossedRows):
            return fit_pointwise(rows, settings, dev=dev)
        return fit_scorer(rows, settings, dev=dev)

    def settled(self, reports: Sequence[Mapping[str, Any]]) -> OneVersusAll:
        """Return the learner with the C of the middle of some fits, where it is left open."""
        return settled(self, reports)

    def from_state(self, arrays: Arrays) -> CrossedScorer:
        """Rebuild a saved scorer."""
        return CrossedScorer.from_state(arrays)
