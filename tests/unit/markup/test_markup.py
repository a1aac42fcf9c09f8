"""Markup as plain text of the same length: LaTeX, catalogues, and the layout that corrections keep."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from commands import here
from hypothesis import given, settings, strategies as st
from offsets import read_with_offsets
from processor_time import reads_in_linear_time

from disambig.data import edited_text
from disambig.markup import BREAK, OPAQUE, has_markup, plain_text, read_layout, read_markup
from disambig.text import CODE_SIGNS, HIDDEN, Words, protected_layer

SAMPLES = Path(__file__).parents[2] / "texts"

PIECES = [
    *"aA .\n\r\t*_~`$[](){}<>|#>-+=&\\%!^:'\"1é\u2029\ufeff\U0001f600\ud800",
    *(
        "\n\n", "\r\n", "```", "~~~", "<!--", "-->", "    ", "- ", "1. ", "> ", "[!NOTE]", "](", "[^1]",
        "|-|-|\n",
    ),
    *(
        "<code>", "</code>", "<pre>", "</pre>", "$$", "[a]:", "---\n", "===\n", "{{", "}}", "http://x",
        "&amp;",
    ),
    *(
        "\\begin{", "\\end{", "verbatim}", "equation}", "tabular}", "itemize}", "document}", "\\emph{",
        "\\cite[",
    ),
    *("\\verb|", "\\foo", "\\(", "\\)", "\\[", "\\]", "\\'", "\\c{", "\\item[", "``", "''", "\\footnote{"),
]  # fmt: skip

TEXT = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
PATHS = ("x.md", "x.tex")


@given(TEXT, st.sampled_from(PATHS))
@settings(max_examples=max(100, settings.default.max_examples), deadline=None)
def test_offsets_stay_those_of_the_file(text, path):
    result = read_with_offsets(path, text)
    for old, new in zip(text, result.text, strict=True):
        assert new in (old, HIDDEN, " ", BREAK, "\u201c", "\u201d", "\u2018", *CODE_SIGNS)


@given(st.text(alphabet="abc ,.é", max_size=60), st.sampled_from(PATHS))
def test_prose_without_marks_stays_as_it_is(text, path):
    assert plain_text(path, "A " + text) == "A " + text


@pytest.mark.parametrize("size", [8_500, pytest.param(300_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "mark",
    [
        "\\begin{lstlisting}[caption={", "\\foo{a_b}", "\\foo{", "{a}{", "[{}", "\\item[", "\\def\\a",
        "\\MakeShortVerb{\\|}|a", "\\begin{theorem}[a b", "caption=", "{\\tt ", "\\mysection{a}{b:c}",
        "\\let\\a", "\\a=", "\\bprog ", "\\begtt\\bprog ",
        "[", "*", "`", "{", "$", "_", "<", "](", "![", "[](x", "<!--", "~~", "- ", "> ", "\\(", "\\[",
        "a*", "$a ", "\\emph{", "\\begin{align}", "\\begin{verbatim}", "\\verb|", "%\n", "|\n", "&", "<a ",
        "{{", "- x\n", "\\foo[", "``", "[a]: b\n", "a\n=\n", "\r", "\r\n", "> [!NOTE]\n> ", "\\'", "}",
        "$$\n", "<code>",
    ],
)  # fmt: skip
def test_many_marks_take_linear_time(path, mark, size):
    assert reads_in_linear_time(path, mark, size)


@pytest.mark.parametrize(
    ("path", "remaining"),
    [("a.md", "x \x1fy\x1f"), ("A.MARKDOWN", "x \x1fy\x1f"), ("a.txt", "x *y*"), ("md", "x *y*")],
)
def test_the_suffix_says_what_markup_there_is(path, remaining):
    assert plain_text(path, "x *y*") == remaining
    assert has_markup(path) == (remaining != "x *y*")


def test_text_without_markup_has_html_comments_as_well():
    text = "a <!-- b --> c <!-- d <!-- --> e <!-- f"
    result = read_markup("a.txt", text)
    assert result.text == text
    assert [text[start:end] for start, end in result.comments] == ["<!-- b -->", "<!-- d <!-- -->"]


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Call `f x` or `g` now.", ["`f x`", "`g`"]),
        ("Set `x`, (`y`) and `z`.\r\n", ["`x`", "`y`", "`z`"]),
        ("An ``is`` word.", ["``is``"]),
        ("He said `go away' and `stay', and then `no'.", []),
        ("It is ``like'' this, or (``like'',``that'').", []),
        ("It`s late, and they don`t know.", []),
        ("`Twas late and `tis cold.", []),
        ("A ` alone, ` two apart ` and `not\nclosed` in its line.", []),
        ("```\nfenced\n```", []),
    ],
)
def test_backticks_in_text_without_markup(text, hidden):
    expected = text
    for code in hidden:
        expected = expected.replace(code, OPAQUE * len(code))
    assert plain_text("a.txt", text) == expected


def test_terms_and_descriptions_in_text_without_markup():
    text = "Names:\n\n  history\n      Show all names.\n  -x\n    Hide them.\n\nA long\n  Line.\n\nIt ends.\n  It is.\n- item\n  Item\n"
    parts = [" ".join(part.split()) for part in plain_text("a.txt", text).split(BREAK)]
    assert parts == [
        "Names: history",
        "Show all names. -x",
        "Hide them. A long",
        "Line. It ends. It is. - item Item",
    ]


def test_subjects_of_commits_in_text_without_markup():
    text = "Ann (3):\n    docs: use it too\n    tests: move one\n    bump it\n\nIt is:\n    two words\n    docs: one\n"
    assert plain_text("a.txt", text).count(BREAK) == 0
    text = text.replace("bump it", "files: bump it\n    add it")
    parts = [" ".join(part.split()) for part in plain_text("a.txt", text).split(BREAK)]
    assert parts == [
        "Ann (3):",
        "docs: use it too",
        "tests: move one",
        "files: bump it",
        "add it It is: two words docs: one",
    ]


def test_the_sound_of_code_in_text_decides_about_the_article():
    text = "an `int` and a `string`"
    assert plain_text("a.txt", text) == plain_text("a.md", text) != text


def left_to_decide(path):
    """Return the words of a sample that are neither protected nor hidden."""
    text = (SAMPLES / path).read_text(encoding="utf8")
    view = Words()([plain_text(path, text)])
    free = ~protected_layer(view) & (view.ends > view.starts)
    return [text[start:end] for start, end in zip(view.starts[free], view.ends[free], strict=True)]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_braced_lines_are_code(end):
    code = "  proc add {a b} {\n      set a\n\n      if {a} {\n        b\n      }\n  } ;# c"
    text = f"Write this:\n\n{code}\n\nThe set {{\nof a}}.\n".replace("\n", end)
    code = code.replace("\n", end)
    hidden = BREAK + HIDDEN * (len(code) - 1)
    assert plain_text("a.txt", text) == text.replace(code, hidden)
    for other in ("One {\ntwo\n}", "One {\n  two", "One { two\n  three\n}", "  One {\n  two\n}\n"):
        assert plain_text("a.txt", other) == other


def test_input_for_hoogle_is_haskell():
    text = "-- Hoogle documentation, generated by Haddock\n-- See Hoogle\n\n-- | Append two lists.\na :: b a a -> c\n"
    assert plain_text("base.txt", text) == plain_text("base.hs", text) != text
    assert plain_text("base.txt", f"A\n{text}") == f"A\n{text}"


@pytest.mark.parametrize("path", ["markup-sample.md", "markup-sample.tex"])
def test_only_prose_of_the_samples_is_left(path):
    """The words "quite", "there" and "usual" stand in them only where nothing is to be decided."""
    words = left_to_decide(path)
    assert not {"quite", "there", "usual", "def", "pot(", "usepackage", "python"} & {w.lower() for w in words}
    for phrase in (
        "Most herbs grow well in pots",
        "A pot with a hole in it",
        "that lets water through",
        "much of it",
        "Any shop will do",
        "into the house",
        "Growing herbs on a balcony",
    ):
        assert f" {phrase.lower()} " in f" {' '.join(words).lower()} ", phrase


@pytest.mark.parametrize("path", ["markup-sample.md", "markup-sample.tex"])
def test_line_ends_of_windows_change_nothing(path):
    text = (SAMPLES / path).read_text(encoding="utf8")
    on_windows = text.replace("\n", "\r\n")
    plain, other = Words()([plain_text(path, text)]), Words()([plain_text(path, on_windows)])
    assert plain.hashes.tolist() == other.hashes.tolist()
    assert plain.sentences.tolist() == other.sentences.tolist()


GRID = """\
+--------------+-----------+
| Its a name   | quite now |
| of its owner |           |
+==============+===========+
| Its          | Its both  |
+--------------+-----------+
| its a cell that spans it |
|  its two, its one, full  |
+--------------------------+
"""
GRID_CORRECTED = """\
+--------------+-----------+
| It's a name  | not now   |
| of it's owner|           |
+==============+===========+
| It's         | It's both |
+--------------+-----------+
| it's a cell that spans it|
|  it's two, it's one, full|
+--------------------------+
"""
SIMPLE = """\
  ==========  =====  ====
  Its a name  quite  its its
  ==========  =====  ====
  its         Its
  its a cell that spans  now
  ----------------------  ----
  not not           x
  ==========  =====  ====
