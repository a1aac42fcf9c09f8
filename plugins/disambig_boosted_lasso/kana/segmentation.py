"""Segmented Japanese text: words with readings from SudachiPy, corrected readings, and the file format."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import UserError
from disambig.api.arrays import join_offsets, offsets_from_sizes, take_rows

from .characters import full_width, has_kanji, is_kana, is_katakana, is_native, normalise_kana

Word = tuple[str, str, str]
"""A word of a text: as written, its reading, its part of speech."""
TABLE = Path(__file__).with_name("overrides.tsv")
NOUN, NAME = "名詞-", "名詞-固有名詞"
_DIGITS = re.compile("[0-9０-９]+")


@dataclass(frozen=True, slots=True)
class ReadingRule:
    """One line of the table of reading corrections."""

    word: str
    read: str
    after: str
    before: str
    reading: str

    def matched_reading(self, words: Sequence[Word], at: int) -> str | None:
        """Return the reading of a word in a sentence by this rule; None if it does not apply."""
        surface, reading, _ = words[at]
        if not (_fits(self.word, surface) and (self.read == "*" or _fits(self.read, reading))):
            return None
        before = words[at - 1] if at else None
        following = words[at + 1] if at + 1 < len(words) else None
        if not (_matches(before, self.after) and _matches(following, self.before)):
            return None
        return self.reading + (reading[len(self.read) - 1 :] if self.read[1:].endswith("*") else "")


def apply_overrides(words: Sequence[Word]) -> list[Word]:
    """Return the words of a sentence with corrected readings."""
    result = list(words)
    table, beginnings = read_rules()
    for at, (surface, _, tag) in enumerate(words):
        for rule in [*table.get(surface, ()), *beginnings.get(surface[:1], ())]:
            replacement = rule.matched_reading(words, at)
            if replacement is not None:
                result[at] = surface, replacement, tag
                break
    return result


@cache
def read_rules() -> tuple[dict[str, list[ReadingRule]], dict[str, list[ReadingRule]]]:
    """Return the rules for whole words by word, and those for prefixes by their first character."""
    whole: dict[str, list[ReadingRule]] = {}
    beginnings: dict[str, list[ReadingRule]] = {}
    for line in TABLE.read_text(encoding="utf8").splitlines():
        if line and not line.startswith("#"):
            rule = ReadingRule(*line.split("\t"))
            place, key = (beginnings, rule.word[0]) if rule.word.endswith("*") else (whole, rule.word)
            place.setdefault(key, []).append(rule)
    return whole, beginnings


def _fits(pattern: str, text: str) -> bool:
    """Return True if a text is what a rule names, or begins with it if ``*`` follows."""
    return text.startswith(pattern[:-1]) if pattern.endswith("*") else text == pattern


def _matches(word: Word | None, surface: str) -> bool:
    """Return True if a neighbouring word is one of those that a rule names."""
    if surface == "*":
        return True
    return word is not None and any(_is_kind(word, kind) for kind in surface.split("|"))


def _is_kind(word: Word, kind: str) -> bool:
    """Return True for a word of a kind that a rule names: ``#`` for numbers, ``@...``, or a spelling."""
    surface, _, tag = word
    if kind.startswith("#"):
        if not _DIGITS.fullmatch(surface) or kind == "#":
            return _DIGITS.fullmatch(surface) is not None
        endings = kind[1:].split(",")
        # a rule with tens and units needs the exact number
        by_last_digit = len(endings[0]) == 1 and "10" not in endings
        return surface in endings or (by_last_digit and surface[-1] in endings)
    if kind == "@noun":
        return tag.startswith(NOUN) and not _DIGITS.match(surface)
    if kind == "@name":
        return tag == NAME
    if kind == "@katakana":
        return is_katakana(surface)
    return surface == kind


