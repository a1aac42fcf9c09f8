"""Paragraphs of documents in any format that is checked, without their markup."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from disambig.markup import NO_OPTIONS, iterate_units, read_markup
from disambig.text import CODE_SIGNS, HIDDEN

LEAST_WORDS = 5
"""Minimum number of words of a paragraph."""
MOST_WORDS = 1_000
"""Maximum number of words of a paragraph; longer ones are usually data."""
_PIECES = re.compile(rf"(?P<code>[{CODE_SIGNS}]+)|[{HIDDEN}]+|(?P<space>\s+)")
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_IS_NAME = re.compile(r"[\w.:/#<>()\[\]{}@*=+-]{1,60}")
_UNREADABLE_CODE = "x"


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a paragraph.

    Attributes
    ----------
    word : str
        In lower case, with straight apostrophes.
    start, end : int
        Offsets in the paragraph.
    is_code : bool
        Whether it is code, a formula or a part of a name such as ``well_known``.
    """

    word: str
    start: int
    end: int
    is_code: bool = False


@dataclass(frozen=True)
class Paragraph:
    """A paragraph, heading, list item or table cell.

    Attributes
    ----------
    text : str
        Words separated by single spaces, without markup.
    code : tuple of (start, end)
        Offsets of code and formulas in `text`.
    """

    text: str
    code: tuple[tuple[int, int], ...] = ()

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """The words of the paragraph."""
        return tuple(self._iterate_tokens())

    def _iterate_tokens(self) -> Iterator[Token]:
        code = iter((*self.code, (len(self.text) + 1, len(self.text) + 1)))
        first, last = next(code)
        for match in _WORD.finditer(self.text):
            start, end = match.span()
            while last <= start:
                first, last = next(code)
            inside = first < end and start < last
            word = match[0].lower().replace("\u2019", "'")
            yield Token(word, start, end, inside or _is_part_of_name(self.text, start, end))


def _is_part_of_name(text: str, start: int, end: int) -> bool:
    """Return True if a word is joined with others by an underscore, slash, dot or hyphen, or has digits."""
    before, after = text[start - 1 : start], text[end : end + 1]
    joined = before in tuple("_/\\@#$-") or after in tuple("_/\\@=(-")
    dotted = after in (".", ":") and text[end + 1 : end + 2].isalnum()
    dotted = dotted or (before in (".", ":") and start > 1 and text[start - 2].isalnum())
    return joined or dotted or any(character.isdigit() for character in text[start:end])


def read_paragraphs(
    path: str, text: str, options: Mapping[str, Any] = NO_OPTIONS, *, keep_code: bool = True
) -> list[Paragraph]:
    """Return the paragraphs of a document; the suffix of `path` determines its format.

    Parameters
    ----------
    path, text : str
    options : mapping of str to object
        Settings of formats, as for `disambig.markup.read_markup`.
    keep_code : bool
        Whether inline code is part of the text; if not, each piece of code is one character that is a word in
        no count table, as it is when a document is checked.

    Returns
    -------
    list of Paragraph
        Those with 1 to `MOST_WORDS` words; an empty list if the text is not in its format.
    """
    plain = read_markup(path, text, options)
    if plain.problem:
        return []
    paragraphs = []
    for start, end in iterate_units(plain.text):
        paragraph = _render(plain.text[start:end], text[start:end], keep_code)
        if paragraph.text and paragraph.text.count(" ") < MOST_WORDS:
            paragraphs.append(paragraph)
    return paragraphs


def _render(painted: str, original: str, keep_code: bool) -> Paragraph:
    """Return a part of a document as a paragraph, with each run of white space as one blank.

    Parameters
    ----------
    painted : str
        The part after markup was read: signs replace markup and code (`disambig.markup.read_markup`).
    original : str
        The same part with its markup, as long as `painted`.
    keep_code : bool
        See `read_paragraphs`.
    """
    parts: list[str] = []
    code: list[tuple[int, int]] = []
    length = at = 0

    def add(part: str) -> None:
        nonlocal length
        parts.append(part)
        length += len(part)

    blank = True
    for match in _PIECES.finditer(painted):
        if match.start() > at:
            add(painted[at : match.start()])
            blank = False
        at = match.end()
        if match["code"]:
            shown = _code_text(original[slice(*match.span())]) if keep_code else match["code"][:1]
            code.append((length, length + len(shown)))
            add(shown)
            blank = False
        elif match["space"] and not blank:
            add(" ")
            blank = True
    add(painted[at:])
    return Paragraph("".join(parts).rstrip(), tuple(code))


def _code_text(original: str) -> str:
    """Return code as it is read aloud: a name without its marks, "x" for formulas and other code."""
    name = original.strip("`'\"$ ")
    return name if _IS_NAME.fullmatch(name) else _UNREADABLE_CODE
