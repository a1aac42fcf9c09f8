"""Texts with markup: documents and code become plain text of the same length.

Markup, and code apart from its comments, is replaced by blanks. Code in prose, mathematics, references and
addresses are replaced by a character that is a word in no count table. Headings, list items and table cells
end their sentences. An offset into the plain text is therefore also an offset into the file, except in a word
with a reference to an apostrophe (``it&#39;s``): see `PlainText.file_offset`. The supported subset of each
format is documented in its module. Text without markup has code in backticks, quoted lines and comments, too.

Behind "a" and "an" the sound of a hidden word decides. Where it can be told from the letters, the word is
replaced by `SPOKEN_VOWEL` or `SPOKEN_CONSONANT` in place of `OPAQUE` (see `spoken_words`).
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from disambig.errors import UserError
from disambig.markup.canvas import OPAQUE, ShortenedWord
from disambig.markup.formats import FORMATS, is_section, path_format
from disambig.markup.layout import Layout
from disambig.markup.plain_texts import without_code_and_quotations
from disambig.text import SPOKEN_CONSONANT, SPOKEN_VOWEL

SUFFIXES = tuple(suffix for entry in FORMATS if entry.in_folders for suffix in entry.suffixes)
"""Suffixes of prose, which are read when a directory is given."""
CODE = tuple(suffix for entry in FORMATS if entry.lexer for suffix in entry.suffixes)
"""Suffixes of code, whose comments and docstrings are text."""
NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})
_COMMENT = re.compile("<!--|-->")
_AFTER_ARTICLE = re.compile(rf"(?<![^\W_])an?\s+({OPAQUE}+)", re.IGNORECASE)
_QUALIFIER = r"'(?:[A-Z]\w*\.)+(?![A-Z]\w*\.)"
_FIRST_WORD = re.compile(rf"(?:{_QUALIFIER}|(?!{_QUALIFIER})[`'\"<]*)([A-Za-z][a-z]{{2,}})")
"""The word that is read first; of an identifier in Haskell only the last part is shown."""
# tried in this order
_SPOKEN = (
    (SPOKEN_VOWEL, re.compile("hour|honest|honou?r|heir")),
    (
        SPOKEN_CONSONANT,
        re.compile(
            "(?:[b-df-hj-np-tvwyz]|[bcfgp]l|[bcdfgkpt]r|[cgpstw]h|sch|[st]w|s[ckmnp]|s?qu|sc?l|st|s[cpt]r|spl|thr|shr|kn|wr)"
            "[aeiouy]|json|uni|us[aeiu]|uti|eu|onc?e(?![a-z])"
        ),
    ),
    (SPOKEN_VOWEL, re.compile("[aeio]|u[nlp]")),
)
_BEGINNING = 8_000
"""Number of bytes at the beginning of a file that show what it is."""


@dataclass(frozen=True, slots=True)
class PlainText:
    """The text between the markup."""

    text: str  # text of the same length as the original, with line ends only at the original's line ends
    # offsets of the comments in the original, including their marks, in text order
    comments: tuple[tuple[int, int], ...] = ()
    problem: str = ""  # Why the text is not in its format: nothing of it was read. Empty for other texts
    shortened: tuple[ShortenedWord, ...] = ()  # the words in which letters have moved, in text order

    def file_offset(self, offset: int) -> int:
        """Return the offset into the file for an offset into the text; they differ in shortened words."""
        number = bisect_left(self.shortened, offset, key=lambda word: word.start) - 1
        word = self.shortened[number] if number >= 0 else None
        return offset if word is None or offset > word.painted_end else offset - word.painted_end + word.end

    def reference_in(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the span of the first reference to an apostrophe between two offsets into the file."""
        number = bisect_left(self.shortened, start, key=lambda word: word.start)
        words = self.shortened[number : number + 1]
        return words[0].reference if words and words[0].start < end else None


