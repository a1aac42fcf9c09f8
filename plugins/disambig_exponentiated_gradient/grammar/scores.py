"""Relative frequencies of rules as log probabilities of a `BinaryGrammar`.

A cell's symbol above is, with probability ``none``, the one below, else a chain leads to another one. A chart
takes the first for free, so what it costs is put on what makes the symbol below, and taken off chains to it:
each derivation has the probability that it has in the grammar.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from disambig.api.decoding import BinaryGrammar
from disambig_exponentiated_gradient.treebank.symbols import coarse_symbol
from disambig_exponentiated_gradient.treebank.tree import TOP

from .counting import Labels, RuleCounts

SELDOM = 0.1
"""Seen this often, at least: a symbol that is never unchanged in the treebank may yet be."""


def unchanged_scores(counts: RuleCounts) -> dict[str, float]:
    """Return the log probability of each symbol above that no chain made it; 0 where it is never above."""
    above = Counter(counts.unchanged)
    for (symbol, _, _), n in counts.chains.items():
        above[symbol] += n
    return {symbol: float(np.log(max(counts.unchanged[symbol], SELDOM) / n)) for symbol, n in above.items()}


def grammar_of(
    counts: RuleCounts, coarser: BinaryGrammar | None = None
) -> tuple[BinaryGrammar, list[Labels], dict[str, float]]:
    """Return a grammar, the path of each of its unary rules, and what a word's tag costs by itself.

    Parameters
    ----------
    counts : RuleCounts
    coarser : BinaryGrammar, optional
        That of the counts' coarse symbols.

    Returns
    -------
    grammar : BinaryGrammar
    paths : list of tuples of str, length n_unary
    tags : dict
        Of each tag the log probability that it is made by a word, and of being unchanged.
    """
    symbols = counts.symbols()
    number = {symbol: i for i, symbol in enumerate(symbols)}
    none = unchanged_scores(counts)
    below, above = Counter(counts.lexical), Counter(counts.unchanged)
    for (parent, _, _), n in counts.binary.items():
        below[parent] += n
    for (symbol, _, _), n in counts.chains.items():
        above[symbol] += n
    binary, chains = sorted(counts.binary), sorted(counts.chains)
    binary_scores = [np.log(counts.binary[rule] / below[rule[0]]) + none.get(rule[0], 0.0) for rule in binary]
    chain_scores = [np.log(counts.chains[rule] / above[rule[0]]) - none.get(rule[1], 0.0) for rule in chains]
    grammar = BinaryGrammar(
        symbols=tuple(symbols),
        root=next(i for i, symbol in enumerate(symbols) if coarse_symbol(symbol) == TOP),
        binary=_rows([[number[symbol] for symbol in rule] for rule in binary], 3),
        binary_scores=np.array(binary_scores, np.float64),
        unary=_rows([[number[symbol] for symbol in rule[:2]] for rule in chains], 2),
        unary_scores=np.array(chain_scores, np.float64),
        coarser=coarser,
        coarse=_map(symbols, coarser),
    )
    tags = {tag: float(np.log(n / below[tag])) + none.get(tag, 0.0) for tag, n in counts.lexical.items()}
    return grammar, [path for _, _, path in chains], tags


def _rows(rows: Sequence[Sequence[int]], width: int) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
    return np.array(rows, np.int32).reshape(len(rows), width)


def _map(
    symbols: Sequence[str], coarser: BinaryGrammar | None
) -> np.ndarray[tuple[int], np.dtype[np.int32]] | None:
    if coarser is None:
        return None
    number = {symbol: i for i, symbol in enumerate(coarser.symbols)}
    return np.array([number[coarse_symbol(symbol)] for symbol in symbols], np.int32)
