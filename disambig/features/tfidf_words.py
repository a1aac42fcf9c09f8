"""The words that TF-IDF knows: their hashes, how many documents hold each, how they are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.instances import Instances
from disambig.text.hashing import hash_word
from disambig.text.view import TokenView
from disambig.text.words_reference import normalised
from disambig.types import Arrays

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """One entry a column.

    Attributes
    ----------
    documents : array of int32, shape (D,)
        How many documents of the training hold a word of the column.
    n_documents : int
        All documents of the training.
    hashes : array of uint64, shape (D,), or None
        Hash of each column's word, rising; None where columns are cut from the hash itself.
    letters : array of uint8
        The words behind one another, in UTF-8; empty for hashed columns.
    ends : array of int64, shape (D,)
        Where each word ends in `letters`.
    """

    documents: NDArray[np.int32]
    n_documents: int
    hashes: NDArray[np.uint64] | None
    letters: NDArray[np.uint8]
    ends: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.documents)

    def word(self, column: int) -> str:
        """Return the word of a column, empty for a hashed one."""
        if self.hashes is None:
            return ""
        start = int(self.ends[column - 1]) if column else 0
        return bytes(self.letters[start : int(self.ends[column])]).decode("utf8", "replace")

    def idf(self, columns: NDArray[np.integer]) -> Floats:
        """Return the inverse document frequencies of columns, smoothed: ``ln((1 + n) / (1 + df)) + 1``."""
        weights: Floats = np.log((1.0 + self.n_documents) / (1.0 + self.documents[columns])) + 1.0
        return weights

    def columns(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the column of each word, -1 for words that have none."""
        if self.hashes is None:
            return (hashes & np.uint64(len(self) - 1)).astype(np.int64)
        if not len(self):
            return np.full(len(hashes), -1, np.int64)
        at = np.minimum(np.searchsorted(self.hashes, hashes), len(self) - 1)
        return np.where(self.hashes[at] == hashes, at, -1)

    def state(self) -> Arrays:
        """Return all of it as arrays."""
        n_documents = np.array([self.n_documents], np.int64)
        counted: dict[str, NDArray[Any]] = {"documents": self.documents, "n_documents": n_documents}
        if self.hashes is None:
            return counted
        return counted | {"hashes": self.hashes, "letters": self.letters, "ends": self.ends}


def known_of(arrays: Arrays, *, bits: int | None) -> Known:
    """Return what `Known.state` gave.

    Raises
    ------
    KeyError, ValueError
        Where arrays are missing or do not fit together, or are of another form than `bits` says.
    """
    documents, n_documents = arrays["documents"], arrays["n_documents"]
    whole = documents.ndim == 1 and documents.dtype.kind in "iu" and n_documents.shape == (1,)
    least = 0 if bits is not None else 1
    if not whole or n_documents.dtype.kind not in "iu" or not 1 <= n_documents[0] < 2**31:
        raise ValueError("tf-idf: document frequencies are no whole numbers")
    if len(documents) and not least <= documents.min() <= documents.max() <= n_documents[0]:
        raise ValueError("tf-idf: a word in more documents than there are, or in none")
    counted = documents.astype(np.int32), int(n_documents[0])
    if bits is not None:
        if len(documents) != 1 << bits or "hashes" in arrays:
            raise ValueError(f"tf-idf: no table of 2**{bits} columns")
        return Known(*counted, None, np.empty(0, np.uint8), np.empty(0, np.int64))
    hashes, letters, ends = arrays["hashes"], arrays["letters"], arrays["ends"]
    fits = hashes.shape == ends.shape == documents.shape and letters.ndim == 1
    kinds = hashes.dtype == np.uint64, letters.dtype == np.uint8, ends.dtype.kind == "i"
    if not fits or not all(kinds) or not (hashes[1:] > hashes[:-1]).all():
        raise ValueError("tf-idf: words, hashes and document frequencies differ")
    bounds = np.concatenate([[0], ends, [len(letters)]])
    if (bounds[1:] < bounds[:-1]).any() or (len(ends) and ends[-1] != len(letters)):
        raise ValueError("tf-idf: words do not lie within their letters")
    return Known(*counted, hashes, letters, ends.astype(np.int64))


def words_in(instances: Instances, is_word: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the words inside the instances: the instance of each and its token, in text order."""
    lengths = instances.lengths.astype(np.int64)
    rows = np.repeat(np.arange(len(instances)), lengths)
    shift = instances.positions - (np.cumsum(lengths) - lengths)
    tokens = np.arange(len(rows)) + shift[rows]
    keep = is_word[tokens]
    return rows[keep], tokens[keep]


def spelled(view: TokenView, tokens: NDArray[np.int64]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return how the words at `tokens` are written, as `Known.letters` and `Known.ends`.

    A word is shown as it stands there where that is its normal form, else in the core's normal form.
    """
    documents = view.document_of(tokens).tolist()
    spans = zip(documents, view.starts[tokens].tolist(), view.ends[tokens].tolist(), strict=True)
    words = []
    for (document, start, end), key in zip(spans, view.hashes[tokens].tolist(), strict=True):
        seen = view.texts[document][start:end]
        words.append((seen if hash_word(seen) == key else normalised(seen)).encode("utf8", "replace"))
    ends = np.cumsum([len(word) for word in words], dtype=np.int64)
    return np.frombuffer(b"".join(words), np.uint8).copy(), ends
