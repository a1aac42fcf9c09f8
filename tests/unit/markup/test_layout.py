"""Corrections keep the layout of tables and titles."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from disambig.data import edited_text
from disambig.markup import read_layout

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
