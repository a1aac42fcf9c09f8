"""Missing words: the odds that a word from a list belongs between two words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import (
    CandidateFinder,
    Columns,
    Group,
    GroupedInstances,
    apart,
    distinct_texts,
    empty_places,
)
from disambig.errors import UserError
from disambig.features.context_window import feature_buckets
from disambig.features.rows import StatelessExtractor, dense_features
from disambig.files import read_stored, write_stored
from disambig.runtime import use_numba
from disambig.text import TokenView
from disambig.type_aliases import Bools, Ints
from disambig.types import Features

FILE = "weights.npz"
_BLOCK = 8192
"""Number of places at a time, so that their features stay in the CPU cache."""


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """Weights for finding places where a word from a list may be missing.

    Attributes
    ----------
    weights : array of int8, shape (a power of two,)
        One per bucket of hashed features.
    header : dict
        ``tokenisation``, ``scale`` of the weights, and further entries: words, sources, licence.
    """

    weights: NDArray[np.int8]
    header: dict[str, Any]

    @classmethod
    def load(cls, folder: str | Path) -> Gaps:
        """Read the weights from a folder.

        Raises
        ------
        UserError
            D424 if a file is missing or was not written by `save`.
        """
        header, (weights,) = read_stored(folder, FILE, ("weights",), code="D424")
        gaps = cls(weights, header)
        problem = gaps._problem()
        if problem:
            raise UserError("D424", path=folder, problem=problem)
        return gaps

    def save(self, folder: str | Path) -> None:
        """Write `header.json` and `weights.npz` to `folder`."""
        write_stored(folder, FILE, self.header, weights=self.weights)

    def log_odds(self, view: TokenView, left: Ints, right: Ints) -> NDArray[np.float32]:
        """Return the log-odds that a word from the list belongs between two tokens, shape ``(n,)``.

        Parameters
        ----------
        view : TokenView
            Made by the tokenisation with which the weights were learned.
        left, right : arrays of int64, shape (n,)
            Tokens of `view` before and after the place; the word at the place itself is ignored. Both must be
            in the sentence, whose boundaries are tokens too.

        Raises
        ------
        UserError
            D425 if another tokenisation made the view.
        """
        if view.tokenisation != self.header["tokenisation"]:
            raise UserError("D425", seen=view.tokenisation, known=self.header["tokenisation"])
        bits = len(self.weights).bit_length() - 1
        sums = np.empty(len(left), np.int32)
        if use_numba(len(left) * 8):
            from disambig.features._network_kernels import sum_gap_weights

            sum_gap_weights(view.hashes, left, right, self.weights, bits, sums)
        else:
            for start in range(0, len(left), _BLOCK):
                part = slice(start, start + _BLOCK)
                buckets = feature_buckets(view.hashes, left[part], right[part], bits)
                sums[part] = self.weights[buckets].sum(axis=0, dtype=np.int32)
        return sums.astype(np.float32) * np.float32(self.header["scale"])

    def _problem(self) -> str | None:
        """Return what is wrong with the array or the header, or None."""
        array = self.weights
        # the number of weights must be a power of two, which has a single bit
        if array.dtype != np.int8 or array.ndim != 1 or array.size < 2 or array.size & array.size - 1:
            return f"weights of {array.dtype} {array.shape}"
        if not isinstance(self.header, dict) or not isinstance(self.header.get("tokenisation"), str):
            return "no tokenisation in its header"
        scale = self.header.get("scale")
        if not isinstance(scale, float) or not 0 < scale < 1e6:
            return "no scale in its header"
        return None


RATE = 0.1
_INITIAL_SUM = 0.1
"""Initial sum of squared gradients, which limits the first steps to a third."""
_MAX_WEIGHT = 127


def learn_gaps(
    views: Iterable[TokenView], words: Sequence[str], *, bits: int = 20, header: dict[str, Any] | None = None
) -> Gaps:
    """Learn where words from a list occur, in one pass over text.

    Parameters
    ----------
    views : iterable of TokenView
        Text in random order, all from one tokenisation.
    words : sequence of str
        The list; for a candidate of two words, its outer neighbours are used.
    bits : int
        The number of weights is ``2 ** bits``.
    header : dict, optional
        Further header entries: sources, licence.

    Raises
    ------
    ValueError
        If no text contains a place.
    """
    from disambig.features._network_kernels import descend_gaps

    finder = CandidateFinder.from_groups((Group("gaps", tuple(words)),))
    weights, squares = np.zeros(1 << bits, np.float32), np.full(1 << bits, _INITIAL_SUM, np.float32)
    tokenisation = None
    for view in views:
        tokenisation = view.tokenisation
        left, right, filled = _gap_places(view, finder)
        descend_gaps(view.hashes, left, right, filled, weights, squares, bits, np.float32(RATE))
    if tokenisation is None or not weights.any():
        raise ValueError("there is no text to learn from")
    scale = max(float(np.quantile(np.abs(weights[weights != 0]), 0.9999)), 1e-3) / _MAX_WEIGHT
    quantised = np.clip(np.round(weights / scale), -_MAX_WEIGHT, _MAX_WEIGHT).astype(np.int8)
    return Gaps(quantised, {"tokenisation": tokenisation, "scale": scale, **(header or {})})


def _gap_places(view: TokenView, finder: CandidateFinder) -> tuple[Ints, Ints, Bools]:
    """Return the tokens before and after each place, and whether a listed word fills it, in text order."""
    instances = finder.find(view)
    places = empty_places(view)
    empty = places[apart(places, instances, len(view))]
    left = np.concatenate([instances.positions - 1, empty - 1])
    right = np.concatenate([instances.positions + instances.lengths, empty])
    filled = np.repeat([True, False], [len(instances), len(empty)])
    order = np.argsort(left, kind="stable")
    return left[order], right[order], filled[order]


GROUP_NAME = "gap"
ZERO = ""


@dataclass(frozen=True, slots=True)
class MissingWordOdds(StatelessExtractor):
    """Extractor of one attribute: for the empty candidate, the log-odds of no word; zero for words.

    Parameters
    ----------
    gaps : path
        A folder with weights learned by `learn_gaps`.
    """

    gaps: str | Path

    def transform(self, view: TokenView, table: GroupedInstances) -> list[Features]:
        """Return one attribute per candidate, shape ``(n, K, 1)``; it is not evidence for a flag.

        Per-instance candidates give `DenseLists` with a column that all candidates share.
        """
        values, nothing = np.zeros((table.n_rows, 1), np.float32), np.zeros(table.n_rows, np.int32)
        is_empty = _is_empty(table)
        if is_empty.any():
            positions, lengths = table.instances.positions, table.instances.lengths
            odds = load_gaps(str(self.gaps)).log_odds(view, positions - 1, positions + lengths)
            values[is_empty, 0] = -odds.repeat(table.sizes)[is_empty]
        return dense_features(table, values, nothing, nothing, _gap_columns, _LIST_COLUMNS)


def _is_empty(table: GroupedInstances) -> Bools:
    """Return which candidates of a table are empty, shape ``(n_rows,)``."""
    if table.lists is not None:
        texts, row = distinct_texts(table.lists.texts)
        return np.array([text == ZERO for text in texts], bool)[row]
    is_empty = np.zeros(table.n_rows, bool)
    for group, rows in zip(table.groups, table.rows, strict=True):
        if ZERO in group.candidates:
            is_empty[rows].reshape(-1, len(group.candidates))[:, group.candidates.index(ZERO)] = True
    return is_empty


@lru_cache(maxsize=256)
def _gap_columns(group: Group) -> Columns:
    names = [f"{candidate or 'no word'}: place" for candidate in group.candidates]
    return Columns.of_group(GROUP_NAME, 1, candidates=len(names), names=names)


_LIST_COLUMNS = Columns.of_group(GROUP_NAME, 1, names=["no word: place"])


@lru_cache(maxsize=8)
def load_gaps(folder: str) -> Gaps:
    """Return the weights in a folder; each folder is read once."""
    return Gaps.load(Path(folder))
