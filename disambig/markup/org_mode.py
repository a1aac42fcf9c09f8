r"""Read Org documents (``.org``).

Headlines, list items and table cells end a sentence. Keywords of headlines, tags, drawers of properties and
logs, planning lines, comments, fixed-width lines, source and example blocks, quotations and LaTeX
environments are left out; so are keyword lines (``#+OPTIONS:``), except titles, captions, descriptions and
alternative texts. Other drawers and blocks (``#+begin_note``) are text.

Within a paragraph: the marks of emphasis and the targets of links become blank. A footnote is a sentence of
its own, and the words before and after it are not read as neighbours. ``=verbatim=``, ``~code~``, formulas,
links without a description, time stamps, macros and entities become `OPAQUE`. The running time is linear in
the length of the text.
"""

from __future__ import annotations

import re

from disambig.markup._attributes import is_text
from disambig.markup._latex import CODE, MATH, VERBATIM
from disambig.markup.canvas import BLANK, BREAK, OPAQUE, Canvas, InlineReader, iterate_lines, search

_HEADLINE = re.compile(r"\*+[ \t]+")
_TODO = re.compile(r"(?:[A-Z]{2,15}(?:-[A-Z]+)?[ \t]+)?(?:\[#[A-Z0-9]\][ \t]*)?")
_TODO_WORDS = frozenset(
    "TODO DONE NEXT WAITING WAIT HOLD CANCELLED CANCELED STARTED DOING FIXME BUG KILL PROJ IDEA SOMEDAY MAYBE"
    " DEFERRED DELEGATED INPROGRESS IN-PROGRESS REVIEW VERIFY COMMENT".split()
)
_TAGS = re.compile(r":[\w@#%:]+:")  # :work:urgent:
_COOKIE = re.compile(r"\[\d*(?:/\d*|%)\]")  # progress of a list: [2/5], [40%]
_BEGIN = re.compile(r"[ \t]*#\+begin_(\S+)", re.IGNORECASE)
_KEYWORD = re.compile(r"[ \t]*#\+([\w-]+)(?:\[[^\]\n]*\])?:[ \t]*", re.IGNORECASE)
_COMMENT = re.compile(r"[ \t]*#(?:[ \t]|$)")
_FIXED = re.compile(r"[ \t]*:(?:[ \t]|$)")  # : code
_DRAWER = re.compile(r"[ \t]*:([\w-]+):[ \t]*$")
_DRAWER_END = r"^[ \t]*:end:[ \t]*\r?$"
_PLANNING = re.compile(r"[ \t]*(?:SCHEDULED|DEADLINE|CLOSED|CLOCK):[ \t]")
_ITEM = re.compile(r"[ \t]*(?:[-+]|(?<=[ \t])\*|(?:\d{1,4}|[A-Za-z])[.)])(?:[ \t]+|$)(?:\[@\w+\][ \t]*)?")
_BOX = re.compile(r"\[[ xX-]\][ \t]+")  # - [X] done
_TERM = re.compile(r"[ \t]::(?=[ \t]|$)")  # term :: description
_NOTE = re.compile(r"\[fn:[\w-]+\][ \t]*")
_RULE = re.compile(r"[ \t]*-{5,}[ \t]*")
_ENVIRONMENT = re.compile(r"[ \t]*\\begin\{([A-Za-z0-9*]{1,30})\}")
_PROSE_KEYWORDS = frozenset("title subtitle caption description".split())
_BLOCKS_WITHOUT_PROSE = frozenset(
    "src example export comment verse quote html latex ascii texinfo markdown md beamer odt man ditaa dot"
    " plantuml mermaid math tikz code jupyter".split()
)
_HIDDEN_DRAWERS = frozenset("properties logbook clock clocking".split())
_ALTERNATIVE = re.compile(r":(?:alt|title)[ \t]+(?P<text>(?:(?![ \t]:[\w-]+[ \t])[^\r\n])+)")


def read_org(text: str, suffix: str = ".org") -> Canvas:
    """Paint over the markup of an Org document."""
    return _Inline.finish(_Blocks(text).read())


