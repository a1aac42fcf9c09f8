"""LaTeX as plain text."""

from __future__ import annotations

import re

import pytest
from processor_time import grows_linearly

from disambig.markup import plain_text, read_markup
from disambig.text import HIDDEN


def plain(text):
    """Return the plain text, legible: ``¶`` ends a sentence, ``#`` is hidden."""
    return plain_text("x.tex", text).replace("\u2029", "¶").replace("\ufffc", "#").replace(HIDDEN, " ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"a \emph{b} c", "a       b  c"),
        (r"a \textbf{b \emph{c}} d", "a         b       c   d"),
        (r"un\emph{able} to", "############ to"),
        (r"\textcolor{red}{a} \href{http://b%20c}{d}", " " * 16 + "a" + " " * 24 + "d "),
        (r"see~\cite[p.~3]{a,b} or \ref{c}.", "see ################ or #######."),
        (r"a\label{b} \index{c}d", "a                    d"),
        (r"\foo{a b} c", "#####a b# c"),
        (r"\foo{} a \foo b", "###### a #### b"),
        (r"a \enquote{b} c", "a ########### c"),
        (r"is $a_1$ or \(b\) or $$c$$", "is ##### or ##### or #####"),
        (r"costs \$5 or 10\% of R\&D", "costs  $5 or 10 % of R &D"),
        ("an $open\n\nand $x$", "an #open\n\nand ###"),
        ("a \\(b\r\nc\\) d", "a ###\r\n### d"),
        (r"snake\_case is", "########### is"),
        (r"caf\'e na\"{\i}ve \c{c}a is", "###### ########## ###### is"),
        (r"\verb|a { b| c \verb+$+ d", "############ c ######## d"),
        ("``a'' `b'", " \u201ca\u201d  \u2018b'"),
        (r"5\,km and a\-b", "5  km and ####"),
        (r"a--b {\bf c}", "a--b      c "),
        (r"\url{http://a.b/c%20d} e", "###################### e"),
        (r"a\footnote{b} c", "a##########b# c"),
        (r"a \\[2pt] b & c", "a          b & c"),
    ],
)
def test_commands(text, expected):
    assert plain(text).split() == expected.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\section{A b}c", "¶¶¶¶¶¶¶¶¶A b¶c"),
        (r"\section[x]{A}", "¶¶¶¶¶¶¶¶¶¶¶¶A¶"),
        (r"\begin{itemize}\item a\end{itemize}", "¶¶¶¶¶¶¶¶¶¶¶¶¶¶¶¶¶¶¶¶ a¶¶¶¶¶¶¶¶¶¶¶¶¶"),
        (r"\item[a] b", "¶¶¶¶¶ a¶ b"),
        (r"\item[\emph{a} b] c", "¶¶¶¶¶ a b¶ c"),
        (r"\item[a :: b] c", "¶" * 13 + " c"),
        (r"\begin{tabular}{lr}a&b c\\d e\end{tabular}", "¶" * 19 + "#¶b c¶¶d e" + "¶" * 13),
        (r"\begin{equation}a\end{equation} b", "#" * 31 + " b"),
        (r"\begin{align*}a\\&b\end{align*} b", "#" * 31 + " b"),
        (r"\begin{equation} a", "¶" * 16 + " a"),
        (r"\begin{quote}a\end{quote} b", "¶" + " " * 24 + " b"),
        ("\\begin{verbatim}\n\\item $ {\n\\end{verbatim} b", "¶" + " " * 15 + "\n" + " " * 23 + " b"),
        ("\\bprog\na {b} % c\n@eprog\\noindent d", "¶\n" + " " * 20 + "d"),
        ("\\begtt\na $\n\\endtt b \\bprog c", "¶\nb" + "#" * 6 + "c"),
        (r"\begin{frame}{A b}c\end{frame}", "¶" * 14 + "A b¶c" + "¶" * 11),
        (r"\begin{frame}<2->[t]{A}{B}c", "¶" * 21 + "A¶¶B¶c"),
        (r"\begin{block}{A}{c}", "¶" * 14 + "A¶ c "),
        (r"\begin{frame}a", "¶" * 13 + "a"),
        (r"a\iffalse b \ifx\c\d e\fi f\fi g", "a" + " " * 31 + " g"),
        (r"a \iffalse b\else c\fi d", "a " + " " * 15 + " c" + "   " + " d"),
        ("a \\iffalse b % \\fi\nc\\fi d", "a \n d"),
        (r"a \iffalse b $x \iff y$", "a " + "#" * 8 + " b " + "#" * 10),
        (r"a \foreignlanguage{german}{b c} d", "a " + "#" * 29 + " d"),
        (r"a \foreignlanguage{british}{b c} d", "a b c d"),
        (r"\begin{otherlanguage*}{ngerman}b\end{otherlanguage*} c", "¶ c"),
        (r"\begin{otherlanguage}{american}b\end{otherlanguage} c", "¶" * 31 + "b" + "¶" * 19 + " c"),
        (r"\begin{french}b\end{french} c", "¶ c"),
        (r"\begin{minipage}[t]{3cm}a\end{minipage}", "¶" * 24 + "a" + "¶" * 14),
    ],
)
def test_environments_and_sections(text, expected):
    result = plain(text)
    assert result.replace(" ", "") == expected.replace(" ", "")
    assert len(result) == len(text)


def test_only_the_document_environment_is_text():
    text = "\\author{a}\n\\begin{document}\nb\n\\end{document}\nc"
    assert plain(text).split() == ["b"]
    assert plain("a % \\begin{document}\nb").split() == ["a", "b"]


