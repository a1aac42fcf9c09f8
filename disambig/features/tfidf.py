"""TF-IDF of documents and of the words around a place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from disambig.data import (
    Group,
    GroupedInstances,
    HashVocabulary,
    Instances,
    PackedStrings,
    offsets_from_sizes,
    row_owners,
    strings_from_state,
    word_tokens,
)
from disambig.errors import UserError
from disambig.features.rows import (
    MAX_NEARNESS,
    Rows,
    cross_rows,
    document_spans,
    expand_spans,
    named_columns,
    sparse_rows,
    split_instances,
    stack_rows,
    window_spans,
    word_positions,
)
from disambig.runtime import WeakRefMixin, use_numba
from disambig.settings import COUNT, fitted_field, validate_settings
from disambig.text import TokenView, hash_word, ngram_keys, normalised
from disambig.type_aliases import Bools, Floats, Hashes, Ints
from disambig.types import Arrays, Features

if TYPE_CHECKING:
    from scipy.sparse import csr_array


PAIRS = hash_word("pairs of tfidf")
"""Seed of the hashes of pairs, which therefore never equal the hash of a word."""
_ENDS = {hash_word(end): end for end in ("<S>", "</S>")}


@dataclass(frozen=True, slots=True, eq=False)
class KnownTerms(WeakRefMixin):
    """The known terms, one per column."""

    documents: NDArray[np.int32]  # (D,): number of training documents that contain a word of the column
    n_documents: int  # number of training documents
    # uint64 (D,): hash of each column's word, ascending; None if columns are the low bits of the hash
    hashes: Hashes | None
    names: PackedStrings  # the words; empty for hashed columns, and if names are not kept

    def __len__(self) -> int:
        return len(self.documents)

    def word(self, column: int) -> str:
        """Return the word of a column, empty if it is not known."""
        return self.names[column] if len(self.names) else ""

    def idf(self, columns: NDArray[np.integer]) -> Floats:
        """Return the smoothed inverse document frequencies of columns: ``ln((1 + n) / (1 + df)) + 1``."""
        if self not in _idf:
            _idf[self] = np.log((1.0 + self.n_documents) / (1.0 + self.documents)) + 1.0
        return _idf[self][columns]

    def columns(self, hashes: Hashes) -> Ints:
        """Return the column of each word, -1 for unknown words."""
        if self.hashes is None:
            # the number of columns is a power of two
            return (hashes & np.uint64(len(self) - 1)).astype(np.int64)
        return HashVocabulary(self.hashes).lookup(hashes)

    def state(self) -> Arrays:
        """Return the terms as arrays."""
        n_documents = np.array([self.n_documents], np.int64)
        counted: dict[str, NDArray[Any]] = {"documents": self.documents, "n_documents": n_documents}
        return counted if self.hashes is None else counted | {"hashes": self.hashes, **self.names.state()}


_idf: WeakKeyDictionary[KnownTerms, Floats] = WeakKeyDictionary()
"""Cache of the inverse document frequencies of all columns, for the lifetime of the terms."""


def known_terms_from_state(arrays: Arrays, *, bits: int | None) -> KnownTerms:
    """Return the terms from `KnownTerms.state`.

    Raises `KeyError` or `ValueError` if arrays are missing, do not fit together, or have another form than
    `bits` requires.
    """
    documents, n_documents = arrays["documents"], arrays["n_documents"]
    are_integers = documents.ndim == 1 and documents.dtype.kind in "iu" and n_documents.shape == (1,)
    minimum = 0 if bits is not None else 1
    if not are_integers or n_documents.dtype.kind not in "iu" or not 1 <= n_documents[0] < 2**31:
        raise ValueError("tf-idf: document frequencies are not whole numbers")
    if len(documents) and not minimum <= documents.min() <= documents.max() <= n_documents[0]:
        raise ValueError("tf-idf: a word in more documents than there are, or in none")
    counted = documents.astype(np.int32), int(n_documents[0])
    if bits is not None:
        if len(documents) != 1 << bits or "hashes" in arrays:
            raise ValueError(f"tf-idf: no table of 2**{bits} columns")
        return KnownTerms(*counted, None, PackedStrings.from_words(()))
    hashes = arrays["hashes"]
    ascending = hashes.dtype == np.uint64 and (hashes[1:] > hashes[:-1]).all()
    if hashes.shape != documents.shape or not ascending:
        raise ValueError("tf-idf: words, hashes and document frequencies differ")
    try:
        return KnownTerms(*counted, hashes, strings_from_state(arrays, len(documents)))
    except ValueError as problem:
        raise ValueError(f"tf-idf: {problem}") from problem


@dataclass(frozen=True, slots=True)
class TermSelector:
    """Selects the terms of an instance: which tokens, and which of their values.

    Parameters
    ----------
    around : int or "document", optional
        Tokens on each side of the place, or the whole document; by default the tokens of the instance.
    layer : str, optional
        Layer whose values are counted (zero means no value); by default words.
    every_token : bool
        Whether punctuation counts too, and words themselves if they have no value in `layer` or the view
        lacks the layer.
    pairs : bool or "words"
        Whether pairs of neighbouring tokens are terms too, if at least one of them is in the instance:
        words, punctuation and sentence boundaries, but not the end of one sentence with the next start.
        "words": pairs of two words only.

    Notes
    -----
    A term is represented by its token, a pair by its first token plus the number of tokens in the view.
    """

    around: int | str | None = None
    layer: str | None = None
    every_token: bool = False
    pairs: bool | str = False

    def lacking(self, view: TokenView) -> bool:
        """Return True if the view lacks the layer, and therefore has no terms."""
        return self.layer is not None and self.layer not in view.layers and not self.every_token

    def values(self, view: TokenView, tokens: Ints) -> Hashes:
        """Return the hashes of terms, 0 for none; all are none if the view lacks the layer."""
        if not self.pairs:
            return self._token_values(view, tokens)
        hashes = np.empty(len(tokens), np.uint64)
        is_pair = tokens >= len(view)
        first = tokens[is_pair] - len(view)
        hashes[~is_pair] = self._token_values(view, tokens[~is_pair])
        hashes[is_pair] = ngram_keys(np.stack([view.hashes[first], view.hashes[first + 1]], axis=1), PAIRS)
        return hashes

    def _token_values(self, view: TokenView, tokens: Ints) -> Hashes:
        if self.layer is None:
            return view.hashes[tokens]
        if self.layer not in view.layers:
            return view.hashes[tokens] if self.every_token else np.zeros(len(tokens), np.uint64)
        values: Any = view.layers[self.layer][tokens]
        return np.where(values == 0, view.hashes[tokens], values) if self.every_token else values

    def ranges(self, view: TokenView, instances: Instances) -> tuple[Ints, Ints]:
        """Return the tokens to count, as ranges: shape ``(n * m,)``, m ranges per instance."""
        start, end = instances.positions, instances.positions + instances.lengths
        if self.around is None:
            return start, end
        if isinstance(self.around, str):
            first, stop = document_spans(view, instances)
        else:
            first, stop = window_spans(view, instances, self.around)
        return np.stack([first, end], axis=1).ravel(), np.stack([start, stop], axis=1).ravel()

    def portions(self, view: TokenView, instances: Instances) -> list[Instances]:
        """Split instances into runs that examine a limited number of tokens, see `split_instances`."""
        first, stop = self.ranges(view, instances)
        sizes = np.maximum(stop - first, 0).reshape(-1, 1 if self.around is None else 2)
        return split_instances(instances, sizes.sum(axis=1))

    def instance_terms(self, view: TokenView, instances: Instances) -> tuple[Ints, Ints]:
        """Return the terms of the instances: index of the instance and token of each, in text order.

        The pairs of an instance follow its tokens.
        """
        ranges, tokens = expand_spans(*self.ranges(view, instances))
        rows = ranges if self.around is None else ranges // 2
        is_term = self.counted(view, tokens)
        if not self.pairs:
            return rows[is_term], tokens[is_term]
        pair_rows, first = expand_spans(instances.positions - 1, instances.positions + instances.lengths)
        is_pair = self.paired(view)[first]
        pair_rows, first = pair_rows[is_pair], first[is_pair]
        rows = np.concatenate([rows[is_term], pair_rows])
        tokens = np.concatenate([tokens[is_term], first + len(view)])
        order = np.argsort(rows, kind="stable")
        return rows[order], tokens[order]

    def distances(self, view: TokenView, instances: Instances, rows: Ints, tokens: Ints) -> Ints:
        """Return the distance in words of each term from its instance, not counting boundaries (next: 1)."""
        word_position = word_positions(view, tokens)
        first = word_positions(view, instances.positions)[rows]
        last = word_positions(view, instances.positions + instances.lengths - 1)[rows]
        return np.maximum(first - word_position, word_position - last)

    def paired(self, view: TokenView) -> Bools:
        """Return whether each token and the next one form a pair; shape ``(n_tokens - 1,)``."""
        if self.pairs == "words":
            is_word = word_tokens(view)
            return is_word[:-1] & is_word[1:]
        ends = view.starts == view.ends  # of sentences (boundary tokens are empty)
        return ~(ends[:-1] & ends[1:])

    def counted(self, view: TokenView, tokens: Ints) -> Bools:
        """Return which tokens have a term."""
        if self.lacking(view):
            return np.zeros(len(tokens), bool)
        if self.every_token:
            return view.ends[tokens] > view.starts[tokens]
        if self.layer is not None:
            return self.values(view, tokens) != 0
        return word_tokens(view)[tokens]


def spell_terms(view: TokenView, tokens: Ints) -> PackedStrings:
    """Return terms as text.

    A word is shown as written if that is its normal form, else in the normal form of the core tokenisation.
    The two tokens of a pair are separated by a blank.
    """
    is_pair = tokens >= len(view)
    words = _spell_tokens(view, np.where(is_pair, tokens - len(view), tokens))
    if is_pair.any():
        seconds = _spell_tokens(view, tokens[is_pair] - len(view) + 1)
        for i, second in zip(np.flatnonzero(is_pair).tolist(), seconds, strict=True):
            words[i] += f" {second}"
    return PackedStrings.from_words(words)


def _spell_tokens(view: TokenView, tokens: Ints) -> list[str]:
    """Return tokens as text: as written if that is their normal form, else in the normal form."""
    documents = view.document_indices(tokens).tolist()
    spans = zip(documents, view.starts[tokens].tolist(), view.ends[tokens].tolist(), strict=True)
    words = []
    for (document, start, end), key in zip(spans, view.hashes[tokens].tolist(), strict=True):
        written = view.texts[document][start:end] or _ENDS.get(key, "")
        # the text itself if the tokenisation keeps it (web1t.v1), else its normal form
        words.append(written if hash_word(written) == key else normalised(written))
    return words


_MAX_BITS = 18


def count_compiled(
    terms: TermSelector, view: TokenView, instances: Instances, vocabulary: KnownTerms
) -> Rows | None:
    """Return the counts of known terms, and the numbers of known and of all words of each instance.

    Return None if NumPy should do it: for little work, and for terms other than words of instances and pairs.
    """
    if terms.around is not None or terms.layer is not None or vocabulary.hashes is None:
        return None
    lengths = instances.lengths.astype(np.int64)
    capacity = int(lengths.sum()) * (2 if terms.pairs else 1) + len(instances)
    if not len(vocabulary) or not use_numba(capacity):
        return None
    from scipy.sparse import csr_array

    from disambig.features._row_kernels import count_terms

    n = len(instances)
    indptr, columns, counts = np.zeros(n + 1, np.int32), np.empty(capacity, np.int32), np.empty(capacity)
    n_hits, n_queries = np.zeros(n, np.int64), np.zeros(n, np.int64)
    size = count_terms(
        view.hashes,
        view.ends > view.starts if terms.every_token else word_tokens(view),
        terms.paired(view),
        instances.positions,
        instances.positions + lengths,
        bool(terms.pairs),
        np.uint64(PAIRS),
        _directory(vocabulary, vocabulary.hashes),
        (indptr, columns, counts),
        n_hits,
        n_queries,
    )
    rows = csr_array((counts[:size], columns[:size], indptr), (n, len(vocabulary)))
    rows.has_canonical_format = True  # the compiled function sorts and sums; SciPy need not check again
    return rows, n_hits, n_queries


_Directory = tuple[Hashes, NDArray[np.int32], np.uint64]
_directories: WeakKeyDictionary[KnownTerms, _Directory] = WeakKeyDictionary()


def _directory(vocabulary: KnownTerms, hashes: Hashes) -> _Directory:
    """Return the hashes, where those with each value of their top bits begin, and the shift to these bits."""
    if vocabulary not in _directories:
        bits = min(max(len(hashes).bit_length(), 1), _MAX_BITS)
        top_bits = (hashes >> np.uint64(64 - bits)).astype(np.int64)
        sizes = np.bincount(top_bits, minlength=1 << bits)
        starts = offsets_from_sizes(sizes).astype(np.int32)
        _directories[vocabulary] = hashes, starts, np.uint64(64 - bits)
    return _directories[vocabulary]


MAX_BITS = 22
"""Weights are dense, one per column and label: 2 ** 22 columns take 32 MB per label."""
MAX_AROUND = 1_000_000
"""Maximum number of tokens on each side; use "document" for all tokens."""
WEIGHTINGS = ("tfidf", "count", "binary")
LAYERS = ("stem", "lemma", "tag")


@dataclass(frozen=True, slots=True, eq=False)
class Tfidf:
    """Extractor of one sparse row per instance, shared by its candidates (`CrossedRows`).

    Parameters
    ----------
    min_documents : int
        Minimum number of documents that contain a word.
    kept : int, optional
        Number of words to keep, the most frequent ones; by default all.
    bits : int, optional
        Use ``2 ** bits`` columns (1 to 22 bits) taken from the hashes of words instead of a vocabulary.
        Words that share a column cannot be told apart, and `explain` cannot name them. All words count.
    sublinear_tf : bool
        Whether to replace counts by ``1 + ln(count)``.
    around : int or "document", optional
        Count the words within this many tokens on each side of the instance in its document, or in its
        entire document, without the instance itself; by default count the words of the instance.
    layer : "stem", "lemma" or "tag", optional
        Layer of the view to count instead of words (zero: no value). A view without it has no terms, unless
        `every_token` is set.
    every_token : bool
        Whether punctuation counts too, and words themselves if they have no value in `layer`: stop words
        have no stem, but are informative next to a place.
    weighting : "tfidf", "count" or "binary"
        ``"count"`` and ``"binary"`` rows (ones for words that occur) are not scaled.
    pairs : bool or "words"
        Whether pairs of neighbouring tokens (words, punctuation, sentence boundaries) count too, or only
        pairs of two words. They are not evidence. Cannot be combined with `around` or `layer`.
    nearness : float
        With `around`: a word at distance d has the value ``d ** -nearness``; from 0 to 10.
    name : str
        Name of the feature group.
    named : bool
        Whether to keep the words as text, for `explain`; they take up most of the state.

    Raises
    ------
    UserError
        D452, D473, D474, D510, D511, D514, D515, D517 for invalid settings.
    """

    min_documents: int = 1
    kept: int | None = None
    bits: int | None = None
    sublinear_tf: bool = False
    around: int | Literal["document"] | None = None
    layer: str | None = None
    every_token: bool = False
    pairs: bool | Literal["words"] = False
    weighting: str = "tfidf"
    nearness: float = 0.0
    name: str = "words"
    named: bool = True
    vocabulary: KnownTerms | None = fitted_field(None)
    rows_are_shared: ClassVar[bool] = True

    def __post_init__(self) -> None:
        validate_settings(self, min_documents=COUNT, kept=COUNT.or_none)
        if self.bits is not None and not 1 <= self.bits <= MAX_BITS:
            raise UserError("D473", bits=self.bits, most=MAX_BITS)
        if self.bits is not None and (self.kept is not None or self.min_documents != 1):
            raise UserError("D474")
        if self.around not in (None, "document") and (
            isinstance(self.around, str) or not 1 <= (self.around or 0) <= MAX_AROUND
        ):
            raise UserError("D511", value=self.around, most=MAX_AROUND)
        if not 0 <= self.nearness <= MAX_NEARNESS:
            raise UserError("D514", value=self.nearness, most=MAX_NEARNESS)
        if self.nearness and (self.around is None or self.sublinear_tf or self.weighting == "binary"):
            raise UserError("D515")
        if self.layer is not None and self.layer not in LAYERS:
            raise UserError("D510", setting="layer", value=self.layer, choices=", ".join(LAYERS))
        if not isinstance(self.pairs, bool) and self.pairs != "words":
            raise UserError("D510", setting="pairs", value=self.pairs, choices="true, false, words")
        if self.pairs and (self.around is not None or self.layer is not None):
            raise UserError("D517")
        if self.weighting not in WEIGHTINGS:
            raise UserError("D510", setting="weighting", value=self.weighting, choices=", ".join(WEIGHTINGS))

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> Tfidf:
        """Count in how many instances, of any group, each word occurs.

        Raises D475 if no word occurs in `min_documents` of them.
        """
        occurs = np.zeros(len(view) * (2 if self._terms.pairs else 1), bool)
        for part in self._terms.portions(view, instances):
            occurs[self._terms.instance_terms(view, part)[1]] = True
        tokens = np.flatnonzero(occurs)
        hashes = self._terms.values(view, tokens)
        column_of = np.full(len(occurs), -1)
        if self.bits is not None:
            zeros = np.zeros(1 << self.bits, np.int32)
            empty = KnownTerms(zeros, len(instances), None, PackedStrings.from_words(()))
            column_of[tokens] = empty.columns(hashes)
            documents, _ = self._counted(view, instances, column_of, len(empty))
            return replace(self, vocabulary=replace(empty, documents=documents))
        # every word gets a column for counting; the columns of those that are kept are renumbered below
        words, first, column_of[tokens] = np.unique(hashes, return_index=True, return_inverse=True)
        documents, totals = self._counted(view, instances, column_of, len(words))
        columns = np.flatnonzero(documents >= self.min_documents)
        if self.kept is not None and len(columns) > self.kept:
            columns = np.sort(columns[np.argsort(-totals[columns], kind="stable")[: self.kept]])
        if not len(columns) and not self._terms.lacking(view):
            raise UserError("D475", n=len(instances), least=self.min_documents)
        names = spell_terms(view, tokens[first[columns]]) if self.named else PackedStrings.from_words(())
        return replace(
            self, vocabulary=KnownTerms(documents[columns], max(len(instances), 1), words[columns], names)
        )

    def with_names(self, view: TokenView, instances: Instances) -> Tfidf:
        """Return the extractor with names of the words at these instances (see `ExtractorTraits`)."""
        vocabulary = self.vocabulary
        if vocabulary is None or len(vocabulary.names):
            return self
        parts = self._terms.portions(view, instances)
        terms = [self._terms.instance_terms(view, part)[1] for part in parts]
        tokens = np.unique(np.concatenate([np.zeros(0, np.int64), *terms]))
        columns, first = np.unique(vocabulary.columns(self._terms.values(view, tokens)), return_index=True)
        is_known = columns >= 0
        words = spell_terms(view, tokens[first[is_known]])
        names = PackedStrings.from_known(
            dict(zip(columns[is_known].tolist(), words, strict=True)), len(vocabulary)
        )
        return replace(self, vocabulary=replace(vocabulary, names=names))

    def transform(self, view: TokenView, table: GroupedInstances) -> list[Features]:
        """Return one row per instance; the evidence is the number of its known words.

        Raises `ValueError` if the extractor is not fitted.
        """
        vocabulary = self.vocabulary
        if vocabulary is None:
            raise ValueError("the TF-IDF extractor is not fitted: no words are known")
        rows = stack_rows(
            [self._rows(view, part, vocabulary) for part in self._terms.portions(view, table.instances)]
        )
        return cross_rows(rows, named_columns(vocabulary, self.name), table, self)

    def state(self) -> Arrays:
        """Return the words and their document frequencies."""
        return self.vocabulary.state() if self.vocabulary is not None else {}

    def from_state(self, arrays: Arrays) -> Tfidf:
        """Return an extractor with the words of `state`; ValueError if the arrays do not fit."""
        return replace(self, vocabulary=known_terms_from_state(arrays, bits=self.bits) if arrays else None)

    @property
    def _terms(self) -> TermSelector:
        return TermSelector(self.around, self.layer, self.every_token, self.pairs)

    def _counted(
        self, view: TokenView, instances: Instances, column_of: Ints, d: int
    ) -> tuple[NDArray[np.int32], Ints]:
        """Return the number of instances that have each column, and its total count."""
        documents, totals = np.zeros(d, np.int32), np.zeros(d, np.int64)
        for part in self._terms.portions(view, instances):
            rows, tokens = self._terms.instance_terms(view, part)
            counts = sparse_rows(rows, column_of[tokens], None, (len(part), d))
            documents += np.bincount(counts.indices, minlength=d).astype(np.int32)
            totals += np.bincount(column_of[tokens], minlength=d)
        return documents, totals

    def _rows(self, view: TokenView, instances: Instances, vocabulary: KnownTerms) -> Rows:
        """Return the rows of instances, and their numbers of known and of all words."""
        counted = count_compiled(self._terms, view, instances, vocabulary)
        if counted is not None:
            return self._scale(counted[0], vocabulary), *counted[1:]
        n = len(instances)
        rows, tokens = self._terms.instance_terms(view, instances)
        n_queries = np.bincount(self._rows_of_words(rows, tokens, view), minlength=n)
        column = vocabulary.columns(self._terms.values(view, tokens))
        is_known = column >= 0
        rows, column, tokens = rows[is_known], column[is_known], tokens[is_known]
        in_training = vocabulary.documents[column] > 0  # some hashed columns were never seen
        n_hits = np.bincount(self._rows_of_words(rows[in_training], tokens[in_training], view), minlength=n)
        values = None
        if self.nearness:
            values = self._terms.distances(view, instances, rows, tokens).astype(np.float64) ** -self.nearness
        counts = sparse_rows(rows, column, values, (n, len(vocabulary)))
        return self._scale(counts, vocabulary), n_hits, n_queries

    def _rows_of_words(self, rows: Ints, tokens: Ints, view: TokenView) -> Ints:
        """Return the rows of terms that are not pairs."""
        return rows[tokens < len(view)] if self.pairs else rows

    def _scale(self, counts: csr_array, vocabulary: KnownTerms) -> csr_array:
        """Scale counts according to `weighting`, in place."""
        if self.weighting == "binary":
            counts.data = np.ones(len(counts.data))
            return counts
        data: Any = np.log(counts.data) + 1.0 if self.sublinear_tf else counts.data
        if self.weighting == "tfidf":
            data = data * vocabulary.idf(counts.indices)
            row = row_owners(counts.indptr)
            norms = np.sqrt(np.bincount(row, data * data, minlength=counts.shape[0]))
            data = data / np.where(norms > 0, norms, 1.0)[row]
        counts.data = data
        return counts
