"""Decoding of kana: n-gram tables, lattice search, splitting of long lines, and candidate lists."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disambig.api import UserError
from disambig.api.arrays import offsets_from_sizes, row_owners, row_ranks, take_rows
from disambig.api.tasks import CandidateLists, CandidateWords

from .characters import code_points, to_katakana
from .lexicon import KanaLexicon
from .spoken_numbers import IN_DIGITS, IN_KANJI, SpokenNumbers, write_spoken_number

START, END = 1, 2
MAX_ORDER = 3
"""Maximum order of the n-grams that the states of the lattice represent."""
SINGLE = np.dtype([("begin", "i8"), ("log_prob", "f4"), ("back_off", "f4")], align=True)
PAIR = np.dtype([("begin", "i8"), ("log_prob", "f4"), ("back_off", "f4"), ("state", "i4")], align=True)
TRIPLE = np.dtype([("log_prob", "f4"), ("state", "i4")], align=True)
Records = NDArray[np.void]


class NgramTables(NamedTuple):
    """N-gram tables for the compiled functions; the words and n-grams of both models share one numbering."""

    # SINGLE (n_singles + 1,): ln P of single words, ln of their back-off weights, and where the pairs that
    # start with them begin
    singles: Records
    # PAIR (n_pairs + 1,): sorted by first word and then by last word: ln P, ln of the back-off weight, and
    # the state after the pair (see `_lattice_kernels`)
    pairs: Records
    # int32 (n_pairs,): their last words. They are apart because they are searched much more often than the
    # rest is read
    pair_words: NDArray[np.int32]
    # TRIPLE (n_triples,): sorted by context and then by last word: ln P, and the state after the triple
    triples: Records
    triple_words: NDArray[np.int32]  # (n_triples,): their last words
    starts: NDArray[np.int64]  # (n_parts,): the start of a sentence in each model
    numbers: NDArray[np.int32]  # (n_parts, n_words): the number of each word of the shared vocabulary
    # float64 (n_parts, n_words): ln of a factor on the probability of the number: the weight of the model,
    # and for words unknown to it their share of the unknown word's probability
    shares: NDArray[np.float64]


def build_ngram_tables(parts: Sequence[tuple[Sequence[Any], float]], n_words: int) -> NgramTables:
    """Return the tables of one or two models over prefixes of one vocabulary.

    Raises D673 for n-grams longer than three words.

    `parts` are the n-grams of each order of each model, and ln of its weight. Each model knows the first
    words of the vocabulary; its other words share the probability of the model's unknown word.
    """
    from ._lattice_kernels import find_states

    if any(len(levels) > MAX_ORDER for levels, _ in parts):
        raise UserError("D673", order=max(len(levels) for levels, _ in parts), most=MAX_ORDER)
    n_singles, n_pairs, n_triples = (
        offsets_from_sizes(len(levels[n]) if n < len(levels) else 0 for levels, _ in parts)
        for n in range(MAX_ORDER)
    )
    # each word's number in each model, and its share of that number's probability
    numbers, shares = np.zeros((len(parts), n_words), np.int32), np.zeros((len(parts), n_words))
    for part, (levels, weight) in enumerate(parts):
        n = len(levels[0])
        numbers[part, :n] = np.arange(n)
        numbers[part] += np.int32(n_singles[part])
        shares[part, n:] = shares[part, 0] = -np.log(n_words - n + 1.0)
        shares[part] += weight
    tables = NgramTables(
        np.zeros(n_singles[-1] + 1, SINGLE), np.zeros(n_pairs[-1] + 1, PAIR), np.zeros(n_pairs[-1], np.int32),
        np.zeros(n_triples[-1], TRIPLE), np.zeros(n_triples[-1], np.int32), n_singles[:-1] + START, numbers,
        shares,
    )  # fmt: skip
    singles, pairs, pair_words, triples, triple_words, *_ = tables
    for part, (levels, _) in enumerate(parts):
        records = singles[n_singles[part] : n_singles[part + 1]]
        records["log_prob"], records["back_off"] = levels[0].log_probs, levels[0].back_offs
        records["begin"] = n_pairs[part] + (levels[1].begins[:-1] if len(levels) > 1 else 0)
        if len(levels) > 1:
            rows = slice(n_pairs[part], n_pairs[part + 1])
            records, pair_words[rows] = pairs[rows], levels[1].words + n_singles[part]
            records["log_prob"], records["back_off"] = levels[1].log_probs, levels[1].back_offs
            records["begin"] = n_triples[part] + (levels[2].begins[:-1] if len(levels) > 2 else 0)
        if len(levels) > 2:
            rows = slice(n_triples[part], n_triples[part + 1])
            triples["log_prob"][rows] = levels[2].log_probs
            triple_words[rows] = levels[2].words + n_singles[part]
    singles["begin"][-1], pairs["begin"][-1] = n_pairs[-1], n_triples[-1]
    has_triples = np.diff(pairs["begin"]) > 0
    states = n_singles[-1] + np.arange(len(has_triples))
    pairs["state"][:-1] = np.where(has_triples, states, pair_words)
    find_states(tables)
    return tables


ENTRY = np.dtype([("extra", "f8"), ("hash", "u8"), ("power", "u8"), ("word", "i4")], align=True)
"""ln of a factor on the word's probability, hash and power of its spelling, and the word."""
WORD = np.dtype([("kind", "i4"), ("start", "i4"), ("end", "i4")], align=True)
_ARC = np.dtype(
    [*((name, "f8") for name in ("extra", "share", "other_share")), ("hash", "u8"), ("power", "u8")]
    + [(name, "i4") for name in ("end", "kind", "word", "number", "other", "next")],
    align=True,
)
_NODE = np.dtype(
    [(name, "f8") for name in ("best", "brings", "brings_group", "off", "far", "other_off", "other_far")]
    + [(name, "i8") for name in ("state", "other", "slot", "last", "other_last")]
    + [(name, "i4") for name in ("chain", "stream", "taken", "place", "rank", "group")],
    align=True,
)
_STREAM = np.dtype(
    [("bound", "f8"), *((name, "i4") for name in ("source", "arc", "after", "kind"))], align=True
)
_GROUP = np.dtype([(name, "i8") for name in ("begin", "size", "after", "last", "other")], align=True)
_PLACE = np.dtype([(name, "i8") for name in ("head", "order", "group", "arc")], align=True)
_STRETCH = np.dtype(
    [("behind", "f8"), ("hash", "u8"), ("power", "u8"), ("parent", "i4"), ("node", "i4"), ("arc", "i4")],
    align=True,
)
_ITEM = np.dtype([(name, "i4") for name in ("stretch", "stream", "rank", "node", "arc")], align=True)
_BLOCK = 1 << 16
"""Number of candidates that a call has buffers for, unless one line needs more."""


