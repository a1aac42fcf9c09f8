"""Quick fixes that suppress flags: comments in the syntax of each format, words in settings."""

from __future__ import annotations

import json
from itertools import product

import pytest
from hypothesis import given, strategies as st

from disambig.checking import Flag, TextLines, find_flags, markup_reader, read_directives
from disambig.configuration import ProjectSettings
from disambig.lsp import ignore_everywhere, ignore_in_file, ignore_in_line, ignore_target, single_edit
from disambig.markup import FORMATS, HTML_COMMENT, NO_COMMENT, read_markup

COMMENT = "<!-- disambig: ignore-line then -->"
FRONT = " # disambig: ignore-line then"
ABOVE = "# disambig: ignore-next-line then"
CELL = {"cell_type": "markdown", "source": ["One.\n", "It is then.\n", "So."]}
NOTEBOOK = json.dumps({"cells": [CELL]}, indent=1)


def flag(text: str, word: str = "then", task: str = "slip") -> Flag:
    start = text.rindex(word) if word else text.index("people")
    return Flag(start, start + len(word), 1, 1, word, "than", task, 0.9, (start, start + len(word), "than"))


def apply_edit(edit, text: str) -> str:
    start, end, new = edit
    return text[:start] + new + text[end:]


def with_comment(make, name: str, text: str) -> str | None:
    """Return the text with the comment that `make` offers; None if it offers none."""
    edit = make(name, text, flag(text), markup_reader(name))
    return edit and apply_edit(edit, text)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.md", "Well. \r\nIt is then.\r\nSo.", f"Well. \r\nIt is then. {COMMENT}\r\nSo."),
        ("a.txt", "It is then.", "It is then. <!-- disambig: ignore-line then -->"),
        ("a.tex", "It is then.\nSo.", "It is then. % disambig: ignore-line then\nSo."),
        ("a.tex", "  It is then. % well\n", "  % disambig: ignore-next-line then\n  It is then. % well\n"),
        ("a.tsx", "// It is then.\nx = 1;\n",
         "// It is then. // disambig: ignore-line then\nx = 1;\n"),
        ("a.vue", "<template><p>It is then.</p></template>\n",
         f"<template><p>It is then.</p></template> {COMMENT}\n"),
        ("a.m", "% It is then.\nx = 1;\n", "% disambig: ignore-next-line then\n% It is then.\nx = 1;\n"),
        ("a.m", "#import <a.h>\nint x; // It is then.\n",
         "#import <a.h>\nint x; // It is then. // disambig: ignore-line then\n"),
        ("a.svelte", "<p>It is\nthen.</p>\n", f"<p>It is\nthen.</p> {COMMENT}\n"),
        ("a.md", "| a | b |\n|---|---|\n| it | is then |\n",
         f"| a | b |\n|---|---|\n| it | is then {COMMENT} |\n"),
        # documents
        ("a.rst", "So.\n\nIt is then.\n", "So.\n\n.. disambig: ignore-next-line then\n\nIt is then.\n"),
        ("a.html", "<p>It is then.</p>\n", f"<p>It is then.</p> {COMMENT}\n"),
        ("a.adoc", "So\nit is then.\n", "So\n// disambig: ignore-next-line then\nit is then.\n"),
        ("a.org", "* So\nIt is then.\n", "* So\n# disambig: ignore-next-line then\nIt is then.\n"),
        ("a.1", ".SH A\nSo\nit is then.\n", '.SH A\nSo\n.\\" disambig: ignore-next-line then\nit is then.\n'),
        ("a.ipynb", NOTEBOOK, NOTEBOOK.replace("then.", f"then. {COMMENT}")),
        # front matter
        ("a.md", "---\ntitle: It is then.\n---\nx\n", f"---\ntitle: It is then.{FRONT}\n---\nx\n"),
        ("a.mdx", "---\ntitle: It is then.\n---\nx\n", f"---\ntitle: It is then.{FRONT}\n---\nx\n"),
        ("a.md", '\ufeff---\r\ntitle: "It is then" \r\n---\r\nx',
         f'\ufeff---\r\ntitle: "It is then"{FRONT} \r\n---\r\nx'),
        ("a.md", "---\ntitle: It is then. # so\n---\nx\n",
         f"---\n{ABOVE}\ntitle: It is then. # so\n---\nx\n"),
        ("a.md", "---\na:\n  summary: It is then\n    so.\n---\nx\n",
         f"---\na:\n  {ABOVE}\n  summary: It is then\n    so.\n---\nx\n"),
        ("a.md", '+++\ntitle = "It is then"\n+++\nx\n', f'+++\ntitle = "It is then"{FRONT}\n+++\nx\n'),
        ("a.md", '+++\ntitle = """It is then\nso"""\n+++\nx\n',
         f'+++\n{ABOVE}\ntitle = """It is then\nso"""\n+++\nx\n'),
        ("a.md", "---\ntitle: x\n---\nIt is then.\n", f"---\ntitle: x\n---\nIt is then. {COMMENT}\n"),
        # line breaks and attributes are kept
        ("a.md", "It is then.\\\nSo.\n", f"It is then. {COMMENT}\\\nSo.\n"),
        ("a.md", "It is then.\\\\\nSo.\n", f"It is then.\\\\ {COMMENT}\nSo.\n"),
        ("a.md", "It is then.  \nSo.\n", f"It is then. {COMMENT}  \nSo.\n"),
        ("a.mdx", "It is then.\\\n", "It is then. {/* disambig: ignore-line then */}\\\n"),
        ("a.md", "# It is then {#id}\n", f"# It is then {COMMENT} {{#id}}\n"),
        ("a.md", "# It is then {: .a }\n", f"# It is then {COMMENT} {{: .a }}\n"),
        ("a.md", "# It is then ## {#id}\n", f"# It is then {COMMENT} ## {{#id}}\n"),
        ("a.md", "# It is then ##\n", f"# It is then {COMMENT} ##\n"),
        ("a.md", "# It is then{#id}\n", "<!-- disambig: ignore-next-line then -->\n# It is then{#id}\n"),
        ("a.md", "It is then {#id}\n---\n", f"It is then {COMMENT} {{#id}}\n---\n"),
        ("a.md", "It is *then*{.a}\nSo.\n", f"It is *then*{{.a}} {COMMENT}\nSo.\n"),
        # no comment can be inside a value of front matter
        ("a.md", "---\ndescription: >\n  It is\n  then.\n---\nx\n", None),
        ("a.md", "---\ndescription: It is\n  then.\n---\nx\n", None),
        ("a.md", '---\ndescription: "It is\n  then.\n  So."\n---\nx\n', None),
        ("a.md", '+++\ntitle = """\nIt is then\nso"""\n+++\nx\n', None),
        # one above would split a paragraph or list, or would be code too
        ("a.rst", "So\nit is then.\n", None),
        ("a.rst", "1. So.\n2. It is then.\n", None),
        ("a.org", "So\nit is then.\n", None),
        ("a.md", "```\nIt is then.\n```\n", None),
    ],
)  # fmt: skip
def test_comment_in_a_line(name, text, expected):
    assert with_comment(ignore_in_line, name, text) == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.md", "It is then.\n", "<!-- disambig: ignore then -->\n\nIt is then.\n"),
        ("a.md", "---\ntitle: x\n---\nIt is then.\n",
         "---\ntitle: x\n---\nIt is then.\n\n<!-- disambig: ignore then -->\n"),
        ("a.md", "\ufeffIt is then.", "\ufeff<!-- disambig: ignore then -->\n\nIt is then."),
        ("a.tex", "It is then.\n", "% disambig: ignore then\nIt is then.\n"),
        ("a.pyi", "#!/usr/bin/python\n# -*- coding: utf-8 -*-\n# It is then.\n",
         "#!/usr/bin/python\n# -*- coding: utf-8 -*-\n# disambig: ignore then\n\n# It is then.\n"),
        ("a.py", "# vim: set fileencoding=utf-8 :\nx = 1  # It is then.\n",
         "# vim: set fileencoding=utf-8 :\n# disambig: ignore then\nx = 1  # It is then.\n"),
        ("a.py", "#!/usr/bin/python\nx = 1  # It is then.\n# coding: none\n",
         "#!/usr/bin/python\n# disambig: ignore then\nx = 1  # It is then.\n# coding: none\n"),
        ("a.md", "# Encoding: then\n", "<!-- disambig: ignore then -->\n\n# Encoding: then\n"),
        ("a.bash", "#!/bin/bash\n# It is then.\n",
         "#!/bin/bash\n# disambig: ignore then\n\n# It is then.\n"),
        ("a.mjs", "// It is then.\n", "// disambig: ignore then\n\n// It is then.\n"),
        ("a.md", "<!-- disambig: ignore quite -->\nIt is then.",
         "<!-- disambig: ignore quite, then -->\nIt is then."),
        ("a.tex", "% disambig: ignore-file quite\nIt is then.",
         "% disambig: ignore-file quite, then\nIt is then."),
        # documents
        ("a.rst", "It is then.\n", ".. disambig: ignore then\n\nIt is then.\n"),
        ("a.xhtml", "<?xml version='1.0'?>\n<!DOCTYPE html>\n<p>It is then.",
         "<?xml version='1.0'?>\n<!DOCTYPE html>\n<!-- disambig: ignore then -->\n\n<p>It is then."),
        ("a.adoc", "= So\n\nIt is then.\n", "// disambig: ignore then\n= So\n\nIt is then.\n"),
        ("a.org", "It is then.\n", "# disambig: ignore then\nIt is then.\n"),
        ("a.8", "'\\\" t\n.SH A\nIt is then.\n",
         "'\\\" t\n.\\\" disambig: ignore then\n.SH A\nIt is then.\n"),
        ("a.ipynb", NOTEBOOK, NOTEBOOK.replace("then.", "then. <!-- disambig: ignore then -->")),
    ],
)  # fmt: skip
def test_comment_for_the_file(name, text, expected):
    assert with_comment(ignore_in_file, name, text) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("It is then.\\\n", f"It is then. {COMMENT}\\\n"),
        ("It is then.  \n", f"It is then. {COMMENT}  \n"),
        ("## It is then {#id}\n", f"## It is then {COMMENT} {{#id}}\n"),
        ("## It is then{#id}\n", None),
    ],
)
def test_comment_keeps_line_breaks_and_attributes_in_notebooks(line, expected):
    text = json.dumps({"cells": [{"cell_type": "markdown", "source": ["So.\n", line, "So."]}]})
    edit = ignore_in_line("a.ipynb", text, flag(text), markup_reader("a.ipynb"))
    if expected is None:
        assert edit is None
    else:
        assert json.loads(apply_edit(edit, text))["cells"][0]["source"] == ["So.\n", expected, "So."]


