"""Systems tried on occurrences: features made once for all that want them, a model a word, seconds kept."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import Columns, CrossedRows, Features, Group, Instances
from disambig.api.batches import CrossedColumns, join, normalised, own_columns, restricted, used_columns

from ..systems import Config, System, extractor_of
from ..ties import winners
from .multiwords import possible
from .occurrences import Index, Occurrences, costs, senses_by_frequency

Seconds = dict[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The features of all occurrences, whatever their word: sparse rows, and what their columns mean."""

    rows: Any
    columns: Columns


@dataclass(slots=True, eq=False)
class Bench:
    """Where systems are tried.

    Attributes
    ----------
    occurrences : Occurrences
    known : array of int64
        The occurrences from which extractors learn their vocabularies.
    made : dict
        Features of each config, and the seconds that they took.
    """

    occurrences: Occurrences
    known: Index
    made: dict[str, tuple[Features, float]] = field(default_factory=dict)

    def features(self, system: System) -> tuple[Rows, float]:
        """Return the features that a system wants, and the seconds of making them."""
        parts = [self._part(config) for config in system.extractors.values()]
        clock: Seconds = {}
        with timed(clock, "features"):
            batch: Any = join([features for features, _ in parts]).batch
            own = own_columns(batch.columns, batch.rows.shape[1])
        return Rows(batch.rows, own), clock["features"] + sum(seconds for _, seconds in parts)

    def _part(self, config: Config) -> tuple[Features, float]:
        key = repr(config)
        if key not in self.made:
            clock: Seconds = {}
            with timed(clock, "features"):
                features = transformed(self.occurrences, config, self.known)
            self.made[key] = features, clock["features"]
        return self.made[key]


def transformed(occurrences: Occurrences, config: Config, known: Index) -> Features:
    """Fit an extractor to the occurrences in `known` and return the rows of all, of one candidate each."""
    instances = occurrences.instances
    groups = [Group(word, ("sense",)) for word in occurrences.words]
    fitted = extractor_of(config).fit(occurrences.view, instances.take(known), groups)
    none = np.zeros(len(instances), np.int32)
    alike = Instances(instances.positions, instances.lengths, none, none)
    return fitted.transform(occurrences.view, alike, Group("", ("sense",)))


def decide(
    system: System,
    features: Rows,
    occurrences: Occurrences,
    train: Index,
    tests: Sequence[Index],
    *,
    clock: Seconds | None = None,
    reports: list[Mapping[str, Any]] | None = None,
) -> list[list[str]]:
    """Learn one word from the occurrences in `train` and return the senses of those in each of `tests`.

    Ties go to the sense that is most frequent in `train`, and a word of one sense has that.
    """
    clock = {} if clock is None else clock
    senses = senses_by_frequency(occurrences, train)
    names = list(senses)
    if len(names) == 1:
        return [names * len(test) for test in tests]
    with timed(clock, "learning"):
        batch = _examples(features, occurrences, train, names)
        used = None
        if system.scaled:
            used = used_columns(batch)
            batch = restricted(normalised(batch), used)
        fitted = system.built().fit(batch)
    if reports is not None:
        reports.append(fitted.report)
    frequencies = np.array(list(senses.values()))
    chosen = []
    for test in tests:
        with timed(clock, "deciding"):
            asked = CrossedRows(
                features.rows[test],
                np.ones((len(test), len(names)), np.float32),
                CrossedColumns(features.columns, tuple(names)),
            )
            if used is not None:
                asked = restricted(normalised(asked), used)
            scores = fitted.scorer.scores(asked).reshape(len(test), len(names))
            if system.multiwords:
                scores = np.where(possible(occurrences, train, test, names), scores, -np.inf)
            chosen.append([names[k] for k in winners(scores, frequencies)])
    return chosen


def left_out(system: System, features: Rows, occurrences: Occurrences, train: Index) -> float:
    """Return the share of one word's occurrences that the model of all others decides right.

    The learner must have `leave_one_out`, as those of least squares here; a word of one sense has that.
    """
    names = list(senses_by_frequency(occurrences, train))
    if len(names) == 1:
        return 1.0
    learner: Any = system.built()
    share: float = learner.leave_one_out(_examples(features, occurrences, train, names))
    return share


def _examples(features: Rows, occurrences: Occurrences, train: Index, names: Sequence[str]) -> CrossedRows:
    return CrossedRows(
        features.rows[train],
        costs(occurrences, train, names),
        CrossedColumns(features.columns, tuple(names)),
    )


def most_frequent(
    occurrences: Occurrences, train: Index, tests: Sequence[Index], *, multiwords: bool = False
) -> list[list[str]]:
    """Return for each test the sense most frequent in `train`; with `multiwords`, of those possible."""
    names = list(senses_by_frequency(occurrences, train))
    if not multiwords:
        return [names[:1] * len(test) for test in tests]
    found = [possible(occurrences, train, test, names).argmax(axis=1) for test in tests]
    return [[names[k] for k in each] for each in found]


def right(occurrences: Occurrences, rows: Index, chosen: Sequence[str]) -> NDArray[np.bool_]:
    """Return whether each chosen sense is one of those that are right."""
    return np.array(
        [sense in occurrences.senses[row] for row, sense in zip(rows.tolist(), chosen, strict=True)], bool
    )


@contextmanager
def timed(clock: Seconds, stage: str) -> Iterator[None]:
    """Add the seconds of processor time that the block takes."""
    began = time.process_time()
    yield
    clock[stage] = clock.get(stage, 0.0) + time.process_time() - began
