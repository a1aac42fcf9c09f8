r"""Read manual pages: roff with the macros of ``man`` and ``mdoc``.

Text lines are prose, and so are headings and the description after ``\-`` or ``.Nd`` in the section NAME.
The section SYNOPSIS, displays without filling (``.nf``, ``.EX``, ``.Bd -literal``), tables, lines that begin
with a blank, the tags of lists, definitions of macros and conditional blocks are left out. Up to three words
in another font (``.B``, ``.IR``, ``\fIfile\fR``), and the arguments of the inline macros of mdoc, are names,
options or placeholders, and become `OPAQUE`; more words are prose. Characters written as an escape become
that character, or `OPAQUE` within a word unless they are an apostrophe.

No macro is expanded; the arguments of a macro that the page defines become `OPAQUE`. No included file is
read. The running time is linear in the length of the text.
"""

from __future__ import annotations

import re

from disambig.markup.canvas import BREAK, OPAQUE, Canvas, iterate_lines

_ROFF = re.compile(r"\ufeff?(?:[ \t]*\r?\n)*[.'][ \t]*(?:\\\"|\\#|[A-Za-z]{1,2}(?![\w.]))")
_CONTROL = re.compile(r"[.'][ \t]*(\\\"|\\#|\\\}|[A-Za-z0-9%]{1,20}|)")
_COMMENT = re.compile(r"\\[\"#]")
# Escapes of groff(7): fonts; characters of two letters or with a name; strings, registers and colours; sizes;
# motions and drawings, whose argument is in quotes; and any other character.
_ESCAPE = re.compile(
    r"\\(?:"
    r"(?P<font>f(?:\[[^\]\s]{0,20}\]|\([^\s]{2}|[^\s\[(]))"
    r"|\((?P<two>[^\s]{2})|\[(?P<name>[^\]\n]{1,40})\]"
    r"|[*nFgkmMVY](?:\[[^\]\n]{0,40}\]|\([^\s]{2}|[^\s\[(])"
    r"|s(?:\[[^\]\n]{0,10}\]|'[^'\n]{0,10}'|\([+-]?\d{2}|[+-]?\([+-]?\d{2}|[+-]?\d{1,2})"
    r"|[hvwlLbDoXZABRSHCN]'[^'\n]{0,200}'"
    r"|(?P<one>[^\r\n]))"
)
_CHARACTERS = {
    **{"em": "\u2014", "en": "\u2013", "hy": "-", "bu": "\u2022", "lq": "\u201c", "rq": "\u201d"},
    **{"oq": "\u2018", "cq": "\u2019", "aq": "'", "dq": '"', "Bq": "\u201e", "sl": "/", "co": "\u00a9"},
    **{"u2014": "\u2014", "u2019": "\u2019", "u201C": "\u201c", "u201D": "\u201d", "ga": "`", "at": "@"},
}
_ONE = {"-": "-", " ": " ", "~": " ", "0": " ", "e": "\\", "'": "'", "`": "`", "t": " ", "|": "", "^": ""}
_PLAIN_FONTS = ("fR", "fP", "f1", "f[]", "f[R]", "f[P]", "f(R", "f[roman]", "f0", "f[1]")
_END_MARKS = " \t.,;:!?\"'"
_WORDS = re.compile(r"\S+")
_ARGUMENT = re.compile(r"[ \t]*(?:\"([^\"\n]*)\"?|([^\s\"][^\s]*))")
_FEW = 3
"""Maximum number of words in another font that are a name and not prose."""

