"""Linear systems of regularised least squares in dual and primal form, and leave-one-out.

The dual system is ``(K + s I) c = y`` with the kernel matrix K of the examples; the primal one, for linear
kernels, is ``(X'X + s I) w = X'y``. All candidates share the matrix. The shift s is n lambda (Popescu 2004,
section 3).

Leave-one-out has a closed form: the score of example i by the model trained on all others, at the same
shift, is ``y_i - c_i / (A^-1)_ii`` with ``A = K + s I``, for all i from one factorisation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch, Kernel, UserError
from disambig.api.arrays import Floats
from disambig.api.batches import check_numbers

from .scorers import ColumnWeights, find_winners, read_batch


@dataclass(frozen=True, slots=True, eq=False)
class RLSProblem:
    """The training examples of a learner."""

    rows: Any  # (n, d): rows in the form that the kernel takes; for a linear kernel, only the columns in use
    # (d,): index of each column in the batch, for linear kernels; empty for others
    columns: NDArray[np.int32]
    # (n, K): one for the correct candidates of an example, of which there may be several, and minus one for
    # others
    targets: Floats

    @property
    def right(self) -> NDArray[np.bool_]:
        """Which candidates are correct, shape (n, K)."""
        return self.targets > 0

    @property
    def frequencies(self) -> NDArray[np.int64]:
        """Number of examples in which each candidate is correct, shape (K,)."""
        return self.right.sum(axis=0)

    def scorer(
        self, kernel: Kernel, weights: Floats, *, bias: Floats | None = None, shares: Floats | None = None
    ) -> ColumnWeights:
        """Return the scorer of a linear kernel.

        `weights` have the shape ``(d, K)``, `bias` has ``(K,)``. `shares`, shape ``(n_feature_groups,)``, are
        the weights of the feature groups, already included in `weights`.
        """
        bias = np.zeros(weights.shape[1]) if bias is None else bias
        shares = np.zeros(0) if shares is None else shares
        return ColumnWeights(kernel, self.columns, weights.T.ravel(), bias, self.frequencies, shares)


def prepare_problem(batch: CandidateBatch, kernel: Kernel) -> RLSProblem:
    """Return the problem of a batch; a candidate that is never correct has the target minus one everywhere.

    Raises D459 for a batch that cannot be converted, D705 if there is no example, D772 for numbers that are
    NaN or infinite, D773 for numbers beyond `LARGEST_NUMBER`.
    """
    from scipy.sparse import csr_array

    crossed = read_batch(batch)
    if not len(crossed.costs):
        raise UserError("D705")
    check_numbers(crossed.rows if hasattr(crossed.rows, "indptr") else csr_array(crossed.rows))
    rows = kernel.rows(crossed)
    columns = np.zeros(0, np.int32)
    if kernel.is_linear:
        columns, at = np.unique(rows.indices, return_inverse=True)
        columns = columns.astype(np.int32)
        rows = csr_array((rows.data, at.astype(np.int32), rows.indptr), (rows.shape[0], len(columns)))
    return RLSProblem(rows, columns, np.where(crossed.costs == 0, 1.0, -1.0))


@dataclass(frozen=True, slots=True, eq=False)
class DualSystem:
    """The dual system, for any kernel."""

    gram: Floats  # float64 (n, n)

    @classmethod
    def from_kernel(cls, gram: Any, n: int) -> DualSystem:
        """Return the system for the result of a kernel on `n` examples.

        Raises D782 unless it is a matrix with one finite number per pair.
        """
        matrix = np.asarray(gram, np.float64)
        if matrix.shape != (n, n):
            raise UserError("D782", problem=f"the shape {matrix.shape} for {n} rows")
        if not np.isfinite(matrix).all():
            raise UserError("D782", problem="NaN or infinite numbers")
        return cls(matrix)

    def solve(self, targets: Floats, shift: float) -> Floats:
        """Return the coefficients of the examples, shape (n, K), by one Cholesky factorisation.

        ``c = (K + n lambda I)^-1 y``, section 3 of the paper, for all candidates at once.

        If the kernel is not positive semidefinite, its eigendecomposition is used instead.

        Raises D779 if the matrix is singular.
        """
        from scipy.linalg.lapack import dpotrs

        factor = _cholesky(self.gram, shift)
        if factor is not None:
            return np.asarray(dpotrs(factor, targets, lower=1)[0])
        return next(self._decomposed(targets, [shift]))[0]

    def left_out(self, targets: Floats, shifts: Sequence[float]) -> Iterator[Floats]:
        """Yield the leave-one-out scores for each shift, shape (n, K).

        One shift takes a Cholesky factorisation and the inverse of the factor; several shifts share one
        eigendecomposition.

        Raises D779 if the matrix is singular.
        """
        if len(shifts) == 1:
            yield self.solve_left_out(targets, shifts[0])[1]
            return
        for _, scores in self._decomposed(targets, shifts):
            yield scores

    def solve_left_out(self, targets: Floats, shift: float) -> tuple[Floats, Floats]:
        """Return the result of `solve`, and the leave-one-out scores, by one factorisation."""
        from scipy.linalg.lapack import dpotrs, dtrtri

        factor = _cholesky(self.gram, shift)
        if factor is None:
            return next(self._decomposed(targets, [shift]))
        coefficients = np.asarray(dpotrs(factor, targets, lower=1)[0])
        # Only the diagonal of A^-1 is needed. A^-1 = inverse' inverse, so it has the squared column norms of
        # the inverse factor.
        inverse = dtrtri(factor, lower=1)[0]
        return coefficients, targets - coefficients / np.einsum("ij,ij->j", inverse, inverse)[:, None]

    def _decomposed(self, targets: Floats, shifts: Sequence[float]) -> Iterator[tuple[Floats, Floats]]:
        """Yield coefficients and leave-one-out scores for each shift, by one eigendecomposition."""
        values, vectors = np.linalg.eigh(self.gram)
        projected, squared = vectors.T @ targets, vectors**2
        for shift in shifts:
            inverse = _inverse(values, shift)
            coefficients = vectors @ (inverse[:, None] * projected)
            yield coefficients, targets - coefficients / (squared @ inverse)[:, None]


@dataclass(frozen=True, slots=True, eq=False)
class PrimalSystem:
    """The primal system, for a linear kernel with fewer columns than examples."""

    rows: Floats  # float64 (n, d)

    def solve(self, targets: Floats, shift: float) -> Floats:
        """Return the weights of the columns, shape (d, K), by one Cholesky factorisation."""
        if not self.rows.shape[1]:
            return np.zeros((0, targets.shape[1]))
        # X'X + s I has the form of the dual system, with X'y as targets
        return DualSystem(self.rows.T @ self.rows).solve(self.rows.T @ targets, shift)

    def left_out(self, targets: Floats, shifts: Sequence[float]) -> Iterator[Floats]:
        """Yield the leave-one-out scores for each shift, shape (n, K), by one singular value decomposition.

        The residuals ``y - f`` and ``1 - h`` are computed as sums of the part outside the span of the rows
        and the part that the shift prevents from being fitted. Computed as differences, they would lose most
        digits for small shifts.
        """
        left, values, _ = np.linalg.svd(self.rows, full_matrices=False)
        projected, squared = left.T @ targets, left**2
        # the parts of y and of 1 - h outside the span of the rows; rounding may make that of 1 - h slightly
        # negative for an example that alone spans a direction
        outside, leverage_outside = targets - left @ projected, np.maximum(1.0 - squared.sum(axis=1), 0.0)
        for shift in shifts:
            unfitted = shift / (values**2 + shift)
            residuals = outside + left @ (unfitted[:, None] * projected)
            yield targets - residuals / (leverage_outside + squared @ unfitted)[:, None]

    def solve_left_out(self, targets: Floats, shift: float) -> tuple[Floats, Floats]:
        """Return the result of `solve`, and the leave-one-out scores by a singular value decomposition."""
        return self.solve(targets, shift), next(self.left_out(targets, [shift]))


LinearSystem = DualSystem | PrimalSystem
"""The linear system of training examples; its solutions are linear functions of the targets."""


def _cholesky(matrix: Floats, shift: float) -> Any:
    """Return the lower Cholesky factor of ``matrix + shift I`` in Fortran order, or None if there is none."""
    from scipy.linalg.lapack import dpotrf

    # LAPACK overwrites a matrix in Fortran order in place; any other order would be copied once more
    shifted = np.array(matrix, order="F")
    shifted.flat[:: len(shifted) + 1] += shift
    factor, failed = dpotrf(shifted, lower=1, clean=1, overwrite_a=1)
    return None if failed else factor


def _inverse(values: Floats, shift: float) -> Floats:
    """Return the inverses of eigenvalues plus the shift; D779 if one of these is nearly zero."""
    shifted = values + shift
    if np.abs(shifted).min() <= 1e-15 * np.abs(values).max():
        raise UserError("D779", value=shift / len(values))
    return 1.0 / shifted


GRID = tuple(float(value) for value in np.logspace(-9, 0, 19).round(15))
"""The values of lambda among which leave-one-out chooses."""


class LeaveOneOutQuality(NamedTuple):
    """The quality of a model by leave-one-out; larger tuples are better."""

    # share of the examples whose best candidate, by the model trained on all others, is correct
    accuracy: float
    fit: float  # negative mean squared error of the scores


def leave_one_out_quality(problem: RLSProblem, scores: Floats) -> LeaveOneOutQuality:
    """Return the quality of leave-one-out scores; ties go to the most frequent candidate of the others.

    `scores` has the shape ``(n, K)``.
    """
    right = problem.right
    best = find_winners(scores, problem.frequencies - right)
    hits = right[np.arange(len(right)), best]
    return LeaveOneOutQuality(float(hits.mean()), -float(np.mean((scores - problem.targets) ** 2)))


def leave_one_out_qualities(
    problem: RLSProblem, system: LinearSystem, values: Sequence[float]
) -> list[LeaveOneOutQuality]:
    """Return the quality for each value of lambda."""
    n = len(problem.targets)
    return [
        leave_one_out_quality(problem, scores)
        for scores in system.left_out(problem.targets, [n * v for v in values])
    ]


def best_regularisation(problem: RLSProblem, system: LinearSystem) -> tuple[float, LeaveOneOutQuality]:
    """Return the value of `GRID` with the best quality, the smallest among equals, and its quality."""
    qualities = leave_one_out_qualities(problem, system, GRID)
    best = max(range(len(GRID)), key=lambda i: (*qualities[i], -i))  # GRID ascends
    return GRID[best], qualities[best]