def test_names_the_rule_of_a_missing_word():
    text = "A number people ate."
    missing = flag(text, "", "preposition")
    assert ignore_target(missing) == "rule:preposition"
    changed = apply_edit(ignore_in_line("a.md", text, missing, markup_reader("a.md")), text)
    assert changed == "A number people ate. <!-- disambig: ignore-line[preposition] -->"


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("disambig.toml", '# ours\nignore = ["a"]\n', '# ours\nignore = ["a", "then"]\n'),
        ("disambig.toml", 'ignore = [\n    "a",\n]\n', 'ignore = [\n    "a",\n    "then",\n]\n'),
        ("pyproject.toml", '[tool.disambig]\ntasks = ["slip"]\n\n[project]\nname = "x"\n',
         '[tool.disambig]\ntasks = ["slip"]\nignore = ["then"]\n\n[project]\nname = "x"\n'),
        (".disambig.toml", "", 'ignore = ["then"]\n'),
        ("disambig.toml", '[overrides."*.tex"]\nignore = ["b"]\n',
         'ignore = ["then"]\n\n[overrides."*.tex"]\nignore = ["b"]\n'),
    ],
)  # fmt: skip
def test_word_in_the_settings(tmp_path, name, old, new):
    (tmp_path / name).write_text(old)
    path, actual, changed = ignore_everywhere(str(tmp_path / "a.md"), str(tmp_path), "then", {})
    assert (path, actual) == (str(tmp_path / name), old)
    (tmp_path / name).write_text(changed)
    assert "then" in ProjectSettings().for_file(str(tmp_path / "a.md")).ignore
    assert changed.split() == new.split()
    assert ignore_everywhere(str(tmp_path / "a.md"), str(tmp_path), "then", {})[2] == changed