_FONTS = frozenset("B I BR BI IR IB RB RI SM SB R CW C".split())
_PARAGRAPHS = frozenset(
    "PP P LP HP RS RE TQ sp br Pp Lp El Ed in ti ce bp fi EE UE ME Bl YS SY OP sp".split()
)
_REQUESTS = frozenset(
    "als aln rnn blm box boxa break brp char chop class color composite continue defcolor device do fam"
    " fcolor gcolor fchar fschar fzoom hcode hla hlm hpf hpfa hym hys itc kern length linetabs mso msoquiet"
    " open opena pev pnr psbb pso ptr pvs rchar return rj shc shift sizes special substring tag tkf trf"
    " trin trnt unformat vpt warn write INDENT UNINDENT PDFPIC PSPIC".split()
)
"""Requests of more than two letters that print nothing. Other names of this length are macros of the page."""
_SHORT = 2
_HEADINGS = frozenset("SH SS Sh Ss".split())
_BLOCKS = {
    **{"nf": ("fi",), "EX": ("EE",), "TS": ("TE",), "EQ": ("EN",), "PS": ("PE",), "SY": ("YS",)},
    **{"de": (".",), "de1": (".",), "am": (".",), "ig": (".",), "Rs": ("Re",), "Vb": ("Ve",), "DS": ("DE",)},
    **{"Sy_": (), "CS": ("CE",), "cS": ("cE",)},
}
"""Macros that begin a block without prose, with those that end it."""
_LITERAL_DISPLAY = re.compile(r"-(?:literal|unfilled)\b")
_MDOC_TEXT = frozenset("Em Sy No Tn Bf Ef".split())
_MDOC = frozenset(
    "Ac Ad An Ao Ap Aq Ar At Bc Bo Bq Brc Bro Brq Bsx Bt Bx Cd Cm Dc Do Dq Dv Dx Ec Eo Er Es Ev Ex Fa Fc"
    " Fd Fl Fn Fo Fr Ft Fx Hf Ic In Lb Li Lk Ms Mt Nm Ns Nx Oc Oo Op Ot Ox Pa Pc Pf Po Pq Qc Ql Qo Qq Rv"
    " Sc Sm So Sq Sx Ta Ud Us Ux Va Vt Xc Xo Xr".split()
)


def is_roff(text: str) -> bool:
    """Return True if a text begins like a manual page: with a macro or a comment."""
    return _ROFF.match(text) is not None


def read_man(text: str, suffix: str = ".man") -> Canvas:
    """Paint over the markup of a manual page."""
    reader = _Reader(text)
    reader.read()
    return reader.canvas


