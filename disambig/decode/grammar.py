"""Binarised grammars as arrays: what charts are built with; where they come from is a plugin's matter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class BinaryGrammar:
    """Rules of two children and of one, with log probabilities.

    A cell of a chart holds each symbol twice: below, made by a word or by a rule of two children, and above,
    made of one below by at most one rule of one child (or by none: the symbol itself). The children of a rule
    of two are above. So no derivation is infinite; a chain of several unary steps in a treebank is a single
    rule here, whose steps whoever made the grammar knows.

    Attributes
    ----------
    symbols : tuple of str
    root : int
        The symbol that spans a whole sentence, above.
    binary : array of int32, shape (n_binary, 3)
        Parent, left child, right child.
    binary_scores : array of float64, shape (n_binary,)
        Log probabilities (or any scores).
    unary : array of int32, shape (n_unary, 2)
        Parent and child.
    unary_scores : array of float64, shape (n_unary,)
    coarser : BinaryGrammar or None
        A smaller grammar by which charts of this one are pruned.
    coarse : array of int32, shape (n_symbols,), or None
        Of each symbol here the one of `coarser`.
    """

    symbols: tuple[str, ...]
    root: int
    binary: NDArray[np.int32]
    binary_scores: NDArray[np.float64]
    unary: NDArray[np.int32]
    unary_scores: NDArray[np.float64]
    coarser: BinaryGrammar | None = None
    coarse: NDArray[np.int32] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class WordScores:
    """What each word of a sentence may be, and how likely each is: the lexical edges of its chart.

    Attributes
    ----------
    length : int
        Words in the sentence, one at least.
    positions, symbols : arrays of int32, shape (n,)
        Where, and which symbol (below).
    scores : array of float64, shape (n,)
        Log probabilities of the word given the symbol, rules of one child not counted.
    """

    length: int
    positions: NDArray[np.int32]
    symbols: NDArray[np.int32]
    scores: NDArray[np.float64]