def test_unsaved_and_missing_settings(tmp_path):
    path, actual, changed = ignore_everywhere(str(tmp_path / "sub" / "a.md"), str(tmp_path), "then", {})
    assert (path, actual, changed) == (str(tmp_path / "disambig.toml"), None, 'ignore = ["then"]\n')
    (tmp_path / "disambig.toml").write_text("")
    unsaved = {path: '# unsaved\nignore = ["b"]\n'}
    _, actual, changed = ignore_everywhere(str(tmp_path / "a.md"), str(tmp_path), "then", unsaved)
    assert changed == '# unsaved\nignore = ["b", "then"]\n'


@given(st.text(alphabet="ab\n", max_size=12), st.text(alphabet="ab\n", max_size=12))
def test_single_edit(old, new):
    assert apply_edit(single_edit(old, new), old) == new


PROSE = "It is then."
PROSE_NOTEBOOK = json.dumps({"cells": [{"cell_type": "markdown", "source": ["So.\n", f"{PROSE}\n", "So."]}]})

# texts of some formats; others have a paragraph of prose, or a comment of one line
SPECIAL = {
    ".html": f"<p>So.</p>\n<p>{PROSE}</p>\n",
    ".xml": f"<section><title>So.</title>\n<para>{PROSE}</para></section>\n",
    ".ipynb": PROSE_NOTEBOOK,
    ".adoc": f"So.\n\n{PROSE}\n",
    ".man": f".SH NAME\nSo\n{PROSE}\n",
    ".1": f".SH NAME\nSo\n{PROSE}\n",
    ".php": f"<?php\n// {PROSE}\n",
    ".c": f"/* {PROSE} */\nint x;\n",
    ".cpp": f"/* {PROSE} */\nint x;\n",
    ".java": f"/** {PROSE} */\nclass A {{}}\n",
    ".hs": f"-- | {PROSE}\nf = 1\n",
    ".svelte": f"<script>\n// {PROSE}\nlet x\n</script>\n",
    ".vue": f"<script>\n// {PROSE}\nlet x\n</script>\n",
    ".pod": f"=pod\n\nSo.\n\n{PROSE}\n",
    ".resx": f"<root>\n<data name='a'>\n<value>{PROSE}</value>\n</data>\n</root>\n",
    ".xliff": f"<xliff>\n<file>\n<source>{PROSE}</source>\n</file>\n</xliff>\n",
    ".json": f'{{\n"a": "So it is.",\n"b": "{PROSE}"\n}}\n',
    ".srt": f"1\n00:00:01,000 --> 00:00:02,000\n{PROSE}\n",
    ".eml": f"Subject: So\n\n{PROSE}\n",
    ".po": f'msgid "So."\nmsgstr ""\n\nmsgid "{PROSE}"\nmsgstr ""\n',
}

