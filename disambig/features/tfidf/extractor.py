"""TF-IDF: how often each word stands in an instance, or around it, weighed by how few documents hold it.

For instances of many words, such as whole documents, and for what is said around a place. The weights are
those of scikit-learn's ``TfidfTransformer``: ``count * (ln((1 + n) / (1 + df)) + 1)``, rows of Euclidean
length one; or plain counts. Words are what the view's tokenisation makes of them; signs are left out. A word
that no document of the training holds is dropped before rows are normalised, and so counts for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.errors import UserError
from disambig.features.rows.around import MOST_NEARNESS
from disambig.features.rows.one_row import Rows, as_features, below_each_other, named_columns, sparse
from disambig.features.rows.spellings import Spellings
from disambig.features.tfidf.counting import by_kernel
from disambig.features.tfidf.words import Known, Terms, known_of, spelled
from disambig.settings import no_setting
from disambig.text.view import TokenView
from disambig.types import Arrays, Features

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_BITS = 22
"""Weights are dense, one a column and label: 2 ** 22 columns are 32 MB a label."""
MOST_AROUND = 1_000_000
"""Tokens on each side; who wants them all says "document"."""
WEIGHTINGS = ("tfidf", "count", "binary")
LAYERS = ("stem", "lemma", "tag")


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
    around : int or "document", optional
        Count the words of so many tokens on each side of the instance, in its document, or of all of its
        document, itself left out; by default its own words.
    layer : "stem", "lemma" or "tag", optional
        Layer of the view to count instead of words, zero for none; a view without it has no terms, unless
        `every_token` is set.
    every_token : bool
        Whether signs count too, and words for themselves where they have no value in `layer`: stop words
        have no stem, and say much next to a place.
    weighting : "tfidf", "count" or "binary"
        Rows of counts, and of ones for words that are there, are not scaled.
    pairs : bool
        Whether pairs of neighbouring tokens count, too: of words, signs and ends of sentences. They are no
        evidence. Not with `around` or `layer`.
    nearness : float
        With `around`: a word at distance d counts ``d ** -nearness``; from 0 to 10.
    name : str
        Of the feature group.
    named : bool
        Whether the words are kept as they are written, for `explain`; they are most of the state.

    Raises
    ------
    UserError
        D452, D473, D474, D510, D511, D514, D515, D517 for settings that make no sense.
    """

    min_documents: int = 1
    kept: int | None = None
    bits: int | None = None
    sublinear_tf: bool = False
    around: int | Literal["document"] | None = None
    layer: str | None = None
    every_token: bool = False
    pairs: bool = False
    weighting: str = "tfidf"
    nearness: float = 0.0
    name: str = "words"
    named: bool = True
    known: Known | None = no_setting(None)
    rows_are_shared: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for setting in ("min_documents", "kept"):
            value = getattr(self, setting)
            if value is not None and value < 1:
                raise UserError("D452", setting=setting, value=value)
        if self.bits is not None and not 1 <= self.bits <= MOST_BITS:
            raise UserError("D473", bits=self.bits, most=MOST_BITS)
        if self.bits is not None and (self.kept is not None or self.min_documents != 1):
            raise UserError("D474")
        near = self.around is None or self.around == "document"
        if not near and (isinstance(self.around, str) or not 1 <= (self.around or 0) <= MOST_AROUND):
            raise UserError("D511", value=self.around, most=MOST_AROUND)
        if not 0 <= self.nearness <= MOST_NEARNESS:
            raise UserError("D514", value=self.nearness, most=MOST_NEARNESS)
        if self.nearness and (self.around is None or self.sublinear_tf or self.weighting == "binary"):
            raise UserError("D515")
        if self.layer is not None and self.layer not in LAYERS:
            raise UserError("D510", setting="layer", value=self.layer, choices=", ".join(LAYERS))
        if self.pairs and (self.around is not None or self.layer is not None):
            raise UserError("D517")
        if self.weighting not in WEIGHTINGS:
            raise UserError("D510", setting="weighting", value=self.weighting, choices=", ".join(WEIGHTINGS))

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> Tfidf:
        """Count in how many instances, of whatever group, each word stands.

        Raises
        ------
        UserError
            D475 where no word stands in `min_documents` of them.
        """
        met = np.zeros(self._terms.n(view), bool)
        for part in self._terms.portions(view, instances):
            met[self._terms.of(view, part)[1]] = True
        tokens = np.flatnonzero(met)
        hashes = self._terms.values(view, tokens)
        column_of = np.full(len(met), -1)
        if self.bits is not None:
            empty = Known(np.zeros(1 << self.bits, np.int32), len(instances), None, Spellings.of(()))
            column_of[tokens] = empty.columns(hashes)
            documents, _ = self._counted(view, instances, column_of, len(empty))
            return replace(self, known=replace(empty, documents=documents))
        words, first, column_of[tokens] = np.unique(hashes, return_index=True, return_inverse=True)
        documents, often = self._counted(view, instances, column_of, len(words))
        keep = np.flatnonzero(documents >= self.min_documents)
        if self.kept is not None and len(keep) > self.kept:
            keep = np.sort(keep[np.argsort(-often[keep], kind="stable")[: self.kept]])
        if not len(keep) and not self._terms.lacking(view):
            raise UserError("D475", n=len(instances), least=self.min_documents)
        names = spelled(view, tokens[first[keep]]) if self.named else Spellings.of(())
        return replace(self, known=Known(documents[keep], max(len(instances), 1), words[keep], names))

    def with_names(self, view: TokenView, instances: Instances) -> Tfidf:
        """Return the extractor with names of the words that instances have (see `NamesFeatures`)."""
        known = self.known
        if known is None or len(known.names):
            return self
        tokens = np.unique(
            np.concatenate(
                [
                    np.zeros(0, np.int64),
                    *(self._terms.of(view, part)[1] for part in self._terms.portions(view, instances)),
                ]
            )
        )
        columns, first = np.unique(known.columns(self._terms.values(view, tokens)), return_index=True)
        there = columns >= 0
        words = spelled(view, tokens[first[there]])
        names = Spellings.some(dict(zip(columns[there].tolist(), words, strict=True)), len(known))
        return replace(self, known=replace(known, names=names))

    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return one row an instance; the evidence is how many of its words are known.

        Raises
        ------
        ValueError
            Where the extractor was not fitted.
        """
        known = self.known
        if known is None:
            raise ValueError("TF-IDF knows no words yet: fit it first")
        made = below_each_other(
            [self._rows(view, part, known) for part in self._terms.portions(view, instances)]
        )
        return as_features(made, named_columns(known, self.name), instances, group, self)

    def state(self) -> Arrays:
        """Return the words and how many documents hold each."""
        return self.known.state() if self.known is not None else {}

    def from_state(self, arrays: Arrays) -> Tfidf:
        """Return an extractor that knows the words of `state`; ValueError where arrays do not fit."""
        return replace(self, known=known_of(arrays, bits=self.bits) if arrays else None)

    @property
    def _terms(self) -> Terms:
        return Terms(self.around, self.layer, self.every_token, self.pairs)

    def _counted(
        self, view: TokenView, instances: Instances, column_of: NDArray[np.int64], d: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return how many instances hold each column, and how often it stands in all."""
        documents, often = np.zeros(d, np.int32), np.zeros(d, np.int64)
        for part in self._terms.portions(view, instances):
            rows, tokens = self._terms.of(view, part)
            counts = sparse(rows, column_of[tokens], None, (len(part), d))
            documents += np.bincount(counts.indices, minlength=d).astype(np.int32)
            often += np.bincount(column_of[tokens], minlength=d)
        return documents, often

    def _rows(self, view: TokenView, instances: Instances, known: Known) -> Rows:
        made = by_kernel(self._terms, view, instances, known)
        if made is not None:
            return self._weighed(made[0], known), *made[1:]
        n = len(instances)
        rows, tokens = self._terms.of(view, instances)
        asked = np.bincount(self._single(rows, tokens, view), minlength=n)
        column = known.columns(self._terms.values(view, tokens))
        seen = column >= 0
        rows, column, tokens = rows[seen], column[seen], tokens[seen]
        met = known.documents[column] > 0  # of hashed columns some are empty
        found = np.bincount(self._single(rows[met], tokens[met], view), minlength=n)
        worth = None
        if self.nearness:
            worth = self._terms.distances(view, instances, rows, tokens).astype(np.float64) ** -self.nearness
        return self._weighed(sparse(rows, column, worth, (n, len(known))), known), found, asked

    def _single(
        self, rows: NDArray[np.int64], tokens: NDArray[np.int64], view: TokenView
    ) -> NDArray[np.int64]:
        """Return the rows of terms that are no pairs."""
        return rows[tokens < len(view)] if self.pairs else rows

    def _weighed(self, counts: csr_array, known: Known) -> csr_array:
        """Turn counts into what `weighting` says, in place."""
        if self.weighting == "binary":
            counts.data = np.ones(len(counts.data))
            return counts
        data: Any = np.log(counts.data) + 1.0 if self.sublinear_tf else counts.data
        if self.weighting == "tfidf":
            data = data * known.idf(counts.indices)
            row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
            norms = np.sqrt(np.bincount(row, data * data, minlength=counts.shape[0]))
            data = data / np.where(norms > 0, norms, 1.0)[row]
        counts.data = data
        return counts
