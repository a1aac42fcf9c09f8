"""Charts: the parses of sentences under a binarised grammar, packed as hypergraphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.data import offsets_from_sizes
from disambig.decode.hypergraph import Hypergraph, Hypergraphs
from disambig.errors import UserError
from disambig.type_aliases import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class BinaryGrammar:
    """Binary and unary rules with log probabilities.

    A cell of a chart holds each symbol twice: "below", made from a word or by a binary rule, and "above",
    made from one below by at most one unary rule (or by none, as the symbol itself). The children of a
    binary rule are above. So no derivation is infinite. A chain of several unary steps in a treebank is a
    single rule here; whoever makes the grammar must store its steps.

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
        A smaller grammar that is used to prune charts of this one.
    coarse : array of int32, shape (n_symbols,), or None
        Symbol of `coarser` for each symbol here.
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
    """The possible symbols of each word of a sentence and their scores: the lexical edges of its chart.

    Attributes
    ----------
    length : int
        Number of words in the sentence, at least one.
    positions, symbols : arrays of int32, shape (n,)
        Place of the word, and symbol (below).
    scores : array of float64, shape (n,)
        Log probabilities of the word given the symbol, without unary rules.
    """

    length: int
    positions: NDArray[np.int32]
    symbols: NDArray[np.int32]
    scores: NDArray[np.float64]


