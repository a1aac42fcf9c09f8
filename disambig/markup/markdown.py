r"""Read Markdown: blocks, marks within paragraphs, and texts that are being edited.

CommonMark with GitHub's tables, alerts, task lists, footnotes and mathematics, and with front matter, of
which titles and descriptions are text. Of the dialects: admonitions, tabs and blocks of MkDocs; callouts,
links, tags, comments, marked text (``==text==``) and block ids of Obsidian; directives, roles and targets of
MyST and Quarto; containers (``:::``); components of MDC (``::card{...}``, ``:badge[text]{...}``); captions in
the options of code cells of Quarto and knitr; comments of JSX, modules and ``mdx-code-block`` of Docusaurus;
definition lists, abbreviations, inline footnotes and LaTeX of Pandoc; shortcodes of Jekyll and
Hugo. The running time is linear in the length of the text.

Blocks: fenced and indented blocks, ``$$`` blocks and ``<pre> <script> <style> <textarea> <svg>`` are painted
over as code; the bodies of directives such as ``{note}`` are read. Block quotations are left out, including
lines that continue them lazily; alerts (``> [!NOTE]``, ``> **Note:** ...``) are not quotations.

Within a paragraph: the text of links and emphasis is kept, as are the alternative text and the title of
images, separated by `OPAQUE`. The title of a link is not read, since it would divide the sentence around it.
Marks, link targets, footnote marks, comments and struck-out text become blank.
Code, ``$...$``, ``\(...\)``, addresses, citations (``[@key]``), entities, emoji (``:bug:``), placeholders
(``{{ x }}``) and words that a mark cuts become `OPAQUE`. All this is done by `_Inline`; its method `_link`
hides links.

Texts that are being edited: `IncrementalMarkdown` reads again only the segments between blank lines that
changed. Each segment is read with the blocks that are open at its start (`OpenBlocks`) and with the labels of
the whole text. If it opens something that a later segment closes, such as a comment, it is extended to that
point, so that the result is always that of `read_markdown` (a test checks this).
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import disambig.markup._dialects as dialects
import disambig.markup._latex as _latex
from disambig.markup._attributes import find_values, is_text, keep_values
from disambig.markup._fields import paint_cell_options, paint_front_matter
from disambig.markup._templates import TagsOfProse, read_tag
from disambig.markup.canvas import (
    BLANK,
    BREAK,
    ENTITY,
    OPAQUE,
    Canvas,
    InlineReader,
    Layout,
    ShortenedWord,
    Span,
    TableCell,
    dashed_cells,
    grid_cells,
    iterate_lines,
    iterate_units,
    match_end,
    strip_span,
)

if TYPE_CHECKING:
    from disambig.markup.reading import PlainText

_BEFORE_TAG = rf"(?<![^\s({re.escape(BLANK)}{re.escape(BREAK)}])"
# Each line of this pattern is one or several marks; `_Inline.read_mark` tells them apart by their characters.
_MARKS = re.compile(
    # references of bookdown and LaTeX, math between escaped brackets, escaped characters
    r"\\@ref\([^()\s]{1,80}\)|\\(?:[a-z]{0,5}ref|[a-z]{0,4}cite[a-z]{0,6}|label|index)\{[^{}]{1,200}\}"
    r"|\\\\[(\[]|\\[!-/:-@\[-`{-~]"
    # code, tags, links, emphasis, math, entities, templates, attributes, comments of JSX, mappings of YAML
    r"|`+|<|!?\[|\]|\*+|_+|~~+|\$\$?|&|\{\{|\{%|\{/\*|\{(?=[#.:])|\{(?=[ \t]*[\w.-]{1,40}:[ \t])"
    # addresses, highlighted text, footnotes, types in braces, and comments, tags and block ids of Obsidian
    r"|(?:https?|ftp)://[^\s<>\[\]()]*|(?<![\w=])==(?=[^\s=])|(?<=[^\s=])==(?![\w=])|\^\["
    rf"|\{{(?=[A-Za-z$][^\s{{}}]{{0,80}}\}})|(?<![\w%])%%(?!%)|{_BEFORE_TAG}#[A-Za-z][\w/-]*"
    rf"|{_BEFORE_TAG}\^[A-Za-z0-9-]{{1,40}}(?=[ \t]*(?:[\r\n]|\Z))"
    # emoji, components of MDC, and references of Quarto
    r"|(?<![\w:]):[a-z][a-z0-9_+-]{1,40}:(?![\w:`])|(?<![\w:]):(?=[A-Za-z][\w-]{1,40}[\[{])"
    r"|@(?:fig|tbl|sec|eq|lst|thm|lem|cor|def|exm|exr|nte|tip|wrn|imp|cau)-[\w:.-]*\w"
)
_TICKS = re.compile("`+")
_DOLLARS = re.compile(r"\\.|\$\$?")
_PLACEHOLDER = re.compile(r"\{\{[^{}]*\}\}|\{%[^{}%]*%\}")
_INVISIBLE = f" \t{BLANK}"
_TAGS_AT_END = re.compile(rf"(?:{_PLACEHOLDER.pattern}|[{_INVISIBLE}]+){{0,8}}(?=[\r\n]|\Z)")
_TYPE = re.compile(r"\{[A-Za-z$][^\s{}]{0,80}\}")  # a type or name in braces: {string|Buffer}
_ATTRIBUTES = re.compile(r"\{[#.:][^{}\n]*\}")
_MAPPING = re.compile(r"\{[^{}\n]{1,300}(?:\{[^{}\n]{0,300}\}[^{}\n]{0,300}){0,8}\}")
"""A mapping in the flow style of YAML, which begins with a key: {name: bob, groups: [wheel]}."""
_AUTOLINK = re.compile(r"<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[\w.+-]{1,64}@[^\s<>]*)>")
_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9:-]*)(?:[\s/](?:[^<>]|(?<=\{\{)<[^<>{}]*>(?=\}\}))*)?>")
_REFERENCE = re.compile(r"\[[^\[\]]*\]")
_ANGLED = re.compile(r"<[^<>\n]*>")
_BARE = re.compile(rf"(?:{_PLACEHOLDER.pattern}|[^\s()<])*(?:\([^\s()]*\)[^\s()]*)*")
_SPACE = re.compile(r"\s*")
_TITLE = re.compile(r'"(?:[^"\\]|\\.)*"|' + r"'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)")
_LAST_TITLE = re.compile(rf"(?<=[ \t])({_TITLE.pattern})[ \t]*\Z")
_AFTER_ADDRESS = ".,;:!?'\"*_~"
_ESCAPED = r"\("
_MATH_ENDS = {
    r"\(": re.compile(r"(?<!\\)\\\)"),
    r"\[": re.compile(r"(?<!\\)\\\]"),
    r"\\(": re.compile(r"\\\\\)"),
    r"\\[": re.compile(r"\\\\\]"),
}
# Brackets are escaped in prose as well: they enclose math if a sign of formulas or no long word is inside.
_FORMULA = re.compile(r"[\\^_={}<>|+]|\d\s*[*/-]\s*\d")
_HARD_BREAK = re.compile(r"(?: {2}|\\)(?P<end>\r\n|\r|\n)[ \t]*[*_]*(?=[A-Z])")
_LONG_WORD = re.compile(r"[^\W\d_]{3}")
_BRACKETS = re.compile(r"\\.|[\[\]]", re.DOTALL)
_LONGEST_MATH = 2000
_LONGEST_NOTE = 4000
_LONGEST_LABEL = 300


def normalise_label(label: str) -> str:
    """Return the normal form of a reference label, in which labels are compared."""
    return " ".join(label.casefold().split())


def paint_inline(canvas: Canvas, text: str, start: int, end: int, *, labels: Collection[str]) -> None:
    """Paint over the marks in ``text[start:end]``; `text` is `canvas.text` after the blocks were painted.

    A hard line break before a capital ends the sentence.

    `labels` are the labels that the text defines, as returned by `normalise_label`.
    """
    _Inline(canvas, text, start, end, labels).paint()
    for line_end in _HARD_BREAK.finditer(text, start, end):
        canvas.end_sentence(line_end.start("end"))


class _Inline(InlineReader):
    """Reader of the inline markup of Markdown."""

    marks, ends = _MARKS, _MATH_ENDS

    def __init__(self, canvas: Canvas, text: str, start: int, end: int, labels: Collection[str]) -> None:
        super().__init__(canvas, text, start, end)
        self.labels = labels
        self.brackets: list[tuple[int, int]] = []  # position and width of opening brackets
        # start and end of each run of marks that may open emphasis; the end moves as marks are used up
        self.runs: dict[str, list[list[int]]] = {"*": [], "_": []}
        self.struck = self.marked = -1  # where struck-out and highlighted text begins
        self.note_end = -1  # end of the last footnote in the text
        self.component_ends: dict[int, int] = {}  # ends of components, by their closing bracket
        # Offsets of runs of backticks, by their length, and of one or two dollar signs that may close math.
        # They are collected at the first mark, so that finding a closing mark takes logarithmic time.
        self.ticks: dict[int, list[int]] | None = None
        self.dollars: tuple[list[int], list[int]] | None = None
        self.tags = TagsOfProse(self.text, self.start, self.end)
        self.tag_end = -1  # end of the last tag of a template before which its line had no text

    def read_mark(self, mark: str, at: int, after: int) -> int:
        """Read the markup that may begin at a mark, and return the position at which to continue."""
        kind = mark[0]
        if kind == "\\":
            return self._backslash(mark, at, after)
        if kind == "`":
            return self._code(at, after)
        if kind == "<":
            return self._angle(at)
        if mark in ("[", "!["):
            return self._opening_bracket(mark, at, after)
        if kind == "]":
            return self._link(at)
        if kind == "$":
            return self._math(at, after)
        if kind == "&":
            return self._entity(at, after)
        if kind == "{":
            return self._braces(at, after)
        if mark == "^[":
            return self._note(at, after)
        if mark == ":":
            return self._component(at, after)
        if kind == "%":
            if (stop := self.find("%%", after)) >= 0:
                self.canvas.comment(at, stop)
                return stop
        elif kind in "*_":
            self._emphasis(kind, at, after)
        elif kind == "~":
            self._strike(at, after)
        elif kind == "=":
            self._highlight(at, after)
        elif kind == "^":
            self.canvas.fill(at, after)
        elif kind in "#@:":
            self.canvas.fill(at, after, OPAQUE)
        else:
            after = at + len(mark.rstrip(_AFTER_ADDRESS))
            self.canvas.fill(at, after, OPAQUE)
        return after

    def _backslash(self, mark: str, at: int, after: int) -> int:
        """Read a command of LaTeX or bookdown, math between escaped brackets, or an escaped character."""
        if mark[-1] in ")}" and len(mark) > len(r"\\("):  # a reference of LaTeX or bookdown
            self.canvas.fill(at, after, OPAQUE)
            return after
        if (stop := self._bracketed_math(mark, after)) >= 0:
            self.canvas.fill(at, stop, OPAQUE)
            return stop
        if len(mark) > len(_ESCAPED):  # an escaped backslash before a bracket
            after -= 1
        self.canvas.mark(at, at + 1)
        if self.start < at and after < self.end and (self.text[at - 1] + self.text[after]).isalnum():
            self.canvas.hide_word(at, after)
        return after

    def _opening_bracket(self, mark: str, at: int, after: int) -> int:
        """Read a link of Obsidian (``[[target|shown]]``), or record where a link or an image may begin."""
        link = dialects.WIKI_LINK.match(self.text, at, self.end)
        if link is None:
            self.brackets.append((at, len(mark)))
            return after
        if mark == "[" and link["shown"]:
            self.canvas.mark(at, link.start("shown"))
            self.canvas.mark(link.end("shown"), link.end())
            return link.start("shown")
        self.canvas.fill(at, link.end(), OPAQUE)
        return link.end()

    def _strike(self, at: int, after: int) -> None:
        """Read ``~~text~~``: struck-out text becomes blank."""
        if self.struck < 0:
            self.struck = at if self.text[after : after + 1].strip() else -1
        elif self.text[at - 1].strip():
            self.canvas.fill(self.struck, after)
            self.struck = -1

    def _entity(self, at: int, after: int) -> int:
        """Read an entity such as ``&amp;``; an apostrophe within a word is kept, other characters are not."""
        entity = ENTITY.match(self.text, at, self.end)
        if entity is None:
            return after
        meant = html.unescape(entity[0])
        if not self.canvas.shorten(at, entity.end(), meant):
            self.canvas.fill(at, entity.end(), BLANK if meant.isspace() else OPAQUE)
            if meant.isalpha():
                self.canvas.hide_word(at, entity.end())
        return entity.end()

    def _bracketed_math(self, mark: str, after: int) -> int:
        r"""Return the end of ``\(...\)`` or ``\\(...\\)``; -1 if the brackets are escaped ones of prose."""
        match = self.find_end(mark, after) if mark in self.ends else None
        if match is None or match.end() > after + _LONGEST_MATH:
            return -1
        inside = self.text[after : match.start()]
        return match.end() if _FORMULA.search(inside) or not _LONG_WORD.search(inside) else -1

    def _highlight(self, at: int, after: int) -> None:
        """Read ``==text==``: the marks are blank if there are two of them."""
        if self.marked < 0:
            opens = self.text[after : after + 1].strip() and (
                at == self.start or not self.text[at - 1].isalnum()
            )
            self.marked = at if opens else -1
        elif self.text[at - 1].strip():
            self.canvas.mark(self.marked, self.marked + len("=="))
            self.canvas.mark(at, after)
            self.marked = -1

    def _component(self, at: int, after: int) -> int:
        """Read a component of MDC in a sentence: ``:badge[New]{color="red"}``, ``:icon{name="a"}``."""
        component = dialects.INLINE_COMPONENT.match(self.text, at, self.end)
        if component is None:
            return after
        start, close = component.span("text")
        if start < 0:
            self.canvas.fill(at, component.end(), OPAQUE)
            return component.end()
        self.canvas.mark(at, start)
        self.brackets.append((start - 1, 1))
        self.component_ends[close] = component.end()
        return start

    def _note(self, at: int, after: int) -> int:
        """Read a footnote in the text, ``^[Its text.]``, as a sentence of its own; none is inside another."""
        if at < self.note_end or "^[" in self.failed:
            return after
        depth = 1
        for bracket in _BRACKETS.finditer(self.text, after, min(self.end, after + _LONGEST_NOTE)):
            depth += {"[": 1, "]": -1}.get(bracket[0], 0)
            if not depth:
                self.separate_footnote(at, after, bracket.start())
                self.note_end = bracket.start()
                return after
        self.failed.add("^[")
        return after

    def _code(self, at: int, after: int) -> int:
        if self.ticks is None:
            self.ticks = {}
            for match in _TICKS.finditer(self.text, at, self.end):
                self.ticks.setdefault(match.end() - match.start(), []).append(match.start())
        width = after - at
        places = self.ticks.get(width, [])
        following = bisect_left(places, after)
        if following == len(places):
            return after
        stop = places[following] + width
        self.canvas.fill(at, stop, OPAQUE)
        return stop

    def _angle(self, at: int) -> int:
        """Read a comment, an address or a tag at ``<``, and return the position at which to continue."""
        text, canvas = self.text, self.canvas
        if text.startswith("<!--", at):
            stop = self.find("-->", at + 4)
            if stop < 0:
                return at + 4
            canvas.comment(at, stop)
            return stop
        if match := _AUTOLINK.match(text, at, self.end):
            canvas.fill(at, match.end(), OPAQUE)
            return match.end()
        if text.startswith("<%", at) and (stop := self.find("%>", at + 2)) >= 0:  # ERB or EJS
            _, character = read_tag(text, at, stop - len("%>"), "<%")
            if character:
                canvas.mark(at, stop, character)
            else:
                canvas.comment(at, stop)
            return stop
        match = _TAG.match(text, at, self.end)
        if not match:
            return at + 1
        name, opens = match[1].lower(), text[at + 1] != "/"
        if opens and name in dialects.VERBATIM_TAGS | dialects.QUOTING_TAGS and not match[0].endswith("/>"):
            stop = self.find(f"</{name}", match.end())
            if stop >= 0:
                stop = max(stop, text.find(">", stop, self.end) + 1)
                canvas.fill(at, stop, OPAQUE)
                return stop
        within = name in dialects.INLINE_TAGS
        if within:
            canvas.mark(at, match.end())
        else:
            canvas.fill(at, match.end(), OPAQUE if name == "img" else BREAK)
        if opens:
            values = find_values(text, at, match.end(), within=within)
            keep_values(canvas, values, within=match.span() if within else None)
        return match.end()

    def _link(self, close: int) -> int:
        """Process a closing bracket."""
        after = close + 1
        if not self.brackets:
            return after
        at, width = self.brackets.pop()
        if close in self.component_ends:
            self.canvas.mark(close, self.component_ends[close])
            return self.component_ends[close]
        inside = at + width
        image = width == 2
        first = self.text[inside]
        if not image and first == "^":
            self.canvas.fill(at, after)
            return after
        if not image and first == "@" and close - inside < _LONGEST_LABEL:
            self.canvas.fill(at, after, OPAQUE)
            return after
        # It is a link if a target, a label in brackets or attributes follow, or if its text is a label.
        stop, title = self._target(after)
        if stop < 0 and (reference := _REFERENCE.match(self.text, after, self.end)):
            stop = reference.end()
        if (
            stop < 0
            and close - inside < _LONGEST_LABEL
            and normalise_label(self.text[inside:close]) in self.labels
        ):
            stop = after
        attributes = dialects.LINK_ATTRIBUTES.match(self.text, max(stop, after), self.end)
        if stop < 0 and (image or attributes is None):
            return after
        # its text stays in the sentence; the alternative text of an image is separated from the sentence
        character = OPAQUE if image else BLANK
        if attributes is not None:
            stop = attributes.end()
        self.canvas.mark(at, inside, character)
        self.canvas.mark(close, stop, character)
        if image:
            self.canvas.put(title[0], self.text[slice(*title)])
        elif is_text(self.text[slice(*title)], within=True):
            keep_values(self.canvas, [title], within=(close, stop))
        if attributes is not None:
            keep_values(self.canvas, find_values(self.text, *attributes.span()))
        return stop

    def _target(self, at: int) -> tuple[int, Span]:
        """Return the end of ``(target "title")``, or -1 if none is at `at`, and the span of the title."""
        text, end, words = self.text, self.end, (at, at)
        if not text.startswith("(", at):
            return -1, words
        at = match_end(_SPACE, text, at + 1, end)
        target = _ANGLED.match(text, at, end) or _BARE.match(text, at, end)
        at = match_end(_SPACE, text, target.end() if target else at, end)
        if title := _TITLE.match(text, at, end):
            words = title.start() + 1, title.end() - 1
            at = match_end(_SPACE, text, title.end(), end)
        return at + 1 if at < end and text[at] == ")" else -1, words

    def _emphasis(self, kind: str, at: int, after: int) -> None:
        """Hide pairs of marks of emphasis, by the rules of CommonMark for delimiter runs."""
        # left- and right-flanking runs of CommonMark; a "_" within a word neither opens nor closes
        before = self.text[at - 1] if at > self.start else BLANK
        follows = self.text[after] if after < self.end else BLANK
        left = not follows.isspace() and (follows.isalnum() or not before.isalnum())
        right = not before.isspace() and (before.isalnum() or not follows.isalnum())
        opens, closes = left, right
        if kind == "_":
            opens, closes = left and not before.isalnum(), right and not follows.isalnum()
        openers = self.runs[kind]
        place = at
        while closes and openers and place < after:
            opener = openers[-1]
            n = min(after - place, opener[1] - opener[0])
            self.canvas.mark(opener[1] - n, opener[1])
            self.canvas.mark(place, place + n)
            opener[1] -= n
            place += n
            if opener[0] == opener[1]:
                openers.pop()
        if opens and place < after:
            openers.append([place, after])

    def _math(self, at: int, after: int) -> int:
        """Paint over math between dollar signs, and return its end; `after` if it is not closed."""
        if self.dollars is None:
            self.dollars = [], []
            for match in _DOLLARS.finditer(self.text, at, self.end):
                if match[0][0] == "$":
                    self._note_closing(match.start(), match.end())
        width = after - at
        if width == 1 and (after == self.end or self.text[after].isspace()):
            return after
        closing = self.dollars[width - 1]
        following = bisect_left(closing, after)
        if following == len(closing):
            return after
        stop = closing[following] + width
        if self.text[stop : stop + 1].isalnum() and " " in self.text[after:stop]:
            return after  # two names with a dollar sign: "$1 and so on up to .$n"
        self.canvas.fill(at, stop, OPAQUE)
        return stop

    def _note_closing(self, at: int, after: int) -> None:
        """Record dollar signs that can close: a single one not after a space nor before a digit."""
        assert self.dollars is not None
        if after - at == 2:
            self.dollars[1].append(at)
        elif not self.text[at - 1 : at].isspace() and not self.text[after : after + 1].isdigit():
            self.dollars[0].append(at)

    def _braces(self, at: int, after: int) -> int:
        """Read what may begin at ``{``, and return the position at which to continue."""
        if self.text.startswith("{/*", at):  # a comment of JSX, as Docusaurus reads it in any Markdown
            stop = self.find(r"\*/\}", after)
            if stop >= 0:
                self.canvas.comment(at, stop)
                return stop
        if tag := dialects.CODE_TAG.match(self.text, at, self.end):
            stop = self.find(dialects.code_tag_end(tag), tag.end())
            if stop >= 0:
                self.canvas.fill(at, stop, OPAQUE)
                return stop
        if match := _PLACEHOLDER.match(self.text, at, self.end):
            return self._template_tag(at, match.end())
        for pattern in (dialects.ROLE, _TYPE):
            if match := pattern.match(self.text, at, self.end):
                self.canvas.fill(at, match.end(), OPAQUE)
                keep_values(self.canvas, find_values(self.text, at + 1, match.end(), within=True))
                return match.end()
        if match := _ATTRIBUTES.match(self.text, at, self.end):
            self.canvas.fill(at, match.end())
            return match.end()
        if match := _MAPPING.match(self.text, at, self.end):
            self.canvas.fill(at, match.end(), OPAQUE)
            return match.end()
        return after

    def _template_tag(self, at: int, stop: int) -> int:
        """Read a tag of Liquid, Jinja, Handlebars or Hugo, and return its end."""
        text, canvas, before = self.text, self.canvas, at
        while before > self.start and text[before - 1] in _INVISIBLE and before != self.tag_end:
            before -= 1
        begins = before in (self.start, self.tag_end) or text[before - 1] in "\r\n"
        ends = _TAGS_AT_END.match(text, stop, self.end) is not None
        character = self.tags.character(text, at, stop, begins=begins, ends=ends)
        self.tag_end = stop if begins else -1
        if not character:
            canvas.comment(at, stop)
            return stop
        canvas.mark(at, stop, character)
        if character == OPAQUE:
            canvas.hide_word(at, stop)
        keep_values(canvas, find_values(text, at + 1, stop, within=character != BREAK))
        return stop


_FRONT = re.compile(r"(---|\+\+\+)[ \t]*(?:\r\n|\r|\n)")
_RULE = re.compile(r"([-*_])(?:[ \t]*\1){2,}[ \t]*")
_ITEM = re.compile(r"(?:[-+*]|:(?=[ \t]+\S)|(\d{1,9})[.)])(?=[ \t]|$)")
"""The mark of a list item, or of the description of a term (``: text``)."""
_BOX = re.compile(r"[ \t]+\[[ xX]\](?=[ \t])")
_GRID_BORDER = re.compile(r"[ \t]*(\+(?::?[-=]+:?\+)+)[ \t]*")
_FENCE = re.compile(r"`{3,}(?=[^`]*$)|~{3,}|:{3,}")
_TAGS_BEFORE_BLOCK = re.compile(
    r"(?:\{%[^{}%]*%\}[ \t]*){1,8}(?=(?:[-+*]|\d{1,9}[.)]|#{1,6})[ \t]|`{3}|~{3})"
)
"""Tags of a template before the mark of a list item, heading or code block."""
_HEADING = re.compile(r"#{1,6}(?=[ \t]|$)")
_UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*")
_DEFINED = re.compile(r"\[((?:[^\[\]\\]|\\.){1,300})\]:")
_ABBREVIATION = re.compile(r"\*\[[^\[\]\n]{1,80}\]:[ \t]*")
_IMPORT = re.compile(
    r"(?:import|export)[ \t]+(?:[\w${}*, \t]+[ \t]from[ \t]+)?(?:'[^'\r\n]*'|\"[^\"\r\n]*\")[ \t]*;?[ \t]*"
)
"""A line of JavaScript, which Docusaurus reads in any Markdown."""
_ALERT = re.compile(r">[ \t]*\[![A-Za-z][\w |-]{0,40}\](?!\()[-+]?[ \t]*")
_NAMES = "note|notes|tip|hint|info|important|warning|caution|danger|attention|example"
# A quotation that begins with a label, `> **Note:**`, is a remark of the author.
_REMARK = re.compile(
    rf">[ \t]*[^\w\s*]{{0,2}}\s?(?:(\*\*|__)(?:{_NAMES})[:.!]?\1|(?:{_NAMES}):)", re.IGNORECASE
)
_REMARK_CLASS = re.compile(rf"\{{:[^{{}}\n]*\.(?:{_NAMES})\b[^{{}}\n]*\}}[ \t]*")
"""A line of kramdown before a block quotation, by which a theme of Jekyll shows it as a remark."""
# What begins a block in which Markdown is not read.
_RAW = re.compile(
    r"<!--|<(pre|script|style|textarea|svg)(?=[\s/>])|\$\$|%%(?!%)|\{/\*|\\{1,2}\[(?=[ \t]*$)"
    r"|\\begin\{([A-Za-z]{1,30}\*?)\}",
    re.IGNORECASE,
)
_RAW_ENDS = {"<!--": "-->", "$$": r"\$\$", "%%": "%%", "{/*": r"\*/\}", r"\[": r"\\\]", r"\\[": r"\\\\\]"}
_LATEX_BLOCKS = _latex.MATH | _latex.CODE | _latex.TABLES | _latex.VERBATIM
_LATEX_LINE = re.compile(r"\\([A-Za-z]{2,30})\*?((?:\[[^\[\]]{0,200}\]|\{[^{}]{0,200}\}){0,4})[ \t]*")
_COMMENTS = frozenset(("<!--", "%%", "{/*"))
_PIPE = re.compile(r"\\.|\|")
_WORD = re.compile(r"[^\s>]")
_TAB = 4
_DEEPEST = 32  # maximum number of lists and quotations that one line opens


def _is_latex_line(text: str, start: int, end: int) -> bool:
    """Return True if a line is one command of LaTeX whose arguments are not prose."""
    command = _LATEX_LINE.fullmatch(text, start, end)
    return command is not None and (command[1] in _latex.UNSEEN or not _latex.TWO_WORDS.search(command[2]))


def read_markdown(text: str, suffix: str = ".md") -> Canvas:
    """Paint over the Markdown markup of `text`; in MDX, indented text is not code."""
    reader = BlockReader(text, indented_code=suffix != ".mdx")
    reader.front_matter()
    reader.read()
    canvas = reader.canvas
    for start, end in iterate_units(painted := canvas.text):
        paint_inline(canvas, painted, start, end, labels=reader.labels)
    canvas.finish()
    return canvas


def markdown_layout(text: str) -> Layout:
    """Return the cells of the tables of Pandoc with fixed columns; tables with bars may be ragged."""
    cells = dashed_cells(text)
    columns: list[int] = []
    for start, end, _ in iterate_lines(text):
        line = text[start:end]
        if border := _GRID_BORDER.fullmatch(line):
            columns = columns or [border.start(1) + i for i, mark in enumerate(border[1]) if mark == "+"]
        elif columns and line.lstrip().startswith(("|", "+")):
            spans = grid_cells(text, start, end, columns)
            cells += [TableCell(*strip_span(text, *span), span[1]) for span in spans]
        else:
            columns = []
    return Layout(text, cells)


@dataclass(frozen=True, slots=True)
class OpenBlocks:
    """Blocks that are still open after a blank line."""

    fence: str = ""  # the mark that opened the code block; empty outside code
    indents: tuple[int, ...] = ()  # indentation of the text of each open list item
    alert: bool = False
    containers: tuple[str, ...] = ()  # mark of each open directive whose body is text


class BlockReader:
    """Reader of the blocks of a text, line by line.

    `text`: a whole text, or a segment of it that begins after a blank line.
    `begun`: blocks that are open at its start.
    `indented_code`: whether text that is indented by four characters is code.
    Attribute `labels`: labels that it defines, as returned by `normalise_label`.
    Attribute `beyond` ((pattern, int) or None): a pattern that was not found in the text, and the position
    from which it was searched.
    """

    def __init__(self, text: str, begun: OpenBlocks = OpenBlocks(), *, indented_code: bool = True) -> None:
        self.text = text
        self.indented_code = indented_code
        self.canvas = Canvas(text)
        self.labels: set[str] = set()
        self.beyond: tuple[re.Pattern[str], int] | None = None
        self.fence = begun.fence
        self.fence_depth = 0  # number of quotation marks before each line of the code block
        self.indents = list(begun.indents)  # indentation of the text of each open list item
        self.paragraph = False
        self.quote = False
        self.alert = begun.alert
        self.containers = list(begun.containers)
        self.options = False  # whether the line before opened a directive, whose options may follow
        self.table = False
        self.resume = 0  # everything before this position is finished
        self.last = (0, 0)  # the previous line
        self.unclosed: set[str] = set()

    @property
    def open(self) -> OpenBlocks:
        """Blocks that are open at the end of the text, if it ends in a blank line."""
        return OpenBlocks(self.fence, tuple(self.indents), self.alert, tuple(self.containers))

    def read(self) -> None:
        """Paint over the marks of blocks."""
        for start, end, stop in iterate_lines(self.text):
            if stop > self.resume:
                begin = max(start, self.resume)
                # nothing may be left after the end of a raw block; such a line is not blank
                if begin == start or self.text[begin:end].strip():
                    self._line(begin, end)
            self.last = start, end

    def front_matter(self) -> None:
        """Paint over the front matter of a whole text and set `resume` to its end."""
        begin = 1 if self.text.startswith("\ufeff") else 0
        match = _FRONT.match(self.text, begin)
        if not match:
            return
        closing = ("---", "...") if match[1] == "---" else ("+++",)
        for number, (start, end, stop) in enumerate(iterate_lines(self.text)):
            if number and self.text[start:end].rstrip() in closing:
                paint_front_matter(self.canvas, match.end(), start, is_toml=match[1] == "+++")
                self.canvas.fill(begin, match.end())
                self.canvas.fill(start, end, BREAK)
                self.resume = stop
                return

    def _line(self, start: int, end: int) -> None:
        """Read one line: part of a fenced block, blank, or a block."""
        line = self.text[start:end]
        if self.fence:
            if (code := _strip_quotation(line, self.fence_depth)) is not None:
                closes = len(code) >= len(self.fence) and not code.strip(self.fence[0])
                self.canvas.fill(start, end, BREAK if closes else BLANK)
                if closes:
                    self.fence = ""
                return
            self.fence = ""  # it ends with the alert around it
        if not line.strip():
            self.paragraph = self.quote = self.alert = self.table = self.options = False
            return
        indent, at = _indent(line)
        if self.options:
            self.options = bool(dialects.DIRECTIVE_OPTION.match(line, at))
            if self.options:
                shown = dialects.SHOWN_OPTION.match(line, at)
                self.canvas.fill(start, start + shown.end() if shown else end, BREAK)
                self._end_line(end)
                return
        continues_alert = self.alert and line[at] == ">"
        if not continues_alert and self._is_indented_code(indent):
            self.canvas.fill(start, end)
            return
        self._block(start, start + at, end, indent)

    def _is_indented_code(self, indent: int, minimum: int = 0) -> bool:
        """Close the list items that end before a line, and return True if the line is indented code.

        `indent`: column of its text.
        `minimum`: column of the text of the alert around it.
        """
        if self.paragraph:
            return False
        self._close_items(indent)  # a line of a paragraph continues its item lazily, others close it
        code_indent = max(self.indents[-1] if self.indents else 0, minimum) + _TAB
        return self.indented_code and indent >= code_indent and not self.table

    def _close_items(self, indent: int) -> None:
        """Close the list items whose text is indented further than a line."""
        while self.indents and indent < self.indents[-1]:
            self.indents.pop()

    def _block(self, start: int, at: int, end: int, indent: int) -> None:
        """Read the line from `at` as the block that it begins or continues; the first match decides.

        `start` is the beginning of the line, `indent` its indentation in columns.
        """
        text, canvas = self.text, self.canvas
        opened = self._line_prefix(start, at, end, indent)
        if opened is None:
            return
        at, indent, depth = opened
        if match := _FENCE.match(text, at, end):
            self._leave_paragraph()
            self._open_fence(at, match, end, depth)
            if text[at] == ":":
                self._component_options(end, indent)
        elif text.startswith("::", at) and (match := dialects.COMPONENT.fullmatch(text, at, end)):
            self._leave_paragraph()
            self._keep_title(at, *match.span("title"), end)
            self._keep_attributes(at, end)
            if match["name"]:
                self._component_options(end, indent)
        elif text.startswith("///", at) and (match := dialects.BLOCK.fullmatch(text, at, end)):
            self._leave_paragraph()
            is_prose = match["name"] and match["name"] not in dialects.UNTITLED_BLOCKS
            self._keep_title(at, *(match.span("title") if is_prose else (-1, -1)), end)
        elif not self.paragraph and (
            dialects.SLOT.fullmatch(text, at, end) or dialects.TARGET.fullmatch(text, at, end)
        ):
            canvas.fill(at, end, BREAK)
        elif match := dialects.ADMONITION.fullmatch(text, at, end):
            self._leave_paragraph()
            self._keep_title(at, *match.span("title"), end)
            self._close_items(indent)
            self.indents.append(indent + _TAB)
        elif match := _HEADING.match(text, at, end):
            self._leave_paragraph()
            self._heading(at, match.end(), end)
        elif _RULE.fullmatch(text, at, end) or (self.paragraph and _UNDERLINE.fullmatch(text, at, end)):
            self._leave_paragraph()
            canvas.fill(at, end, BREAK)
        elif self._raw(at, end):
            pass
        elif not self.paragraph and text.startswith("% ", at):  # a comment of MyST
            canvas.comment(at, end, BREAK)
        elif dialects.SHORTCODES.fullmatch(text, at, end):
            self._leave_paragraph()
            canvas.fill(at, end, BREAK)
            self._keep_attributes(at, end)
        elif match := _DEFINED.match(text, at, end):
            self._definition(at, match, end)
        elif match := _ABBREVIATION.match(text, at, end):
            self._leave_paragraph()
            canvas.fill(at, match.end(), BREAK)
            self._end_line(end)
        elif (not self.paragraph and _IMPORT.fullmatch(text, at, end)) or _is_latex_line(text, at, end):
            self._leave_paragraph()
            canvas.fill(at, end, BREAK)
        elif self._table(start, at, end):
            pass
        elif self.quote:
            canvas.fill(at, end)
        else:
            self.paragraph = True

    def _line_prefix(self, start: int, at: int, end: int, indent: int) -> tuple[int, int, int] | None:
        """Read the marks of quotations and list items at the start of a line.

        Returns the position and the indentation of the text after them and the number of quotations, None if
        nothing is left to read.
        """
        depth = 0
        for _ in range(_DEEPEST):
            if self.text[at] == ">":
                if not self._quotation(at, end):
                    return None
                depth += 1
                width, skipped = _indent(self.text[at + 1 : end])
                minimum, indent, at = indent + 2, indent + 1 + max(width, 1), at + 1 + skipped
                if self.text[at] != ">" and self._is_indented_code(indent, minimum):
                    self.canvas.fill(at, end)
                    return None
            elif item := self._item(start, at, end, indent):
                indent, at = item
            elif tags := _TAGS_BEFORE_BLOCK.match(self.text, at, end):
                self._leave_paragraph()
                self.canvas.fill(at, tags.end(), BREAK)
                at = tags.end()
            else:
                break
            if at >= end:
                return None
        return at, indent, depth

    def _open_fence(self, at: int, match: re.Match[str], end: int, depth: int) -> None:
        """Open a code block, or open or close a container, whose body and title are text.

        `depth` is the number of quotation marks before it in its line.
        """
        mark, after = match[0], match.end()
        directive = dialects.DIRECTIVE.match(self.text, after, end)
        name = directive["name"].rpartition(":")[2].lower() if directive else ""
        if not self.text[after:end].strip():
            open_container = self.containers[-1] if self.containers else ""
            if open_container[:1] == mark[0] and len(mark) >= len(open_container):
                self.containers.pop()
                self.canvas.fill(at, end, BREAK)
                return
        if self.text[after:end].strip() == dialects.MDX_BLOCK:
            self.containers.append(mark)
            self.canvas.fill(at, end, BREAK)
        elif mark[0] == ":" and name not in dialects.CODE_DIRECTIVES:
            container = directive or dialects.CONTAINER.match(self.text, after, end)
            title = container.end() if container and name not in dialects.UNTITLED else end
            self._keep_title(at, title, end - (self.text[end - 1] == "]"), end)
            self._keep_attributes(after, end)
            self.options = directive is not None
        elif directive and name in dialects.PROSE_DIRECTIVES:
            self.containers.append(mark)
            self._keep_title(at, end if name in dialects.UNTITLED else directive.end(), end, end)
            self.options = True
        elif name == dialects.RST_BLOCK and (closing := self._closing_fence(mark, end)):
            from disambig.markup.restructured_text import read_rst

            self.fence, self.fence_depth = mark, depth
            self.canvas.fill(at, end, BREAK)
            inner = read_rst(self.text[end : closing.start()])
            self.canvas.put(end, inner.text)
            self.canvas.comments += [(end + start, end + stop) for start, stop in inner.comments]
            self.resume = max(self.resume, closing.start())
        else:
            self.fence, self.fence_depth = mark, depth
            caption = dialects.CHUNK_CAPTION.search(self.text, after, end)
            self._keep_title(at, *(caption.span(caption.lastgroup or 0) if caption else (-1, -1)), end)
            if self.text[after:end].lstrip().startswith("{"):
                self.resume = max(self.resume, paint_cell_options(self.canvas, end))

    def _closing_fence(self, mark: str, at: int) -> re.Match[str] | None:
        """Return the line that closes a fence without indentation; None if there is none."""
        closing = re.compile(rf"^{re.escape(mark[0])}{{{len(mark)},}}[ \t]*\r?$", re.MULTILINE)
        match = closing.search(self.text, at) if closing.pattern not in self.unclosed else None
        if match is None:
            self.unclosed.add(closing.pattern)
            self.beyond = self.beyond or (closing, at)
        return match

    def _component_options(self, end: int, indent: int) -> None:
        """Read the YAML below the line that begins a component, whose text may be indented."""
        if options := dialects.COMPONENT_OPTIONS.match(self.text, end):
            self.canvas.fill(end, options.end(), BREAK)
            paint_front_matter(self.canvas, *options.span("yaml"), is_toml=False)
            self.resume = max(self.resume, options.end())
        indented = dialects.INDENTED.match(self.text, end)
        inner = len(indented[1]) if indented else 0
        if indent < inner < indent + _TAB:
            self._close_items(indent)
            self.indents.append(inner)

    def _keep_title(self, at: int, start: int, stop: int, end: int) -> None:
        """Paint over the line ``at:end`` except for the title ``start:stop``, which is a text of its own."""
        if not 0 <= start < stop or "=" in self.text[start:stop]:
            self.canvas.fill(at, end, BREAK)
            return
        self.canvas.fill(at, start, BREAK)
        self.canvas.fill(stop, end, BREAK)
        if stop == end:
            self._end_line(end)

    def _keep_attributes(self, at: int, end: int) -> None:
        """Keep the attributes that are text in a line that was painted over."""
        keep_values(self.canvas, find_values(self.text, at, end))

    def _leave_paragraph(self) -> None:
        self.paragraph = self.quote = self.table = False

    def _quotation(self, at: int, end: int) -> bool:
        """Paint over a line of a block quotation; return True if it is an alert, whose text must be read."""
        if not self.quote and (match := _ALERT.match(self.text, at, end)):
            self._leave_paragraph()
            self.alert = True
            self.canvas.fill(at, match.end(), BREAK)
            if match.end() < end:
                self._end_line(end)
            return False
        is_remark = _REMARK.match(self.text, at, end) or _REMARK_CLASS.fullmatch(self.text, *self.last)
        if not self.quote and not self.alert and is_remark:
            self._leave_paragraph()
            self.alert = True
        if self.alert:
            self.canvas.fill(at, at + 1, BLANK if self.paragraph else BREAK)
            if not _WORD.search(self.text, at, end):
                self._leave_paragraph()
                self.canvas.fill(at, end, BREAK)
                return False
            return True
        self._leave_paragraph()
        self.canvas.leave_out(at, end)
        self.quote = bool(_WORD.search(self.text, at, end))
        return False

    def _item(self, start: int, at: int, end: int, indent: int) -> tuple[int, int] | None:
        """Paint over the mark of a list item; return the indentation and the position of its text."""
        match = _ITEM.match(self.text, at, end)
        if not match or _RULE.fullmatch(self.text, at, end):
            return None
        text_at = _skip_space(self.text, match.end(), end)
        inside = not self.indents or indent >= self.indents[-1]
        if self.paragraph and inside and (text_at >= end or match[1] not in (None, "1")):
            return None  # a line of a paragraph that happens to begin with a number
        self._close_items(indent)
        self._leave_paragraph()
        self.canvas.fill(at, match.end(), BREAK)
        if box := _BOX.match(self.text, match.end(), end):
            self.canvas.fill(match.end(), box.end())
            text_at = _skip_space(self.text, box.end(), end)
        width = match.end() - at
        gap = text_at - match.end()
        inner = indent + width + (gap if 1 <= gap <= _TAB else 1)  # after a wider gap, the text is code
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
        """End a sentence at the end of this line, unless a blank line follows."""
        after = end + (2 if self.text.startswith("\r\n", end) else 1)
        while after < len(self.text) and self.text[after] in " \t":
            after += 1
        if after < len(self.text) and self.text[after] not in "\r\n":
            self.canvas.end_sentence(end)

    def _raw(self, at: int, end: int) -> bool:
        """Paint over a block that extends to its own end mark, across blank lines."""
        tag = dialects.CODE_TAG.match(self.text, at, end)
        match = tag or _RAW.match(self.text, at, end)
        if not match or (not tag and match[2] and match[2] not in _LATEX_BLOCKS):
            return False
        name = (match[0] if tag else match[1] or match[0]).lower()
        if name in self.unclosed:
            return False
        if tag:
            closing = dialects.code_tag_end(tag)
        elif match[2]:
            closing = rf"\\end\{{{re.escape(match[2])}\}}"
        else:
            closing = _RAW_ENDS.get(name, f"</{name}\\s*>")
        pattern = re.compile(closing, re.IGNORECASE)
        closing_match = pattern.search(self.text, match.end())
        if not closing_match:  # in a text that is being edited, a later segment may contain it
            self.beyond = self.beyond or (pattern, match.end())
        if not closing_match and name != "<!--":  # an open comment extends to the end of the text
            self.unclosed.add(name)
            return False
        self._leave_paragraph()
        stop = closing_match.end() if closing_match else len(self.text)
        (self.canvas.comment if name in _COMMENTS else self.canvas.fill)(at, stop, BREAK)
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
            self.labels.add(normalise_label(match[1]))
            self.canvas.fill(at, end, BREAK)
            title = _LAST_TITLE.search(self.text, match.end(), end)
            if title and is_text(title[0]):
                keep_values(self.canvas, [(title.start() + 1, title.end(1) - 1)])

    def _table(self, start: int, at: int, end: int) -> bool:
        """Paint over the bars of a table row; the line of dashes below it identifies the head."""
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
        """Paint over the bars of a row, and hide cells of one word, which has no context."""
        cell = start
        for match in [*_PIPE.finditer(self.text, start, end), None]:
            if match is None or match[0] == "|":
                bar = match.start() if match else end
                self.canvas.hide_single_word(cell, bar)
                if match is not None:
                    self.canvas.fill(match.start(), match.end(), BREAK)
                    cell = match.end()


def _indent(line: str) -> tuple[int, int]:
    """Return the column and the position of the first character that is not blank."""
    column = place = 0
    for place, character in enumerate(line):  # noqa: B007  (the place is returned)
        if character == "\t":
            column += _TAB - column % _TAB
        elif character == BREAK:  # what was painted over before it is no indentation
            column = 0
        elif character == BLANK:  # a tag of a template
            continue
        elif character.isspace() or character == "\ufeff":
            column += 1
        else:
            break
    return column, place


def _strip_quotation(line: str, depth: int) -> str | None:
    """Return a line without so many quotation marks before it; None if it has fewer."""
    for _ in range(depth):
        line = line.lstrip()
        if not line.startswith(">"):
            return None
        line = line[1:]
    return line.strip()


def _skip_space(text: str, at: int, end: int) -> int:
    while at < end and text[at].isspace():
        at += 1
    return at


_SEGMENT_END = re.compile(r"\n[ \t]*\r?\n(?=\S)")
_SegmentKey = tuple[str, OpenBlocks, bool]
"""Text of a segment, blocks open at its start, and whether it is the first segment."""


@dataclass(frozen=True, slots=True)
class _ReadSegment:
    """A segment whose blocks are painted."""

    painted: str
    comments: tuple[Span, ...]
    labels: frozenset[str]
    open: OpenBlocks
    beyond: tuple[re.Pattern[str], int] | None


@dataclass(frozen=True, slots=True)
class _PaintedSegment:
    """A completely painted segment; the offsets of its comments and words are relative to it."""

    text: str
    comments: tuple[Span, ...]
    shortened: tuple[ShortenedWord, ...]


class IncrementalMarkdown:
    """Reader for successive versions of one text; it caches the segments of the last version."""

    def __init__(self) -> None:
        self._blocks: dict[_SegmentKey, _ReadSegment] = {}
        self._painted: dict[tuple[_SegmentKey, frozenset[str]], _PaintedSegment] = {}

    def read(self, text: str) -> PlainText:
        """Return `text` with its markup painted over."""
        from disambig.markup.reading import PlainText, spoken_words  # that module imports this one

        parts = self._segments(text)
        labels = frozenset().union(*(read.labels for _, read in parts))
        painted: dict[tuple[_SegmentKey, frozenset[str]], _PaintedSegment] = {}
        texts, comments, shortened, at = [], [], [], 0
        for key, read in parts:
            whole = key, labels
            part = painted.get(whole) or self._painted.get(whole) or _paint_segment(key[0], read, labels)
            painted[whole] = part
            texts.append(part.text)
            comments += [(at + start, at + end) for start, end in part.comments]
            shortened += [word.moved(at) for word in part.shortened]
            at += len(part.text)
        self._painted = painted
        plain = spoken_words("".join(texts), text)
        return PlainText(plain, tuple(comments), shortened=tuple(shortened))

    def _segments(self, text: str) -> list[tuple[_SegmentKey, _ReadSegment]]:
        """Return the segments of a text, read or from the cache; a segment ends where no block is open."""
        cuts = [match.end() for match in _SEGMENT_END.finditer(text)]
        parts: list[tuple[_SegmentKey, _ReadSegment]] = []
        read_segments: dict[_SegmentKey, _ReadSegment] = {}
        start, begun, minimum = 0, OpenBlocks(), front_matter_end(text)
        while start < len(text):
            end = _next_cut(cuts, max(start + 1, minimum), len(text))
            # What a block opens may close behind a blank line. Then the segment is read again up to the first
            # blank line after that point, until nothing in it closes beyond its end.
            while True:
                key = text[start:end], begun, start == 0
                read = read_segments.get(key) or self._blocks.get(key) or _read_segment(*key)
                read_segments[key] = read
                if read.beyond is None or end == len(text):
                    break
                pattern, behind = read.beyond
                closing = pattern.search(text, start + behind)
                end = _next_cut(cuts, closing.end(), len(text)) if closing else len(text)
            parts.append((key, read))
            start, begun, minimum = end, read.open, 0
        self._blocks = read_segments
        return parts


def _next_cut(cuts: list[int], at: int, end: int) -> int:
    """Return the first of `cuts` at or after a position, or the end."""
    i = bisect_left(cuts, at)
    return cuts[i] if i < len(cuts) else end


def front_matter_end(text: str) -> int:
    """Return the end of the front matter, 0 if there is none."""
    if not text.removeprefix("\ufeff").startswith(("---", "+++")):
        return 0
    reader = BlockReader(text)
    reader.front_matter()
    return reader.resume


def _read_segment(text: str, begun: OpenBlocks, is_first: bool) -> _ReadSegment:
    reader = BlockReader(text, begun)
    if is_first:
        reader.front_matter()
    reader.read()
    comments = tuple(reader.canvas.comments)
    return _ReadSegment(reader.canvas.text, comments, frozenset(reader.labels), reader.open, reader.beyond)


def _paint_segment(text: str, read: _ReadSegment, labels: frozenset[str]) -> _PaintedSegment:
    canvas = Canvas(text)
    canvas.put(0, read.painted)
    canvas.comments += read.comments
    for start, end in iterate_units(read.painted):
        paint_inline(canvas, read.painted, start, end, labels=labels)
    canvas.finish()
    return _PaintedSegment(canvas.text, tuple(sorted(canvas.comments)), tuple(canvas.shortened))