def test_titles_may_stand_before_the_document():
    head = "\\newcommand{\\x}[1]{\\title{#1 no}}\n% \\title{no}\n\\author{no}\n"
    title = "\\title[no]{Its a \\emph{good} title}\n\\subtitle\n{no}\\subtitle {It is}\n\\date{no}\n"
    words = plain(f"{head}{title}\\begin{{document}}\n\\maketitle b\n\\end{{document}}")
    assert " ".join(words.replace("¶", " ").split()) == "Its a good title It is b"
    assert re.search("title¶\n *¶+It is¶\n", words)
    assert plain("\\title{no\n\\begin{document}\nb}").split() == ["b"]


def test_a_line_with_only_a_comment_or_a_label_ends_no_sentence():
    assert "\n  " not in plain("a\n% b\nc").replace("a\n", "")
    assert plain("a\n% b\nc") == "a\n    c"
    assert plain("a\r\n\\label{x}\r\nb") == "a\r\n           b"
    assert plain("a\n\nb") == "a\n\nb"


def test_comments():
    text = "a % b\n\\verb|% c| 5\\% \\url{x%y}\n\\begin{verbatim}\n% d\n\\end{verbatim}\n% e"
    result = read_markup("x.tex", text)
    assert [text[start:end] for start, end in result.comments] == ["% b", "% e"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\\begin{lstlisting}[caption={It is \\emph{a} b}, label=no]\nno\n\\end{lstlisting}", "It is a b"),
        (r"\begin{lstlisting}[language=no,caption=It is]" + "\nno\n\\end{lstlisting}", "It is"),
        (r"\lstinputlisting[caption=It is,label=no]{no.c} b", "It is b"),
        (r"\begin{tcolorbox}[title={It is}, colback=no]b\end{tcolorbox}", "It is b"),
        (r"\begin{theorem}[It is \ref{no} so]b\end{theorem}", "It is # so b"),
        (r"\begin{figure}[no]b\end{figure}", "b"),
        (r"\begin{enumerate}[label=no, no no]b\end{enumerate}", "b"),
        (r"\begin{listing}[no]\begin{minted}{c} no \end{minted}\caption{It is}\end{listing}", "It is"),
        ("\\begin{codeblock}\nno\n\\end{codeblock}\nb", "b"),
        ("\\lstnewenvironment{foo}{no}{no}\n\\begin{foo}\nno\n\\end{foo}\nb", "b"),
        ("\\newminted{python}{no}\n\\begin{pythoncode*}{no}\nno\n\\end{pythoncode*}\nb", "b"),
        (r"\begin{decoy}b\end{decoy} \begin{codedesc}c\end{codedesc}", "b c"),
        (r"\rSec0[no]{It is} b", "It is b"),
        (r"\mysection{It is}{no:no} b", "It is b"),
        (r"\foo{NO}{no_no}{NO no, int no} b \foo{a b}{c d}", "# b #a b# c d"),
        (r"a\footnote{It is the end of \own{no_no} it.} b", "a#It is the end of # it.# b"),
        (r"\foo{(no x)->(no x)}{no = no -> no} b", "# b"),
        (r"a {\tt no no(\ldots)} b {\ttfamily no} c {\bf d}", "a # b # c d"),
        (r"\newcommand\foo[1]{no #1}\def\no#1[#2]{no}\let\no=\no\renewcommand*{\no}{no}\let\no no b", "o b"),
        (r"\parindent=0pt \baselineskip = 1.5em b \setlength\parskip{no}c", "b c"),
        ("a |b| \\MakeShortVerb{\\|}c |no| \\|d\\| e", "a |b| c # d e"),
        ("\\lstMakeShortInline[no]! a !no! b", "a # b"),
    ],
)  # fmt: skip
def test_what_is_read_around_code_and_names(text, expected):
    words = plain(text)
    assert len(words) == len(text)
    assert re.sub("#+", "#", " ".join(words.replace("¶", " ").split())) == expected


@pytest.mark.parametrize(
    "mark",
    [
        *("\\begin{lstlisting}[caption={", "\\foo{a_b}", "\\foo{", "{a}{", "[{}", "\\item[", "\\def\\a"),
        *("\\MakeShortVerb{\\|}|a", "\\begin{theorem}[a b", "caption=", "{\\tt ", "\\mysection{a}{b:c}"),
        *("\\let\\a", "\\a=", "\\bprog ", "\\begtt\\bprog "),
    ],
)  # fmt: skip
def test_unclosed_titles_and_arguments_take_linear_time(mark):
    def read(size):
        plain_text("x.tex", mark * (size // len(mark)))

    assert grows_linearly(read, 25_000)


def test_chunks_of_code_in_sweave():
    text = "A \\Sexpr{b(1)} c\n<<d, e=f>>=\ng the the\n@\nh\n<<>>=\ni\n@ % j\nk\n<<x>>=\nl"
    for line_end in ("\n", "\r\n"):
        words = read_markup("a.Rnw", text.replace("\n", line_end)).text
        assert [word for word in re.findall(r"\w+", words)] == ["A", "c", "h", "k"]


def test_table_cells_of_one_word_are_hidden():
    text = r"\begin{tabular}{ll} Id & \textbf{Name} \\ \hline a b & c \\ d & e \emph{f} \end{tabular} g & h"
    assert re.findall(r"\w+", plain(text)) == ["a", "b", "e", "f", "g", "h"]


def test_quotation_marks_stand_at_their_words():
    text = "It is an ``average'' one."
    assert read_markup("a.tex", text).text.replace("\x1f", "") == "It is an \u201caverage\u201d one."
