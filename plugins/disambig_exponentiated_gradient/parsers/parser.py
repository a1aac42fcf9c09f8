"""A parser: text in, trees out; every sentence has one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from disambig.api import UserError
from disambig_exponentiated_gradient.grammar.parsing import Parses, TreebankParser
from disambig_exponentiated_gradient.grammar.treebank_grammar import TreebankGrammar, flat_tree
from disambig_exponentiated_gradient.treebank.symbols import label_of
from disambig_exponentiated_gradient.treebank.tree import TOP, Tree

from .sentences import Cutter, Sentence

PACK = "disambig_en_parser"
LONGEST = 150
"""Words of a sentence that is parsed, at most, where nothing else is asked: twice as many take ten times as
long."""
MOST_BEST = 1000
PARSED, COARSE, NONE, LONG = "parsed", "coarse", "none", "long"
_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Parsed:
    """The trees of a sentence.

    Attributes
    ----------
    sentence : Sentence
    trees : tuple of Tree
        The best first; one at least.
    scores : tuple of float
        ln P of each tree with its words; NaN of a flat one.
    kind : str
        ``"parsed"``; ``"coarse"``, by the grammar of labels alone, where the other has no parse; ``"none"``,
        where both have none, and ``"long"``, of too many words: then the tree is flat.
    """

    sentence: Sentence
    trees: tuple[Tree, ...]
    scores: tuple[float, ...]
    kind: str

    @property
    def best(self) -> Tree:
        """The best tree."""
        return self.trees[0]

    @property
    def is_flat(self) -> bool:
        """Whether there is no parse: the tree has words and their likeliest tags, and nothing else."""
        return self.kind in (NONE, LONG)


@dataclass(frozen=True, slots=True, eq=False)
class Parser:
    """Parses text by the grammar of a treebank.

    Attributes
    ----------
    grammar : TreebankGrammar
    language : str
        Code of the language, whose tokeniser cuts texts.
    threshold : float
        What is less probable by the coarser grammar is not looked for.
    max_length : int
        Sentences of more words are not parsed: they get a flat tree.
    cutter : Cutter
        Cuts texts into sentences.
    """

    grammar: TreebankGrammar
    language: str = "en"
    threshold: float = 1e-4
    max_length: int = LONGEST
    cutter: Cutter = field(init=False, repr=False)
    _trees: TreebankParser = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_whole("max_length", self.max_length, 1, 10_000)
        lexicon = self.grammar.lexicon
        cutter = Cutter(lexicon.words, self.language, "HYPH" in lexicon.tags)
        object.__setattr__(self, "cutter", cutter)
        object.__setattr__(self, "_trees", TreebankParser(self.grammar, self.threshold))

    @classmethod
    def load(cls, name: str | Path = PACK, *, max_length: int = LONGEST) -> Parser:
        """Return the parser of a pack or a folder.

        Raises
        ------
        UserError
            D901, D902 and D943 for a name of nothing, D900 and D635 for a damaged parser.
        """
        from .places import place_of
        from .stored import read_parser

        return read_parser(place_of(name), max_length=max_length)

    def save(self, folder: str | Path) -> None:
        """Write the parser into a folder, which is made."""
        from .stored import save_parser

        save_parser(self, folder)

    def parse(self, text: str) -> list[Tree]:
        """Return the best tree of each sentence of a text."""
        return [each.best for each in self.parses(self.sentences([text])[0])]

    def nbest(self, text: str, k: int = 10) -> list[list[tuple[Tree, float]]]:
        """Return the `k` best trees of each sentence with their scores, ln P; fewer where there are no more.

        Raises
        ------
        UserError
            D903 for a `k` that is no whole number from 1 to 1,000.
        """
        found = self.parses(self.sentences([text])[0], k=k)
        return [list(zip(each.trees, each.scores, strict=True)) for each in found]

    def sentences(self, texts: Sequence[str], *, whole: bool = False) -> list[list[Sentence]]:
        """Return the sentences of each text; with `whole` each text is one."""
        if isinstance(texts, str):
            raise UserError("D904", value=texts[:40])
        return self.cutter(texts, whole=whole)

    def parses(self, sentences: Iterable[Sentence], *, k: int = 1) -> list[Parsed]:
        """Return up to `k` trees of each sentence that has words."""
        check_whole("k", k, 1, MOST_BEST)
        given = [sentence for sentence in sentences if sentence.words]
        found: list[Parsed] = []
        for first in range(0, len(given), _AT_ONCE):
            found += self._parsed(given[first : first + _AT_ONCE], k)
        return found

    def best_of_words(self, sentences: Sequence[Sequence[str]]) -> list[Tree | None]:
        """Return the best tree of sentences of the treebank's own words, None where there is none."""
        return self._trees.trees(sentences)

    def _parsed(self, given: Sequence[Sentence], k: int) -> list[Parsed]:
        short = [i for i, each in enumerate(given) if len(each.words) <= self.max_length]
        tagged = [i for i in short if given[i].tags is not None]
        plain = [i for i in short if given[i].tags is None]
        parses: dict[int, Parses] = {}
        if tagged:
            words, tags = [given[i].words for i in tagged], [given[i].tags or () for i in tagged]
            for i, each in zip(tagged, self._trees.parses(words, tags, k=k), strict=True):
                if each.trees and not each.is_fallback:
                    parses[i] = each
                else:  # by these tags there is none
                    plain.append(i)
        if plain:
            again = self._trees.parses([given[i].words for i in plain], k=k)
            parses |= dict(zip(plain, again, strict=True))
        return [self._one(sentence, parses.get(i)) for i, sentence in enumerate(given)]

    def _one(self, sentence: Sentence, parses: Parses | None) -> Parsed:
        if parses is not None and parses.trees:
            return Parsed(sentence, parses.trees, parses.scores, COARSE if parses.is_fallback else PARSED)
        tags = sentence.tags or self._likeliest_tags(sentence.words)
        flat = flat_tree(sentence.words, tags)
        return Parsed(sentence, (flat,), (math.nan,), LONG if parses is None else NONE)

    def _likeliest_tags(self, words: Sequence[str]) -> list[str]:
        """Return the likeliest tag of each word by itself."""
        seen = self.grammar.counts.lexical
        return [
            label_of(max(scores, key=lambda symbol: scores[symbol] + math.log(seen[symbol])))
            if scores
            else TOP
            for scores in self.grammar.lexicon.scores(words)
        ]


def check_whole(setting: str, value: object, least: int, most: int) -> None:
    """Refuse what is no whole number between two (D903)."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise UserError("D903", setting=setting, value=value, least=least, most=most)
