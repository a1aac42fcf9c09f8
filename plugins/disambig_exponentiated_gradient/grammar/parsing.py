"""The PCFG as a parser: sentences in, the best trees out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from disambig.api.decoding import ChartParser, Hypergraph
from disambig_exponentiated_gradient.treebank.tree import Tree

from .derivation import Derivation
from .treebank_grammar import TreebankGrammar

Words = Sequence[str]


@dataclass(frozen=True, slots=True)
class Parses:
    """The best trees of a sentence.

    Attributes
    ----------
    trees : tuple of Tree
        All different, the most probable first; none where no grammar has one.
    scores : tuple of float
        Log probability of each, with its words: that of its best derivation.
    is_fallback : bool
        Whether the grammar has no parse, and the coarser one made these.
    """

    trees: tuple[Tree, ...] = ()
    scores: tuple[float, ...] = ()
    is_fallback: bool = False

    @property
    def best(self) -> Tree | None:
        """The most probable tree."""
        return self.trees[0] if self.trees else None


@dataclass(frozen=True, slots=True, eq=False)
class TreebankParser:
    """Parse sentences by a treebank's grammar; those that it has no parse of, by its coarser one.

    Attributes
    ----------
    grammar : TreebankGrammar
    threshold : float
        What the coarser grammar finds less probable is not looked for (see `ChartParser`).
    charts : ChartParser
        Makes the charts of ``grammar.words_of(sentences)``.
    """

    grammar: TreebankGrammar
    threshold: float = 1e-4
    charts: ChartParser = field(init=False, repr=False)

    def __post_init__(self) -> None:
        charts = ChartParser(self.grammar.grammar, threshold=self.threshold)
        object.__setattr__(self, "charts", charts)

    def trees(self, sentences: Sequence[Words], tags: Sequence[Words] | None = None) -> list[Tree | None]:
        """Return the most probable tree of each sentence, None where there is none (see `parses`)."""
        return [each.best for each in self.parses(sentences, tags)]

    def parses(
        self, sentences: Sequence[Words], tags: Sequence[Words] | None = None, *, k: int = 1
    ) -> list[Parses]:
        """Return up to `k` trees of each sentence.

        Parameters
        ----------
        sentences : sequence of sequences of str
            Words as in the treebank (see `treebank.written_words`).
        tags : sequence of sequences of str, optional
            Labels of their tags, where these are known.
        k : int
            Derivations looked for: fewer trees, where several differ only in what symbols remember.
        """
        found = self._parses(sentences, tags, k)
        coarser = self.grammar.coarser
        missing = [i for i, each in enumerate(found) if not each.trees and sentences[i]]
        if coarser is None or not missing:
            return found
        known = None if tags is None else [tags[i] for i in missing]
        again = TreebankParser(coarser)._parses([sentences[i] for i in missing], known, k)
        for i, each in zip(missing, again, strict=True):
            found[i] = Parses(each.trees, each.scores, bool(each.trees))
        return found

    def _parses(self, sentences: Sequence[Words], tags: Sequence[Words] | None, k: int) -> list[Parses]:
        """Return the trees by this grammar alone."""
        some = [i for i, words in enumerate(sentences) if words]
        words = self.grammar.words_of(
            [sentences[i] for i in some], None if tags is None else [tags[i] for i in some]
        )
        found = [Parses() for _ in sentences]
        if k == 1:
            for i, parse in zip(some, self.charts.best(words), strict=True):
                if parse is not None:
                    tree = self.grammar.tree(sentences[i], Derivation.of_edges(parse.edges))
                    found[i] = Parses((tree,), (parse.score,))
            return found
        charts = self.charts.charts(words)
        decoded = Hypergraph().top(charts.scores, charts.graphs, k)
        for chart, (scores, derivations) in zip(charts.sentences.tolist(), decoded, strict=True):
            sentence = sentences[some[chart]]
            trees: dict[Tree, float] = {}
            for score, edges in zip(scores.tolist(), derivations, strict=True):
                derivation = Derivation.of_edges(charts.edges.take(edges))
                trees.setdefault(self.grammar.tree(sentence, derivation), score)
            found[some[chart]] = Parses(tuple(trees), tuple(trees.values()))
        return found
