"""Paragraphs of documents in any format that is checked, without their markup."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from disambig.markup import NO_OPTIONS, iterate_units, read_markup
from disambig.text import CODE_SIGNS, HIDDEN

MIN_WORDS = 5
"""Minimum number of words of a paragraph."""
MAX_WORDS = 1_000
"""Maximum number of words of a paragraph; longer ones are usually data."""
_PIECES = re.compile(rf"(?P<code>[{CODE_SIGNS}]+)|[{HIDDEN}]+|(?P<space>\s+)")
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_CODE_NAME = re.compile(r"[\w.:/#<>()\[\]{}@*=+-]{1,60}")
_OTHER_CODE = "x"


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a paragraph."""

    word: str  # the word in lower case, with straight apostrophes
    # offsets in the paragraph
    start: int
    end: int
    is_code: bool = False  # whether the word is code, a formula or a part of a name such as ``well_known``


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
        spans = iter((*self.code, (len(self.text) + 1, len(self.text) + 1)))
        code_start, code_end = next(spans)
        for match in _WORD.finditer(self.text):
            start, end = match.span()
            while code_end <= start:
                code_start, code_end = next(spans)
            is_code = code_start < end and start < code_end
            word = match[0].lower().replace("\u2019", "'")
            yield Token(word, start, end, is_code or _is_part_of_name(self.text, start, end))


def _is_part_of_name(text: str, start: int, end: int) -> bool:
    """Return True if a word is joined with others by an underscore, slash, dot or hyphen, or has digits."""
    before, after = text[start - 1 : start], text[end : end + 1]
    is_joined = before in tuple("_/\\@#$-") or after in tuple("_/\\@=(-")
    is_dotted = after in (".", ":") and text[end + 1 : end + 2].isalnum()
    is_dotted = is_dotted or (before in (".", ":") and start > 1 and text[start - 2].isalnum())
    return is_joined or is_dotted or any(character.isdigit() for character in text[start:end])


def read_paragraphs(
    path: str, text: str, options: Mapping[str, Any] = NO_OPTIONS, *, keep_code: bool = True
) -> list[Paragraph]:
    """Return the paragraphs of a document; the suffix of `path` determines its format.

    Parameters
    ----------
    options : mapping of str to object
        See `disambig.markup.read_markup`.
    keep_code : bool
        Whether inline code is part of the text. Otherwise, each piece of code is one character that no count
        table contains, as in a document that is checked.

    Returns
    -------
    list of Paragraph
        The paragraphs with 1 to `MAX_WORDS` words; an empty list if the format of the text is invalid.
    """
    plain = read_markup(path, text, options)
    if plain.problem:
        return []
    paragraphs = []
    for start, end in iterate_units(plain.text):
        paragraph = _render(plain.text[start:end], text[start:end], keep_code)
        if paragraph.text and paragraph.text.count(" ") < MAX_WORDS:
            paragraphs.append(paragraph)
    return paragraphs


def _render(plain: str, original: str, keep_code: bool) -> Paragraph:
    """Return a part of a document as a paragraph, with each run of white space as one space.

    Parameters
    ----------
    plain : str
        The part without markup: signs replace markup and code (see `disambig.markup.read_markup`).
    original : str
        The same part with markup, as long as `plain`.
    keep_code : bool
        See `read_paragraphs`.
    """
    parts: list[str] = []
    code: list[tuple[int, int]] = []
    length = position = 0

    def add(part: str) -> None:
        nonlocal length
        parts.append(part)
        length += len(part)

    after_space = True
    for match in _PIECES.finditer(plain):
        if match.start() > position:
            add(plain[position : match.start()])
            after_space = False
        position = match.end()
        if match["code"]:
            code_text = _code_text(original[slice(*match.span())]) if keep_code else match["code"][:1]
            code.append((length, length + len(code_text)))
            add(code_text)
            after_space = False
        elif match["space"] and not after_space:
            add(" ")
            after_space = True
    add(plain[position:])
    return Paragraph("".join(parts).rstrip(), tuple(code))


def _code_text(original: str) -> str:
    """Return the text of code for readers: a name without its marks, or "x" for formulas and other code."""
    name = original.strip("`'\"$ ")
    return name if _CODE_NAME.fullmatch(name) else _OTHER_CODE
