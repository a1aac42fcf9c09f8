r"""Read translation files (PO, POT): the strings and the comments for translators remain.

The strings of ``msgid``, ``msgid_plural`` and ``msgstr`` are read as Markdown, each as a text of its own; the
lines of a string are joined. An escape (``\n``, ``\"``) counts as its character, and a word that contains
one, or extends over two lines, becomes `OPAQUE`. So do placeholders (``%s``, ``{name}``). The comments ``# ``
and ``#.`` are text as well. Contexts, references, flags, previous and obsolete strings and the header are
left out, and so is every ``msgstr`` if the header names another language than English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from disambig.markup.canvas import BLANK, BREAK, OPAQUE, Canvas, Span, iterate_lines
from disambig.markup.markdown import paint_inline, read_markdown
from disambig.markup.notebooks import EscapedText

_STRING = re.compile(
    r'[ \t]*(?:(msgctxt|msgid_plural|msgid|msgstr)(?:\[\d{1,3}\])?[ \t]*)?"((?:[^"\\]|\\.)*)"[ \t]*'
)
_COMMENT = re.compile(r"#(?:\.|(?=[ \t]))[ \t]*")
_DIRECTIVE = re.compile(r"disambig[ \t]*:", re.IGNORECASE)
_LANGUAGE = re.compile(r"(?:^|\\n)Language:[ \t]*([A-Za-z]{2,3})(?![A-Za-z])")
_PLACEHOLDER = re.compile(
    r"%(?:\([\w. -]{1,60}\)|\d{1,2}\$)?[-+#0']?\d{0,4}(?:\.\d{1,4})?(?:hh?|ll?|[jztLq])?"
    r"[diouxXeEfFgGaAcspn%@]"
    r"|%\d{1,2}|\$?\{[^{}\n]{0,80}\}|\$[A-Za-z_]\w+"
)
_ACCELERATOR = re.compile(r"(?<!\w)([^\W_]*)(?:_|&(?!#?\w{1,31};))(?=[^\W_])\w*")
"""A word with a mark before the letter that selects a menu item: ``_Open``, ``Save &as``, ``Sa_ve``."""


@dataclass(slots=True)
class _Entry:
    """The strings of an entry by their keyword, each a list of lines, and the lines of its comments."""

    strings: list[tuple[str, list[Span]]] = field(default_factory=list)
    comments: list[tuple[str, Span]] = field(default_factory=list)

    def lines(self, keyword: str) -> list[Span]:
        """Return the lines of the first string with a keyword."""
        return next((lines for name, lines in self.strings if name == keyword), [])


def read_po(text: str, suffix: str = ".po") -> Canvas:
    """Paint over everything in a translation file but its strings and comments."""
    canvas = Canvas(text)
    canvas.fill(0, len(text))
    language = "en"
    for entry in _entries(text):
        canvas.comments += [(text.rfind("#", 0, start), end) for _, (start, end) in entry.comments]
        source, context = entry.lines("msgid"), entry.lines("msgctxt")
        if not source:  # an obsolete entry
            continue
        if not context and all(start == end for start, end in source):
            header = "".join(text[start:end] for start, end in entry.lines("msgstr"))
            language = match[1].lower() if (match := _LANGUAGE.search(header)) else language
            continue
        _write_comments(canvas, entry)
        for keyword, lines in entry.strings:
            if keyword != "msgctxt" and (keyword != "msgstr" or language in ("en", "eng")):
                EscapedText(text, lines).write(canvas, _read_string)
    canvas.finish()
    return canvas


def _entries(text: str) -> Iterator[_Entry]:
    """Yield the entries; one begins with its comments, its context or its ``msgid``."""
    entry = _Entry()
    is_open = False  # whether the line before belongs to a string
    for start, end, _ in iterate_lines(text):
        match = _STRING.fullmatch(text, start, end)
        is_comment = text.startswith("#", start)
        if is_comment or (match and match[1] in ("msgctxt", "msgid")):
            keywords = {keyword for keyword, _ in entry.strings}
            if (is_comment and keywords) or "msgstr" in keywords or (match and match[1] in keywords):
                yield entry
                entry = _Entry()
        if match and match[1]:
            entry.strings.append((match[1], [match.span(2)]))
        elif match and is_open:
            entry.strings[-1][1].append(match.span(2))
        elif comment := _COMMENT.match(text, start, end):
            entry.comments.append((text[start : start + 2], (comment.end(), end)))
        is_open = match is not None and bool(match[1] or is_open)
    yield entry


def _write_comments(canvas: Canvas, entry: _Entry) -> None:
    """Write the comments of an entry; adjacent lines of one kind are one text."""
    text, last = canvas.original, ""
    for kind, (start, end) in entry.comments:
        if _DIRECTIVE.match(text, start, end):
            continue
        canvas.put(start, text[start:end])
        paint_inline(canvas, text, start, end, labels=())
        for match in _PLACEHOLDER.finditer(text, start, end):
            canvas.fill(*match.span(), OPAQUE)
        if kind != last:
            mark = text.rfind("#", 0, start)
            canvas.fill(mark, mark + 1, BREAK)
        last = kind


def _read_string(content: str) -> Canvas:
    """Return the text of a string without placeholders, marks of access keys and markup."""
    characters = list(content)
    for match in _PLACEHOLDER.finditer(content):
        characters[match.start() : match.end()] = OPAQUE * len(match[0])
    for match in _ACCELERATOR.finditer("".join(characters)):
        if match[1]:  # a mark inside a word: without it the offsets of the letters would change
            characters[match.start() : match.end()] = OPAQUE * len(match[0])
        else:
            characters[match.start()] = BLANK
    return read_markdown("".join(characters))