class _Blocks:
    """Reader of blocks, line by line."""

    def __init__(self, text: str) -> None:
        self.text, self.canvas = text, Canvas(text)
        self.unclosed: set[str] = set()
        self.resume = 0

    def read(self) -> Canvas:
        """Paint over the marks of blocks and return the canvas."""
        for start, end, _ in iterate_lines(self.text):
            if start == 0 and self.text.startswith("\ufeff"):
                start = 1
            if start >= self.resume and start < end and not self.text[start:end].isspace():
                self._line(start, end)
        return self.canvas

    def _line(self, start: int, end: int) -> None:
        """Read one line; the first kind that matches decides."""
        text, canvas = self.text, self.canvas
        if match := _HEADLINE.match(text, start, end):
            self._headline(start, match.end(), end)
        elif (match := _BEGIN.match(text, start, end)) and self._is_hidden_block(match[1].lower()):
            self._leave_out(start, end, rf"^[ \t]*#\+end_{re.escape(match[1].lower())}(?![\w*])[^\n]*")
        elif match := _ENVIRONMENT.match(text, start, end):
            self._leave_out(start, end, rf"\\end\{{{re.escape(match[1].lower())}\}}[^\n]*")
        elif match := _KEYWORD.match(text, start, end):
            canvas.fill(start, end if match[1].lower() not in _PROSE_KEYWORDS else match.end(), BREAK)
            canvas.end_sentence(end)
            for shown in _ALTERNATIVE.finditer(text, start, end) if match[1].lower() == "attr_html" else ():
                if is_text(shown["text"]):
                    canvas.put(shown.start("text"), shown["text"])
        elif _COMMENT.match(text, start, end):
            canvas.comment(text.index("#", start), end)
            canvas.fill(start, start + 1, BREAK)
        elif match := _DRAWER.match(text, start, end):
            if match[1].lower() in _HIDDEN_DRAWERS:
                self._leave_out(start, end, _DRAWER_END)
            else:
                canvas.leave_out(start, end)
        elif (
            _FIXED.match(text, start, end)
            or _PLANNING.match(text, start, end)
            or text.startswith("#+", start)
        ):
            canvas.leave_out(start, end)
        elif _RULE.fullmatch(text, start, end):
            canvas.fill(start, end, BREAK)
        elif text[start:end].lstrip().startswith("|"):
            self._table(start, end)
        elif match := _NOTE.match(text, start, end):
            canvas.fill(start, match.end(), BREAK)
        else:
            self._item(start, end)

    @staticmethod
    def _is_hidden_block(name: str) -> bool:
        return name in _BLOCKS_WITHOUT_PROSE or name in MATH | CODE | VERBATIM

    def _headline(self, start: int, at: int, end: int) -> None:
        text, canvas = self.text, self.canvas
        todo = _TODO.match(text, at, end)
        if todo and (not (word := todo[0].split("[")[0].strip()) or word in _TODO_WORDS):
            at = todo.end()
        canvas.fill(start, at, BREAK)
        last = text[at:end].split()[-1:]
        if last and _TAGS.fullmatch(last[0]):
            canvas.fill(at + text[at:end].rindex(last[0]), end)
        for cookie in _COOKIE.finditer(text, at, end):
            canvas.fill(*cookie.span())
        canvas.end_sentence(end)

    def _item(self, start: int, end: int) -> None:
        text, canvas = self.text, self.canvas
        match = _ITEM.match(text, start, end)
        if not match:
            return
        at = match.end()
        if box := _BOX.match(text, at, end):
            at = box.end()
        canvas.fill(start, at, BREAK)
        if term := _TERM.search(text, at, end):
            canvas.fill(*term.span(), BREAK)

    def _table(self, start: int, end: int) -> None:
        if self.text[start:end].lstrip().startswith("|-"):
            self.canvas.fill(start, end, BREAK)
            return
        cell = start
        for at in [*(at for at in range(start, end) if self.text[at] == "|"), end]:
            self.canvas.hide_single_word(cell, at)
            if at < end:
                self.canvas.fill(at, at + 1, BREAK)
            cell = at + 1
        self.canvas.end_sentence(end)

    def _leave_out(self, start: int, end: int, closing: str) -> None:
        """Leave out a block; if it is not closed, only its first line is left out."""
        match = search(self.text, f"(?im){closing}", end, self.unclosed)
        stop = match.end() if match else end
        self.canvas.leave_out(start, stop)
        self.resume = stop


