"""Lexicon of a converter: readings, spellings, tags and counts; general usage; Sudachi's dictionary."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from disambig.api.arrays import offsets_from_sizes

from .characters import code_points, has_kanji, is_kana, is_native, is_reading, normalise_kana
from .segmentation import NAME, SegmentedText, part_of_speech_name, sudachi_dictionary

NUMBERS = tuple("0" * digits for digits in range(6))
"""Words that replace numbers in a language model, by the number of digits from none to five or more."""
LONGEST = 8
"""Maximum length of an unknown word in characters; longer stretches become several words."""
_NUMBER = re.compile("[0-9０-９]+(?:[.,．，][0-9０-９]+)*")


def language_model_word(surface: str) -> str:
    """Return the language model's form of a word: the word itself, or its count of digits for a number."""
    if not _NUMBER.fullmatch(surface):
        return surface
    return NUMBERS[min(sum(character.isdigit() for character in surface), len(NUMBERS) - 1)]


@dataclass(frozen=True, eq=False)
class KanaLexicon:
    """Entries sorted by decreasing frequency; each pair of reading and spelling is unique."""

    # the typed and the written form
    readings: tuple[str, ...]
    surfaces: tuple[str, ...]
    tags: NDArray[np.int16]  # (n,): the most frequent part of speech, as an index into `tag_names`
    tag_names: tuple[str, ...]
    counts: NDArray[np.int64]  # (n,): frequency in text; 0 for entries that are only in a dictionary
    # float32 (n,): ln of a factor on the probability, from other sources than the text (`general_usage`)
    usage: NDArray[np.float32] | None = None

    @classmethod
    def from_text(cls, text: SegmentedText) -> KanaLexicon:
        """Return the lexicon of segmented text."""
        return cls.counted(text.entries, np.bincount(text.ids, minlength=len(text.entries)))

    @classmethod
    def counted(cls, entries: Iterable[tuple[str, str, str]], counts: Iterable[int]) -> KanaLexicon:
        """Return the lexicon of words (spelling, reading, part of speech) with given counts."""
        tag_counts: dict[tuple[str, str], dict[str, int]] = {}
        for (surface, reading, tag), count in zip(entries, counts, strict=True):
            if reading and surface.isprintable() and not _NUMBER.fullmatch(surface):
                by_tag = tag_counts.setdefault((reading, surface), {})
                by_tag[tag] = by_tag.get(tag, 0) + int(count)
        totals = {pair: sum(by_tag.values()) for pair, by_tag in tag_counts.items()}
        order = sorted(totals, key=lambda pair: (-totals[pair], pair))
        names = sorted({tag for by_tag in tag_counts.values() for tag in by_tag})
        numbers = {name: number for number, name in enumerate(names)}
        tags = [
            max(by_tag, key=lambda tag: (by_tag[tag], tag)) for by_tag in map(tag_counts.__getitem__, order)
        ]
        return cls(
            tuple(reading for reading, _ in order),
            tuple(surface for _, surface in order),
            np.array([numbers[tag] for tag in tags], np.int16),
            tuple(names),
            np.array([totals[pair] for pair in order], np.int64),
        )

    def __len__(self) -> int:
        return len(self.readings)

    def with_more(self, other: KanaLexicon) -> KanaLexicon:
        """Return this lexicon merged with the entries of another one; counts are added.

        The usage of existing entries is unchanged.
        """
        merged = KanaLexicon.counted(
            chain(self.entries(), other.entries()), chain(self.counts.tolist(), other.counts.tolist())
        )
        if self.usage is None:
            return merged
        usage = dict(zip(zip(self.readings, self.surfaces, strict=True), self.usage.tolist(), strict=True))
        pairs = zip(merged.readings, merged.surfaces, strict=True)
        return replace(merged, usage=np.array([usage.get(pair, 0.0) for pair in pairs], np.float32))

    def entries(self) -> Iterator[tuple[str, str, str]]:
        """Yield spelling, reading and part of speech of each entry."""
        return zip(self.surfaces, self.readings, (self.tag_names[tag] for tag in self.tags), strict=True)

    @cached_property
    def surface_counts(self) -> NDArray[np.int64]:
        """Frequency of the spelling of each entry, with any reading, shape (n,)."""
        totals: Counter[str] = Counter()
        for surface, count in zip(self.surfaces, self.counts.tolist(), strict=True):
            totals[surface] += count
        return np.array([totals[surface] for surface in self.surfaces], np.int64)

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """P(reading | spelling) of each entry, shape (n,)."""
        n_readings = Counter(self.surfaces)
        n = np.array([n_readings[surface] for surface in self.surfaces])
        return (self.counts + 0.5) / (self.surface_counts + 0.5 * n)


