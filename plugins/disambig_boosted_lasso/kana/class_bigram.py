"""Class bigram: a second language model, of parts of speech, which scores candidates again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disambig.api import UserError
from disambig.api.arrays import ArrayFolder, offsets_from_sizes, row_owners

from .characters import code_points, pack_texts, unpack_texts
from .decoding import LatticePaths, Records
from .lexicon import ReadingTrie

TOKEN = np.dtype([("left", "i4"), ("right", "i4"), ("cost", "f4")], align=True)
CONNECTION_STEPS = 4.0
"""Connections are stored in quarters of a unit of ln P, which is as good as exact."""
COST_STEPS = 10.0
"""Costs of words are stored in tenths of a unit of ln P."""
_WORD = np.dtype([("kind", "i4"), ("start", "i4"), ("end", "i4"), ("size", "i4")], align=True)
_NODE = np.dtype([("cost", "f8"), ("text", "i4"), ("right", "i4")], align=True)
_MAX_NODES = 64
"""Nodes of a place for which there is room at first."""


class _Tables(NamedTuple):
    """Tables of the compiled functions; words of one reading are sorted by the hash of their spelling."""

    begins: NDArray[np.int64]
    labels: NDArray[np.int32]
    entry_begins: NDArray[np.int64]
    hashes: NDArray[np.uint64]
    token_begins: NDArray[np.int64]
    tokens: Records
    connections: NDArray[np.float32]
    unknown: NDArray[np.float64]
    other: np.int64


class _Work(NamedTuple):
    """Buffers of the compiled functions: the words found in a line, and the nodes of a candidate."""

    begins: NDArray[np.int64]
    trie_nodes: NDArray[np.int64]
    ends: NDArray[np.int64]
    text_at: NDArray[np.int64]
    word_at: NDArray[np.int64]
    hashes: NDArray[np.uint64]
    powers: NDArray[np.uint64]
    sizes: NDArray[np.int64]
    nodes: Records

    @classmethod
    def of_size(cls, n: int, letters: int, maximum: int) -> _Work:
        """Return buffers for lines of `n` characters whose conversions have up to `letters`."""
        starts, text_at, word_at, sizes = (np.zeros(n + 2, np.int64) for _ in range(4))
        trie_nodes, ends = (np.zeros(maximum // 4 * (n + 2), np.int64) for _ in range(2))
        hashes, powers = (np.zeros(letters + 1, np.uint64) for _ in range(2))
        nodes = np.zeros((n + 2, maximum), _NODE)
        return cls(starts, trie_nodes, ends, text_at, word_at, hashes, powers, sizes, nodes)


@dataclass(frozen=True, eq=False)
class ClassBigram:
    """Bigram model of classes of words: P(w | c) P(c | c'), for the best words and classes of a text.

    The classes are parts of speech with their inflection (Brown et al. 1992 induce theirs, section 3). A word
    has a class for the word before and one for the word after, which differ in compounds.
    """

    # distinct words
    readings: tuple[str, ...]
    surfaces: tuple[str, ...]
    sizes: NDArray[np.int64]  # (n_words,): number of tokens of each word: one for each of its classes
    # (n_tokens,): the class that the word before sees, the one that the word after sees, and -ln P(word |
    # class)
    tokens: Records
    # (n_classes, n_classes): -ln P(class | class before), with a constant added: row is the class before; 0
    # begins and ends texts
    connections: NDArray[np.float32]
    other: int  # class of words that the model lacks
    # -ln P of a word that the model lacks: a constant, and an amount for each kana
    unknown: tuple[float, float]
    weight: float  # factor on ln P when it is added to that of the language model
    # factors for domains in which another one is better
    domain_weights: Mapping[str, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.readings)

    def in_domain(self, name: str) -> ClassBigram | None:
        """Return the model with its weight for a domain; None if that is 0."""
        weight = self.domain_weights.get(name, self.weight)
        return replace(self, weight=weight) if weight else None

    def log_probs(
        self, lines: Sequence[str], paths: LatticePaths, words: Sequence[str]
    ) -> NDArray[np.float64]:
        """Return ln P of each candidate, shape (n_candidates,).

        It is not normalised, since `connections` have a constant added.

        `lines` are kana, `paths` their candidates, and `words` the texts of the candidates' words. Words of
        this model may begin and end within words of a candidate; at the ends of a candidate's words reading
        and text have to fit.
        """
        from ._class_kernels import score_candidates

        codes, letters = code_points("".join(lines)), code_points("".join(words))
        offsets = offsets_from_sizes(map(len, lines))
        records = np.zeros(len(words), _WORD)
        for name in ("kind", "start", "end"):
            records[name] = paths.words[name]
        records["size"] = np.fromiter(map(len, words), np.int32, len(words))
        text_offsets = offsets_from_sizes(records["size"])[paths.word_offsets]
        costs = np.zeros(len(paths.scores))
        longest = int(np.diff(offsets).max(initial=0)), int(np.diff(text_offsets).max(initial=0))
        maximum, done = _MAX_NODES, False
        while not done:
            work = _Work.of_size(*longest, maximum)
            candidates = paths.offsets, letters, text_offsets, paths.word_offsets, records
            done = score_candidates(self._tables, codes, offsets, *candidates, work, costs)
            maximum *= 2  # nodes of a line, until its lattice fits
        return -costs

    @cached_property
    def _tables(self) -> _Tables:
        from ._lattice_kernels import hash_texts

        codes = code_points("".join(self.surfaces))
        hashes, powers = np.zeros((2, len(self)), np.uint64)
        hash_texts(codes, offsets_from_sizes(map(len, self.surfaces)).astype(np.int64), hashes, powers)
        trie = ReadingTrie.from_readings(self.readings)  # fast for readings that are sorted
        order = trie.entries[np.lexsort((hashes[trie.entries], row_owners(trie.entry_begins)))]
        sizes, starts = self.sizes[order], offsets_from_sizes(self.sizes)[:-1][order]
        token_begins = offsets_from_sizes(sizes)
        rows = np.repeat(starts - token_begins[:-1], sizes) + np.arange(token_begins[-1])
        return _Tables(
            trie.begins, trie.labels, trie.entry_begins, hashes[order], token_begins, self.tokens[rows],
            self.connections, np.array(self.unknown), np.int64(self.other),
        )  # fmt: skip


FILE = "classes.npz"
FORMAT = "disambig.class_bigram.v1"
_NAMES = ("readings", "surfaces", "sizes", "left", "right", "costs", "connections")
_FOLDER = ArrayFolder(FILE, _NAMES, "D674", FORMAT)


def save_class_bigram(model: ClassBigram, folder: Path) -> None:
    """Write a class bigram into a folder; connections and costs are rounded (see `CONNECTION_STEPS`).

    Raises D309 if it cannot be written.
    """
    header = {"other": model.other, "unknown": list(model.unknown)}
    header |= {"weight": model.weight, "domain_weights": dict(model.domain_weights)}
    left, right = (model.tokens[name].astype(np.uint16) for name in ("left", "right"))
    arrays: dict[str, NDArray[Any]] = {
        "readings": pack_texts(model.readings),
        "surfaces": pack_texts(model.surfaces),
        "sizes": model.sizes.astype(np.uint8),
        "left": left,
        "right": right - left,  # mostly 0
        "costs": _round_steps(model.tokens["cost"], COST_STEPS),
        "connections": _round_steps(model.connections, CONNECTION_STEPS),
    }
    _FOLDER.write(folder, header, arrays)


def load_class_bigram(folder: Path) -> ClassBigram:
    """Read the class bigram in a folder. Raises D674 if a file is missing or damaged."""
    header, arrays = _FOLDER.read(folder)
    try:
        return _class_bigram(header, arrays)
    except (ValueError, LookupError, TypeError, OverflowError) as error:
        raise UserError("D674", path=folder, problem=error) from None


def _class_bigram(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> ClassBigram:
    """Return a class bigram from its saved arrays."""
    readings, surfaces = (unpack_texts(arrays[name]) for name in ("readings", "surfaces"))
    sizes = arrays["sizes"].astype(np.int64)
    left = arrays["left"].astype(np.uint16)
    right = left + arrays["right"].astype(np.uint16)
    connections = arrays["connections"].astype(np.float32) / np.float32(CONNECTION_STEPS)
    tokens = np.zeros(len(left), TOKEN)
    tokens["left"], tokens["right"] = left, right
    tokens["cost"] = arrays["costs"].astype(np.float32) / np.float32(COST_STEPS)
    other, weight = int(header["other"]), float(header["weight"])
    domain_weights = {str(name): float(value) for name, value in header.get("domain_weights", {}).items()}
    constant, per_kana = map(float, header["unknown"])
    if not len(readings) == len(surfaces) == len(sizes) or "" in readings or "" in surfaces:
        raise ValueError("the numbers of readings, spellings and sizes differ, or one is empty")
    if sizes.sum() != len(tokens) or sizes.min(initial=1) < 1:
        raise ValueError("the number of tokens differs from the sum of the sizes of words")
    n = len(connections)
    if connections.shape != (n, n) or max(other, left.max(initial=0), right.max(initial=0)) >= n:
        raise ValueError("a class has no connections")
    numbers = [weight, constant, per_kana, *domain_weights.values()]
    if other < 0 or not np.isfinite(numbers).all() or min(numbers) < 0:
        raise ValueError("its header has invalid numbers")
    unknown = constant, per_kana
    return ClassBigram(readings, surfaces, sizes, tokens, connections, other, unknown, weight, domain_weights)


def _round_steps(values: NDArray[np.float32], steps: float) -> NDArray[np.uint8]:
    """Return numbers in steps of ``1 / steps``, limited to a byte."""
    return np.clip(np.round(values * np.float32(steps)), 0, 255).astype(np.uint8)
