"""Learning curves of several systems, and counts without the paragraph of each instance."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import CrossedRows, DenseBlocks, Group, HashVocabulary, Instances
from disambig.features import (
    CONTEXTS,
    CandidateHashes,
    NgramCounts,
    NgramKeys,
    context_room,
    fitting_contexts,
    transform_checked,
)
from disambig.text import TokenView
from disambig.type_aliases import Progress
from disambig.types import Learner

Hits = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class LearningSystem:
    """A system whose learning curve is drawn.

    Attributes
    ----------
    name : str
    learner : callable
        Returns the learner for a number of training examples.
    tuned_up_to : int, optional
        Number of training examples up to which C is chosen on development data. With more examples the
        last C is used, for learners that would otherwise take too long.
    attributes : callable
        Maps a batch to the batch that the system learns from and decides on.
    """

    name: str
    learner: Callable[[int], Learner]
    tuned_up_to: int | None = None
    attributes: Callable[[DenseBlocks], DenseBlocks] = lambda batch: batch


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """The data of one repetition: what is learned from and what is tested on.

    Attributes
    ----------
    pool : DenseBlocks
        Training examples.
    order : array of int64
        Shuffled rows of `pool`: the first n of them are the sample of size n.
    dev, test : DenseBlocks
    """

    pool: DenseBlocks
    order: NDArray[np.int64]
    dev: DenseBlocks
    test: DenseBlocks


@dataclass(slots=True)
class CurveOutcome:
    """Results of one system with one sample size: one list item per draw."""

    hits: list[Hits] = field(default_factory=list)
    reports: list[dict[str, Any]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def accuracy(self) -> float | None:
        """Return the mean accuracy over draws, in %."""
        return 100 * float(np.mean([hits.mean() for hits in self.hits])) if self.hits else None

    def spread(self) -> float | None:
        """Return the standard deviation over draws, in percentage points; None for a single draw."""
        shares = [hits.mean() for hits in self.hits]
        return 100 * float(np.std(shares, ddof=1)) if len(shares) > 1 else None

    def plain(self) -> dict[str, Any]:
        """Return accuracies, values of C and seconds, one per draw."""
        return {
            "accuracy": [round(100 * float(hits.mean()), 2) for hits in self.hits],
            "C": [report.get("C") for report in self.reports],
            "not_converged": sum(report.get("converged") is False for report in self.reports),
            "seconds": [round(duration, 1) for duration in self.seconds],
        }


Outcomes = dict[tuple[str, int], CurveOutcome]


def count_hits(scores: NDArray[np.float64], batch: DenseBlocks | CrossedRows) -> Hits:
    """Return, for each example, whether the candidate with the best score (the first of equals) is right."""
    chosen = scores.reshape(batch.costs.shape).argmax(axis=1)
    return np.asarray(batch.costs[np.arange(len(chosen)), chosen] == 0)


def join_blocks(parts: Sequence[DenseBlocks]) -> DenseBlocks:
    """Return the examples of several batches with the same columns, in order."""
    values = np.concatenate([part.values for part in parts])
    costs = np.concatenate([part.costs for part in parts])
    return DenseBlocks(values, parts[0].column_of, parts[0].columns, costs)


def learn_all(
    systems: Sequence[LearningSystem],
    draw_of: Callable[[int], Draw],
    *,
    draws: Mapping[int, int],
    progress: Progress,
    stage: str = "learning",
) -> Outcomes:
    """Train every system on every sample size and draw.

    Parameters
    ----------
    draw_of : callable
        Returns the draw with a number; it must always return the same draw for the same number.
    draws : mapping of int to int
        Number of draws for each sample size; sizes ascend. A draw whose pool is smaller than a size has
        no result for that size.
    """
    outcomes: Outcomes = {(system.name, size): CurveOutcome() for system in systems for size in draws}
    total, done = len(systems) * sum(draws.values()), 0
    for number in range(max(draws.values())):
        draw = draw_of(number)
        for system in systems:
            pool, dev, test = (system.attributes(batch) for batch in (draw.pool, draw.dev, draw.test))
            C: float | None = None
            for size in (size for size, n_draws in draws.items() if number < n_draws):
                progress(stage, done, total)
                done += 1
                if size > len(draw.order):
                    continue
                learner: Any = system.learner(size)
                if C is not None and system.tuned_up_to is not None and size > system.tuned_up_to:
                    learner = replace(learner, C=C)
                started = time.monotonic()
                fitted = learner.fit(pool.take(draw.order[:size]), dev=dev)
                C = fitted.report.get("C")
                outcome = outcomes[system.name, size]
                outcome.seconds.append(time.monotonic() - started)
                outcome.hits.append(count_hits(fitted.scorer.scores(test), test))
                outcome.reports.append(fitted.report)
    return outcomes


_PARAGRAPH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""Multiplier of document numbers: added to n-gram keys, they make the keys of each paragraph distinct."""


def with_left_out(extractor: NgramCounts, view: TokenView, instances: Instances, group: Group) -> DenseBlocks:
    """Return the features that `extractor` would give if the paragraph of each instance had not been counted.

    Parameters
    ----------
    extractor : NgramCounts
        With an exact table that counted every paragraph of `view`, without pruning.
    instances : Instances
        All instances of `group` in `view`, with observed candidates.
    """
    batch = transform_checked(extractor, view, instances, group).batch
    assert isinstance(batch, DenseBlocks)
    candidates = CandidateHashes.from_group(group)
    left, right = context_room(view, instances)
    usable = fitting_contexts(left, right, candidates.longest, shortest=candidates.shortest)
    seed = extractor.table.seed(view.tokenisation)
    ngram_keys = NgramKeys.from_places(view, instances, candidates.words, seed)
    ids = np.arange(len(candidates.lengths))
    paragraph = view.document_indices(instances.positions).astype(np.uint64) * _PARAGRAPH_MULTIPLIER
    values = batch.values.copy()
    for context in range(len(CONTEXTS)):
        rows = np.flatnonzero(usable[:, context])
        if not len(rows):
            continue
        keys = ngram_keys.keys(rows[:, None], ids, candidates.lengths, np.int64(context))
        is_counted = ngram_keys.complete[context, rows]
        counts = extractor.table.counts(keys.ravel()).reshape(keys.shape).astype(np.float64)
        # what one paragraph counted is subtracted: how often the n-gram with the right candidate is in it
        paragraph_keys = keys + paragraph[rows, None]
        own_keys = paragraph_keys[np.arange(len(rows)), instances.observed[rows]]
        remaining = np.maximum(counts - _occurrences(own_keys[is_counted], paragraph_keys), 0.0)
        values[rows, :, context] = np.log1p(np.where(is_counted[:, None], remaining, 0.0))
    return replace(batch, values=values)


def _occurrences(seen: NDArray[np.uint64], queries: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return how often each item of `queries` occurs in `seen`."""
    distinct, counts = np.unique(seen, return_counts=True)
    return HashVocabulary(distinct).get(queries, counts, 0)
