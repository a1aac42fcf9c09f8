"""Code in many languages: its comments and docstrings are text, nothing else is, and offsets stay."""

# ruff: noqa: E501  (a text of the table is one string)

from __future__ import annotations

import ast
import io
import re
import tokenize
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from offsets import read_with_offsets
from processor_time import grows_linearly, reads_in_linear_time

from disambig.markup import (
    BREAK,
    CODE,
    LANGUAGES,
    OPAQUE,
    find_comments,
    has_markup,
    iterate_blocks,
    path_format,
    read_markup,
)
from disambig.markup.code import SUFFIXES
from disambig.text import HIDDEN

ROOT = Path(__file__).parents[3]


def extract_comments(text, path="x.py"):
    """Return what is left as text, a paragraph each: # for what is no word."""
    result = read_markup(path, text)
    assert len(result.text) == len(text)
    whole = re.sub(f"[{OPAQUE}\ue000\ue001]+", "#", result.text.replace("\u00a0", " "))
    parts = re.split(f"{BREAK}|\n *\n|\r\n *\r\n", whole)
    return [" ".join(part.split()) for part in parts if part.strip()]


def test_the_suffixes_are_those_that_are_read():
    assert set(CODE) == set(SUFFIXES)
    assert all(has_markup("A" + suffix.upper()) for suffix in CODE)


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", 'x = "the # string"  # the words\n', ["the words"]),
        ("a.pyi", "# the words\nx: int\n", ["the words"]),
        (
            "a.rs",
            '//! the crate\nlet s = "// no";\n/// the words\n// the rest\n',
            ["the crate", "the words the rest"],
        ),
        (
            "a.rs",
            "/* the outer /* the inner */ the words */ fn x() {}",
            ["the outer", "the inner", "the words"],
        ),
        ("a.js", "let r = /\\/\\/ no/; `no ${x /* the words */} // no`;", ["the words"]),
        ("a.mjs", "/**\n * the words\n *  of it\n */\n'// no'", ["the words of it"]),
        ("a.ts", "let s: string = 'a // no'; // the words", ["the words"]),
        ("a.tsx", "const a = <p>of it</p>; // the words", ["of it", "the words"]),
        ("a.tsx", "const a = <p>it // is said\n</p>;", ["it // is said"]),
        ("a.go", "var s = `// no`\n/* the words */\n", ["the words"]),
        ("a.c", "#include <no.h> // the words\n#if 0\nno words\n#endif\n", ["the words"]),
        ("a.h", '/* the words */ char *s = "/* no */";', ["the words"]),
        ("a.sh", '#!/bin/sh\n# the words\necho "# no" ${x#no} a#no\ncat <<E\n# no\nE\n', ["the words"]),
        # tags and attributes of documentation
        (
            "a.js",
            "/**\n * @param {string} [its=1] - the words\n * @returns {x} of it\n */",
            ["the words", "of it"],
        ),
        ("a.js", "/// @brief Of the words\n/// \\param then it is", ["Of the words", "it is"]),
        ("a.js", "/** Is {@link then} of it. */", ["Is # of it."]),
        (
            "a.rs",
            '#![doc = "Some of it."]\n#[doc = r#"See "of" `it`."#]\nfn a() {}',
            ["Some of it.", '# "of" #'],
        ),
        (
            "a.rs",
            '#[doc(hidden)]\n#[cfg(a = "of it")]\n/// See #[doc = "of it"].\nfn a() {}',
            ['# #[doc # "of it"].'],
        ),
        # generated lines, and words that look like directives
        ("a.js", "/* the words */ " + "x();" * 600 + "\n// of it\n", ["of it"]),
        ("a.c", "// the\n// regions of it\n", ["the regions of it"]),
        ("a.c", "// the\n// prettier-looking words\n", ["the prettier-looking words"]),
        ("a.c", "// the\n// pragmas of it\n", ["the pragmas of it"]),
        ("a.c", "// the\n// goes by it\n", ["the goes by it"]),
    ],
)
def test_only_comments_are_text(path, text, expected):
    assert extract_comments(text, path) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"""The words."""\n', ["The words."]),
        ("#!/usr/bin/python\n# the first\n'''the words'''\nx = 1\n", ["the first", "the words"]),
        ('def f(x: int = 3) -> "no: no":\n    r"the words"\n    return """no"""\n', ["the words"]),
        ('class A:\n\n    """the words"""\n    x()\n    """no words"""\n', ["the words"]),
        ('async def f[T: int](\n    x,  # the mark\n):\n    """the words"""', ["the mark", "the words"]),
        ('f(\n    """no words""",\n)\n', []),
        ('def f():\n    f"""no {words}"""\ndef g():\n    b"no words"\n', []),
        ('def f():\n    """no words""".upper()\n', []),
        ('class A: "the words"; x = 1\n', ["the words"]),
        ("def f(: [\nclass B:\n    '''the words'''\n", ["the words"]),
        # line comments below each other are one paragraph
        ("# of the\n# words\n", ["of the words"]),
        ("    # of the\r\n    # words\r\n", ["of the words"]),
        ("# of the\n#\n# it\n", ["of the", "it"]),
        ("# of the\n\n# it\n", ["of the", "it"]),
        ("x  # of the\ny  # it\n", ["of the", "it"]),
        ("x = 1  # of the\n       # words\n", ["of the words"]),
        ("# of the\n    # it\n", ["of the", "it"]),
        ("# of the\n# Then it\n", ["of the", "Then it"]),
        ("#: of the\n##   words  ##\n", ["of the words ##"]),
        # names and code are hidden
        ("# TODO(who): it is the words", ["it is the words"]),
        ("# we call foo(a, b) and x.y of `then`", ["we call # and # of #"]),
        ("# with --the-flag, in snake_case or camelCase", ["with # in # or #"]),
        ("# the in operator of a for-loop", ["the # operator of a #"]),
        ("# as k * n, see https://example.org/then.", ["as # see #"]),
        ("# if a is b", ["if # is #"]),
        ("# if a word is", ["if a word is"]),
        ("# NAN of an OPTION", ["# of an #"]),
        ("# Return the words. Returns them: it is", ["# the words. # them: it is"]),
        ("# -W doesn't end. Don't of it", ["# doesn't end. Don't of it"]),
        ("# --all can\u2019t be. Isn\u2019t it", ["# can\u2019t be. Isn\u2019t it"]),
        (
            '"""Of it.\n\n:param int x: the words\n:returns: the rest\n"""',
            ["Of it.", "the words", "the rest"],
        ),
        (
            '"""Of it.\n\nArgs:\n    x (int): The words\n        of it.\n    its: the rest\n"""',
            ["Of it.", "#", "The words of it.", "the rest"],
        ),
        (
            '"""Of it.\n\nSee\n---\nx, y : int\n    The words.\n\nYields\n------\nlist of\n    Its.\n"""',
            ["Of it.", "#", "The words.", "#", "Its."],
        ),
        ('"""See :class:`~a.Then` of it."""', ["# # of it."]),
        (
            '"""Of it.\n\n.. note:: The words,\n   of it.\n.. versionadded:: 1.2 The rest.\n.. toctree:: no\n"""',
            ["Of it.", "The words, of it.", "The rest."],
        ),
    ],
)
def test_comments_and_docstrings_of_python_are_read(text, expected):
    assert extract_comments(text) == expected


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('x = 1\n"""the words"""\n', True),
        ('class A:\n    x: int = 1\n    r"the words"\n', True),
        ("class A:\n    x: int\n\n    'the words'\n\n    y = 2", True),
        ('x = (\n  1,  # x\n)\n\n"""the words"""', True),
        ('x = """a\nb"""\n"""the words"""', True),
        ('a.b[c: d], e = \\\n  f"{g:h}"\n"the words"', True),
        ('def f(x=1):\n    return x\nx = f(x=1); \n"""the words"""\n', True),
        ('def f():\n    class A:\n        x = 1\n        """the words"""\n', True),
        ('if x:\n    y = 1\n    """the words"""\n', True),
        ('class A:\n    def f(self): (\n    y = 1\nclass B:\n    y = 1\n    """the words"""\n', True),
        ('def f():\n    x = 1\n    """the words"""\n', False),
        ('class A:\n    def f(self):\n        self.x = 1\n        """the words"""\n', False),
        ('x = 1\ny()\n"""the words"""', False),
        ('x = 1\n"a"\n"""the words"""', False),
        ('x = 1\n"""the words""".upper()', False),
        ('x = 1\nf"""the words {x}"""', False),
        ('x = 1\nb"the words"', False),
        ('x = 1\n# y\n    "the words"', False),
        ('x = 1; "the words"', False),
        ('x == 1\n"the words"', False),
        ('x <= 1\n"the words"', False),
        ('x += 1\n"the words"', False),
        ('f(x=1)\n"the words"', False),
        ('@f(x=1)\n"the words"', False),
        ('if x: y = 1\n"the words"', False),
        ('else:\n"the words"', False),
        ('x = (\n"the words"', False),
    ],
)
def test_strings_directly_after_an_assignment_document_an_attribute(text, read):
    assert ("the words" in extract_comments(text)) == read


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.py", "# noqa: B007  (the words are here)"),
        ("a.py", "x = y  # type: ignore[the, words]"),
        ("a.py", "# -*- coding: utf-8 -*-"),
        ("a.py", "# pylint: disable=the-words"),
        ("a.js", "// eslint-disable-next-line the-words -- of words"),
        ("a.js", "/* webpackChunkName: of-the-words */"),
        ("a.ts", "// @ts-expect-error of the words"),
        ("a.go", "//go:build the && words"),
        ("a.c", "// NOLINT of the words"),
        ("a.go", "//go:generate words better then it was"),
        ("a.py", "x = 1  # pylint:disable=x because of the words"),
        ("a.py", "# fmt:off of the words"),
        ("a.py", "# isort:skip of the words"),
        ("a.py", "# type:ignore of the words"),
        ("a.py", "# mypy:disable-error-code=x of the words"),
        ("a.py", "# ruff:noqa of the words"),
        ("a.js", "// prettier-ignore of the words"),
        ("a.ts", "// biome-ignore lint/style: of the words"),
        ("a.ts", "// deno-lint-ignore of the words"),
        ("a.go", "//lint:ignore of the words"),
        ("a.js", "// cspell:ignore of the words"),
        ("a.py", "# codespell:ignore of the words"),
        ("a.c", "// LCOV_EXCL_LINE of the words"),
        ("a.sh", "# shellcheck disable=SC2034 # of the words"),
        ("a.rs", "// rustfmt::skip of the words"),
        ("a.py", "# disambig: ignore-line then"),
        ("a.c", "/* Copyright (c) 2019 by them. Of the words\n * and so on. */"),
        ("a.py", "# SPDX-License-Identifier: MIT\n# of the words"),
        ("a.py", "# for word in words:\n#     it(word)\n#     break\n# x = 1"),
        ("a.js", "// if (it.is) {\n//   return then;\n// }"),
        (
            "a.adb",
            "--  procedure Put (Item : Word) is\n--  begin\n--     if Its (Item) then\n--  function Of_It return Word is",
        ),
        ("a.vhdl", "--  case Of_The is\n--     when It =>\n--  for The in Words loop\n--  loop\n--  declare"),
        ("a.py", '"""\n>>> it.is(then)\nof the words\n"""'),
        ("a.py", '"""\n.. code-block:: python\n\n    of the words\n\n    to it\n"""'),
        ("a.py", '"""\n::\n\n    of the words\n"""'),
        ("a.rs", "/// ```\n/// of the words\n/// ```"),
        ("a.go", "// See:\n//\n//\tof the words"),
    ],
)
def test_directives_licences_and_code_are_not_text(path, line):
    words = " ".join(extract_comments(line + "\n", path)).replace("#", "").replace(":", "")
    assert not words.strip()


