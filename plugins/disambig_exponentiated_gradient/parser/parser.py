"""The parser: text to one tree per sentence; location, saving and loading of parsers."""

from __future__ import annotations

import json
import math
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from disambig.api import Arrays, UserError
from disambig.api.arrays import HEADER, ArrayFolder, digest_arrays, minibatch
from disambig.api.packs import PackFolder
from disambig.api.settings import whole_number_between

from ..grammar.lexicon import WordDomains
from ..grammar.treebank_grammar import Parses, TreebankGrammar, TreebankParser, flat_tree
from ..treebank.binarisation import node_label
from ..treebank.tree import TOP, Tree, format_one_line, list_constituents
from .sentences import ParserSentence, SentenceCutter

PACK = "disambig_en_parser"
FORMAT, FORMAT_OF_TWO = "disambig.treebank_parser.v1", "disambig.treebank_parser.v2"
"""The format of a saved parser with one grammar, and of one with two."""
LONGEST = 150
"""Default maximum length in words of a parsed sentence: twice as many words take ten times as long."""
MAX_BEST = 1000
PARSED, COARSE, NONE, LONG = "parsed", "coarse", "none", "long"
_AT_ONCE = 64  # sentences


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """The trees of a sentence."""

    sentence: ParserSentence
    trees: tuple[Tree, ...]  # the best tree first; at least one
    scores: tuple[float, ...]  # ln P of each tree with its words; NaN for a flat tree
    # ``"parsed"``; ``"coarse"`` for a tree from the grammar of plain labels, if the other one has no parse;
    # ``"none"`` if both have none, and ``"long"`` for too many words: then the tree is flat
    kind: str

    @property
    def best(self) -> Tree:
        """The best tree."""
        return self.trees[0]

    @property
    def is_flat(self) -> bool:
        """Whether there is no parse, so that the tree has only words and their most likely tags."""
        return self.kind in (NONE, LONG)

    def record(self, *, several: bool = False) -> dict[str, Any]:
        """Return the sentence and its best tree, or all its trees, as values that JSON has.

        Several trees are a list of candidates, in the format of ``disambig train --lists``.
        """
        record: dict[str, Any] = {
            "text": self.sentence.source_text,
            "words": self.sentence.source_words,
            "parse": self.kind,
        }
        scores = [None if math.isnan(score) else round(score, 6) for score in self.scores]
        if several:
            record["candidates"] = [
                {"text": format_one_line(tree), "score": score, "rank": rank}
                for rank, (tree, score) in enumerate(zip(self.trees, scores, strict=True))
            ]
        else:
            record |= {
                "tags": self.best.tags(),
                "tree": format_one_line(self.best),
                "score": scores[0],
                "constituents": list_constituents(self.best),
            }
        return record