Int32s = NDArray[np.int32]
SortedWords = tuple[Ints, Int32s, Floats, Int32s]
"""Lexical edges of a sentence, sorted by place: offsets of places, symbols, scores, numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class GrammarIndex:
    """A checked and sorted grammar."""

    # Offsets of the pairs of each left child, (n_symbols + 1,); right child of each pair, (n_pairs,); offsets
    # of the rules of each pair, (n_pairs + 1,); parents, scores and numbers of rules, (n_binary,)
    pairs: tuple[Ints, Int32s, Ints, Int32s, Floats, Int32s]
    # Offsets of the unary rules by child, (n_symbols + 1,); their parents, scores and numbers
    chains: tuple[Ints, Int32s, Floats, Int32s]
    # uint8 (n_symbols,): 1 if the symbol is a left child of some rule, 2 if a right one, 3 if both
    sides: NDArray[np.uint8]

    @classmethod
    def from_grammar(cls, grammar: BinaryGrammar) -> GrammarIndex:
        """Sort a grammar; rules with the score minus infinity are left out."""
        check_grammar(grammar)
        n = len(grammar.symbols)
        binary = np.flatnonzero(grammar.binary_scores > -np.inf).astype(np.int32)
        rules = grammar.binary[binary]
        # by left child, right child and number: the rules of a pair of children are adjacent
        order = np.lexsort((binary, rules[:, 2], rules[:, 1]))
        binary, rules = binary[order], rules[order]
        begins_pair = np.ones(len(rules), bool)
        begins_pair[1:] = (rules[1:, 1:] != rules[:-1, 1:]).any(axis=1)
        starts = np.flatnonzero(begins_pair)
        by_left = np.searchsorted(rules[starts, 1], np.arange(n + 1))
        unary = np.flatnonzero(grammar.unary_scores > -np.inf).astype(np.int32)
        unary = unary[np.argsort(grammar.unary[unary, 1], kind="stable")]
        by_child = np.searchsorted(grammar.unary[unary, 1], np.arange(n + 1))
        sides = np.zeros(n, np.uint8)
        sides[rules[:, 1]] |= 1
        sides[rules[:, 2]] |= 2
        return cls(
            (
                by_left.astype(np.int64),
                _numbers(rules[starts, 2]),
                np.append(starts, len(rules)).astype(np.int64),
                _numbers(rules[:, 0]),
                _floats(grammar.binary_scores[binary]),
                binary,
            ),
            (
                by_child.astype(np.int64),
                _numbers(grammar.unary[unary, 0]),
                _floats(grammar.unary_scores[unary]),
                unary,
            ),
            sides,
        )


@dataclass(frozen=True, slots=True, eq=False)
class WeightedGrammar:
    """A small grammar with weights instead of log probabilities, for the dense compiled functions."""

    # Binary rules, (n_binary, 3), their weights, unary rules, (n_unary, 2), and their weights
    rules: tuple[Int32s, Floats, Int32s, Floats]
    n_symbols: int
    root: int

    @classmethod
    def from_grammar(cls, grammar: BinaryGrammar) -> WeightedGrammar:
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


def _sort_words(words: WordScores, n_symbols: int) -> SortedWords:
    """Sort the entries of a sentence by place; raise ValueError if places, symbols or scores are invalid."""
    positions, symbols, scores = words.positions, words.symbols, words.scores
    if not len(positions) == len(symbols) == len(scores):
        raise ValueError(f"{len(positions)} places, {len(symbols)} symbols, {len(scores)} scores of words")
    if words.length < 1:
        raise ValueError(f"a sentence of {words.length} words")
    if len(positions):
        first, last = int(positions.min()), int(positions.max())
        if not 0 <= first <= last < words.length:
            raise ValueError(f"words at {first} to {last} of a sentence of {words.length}")
        first, last = int(symbols.min()), int(symbols.max())
        if not 0 <= first <= last < n_symbols:
            raise ValueError(f"symbols {first} to {last} of words: there are {n_symbols}")
        if not bool((scores < np.inf).all()):
            raise ValueError("scores of words are NaN or infinite")
    order = np.argsort(positions, kind="stable").astype(np.int32)
    starts = np.searchsorted(positions[order], np.arange(words.length + 1)).astype(np.int64)
    return starts, _numbers(symbols[order]), _floats(scores[order]), order


def check_grammar(grammar: BinaryGrammar) -> None:
    """Raise ValueError if the arrays of a grammar, or of its coarser one, do not fit together."""
    n = len(grammar.symbols)
    if not 0 <= grammar.root < n:
        raise ValueError(f"the root {grammar.root} is not one of the {n} symbols")
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
            raise ValueError(f"`coarse` must map {n} symbols to {size} coarser ones")
        if coarse[grammar.root] != grammar.coarser.root:
            raise ValueError("the root is not the coarser grammar's root")


def _numbers(array: NDArray[np.integer]) -> Int32s:
    return np.ascontiguousarray(array, np.int32)


def _floats(array: NDArray[np.floating]) -> Floats:
    return np.ascontiguousarray(array, np.float64)


_RETRIES = (1.0, 1e-3, 1e-6, 0.0)
"""Factors of the pruning threshold that are tried in turn until there is a parse."""
_NO_PARSE, _TOO_LARGE = "no parse", "too large"


@dataclass(frozen=True, slots=True, eq=False)
class ChartEdges:
    """Descriptions of the edges of charts, arrays of shape ``(n_edges,)``.

    Attributes
    ----------
    kinds : array of int32
        `LEXICAL`, a word; `BINARY` and `UNARY`, a rule; `SELF`, a symbol above made from itself below.
    rules : array of int32
        Index of the rule among the grammar's binary or unary rules, or of a word's entry in the sentence's
        `WordScores`; -1 for `SELF`.
    symbols : array of int32
        The parent symbol.
    starts, ends : arrays of int32
        The edge spans the words ``starts:ends``.
    splits : array of int32
        Start of the second child for `BINARY`; otherwise the same as `ends`.
    """

    LEXICAL: ClassVar[int] = 0
    BINARY: ClassVar[int] = 1
    UNARY: ClassVar[int] = 2
    SELF: ClassVar[int] = 3
    kinds: NDArray[np.int32]
    rules: NDArray[np.int32]
    symbols: NDArray[np.int32]
    starts: NDArray[np.int32]
    splits: NDArray[np.int32]
    ends: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.kinds)

    def take(self, rows: Ints) -> ChartEdges:
        """Return the edges in `rows`, such as those of a derivation."""
        return ChartEdges(*(getattr(self, column.name)[rows] for column in fields(self)))


@dataclass(frozen=True, slots=True, eq=False)
class Charts:
    """The charts of sentences: one hypergraph for each sentence that has a parse.

    Attributes
    ----------
    graphs : Hypergraphs
        The layout for `disambig.decode.Hypergraph`. Each edge is in some parse.
    scores : array of float64, shape (n_edges,)
        Scores from the grammar.
    edges : ChartEdges
    sentences : array of int64, shape (n_charts,)
        Index of the sentence of each chart.
    thresholds : array of float64, shape (n_charts,)
        Threshold by which each chart was finally pruned; 0 for no pruning.
    without_parse : array of int64
        Sentences that the grammar cannot parse, even without pruning.
    too_large : array of int64
        Sentences whose charts were abandoned because they had more edges than `ChartParser.most_edges`.
    """

    graphs: Hypergraphs
    scores: NDArray[np.float64]
    edges: ChartEdges
    sentences: Ints
    thresholds: NDArray[np.float64]
    without_parse: Ints
    too_large: Ints

    def __len__(self) -> int:
        return len(self.sentences)

    @classmethod
    def parse(cls, grammar: BinaryGrammar, sentences: Sequence[WordScores], **settings: Any) -> Charts:
        """Build the charts of sentences; `settings` are those of `ChartParser`."""
        return ChartParser(grammar, **settings).charts(sentences)

    def pruned(self, scores: NDArray[np.float64], threshold: float) -> Charts:
        """Return the charts without edges whose marginal under `scores` is below a threshold.

        The best derivation of each chart is always kept.
        """
        decoder = Hypergraph()
        probable = decoder.marginals(scores, self.graphs)[0] >= threshold
        # the edges of the best derivation are kept even below the threshold: every chart needs a derivation
        graphs, rows = self.graphs.keep(probable | (decoder.best(scores, self.graphs) > 0))
        return replace(self, graphs=graphs, scores=self.scores[rows], edges=self.edges.take(rows))


@dataclass(frozen=True, slots=True, eq=False)
class Parse:
    """The best parse of a sentence.

    Attributes
    ----------
    score : float
    edges : ChartEdges
        The tree in preorder: an edge, then all below its first child, then all below its second.
    """

    score: float
    edges: ChartEdges


@dataclass(frozen=True, slots=True, eq=False)
class ChartParser:
    """Parse sentences with a binarised grammar.

    If the grammar has a coarser one, a chart contains only symbols whose coarse symbol has a posterior
    probability above `threshold` over the span, below or above (see `BinaryGrammar`). A sentence that cannot
    be parsed then is parsed again with a thousandth and a millionth of the threshold, and without pruning.

    Parameters
    ----------
    grammar : BinaryGrammar
        If its `coarser` grammar has a coarser one itself, that is ignored.
    threshold : float
        0 for no pruning.
    most : int, optional
        Maximum number of symbols above in a cell; those with the best derivations of their words are kept.
    most_edges : int
        A chart with more edges (before those that are in no parse are removed) is abandoned. 10 million
        edges take about 500 MB.

    Raises
    ------
    ValueError
        If the grammar's arrays do not fit together.
    """

    grammar: BinaryGrammar
    threshold: float = 1e-4
    most: int | None = None
    most_edges: int = 10_000_000
    _index: GrammarIndex = field(init=False, repr=False)
    _coarse: WeightedGrammar | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not 0.0 <= self.threshold < 1.0:
            raise UserError("D620", value=self.threshold)
        for name in ("most", "most_edges"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UserError("D621", setting=f"ChartParser.{name}", value=value)
        coarser = self.grammar.coarser
        # set once here: a frozen dataclass allows no assignment, and sorting the grammar takes time
        weighted = None if coarser is None else WeightedGrammar.from_grammar(coarser)
        object.__setattr__(self, "_index", GrammarIndex.from_grammar(self.grammar))
        object.__setattr__(self, "_coarse", weighted)

    def charts(self, sentences: Sequence[WordScores]) -> Charts:
        """Build the charts of sentences.

        For pruning, a coarse symbol of a word has the score of the most probable of its symbols.

        Raises
        ------
        ValueError
            If places, symbols or scores of words are out of range.
        """
        return self._build(sentences, all_edges=True)

    def best(self, sentences: Sequence[WordScores]) -> list[Parse | None]:
        """Return the best parse of each sentence without building its whole chart; None if there is none."""
        charts = self._build(sentences, all_edges=False)
        parses: list[Parse | None] = [None] * len(sentences)
        for sentence, (scores, derivations) in zip(
            charts.sentences.tolist(), Hypergraph().top(charts.scores, charts.graphs, 1), strict=True
        ):
            parses[sentence] = Parse(float(scores[0]), charts.edges.take(derivations[0]))
        return parses

    def _build(self, sentences: Sequence[WordScores], *, all_edges: bool) -> Charts:
        """Build the charts of the sentences that have one."""
        built, without_parse, too_large = [], [], []
        for i, words in enumerate(sentences):
            threshold, chart = self._chart(words, all_edges)
            if chart == _NO_PARSE:
                without_parse.append(i)
            elif chart == _TOO_LARGE:
                too_large.append(i)
            else:
                built.append((i, threshold, *chart))
        numbers, thresholds, n_nodes, heads, tails, scores, descriptions = (
            zip(*built, strict=True) if built else [()] * 7
        )
        empty = np.zeros((0, 6), np.int32)
        graphs = Hypergraphs(
            offsets_from_sizes(map(len, heads)),
            offsets_from_sizes(n_nodes),
            np.concatenate([empty[:, 0], *heads]),
            np.concatenate([empty[:, :2], *tails]),
        )
        columns = np.concatenate([empty, *descriptions]).T
        return Charts(
            graphs,
            np.concatenate([np.zeros(0), *scores]),
            ChartEdges(*(np.ascontiguousarray(column) for column in columns)),
            np.array(numbers, np.int64),
            np.array(thresholds, np.float64),
            np.array(without_parse, np.int64),
            np.array(too_large, np.int64),
        )

    def _chart(self, words: WordScores, all_edges: bool) -> tuple[float, tuple[Any, ...] | str]:
        """Return the threshold by which a sentence was pruned, and its chart or why there is none."""
        from disambig.decode._chart_kernels import FOUND, TOO_LARGE, fill, packed

        lexical = _sort_words(words, len(self.grammar.symbols))
        pruner = None
        if self._coarse is not None and self.threshold:
            pruner = _Pruner(self, int(words.length), lexical)
        everything = np.zeros((0, 0), np.bool_)
        mapping = np.zeros(0, np.int32)
        if self.grammar.coarse is not None:
            mapping = self.grammar.coarse.astype(np.int32)
        for factor in _RETRIES if pruner is not None else (0.0,):
            threshold = self.threshold * factor
            allowed = everything, everything
            if pruner is not None and factor:
                kept = pruner.kept(threshold)
                if kept is None:
                    continue
                allowed = kept
            status, n_nodes, _, nodes, edges = fill(
                int(words.length),
                int(self.grammar.root),
                lexical,
                self._index.pairs,
                self._index.chains,
                self._index.sides,
                mapping,
                *allowed,
                self.most or 0,
                all_edges,
                self.most_edges,
            )
            if status == TOO_LARGE:
                return threshold, _TOO_LARGE
            if status == FOUND:
                scores = self.grammar.binary_scores, self.grammar.unary_scores, words.scores
                return threshold, packed(n_nodes, nodes, edges, *map(_floats, scores))
        return 0.0, _NO_PARSE


class _Pruner:
    """Inside sums of a sentence under the coarser grammar, which serve for several thresholds."""

    def __init__(self, parser: ChartParser, length: int, sorted_words: SortedWords) -> None:
        from disambig.decode._chart_kernels import coarse_inside

        grammar = parser._coarse
        assert grammar is not None and parser.grammar.coarse is not None
        self._grammar, self._length = grammar, length
        mapping = parser.grammar.coarse.astype(np.int32)
        n_cells = length * (length + 1) // 2
        self._below, self._above = (np.empty((n_cells, grammar.n_symbols)) for _ in range(2))
        self._scale = np.empty(n_cells)
        starts, symbols, scores, _ = sorted_words
        sums = self._below, self._above, self._scale
        coarse_inside(length, starts, symbols, scores, mapping, *grammar.rules, *sums)

    def kept(self, threshold: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
        """Return masks of the allowed symbols of cells, below and above; None if there is no coarse parse."""
        from disambig.decode._chart_kernels import coarse_outside

        below, above = (np.empty(self._below.shape, np.bool_) for _ in range(2))
        any_parse = coarse_outside(
            self._length,
            self._grammar.root,
            threshold,
            *self._grammar.rules,
            self._below,
            self._above,
            self._scale,
            below,
            above,
        )
        return (below, above) if any_parse else None