PIECES = (
    "# // /* */ \\ ' \" ''' @param { } ( ) : ` x=1 ): - noqa <<E E >>> ... --- ~~~ :: <!-- --> $ é".split()
)

PIECES += ["\n", "\r\n", "\r", " ", "    ", "\t", "a", "the", "Word", "class A:", "def f(", '"""', "\u2029"]
PIECES += ["\U0001f600", "\ufeff", "\x00", "\x0c"]
PIECES += [
    *"aA .\n\r\t`<>{}[]()|%#^:!?=\"'/\\*-+~$@\ufeff\u2029\U0001f600",
    *('"""', "'''", "/*", "*/", "//", "--", "--[[", "]]", "[==[", "{-", "-}", "=begin\n", "\n=end", "<<~EOS\n"),
    *("\nEOS", "%w[", "#{", "${", "\\(", 'r"(', ')"', 'R"x(', ')x"', "#if 0\n", "#endif\n", "<?php", "?>", "<<<E\n"),
    *("a: |\n", "- >\n", "  ", "@example", "@param a", "disambig: off"),
]  # fmt: skip
SHOWN = (".vue", ".svelte", ".js", ".jsx", ".tsx")
"""Suffixes of code with text between tags."""


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.sampled_from(CODE))
@settings(max_examples=max(250, settings.default.max_examples), deadline=None)
def test_offsets_stay_and_only_comments_are_text(text, suffix):
    result = read_with_offsets("x" + suffix, text)
    inside = {i for item in find_comments(text, suffix) for i in range(item.start, item.end)}
    for at, (old, new) in enumerate(zip(text, result.text, strict=True)):
        assert new in (old, " ", HIDDEN, "\u00a0", OPAQUE, BREAK, "\ue000", "\ue001")
        assert at in inside or suffix in SHOWN or not (new == old and new.isalnum())