@dataclass(frozen=True, slots=True, eq=False)
class Parser:
    """Parses text with a treebank grammar.

    Attributes
    ----------
    grammar : TreebankGrammar
    second : TreebankGrammar, optional
        Grammar of a second domain: a sentence is parsed with the grammar whose treebank its words are more
        typical of (see `grammar.WordDomains`).
    language : str
        Language code; the language's tokeniser is used.
    threshold : float
        Edges that the coarser grammar finds less probable are pruned.
    max_length : int
        Longer sentences are not parsed and get a flat tree.
    cutter : SentenceCutter
        Splits texts into sentences.
    """

    formats: ClassVar[tuple[str, ...]] = (FORMAT, FORMAT_OF_TWO)
    grammar: TreebankGrammar
    language: str = "en"
    threshold: float = 1e-4
    max_length: int = LONGEST
    second: TreebankGrammar | None = None
    cutter: SentenceCutter = field(init=False, repr=False)
    _trees: tuple[TreebankParser, ...] = field(init=False, repr=False)
    _domains: WordDomains = field(init=False, repr=False)

    def __post_init__(self) -> None:
        SENTENCE_LENGTH.check("max_length", self.max_length)
        grammars = [self.grammar] if self.second is None else [self.grammar, self.second]
        lexicons = [grammar.lexicon for grammar in grammars]
        known_words = ChainMap(*(dict(lexicon.words) for lexicon in lexicons))
        cutter = SentenceCutter(known_words, self.language, "HYPH" in lexicons[0].tags)
        object.__setattr__(self, "cutter", cutter)
        parsers = tuple(TreebankParser(grammar, self.threshold) for grammar in grammars)
        object.__setattr__(self, "_trees", parsers)
        object.__setattr__(self, "_domains", WordDomains.from_lexicons(lexicons))

    @classmethod
    def load(cls, name: str | Path = PACK, *, max_length: int = LONGEST) -> Parser:
        """Return the parser of a pack or a folder.

        Raises
        ------
        UserError
            D901, D902 and D943 for an invalid name, D900 and D635 for a damaged parser.
        """
        return read_parser(PARSERS.locate(name), max_length=max_length)

    def save(self, folder: str | Path) -> None:
        """Write the parser into a folder, which is created if necessary."""
        save_parser(self, folder)

    def __repr__(self) -> str:
        """Return the description: arrays would fill the screen."""
        return f"<{self.describe()}>"

    def describe(self) -> str:
        """Return what the parser is and how large it is."""
        rules = [
            len(parser.grammar.grammar.binary) + len(parser.grammar.grammar.unary) for parser in self._trees
        ]
        return f"parser of constituents: {' and '.join(f'{n:,}' for n in rules)} rules"

    def records(self, texts: Sequence[str], *, n_best: int = 1) -> list[list[dict[str, Any]]]:
        """Return the sentences of each text with their trees; see `ParsedSentence.record`."""
        sentences_of_texts = self.sentences(texts)
        parsed = iter(self.parses(chain.from_iterable(sentences_of_texts), k=n_best))
        return [
            [next(parsed).record(several=n_best > 1) for sentence in sentences if sentence.words]
            for sentences in sentences_of_texts
        ]

    def parse(self, text: str) -> list[Tree]:
        """Return the best tree of each sentence of a text."""
        return [parsed.best for parsed in self.parses(self.sentences([text])[0])]

    def nbest(self, text: str, k: int = 10) -> list[list[tuple[Tree, float]]]:
        """Return up to `k` best trees of each sentence with their scores, ln P.

        Raises
        ------
        UserError
            D903 for a `k` that is not an integer from 1 to 1,000.
        """
        parsed = self.parses(self.sentences([text])[0], k=k)
        return [list(zip(sentence.trees, sentence.scores, strict=True)) for sentence in parsed]

    def sentences(self, texts: Sequence[str], *, whole: bool = False) -> list[list[ParserSentence]]:
        """Return the sentences of each text; with `whole` each text is one sentence."""
        if isinstance(texts, str):
            raise UserError("D904", value=texts[:40])
        return self.cutter(texts, whole=whole)

    def parses(self, sentences: Iterable[ParserSentence], *, k: int = 1) -> list[ParsedSentence]:
        """Return up to `k` trees of each sentence that has words."""
        NBEST.check("k", k)
        nonempty = (sentence for sentence in sentences if sentence.words)
        return [parsed for batch in minibatch(nonempty, _AT_ONCE) for parsed in self._parse_batch(batch, k)]

    def parse_words(self, sentences: Sequence[Sequence[str]]) -> list[Tree | None]:
        """Return the best tree of sentences given as treebank words, None if there is none."""
        return [parses.best for parses in self._by_domain(sentences, None, 1)]

    def domain(self, words: Sequence[str]) -> int:
        """Return 0 if a sentence is parsed with `grammar`, 1 if with `second`."""
        return self._domains.choose(words)

    def _by_domain(
        self, sentences: Sequence[Sequence[str]], tags: Sequence[Sequence[str]] | None, k: int
    ) -> list[Parses]:
        """Return the parses of each sentence with the grammar of its domain."""
        domains = [self.domain(words) for words in sentences]
        parses = [Parses()] * len(sentences)
        for domain, trees in enumerate(self._trees):
            rows = [i for i, assigned in enumerate(domains) if assigned == domain]
            row_tags = None if tags is None else [tags[i] for i in rows]
            for i, parse in zip(rows, trees.parses([sentences[i] for i in rows], row_tags, k=k), strict=True):
                parses[i] = parse
        return parses

    def _parse_batch(self, sentences: Sequence[ParserSentence], k: int) -> list[ParsedSentence]:
        """Return the trees of a batch; without a parse with given tags, those of the words alone."""
        short = [i for i, sentence in enumerate(sentences) if len(sentence.words) <= self.max_length]
        tagged = [i for i in short if sentences[i].tags is not None]
        plain = [i for i in short if sentences[i].tags is None]
        parses: dict[int, Parses] = {}
        if tagged:
            words, tags = [sentences[i].words for i in tagged], [sentences[i].tags or () for i in tagged]
            for i, nbest in zip(tagged, self._by_domain(words, tags, k), strict=True):
                if nbest.trees and not nbest.is_fallback:
                    parses[i] = nbest
                else:  # there is no parse with these tags
                    plain.append(i)
        if plain:
            again = self._by_domain([sentences[i].words for i in plain], None, k)
            parses |= dict(zip(plain, again, strict=True))
        return [self._choose(sentence, parses.get(i)) for i, sentence in enumerate(sentences)]

    def _choose(self, sentence: ParserSentence, parses: Parses | None) -> ParsedSentence:
        if parses is not None and parses.trees:
            return ParsedSentence(
                sentence, parses.trees, parses.scores, COARSE if parses.is_fallback else PARSED
            )
        tags = sentence.tags or self._most_likely_tags(sentence.words)
        flat = flat_tree(sentence.words, tags)
        return ParsedSentence(sentence, (flat,), (math.nan,), LONG if parses is None else NONE)

    def _most_likely_tags(self, words: Sequence[str]) -> list[str]:
        """Return the most likely tag of each word, without context."""
        grammar = self._trees[self.domain(words)].grammar
        seen = grammar.counts.lexical
        return [
            node_label(max(scores, key=lambda symbol: scores[symbol] + math.log(seen[symbol])))
            if scores
            else TOP
            for scores in grammar.lexicon.scores(words)
        ]


