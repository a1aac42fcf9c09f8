"""The n-gram ratio rule of LanguageTool's confusion check, reimplemented from its published formula.

For each of the three 3-grams (a b c) that contain the word, the rule takes the pseudo-probability

    (n(a) + 1) / (N + 1)  *  (n(a b) + 1) / (n(a) + 1)  *  (n(a b c) + 1) / (n(a) + 1)

and multiplies the three. A candidate is impossible unless one of its 3-grams is covered, that is, unless at
least half of the look-ups n(a), n(a b), n(a b c) are not zero. Another candidate is suggested if its
product exceeds that of the word in the text by a factor, which is set for each pair; on the logarithms,
this is a threshold on their difference. A candidate of two words has two 3-grams, with the previous and the
next word; the mean of their pseudo-probabilities replaces the third, as in LanguageTool. The rule never
chooses the empty candidate.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Features, Group, Instances, StatelessExtractor, TokenView, by_group
from disambig.api.counts import context_room, open_table
from disambig.api.settings import COUNT
from disambig.api.text import hash_words

from .kenlm import one_attribute

NAME = "ratio"
"""Feature group of the attribute."""
AROUND = ((0, 2), (1, 1), (2, 0))
"""Number of words to the left and to the right of the candidate in each 3-gram."""
AROUND_TWO = ((0, 1), (1, 0))
"""The same for candidates of two words."""
MIN_COVERAGE = 0.5
IMPOSSIBLE = -1000.0
"""Added to the log of a product without coverage, which the rule counts as zero."""


class NgramRatio(StatelessExtractor):
    """Extractor of one attribute: the log of the product of the three pseudo-probabilities.

    Parameters
    ----------
    counts : str, path or CountTable
        A count table of 1- to 3-grams. It must include n-grams without a candidate, which coverage needs.
    tokens : int
        Number of words counted (N); it shifts the scores of all candidates equally.

    Raises
    ------
    UserError
        D452 if `tokens` is not a positive integer.
    """

    describes: ClassVar[str] = "group"

    def __init__(self, *, counts: Any, tokens: int = 100_000_000) -> None:
        COUNT.check("NgramRatio.tokens", tokens)
        self.counts: str | Path = counts
        self.tokens = tokens

    @cached_property
    def table(self) -> Any:
        """The count table, opened on first use."""
        return open_table(self.counts)

    @by_group
    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return the log of the product, with the number of covered 3-grams as evidence."""
        self.table.require(view.tokenisation)
        n, k = len(instances), len(group.candidates)
        values, covered = np.zeros((n, k)), np.zeros((n, k), np.int32)
        left, right = context_room(view, instances)
        for r, candidate in enumerate(group.candidates):
            words = hash_words(candidate.split())
            if not len(words):
                values[:, r] = IMPOSSIBLE  # added once more below, so the empty candidate is below any word
                continue
            logs = []
            for before, after in AROUND if len(words) == 1 else AROUND_TWO:
                grams = _grams(view, instances, words, before, after)
                widths = (np.minimum(left, before) + len(words) + np.minimum(right, after)).astype(np.int64)
                starts = before - np.minimum(left, before)
                log, coverage = self._pseudo_probability(view, grams, starts, widths)
                logs.append(log)
                covered[:, r] += coverage >= MIN_COVERAGE
            if len(logs) == 2:
                logs.append(np.logaddexp(*logs) - np.log(2))
            values[:, r] = sum(logs)
        values[covered == 0] += IMPOSSIBLE
        return one_attribute(NAME, values, covered, len(AROUND), instances.observed)

    def _pseudo_probability(
        self,
        view: TokenView,
        grams: NDArray[np.uint64],
        starts: NDArray[np.int64],
        widths: NDArray[np.int64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the log pseudo-probability and the coverage of each n-gram.

        `grams` have the shape ``(n, longest)``; `starts` and `widths` are the first column and the number of
        words of each n-gram, which is shorter at the ends of a sentence.
        """
        log = np.zeros(len(grams))
        n_known = np.zeros(len(grams), np.int64)
        for start, width in np.unique(np.stack([starts, widths]), axis=1).T.tolist():
            rows = np.flatnonzero((starts == start) & (widths == width))
            words = grams[rows, start : start + width]
            counts = [
                self.table.counts_of_words(words[:, :i], tokenisation=view.tokenisation).astype(np.float64)
                for i in range(1, width + 1)
            ]
            log[rows] = np.log((counts[0] + 1) / (self.tokens + 1))
            for longer in counts[1:]:
                log[rows] += np.log((longer + 1) / (counts[0] + 1))
            n_known[rows] = sum((count > 0).astype(np.int64) for count in counts)
        return log, n_known / np.maximum(widths, 1)


def _grams(
    view: TokenView, instances: Instances, words: NDArray[np.uint64], before: int, after: int
) -> NDArray[np.uint64]:
    """Return each place's candidate with the words around it, shape (n, before + words + after)."""
    places = [instances.positions - before + i for i in range(before)]
    ends = [instances.positions + instances.lengths + i for i in range(after)]
    last = max(len(view) - 1, 0)
    columns = [view.hashes[np.clip(at, 0, last)] for at in places]
    columns += [np.full(len(instances), word, np.uint64) for word in words]
    columns += [view.hashes[np.clip(at, 0, last)] for at in ends]
    return np.stack(columns, axis=1) if len(instances) else np.empty((0, len(columns)), np.uint64)
