"""The quick fix of each format: a comment in its own syntax, which suppresses the flag and breaks nothing."""

from __future__ import annotations

import json

import pytest

from disambig.checking import Flag, TextLines, find_flags, markup_reader, read_directives
from disambig.lsp import ignore_in_file, ignore_in_line
from disambig.markup import FORMATS, read_markup

PROSE = "It is then."
NOTEBOOK = json.dumps({"cells": [{"cell_type": "markdown", "source": ["So.\n", f"{PROSE}\n", "So."]}]})
SPECIAL = {
    ".html": f"<p>So.</p>\n<p>{PROSE}</p>\n",
    ".ipynb": NOTEBOOK,
    ".adoc": f"So.\n\n{PROSE}\n",
    ".man": f".SH NAME\nSo\n{PROSE}\n",
    ".1": f".SH NAME\nSo\n{PROSE}\n",
    ".php": f"<?php\n// {PROSE}\n",
    ".c": f"/* {PROSE} */\nint x;\n",
    ".cpp": f"/* {PROSE} */\nint x;\n",
    ".java": f"/** {PROSE} */\nclass A {{}}\n",
    ".hs": f"-- | {PROSE}\nf = 1\n",
}
"""Texts of formats; others have a paragraph of prose, or a comment of a line."""
CASES = {}
for entry in FORMATS:
    suffix = entry.suffixes[0]
    line = f"{entry.comment[0]}{PROSE}{entry.comment[1]}\nx = 1\n" if entry.lexer else f"So.\n\n{PROSE}\n"
    CASES[suffix] = SPECIAL.get(suffix, line)
SYNTAX = {entry.suffixes[0]: entry.comment for entry in FORMATS}
CASES[".txt"], SYNTAX[".txt"] = f"{PROSE}\n", ("<!-- ", " -->")
DIRECTIVES = {ignore_in_line: ("ignore-line", "ignore-next-line"), ignore_in_file: ("ignore",)}


@pytest.mark.parametrize("suffix", sorted(CASES))
@pytest.mark.parametrize("make", [ignore_in_line, ignore_in_file])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_the_fix_is_written_in_the_syntax_of_the_format(suffix, make, line_end):
    name, text = f"a{suffix}", CASES[suffix].replace("\n", line_end)
    start = text.index("then")
    flag = Flag(start, start + 4, 1, 1, "then", "than", "slip", 0.9, (start, start + 4, "than"))
    at, end, new = make(name, text, flag, markup_reader(name))
    changed = text[:at] + new + text[end:]
    before, after = SYNTAX[suffix]
    written = [f"{before}disambig: {directive} then{after}" for directive in DIRECTIVES[make]]
    assert any(one.strip() in new for one in written), new
    plain = read_markup(name, changed)
    assert not plain.problem
    place = start + (len(new) if at <= start else 0)
    assert plain.text[place : place + 4] == "then"
    directives = read_directives(name, changed, plain.comments, TextLines(changed), plain.text)
    assert not directives.problems
    assert directives.hiding(place, "then", "slip")
    assert suffix == ".txt" or "disambig" not in plain.text
    assert not find_flags(name, changed, plain, ()).problems


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    ("directive", "hidden"),
    [("ignore-line", ["a"]), ("ignore-next-line", ["b"]), ("off", ["b", "c", "d"])],
)
def test_lines_of_notebooks_are_those_of_their_cells(indent, directive, hidden):
    cell = [f"a then <!-- disambig: {directive} -->\n", "\n", "b then\n", "c then"]
    cells = [{"cell_type": "markdown", "source": cell}, {"cell_type": "markdown", "source": ["d then"]}]
    text = json.dumps({"cells": cells}, indent=indent)
    plain = read_markup("a.ipynb", text)
    directives = read_directives("a.ipynb", text, plain.comments, TextLines(text), plain.text)
    places = {word: text.index(f"{word} then") + 2 for word in "abcd"}
    assert [word for word, at in places.items() if directives.hiding(at, "then", "slip")] == hidden
