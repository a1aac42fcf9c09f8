"""What the linear learners have in common: a problem each label or one of lists, masks eight at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, CandidateBatch, CrossedRows, Fitted, SparseRows
from disambig.api.batches import CrossedLists, convert

from .lists import ListProblem, prepare_lists
from .problem import Problem, prepare
from .scorer import InterceptScorer

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]
TAKES: tuple[type, ...] = (CrossedRows, CrossedLists, SparseRows)


class LinearLearner:
    """A learner of one weight a dimension and label, with an intercept, from crossed rows; or from lists.

    Of lists a step goes from one candidate to another: from the best of those that cost something to the best
    of those that cost nothing (see `list_kernels`). It learns one weight a column.

    Rows are taken as they are: their lengths matter. The intercept is learned beside the weights and is no
    dimension: no mask removes it. Dimensions that no example has weigh nothing, and a row without any is
    decided by the intercepts. See `problem` for labels, and what is done with those that have no example.
    """

    __slots__ = ()
    seed: int

    @property
    def takes(self) -> tuple[type, ...]:
        """Crossed rows, and lists: crossed ones, or written out."""
        return TAKES

    def fit(
        self,
        batch: CandidateBatch,
        *,
        dev: CandidateBatch | None = None,
        rng: np.random.Generator | None = None,
    ) -> Fitted:
        """Return the scorer; `dev` and `rng` are not used: nothing is tuned, and `seed` orders the rows.

        Raises
        ------
        UserError
            D705 and D772 for examples that make no sense, D773 for rows of too large numbers.
        """
        problem = self.prepare(batch)
        if isinstance(problem, ListProblem):
            alone = self._of_lists(problem, problem.keep(np.ones((1, problem.dimensions), np.bool_)), 1)
            weights = problem.weights(alone[:, 0])
            return Fitted(InterceptScorer(weights), {"seen_dimensions": len(problem.used)})
        coefficients, intercepts = self._plain(problem)
        weights = problem.weights(coefficients, intercepts, 1)
        return Fitted(InterceptScorer(weights), {"seen_dimensions": len(problem.used)})

    def from_state(self, arrays: Arrays) -> InterceptScorer:
        """Rebuild a saved scorer."""
        return InterceptScorer.from_state(arrays)

    def dimensions(self, batch: CandidateBatch) -> int:
        """Return how many dimensions a mask of `fit_masked` has."""
        given = convert(batch, *TAKES)
        if isinstance(given, CrossedRows):
            return len(given.columns) // given.costs.shape[1]
        return int(given.rows.shape[1])

    def prepare(self, batch: CandidateBatch) -> Problem | ListProblem:
        """Return what `fit_masked` takes in the place of `batch`, to do once what all masks need."""
        given = convert(batch, *TAKES)
        return (
            prepare(given, self.seed) if isinstance(given, CrossedRows) else prepare_lists(given, self.seed)
        )

    def fit_masked(self, batch: CandidateBatch | Problem | ListProblem, masks: Masks) -> Floats:
        """Return the sum of the weights learned under each mask.

        Parameters
        ----------
        masks : array of bool, shape (n_masks, dimensions)
            False where a dimension is removed.

        Returns
        -------
        array of float64, shape (n_labels * (dimensions + 1),)
            The weights of each label, the last of them its intercept; of lists one a column.

        Raises
        ------
        UserError
            As `fit`.
        """
        from .kernels import LANES, add_lanes

        problem = batch if isinstance(batch, Problem | ListProblem) else self.prepare(batch)
        if isinstance(problem, ListProblem):
            total = np.zeros(len(problem.used))
            for start in range(0, len(masks), LANES):
                block = masks[start : start + LANES]
                add_lanes(total, self._of_lists(problem, problem.keep(block), len(block)), len(block))
            return problem.weights(total)
        coefficients, intercepts = problem.zeros()
        for keep, lanes in _blocks(masks, problem.used):
            for p, targets in enumerate(problem.targets):
                weights, of_lanes = self._masked(problem, targets, keep, lanes)
                add_lanes(coefficients[p], weights, lanes)
                add_lanes(intercepts[p : p + 1], of_lanes[None], lanes)
        return problem.weights(coefficients, intercepts, len(masks))

    def _plain(self, problem: Problem) -> tuple[Floats, Floats]:
        """Return coefficients, shape (n_problems, d), and intercepts learned without a mask."""
        from .kernels import LANES

        keep = np.zeros((len(problem.used), LANES), np.uint8)
        keep[:, 0] = 1
        coefficients, intercepts = problem.zeros()
        for p, targets in enumerate(problem.targets):
            weights, of_lanes = self._masked(problem, targets, keep, 1)
            coefficients[p], intercepts[p] = weights[:, 0], of_lanes[0]
        return coefficients, intercepts

    def _masked(
        self, problem: Problem, targets: Floats, keep: NDArray[np.uint8], lanes: int
    ) -> tuple[Floats, Floats]:
        """Return the weights of each lane, shape (d, LANES), and the intercepts, shape (lanes,)."""
        raise NotImplementedError

    def _of_lists(self, problem: ListProblem, keep: NDArray[np.uint8], lanes: int) -> Floats:
        """Return the weights of each lane, shape (d, LANES), learned from lists."""
        raise NotImplementedError


def _blocks(masks: Masks, used: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.uint8], int]]:
    """Yield masks side by side, shape (d, LANES), over the used dimensions, and how many there are."""
    from .kernels import LANES

    for start in range(0, len(masks), LANES):
        block = masks[start : start + LANES]
        keep = np.zeros((len(used), LANES), np.uint8)
        keep[:, : len(block)] = np.ascontiguousarray(block.T)[used]
        yield keep, len(block)