# Marks of inline markup: links, footnotes, citations, formatting, formulas, addresses, dates and code.
_MARKS = re.compile(
    r"\[\[|\[fn:|\[cite[:/]|<{2,3}|call_[\w-]+(?:\[[^\]\n]*\])?\(|[*/_+=~](?=\S)|\$\$?|\\\(|\\\[|\\\\|\\[A-Za-z]+|\{\{\{|@@"
    r"|(?:https?|ftp|file|mailto|doi)://?[^\s<>\[\]]+|[<\[](?=\d{4}-\d\d-\d\d)|src_[\w-]+(?:\[[^\]\n]*\])?\{"
)
_BEFORE = "-('\"{ \t\r\n\u2029\u201c\u2018\u2014"
_AFTER = r"(?=[\s\-.,:!?;'\")}\[\u2029\u201d\u2019\u2014]|\Z)"
_ENDS = {mark: re.compile(rf"(?<=\S)\{mark}{_AFTER}") for mark in "*/_+=~"}
_LINK = re.compile(r"\[\[((?:[^\[\]\\]|\\.){1,2000})\](?:\[((?:[^\[\]]|\[[^\[\]]*\]){1,2000})\])?\]")
_ADDRESS_END = ".,;:!?'\"*/_)"
_STAMP = re.compile(r"[<\[]\d{4}-\d\d-\d\d[^<>\[\]\n]{0,60}[>\]]")
_MATH = re.compile(r"\$[^\s$](?:[^$\n]{0,200}[^\s$])?\$(?![\w$])")
_INLINE_NOTE = re.compile(r"\[fn:[\w-]{0,100}:[ \t]{0,100}")
_LONGEST_NOTE = 2_000
_BRACKETS = re.compile(r"[\[\]]")
_CLOSERS = {
    "\\(": "\\)",
    "\\[": "\\]",
    "$$": "$$",
    "{{{": "}}}",
    "@@": "@@",
    "[fn:": "]",
    "[cite": "]",
    "<<": ">>",
}


class _Inline(InlineReader):
    """Reader of the inline markup of Org."""

    marks, ends = _MARKS, _ENDS

    def read_mark(self, mark: str, at: int, after: int) -> int:
        """Read the markup that may begin at a mark, and return the position at which to continue."""
        canvas, text = self.canvas, self.text
        if mark in _ENDS:
            return self._emphasis(mark, at, after)
        if mark == "[[":
            return self._link(at, after)
        if mark in ("$", "<", "["):
            match = (_MATH if mark == "$" else _STAMP).match(text, at, self.end)
            if match:
                canvas.fill(at, match.end(), OPAQUE)
            return match.end() if match else after
        if mark == "\\\\":
            canvas.fill(at, after)
            return after
        if mark == "[fn:" and (note := _INLINE_NOTE.match(text, at, self.end)):
            stop = self._note_end(note.end())
            if stop >= 0:
                self.separate_footnote(at, note.end(), stop)
                return note.end()
        if mark.startswith(("src_", "call_")):
            stop = text.find("}" if mark[0] == "s" else ")", after, min(self.end, after + 500))
            if stop >= 0:
                canvas.fill(at, stop + 1, OPAQUE)
            return stop + 1 if stop >= 0 else after
        if mark == "<<<":  # a target whose text is shown
            stop = self.find(">>>", after)
            if stop >= 0:
                canvas.mark(at, after)
                canvas.mark(stop - len(mark), stop)
            return after
        opening = "[cite" if mark.startswith("[cite") else mark
        if opening in _CLOSERS:
            stop = self.find(re.escape(_CLOSERS[opening]), after)
            if stop >= 0:
                shown = mark in ("\\(", "\\[", "$$", "{{{")
                canvas.fill(at, stop, OPAQUE if shown else BLANK)
            return stop if stop >= 0 else after
        if mark[0] == "\\":  # an entity
            stop = after + 2 if text.startswith("{}", after) else after
            canvas.fill(at, stop, OPAQUE)
            canvas.hide_word(at, stop)
            return stop
        stop = at + len(mark.rstrip(_ADDRESS_END))
        canvas.fill(at, stop, OPAQUE)
        return max(stop, at + 1)

    def _note_end(self, start: int) -> int:
        """Return the place of the bracket that closes a footnote, -1 if there is none near."""
        if self.find("]", start) < 0:
            return -1
        depth = 1
        for bracket in _BRACKETS.finditer(self.text, start, min(self.end, start + _LONGEST_NOTE)):
            depth += 1 if bracket[0] == "[" else -1
            if not depth:
                return bracket.start()
        return -1

    def _emphasis(self, mark: str, at: int, after: int) -> int:
        text = self.text
        if at > self.start and text[at - 1] not in _BEFORE:
            return after
        match = self.find_end(mark, after)
        if match is None:
            return after
        stop = match.end()
        if mark in "=~+":
            self.canvas.fill(at, stop, OPAQUE)
            return stop
        self.canvas.fill(at, after)
        self.canvas.fill(stop - 1, stop)
        return after

    def _link(self, at: int, after: int) -> int:
        match = _LINK.match(self.text, at, self.end)
        if not match:
            return after
        if match[2] is None:
            self.canvas.fill(at, match.end(), OPAQUE)
            return match.end()
        self.canvas.mark(at, match.start(2))
        self.canvas.mark(match.end(2), match.end())
        return match.start(2)
