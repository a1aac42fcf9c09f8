"""Occurrences of words with their senses, and trials of systems on them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import Columns, CrossedRows, Features, Group, Instances, TokenView
from disambig.api.batches import CrossedColumns, join, normalised, own_columns, restricted, used_columns

from ..rls.scorers import find_winners
from .systems import Config, SystemConfig, make_extractor

Index = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WordOccurrence:
    """A word in a text.

    Attributes
    ----------
    text : int
        Which text.
    start, end : int
        Its place there, in characters.
    word : str
        What is disambiguated, such as ``"bar.n"``.
    senses : tuple of str
        Those that are right; none where that is not known.
    multiword : str
        What the data say that it is part of, such as ``"call_for"``; empty where they say nothing.
    """

    text: int
    start: int
    end: int
    word: str
    senses: tuple[str, ...] = ()
    multiword: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class WordOccurrences:
    """All occurrences in one view.

    Attributes
    ----------
    view : TokenView
    instances : Instances
        Their places, in the order of `senses`; `groups` says the word.
    words : tuple of str
    senses : sequence of tuple of str
    multiwords : sequence of str
    """

    view: TokenView
    instances: Instances
    words: tuple[str, ...]
    senses: Sequence[tuple[str, ...]]
    multiwords: Sequence[str]

    def __len__(self) -> int:
        return len(self.senses)

    def select_word(self, word: int, among: Index) -> Index:
        """Return the occurrences of a word among some."""
        return among[self.instances.groups[among] == word]


def locate_occurrences(view: TokenView, found: Sequence[WordOccurrence]) -> WordOccurrences:
    """Find the tokens of occurrences; those of no token are taken at the one that follows."""
    words = tuple(sorted({each.word for each in found}))
    number = {word: n for n, word in enumerate(words)}
    solid = view.ends > view.starts
    places = np.flatnonzero(solid)
    ends = np.searchsorted(places, view.documents)
    positions, lengths = [], []
    for each in found:
        lo, hi = int(ends[each.text]), int(ends[each.text + 1])
        inside = places[lo:hi]
        first = int(np.searchsorted(view.ends[inside], each.start, side="right"))
        last = int(np.searchsorted(view.starts[inside], each.end, side="left"))
        first = min(first, len(inside) - 1)
        positions.append(int(inside[first]))
        lengths.append(max(last - first, 1))
    instances = Instances(
        np.array(positions, np.int64),
        np.array(lengths, np.int32),
        np.array([number[each.word] for each in found], np.int32),
        np.zeros(len(found), np.int32),
    )
    senses, multiwords = [each.senses for each in found], [each.multiword for each in found]
    return WordOccurrences(view, instances, words, senses, multiwords)


def senses_by_frequency(occurrences: WordOccurrences, rows: Index) -> dict[str, int]:
    """Return how often each sense is right, the most frequent first; of equals, the one met first."""
    counts: dict[str, int] = {}
    for row in rows.tolist():
        for sense in occurrences.senses[row]:
            counts[sense] = counts.get(sense, 0) + 1
    return dict(sorted(counts.items(), key=lambda each: -each[1]))


def sense_costs(occurrences: WordOccurrences, rows: Index, senses: Sequence[str]) -> NDArray[np.float32]:
    """Return 0 where a sense is right and 1 elsewhere, shape ``(n, K)``."""
    found = np.ones((len(rows), len(senses)), np.float32)
    number = {sense: n for n, sense in enumerate(senses)}
    for at, row in enumerate(rows.tolist()):
        for sense in occurrences.senses[row]:
            if sense in number:
                found[at, number[sense]] = 0.0
    return found


NEARLY_ALWAYS = 0.9
"""A sense whose training occurrences are marked as often as this is had by marked occurrences alone."""


def possible_senses(
    occurrences: WordOccurrences, train: Index, test: Index, senses: Sequence[str]
) -> NDArray[np.bool_]:
    """Return which senses of a word each occurrence in `test` can have, shape ``(n, K)``.

    One that is marked has a sense of its multiword, by the name before ``%``; one that is not has a sense
    that is not (nearly) always marked in `train`. Where nothing is left, every sense is possible.

    Parameters
    ----------
    train : array of int64
        Occurrences that have senses.
    test : array of int64
        Of these only the marks are looked at.
    senses : sequence of str
        Those of `train`.
    """
    names = np.array([sense.partition("%")[0].lower() for sense in senses])
    number = {sense: k for k, sense in enumerate(senses)}
    marked, all_of = np.zeros(len(senses)), np.zeros(len(senses))
    for row in train.tolist():
        has = [number[sense] for sense in occurrences.senses[row]]
        all_of[has] += 1
        marked[has] += bool(occurrences.multiwords[row])
    free = marked < NEARLY_ALWAYS * all_of
    found = np.empty((len(test), len(senses)), bool)
    for at, row in enumerate(test.tolist()):
        multiword = occurrences.multiwords[row]
        found[at] = names == multiword if multiword else free
    found[~found.any(axis=1)] = True
    return found


Seconds = dict[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class FeatureRows:
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

    occurrences: WordOccurrences
    known: Index
    made: dict[str, tuple[Features, float]] = field(default_factory=dict)

    def features(self, system: SystemConfig) -> tuple[FeatureRows, float]:
        """Return the features that a system wants, and the seconds of making them."""
        parts = [self._part(config) for config in system.extractors.values()]
        clock: Seconds = {}
        with timed(clock, "features"):
            batch: Any = join([features for features, _ in parts]).batch
            own = own_columns(batch.columns, batch.rows.shape[1])
        return FeatureRows(batch.rows, own), clock["features"] + sum(seconds for _, seconds in parts)

    def _part(self, config: Config) -> tuple[Features, float]:
        key = repr(config)
        if key not in self.made:
            clock: Seconds = {}
            with timed(clock, "features"):
                features = transform_occurrences(self.occurrences, config, self.known)
            self.made[key] = features, clock["features"]
        return self.made[key]


def transform_occurrences(occurrences: WordOccurrences, config: Config, known: Index) -> Features:
    """Fit an extractor to the occurrences in `known` and return the rows of all, of one candidate each."""
    instances = occurrences.instances
    groups = [Group(word, ("sense",)) for word in occurrences.words]
    fitted = make_extractor(config).fit(occurrences.view, instances.take(known), groups)
    none = np.zeros(len(instances), np.int32)
    alike = Instances(instances.positions, instances.lengths, none, none)
    return fitted.transform(occurrences.view, alike, Group("", ("sense",)))


def decide_senses(
    system: SystemConfig,
    features: FeatureRows,
    occurrences: WordOccurrences,
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
                scores = np.where(possible_senses(occurrences, train, test, names), scores, -np.inf)
            chosen.append([names[k] for k in find_winners(scores, frequencies)])
    return chosen


def leave_one_out(
    system: SystemConfig, features: FeatureRows, occurrences: WordOccurrences, train: Index
) -> float:
    """Return the share of one word's occurrences that the model of all others decides right.

    The learner must have `leave_one_out`, as those of least squares here; a word of one sense has that.
    """
    names = list(senses_by_frequency(occurrences, train))
    if len(names) == 1:
        return 1.0
    learner: Any = system.built()
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
    occurrences: WordOccurrences, train: Index, tests: Sequence[Index], *, multiwords: bool = False
) -> list[list[str]]:
    """Return for each test the sense most frequent in `train`; with `multiwords`, of those possible."""
    names = list(senses_by_frequency(occurrences, train))
    if not multiwords:
        return [names[:1] * len(test) for test in tests]
    found = [possible_senses(occurrences, train, test, names).argmax(axis=1) for test in tests]
    return [[names[k] for k in each] for each in found]


def is_right(occurrences: WordOccurrences, rows: Index, chosen: Sequence[str]) -> NDArray[np.bool_]:
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
