r"""Read AsciiDoc, as Asciidoctor and the older AsciiDoc understand it.

Titles, list items, terms and table cells end a sentence; cells of one word are hidden. Comments, attributes,
block macros, listings, literal and passthrough blocks, quotations, verses, and paragraphs that are indented
or have a style such as ``[source]`` are left out. Examples, sidebars, open blocks and admonitions are prose,
and so is the indented text of a term.

The alternative text of an image (the first attribute without a name, or ``alt=``) is a text of its own.

Within a paragraph: the marks of emphasis and the targets of links and cross-references become blank. A
footnote is a sentence of its own, and the words before and after it are not read as neighbours. The
alternative text of an inline image is separated from the words around it by `OPAQUE`. Code, up to three
words in single quotes (emphasis in older documents, quoted words in newer ones), passthroughs, attribute
references, character references and other macros become `OPAQUE`. Conditions and includes are not evaluated.
The running time is linear in the length of the text.
"""

from __future__ import annotations

import html
import re

from disambig.markup._attributes import find_values, keep_values
from disambig.markup.canvas import (
    BLANK,
    BREAK,
    ENTITY,
    OPAQUE,
    Canvas,
    InlineReader,
    Layout,
    Title,
    iterate_lines,
)

_TITLE = re.compile(r"(?:={1,6}|#{1,6})[ \t]+(?=\S)")
_UNDERLINE = re.compile(r"={2,}|-{2,}|~{2,}|\^{2,}|\+{2,}")
_ATTRIBUTE = re.compile(r":!?[A-Za-z0-9_][\w-]*!?:(?:[ \t]|$)")  # :name: value
_DESCRIPTION = re.compile(r":(?:page-)?description:[ \t]+")
# Attributes of the next block, such as [source,python], [[anchor]] and [NOTE].
_BLOCK_ATTRIBUTES = re.compile(r"\[(?:[\w.#%,'\"{<][^\r\n]*|\[[^\[\]\r\n]*\]|)\][ \t]*$")
_BLOCK_TITLE = re.compile(r"\.(?=[^\s.])")  # .Title of a block
# The first and the last line of a block, such as ---- for code and |=== for a table.
_DELIMITER = re.compile(
    r"(-{4,}|\.{4,}|\+{4,}|_{4,}|={4,}|\*{4,}|/{4,}|--|`{3,}[^`\r\n]*|[|,:!]={3,})[ \t]*$"
)
_BLOCK_MACRO = re.compile(r"[A-Za-z_][\w-]*::[^\s\[\]]*\[[^\r\n]*\][ \t]*$")  # image::path[text]
_IMAGE = re.compile(r"image::?[^\s\[\]]*(?=\[)")
# The first attribute of an image, if it has no name.
_ALTERNATIVE = re.compile(
    r'[ \t]*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"[ \t]*(?=,|\Z)|(?P<plain>(?!["\s]|[\w-]+[ \t]*=)[^,]+))',
    re.DOTALL,
)
# The attribute `alt` of an image.
_NAMED_ALTERNATIVE = re.compile(
    r'(?<![^,\s\[])alt[ \t]*=[ \t]*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>[^,"\s][^,"]*))', re.DOTALL
)
# Directives; `ifdef::name[text]` shows the text in its brackets.
_CONDITION = re.compile(
    r"(?:(?:ifdef|ifndef)::[^\s\[\]]*\[(?P<shown>[^\r\n]+)\]|(?:ifdef|ifndef|ifeval|endif|include|tag|end)::)"
)
_LINE_BREAK = re.compile(r"(?<=\s)\+\Z")  # a line break: text +
# The mark of an item: `**`, `-`, `..`, `1.`, `a.`, `iv)`, or `<1>` of a callout.
_ITEM = re.compile(
    r"[ \t]*(?:\*{1,5}|-{1,2}|\.{1,5}|\d{1,4}\.|[A-Za-z]\.|[ivx]{1,5}\)|<(?:\d{1,3}|\.)>)[ \t]+(?=\S)"
)
_BOX = re.compile(r"\[[ xX*]\][ \t]+")
_TERM = re.compile(r"(?:::{1,3}|;;)(?=[ \t]|$)")  # term:: description
_NAME = re.compile(r"[ \t]*[-<`'+{\[]|.*[`=<>|_]")
_LABEL = re.compile(r"(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION):[ \t]+")
_RULE = re.compile(r"(?:'{3,}|<{3,}|-[ \t]*-[ \t]*-|\*[ \t]*\*[ \t]*\*)[ \t]*$")
# The start of a cell, with its span, alignment and style: 2+^a|.
_CELL = re.compile(
    r"(?:(?<![^\s|])(?:\d+(?:\.\d+)?[+*]|\.\d+\+)?(?:[<^>](?:\.[<^>])?|\.[<^>])?[adehlmsv]?)\|"
)
_STYLE = re.compile(r"\[(?:%\w+,?)*([A-Za-z]+)")
_VERBATIM = frozenset(
    "source listing literal stem latexmath asciimath verse quote pass comment ditaa plantuml".split()
)
_WITHOUT_PROSE = "-.+_/`,"
_SIGNATURE = "-----BEGIN "


