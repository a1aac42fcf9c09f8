"""Comments and docstrings of code, as Pygments sees them. What they say is not looked at.

A docstring is the first string of a module, a class or a function in Python. What Rust calls a comment of
documentation is a comment. Code that is broken gives other comments, and no error.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

_NAMES = {
    "PythonLexer": ("py", "pyi"),
    "RustLexer": ("rs",),
    "JavascriptLexer": ("js", "mjs", "cjs", "jsx"),
    "TypeScriptLexer": ("ts", "mts", "cts", "tsx"),
    "GoLexer": ("go",),
    "CLexer": ("c", "h"),
    "BashLexer": ("sh", "bash"),
}
LANGUAGES = {f".{suffix}": name for name, suffixes in _NAMES.items() for suffix in suffixes}
"""The lexer of Pygments for each suffix."""
_SINGLE, _MULTILINE = "Comment.Single", "Comment.Multiline"
_DOCUMENTS = "Literal.String.Doc"
_STRING = "Literal.String"
_LINE_ENDS = re.compile("\r\n?")
_BLANKS = re.compile(r"(\s{64})(\s{64,})(\s{64})")
"""Lexers try their patterns at each line, and some run over all blank lines behind it: quadratic time."""
_LONG_LINE = re.compile("[^\r\n]{2000,}")
"""Nobody wrote it: code that a program made small."""
_TAGS = re.compile("</|(?<![*/])/>")
"""In tags of JSX, which Pygments takes for regular expressions."""
_OPENED = re.compile(r"/(?:\\\n)?\*")
_CLOSED = re.compile(r"\*(?:\\\n)?/")
_SEARCHES_THE_END = ("JavascriptLexer", "TypeScriptLexer", "GoLexer")
"""Lexers that search all of the text for the end of each comment: quadratic time where there is none."""
_BEFORE_HASH = " \t\n;|&()"
_KEPT = re.compile("[rRuU]?")
Token = tuple[int, str, str]
"""Where it begins, its kind, its text."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment, its marks included, or a docstring with its quotes.

    Attributes
    ----------
    start, end : int
    docstring : bool
        Whether it is a string.
    """

    start: int
    end: int
    docstring: bool = False


def without_long_lines(text: str) -> str:
    """Return `text` with blanks for its lines of 2,000 characters and more, which are not read."""
    return _LONG_LINE.sub(lambda match: " " * len(match[0]), text)


def comments_of(text: str, suffix: str) -> list[Comment]:
    """Return the comments and docstrings of `text`, in text order.

    Parameters
    ----------
    text : str
        As `without_long_lines` returns it.
    suffix : str
        One of `LANGUAGES`.
    """
    read = _LINE_ENDS.sub(lambda match: "\n".rjust(len(match[0])), text)  # of the same length
    if read.startswith("\ufeff"):
        read = " " + read[1:]
    if suffix.endswith("x"):
        read = _TAGS.sub("  ", read)
    name = LANGUAGES[suffix]
    if name in _SEARCHES_THE_END:
        last = max((match.end() for match in _CLOSED.finditer(read)), default=0)
        read = read[:last] + _OPENED.sub(lambda match: f"{match[0][:-1]}+", read[last:])
    read, places = _with_short_gaps(read)
    tokens = _tokens(name, read)
    found = list(_python(tokens) if name == "PythonLexer" else _others(tokens))
    if name == "BashLexer":
        found = [each for each in found if each.start == 0 or read[each.start - 1] in _BEFORE_HASH]
    ends = [each.start + len(read[each.start : each.end].rstrip()) for each in found]
    return [
        Comment(places(each.start), places(end - 1) + 1, each.docstring)
        for each, end in zip(found, ends, strict=True)
    ]


def _with_short_gaps(text: str) -> tuple[str, Callable[[int], int]]:
    """Return `text` without the middle of long runs of white space, and where its offsets were before."""
    cuts: list[int] = []  # offsets into what is returned
    left_out = [0]  # characters left out before the first cut, the second, ...
    parts: list[str] = []
    at = size = 0
    for gap in _BLANKS.finditer(text):
        kept = "\n" if "\n" in gap[2] else ""  # it may end a comment
        parts += [text[at : gap.end(1)], kept, gap[3]]
        size += gap.end(1) - at + len(kept)
        cuts.append(size)
        left_out.append(left_out[-1] + len(gap[2]) - len(kept))
        size += len(gap[3])
        at = gap.end()
    return "".join([*parts, text[at:]]), lambda offset: offset + left_out[bisect_right(cuts, offset)]


def _tokens(name: str, text: str) -> Iterator[Token]:
    for at, kind, value in _lexer(name).get_tokens_unprocessed(text):
        yield at, _kind(kind), value


@cache
def _lexer(name: str) -> Any:
    from pygments import lexers

    return getattr(lexers, name)()


@cache
def _kind(kind: Any) -> str:
    return str(kind).removeprefix("Token.")


def _others(tokens: Iterable[Token]) -> Iterator[Comment]:
    """Yield comments; one that holds others comes in pieces."""
    start, depth = 0, 0
    for at, kind, value in tokens:
        if kind == _SINGLE or (kind == _DOCUMENTS and value.startswith("//")):
            yield Comment(at, at + len(value))
        elif kind in (_MULTILINE, _DOCUMENTS):
            if not depth:
                start = at
            depth += value.startswith("/*") - value.endswith("*/")
            if depth <= 0:
                depth = 0
                yield Comment(start, at + len(value))


def _python(tokens: Iterable[Token]) -> Iterator[Comment]:
    """Yield comments, and the strings that come first in a module, a class or a function."""
    depth, header, expected = 0, False, True  # brackets; in "def ...:"; whether a docstring may come
    start = end = -1
    prefix = ""
    for at, kind, value in tokens:
        if kind.startswith(_STRING):
            if start >= 0 or expected:
                start, end = at if start < 0 else start, at + len(value)
                prefix += value if kind.endswith("Affix") else ""
            expected = False
            continue
        blank = value.isspace()
        if start >= 0 and (not blank or "\n" in value):
            if _KEPT.fullmatch(prefix) and value[0] in "\n \t#;":
                yield Comment(start, end, docstring=True)
            start, prefix = -1, ""
        if kind == _SINGLE:
            yield Comment(at, at + len(value))
        elif not blank and not kind.startswith("Comment"):
            expected = False
            if kind == "Keyword" and value in ("def", "class"):
                depth, header = 0, True
            for mark in value if kind in ("Punctuation", "Operator") else "":
                depth += (mark in "([{") - (mark in ")]}")
                if mark == ":" and header and depth <= 0:
                    header, expected = False, True
    if start >= 0 and _KEPT.fullmatch(prefix):
        yield Comment(start, end, docstring=True)
