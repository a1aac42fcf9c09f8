"""Texts with markup: Markdown, LaTeX and code become plain text of the same length. Nothing is decided here.

Markup is painted over with blanks, and so is code but for its comments; code in prose, mathematics,
references and addresses with a character that is a word no table of counts knows; headings, list items and
table cells end their sentences. So every offset into the plain text is an offset into the file. How much of
each format is understood says its module.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

MARKDOWN = (".md", ".markdown")
LATEX = (".tex", ".latex")
SUFFIXES = (*MARKDOWN, *LATEX)
"""Of prose: what is read where a directory is given."""
CODE = (
    ".py",
    ".pyi",
    ".rs",
    ".js",
    ".mjs",
    ".cjs",
    ".jsx",
    ".ts",
    ".mts",
    ".cts",
    ".tsx",
    ".go",
    ".c",
    ".h",
    ".sh",
    ".bash",
)
"""Files of code, of which comments and docstrings are text."""
_COMMENT = re.compile("<!--|-->")


@dataclass(frozen=True, slots=True)
class PlainText:
    """What stands between the markup of a text.

    Attributes
    ----------
    text : str
        As long as the original. A line end stands only where the original has one.
    comments : tuple of (start, end)
        Offsets of the comments in the original, their marks included, in text order.
    """

    text: str
    comments: tuple[tuple[int, int], ...] = ()


def plain_text(path: str, text: str) -> str:
    """Return `text` with its markup painted over; `path` says by its suffix which markup that is.

    Text of any other suffix is returned as it is. The result has the same length.
    """
    return read_markup(path, text).text if has_markup(path) else text


def has_markup(path: str) -> bool:
    """Tell whether the suffix of `path` is that of a format with markup."""
    return os.path.splitext(path)[1].lower() in (*SUFFIXES, *CODE)


def read_markup(path: str, text: str) -> PlainText:
    """Return the plain text and the comments of `text`, which has the markup that `path` says.

    In text of any other suffix only HTML comments are found, and nothing is painted over.
    """
    suffix = os.path.splitext(path)[1].lower()
    if suffix in MARKDOWN:
        from disambig.markup.markdown import read_markdown

        canvas = read_markdown(text)
    elif suffix in LATEX:
        from disambig.markup._latex import read_latex

        canvas = read_latex(text)
    elif suffix in CODE:
        from disambig.markup.code import read_code

        canvas = read_code(text, suffix)
    else:
        return PlainText(text, tuple(_html_comments(text)))
    return PlainText(canvas.text, tuple(sorted(canvas.comments)))


def _html_comments(text: str) -> list[tuple[int, int]]:
    found, start = [], -1
    for match in _COMMENT.finditer(text):
        if match[0] == "<!--":
            start = match.start() if start < 0 else start
        elif start >= 0:
            found.append((start, match.end()))
            start = -1
    return found
