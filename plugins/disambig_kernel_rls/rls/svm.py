"""Support vector machines with the kernels of RLSC-LIN and RLSC-COMB, for comparison (by scikit-learn)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from disambig.api import Arrays, CandidateBatch, Fitted, Scorer
from disambig.api.arrays import Floats
from disambig.api.settings import ABOVE_ZERO, validate_settings

from .._validation import WEIGHT_CHOICES, group_weights_constraint
from .kernel_functions import LinearKernel, row_products
from .learners import LAMBDA, UNIT, FeatureGroups, group_weights
from .scorers import TAKES, ColumnWeights
from .systems import prepare_problem


@dataclass(frozen=True, slots=True, kw_only=True)
class SVMLin:
    """SVM-LIN: one support vector machine per candidate, with one normalised linear kernel over all features.

    A candidate that is correct in all examples, or in none, always scores 1 or -1.

    Parameters
    ----------
    C : float
        Cost of an example within the margin, above zero.

    Raises
    ------
    UserError
        D760 for an invalid C.
    """

    C: float = 1.0
    takes: ClassVar[tuple[type, ...]] = TAKES

    def __post_init__(self) -> None:
        validate_settings(self, C=ABOVE_ZERO)

    def fit(
        self,
        batch: CandidateBatch,
        *,
        dev: CandidateBatch | None = None,
        rng: np.random.Generator | None = None,
    ) -> Fitted:
        """Return the scorer; `dev` and `rng` are not used.

        Raises
        ------
        UserError
            D705, D772 and D773 for unusable examples.
        """
        kernel = LinearKernel()
        problem = prepare_problem(batch, kernel)
        coefficients, bias = train_machines(row_products(problem.rows, problem.rows), problem.targets, self.C)
        weights = np.asarray(problem.rows.T @ coefficients)  # (d, K)
        return Fitted(problem.scorer(kernel, weights, bias=bias), _report(coefficients))

    def from_state(self, arrays: Arrays) -> Scorer:
        """Rebuild a saved scorer."""
        return ColumnWeights.from_state(LinearKernel(), arrays)


@dataclass(frozen=True, slots=True, kw_only=True)
class SVMComb:
    """SVM-COMB: one support vector machine per candidate, with a weighted sum of kernels of feature groups.

    Parameters
    ----------
    C : float
        See `SVMLin`.
    weights : "alignment", "loo", mapping of str to float, or None
        See `RLSCComb`; "loo" uses the leave-one-out of regularised least squares with the same kernels.

    Raises
    ------
    UserError
        D760 and D777 for invalid settings.
    """

    C: float = 1.0
    weights: str | Mapping[str, float] | None = None
    takes: ClassVar[tuple[type, ...]] = TAKES

    def __post_init__(self) -> None:
        validate_settings(self, C=ABOVE_ZERO, weights=group_weights_constraint(WEIGHT_CHOICES))

    def fit(
        self,
        batch: CandidateBatch,
        *,
        dev: CandidateBatch | None = None,
        rng: np.random.Generator | None = None,
    ) -> Fitted:
        """Return the scorer; `dev` and `rng` are not used.

        Raises
        ------
        UserError
            Errors of `SVMLin.fit`; D451 and D476 if the weights do not match the feature groups.
        """
        groups = FeatureGroups.from_batch(batch)
        shares = group_weights(groups, self.weights, LAMBDA)
        rows = groups.rows(shares)
        coefficients, bias = train_machines(row_products(rows, rows), groups.problem.targets, self.C)
        scorer = groups.scorer(shares, np.asarray(rows.T @ coefficients), bias)
        return Fitted(scorer, _report(coefficients) | {"weights": groups.by_name(shares)})

    def from_state(self, arrays: Arrays) -> Scorer:
        """Rebuild a saved scorer."""
        return ColumnWeights.from_state(UNIT, arrays)


def train_machines(gram: Floats, targets: Floats, C: float) -> tuple[Floats, Floats]:
    """Return coefficients of the examples, shape (n, K), and biases, shape (K,), of one machine per column.

    Parameters
    ----------
    gram : array of float64, shape (n, n)
    targets : array of float64, shape (n, K)
        Plus and minus one.
    """
    from sklearn.svm import SVC

    coefficients, bias = np.zeros(targets.shape), np.zeros(targets.shape[1])
    for r, target in enumerate(targets.T):
        if (target == target[0]).all():
            bias[r] = target[0]
            continue
        machine = SVC(kernel="precomputed", C=C).fit(gram, target)
        coefficients[machine.support_, r] = machine.dual_coef_[0]
        bias[r] = machine.intercept_[0]
    return coefficients, bias


def _report(coefficients: Floats) -> dict[str, Any]:
    return {"examples": len(coefficients), "support": int((coefficients != 0).any(axis=1).sum())}
