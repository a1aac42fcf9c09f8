"""Read Texinfo (``.texi``, ``.texinfo``, ``.txi``).

Titles, list items, terms, table cells and descriptions in menus end a sentence; cells of one word, and terms
of tables for code, are hidden. Examples, displays, other formats (``@tex``), definitions of macros, the lines
of definitions (``@deffn``), index entries and all other lines with commands are left out. So are quotations,
except those with a label (``@quotation Note``).

Within a paragraph: the marks of emphasis become blank, and a footnote is a sentence of its own. Code,
variables, cross-references, addresses and characters written as commands become `OPAQUE`, as does the
argument of an unknown command unless it has three words. The running time is linear in the length of the
text.
"""

from __future__ import annotations

import re

from disambig.markup.canvas import (
    BLANK,
    BREAK,
    OPAQUE,
    Canvas,
    InlineReader,
    brace_pairs,
    iterate_lines,
    names,
    search,
)

_COMMAND = re.compile(r"[ \t]*@([A-Za-z]+)(?![A-Za-z{])[ \t]*")
_LEFT_OUT = names(
    "example smallexample lisp smalllisp display smalldisplay format smallformat verbatim tex html"
    " docbook xml latex ignore macro rmacro linemacro direntry titlepage smallquotation detailmenu"
)
"""Environments without prose."""
_TITLES = names(
    "top chapter section subsection subsubsection unnumbered unnumberedsec unnumberedsubsec"
    " unnumberedsubsubsec appendix appendixsec appendixsection appendixsubsec appendixsubsubsec majorheading"
    " chapheading heading subheading subsubheading title subtitle shorttitlepage center part"
)
_TEXT = names("noindent indent exdent raggedright group cartouche flushleft flushright indentedblock")
"""Commands that may stand before text in their line."""
_TABLES = names("table ftable vtable")
_LISTS = names("itemize enumerate multitable")
_ITEMS = names("item itemx headitem tab")
_CODE_FORMATS = names(
    "@code @samp @option @var @command @env @file @kbd @key @t @verb @url @email @math @cmd"
)
_MENU_ENTRY = re.compile(r"\*[ \t]+(?:[^:\n]{1,200}::|[^:\n]{1,200}:[ \t]+[^.,\n]{1,200}[.,])[ \t]*")
_LATE_COMMENT = re.compile(r"(?<!@)@c(?:omment)?(?:[ \t]+|$)")
_TAB = re.compile(r"@tab(?![A-Za-z])[ \t]*")


def read_texinfo(text: str, suffix: str = ".texi") -> Canvas:
    """Paint over the markup of a Texinfo document."""
    return _Inline.finish(_Blocks(text).read())


class _Blocks:
    """Reader of blocks, line by line."""

    def __init__(self, text: str) -> None:
        self.text, self.canvas = text, Canvas(text)
        self.resume = 0
        self.unclosed: set[str] = set()
        self.formats: list[str] = []  # for each open list, the format of the terms of a table, or its name
        self.menu = False

    def read(self) -> Canvas:
        """Paint over the marks of blocks and return the canvas."""
        for start, end, _ in iterate_lines(self.text):
            if start < self.resume or start == end:
                continue
            if start == 0 and self.text.startswith("\\input"):
                self.canvas.leave_out(start, end)
            elif command := _COMMAND.match(self.text, start, end):
                self._command(command[1], start, command.end(), end)
            else:
                if comment := _LATE_COMMENT.search(self.text, start, end):
                    self.canvas.fill(*comment.span())
                    self.canvas.comment(comment.end(), end)
                if self.menu:
                    self._menu_line(start, end)
        return self.canvas

    def _command(self, name: str, start: int, at: int, end: int) -> None:
        """Read a line that begins with a command whose argument is the rest of the line."""
        canvas = self.canvas
        if name in ("c", "comment"):
            canvas.fill(start, at)
            canvas.comment(at, end)
        elif name == "bye":
            canvas.leave_out(start, len(self.text))
            self.resume = len(self.text)
        elif name in _LEFT_OUT or (name == "quotation" and at == end):
            self._leave_out(name, start, end)
        elif name in _TITLES:
            canvas.fill(start, at, BREAK)
            canvas.end_sentence(end)
        elif name in _TEXT:
            canvas.fill(start, at, BREAK)
        elif name in _ITEMS:
            self._item(name, start, at, end)
        elif name.endswith("index") or name in ("anchor", "need", "noident"):
            canvas.fill(start, end)
        else:
            argument = self.text[at:end].split()
            if name in _TABLES or name in _LISTS:
                self.formats.append(argument[0] if name in _TABLES and argument else name)
            elif name == "end" and argument and argument[0] in _TABLES | _LISTS and self.formats:
                self.formats.pop()
            elif name in ("menu", "end") and (name == "menu" or argument[:1] == ["menu"]):
                self.menu = name == "menu"
            canvas.leave_out(start, end)

    def _item(self, name: str, start: int, at: int, end: int) -> None:
        text, canvas = self.text, self.canvas
        kind = self.formats[-1] if self.formats else ""
        canvas.fill(start, at, BREAK)
        if kind in _LISTS and kind != "multitable" and name != "tab":
            return
        if kind != "multitable" and name != "tab":
            if kind in _CODE_FORMATS:
                canvas.leave_out(at, end)
            else:
                canvas.hide_single_word(at, end)
                canvas.end_sentence(end)
            return
        for tab in _TAB.finditer(text, at, end):
            canvas.hide_single_word(at, tab.start())
            canvas.fill(*tab.span(), BREAK)
            at = tab.end()
        canvas.hide_single_word(at, end)

    def _menu_line(self, start: int, end: int) -> None:
        if entry := _MENU_ENTRY.match(self.text, start, end):
            self.canvas.fill(start, entry.end(), BREAK)
            self.canvas.hide_single_word(entry.end(), end)

    def _leave_out(self, name: str, start: int, end: int) -> None:
        """Leave out an environment; if it is not closed, only its first line is left out."""
        closing = search(self.text, rf"(?m)^[ \t]*@end[ \t]+{name}\b[^\r\n]*", end, self.unclosed)
        stop = closing.end() if closing else end
        self.canvas.leave_out(start, stop)
        self.resume = stop