_VOICED = {"じ": ("ち", "ぢ"), "ず": ("つ", "づ")}
"""Kana as the dictionary spells it; without voice, and as people type it in the second part of a word."""
_ALIKE, _EITHER = str.maketrans("ぢづ", "じず"), frozenset("ぢづじず")
_NOT_VOICED = ("ちゅう", "ちょう", "ちゃく", "ちん", "ちく", "ちつ", "つい", "つう")
"""Readings of Chinese origin are not voiced in the second part of a word: 年中 is only ねんじゅう."""
_BOTH_SPELLINGS = tuple(
    pair.split("/")
    for pair in (
        "いなずま/いなづま うなず/うなづ おとず/おとづ かしず/かしづ きずな/きづな "
        "さかずき/さかづき さしずめ/さしづめ つまず/つまづ ちじ/ちぢ なかんずく/なかんづく "
        "ぬかず/ぬかづ ひざまず/ひざまづ ほおずき/ほおづき ゆうずう/ゆうづう"
    ).split()
)
"""Beginnings that the rules of modern kana usage allow in both spellings, or that are often typed so."""


def with_voiced_readings(lexicon: KanaLexicon) -> KanaLexicon:
    """Return a lexicon with readings in ぢ and づ added for words stored with じ and ず.

    はなぢ for 鼻血, which the dictionary reads はなじ: the word's second part, 血, is read ち. The added
    entries have a count of zero; a converter gives them the probability of the entry they are made from.
    """
    readings: dict[str, set[str]] = {}
    for reading, surface in zip(lexicon.readings, lexicon.surfaces, strict=True):
        readings.setdefault(surface, set()).add(reading)
    added = {
        (surface, voiced, tag): 0
        for surface, reading, tag in lexicon.entries()
        if ("じ" in reading or "ず" in reading) and has_kanji(surface)
        for voiced in _voiced_readings(reading, surface, tag, readings)
        if voiced not in readings[surface]
    }
    return lexicon.with_more(KanaLexicon.counted(added, added.values())) if added else lexicon


def _voiced_readings(reading: str, surface: str, tag: str, readings: Mapping[str, set[str]]) -> Iterator[str]:
    """Yield a word's readings with ぢ or づ."""
    for plain, voiced in _BOTH_SPELLINGS:
        if reading.startswith(plain) and sum(map(has_kanji, surface[:2])) == 1:
            yield voiced + reading[len(plain) :]
    if tag == NAME:
        return
    for at in range(1, len(reading)):
        unvoiced, voiced = _VOICED.get(reading[at], ("", ""))
        if not unvoiced:
            continue
        first, second = reading[:at], unvoiced + reading[at + 1 :]
        for cut in range(1, len(surface)):
            before, after = surface[:cut], surface[cut:]
            if first not in readings.get(before, ()) or second not in readings.get(after, ()):
                continue
            if after == "血" or (has_kanji(after) and len(second) > 1 and not second.startswith(_NOT_VOICED)):
                yield first + voiced + reading[at + 1 :]
                break


