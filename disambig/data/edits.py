"""Edits of a text that flagged records describe, and lists of the words and corrections to ignore."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

from disambig.errors import UserError
from disambig.files import decode, read_small
from disambig.rules import comparable_form
from disambig.text import HIDDEN

_LINE_ENDS = "\r\n"
_OPENING = re.compile("(?:[*_~\"'(\\[\u2018\u201c]|<[a-zA-Z][^<>]{0,200}>)*")
"""Marks, quotation marks and tags before a word; matches the empty string, too."""


def surrounding_space(text: str, offset: int) -> tuple[int, int]:
    """Return the start and end of the white space around an offset."""
    start = end = offset
    while start > 0 and text[start - 1].isspace():
        start -= 1
    while end < len(text) and text[end].isspace():
        end += 1
    return start, end


def record_edit(record: dict[str, Any], text: str) -> dict[str, Any]:
    """Return a flagged record as an edit: ``text[start:end]`` becomes ``replacement``.

    Records that replace or insert words are edits already. One that removes a word (its replacement is
    empty) also removes the blanks after it, or those before it if there are none after it or the line ends;
    a word alone on its line is removed with the line. If the word had a capital, the next word of the
    paragraph gets it, unless the word repeats the one before it ("I I am").

    `record`: as returned by `Decisions.record`.
    `text`: the document's original text.
    """
    start, end = record["start"], record["end"]
    if record["replacement"] or start == end:
        return record
    start, end = _with_blanks(text, start, end)
    kept, (_, following) = "", surrounding_space(text, end)
    opened = _OPENING.match(text, following)
    letter = opened.end() if opened else following
    # The next word gets the capital only within the paragraph; an empty line would begin another one.
    between = text[record["end"] : following]
    if (
        record["observed"][:1].isupper()
        and not _repeats(text, record["start"], record["observed"])
        and between
        and between.replace("\r\n", "\n").count("\n") < 2
        and text[letter : letter + 1].islower()
    ):
        kept, end = text[end:letter] + text[letter].upper(), letter + 1
    return {**record, "start": start, "end": end, "replacement": kept}


def _repeats(text: str, start: int, word: str) -> bool:
    """Return True if the same word stands before one, with only blanks between them."""
    end, _ = surrounding_space(text, start)
    first = end - len(word)
    return end < start and text[max(first, 0) : end] == word and not text[max(first - 1, 0) : first].isalnum()


def edited_text(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """Return a text with edits (start, end, new text), which are in its order and do not overlap."""
    parts, at = [], 0
    for start, end, new in edits:
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def _with_blanks(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span that is removed together with a word."""
    first, last = _blanks_before(text, start), _blanks_after(text, end)
    starts = first == 0 or text[first - 1] in _LINE_ENDS
    ends = last == len(text) or text[last] in _LINE_ENDS
    if starts and ends:
        return _line(text, first, last)
    if ends or last == end:  # blanks at the end of a line stay: two of them are a line break in Markdown
        return (start if starts else first), end
    return start, last


def _line(text: str, first: int, last: int) -> tuple[int, int]:
    """Return the span that is removed together with a line; blank lines before it stay."""
    after = _next_line(text, last)
    if after == last:  # the last line, without an end
        return _line_before(text, first), last
    before = _line_before(text, first)
    before = _blanks_before(text, before)
    if first == 0 or before == 0 or text[before - 1] in _LINE_ENDS:
        while (blank := _blanks_after(text, after)) < len(text) and text[blank] in _LINE_ENDS:
            after = _next_line(text, blank)
    return first, after


def _blanks_before(text: str, at: int) -> int:
    while at > 0 and text[at - 1].isspace() and text[at - 1] not in _LINE_ENDS:
        at -= 1
    return at


