"""Comments of Java, Kotlin, C#, C++, Swift, Ruby, PHP, Scala, Lua, R, SQL, Haskell and YAML as plain text."""

# ruff: noqa: E501  (a text of the table is one string)

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processor_time import grows_linearly

from disambig.markup import BREAK, OPAQUE, find_comments, read_markup

CASES = {
    "a.java": 'String s = "// XX"; char c = \'"\'; // kept\n/** Kept words. */\nString t = """\n // XX " \n"""; /* kept */',
    "a.cs": 'var s = @"c:\\"; // kept\nvar t = $"a {b /* kept */} // XX"; /// <summary>Kept</summary>\nvar r = """\n// XX\n"""; // kept\n#region // XX\nchar c=\'"\'; // kept',
    "a.cpp": 'auto s = R"x(// XX )" )x"; // kept\nint a = 1\'000; // kept\n#if 0\n// XX\n#endif\n/* kept */ char c = \'"\'; // kept',
    "a.kt": 'val s = "${a + "// XX"} // XX" // kept\n/* kept /* kept */ kept */\nval c = \'"\' // kept\nval t = """ // XX " """ // kept',
    "a.swift": 'let s = "\\(a + "// XX") // XX" // kept\n/* kept /* kept */ */ let r = #"// XX " "# // kept',
    "a.scala": 'val s = s"${a} // XX" // kept\n/** kept */ val t = """ // XX """ // kept',
    "a.rb": 's = "a #{b} # XX" # kept\n=begin\nkept\n=end\nx = %w[# XX] # kept\ny = <<~EOS # kept\n  # XX\nEOS\nz = a =~ /# XX/ # kept\n?" # kept\na / b # kept\n$# # kept\nx % 2 # kept',
    "a.php": '<p># XX // XX</p>\n<?php\n// kept ?> # XX <?php\n# kept\n#[XX]\n$a = "// XX"; /* kept */\n$h = <<<EOT\n// XX\nEOT;\n// kept\n?>\n// XX',
    "a.lua": 's = "-- XX" -- kept\n--[[ kept\nkept ]]\nt = [==[ -- XX ]] ]==] -- kept\n--[==[ kept ]] ]==] x = 1 -- kept',
    "a.R": 'x <- "# XX" # kept\n#\' kept\ny <- r"(# XX " )" # kept\n`a # XX` # kept',
    "a.sql": "select '-- XX', \"-- XX\" -- kept\n/* kept /* kept */ kept */ select 'it''s -- XX' -- kept",
    "a.hs": "-- kept\n-- | Kept words\nx' = 'a' -- kept\ny = a --> XX\n{- kept {- kept -} kept -}\n{-# LANGUAGE XX #-}\nz = \"-- XX\" -- kept",
    "a.yml": "# Kept words\nXX: 'XX # XX' # kept\nb: \"XX # XX\"\nc: XX#XX\nd: |\n  # XX\n\n  # XX\ne: it's # kept\n- - >-\n    # XX\n# kept",
}


@pytest.mark.parametrize(("path", "text"), CASES.items(), ids=CASES)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_comments_are_kept_and_strings_are_hidden(path, text, line_end):
    text = text.replace("\n", line_end)
    plain = read_markup(path, text).text
    assert len(plain) == len(text)
    assert "XX" not in plain
    # The first word of a sentence is hidden, since projects begin sentences differently.
    comments = [text[comment.start : comment.end] for comment in find_comments(text, path[1:].lower())]
    assert sum(comment.casefold().count("kept") for comment in comments) == text.casefold().count("kept")


