"""Markdown, block by block: code, quotations, tables, headings. Marks in a line are `markdown_inline`'s.

CommonMark with GitHub's tables, alerts, task lists, footnotes and mathematics, and front matter.
Painted over as code: fenced and indented blocks, ``$$`` blocks, ``<pre> <script> <style> <textarea> <svg>``.
Block quotations are left alone, lines that lazily go on with them too; alerts (``> [!NOTE]``,
``> **Note:** ...``) are not quotations. Work is linear in the length of the text, whatever it holds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from disambig.text.markup.canvas import BLANK, BREAK, Canvas, lines_of, units_of
from disambig.text.markup.markdown_inline import label_of, paint_inline

_FRONT = re.compile(r"(---|\+\+\+)[ \t]*(?:\r\n|\r|\n)")
_RULE = re.compile(r"([-*_])(?:[ \t]*\1){2,}[ \t]*")
_ITEM = re.compile(r"(?:[-+*]|(\d{1,9})[.)])(?=[ \t]|$)")
_BOX = re.compile(r"[ \t]+\[[ xX]\](?=[ \t])")
_FENCE = re.compile(r"`{3,}(?=[^`]*$)|~{3,}|:{3,}")
_HEADING = re.compile(r"#{1,6}(?=[ \t]|$)")
_UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*")
_DEFINED = re.compile(r"\[((?:[^\[\]\\]|\\.){1,300})\]:")
_ALERT = re.compile(r">[ \t]*\[![A-Za-z]{1,20}\][ \t]*")
_NAMES = "note|notes|tip|hint|info|important|warning|caution|danger|attention|example"
_REMARK = re.compile(
    rf">[ \t]*[^\w\s*]{{0,2}}\s?(?:(\*\*|__)(?:{_NAMES})[:.!]?\1|(?:{_NAMES}):)", re.IGNORECASE
)
_RAW = re.compile(r"<!--|<(pre|script|style|textarea|svg)(?=[\s/>])|\$\$", re.IGNORECASE)
_PIPE = re.compile(r"\\.|\|")
_WORD = re.compile(r"[^\s>]")
_TAB = 4
_DEEPEST = 32  # lists and quotations that one line opens


def read_markdown(text: str) -> Canvas:
    """Return `text` with the markup of Markdown painted over."""
    reader = Blocks(text)
    reader.front_matter()
    reader.read()
    canvas = reader.canvas
    for start, end in units_of(painted := canvas.text):
        paint_inline(canvas, painted, start, end, labels=reader.labels)
    canvas.finish()
    return canvas


@dataclass(frozen=True, slots=True)
class Open:
    """What is open behind a blank line.

    Attributes
    ----------
    fence : str
        What began the code.
    indents : tuple of int
        Of the text of each list item.
    alert : bool
    """

    fence: str = ""
    indents: tuple[int, ...] = ()
    alert: bool = False


class Blocks:
    """Reads lines, one after the other.

    Parameters
    ----------
    text : str
        The whole of a text, or a part of it that begins behind a blank line.
    begun : Open
        What is open where it begins.

    Attributes
    ----------
    labels : set of str
        What is defined in it, as `label_of` returns it.
    beyond : (pattern, int) or None
        What was looked for, from where, up to the end of the text, and not found.
    """

    def __init__(self, text: str, begun: Open = Open()) -> None:
        self.text = text
        self.canvas = Canvas(text)
        self.labels: set[str] = set()
        self.beyond: tuple[re.Pattern[str], int] | None = None
        self.fence = begun.fence
        self.indents = list(begun.indents)  # of the text of each open list item
        self.paragraph = False
        self.quote = False
        self.alert = begun.alert
        self.table = False
        self.resume = 0  # what lies before it is done
        self.last = (0, 0)  # the line before
        self.unclosed: set[str] = set()

    @property
    def open(self) -> Open:
        """What is open where the text ends, if it ends in a blank line."""
        return Open(self.fence, tuple(self.indents), self.alert)

    def read(self) -> None:
        """Paint over what makes blocks."""
        for start, end, stop in lines_of(self.text):
            if stop > self.resume:
                self._line(max(start, self.resume), end)
            self.last = start, end

    def front_matter(self) -> None:
        """Paint over the front matter of a whole text; `resume` is behind it."""
        begin = 1 if self.text.startswith("\ufeff") else 0
        match = _FRONT.match(self.text, begin)
        if not match:
            return
        closing = ("---", "...") if match[1] == "---" else ("+++",)
        for number, (start, end, stop) in enumerate(lines_of(self.text)):
            if number and self.text[start:end].rstrip() in closing:
                self.canvas.fill(begin, end)
                self.canvas.fill(start, end, BREAK)
                self.resume = stop
                return

    def _line(self, start: int, end: int) -> None:
        line = self.text[start:end]
        if self.fence:
            self._inside_fence(start, end, line.strip())
            return
        if not line.strip():
            self.paragraph = self.quote = self.alert = self.table = False
            return
        indent, at = _indent(line)
        if not self.paragraph:
            while self.indents and indent < self.indents[-1]:
                self.indents.pop()
            if indent >= (self.indents[-1] if self.indents else 0) + _TAB and not self.table:
                self.canvas.fill(start, end)
                return
        self._block(start, start + at, end, indent)

    def _inside_fence(self, start: int, end: int, stripped: str) -> None:
        closes = len(stripped) >= len(self.fence) and not stripped.strip(self.fence[0])
        self.canvas.fill(start, end, BREAK if closes else BLANK)
        if closes:
            self.fence = ""

    def _block(self, start: int, at: int, end: int, indent: int) -> None:
        text, canvas = self.text, self.canvas
        for _ in range(_DEEPEST):
            if text[at] == ">":
                if not self._quotation(at, end):
                    return
                at = _skip_space(text, at + 1, end)
            elif item := self._item(start, at, end, indent):
                indent, at = item
            else:
                break
            if at >= end:
                return
        if match := _FENCE.match(text, at, end):
            self._leave_paragraph()
            self.fence = match[0] if match[0][0] != ":" else ""
            canvas.fill(at, end, BREAK)
        elif match := _HEADING.match(text, at, end):
            self._leave_paragraph()
            self._heading(at, match.end(), end)
        elif _RULE.fullmatch(text, at, end) or (self.paragraph and _UNDERLINE.fullmatch(text, at, end)):
            self._leave_paragraph()
            canvas.fill(at, end, BREAK)
        elif self._raw(at, end):
            pass
        elif match := _DEFINED.match(text, at, end):
            self._definition(at, match, end)
        elif self._table(start, at, end):
            pass
        elif self.quote:
            canvas.fill(at, end)
        else:
            self.paragraph = True

    def _leave_paragraph(self) -> None:
        self.paragraph = self.quote = self.table = False

    def _quotation(self, at: int, end: int) -> bool:
        """Paint over a line of a block quotation; tell whether it is an alert, to be read on."""
        if not self.quote and not self.alert and (match := _ALERT.fullmatch(self.text, at, end)):
            self._leave_paragraph()
            self.alert = True
            self.canvas.fill(at, match.end(), BREAK)
            return False
        if not self.quote and not self.alert and _REMARK.match(self.text, at, end):
            self._leave_paragraph()
            self.alert = True
        if self.alert:
            self.canvas.fill(at, at + 1, BLANK if self.paragraph else BREAK)
            if not _WORD.search(self.text, at, end):
                self.paragraph = False
                self.canvas.fill(at, end, BREAK)
                return False
            return True
        self._leave_paragraph()
        self.canvas.fill(at, end)
        self.canvas.fill(at, at + 1, BREAK)
        self.quote = bool(_WORD.search(self.text, at, end))
        return False

    def _item(self, start: int, at: int, end: int, indent: int) -> tuple[int, int] | None:
        """Paint over the mark of a list item; return the indent and the place of its text."""
        match = _ITEM.match(self.text, at, end)
        if not match or _RULE.fullmatch(self.text, at, end):
            return None
        text_at = _skip_space(self.text, match.end(), end)
        inside = not self.indents or indent >= self.indents[-1]
        if self.paragraph and inside and (text_at >= end or match[1] not in (None, "1")):
            return None  # a line of a paragraph that begins with a number
        while self.indents and indent < self.indents[-1]:
            self.indents.pop()
        self._leave_paragraph()
        self.canvas.fill(at, match.end(), BREAK)
        if box := _BOX.match(self.text, match.end(), end):
            self.canvas.fill(match.end(), box.end())
            text_at = _skip_space(self.text, box.end(), end)
        width = match.end() - at
        gap = text_at - match.end()
        inner = indent + width + (gap if 1 <= gap <= _TAB else 1)
        self.indents.append(inner)
        return inner, text_at

    def _heading(self, at: int, text_at: int, end: int) -> None:
        self.canvas.fill(at, text_at, BREAK)
        heading = self.text[text_at:end].rstrip()
        kept = heading.rstrip("#")
        if kept != heading and (not kept or kept[-1].isspace()):
            self.canvas.fill(text_at + len(kept), end)
        self._end_line(end)

    def _end_line(self, end: int) -> None:
        """Let a sentence end with this line, where the next one is not blank."""
        after = end + (2 if self.text.startswith("\r\n", end) else 1)
        while after < len(self.text) and self.text[after] in " \t":
            after += 1
        if after < len(self.text) and self.text[after] not in "\r\n":
            self.canvas.end_sentence(end)

    def _raw(self, at: int, end: int) -> bool:
        """Paint over a block that goes on to its own end, blank lines or not."""
        match = _RAW.match(self.text, at, end)
        if not match:
            return False
        name = (match[1] or match[0]).lower()
        if name in self.unclosed:
            return False
        closing = {"<!--": "-->", "$$": r"\$\$"}.get(name, f"</{name}\\s*>")
        pattern = re.compile(closing, re.IGNORECASE)
        found = pattern.search(self.text, match.end())
        if not found:
            self.beyond = self.beyond or (pattern, match.end())
        if not found and name != "<!--":
            self.unclosed.add(name)
            return False
        self._leave_paragraph()
        stop = found.end() if found else len(self.text)
        (self.canvas.comment if name == "<!--" else self.canvas.fill)(at, stop, BREAK)
        self.resume = stop
        return True

    def _definition(self, at: int, match: re.Match[str], end: int) -> None:
        if match[1].startswith("^"):
            self._leave_paragraph()
            self.canvas.fill(at, match.end(), BREAK)
            self.indents = [_TAB]
            self.paragraph = match.end() < end
        elif self.paragraph:  # "[Note]: ..." inside a paragraph
            pass
        else:
            self.labels.add(label_of(match[1]))
            self.canvas.fill(at, end, BREAK)

    def _table(self, start: int, at: int, end: int) -> bool:
        """Paint over the bars of a table's row; its head is known by the line of dashes below."""
        line = self.text[at:end]
        if not self.table:
            before = self.text[self.last[0] : self.last[1]]
            dashes = "-" in line and "|" in line and not line.strip("|:- \t")
            if not (dashes and self.paragraph and "|" in before):
                return False
            self._leave_paragraph()
            self.table = True
            self._bars(*self.last)
            self.canvas.fill(at, end, BREAK)
            return True
        self._bars(start, end)
        if not line.rstrip().endswith("|"):
            self._end_line(end)
        return True

    def _bars(self, start: int, end: int) -> None:
        for match in _PIPE.finditer(self.text, start, end):
            if match[0] == "|":
                self.canvas.fill(match.start(), match.end(), BREAK)


def _indent(line: str) -> tuple[int, int]:
    """Return the column and the place of the first character that is no blank."""
    column = place = 0
    for place, character in enumerate(line):  # noqa: B007  (the place is returned)
        if character == "\t":
            column += _TAB - column % _TAB
        elif character.isspace() or character == "\ufeff":
            column += 1
        else:
            break
    return column, place


def _skip_space(text: str, at: int, end: int) -> int:
    while at < end and text[at].isspace():
        at += 1
    return at
