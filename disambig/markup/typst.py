r"""Read Typst (``.typ``): only text that is typeset as prose remains.

Headings, list items and paragraphs are text, as are content blocks (``[...]``) of functions and of their
arguments. Statements (``#let``, ``#set``, ``#show``, ``#import``), other code, strings, comments and labels
are left out; calls, mathematics, raw text, references and addresses become `OPAQUE`. Content of functions
that change its appearance, such as ``#emph[...]`` and ``#link("...")[...]``, belongs to the sentence around
it; other content is a text of its own, and that of ``#quote`` is left out. Nothing is evaluated. The running
time is linear in the length of the text.
"""

from __future__ import annotations

import re

from disambig.markup.canvas import BREAK, OPAQUE, Canvas, match_end, search

# The name of the group that matched is the kind of mark (`lastgroup`).
_MARKS = re.compile(
    r"(?P<line>(?<![:\w])//[^\r\n]*)|(?P<comment>/\*)|(?P<raw>`+)"
    r"|(?P<escape>\\u\{[0-9A-Fa-f]{1,6}\}|\\[^\s\w]|\\(?=\s))"
    r"|(?P<math>\$)|(?P<code>#(?=[A-Za-z_{(\[\"]))|(?P<label><[A-Za-z][\w:.-]{0,80}>)"
    r"|(?P<reference>@[A-Za-z](?:[\w:.-]{0,80}\w)?)|(?P<address>https?://[^\s\[\]()<>\"]*)"
    r"|(?P<emphasis>\*+|(?<!\w)_|_(?!\w))|(?P<opens>\[)|(?P<closes>\])|(?P<blank>~)"
    r"|^[ \t]*(?P<block>=+(?=[ \t])|[-+](?=[ \t])|\d{1,4}\.(?=[ \t])|/(?=[ \t][^\r\n:]{1,80}:))",
    re.MULTILINE,
)
_STATEMENT = re.compile(r"(?:let|set|show|import|include|return|context|if|else|for|while|break|continue)\b")
_NAME = re.compile(r"[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*")
# Strings, comments and formulas are matched so that brackets in them do not count.
_CODE = re.compile(
    r"//[^\r\n]*|/\*|\"(?:[^\"\\]|\\.)*\"|`+|\$|(?P<opens>[({])|(?P<closes>[)}])|(?P<content>\[)"
    r"|(?P<end>[\r\n;])",
    re.DOTALL,
)
_ELSE = re.compile(r"\s*else\b")
_TERM = re.compile(r"[^\r\n:]{1,80}(:)")
_LINE = re.compile(r"[^\r\n]*")
_MATH = re.compile(r"\\.|\$", re.DOTALL)
_COMMENT_MARKS = re.compile(r"/\*|\*/")
_WITHIN = frozenset(
    "emph strong text link highlight underline overline smallcaps sub super box upper lower ref".split()
)
"""Functions whose content belongs to the sentence around it."""
_LEFT_OUT = frozenset("quote raw strike cite".split())
_DEEPEST = 50
"""Maximum depth of content in code in content."""
_ADDRESS_END = ".,;:!?'"


def read_typst(text: str, suffix: str = ".typ") -> Canvas:
    """Paint over the markup of a Typst document."""
    reader = _Reader(text)
    reader.markup(0, is_block=False)
    reader.canvas.finish()
    return reader.canvas