_MARKS = re.compile(r"@(?:[A-Za-z]+\{?|[^A-Za-z])|\}|``|''", re.DOTALL)
_BRACES = re.compile(r"@[^A-Za-z]|[{}]", re.DOTALL)
_PLAIN = names(
    "emph strong dfn cite i b r sc slanted sansserif asis w acronym abbr titlefont caption shortcaption"
    " dmn inlineraw sub sup headitemfont"
)
"""Commands whose argument belongs to the sentence."""
_LINKS = names("uref url link email inforef")
"""Commands whose second argument is the text of a link."""
_SHORT_FORMS = names("acronym abbr")
_UNSEEN = names("anchor cindex hyphenation errormsg setfilename")
_LETTERS = names(
    "ss o O l L ae AE oe OE aa AA i j dh DH th TH ogonek u v H tieaccent ringaccent dotless ubaraccent"
    " udotaccent dotaccent"
)
"""Commands that produce a letter."""
_ACCENTS = "'`^\"~=,"
_SPACES = " \t\r\n*:-/|!?."
_PROSE = 3
"""Number of words from which the argument of an unknown command is prose."""


class _Inline(InlineReader):
    """Reader of the commands in a paragraph."""

    marks, ends = _MARKS, {}

    def __init__(self, canvas: Canvas, text: str, start: int, end: int) -> None:
        super().__init__(canvas, text, start, end)
        self.pairs = brace_pairs(_BRACES.finditer(text, start, end))
        self.closing: dict[int, str] = {}  # what replaces the closing brace of a command with text

    def read_mark(self, mark: str, at: int, after: int) -> int:
        """Read the markup that may begin at a mark, and return the position at which to continue."""
        canvas = self.canvas
        if mark == "}":
            canvas.mark(at, after, self.closing.get(at, BREAK))
        elif mark in ("``", "''"):
            canvas.fill(at, after)
            canvas.put(at + 1 if mark[0] == "`" else at, '"')
        elif mark[-1] == "{" and len(mark) > 2:
            return self._argument(mark[1:-1], at, after)
        elif mark[1] in _SPACES:
            canvas.mark(at, after - (mark[1] in "!?."))
        elif mark[1] in _ACCENTS:
            brace = self.pairs.get(after, -1)
            stop = brace + 1 if 0 <= brace < after + 4 else min(after + 1, self.end)
            canvas.fill(at, stop, OPAQUE)
            canvas.hide_word(at, stop)
            return stop
        else:
            canvas.fill(at, after, OPAQUE)
            if not mark[1].isalpha():
                canvas.hide_word(at, after)
        return after

    def _argument(self, name: str, at: int, after: int) -> int:
        """Read a command with an argument in braces."""
        canvas, text = self.canvas, self.text
        close = self.pairs.get(after - 1, -1)
        if close < 0:
            canvas.fill(at, after, BREAK)
            return after
        stop = close + 1
        if name == "footnote":
            self.separate_footnote(at, after, close)
            return after
        if name in _UNSEEN:
            canvas.fill(at, stop)
            return stop
        if name in _LETTERS:
            canvas.fill(at, stop, OPAQUE)
            canvas.hide_word(at, stop)
            return stop
        comma = text.find(",", after, close)
        if name in _LINKS and comma >= 0:
            second = text.find(",", comma + 1, close)
            if second >= 0 and not text[comma + 1 : second].strip():
                comma, second = second, -1
            return self._text(at, comma + 1, close if second < 0 else second, close)
        is_unknown = name not in _KNOWN_CODE
        if name in _PLAIN or (is_unknown and len(text[after:close].split()) >= _PROSE):
            return self._text(at, after, comma if name in _SHORT_FORMS and comma >= 0 else close, close)
        canvas.fill(at, stop, OPAQUE)
        if stop < self.end and text[stop].isalnum() and stop > after + 1:
            canvas.hide_word(at, stop)
        return stop

    def _text(self, at: int, start: int, end: int, close: int) -> int:
        """Keep a text and paint over the rest of the command, which ends with the brace at `close`."""
        self.canvas.mark(at, start)
        self.canvas.fill(end, close)
        self.closing[close] = BLANK
        return start


_KNOWN_CODE = names(
    "code samp kbd key verb var file command option env url uref indicateurl email math t xref pxref ref"
    " link inforef value image dots enddots TeX LaTeX copyright registeredsymbol result expansion print"
    " equiv error point bullet minus comma today pounds euro textdegree arrow geq leq exclamdown"
    " questiondown tie quoteleft quoteright quotedblleft quotedblright guillemetleft guillemetright atchar"
    " lbracechar rbracechar backslashchar hashchar ampchar xrefname click clicksequence U inlinefmt"
    " inlineifset inlineifclear"
)
"""Commands that produce something other than prose."""
