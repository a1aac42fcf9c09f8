"""Parses of sentences, packed in charts: from a binarised grammar and scores of words to hypergraphs (CKY).

A coarser grammar prunes: only what it finds likely enough over a span is looked for there (Charniak et al.
2006, multilevel coarse-to-fine parsing; Goodman 1997). Grammars come from plugins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.decode.grammar import BinaryGrammar, WordScores
from disambig.decode.grammar_index import GrammarIndex, SortedWords, Weighted, WordArrays
from disambig.decode.hypergraph import Hypergraph
from disambig.decode.hypergraphs import Hypergraphs
from disambig.errors import UserError

Ints = NDArray[np.int64]
_RETRIES = (1.0, 1e-3, 1e-6, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class ChartEdges:
    """What the edges of charts are, shapes ``(n_edges,)``.

    Attributes
    ----------
    kinds : array of int32
        `LEXICAL`, a word; `BINARY` and `UNARY`, a rule of two children or of one; `SELF`, a symbol above made
        of itself below.
    rules : array of int32
        Number of the rule among the grammar's binary or unary ones, of a word among the sentence's
        `WordScores`, -1 of `SELF`.
    symbols : array of int32
        What is made: the parent.
    starts, ends : arrays of int32
        Its words are ``starts:ends``.
    splits : array of int32
        Where the second child begins, of `BINARY`; else the same as `ends`.
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
        """Return some edges, such as those of a derivation."""
        return ChartEdges(*(getattr(self, each.name)[rows] for each in fields(self)))


