r"""LaTeX: text is what is set as prose. Which command holds what stands in `latex_names`.

Kept: text between commands, the text in ``\emph{...}``, ``\section{...}``, ``\footnote{...}`` and in
arguments of commands that nobody knows, set apart by `OPAQUE`. Blank: what stands before
``\begin{document}`` and after its end, comments, ``\label``, ``\usepackage``. `OPAQUE`: mathematics, code,
references, citations, ``\enquote``, words with an accent written as a command. Quotations in environments
are left alone; quotes of two marks become curly ones, which the protected layer knows. Nothing is expanded:
macros that the text defines are unknown commands. Work is linear in the length of the text, whatever it is.
"""

from __future__ import annotations

import re

from disambig.text.markup import latex_names as names
from disambig.text.markup.canvas import BLANK, BREAK, OPAQUE, Canvas

_BEGIN = r"\begin{document}"
_END = r"\end{document}"
_FIRST = re.compile(
    r"%[^\r\n]*|\\(?:begin\s{0,9}\{([A-Za-z]{1,30}\*?)\}|(?:verb|lstinline)(?![A-Za-z])\*?|[^A-Za-z]|[A-Za-z]+)",
    re.DOTALL,
)
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_MARKS = re.compile(r"\\(?:([A-Za-z@]+)\*?|[^A-Za-z@])|\$\$?|[{}~&]|``|''|`", re.DOTALL)
_ENVIRONMENT = re.compile(r"\s{0,9}\{([^{}\\\r\n]{1,40})\}")
_SPACE = re.compile(r"[ \t]*(?:\r\n|\r|\n)?[ \t]*")
_OPTION = re.compile(r"\[[^\[\]{}\r\n]*\]")
_ANY_OPTION = re.compile(r"\[(?:[^\[\]{}]|\{[^{}]*\})*\]")
_LENGTH = re.compile(r"\*?(?:\[[^\[\]\r\n]{0,20}\])?")
_CLOSING = {
    "$": re.compile(r"\\.|\$|(?:\r\n|\r(?!\n)|\n)[ \t]*(?=[\r\n])", re.DOTALL),
    "$$": re.compile(r"\\.|\$\$|(?:\r\n|\r(?!\n)|\n)[ \t]*(?=[\r\n])", re.DOTALL),
    r"\(": re.compile(r"\\\)|\\.|(?:\r\n|\r(?!\n)|\n)[ \t]*(?=[\r\n])", re.DOTALL),
    r"\[": re.compile(r"\\\]|\\.|(?:\r\n|\r(?!\n)|\n)[ \t]*(?=[\r\n])", re.DOTALL),
}
_ENDS = {"$": "$", "$$": "$$", r"\(": r"\)", r"\[": r"\]"}
_HIDDEN = names.MATH | names.CODE | names.QUOTATIONS
_ADDRESSES = frozenset(("url", "href", "path", "nolinkurl"))
_LINE_END = re.compile("[\r\n]")
_LONGEST_VERB = 2000
_MOST_OPTIONS = 4


def read_latex(text: str) -> Canvas:
    """Return `text` with the markup of LaTeX painted over."""
    canvas = Canvas(text)
    _paint_verbatim(canvas, text)
    _paint_outside(canvas, canvas.text)
    _Commands(canvas, canvas.text).paint()
    canvas.finish()
    return canvas


def _paint_verbatim(canvas: Canvas, text: str) -> None:
    r"""Paint over comments, and where a command is none: ``\verb`` and code."""
    unclosed: set[str] = set()
    at = 0
    while match := _FIRST.search(text, at):
        start, at = match.span()
        if text[start] == "%":
            canvas.comment(start, at)
        elif match[1] in names.VERBATIM and match[1] not in unclosed:
            end = f"\\end{{{match[1]}}}"
            stop = text.find(end, at)
            if stop < 0:
                unclosed.add(match[1])
                continue
            at = stop + len(end)
            canvas.fill(start, at)
            canvas.fill(start, start + 1, BREAK)
        elif match[0].rstrip("*") in ("\\verb", "\\lstinline"):
            at = _paint_verb(canvas, text, start, at)
        elif match[0][1:] in _ADDRESSES:
            at = _paint_address(canvas, text, at)


