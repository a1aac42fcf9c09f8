"""The text of a Senseval context: its entities as characters, its head and satellites as offsets.

Markup is what looks like the few elements that there are; a bare ``<`` or ``&`` is text. Nothing is expanded
twice, so nothing can grow.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html.entities import html5

Span = tuple[int, int]
_ENTITY = re.compile(r"&(?:#(\d{1,7}|[xX][0-9a-fA-F]{1,6});|([A-Za-z][A-Za-z0-9]{0,31})(;?))")
_MARKUP = re.compile(r"<(/?)(head|sat)\b([^<>]*)>")
_ATTRIBUTE = re.compile(r"(?<![A-Za-z_])([A-Za-z_]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_GREEK = "a b g d e z ee th i k l m n x o p r s t u ph kh ps oh".split()
_LETTERS = "".join(map(chr, (*range(0x3B1, 0x3C2), *range(0x3C3, 0x3CA))))  # no final sigma
SGML = {
    "bquo": "\u201c",
    "equo": "\u201d",
    "ft": "\u2032",
    "ins": "\u2033",
    "rehy": "-",
    "shilling": "/-",
    "frac17": "1/7",
    "frac19": "1/9",
    "frac47": "4/7",
}
"""Entities of the British National Corpus that HTML does not have."""
for _name, _letter in zip(_GREEK, _LETTERS, strict=True):
    SGML[f"{_name}gr"], SGML[f"{_name.upper()}gr"] = _letter, _letter.upper()


def without_comments(source: str) -> str:
    """Return a file's text with nothing but the line ends of its comments; one that does not end stays."""
    kept: list[str] = []
    at = 0
    while (start := source.find("<!--", at)) >= 0 and (end := source.find("-->", start + 4)) >= 0:
        kept += [source[at:start], "\n" * source.count("\n", start, end)]
        at = end + 3
    return "".join([*kept, source[at:]])


def attributes(tag: str) -> dict[str, str]:
    """Return the attributes in a tag, entities replaced."""
    return {
        name.lower(): characters(first or second, lambda name: None).strip()
        for name, first, second in _ATTRIBUTE.findall(tag)
    }


def characters(text: str, unknown: Callable[[str], None]) -> str:
    """Return a text whose entities are characters.

    Without a semicolon only the corpora's own entities count (``AT&T`` stays). An unknown one becomes its
    name in brackets, and `unknown` is told.
    """

    def replaced(match: re.Match[str]) -> str:
        number, name, closed = match.groups()
        if number:
            code = int(number[1:], 16) if number[0] in "xX" else int(number)
            sound = code < 0x110000 and not 0xD800 <= code < 0xE000 and (code >= 32 or code in (9, 10, 13))
            return chr(code) if sound else ""
        if name in SGML:
            return SGML[name]
        if not closed:
            return match[0]
        if f"{name};" in html5:
            return html5[f"{name};"]
        unknown(name)
        return f"[{name}]"

    return _ENTITY.sub(replaced, text) if "&" in text else text


@dataclass(slots=True)
class Context:
    """The text of a context while it is put together: white space as one space or one line end.

    Attributes
    ----------
    heads : list of (start, end, names of satellites)
    satellites : dict of (start, end)
        By their names.
    """

    pieces: list[str] = field(default_factory=list)
    length: int = 0
    last: str = ""
    space: str = ""
    heads: list[tuple[int, int, list[str]]] = field(default_factory=list)
    satellites: dict[str, Span] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """What is there so far."""
        return "".join(self.pieces)

    def add(self, text: str, *, apart: bool) -> int:
        """Add text and return where it starts; `apart` puts a space between letters that would touch."""
        words = text.split()
        if not words:
            self.space = _wider(self.space, text)
            return self.length
        lead = text[: len(text) - len(text.lstrip())]
        space = _wider(self.space, lead)
        if not space and apart and self.last.isalnum() and words[0][0].isalnum():
            space = " "
        if self.length:
            self._append(space)
        start = self.length
        self._append(_collapsed(text.strip()))
        self.space = _wider("", text[len(text.rstrip()) :])
        return start

    def _append(self, text: str) -> None:
        if text:
            self.pieces.append(text)
            self.length += len(text)
            self.last = text[-1]


def read_context(source: str, unknown: Callable[[str], None]) -> Context:
    """Return the context that `source`, what stands between its tags, holds."""
    context = Context()
    at, opened = 0, None
    for match in [*_MARKUP.finditer(source), None]:
        piece = characters(source[at : match.start() if match else len(source)], unknown)
        start = context.add(piece, apart=True)
        if opened is not None and (match is None or match[2] == opened[2]):
            if match is None or match[1]:
                _close(context, opened, start if piece.strip() else context.length)
            opened = None
        if match is None:
            break
        at = match.end()
        if not match[1]:
            opened = match
    return context


def _close(context: Context, opened: re.Match[str], start: int) -> None:
    named = attributes(opened[3])
    if opened[2] == "head":
        context.heads.append((start, context.length, named.get("sats", "").split()))
    elif start < context.length:
        context.satellites.setdefault(named.get("id", ""), (start, context.length))


def _wider(first: str, second: str) -> str:
    """Return the one character for two runs of white space in a row, empty for none."""
    both = first + second
    return "\n" if "\n" in both or "\r" in both else both and " "


def _collapsed(text: str) -> str:
    return re.sub(r"\s+", lambda run: "\n" if "\n" in run[0] or "\r" in run[0] else " ", text)
