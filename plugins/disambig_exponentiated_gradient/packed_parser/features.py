"""Local features of chart edges: word traits, grammar-independent edge names, features, columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import Columns
from disambig.api.arrays import Floats, HashVocabulary, join_offsets, offsets_from_sizes, row_owners
from disambig.api.batches import PartRows
from disambig.api.decoding import ChartEdges, Charts, Hypergraph, Hypergraphs
from disambig.api.text import fmix, hash_word

from ..grammar.treebank_grammar import TreebankGrammar
from ..treebank.binarisation import coarse_symbol

Keys = NDArray[np.uint64]
_STEP = np.uint64(0x9E3779B97F4A7C15)
_RUNS = re.compile(r"(.)\1+")
_PADDING = 2
"""Number of padding positions before and after each sentence."""


def mix_hashes(template: str, *fields: NDArray[Any] | int) -> Keys:
    """Return a 64-bit key for a template and its fields in order: arrays of one shape, or numbers."""
    key: Keys = np.array(_name_hash(template), np.uint64)
    with np.errstate(over="ignore"):
        for field in fields:
            values: Keys = np.asarray(field).astype(np.uint64)
            key = np.asarray(fmix(np.asarray(np.bitwise_xor(key * _STEP, values))))
    return key


@lru_cache(10_000)
def _name_hash(name: str) -> int:
    return hash_word(name)


@lru_cache(100_000)
def word_shapes(word: str) -> tuple[int, int, int, int]:
    """Return hashes of a word in lower case, its shape, and its last two and last three letters."""
    lower = word.lower()
    shape = "".join("X" if c.isupper() else "x" if c.isalpha() else "9" if c.isdigit() else c for c in word)
    shape = _RUNS.sub(r"\1+", shape)
    return hash_word(lower), hash_word(shape), hash_word(lower[-2:]), hash_word(lower[-3:])


@dataclass(frozen=True, slots=True, eq=False)
class WordTraits:
    """Hashes of the words of sentences, with boundary positions around each sentence."""

    starts: NDArray[np.int64]  # (n,): position of the first word of each sentence
    # hashes of each word in lower case, of its shape, and of its last two and three letters
    words: Keys
    shapes: Keys
    two: Keys
    three: Keys
    tags: Keys  # hash of its most likely tag

    @classmethod
    def from_sentences(cls, sentences: Sequence[Sequence[str]], tags: Sequence[Sequence[str]]) -> WordTraits:
        """Return the traits of sentences with a tag for each word."""
        padding = [(1, 1, 1, 1, 1)] * _PADDING
        rows: list[tuple[int, ...]] = []
        starts = []
        for words, word_tags in zip(sentences, tags, strict=True):
            rows += padding
            starts.append(len(rows))
            rows += [
                (*word_shapes(word), _name_hash(tag)) for word, tag in zip(words, word_tags, strict=True)
            ]
            rows += padding
        table = np.array(rows, np.uint64).reshape(len(rows), 5)
        return cls(np.array(starts, np.int64), *(np.ascontiguousarray(column) for column in table.T))


def length_bucket(lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Return 1 to 5 unchanged, then buckets up to 7, 10, 15, 20 and 30 words, and one for longer spans."""
    return np.searchsorted(np.array([1, 2, 3, 4, 5, 7, 10, 15, 20, 30]), lengths)


Words = Sequence[str]


