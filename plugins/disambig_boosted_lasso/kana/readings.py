"""Words of Japanese text with readings: SudachiPy cuts and reads, a table puts right what it gets wrong.

How a line is read is the input that a converter is trained for and measured by: kana words are read as they
are written (``は`` is "ha"), what has neither kana nor kanji (digits, Latin letters, signs) stands for
itself, in words with both as well. A character of which no reading is known stands for itself, too.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from importlib import metadata
from typing import Any

from disambig.api import UserError

from .characters import full_width, has_kanji, is_kana, is_native, kana_of
from .overrides import TABLE, Word, overridden

MODES = ("A", "B", "C")
_PARTS = re.compile(
    "[ぁ-ゖァ-ヺゝゞヽヾー一-鿿㐀-䶿豈-﫿\U00020000-\U0003134f々〆〇ヶ・]+|[^ぁ-ゖァ-ヺゝゞヽヾー一-鿿㐀-䶿豈-﫿\U00020000-\U0003134f々〆〇ヶ・]+"
)
_ENDING = re.compile("[ぁ-ゖ]*$")
_ALIKE = str.maketrans("わえおじず", "はへをぢづ")
LONGEST = 10_000
"""Characters that are cut at a time: the dictionary takes no more than some 16,000."""


def words_of(lines: Iterable[str], *, mode: str = "A") -> Iterator[list[Word]]:
    """Yield the words of each line: as written (kana in full width), reading, part of speech.

    Parameters
    ----------
    lines : iterable of str
    mode : str
        How long words are, by Sudachi: ``"A"`` short units, ``"B"`` between, ``"C"`` named entities whole.

    Raises
    ------
    UserError
        D670 where SudachiPy or its dictionary is not installed, D671 for a mode that is none.
    """
    if mode not in MODES:
        raise UserError("D671", setting="mode", value=mode, names=", ".join(MODES))
    cut = _cutter(mode)
    for line in lines:
        text = full_width(line)
        words: list[Word] = []
        for start in range(0, len(text), LONGEST):
            for surface, reading, tag in cut(text[start : start + LONGEST]):
                words += _parts(surface, reading, tag, cut)
        yield overridden(words)


def reading_of(words: Iterable[Word]) -> str:
    """Return what is typed to get some words."""
    return "".join(reading for _, reading, _ in words)


def sudachi() -> Any:
    """Return Sudachi's core dictionary.

    Raises
    ------
    UserError
        D670 where SudachiPy or the dictionary is not installed.
    """
    try:
        from sudachipy import Dictionary

        return Dictionary(dict="core")
    except ImportError as error:
        raise UserError("D670", problem=str(error)) from error


def version() -> str:
    """Return what text is cut and read by: of SudachiPy, its dictionary and the table of what it gets wrong.

    Raises
    ------
    UserError
        D670 where SudachiPy or its dictionary is not installed.
    """
    try:
        installed = [metadata.version(name) for name in ("sudachipy", "sudachidict_core")]
    except metadata.PackageNotFoundError as error:
        raise UserError("D670", problem=str(error)) from error
    table = hashlib.sha256(TABLE.read_bytes()).hexdigest()[:12]
    return " ".join([*installed, table])


def _cutter(mode: str) -> Any:
    dictionary = sudachi()
    from sudachipy import SplitMode

    make = getattr(dictionary, "tokenizer", None) or dictionary.create
    tokenizer, split = make(), getattr(SplitMode, mode)
    names: dict[int, str] = {}

    def cut(text: str) -> Iterator[Word]:
        for morpheme in tokenizer.tokenize(text, split):
            number = morpheme.part_of_speech_id()
            if number not in names:
                names[number] = "-".join(part for part in morpheme.part_of_speech()[:2] if part != "*")
            yield morpheme.surface(), kana_of(morpheme.reading_form()), names[number]

    return cut


def _parts(surface: str, reading: str, tag: str, cut: Any) -> list[Word]:
    """Return a word as one, or its parts where some of it stands for itself."""
    if is_kana(surface):
        return [(surface, kana_of(surface), tag)]
    if not is_native(surface):
        return [(surface, surface, tag)]
    parts = _PARTS.findall(surface)
    if len(parts) == 1:
        return [(surface, _as_written(surface, reading), tag)]
    words: list[Word] = []
    for part in parts:
        if is_native(part):
            words += [(s, kana_of(s) if is_kana(s) else _as_written(s, r), t) for s, r, t in cut(part)]
        else:
            words.append((part, part, tag))
    return words


def _as_written(surface: str, reading: str) -> str:
    """Return a reading whose ending is spelt as the word's is; the word itself where it is none."""
    if has_kanji(reading) or not reading:
        return surface
    ending = _ENDING.search(surface)
    kana = ending[0] if ending else ""
    said = reading[len(reading) - len(kana) :]
    if kana and kana != said and kana.translate(_ALIKE) == said.translate(_ALIKE):
        return reading[: len(reading) - len(kana)] + kana
    return reading
