"""The terms that TF-IDF knows: their hashes, how many documents hold each, how they are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from disambig.data.finding import word_tokens
from disambig.data.instances import Instances
from disambig.features.rows.around import documents_of, place, spread, within
from disambig.features.rows.one_row import portions
from disambig.features.rows.spellings import Spellings, spellings_of
from disambig.referable import Referable
from disambig.text.hashing import hash_word, ngram_keys
from disambig.text.tokenisations.words_reference import normalised
from disambig.text.view import TokenView
from disambig.types import Arrays

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
PAIRS = hash_word("pairs of tfidf")
"""What pairs are hashed with: no pair is a word."""
_ENDS = {hash_word(end): end for end in ("<S>", "</S>")}


@dataclass(frozen=True, slots=True, eq=False)
class Known(Referable):
    """One entry a column.

    Attributes
    ----------
    documents : array of int32, shape (D,)
        How many documents of the training hold a word of the column.
    n_documents : int
        All documents of the training.
    hashes : array of uint64, shape (D,), or None
        Hash of each column's word, rising; None where columns are cut from the hash itself.
    names : Spellings
        The words; none for hashed columns, and where they are not kept.
    """

    documents: NDArray[np.int32]
    n_documents: int
    hashes: NDArray[np.uint64] | None
    names: Spellings

    def __len__(self) -> int:
        return len(self.documents)

    def word(self, column: int) -> str:
        """Return the word of a column, empty where it is not known."""
        return self.names[column] if len(self.names) else ""

    def idf(self, columns: NDArray[np.integer]) -> Floats:
        """Return the inverse document frequencies of columns, smoothed: ``ln((1 + n) / (1 + df)) + 1``."""
        if self not in _idf:
            _idf[self] = np.log((1.0 + self.n_documents) / (1.0 + self.documents)) + 1.0
        return _idf[self][columns]

    def columns(self, hashes: NDArray[np.uint64]) -> Ints:
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
        return counted if self.hashes is None else counted | {"hashes": self.hashes, **self.names.state()}


_idf: WeakKeyDictionary[Known, Floats] = WeakKeyDictionary()
"""The inverse document frequencies of all columns, as long as these are in use."""


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
        return Known(*counted, None, Spellings.of(()))
    hashes = arrays["hashes"]
    rising = hashes.dtype == np.uint64 and (hashes[1:] > hashes[:-1]).all()
    if hashes.shape != documents.shape or not rising:
        raise ValueError("tf-idf: words, hashes and document frequencies differ")
    try:
        return Known(*counted, hashes, spellings_of(arrays, len(documents)))
    except ValueError as problem:
        raise ValueError(f"tf-idf: {problem}") from problem


@dataclass(frozen=True, slots=True)
class Terms:
    """What counts as a term of an instance: which tokens, and which of their values.

    Parameters
    ----------
    around : int or "document", optional
        Tokens on each side of the place; by default those inside it.
    layer : str, optional
        Layer whose values count, zero for none; by default words.
    every_token : bool
        Whether signs count too, and words for themselves where they have no value in `layer`, or the view
        has none of them.
    pairs : bool
        Whether two neighbouring tokens are a term, too, of which one at least is in the instance: words,
        signs and ends of sentences, but not the end of one and the beginning of the next.

    A term is known by its token; a pair by that of its first, and the number of tokens in the view more.
    """

    around: int | str | None = None
    layer: str | None = None
    every_token: bool = False
    pairs: bool = False

    def lacking(self, view: TokenView) -> bool:
        """Tell whether the view lacks the layer, and so has no terms."""
        return self.layer is not None and self.layer not in view.layers and not self.every_token

    def n(self, view: TokenView) -> int:
        """Return above what number there is no term of a view."""
        return len(view) * (2 if self.pairs else 1)

    def values(self, view: TokenView, tokens: Ints) -> NDArray[np.uint64]:
        """Return the hashes of terms, 0 for none; all are none where the view lacks the layer."""
        if not self.pairs:
            return self._of_tokens(view, tokens)
        found = np.empty(len(tokens), np.uint64)
        of_two = tokens >= len(view)
        first = tokens[of_two] - len(view)
        found[~of_two] = self._of_tokens(view, tokens[~of_two])
        found[of_two] = ngram_keys(np.stack([view.hashes[first], view.hashes[first + 1]], axis=1), PAIRS)
        return found

    def _of_tokens(self, view: TokenView, tokens: Ints) -> NDArray[np.uint64]:
        if self.layer is None:
            return view.hashes[tokens]
        if self.layer not in view.layers:
            return view.hashes[tokens] if self.every_token else np.zeros(len(tokens), np.uint64)
        values: Any = view.layers[self.layer][tokens]
        return np.where(values == 0, view.hashes[tokens], values) if self.every_token else values

    def ranges(self, view: TokenView, instances: Instances) -> tuple[Ints, Ints]:
        """Return the tokens looked at, as ranges: shape ``(n * m,)``, m of them an instance."""
        begin, end = instances.positions, instances.positions + instances.lengths
        if self.around is None:
            return begin, end
        if isinstance(self.around, str):
            first, stop = documents_of(view, instances)
        else:
            first, stop = within(view, instances, self.around)
        return np.stack([first, end], axis=1).ravel(), np.stack([begin, stop], axis=1).ravel()

    def portions(self, view: TokenView, instances: Instances) -> list[Instances]:
        """Cut instances into runs that look at a bounded number of tokens, see `one_row.portions`."""
        first, stop = self.ranges(view, instances)
        sizes = np.maximum(stop - first, 0).reshape(-1, 1 if self.around is None else 2)
        return portions(instances, sizes.sum(axis=1))

    def of(self, view: TokenView, instances: Instances) -> tuple[Ints, Ints]:
        """Return the terms of the instances: the instance of each and its token, in text order.

        The pairs of an instance come after its tokens.
        """
        ranges, tokens = spread(*self.ranges(view, instances))
        rows = ranges if self.around is None else ranges // 2
        keep = self.counted(view, tokens)
        if not self.pairs:
            return rows[keep], tokens[keep]
        of_pair, first = spread(instances.positions - 1, instances.positions + instances.lengths)
        ends = view.starts == view.ends  # of sentences
        both = ends[first] & ends[first + 1]
        of_pair, first = of_pair[~both], first[~both]
        rows, tokens = (
            np.concatenate([rows[keep], of_pair]),
            np.concatenate([tokens[keep], first + len(view)]),
        )
        order = np.argsort(rows, kind="stable")
        return rows[order], tokens[order]

    def distances(self, view: TokenView, instances: Instances, rows: Ints, tokens: Ints) -> Ints:
        """Return how many words each term is from its instance, boundary words left out; the next is at 1."""
        at = place(view, tokens)
        before = place(view, instances.positions)[rows] - at
        return np.maximum(before, at - place(view, instances.positions + instances.lengths - 1)[rows])

    def counted_tokens(self, view: TokenView) -> NDArray[np.bool_]:
        """Return which tokens of a view have a term; of words, not of a layer."""
        return view.ends > view.starts if self.every_token else _words_of(view)

    def counted(self, view: TokenView, tokens: Ints) -> NDArray[np.bool_]:
        """Return which tokens have a term."""
        if self.lacking(view):
            return np.zeros(len(tokens), bool)
        if self.every_token:
            return view.ends[tokens] > view.starts[tokens]
        if self.layer is not None:
            return self.values(view, tokens) != 0
        return _words_of(view)[tokens]


_words: WeakKeyDictionary[TokenView, NDArray[np.bool_]] = WeakKeyDictionary()
"""Which tokens of a view are words: one view is asked by many groups in turn, a portion at a time."""


def _words_of(view: TokenView) -> NDArray[np.bool_]:
    found = _words.get(view)
    if found is None:
        found = _words[view] = word_tokens(view)
    return found


def spelled(view: TokenView, tokens: Ints) -> Spellings:
    """Return how terms are written.

    A word is shown as it stands there where that is its normal form, else in the core's normal form. Of pairs
    both are, with a blank between them.
    """
    pairs = tokens >= len(view)
    words = _written(view, np.where(pairs, tokens - len(view), tokens))
    if pairs.any():
        seconds = _written(view, tokens[pairs] - len(view) + 1)
        for at, second in zip(np.flatnonzero(pairs).tolist(), seconds, strict=True):
            words[at] += f" {second}"
    return Spellings.of(words)


def _written(view: TokenView, tokens: Ints) -> list[str]:
    documents = view.document_of(tokens).tolist()
    spans = zip(documents, view.starts[tokens].tolist(), view.ends[tokens].tolist(), strict=True)
    words = []
    for (document, start, end), key in zip(spans, view.hashes[tokens].tolist(), strict=True):
        seen = view.texts[document][start:end] or _ENDS.get(key, "")
        words.append(seen if hash_word(seen) == key else normalised(seen))
    return words