def _paint_verb(canvas: Canvas, text: str, start: int, at: int) -> int:
    if match := _OPTION.match(text, at):
        at = match.end()
    mark = text[at : at + 1]
    if not mark or mark.isspace() or mark.isalnum():
        return at
    stop = text.find("}" if mark == "{" else mark, at + 1, at + _LONGEST_VERB)
    if stop < 0 or _LINE_END.search(text, at, stop):
        return at
    canvas.fill(start, stop + 1, OPAQUE)
    return stop + 1


def _paint_address(canvas: Canvas, text: str, at: int) -> int:
    """Hide an address, in which ``%`` is no comment; the braces around it stay for later."""
    if text[at : at + 1] != "{":
        return at
    stop = text.find("}", at, at + _LONGEST_VERB)
    if stop < 0 or _LINE_END.search(text, at, stop):
        return at
    canvas.fill(at + 1, stop, OPAQUE)
    return stop


def _paint_outside(canvas: Canvas, text: str) -> None:
    begin = text.find(_BEGIN)
    if begin >= 0:
        canvas.fill(0, begin + len(_BEGIN))
    end = text.find(_END, max(begin, 0))
    if end >= 0:
        canvas.fill(end, len(text))


def _pairs(text: str) -> dict[int, int]:
    """Return where each brace that closes has its end, by its place."""
    found, opened = {}, []
    for match in _BRACES.finditer(text):
        if match[0] == "{":
            opened.append(match.start())
        elif match[0] == "}" and opened:
            found[opened.pop()] = match.start()
    return found