NBEST = whole_number_between(1, MAX_BEST, "D903")
SENTENCE_LENGTH = whole_number_between(1, 10_000, "D903")


_SECOND = "second."
"""Prefix of the arrays of the second grammar."""
FILE, CARD = "grammar.npz", "README.md"
_TEXTS = ("symbols", "labels", "words", "words_names", "looks", "looks_names")
_NAMES = (
    *("settings", "binary", "chains", "unchanged", "lexical", "words_counts", "looks_counts"),
    *(name + ending for name in _TEXTS for ending in ("", "_sizes")),
)
_FOLDER = ArrayFolder(FILE, _NAMES, "D900", FORMAT)
_OF_TWO = ArrayFolder(FILE, (*_NAMES, *(_SECOND + name for name in _NAMES)), "D900", FORMAT_OF_TWO)


def save_parser(parser: Parser, folder: str | Path, *, details: Mapping[str, Any] | None = None) -> None:
    """Write a parser into a folder, which is created if necessary.

    A parser there is replaced. `details` is information about the parser, such as its sentences and its F1,
    as plain values.
    """
    header = {
        "language": parser.language,
        "threshold": parser.threshold,
        "horizontal": parser.grammar.binarisation.horizontal,
        "vertical": parser.grammar.binarisation.vertical,
        "about": dict(details or {}),
    }
    layout = _FOLDER if parser.second is None else _OF_TWO
    layout.write(Path(folder), header, _parser_state(parser))


def _parser_state(parser: Parser) -> Arrays:
    """Return the arrays of both grammars."""
    second = {} if parser.second is None else parser.second.state()
    return {**parser.grammar.state(), **{_SECOND + name: array for name, array in second.items()}}


def _stored_format(folder: Path) -> str:
    """Return the format in a header, or "" if it cannot be read; reading the parser raises the error."""
    try:
        return str(json.loads((folder / HEADER).read_text(encoding="utf8"))["format"])
    except (OSError, ValueError, LookupError, TypeError):
        return ""


def read_parser(folder: str | Path, *, max_length: int = LONGEST) -> Parser:
    """Read the parser in a folder.

    Raises D900 if a file is missing, damaged or not from this program; D635 for arrays that do not contain a
    grammar.
    """
    folder = Path(folder)
    is_of_two = _stored_format(folder) == FORMAT_OF_TWO
    header, arrays = (_OF_TWO if is_of_two else _FOLDER).read(folder)
    try:
        language, threshold = header["language"], header["threshold"]
        if not isinstance(language, str) or not isinstance(threshold, float) or not 0 <= threshold < 1:
            raise ValueError("its language or threshold is invalid")
    except (ValueError, LookupError, TypeError, OverflowError) as problem:
        raise UserError("D900", path=folder, problem=problem) from None
    first_arrays = {name: array for name, array in arrays.items() if not name.startswith(_SECOND)}
    others = {name.removeprefix(_SECOND): array for name, array in arrays.items() if name.startswith(_SECOND)}
    second = TreebankGrammar.from_state(others) if is_of_two else None
    return Parser(TreebankGrammar.from_state(first_arrays), language, threshold, max_length, second)


def is_parser(folder: str | Path) -> bool:
    """Return True if a folder contains a parser, or the files of one."""
    return _FOLDER.is_in(Path(folder))


def is_parser_alone(folder: str | Path) -> bool:
    """Return True if a folder contains the files of a parser, perhaps with its card, and nothing else."""
    return is_parser(folder) and {path.name for path in Path(folder).iterdir()} <= {FILE, HEADER, CARD}


def grammar_digest(parser: Parser) -> str:
    """Return a digest that identifies the grammar of a parser."""
    return digest_arrays(_parser_state(parser))


PARSERS = PackFolder("parser", "parser", "`disambig train-parser`", is_parser, PACK)
"""Parsers by the name of their pack or folder."""
