"""A treebank's grammar: its rules as arrays, its lexicon, and the way from trees to derivations and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from disambig.api import Arrays, UserError
from disambig.api.decoding import BinaryGrammar, WordScores
from disambig_exponentiated_gradient.treebank.binarising import Binarisation, restored
from disambig_exponentiated_gradient.treebank.symbols import coarse_symbol, quoted
from disambig_exponentiated_gradient.treebank.tree import TOP, Tree

from .counting import Labels, RuleCounts, cells
from .derivation import Derivation
from .lexicon import Lexicon, LexiconSettings
from .scores import grammar_of
from .stored import arrays_of, counts_of

PLAIN = Binarisation(0, 1, tag_parents=False, splits=())
"""Nothing is remembered: symbols are labels."""


@dataclass(frozen=True, slots=True, eq=False)
class TreebankGrammar:
    """Rules and words of a treebank.

    Attributes
    ----------
    binarisation : Binarisation
    counts : RuleCounts
        What the rest is made of.
    grammar : BinaryGrammar
    paths : tuple of tuples of str, length n_unary
        Labels between the two ends of each unary rule.
    lexicon : Lexicon
    tag_scores : dict
        Of each tag's symbol the log probability that a word makes it (1 where no constituent has its label),
        and that no chain is above it.
    coarser : TreebankGrammar or None
        That of labels alone, which prunes, and parses what this one has no parse of; it has none itself.
    """

    binarisation: Binarisation
    counts: RuleCounts
    grammar: BinaryGrammar
    paths: tuple[Labels, ...]
    lexicon: Lexicon
    tag_scores: dict[str, float]
    coarser: TreebankGrammar | None = None
    _number: dict[str, int] = field(init=False, repr=False)
    _binary: dict[tuple[int, int, int], int] = field(init=False, repr=False)
    _unary: dict[tuple[int, int, Labels], int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        unary = zip(self.grammar.unary.tolist(), self.paths, strict=True)
        tables = {
            "_number": {symbol: i for i, symbol in enumerate(self.grammar.symbols)},
            "_binary": {tuple(rule): i for i, rule in enumerate(self.grammar.binary.tolist())},
            "_unary": {(above, below, path): i for i, ((above, below), path) in enumerate(unary)},
        }
        for name, table in tables.items():
            object.__setattr__(self, name, table)

    @classmethod
    def of(
        cls,
        trees: Sequence[Tree],
        binarisation: Binarisation | None = None,
        settings: LexiconSettings | None = None,
    ) -> TreebankGrammar:
        """Return the grammar of clean trees (see `treebank.cleaning`).

        Raises
        ------
        UserError
            D634 for no tree, or where one of them is not all in a bracket `TOP`.
        """
        if not trees:
            raise UserError("D634", n=0, problem="give a treebank with sentences")
        if any(tree.label != TOP for tree in trees):
            raise UserError("D634", n=len(trees), problem=f"the outermost bracket of each must be {TOP}")
        binarisation = binarisation or Binarisation()
        binarised = [binarisation(tree) for tree in trees]
        counts = RuleCounts.of(binarised)
        sentences = ([(leaf.word or "", leaf.label) for leaf in tree.leaves()] for tree in binarised)
        return cls.of_counts(binarisation, counts, Lexicon.of(sentences, settings))

    @classmethod
    def of_counts(cls, binarisation: Binarisation, counts: RuleCounts, lexicon: Lexicon) -> TreebankGrammar:
        """Return the grammar of what was counted."""
        is_coarse = binarisation == PLAIN
        coarser = None if is_coarse else cls.of_counts(PLAIN, counts.coarse(), lexicon.coarse())
        grammar, paths, tags = grammar_of(counts, None if coarser is None else coarser.grammar)
        return cls(binarisation, counts, grammar, tuple(paths), lexicon, tags, coarser)

    def state(self) -> Arrays:
        """Return all that was counted as arrays of numbers."""
        return arrays_of(self.binarisation, self.counts, self.lexicon)

    @classmethod
    def from_state(cls, arrays: Arrays) -> TreebankGrammar:
        """Return the grammar of `state`.

        Raises
        ------
        UserError
            D635 for arrays that hold no grammar.
        """
        binarisation, counts, lexicon = counts_of(arrays)
        tagged = {symbol for found in lexicon.words.values() for symbol in found}
        if (not counts.binary and not counts.chains) or not tagged <= set(counts.lexical):
            raise UserError("D635", problem="have words without rules")
        if not {coarse_symbol(symbol) for symbol in counts.symbols()} >= {TOP}:
            raise UserError("D635", problem=f"have no symbol {TOP}")
        return cls.of_counts(binarisation, counts, lexicon)

    def word_scores(self, words: Sequence[str], tags: Sequence[str] | None = None) -> WordScores:
        """Return what each word of a sentence may be.

        Parameters
        ----------
        words : sequence of str
            As in the treebank (see `treebank.written_words`).
        tags : sequence of str, optional
            Labels of their tags, where these are known.
        """
        rows = [
            (place, self._number[symbol], score + self.tag_scores[symbol])
            for place, found in enumerate(self.lexicon.scores(words, tags))
            for symbol, score in found.items()
        ]
        places, symbols, scores = zip(*rows, strict=True) if rows else ((), (), ())
        return WordScores(
            len(words),
            np.array(places, np.int32),
            np.array(symbols, np.int32),
            np.array(scores, np.float64),
        )

    def words_of(
        self, sentences: Sequence[Sequence[str]], tags: Sequence[Sequence[str]] | None = None
    ) -> list[WordScores]:
        """Return what each word of each sentence may be."""
        if tags is None:
            return [self.word_scores(words) for words in sentences]
        return [self.word_scores(words, known) for words, known in zip(sentences, tags, strict=True)]

    def derivation(self, tree: Tree) -> Derivation | None:
        """Return the rules of a clean tree, None where the grammar lacks one of them."""
        binary, unary, tags = [], [], []
        for above, below, path, start, middle, end in cells(self.binarisation(tree)):
            symbol = self._number.get(below.label, -1)
            if above is not below:
                chain = self._unary.get((self._number.get(above.label, -1), symbol, path))
                if chain is None:
                    return None
                unary.append((chain, start, end))
            if below.word is not None:
                if below.label not in self.tag_scores:
                    return None
                tags.append(symbol)
                continue
            left, right = (self._number.get(child.label, -1) for child in below.children)
            rule = self._binary.get((symbol, left, right))
            if rule is None:
                return None
            binary.append((rule, start, middle, end))
        return Derivation.of(binary, unary, tags)

    def tree(self, words: Sequence[str], derivation: Derivation) -> Tree:
        """Return the clean tree of a derivation over a sentence."""
        return restored(self.binarised(words, derivation))

    def binarised(self, words: Sequence[str], derivation: Derivation) -> Tree:
        """Return the binarised tree of a derivation; labels between the ends of chains are plain."""
        chains = {(start, end): rule for rule, start, end in derivation.unary.tolist()}
        symbols = self.grammar.symbols
        made: dict[tuple[int, int], Tree] = {}

        def put(start: int, end: int, below: Tree) -> None:
            chain = chains.get((start, end))
            if chain is not None:
                for label in reversed(self.paths[chain]):
                    below = Tree(quoted(label), (below,))
                below = Tree(symbols[self.grammar.unary[chain, 0]], (below,))
            made[start, end] = below

        for place, (word, tag) in enumerate(zip(words, derivation.tags.tolist(), strict=True)):
            put(place, place + 1, Tree(symbols[tag], (), word))
        rows = sorted(
            derivation.binary.tolist(), key=lambda row: row[3] - row[1]
        )  # what is within comes first
        for rule, start, middle, end in rows:
            parent = symbols[self.grammar.binary[rule, 0]]
            put(start, end, Tree(parent, (made.pop((start, middle)), made.pop((middle, end)))))
        return made[0, len(words)]

    def score(self, words: Sequence[str], derivation: Derivation) -> float:
        """Return the log probability of a derivation together with its words."""
        found = self.word_scores(words)
        keys = zip(found.positions.tolist(), found.symbols.tolist(), strict=True)
        of_word = dict(zip(keys, found.scores.tolist(), strict=True))
        tags = enumerate(derivation.tags.tolist())
        total = sum(of_word.get((place, tag), -np.inf) for place, tag in tags)
        total += self.grammar.binary_scores[derivation.binary[:, 0]].sum()
        return float(total + self.grammar.unary_scores[derivation.unary[:, 0]].sum())


def flat_tree(words: Sequence[str], tags: Sequence[str]) -> Tree:
    """Return what stands in for a sentence without a parse: its words and tags right below the top."""
    return Tree(TOP, tuple(Tree(tag, (), word) for word, tag in zip(words, tags, strict=True)))