def words_of_python(text):
    """Return the places of all that Python's own tokeniser takes for a comment or a string."""
    starts = [0]
    for line in io.StringIO(text).readlines():
        starts.append(starts[-1] + len(line))
    result = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            (a, b), (c, d) = token.start, token.end
            result |= set(range(starts[a - 1] + b, starts[c - 1] + d))
    return result


def count_attribute_docstrings(node):
    """Return the number of strings directly after an assignment, outside functions."""
    body = getattr(node, "body", None)
    if not isinstance(body, list) or isinstance(node, ast.FunctionDef):
        return 0
    return sum(map(count_attribute_docstrings, body)) + sum(
        isinstance(first, ast.Assign | ast.AnnAssign)
        and isinstance(second, ast.Expr)
        and isinstance(second.value, ast.Constant)
        and isinstance(second.value.value, str)
        for first, second in pairwise(body)
    )


@pytest.mark.parametrize(
    "path", sorted((ROOT / "disambig" / "text").rglob("*.py")), ids=lambda path: path.stem
)
def test_python_finds_the_same_comments_and_docstrings(path):
    text = path.read_text(encoding="utf8")
    places = words_of_python(text)
    result = find_comments(text, ".py")
    assert all(at in places for item in result for at in range(item.start, item.end))
    documented = ast.Module, ast.ClassDef, ast.FunctionDef
    tree = ast.parse(text)
    nodes = [node for node in ast.walk(tree) if isinstance(node, documented)]
    docstrings = sum(ast.get_docstring(node) is not None for node in nodes)
    docstrings += count_attribute_docstrings(tree)
    assert sum(item.docstring for item in result) == docstrings
    comments = [t for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type == tokenize.COMMENT]
    assert [text[item.start : item.end] for item in result if not item.docstring] == [
        t.string for t in comments
    ]


@pytest.mark.parametrize("suffix", [".py", ".c", ".js"])
@pytest.mark.parametrize(
    "mark",
    [
        "#", "# ", "/", "/*", "// (\n", '"""', "'\n", "\n", "# x=\n", " * @x {\n", "<pre>\n", "a : b\n\n", "(",
        "# >>> a\n#\n", "x = 1\n'a'\n", "class A:\n x: (\n", "\tdef a():", "x",
    ],
)  # fmt: skip
def test_many_marks_in_code_take_linear_time(mark, suffix):
    for start in ("", '"""\n', "/*\n"):
        assert reads_in_linear_time("x" + suffix, mark, 3_500, start + "{}")


@pytest.mark.parametrize(("path", "start", "end"), [("a.py", '"""', '"""'), ("a.c", "/* ", "*/")])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_long_line_within_a_comment_is_not_read(path, start, end, line_end):
    for length in (1999, 2000):
        long = f"Of them {'.' * (length - 8)}"
        result = extract_comments(line_end.join([f"{start}The words", "", long, "", "of it", end]), path)
        assert result[-1] == "of it"
        assert any("them" in item for item in result) == (length < 2000)


