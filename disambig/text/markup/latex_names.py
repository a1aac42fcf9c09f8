"""What commands and environments of LaTeX hold: names only. What is done with them: `latex`."""

from __future__ import annotations


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
