"""A binarised grammar as the kernels of charts take it: rules by left child, by pair, by only child."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.decode.grammar import BinaryGrammar, WordScores

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
WordArrays = tuple[Longs, Ints, Floats, Ints]


@dataclass(frozen=True, slots=True, eq=False)
class GrammarIndex:
    """A checked grammar, sorted.

    Attributes
    ----------
    pairs : tuple of arrays
        Where the pairs of each left child begin, (n_symbols + 1,); right child of each pair, (n_pairs,);
        where the rules of each pair begin, (n_pairs + 1,); parents, scores and numbers of rules, (n_binary,).
    chains : tuple of arrays
        Where the rules of one child begin, by child, (n_symbols + 1,); parents, scores and numbers of them.
    sides : array of uint8, shape (n_symbols,)
        1 if the symbol is a left child of some rule, 2 if a right one, 3 if both.
    """

    pairs: tuple[Longs, Ints, Longs, Ints, Floats, Ints]
    chains: tuple[Longs, Ints, Floats, Ints]
    sides: NDArray[np.uint8]

    @classmethod
    def of(cls, grammar: BinaryGrammar) -> GrammarIndex:
        """Sort a grammar; rules that score minus infinity are left out."""
        check_grammar(grammar)
        n = len(grammar.symbols)
        number = np.flatnonzero(grammar.binary_scores > -np.inf).astype(np.int32)
        rules = grammar.binary[number]
        order = np.lexsort((number, rules[:, 2], rules[:, 1]))
        number, rules = number[order], rules[order]
        new = np.ones(len(rules), bool)
        new[1:] = (rules[1:, 1:] != rules[:-1, 1:]).any(axis=1)
        starts = np.flatnonzero(new)
        by_left = np.searchsorted(rules[starts, 1], np.arange(n + 1))
        single = np.flatnonzero(grammar.unary_scores > -np.inf).astype(np.int32)
        single = single[np.argsort(grammar.unary[single, 1], kind="stable")]
        by_child = np.searchsorted(grammar.unary[single, 1], np.arange(n + 1))
        sides = np.zeros(n, np.uint8)
        sides[rules[:, 1]] |= 1
        sides[rules[:, 2]] |= 2
        return cls(
            (
                by_left.astype(np.int64),
                _numbers(rules[starts, 2]),
                np.append(starts, len(rules)).astype(np.int64),
                _numbers(rules[:, 0]),
                _floats(grammar.binary_scores[number]),
                number,
            ),
            (
                by_child.astype(np.int64),
                _numbers(grammar.unary[single, 0]),
                _floats(grammar.unary_scores[single]),
                single,
            ),
            sides,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Weighted:
    """A small grammar with weights for log probabilities, as the dense kernels take it.

    Attributes
    ----------
    rules : tuple of arrays
        Rules of two children, (n_binary, 3), their weights, those of one child, (n_unary, 2), their weights.
    n_symbols, root : int
    """

    rules: tuple[Ints, Floats, Ints, Floats]
    n_symbols: int
    root: int

    @classmethod
    def of(cls, grammar: BinaryGrammar) -> Weighted:
        """Take the exponential of a grammar's scores."""
        check_grammar(grammar)
        return cls(
            (
                _numbers(grammar.binary),
                np.exp(_floats(grammar.binary_scores)),
                _numbers(grammar.unary),
                np.exp(_floats(grammar.unary_scores)),
            ),
            len(grammar.symbols),
            int(grammar.root),
        )


@dataclass(frozen=True, slots=True, eq=False)
class SortedWords:
    """A sentence's lexical edges, checked, by place: where each place's begin, symbols, scores, numbers."""

    arrays: WordArrays

    @classmethod
    def of(cls, words: WordScores, n_symbols: int) -> SortedWords:
        """Sort the entries of a sentence by place.

        Raises
        ------
        ValueError
            If places, symbols or scores are out of range.
        """
        positions, symbols, scores = words.positions, words.symbols, words.scores
        if not len(positions) == len(symbols) == len(scores):
            raise ValueError(
                f"{len(positions)} places, {len(symbols)} symbols, {len(scores)} scores of words"
            )
        if words.length < 1:
            raise ValueError(f"a sentence of {words.length} words")
        if len(positions):
            if not 0 <= int(positions.min()) <= int(positions.max()) < words.length:
                raise ValueError(
                    f"words at {positions.min()} to {positions.max()} of a sentence of {words.length}"
                )
            if not 0 <= int(symbols.min()) <= int(symbols.max()) < n_symbols:
                raise ValueError(
                    f"symbols {symbols.min()} to {symbols.max()} of words: there are {n_symbols}"
                )
            if not bool((scores < np.inf).all()):
                raise ValueError("scores of words are NaN or infinite")
        order = np.argsort(positions, kind="stable").astype(np.int32)
        starts = np.searchsorted(positions[order], np.arange(words.length + 1)).astype(np.int64)
        return cls((starts, _numbers(symbols[order]), _floats(scores[order]), order))


def check_grammar(grammar: BinaryGrammar) -> None:
    """Raise ValueError where the arrays of a grammar do not fit together, or its coarser one's."""
    n = len(grammar.symbols)
    if not 0 <= grammar.root < n:
        raise ValueError(f"the root {grammar.root} is no symbol: there are {n}")
    for name, width in (("binary", 3), ("unary", 2)):
        rules, scores = getattr(grammar, name), getattr(grammar, f"{name}_scores")
        if rules.ndim != 2 or rules.shape[1] != width or scores.shape != (len(rules),):
            raise ValueError(f"{name} rules of shape {rules.shape} with scores of shape {scores.shape}")
        if len(rules) and not 0 <= int(rules.min()) <= int(rules.max()) < n:
            raise ValueError(f"{name} rules have symbols {rules.min()} to {rules.max()}: there are {n}")
        if not bool((scores < np.inf).all()):
            raise ValueError(f"scores of {name} rules are NaN or infinite")
    if (grammar.coarser is None) != (grammar.coarse is None):
        raise ValueError("`coarser` and `coarse` go together")
    if grammar.coarser is not None and grammar.coarse is not None:
        coarse, size = grammar.coarse, len(grammar.coarser.symbols)
        if coarse.shape != (n,) or not 0 <= int(coarse.min()) <= int(coarse.max()) < size:
            raise ValueError(f"`coarse` must say of {n} symbols which of {size} each is")
        if coarse[grammar.root] != grammar.coarser.root:
            raise ValueError("the root is not the coarser grammar's root")


def _numbers(array: NDArray[np.integer]) -> Ints:
    return np.ascontiguousarray(array, np.int32)


def _floats(array: NDArray[np.floating]) -> Floats:
    return np.ascontiguousarray(array, np.float64)