def test_blocks_have_the_numbers_of_their_lines():
    text = "x = 1  # of the\r\n       #  words\r\n"
    (block,) = iterate_blocks(text, find_comments(text, ".py"))
    assert block.text == "of the\n words" or block.text == " of the\n  words"
    assert "\n".join(text[line.start : line.end] for line in block.lines) == block.text


GAPS = ["\n" * 400, "\r\n" * 200, "    \n" * 90, " " * 300, " " * 200 + "\n" * 9 + " " * 90]
ONLY_LINE_COMMENTS = (".zig", ".fs", ".fsi", ".fsx", ".pas", ".pp", ".dpr", ".lpr")
"""Suffixes of languages with // whose comments of several lines are not written as in C."""


@pytest.mark.parametrize("suffix", sorted(LANGUAGES))
def test_long_gaps_move_no_comment(suffix):
    begin, end = path_format("x" + suffix).comment
    has_blocks = begin == "// " and suffix not in ONLY_LINE_COMMENTS
    line = "/* here */\n" if has_blocks else f"{begin}here{end}\n"
    begin = line[:2].strip()
    outside = {".php": "<?php ", ".vue": "<script>", ".svelte": "<script>"}.get(suffix, "")
    for gap in GAPS:
        text = f"{outside}{line}{gap}{line}x = 1{gap}\n{line}"
        result = find_comments(text, suffix)
        assert [text[item.start : item.end].split() for item in result] == [line.split()] * 3
        starts = [match.start() for match in re.finditer(re.escape(begin), text)]
        assert [item.start for item in result] == starts


@pytest.mark.parametrize("suffix", [".js", ".ts", ".go"])
def test_an_unclosed_comment_hides_no_flags_after_it(suffix):
    text = 'x = "/*"; /* one */ y = 2; /* two\n// three\n/* four\n'
    result = [text[item.start : item.end] for item in find_comments(text, suffix)]
    assert result[-1] == "// three"


JSX = """export function A({ of, it }: Props<of>) {
  if (of < 3 && it > 4) { const f = <T,>(x: T) => x; }
  const g = <T extends of>(x: T): T => it;
  return (
    <div className="of it" title="It is what one sees here">
      {/* of the note */}
      <h1>It&apos;s the {of.it} end</h1>
      {of.map((it) => <li key={`of ${it}`}>One <b>or</b> two{" "}of it, see https://of.it</li>)}
      <input placeholder={of} aria-label="All of it" onChange={() => it > of} {...of} />
      <code>of it</code>
      <></>
      <p>
        The last
        of it.
      </p>
    </div>
  ); // it is so
}
"""
VUE = """<template>
  <div :class="of" title="It is what one sees here">
    <p v-if="of > it">One <b>or</b> {{ of.it }} two</p>
    <template #of><RouterLink to="of">Of it</RouterLink> all</template>
  </div>
</template>
<i18n>of it</i18n>
<script>
const of = "<template>of it</template>"; // it is so
</script>
"""
SVELTE = """<script>
  let of = "of it"; // it is so
</script>
<p on:click={() => of > it} title="It is what one sees here">One {#if of}<b>or</b>{/if} {of.it} two</p>
{#each of as it}<li>Of it</li>{/each}
<style>of { it: of }</style>
"""


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.tsx", JSX, ["It is what one sees here", "of the note", "It's the # end", "#",
                        "One or two of it, see https://of.it", "# # # #", "The last of it.", "it is so"]),
        ("a.js", "a = (<p>Of <b>it</b></p>);", ["Of it"]),
        ("a.vue", VUE, ["It is what one sees here", "One or # two", "Of it all", "it is so"]),
        ("a.svelte", SVELTE, ["it is so", "It is what one sees here", "One or # two", "Of it"]),
        ("a.jsx", "const a = <p>of it<p>; // it is so", ["it is so"]),
        ("a.js", "a.replace(/>/g, '&gt;').replace(/</g, '&lt;'); // it is so", ["it is so"]),
        ("a.jsx", "a = b <c; d = (<e>of it</f>); // it is so", ["it is so"]),
    ],
)  # fmt: skip
def test_text_between_tags_is_read(path, text, expected, line_end):
    assert extract_comments(text.replace("\n", line_end), path) == expected


@pytest.mark.parametrize("suffix", SHOWN)
@pytest.mark.parametrize(
    "mark",
    ["<a", "<a ", "<a>", "(<a>", "(<a b={", "(<a b='", "{", "(<a>{", "`${", "(<a/>)", "return <a></a>;", "{a}", "<template>\n", "<script>",
     "{'", "{/* */}", "<!--", "&#39;", "it&#39;s ", "(<a>b</c>", "#"],
)  # fmt: skip
def test_tags_in_code_take_linear_time(suffix, mark):
    assert reads_in_linear_time("a" + suffix, mark, 15_000)


LANGUAGE_MARKS = [
    *('"', "'", "/*", "`", "{-", "--[[", 'r"(', "<<~E\n", "<<E", '$"{', '"${', '"#{', '#"', '"""', "%w("),
    *("/", "#if 0\n", "<?php", "?>", "\\(", "{", "@\"", 'R"(', '"\\(', "[=[", "<<<E\n", "'\\", "= /a ", "a: |\n"),
]  # fmt: skip
LINE_MARKS = [" \r\n", "/* a\n", "/** @param a b\n"]