def read_asciidoc(text: str, suffix: str = ".adoc") -> Canvas:
    """Paint over the markup of an AsciiDoc document; a signature (``.asc``) has no prose."""
    canvas = Canvas(text)
    if text.startswith(_SIGNATURE):
        canvas.fill(0, len(text))
        return canvas
    _Blocks(canvas).read()
    return _Inline.finish(canvas)


def asciidoc_layout(text: str) -> Layout:
    """Return the titles with a line under them, which must be about as long as the title."""
    blocks = _Blocks(Canvas(text))
    if not text.startswith(_SIGNATURE):
        blocks.read()
    return Layout(text, titles=blocks.titles)


class _Blocks:
    """Reader of blocks, line by line."""

    def __init__(self, canvas: Canvas) -> None:
        self.text, self.canvas = canvas.original, canvas
        self.spans = [(start, end) for start, end, _ in iterate_lines(self.text)]
        self.delimiter = ""  # of the current block without prose
        self.paragraph = False
        self.header = False  # whether a line belongs to the header, directly after the title of the document
        self.hidden = False  # whether the current paragraph is left out
        self.style = ""
        self.listed = False  # whether an indented line may belong to a list item
        self.described = False  # whether the text of a term may follow, after blank lines and indented
        self.table = False
        self.joined = False  # whether an attribute goes on in the next line
        self.comment_start = -1
        self.titles: list[Title] = []  # those with a line under them

    def read(self) -> None:
        """Paint over the marks of blocks."""
        for number, (start, end) in enumerate(self.spans):
            begin = 1 if start == 0 and self.text.startswith("\ufeff") else start
            stop = begin + len(self.text[begin:end].rstrip())
            if begin < stop:
                self._line(number, begin, stop)
            elif not self.delimiter:
                self.paragraph = self.hidden = self.header = self.joined = False
                self.listed = self.described

    def _line(self, number: int, start: int, end: int) -> None:
        """Read one line outside or inside a delimited block; the first form that matches decides."""
        text, canvas = self.text, self.canvas
        line = text[start:end]
        if self.delimiter:
            self._inside(line, start, end)
        elif line.startswith("//") and not line.startswith("///"):
            canvas.comment(start, end)
        elif self.joined or (_ATTRIBUTE.match(text, start, end) and not self.paragraph):
            canvas.leave_out(start, end)
            if description := _DESCRIPTION.match(text, start, end):
                canvas.keep(description.end(), end, text)
            self.joined = line.endswith((" \\", " +"))
        elif self._is_underline(number, line):
            canvas.fill(start, end, BREAK)
            self.paragraph = False
            above, line_end = self.spans[number - 1]
            above += text.startswith("\ufeff", above)
            title_end = above + len(text[above:line_end].rstrip())
            self.titles.append(Title(above, title_end, ((start, end),), is_exact=True))
        elif match := _CONDITION.match(text, start, end):
            canvas.fill(start, end)
            if match["shown"]:
                canvas.keep(*match.span("shown"), text)
        elif match := _DELIMITER.match(text, start, end):
            self._delimited(match[1], start, end)
        elif self.header:
            canvas.leave_out(start, end)
        elif match := _TITLE.match(text, start, end):
            canvas.fill(start, match.end(), BREAK)
            canvas.end_sentence(self.spans[number][1])
            self.header = text[start] == "=" and text[start + 1 : start + 2] in " \t"
            self.paragraph = False
        elif _BLOCK_ATTRIBUTES.match(text, start, end):
            style = _STYLE.match(line)
            self.style = style[1].lower() if style else self.style
            canvas.leave_out(start, end)
            keep_values(canvas, find_values(text, start, end))
            self.paragraph = False
        elif _BLOCK_MACRO.match(text, start, end) or _RULE.match(text, start, end):
            canvas.leave_out(start, end)
            if image := _IMAGE.match(text, start, end):
                alternative = _find_alternative(text, image.end() + 1, text.rindex("]", start, end))
                canvas.keep(*alternative, text)
                keep_values(canvas, find_values(text, alternative[1], end))
            self.paragraph = False
        elif line == "+":
            canvas.fill(start, end, BREAK)
            # indented text below is literal
            self.paragraph = self.hidden = self.listed = self.described = False
        elif self.table:
            self._cells(number, start, end)
        else:
            self._text(number, start, end)

    def _text(self, number: int, start: int, end: int) -> None:
        """Read a line that is not a block delimiter: part of a paragraph, a list or a table."""
        text, canvas = self.text, self.canvas
        if self.hidden:
            canvas.fill(start, end)
            return
        if not self.paragraph and (match := _BLOCK_TITLE.match(text, start, end)):
            canvas.fill(start, match.end(), BREAK)
            canvas.end_sentence(self.spans[number][1])
            return  # the style of the block still applies below its title
        if not self.paragraph and not self.listed and self.style in _VERBATIM:
            self.hidden, self.style = True, ""
            canvas.leave_out(start, end)
            return
        if match := _ITEM.match(text, start, end):
            at = match.end()
            if box := _BOX.match(text, at, end):
                at = box.end()
            canvas.fill(start, at, BREAK)
            self.paragraph = self.listed = True
            self.described = False
        elif (not self.paragraph or self.listed) and (match := _TERM.search(text, start, end)):
            self._term(start, match, end)
        elif (
            text[start].isspace()
            and text[start] != BLANK  # a tag of a template
            and not self.paragraph
            and not self.listed
        ):
            self.hidden = True
            canvas.leave_out(start, end)
        else:
            if not self.paragraph and (match := _LABEL.match(text, start, end)):
                canvas.fill(start, match.end(), BREAK)
            self.paragraph = True
            self.described = False
        if line_break := _LINE_BREAK.search(text, start, end):
            canvas.fill(*line_break.span())
        self.style = ""

    def _term(self, start: int, match: re.Match[str], end: int) -> None:
        canvas = self.canvas
        if _NAME.match(self.text, start, match.start()):
            canvas.fill(start, match.start())
        canvas.fill(start, start + (1 if self.text[start].isspace() else 0), BREAK)
        canvas.fill(match.start(), match.end(), BREAK)
        self.paragraph = match.end() < end
        self.listed = True
        self.described = not self.paragraph

    def _is_underline(self, number: int, line: str) -> bool:
        """Return True if a line underlines the one before it, which is a title."""
        if not number or not _UNDERLINE.fullmatch(line) or self.hidden:
            return False
        start, end = self.spans[number - 1]
        above = self.text[start:end].rstrip()
        before = self.text[slice(*self.spans[number - 2])].strip() if number > 1 else ""
        if before[:1] not in ("", *"[/:."):
            return False
        is_text = any(character.isalnum() for character in above) and not above[0].isspace()
        return is_text and above[0] not in "[.:/" and abs(len(above) - len(line)) <= 2

    def _inside(self, line: str, start: int, end: int) -> None:
        """Read a line of a block without prose."""
        if self.delimiter[0] == "/" and line == self.delimiter:
            self.canvas.comments.append((self.comment_start, end))
        self.canvas.fill(start, end)
        if line == self.delimiter:
            self.canvas.fill(start, start + 1, BREAK)
            self.delimiter = ""

    def _delimited(self, mark: str, start: int, end: int) -> None:
        self.canvas.leave_out(start, end)
        self.paragraph = self.hidden = self.header = self.described = False
        style, self.style = self.style, ""
        if mark[0] in "|!:" and "=" in mark:
            self.table = not self.table if mark[0] != ":" else self.table
            if mark[0] == ":":
                self.delimiter = mark
            return
        if style in _VERBATIM or (mark[0] in _WITHOUT_PROSE and mark != "--"):
            self.delimiter = "```" if mark[0] == "`" else mark
            self.comment_start = start

    def _cells(self, number: int, start: int, end: int) -> None:
        """Paint over the bars of table cells and their specifications, and hide cells of one word."""
        cells = list(_CELL.finditer(self.text, start, end))
        for i, match in enumerate(cells):
            self.canvas.fill(match.start(), match.end(), BREAK)
            cell_end = cells[i + 1].start() if i + 1 < len(cells) else end
            self.canvas.hide_single_word(match.end(), cell_end)
        if not cells and (item := _ITEM.match(self.text, start, end)):
            self.canvas.fill(start, item.end(), BREAK)
        following = self.spans[number + 1] if number + 1 < len(self.spans) else None
        if following and self.text[following[0] : following[1]].lstrip().startswith("|"):
            self.canvas.end_sentence(self.spans[number][1])


