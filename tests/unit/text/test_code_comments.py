"""Code: what is text in it, what in a comment is none, and that nothing moves and nothing else is read."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processor_time import grows_linearly

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
from disambig.markup import code as marks
from disambig.markup.code import SUFFIXES
from disambig.text import HIDDEN

ROOT = Path(__file__).parents[3]


def kept(text, path="x.py"):
    """Return what is left as text, a paragraph each: # for what is no word."""
    found = read_markup(path, text)
    assert len(found.text) == len(text)
    whole = re.sub(f"[{OPAQUE}\ue000\ue001]+", "#", found.text.replace("\u00a0", " "))
    parts = re.split(f"{BREAK}|\n *\n|\r\n *\r\n", whole)
    return [" ".join(part.split()) for part in parts if part.strip()]


def test_the_suffixes_are_those_that_are_read():
    assert set(CODE) == set(SUFFIXES)
    assert all(has_markup("A" + suffix.upper()) for suffix in CODE)


@pytest.mark.parametrize(
    ("path", "text", "said"),
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
        ("a.tsx", "const a = <p>no</p>; // the words", ["the words"]),
        ("a.tsx", "const a = <p>it // is said\n</p>;", ["is said"]),
        ("a.go", "var s = `// no`\n/* the words */\n", ["the words"]),
        ("a.c", "#include <no.h> // the words\n#if 0\nno words\n#endif\n", ["the words"]),
        ("a.h", '/* the words */ char *s = "/* no */";', ["the words"]),
        ("a.sh", '#!/bin/sh\n# the words\necho "# no" ${x#no} a#no\ncat <<E\n# no\nE\n', ["the words"]),
    ],
)
def test_only_comments_are_text(path, text, said):
    assert kept(text, path) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('"""The words."""\n', ["The words."]),
        ("#!/usr/bin/python\n# the first\n'''the words'''\nx = 1\n", ["the first", "the words"]),
        ('def f(x: int = 3) -> "no: no":\n    r"the words"\n    return """no"""\n', ["the words"]),
        ('class A:\n\n    """the words"""\n    x = 1\n    """no words"""\n', ["the words"]),
        ('async def f[T: int](\n    x,  # the mark\n):\n    """the words"""', ["the mark", "the words"]),
        ('f(\n    """no words""",\n)\n', []),
        ('def f():\n    f"""no {words}"""\ndef g():\n    b"no words"\n', []),
        ('def f():\n    """no words""".upper()\n', []),
        ('class A: "the words"; x = 1\n', ["the words"]),
        ("def f(: [\nclass B:\n    '''the words'''\n", ["the words"]),
    ],
)
def test_docstrings_come_first_in_modules_classes_and_functions(text, said):
    assert kept(text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# of the\n# words\n", ["of the words"]),
        ("    # of the\r\n    # words\r\n", ["of the words"]),
        ("# of the\n#\n# it\n", ["of the", "it"]),
        ("# of the\n\n# it\n", ["of the", "it"]),
        ("x  # of the\ny  # it\n", ["of the", "it"]),
        ("x = 1  # of the\n       # words\n", ["of the words"]),
        ("# of the\n    # it\n", ["of the", "it"]),
        ("# of the\n# Then it\n", ["of the", "Then it"]),
        ("#: of the\n##   words  ##\n", ["of the words ##"]),
    ],
)
def test_line_comments_below_each_other_are_one_paragraph(text, said):
    assert kept(text) == said


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
        ("a.py", '"""\n>>> it.is(then)\nof the words\n"""'),
        ("a.py", '"""\n.. code-block:: python\n\n    of the words\n\n    to it\n"""'),
        ("a.py", '"""\n::\n\n    of the words\n"""'),
        ("a.rs", "/// ```\n/// of the words\n/// ```"),
        ("a.go", "// See:\n//\n//\tof the words"),
    ],
)
def test_what_tools_read_licences_and_code_are_no_text(path, line):
    words = " ".join(kept(line + "\n", path)).replace("#", "").replace(":", "")
    assert not words.strip()


@pytest.mark.parametrize("words", ["regions of it", "prettier-looking words", "pragmas of it", "goes by it"])
def test_words_that_begin_like_marks_of_tools_are_text(words):
    assert kept(f"// the\n// {words}\n", "a.c") == [f"the {words}"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# TODO(who): it is the words", ["it is the words"]),
        ("# we call foo(a, b) and x.y of `then`", ["we call # and # of #"]),
        ("# with --the-flag, in snake_case or camelCase", ["with # in # or #"]),
        ("# the in operator of a for-loop", ["the # operator of a #"]),
        ("# as k * n, see https://example.org/then.", ["as # see #"]),
        ("# if a is b", ["if # is #"]),
        ("# if a word is", ["if a word is"]),
        ("# NAN of an OPTION", ["# of an #"]),
        ("# Return the words. Returns them: it is", ["# the words. # them: it is"]),
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
    ],
)
def test_marks_of_comments_are_no_words_and_their_prose_is_text(text, said):
    assert kept(text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/**\n * @param {string} [its=1] - the words\n * @returns {x} of it\n */", ["the words", "of it"]),
        ("/// @brief Of the words\n/// \\param then it is", ["Of the words", "it is"]),
        ("/** Is {@link then} of it. */", ["Is # of it."]),
    ],
)
def test_tags_of_documentation(text, said):
    assert kept(text, "a.js") == said