class _Reader:
    """Reader of a page, line by line."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.canvas = Canvas(text)
        self.until: tuple[str, ...] = ()  # macros that end the current block without prose
        self.depth = 0  # number of open conditional blocks
        self.section = ""
        self.tag = False  # whether the next line is the tag of a list item
        self.font = -1  # where text in another font begins

    def read(self) -> None:
        """Paint over the markup of all lines."""
        for start, end, _ in iterate_lines(self.text):
            if start == 0 and self.text.startswith("\ufeff"):
                start = 1
            if start < end:
                self._line(start, end)
            else:
                self.font = -1
        self.canvas.finish()

    def _line(self, start: int, end: int) -> None:
        """Read one line: a comment, part of a display, a macro or text."""
        text, canvas = self.text, self.canvas
        control = _CONTROL.match(text, start, end)
        if control and control[1] in ('\\"', "\\#"):
            canvas.comment(start, end)
            canvas.comments[-1] = control.end(), end
            return
        if self.until:
            self._leave_out(start, end)
            if control and (control[1] in self.until or (self.until == (".",) and text[start:end] == "..")):
                self.until = ()
            return
        if self.depth or (control and control[1] in ("if", "ie", "el", "while", "\\}")):
            self.depth = max(0, self.depth + text.count("\\{", start, end) - text.count("\\}", start, end))
            self._leave_out(start, end)
        elif control:
            self._macro(control[1], start, control.end(), end)
        elif self.section == "synopsis" or text[start].isspace():
            self._leave_out(start, end)
        elif self.tag:
            self.tag = False
            self._leave_out(start, end)
            canvas.end_sentence(end)
        else:
            self._name_section(start, end)

    def _leave_out(self, start: int, end: int) -> None:
        self.canvas.leave_out(start, end)
        self.font = -1

    def _macro(self, name: str, start: int, after: int, end: int) -> None:
        """Read a line with a macro; its arguments are ``text[after:end]``."""
        text, canvas = self.text, self.canvas
        if name in _HEADINGS:
            self._heading(name, start, after, end)
        elif name in _BLOCKS or (name == "Bd" and _LITERAL_DISPLAY.search(text, after, end)):
            self._leave_out(start, end)
            self.until = _BLOCKS.get(name, ("Ed",))
        elif name == "TP":
            self._leave_out(start, end)
            self.tag = True
        elif name == "It":
            self._leave_out(start, end)
            if text[after:end].rstrip().endswith((" Xo", " Oo")):
                self.until = ("Xc", "Oc")
        elif name == "Nd":
            canvas.fill(start, after, BREAK)
            self._prose(after, end)
        elif self.section == "synopsis" or name in _PARAGRAPHS or name in ("IP", "Bd", "Dl", "D1"):
            self._leave_out(start, end)
        elif self.tag:
            self.tag = False
            self._leave_out(start, end)
            canvas.end_sentence(end)
        elif name in _FONTS or name in _MDOC_TEXT:
            canvas.fill(start, after)
            self._in_font(after, end, few=name in ("B", "I", "R", "SM", "SB", *_MDOC_TEXT))
        elif name in _MDOC or name in ("UR", "MT", "URL", "MR"):
            canvas.fill(start, after)
            self._in_font(after, end, few=False, names=name not in ("Pc", "Ac", "Bc", "Dc", "Qc", "Oc", "Xc"))
        elif name == "nop":
            canvas.fill(start, after)
            self._prose(after, end)
        else:
            canvas.fill(start, end)
            if len(name) > _SHORT and name not in _REQUESTS and text[after:end].strip():
                canvas.fill(after, after + 1, OPAQUE)  # a macro of the page, which prints its arguments

    def _heading(self, name: str, start: int, after: int, end: int) -> None:
        heading = self.text[after:end].replace('"', " ").strip().lower()
        if name in ("SH", "Sh"):
            self.section = heading
        self.tag = False
        self.canvas.fill(start, after, BREAK)
        self._quotes(after, end)
        self._prose(after, end)
        self.canvas.end_sentence(end)

    def _quotes(self, start: int, end: int) -> None:
        """Paint over the quotes around arguments."""
        for match in _ARGUMENT.finditer(self.text, start, end):
            if match[1] is not None:
                opening = self.text.index('"', match.start())
                self.canvas.fill(opening, opening + 1)
                if match.end() > opening + 1 and self.text[match.end() - 1] == '"':
                    self.canvas.fill(match.end() - 1, match.end())

    def _in_font(self, start: int, end: int, *, few: bool, names: bool = True) -> None:
        """Read the arguments of a macro that sets them in another font.

        `few`: whether many words are prose.
        `names`: whether the macro stands for something even without arguments.
        """
        text = self.text
        if comment := _COMMENT.search(text, start, end):
            self._comment(comment.start(), end)
            end = comment.start()
        while start < end and text[start].isspace():
            start += 1
        last = start + len(text[start:end].rstrip(_END_MARKS))
        n_words = len(_WORDS.findall(text[start:last]))
        self.font = -1
        if few and n_words > _FEW:
            self._quotes(start, end)
            self._prose(start, end)
            return
        if start >= last:
            if names and start > 0:
                self.canvas.fill(start - 1, start, OPAQUE)
        else:
            self.canvas.fill(start, last, OPAQUE)
        for at in range(last, end):
            if text[at] in " \t\"'":
                self.canvas.fill(at, at + 1)

    def _comment(self, start: int, end: int) -> None:
        self.canvas.comment(start, end)
        self.canvas.comments[-1] = start + 2, end

    def _name_section(self, start: int, end: int) -> None:
        """Read a text line; in the section NAME, what is before the dash is a name."""
        if self.section == "name":
            dash = re.compile(r"\\?-(?=[ \t]|$)|\\\(em|\\\[em\]").search(self.text, start, end)
            if dash:
                self._leave_out(start, dash.end())
                start = dash.end()
        self._prose(start, end)

    def _prose(self, start: int, end: int) -> None:
        """Paint over the escapes in a piece of prose."""
        at = start
        while match := _ESCAPE.search(self.text, at, end):
            at = match.end()
            if match["one"] in ('"', "#"):
                self._comment(match.start(), end)
                break
            if match["font"]:
                self._font(match)
            else:
                self._character(match, start, end)

    def _font(self, match: re.Match[str]) -> None:
        at, after = match.span()
        if self.font >= 0:
            inner = self.text[self.font : at]
            if inner and len(_WORDS.findall(inner)) <= _FEW and "\n\n" not in inner:
                self.canvas.fill(self.font, at, OPAQUE)
                self.canvas.hide_word(self.font, at)
            self.font = -1
        self.canvas.mark(at, after)
        if match["font"] not in _PLAIN_FONTS:
            self.font = after

    def _character(self, match: re.Match[str], start: int, end: int) -> None:
        """Replace an escape by its character, or hide the word of which it is a part."""
        canvas, text = self.canvas, self.text
        at, after = match.span()
        name = match["two"] or match["name"]
        meant = _CHARACTERS.get(name, OPAQUE) if name else _ONE.get(match["one"] or "", "")
        inside = at > start and after < end and text[at - 1].isalnum() and text[after].isalnum()
        canvas.fill(at, after)
        if inside and canvas.shorten(at, after, meant):
            return
        if meant == OPAQUE or (inside and not meant.isspace()):
            canvas.fill(at, after, OPAQUE)
            canvas.hide_word(at, after)
        elif meant:
            canvas.put(at, meant)
