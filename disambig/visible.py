"""Text for a terminal: what would steer it, or turn other text around, is written out as an escape."""

from __future__ import annotations

import re

_STEERS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
"""Controls of both sets, line and paragraph separators, marks of direction, halves of surrogate pairs."""
_IN_LINES = re.compile(f"[{_STEERS}]")
_IN_A_LINE = re.compile(f"[{_STEERS}\n\t]")


def visible(text: str, *, lines: bool = False) -> str:
    r"""Return `text` with controls as ``\x1b`` and ``\u202e``; ends of `lines` and tabs stay."""
    return (_IN_LINES if lines else _IN_A_LINE).sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