def plain_text(path: str, text: str, options: Mapping[str, Any] = NO_OPTIONS) -> str:
    """Return `text` with its markup painted over; the suffix of `path` determines the format.

    In text with any other suffix, code between backticks, quoted lines and a signature are painted over. The
    length stays the same.

    Raises D344 for a text that is not in its format, such as a notebook that is not valid JSON.
    """
    plain = read_markup(path, text, options)
    if plain.problem:
        raise invalid_markup(path, plain)
    return plain.text


def invalid_markup(path: str, plain: PlainText) -> UserError:
    """Return the error (D344) for a text that is not in the format of its suffix."""
    entry = path_format(path)
    return UserError("D344", path=path, what=entry.name if entry else "", problem=plain.problem)


def has_markup(path: str) -> bool:
    """Return True if the suffix of `path` is that of a format with markup."""
    return path_format(path) is not None


def read_markup(path: str, text: str, options: Mapping[str, Any] = NO_OPTIONS) -> PlainText:
    """Return the plain text and the comments of `text`; the suffix of `path` determines the format.

    In text with any other suffix, or with that of a manual section but no roff, HTML comments are found, and
    code between backticks of one line, quoted lines (``> ...``) and a signature are painted over.

    Parameters
    ----------
    options : mapping of str to object
        Settings of formats; a format takes those that its entry in the table names.
    """
    entry, suffix = path_format(path), os.path.splitext(path)[1].lower()
    if entry is None or (is_section(suffix) and not _is_roff(text)):
        plain = without_code_and_quotations(text)
        return PlainText(spoken_words(plain, text), tuple(_html_comments(text)))
    taken = {name: options[name] for name in entry.options if name in options}
    canvas = entry.read(text, suffix if suffix in entry.suffixes else entry.suffixes[0], **taken)
    plain = spoken_words(canvas.text, text)
    shortened = sorted(canvas.shortened, key=lambda word: word.start)
    return PlainText(plain, tuple(sorted(canvas.comments)), canvas.problem, tuple(shortened))


def read_layout(path: str, text: str) -> Layout:
    """Return the layout of `text`, which corrections keep; the suffix of `path` determines the format."""
    entry = path_format(path)
    return Layout(text) if entry is None else entry.read_layout(text)


def begins_like_document(path: str) -> bool:
    """Return True if a file has a suffix that other files have as well, but begins like a document.

    These are manual pages (``.1``, ``.3pm``), which begin like roff, and DocBook and DITA in ``.xml``.
    """
    is_xml = path.lower().endswith(".xml")
    if not is_xml and not is_section(os.path.splitext(path)[1]):
        return False
    from disambig.markup._xml_documents import xml_language

    try:
        with open(path, "rb") as file:
            beginning = file.read(_BEGINNING).decode("utf-8-sig", "replace")
    except OSError:
        return False
    return bool(xml_language(beginning)[0]) if is_xml else _is_roff(beginning)


def _is_roff(text: str) -> bool:
    from disambig.markup.man_pages import is_roff

    return is_roff(text)


def spoken_words(plain: str, text: str) -> str:
    """Return the plain text with the sound of the hidden words after articles.

    The words are those that are read as they are written: names of three letters and more with a vowel among
    the first four, such as ``int`` and ``string``, but not ``str`` or ``html``.

    Parameters
    ----------
    plain : str
        Text with hidden words as `OPAQUE`.
    text : str
        The same text before anything was hidden.
    """

    def with_sound(match: re.Match[str]) -> str:
        word = _FIRST_WORD.match(text, *match.span(1))
        if word is None:
            return match[0]
        name = word[1].lower()
        sound = next((sound for sound, pattern in _SPOKEN if pattern.match(name)), OPAQUE)
        return match[0].replace(OPAQUE, sound)

    return _AFTER_ARTICLE.sub(with_sound, plain) if OPAQUE in plain else plain


def _html_comments(text: str) -> list[tuple[int, int]]:
    comments, start = [], -1
    for match in _COMMENT.finditer(text):
        if match[0] == "<!--":
            start = match.start() if start < 0 else start
        elif start >= 0:
            comments.append((start, match.end()))
            start = -1
    return comments
