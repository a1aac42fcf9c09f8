"""Occurrences of words with their senses, and training and testing of systems on them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import Columns, CrossedRows, Features, Group, Instances, TokenView, resolve
from disambig.api.batches import CrossedColumns, join, normalised, own_columns, restricted, used_columns
from disambig.api.features import transform_checked

from ..rls.scorers import find_winners
from .systems import Config, SystemConfig

Index = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WordOccurrence:
    """An occurrence of a word in a text."""

    text: int  # index of the text
    # span in the text, in characters
    start: int
    end: int
    word: str  # the word to disambiguate, such as ``"bar.n"``
    senses: tuple[str, ...] = ()  # the correct senses; empty if they are not known
    # the multiword that it is marked as part of, such as ``"call_for"``; empty if it is not marked
    multiword: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class WordOccurrences:
    """All occurrences in one view."""

    view: TokenView
    instances: Instances  # their places, in the order of `senses`; `groups` is the index of the word
    words: tuple[str, ...]
    senses: Sequence[tuple[str, ...]]
    multiwords: Sequence[str]

    def __len__(self) -> int:
        return len(self.senses)

    def select_word(self, word: int, among: Index) -> Index:
        """Return the occurrences in `among` that are of one word."""
        return among[self.instances.groups[among] == word]


def locate_occurrences(view: TokenView, occurrences: Sequence[WordOccurrence]) -> WordOccurrences:
    """Find the tokens of occurrences; an occurrence without a token is put at the next token."""
    words = tuple(sorted({occurrence.word for occurrence in occurrences}))
    numbers = {word: n for n, word in enumerate(words)}
    is_word = view.ends > view.starts
    places = np.flatnonzero(is_word)
    ends = np.searchsorted(places, view.documents)
    positions, lengths = [], []
    for occurrence in occurrences:
        inside = places[int(ends[occurrence.text]) : int(ends[occurrence.text + 1])]
        first = int(np.searchsorted(view.ends[inside], occurrence.start, side="right"))
        last = int(np.searchsorted(view.starts[inside], occurrence.end, side="left"))
        first = min(first, len(inside) - 1)
        positions.append(int(inside[first]))
        lengths.append(max(last - first, 1))
    instances = Instances(
        np.array(positions, np.int64),
        np.array(lengths, np.int32),
        np.array([numbers[occurrence.word] for occurrence in occurrences], np.int32),
        np.zeros(len(occurrences), np.int32),
    )
    senses = [occurrence.senses for occurrence in occurrences]
    return WordOccurrences(
        view, instances, words, senses, [occurrence.multiword for occurrence in occurrences]
    )


def senses_by_frequency(occurrences: WordOccurrences, rows: Index) -> dict[str, int]:
    """Return how often each sense is correct, the most frequent first; ties are in order of appearance."""
    counts: dict[str, int] = {}
    for row in rows.tolist():
        for sense in occurrences.senses[row]:
            counts[sense] = counts.get(sense, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def sense_costs(occurrences: WordOccurrences, rows: Index, senses: Sequence[str]) -> NDArray[np.float32]:
    """Return the costs of senses, 0 if correct and 1 otherwise, shape ``(n, K)``."""
    costs = np.ones((len(rows), len(senses)), np.float32)
    numbers = {sense: n for n, sense in enumerate(senses)}
    for at, row in enumerate(rows.tolist()):
        for sense in occurrences.senses[row]:
            if sense in numbers:
                costs[at, numbers[sense]] = 0.0
    return costs


MIN_MARKED_SHARE = 0.9
"""A sense with at least this share of marked training occurrences is possible for marked occurrences only."""


def possible_senses(
    occurrences: WordOccurrences, train: Index, test: Index, senses: Sequence[str]
) -> NDArray[np.bool_]:
    """Return which senses of a word each occurrence in `test` can have, shape ``(n, K)``.

    A marked occurrence has a sense of its multiword, by the name before ``%``; an unmarked one has a sense
    that is not (nearly) always marked in `train`. If no sense is left, every sense is possible.
    """
    names = np.array([sense.partition("%")[0].lower() for sense in senses])
    numbers = {sense: k for k, sense in enumerate(senses)}
    marked, totals = np.zeros(len(senses)), np.zeros(len(senses))
    for row in train.tolist():
        its_senses = [numbers[sense] for sense in occurrences.senses[row]]
        totals[its_senses] += 1
        marked[its_senses] += bool(occurrences.multiwords[row])
    free = marked < MIN_MARKED_SHARE * totals
    possible = np.empty((len(test), len(senses)), bool)
    for at, row in enumerate(test.tolist()):
        multiword = occurrences.multiwords[row]
        possible[at] = names == multiword if multiword else free
    possible[~possible.any(axis=1)] = True
    return possible


Seconds = dict[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class FeatureRows:
    """The features of the occurrences of all words: sparse rows, and the meaning of their columns."""

    rows: Any
    columns: Columns


@dataclass(slots=True, eq=False)
class FeatureCache:
    """The features of occurrences, computed once for all systems."""

    occurrences: WordOccurrences
    fitted_on: Index  # the occurrences from which extractors learn their vocabularies
    # the features of each extractor config, and the seconds that they took
    computed: dict[str, tuple[Features, float]] = field(default_factory=dict)

    def features(self, system: SystemConfig) -> tuple[FeatureRows, float]:
        """Return the features of a system, and the seconds that they took."""
        parts = [self._part(config) for config in system.extractors.values()]
        clock: Seconds = {}
        with timed(clock, "features"):
            batch: Any = join([features for features, _ in parts]).batch
            row_columns = own_columns(batch.columns, batch.rows.shape[1])
        return FeatureRows(batch.rows, row_columns), clock["features"] + sum(seconds for _, seconds in parts)

    def _part(self, config: Config) -> tuple[Features, float]:
        key = repr(config)
        if key not in self.computed:
            clock: Seconds = {}
            with timed(clock, "features"):
                features = transform_occurrences(self.occurrences, config, self.fitted_on)
            self.computed[key] = features, clock["features"]
        return self.computed[key]


def transform_occurrences(occurrences: WordOccurrences, config: Config, rows: Index) -> Features:
    """Fit an extractor on the occurrences in `rows`; return the features of all, with one candidate each."""
    instances = occurrences.instances
    groups = [Group(word, ("sense",)) for word in occurrences.words]
    fitted = resolve({"extractor": config})["extractor"].fit(occurrences.view, instances.take(rows), groups)
    none = np.zeros(len(instances), np.int32)
    one_group = Instances(instances.positions, instances.lengths, none, none)
    return transform_checked(fitted, occurrences.view, one_group, Group("", ("sense",)))


def decide_senses(
    system: SystemConfig,
    features: FeatureRows,
    occurrences: WordOccurrences,
    train: Index,
    test: Index,
    *,
    clock: Seconds | None = None,
    reports: list[Mapping[str, Any]] | None = None,
) -> list[str]:
    """Train on one word's occurrences in `train` and return the chosen senses of those in `test`.

    Ties go to the most frequent sense in `train`. A word with one sense always gets it.
    """
    clock = {} if clock is None else clock
    senses = senses_by_frequency(occurrences, train)
    names = list(senses)
    if len(names) == 1:
        return names * len(test)
    with timed(clock, "learning"):
        batch = _examples(features, occurrences, train, names)
        used = None
        if system.scaled:
            used = used_columns(batch)
            batch = restricted(normalised(batch), used)
        fitted = system.build_learner().fit(batch)
    if reports is not None:
        reports.append(fitted.report)
    with timed(clock, "deciding"):
        batch = CrossedRows(
            features.rows[test],
            np.ones((len(test), len(names)), np.float32),
            CrossedColumns(features.columns, tuple(names)),
        )
        if used is not None:
            batch = restricted(normalised(batch), used)
        scores = fitted.scorer.scores(batch).reshape(len(test), len(names))
        if system.multiwords:
            scores = np.where(possible_senses(occurrences, train, test, names), scores, -np.inf)
        return [names[k] for k in find_winners(scores, np.array(list(senses.values())))]


def leave_one_out(
    system: SystemConfig, features: FeatureRows, occurrences: WordOccurrences, train: Index
) -> float:
    """Return the share of one word's occurrences that the model trained on all others decides correctly.

    The learner must have `leave_one_out`, as the least-squares learners here. The result for a word with one
    sense is 1.
    """
    names = list(senses_by_frequency(occurrences, train))
    if len(names) == 1:
        return 1.0
    learner: Any = system.build_learner()
    share: float = learner.leave_one_out(_examples(features, occurrences, train, names))
    return share


def _examples(
    features: FeatureRows, occurrences: WordOccurrences, train: Index, names: Sequence[str]
) -> CrossedRows:
    return CrossedRows(
        features.rows[train],
        sense_costs(occurrences, train, names),
        CrossedColumns(features.columns, tuple(names)),
    )


def most_frequent(
    occurrences: WordOccurrences, train: Index, test: Index, *, multiwords: bool = False
) -> list[str]:
    """Return the most frequent sense in `train` for each test; with `multiwords` of the possible ones."""
    names = list(senses_by_frequency(occurrences, train))
    if not multiwords:
        return names[:1] * len(test)
    return [names[k] for k in possible_senses(occurrences, train, test, names).argmax(axis=1)]


def is_right(occurrences: WordOccurrences, rows: Index, chosen: Sequence[str]) -> NDArray[np.bool_]:
    """Return which chosen senses are correct."""
    return np.array(
        [sense in occurrences.senses[row] for row, sense in zip(rows.tolist(), chosen, strict=True)], bool
    )


@contextmanager
def timed(clock: Seconds, stage: str) -> Iterator[None]:
    """Add the processor time of a block to a stage of the clock, in seconds."""
    began = time.process_time()
    yield
    clock[stage] = clock.get(stage, 0.0) + time.process_time() - began
