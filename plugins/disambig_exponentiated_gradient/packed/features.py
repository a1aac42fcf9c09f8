"""Local features of the edges of charts, by the parts that edges share.

What an edge sees is its rule, the words at its span's ends and around it, those where its children meet, and
lengths (Hall, Durrett and Klein, Less grammar, more features, ACL 2014), and how likely the PCFG finds its
label there. Words that are no head words: which word is the head is not known of a span.

Parts are of four kinds, each with fields of its own: rules; labels of spans, with a chain of its own where
one made them; rules where their children meet; words with a tag.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .named_edges import NamedEdges
from .traits import Keys, Traits, length_bucket, mixed

Floats = NDArray[np.float64]
_SHARES = np.array([0.003, 0.01, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.99, 0.997])
_LEAST = 1e-4
_SHAPED = 5
"""Spans of so many words, at most, have the tags of all of them as one feature."""


@dataclass(frozen=True, slots=True, eq=False)
class PartFeatures:
    """Parts of edges with the keys of their features.

    Attributes
    ----------
    parts : array of int32, shape (n_edges, 3)
        Of each edge the numbers of its parts, -1 for none.
    starts : array of int64, shape (n_parts + 1,)
        The keys of part p are ``keys[starts[p]:starts[p + 1]]``.
    keys : array of uint64
    values : array of float64, shape (n_parts, 2)
        Log probability of the part by the PCFG, and log of the posterior probability of its label.
    """

    parts: NDArray[np.int32]
    starts: NDArray[np.int64]
    keys: Keys
    values: Floats

    @classmethod
    def of(cls, named: NamedEdges) -> PartFeatures:
        """Return the features of charts."""
        traits = Traits.of(named.sentences, named.tags)
        edges = named.edges
        kinds = (
            (edges.BINARY, ((0, _rule), (1, _span), (2, _meeting))),
            (edges.UNARY, ((0, _rule), (1, _chain))),
            (edges.LEXICAL, ((1, _word),)),
        )
        parts = np.full((len(edges), 3), -1, np.int32)
        made = []
        n = 0
        for kind, families in kinds:
            rows = np.flatnonzero(edges.kinds == kind)
            for place, family in families:
                identity, describe, values = family(named, traits, rows)
                _, first, numbers = np.unique(identity, return_index=True, return_inverse=True)
                numbers = numbers.ravel()
                parts[rows, place] = n + numbers
                made.append((describe(rows[first]), values(numbers, first)))
                n += len(first)
        return cls._stacked(parts, made)

    @classmethod
    def _stacked(
        cls, parts: NDArray[np.int32], made: Sequence[tuple[Sequence[Keys], Floats]]
    ) -> PartFeatures:
        tables = [np.stack(keys, axis=1) if keys else np.zeros((0, 0), np.uint64) for keys, _ in made]
        sizes = np.concatenate([(table != 0).sum(axis=1) for table in tables])
        keys = np.concatenate([table[table != 0] for table in tables])
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return cls(parts, starts, keys, np.concatenate([values for _, values in made]))

    @classmethod
    def joined(cls, each: Sequence[PartFeatures]) -> PartFeatures:
        """Return the features of several charts' edges, one after the other."""
        n, n_keys = 0, 0
        parts, starts = [], [np.zeros(1, np.int64)]
        for one in each:
            parts.append(np.where(one.parts < 0, -1, one.parts + n).astype(np.int32))
            starts.append(one.starts[1:] + n_keys)
            n += len(one.values)
            n_keys += len(one.keys)
        return cls(
            np.concatenate(parts),
            np.concatenate(starts),
            np.concatenate([one.keys for one in each]),
            np.concatenate([one.values for one in each]),
        )


Described = tuple[Keys, Callable[[NDArray[np.int64]], Sequence[Keys]], Callable[..., Floats]]
"""What tells parts apart, of each row; from rows to the keys of their features; values of the parts."""


