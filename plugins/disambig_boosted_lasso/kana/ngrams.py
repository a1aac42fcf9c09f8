"""A language model, or a mixture of two, as the arrays that the lattice's kernels walk through.

The decoder asks which words follow a context at all, not only how probable a given word is: so it takes the
n-grams by context (`Level`), with both parts of a mixture behind each other in one numbering. They lie in
few arrays of records: a kernel's call costs some nanoseconds for each array that it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disambig.api import UserError

START, END = 1, 2
MOST = 3
"""Words of the longest n-grams that a state of the lattice tells apart."""
SINGLE = np.dtype([("begin", "i8"), ("log_prob", "f4"), ("back_off", "f4")], align=True)
PAIR = np.dtype(
    [("begin", "i8"), ("word", "i4"), ("log_prob", "f4"), ("back_off", "f4"), ("state", "i4")], align=True
)
TRIPLE = np.dtype([("word", "i4"), ("log_prob", "f4"), ("state", "i4")], align=True)
Records = NDArray[np.void]


class NgramTables(NamedTuple):
    """What `ngram_kernels` walk through; words and n-grams of both parts have one numbering.

    Attributes
    ----------
    singles : array of SINGLE, shape (n_singles + 1,)
        ln P of single words, ln of their weights as contexts, and where the pairs that begin so begin.
    pairs : array of PAIR, shape (n_pairs + 1,)
        By first word and then by last word: that one, ln P, the same of the pair as a context, and the state
        behind it (see `ngram_kernels`).
    triples : array of TRIPLE, shape (n_triples,)
        By context and then by last word: that one, ln P, and the state behind it.
    starts : array of int64, shape (n_parts,)
        The start of a sentence in each part.
    numbers : array of int32, shape (n_parts, n_words)
        Each word of the shared vocabulary in the one numbering.
    shares : array of float64, shape (n_parts, n_words)
        ln of what the probability of its number is multiplied by: the weight of the part, and for words
        unknown to it the share of the unknown word's probability.
    """

    singles: Records
    pairs: Records
    triples: Records
    starts: NDArray[np.int64]
    numbers: NDArray[np.int32]
    shares: NDArray[np.float64]


def tables_of(parts: Sequence[tuple[Sequence[Any], float]], n_words: int) -> NgramTables:
    """Return the tables of one or two models over the first words of one vocabulary.

    Parameters
    ----------
    parts : sequence of (levels, float)
        The `Level`s of each model, and ln of its weight.
    n_words : int
        Size of the vocabulary, of which each model knows the first words; what it does not know shares its
        unknown word's probability.

    Raises
    ------
    UserError
        D673 for n-grams of more than three words.
    """
    from .ngram_kernels import find_states

    if any(len(levels) > MOST for levels, _ in parts):
        raise UserError("D673", order=max(len(levels) for levels, _ in parts), most=MOST)
    n_singles, n_pairs, n_triples = (
        np.cumsum([0, *(len(levels[n]) if n < len(levels) else 0 for levels, _ in parts)])
        for n in range(MOST)
    )
    singles = np.zeros(n_singles[-1] + 1, SINGLE)
    pairs = np.zeros(n_pairs[-1] + 1, PAIR)
    triples = np.zeros(n_triples[-1], TRIPLE)
    for part, (levels, _) in enumerate(parts):
        own = singles[n_singles[part] : n_singles[part + 1]]
        own["log_prob"], own["back_off"] = levels[0].log_probs, levels[0].back_offs
        own["begin"] = n_pairs[part] + (levels[1].begins[:-1] if len(levels) > 1 else 0)
        if len(levels) > 1:
            own = pairs[n_pairs[part] : n_pairs[part + 1]]
            own["log_prob"], own["back_off"] = levels[1].log_probs, levels[1].back_offs
            own["word"] = levels[1].words + n_singles[part]
            own["begin"] = n_triples[part] + (levels[2].begins[:-1] if len(levels) > 2 else 0)
        if len(levels) > 2:
            own = triples[n_triples[part] : n_triples[part + 1]]
            own["word"], own["log_prob"] = levels[2].words + n_singles[part], levels[2].log_probs
    singles["begin"][-1], pairs["begin"][-1] = n_pairs[-1], n_triples[-1]
    goes_on = np.diff(pairs["begin"]) > 0
    pairs["state"][:-1] = np.where(goes_on, n_singles[-1] + np.arange(len(goes_on)), pairs["word"][:-1])
    find_states(singles, pairs, triples)
    numbers, shares = _words(parts, n_singles, n_words)
    return NgramTables(singles, pairs, triples, n_singles[:-1] + START, numbers, shares)


def _words(
    parts: Sequence[tuple[Sequence[Any], float]], firsts: NDArray[np.int64], n_words: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return each word's number in each part, and what it has of that number's probability."""
    numbers = np.zeros((len(parts), n_words), np.int32)
    shares = np.zeros((len(parts), n_words))
    for part, (levels, weight) in enumerate(parts):
        n = len(levels[0])
        numbers[part, :n] = np.arange(n)
        numbers[part] += np.int32(firsts[part])
        shares[part, n:] = shares[part, 0] = -np.log(n_words - n + 1.0)
        shares[part] += weight
    return numbers, shares
