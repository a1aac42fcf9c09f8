"""File names of any bytes, and cells that a spreadsheet would take for formulas."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

import pytest
from fake_models import annotate_texts
from hypothesis import given
from hypothesis import strategies as st

from disambig.formats import (
    FORMATS,
    AnnotatedDocument,
    Document,
    Input,
    escape_formula,
    make_format,
    read,
    unescape_formula,
)

STRANGE = os.fsdecode(b"caf\xe9 \xff.txt")
TEXT = "It was a quite place."


def result(text: str = TEXT, path: str = "a.txt", **more) -> AnnotatedDocument:
    return AnnotatedDocument(Document(path, text, path, **more), tuple(annotate_texts([text])))


def written(format, *results) -> bytes:
    sink = io.BytesIO()
    format.join([format.encode(list(results))], sink.write)
    return sink.getvalue()


@pytest.mark.parametrize("name", FORMATS)
def test_a_name_that_is_not_utf8_spoils_nothing(name):
    if name == "parquet":
        pytest.importorskip("pyarrow")
    data = written(make_format(name), result(path="b.txt"), result(path=STRANGE), result(path="c.txt"))
    if name == "parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        paths = parquet.read_table(io.BytesIO(data)).column("path").to_pylist()
        assert paths == ["b.txt", "caf\\udce9 \\udcff.txt", "c.txt"]
    elif name == "spacy":
        import spacy
        from spacy.tokens import DocBin

        docs = list(DocBin().from_bytes(data).get_docs(spacy.blank("en").vocab))
        assert [doc.user_data["path"] for doc in docs] == ["b.txt", "caf\\udce9 \\udcff.txt", "c.txt"]
    else:
        data.decode()


def test_other_columns_that_are_not_utf8_spoil_nothing():
    meta = {"a\ud800": ["b\udc00", {"c": "\ud800"}], "n": 1}
    assert written(make_format("spacy"), result(meta=meta))


FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "=cmd|' /C calc'!A0", "'=1", "''+1", "'\t"]


@pytest.mark.parametrize("cell", FORMULAS)
def test_formulas_become_text_and_come_back(cell):
    assert escape_formula(cell) == f"'{cell}"
    assert unescape_formula(escape_formula(cell)) == cell


@given(st.text() | st.text("'=+-@\t\ra"))
def test_every_cell_comes_back_and_none_is_a_formula(cell):
    assert unescape_formula(escape_formula(cell)) == cell
    assert escape_formula(cell)[:1] not in set("=+-@\t\r")


def test_usual_cells_stay_as_they_are():
    for cell in ("", "a = b", "'tis", "it's", "1-2", "a@b", "'", "''"):
        assert escape_formula(cell) == cell


def rows(data: bytes, delimiter=",") -> list[dict]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline=""), delimiter=delimiter))


@pytest.mark.parametrize(
    ("name", "cells", "mark"), [("csv", None, "'"), ("csv", False, ""), ("tsv", None, ""), ("tsv", True, "'")]
)
def test_csv_is_harmless_unless_asked(name, cells, mark):
    data = written(make_format(name, safe_cells=cells), result("=SUM(A1) quite place", path="-a.txt"))
    (row,) = rows(data, "\t" if name == "tsv" else ",")
    assert (row["left"], row["path"]) == (f"{mark}=SUM(A1)", f"{mark}-a.txt")
    assert row["observed"] == "quite"
    assert float(row["margin"]) > 0


def test_our_own_reader_undoes_it(tmp_path):
    path = tmp_path / "found.csv"
    path.write_bytes(written(make_format("csv"), result("'=SUM(A1) quite place", path="@a.txt")))
    (document,) = read(Input(str(path), path.name, "csv"), field="left")
    assert document.text == "'=SUM(A1)"
    assert document.meta["path"] == "@a.txt"


def test_cells_of_others_stay_as_they_are(tmp_path):
    path = tmp_path / "foreign.csv"
    path.write_text("text,note\n'=1 quite place,'-1\n")
    (document,) = read(Input(str(path), path.name, "csv"))
    assert (document.text, document.meta["note"]) == ("'=1 quite place", "'-1")


def test_fixing_a_file_with_a_long_name(tmp_path):
    from disambig.checking import read_text, write_text
    from disambig.errors import UserError

    path = tmp_path / ("n" * 250 + ".txt")
    path.write_text(TEXT)
    file = read_text(str(path))
    with pytest.raises(UserError, match="D309"):  # there is no room for .bak in such a name
        write_text(file, "other", backup=".bak")
    assert path.read_text() == TEXT
    assert write_text(file, "other", backup=None) is None
    assert path.read_text() == "other"
    assert [Path(name).name for name in os.listdir(tmp_path)] == [path.name]