MODES = ("A", "B", "C")
_PARTS = re.compile(
    "[ぁ-ゖァ-ヺゝゞヽヾー一-鿿㐀-䶿豈-﫿\U00020000-\U0003134f々〆〇ヶ・]+|[^ぁ-ゖァ-ヺゝゞヽヾー一-鿿㐀-䶿豈-﫿\U00020000-\U0003134f々〆〇ヶ・]+"
)
_ENDING = re.compile("[ぁ-ゖ]*$")
_SAME_SOUND = str.maketrans("わえおじず", "はへをぢづ")
LONGEST = 10_000
"""Maximum number of characters per call: SudachiPy rejects texts above about 16,000."""


def segment_lines(lines: Iterable[str], *, mode: str = "A") -> Iterator[list[Word]]:
    """Yield the words of each line: spelling (full-width kana), reading, part of speech.

    `mode` is the length of words by Sudachi: ``"A"`` short units, ``"B"`` medium, ``"C"`` named entities as
    one word. Raises D670 if SudachiPy or its dictionary is not installed, D671 for an unknown mode.
    """
    if mode not in MODES:
        raise UserError("D671", setting="mode", value=mode, names=", ".join(MODES))
    cut = _make_tokenizer(mode)
    for line in lines:
        text = full_width(line)
        words: list[Word] = []
        for start in range(0, len(text), LONGEST):
            for surface, reading, tag in cut(text[start : start + LONGEST]):
                words += _split_word(surface, reading, tag, cut)
        yield apply_overrides(words)


def join_readings(words: Iterable[Word]) -> str:
    """Return the typed form of some words."""
    return "".join(reading for _, reading, _ in words)


def sudachi_dictionary() -> Any:
    """Return Sudachi's core dictionary. Raises D670 if SudachiPy or the dictionary is not installed."""
    try:
        from sudachipy import Dictionary

        return Dictionary(dict="core")
    except ImportError as error:
        raise UserError("D670", problem=str(error)) from error


def sudachi_version() -> str:
    """Return the versions that segmentation depends on: SudachiPy, its dictionary, the table of corrections.

    Raises D670 if SudachiPy or its dictionary is not installed.
    """
    try:
        installed = [metadata.version(name) for name in ("sudachipy", "sudachidict_core")]
    except metadata.PackageNotFoundError as error:
        raise UserError("D670", problem=str(error)) from error
    table = hashlib.sha256(TABLE.read_bytes()).hexdigest()[:12]
    return " ".join([*installed, table])


def part_of_speech_name(entry: Any, names: dict[int, str]) -> str:
    """Return the first two levels of the part of speech of one of Sudachi's words; `names` is a cache."""
    number = entry.part_of_speech_id()
    if number not in names:
        names[number] = "-".join(part for part in entry.part_of_speech()[:2] if part != "*")
    return names[number]


def _make_tokenizer(mode: str) -> Any:
    """Return a function from a text to its words, of the lengths of a mode."""
    dictionary = sudachi_dictionary()
    from sudachipy import SplitMode

    make = getattr(dictionary, "tokenizer", None) or dictionary.create
    tokenizer, split = make(), getattr(SplitMode, mode)
    names: dict[int, str] = {}

    def cut(text: str) -> Iterator[Word]:
        for morpheme in tokenizer.tokenize(text, split):
            reading = normalise_kana(morpheme.reading_form())
            yield morpheme.surface(), reading, part_of_speech_name(morpheme, names)

    return cut


def _split_word(surface: str, reading: str, tag: str, cut: Any) -> list[Word]:
    """Return a word as a whole, or split into parts if some are typed as they are, such as digits."""
    if is_kana(surface):
        return [(surface, normalise_kana(surface), tag)]
    if not is_native(surface):
        return [(surface, surface, tag)]
    parts = _PARTS.findall(surface)
    if len(parts) == 1:
        return [(surface, _typed_reading(surface, reading), tag)]
    words: list[Word] = []
    for part in parts:
        if is_native(part):
            words += [
                (text, normalise_kana(text) if is_kana(text) else _typed_reading(text, kana), kind)
                for text, kana, kind in cut(part)
            ]
        else:
            words.append((part, part, tag))
    return words