@dataclass(frozen=True, slots=True, eq=False)
class NamedEdges:
    """Charts of sentences with keys for their edges; arrays have the shape ``(n_edges,)``."""

    sentences: Sequence[Words]  # sentence of each chart
    graphs: Hypergraphs
    edges: ChartEdges  # symbols and rules are numbered as in the grammar
    scores: NDArray[np.float64]  # log probabilities from the grammar
    chart: NDArray[np.int64]  # index of the chart of each edge
    marginals: NDArray[np.float64]  # marginals from the grammar
    # key of the parent's coarse symbol and of its symbol
    coarse: Keys
    symbol: Keys
    # key of the rule with coarse symbols and with symbols: including both children, or the labels inside a
    # chain; for a word its tag
    coarse_rule: Keys
    rule: Keys
    tags: list[list[str]]  # the most likely tag of each word, from the grammar

    def __len__(self) -> int:
        return len(self.sentences)

    @classmethod
    def from_charts(cls, grammar: TreebankGrammar, charts: Charts, sentences: Sequence[Words]) -> NamedEdges:
        """Return the edges of charts of a grammar.

        `sentences` are the sentences given to the parser, including those without a parse.
        """
        edges, graphs = charts.edges, charts.graphs
        parsed = [sentences[i] for i in charts.sentences.tolist()]
        chart = row_owners(graphs.offsets)
        marginals = Hypergraph().marginals(charts.scores, graphs)[0] if parsed else np.zeros(0)
        coarse_names = [coarse_symbol(symbol) for symbol in grammar.grammar.symbols]
        names = _name_keys(grammar.grammar.symbols), _name_keys(coarse_names)
        rules = [_rules(grammar, symbol_names, edges) for symbol_names in names]
        tags = _likely_tags(parsed, chart, edges, marginals, coarse_names)
        return cls(
            parsed, graphs, edges, charts.scores, chart, marginals, names[1][edges.symbols],
            names[0][edges.symbols], rules[1], rules[0], tags,
        )  # fmt: skip


def _name_keys(names: Sequence[str]) -> Keys:
    return np.array([mix_hashes(name) for name in names], np.uint64)


def _rules(grammar: TreebankGrammar, symbols: Keys, edges: ChartEdges) -> Keys:
    """Return the key of each edge's rule, from the keys of its symbols."""
    binary, unary = symbols[grammar.grammar.binary], symbols[grammar.grammar.unary]
    binary_keys = mix_hashes("two", *binary.T)
    unary_keys = mix_hashes("one", *unary.T, _name_keys([" ".join(path) for path in grammar.paths]))
    hashes = mix_hashes("word", symbols[edges.symbols])
    hashes[edges.kinds == edges.SELF] = 0
    for kind, table in ((edges.BINARY, binary_keys), (edges.UNARY, unary_keys)):
        rows = edges.kinds == kind
        hashes[rows] = table[edges.rules[rows]]
    return hashes


def _likely_tags(
    sentences: Sequence[Words],
    chart: NDArray[np.int64],
    edges: ChartEdges,
    marginals: NDArray[np.float64],
    names: Sequence[str],
) -> list[list[str]]:
    """Return the coarse tag with the largest marginal for each word."""
    labels = sorted(set(names))
    number = {label: i for i, label in enumerate(labels)}
    coarse = np.array([number[name] for name in names], np.int64)
    starts = offsets_from_sizes(map(len, sentences))
    words = np.flatnonzero(edges.kinds == edges.LEXICAL)
    places = starts[chart[words]] + edges.starts[words]
    table = np.zeros((int(starts[-1]), len(labels)))
    np.add.at(table, (places, coarse[edges.symbols[words]]), marginals[words])
    best = [labels[i] for i in table.argmax(axis=1)]
    return [best[first:last] for first, last in pairwise(starts.tolist())]


_POSTERIORS = np.array([0.003, 0.01, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.99, 0.997])
_MIN_POSTERIOR = 1e-4
_SHAPED = 5
"""Spans of at most this many words have the sequence of their tags as a feature."""


