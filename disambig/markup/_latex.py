"""Read LaTeX: only text that is set as prose remains."""

from __future__ import annotations

import re

from disambig.markup.canvas import BLANK, BREAK, OPAQUE, Canvas


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


VERBATIM = _names(
    "verbatim verbatim* Verbatim BVerbatim LVerbatim SaveVerbatim spverbatim alltt lstlisting minted comment"
    " filecontents filecontents* pycode pyconsole luacode code Highlighting"
)
"""Environments in which nothing is a command but their end."""
MATH = _names(
    "equation equation* align align* aligned alignat alignat* flalign flalign* gather gather* multline"
    " multline* eqnarray eqnarray* displaymath math dmath dmath* subequations"
    " array split cases matrix pmatrix"
)
CODE = _names(
    "tikzpicture pgfpicture picture algorithm algorithm* algorithmic algorithm2e axis forest prooftree"
    " thebibliography bibdiv filecontents tikzcd circuitikz pspicture asy"
)
QUOTATIONS = _names("quote quotation verse displayquote displaycquote blockquote")
TABLES = _names(
    "tabular tabular* tabularx tabulary longtable longtabu tabu tblr longtblr supertabular xltabular"
)
ARGUMENTS = {
    **dict.fromkeys(("tabular", "longtable", "tabu", "longtabu", "tblr", "longtblr", "supertabular"), 1),
    **dict.fromkeys(("tabular*", "tabularx", "tabulary", "xltabular", "wrapfigure", "wraptable"), 2),
    **dict.fromkeys(("minipage", "multicols", "subfigure", "subtable", "column", "spacing", "adjustbox"), 1),
    **dict.fromkeys(("textblock", "textblock*", "floatingfigure", "otherlanguage", "list", "addmargin"), 1),
}
"""How many arguments in braces behind ``\\begin{...}`` are no text."""

SECTIONS = _names(
    "part chapter section subsection subsubsection paragraph subparagraph title subtitle author caption"
    " captionof frametitle framesubtitle date minisec addchap addsec chaptermark sectionmark"
)
"""Their last argument is text of its own, with an end of sentence on both sides."""
ASIDE = _names("footnote footnotetext marginpar thanks marginnote sidenote endnote todo tablefootnote")
"""Their argument is text of its own, in the middle of a sentence."""
TEXT = _names(
    "emph textbf textit textrm textsf textsl textsc textup textmd textnormal textlf underline uline uuline"
    " text mbox hbox makebox fbox framebox centerline textsubscript textsuperscript uppercase lowercase"
    " MakeUppercase MakeLowercase MakeTextUppercase sout hl so textcolor colorbox href parbox raisebox"
    " multicolumn multirow makecell foreignlanguage resizebox scalebox only uncover onslide alert term"
)
"""Their last argument is text that belongs to its sentence."""
BEFORE_TEXT = {
    **dict.fromkeys(("textcolor", "colorbox", "href", "parbox", "raisebox", "foreignlanguage"), 1),
    **dict.fromkeys(("multicolumn", "multirow", "resizebox"), 2),
    **dict.fromkeys(("scalebox", "captionof"), 1),
}
"""How many arguments in braces before the text are none."""
SHOWN = _names(
    "ref eqref autoref cref Cref crefrange Crefrange pageref nameref vref Vref subref hyperref cite citep"
    " citet citealt citealp citeauthor citeyear citeyearpar citetext Citet Citep Citeauthor parencite"
    " textcite footcite autocite Autocite Textcite Parencite fullcite footfullcite supercite smartcite cites"
    " parencites textcites autocites url nolinkurl path doi texttt code lstinline mintinline ensuremath SI si"
    " qty unit num ang numrange SIrange qtyrange ce chemfig gls Gls glspl Glspl glsentryshort ac Ac acs acl"
    " acf acp acrshort acrlong acrfull Acrfull enquote textquote blockquote blockcquote textcquote"
    " foreignquote detokenize verb file command cs pkg email today"
)
"""What they show is no prose, or a quotation: hidden with all their arguments."""
UNSEEN = _names(
    "label index nocite usepackage RequirePackage documentclass bibliography"
    " bibliographystyle printbibliography"
    " addbibresource input include includeonly includegraphics graphicspath newcommand renewcommand"
    " providecommand DeclareMathOperator newenvironment renewenvironment newtheorem theoremstyle def let"
    " setlength addtolength setcounter addtocounter stepcounter refstepcounter newcounter newlength vspace"
    " hspace vskip hskip rule pagestyle thispagestyle pagenumbering markboth markright color definecolor"
    " hypersetup geometry lstset captionsetup sisetup tikzset pgfplotsset usetikzlibrary addcontentsline"
    " addtocontents setmainfont setsansfont newacronym newglossaryentry hyphenation phantom vphantom hphantom"
    " linespread fontsize selectlanguage cmidrule cline setlist enlargethispage bookmarksetup glossarystyle"
    "  tag numberwithin allowdisplaybreaks PassOptionsToPackage AtBeginDocument cellcolor rowcolor"
)
"""They show nothing, or nothing to read: blank with all their arguments."""
SILENT = _names(
    "noindent indent centering raggedright raggedleft bfseries itshape mdseries rmfamily sffamily ttfamily"
    " scshape slshape upshape normalfont em bf it rm sf tt sc sl tiny scriptsize"
    " footnotesize small normalsize"
    " large Large LARGE huge Huge quad qquad enspace thinspace hfill vfill hfil dotfill hrulefill smallskip"
    " medskip bigskip newline linebreak nolinebreak nopagebreak sloppy fussy protect relax leavevmode null"
    "  space xspace maketitle frenchspacing nonfrenchspacing unskip ignorespaces"
    " hline toprule midrule bottomrule endhead endfirsthead endfoot endlastfoot strut"
)
"""They take no argument and are not seen, or are seen between words only."""
PARAGRAPHS = _names(
    "par item bibitem newpage clearpage cleardoublepage pagebreak appendix tableofcontents listoffigures"
    " listoftables frontmatter mainmatter backmatter tabularnewline"
)
"""A sentence ends where they stand."""
ACCENTS = _names("c v u H d b k r t")
"""With one letter in braces they are a letter."""
LETTERS = _names("ss o O l L ae AE oe OE aa AA i j dh DH th TH ng NG")


