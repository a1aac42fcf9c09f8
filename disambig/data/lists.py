"""Candidates of each instance's own: an n-best list, the forms of a word. What a fixed group says once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.rows import rows_of
from disambig.data.candidate_words import CandidateWords
from disambig.data.interned import joined, taken


@dataclass(frozen=True, slots=True, eq=False)
class CandidateLists:
    """The candidates of n instances, by columns; those of instance i are ``offsets[i]:offsets[i + 1]``.

    Attributes
    ----------
    offsets : array of int64, shape (n + 1,)
        Every instance has one candidate at least.
    texts : sequence of str, shape (n_candidates,)
        What each candidate is: words, or a key that means something to the source alone; `Interned` where
        many are the same.
    scores : array of float64, shape (n_candidates,)
        Base score that the source gave, the higher the better; zero where it gave none.
    ranks : array of int32, shape (n_candidates,)
        Place in the order of the source, from 0.
    costs : array of float32, shape (n_candidates,)
        What choosing a candidate costs, zero for the right ones; NaN where that is not known.
    features : scipy.sparse.csr_array of shape (n_candidates, n_features), optional
        Features that the source brings.
    feature_names : tuple of str
        One a column of `features`.
    words : CandidateWords, optional
        The words of each candidate, where the source says them.

    Raises
    ------
    ValueError
        Where `words` are not those of as many candidates.
    """

    offsets: NDArray[np.int64]
    texts: Sequence[str]
    scores: NDArray[np.float64]
    ranks: NDArray[np.int32]
    costs: NDArray[np.float32]
    features: Any = None
    feature_names: tuple[str, ...] = ()
    words: CandidateWords | None = None

    def __post_init__(self) -> None:
        if self.words is not None and len(self.words) != len(self.texts):
            raise ValueError(f"words of {len(self.words):,} candidates, and there are {len(self.texts):,}")

    @classmethod
    def of(cls, lists: Sequence[Sequence[str]]) -> CandidateLists:
        """Return lists of candidates of which nothing but the texts is known."""
        sizes = np.fromiter(map(len, lists), np.int64, len(lists))
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        ranks = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
        texts = [text for each in lists for text in each]
        n = len(texts)
        return cls(offsets, texts, np.zeros(n), ranks.astype(np.int32), np.full(n, np.nan, np.float32))

    @classmethod
    def joined(cls, parts: Sequence[CandidateLists]) -> CandidateLists:
        """Return the lists of all parts, one after the other; all have the same features.

        Words are kept where all parts that have lists have them.
        """
        sizes = np.concatenate([np.diff(part.offsets) for part in parts])
        features = parts[0].features
        if features is not None:
            from scipy.sparse import vstack

            features = vstack([part.features for part in parts], format="csr")
        return cls(
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            joined([part.texts for part in parts]),
            np.concatenate([part.scores for part in parts]),
            np.concatenate([part.ranks for part in parts]),
            np.concatenate([part.costs for part in parts]),
            features,
            parts[0].feature_names,
            _joined_words([part for part in parts if len(part)]),
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, index: NDArray[np.generic] | slice) -> CandidateLists:
        """Return the lists of the instances chosen by an index array, a mask or a slice."""
        rows, offsets = rows_of(self.offsets, np.arange(len(self))[index])
        return CandidateLists(
            offsets,
            taken(self.texts, rows),
            self.scores[rows],
            self.ranks[rows],
            self.costs[rows],
            None if self.features is None else self.features[rows],
            self.feature_names,
            None if self.words is None else self.words.take(rows),
        )

    def of_instance(self, index: int) -> tuple[str, ...]:
        """Return the candidates of one instance."""
        return tuple(self.texts[self.offsets[index] : self.offsets[index + 1]])


def _joined_words(parts: Sequence[CandidateLists]) -> CandidateWords | None:
    words = [part.words for part in parts if part.words is not None]
    return CandidateWords.joined(words) if words and len(words) == len(parts) else None