def voiced_alike(lexicon: KanaLexicon) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the entries that differ only by ぢ or づ from a more frequent one, and that one, as rows."""
    first: dict[tuple[str, str], int] = {}
    rows: list[tuple[int, int]] = []
    for row, (reading, surface) in enumerate(zip(lexicon.readings, lexicon.surfaces, strict=True)):
        if _EITHER.isdisjoint(reading):
            continue
        # entries are sorted by frequency, so the first is the most frequent
        first_row = first.setdefault((reading.translate(_ALIKE), surface), row)
        if first_row != row and lexicon.counts[row] == 0:
            rows.append((row, first_row))
    added, originals = np.array(rows, np.int64).reshape(-1, 2).T
    return added, originals


def unseen_weights(lexicon: KanaLexicon) -> NDArray[np.float64]:
    """Return for each dictionary word the probability that it is the next new word of a text.

    By part of speech and length: the number of words seen once, divided among the words never seen.
    """
    lengths = np.minimum([len(reading) for reading in lexicon.readings], LONGEST)
    classes = lexicon.tags.astype(np.int64) * (LONGEST + 1) + lengths
    n = int(classes.max(initial=0)) + 1
    once = np.bincount(classes[lexicon.counts == 1], minlength=n) + 0.5
    never = np.bincount(classes[lexicon.counts == 0], minlength=n)
    return (once / np.maximum(never, 1))[classes]


@dataclass(frozen=True, slots=True, eq=False)
class ReadingTrie:
    """Trie of readings; the node below edge i is i + 1, the root is 0."""

    begins: NDArray[np.int64]  # (n_nodes + 1,): start of each node's edges
    labels: NDArray[np.int32]  # (n_nodes - 1,): characters of the edges, ascending
    entry_begins: NDArray[np.int64]  # (n_nodes + 1,): start of each node's entries in `entries`
    entries: NDArray[np.int32]  # (n_entries,)

    @classmethod
    def from_readings(cls, readings: Sequence[str]) -> ReadingTrie:
        """Return the trie of some readings, which may repeat and must not be empty."""
        order = np.array(sorted(range(len(readings)), key=readings.__getitem__), np.int64)
        ordered = [readings[i] for i in order.tolist()]
        sizes = np.fromiter(map(len, ordered), np.int64, len(ordered))
        letters = np.zeros((len(ordered), int(sizes.max(initial=0))), np.int32)
        letters[np.arange(letters.shape[1]) < sizes[:, None]] = code_points("".join(ordered))
        # the length of the common prefix of each reading and the one before
        shared = np.full(len(letters), -1, np.int64)
        if len(letters) > 1:
            differs = letters[1:] != letters[:-1]
            shared[1:] = np.where(differs.any(axis=1), differs.argmax(axis=1), letters.shape[1])
        # the nodes of one depth, each given by the first reading with its prefix
        nodes = np.zeros(1, np.int64)
        labels, entries = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
        edge_counts: list[NDArray[np.int64]] = []
        entry_counts: list[NDArray[np.int64]] = []
        for depth in range(letters.shape[1] + 1):
            ended = np.flatnonzero(sizes == depth)
            below = np.flatnonzero((sizes > depth) & (shared <= depth))
            for counts, rows in ((entry_counts, ended), (edge_counts, below)):
                above = np.searchsorted(nodes, rows, side="right") - 1
                counts.append(np.bincount(above, minlength=len(nodes)))
            entries.append(order[ended].astype(np.int32))
            if depth < letters.shape[1]:
                labels.append(letters[below, depth])
            nodes = below
        return cls(
            offsets_from_sizes(np.concatenate(edge_counts)),
            np.concatenate(labels),
            offsets_from_sizes(np.concatenate(entry_counts)),
            np.concatenate(entries),
        )


def _unseen_usage(
    lexicon: KanaLexicon, frequencies: NDArray[np.float64], share: float
) -> NDArray[np.float64]:
    """Return ln of the factor on the probability of each dictionary word.

    This share of their probability follows `frequencies`, the rest part of speech and length.
    """
    weights = unseen_weights(lexicon)[lexicon.counts == 0]
    weights /= weights.sum()
    return np.log((1.0 - share) + share * frequencies / frequencies.sum() / weights)


MIN_FREQUENCY = 1e-8
"""Frequency of words that are not in the other text's list: that of its rarest words."""