_BEGIN = r"\begin{document}"
_END = r"\end{document}"
_FIRST = re.compile(
    r"%[^\r\n]*|\\(?:begin\s{0,9}\{([A-Za-z]{1,30}\*?)\}|(?:verb|lstinline)(?![A-Za-z])\*?|[^A-Za-z]|[A-Za-z]+)",
    re.DOTALL,
)
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_MARKS = re.compile(r"\\(?:([A-Za-z@]+)\*?|[^A-Za-z@])|\$\$?|[{}~&]|``|''|`", re.DOTALL)
_ENVIRONMENT = re.compile(r"\s{0,9}\{([^{}\\\r\n]{1,40})\}")
_SPACE = re.compile(r"[ \t]*(?:\r\n|\r|\n)?[ \t]*")
_OPTION = re.compile(r"\[[^\[\]{}\r\n]*\]")
_ANY_OPTION = re.compile(r"\[(?:[^\[\]{}]|\{[^{}]*\})*\]")
_LENGTH = re.compile(r"\*?(?:\[[^\[\]\r\n]{0,20}\])?")
_CLOSING = {
    "$": re.compile(r"\\.|\$|(?:\r\n|\r(?!\n)|\n)[ \t]*(?=[\r\n])", re.DOTALL),
    "$$": re.compile(r"\\.|\$\$|(?:\r\n|\r(?!\n)|\n)[ \t]*(?=[\r\n])", re.DOTALL),
    r"\(": re.compile(r"\\\)|\\.|(?:\r\n|\r(?!\n)|\n)[ \t]*(?=[\r\n])", re.DOTALL),
    r"\[": re.compile(r"\\\]|\\.|(?:\r\n|\r(?!\n)|\n)[ \t]*(?=[\r\n])", re.DOTALL),
}
_ENDS = {"$": "$", "$$": "$$", r"\(": r"\)", r"\[": r"\]"}
_HIDDEN = MATH | CODE | QUOTATIONS
_ADDRESSES = frozenset(("url", "href", "path", "nolinkurl"))
_LINE_END = re.compile("[\r\n]")
_LONGEST_VERB = 2000
_MOST_OPTIONS = 4


def read_latex(text: str) -> Canvas:
    """Return `text` with the markup of LaTeX painted over."""
    canvas = Canvas(text)
    _paint_verbatim(canvas, text)
    _paint_outside(canvas, canvas.text)
    _Commands(canvas, canvas.text).paint()
    canvas.finish()
    return canvas


