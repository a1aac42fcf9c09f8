"""TF-IDF: how often each word stands in an instance, weighed by how few documents hold it.

For instances of many words, such as whole documents. The weights are those of scikit-learn's
``TfidfTransformer``: ``count * (ln((1 + n) / (1 + df)) + 1)``, rows of Euclidean length one. Words are what
the view's tokenisation makes of them; signs are left out. A word that no document of the training holds is
dropped before rows are normalised, and so counts for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from disambig.data.columns import Columns
from disambig.data.finding import word_tokens
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.data.sparse import CrossedRows
from disambig.errors import UserError
from disambig.features.tfidf_words import Known, known_of, spelled, words_in
from disambig.text.view import TokenView
from disambig.types import Arrays, Features

if TYPE_CHECKING:
    from scipy.sparse import csr_array

GROUP_NAME = "words"
MOST_BITS = 22
"""Weights are dense, one a column and label: 2 ** 22 columns are 32 MB a label."""


@dataclass(frozen=True, slots=True, eq=False)
class Tfidf:
    """Extractor of one sparse row an instance, shared by its candidates (`CrossedRows`).

    Parameters
    ----------
    min_documents : int
        Words of fewer documents are left out.
    kept : int, optional
        Words kept, the most frequent ones; all if not given.
    bits : int, optional
        Make ``2 ** bits`` columns, of 1 to 22 bits, out of the words' hashes and keep no vocabulary: words
        that share a column cannot be told apart, and `explain` cannot name them. All words count then.
    sublinear_tf : bool
        Whether counts become ``1 + ln(count)``.

    Raises
    ------
    UserError
        D452, D473 for numbers that make no sense.
    """

    min_documents: int = 1
    kept: int | None = None
    bits: int | None = None
    sublinear_tf: bool = False
    known: Known | None = None
    requires: Sequence[str] = ()

    def __post_init__(self) -> None:
        for setting in ("min_documents", "kept"):
            value = getattr(self, setting)
            if value is not None and value < 1:
                raise UserError("D452", setting=setting, value=value)
        if self.bits is not None and not 1 <= self.bits <= MOST_BITS:
            raise UserError("D473", bits=self.bits, most=MOST_BITS)
        if self.bits is not None and (self.kept is not None or self.min_documents != 1):
            raise UserError("D474")

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> Tfidf:
        """Count in how many instances, of whatever group, each word stands.

        Raises
        ------
        UserError
            D475 where no word stands in `min_documents` of them.
        """
        rows, tokens = words_in(instances, word_tokens(view))
        hashes = view.hashes[tokens]
        if self.bits is not None:
            empty = Known(
                np.zeros(1 << self.bits, np.int32), len(instances), None, *spelled(view, tokens[:0])
            )
            counts = _counts(rows, empty.columns(hashes), (len(instances), 1 << self.bits))
            return replace(self, known=replace(empty, documents=_documents(counts)))
        words, first, column = np.unique(hashes, return_index=True, return_inverse=True)
        counts = _counts(rows, column, (len(instances), len(words)))
        documents = _documents(counts)
        keep = np.flatnonzero(documents >= self.min_documents)
        if self.kept is not None and len(keep) > self.kept:
            often = np.bincount(column, minlength=len(words))[keep]
            keep = np.sort(keep[np.argsort(-often, kind="stable")[: self.kept]])
        if not len(keep):
            raise UserError("D475", n=len(instances), least=self.min_documents)
        letters, ends = spelled(view, tokens[first[keep]])
        return replace(self, known=Known(documents[keep], len(instances), words[keep], letters, ends))

    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return one row an instance; the evidence is how many of its words are known.

        Raises
        ------
        ValueError
            Where the extractor was not fitted.
        """
        known, n, k = self.known, len(instances), len(group.candidates)
        if known is None:
            raise ValueError("TF-IDF knows no words yet: fit it first")
        rows, tokens = words_in(instances, word_tokens(view))
        column = known.columns(view.hashes[tokens])
        seen = column >= 0
        asked = np.bincount(rows, minlength=n)
        rows, column = rows[seen], column[seen]
        met = known.documents[column] > 0  # of hashed columns some are empty
        found = np.bincount(rows[met], minlength=n)
        values = self._weighed(_counts(rows, column, (n, len(known))), known)
        costs = (np.arange(k) != instances.observed[:, None]).astype(np.float32)
        batch = CrossedRows(values, costs, _columns(known, group))
        return Features(batch, *(np.repeat(each, k).astype(np.int32) for each in (found, asked)))

    def state(self) -> Arrays:
        """Return the words and how many documents hold each."""
        return self.known.state() if self.known is not None else {}

    def from_state(self, arrays: Arrays) -> Tfidf:
        """Return an extractor that knows the words of `state`; ValueError where arrays do not fit."""
        return replace(self, known=known_of(arrays, bits=self.bits) if arrays else None)

    def _weighed(self, counts: csr_array, known: Known) -> csr_array:
        """Turn counts into TF-IDF, in place."""
        data = np.log(counts.data) + 1.0 if self.sublinear_tf else counts.data
        data = data * known.idf(counts.indices)
        row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        norms = np.sqrt(np.bincount(row, data * data, minlength=counts.shape[0]))
        counts.data = data / norms[row]
        return counts


def _counts(rows: NDArray[np.int64], columns: NDArray[np.int64], shape: tuple[int, int]) -> csr_array:
    """Return how often each column stands in each row; `rows` rise."""
    from scipy.sparse import csr_array

    starts = np.searchsorted(rows, np.arange(shape[0] + 1)).astype(np.int32)
    counts = csr_array((np.ones(len(columns)), columns.astype(np.int32), starts), shape)
    counts.sum_duplicates()
    return counts


def _documents(counts: csr_array) -> NDArray[np.int32]:
    """Return how many rows hold each column."""
    found: NDArray[Any] = np.bincount(counts.indices, minlength=counts.shape[1])
    return found.astype(np.int32)


def _columns(known: Known, group: Group) -> Columns:
    """Return what the weights of all candidates mean; nothing of their size is made but once."""
    k, d = len(group.candidates), len(known)
    groups = np.broadcast_to(np.int32(0), (k * d,))
    names = () if known.hashes is None else _Names(known, group.candidates)
    return Columns(_labels(k, d), groups, (GROUP_NAME,), names)


@lru_cache(maxsize=4)
def _labels(k: int, d: int) -> NDArray[np.int32]:
    labels = np.repeat(np.arange(k, dtype=np.int32), d)
    labels.setflags(write=False)
    return labels


@dataclass(frozen=True, slots=True, eq=False)
class _Names(Sequence[str]):
    """``"label: word"`` of each column, made when asked for."""

    known: Known
    candidates: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.known) * len(self.candidates)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        candidate, column = divmod(range(len(self))[index], len(self.known))
        return f"{self.candidates[candidate]}: {self.known.word(column)}"