CASES = {}
for entry in FORMATS:
    suffix = entry.suffixes[0]
    line = f"{entry.comment[0]}{PROSE}{entry.comment[1]}\nx = 1\n" if entry.lexer else f"So.\n\n{PROSE}\n"
    CASES[suffix] = SPECIAL.get(suffix, line)

SYNTAX = {entry.suffixes[0]: entry.comment for entry in FORMATS}
CASES[".txt"], SYNTAX[".txt"] = f"{PROSE}\n", ("<!-- ", " -->")
DIRECTIVES = {ignore_in_line: ("ignore-line", "ignore-next-line"), ignore_in_file: ("ignore",)}


@pytest.mark.parametrize("suffix", sorted(CASES))
def test_fix_uses_the_syntax_of_the_format(suffix):
    for make, line_end in product(DIRECTIVES, ("\n", "\r\n")):
        check_syntax_of_fix(suffix, make, line_end)


def check_syntax_of_fix(suffix, make, line_end):
    name, text = f"a{suffix}", CASES[suffix].replace("\n", line_end)
    start = text.index("then")
    edit = make(name, text, flag(text), markup_reader(name))
    if SYNTAX[suffix] == NO_COMMENT:
        assert edit is None
        return
    at, end, new = edit
    changed = text[:at] + new + text[end:]
    in_template = suffix in (".vue", ".svelte") and make is ignore_in_file
    before, after = HTML_COMMENT if in_template else SYNTAX[suffix]
    written = [f"{before}disambig: {directive} then{after}" for directive in DIRECTIVES[make]]
    assert any(one.strip() in new for one in written), new
    plain = read_markup(name, changed)
    assert not plain.problem
    position = start + (len(new) if at <= start else 0)
    assert plain.text[position : position + 4] == "then"
    directives = read_directives(name, changed, plain.comments, TextLines(changed), plain.text)
    assert not directives.problems
    assert directives.hiding(position, "then", "slip")
    assert suffix == ".txt" or "disambig" not in plain.text
    assert not find_flags(name, changed, plain, ()).problems


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    ("directive", "hidden"), [("ignore-line", ["a"]), ("ignore-next-line", ["b"]), ("off", ["b", "c", "d"])]
)
def test_directives_in_notebooks_apply_to_lines_of_cells(indent, directive, hidden):
    cell = [f"a then <!-- disambig: {directive} -->\n", "\n", "b then\n", "c then"]
    cells = [{"cell_type": "markdown", "source": cell}, {"cell_type": "markdown", "source": ["d then"]}]
    text = json.dumps({"cells": cells}, indent=indent)
    plain = read_markup("a.ipynb", text)
    directives = read_directives("a.ipynb", text, plain.comments, TextLines(text), plain.text)
    places = {word: text.index(f"{word} then") + 2 for word in "abcd"}
    assert [word for word, at in places.items() if directives.hiding(at, "then", "slip")] == hidden
