"""The contract of a kernel."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from disambig.testing.checks import Check, checks_of, require, require_close, require_equal
from disambig.testing.problems import crossed
from disambig.types import CandidateBatch, Kernel


def check_kernel(kernel: Kernel, batch: CandidateBatch | None = None) -> list[Check]:
    """Return the checks of a kernel.

    Parameters
    ----------
    kernel : Kernel
    batch : CandidateBatch, optional
        Instances in a storage that the kernel takes; by default `disambig.testing.crossed`.
    """
    return checks_of(_Checks(kernel, crossed() if batch is None else batch))


@dataclass
class _Checks:
    _kernel: Kernel
    _batch: CandidateBatch

    def says_whether_it_is_linear(self) -> None:
        flag = self._kernel.is_linear
        require(isinstance(flag, bool), f"is_linear is {flag!r}: set it to True or False")

    def gives_one_row_an_instance(self) -> None:
        n = len(self._batch.offsets) - 1
        rows = self._rows()
        require(rows.shape[0] == n, f"{rows.shape[0]} rows for {n} instances")
        require(hasattr(rows, "indptr"), f"rows are no csr_array but {type(rows).__name__}")

    def leaves_instances_alone(self) -> None:
        given = copy.deepcopy(self._batch)
        self._kernel.gram(self._kernel.rows(given), self._kernel.rows(given))
        probe = np.random.default_rng(0).normal(size=len(given.columns))
        require_equal(given.scores(probe), self._batch.scores(probe), "features after rows and gram")

    def is_symmetric_and_finite(self) -> None:
        gram, n = self._gram(), len(self._batch.offsets) - 1
        require(gram.shape == (n, n), f"a gram of shape {gram.shape} for {n} instances")
        require(bool(np.isfinite(gram).all()), "some numbers are not finite")
        require_close(gram, gram.T, "the gram turned over", within=1e-12)

    def is_positive_semidefinite(self) -> None:
        gram = self._gram()
        values = np.linalg.eigvalsh((gram + gram.T) / 2)
        least, most = float(values[0]), float(np.abs(values).max())
        require(least >= -1e-12 * max(most, 1.0) * len(gram), f"an eigenvalue of the gram is {least:.3g}")

    def looks_at_each_pair_by_itself(self) -> None:
        gram, some = self._gram(), np.array([2, 0])
        alone = self._kernel.rows(self._batch.take(some))
        require_close(self._kernel.gram(alone, self._rows()), gram[some], "two against all", within=1e-12)
        require_close(self._kernel.gram(self._rows(), alone), gram[:, some], "all against two", within=1e-12)

    def is_linear_in_its_rows_if_it_says_so(self) -> None:
        if self._kernel.is_linear:
            rows, width = self._rows(), len(self._batch.columns) // int(np.diff(self._batch.offsets)[0])
            require(rows.shape[1] == width, f"rows have {rows.shape[1]} columns, the batch's {width}")
            require_close(self._gram(), (rows @ rows.T).toarray(), "the gram of its rows", within=1e-12)

    def _rows(self) -> Any:
        return self._kernel.rows(copy.deepcopy(self._batch))

    def _gram(self) -> Any:
        rows = self._rows()
        return self._kernel.gram(rows, rows)
