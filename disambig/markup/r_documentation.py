r"""Read documentation of R (``.Rd``).

The titles and texts of descriptions, details, arguments, values, notes and own sections are prose. Names,
usage, examples, references, authors and keywords are left out, and so is the name of an argument in
``\item{name}{text}``.

Within a paragraph: the marks of emphasis and the target of ``\href`` become blank. Code, links, formulas and
other commands become `OPAQUE`, except those with an argument of two words and more. The running time is
linear in the length of the text.
"""

from __future__ import annotations

import re

from disambig.markup.canvas import BLANK, BREAK, OPAQUE, Canvas, brace_pairs, names

_LEFT_OUT = names(
    "name alias keyword usage examples docType encoding Rdversion rdname references author concept RdOpts"
    " synopsis preformatted deqn if ifelse out newcommand renewcommand figure tabularcolumns"
)
"""Commands without prose that are not in a sentence."""
_BLOCKS = names(
    "title description details value note section subsection arguments seealso source format itemize"
    " enumerate describe custom"
)
_TEXT = names("emph strong bold dfn acronym abbr sQuote dQuote cite")
"""Commands whose argument belongs to the sentence."""
_CODE = names(
    "code verb samp option command env file var kbd pkg url email link linkS4class eqn CRANpkg doi method"
    " S3method S4method Sexpr enc packageTitle"
)
"""Commands that produce something other than prose, with all their arguments."""
# A comment, a command with its option, an escaped sign, a brace, or a line for the preprocessor.
_MARKS = re.compile(
    r"(?P<comment>%[^\r\n]*)|\\(?P<name>[A-Za-z][A-Za-z0-9]*)(?:\[[^\[\]{}\r\n]*\])?|\\[^A-Za-z]|[{}]"
    r"|^\#(?:ifdef|ifndef|endif)[^\r\n]*",
    re.MULTILINE | re.DOTALL,
)
_BRACES = re.compile(r"%[^\r\n]*|\\[^A-Za-z]|[{}]", re.DOTALL)
_TWO_WORDS = re.compile(r"[A-Za-z]{2,}\s+[A-Za-z]{2,}")


def read_rd(text: str, suffix: str = ".rd") -> Canvas:
    """Paint over the markup of documentation of R."""
    return _Reader(text).read()


class _Reader:
    """Reader of commands from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.canvas = text, Canvas(text)
        self.pairs = brace_pairs(_BRACES.finditer(text))
        self.closing: dict[int, str] = {}  # what replaces each closing brace

    def read(self) -> Canvas:
        """Paint over everything but prose and return the finished canvas."""
        at = 0
        while match := _MARKS.search(self.text, at):
            start, at = match.span()
            if match["name"]:
                at = max(self._command(match["name"], start, at), at)
            elif match["comment"]:
                self.canvas.comment(start, at)
            elif match[0] in "{}":
                self.canvas.fill(start, at, self.closing.get(start, BREAK))
            elif match[0][0] == "#":
                self.canvas.leave_out(start, at)
            else:
                self.canvas.mark(start, start + 1)
        self.canvas.finish()
        return self.canvas

    def _command(self, name: str, start: int, after: int) -> int:
        """Read a command and return the position at which to continue."""
        canvas, text = self.canvas, self.text
        end = self._argument_end(after)
        if name in _LEFT_OUT:
            canvas.leave_out(start, stop := self._arguments_end(after))
            return stop
        if name in _BLOCKS or name in ("item", "tab", "cr", "tabular"):
            canvas.fill(start, after, BREAK)
            if end > after and (name == "tabular" or (name == "item" and text[end : end + 1] == "{")):
                canvas.leave_out(after, end)
                return end
            return after
        if name == "href" and text[end : end + 1] == "{":
            return self._keep(start, end)
        if end > after and (name in _TEXT or (name not in _CODE and _TWO_WORDS.search(text, after, end))):
            return self._keep(start, after)
        stop = self._arguments_end(after) if name in _CODE else end
        canvas.fill(start, stop, OPAQUE)
        if stop < len(text) and text[stop].isalnum():
            canvas.hide_word(start, stop)
        return stop

    def _keep(self, start: int, brace: int) -> int:
        """Keep the text of an argument, and paint over the command before it."""
        self.canvas.mark(start, brace + 1)
        if brace in self.pairs:
            self.closing[self.pairs[brace]] = BLANK
        return brace + 1

    def _argument_end(self, at: int) -> int:
        """Return the end of the argument in braces at a position; the position if there is none."""
        return self.pairs.get(at, at - 1) + 1

    def _arguments_end(self, at: int) -> int:
        while (end := self._argument_end(at)) > at:
            at = end
        return at
