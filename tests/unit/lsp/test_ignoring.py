from __future__ import annotations

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.checking import Flag, markup_reader
from disambig.configuration import ProjectSettings
from disambig.lsp import ignore_everywhere, ignore_in_file, ignore_in_line, ignore_target, single_edit
from disambig.markup import LANGUAGES, path_format

COMMENT = "<!-- disambig: ignore-line then -->"


def flag(text: str, word: str = "then", task: str = "slip") -> Flag:
    start = text.rindex(word) if word else text.index("people")
    return Flag(start, start + len(word), 1, 1, word, "than", task, 0.9, (start, start + len(word), "than"))


def after(edit, text: str) -> str:
    start, end, new = edit
    return text[:start] + new + text[end:]


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("a.md", "Well. \r\nIt is then.\r\nSo.", f"Well. \r\nIt is then. {COMMENT}\r\nSo."),
        ("a.txt", "It is then.", "It is then. <!-- disambig: ignore-line then -->"),
        ("a.tex", "It is then.\nSo.", "It is then. % disambig: ignore-line then\nSo."),
        ("a.tex", "  It is then. % well\n", "  % disambig: ignore-next-line then\n  It is then. % well\n"),
        ("a.tsx", "// It is then.\nx = 1;\n",
         "// It is then. // disambig: ignore-line then\nx = 1;\n"),
        ("a.md", "| a | b |\n|---|---|\n| it | is then |\n",
         f"| a | b |\n|---|---|\n| it | is then {COMMENT} |\n"),
    ],
)  # fmt: skip
def test_a_comment_in_the_line(name, text, wanted):
    assert after(ignore_in_line(name, text, flag(text), markup_reader(name)), text) == wanted


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
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
    ],
)  # fmt: skip
def test_a_comment_for_the_file(name, text, wanted):
    assert after(ignore_in_file(name, text, flag(text), markup_reader(name)), text) == wanted


@pytest.mark.parametrize("suffix", sorted(LANGUAGES))
def test_every_language_has_a_comment(suffix):
    mark = path_format(f"a{suffix}").comment[0].strip()
    start = "<?php\n" if suffix == ".php" else ""
    text = f"{start}{mark} It is then.\n"
    edit = ignore_in_file(f"a{suffix}", text, flag(text), markup_reader(f"a{suffix}"))
    if start:  # a comment before the mark would be HTML
        assert edit == (len(text), len(text), f"\n{mark} disambig: ignore then\n")
    else:
        assert edit == (0, 0, f"{mark} disambig: ignore then\n\n")


NOTEBOOK = json.dumps(
    {"cells": [{"cell_type": "markdown", "source": ["One.\n", "It is then.\n", "So."]}]}, indent=1
)


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("a.rst", "So.\n\nIt is then.\n", "So.\n\n.. disambig: ignore-next-line then\n\nIt is then.\n"),
        ("a.html", "<p>It is then.</p>\n", f"<p>It is then.</p> {COMMENT}\n"),
        ("a.adoc", "So\nit is then.\n", "So\n// disambig: ignore-next-line then\nit is then.\n"),
        ("a.org", "* So\nIt is then.\n", "* So\n# disambig: ignore-next-line then\nIt is then.\n"),
        ("a.1", ".SH A\nSo\nit is then.\n", '.SH A\nSo\n.\\" disambig: ignore-next-line then\nit is then.\n'),
        ("a.ipynb", NOTEBOOK, NOTEBOOK.replace("then.", f"then. {COMMENT}")),
    ],
)  # fmt: skip
def test_documents_have_their_own_comments_in_the_line(name, text, wanted):
    assert after(ignore_in_line(name, text, flag(text), markup_reader(name)), text) == wanted


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.rst", "So\nit is then.\n"), ("a.rst", "1. So.\n2. It is then.\n"), ("a.org", "So\nit is then.\n")],
)
def test_no_comment_is_offered_that_would_end_a_paragraph_or_a_list(name, text):
    assert ignore_in_line(name, text, flag(text), markup_reader(name)) is None


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
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
def test_documents_have_their_own_comments_for_the_file(name, text, wanted):
    assert after(ignore_in_file(name, text, flag(text), markup_reader(name)), text) == wanted


def test_where_no_word_stands_the_rule_is_named():
    text = "A number people ate."
    missing = flag(text, "", "preposition")
    assert ignore_target(missing) == "rule:preposition"
    changed = after(ignore_in_line("a.md", text, missing, markup_reader("a.md")), text)
    assert changed == "A number people ate. <!-- disambig: ignore-line[preposition] -->"


def test_no_comment_is_offered_that_would_hide_nothing():
    text = "```\nIt is then.\n```\n"  # nothing is a comment there, and a line above is code, too
    assert ignore_in_line("a.md", text, flag(text), markup_reader("a.md")) is None


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
def test_a_word_in_the_settings(tmp_path, name, old, new):
    (tmp_path / name).write_text(old)
    path, seen, changed = ignore_everywhere(str(tmp_path / "a.md"), str(tmp_path), "then", {})
    assert (path, seen) == (str(tmp_path / name), old)
    (tmp_path / name).write_text(changed)
    assert "then" in ProjectSettings().for_file(str(tmp_path / "a.md")).ignore
    assert changed.split() == new.split()
    assert ignore_everywhere(str(tmp_path / "a.md"), str(tmp_path), "then", {})[2] == changed


def test_settings_that_are_open_and_settings_that_are_not_there(tmp_path):
    path, seen, changed = ignore_everywhere(str(tmp_path / "sub" / "a.md"), str(tmp_path), "then", {})
    assert (path, seen, changed) == (str(tmp_path / "disambig.toml"), None, 'ignore = ["then"]\n')
    (tmp_path / "disambig.toml").write_text("")
    _, seen, changed = ignore_everywhere(
        str(tmp_path / "a.md"), str(tmp_path), "then", {path: '# unsaved\nignore = ["b"]\n'}
    )
    assert changed == '# unsaved\nignore = ["b", "then"]\n'


@given(st.text(alphabet="ab\n", max_size=12), st.text(alphabet="ab\n", max_size=12))
def test_one_change_makes_the_one_of_the_other(old, new):
    assert after(single_edit(old, new), old) == new


def test_nothing_of_pygls_is_needed_to_know_of_the_command():
    import subprocess

    code = "import sys, disambig.lsp, disambig.cli.commands.lsp; print('pygls' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
