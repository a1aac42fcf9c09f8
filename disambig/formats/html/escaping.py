"""Text of unknown origin as HTML: nothing in it becomes markup, and what cannot be seen is shown."""

from __future__ import annotations

_REPLACED = "\ufffd"
_TABLE: dict[int, str] = {
    **{code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\t\n"},
    0x7F: "\u2421",
    **{code: _REPLACED for code in (*range(0x80, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF)},
    ord("&"): "&amp;",
    ord("<"): "&lt;",
    ord(">"): "&gt;",
    ord('"'): "&quot;",
    ord("'"): "&#39;",
}


def escape(text: str) -> str:
    """Return `text` for an element or a quoted attribute.

    Control characters become their pictures (␀), lone surrogates U+FFFD, every line end LF.
    """
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_TABLE)


def isolated(text: str) -> str:
    """Return `text` as an element of its own, so that its direction changes nothing around it."""
    return f"<bdi>{escape(text)}</bdi>"
