"""The averaged perceptron over lists (Collins 2002), beside the base score's fixed weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, ClassVar

import numpy as np

from disambig.api import Arrays, CandidateBatch, Fitted, LinearScorer, SparseRows
from disambig.api.batches import segments

from ..checks import check_count, check_count_from_zero, check_group
from ..stagewise.base_weight import base_weights
from ..stagewise.pairs import base_columns, canonical_rows, references, rows_of_pairs

_MOST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class AveragedPerceptron:
    """Rerank by the averaged perceptron: from each wrong winner a step toward the list's reference.

    The reference is the candidate of least cost, of equals that of the best base score.

    Parameters
    ----------
    base : str
        Feature group of the base score: its weight is set first, where ExpLoss is least, and then fixed, as
        of the other learners here. Where there is no such group, no weight is.
    passes : int, optional
        Over the lists. Left open, it is that of 20 after which the average's winners cost least on
        development data, the first of equals; without these 10.
    seed : int
        Of the order of the lists, the same in each pass.
    """

    base: str = "base score"
    passes: int | None = None
    seed: int = 0
    takes: ClassVar[tuple[type, ...]] = (SparseRows,)

    def __post_init__(self) -> None:
        check_group("AveragedPerceptron.base", self.base)
        if self.passes is not None:
            check_count("AveragedPerceptron.passes", self.passes)
        check_count_from_zero("AveragedPerceptron.seed", self.seed)

    def fit(
        self,
        batch: CandidateBatch,
        *,
        dev: CandidateBatch | None = None,
        rng: np.random.Generator | None = None,
    ) -> Fitted:
        """Return the scorer of the averaged weights; the order is that of `seed`, `rng` is not used.

        Raises
        ------
        UserError
            D703 for features that are NaN or infinite, D645 for costs that are NaN, D705 where there is no
            list.
        """
        from .list_kernels import one_pass

        lists = canonical_rows(batch)
        rows, base = lists.rows, base_columns(lists, self.base)
        right, wrong = rows_of_pairs(lists, base)
        of_base = rows[:, base].toarray()
        weights = np.zeros(rows.shape[1])
        weights[base] = base_weights(of_base[right] - of_base[wrong])
        fixed = np.zeros(len(weights), np.bool_)
        fixed[base] = True
        arrays = (rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data, lists.offsets)
        reference = references(lists, base)
        order = np.random.default_rng(self.seed).permutation(len(reference))
        late, mistakes = np.zeros(len(weights)), []
        held = None if dev is None or len(dev.offsets) < 2 or self.passes is not None else canonical_rows(dev)
        found: list[tuple[float, int]] = []
        average = best = weights.copy()
        for number in range(1, (self.passes or (10 if held is None else _MOST)) + 1):
            time = float((number - 1) * len(order))
            mistakes.append(int(one_pass(*arrays, lists.cost, reference, order, fixed, weights, late, time)))
            average = weights - late / (time + len(order))
            if held is None:
                best = average
                continue
            winners = held.offsets[:-1] + segments.argmax(held.scores(average), held.offsets)
            found.append((float(held.cost[winners].mean(dtype=np.float64)), number))
            if found[-1] == min(found):
                best = average
        passes = min(found)[1] if found else len(mistakes)
        report = {"passes": passes, "mistakes": mistakes, "dev_cost": [cost for cost, _ in found]}
        return Fitted(LinearScorer(best), report)

    def settled(self, reports: Sequence[Mapping[str, Any]]) -> AveragedPerceptron:
        """Return the learner with as many passes as the middle of some fits took, where that is left open."""
        if self.passes is not None or not reports:
            return self
        return replace(self, passes=max(1, int(median(report["passes"] for report in reports))))

    def from_state(self, arrays: Arrays) -> LinearScorer:
        """Rebuild a saved scorer."""
        return LinearScorer.from_state(arrays)
