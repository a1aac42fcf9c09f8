"""Token context: sparse features of a token and its window, crossed with labels and tied to sequences.

The usual features of taggers (Ratnaparkhi 1996; Collins 2002): the form, affixes, shape, the
neighbours within two tokens, their suffixes and shapes, pairs of words. Words are in lower case, their digits
alike; the shape tells cases apart. Where the sentence ends is known.
Features that never occurred in training have no column: they say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.sequences import SequenceRows
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.engine import use_numba
from disambig.errors import UserError
from disambig.features.tokens import token_context_arrays as in_arrays
from disambig.features.tokens.token_context_templates import CLASS, TEMPLATES
from disambig.features.tokens.word_classes import WordClasses
from disambig.settings import no_setting
from disambig.text import characters
from disambig.text.view import TokenView
from disambig.types import Arrays, Features


@dataclass(frozen=True, eq=False)
class TokenContext:
    """Extractor of the features of tokens.

    Parameters
    ----------
    least : int
        How often a feature must occur in training to get a column.
    keys : array of uint32, shape (D,), optional
        The features that have columns, rising: what `fit` learned.
    classes : WordClasses, optional
        Classes of words by their company in text, for features beside the words themselves.

    Raises
    ------
    UserError
        D452 for a `least` that is no whole number of 1 or more.
    """

    least: int = 1
    keys: NDArray[np.uint32] | None = no_setting(None)
    classes: WordClasses | None = no_setting(None)
    describes: ClassVar[str] = "group"

    def __post_init__(self) -> None:
        if not isinstance(self.least, int) or isinstance(self.least, bool) or self.least < 1:
            raise UserError("D452", setting="least", value=self.least)

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> TokenContext:
        """Learn which features occur at the instances."""
        hashes = _hashes(view, instances.positions, self.classes)
        keys, counts = np.unique(hashes, return_counts=True)
        return replace(self, keys=keys[counts >= self.least])

    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return `SequenceRows`, sentences being the sequences; evidence is the known features of a token."""
        k = len(group.candidates)
        rows, sequences = self.rows(view, instances.positions)
        costs = (np.arange(k) != instances.observed[:, None]).astype(np.float32)
        known = np.diff(rows.indptr).astype(np.int32)
        asked = np.full(len(instances) * k, n_features(self.classes), np.int32)
        return Features(SequenceRows(rows, costs, sequences), np.repeat(known, k), asked)

    def rows(self, view: TokenView, positions: NDArray[np.int64]) -> tuple[Any, NDArray[np.int64]]:
        """Return the features of tokens, a csr_array of shape (n, D), and the sentence of each."""
        from scipy.sparse import csr_array

        hashes = _hashes(view, positions, self.classes)
        indptr, indices = self._looked_up(hashes)
        ones = np.ones(len(indices), np.float32)
        rows = csr_array((ones, indices, indptr), (len(hashes), len(self._keys)))
        return rows, view.sentences.searchsorted(positions, side="right")

    def _looked_up(self, hashes: NDArray[np.uint32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the columns of features, as `token_context_arrays.look_up`."""
        if not use_numba(hashes.size):
            return in_arrays.look_up(hashes, self._keys)
        from disambig.features.tokens.token_context_kernels import look_up

        keys, slots = self._index
        indptr = np.empty(len(hashes) + 1, np.int32)
        indices = np.empty(hashes.size, np.int32)
        n = look_up(hashes, keys, slots, indptr, indices)
        return indptr, indices[:n]

    def only(self, kept: NDArray[np.bool_]) -> TokenContext:
        """Return the extractor with the columns in `kept` alone, shape (D,)."""
        return replace(self, keys=self._keys[kept])

    def beside(self, other: TokenContext) -> TokenContext:
        """Return the extractor with the columns of both."""
        return replace(self, keys=np.union1d(self._keys, other._keys))

    @property
    def _keys(self) -> NDArray[np.uint32]:
        return np.zeros(0, np.uint32) if self.keys is None else self.keys

    @cached_property
    def _index(self) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
        from disambig.features.tokens.token_context_kernels import fill_index

        keys = self._keys
        slots = np.zeros(1 << max(4, (2 * len(keys)).bit_length()), np.int32)
        fill_index(keys, slots)
        return keys, slots

    def state(self) -> Arrays:
        """Return the features that have columns."""
        classes: Arrays = {} if self.classes is None else self.classes.state()
        return {"keys": self._keys, **classes}

    def from_state(self, arrays: Arrays) -> TokenContext:
        """Return an extractor with the columns of `state`; ValueError where they are not in order."""
        keys = arrays["keys"]
        if keys.ndim != 1 or keys.dtype != np.uint32 or not (np.diff(keys.astype(np.int64)) > 0).all():
            raise ValueError("token context: keys are not rising")
        classes = WordClasses.from_state(arrays) if "class_words" in arrays else None
        return replace(self, keys=keys, classes=classes)


def n_features(classes: WordClasses | None) -> int:
    """Return how many features a token has."""
    return len(TEMPLATES) + (0 if classes is None else len(classes.templates))


def _hashes(view: TokenView, positions: NDArray[np.int64], classes: WordClasses | None) -> NDArray[np.uint32]:
    """Return the features of tokens as hashes, shape (n, F); `positions` rise."""
    if not len(positions):
        return np.zeros((0, n_features(classes)), np.uint32)
    # only the sentences and documents that the tokens are in are looked at
    first, last = view.sentences.searchsorted(positions[[0, -1]], side="right") + np.array([-1, 0])
    sentences = view.sentences[first : last + 1]
    inside = slice(int(sentences[0]), int(sentences[-1]))
    words = np.flatnonzero(view.ends[inside] > view.starts[inside]) + inside.start
    one, other = view.document_of(positions[[0, -1]]).tolist()
    texts = view.texts[one : other + 1]
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    offsets = (np.cumsum(lengths) - lengths)[view.document_of(words) - one]
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), "<u4")
    table = characters.table(characters.size_for(int(codes.max(initial=0))))
    depth = 0 if classes is None else classes.depth
    values = np.empty((len(words), CLASS + depth), np.uint64)
    templates = TEMPLATES
    if classes is not None:
        values[:, CLASS:] = classes.of(view.hashes[words])
        templates = np.concatenate([templates, classes.templates])
    way: Any = in_arrays
    if use_numba(len(words) * len(templates)):
        from disambig.features.tokens import token_context_kernels as way
    way.attributes(codes, table, view.starts[words] + offsets, view.ends[words] + offsets, values)
    found = np.empty((len(words), len(templates)), np.uint32)
    way.features(values, templates, words.searchsorted(sentences), found)
    return found if len(words) == len(positions) else found[words.searchsorted(positions)]