class _Commands:
    """Reads commands from left to right in a text without comments and code."""

    def __init__(self, canvas: Canvas, text: str) -> None:
        self.canvas, self.text = canvas, text
        self.pairs = _pairs(text)
        self.closing: dict[int, str] = {}  # what becomes of braces that close
        self.in_vain: dict[str, int] = {}  # up to where what is looked for is not found
        self.unclosed: set[str] = set()
        self.tables = 0

    def paint(self) -> None:
        """Paint over commands and what belongs to them."""
        at = 0
        while match := _MARKS.search(self.text, at):
            at = max(self._mark(match), match.start() + 1)

    def _mark(self, match: re.Match[str]) -> int:
        """Treat one mark and return where to read on."""
        mark, at, after = match[0], match.start(), match.end()
        if match[1]:
            return self._command(match[1], at, after)
        if mark in _ENDS:
            return self._math(mark, at, after)
        if mark[0] == "\\":
            return self._symbol(mark[1], at, after)
        if mark == "``":
            self.canvas.put(at, "\u201c ")
        elif mark == "''":
            self.canvas.put(at, "\u201d ")
        elif mark == "`":
            self.canvas.put(at, "\u2018")
        elif mark == "&":
            if self.tables:
                self.canvas.fill(at, after, BREAK)
        elif mark == "~" or at in self.closing:
            self.canvas.fill(at, after, self.closing.get(at, BLANK))
        else:
            self.canvas.mark(at, after)
        return after

    def _math(self, mark: str, at: int, after: int) -> int:
        stop = -1
        if after > self.in_vain.get(mark, -1):
            end = _ENDS[mark]
            place = after
            while found := _CLOSING[mark].search(self.text, place):
                place = found.end()
                if found[0] == end:
                    stop = place
                    break
                if found[0][0] in "\r\n":
                    break
            if stop < 0:
                self.in_vain[mark] = place if found else len(self.text)
        stop = stop if stop >= 0 else after
        self.canvas.fill(at, stop, OPAQUE)
        return stop

    def _symbol(self, symbol: str, at: int, after: int) -> int:
        canvas = self.canvas
        if symbol in "'`^\"~=.":
            return self._accent(at, after)
        if symbol == "\\":
            length = _LENGTH.match(self.text, after)
            stop = length.end() if length else after
            canvas.fill(at, stop, BREAK if self.tables else BLANK)
            return stop
        if symbol in "%&$#_{}":
            canvas.mark(at, at + 1)
            if symbol == "_":
                canvas.hide_word(at, after)
        elif symbol in "-/":
            canvas.mark(at, after)
        else:
            canvas.fill(at, after)
        return after

    def _accent(self, at: int, after: int) -> int:
        r"""Hide the word of a letter with an accent: ``\'e``, ``\c{c}``."""
        opening = self.text[after : after + 1] == "{"
        stop = self.pairs.get(after, after) + 1 if opening else after + 1
        if stop - after > 4:
            stop = after
        stop = min(stop, len(self.text))
        self.canvas.hide_word(at, stop)
        return max(stop, after)

    def _command(self, name: str, at: int, after: int) -> int:
        canvas = self.canvas
        if name in ("begin", "end"):
            return self._environment(name, at, after)
        if name in names.LETTERS or (name in names.ACCENTS and self.text[after : after + 1] == "{"):
            return self._accent(at, after) if name in names.ACCENTS else self._letter(at, after)
        if name in names.SHOWN or name in names.UNSEEN:
            stop = self._past_arguments(after)
            canvas.fill(at, stop, OPAQUE if name in names.SHOWN else BLANK)
            return stop
        if name in names.PARAGRAPHS:
            canvas.fill(at, after, BREAK)
            return self._item_label(after) if name == "item" else after
        if name in names.SILENT:
            canvas.fill(at, after)
            return after
        known = names.SECTIONS | names.TEXT
        character = BREAK if name in names.SECTIONS else BLANK if name in known else OPAQUE
        return self._text_arguments(at, after, character, names.BEFORE_TEXT.get(name, 0), name in known)

    def _letter(self, at: int, after: int) -> int:
        stop = after + 2 if self.text.startswith("{}", after) else after
        self.canvas.hide_word(at, stop)
        return stop

    def _item_label(self, at: int) -> int:
        r"""Paint over the brackets of ``\item[label]``; the label stays."""
        if match := _OPTION.match(self.text, at):
            self.canvas.fill(at, at + 1)
            self.canvas.fill(match.end() - 1, match.end(), OPAQUE)
        return at

    def _text_arguments(self, at: int, after: int, character: str, skipped: int, known: bool) -> int:
        """Paint over a command up to its text, and let its closing brace be painted alike."""
        stop = self._past_options(after)
        for _ in range(skipped):
            stop = self._past_brace(stop)
        opening = self._next_brace(stop)
        if opening in self.pairs:
            closing = self.pairs[opening]
            if character != BLANK:
                self.closing[closing] = character
            stop = opening + 1
            if not known and closing == opening + 1:  # \foo{}
                stop = closing + 1
        if character == BLANK:
            self.canvas.mark(at, stop)
        else:
            self.canvas.fill(at, stop, character)
        return stop

    def _environment(self, kind: str, at: int, after: int) -> int:
        canvas = self.canvas
        match = _ENVIRONMENT.match(self.text, after)
        if not match:
            canvas.fill(at, after, BREAK)
            return after
        name, stop = match[1], match.end()
        if kind == "begin" and name in _HIDDEN and name not in self.unclosed:
            end = f"\\end{{{name}}}"
            found = self.text.find(end, stop)
            if found >= 0:
                stop = found + len(end)
                if name in names.MATH:
                    canvas.fill(at, stop, OPAQUE)
                else:
                    canvas.fill(at, stop)
                    canvas.fill(at, at + 1, BREAK)
                return stop
            self.unclosed.add(name)
        if name in names.TABLES:
            self.tables = max(0, self.tables + (1 if kind == "begin" else -1))
        if kind == "begin":
            stop = self._past_options(stop)
            for _ in range(names.ARGUMENTS.get(name, 0)):
                stop = self._past_brace(stop)
        canvas.fill(at, stop, BREAK)
        return stop

    def _past_options(self, at: int) -> int:
        for _ in range(_MOST_OPTIONS):
            match = _ANY_OPTION.match(self.text, at, at + 2000)
            if not match:
                break
            at = match.end()
        return at

    def _next_brace(self, at: int) -> int:
        """Return the place of a brace that opens right here, or after white space; else -1."""
        space = _SPACE.match(self.text, at)
        place = space.end() if space else at
        return place if self.text[place : place + 1] == "{" else -1

    def _past_brace(self, at: int) -> int:
        opening = self._next_brace(at)
        return self.pairs[opening] + 1 if opening in self.pairs else at

    def _past_arguments(self, at: int) -> int:
        """Return the end of all arguments that follow: ``[...]`` and ``{...}``."""
        while True:
            stop = self._past_options(at)
            if self.text[stop : stop + 1] == "{":
                stop = self._past_brace(stop)
            if stop == at:
                return at
            at = stop