@dataclass(frozen=True, slots=True, eq=False)
class PartFeatures:
    """Parts of edges with the keys of their features."""

    parts: NDArray[np.int32]  # (n_edges, 3): the numbers of each edge's parts, -1 for none
    starts: NDArray[np.int64]  # (n_parts + 1,): part p has the keys ``keys[starts[p]:starts[p + 1]]``
    keys: Keys
    # float64 (n_parts, 2): log probability of the part by the PCFG, and log of the posterior probability of
    # its label
    values: Floats

    @classmethod
    def from_edges(cls, named: NamedEdges) -> PartFeatures:
        """Return the features of charts."""
        traits = WordTraits.from_sentences(named.sentences, named.tags)
        edges = named.edges
        kinds = (
            (edges.BINARY, ((0, _rule), (1, _span), (2, _meeting))),
            (edges.UNARY, ((0, _rule), (1, _chain))),
            (edges.LEXICAL, ((1, _word),)),
        )
        parts = np.full((len(edges), 3), -1, np.int32)
        tables, value_tables = [], []
        n = 0
        for kind, families in kinds:
            rows = np.flatnonzero(edges.kinds == kind)
            for place, family in families:
                identity, scores, posterior, describe = family(named, traits, rows)
                _, first, numbers = np.unique(identity, return_index=True, return_inverse=True)
                parts[rows, place] = n + numbers.ravel()
                buckets = np.searchsorted(_POSTERIORS, posterior[first])
                tables.append(np.stack(describe(rows[first], buckets), axis=1))
                value_tables.append(np.stack([scores[first], np.log(posterior[first])], axis=1))
                n += len(first)
        # parts of several families in one table, without empty keys
        starts = offsets_from_sizes(np.concatenate([(table != 0).sum(axis=1) for table in tables]))
        keys = np.concatenate([table[table != 0] for table in tables])
        return cls(parts, starts, keys, np.concatenate(value_tables))

    @classmethod
    def concat(cls, charts: Sequence[PartFeatures]) -> PartFeatures:
        """Return the features of several charts, concatenated."""
        first = offsets_from_sizes(len(one.values) for one in charts).tolist()
        parts = [
            np.where(one.parts < 0, -1, one.parts + n).astype(np.int32)
            for one, n in zip(charts, first, strict=False)
        ]
        return cls(
            np.concatenate(parts),
            join_offsets(one.starts for one in charts),
            np.concatenate([one.keys for one in charts]),
            np.concatenate([one.values for one in charts]),
        )


Rows = NDArray[np.int64]
Family = tuple[Keys, Floats, Floats, Callable[[Rows, NDArray[np.int64]], Sequence[Keys]]]
"""A family of parts: for each edge a key that identifies its part, a score, and a posterior probability; and
a function from edges, and from buckets of their posterior probabilities, to the keys of their features."""


def _rule(named: NamedEdges, traits: WordTraits, rows: Rows) -> Family:
    """Return features of the rules only."""

    def describe(rows: Rows, buckets: NDArray[np.int64]) -> list[Keys]:
        return [mix_hashes("rule", named.rule[rows]), mix_hashes("coarse rule", named.coarse_rule[rows])]

    identity = mix_hashes("rule", named.rule[rows], named.edges.kinds[rows])
    return identity, named.scores[rows], np.ones(len(rows)), describe


def _posterior(named: NamedEdges, rows: Rows, label: Keys) -> tuple[Keys, Floats]:
    """Return a key of each edge's label and span, and its posterior probability."""
    edges = named.edges
    where = mix_hashes("span", named.chart[rows], label, edges.starts[rows], edges.ends[rows])
    _, numbers = np.unique(where, return_inverse=True)
    sums = np.bincount(numbers.ravel(), named.marginals[rows])
    return where, np.clip(sums[numbers.ravel()], _MIN_POSTERIOR, 1.0)


