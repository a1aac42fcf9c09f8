r"""Read LaTeX: only text that is typeset as prose remains.

Text between commands is kept, as is the text in ``\emph{...}``, ``\section{...}``, ``\footnote{...}``, in
captions and titles in options, and in the arguments of unknown commands, separated by `OPAQUE`. Everything
before ``\begin{document}`` except titles, everything after its end, comments, ``\label`` and ``\usepackage``
become blank. Mathematics, code, references, citations, ``\enquote``, ``{\tt ...}``, arguments of unknown
commands that look like code, and words with an accent written as a command become `OPAQUE`. Quotation
environments are left out; quotes written as two marks become curly quotes, which the protected layer
recognises. Nothing is expanded: macros that the text defines are unknown commands, but for environments of
code, marks of short code, and names that end like those of titles (``\mysection``). The running time is
linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from disambig.markup.canvas import BLANK, BREAK, OPAQUE, Canvas, Span, brace_pairs, match_end, names

VERBATIM = names(
    "verbatim verbatim* Verbatim BVerbatim LVerbatim SaveVerbatim spverbatim alltt lstlisting minted comment"
    " filecontents filecontents* pycode pyconsole luacode code Highlighting"
)
"""Environments in which only the end of the environment is a command."""
_VERBATIM_NAME = re.compile(
    r"(?i:[a-z]*(?:code(?:block|box|snippet|example)?|verb|verbatim|listing|console|terminal|shell|bnf|grammar"
    r"|transcript)s?|verbatim[a-z]+|[a-z]+decl)\*?"
)
"""Names of environments that a project defines for code."""
_FLOATS = names("listing listing* codelisting")
"""Environments around code that have a caption."""
# The definition of an environment for code. `\newminted{python}` defines `pythoncode`.
_VERBATIM_DEFINITION = re.compile(
    r"\\(?:lstnewenvironment|newverbatim|DefineVerbatimEnvironment|RecustomVerbatimEnvironment|newtcblisting|newtcolorlisting"
    r"|newtcbinputlisting|newmdlisting)\*?\s{0,9}(?:\[[^\[\]]{0,200}\])?\{([A-Za-z]{1,30}\*?)\}"
    r"|\\newminted(?:\[([A-Za-z]{1,30})\])?\{([A-Za-z0-9+_-]{1,30})\}"
)
_SHORT_VERB = re.compile(
    r"\\(?:MakeShortVerb\*?|lstMakeShortInline(?:\[[^\[\]]{0,200}\])?|DefineShortVerb(?:\[[^\[\]]{0,200}\])?)"
    r"\s{0,9}(?:\{\\?([^\w\s{}])\}|\\?([^\w\s{}]))"
)
"""Makes a character the mark of code: ``|code|``."""
MATH = names(
    "equation equation* align align* aligned alignat alignat* flalign flalign* gather gather* multline"
    " multline* eqnarray eqnarray* displaymath math dmath dmath* subequations"
    " array split cases matrix pmatrix"
)
CODE = names(
    "tikzpicture pgfpicture picture algorithm algorithm* algorithmic algorithm2e axis forest prooftree"
    " thebibliography bibdiv filecontents tikzcd circuitikz pspicture asy"
)
QUOTATIONS = names("quote quotation verse displayquote displaycquote blockquote")
TABLES = names(
    "tabular tabular* tabularx tabulary longtable longtabu tabu tblr longtblr supertabular xltabular"
)
ARGUMENTS = {
    **dict.fromkeys(("tabular", "longtable", "tabu", "longtabu", "tblr", "longtblr", "supertabular"), 1),
    **dict.fromkeys(("tabular*", "tabularx", "tabulary", "xltabular", "wrapfigure", "wraptable"), 2),
    **dict.fromkeys(("minipage", "multicols", "subfigure", "subtable", "column", "spacing", "adjustbox"), 1),
    **dict.fromkeys(("textblock", "textblock*", "floatingfigure", "otherlanguage", "list", "addmargin"), 1),
}
"""Number of arguments in braces after ``\\begin{...}`` that are not text."""

TITLES = {"frame": 2, "block": 1, "alertblock": 1, "exampleblock": 1}
"""Number of arguments in braces after ``\\begin{...}`` that are titles."""
ENGLISH = names(
    "english american british canadian australian newzealand USenglish UKenglish usenglish ukenglish"
)
LANGUAGES = names(
    "german ngerman french spanish italian portuguese brazilian dutch russian polish czech danish swedish"
    " norwegian finnish latin greek turkish hungarian ukrainian japanese chinese korean arabic hebrew"
)
"""Environments whose text is in another language."""
SECTIONS = names(
    "part chapter section subsection subsubsection paragraph subparagraph title subtitle author caption"
    " captionof frametitle framesubtitle date minisec addchap addsec chaptermark sectionmark"
)
"""Commands whose last argument is text of its own, with a sentence boundary on both sides."""
TEXT = names(
    "emph textbf textit textrm textsf textsl textsc textup textmd textnormal textlf underline uline uuline"
    " text mbox hbox makebox fbox framebox centerline textsubscript textsuperscript uppercase lowercase"
    " MakeUppercase MakeLowercase MakeTextUppercase sout hl so textcolor colorbox href parbox raisebox"
    " multicolumn multirow makecell foreignlanguage resizebox scalebox only uncover onslide alert term"
)
"""Commands whose last argument is text that belongs to the surrounding sentence."""
BEFORE_TEXT = {
    **dict.fromkeys(("textcolor", "colorbox", "href", "parbox", "raisebox", "foreignlanguage"), 1),
    **dict.fromkeys(("multicolumn", "multirow", "resizebox"), 2),
    **dict.fromkeys(("scalebox", "captionof"), 1),
}
"""Number of arguments in braces before the text argument."""
SHOWN = names(
    "ref eqref autoref cref Cref crefrange Crefrange pageref nameref vref Vref subref hyperref cite citep"
    " citet citealt citealp citeauthor citeyear citeyearpar citetext Citet Citep Citeauthor parencite"
    " textcite footcite autocite Autocite Textcite Parencite fullcite footfullcite supercite smartcite cites"
    " parencites textcites autocites url nolinkurl path doi texttt code lstinline mintinline ensuremath SI si"
    " qty unit num ang numrange SIrange qtyrange ce chemfig gls Gls glspl Glspl glsentryshort ac Ac acs acl"
    " acf acp acrshort acrlong acrfull Acrfull enquote textquote blockquote blockcquote textcquote"
    " foreignquote epigraph detokenize verb file command cs pkg email today Sexpr"
)
"""Commands that produce something other than prose, or a quotation: hidden with all their arguments."""
UNSEEN = names(
    "label index nocite usepackage RequirePackage documentclass bibliography"
    " bibliographystyle printbibliography"
    " addbibresource input include includeonly includegraphics graphicspath lstinputlisting inputminted"
    " verbatiminput VerbatimInput includepdf includesvg subfile import subimport lstdefinestyle"
    " lstdefinelanguage tcbset newtcolorbox setbeamertemplate setbeamercolor setbeamerfont usetheme"
    " usecolortheme usefonttheme"
    " NewDocumentEnvironment declaretheorem makeindex printindex printglossary DeclareGraphicsExtensions"
    " lstnewenvironment newverbatim DefineVerbatimEnvironment RecustomVerbatimEnvironment newtcblisting"
    " newminted newmint newmintinline MakeShortVerb DeleteShortVerb lstMakeShortInline DefineShortVerb"
    " newenvironment renewenvironment newtheorem theoremstyle"
    " setcounter addtocounter stepcounter refstepcounter newcounter vspace"
    " hspace vskip hskip rule pagestyle thispagestyle pagenumbering markboth markright color definecolor"
    " hypersetup geometry lstset captionsetup sisetup tikzset pgfplotsset usetikzlibrary addcontentsline"
    " addtocontents setmainfont setsansfont newacronym newglossaryentry hyphenation phantom vphantom hphantom"
    " linespread fontsize selectlanguage cmidrule cline setlist enlargethispage bookmarksetup glossarystyle"
    "  tag numberwithin allowdisplaybreaks PassOptionsToPackage AtBeginDocument cellcolor rowcolor"
)
"""Commands that produce nothing, or nothing to read: blank with all their arguments."""
SILENT = names(
    "noindent indent centering raggedright raggedleft bfseries itshape mdseries rmfamily sffamily ttfamily"
    " scshape slshape upshape normalfont em bf it rm sf tt sc sl tiny scriptsize"
    " footnotesize small normalsize"
    " large Large LARGE huge Huge quad qquad enspace thinspace hfill vfill hfil dotfill hrulefill smallskip"
    " fi else iftrue medskip bigskip newline linebreak nolinebreak nopagebreak sloppy fussy protect relax"
    " leavevmode null space xspace maketitle frenchspacing nonfrenchspacing unskip ignorespaces"
    " hline toprule midrule bottomrule endhead endfirsthead endfoot endlastfoot strut"
)
"""Commands without arguments that produce nothing, or something only between words."""
PARAGRAPHS = names(
    "par item bibitem newpage clearpage cleardoublepage pagebreak appendix tableofcontents listoffigures"
    " listoftables frontmatter mainmatter backmatter tabularnewline"
)
"""Commands that end a sentence."""
ACCENTS = names("c v u H d b k r t")
"""Commands that produce a letter when followed by one letter in braces."""
LETTERS = names("ss o O l L ae AE oe OE aa AA i j dh DH th TH ng NG")


PLAIN_CODE = {
    "\\bprog": re.compile(r"[@\\]eprog(?![A-Za-z])"),
    "\\begtt": re.compile(r"\\endtt(?![A-Za-z])"),
    "\\begintt": re.compile(r"\\endtt(?![A-Za-z])"),
}
"""Commands of manuals in plain TeX that begin code, and what ends it."""
_CHUNK = re.compile(r"^<<[^\n]*>>=[ \t]*\r?$(?:\r?\n(?!@(?:[\s%]|\Z))[^\n]*)*(?:\n@[^\n]*)?", re.MULTILINE)
"""A chunk of R code in Sweave."""
_BEGIN = r"\begin{document}"
_END = r"\end{document}"
_TITLE = re.compile(r"\\(?:title|subtitle)[ \t]*(?:\[[^\[\]{}]{0,500}\])?[ \t]*\{")
"""A title, which may stand before the document begins."""
# What decides first, before the marks inside a line: comments, short code, and the start of environments.
_FIRST = re.compile(
    r"%[^\r\n]*|\\(?:iffalse(?![A-Za-z@])|begin\s{0,9}\{([A-Za-z]{1,30}\*?)\}"
    r"|(?:verb|lstinline)(?![A-Za-z])\*?|[^A-Za-z]|[A-Za-z]+)",
    re.DOTALL,
)
# `\ifthenelse` and `\iff` are no conditions; a comment and `\\` are matched so that they are skipped.
_CONDITIONS = re.compile(
    r"%[^\r\n]*|\\\\"
    r"|\\(?:(?P<begins>if(?!thenelse|f(?![A-Za-z@]))[A-Za-z@]*)|(?P<ends>fi|else))(?![A-Za-z@])"
)
_OVERLAY = re.compile(r"<[^<>\r\n{}]{0,80}>")  # slides of Beamer: \only<2->
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_SINGLE_QUOTATION = re.compile(r"(?<![\w`])`(?=\w)(?:[^`'\n]|(?<=\w)'(?=\w)){1,200}'(?!['\w])")
_MARKS = re.compile(r"\\(?:([A-Za-z@]+)\*?|[^A-Za-z@])|\$\$?|[{}~&]|``|''|`", re.DOTALL)
_ENVIRONMENT = re.compile(r"\s{0,9}\{([^{}\\\r\n]{1,40})\}")
_SPACE = re.compile(r"[ \t]*(?:\r\n|\r|\n)?[ \t]*")
_OPTION = re.compile(r"\[[^\[\]{}\r\n]*\]")
_ANY_OPTION = re.compile(r"\[(?:[^\[\]{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\]")
_CAPTION = re.compile(r"(?<![\w-])(?:caption|title|description)\s{0,9}=\s{0,9}(?=[^\s,\]])")
_OPTION_MARKS = re.compile(r"\\.|[{},\]]", re.DOTALL)
TWO_WORDS = re.compile(r"[^\W\d_]{2,}[ \t\r\n~]+[^\W\d_]{2,}")
_NOT_TITLE = re.compile(r"[=,]|\\(?!(?:[a-z]*ref|[a-z]*cite[a-z]*|emph|text[a-z]+)(?![A-Za-z]))")
_TYPEWRITER = re.compile(r"\{\s{0,9}\\(?:tt|ttfamily)(?![A-Za-z@])")
_COMMAND = r"\s{0,9}\\(?:[A-Za-z@]+|[^A-Za-z@\s])"
_NEW_NAME = re.compile(rf"\*?{_COMMAND}")
_DEFINED = re.compile(rf"{_COMMAND}[^{{}}\r\n]{{0,100}}(?=\{{)")
_LET = re.compile(rf"{_COMMAND}\s{{0,9}}=?\s{{0,9}}(?:\\(?:[A-Za-z@]+|.)|\S)")
_DEFINES = names("def gdef edef xdef")
_NAMES = names(
    "newcommand renewcommand providecommand DeclareRobustCommand NewDocumentCommand RenewDocumentCommand"
    " ProvideDocumentCommand DeclareDocumentCommand DeclarePairedDelimiter setlength addtolength newlength"
    " newif newdimen newskip newcount newtoks newsavebox newcolumntype DeclareMathOperator settowidth"
    " settoheight"
)
"""Commands whose first argument is a new name, which may stand without braces."""
_ASSIGNED = re.compile(r"\s{0,3}=\s{0,3}-?[\d.]+\s?(?:(?:true)?(?:pt|em|ex|in|cm|mm|bp|sp|pc)\b)?")
_OWN_SECTION = re.compile(r"[A-Za-z]*(?:[sS]ec|[sS]ection|[cC]hap|[cC]hapter|[tT]itle|[hH]eading)")
"""Names of commands that a project defines for its titles."""
_LEVEL = re.compile(r"\d(?=[\[{])")
_CODE_ARGUMENT = re.compile(
    r"_|[-=]>|<-|::|:=|\+\+|==|&&|\|\||[A-Za-z\d]:[A-Za-z]|\A[^\s{}]*[\d()=/.:][^\s{}]*\Z|\A[A-Z]{2,}\s+\w+\Z"
    r"|\A(?:const |unsigned )*(?:int|long|char|void|double|float|bool|size_t|[A-Z]{2,})\b[\w\s*&,]*\Z"
)
"""Matches in an argument of an unknown command that is code, a name or a label."""
# Words that show that an argument is English prose and not code.
_SMALL_WORD = re.compile(
    r"(?<!\S)(?:the|of|to|is|are|that|with|for|and|in|by|be|it|this|which|from|as|not|or)(?=[\s,.;:])"
)
_PROSE = 2
"""Number of small words from which an argument is prose."""
_LONGEST_OPTIONS = 2000
_MAX_ARGUMENTS = 9
_INTERTEXT = re.compile(r"\\(?:short)?intertext\s{0,9}\{")
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
_MAX_OPTIONS = 4


_DOCSTRIP = re.compile(r"^(?:(?P<margin>%)(?!%|<)(?=[^\r\n]*\S)|[^\r\n]+)", re.MULTILINE)
"""The margin of a line of documentation in a ``.dtx`` file, or a line of code."""


def read_latex(text: str, suffix: str = ".tex") -> Canvas:
    """Paint over the LaTeX markup of `text`."""
    canvas = Canvas(text)
    if suffix == ".rnw":
        for chunk in _CHUNK.finditer(text):
            canvas.leave_out(*chunk.span())
    elif suffix == ".dtx":
        for line in _DOCSTRIP.finditer(text):
            (canvas.fill if line["margin"] else canvas.leave_out)(*line.span())
    _paint_verbatim(canvas, canvas.text)
    _paint_short_verb(canvas, canvas.text)
    _paint_outside(canvas, canvas.text)
    _Commands(canvas, canvas.text).paint()
    canvas.finish()
    return canvas


def _paint_verbatim(canvas: Canvas, text: str) -> None:
    r"""Paint over comments, and over ``\verb`` and code, in which commands have no meaning."""
    unclosed: set[str] = set()
    defined = {name for match in _VERBATIM_DEFINITION.finditer(text) for name in _defined_names(match)}
    at = 0
    while match := _FIRST.search(text, at):
        start, at = match.span()
        if text[start] == "%":
            canvas.comment(start, at)
        elif match[0] == "\\iffalse":
            stop = _condition_end(text, at) if "iffalse" not in unclosed else -1
            if stop < 0:
                unclosed.add("iffalse")
                continue
            at = stop
            canvas.fill(start, at)
        elif match[1] and match[1] not in unclosed and (match[1] in defined or _is_verbatim(match[1])):
            end = f"\\end{{{match[1]}}}"
            stop = text.find(end, at)
            if stop < 0:
                unclosed.add(match[1])
                continue
            options = _ANY_OPTION.match(text, at, min(at + _LONGEST_OPTIONS, stop))
            at = stop + len(end)
            canvas.leave_out(start, at)
            for span in _captions(text, *options.span()) if options else ():
                canvas.keep(*span, text)
        elif (closing := PLAIN_CODE.get(match[0])) and match[0] not in unclosed:
            end_match = closing.search(text, at)
            if end_match is None:
                unclosed.add(match[0])
                continue
            at = end_match.end()
            canvas.leave_out(start, at)
        elif match[0].rstrip("*") in ("\\verb", "\\lstinline"):
            at = _paint_verb(canvas, text, start, at)
        elif match[0][1:] in _ADDRESSES:
            at = _paint_address(canvas, text, at)


def _defined_names(definition: re.Match[str]) -> tuple[str, ...]:
    r"""Return the names of the environments that ``\lstnewenvironment`` and the like define."""
    if definition[1]:
        return (definition[1],)
    name = definition[2] or f"{definition[3]}code"
    return name, f"{name}*"


def _is_verbatim(name: str) -> bool:
    return name in VERBATIM or (name not in _FLOATS and _VERBATIM_NAME.fullmatch(name) is not None)


def _captions(text: str, start: int, end: int) -> list[Span]:
    """Return the spans of the captions and titles in options: ``[caption={A title}, label=a]``."""
    spans = []
    at = start
    while match := _CAPTION.search(text, at, end):
        place = at = match.end()
        depth = 0
        for mark in _OPTION_MARKS.finditer(text, place, end):
            at = mark.end()
            depth += {"{": 1, "}": -1}.get(mark[0], 0)
            if depth < 0 or (depth == 0 and mark[0] in ",]}"):
                in_braces = text[place] == "{" and mark[0] == "}"
                spans.append((place + in_braces, mark.start()))
                break
    return spans


def _paint_short_verb(canvas: Canvas, text: str) -> None:
    """Paint over code between the marks that the text makes marks of code."""
    marks: dict[str, int] = {}
    for match in _SHORT_VERB.finditer(text):
        marks[match[1] or match[2]] = match.end()
        canvas.fill(*match.span())
    for mark, at in marks.items():
        code = rf"(?<!\\){re.escape(mark)}[^{re.escape(mark)}\r\n]{{1,{_LONGEST_VERB}}}{re.escape(mark)}"
        for match in re.compile(code).finditer(text, at):
            canvas.fill(*match.span(), OPAQUE)


def _condition_end(text: str, at: int) -> int:
    r"""Return the end of the ``\fi`` or ``\else`` of the ``\iffalse`` before `at`; -1 if none."""
    depth = 1
    while match := _CONDITIONS.search(text, at):
        at = match.end()
        if match["begins"]:
            depth += 1
        elif match["ends"] == "fi" or (match["ends"] and depth == 1):
            depth -= 1
            if depth == 0:
                return at
    return -1


def _paint_verb(canvas: Canvas, text: str, start: int, at: int) -> int:
    at = match_end(_OPTION, text, at)
    mark = text[at : at + 1]
    if not mark or mark.isspace() or mark.isalnum():
        return at
    stop = text.find("}" if mark == "{" else mark, at + 1, at + _LONGEST_VERB)
    if stop < 0 or _LINE_END.search(text, at, stop):
        return at
    canvas.fill(start, stop + 1, OPAQUE)
    return stop + 1


def _paint_address(canvas: Canvas, text: str, at: int) -> int:
    """Hide an address, in which ``%`` does not begin a comment; the braces around it are handled later."""
    if text[at : at + 1] != "{":
        return at
    stop = text.find("}", at, at + _LONGEST_VERB)
    if stop < 0 or _LINE_END.search(text, at, stop):
        return at
    canvas.fill(at + 1, stop, OPAQUE)
    return stop


def _paint_outside(canvas: Canvas, text: str) -> None:
    start = text.find(_BEGIN)
    if start >= 0:
        at, pairs = 0, brace_pairs(_BRACES.finditer(text))
        for title in _TITLE.finditer(text, 0, start):
            end = pairs.get(title.end() - 1, start) + 1
            if title.start() >= at and end <= start and "#" not in text[title.end() : end]:
                canvas.fill(at, title.start())
                at = end
        canvas.fill(at, start + len(_BEGIN))
    if (end := text.find(_END, max(start, 0))) >= 0:
        canvas.fill(end, len(text))


def _is_code(argument: str) -> bool:
    """Return True for an argument that is code, a name or a label, and not a sentence that contains some."""
    return bool(_CODE_ARGUMENT.search(argument)) and len(_SMALL_WORD.findall(argument)) < _PROSE


class _Commands:
    """Reader of commands from left to right, in a text whose comments and code are already painted over."""

    def __init__(self, canvas: Canvas, text: str) -> None:
        self.canvas, self.text = canvas, text
        self.pairs = brace_pairs(_BRACES.finditer(text))
        self.closing: dict[int, str] = {}  # replacement of each closing brace, by position
        self.code: dict[int, str] = {}  # replacement of each argument that is code, by its brace
        # for each search that failed, the position up to which it fails
        self.failed_up_to: dict[str, int] = {}
        self.unclosed: set[str] = set()
        self.tables = 0
        self.cell = 0  # start of the text of the current table cell

    def paint(self, at: int = 0, end: int | None = None) -> None:
        """Paint over all commands and their arguments in a span."""
        end = len(self.text) if end is None else end
        while match := _MARKS.search(self.text, at, end):
            at = max(self._mark(match), match.start() + 1)

    def _mark(self, match: re.Match[str]) -> int:
        """Process one mark and return the position at which to continue."""
        mark, at, after = match[0], match.start(), match.end()
        if match[1]:
            return self._command(match[1], at, after)
        if mark in _ENDS:
            return self._math(mark, at, after)
        if mark[0] == "\\":
            return self._symbol(mark[1], at, after)
        if mark == "``":
            self.canvas.put(at, f"{BLANK}\u201c")
        elif mark == "''":
            self.canvas.put(at, f"\u201d{BLANK}")
        elif mark == "`":
            quotation = _SINGLE_QUOTATION.match(self.text, at)
            if quotation is None:
                self.canvas.put(at, "\u2018")
            else:
                self.canvas.put(at, "\u201c")
                self.canvas.put(quotation.end() - 1, "\u201d")
        elif mark == "&":
            if self.tables:
                self._end_cell(at, after)
                self.canvas.fill(at, after, BREAK)
        elif mark == "{" and at in self.pairs and (at in self.code or _TYPEWRITER.match(self.text, at)):
            stop = self.pairs[at] + 1
            self.canvas.fill(at, stop, self.code.get(at, OPAQUE))
            return stop
        elif mark == "~" or at in self.closing:
            self.canvas.fill(at, after, self.closing.get(at, BLANK))
        else:
            self.canvas.mark(at, after)
        return after

    def _math(self, mark: str, at: int, after: int) -> int:
        """Paint over math, and return its end; the position after the mark if it is not closed."""
        stop = -1
        if after > self.failed_up_to.get(mark, -1):
            end = _ENDS[mark]
            place = after
            while end_match := _CLOSING[mark].search(self.text, place):
                place = end_match.end()
                if end_match[0] == end:
                    stop = place
                    break
                if end_match[0][0] in "\r\n":
                    break
            if stop < 0:
                self.failed_up_to[mark] = place if end_match else len(self.text)
        stop = stop if stop >= 0 else after
        self.canvas.fill(at, stop, OPAQUE)
        return stop

    def _end_cell(self, end: int, following: int) -> None:
        """Hide the word of a table cell that has no other; the next cell begins at `following`."""
        self.canvas.hide_single_word(self.cell, end, is_painted=True)
        self.cell = following

    def _symbol(self, symbol: str, at: int, after: int) -> int:
        """Read a command whose name is a symbol, and return the position at which to continue."""
        canvas = self.canvas
        if symbol in "'`^\"~=.":
            return self._accent(at, after)
        if symbol == "\\":
            stop = match_end(_LENGTH, self.text, after)
            if self.tables:
                self._end_cell(at, stop)
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
        r"""Hide a word that contains an accented letter: ``\'e``, ``\c{c}``."""
        opening = self.text[after : after + 1] == "{"
        stop = self.pairs.get(after, after) + 1 if opening else after + 1
        if stop - after > 4:
            stop = after
        stop = min(stop, len(self.text))
        self.canvas.hide_word(at, stop)
        return max(stop, after)

    def _command(self, name: str, at: int, after: int) -> int:
        """Read the command `name`, and return the position at which to continue."""
        canvas = self.canvas
        if name in ("begin", "end"):
            return self._environment(name, at, after)
        if name in LETTERS or (name in ACCENTS and self.text[after : after + 1] == "{"):
            return self._accent(at, after) if name in ACCENTS else self._letter(at, after)
        if name in _DEFINES or name in _NAMES or name == "let":
            pattern = _DEFINED if name in _DEFINES else _LET if name == "let" else _NEW_NAME
            after = match_end(pattern, self.text, after)
            stop = after if name == "let" else self._past_arguments(after)
            canvas.fill(at, stop)
            return stop
        if name in SHOWN or name in UNSEEN or (name == "foreignlanguage" and not self._is_english(after)):
            stop = self._past_arguments(after)
            canvas.fill(at, stop, BLANK if name in UNSEEN else OPAQUE)
            if name in UNSEEN:
                self._keep_titles(_captions(self.text, after, stop))
            return stop
        if name in PARAGRAPHS:
            canvas.fill(at, after, BREAK)
            return self._item_label(after) if name == "item" else after
        if name in SILENT:
            canvas.fill(at, after)
            return after
        is_section = name in SECTIONS or _OWN_SECTION.fullmatch(name) is not None
        if is_section:
            after = match_end(_LEVEL, self.text, after)
        character = BREAK if is_section else BLANK if name in TEXT else OPAQUE
        if character == OPAQUE and (assigned := _ASSIGNED.match(self.text, after)):
            canvas.fill(at, assigned.end())
            return assigned.end()
        is_text_command = is_section or name in TEXT
        stop = self._text_arguments(at, after, character, BEFORE_TEXT.get(name, 0), is_text_command)
        if name not in TEXT:  # such as the short title in \section[A title]{A long title}
            self._keep_titles(self._option_titles(after, stop))
        return stop

    def _is_english(self, at: int) -> bool:
        """Return True if the argument that follows names a kind of English."""
        opening = self._next_brace(self._past_options(at))
        closing = self.pairs.get(opening, opening)
        return self.text[opening + 1 : closing].strip() in ENGLISH

    def _letter(self, at: int, after: int) -> int:
        stop = after + 2 if self.text.startswith("{}", after) else after
        self.canvas.hide_word(at, stop)
        return stop

    def _item_label(self, at: int) -> int:
        r"""Paint over the brackets of ``\item[label]``; the label is a text of its own, unless it is code."""
        match = _ANY_OPTION.match(self.text, at, at + _LONGEST_OPTIONS)
        if not match:
            return at
        if _is_code(match[0][1:-1]):
            self.canvas.fill(*match.span(), BREAK)
            return match.end()
        self.canvas.fill(at, at + 1)
        self.canvas.fill(match.end() - 1, match.end(), BREAK)
        return at

    def _keep_titles(self, spans: Iterable[Span]) -> None:
        """Keep titles within what was painted over."""
        for start, end in spans:
            self.canvas.keep(start, end, self.text)
            self.paint(start, end)

    def _text_arguments(
        self, at: int, after: int, character: str, skipped: int, is_text_command: bool
    ) -> int:
        """Paint over a command up to its text argument; its closing brace gets the same replacement later."""
        stop = self._past_options(after)
        for _ in range(skipped):
            stop = self._past_brace(stop)
        opening = self._next_brace(stop)
        if not is_text_command:
            self._record_code(opening)
            if opening in self.code:
                stop = self.pairs[opening] + 1
                self.canvas.fill(at, stop, OPAQUE)
                return stop
        if opening in self.pairs:
            closing = self.pairs[opening]
            if character == BREAK:
                self._record_code(closing + 1, BREAK)  # a label after a title
            if character != BLANK:
                self.closing[closing] = character
            stop = opening + 1
            if not is_text_command and closing == opening + 1:  # a command without text, such as \foo{}
                stop = closing + 1
        if character == BLANK:
            self.canvas.mark(at, stop)
        else:
            self.canvas.fill(at, stop, character)
        return stop

    def _record_code(self, opening: int, character: str = OPAQUE) -> None:
        """Find out which of the arguments from a brace on, which follow each other directly, are code."""
        for _ in range(_MAX_ARGUMENTS):
            if opening not in self.pairs:
                break
            closing = self.pairs[opening]
            if closing - opening < _LONGEST_OPTIONS and _is_code(self.text[opening + 1 : closing]):
                self.code[opening] = character
            opening = closing + 1 if self.text.startswith("{", closing + 1) else -1

    def _environment(self, kind: str, at: int, after: int) -> int:
        r"""Skip ``\begin{NAME}`` or ``\end{NAME}``, or a whole environment without text; return its end."""
        canvas = self.canvas
        match = _ENVIRONMENT.match(self.text, after)
        if not match:
            canvas.fill(at, after, BREAK)
            return after
        name, stop = match[1], match.end()
        is_foreign = name in LANGUAGES or (name.startswith("otherlanguage") and not self._is_english(stop))
        if kind == "begin" and (name in _HIDDEN or is_foreign) and name not in self.unclosed:
            end = f"\\end{{{name}}}"
            if (end_at := self.text.find(end, stop)) >= 0:
                stop = end_at + len(end)
                if name in MATH:
                    canvas.fill(at, stop, OPAQUE)
                    self._keep_titles(self._between_formulas(match.end(), end_at))
                else:
                    canvas.leave_out(at, stop)
                return stop
            self.unclosed.add(name)
        if name in TABLES:
            if self.tables and kind == "end":
                self._end_cell(at, stop)
            self.tables = max(0, self.tables + (1 if kind == "begin" else -1))
        titles: list[Span] = []
        if kind == "begin":
            options, stop = stop, self._past_options(stop)
            titles = self._option_titles(options, stop)
            for _ in range(ARGUMENTS.get(name, 0)):
                stop = self._past_brace(stop)
            if name in TITLES:
                stop = self._title_marks(stop, TITLES[name])
        canvas.fill(at, stop, BREAK)
        self._keep_titles(titles)
        if name in TABLES:
            self.cell = stop
        return stop

    def _option_titles(self, start: int, end: int) -> list[Span]:
        r"""Return the spans of the titles in options: ``[A title of words]``, ``[title=A title]``."""
        option = _ANY_OPTION.match(self.text, start, end)
        if option is None:
            return []
        inside = start + 1, option.end() - 1
        words = self.text[slice(*inside)]
        if TWO_WORDS.search(words) and not _NOT_TITLE.search(words):
            return [inside]
        return _captions(self.text, start, end)

    def _between_formulas(self, start: int, end: int) -> list[Span]:
        r"""Return the spans of the texts between the lines of a formula: ``\intertext{...}``."""
        braces = [match.end() - 1 for match in _INTERTEXT.finditer(self.text, start, end)]
        return [(brace + 1, self.pairs[brace]) for brace in braces if self.pairs.get(brace, end) < end]

    def _title_marks(self, at: int, number: int) -> int:
        """End sentences at the braces of the first `number` arguments, which are titles.

        Return the position of the first brace: an overlay, such as ``<2->``, and options are skipped.
        """
        if overlay := _OVERLAY.match(self.text, at):
            at = self._past_options(overlay.end())
        place = at
        for _ in range(number):
            if self.text[place : place + 1] != "{" or place not in self.pairs:
                break
            closing = self.pairs[place]
            self.closing[place] = self.closing[closing] = BREAK
            place = closing + 1
        return at

    def _past_options(self, at: int) -> int:
        for _ in range(_MAX_OPTIONS):
            match = _ANY_OPTION.match(self.text, at, at + 2000)
            if not match:
                break
            at = match.end()
        return at

    def _next_brace(self, at: int) -> int:
        """Return the position of an opening brace at `at` or after white space; -1 if there is none."""
        place = match_end(_SPACE, self.text, at)
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