PIECES = (
    "# // /* */ \\ ' \" ''' @param { } ( ) : ` x=1 ): - noqa <<E E >>> ... --- ~~~ :: <!-- --> $ é".split()
)
PIECES += ["\n", "\r\n", "\r", " ", "    ", "\t", "a", "the", "Word", "class A:", "def f(", '"""', "\u2029"]
PIECES += ["\U0001f600", "\ufeff", "\x00", "\x0c"]
TEXT = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@given(TEXT, st.sampled_from(CODE))
@settings(max_examples=max(200, settings.default.max_examples), deadline=None)
def test_offsets_stay_and_nothing_but_comments_is_text(text, suffix):
    found = read_markup("x" + suffix, text)
    assert len(found.text) == len(text)
    inside = {i for each in find_comments(text, suffix) for i in range(each.start, each.end)}
    for at, (old, new) in enumerate(zip(text, found.text, strict=True)):
        assert new in (old, " ", HIDDEN, "\u00a0", OPAQUE, BREAK, "\ue000", "\ue001")
        assert old in "\r\n" or new not in "\r\n"
        assert at in inside or not (new == old and new.isalnum())
    for start, end in found.comments:
        assert 0 <= start < end <= len(text)


def words_of_python(text):
    """Return the places of all that Python's own tokeniser takes for a comment or a string."""
    starts = [0]
    for line in io.StringIO(text).readlines():
        starts.append(starts[-1] + len(line))
    found = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            (a, b), (c, d) = token.start, token.end
            found |= set(range(starts[a - 1] + b, starts[c - 1] + d))
    return found


@pytest.mark.parametrize(
    "path", sorted((ROOT / "disambig" / "text").rglob("*.py")), ids=lambda path: path.stem
)
def test_python_itself_sees_the_same_comments_and_docstrings(path):
    text = path.read_text(encoding="utf8")
    places = words_of_python(text)
    found = find_comments(text, ".py")
    assert all(at in places for each in found for at in range(each.start, each.end))
    documented = ast.Module, ast.ClassDef, ast.FunctionDef
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, documented)]
    docstrings = sum(ast.get_docstring(node) is not None for node in nodes)
    assert sum(each.docstring for each in found) == docstrings
    comments = [t for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type == tokenize.COMMENT]
    assert [text[each.start : each.end] for each in found if not each.docstring] == [
        t.string for t in comments
    ]


@pytest.mark.parametrize("suffix", [".py", ".c", ".js"])
@pytest.mark.parametrize(
    "mark",
    [
        "#",
        "# ",
        "/",
        "/*",
        "// (\n",
        '"""',
        "'\n",
        "\n",
        "# x=\n",
        " * @x {\n",
        "a : b\n\n",
        "(",
        "# >>> a\n#\n",
    ],
)
def test_many_marks_in_code_take_linear_time(mark, suffix):
    for start in ("", '"""\n', "/*\n"):

        def read(size: int, start: str = start) -> None:
            read_markup("x" + suffix, start + mark * (size // len(mark)))

        assert grows_linearly(read, 20_000)


def test_a_line_that_a_program_made_is_not_read():
    assert kept("/* the words */ " + "x();" * 600 + "\n// of it\n", "a.js") == ["of it"]


@pytest.mark.parametrize(("path", "start", "end"), [("a.py", '"""', '"""'), ("a.c", "/* ", "*/")])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_long_line_within_a_comment_is_not_read(path, start, end, line_end):
    for length in (1999, 2000):
        long = f"Of them {'.' * (length - 8)}"
        found = kept(line_end.join([f"{start}The words", "", long, "", "of it", end]), path)
        assert found[-1] == "of it"
        assert any("them" in each for each in found) == (length < 2000)


def test_a_run_without_a_bracket_is_no_call_in_linear_time():
    assert grows_linearly(lambda size: marks.CALL.search("x" * size), 100_000)
    assert [match[0] for match in marks.CALL.finditer("see a.b[0](x, y(z)).c() (f) g()h()")] == [
        "0](x, y(z))",
        ".c()",
        "g()",
        "h()",
    ]


def test_blocks_know_where_their_lines_stand():
    text = "x = 1  # of the\r\n       #  words\r\n"
    (block,) = iterate_blocks(text, find_comments(text, ".py"))
    assert block.text == "of the\n words" or block.text == " of the\n  words"
    assert "\n".join(text[line.start : line.end] for line in block.lines) == block.text


@pytest.mark.parametrize("suffix", sorted(LANGUAGES))
@pytest.mark.parametrize(
    "gap", ["\n" * 400, "\r\n" * 200, "    \n" * 90, " " * 300, " " * 200 + "\n" * 9 + " " * 90]
)
def test_long_gaps_move_no_comment(suffix, gap):
    begin = path_format("x" + suffix).comment[0].strip()
    line = "/* here */\n" if begin == "//" else f"{begin} here\n"
    begin = line[:2].strip()
    php = "<?php " if suffix == ".php" else ""
    text = f"{php}{line}{gap}{line}x = 1{gap}\n{line}"
    found = find_comments(text, suffix)
    assert [text[each.start : each.end].split() for each in found] == [line.split()] * 3
    assert [each.start for each in found] == [match.start() for match in re.finditer(re.escape(begin), text)]


@pytest.mark.parametrize("suffix", [".js", ".ts", ".go"])
def test_a_comment_that_is_not_closed_hides_none_after_it(suffix):
    text = 'x = "/*"; /* one */ y = 2; /* two\n// three\n/* four\n'
    found = [text[each.start : each.end] for each in find_comments(text, suffix)]
    assert found[-1] == "// three"


SLOW = {
    "blank lines": " \r\n",
    "comments that are not closed": "/* a\n",
    "of documentation": "/** @param a b\n",
}


@pytest.mark.parametrize("suffix", sorted(LANGUAGES))
@pytest.mark.parametrize("piece", SLOW.values(), ids=SLOW)
def test_time_grows_with_the_length_alone(suffix, piece):
    assert grows_linearly(lambda size: find_comments(piece * (size // len(piece)), suffix), 100_000)
