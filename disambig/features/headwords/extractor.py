"""Headwords: how probable each candidate is between the head words of its place.

Attribute (r, p) is the log-probability of candidate r given that one of the candidates stands in pattern p
(`ngrams.PATTERNS`), smoothed as those of runs of words are (`disambig.features.counts.smoothing`): what
governs a preposition and what it governs may be some words away, as in "*listen* now and then *to* old
*music*".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.columns import Columns
from disambig.data.batches.dense import DenseBlocks
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.engine import use_numba
from disambig.features.counts.smoothing import log_probabilities
from disambig.features.evidence import Evidence
from disambig.features.headwords import ngrams
from disambig.features.headwords.asking import NAME
from disambig.features.headwords.heads import heads_of
from disambig.features.headwords.parts_of_speech import parts_of_speech_in
from disambig.text.view import TokenView
from disambig.types import Arrays, Features

if TYPE_CHECKING:
    from disambig.counts.table import CountTable

GROUP_NAME = "head words"
N_PATTERNS = len(ngrams.PATTERNS)


class Headwords:
    """Extractor of the smoothed log-probabilities in the five patterns of head words.

    Parameters
    ----------
    counts : str, path or CountTable
        A count table with headword n-grams (see `disambig.features.headwords.counting`): a file, or the name
        of one that an installed pack brings.
    parts_of_speech : path
        A folder with kinds of words, the one that the table was counted with.
    """

    describes: ClassVar[str] = "group"

    def __init__(self, *, counts: Any, parts_of_speech: str | Path) -> None:
        self.counts: str | Path = counts
        self.parts_of_speech = parts_of_speech

    @cached_property
    def table(self) -> CountTable:
        """The count table, opened on first use."""
        from disambig.counts.locate import open_table

        return open_table(self.counts).require(NAME)

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> Headwords:
        """Return self: the table was made beforehand."""
        return self

    def state(self) -> Arrays:
        """Return nothing: the table is referred to, not copied."""
        return {}

    def from_state(self, arrays: Arrays) -> Headwords:
        """Return self."""
        return self

    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return the attributes of instances of one group, shape ``(n, K, 5)``: no evidence for flags.

        Raises
        ------
        UserError
            D110 where the table has no headword n-grams, D438 and D439 for the kinds of words.
        """
        n, k = len(instances), len(group.candidates)
        words = self._words(view, instances)
        known = ngrams.known_patterns(words)
        ranks = self._ranks(words, known, group)
        prior = _prior(self.table, group)
        values = log_probabilities(ranks, known, self._counts, prior, ngrams.PARENTS)
        costs = instances.costs(group).reshape(n, k)
        nothing = np.zeros(n * k, np.int32)
        column_of = np.arange(k * N_PATTERNS).reshape(k, N_PATTERNS)
        return Features(DenseBlocks(values, column_of, _columns_of(group), costs), nothing, nothing)

    def evidence(
        self, view: TokenView, instances: Instances, group: Group
    ) -> dict[tuple[str, str], Evidence]:
        """Return each n-gram that is asked for at a single place, with its count (see `Explains`)."""
        at = heads_of(parts_of_speech_in(str(self.parts_of_speech)), view, instances)
        words = self._words(view, instances)
        known = ngrams.known_patterns(words)
        counts = self.table.values[self._ranks(words, known, group)][0].tolist()
        governor, verb, object_ = (_text(view, token) for token in at[0].tolist())
        least = self.table.header.get("info", {}).get("least_headwords")
        found = {}
        for r, candidate in enumerate(group.candidates):
            for p in np.flatnonzero(known[0]).tolist():
                text = ngrams.text_of(p, governor, verb, object_, candidate)
                seen = None if least is None else least.get(str(ngrams.ORDERS[p]))
                found[candidate or "no word", ngrams.PATTERNS[p]] = Evidence(text, counts[r][p], seen)
        return found

    def _words(self, view: TokenView, instances: Instances) -> NDArray[np.uint64]:
        return ngrams.head_words(parts_of_speech_in(str(self.parts_of_speech)), view, instances)

    def _ranks(self, words: NDArray[np.uint64], known: NDArray[np.bool_], group: Group) -> NDArray[np.uint16]:
        """Return the ranks of the n-grams, shape (n, K, 5).

        One whose shorter patterns were not seen was not seen either: it is not looked up.
        """
        candidates = ngrams.hashes_of(group)
        ranks = np.zeros((len(words), len(candidates), N_PATTERNS), np.uint16)
        if use_numba(ranks.size):
            from disambig.features.headwords.ngram_kernels import fill_ranks

            fill_ranks(self.table, words, known, candidates, ranks)
            return ranks
        for pattern, parents in enumerate(ngrams.PARENTS):
            rows = np.flatnonzero(known[:, pattern])
            keys = ngrams.keys(words[rows], candidates, pattern)
            found = self.table.ranks(keys.ravel(), engine="numpy").reshape(keys.shape)
            for parent in parents[parents >= 0]:
                found[ranks[rows, :, parent] == 0] = 0
            ranks[rows, :, pattern] = found
        return ranks

    @cached_property
    def _counts(self) -> NDArray[np.float64]:
        return self.table.values.astype(np.float64)

    def __getstate__(self) -> dict[str, Any]:
        return {"counts": self.counts, "parts_of_speech": self.parts_of_speech}


@lru_cache(maxsize=256)
def _columns_of(group: Group) -> Columns:
    k = len(group.candidates)
    return Columns(
        np.repeat(np.arange(k, dtype=np.int32), N_PATTERNS),
        np.zeros(k * N_PATTERNS, np.int32),
        (GROUP_NAME,),
        [f"{word or 'no word'}: {pattern}" for word in group.candidates for pattern in ngrams.PATTERNS],
    )


@lru_cache(maxsize=256)
def _prior(table: CountTable, group: Group) -> NDArray[np.float64]:
    """Return how frequent each candidate is among them, add-one smoothed, shape (K,)."""
    counts = 1.0 + table.counts(ngrams.alone(ngrams.hashes_of(group)), engine="numpy")
    prior: NDArray[np.float64] = counts / counts.sum()
    return prior


def _text(view: TokenView, token: int) -> str:
    """Return a word for people; the ends of a sentence as they are written in n-grams."""
    from disambig.features.counts.contexts import word_at

    return word_at(view, token) if token >= 0 else ""