def _find_alternative(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of the alternative text in the attributes of an image; it is empty if there is none."""
    match = _NAMED_ALTERNATIVE.search(text, start, end) or _ALTERNATIVE.match(text, start, end)
    if match is None:
        return start, start
    return match.span("quoted" if match["plain"] is None else "plain")


# Marks of inline markup: formatting, quotes, references, attributes, addresses and macros.
_MARKS = re.compile(
    r"\\|\+\+\+|\+\+|\+|``|`|\*\*|\*|__|_|##|#|\"`|'`|'(?=[^\s'])|<<|\[\[|\(\(\(|\(\((?=[^\s()])|\{[\w][\w:!-]*\}|&(?=[#\w])"
    r"|(?:https?|ftp|irc)://[^\s\[\]<>]*|(?:link|xref|mailto|anchor):[^\s\[\]]{0,500}(?=\[)"
    r"|[A-Za-z][\w-]{1,40}::?[^\s\[\]:]{0,200}(?=\[)|\[[.#%\w][^\[\]\n]{0,60}\](?=[#*_`])"
)
_ENDS = {
    "+++": re.compile(r"\+\+\+"),
    "++": re.compile(r"\+\+"),
    "+": re.compile(r"(?<=\S)\+(?!\w)"),
    "``": re.compile(r"``"),
    "`": re.compile(r"(?<=\S)`(?!\w)"),
    "**": re.compile(r"\*\*"),
    "*": re.compile(r"(?<=\S)\*(?!\w)"),
    "__": re.compile(r"__"),
    "_": re.compile(r"(?<=\S)_(?!\w)"),
    "##": re.compile(r"##"),
    "#": re.compile(r"(?<=\S)#(?!\w)"),
    "'": re.compile(r"(?<=[^\s\\])'(?!\w)"),
    '"`': re.compile(r'`"'),
    "'`": re.compile(r"`'"),
}
_TWICE = ("+++", "++", "``", "**", "__", "##")
_CODE = ("+++", "++", "+", "``", "`")
_BRACKET = re.compile(r"\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\]){0,2000})\]")
_CROSS = re.compile(r"<<([^<>,\n]{1,200})(?:,([^<>]{1,500}))?>>")
_ADDRESS_END = ".,;:!?'\"*_`)+"
_LONGEST_NAME = 100
_FEW = 3
"""Maximum number of words between single quotes, the older emphasis, that are a name and not prose."""
_SIDE = frozenset("indexterm indexterm2".split())
_FOOTNOTE = re.compile(r"footnote(?:ref)?\Z")


class _Inline(InlineReader):
    """Reader of the inline markup of AsciiDoc."""

    marks, ends = _MARKS, _ENDS

    def read_mark(self, mark: str, at: int, after: int) -> int:
        """Read the markup that may begin at a mark, and return the position at which to continue."""
        canvas, text = self.canvas, self.text
        if mark == "\\":
            canvas.mark(at, after)
            return min(after + 1, self.end)
        if mark in _ENDS:
            return self._formatted(mark, at, after)
        if mark == "<<":
            match = _CROSS.match(text, at, self.end)
            if not match:
                return after
            if match[2] is None:
                canvas.fill(at, match.end(), OPAQUE)
                return match.end()
            canvas.mark(at, match.start(2))
            canvas.mark(match.end(2), match.end())
            return match.start(2)
        if mark == "((":  # a term of the index, which is shown
            stop = text.find("))", after, min(self.end, after + 500))
            if stop >= 0:
                canvas.mark(at, after)
                canvas.mark(stop, stop + len(mark))
            return after
        if mark in ("[[", "((("):
            stop = text.find("]]" if mark == "[[" else ")))", after, min(self.end, after + 500))
            if stop >= 0:
                canvas.fill(at, stop + len(mark))
            return stop + len(mark) if stop >= 0 else after
        if mark[0] == "{":
            canvas.fill(at, after, OPAQUE)
            return after
        if mark[0] == "&":
            if match := ENTITY.match(text, at, self.end):
                if not canvas.shorten(at, match.end(), html.unescape(match[0])):
                    canvas.fill(at, match.end(), OPAQUE)
                    canvas.hide_word(at, match.end())
                return match.end()
            return after
        if mark[0] == "[":  # the role of a formatted text
            canvas.fill(at, after)
            return after
        return self._macro(mark, at, after)

    def _macro(self, mark: str, at: int, after: int) -> int:
        """Read an address or an inline macro."""
        canvas, text = self.canvas, self.text
        bracket = _BRACKET.match(text, after, self.end)
        name = mark.partition(":")[0]
        is_link = "://" in mark or name in ("link", "xref", "mailto")
        if bracket is None:
            if "://" not in mark:
                return after
            stop = at + len(mark.rstrip(_ADDRESS_END))
            canvas.fill(at, stop, OPAQUE)
            return max(stop, at + 1)
        if footnote := _FOOTNOTE.search(name):  # "word" directly before it is part of `name`: wordfootnote:[]
            self._footnote(at + footnote.start(), footnote[0], bracket)
            return bracket.end()
        if name == "image":
            start, end = _find_alternative(text, bracket.start(1), bracket.end(1))
            canvas.fill(at, start)
            canvas.put(at, OPAQUE)  # a single one, since the sound of "image" must not decide "a" or "an"
            canvas.fill(end, bracket.end(), OPAQUE if start < end else BLANK)
            _Inline(canvas, text, start, end).paint()
            return bracket.end()
        title = bracket[1].rstrip("^")
        if is_link and title.strip() and not re.match(r"[\w-]+=", title):
            canvas.mark(at, bracket.start(1))
            canvas.mark(bracket.start(1) + len(title), bracket.end())
            return bracket.start(1)
        canvas.fill(at, bracket.end(), BLANK if name in _SIDE or name == "anchor" else OPAQUE)
        return bracket.end()

    def _footnote(self, at: int, name: str, bracket: re.Match[str]) -> None:
        """Read the footnote in a bracket; a reference without text becomes blank."""
        text, (start, end) = self.text, bracket.span(1)
        if name == "footnoteref":  # [id,text]
            comma = text.find(",", start, end)
            start = comma + 1 if comma >= 0 else end
        if not text[start:end].strip():
            self.canvas.fill(at, bracket.end())
            return
        self.separate_footnote(at, start, end)
        _Inline(self.canvas, text, start, end).paint()

    def _formatted(self, mark: str, at: int, after: int) -> int:
        """Read a text between two equal marks."""
        text, canvas = self.text, self.canvas
        if after >= self.end:
            return after
        before = text[at - 1] if at > self.start else " "
        if mark not in _TWICE and (before.isalnum() or before in "_\\" or text[after].isspace()):
            return after
        match = self.find_end(mark, after)
        if match is None:
            return after
        stop = match.end()
        if mark == "'" and stop > after + _LONGEST_NAME:
            return after
        if mark == "'" and text.count(" ", after, stop) >= _FEW:
            return after
        if mark in _CODE or mark == "'":
            canvas.fill(at, stop, OPAQUE)
            if mark in _TWICE:
                canvas.hide_word(at, stop)
            return stop
        if mark in ('"`', "'`"):
            canvas.fill(at, after)
            canvas.put(at, "\u201c" if mark[0] == '"' else "\u2018")
            canvas.fill(match.start(), stop)
            canvas.put(match.start(), "\u201d" if mark[0] == '"' else "\u2019")
            return after
        canvas.mark(at, after)
        canvas.mark(match.start(), stop)
        return after