@pytest.mark.parametrize("suffix", sorted(LANGUAGES))
def test_many_marks_of_languages_take_linear_time(suffix):
    """The lexers of Pygments take linear time in lines only, and long lines are not read."""
    by_our_scanner = suffix in {path[1:].lower() for path in LANGUAGE_CASES}
    for mark in LINE_MARKS + LANGUAGE_MARKS * by_our_scanner:

        def read(size: int, mark: str = mark) -> None:
            find_comments(mark * (size // len(mark)), suffix)

        assert grows_linearly(read, 3_500), mark


LANGUAGE_CASES = {
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

LANGUAGE_CASES |= {
    "a.ex": '@moduledoc """\nKept words.\n\n    iex> XX\n"""\n@doc ~S"""\nKept words.\n"""\ndef f, do: "# XX #{g("# XX")}" # kept\nx = ?# # kept\n~r/# XX/ # kept',
    "a.pl": '#!/usr/bin/perl\n# kept\nmy $s = "# XX"; # kept\n$#XX; s#XX#XX#;\n=head1 Kept title\n\n  XX # XX\n\nKept C<XX> B<kept>.\n\n=begin x\n\nXX\n\n=end x\n\n=cut\n# kept\nprint <<EOT; # kept\n# XX\nEOT\n# kept\n__END__\n# XX\nXX\n\n=pod\n\nKept',
    "a.dart": "/// Kept words.\nvar s = '// XX ${f('// XX')}'; // kept\n/* kept /* kept */ kept */ var r = r'// XX\\'; // kept\nvar t = '''\n// XX '\n'''; // kept",
    "a.css": '/* kept */ a { b: url(https://XX/*XX) "/* XX */"; } /* kept */',
    "a.scss": "// kept\na { b: url(https://XX); c: '// XX' } /* kept */ // kept",
    "a.gradle": "// kept\ndef s = '// XX' // kept\n/* kept */ def t = '''\n// XX\n''' // kept\ndef r = ~/XX '/ // kept",
    "a.proto": '// kept\nstring s = 1; // kept\noption a = "// XX"; /* kept */',
    "a.tf": '# kept\n// kept\n/* kept */ a = "# XX ${b("# XX")}" # kept\nc = <<EOT\n# XX\nEOT\n# kept',
    "a.zig": '/// Kept words.\nconst s = "// XX"; // kept\nconst t =\n    \\\\// XX\n; // kept\nconst c = \'"\'; // kept',
    "a.fs": '// kept\nlet s = "// XX" // kept\n(* kept (* kept *) kept *) let t = @"\\" // kept\nlet u = """ // XX """ // kept\nlet c = \'"\' // kept\nlet (*) = 1 // kept',
    "a.ml": '(* kept (* kept *) kept *) let s = "(* XX *)" (** Kept words. *)\nlet c = \'"\' (* kept *) let q = {x|(* XX *)|x} (* kept *)',
    "a.erl": "%% Kept words.\nf() -> \"% XX\", '% XX', $%. % kept",
    "a.jl": '"""\n    XX(x)\n\nKept `XX`.\n"""\nfunction f(x)\n    """\n    XX\n    """\nend\n"Kept words."\nconst a = 1\n@doc raw"""\nKept\n""" g\n# kept\n#= kept #= kept =# kept =#\ns = "# XX $(f("# XX"))" # kept\nx\' # kept\nc = \'#\' # kept',
    "a.m": "%% Kept words.\nx = [a' b'] * 2; % kept\ns = 'it''s % XX'; t = \"# XX\"; # kept\n%{\nkept\n%}\n%!assert (XX)\n",
    "b.m": '#import <XX.h>\n// kept\n@implementation XX\n/* kept */ NSString *s = @"% XX // XX"; // kept\n@end\n',
    "a.cmake": '# kept\n#[[ kept\nkept ]]\nset(a "# XX") # kept\nset(b [=[\n# XX ]]\n]=]) # kept\n#[==[ kept ]==] set(c \\# XX) # kept',
    "a.el": ';; Kept words.\n(setq a "; XX") ; kept\n(b ?\\; ?" XX) ; kept',
    "a.clj": ';; Kept words.\n(def a "; XX") ; kept\n(b \\; \\" XX) ; kept',
    "a.svelte": "<p>{XX}</p>\n<script>\n// kept\nlet a = '// XX'; /* kept */\n</script>",
    "a.cu": '// kept\nauto s = "// XX"; /* kept */',
    "a.toml": "# Kept\na = \"# XX\" # kept\nb = '\\' # kept\nc = \"\"\"\n# XX\n\"\"\" # kept\nd = '''\n# XX\n'''\n[t] # kept",
    "a.ps1": '#Requires -Version XX\n<#\nkept\n#>\n$a = "# XX `" # XX $(f "# XX") " # kept\n$b = \'it\'\'s # XX\' # kept\n$c = @"\n# XX "\n"@ # kept\nx#XX `# XX\n#region XX',
    "a.properties": "# kept\n  ! kept\na = XX # XX \\\n  # XX\n\n! kept\nb=XX\\\\\n# kept\n",
    "a.dockerfile": "# syntax=docker/XX\n# kept\nRUN XX # XX \\\n  # kept\n  && XX\nRUN <<EOF\n# XX\nEOF\n# kept\nCOPY <<-'A' XX # XX\n# XX\nA\n# kept",
    "a.mk": "## kept\na: b # kept\n\techo \"# XX\" '# XX' \\# XX # kept\n\tif [ $# -lt 1 ]\nb = c#XX\n",
    "a.vue": "<template>\n  <p :a='XX'>{{ XX }}</p>\n</template>\n<script setup>\n// kept\nconst a = `// XX ${b /* kept */}`; /* kept */\nlet u = 'https://XX'; // kept\nx = /[/*] XX/; // kept\n</script>\n<style scoped>\n/* kept */ a { b: url(XX) }\n</style>\n<p>// XX</p>",
}

LANGUAGE_CASES |= {
    "b.svelte": "<p a={XX}></p>\n<!-- kept -->\n<script>\nlet a = '<!-- XX -->'; // kept\n</script>\n<!--\n@component\nAnd kept words.\n-->",
    "b.vue": "<template>\n  <!-- kept -->\n  <p a='XX'></p> <!-- kept\n  kept -->\n</template>\n<style>/* kept */</style>",
    "b.sql": "COMMENT ON COLUMN XX.XX IS 'Some kept words';\nCREATE TABLE XX (a int COMMENT 'Some kept words'); -- kept",
    "b.tf": 'variable "XX" {\n  description = "Some kept words"\n  XX = "XX"\n}\noutput "XX" {\n  description = <<-EOT\n    Some kept words\n  EOT\n}',
    "b.toml": 'description = "Some kept words" # kept\nXX = "XX"',
    "b.ex": '@doc "Some kept words"\n@shortdoc "Some kept words"\ndef f, do: "XX"',
    "b.erl": '-moduledoc """\nSome kept words.\n""".\n-doc "Some kept words".\nf() -> """\n % XX\n """. % kept',
    "b.el": '(defun XX (XX &optional (XX))\n  "Some kept words.\nAnd kept."\n  (message "XX")) ; kept\n(defvar XX nil "Some kept words")\n'
    "(defcustom XX '(XX XX)\n  \"Some kept words.\"\n  :type 'XX)\n(defun XX ()\n  (XX))",
    "b.clj": '(ns XX\n  "Some kept words."\n  (:require [XX]))\n(defn XX\n  "Some kept words."\n  [XX] "XX")\n(def XX "XX") ; kept',
    "a.nix": "# kept\n{ XX, ... }: /* kept */ {\n  description = \"Some kept words\";\n  XX = ''\n    # XX ${\"XX\"} ''' # XX\n  ''; # kept\n"
    "  x.description = ''\n    Some kept words.\n  '';\n}",
    "a.graphql": '"""\nSome kept words.\n"""\ntype XX {\n  "Some kept words"\n  XX(a: Int = "XX"): XX # kept\n}',
    "a.bat": "@echo XX REM XX\nREM Kept\n  @rem kept\n:: kept\nset XX=:: XX\n",
    "a.vim": '" Kept\nlet XX = "XX" " XX\n  " kept',
    "a.f90": "! Kept\nprint *, 'it''s ! XX', \"! XX\" ! kept\n!$omp parallel XX\n!DIR$ XX",
    "a.vb": "' Kept\nDim XX = \"' XX\" ' kept\n''' <summary>Kept</summary>\nREM kept",
    "a.adb": "-- Kept\nX : String := \"-- XX\"; -- kept\nC : Character := '\"'; -- kept",
    "a.sv": '// Kept\nalways @(*) XX = "// XX"; /* kept */ (* kept *)\n`XX',
    "a.sol": '/// @notice Kept\nstring a = "// XX"; /* kept */',
    "a.d": '/++ Kept +/ auto a = `// XX`; /* kept */ // kept\nauto b = "/+ XX";',
    "a.nim": '## Kept\nlet a = "# XX" # kept\n#[ kept #[ kept ]# kept ]# let b = """ # XX " """ # kept',
    "a.pas": "{ Kept } (* kept *) // kept\n{$XX}\na := 'it''s { XX';",
    "a.asm": '; Kept\nmov al, "; XX" ; kept',
    "a.ini": "; Kept\n# kept\nXX = XX ; XX\n[XX]\n#define XX\n#endif XX\n# if kept",
    "a.gd": '## Kept\nvar a = "# XX" # kept\nvar b = """\n# XX\n"""',
    "a.coffee": 'a = "#{b "# XX"} # XX" # kept\n###\nkept\n###\nb = """\n# XX\n"""',
    "a.tcl": '# Kept\nset a "# XX"\n  # kept\nputs XX ;# XX',
    "a.awk": "# Kept\n/# XX/ { print \"# XX\" } # kept\na ~ /# XX/ # kept",
    "a.pyx": '"""Some kept words."""\ncdef int XX = 1  # kept\ndef f():\n    """Some kept words."""',
}  # fmt: skip


@pytest.mark.parametrize(("path", "text"), LANGUAGE_CASES.items(), ids=LANGUAGE_CASES)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_comments_are_kept_and_strings_are_hidden(path, text, line_end):
    text = text.replace("\n", line_end)
    plain = read_markup(path, text).text
    assert len(plain) == len(text)
    assert "XX" not in plain
    # The first word of a sentence is hidden, since projects begin sentences differently.
    comments = [text[comment.start : comment.end] for comment in find_comments(text, path[1:].lower())]
    for comment in comments:  # with its mark, but descriptions without quotes
        is_description = comment.split()[:2] in (["Some", "kept"], ["XX", "kept"])
        assert is_description or re.match("(?i)[#/{=<!;%(@\"':-]|rem ", comment), comment
    assert sum(comment.casefold().count("kept") for comment in comments) == text.casefold().count("kept")


DESCRIPTIONS = (
    "XX:\n  description: Some kept words # the kept\n  summary: 'It''s kept'\n  title: XX\n  b:\n    description: |\n      Some kept\n      words `XX`.\n\n"
    "          XX\n\n      - kept item\n    c:\n      - description: >-\n          Some kept words.\n        d: XX\n    description: \"Some\\nkept words\"\n"
)  # fmt: skip


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_descriptions_in_yaml_are_text(line_end):
    text = DESCRIPTIONS.replace("\n", line_end)
    plain = read_markup("a.yml", text).text
    assert len(plain) == len(text)
    assert "XX" not in plain
    assert plain.casefold().count("kept") == text.casefold().count("kept")
    assert "It's" in plain  # with an apostrophe that is written twice
    assert "Some" not in read_markup("a.yml", text, {"yaml_fields": frozenset()}).text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Dockerfile", "FROM XX"),
        ("GNUmakefile", "a: XX"),
        ("CMakeLists.txt", "set(XX)"),
        ("b/Makefile", "a: XX"),
    ],
)
def test_files_with_a_name_and_no_suffix(name, text):
    assert extract_comments(f"# It is in the words.\n{text}\n", name) == ["It is in the words."]
    assert path_format(name).name == {"D": "Dockerfile", "C": "CMake"}.get(name[0], "Makefile")
    assert path_format(f"{name}.txt") is None


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.js", "/**\n * In the words.\n *\n * @example\n * its = then;\n *\n * than(the the)\n * @returns {x} of it\n */", "In the words. | of it"),
        ("a.java", "/**\n * In {@code a {b} c} of it.\n * @param its the words\n * @throws Then if it is\n */", "In # of it. | the words | if it is"),
        ("a.kt", "/**\n * In the words of it.\n * @param its the words\n * @sample a.b.then\n */", "In the words of it. | the words"),
        ("a.java", "/**\n * In the words:\n * <pre>\n * then it is\n *\n * the the\n * </pre>\n * of it <pre class=a>{@code its\n * then}</pre> and so\n */", "In the words: | of it | and so"),
        ("a.java", "/**\n * In the words of {@code x}\n * and so of {@link Y#z(int) the z}\n */", "In the words of # and so of #"),
        ("a.java", "/**\n * In the words:\n * {@snippet :\n * then it is {\n * the the\n * }\n * }\n * of it\n */", "In the words: # # # # # of it"),
        ("a.java", "/** In the words of `<pre>` and then `</pre>`. */", "In the words of # and then #"),
        ("a.cs", "/// In the words:\n/// <code lang=a>\n/// then it is\n///\n/// the the\n/// </code>\n/// of it", "In the words: | of it"),
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
        ("a.lua", "--- In the words.\n-- @tparam[opt=t.n or 1] int step the size", "In the words. | the size"),
        ("a.sty", "% In the words\n\\def\\a{5\\% the} % of it", "In the words | of it"),
        ("a.agda", "-- In the words\nx' = refl -- of it", "In the words | of it"),
        ("a.ads", "-- In the words\n-- seq ::= elmt elmt\n-- of it", "In the words | of it"),
        ("a.c", "// In the words that DO count and MUST be.", "In the words that DO count and MUST be."),
        ("a.sql", "-- In the words\n-- of it.\nselect 1", "In the words of it."),
        ("a.yaml", "# In the words\n# of it.\na: 1", "In the words of it."),
        ("a.c", "/** In the \\p its and (see @c then) of \\ref its::then \"the then\", \\e these words. */", "In the # and (see # of # these words."),
        ("a.h", "/// In the words\n/// \\c its, of the \\a then.\n/// \\b Not the words.", "In the words # of the # Not the words."),
        ("a.cpp", "/**\n * In the words.\n * \\verbatim\n * the the\n * \\endverbatim\n * Then \\f$ the the \\f$ of it.\n * @dot\n * the the\n * @enddot\n * \\fn the the\n */", "In the words. | Then # of it."),
        ("a.cpp", "/** \\section its Then it is\n * of the words. */", "Then it is of the words."),
        ("a.cpp", "// In these std::words of the end.\n// a = b == c;\n// If a == b, then it is the end of the words.", "In these # of the end. | If # # #, then it is the end of the words."),
        ("a.js", "// 1. Let it be the end.\nx;\n// Let response be null.", "Let it be the end. | Let response be null."),
        ("a.c", "/*\n" + " * In the words.\n" * 9 + "   Then it is.\n */", " ".join(["In the words."] * 9) + " Then it is."),
        (
            "a.hs",
            "-- | Make a 'Fold' of an 'A.B.Item', or it's @f a b@.\n--\n-- @\n-- 'f' :: a a\n-- @\n-- It's the user's.\nx = 1\n",
            "# a # of an # or it's # | It's the user's.",
        ),
        (
            "a.mli",
            "(** [f x [y]] makes a log, see {!A.b} of it.\n    {[ let x = a a ]} and {v a a v} it is. *)\n",
            "# # a log, see # of it. | and | it is.",
        ),
        # lines of prose that only end or begin like code
        ("a.ts", "// The size is still bounded by the whole file;\n// pass it to the other one.\n", "The size is still bounded by the whole file; # it to the other one."),
        ("a.c", "/* It reads the names, which are in the file (see above),\n   and the second is different, e.g. {X,Y,X}\n   of it. */\n", "It reads the names, which are in the file (see above), and the second is different, # # of it."),
        ("a.rs", "/// This method is available only on the compiler >=1.26. The\n/// other returns it.\nfn f() {}\n", "This method is available only on the compiler # The other returns it."),
        ("a.py", "# Of the files, all return the value that was set (if any)\nx = 1\n", "Of the files, all return the value that was set (if any)"),
        ("a.py", "# if x is not None and y is not None:\n#     return foo(x)\nx = 1\n", ""),
        ("a.js", "// for (const the of that.items()) {\n//   of.the(that, which, are);\n// for (const item of items) {\n//   return it;\n// }\n", ""),
        ("a.adb", "--  If the file is of the words then\n--  it is the end of the loop\nnull;\n", "If the file is of the words then it is the end of the loop"),
        # a header about the licence, and about the file
        (
            "a.cpp",
            "// Copyright John Doe 2006. Use it under the terms.\n//\n// This file implements the parts of it, which are used by all others.\n//\n// J. Doe. 1999, p. 7.\nint x;\n",
            "This file implements the parts of it, which are used by all others.",
        ),
        ("a.hs", "{-|\nModule      : A.B\nCopyright   : (C) 2012 X\n\nIt is the text of a module that has no licence.\n-}\nmodule A where\n", "It is the text of a module that has no licence."),
        # code as PowerShell, Scala and Go mark it
        (
            "a.ps1",
            "<#\n.SYNOPSIS\nIn the words.\n.PARAMETER its then\nOf the words.\n.EXAMPLE\n\n    its the the\n    of\n\nIt is of it.\n.NOTES\nThe end.\n#>\n",
            "In the words. | Of the words. | It is of it. | The end.",
        ),
        ("a.scala", "/** In the {{{ the the }}} words.\n  * {{{\n  * the the\n  * }}}\n  * It is of it.\n  */\n", "In the # words. | It is of it."),
        ("a.go", "// Output:\n// the the\n// a hour\nx()\n// The output: it is of it.\n", "The output: it is of it."),
        ("a.r", "#' In the \\code{the the}\n#' of it, see \\code{\\link[a]{the}}.\n#' @return It is \\pkg{of}\n", "In the # of it, see # | It is #"),
        # an article alone
        ("a.py", "x = 1  # an\ny = 2  # A.\n\n# an hour\n", "# | #. | an hour"),
        # quotation marks of older texts, and code with an apostrophe
        ("a.c", "/* If the `-r' or ``name'' of the `bash file' is set. */\n", "If the # or # of the bash file' is set."),
        ("a.py", "# It is the ``a='*'`` of `f(x='')` here.\n", "It is the # of # here."),
        # an article beside names of one letter
        ("a.py", "# We copy it to a apple tree\n# b\n#\n# Here b is a hour, a and b are equal, and a equals c, a long.\n", "We copy it to a apple tree # | # # is a hour, # and # are equal, and # equals #, # long."),
        # sections of docstrings: list items, descriptions beside names and of other functions
        ("a.py", '"""Of it.\n\nParameters\n----------\nway : {\'less\', \'more\'}\n    The words.\n\n    * \'less\': the words of `x` are less\n      than the rest.\n    1. Here it is the rest\n       of it.\n\n*args\n    The rest.\n"""\n', "Of it. | # | The words. | 'less': the words of # are less than the rest. | # it is the rest of it. | The rest."),
        ("a.py", '"""Of it.\n\nSee Also\n--------\nother : The words of the rest, which are more\n    than these.\naxis : int or None\n    The words.\n"""\n', "Of it. | # Also | The words of the rest, which are more than these. | The words."),
        ("a.py", '"""Of it.\n\nSee Also\n--------\nother : The words of the rest.\na.b, c : the end of it\n\nReturns\n-------\naxis : int or None\n    The words.\n"""\n', "Of it. | # Also | The words of the rest. | the end of it | # | The words."),
        # entries with prose, and the first word of a comparison
        ("a.py", "# Either\n# 'less': the words are less than the rest, of `x`\n", "# 'less': the words are less than the rest, of #"),
        ("a.py", "# It is:\n# 'less': 5, of `x`\n", "It is:"),
        ("a.py", "# Rather than these, we do it.\n", "Rather than these, we do it."),
    ],
)  # fmt: skip
def test_lines_of_a_comment_are_joined_and_tags_are_hidden(path, text, expected):
    assert " | ".join(extract_comments(text, path)) == expected


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


