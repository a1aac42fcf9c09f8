"""Read POD, the documentation of Perl: ``.pod`` files and the blocks in Perl code.

A block begins with a command such as ``=head1`` at the start of a line and ends after ``=cut``. Text, titles
and the text of list items are prose; titles and items of one word, and the name in the section NAME, are not.
Paragraphs that begin with a blank are code. Blocks of other formats (``=begin html``) and comments
(``=for comment``) are left out.

Within a paragraph: the marks of ``B<>``, ``I<>`` and ``S<>`` and the targets of links become blank. Code,
file names, links without a text, addresses, and words with the signs of Perl (``$self``, ``a->b``, ``A::B``)
become `OPAQUE`. The running time is linear in the length of the text.
"""

from __future__ import annotations

import re

from disambig.markup.canvas import BLANK, BREAK, OPAQUE, Canvas, InlineReader, Span, iterate_lines

_COMMAND = re.compile(r"=([A-Za-z]\w*)[ \t]*")
_ITEM_MARK = re.compile(r"(?:\*|o|-|\d{1,4}[.)]?|\[\d{1,4}\])(?:[ \t]+|$)")
_FORMAT = re.compile(r"(:?)([\w-]+)[ \t]*")
_NAME = re.compile(r"[ \t]*\S+[ \t]+-{1,3}[ \t]+")
_CODE_LINE = re.compile(r"\S+[ \t]*(?:\([^()]*\)[ \t]*)?|(?:[BCI]<)?-{1,2}\w.*")
"""A title or an item that is a name, a call or an option."""
_TITLES = frozenset(("head1", "head2", "head3", "head4", "head5", "head6"))
_MARKUP = frozenset(("pod", "cut", "over", "back", "encoding", "begin", "end", "for"))


def read_pod(text: str, suffix: str = ".pod") -> Canvas:
    """Paint over the markup of POD, and over all text outside its blocks."""
    return _Inline.finish(_Blocks(text).read())


class _Blocks:
    """Reader of blocks, line by line."""

    def __init__(self, text: str) -> None:
        self.text, self.canvas = text, Canvas(text)
        self.is_pod = False  # whether the line is in a block of POD
        self.paragraph = ""  # "prose", "code" or "other"; empty after a blank line
        self.foreign = ""  # the format of the block of another format around the line
        self.in_name = False  # whether the section is that of the name

    def read(self) -> Canvas:
        """Paint over everything but prose and return the canvas."""
        for start, end, _ in iterate_lines(self.text):
            if start == 0 and self.text.startswith("\ufeff"):
                start = 1
            self._line(start, end)
        return self.canvas

    def _line(self, start: int, end: int) -> None:
        text, canvas = self.text, self.canvas
        if not text[start:end].strip():
            self.paragraph = ""
            return
        command = _COMMAND.match(text, start, end)
        if command and (not self.is_pod or not self.paragraph or command[1] == "cut"):
            self.is_pod = True
            self._command(command, end)
            return
        if not self.is_pod or self.foreign or self.paragraph == "other":
            canvas.leave_out(start, end)
            return
        if not self.paragraph:
            is_indented = text[start].isspace() and text[start] != BLANK  # a tag of a template
            self.paragraph = "code" if is_indented else "prose"
            if self.in_name and (name := _NAME.match(text, start, end)):
                canvas.fill(start, name.end(), BREAK)
        if self.paragraph == "code":
            canvas.leave_out(start, end)

    def _command(self, command: re.Match[str], end: int) -> None:
        text, canvas, name, at = self.text, self.canvas, command[1], command.end()
        canvas.fill(command.start(), at, BREAK)
        self.paragraph = "prose"
        if name in _MARKUP:
            self._directive(name, at, end)
            return
        if self.foreign:
            canvas.leave_out(at, end)
            return
        if name in _TITLES:
            self.in_name = text[at:end].strip().upper() == "NAME"
        elif mark := _ITEM_MARK.match(text, at, end):
            canvas.fill(at, mark.end(), BREAK)
            at = mark.end()
        if _CODE_LINE.fullmatch(text, at, end):
            canvas.fill(at, end, OPAQUE)
        if name in _TITLES:
            canvas.end_sentence(end)

    def _directive(self, name: str, at: int, end: int) -> None:
        """Read a command without text of its own."""
        target = _FORMAT.match(self.text, at, end)
        canvas = self.canvas
        if name == "for" and target and target[2] == "comment":
            canvas.fill(at, target.end())
            canvas.comment(target.end(), end)
            self.paragraph = "other"
        elif name == "for" and target and target[1] and not self.foreign:  # text with marks of POD
            canvas.fill(at, target.end(), BREAK)
        else:
            canvas.leave_out(at, end)
            self.paragraph = "other"
        if name == "begin" and not self.foreign and target and not target[1]:
            self.foreign = target[2]
        elif name == "end" and target and target[2] == self.foreign:
            self.foreign = ""
        elif name == "cut":
            self.is_pod, self.foreign = False, ""


