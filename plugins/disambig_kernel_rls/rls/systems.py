"""The linear systems of regularised least squares, in dual and in primal form, and leave-one-out.

Dual: ``(K + s I) c = y`` with K the kernel of the examples with each other; primal, for linear kernels:
``(X'X + s I) w = X'y``. All candidates share the matrix. The shift s is n lambda (Popescu 2004, section 2).

Leave-one-out in closed form: without example i, at the same shift, its score is ``y_i - c_i / (A^-1)_ii``
with ``A = K + s I``, for all i from one factorisation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from disambig.api import UserError

Floats = NDArray[np.float64]


class System(Protocol):
    """Examples of which the candidates' models are linear functions of the targets."""

    def solve(self, targets: Floats, shift: float) -> Floats:
        """Return the coefficients of the examples or the weights of the columns, a column a candidate."""
        ...

    def left_out(self, targets: Floats, shifts: Sequence[float]) -> Iterator[Floats]:
        """Yield, for each shift, the scores of each example by the model of all others, shape (n, K)."""
        ...

    def solve_left_out(self, targets: Floats, shift: float) -> tuple[Floats, Floats]:
        """Return the solution for one shift, and the scores of each example by the model of all others."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Dual:
    """The system of any kernel.

    Attributes
    ----------
    gram : array of float64, shape (n, n)
    """

    gram: Floats

    @classmethod
    def of(cls, gram: Any, n: int) -> Dual:
        """Return the system of what a kernel gave for `n` examples.

        Raises
        ------
        UserError
            D782 where it is no matrix of one finite number a pair.
        """
        found = np.asarray(gram, np.float64)
        if found.shape != (n, n):
            raise UserError("D782", problem=f"the shape {found.shape} for {n} rows")
        if not np.isfinite(found).all():
            raise UserError("D782", problem="NaN or infinite numbers")
        return cls(found)

    def solve(self, targets: Floats, shift: float) -> Floats:
        """Return the coefficients of the examples, shape (n, K), by one Cholesky factorisation.

        A kernel that is not positive semidefinite is solved by its eigendecomposition.

        Raises
        ------
        UserError
            D779 where the matrix is singular.
        """
        from scipy.linalg.lapack import dpotrs

        factor = _cholesky(self.gram, shift)
        if factor is not None:
            return np.asarray(dpotrs(factor, targets, lower=1)[0])
        return next(self._decomposed(targets, [shift]))[0]

    def left_out(self, targets: Floats, shifts: Sequence[float]) -> Iterator[Floats]:
        """Yield the leave-one-out scores for each shift, shape (n, K).

        One shift costs a Cholesky factorisation and the inverse of the factor, more of them share one
        eigendecomposition.

        Raises
        ------
        UserError
            D779 where the matrix is singular.
        """
        if len(shifts) == 1:
            yield self.solve_left_out(targets, shifts[0])[1]
            return
        for _, scores in self._decomposed(targets, shifts):
            yield scores

    def solve_left_out(self, targets: Floats, shift: float) -> tuple[Floats, Floats]:
        """Return what `solve` returns, and the leave-one-out scores, by one factorisation."""
        from scipy.linalg.lapack import dpotrs, dtrtri

        factor = _cholesky(self.gram, shift)
        if factor is None:
            return next(self._decomposed(targets, [shift]))
        coefficients = np.asarray(dpotrs(factor, targets, lower=1)[0])
        inverse = dtrtri(factor, lower=1)[0]  # A^-1 = inverse' inverse
        return coefficients, targets - coefficients / np.einsum("ij,ij->j", inverse, inverse)[:, None]

    def _decomposed(self, targets: Floats, shifts: Sequence[float]) -> Iterator[tuple[Floats, Floats]]:
        """Yield coefficients and leave-one-out scores for each shift, by one eigendecomposition."""
        values, vectors = np.linalg.eigh(self.gram)
        inside, square = vectors.T @ targets, vectors**2
        for shift in shifts:
            scale = _inverse(values, shift)
            coefficients = vectors @ (scale[:, None] * inside)
            yield coefficients, targets - coefficients / (square @ scale)[:, None]


@dataclass(frozen=True, slots=True, eq=False)
class Primal:
    """The system of a linear kernel with fewer columns than examples.

    Attributes
    ----------
    rows : array of float64, shape (n, d)
    """

    rows: Floats

    def solve(self, targets: Floats, shift: float) -> Floats:
        """Return the weights of the columns, shape (d, K), by one Cholesky factorisation."""
        if not self.rows.shape[1]:
            return np.zeros((0, targets.shape[1]))
        return Dual(self.rows.T @ self.rows).solve(self.rows.T @ targets, shift)

    def left_out(self, targets: Floats, shifts: Sequence[float]) -> Iterator[Floats]:
        """Yield the leave-one-out scores for each shift, shape (n, K), by one singular value decomposition.

        Residuals ``y - f`` and ``1 - h`` are summed from what the rows cannot fit and what the shift
        keeps them from fitting: their difference would lose most digits where the shift is small.
        """
        left, values, _ = np.linalg.svd(self.rows, full_matrices=False)
        inside, square = left.T @ targets, left**2
        outside, beyond = targets - left @ inside, np.maximum(1.0 - square.sum(axis=1), 0.0)
        for shift in shifts:
            kept = shift / (values**2 + shift)
            residuals = outside + left @ (kept[:, None] * inside)
            yield targets - residuals / (beyond + square @ kept)[:, None]

    def solve_left_out(self, targets: Floats, shift: float) -> tuple[Floats, Floats]:
        """Return what `solve` returns, and the leave-one-out scores: of these the rows are decomposed."""
        return self.solve(targets, shift), next(self.left_out(targets, [shift]))


def _cholesky(matrix: Floats, shift: float) -> Any:
    """Return the lower factor of ``matrix + shift I``, in Fortran's order; None if there is none."""
    from scipy.linalg.lapack import dpotrf

    shifted = np.array(matrix, order="F")
    shifted.flat[:: len(shifted) + 1] += shift
    factor, failed = dpotrf(shifted, lower=1, clean=1, overwrite_a=1)
    return None if failed else factor


def _inverse(values: Floats, shift: float) -> Floats:
    """Return the inverses of eigenvalues with the shift added."""
    shifted = values + shift
    if np.abs(shifted).min() <= 1e-15 * np.abs(values).max():
        raise UserError("D779", value=shift / len(values))
    return 1.0 / shifted