def _span(named: NamedEdges, traits: WordTraits, rows: Rows) -> Family:
    """Return features of the labels of spans with two children."""
    where, posterior = _posterior(named, rows, named.coarse[rows])

    def describe(rows: Rows, buckets: NDArray[np.int64]) -> list[Keys]:
        label = named.coarse[rows]
        start, end = _span_bounds(named, traits, rows)
        words, tags = traits.words, traits.tags
        length = length_bucket(end - start)
        first, last, before, after = tags[start], tags[end - 1], tags[start - 1], tags[end]
        shape = mix_hashes("tags", first)
        for step in range(1, _SHAPED):
            shape = np.where(
                start + step < end, mix_hashes("and", shape, tags[np.minimum(start + step, end)]), shape
            )
        return [
            mix_hashes("label: first word", label, words[start]),
            mix_hashes("label: last word", label, words[end - 1]),
            mix_hashes("label: word before", label, words[start - 1]),
            mix_hashes("label: word behind", label, words[end]),
            mix_hashes("label: first tag", label, first),
            mix_hashes("label: last tag", label, last),
            mix_hashes("label: tag before", label, before),
            mix_hashes("label: tag behind", label, after),
            mix_hashes("label: tags at start", label, before, first),
            mix_hashes("label: tags at end", label, last, after),
            mix_hashes("label: tags around", label, before, after),
            mix_hashes("label: tags of ends", label, first, last, length),
            mix_hashes("label: length", label, length),
            mix_hashes("label: posterior", label, buckets),
            mix_hashes("posterior", buckets),
            np.where(end - start <= _SHAPED, mix_hashes("label: tags", label, shape), np.uint64(0)),
        ]

    return where, np.zeros(len(rows)), posterior, describe


def _chain(named: NamedEdges, traits: WordTraits, rows: Rows) -> Family:
    """Return features of the labels of spans formed by a chain of rules, all labels together."""
    where, posterior = _posterior(named, rows, named.coarse_rule[rows])

    def describe(rows: Rows, buckets: NDArray[np.int64]) -> list[Keys]:
        label = named.coarse_rule[rows]
        start, end = _span_bounds(named, traits, rows)
        words, tags = traits.words, traits.tags
        return [
            mix_hashes("chain: first word", label, words[start]),
            mix_hashes("chain: last word", label, words[end - 1]),
            mix_hashes("chain: word before", label, words[start - 1]),
            mix_hashes("chain: word behind", label, words[end]),
            mix_hashes("chain: tag before", label, tags[start - 1]),
            mix_hashes("chain: tag behind", label, tags[end]),
            mix_hashes("chain: tags around", label, tags[start - 1], tags[end]),
            mix_hashes("chain: length", label, length_bucket(end - start)),
            mix_hashes("chain: posterior", label, buckets),
            mix_hashes("posterior", buckets),
        ]

    return where, np.zeros(len(rows)), posterior, describe


def _meeting(named: NamedEdges, traits: WordTraits, rows: Rows) -> Family:
    """Return features of rules over a span, including the boundary between the children."""
    edges = named.edges
    place = edges.starts[rows], edges.splits[rows], edges.ends[rows]
    where = mix_hashes("meeting", named.chart[rows], named.coarse_rule[rows], *place)

    def describe(rows: Rows, buckets: NDArray[np.int64]) -> list[Keys]:
        rule = named.coarse_rule[rows]
        start, end = _span_bounds(named, traits, rows)
        meet = start + (edges.splits[rows] - edges.starts[rows])
        words, tags = traits.words, traits.tags
        return [
            mix_hashes("rule: word at left", rule, words[meet - 1]),
            mix_hashes("rule: word at right", rule, words[meet]),
            mix_hashes("rule: tags at meeting", rule, tags[meet - 1], tags[meet]),
            mix_hashes("rule: first word", rule, words[start]),
            mix_hashes("rule: last word", rule, words[end - 1]),
            mix_hashes("rule: tags", rule, tags[start], tags[meet], tags[end - 1]),
            mix_hashes("rule: tag behind", rule, tags[end]),
            mix_hashes("rule: tag before", rule, tags[start - 1]),
            mix_hashes("rule: lengths", rule, length_bucket(meet - start), length_bucket(end - meet)),
            mix_hashes("words", words[start], words[meet], named.coarse[rows]),
        ]

    return where, np.zeros(len(rows)), np.ones(len(rows)), describe


