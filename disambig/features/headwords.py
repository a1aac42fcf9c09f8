"""Counting n-grams of head words, and the extractor of their probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.data import Columns, DenseBlocks, Group, Instances, find_examples
from disambig.features import heads
from disambig.features.context_probabilities import log_probabilities
from disambig.features.contexts import word_at
from disambig.features.heads import HEADWORD_TOKENISATION, PartsOfSpeech, find_heads, load_parts_of_speech
from disambig.features.rows import StatelessExtractor, by_group
from disambig.runtime import use_numba
from disambig.text import TokenView
from disambig.type_aliases import Floats
from disambig.types import FeatureEvidence, Features, Task

if TYPE_CHECKING:
    from disambig.counts import CountTable


COUNTED_ORDERS = 4
_MEMORY = 2 << 30


class HeadwordCounter:
    """Counts the headword n-grams of a task's observed candidates; use it in a ``with`` statement.

    Parameters
    ----------
    task : Task
        The candidates of its groups are counted.
    memory : int
        Memory limit of the process, in bytes.
    """

    def __init__(self, task: Task, parts: PartsOfSpeech, *, memory: int = _MEMORY) -> None:
        self.task, self.parts = task, parts
        from disambig.counts import NgramCounter

        self.counter = NgramCounter(HEADWORD_TOKENISATION, orders=COUNTED_ORDERS, memory=memory)

    def add(self, view: TokenView) -> None:
        """Count the places of a view; a place that belongs to several groups counts once.

        Raises `ValueError` if instances have their own candidates.
        """
        instances = find_examples(self.task, view)
        if instances.own is not None:
            raise ValueError(
                "head words are counted for groups, and these instances have their own candidates"
            )
        instances = instances.take(instances.observed >= 0)
        candidates = np.empty(len(instances), np.uint64)
        for g, group in enumerate(self.task.groups):
            of_group = instances.groups == g
            candidates[of_group] = heads.candidate_hashes(group)[instances.observed[of_group]]
        places = np.stack([instances.positions, instances.lengths, candidates.view(np.int64)], axis=1)
        if len(self.task.groups) > 1:
            # groups may share candidates, and a word of the text must not be counted once per group
            distinct = np.unique(places, axis=0, return_index=True)[1]
            instances, candidates = instances.take(distinct), candidates[distinct]
        words = heads.head_words(self.parts, view, instances)
        self._add(heads.lone_keys(candidates), 1)
        fillable = heads.known_patterns(words)
        for pattern, order in enumerate(heads.ORDERS.tolist()):
            rows = np.flatnonzero(fillable[:, pattern])
            self._add(heads.pattern_keys(words[rows], candidates[rows, None], pattern), order)

    def _add(self, keys: NDArray[np.uint64], order: int) -> None:
        self.counter.add_counts(keys.ravel(), np.ones(keys.size, np.uint64), order)

    def partitions(
        self, *, min_counts: Mapping[int, int]
    ) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.uint64]]]:
        """Yield keys and counts of the n-grams that reach their minimum count, in ascending order of keys.

        Raises `ValueError` if the minimum counts fall with the number of words: an n-gram needs its shorter
        n-grams.
        """
        least = [min_counts.get(order, 1) for order in range(1, COUNTED_ORDERS + 1)]
        if least != sorted(least):
            raise ValueError(f"minimum counts that fall with the number of words: {dict(min_counts)}")
        for keys, counts, _ in self.counter.partitions(min_counts=min_counts):
            yield keys, counts

    def close(self) -> None:
        """Delete temporary files and release memory."""
        self.counter.close()

    def __enter__(self) -> HeadwordCounter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


GROUP_NAME = "head words"
N_PATTERNS = len(heads.PATTERNS)


class Headwords(StatelessExtractor):
    """Extractor of the smoothed log-probabilities in the five head word patterns.

    Parameters
    ----------
    counts : str, path or CountTable
        A count table with headword n-grams (see `HeadwordCounter`): a file, or the name of a table in an
        installed pack.
    parts_of_speech : path
        A folder with a lexicon of word kinds: the one with which the table was counted.
    """

    describes: ClassVar[str] = "group"

    def __init__(self, *, counts: Any, parts_of_speech: str | Path) -> None:
        self.counts: str | Path = counts
        self.parts_of_speech = parts_of_speech

    @cached_property
    def table(self) -> CountTable:
        """The count table, opened on first use."""
        from disambig.counts import open_table

        return open_table(self.counts).require(HEADWORD_TOKENISATION)

    @by_group
    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return the attributes of instances of one group, shape ``(n, K, 5)``; not evidence for flags.

        Raises
        ------
        UserError
            D110 if the table has no headword n-grams, D438 and D439 for the lexicon of word kinds.
        """
        n, k = len(instances), len(group.candidates)
        words = self._words(view, instances)
        fillable = heads.known_patterns(words)
        ranks = self._ranks(words, fillable, group)
        prior = _headword_prior(self.table, group)
        values = log_probabilities(ranks, fillable, self._counts, prior, heads.HEADWORD_PARENTS)
        costs = instances.costs(group).reshape(n, k)
        nothing = np.zeros(n * k, np.int32)
        column_of = np.arange(k * N_PATTERNS).reshape(k, N_PATTERNS)
        return Features(DenseBlocks(values, column_of, _headword_columns(group), costs), nothing, nothing)

    def evidence(
        self, view: TokenView, instances: Instances, group: Group
    ) -> dict[tuple[str, str], FeatureEvidence]:
        """Return each n-gram that is looked up at a single place, with its count (see `ExplainsFeatures`)."""
        at = find_heads(load_parts_of_speech(str(self.parts_of_speech)), view, instances)
        words = self._words(view, instances)
        fillable = heads.known_patterns(words)
        counts = self.table.values[self._ranks(words, fillable, group)][0].tolist()
        governor, verb, object_ = (word_at(view, token) if token >= 0 else "" for token in at[0].tolist())
        least = self.table.header.get("info", {}).get("least_headwords")
        evidence = {}
        for r, candidate in enumerate(group.candidates):
            for p in np.flatnonzero(fillable[0]).tolist():
                text = heads.headword_ngram_text(p, governor, verb, object_, candidate)
                seen = None if least is None else least.get(str(heads.ORDERS[p]))
                evidence[candidate or "no word", heads.PATTERNS[p]] = FeatureEvidence(
                    text, counts[r][p], seen
                )
        return evidence

    def _words(self, view: TokenView, instances: Instances) -> NDArray[np.uint64]:
        return heads.head_words(load_parts_of_speech(str(self.parts_of_speech)), view, instances)

    def _ranks(
        self, words: NDArray[np.uint64], fillable: NDArray[np.bool_], group: Group
    ) -> NDArray[np.uint16]:
        """Return the ranks of the n-grams, shape (n, K, 5).

        An n-gram whose shorter patterns were not seen was not seen either, so it is not looked up.
        """
        candidates = heads.candidate_hashes(group)
        ranks = np.zeros((len(words), len(candidates), N_PATTERNS), np.uint16)
        if use_numba(ranks.size):
            from disambig.features._count_kernels import fill_headword_ranks

            fill_headword_ranks(self.table, words, fillable, candidates, ranks)
            return ranks
        for pattern, parents in enumerate(heads.HEADWORD_PARENTS):
            rows = np.flatnonzero(fillable[:, pattern])
            keys = heads.pattern_keys(words[rows], candidates, pattern)
            looked_up = self.table.ranks(keys.ravel(), backend="numpy").reshape(keys.shape)
            for parent in parents[parents >= 0]:
                looked_up[ranks[rows, :, parent] == 0] = 0
            ranks[rows, :, pattern] = looked_up
        return ranks

    @cached_property
    def _counts(self) -> Floats:
        """The count of each rank of the table."""
        return self.table.values.astype(np.float64)

    def __getstate__(self) -> dict[str, Any]:
        return {"counts": self.counts, "parts_of_speech": self.parts_of_speech}


@lru_cache(maxsize=256)
def _headword_columns(group: Group) -> Columns:
    k = len(group.candidates)
    return Columns(
        np.repeat(np.arange(k, dtype=np.int32), N_PATTERNS),
        np.zeros(k * N_PATTERNS, np.int32),
        (GROUP_NAME,),
        [f"{word or 'no word'}: {pattern}" for word in group.candidates for pattern in heads.PATTERNS],
    )


@lru_cache(maxsize=256)
def _headword_prior(table: CountTable, group: Group) -> Floats:
    """Return the relative frequency of each candidate, add-one smoothed, shape (K,)."""
    counts = 1.0 + table.counts(heads.lone_keys(heads.candidate_hashes(group)), backend="numpy")
    prior: Floats = counts / counts.sum()
    return prior