@dataclass(frozen=True, slots=True, eq=False)
class Charts:
    """The charts of sentences: one hypergraph each, of those that have a parse.

    Attributes
    ----------
    graphs : Hypergraphs
        The layout for `disambig.decode.hypergraph.Hypergraph`. Each edge is in some parse.
    scores : array of float64, shape (n_edges,)
        Those of the grammar.
    edges : ChartEdges
    sentences : array of int64, shape (n_charts,)
        Which sentence each chart is of.
    thresholds : array of float64, shape (n_charts,)
        What each was pruned with in the end; 0 for not at all.
    without_parse : array of int64
        Sentences that the grammar has no parse of, with any pruning or with none.
    too_large : array of int64
        Sentences whose charts were given up, for more edges than `ChartParser.most_edges`.
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
    def of(cls, grammar: BinaryGrammar, sentences: Sequence[WordScores], **settings: Any) -> Charts:
        """Return the charts of sentences; `settings` are those of `ChartParser`."""
        return ChartParser(grammar, **settings).charts(sentences)

    def pruned(self, scores: NDArray[np.float64], threshold: float) -> Charts:
        """Return the charts without edges whose marginal under `scores` is below a threshold.

        The best derivation of each stays, however improbable it is.
        """
        decoder = Hypergraph()
        kept = decoder.marginals(scores, self.graphs)[0] >= threshold
        graphs, rows = self.graphs.keep(kept | (decoder.best(scores, self.graphs) > 0))
        return Charts(
            graphs,
            self.scores[rows],
            self.edges.take(rows),
            self.sentences,
            self.thresholds,
            self.without_parse,
            self.too_large,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Parse:
    """The best parse of a sentence.

    Attributes
    ----------
    score : float
    edges : ChartEdges
        A tree from the top: an edge, then all below its first child, then all below its second.
    """

    score: float
    edges: ChartEdges


@dataclass(frozen=True, slots=True, eq=False)
class ChartParser:
    """Parse sentences by a binarised grammar.

    Where the grammar has a coarser one, a chart has only symbols whose coarse symbol has a posterior
    probability above `threshold` over the span, below or above (see `BinaryGrammar`), in parses of such
    symbols. A sentence that has no parse then is parsed again with a thousandth of it, a millionth, and
    without pruning.

    Parameters
    ----------
    grammar : BinaryGrammar
        Of its `coarser` grammar a `coarser` one of its own is not looked at.
    threshold : float
        0 for no pruning.
    most : int, optional
        Symbols of a cell, above, at most: those with the best derivations of their words.
    most_edges : int
        A chart of more edges, before those that are in no parse are left out, is given up: 10 million take
        some 500 MB.

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
    _coarse: Weighted | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not 0.0 <= self.threshold < 1.0:
            raise UserError("D620", value=self.threshold)
        for name in ("most", "most_edges"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UserError("D621", setting=f"ChartParser.{name}", value=value)
        coarser = self.grammar.coarser
        object.__setattr__(self, "_index", GrammarIndex.of(self.grammar))
        object.__setattr__(self, "_coarse", None if coarser is None else Weighted.of(coarser))

    def charts(self, sentences: Sequence[WordScores], coarse: Sequence[WordScores] | None = None) -> Charts:
        """Return the charts of sentences.

        Parameters
        ----------
        sentences : sequence of WordScores
        coarse : sequence of WordScores, optional
            The same words with symbols of the coarser grammar; by default a coarse symbol scores what the
            likeliest of its symbols does.

        Raises
        ------
        ValueError
            If places, symbols or scores of words are out of range.
        """
        return self._gathered(sentences, coarse, all_edges=True)

    def best(
        self, sentences: Sequence[WordScores], coarse: Sequence[WordScores] | None = None
    ) -> list[Parse | None]:
        """Return the best parse of each sentence in its chart, without building that; None for none."""
        charts = self._gathered(sentences, coarse, all_edges=False)
        found: list[Parse | None] = [None] * len(sentences)
        for sentence, (scores, derivations) in zip(
            charts.sentences.tolist(), Hypergraph().top(charts.scores, charts.graphs, 1), strict=True
        ):
            found[sentence] = Parse(float(scores[0]), charts.edges.take(derivations[0]))
        return found

    def _gathered(
        self, sentences: Sequence[WordScores], coarse: Sequence[WordScores] | None, *, all_edges: bool
    ) -> Charts:
        """Return the charts of those sentences that have one."""
        if coarse is not None and len(coarse) != len(sentences):
            raise ValueError(f"{len(sentences)} sentences, {len(coarse)} of coarse words")
        found, missing = [], {"none": [], "too large": []}  # type: ignore[var-annotated]
        for i, words in enumerate(sentences):
            threshold, chart = self._chart(words, coarse[i] if coarse is not None else None, all_edges)
            if isinstance(chart, str):
                missing[chart].append(i)
            else:
                found.append((i, threshold, *chart))
        numbers, thresholds, nodes, heads, tails, scores, what = (
            zip(*found, strict=True) if found else [()] * 7
        )
        none = np.zeros((0, 6), np.int32)
        offsets = np.concatenate([[0], np.cumsum([len(each) for each in heads])]).astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(nodes)]).astype(np.int64)
        graphs = Hypergraphs(
            offsets, starts, np.concatenate([none[:, 0], *heads]), np.concatenate([none[:, :2], *tails])
        )
        columns = np.concatenate([none, *what]).T
        return Charts(
            graphs,
            np.concatenate([np.zeros(0), *scores]),
            ChartEdges(*(np.ascontiguousarray(each) for each in columns)),
            np.array(numbers, np.int64),
            np.array(thresholds, np.float64),
            np.array(missing["none"], np.int64),
            np.array(missing["too large"], np.int64),
        )

    def _chart(
        self, words: WordScores, coarse: WordScores | None, all_edges: bool
    ) -> tuple[float, tuple[Any, ...] | str]:
        """Return the threshold that a sentence was pruned with, and its chart, or why there is none."""
        from disambig.decode.chart_kernels import FOUND, TOO_LARGE, fill, packed

        own = SortedWords.of(words, len(self.grammar.symbols)).arrays
        pruner = (
            None
            if self._coarse is None or not self.threshold
            else _Pruner(self, int(words.length), own, coarse)
        )
        nothing = np.zeros((0, 0), np.bool_)
        no_coarse = np.zeros(0, np.int32)
        mapping = self.grammar.coarse.astype(np.int32) if self.grammar.coarse is not None else no_coarse
        for times in _RETRIES if pruner is not None else (0.0,):
            threshold = self.threshold * times
            kept = (nothing, nothing)
            if pruner is not None and times:
                allowed = pruner.kept(threshold)
                if allowed is None:
                    continue
                kept = allowed
            status, n_nodes, _, nodes, edges = fill(
                int(words.length),
                int(self.grammar.root),
                own,
                self._index.pairs,
                self._index.chains,
                self._index.sides,
                mapping,
                *kept,
                self.most or 0,
                all_edges,
                self.most_edges,
            )
            if status == TOO_LARGE:
                return threshold, "too large"
            if status == FOUND:
                scores = self.grammar.binary_scores, self.grammar.unary_scores, words.scores
                floats = [np.ascontiguousarray(each, np.float64) for each in scores]
                return threshold, packed(n_nodes, nodes, edges, *floats)
        return 0.0, "none"


class _Pruner:
    """The sums of the coarser grammar over a sentence; asked for one threshold after another."""

    def __init__(self, parser: ChartParser, length: int, own: WordArrays, coarse: WordScores | None) -> None:
        from disambig.decode.coarse_kernels import coarse_inside

        grammar = parser._coarse
        assert grammar is not None and parser.grammar.coarse is not None
        self._grammar, self._length = grammar, length
        mapping = parser.grammar.coarse.astype(np.int32)
        if coarse is not None:
            if coarse.length != length:
                raise ValueError(f"a sentence of {length} words, and of {coarse.length} coarse ones")
            own = SortedWords.of(coarse, grammar.n_symbols).arrays
            mapping = np.arange(grammar.n_symbols, dtype=np.int32)
        n_cells = length * (length + 1) // 2
        self._below, self._above = (np.empty((n_cells, grammar.n_symbols)) for _ in range(2))
        self._scale = np.empty(n_cells)
        starts, symbols, scores, _ = own
        sums = self._below, self._above, self._scale
        coarse_inside(length, starts, symbols, scores, mapping, *grammar.rules, *sums)

    def kept(self, threshold: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
        """Return which symbols a cell may have, below and above; None if there is no coarse parse."""
        from disambig.decode.coarse_kernels import coarse_outside

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