def _word(named: NamedEdges, traits: WordTraits, rows: Rows) -> Family:
    """Return features of words with a tag; the word score is part of them only."""
    where, posterior = _posterior(named, rows, named.coarse[rows])

    def describe(rows: Rows, buckets: NDArray[np.int64]) -> list[Keys]:
        tag, symbol = named.coarse[rows], named.symbol[rows]
        at, _ = _span_bounds(named, traits, rows)
        words, tags = traits.words, traits.tags
        return [
            mix_hashes("tag: word", tag, words[at]),
            mix_hashes("symbol: word", symbol, words[at]),
            mix_hashes("symbol", symbol),
            mix_hashes("tag: shape", tag, traits.shapes[at]),
            mix_hashes("tag: two letters", tag, traits.two[at]),
            mix_hashes("tag: three letters", tag, traits.three[at]),
            mix_hashes("tag: word before", tag, words[at - 1]),
            mix_hashes("tag: word behind", tag, words[at + 1]),
            mix_hashes("tag: tag before", tag, tags[at - 1]),
            mix_hashes("tag: tag behind", tag, tags[at + 1]),
            mix_hashes("symbol: tags around", symbol, tags[at - 1], tags[at + 1]),
            mix_hashes("tag: posterior", tag, buckets),
            mix_hashes("tag posterior", buckets),
        ]

    return mix_hashes("word", where, named.symbol[rows]), named.scores[rows], posterior, describe


def _span_bounds(
    named: NamedEdges, traits: WordTraits, rows: Rows
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the start and end of the words of edges, as indices into traits."""
    first = traits.starts[named.chart[rows]]
    return first + named.edges.starts[rows], first + named.edges.ends[rows]


NUMBERS = ("score", "posterior")
"""Names of the numeric columns, which come before those of keys."""
UNIT = 10.0
"""Numeric columns are logarithms divided by this. Unscaled, they differ by tens between parses, while other
features differ by one, and training oscillates along them. On charts of section 00 at C = 0.1 the gap after
ten epochs was 0.44 without and 0.12 with this unit.
"""


@dataclass(frozen=True, slots=True, eq=False)
class ChartVocabulary:
    """The sorted keys that have a column."""

    keys: Keys  # uint64 (n,): column ``len(NUMBERS) + i`` is that of ``keys[i]``

    @classmethod
    def from_features(cls, features: PartFeatures, minimum: int) -> ChartVocabulary:
        """Return the keys that occur in at least `minimum` parts."""
        keys, counts = np.unique(features.keys, return_counts=True)
        return cls(keys[counts >= minimum])

    def __len__(self) -> int:
        return len(NUMBERS) + len(self.keys)

    @property
    def columns(self) -> Columns:
        """The columns: numeric values, and indicator features."""
        n = len(NUMBERS)
        groups = np.concatenate([np.arange(n), np.full(len(self.keys), n)]).astype(np.int32)
        return Columns(np.full(len(self), -1, np.int32), groups, (*NUMBERS, "local"))

    def batch(self, features: PartFeatures, graphs: Hypergraphs, cost: NDArray[np.float32]) -> PartRows:
        """Return charts with these features and edge costs as a batch."""
        from scipy.sparse import csr_array

        at = HashVocabulary(self.keys).lookup(features.keys)
        is_known = at >= 0
        sums = offsets_from_sizes(is_known)[features.starts]
        numbers = (features.values / UNIT).astype(np.float32)
        # the numeric values of a part come before its keys
        sizes = np.diff(sums) + len(NUMBERS)
        starts = offsets_from_sizes(sizes)
        indices, data = np.empty(int(starts[-1]), np.int32), np.ones(int(starts[-1]), np.float32)
        is_number = np.zeros(len(indices), bool)
        for column in range(len(NUMBERS)):
            indices[starts[:-1] + column] = column
            data[starts[:-1] + column] = numbers[:, column]
            is_number[starts[:-1] + column] = True
        indices[~is_number] = at[is_known] + len(NUMBERS)
        rows = csr_array((data, indices, starts), shape=(len(sizes), len(self)))
        rows.eliminate_zeros()
        return PartRows(rows, features.parts, graphs, cost, self.columns)
