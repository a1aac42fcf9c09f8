"""Format numbers and texts for people: plural forms, figures, and control characters as escapes."""

from __future__ import annotations

import os
import re
from math import isnan


def pluralize(n: int, noun: str) -> str:
    """Return ``1 document``, ``2 documents``, ``1,000 words``; `noun` is in the singular."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


_DIRECTIONS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_STEERS = f"\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{_DIRECTIONS}\ud800-\udfff"
"""Controls of both sets, line and paragraph separators, marks of direction, halves of surrogate pairs."""
_IN_LINES = re.compile(f"[{_STEERS}]")
_IN_A_LINE = re.compile(f"[{_STEERS}\n\t]")
_NEEDS_QUOTES = re.compile(f'[{_STEERS}\n\t"\\\\]')
_LETTERS = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
"""What C writes behind a backslash in place of a number."""
_COMMANDS = ("::", "##[")
"""What begins a command in the log of a GitHub workflow."""


def escape_control_chars(text: str, *, lines: bool = False) -> str:
    r"""Return `text` with controls as ``\x1b`` and ``\u202e``; ends of `lines` and tabs stay."""
    return (_IN_LINES if lines else _IN_A_LINE).sub(_escape, text)


def shown_path(path: str) -> str:
    """Return the path of a file for people, at the begin of a line that is no command of a workflow."""
    shown = escape_control_chars(path)
    return f"./{shown}" if shown.lstrip().startswith(_COMMANDS) else shown


def quoted_path(path: str) -> str:
    r"""Return the path of a file as git quotes it in a diff, which ``patch`` and ``git apply`` understand.

    A path without controls, quotes, backslashes and blanks at its ends stays as it is, as with
    ``core.quotePath=false``. Of any other all bytes that are not printable ASCII are written as octal
    numbers: ``"a\nb \303\274"``. So a name takes up one line, whatever is in it.
    A tab ends a name with blanks.
    """
    if not _NEEDS_QUOTES.search(path) and path == path.strip():
        return f"{path}\t" if any(map(str.isspace, path)) else path
    return f'"{"".join(map(_octal, os.fsencode(path)))}"'


def escaped_json(text: str) -> str:
    r"""Return JSON with all that `visible` would write out as ``\u202e``; line ends between values stay."""
    return _IN_LINES.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _octal(byte: int) -> str:
    if byte in _LETTERS:
        return f"\\{_LETTERS[byte]}"
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"


def format_figure(value: float | None, form: str) -> str:
    """Return a figure in a format such as ``".2%"``; a dash for one that is not defined."""
    return "-" if value is None or isnan(value) else format(value, form)