class LexiconTables(NamedTuple):
    """Tables for looking up words in the compiled functions."""

    # see `ReadingTrie`
    begins: NDArray[np.int64]
    labels: NDArray[np.int32]
    entry_begins: NDArray[np.int64]
    # ENTRY (n_entries,): in the order of the trie; for each reading entries unknown to the language model
    # come last, best first
    entries: Records
    # int32 (6,): the words of numbers by their count of digits; the first is for no number
    numbers: NDArray[np.int32]
    spelling: NDArray[np.float64]  # (2, 88, 88): for unknown words, from `learn_spelling`
    # int64 (1,): characters of the longest unknown word, and of the longest word
    longest: NDArray[np.int64]
    deepest: NDArray[np.int64]
    margin: NDArray[np.float64]  # (1,): see `ConverterSettings`


class _SearchWork(NamedTuple):
    """The lattice of a line: see `_search_kernels.forward`; `unknown`: see `build_lattice` there."""

    tally: NDArray[np.int64]
    arcs: Records
    places: Records
    unknown: NDArray[np.int64]
    nodes: Records
    slots: NDArray[np.int32]
    order: NDArray[np.int32]
    keys: NDArray[np.float64]
    groups: Records
    members: NDArray[np.int32]
    group_heads: NDArray[np.int32]
    streams: Records
    heads: NDArray[np.int32]
    after: NDArray[np.int32]
    behind_one: NDArray[np.uint8]
    behind_two: NDArray[np.uint8]


class _Search(NamedTuple):
    """State of the backward search: see `_search_kernels.find_conversions`."""

    tally: NDArray[np.int64]
    stretches: Records
    heap: NDArray[np.float64]
    items: Records
    seen: NDArray[np.uint64]
    seen_at: NDArray[np.int64]