class _Reader:
    """Reader of a text from left to right; its methods return the position at which to continue."""

    def __init__(self, text: str) -> None:
        self.text, self.canvas = text, Canvas(text)
        self.depth = 0
        self.unclosed: set[str] = set()

    def markup(self, at: int, *, is_block: bool) -> int:
        """Read markup up to its end, or up to the bracket that closes a content block."""
        brackets = 0
        while match := _MARKS.search(self.text, at):
            kind = match.lastgroup or ""
            start, at = match.start(kind), match.end()
            if kind == "closes":
                if is_block and not brackets:
                    return start
                brackets = max(0, brackets - 1)
            elif kind == "opens":
                brackets += 1
            elif kind == "code":
                at = self._code(start, at)
            else:
                at = self._mark(kind, start, at)
        return len(self.text)

    def _mark(self, kind: str, start: int, at: int) -> int:
        """Read the markup of a kind, and return the position at which to continue."""
        text, canvas = self.text, self.canvas
        if kind == "line":
            canvas.comment(start, at)
        elif kind == "comment":
            at = self._comment(start, at)
        elif kind == "raw":
            at = self._raw(start, at)
        elif kind == "math":
            at = self._math(start, at)
        elif kind == "label":
            canvas.fill(start, at)
        elif kind == "address":
            at = start + len(text[start:at].rstrip(_ADDRESS_END))
            canvas.fill(start, at, OPAQUE)
        elif kind == "reference":
            canvas.fill(start, at, OPAQUE)
        elif kind == "block":
            canvas.fill(start, at, BREAK)
            if text[start] == "=":
                canvas.end_sentence(match_end(_LINE, text, at))
            elif text[start] == "/" and (term := _TERM.match(text, at)):
                canvas.fill(*term.span(1), BREAK)
        else:  # emphasis, an escaped character, a line break or a blank
            canvas.mark(start, start + 1 if kind == "escape" and text[at - 1] != "}" else at)
        return max(at, start + 1)

    def _comment(self, start: int, at: int) -> int:
        if "/*" in self.unclosed:
            return at
        level = 1
        for mark in _COMMENT_MARKS.finditer(self.text, at):
            level += 1 if mark[0] == "/*" else -1
            if not level:
                self.canvas.comment(start, mark.end())
                return mark.end()
        self.unclosed.add("/*")
        return at

    def _raw(self, start: int, at: int) -> int:
        """Read raw text: two backticks are empty, one closes one, and three or more close as many."""
        marks = at - start
        if marks == len("``"):
            return at
        closing = "`" * marks
        end = search(self.text, closing, at, self.unclosed)
        if end is None:
            return at
        stop = end.end()
        if "\n" in self.text[start:stop]:
            self.canvas.leave_out(start, stop)
        else:
            self.canvas.fill(start, stop, OPAQUE)
        return stop

    def _math(self, start: int, at: int) -> int:
        if "$" in self.unclosed:
            return at
        for mark in _MATH.finditer(self.text, at):
            if mark[0] == "$":
                self.canvas.fill(start, mark.end(), OPAQUE)
                return mark.end()
        self.unclosed.add("$")
        return at

    def _code(self, start: int, at: int) -> int:
        """Read code in markup: a statement, a call with its content, or an expression in brackets."""
        text, canvas = self.text, self.canvas
        if _STATEMENT.match(text, at):
            stop = self._expression(at, is_statement=True)
            canvas.fill(start, start + 1, BREAK)
            return stop
        name = _NAME.match(text, at)
        if name is None:
            if text[at] == '"':
                string = _CODE.match(text, at)
                stop = string.end() if string else at + 1
                canvas.fill(start, stop, OPAQUE)
                return stop
            if text[at] == "[":
                return self._content(at, begin=start, within=True)
            canvas.fill(start, at)
            return self._expression(at)
        function = name[0].rpartition(".")[2]
        within, has_content = function in _WITHIN, False
        stop = name.end()
        canvas.fill(start, stop)
        while text[stop : stop + 1] in ("(", "["):
            begin = stop
            if text[stop] == "(":
                stop = self._expression(stop)
            elif function in _LEFT_OUT:
                stop = self._content(stop)
                canvas.leave_out(begin, stop)
                has_content = True
            else:
                stop = self._content(stop, begin=start, within=within)
                has_content = True
        if not has_content or (not within and text[start - 1 : start].isalnum()):  # such as a footnote
            canvas.put(start, OPAQUE)
        return stop

    def _content(self, at: int, *, begin: int = -1, within: bool = False) -> int:
        """Read a content block whose bracket is at a position.

        `begin`: where the call with the block begins, if it is not the argument of one.
        `within`: whether the content belongs to the sentence around it.
        """
        if self.depth >= _DEEPEST:
            return at + 1
        self.depth += 1
        stop = self.markup(at + 1, is_block=True)
        self.depth -= 1
        if within:
            self.canvas.fill(at, at + 1)
            if self.text[begin - 1 : begin].isalnum() and self.text[at + 1 : at + 2].isalnum():
                self.canvas.hide_word(begin, at + 1)
            self.canvas.mark(stop, min(stop + 1, len(self.text)))
        else:
            self.canvas.fill(at, at + 1, BREAK)
            self.canvas.fill(stop, min(stop + 1, len(self.text)), BREAK)
        return min(stop + 1, len(self.text))

    def _expression(self, at: int, *, is_statement: bool = False) -> int:
        """Read code up to the end of the bracket that begins it, or up to the end of a statement."""
        text, canvas = self.text, self.canvas
        level, begin = 0, at
        while match := _CODE.search(text, at):
            start, at = match.span()
            if match["content"]:
                canvas.fill(begin, start)
                begin = at = self._content(start)
            elif match["opens"]:
                level += 1
            elif match["closes"]:
                level -= 1
                if level < 0 and is_statement:  # it ends with the code around it
                    at = start
                    break
                if level <= 0 and not is_statement:
                    break
            elif match["end"]:
                if is_statement and level <= 0 and not _ELSE.match(text, at):
                    at = start if match[0] in "\r\n" else at
                    break
            elif match[0] == "/*":
                at = self._comment(start, at)
            elif match[0][0] == "`":
                at = self._raw(start, at)
            elif match[0] == "$":
                at = self._math(start, at)
            elif match[0].startswith("//"):
                canvas.comments.append((start, at))
        else:
            at = len(text)
        canvas.fill(begin, at)
        return at
