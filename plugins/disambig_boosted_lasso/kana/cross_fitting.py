"""Lists of candidates of text that a converter is learned from: each part by a converter of the others.

What a converter has learned it converts too well: a model that ranks its candidates would learn to trust it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api.tasks import CandidateLists

from .converter import Converter
from .segmented import Segmented

Rows = NDArray[np.int64]
BLOCK = 20
"""Neighbouring sentences that stay together."""


def blocks_of(n: int, size: int = BLOCK) -> Rows:
    """Return the block of each of n sentences: neighbours are of one text, and alike."""
    return np.arange(n) // size


def cross_fitted(
    text: Segmented,
    folds: Rows,
    learn: Callable[[Rows], Converter],
    *,
    asked: NDArray[np.bool_] | None = None,
    k: int = 20,
    tell: Callable[[str, int, int], Any] | None = None,
) -> tuple[CandidateLists, Rows]:
    """Return the candidates of sentences, with costs, and which sentences these are.

    Parameters
    ----------
    text : Segmented
    folds : array of int64, shape (n_sentences,)
        Part of each sentence, from 0.
    learn : callable
        Gets the sentences outside a part (their rows, rising), and returns a converter of them.
    asked : array of bool, shape (n_sentences,), optional
        Whose candidates are wanted; by default those of all.
    k : int
        Candidates of a sentence.
    tell : callable, optional
        Gets ``(stage, done, total)``.
    """
    wanted = np.ones(len(text), np.bool_) if asked is None else asked
    lists, rows = [], []
    n = int(folds.max(initial=-1)) + 1
    for fold in range(n):
        if tell is not None:
            tell("converting what others learned from", fold, n)
        within = np.flatnonzero((folds == fold) & wanted)
        if not len(within):
            continue
        some = text.take(within)
        converter = learn(np.flatnonzero(folds != fold))
        lists.append(converter.nbest(some.column(1), k, references=some.column(0)))
        rows.append(within)
    return CandidateLists.joined(lists), np.concatenate(rows)
