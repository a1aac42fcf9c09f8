"""The contract of a decoder, against the enumeration of all structures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.testing.checks import Check, checks_of, require, require_close
from disambig.types import Decoder, FindsTop

Structures = Sequence[Sequence[Sequence[int]]]


def check_decoder(decoder: Decoder, layout: Any, structures: Structures) -> list[Check]:
    """Return the checks of a decoder.

    Parameters
    ----------
    decoder : Decoder
    layout : object
        How rows combine, as the decoder wants it: a small case.
    structures : sequence (instance) of sequence (candidate) of sequence of int
        The rows that each candidate of each instance consists of: all there are, listed by hand or by
        brute force. The decoder must come to the same answers without listing them.
    """
    return checks_of(_Checks(decoder, layout, structures))


@dataclass
class _Checks:
    _decoder: Decoder
    _layout: Any
    _structures: Structures

    def finds_the_best(self) -> None:
        for scores in self._draws():
            mass = self._decoder.best(scores, self._layout)
            expected = np.zeros(len(scores))
            for candidates in self._structures:
                totals = [scores[list(rows)].sum() for rows in candidates]
                expected[list(candidates[int(np.argmax(totals))])] += 1.0
            require_close(mass, expected, "rows of the best candidates")

    def finds_one_of_equals(self) -> None:
        mass = self._decoder.best(np.zeros(self._n_rows), self._layout)
        for i, candidates in enumerate(self._structures):
            inside = {row for rows in candidates for row in rows}
            chosen = [row for row in np.flatnonzero(mass) if row in inside]
            require(
                chosen in [sorted(rows) for rows in candidates],
                f"instance {i}: with all scores equal no single candidate was chosen",
            )

    def sums_over_all(self) -> None:
        for scores in self._draws():
            partition = self._decoder.marginals(scores, self._layout)[1]
            require_close(partition, self._brute(scores)[1], "log partition of each instance")

    def gives_the_right_marginals(self) -> None:
        for scores in self._draws():
            marginals = self._decoder.marginals(scores, self._layout)[0]
            require_close(marginals, self._brute(scores)[0], "marginals of the rows")

    def differentiates_its_partition(self) -> None:
        scores, step = next(iter(self._draws())), 1e-5
        marginals = self._decoder.marginals(scores, self._layout)[0]
        for row in range(self._n_rows):
            nudge = np.zeros(self._n_rows)
            nudge[row] = step
            above = self._decoder.marginals(scores + nudge, self._layout)[1].sum()
            below = self._decoder.marginals(scores - nudge, self._layout)[1].sum()
            require_close(marginals[row], (above - below) / (2 * step), f"slope at row {row}", within=1e-5)

    def bears_large_scores(self) -> None:
        for scores in self._draws():
            mass = self._decoder.best(scores * 1e4, self._layout)
            marginals = self._decoder.marginals(scores * 1e4, self._layout)[0]
            require_close(marginals, mass, "marginals of scores in the thousands")

    def finds_the_k_best_if_it_says_so(self) -> None:
        """Find the best candidates in order, fewer where there are fewer (`FindsTop`)."""
        if not isinstance(self._decoder, FindsTop):
            return
        for scores in self._draws():
            for k in (1, 2, 5):
                found = self._decoder.top(scores, self._layout, k)
                require(
                    len(found) == len(self._structures), f"{len(found)} of {len(self._structures)} instances"
                )
                for (totals, names), candidates in zip(found, self._structures, strict=True):
                    expected = sorted((scores[list(rows)].sum() for rows in candidates), reverse=True)[:k]
                    require_close(totals, expected, f"scores of the {k} best")
                    require(len(names) == len(totals), f"{len(names)} candidates for {len(totals)} scores")
                    different = {np.asarray(name).tobytes() for name in names}
                    require(len(different) == len(names), f"of the {k} best some are the same")

    def keeps_to_the_rows_that_are_left(self) -> None:
        """Rows at minus infinity are forbidden: so a learner finds the right candidate."""
        for wanted in (0, -1):
            scores = np.full(self._n_rows, -np.inf)
            for candidates in self._structures:
                scores[list(candidates[wanted])] = 0.0
            expected = np.where(np.isfinite(scores), 1.0, 0.0)
            require_close(self._decoder.best(scores, self._layout), expected, "the only candidate left")
            marginals = self._decoder.marginals(scores, self._layout)[0]
            require_close(marginals, expected, "marginals where one candidate is left")

    @property
    def _n_rows(self) -> int:
        return 1 + max(row for candidates in self._structures for rows in candidates for row in rows)

    def _draws(self) -> list[NDArray[np.float64]]:
        rng = np.random.default_rng(0)
        return [rng.normal(size=self._n_rows) for _ in range(5)]

    def _brute(self, scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        mass, partition = np.zeros(len(scores)), []
        for candidates in self._structures:
            totals = np.array([scores[list(rows)].sum() for rows in candidates])
            log_sum = float(np.logaddexp.reduce(totals))
            partition.append(log_sum)
            for rows, total in zip(candidates, totals, strict=True):
                mass[list(rows)] += np.exp(total - log_sum)
        return mass, np.array(partition)
