"""Lists of words to ignore: their entries, and the entries that suppress a flag."""

from __future__ import annotations

import re

from disambig.errors import UserError
from disambig.files import decode, read_small
from disambig.text import HIDDEN

MAX_BYTES = 20_000_000
"""Maximum size of a list in bytes."""

ARROW = "->"
"""Between the words of a correction in a list of what to ignore: ``written -> meant``."""


def pair_to_ignore(observed: str, replacement: str) -> str:
    """Return a correction as lists of words to ignore hold it: ``written -> meant``, in lower case.

    There is nothing before the arrow for a word that is missing, nothing after it for one too many.
    """
    sides = (" ".join(side.lower().replace("\u2019", "'").split()) for side in (observed, replacement))
    return f" {ARROW} ".join(sides).strip()


def plain_word(entry: str) -> str:
    """Normalise words for comparison: lower case, plain apostrophes, single spaces.

    A correction to ignore, ``written -> meant``, gets one space on each side of the arrow.
    """
    if ARROW in entry:
        return pair_to_ignore(*entry.split(ARROW, 1))
    return " ".join(entry.lower().replace("\u2019", "'").split())


_WORD = r"([^\W_]+(?:['\u2019-][^\W_]+)*)"
_GAP = rf"[\s{HIDDEN}]*"
_BEFORE, _AFTER = re.compile(rf"{_WORD}{_GAP}\Z"), re.compile(_GAP + _WORD)
_NEAR = 60
"""Maximum distance of the neighbouring words, in characters."""


def ignore_entries(text: str, start: int, end: int, replacement: str) -> tuple[str, ...]:
    """Return the entries of a list of words to ignore that suppress a flag, the most general first.

    They are the written word, the correction, and the correction with the word after or before it, such as
    ``an sql -> a sql``, which are for corrections that are right elsewhere; and, whatever the correction, the
    written word with the word after or before it, as in ``depends of``.

    Parameters
    ----------
    start, end : int
        The written word; equal for a missing word.
    replacement : str
        "" for a word that is one too many.
    """
    observed = text[start:end]
    entries = [pair_to_ignore(observed, replacement)]
    if observed.strip():
        entries.insert(0, plain_word(observed))
    if after := _AFTER.match(text, end, end + _NEAR):
        entries.append(pair_to_ignore(f"{observed} {after[1]}", f"{replacement} {after[1]}"))
    if before := _BEFORE.search(text[max(0, start - _NEAR) : start]):
        entries.append(pair_to_ignore(f"{before[1]} {observed}", f"{before[1]} {replacement}"))
    if observed.strip():
        entries += [plain_word(f"{observed} {after[1]}")] if after else []
        entries += [plain_word(f"{before[1]} {observed}")] if before else []
    return tuple(entries)


IGNORE_ENTRY = r"^(?!/.*/$)[^*?\[\\]+$"
"""Regular expression of entries: no characters of patterns."""


def check_entry(entry: str) -> str:
    """Return an entry; raise a ValueError if it is a pattern, which would never suppress a flag."""
    if not re.search(IGNORE_ENTRY, entry):
        raise ValueError(
            "patterns are not supported: give words (then), words with the one beside them (more then) and "
            "corrections (then -> than)"
        )
    return entry


def read_ignore_list(path: str) -> tuple[str, ...]:
    """Return the entries of a file, one per line; ``#`` begins a comment.

    Raises D971 for a pattern, with its line; D300, D303, D304 or D308 for a file that cannot be read; D975
    for one that is too large.
    """
    text = decode(read_small(path, limit=MAX_BYTES), path).removeprefix("\ufeff")
    entries = []
    for number, line in enumerate(text.splitlines(), 1):
        entry = line.split("#")[0].strip()
        if not entry:
            continue
        try:
            entries.append(check_entry(entry))
        except ValueError as problem:
            key, value = f"line {number:,}", repr(entry)[:60]
            raise UserError("D971", path=path, key=key, value=value, problem=problem) from None
    return tuple(entries)