@pytest.mark.parametrize(
    ("name", "comment"),
    [
        ("a.tcc", "// {}\nint has_an(int a);\n"),
        ("a.inl", "/* {} */\n#include <a>\n"),
        ("a.ada", "-- {}\nprocedure A is begin null; end A;\n"),
        ("a.service", "# {}\n[Unit]\nAfter=a.target\n"),
        ("a.t", "# {}\nok(1, 'a the');\n"),
        ("BUILD.bazel", "# {}\nfilegroup(name = 'a the')\n"),
        ("a.thrift", "// {}\nstruct A {{ 1: string an }}\n"),
        ("a.td", '// {}\nlet summary = "a the";\n'),
        ("a.inc", '#define a the // {}\nx = "http://a.the";\n'),
        ("b.inc", "# {}\n# define a the\n#a the\n"),
        ("a.m4", "dnl {}\nAC_A([the])\n#include <a>\n"),
        ("b.m4", "AC_A([$#, the]) # {}\n"),
        ("a.f", "C     {}\nCf2py intent(in) a\n      A = 'the ! a'\n      CALL THE\n"),
        ("b.f", "*> {}\n!$omp a\n"),
        ("a.for", "      A = 1 ! {}\n"),
        ("a.conf.j2", "# {}\n{{% if a %}}\na = {{{{ the }}}}\n"),
        ("Dockerfile.erb", "# {}\nRUN a the\n"),
    ],
)
def test_less_common_suffixes_are_read_as_the_language_they_belong_to(name, comment):
    sentence = "The value depends on the size."
    assert extract_comments(comment.format(sentence), name) == [sentence]