def _typed_reading(surface: str, reading: str) -> str:
    """Return a reading with its ending spelt as in the word; the word itself if it has no reading."""
    if has_kanji(reading) or not reading:
        return surface
    ending = _ENDING.search(surface)
    kana = ending[0] if ending else ""
    stem = reading[len(reading) - len(kana) :]
    if kana and kana != stem and kana.translate(_SAME_SOUND) == stem.translate(_SAME_SOUND):
        return reading[: len(reading) - len(kana)] + kana
    return reading


_BLANK = "␣"


@dataclass(frozen=True, slots=True, eq=False)
class SegmentedText:
    """Sentences of words."""

    entries: tuple[Word, ...]  # distinct words: spelling, reading, part of speech
    ids: NDArray[np.int32]  # (n_words,): entry of each word
    offsets: NDArray[np.int64]  # (n_sentences + 1,): start of each sentence's words

    @classmethod
    def from_sentences(cls, sentences: Iterable[Sequence[Word]]) -> SegmentedText:
        """Return sentences in columns."""
        numbers: dict[Word, int] = {}
        ids: list[NDArray[np.int32]] = []
        for words in sentences:
            ids.append(np.array([numbers.setdefault(word, len(numbers)) for word in words], np.int32))
        offsets = offsets_from_sizes(map(len, ids))
        return cls(tuple(numbers), np.concatenate(ids or [np.empty(0, np.int32)]), offsets)

    @classmethod
    def concat(cls, parts: Sequence[SegmentedText]) -> SegmentedText:
        """Return the sentences of all parts, concatenated."""
        numbers: dict[Word, int] = {}
        ids = [np.empty(0, np.int32)]
        for part in parts:
            new_ids = np.array([numbers.setdefault(word, len(numbers)) for word in part.entries], np.int32)
            ids.append(new_ids[part.ids] if len(new_ids) else part.ids)
        offsets = join_offsets(part.offsets for part in parts)
        return cls(tuple(numbers), np.concatenate(ids), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def sentence(self, index: int) -> list[Word]:
        """Return the words of one sentence."""
        return [self.entries[i] for i in self.ids[self.offsets[index] : self.offsets[index + 1]].tolist()]

    def __getitem__(self, index: slice) -> SegmentedText:
        """Return a slice of the sentences, with the same entries."""
        return self.take(index)

    def take(self, which: NDArray[np.integer] | slice) -> SegmentedText:
        """Return some of the sentences, in the order of `which`, with the same entries."""
        places, offsets = take_rows(self.offsets, which)
        return SegmentedText(self.entries, self.ids[places], offsets)

    def column(self, which: int) -> list[str]:
        """Return the spelling (0) or reading (1) of each sentence, with words joined."""
        strings = [entry[which] for entry in self.entries]
        ids, bounds = self.ids.tolist(), self.offsets.tolist()
        pairs = itertools.pairwise(bounds)
        return ["".join([strings[i] for i in ids[a:b]]) for a, b in pairs]


def write_segmented(path: str | Path, sentences: Iterable[Sequence[Word]]) -> int:
    """Write sentences to a file; return their number."""
    count = 0
    with Path(path).open("w", encoding="utf8", newline="\n") as file:
        for words in sentences:
            columns = (" ".join(part.replace(" ", _BLANK) for part in column) for column in zip(*words))  # noqa: B905
            file.write("\t".join(columns) + "\n")
            count += 1
    return count


def read_segmented(path: str | Path) -> SegmentedText:
    """Read sentences from a file. Raises D300 if the file does not exist, D672 for an invalid line."""
    if not Path(path).is_file():
        raise UserError("D300", path=path)
    with Path(path).open(encoding="utf8", newline="\n") as file:
        return SegmentedText.from_sentences(
            _parse_line(line.rstrip("\n"), path, number) for number, line in enumerate(file, 1)
        )


def _parse_line(line: str, path: str | Path, number: int) -> list[Word]:
    if not line:
        return []
    columns = [[part.replace(_BLANK, " ") for part in column.split(" ")] for column in line.split("\t")]
    if len(columns) != 3 or len({len(column) for column in columns}) != 1:
        raise UserError("D672", path=path, line=number)
    return list(zip(*columns, strict=True))