def general_usage(
    lexicon: KanaLexicon,
    frequencies: Mapping[str, float],
    *,
    weight: float = 0.2,
    maximum: float = 3.0,
    share: float = 0.5,
) -> NDArray[np.float32]:
    """Return ln of a factor on the probability of each entry, shape (n,).

    Parameters
    ----------
    frequencies : mapping of str to float
        Relative frequencies of spellings in other text.
    weight : float
        Exponent of the ratio of frequencies.
    maximum : float
        Bound on the absolute value of ln of the ratio.
    share : float
        Share of the probability of words missing in the text that follows the other text's frequencies; the
        rest follows part of speech and length.
    """
    other_frequencies = np.array([frequencies.get(surface, 0.0) for surface in lexicon.surfaces])
    own_frequencies = lexicon.surface_counts / max(lexicon.counts.sum(), 1)
    seen = own_frequencies > 0
    ratios = np.log(np.maximum(other_frequencies[seen], MIN_FREQUENCY)) - np.log(own_frequencies[seen])
    usage = np.zeros(len(lexicon))
    bounded = np.where(other_frequencies[seen] > 0, ratios, np.minimum(ratios, 0.0))
    usage[seen] = weight * np.clip(bounded, -maximum, maximum)
    never = lexicon.counts == 0
    new = np.where(seen, 0.0, other_frequencies)[never]
    if share and new.sum() > 0:
        usage[never] += _unseen_usage(lexicon, new, share)
    return usage.astype(np.float32)


def reading_usage(
    lexicon: KanaLexicon,
    frequencies: Mapping[tuple[str, str], float],
    *,
    weight: float = 0.4,
    maximum: float = 4.0,
    share: float = 0.95,
    gain: float = 1.0,
) -> NDArray[np.float32]:
    """Return ln of a factor on the probability of each entry by its reading, shape (n,).

    Names and rare readings lose to plain words if the other text has them less often; `general_usage` only
    knows spellings. The sum of both is an entry's usage if `general_usage` has a share of zero.

    Parameters
    ----------
    frequencies : mapping of (str, str) to float
        Relative frequencies of pairs of reading and spelling in other text.
    weight : float
        Exponent of the ratio of frequencies; entries that the other text lacks are unchanged.
    maximum : float
        Bound on the absolute value of ln of the ratio.
    share : float
        Share of the probability of words missing in the text that follows the other text's frequencies; the
        rest follows part of speech and length.
    gain : float
        ln of a factor on the probability of words missing in the text: a word of two parts that the text has
        competes with both, which know their contexts.
    """
    pairs = zip(lexicon.readings, lexicon.surfaces, strict=True)
    other_frequencies = np.array([frequencies.get(pair, 0.0) for pair in pairs])
    other_frequencies /= max(other_frequencies.sum(), 1e-300)
    usage = np.zeros(len(lexicon))
    in_both = (lexicon.counts > 0) & (other_frequencies > 0)
    ratios = np.log(other_frequencies[in_both]) - np.log(lexicon.counts[in_both] / lexicon.counts.sum())
    usage[in_both] = weight * np.clip(ratios, -maximum, maximum)
    never = lexicon.counts == 0
    new = other_frequencies[never]
    if share and new.sum() > 0:
        usage[never] = _unseen_usage(lexicon, new, share) + gain
    return usage.astype(np.float32)


def sudachi_lexicon(*, longest: int = LONGEST) -> KanaLexicon:
    """Return the entries of Sudachi's core dictionary with kana readings, with zero counts.

    Raises D670 if SudachiPy or its dictionary is not installed.
    """
    dictionary = sudachi_dictionary()
    names: dict[int, str] = {}
    entries: dict[tuple[str, str, str], int] = {}
    for entry in dictionary.entries():
        surface = entry.surface()
        if len(surface) > longest or not is_native(surface) or (is_kana(surface) and len(surface) == 1):
            continue
        reading = normalise_kana(surface if is_kana(surface) else entry.reading_form())
        if not is_reading(reading) or (not has_kanji(surface) and normalise_kana(surface) != reading):
            continue
        entries[(surface, reading, part_of_speech_name(entry, names))] = 0
    return KanaLexicon.counted(entries, entries.values())
