"""The words of Sudachi's dictionary as a lexicon: what a converter knows beside the words of its text.

SudachiDict is licensed under the Apache License 2.0.
"""

from __future__ import annotations

from .characters import has_kanji, is_kana, is_native, is_reading, kana_of
from .lexicon import Lexicon
from .readings import sudachi

LONGEST = 8
"""Characters of the longest spelling that is taken: longer ones are nearly all addresses."""


def sudachi_lexicon(*, longest: int = LONGEST) -> Lexicon:
    """Return the entries of Sudachi's core dictionary that are read in kana, without counts.

    Raises
    ------
    UserError
        D670 where SudachiPy or its dictionary is not installed.
    """
    dictionary = sudachi()
    names: dict[int, str] = {}
    found: dict[tuple[str, str, str], int] = {}
    for entry in dictionary.entries():
        surface = entry.surface()
        if len(surface) > longest or not is_native(surface) or (is_kana(surface) and len(surface) == 1):
            continue
        reading = kana_of(surface if is_kana(surface) else entry.reading_form())
        if not is_reading(reading) or (not has_kanji(surface) and kana_of(surface) != reading):
            continue
        number = entry.part_of_speech_id()
        if number not in names:
            names[number] = "-".join(part for part in entry.part_of_speech()[:2] if part != "*")
        found[(surface, reading, names[number])] = 0
    return Lexicon.counted(found, found.values())
