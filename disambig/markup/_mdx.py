"""Read MDX: Markdown with JavaScript modules, expressions in braces and JSX tags.

The JavaScript and the tags are replaced by blanks, then the rest is read as Markdown. Tags that begin a line
end sentences; others do not. Attributes that are shown, such as ``title`` and ``label``, are texts of
their own. An expression within a sentence is `OPAQUE`. The running time is linear in the length of the text.
"""

from __future__ import annotations

import re

from disambig.markup._attributes import find_values, keep_values
from disambig.markup._dialects import INLINE_TAGS, QUOTING_TAGS, VERBATIM_TAGS
from disambig.markup.canvas import BLANK, BREAK, OPAQUE, Canvas, search
from disambig.markup.markdown import read_markdown

_PLACEHOLDER = " "
"""Stands for what is painted over while the rest is read as Markdown."""
_FENCE = re.compile(r"^(?:[ \t>*+-]|\d{1,9}[.)](?=[ \t]))*(`{3,}(?=[^`\r\n]*$)|~{3,})", re.MULTILINE)
# `import` or `export` at the start of a line, if what follows is code and not prose.
_MODULE = re.compile(
    r"^(?:import(?=[ \t]*[{*\"']|[ \t]+[\w$]+(?:[ \t]*,|[ \t]+from\b)|[ \t]+type\b)"
    r"|export(?=[ \t]+(?:default|const|let|var|function|async|class|type|interface|enum)\b|[ \t]*[{*]))",
    re.MULTILINE,
)
# Code between backticks and fences is matched so that braces and tags in it are skipped.
_MARKS = re.compile(
    rf"{_FENCE.pattern}|{_MODULE.pattern}|(?P<ticks>`+)|\\.|(?P<brace>\{{)|(?P<tag></?(?=[A-Za-z>]))|<!--",
    re.MULTILINE,
)
# The last alternative is the blank line, which ends an `import` or `export`.
_CODE = re.compile(
    r"""/\*|//[^\r\n]*|"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*'|`|[{}()\[\]]|\n[ \t]*\r?(?=\n)"""
)
_TEMPLATE = re.compile(r"\\.|`", re.DOTALL)
_TAG_NAME = re.compile(r"[A-Za-z][\w.:-]*")
_ATTRIBUTES = re.compile(r""""[^"]*"|'[^']*'|\{|/?>|<""")
_BLANK_LINE = re.compile(r"\n[ \t]*\r?\n")
_NEARBY = 200
"""Number of characters before a mark in which the start of its line is searched."""
_OPENING, _CLOSING = "{([", "})]"


def read_mdx(text: str, suffix: str = ".mdx") -> Canvas:
    """Paint over the markup, modules, expressions and tags of an MDX text."""
    scanner = _Scanner(text)
    scanner.scan()
    masked = Canvas(text)
    for start, end, _ in scanner.spans:
        masked.fill(start, end, _PLACEHOLDER)
    canvas = read_markdown(masked.text, suffix)
    for start, end, character in scanner.spans:
        canvas.fill(start, end, character)
    for start, end, is_within in scanner.tags:
        values = find_values(text, start, end, within=is_within)
        keep_values(canvas, values, within=(start, end) if is_within else None, text=text)
    canvas.comments += scanner.comments
    return canvas


