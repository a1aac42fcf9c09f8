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
        """Count the places of a view."""
        instances = examples_of(self.task, view)
        instances = instances.take(instances.observed >= 0)
        for g, group in enumerate(self.task.groups):
            here = instances.take(instances.groups == g)
            if not len(here):
                continue
            words = ngrams.head_words(self.parts, view, here)
            candidate = ngrams.hashes_of(group)[here.observed]
            self._add(ngrams.alone(candidate), 1)
            known = ngrams.known_patterns(words)
            for pattern, order in enumerate(ngrams.ORDERS.tolist()):
                rows = np.flatnonzero(known[:, pattern])
                self._add(ngrams.keys(words[rows], candidate[rows, None], pattern), order)

    def _add(self, keys: NDArray[np.uint64], order: int) -> None:
        flat = keys.ravel()
        self.counter.add_counts(flat, np.ones(len(flat), np.uint64), order)

    def partitions(
        self, *, min_counts: Mapping[int, int]
    ) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.uint64]]]:
        """Yield keys and counts of the n-grams that reach a count, by words, in ascending order of keys."""
        for keys, counts, _ in self.counter.partitions(min_counts=min_counts):
            yield keys, counts

    def close(self) -> None:
        """Delete temporary files and let go of the memory."""
        self.counter.close()

    def __enter__(self) -> HeadwordCounter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