def _paint_verbatim(canvas: Canvas, text: str) -> None:
    r"""Paint over comments, and where a command is none: ``\verb`` and code."""
    unclosed: set[str] = set()
    at = 0
    while match := _FIRST.search(text, at):
        start, at = match.span()
        if text[start] == "%":
            canvas.comment(start, at)
        elif match[1] in VERBATIM and match[1] not in unclosed:
            end = f"\\end{{{match[1]}}}"
            stop = text.find(end, at)
            if stop < 0:
                unclosed.add(match[1])
                continue
            at = stop + len(end)
            canvas.fill(start, at)
            canvas.fill(start, start + 1, BREAK)
        elif match[0].rstrip("*") in ("\\verb", "\\lstinline"):
            at = _paint_verb(canvas, text, start, at)
        elif match[0][1:] in _ADDRESSES:
            at = _paint_address(canvas, text, at)


def _paint_verb(canvas: Canvas, text: str, start: int, at: int) -> int:
    if match := _OPTION.match(text, at):
        at = match.end()
    mark = text[at : at + 1]
    if not mark or mark.isspace() or mark.isalnum():
        return at
    stop = text.find("}" if mark == "{" else mark, at + 1, at + _LONGEST_VERB)
    if stop < 0 or _LINE_END.search(text, at, stop):
        return at
    canvas.fill(start, stop + 1, OPAQUE)
    return stop + 1


def _paint_address(canvas: Canvas, text: str, at: int) -> int:
    """Hide an address, in which ``%`` is no comment; the braces around it stay for later."""
    if text[at : at + 1] != "{":
        return at
    stop = text.find("}", at, at + _LONGEST_VERB)
    if stop < 0 or _LINE_END.search(text, at, stop):
        return at
    canvas.fill(at + 1, stop, OPAQUE)
    return stop


def _paint_outside(canvas: Canvas, text: str) -> None:
    begin = text.find(_BEGIN)
    if begin >= 0:
        canvas.fill(0, begin + len(_BEGIN))
    end = text.find(_END, max(begin, 0))
    if end >= 0:
        canvas.fill(end, len(text))


def _pairs(text: str) -> dict[int, int]:
    """Return where each brace that closes has its end, by its place."""
    found, opened = {}, []
    for match in _BRACES.finditer(text):
        if match[0] == "{":
            opened.append(match.start())
        elif match[0] == "}" and opened:
            found[opened.pop()] = match.start()
    return found


