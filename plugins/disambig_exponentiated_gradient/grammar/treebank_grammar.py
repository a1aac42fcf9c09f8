"""The grammar of a treebank: rules as arrays, storage, and the PCFG parser."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, UserError
from disambig.api.arrays import offsets_from_sizes
from disambig.api.decoding import BinaryGrammar, ChartParser, Hypergraph, WordScores

from ..treebank.binarisation import Binarisation, coarse_symbol, quoted, restore_tree
from ..treebank.tree import TOP, Tree
from .lexicon import Counts, LexiconSettings, TagLexicon
from .rules import Derivation, Labels, RuleCounts, build_grammar, int_rows, tree_cells

MAX_COUNT = 1 << 31
"""Limit of counts, and of numbers of strings and bytes."""


def pack_counts(binarisation: Binarisation, counts: RuleCounts, lexicon: TagLexicon) -> Arrays:
    """Return settings, rule counts and word counts as arrays."""
    symbols = counts.symbols()
    number = {symbol: i for i, symbol in enumerate(symbols)}
    chains = [
        (number[above], number[below], len(path), n)
        for (above, below, path), n in sorted(counts.chains.items())
    ]
    labels = [label for _, _, path in sorted(counts.chains) for label in path]
    binary = [(*(number[symbol] for symbol in rule), n) for rule, n in sorted(counts.binary.items())]
    settings = {"binarisation": asdict(binarisation), "lexicon": asdict(lexicon.settings)}
    return {
        "settings": np.frombuffer(json.dumps(settings).encode(), np.uint8),
        "binary": int_rows(binary, 4, np.int64),
        "chains": int_rows(chains, 4, np.int64),
        **{
            name: int_rows([(number[symbol], n) for symbol, n in sorted(counter.items())], 2, np.int64)
            for name, counter in (("unchanged", counts.unchanged), ("lexical", counts.lexical))
        },
        **_pack_strings("symbols", symbols),
        **_pack_strings("labels", labels),
        **_pack_counters("words", lexicon.words),
        **_pack_counters("looks", lexicon.looks),
    }


def unpack_counts(arrays: Mapping[str, NDArray[Any]]) -> tuple[Binarisation, RuleCounts, TagLexicon]:
    """Return settings, rules and words from the arrays of `pack_counts`.

    Raises D635 for arrays that are missing, have wrong sizes or contain invalid values.
    """
    try:
        settings = json.loads(_array(arrays, "settings", np.uint8, 1).tobytes())
        binarisation = Binarisation(
            **settings["binarisation"] | {"splits": tuple(settings["binarisation"]["splits"])}
        )
        chosen = LexiconSettings(**settings["lexicon"])
    except UserError:
        raise
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError) as problem:
        raise UserError("D635", problem=f"have no settings ({problem})") from problem
    symbols = _unpack_strings(arrays, "symbols")
    counts = RuleCounts()
    for parent, left, right, n in _numbers(arrays, "binary", 4, (symbols,) * 3):
        counts.binary[symbols[parent], symbols[left], symbols[right]] = n
    labels, at = _unpack_strings(arrays, "labels"), 0
    for above, below, n_labels, n in _numbers(arrays, "chains", 4, (symbols,) * 2):
        path: Labels = tuple(labels[at : at + n_labels])
        counts.chains[symbols[above], symbols[below], path] = n
        at += n_labels
    if at != len(labels):
        raise UserError("D635", problem="have another number of labels than their chains")
    for name, counter in (("unchanged", counts.unchanged), ("lexical", counts.lexical)):
        for symbol, n in _numbers(arrays, name, 2, (symbols,)):
            counter[symbols[symbol]] = n
    return (
        binarisation,
        counts,
        TagLexicon(_unpack_counters(arrays, "words"), _unpack_counters(arrays, "looks"), chosen),
    )


def _pack_strings(name: str, strings: Sequence[str]) -> Arrays:
    data = [string.encode("utf8", "surrogatepass") for string in strings]
    return {
        name: np.frombuffer(b"".join(data), np.uint8),
        f"{name}_sizes": np.array([len(string) for string in data], np.int64),
    }


def _unpack_strings(arrays: Mapping[str, NDArray[Any]], name: str) -> list[str]:
    """Return saved strings; D635 if their bytes and sizes do not fit together."""
    data = _array(arrays, name, np.uint8, 1).tobytes()
    sizes = _array(arrays, f"{name}_sizes", np.int64, 1)
    if (sizes < 0).any() or (sizes > MAX_COUNT).any() or int(sizes.sum()) != len(data):
        raise UserError("D635", problem=f"have other sizes than the text of {name}")
    ends = offsets_from_sizes(sizes).tolist()
    try:
        return [data[start:end].decode("utf8", "surrogatepass") for start, end in pairwise(ends)]
    except UnicodeDecodeError as problem:
        raise UserError("D635", problem=f"have text in {name} that is not UTF-8") from problem


def _pack_counters(name: str, counts: Counts) -> Arrays:
    """Return counters by string as arrays: the strings, the names that are counted, and the counts."""
    names = sorted({key for counter in counts.values() for key in counter})
    number = {key: i for i, key in enumerate(names)}
    owners = sorted(counts)
    rows = [(i, number[key], n) for i, owner in enumerate(owners) for key, n in sorted(counts[owner].items())]
    return {
        **_pack_strings(name, owners),
        **_pack_strings(f"{name}_names", names),
        f"{name}_counts": int_rows(rows, 3, np.int64),
    }


def _unpack_counters(arrays: Mapping[str, NDArray[Any]], name: str) -> Counts:
    """Return the counters from the arrays of `_pack_counters`."""
    owners, names = _unpack_strings(arrays, name), _unpack_strings(arrays, f"{name}_names")
    counters: Counts = {owner: Counter() for owner in owners}
    for owner, key, n in _numbers(arrays, f"{name}_counts", 3, (owners, names)):
        counters[owners[owner]][names[key]] = n
    return counters


def _numbers(
    arrays: Mapping[str, NDArray[Any]], name: str, width: int, of: Sequence[Sequence[str]]
) -> list[list[int]]:
    """Return rows of indices of strings, with a positive count as the last number."""
    table = _array(arrays, name, np.int64, 2)
    valid = (
        table.shape[1] == width and not ((table < 0) | (table > MAX_COUNT)).any() and (table[:, -1] > 0).all()
    )
    if not valid or any((table[:, i] >= len(strings)).any() for i, strings in enumerate(of)):
        raise UserError("D635", problem=f"have invalid numbers in {name}")
    return table.tolist()


def _array(arrays: Mapping[str, NDArray[Any]], name: str, kind: type, dimensions: int) -> NDArray[Any]:
    if name not in arrays:
        raise UserError("D635", problem=f"lack {name}")
    array = arrays[name]
    if array.dtype != kind or array.ndim != dimensions:
        raise UserError("D635", problem=f"have {name} with another type or number of dimensions")
    return array


PLAIN = Binarisation(0, 1, tag_parents=False, splits=())
"""Without context: symbols are labels."""


@dataclass(frozen=True, slots=True, eq=False)
class TreebankGrammar:
    """Rules and words of a treebank."""

    binarisation: Binarisation
    counts: RuleCounts  # the counts that the other attributes are computed from
    grammar: BinaryGrammar
    paths: tuple[Labels, ...]  # labels between the two ends of each unary rule
    lexicon: TagLexicon
    # for each tag's symbol the log probability that it produces a word (1 if no constituent has its label),
    # and that it has no chain above
    tag_scores: dict[str, float]
    # grammar of plain labels, used for pruning and for sentences that this grammar cannot parse; it has none
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
    def from_trees(
        cls,
        trees: Sequence[Tree],
        binarisation: Binarisation | None = None,
        settings: LexiconSettings | None = None,
    ) -> TreebankGrammar:
        """Return the grammar of clean trees (see `treebank.clean_trees`).

        Raises D634 for no trees, or for a tree without the outer bracket `TOP`.
        """
        if not trees:
            raise UserError("D634", n=0, problem="give a treebank with sentences")
        if any(tree.label != TOP for tree in trees):
            raise UserError("D634", n=len(trees), problem=f"the outermost bracket of each must be {TOP}")
        binarisation = binarisation or Binarisation()
        binarised = [binarisation(tree) for tree in trees]
        counts = RuleCounts.from_trees(binarised)
        sentences = ([(leaf.word or "", leaf.label) for leaf in tree.leaves()] for tree in binarised)
        return cls.from_counts(binarisation, counts, TagLexicon.from_sentences(sentences, settings))

    @classmethod
    def from_counts(
        cls, binarisation: Binarisation, counts: RuleCounts, lexicon: TagLexicon
    ) -> TreebankGrammar:
        """Return the grammar for given counts."""
        is_coarse = binarisation == PLAIN
        coarser = None if is_coarse else cls.from_counts(PLAIN, counts.coarse(), lexicon.coarse())
        grammar, paths, tags = build_grammar(counts, None if coarser is None else coarser.grammar)
        return cls(binarisation, counts, grammar, tuple(paths), lexicon, tags, coarser)

    def state(self) -> Arrays:
        """Return all counts as arrays of numbers."""
        return pack_counts(self.binarisation, self.counts, self.lexicon)

    @classmethod
    def from_state(cls, arrays: Arrays) -> TreebankGrammar:
        """Return the grammar from its state. Raises D635 for arrays that do not contain a grammar."""
        binarisation, counts, lexicon = unpack_counts(arrays)
        tagged = {symbol for tags in lexicon.words.values() for symbol in tags}
        if (not counts.binary and not counts.chains) or not tagged <= set(counts.lexical):
            raise UserError("D635", problem="have words without rules")
        if not {coarse_symbol(symbol) for symbol in counts.symbols()} >= {TOP}:
            raise UserError("D635", problem=f"have no symbol {TOP}")
        return cls.from_counts(binarisation, counts, lexicon)

    def word_scores(self, words: Sequence[str], tags: Sequence[str] | None = None) -> WordScores:
        """Return the possible symbols of each word in a sentence, with scores.

        Words are in treebank spelling (see `parser.as_in_treebank`); `tags` are the labels of their tags, if
        they are known.
        """
        rows = [
            (place, self._number[symbol], score + self.tag_scores[symbol])
            for place, shares in enumerate(self.lexicon.scores(words, tags))
            for symbol, score in shares.items()
        ]
        places, symbols, scores = zip(*rows, strict=True) if rows else ((), (), ())
        numbers = np.array(places, np.int32), np.array(symbols, np.int32)
        return WordScores(len(words), *numbers, np.array(scores, np.float64))

    def score_words(
        self, sentences: Sequence[Sequence[str]], tags: Sequence[Sequence[str]] | None = None
    ) -> list[WordScores]:
        """Return the possible symbols of each word in each sentence, with scores."""
        if tags is None:
            return [self.word_scores(words) for words in sentences]
        return [self.word_scores(words, allowed) for words, allowed in zip(sentences, tags, strict=True)]

    def derivation(self, tree: Tree) -> Derivation | None:
        """Return the derivation of a clean tree, None if the grammar lacks one of its rules."""
        binary, unary, tags = [], [], []
        for above, below, path, start, middle, end in tree_cells(self.binarisation(tree)):
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
        return Derivation.from_rows(binary, unary, tags)

    def tree(self, words: Sequence[str], derivation: Derivation) -> Tree:
        """Return the clean tree of a derivation over a sentence."""
        return restore_tree(self.binarised(words, derivation))

    def binarised(self, words: Sequence[str], derivation: Derivation) -> Tree:
        """Return the binarised tree of a derivation; labels inside chains are plain."""
        chains = {(start, end): rule for rule, start, end in derivation.unary.tolist()}
        symbols = self.grammar.symbols
        constituents: dict[tuple[int, int], Tree] = {}

        def add_constituent(start: int, end: int, below: Tree) -> None:
            chain = chains.get((start, end))
            if chain is not None:
                for label in reversed(self.paths[chain]):
                    below = Tree(quoted(label), (below,))
                below = Tree(symbols[self.grammar.unary[chain, 0]], (below,))
            constituents[start, end] = below

        for place, (word, tag) in enumerate(zip(words, derivation.tags.tolist(), strict=True)):
            add_constituent(place, place + 1, Tree(symbols[tag], (), word))
        rows = sorted(derivation.binary.tolist(), key=lambda row: row[3] - row[1])  # inner spans come first
        for rule, start, middle, end in rows:
            parent = symbols[self.grammar.binary[rule, 0]]
            children = constituents.pop((start, middle)), constituents.pop((middle, end))
            add_constituent(start, end, Tree(parent, children))
        return constituents[0, len(words)]

    def score(self, words: Sequence[str], derivation: Derivation) -> float:
        """Return the log probability of a derivation with its words."""
        scores = self.word_scores(words)
        keys = zip(scores.positions.tolist(), scores.symbols.tolist(), strict=True)
        of_word = dict(zip(keys, scores.scores.tolist(), strict=True))
        tags = enumerate(derivation.tags.tolist())
        total = sum(of_word.get((place, tag), -np.inf) for place, tag in tags)
        total += self.grammar.binary_scores[derivation.binary[:, 0]].sum()
        return float(total + self.grammar.unary_scores[derivation.unary[:, 0]].sum())


def flat_tree(words: Sequence[str], tags: Sequence[str]) -> Tree:
    """Return the tree for a sentence without a parse: its words and tags directly below the top."""
    return Tree(TOP, tuple(Tree(tag, (), word) for word, tag in zip(words, tags, strict=True)))


Words = Sequence[str]


@dataclass(frozen=True, slots=True)
class Parses:
    """The best trees of a sentence."""

    trees: tuple[Tree, ...] = ()  # all different, the most probable first; empty if no grammar has a parse
    scores: tuple[float, ...] = ()  # log probability of each tree's best derivation, including the words
    is_fallback: bool = False  # whether the grammar has no parse, and the trees come from the coarser grammar

    @property
    def best(self) -> Tree | None:
        """The most probable tree."""
        return self.trees[0] if self.trees else None


@dataclass(frozen=True, slots=True, eq=False)
class TreebankParser:
    """Parse sentences with a treebank grammar, or with its coarser one if it has no parse."""

    grammar: TreebankGrammar
    # edges that the coarser grammar finds less probable are pruned (see `ChartParser`)
    threshold: float = 1e-4
    # makes the charts for ``grammar.score_words(sentences)``
    charts: ChartParser = field(init=False, repr=False)

    def __post_init__(self) -> None:
        charts = ChartParser(self.grammar.grammar, threshold=self.threshold)
        object.__setattr__(self, "charts", charts)

    def trees(self, sentences: Sequence[Words], tags: Sequence[Words] | None = None) -> list[Tree | None]:
        """Return the most probable tree of each sentence, None if there is none (see `parses`)."""
        return [parses.best for parses in self.parses(sentences, tags)]

    def parses(
        self, sentences: Sequence[Words], tags: Sequence[Words] | None = None, *, k: int = 1
    ) -> list[Parses]:
        """Return up to `k` trees of each sentence.

        Words are in treebank spelling (see `parser.as_in_treebank`); `tags` are the labels of their tags, if
        they are known. There are fewer trees than derivations if several differ only in annotations of
        symbols.
        """
        parses = self._parses(sentences, tags, k)
        coarser = self.grammar.coarser
        missing = [i for i, parse in enumerate(parses) if not parse.trees and sentences[i]]
        if coarser is None or not missing:
            return parses
        allowed = None if tags is None else [tags[i] for i in missing]
        again = TreebankParser(coarser)._parses([sentences[i] for i in missing], allowed, k)
        for i, parse in zip(missing, again, strict=True):
            parses[i] = Parses(parse.trees, parse.scores, bool(parse.trees))
        return parses

    def _parses(self, sentences: Sequence[Words], tags: Sequence[Words] | None, k: int) -> list[Parses]:
        """Return the trees from this grammar alone."""
        filled = [i for i, words in enumerate(sentences) if words]  # sentences with words
        words = self.grammar.score_words(
            [sentences[i] for i in filled], None if tags is None else [tags[i] for i in filled]
        )
        parses = [Parses() for _ in sentences]
        if k == 1:
            for i, parse in zip(filled, self.charts.best(words), strict=True):
                if parse is not None:
                    tree = self.grammar.tree(sentences[i], Derivation.from_edges(parse.edges))
                    parses[i] = Parses((tree,), (parse.score,))
            return parses
        charts = self.charts.charts(words)
        decoded = Hypergraph().top(charts.scores, charts.graphs, k)
        for chart, (scores, derivations) in zip(charts.sentences.tolist(), decoded, strict=True):
            sentence = sentences[filled[chart]]
            trees: dict[Tree, float] = {}
            for score, edges in zip(scores.tolist(), derivations, strict=True):
                derivation = Derivation.from_edges(charts.edges.take(edges))
                trees.setdefault(self.grammar.tree(sentence, derivation), score)
            parses[filled[chart]] = Parses(tuple(trees), tuple(trees.values()))
        return parses
