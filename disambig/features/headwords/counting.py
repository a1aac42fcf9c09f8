"""Counts headword n-grams at the places of a task: they go into a count table beside those of words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from disambig.counts.building.counter import NgramCounter
from disambig.features.headwords import ngrams
from disambig.features.headwords.asking import NAME
from disambig.features.headwords.parts_of_speech import PartsOfSpeech
from disambig.tasks.contract import examples_of
from disambig.text.view import TokenView
from disambig.types import Task

ORDERS = 4
_MEMORY = 2 << 30


class HeadwordCounter:
    """Counts the headword n-grams of a task's observed candidates; use it in a ``with`` statement.

    Parameters
    ----------
    task : Task
        Whose candidates fill a group.
    parts : PartsOfSpeech
    memory : int
        Bound on the memory of the process, in bytes.
    """

    def __init__(self, task: Task, parts: PartsOfSpeech, *, memory: int = _MEMORY) -> None:
        self.task, self.parts = task, parts
        self.counter = NgramCounter(NAME, orders=ORDERS, memory=memory)

    def add(self, view: TokenView) -> None:
        """Count the places of a view; a word of several groups once.

        Raises
        ------
        ValueError
            Where instances have candidates of their own.
        """
        instances = examples_of(self.task, view)
        if instances.own is not None:
            raise ValueError("head words are counted for groups, and these candidates are instances' own")
        instances = instances.take(instances.observed >= 0)
        candidates = np.empty(len(instances), np.uint64)
        for g, group in enumerate(self.task.groups):
            here = instances.groups == g
            candidates[here] = ngrams.hashes_of(group)[instances.observed[here]]
        places = np.stack([instances.positions, instances.lengths, candidates.view(np.int64)], axis=1)
        once = np.unique(places, axis=0, return_index=True)[1] if len(self.task.groups) > 1 else slice(None)
        instances, candidates = instances.take(once), candidates[once]
        words = ngrams.head_words(self.parts, view, instances)
        self._add(ngrams.alone(candidates), 1)
        known = ngrams.known_patterns(words)
        for pattern, order in enumerate(ngrams.ORDERS.tolist()):
            rows = np.flatnonzero(known[:, pattern])
            self._add(ngrams.keys(words[rows], candidates[rows, None], pattern), order)

    def _add(self, keys: NDArray[np.uint64], order: int) -> None:
        flat = keys.ravel()
        self.counter.add_counts(flat, np.ones(len(flat), np.uint64), order)

    def partitions(
        self, *, min_counts: Mapping[int, int]
    ) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.uint64]]]:
        """Yield keys and counts of the n-grams that reach a count, by words, in ascending order of keys.

        Raises
        ------
        ValueError
            For least counts that fall with the number of words: of what is counted its parts are, too.
        """
        least = [min_counts.get(order, 1) for order in range(1, ORDERS + 1)]
        if least != sorted(least):
            raise ValueError(f"least counts that fall with the number of words: {dict(min_counts)}")
        for keys, counts, _ in self.counter.partitions(min_counts=min_counts):
            yield keys, counts

    def close(self) -> None:
        """Delete temporary files and let go of the memory."""
        self.counter.close()

    def __enter__(self) -> HeadwordCounter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
