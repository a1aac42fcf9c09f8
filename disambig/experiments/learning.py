"""Learning curves of several systems, each of them with the same samples and the same test examples."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.dense import DenseBlocks
from disambig.experiments.protocol import Progress
from disambig.types import Learner

Hits = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class System:
    """A way to learn.

    Attributes
    ----------
    name : str
    learner : callable
        Gives the learner for a number of training examples.
    tuned_up_to : int, optional
        Training examples up to which C is chosen on development data; from more it learns with the C
        chosen last, for a learner that would take too long otherwise.
    attributes : callable
        Makes of a batch the one that it learns from and decides on.
    """

    name: str
    learner: Callable[[int], Learner]
    tuned_up_to: int | None = None
    attributes: Callable[[DenseBlocks], DenseBlocks] = lambda batch: batch


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """What one repetition learns from and is judged on.

    Attributes
    ----------
    pool : DenseBlocks
        Examples to learn from.
    order : array of int64
        Rows of `pool`, shuffled: the first n of them are the sample of n.
    dev, test : DenseBlocks
    """

    pool: DenseBlocks
    order: NDArray[np.int64]
    dev: DenseBlocks
    test: DenseBlocks


@dataclass(slots=True)
class Outcome:
    """What one system did with one size: a list entry a draw."""

    hits: list[Hits] = field(default_factory=list)
    reports: list[dict[str, Any]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def accuracy(self) -> float | None:
        """Return the mean over draws, in %."""
        return 100 * float(np.mean([hits.mean() for hits in self.hits])) if self.hits else None

    def spread(self) -> float | None:
        """Return the standard deviation over draws, in points; None for a single draw."""
        shares = [hits.mean() for hits in self.hits]
        return 100 * float(np.std(shares, ddof=1)) if len(shares) > 1 else None

    def plain(self) -> dict[str, Any]:
        """Return accuracies, values of C and seconds, draw by draw."""
        return {
            "accuracy": [round(100 * float(hits.mean()), 2) for hits in self.hits],
            "C": [report.get("C") for report in self.reports],
            "not_converged": sum(report.get("converged") is False for report in self.reports),
            "seconds": [round(each, 1) for each in self.seconds],
        }


Outcomes = dict[tuple[str, int], Outcome]


def hits_of(scores: NDArray[np.float64], batch: DenseBlocks) -> Hits:
    """Return for each example whether the best-scored candidate is right, the first of equals."""
    chosen = scores.reshape(batch.costs.shape).argmax(axis=1)
    return np.asarray(batch.costs[np.arange(len(chosen)), chosen] == 0)


def joined(parts: Sequence[DenseBlocks]) -> DenseBlocks:
    """Return the examples of several batches of the same columns, in their order."""
    values = np.concatenate([part.values for part in parts])
    costs = np.concatenate([part.costs for part in parts])
    return DenseBlocks(values, parts[0].column_of, parts[0].columns, costs)


def learn_all(
    systems: Sequence[System],
    draw_of: Callable[[int], Draw],
    *,
    draws: Mapping[int, int],
    progress: Progress,
    stage: str = "learning",
) -> Outcomes:
    """Learn with every system from every size and draw.

    Parameters
    ----------
    draw_of : callable
        Gives the draw of a number; the same number always gives the same.
    draws : mapping of int to int
        For each size, rising, how many draws there are. A draw whose pool is smaller
        than a size has no outcome of it.
    """
    found: Outcomes = {(system.name, size): Outcome() for system in systems for size in draws}
    total, done = len(systems) * sum(draws.values()), 0
    for number in range(max(draws.values())):
        draw = draw_of(number)
        for system in systems:
            pool, dev, test = (system.attributes(batch) for batch in (draw.pool, draw.dev, draw.test))
            C: float | None = None
            for size, times in draws.items():
                if number >= times:
                    continue
                progress(stage, done, total)
                done += 1
                if size > len(draw.order):
                    continue
                learner: Any = system.learner(size)
                if C is not None and system.tuned_up_to is not None and size > system.tuned_up_to:
                    learner = replace(learner, C=C)
                began = time.monotonic()
                fitted = learner.fit(pool.take(draw.order[:size]), dev=dev)
                C = fitted.report.get("C")
                outcome = found[system.name, size]
                outcome.seconds.append(time.monotonic() - began)
                outcome.hits.append(hits_of(fitted.scorer.scores(test), test))
                outcome.reports.append(fitted.report)
    return found