def prose(path: str, text: str) -> str:
    """Return the prose of a text, with `#` for hidden words and `|` between sentences."""
    plain = read_markup(path, text).text.replace("\u00a0", " ")
    parts = re.split(f"{BREAK}|\n *\n", re.sub(f"[{OPAQUE}\ue000\ue001]+", "#", plain))
    return " | ".join(" ".join(part.split()) for part in parts if part.strip())


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.js", "/**\n * In the words.\n *\n * @example\n * its = then;\n *\n * than(the the)\n * @returns {x} of it\n */", "In the words. | of it"),
        ("a.java", "/**\n * In {@code a {b} c} of it.\n * @param its the words\n * @throws Then if it is\n */", "In # of it. | the words | if it is"),
        ("a.kt", "/**\n * In the words of it.\n * @param its the words\n * @sample a.b.then\n */", "In the words of it. | the words"),
        ("a.cs", '/// <summary>\n/// In <see cref="T:Then"/> of <c>its</c> it.\n/// </summary>\n/// <param name="its">the words</param>', "In # of # it. | the words"),
        ("a.swift", "/// In the words.\n///\n/// - Parameter its: the words\n/// - Returns: of it", "In the words. | the words | of it"),
        ("a.php", "<?php\n/**\n * In the words.\n * @return Widget of it\n */", "In the words. | # of it"),
        ("a.php", "<?php\n/**\n * In the words.\n * @return string|null of it\n * @var Widget[] the words\n */", "In the words. | # of it | # the words"),
        ("a.lua", "--- In the words.\n-- @return string the words", "In the words. | # the words"),
        ("a.java", "/**\n * In the words.\n * @return The words\n */", "In the words. | The words"),
        ("a.rb", "# In the words.\n# @param its [Then] the words\n# @return [Array<Then>] of it", "In the words. | the words | of it"),
        ("a.r", "#' In the words.\n#' @param its the words\n#' @examples\n#' its(then)\n#'\n#' than\n#' @export\nf <- 1", "In the words. | the words"),
        ("a.hs", "-- | In the words\n-- of it.\nf = 1", "In the words of it."),
        ("a.hs", "{- In the words.\n   {- Then it is\n   of it. -}\n   The end of it.\n-}\nf = 1", "In the words. | Then it is of it. | The end of it."),
        ("a.hs", "{-\n  {-\n    In the words.\n  -}\n  f = g (h 1)\n-}", "In the words."),
        ("a.hs", "{-In the words{-of it{-of the end-}-}to it-}", "In the words | of it | of the end | to it"),
        ("a.hs", "-- In the words, {- of it -} then.", "In the words, # of it # then."),
        ("a.kt", "/* In the words.\n   /* Then it is. */\n   The end. */", "In the words. | Then it is. | The end."),
        ("a.rs", "/* In the words.\n   /* Then it is. */\n   The end. */", "In the words. | Then it is. | The end."),
        ("a.java", "/* In the words of src/*.java\n * and then. */", "In the words of # and then."),
        ("a.lua", "--- In the words\n-- of it.\nlocal a", "In the words of it."),
        ("a.sql", "-- In the words\n-- of it.\nselect 1", "In the words of it."),
        ("a.yaml", "# In the words\n# of it.\na: 1", "In the words of it."),
    ],
)  # fmt: skip
def test_lines_of_a_comment_are_joined_and_tags_are_hidden(path, text, expected):
    assert prose(path, text) == expected


@pytest.mark.parametrize("path", CASES)
def test_comments_are_found_with_their_marks(path):
    for comment in find_comments(CASES[path], path[1:].lower()):
        assert CASES[path][comment.start] in "#/-{=", CASES[path][comment.start : comment.end]


PIECES = [
    *"aA .\n\r\t`<>{}[]()|%#^:!?=\"'/\\*-+~$@\ufeff\u2029\U0001f600",
    *('"""', "'''", "/*", "*/", "//", "--", "--[[", "]]", "[==[", "{-", "-}", "=begin\n", "\n=end", "<<~EOS\n"),
    *("\nEOS", "%w[", "#{", "${", "\\(", 'r"(', ')"', 'R"x(', ')x"', "#if 0\n", "#endif\n", "<?php", "?>", "<<<E\n"),
    *("a: |\n", "- >\n", "  ", "@example", "@param a", "disambig: off"),
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.sampled_from(sorted(CASES)))
@settings(max_examples=max(500, settings.default.max_examples), deadline=None)
def test_offsets_stay_those_of_the_file(text, path):
    plain = read_markup(path, text)
    assert len(plain.text) == len(text)
    for old, new in zip(text, plain.text, strict=True):
        assert new == old or not new.isalnum()
    for start, end in plain.comments:
        assert 0 <= start < end <= len(text)


@pytest.mark.parametrize("path", sorted(CASES))
@pytest.mark.parametrize(
    "mark",
    [
        *('"', "'", "/*", "`", "{-", "--[[", 'r"(', "<<~E\n", "<<E", '$"{', '"${', '"#{', '#"', '"""', "%w("),
        *("/", "#if 0\n", "<?php", "?>", "\\(", "{", "@\"", 'R"(', '"\\(', "[=[", "<<<E\n", "'\\", "= /a ", "a: |\n"),
    ],
)  # fmt: skip
def test_many_marks_take_linear_time(path, mark):
    suffix = path[1:].lower()
    assert grows_linearly(lambda size: find_comments(mark * (size // len(mark)), suffix), 60_000)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.sql", "select 1 -- disambig: ignore-line then"),
        ("a.hs", "f = 1 -- disambig: ignore-line then"),
        ("a.lua", "--[[ a ]] -- disambig: ignore-line then"),
        ("a.sql", "-- a word -- disambig: ignore-line then"),
        ("a.rb", "a = 1 # disambig: ignore-line then"),
        ("a.yml", "a: 1 # disambig: ignore-line then"),
    ],
)
def test_comments_with_directives_are_found(path, line):
    comments = read_markup(path, line + "\n").comments
    assert "disambig: ignore-line then" in [line[start:end].lstrip("#- ") for start, end in comments]
