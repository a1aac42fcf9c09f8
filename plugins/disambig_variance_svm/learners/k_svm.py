"""K-SVM and K-SVM+: the multi-class SVM of Crammer and Singer (Bergsma et al. 2010, section 2.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from disambig.api import Arrays, CandidateBatch, CrossedRows, DenseBlocks, Fitted, SparseRows, UserError
from disambig.api.batches import convert

from .c_search import settled
from .checks import check_names
from .crossed_scorer import CrossedScorer
from .from_lists import fit_ranked
from .liblinear import CRAMMER_SINGER, Floats, Settings, check, crossed, fit_scorer
from .sum_attribute import fold_crossed_sum, with_sum


@dataclass(frozen=True, slots=True, kw_only=True)
class KSVM:
    """Crammer-Singer SVM over the attributes of all classes, by LIBLINEAR; of lists, by `svm.lists`.

    Of lists it is the SVM that ranks: one weight a column, costs as margins.

    Parameters
    ----------
    C : float, optional
        Weight of the training loss. By default chosen on development data from `liblinear.GRID`;
        without development data it is 10 divided by the number of examples.
    sum : list of str
        Feature groups whose sum becomes one more attribute of every class or candidate: the K-SVM+.
    tolerance : float
        LIBLINEAR's own stopping criterion; of lists the relative duality gap.
    max_iter : int
        Of lists, passes over the examples, at most. Of classes it bounds nothing: scikit-learn hands it on
        to LIBLINEAR, whose solver for Crammer and Singer makes up to 100,000 passes whatever is asked. The
        report says under ``converged`` whether the passes were enough, or None where scikit-learn (of
        classes, before 1.9.1) does not tell.
    """

    C: float | None = None
    sum: tuple[str, ...] | list[str] = ()
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

        Raises
        ------
        UserError
            D451 for an unknown feature group; D452, D700, D710 and D760 for settings, D703 and D705 for
            examples that make no sense.
        """
        settings = Settings(CRAMMER_SINGER, self.C, self.tolerance, self.max_iter)
        check_names("KSVM.sum", self.sum)
        check("KSVM", settings, batch)
        if not isinstance(batch, DenseBlocks):
            rows = crossed(batch)
            if not isinstance(rows, CrossedRows):
                return fit_ranked(rows, settings, dev=dev, sum=self.sum)
        if not self.sum:
            return fit_scorer(convert(batch, CrossedRows), settings, dev=dev)
        if not isinstance(batch, DenseBlocks):
            raise UserError("D459", wanted="DenseBlocks (for a sum)", seen=type(batch).__name__)

        def fold(weights: Floats) -> Floats:
            return fold_crossed_sum(weights, batch, self.sum)

        wider = convert(with_sum(batch, self.sum), CrossedRows)
        return fit_scorer(wider, settings, dev=dev, fold=fold)

    def settled(self, reports: Sequence[Mapping[str, Any]]) -> KSVM:
        """Return the learner with the C of the middle of some fits, where it is left open."""
        return settled(self, reports)

    def from_state(self, arrays: Arrays) -> CrossedScorer:
        """Rebuild a saved scorer."""
        return CrossedScorer.from_state(arrays)