def _blanks_after(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace() and text[at] not in _LINE_ENDS:
        at += 1
    return at


def _next_line(text: str, at: int) -> int:
    """Return the start of the line after the line end at `at`; `at` if there is no line end."""
    if text.startswith("\r\n", at):
        return at + 2
    return at + 1 if text[at : at + 1] in ("\r", "\n") else at


def _line_before(text: str, at: int) -> int:
    """Return the position of the line end before `at`, which is the start of a line."""
    if text.endswith("\r\n", 0, at):
        return at - 2
    return max(at - 1, 0)


MAX_BYTES = 20_000_000
"""Maximum size of a list in bytes."""

ARROW = "->"
"""Between the words of a correction in a list of what to ignore: ``written -> meant``."""


def pair_to_ignore(observed: str, replacement: str) -> str:
    """Return a correction as lists of words to ignore hold it: ``written -> meant``, in lower case.

    There is nothing before the arrow for a word that is missing, nothing after it for one too many.
    """
    return f"{comparable_form(observed)} {ARROW} {comparable_form(replacement)}".strip()


def plain_word(entry: str) -> str:
    """Normalise words for comparison: lower case, plain apostrophes, single spaces.

    A correction to ignore, ``written -> meant``, gets one space on each side of the arrow.
    """
    if ARROW in entry:
        return pair_to_ignore(*entry.split(ARROW, 1))
    return comparable_form(entry)


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

    `start` and `end`: the written word; equal for a missing word.
    `replacement`: "" for a word that is one too many.
    """
    observed = text[start:end]
    pairs, phrases = [pair_to_ignore(observed, replacement)], [plain_word(observed)]
    if after := _AFTER.match(text, end, end + _NEAR):
        pairs.append(pair_to_ignore(f"{observed} {after[1]}", f"{replacement} {after[1]}"))
        phrases.append(plain_word(f"{observed} {after[1]}"))
    if before := _BEFORE.search(text[max(0, start - _NEAR) : start]):
        pairs.append(pair_to_ignore(f"{before[1]} {observed}", f"{before[1]} {replacement}"))
        phrases.append(plain_word(f"{before[1]} {observed}"))
    # a missing word has no written words, and its neighbours alone would suppress every flag beside them
    return (phrases[0], *pairs, *phrases[1:]) if observed.strip() else tuple(pairs)


_MAX_WORDS_BESIDE = 5


def is_ignored(ignored: Collection[str], text: str, start: int, end: int, replacement: str) -> bool:
    """Return True if a list of words to ignore suppresses a flag.

    Entries that do so are those of `ignore_entries`, and longer phrases that contain the written words, or
    the place of a missing word, with at most `_MAX_WORDS_BESIDE` words before and after them.

    `ignored`: entries as `plain_word` returns them.
    """
    if not ignored:
        return False
    if any(entry in ignored for entry in ignore_entries(text, start, end, replacement)):
        return True
    before, after = [""], [""]  # the words beside the written ones: none, one, two, ...
    first, last = start, end
    for _ in range(_MAX_WORDS_BESIDE):
        if match := _BEFORE.search(text[max(0, first - _NEAR) : first]):
            first -= len(match[0])
            before.append(f"{match[1]} {before[-1]}")
        if match := _AFTER.match(text, last, last + _NEAR):
            last = match.end()
            after.append(f"{after[-1]} {match[1]}")
    observed = text[start:end]
    sides = ((left, right) for left in before for right in after if observed.strip() or (left and right))
    phrases = (plain_word(f"{left} {observed} {right}") for left, right in sides)
    return any(phrase in ignored for phrase in phrases)


MAX_ENTRY_WORDS = 2 * _MAX_WORDS_BESIDE + 1
IGNORE_ENTRY = rf"^(?!/.*/$)(?!\s*(?:\S+\s+){{{MAX_ENTRY_WORDS}}}\S)[^*?\[\\]+$"
"""Regular expression of entries: no characters of patterns, at most `MAX_ENTRY_WORDS` words."""


def check_entry(entry: str) -> str:
    """Return an entry; raise a ValueError if it would never suppress a flag: a pattern, or a long phrase."""
    if re.search(IGNORE_ENTRY, entry):
        return entry
    if len(entry.split()) > MAX_ENTRY_WORDS:
        raise ValueError(
            f"a phrase of more than {MAX_ENTRY_WORDS} words is never ignored: give the words beside the flag"
        )
    raise ValueError(
        "patterns are not supported: give words (then), words with those beside them (more then) and "
        "corrections (then -> than)"
    )


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
