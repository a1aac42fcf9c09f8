"""What comments of code say to the checker: the same grammar as everywhere."""

from __future__ import annotations

import pytest
from fake_models import annotate_texts

from disambig.checking import find_flags, has_checked_suffix
from disambig.markup import CODE, read_markup


def said(text, path):
    """Return the words that are flagged with their lines, and the directives that hide nothing."""
    plain = read_markup(path, text)
    found = find_flags(path, text, plain, annotate_texts([plain.text]))
    assert not found.problems
    return [(flag.observed, flag.line) for flag in found.flags], [each.directive for each in found.unused]


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        ("a.py", "x = 1  # in a quite place\n", [("quite", 1)]),
        ("a.py", "quite = 1  # a place\n", []),
        ("a.py", "# in a quite place  # disambig: ignore-line\n", []),  # as pragmas stand
        ("a.py", "x = 1  # in a quite place  # disambig: ignore-line then\n", [("quite", 1)]),
        ("a.py", "# in a quite place # of disambig: ignore-line\n", [("quite", 1)]),
        (
            "a.py",
            "# disambig: ignore-next-line\nx = 1  # in a quite place\n# so a quite place\n",
            [("quite", 3)],
        ),
        ("a.py", '"""In a quite place."""\n# disambig: ignore quite\n', []),
        ("a.py", '"""In a quite place. <!-- disambig: ignore-line -->"""\n', []),
        (
            "a.rs",
            "// disambig: off\n/// in a quite place\n// disambig: on\n/// in a quite place\n",
            [("quite", 4)],
        ),
        ("a.c", "/* disambig: ignore-file task:spelling */\n/* in a quite place */\n", []),
        (
            "a.js",
            "f() // in a quite place\ng() /* disambig: ignore-line */ // in a quite place\n",
            [("quite", 1)],
        ),
        ("a.go", "/* disambig:ignore-next-line quite */\n\n// in a quite place\n", []),
        ("a.ts", "/**\n * in a quite place\n */ // disambig: ignore-line\n", [("quite", 2)]),
        ("a.sh", "# disambig: ignore-next-line\n# in a quite place\n# so a quite place\n", [("quite", 3)]),
        ("a.py", 's = "# disambig: ignore-file"  # in a quite place\n', [("quite", 1)]),
        ("a.py", "# in a\r\n# quite place\r\n", [("quite", 2)]),
    ],
)
def test_directives_in_comments_of_code(path, text, words):
    assert said(text, path)[0] == words


def test_directives_of_code_that_hide_nothing_are_told():
    text = "# disambig: ignore-next-line quite, then\n# in a quite place\n# disambig: ignore peace\n"
    assert said(text, "a.py") == ([], ["ignore-next-line then", "ignore peace"])


def test_files_of_code_are_not_among_those_of_a_directory_that_are_checked_anyway():
    assert not any(has_checked_suffix("a" + suffix) for suffix in CODE)
    assert has_checked_suffix("a.md") and has_checked_suffix("a.TEX")


def test_a_correction_changes_the_comment_alone():
    text = "quite = 1  # in a quite place\n"
    plain = read_markup("a.py", text)
    (flag,) = find_flags("a.py", text, plain, annotate_texts([plain.text])).flags
    start, end, new = flag.edit
    assert text[:start] + new + text[end:] == "quite = 1  # in a quiet place\n"