class _FoundPaths(NamedTuple):
    """Buffers for candidates."""

    tally: NDArray[np.int64]
    scores: NDArray[np.float64]
    word_ends: NDArray[np.int64]
    words: Records
    line_ends: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class LatticePaths:
    """Candidates of lines as sequences of words."""

    # int64 (n_lines + 1,): start of the candidates of each line; every line has at least one
    offsets: NDArray[np.int64]
    scores: NDArray[np.float64]  # (n_candidates,): ln P
    word_offsets: NDArray[np.int64]  # (n_candidates + 1,)
    # WORD (n_words,): the entry of the lexicon (its position in the trie; negative for other kinds of words,
    # see `_lattice_kernels`) and its stretch of the line
    words: Records

    def reranked(self, scores: NDArray[np.float64], k: int) -> LatticePaths:
        """Return up to k candidates of each line by new scores, the best first."""
        line_of = row_owners(self.offsets)
        order = np.lexsort((-scores, line_of))
        kept = order[row_ranks(self.offsets) < k]
        rows, word_offsets = take_rows(self.word_offsets, kept)
        offsets = offsets_from_sizes(np.minimum(np.diff(self.offsets), k))
        return LatticePaths(offsets, scores[kept], word_offsets, self.words[rows])


class _WorkSpace:
    """Buffers for one thread at a time."""

    def __init__(self, tables: NgramTables, words: LexiconTables) -> None:
        self.size = 1 << 12
        self._tables = tables
        self._deepest = int(words.deepest[0])
        self.grow()

    def grow(self) -> None:
        """Double the buffers of lattice and search, and clear them."""
        self.size *= 2
        n, n_singles, parts = self.size, len(self._tables.singles), len(self._tables.starts)
        self.work = _SearchWork(
            tally=np.zeros(4, np.int64),
            arcs=np.zeros(n, _ARC),
            places=np.zeros(n // 32, _PLACE),
            unknown=np.zeros((self._deepest + 1, 3), np.int64),
            nodes=np.zeros(n, _NODE),
            slots=np.full(2 * n, -1, np.int32),
            order=np.zeros(n, np.int32),
            keys=np.zeros(n),
            groups=np.zeros(n + 1, _GROUP),
            members=np.zeros(n, np.int32),
            group_heads=np.full(n_singles, -1, np.int32),
            streams=np.zeros(4 * n, _STREAM),
            heads=np.full(n_singles, -1, np.int32),
            after=np.zeros((parts, n), np.int32),
            behind_one=np.zeros(16 * n, np.uint8),
            behind_two=np.zeros(16 * n, np.uint8),
        )
        self.search = _Search(
            tally=np.zeros(4, np.int64),
            stretches=np.zeros(n, _STRETCH),
            heap=np.zeros(4 * n),
            items=np.zeros(4 * n, _ITEM),
            seen=np.zeros(4 * n, np.uint64),
            seen_at=np.zeros(2 * n + 1, np.int64),
        )


class LatticeDecoder:
    """Finds the best conversions of lines; keeps its buffers between calls; safe for several threads.

    `numbers` is how numbers spelt out in kana are preferably written, `IN_DIGITS` or `IN_KANJI`; by default
    they are not looked for.
    """

    def __init__(self, tables: NgramTables, words: LexiconTables, *, numbers: int | None = None) -> None:
        self._tables, self._words, self._numbers = tables, words, numbers
        self._free_buffers: list[_WorkSpace] = []

    def paths(self, lines: Sequence[str], k: int) -> LatticePaths:
        """Return up to k best distinct strings for each line, the best first.

        Lines are kana (`normalise_kana`) of at most a few hundred characters: memory grows with the longest
        line.
        """
        from ._search_kernels import find_conversions

        codes, offsets = code_points("".join(lines)), offsets_from_sizes(map(len, lines))
        longest = int(np.diff(offsets).max(initial=0))
        spoken = SpokenNumbers.find(lines, self._numbers)
        try:  # buffers that no other thread uses; they are kept for reuse if no error occurs
            buffers = self._free_buffers.pop()
        except IndexError:
            buffers = _WorkSpace(self._tables, self._words)
        while buffers.size < 32 * (longest + 3):
            buffers.grow()
        # room for the paths of some lines at a time, at least for those of one
        n, line = len(lines), 0
        n_paths = max(k, min(k * n, _BLOCK))
        n_words = max(k * (longest + 1), min(k * (len(codes) + n), 32 * _BLOCK))
        paths = _FoundPaths(
            np.zeros(2, np.int64), np.zeros(n_paths), np.zeros(n_paths, np.int64), np.zeros(n_words, WORD),
            np.zeros(n, np.int64),
        )  # fmt: skip
        sizes = np.zeros(n, np.int64)
        scores, counts, words = [np.zeros(0)], [np.zeros(0, np.int64)], [np.zeros(0, WORD)]
        while line < n:
            first = line
            search_input = self._tables, self._words, spoken, codes, offsets
            line, wanting = find_conversions(*search_input, line, k, buffers.work, buffers.search, paths)
            done, written = paths.tally.tolist()
            sizes[first:line] = np.diff(paths.line_ends[first:line], prepend=0)
            scores.append(paths.scores[:done].copy())
            counts.append(np.diff(paths.word_ends[:done], prepend=0))
            words.append(paths.words[:written].copy())
            if wanting:
                buffers.grow()
        self._free_buffers.append(buffers)
        word_offsets = offsets_from_sizes(np.concatenate(counts))
        return LatticePaths(
            offsets_from_sizes(sizes), np.concatenate(scores), word_offsets, np.concatenate(words)
        )


LONGEST = 256
"""Maximum number of characters of a piece of a line."""
_PLACES = tuple(
    re.compile(pattern, re.DOTALL) for pattern in (".*[。！？!?]", ".*[、，,）」』]", ".*[^ぁ-ゖー]")
)
"""Where a line is split, the best places first: after a sentence, after a clause, after no hiragana."""


def split_line(line: str) -> list[str]:
    """Return the pieces of a line; an empty line is one piece."""
    pieces = []
    while len(line) > LONGEST:
        matches = (pattern.match(line[:LONGEST]) for pattern in _PLACES)
        cut = next((match.end() for match in matches if match), LONGEST)
        pieces.append(line[:cut])
        line = line[cut:]
    return [*pieces, line] if line or not pieces else pieces


def best_sums(parts: Sequence[NDArray[np.float64]], k: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the k greatest sums of one number from each part, and the indices of the summands as rows."""
    sums, indices = np.zeros(1), np.zeros((1, 0), np.int64)
    for part in parts:  # the greatest sums of all parts consist of some of the k greatest of those before
        pairs = np.add.outer(sums, part)
        best = np.argsort(-pairs, axis=None, kind="stable")[:k]
        row, column = np.divmod(best, len(part))
        sums, indices = pairs.ravel()[best], np.column_stack([indices[row], column])
    return sums, indices


def join_lines(paths: LatticePaths, counts: Sequence[int], k: int) -> LatticePaths:
    """Return the candidates of lines from those of their pieces; `counts` is the number of pieces per line.

    The k best combinations are kept. They are distinct if all pieces end in punctuation; if a
    line was split elsewhere, two may be equal.
    """
    if all(count == 1 for count in counts):
        return paths
    sizes, n_pieces = [], []
    scores, pieces = [np.zeros(0)], [np.zeros(0, np.int64)]  # the pieces of each candidate
    for first, last in itertools.pairwise(offsets_from_sizes(counts).tolist()):
        starts = paths.offsets[first : last + 1]
        sums, places = best_sums([paths.scores[a:b] for a, b in itertools.pairwise(starts)], k)
        sizes.append(len(sums))
        n_pieces += [last - first] * len(sums)
        scores.append(sums)
        pieces.append((starts[:-1] + places).ravel())
    rows, word_offsets = take_rows(paths.word_offsets, np.concatenate(pieces))
    word_offsets = word_offsets[offsets_from_sizes(n_pieces)]
    return LatticePaths(offsets_from_sizes(sizes), np.concatenate(scores), word_offsets, paths.words[rows])


NOUN, NUMERAL, SIGN = "名詞-普通名詞", "名詞-数詞", "補助記号-一般"
_KATAKANA, _AS_TYPED, _NUMBER = -2, -3, -4


class CandidateWriter:
    """Converts paths to candidates with the words of a lexicon.

    `order`, shape ``(n_entries,)``, are its entries in the numbering of paths.
    """

    def __init__(self, lexicon: KanaLexicon, order: NDArray[np.int32]) -> None:
        self._numbers: dict[str, int] = {}
        spelt = [self._numbers.setdefault(text, len(self._numbers)) for text in lexicon.surfaces]
        self._spellings = list(self._numbers)
        self._spelling_of_entry = np.array(spelt, np.int32)[order] if len(order) else np.zeros(0, np.int32)
        names = lexicon.tag_names
        self._tag_names = (*names, *(name for name in (NOUN, NUMERAL, SIGN) if name not in names))
        self._tags = lexicon.tags[order].astype(np.int16)

    def lists(
        self, paths: LatticePaths, counts: Sequence[int], lines: Sequence[str], k: int
    ) -> CandidateLists:
        """Return the candidates of lines from paths of their pieces (`counts` per line)."""
        paths = join_lines(paths, counts, k)
        ids, tags, spellings = self._words(paths, lines)
        written = [spellings[number] for number in ids.tolist()]
        texts = ["".join(written[a:b]) for a, b in itertools.pairwise(paths.word_offsets.tolist())]
        ranks = row_ranks(paths.offsets).astype(np.int32)
        nothing = np.full(len(texts), np.nan, np.float32)
        words = CandidateWords(ids, paths.word_offsets, spellings, tags, self._tag_names)
        lists = CandidateLists(paths.offsets, texts, paths.scores, ranks, nothing, words=words)
        return lists if max(counts, default=1) == 1 else _drop_duplicates(lists)

    def words(self, paths: LatticePaths, lines: Sequence[str]) -> list[str]:
        """Return the text of each word of the candidates of lines."""
        ids, _, spellings = self._words(paths, lines)
        return [spellings[number] for number in ids.tolist()]

    def _words(
        self, paths: LatticePaths, lines: Sequence[str]
    ) -> tuple[NDArray[np.int32], NDArray[np.int16], list[str]]:
        """Return the words as numbers of spellings, their tags, and the spellings."""
        kinds = paths.words["kind"]
        is_known = kinds >= 0
        ids, tags = np.zeros(len(kinds), np.int32), np.zeros(len(kinds), np.int16)
        ids[is_known], tags[is_known] = self._spelling_of_entry[kinds[is_known]], self._tags[kinds[is_known]]
        open_words = np.flatnonzero(~is_known)
        if not len(open_words):
            return ids, tags, self._spellings
        line_of = row_owners(paths.offsets)
        lines_of_words = np.repeat(line_of, np.diff(paths.word_offsets))[open_words]
        more: dict[str, int] = {}
        tag_numbers = {name: self._tag_names.index(name) for name in (NOUN, NUMERAL, SIGN)}
        # candidates of a line share most of their words: each distinct word is written once
        rows = np.stack(
            [lines_of_words, *(paths.words[name][open_words] for name in ("kind", "start", "end"))]
        )
        distinct, number_of_word = np.unique(rows.T, axis=0, return_inverse=True)
        new_ids, new_tags = np.zeros(len(distinct), np.int32), np.zeros(len(distinct), np.int16)
        for at, (line, kind, start, end) in enumerate(distinct.tolist()):
            text = lines[line][start:end]
            if kind == _KATAKANA:
                text = to_katakana(text)
            elif kind in (IN_DIGITS, IN_KANJI):
                text = write_spoken_number(text, kind)
            number = self._numbers.get(text)
            if number is None:
                number = more.setdefault(text, len(self._spellings) + len(more))
            new_ids[at] = number
            name = NOUN
            if kind == _AS_TYPED and not text[0].isalnum():
                name = SIGN
            elif kind in (_NUMBER, IN_DIGITS, IN_KANJI):
                name = NUMERAL
            new_tags[at] = tag_numbers[name]
        ids[open_words], tags[open_words] = new_ids[number_of_word], new_tags[number_of_word]
        return ids, tags, [*self._spellings, *more] if more else self._spellings


def _drop_duplicates(lists: CandidateLists) -> CandidateLists:
    """Return lists without candidates whose text a better candidate has."""
    first: dict[tuple[int, str], int] = {}
    for row, pair in enumerate(zip(row_owners(lists.offsets).tolist(), lists.texts, strict=True)):
        first.setdefault(pair, row)
    if len(first) == len(lists.texts):
        return lists
    rows = np.array(list(first.values()))
    sizes = np.bincount([line for line, _ in first], minlength=len(lists))
    offsets = offsets_from_sizes(sizes)
    ranks = row_ranks(offsets).astype(np.int32)
    words = None if lists.words is None else lists.words.take(rows)
    texts = [lists.texts[row] for row in rows.tolist()]
    return CandidateLists(offsets, texts, lists.scores[rows], ranks, lists.costs[rows], words=words)