class _Commands:
    """Reads commands from left to right in a text without comments and code."""

    def __init__(self, canvas: Canvas, text: str) -> None:
        self.canvas, self.text = canvas, text
        self.pairs = _pairs(text)
        self.closing: dict[int, str] = {}  # what becomes of braces that close
        self.in_vain: dict[str, int] = {}  # up to where what is looked for is not found
        self.unclosed: set[str] = set()
        self.tables = 0

    def paint(self) -> None:
        """Paint over commands and what belongs to them."""
        at = 0
        while match := _MARKS.search(self.text, at):
            at = max(self._mark(match), match.start() + 1)

    def _mark(self, match: re.Match[str]) -> int:
        """Treat one mark and return where to read on."""
        mark, at, after = match[0], match.start(), match.end()
        if match[1]:
            return self._command(match[1], at, after)
        if mark in _ENDS:
            return self._math(mark, at, after)
        if mark[0] == "\\":
            return self._symbol(mark[1], at, after)
        if mark == "``":
            self.canvas.put(at, "\u201c ")
        elif mark == "''":
            self.canvas.put(at, "\u201d ")
        elif mark == "`":
            self.canvas.put(at, "\u2018")
        elif mark == "&":
            if self.tables:
                self.canvas.fill(at, after, BREAK)
        elif mark == "~" or at in self.closing:
            self.canvas.fill(at, after, self.closing.get(at, BLANK))
        else:
            self.canvas.mark(at, after)
        return after

    def _math(self, mark: str, at: int, after: int) -> int:
        stop = -1
        if after > self.in_vain.get(mark, -1):
            end = _ENDS[mark]
            place = after
            while found := _CLOSING[mark].search(self.text, place):
                place = found.end()
                if found[0] == end:
                    stop = place
                    break
                if found[0][0] in "\r\n":
                    break
            if stop < 0:
                self.in_vain[mark] = place if found else len(self.text)
        stop = stop if stop >= 0 else after
        self.canvas.fill(at, stop, OPAQUE)
        return stop

    def _symbol(self, symbol: str, at: int, after: int) -> int:
        canvas = self.canvas
        if symbol in "'`^\"~=.":
            return self._accent(at, after)
        if symbol == "\\":
            length = _LENGTH.match(self.text, after)
            stop = length.end() if length else after
            canvas.fill(at, stop, BREAK if self.tables else BLANK)
            return stop
        if symbol in "%&$#_{}":
            canvas.mark(at, at + 1)
            if symbol == "_":
                canvas.hide_word(at, after)
        elif symbol in "-/":
            canvas.mark(at, after)
        else:
            canvas.fill(at, after)
        return after

    def _accent(self, at: int, after: int) -> int:
        r"""Hide the word of a letter with an accent: ``\'e``, ``\c{c}``."""
        opening = self.text[after : after + 1] == "{"
        stop = self.pairs.get(after, after) + 1 if opening else after + 1
        if stop - after > 4:
            stop = after
        stop = min(stop, len(self.text))
        self.canvas.hide_word(at, stop)
        return max(stop, after)

    def _command(self, name: str, at: int, after: int) -> int:
        canvas = self.canvas
        if name in ("begin", "end"):
            return self._environment(name, at, after)
        if name in LETTERS or (name in ACCENTS and self.text[after : after + 1] == "{"):
            return self._accent(at, after) if name in ACCENTS else self._letter(at, after)
        if name in SHOWN or name in UNSEEN:
            stop = self._past_arguments(after)
            canvas.fill(at, stop, OPAQUE if name in SHOWN else BLANK)
            return stop
        if name in PARAGRAPHS:
            canvas.fill(at, after, BREAK)
            return self._item_label(after) if name == "item" else after
        if name in SILENT:
            canvas.fill(at, after)
            return after
        known = SECTIONS | TEXT
        character = BREAK if name in SECTIONS else BLANK if name in known else OPAQUE
        return self._text_arguments(at, after, character, BEFORE_TEXT.get(name, 0), name in known)

    def _letter(self, at: int, after: int) -> int:
        stop = after + 2 if self.text.startswith("{}", after) else after
        self.canvas.hide_word(at, stop)
        return stop

    def _item_label(self, at: int) -> int:
        r"""Paint over the brackets of ``\item[label]``; the label stays."""
        if match := _OPTION.match(self.text, at):
            self.canvas.fill(at, at + 1)
            self.canvas.fill(match.end() - 1, match.end(), OPAQUE)
        return at

    def _text_arguments(self, at: int, after: int, character: str, skipped: int, known: bool) -> int:
        """Paint over a command up to its text, and let its closing brace be painted alike."""
        stop = self._past_options(after)
        for _ in range(skipped):
            stop = self._past_brace(stop)
        opening = self._next_brace(stop)
        if opening in self.pairs:
            closing = self.pairs[opening]
            if character != BLANK:
                self.closing[closing] = character
            stop = opening + 1
            if not known and closing == opening + 1:  # \foo{}
                stop = closing + 1
        if character == BLANK:
            self.canvas.mark(at, stop)
        else:
            self.canvas.fill(at, stop, character)
        return stop

    def _environment(self, kind: str, at: int, after: int) -> int:
        canvas = self.canvas
        match = _ENVIRONMENT.match(self.text, after)
        if not match:
            canvas.fill(at, after, BREAK)
            return after
        name, stop = match[1], match.end()
        if kind == "begin" and name in _HIDDEN and name not in self.unclosed:
            end = f"\\end{{{name}}}"
            found = self.text.find(end, stop)
            if found >= 0:
                stop = found + len(end)
                if name in MATH:
                    canvas.fill(at, stop, OPAQUE)
                else:
                    canvas.fill(at, stop)
                    canvas.fill(at, at + 1, BREAK)
                return stop
            self.unclosed.add(name)
        if name in TABLES:
            self.tables = max(0, self.tables + (1 if kind == "begin" else -1))
        if kind == "begin":
            stop = self._past_options(stop)
            for _ in range(ARGUMENTS.get(name, 0)):
                stop = self._past_brace(stop)
        canvas.fill(at, stop, BREAK)
        return stop

    def _past_options(self, at: int) -> int:
        for _ in range(_MOST_OPTIONS):
            match = _ANY_OPTION.match(self.text, at, at + 2000)
            if not match:
                break
            at = match.end()
        return at

    def _next_brace(self, at: int) -> int:
        """Return the place of a brace that opens right here, or after white space; else -1."""
        space = _SPACE.match(self.text, at)
        place = space.end() if space else at
        return place if self.text[place : place + 1] == "{" else -1

    def _past_brace(self, at: int) -> int:
        opening = self._next_brace(at)
        return self.pairs[opening] + 1 if opening in self.pairs else at

    def _past_arguments(self, at: int) -> int:
        """Return the end of all arguments that follow: ``[...]`` and ``{...}``."""
        while True:
            stop = self._past_options(at)
            if self.text[stop : stop + 1] == "{":
                stop = self._past_brace(stop)
            if stop == at:
                return at
            at = stop