def _rule(named: NamedEdges, traits: Traits, rows: NDArray[np.int64]) -> Described:
    """Describe the rules alone."""

    def describe(rows: NDArray[np.int64]) -> list[Keys]:
        return [mixed("rule", named.rule[rows]), mixed("coarse rule", named.coarse_rule[rows])]

    def values(numbers: NDArray[np.int64], first: NDArray[np.int64]) -> Floats:
        return np.stack([named.scores[rows][first], np.zeros(len(first))], axis=1)

    return mixed("rule", named.rule[rows], named.edges.kinds[rows]), describe, values


def _posterior(named: NamedEdges, rows: NDArray[np.int64], label: Keys) -> tuple[Keys, Floats]:
    """Return a key of each edge's label over its span, and the posterior probability of that."""
    edges = named.edges
    where = mixed("span", named.of[rows], label, edges.starts[rows], edges.ends[rows])
    _, numbers = np.unique(where, return_inverse=True)
    sums = np.bincount(numbers.ravel(), named.marginals[rows])
    return where, np.clip(sums[numbers.ravel()], _LEAST, 1.0)


def _at_once(
    rows: NDArray[np.int64], posterior: Floats
) -> tuple[Callable[[NDArray[np.int64]], NDArray[np.int64]], Callable[..., Floats]]:
    """Return functions from rows to buckets of the posterior probability, and to values."""
    found = np.zeros(int(rows.max(initial=-1)) + 1)
    found[rows] = posterior

    def buckets(some: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.searchsorted(_SHARES, found[some])

    def values(numbers: NDArray[np.int64], first: NDArray[np.int64]) -> Floats:
        return np.stack([np.zeros(len(first)), np.log(posterior[first])], axis=1)

    return buckets, values


def _span(named: NamedEdges, traits: Traits, rows: NDArray[np.int64]) -> Described:
    """Describe the labels of spans with two children."""
    where, posterior = _posterior(named, rows, named.coarse[rows])
    buckets, values = _at_once(rows, posterior)

    def describe(rows: NDArray[np.int64]) -> list[Keys]:
        label = named.coarse[rows]
        start, end = _ends(named, traits, rows)
        words, tags = traits.words, traits.tags
        length = length_bucket(end - start)
        first, last, before, after = tags[start], tags[end - 1], tags[start - 1], tags[end]
        shape = mixed("tags", first)
        for step in range(1, _SHAPED):
            shape = np.where(
                start + step < end, mixed("and", shape, tags[np.minimum(start + step, end)]), shape
            )
        return [
            mixed("label: first word", label, words[start]),
            mixed("label: last word", label, words[end - 1]),
            mixed("label: word before", label, words[start - 1]),
            mixed("label: word behind", label, words[end]),
            mixed("label: first tag", label, first),
            mixed("label: last tag", label, last),
            mixed("label: tag before", label, before),
            mixed("label: tag behind", label, after),
            mixed("label: tags at start", label, before, first),
            mixed("label: tags at end", label, last, after),
            mixed("label: tags around", label, before, after),
            mixed("label: tags of ends", label, first, last, length),
            mixed("label: length", label, length),
            mixed("label: posterior", label, buckets(rows)),
            mixed("posterior", buckets(rows)),
            np.where(end - start <= _SHAPED, mixed("label: tags", label, shape), np.uint64(0)),
        ]

    return where, describe, values


def _chain(named: NamedEdges, traits: Traits, rows: NDArray[np.int64]) -> Described:
    """Describe labels of spans that a chain of rules made, all of its labels together."""
    where, posterior = _posterior(named, rows, named.coarse_rule[rows])
    buckets, values = _at_once(rows, posterior)

    def describe(rows: NDArray[np.int64]) -> list[Keys]:
        label = named.coarse_rule[rows]
        start, end = _ends(named, traits, rows)
        words, tags = traits.words, traits.tags
        return [
            mixed("chain: first word", label, words[start]),
            mixed("chain: last word", label, words[end - 1]),
            mixed("chain: word before", label, words[start - 1]),
            mixed("chain: word behind", label, words[end]),
            mixed("chain: tag before", label, tags[start - 1]),
            mixed("chain: tag behind", label, tags[end]),
            mixed("chain: tags around", label, tags[start - 1], tags[end]),
            mixed("chain: length", label, length_bucket(end - start)),
            mixed("chain: posterior", label, buckets(rows)),
            mixed("posterior", buckets(rows)),
        ]

    return where, describe, values


def _meeting(named: NamedEdges, traits: Traits, rows: NDArray[np.int64]) -> Described:
    """Describe rules over a span, with the place where their children meet."""
    edges = named.edges
    where = mixed(
        "meeting",
        named.of[rows],
        named.coarse_rule[rows],
        edges.starts[rows],
        edges.splits[rows],
        edges.ends[rows],
    )

    def describe(rows: NDArray[np.int64]) -> list[Keys]:
        rule = named.coarse_rule[rows]
        start, end = _ends(named, traits, rows)
        meet = start + (edges.splits[rows] - edges.starts[rows])
        words, tags = traits.words, traits.tags
        return [
            mixed("rule: word at left", rule, words[meet - 1]),
            mixed("rule: word at right", rule, words[meet]),
            mixed("rule: tags at meeting", rule, tags[meet - 1], tags[meet]),
            mixed("rule: first word", rule, words[start]),
            mixed("rule: last word", rule, words[end - 1]),
            mixed("rule: tags", rule, tags[start], tags[meet], tags[end - 1]),
            mixed("rule: tag behind", rule, tags[end]),
            mixed("rule: tag before", rule, tags[start - 1]),
            mixed("rule: lengths", rule, length_bucket(meet - start), length_bucket(end - meet)),
            mixed("words", words[start], words[meet], named.coarse[rows]),
        ]

    def values(numbers: NDArray[np.int64], first: NDArray[np.int64]) -> Floats:
        return np.zeros((len(first), 2))

    return where, describe, values


def _word(named: NamedEdges, traits: Traits, rows: NDArray[np.int64]) -> Described:
    """Describe words with a tag, whose score is theirs alone."""
    where, posterior = _posterior(named, rows, named.coarse[rows])
    buckets, _ = _at_once(rows, posterior)

    def describe(rows: NDArray[np.int64]) -> list[Keys]:
        tag, symbol = named.coarse[rows], named.symbol[rows]
        at, _ = _ends(named, traits, rows)
        words, tags = traits.words, traits.tags
        return [
            mixed("tag: word", tag, words[at]),
            mixed("symbol: word", symbol, words[at]),
            mixed("symbol", symbol),
            mixed("tag: shape", tag, traits.shapes[at]),
            mixed("tag: two letters", tag, traits.two[at]),
            mixed("tag: three letters", tag, traits.three[at]),
            mixed("tag: word before", tag, words[at - 1]),
            mixed("tag: word behind", tag, words[at + 1]),
            mixed("tag: tag before", tag, tags[at - 1]),
            mixed("tag: tag behind", tag, tags[at + 1]),
            mixed("symbol: tags around", symbol, tags[at - 1], tags[at + 1]),
            mixed("tag: posterior", tag, buckets(rows)),
            mixed("tag posterior", buckets(rows)),
        ]

    def values(numbers: NDArray[np.int64], first: NDArray[np.int64]) -> Floats:
        return np.stack([named.scores[rows][first], np.log(posterior[first])], axis=1)

    return mixed("word", where, named.symbol[rows]), describe, values


def _ends(
    named: NamedEdges, traits: Traits, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the words of edges begin and end, as places of traits."""
    first = traits.starts[named.of[rows]]
    return first + named.edges.starts[rows], first + named.edges.ends[rows]