class _Scanner:
    """Reader of an MDX text from left to right.

    Attribute `spans` (list of (start, end, character)): what is not Markdown, and the character that replaces
    it.
    Attribute `comments`: list of (start, end).
    Attribute `tags` (list of (start, end, bool)): tags that may have attributes that are text, and whether
    they stand within a sentence.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.spans: list[tuple[int, int, str]] = []
        self.comments: list[tuple[int, int]] = []
        self.tags: list[tuple[int, int, bool]] = []
        # kinds of brackets and marks that are not closed in the rest of the text
        self.unclosed: set[str] = set()
        self.line_opened: list[bool] = []  # for each open tag, whether it began a line
        self.paragraph_end = -1

    def scan(self) -> None:
        """Find everything that is not Markdown."""
        at = 0
        while match := _MARKS.search(self.text, at):
            at = max(self._mark(match), match.start() + 1)

    def _mark(self, match: re.Match[str]) -> int:
        at, after = match.span()
        if match[1]:
            return self._past_fence(match[1], after)
        if match["ticks"]:
            return self._past_code(match["ticks"], after)
        if match["brace"]:
            return self._expression(at)
        if match["tag"]:
            return self._tag(at, after)
        if match[0] in ("import", "export"):
            return self._module(at, after)
        if match[0] == "<!--":
            stop = self.text.find("-->", after)
            return stop if stop >= 0 else after
        return after

    def _past_fence(self, mark: str, after: int) -> int:
        if mark in self.unclosed:
            return len(self.text)
        closing = re.compile(rf"^[ \t>]*{re.escape(mark[0])}{{{len(mark)},}}[ \t]*\r?$", re.MULTILINE)
        match = closing.search(self.text, after)
        return match.end() if match else len(self.text)

    def _past_code(self, ticks: str, after: int) -> int:
        """Return the end of code in backticks, which does not extend over blank lines.

        `ticks`: the opening backticks; the same number of them closes the code.
        `after`: offset after them, which is returned if nothing closes the code.
        """
        if self.paragraph_end < after:
            blank = _BLANK_LINE.search(self.text, after)
            self.paragraph_end = blank.start() if blank else len(self.text)
        end = self.paragraph_end
        if f"{ticks}{end}" in self.unclosed:  # do not search the same paragraph again and again
            return after
        match = re.compile(rf"(?<!`){ticks}(?!`)").search(self.text, after, end)
        if match is None:
            self.unclosed.add(f"{ticks}{end}")
            return after
        return match.end()

    def _module(self, at: int, after: int) -> int:
        """Skip an ``import`` or ``export``, which ends at the first blank line outside brackets."""
        line = self.text[max(at - _NEARBY, 0) : at].splitlines()[-1:]
        if line and line[0].strip() and not line[0].startswith(("---", "+++", "import")):
            return after  # a line of a paragraph that begins with the word
        stop = self._past_brackets(after, ends_at_blank_line=True)
        self.spans.append((at, stop, BREAK))
        return stop

    def _past_brackets(self, at: int, *, ends_at_blank_line: bool = False) -> int:
        """Return the end of the bracket whose contents begin at `at`; -1 if it is not closed.

        `ends_at_blank_line`: if true, find instead the end of a statement that begins at `at`: the first
        blank line outside brackets. If a bracket of the statement is not closed, it ends at its first blank
        line, and so do all later statements.
        """
        text = self.text
        depth = 0 if ends_at_blank_line else 1
        start, blank = at, -1
        if ends_at_blank_line and "module" in self.unclosed:
            match = _BLANK_LINE.search(text, at)
            return match.start() if match else len(text)
        while match := _CODE.search(text, at):
            mark, at = match[0], match.end()
            if mark == "`":
                at = self._past_template(at)
            elif mark == "/*":
                stop = text.find("*/", at) if "/*" not in self.unclosed else -1
                if stop < 0:
                    self.unclosed.add("/*")
                at = stop + 2 if stop >= 0 else at
            elif mark in _OPENING:
                depth += 1
            elif mark in _CLOSING:
                depth -= 1
                if depth <= 0 and not ends_at_blank_line:
                    return at
            elif mark[0] == "\n" and ends_at_blank_line:
                if depth <= 0:
                    return match.start()
                blank = blank if blank >= 0 else match.start()
        if not ends_at_blank_line:
            return -1
        if depth <= 0 or blank < start:
            return len(text)
        self.unclosed.add("module")
        return blank

    def _past_template(self, at: int) -> int:
        if "template" in self.unclosed:
            return at
        place = at
        while match := _TEMPLATE.search(self.text, place):
            if match[0] == "`":
                return match.end()
            place = match.end()
        self.unclosed.add("template")
        return at

    def _expression(self, at: int) -> int:
        if "{" in self.unclosed:
            return at + 1
        stop = self._past_brackets(at + 1)
        if stop < 0:
            self.unclosed.add("{")
            return at + 1
        inside = self.text[at + 1 : stop - 1].strip()
        if inside.startswith("/*") and inside.endswith("*/"):
            self.comments.append((at, stop))
            self.spans.append((at, stop, BLANK))
        else:
            self.spans.append((at, stop, BREAK if self._begins_line(at) else OPAQUE))
        return stop

    def _begins_line(self, at: int) -> bool:
        """Return True if only blanks, and marks that end a sentence, come before `at` in its line."""
        start = at - len(re.split("[\r\n]", self.text[max(at - _NEARBY, 0) : at])[-1])
        if self.spans and self.spans[-1][2] == BREAK:
            start = max(start, self.spans[-1][1])
        return not self.text[start:at].strip(" \t")

    def _tag(self, at: int, after: int) -> int:
        """Process a tag; HTML tags are left to the reader of Markdown, but for expressions within them."""
        text = self.text
        name = _TAG_NAME.match(text, after)
        stop, braces = self._past_attributes(name.end() if name else after)
        if stop < 0:
            return after
        tag_name = name[0] if name else ""
        if tag_name in INLINE_TAGS | QUOTING_TAGS | VERBATIM_TAGS:
            if name and braces:
                self.spans.append((name.end(), stop - (2 if text[stop - 2] == "/" else 1), BLANK))
            if tag_name in VERBATIM_TAGS and text[at + 1] != "/" and text[stop - 2] != "/":
                return self._verbatim(tag_name, stop)
            return stop
        starts = self._begins_line(at)
        if text[at + 1] == "/":
            starts = self.line_opened.pop() or starts if self.line_opened else starts
            character = BREAK if starts else BLANK
        elif text[stop - 2] == "/":
            character = BREAK if starts else OPAQUE
        else:
            self.line_opened.append(starts)
            character = BREAK if starts else BLANK
        self.spans.append((at, stop, character))
        if text[at + 1] != "/":
            self.tags.append((at, stop, not starts))
        return stop

    def _verbatim(self, name: str, stop: int) -> int:
        """Return the end of an element that the reader of Markdown hides, with blank lines hidden here."""
        end = search(self.text, f"</{name}", stop, self.unclosed)
        if end is None:
            return stop
        self.spans.append((stop, end.start(), OPAQUE))
        return end.start()

    def _past_attributes(self, at: int) -> tuple[int, bool]:
        """Return the end of a tag, -1 if it has none, and whether it contains expressions."""
        braces = False
        while match := _ATTRIBUTES.search(self.text, at):
            mark, at = match[0], match.end()
            if mark == "<" or "tag" in self.unclosed:
                return -1, braces
            if mark in (">", "/>"):
                return at, braces
            if mark == "{":
                braces = True
                at = self._past_brackets(at) if "{" not in self.unclosed else -1
                if at < 0:
                    self.unclosed.add("{")
                    return -1, braces
        self.unclosed.add("tag")
        return -1, braces