"""
SIMPLE_CORRECTED = """\
  ==========  =====  ====
  Its a name  quite  it's it's
  ==========  =====  ====
  it's        It's
  its a cell that spans  now
  ----------------------  ----
  no no             x
  ==========  =====  ====
"""
CHANGES = {"Its": "It's", "its": "it's", "quite": "quiets", "not": "no"}
TITLES = """\
=====
 Its
=====

===
Its
===

Its a long title
================

Its short
-----------------

Its text
...

Its more text,
its last line
-------------

Its a title
```````````
text
"""


def find_edits(text, changes):
    """Return the edits for ``{old: new}``, of every occurrence of the words."""
    words = re.finditer("|".join(rf"\b{re.escape(old)}\b" for old in changes), text)
    return [(*word.span(), changes[word[0]]) for word in words]


def changed(path, text, changes):
    """Return the text with all edits that fit, and the words that do not."""
    layout, edits = read_layout(path, text), find_edits(text, changes)
    fits = layout.fits(edits)
    kept = [edit for edit, fit in zip(edits, fits, strict=True) if fit]
    left = [text[edit[0] : edit[1]] for edit, fit in zip(edits, fits, strict=True) if not fit]
    return edited_text(text, sorted([*kept, *layout.further(kept)], key=lambda edit: edit[:2])), left


@pytest.mark.parametrize("path", ["a.rst", "a.md"])
def test_the_border_of_a_grid_table_stays_where_it_is(path):
    new, left = changed(path, GRID, CHANGES | {"quite": "not"})
    assert new == GRID_CORRECTED
    assert left == []
    assert changed(path, GRID, {"both": "neither"}) == (GRID, ["both"])
    assert changed(path, GRID, {"two": "twelve", "one": "1"})[1] == ["two"]  # the blanks of another edit


def test_the_columns_of_a_simple_table_stay_where_they_are():
    assert changed("a.rst", SIMPLE, CHANGES) == (SIMPLE_CORRECTED, ["Its", "quite", "its"])


def test_a_longer_title_has_longer_lines():
    new, left = changed("a.rst", TITLES, CHANGES)
    lines = {"=====\n It's\n=====", "====\nIt's\n====", "It's a long title\n=================",
             "It's short\n-----------------", "It's text\n...", "it's last line\n-------------",
             "It's a title\n````````````\ntext"}  # fmt: skip
    assert left == []
    assert [line for line in lines if line not in new] == []
    assert changed("a.rst", TITLES, {"Its a long": "A"})[0] == TITLES.replace("Its a long", "A")
    assert changed("a.txt", TITLES, {"Its": "It's"})[0] == TITLES.replace("Its", "It's")


ASCIIDOC = """\
\ufeffIts a quite book
================

Its part
--------

Its
---

----
Its code
----
"""


def test_lines_under_titles_of_asciidoc_are_as_long_as_the_title():
    new, _ = changed("a.adoc", ASCIIDOC, {"Its": "It's"})
    assert new.startswith(
        "\ufeffIt's a quite book\n=================\n\nIt's part\n---------\n\nIt's\n----\n"
    )
    assert new.endswith("\n----\nIt's code\n----\n")
    assert changed("a.adoc", ASCIIDOC, {"quite ": ""})[0].startswith("\ufeffIts a book\n==========\n\n")
    assert changed("a.adoc", "Its x\n=====\n", {"Its x": "I"})[0] == "I\n==\n"


DASHED = """\
  Its        its a cell   last
----------  ------------  -------
its         its           its its
its a name  its two       its
its                       its

Its text, its end.
"""
DASHED_CORRECTED = """\
  It's       it's a cell  last
----------  ------------  -------
it's        it's          it's it's
it's a name it's two      it's
it's                      it's

It's text, it's end.
"""
MULTILINE = """\
--------------------------
 Its       Its default
 centred   heading
--------- ----------------
   its     its row, of
   name    its two lines

           its second row
--------------------------

Its text.
"""
MULTILINE_CORRECTED = """\
--------------------------
 It's      It's default
 centred   heading
--------- ----------------
   it's    it's row, of
   name    it's two lines

           it's second row
--------------------------

It's text.
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (DASHED, DASHED_CORRECTED),
        (MULTILINE, MULTILINE_CORRECTED),
        ("--- ----\nits  its\nits one\n--- ----\n", "--- ----\nits  it's\nits one\n--- ----\n"),
        ("--- ----\nits  its\n", "--- ----\nit's  it's\n"),  # a thematic break
        ("Its text\nits text\n--- ----\nits its\n\n", "It's text\nit's text\n--- ----\nit's it's\n\n"),
    ],
    ids=["simple", "multiline", "full", "no-end", "no-header"],
)
def test_the_columns_of_dashed_tables_stay_where_they_are(text, expected):
    assert changed("a.md", text, {"Its": "It's", "its": "it's"})[0] == expected


def test_table_headers_stay_aligned_with_their_dashes():
    text = "     its  of its\n--------  ------\n     one  two\n\n"
    assert changed("a.md", text, {"its": "it's"}) == (text, ["its", "its"])


def test_other_tables_may_be_ragged():
    text = "| Its a | cell |\n|-------|------|\n| its   | its  |\n"
    expected = text.replace("Its", "It's").replace("its", "it's")
    assert changed("a.md", text, CHANGES) == (expected, [])


def test_one_edit_with_everything_that_it_needs():
    layout = read_layout("a.rst", GRID)
    start = GRID.index("both")
    assert layout.complete((start, start + 4, "neither")) is None
    start = GRID.index("Its")
    assert layout.complete((start, start + 3, "It's")) == (start, start + 11, "It's a name")
    title = "Its a title\n===========\n"
    assert read_layout("a.rst", title).complete((0, 3, "It's")) == (0, 23, "It's a title\n============")
    last = GRID.index(" both")  # a word that is removed with the blanks behind it
    assert layout.complete((last, last + 7, "")) == (last, last + 7, " " * 7)


@given(st.lists(st.sampled_from("a its |+-= \n_\u00e9\r\t.`*")).map("".join), st.data())
def test_any_edit_of_any_text(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    for path in ("a.rst", "a.md", "a.adoc"):
        edit = read_layout(path, text).complete((start, end, "it's"))
        assert edit is None or (edit[0] <= start and end <= edit[1] and "it's" in edit[2])


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
        ("``a'' `b'", " \u201ca\u201d  \u201cb\u201d"),
        ("`b don't the' `the' c", "\u201cb don't the\u201d \u201cthe\u201d c"),
        ("the `b the users'' c's `d", "the \u2018b the users\u201d  c's \u2018d"),
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
        (r"\caption[bc de]{A}", "¶¶¶¶¶¶¶¶¶bc de¶¶A¶"),
        (r"\subfloat[bc de]{\x{}}", "#########¶bc de¶######"),
        (r"\begin{align}a\intertext{b $c$ d}e\end{align}", "#" * 24 + "¶b ### d¶" + "#" * 12),
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


# ruff: noqa: E501  (a text is one string)


CATALOGUE_TEXT = r"""# XX a header
msgid ""
msgstr ""
"Project: XX\n"
"Language: en_GB\n"

# It is a comment of
# one translator.
#. Extracted words
#: XX.c:3
#, XX-format
#| msgid "XX"
msgctxt "XX"
msgid "It is a %s file, \"quoted\" caf\u00e9.\n\nNew par"
"agraph here.\n"
"More of it"
msgid_plural "Two files of _Open Sa_ve &amp; it&#39;s {name}"
msgstr[0] ""
msgstr[1] "It is that"

#~ msgid "XX"
#~ msgstr "XX"
"""
EXPECTED = (
    'It is a comment of one translator. | Extracted words | It is a # file, "quoted" #. | New # # here. More of it'
    " | Two files of Open # # it's # | It is that"
)


def read_prose(text: str) -> str:
    """Return the prose, with `#` for hidden words and `|` between texts."""
    plain = read_markup("a.po", text).text
    assert len(plain) == len(text)
    plain = re.sub(f"{OPAQUE}+", "#", plain).replace("\x1f", " ").replace('" ', '"')
    parts = [" ".join(part.split()) for part in plain.split(BREAK)]
    return " | ".join(part for part in parts if part)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_strings_and_comments_are_text(line_end):
    assert read_prose(CATALOGUE_TEXT.replace("\n", line_end)).replace('quoted"#', 'quoted" #') == EXPECTED
    assert read_markup("a.POT", CATALOGUE_TEXT).text == read_markup("a.po", CATALOGUE_TEXT).text


def test_strings_in_another_language_are_left_out():
    assert "that" not in read_prose(CATALOGUE_TEXT.replace("en_GB", "de"))
    assert read_prose(CATALOGUE_TEXT.replace("en_GB", "de_AT")) == read_prose(CATALOGUE_TEXT).removesuffix(
        " | It is that"
    )


CATALOGUE_PIECES = ['msgid "', 'msgstr "', '"\n', '"a', "a_", "&", "%", "{a", "\\", "\\n"]
CATALOGUE_PIECES += ["# a\n", "#. a", "#~", "\n", "\r\n", '""']


@given(st.lists(st.sampled_from(CATALOGUE_PIECES), max_size=30).map("".join))
def test_offsets_of_catalogues_stay(text):
    read_with_offsets("a.po", text)


@pytest.mark.parametrize("piece", ["a", "a_", "{", "%(", "\\n", 'a"\n"', "# a\n", 'msgid "a"\n'])
def test_time_grows_with_the_length_alone(piece):
    assert reads_in_linear_time("a.po", piece, 8_500, 'msgid "x"\nmsgstr "{}"\n')


def test_corrections(tmp_path):
    text = (
        'msgid ""\nmsgstr "Language: en\\n"\n\n#. It is the the end.\nmsgid "That is the the \\"end\\".\\n"\n"It depends "\n'
        '"of %s."\nmsgstr ""\n\n# disambig: ignore-next-line\nmsgid "It is the the end."\nmsgstr ""\n'
    )
    (tmp_path / "a.po").write_text(text, newline="")
    done = here("check", "--fix", "--no-backup", "a.po", folder=tmp_path)
    assert "D960" not in done.stderr
    expected = text.replace("is the the", "is the", 2).replace("of %s", "on %s")
    assert (tmp_path / "a.po").read_bytes().decode() == expected


def test_names_of_variables_are_placeholders():
    plain = read_markup(
        "a.po", '#. Set a $user_name before it.\nmsgid "Use $HOME or 5 $ here"\nmsgstr ""\n'
    ).text
    assert "user_name" not in plain and "HOME" not in plain
    assert "5 $ here" in plain