# A format such as `B<` or `C<<`, a bracket or bar in it, an address, or a name of Perl in prose.
_MARKS = re.compile(
    r"[A-Z](?:<{2,9}(?=\s)|<(?!<))|[>|]|(?:https?|ftp|mailto)://?[^\s<>]*"
    r"|(?<![\w<$@%&\\])[$@%&\\]{1,2}[{:]?[A-Za-z_]\w*|(?:(?<![\w:])[\w:]{1,80})?(?:::|->)[\w:>-]*(?:\([^()\s]*\))?"
    r"|(?<!\w)\w{1,80}(?:\(\)|(?<=[A-Za-z\d])_\w+)|(?<![\w.+-])[\w.+-]{1,80}@[\w-]+\.[\w.-]*\w"
)
_END_MARKS = ".,;:!?)"
_BRACKETS = re.compile(r"[A-Z](?:<{2,9}(?=\s)|<(?!<))|>")
_ENDS = {width: re.compile(rf"\s>{{{width}}}(?!>)") for width in range(2, 10)}


class _Inline(InlineReader):
    """Reader of the formatting codes of POD."""

    marks, ends = _MARKS, {}

    def __init__(self, canvas: Canvas, text: str, start: int, end: int) -> None:
        super().__init__(canvas, text, start, end)
        self.codes = self._find_codes()
        self.closing: dict[int, int] = {}  # start and end of what closes the codes with text

    def _find_codes(self) -> dict[int, Span]:
        """Return the span of the closing mark of each formatting code by the position of its letter."""
        codes: dict[int, Span] = {}
        opened: list[int] = []
        failed: set[int] = set()
        at = self.start
        while bracket := _BRACKETS.search(self.text, at, self.end):
            at = bracket.end()
            width = at - bracket.start() - 1
            if not width:
                if opened:
                    codes[opened.pop()] = bracket.span()
            elif width == 1:
                opened.append(bracket.start())
            elif width not in failed:
                if end := _ENDS[width].search(self.text, at, self.end):
                    codes[bracket.start()] = end.end() - width, end.end()
                    at = end.end()
                else:
                    failed.add(width)
        return codes

    def read_mark(self, mark: str, at: int, after: int) -> int:
        """Read the markup that may begin at a mark, and return the position at which to continue."""
        if mark in ">|":
            if at in self.closing:
                after = self.closing[at]
                self.canvas.mark(at, after)
            return after
        if mark[-1] == "<":
            return self._code(mark[0], at, after)
        stop = at + len(mark.rstrip(_END_MARKS)) if "://" in mark else after
        self.canvas.fill(at, stop, OPAQUE)
        return stop

    def _code(self, letter: str, at: int, after: int) -> int:
        """Read a formatting code: ``B<text>``, ``C<< code >>``."""
        if at not in self.codes or (letter != "E" and at > self.start and self.text[at - 1].isalnum()):
            return after
        canvas = self.canvas
        close, stop = self.codes[at]
        bar = self.text.find("|", after, close) if letter == "L" else -1
        if letter in "XZ":
            canvas.mark(at, stop)
            return stop
        if letter in "BIS" or bar >= 0:
            canvas.mark(at, after)
            self.closing[close if bar < 0 else bar] = stop
            return after
        canvas.fill(at, stop, OPAQUE)
        if letter == "E":
            canvas.hide_word(at, stop)
        return stop
