"""CSV, TSV and Parquet: documents read from them, and decisions written as tables."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
import spacy
from examples import fewer_examples
from fake_models import annotate_texts
from format_samples import annotated, encode
from hypothesis import given, strategies as st
from spacy.tokens import DocBin

from disambig.checking import read_text, write_text
from disambig.errors import UserError
from disambig.formats import (
    FORMATS,
    AnnotatedDocument,
    Document,
    Input,
    UnreadableDocument,
    csv_cuts,
    decision_columns,
    escape_formula,
    make_format,
    read,
    records,
    tables as csv_rows,
    unescape_formula,
)

OPEN = "a quoted field that never ends"
CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0"))


def documents(path, kind="csv", **options) -> list:
    return list(read(Input(str(path), "name", kind), **options))


def write_table(path, rows, **dialect) -> None:
    with open(path, "w", newline="", encoding="utf8") as file:
        csv.writer(file, **dialect).writerows(rows)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@given(
    rows=st.lists(st.tuples(CELL, CELL, st.integers(0, 99))),
    delimiter=st.sampled_from(csv_rows.DELIMITERS),
    lineterminator=st.sampled_from(["\n", "\r\n"]),
    field=st.sampled_from(["text", "other"]),
)
def test_csv_rows_round_trip(folder, rows, delimiter, lineterminator, field):
    path = folder / ("a.tsv" if delimiter == "\t" else "a.csv")
    table = [(field, "more, or; less", "n"), *rows]
    write_table(path, table, delimiter=delimiter, lineterminator=lineterminator, quoting=csv.QUOTE_ALL)
    actual = documents(path, field=field)
    assert [(one.text, *one.meta.values()) for one in actual] == [(a, b, str(n)) for a, b, n in rows]
    lines = [line.partition(":")[2] or line for line in (one.id.rpartition(":")[2] for one in actual)]
    assert lines == [str(one.line) for one in actual]


@pytest.mark.parametrize("line", ["sep=;", '"sep=;"', "SEP=^", "sep=\t"])
def test_the_delimiter_may_stand_in_a_line_for_excel(tmp_path, line):
    delimiter = line.strip('"')[-1]
    rows = ["\ufeff" + line, "", "text^n", "a, b^1", "c^2", ""]
    path = tmp_path / "a.csv"
    path.write_text("\r\n".join(rows).replace("^", delimiter), encoding="utf8", newline="")
    read = [(one.line, one.text, one.meta["n"]) for one in documents(path)]
    assert read == [(4, "a, b", "1"), (5, "c", "2")]
    with open(path, "rb") as file:
        cuts = csv_rows.csv_cuts(file, str(path), 1, field="text")
    assert [number for _, number in cuts] == [1, 5, 6]


def test_a_row_may_hold_lines_and_long_texts(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'\xef\xbb\xbfid,text\r\n7,"one\r\ntwo"\r\n\r\n,"a ""quite"" place"\r\n9,  \r\n')
    first, second, blank = [(one.id, one.line, one.text) for one in documents(path)]
    assert first == ("7", 2, "one\r\ntwo")  # the number of its first line
    assert second == (f"{path}:5", 5, 'a "quite" place')
    assert blank == ("9", 6, "  ")
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"text\n" + b"word " * 100_000))
    assert len(documents(path)[0].text) == 500_000


@pytest.mark.parametrize(
    ("name", "data", "code", "part"),
    [
        ("a.csv", b"", "D302", "empty"),
        ("a.csv", b"\n\n", "D302", "empty"),
        ("a.csv", b"id;body\n1;x\n", "D327", "only 'id', 'body'"),
        ("a.tsv", b"id,text\n1,x\n", "D327", "only 'id,text'"),
        ("a.csv", b"id,text\n1,x,y\n", "D326", "line 2: 3 fields, but the first row has 2"),
        ("a.csv", b"id,text\n1\n", "D326", "line 2: 1 field,"),
        ("a.csv", b'id,text\n\n1,"never\nends\n', "D326", f"line 3: {OPEN}, so that 2 lines are not"),
        ("a.csv", b'id,text\n1,"never ends', "D326", f"line 2: {OPEN};"),
        ("a.csv", b"id,text\r1,a\r", "D326", "line 1: a carriage return inside the line; end lines with LF"),
        ("a.csv", b'id,text\n1,"a" b\n', "D326", "line 2"),
        ("a.csv", b'"id', "D326", "line 1"),
        ("a.csv", b"text\ncaf\xe9\n", "D304", "offset 8"),
        ("a.csv", b"text\na\0b\n", "D303", "offset 6"),
    ],
)
def test_invalid_input_is_an_error_with_its_line(tmp_path, name, data, code, part):
    path = tmp_path / name
    path.write_bytes(data)
    (bad,) = documents(path)
    message = str(bad.error)
    assert bad.error.code == code and "\n" not in message
    assert str(path) in message and part in message


def test_reads_on_after_invalid_rows(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'id,text\n1,"x\n2,y\n3,"z"\n4,u\n')
    bad, good = documents(path)
    assert "line 2: " in str(bad.error) and "so that 3 lines are not read" in str(bad.error)
    assert good.text == "u"
    path.write_bytes(b'text,n\none,1\ntwo\ncaf\xe9,3\n"a" b,4\nfive,5\n')
    actual = [one.text if isinstance(one, Document) else one.error.code for one in documents(path)]
    assert actual == ["one", "D326", "D304", "D326", "five"]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_rows_with_an_empty_text_are_documents_and_empty_lines_are_not(tmp_path, name):
    path = tmp_path / name
    path.write_text("id,text\n1,\n\n2,x\n".replace(",", "\t" if name == "a.tsv" else ","))
    assert [(one.id, one.line, one.text) for one in documents(path)] == [("1", 2, ""), ("2", 4, "x")]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_ends_inside_of_cells_are_kept(tmp_path, name, newline):
    cells = ["a\r\n\r\nb", "a\nb\r\n", "a\n\nb", "plain"]
    rows = [("text", "n"), *((cell, "x\r\ny") for cell in cells)]
    write_table(tmp_path / name, rows, delimiter="\t" if name == "a.tsv" else ",", lineterminator=newline)
    assert [(one.text, one.meta["n"]) for one in documents(tmp_path / name)] == rows[1:]


@given(
    data=st.binary() | st.text(st.sampled_from('text,"\n\r;a')).map(str.encode),
    start=st.sampled_from([b"", b"text,b\n", b"sep="]),
)
def test_nothing_that_is_read_raises(folder, data, start):
    path = folder / "any.csv"
    path.write_bytes(start + data)
    read = [one for one in documents(path) if isinstance(one, Document)]
    numbers = [one.line for one in read]
    assert all(isinstance(one.text, str) for one in read)
    assert numbers == sorted(set(numbers)) and min(numbers, default=1) >= 1


@given(
    texts=st.lists(st.text(st.sampled_from('ab,"\n\r')), min_size=1, max_size=12),
    size=st.integers(1, 60),
    newline=st.sampled_from(["\n", "\r\n"]),
)
def test_cuts_are_between_rows_and_nothing_is_lost(folder, texts, size, newline):
    path = folder / "cut.csv"
    write_table(path, [("id", "text"), *enumerate(texts)], lineterminator=newline)
    with open(path, "rb") as file:
        cuts = csv_cuts(file, str(path), size, field="text")
    ends, actual = [start for start, _ in cuts[1:]] + [None], []
    for (start, line), end in zip(cuts, ends, strict=True):
        actual += documents(path, start=start, end=end, line=line)
    assert list(map(str, actual)) == list(map(str, documents(path)))
    assert all(end - start >= size for (start, _), end in zip(cuts, ends[:-1], strict=False))


# Parquet


@pytest.fixture(scope="module")
def arrow():
    pytest.importorskip("pyarrow")
    import pyarrow.parquet

    return pyarrow


def test_parquet_rows_and_their_columns_without_bytes(tmp_path, arrow):
    path = tmp_path / "a.parquet"
    table = {
        "text": ["It was a quite place.", None, " ", "in it"],
        "id": [5, 6, 7, None],
        "when": [date(2001, 2, 3)] * 4,
        "score": [0.5, 1.0, 1.0, float("nan")],
        "raw": [b"\xff"] * 4,
        "list": [[1, None]] * 4,
        "of": [{"a": date(2001, 2, 3), "b": [float("nan")]}] * 4,
        "image": [{"bytes": b"\xff", "path": "x"}] * 4,
    }
    arrow.parquet.write_table(arrow.table(table), path)
    packed = tmp_path / "a.parquet.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    for source in (path, packed):
        actual = documents(source, "parquet")
        assert [(one.id, one.line, one.text) for one in actual] == [
            ("5", 1, "It was a quite place."),
            ("6", 2, ""),
            ("7", 3, " "),
            (f"{source}:4", 4, "in it"),
        ]
        of = {"a": "2001-02-03", "b": [None]}
        assert actual[0].meta == {"id": 5, "when": "2001-02-03", "score": 0.5, "list": [1, None], "of": of}
        assert json.dumps(actual[3].meta, allow_nan=False)
    row = AnnotatedDocument(actual[0], tuple(annotate_texts([actual[0].text])))
    assert json.loads(make_format("corrected").encode([row]))["text"] == "It was a quiet place."


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
def test_all_types_of_strings_are_text(tmp_path, arrow, kind):
    values = arrow.array(["a quite place", None], getattr(arrow, kind)())
    arrow.parquet.write_table(arrow.table({"text": values, "note": values}), tmp_path / "a.parquet")
    first, second = documents(tmp_path / "a.parquet", "parquet")
    assert (first.text, first.meta) == ("a quite place", {"note": "a quite place"})
    assert (second.text, second.meta) == ("", {"note": None})


@pytest.mark.parametrize("siblings", [{"n": 1}, {"n": 1, "raw": b"\xff"}])
def test_a_field_of_a_structure_is_read_without_the_bytes_beside_it(tmp_path, arrow, siblings):
    rows = [{"k": 1, "doc": {"text": "It was a quite place.", **siblings}}, {"k": 2, "doc": None}]
    arrow.parquet.write_table(arrow.Table.from_pylist(rows), tmp_path / "a.parquet")
    actual = documents(tmp_path / "a.parquet", "parquet", field="doc.text")
    assert [one.text for one in actual] == ["It was a quite place.", ""]
    assert actual[0].meta == {"k": 1, "doc": {} if "raw" in siblings else {"n": 1}}


def test_a_field_of_a_structure_is_read_from_several_row_groups(tmp_path, arrow):
    rows = [{"doc": {"text": f"It was text {number % 3}."}} for number in range(5)]
    arrow.parquet.write_table(arrow.Table.from_pylist(rows), tmp_path / "a.parquet", row_group_size=2)
    actual = documents(tmp_path / "a.parquet", "parquet", field="doc.text")
    assert [one.text for one in actual] == [row["doc"]["text"] for row in rows]


def test_columns_with_the_same_name_are_numbered_and_the_text_must_be_one(tmp_path):
    write_table(tmp_path / "a.csv", [["a", "text", "a", "a.2", "", ""], ["1", "It is.", "2", "3", "4", "5"]])
    (row,) = documents(tmp_path / "a.csv")
    assert row.meta == {"a": "1", "a.3": "2", "a.2": "3", "": "4", ".2": "5"}
    (bad,) = documents(tmp_path / "a.csv", field="a")
    problem = "2 columns are called 'a' (rename one, or read the second as 'a.3'): name another"
    assert bad.error.code == "D331" and problem in bad.error.text
    (row,) = documents(tmp_path / "a.csv", field="a.3")
    assert row.text == "2" and row.meta == {"a": "1", "text": "It is.", "a.2": "3", "": "4", ".2": "5"}
    (bad,) = documents(tmp_path / "a.csv", field="b")
    assert "only 'a', 'text', 'a.3', 'a.2'" in bad.error.text


def test_parquet_columns_with_the_same_name_are_numbered(tmp_path, arrow):
    columns = [["It is.", "So."], ["x", "y"], [1, 2], [b"z", b"z"], ["u", "v"]]
    table = arrow.table([arrow.array(column) for column in columns], ["text", "a", "a", "b", "b"])
    arrow.parquet.write_table(table, tmp_path / "a.parquet")
    rows = documents(tmp_path / "a.parquet", "parquet")
    assert [row.meta for row in rows] == [{"a": "x", "a.2": 1}, {"a": "y", "a.2": 2}]
    (bad,) = documents(tmp_path / "a.parquet", "parquet", field="a")
    assert bad.error.code == "D331" and "2 columns are called 'a' (rename one): name" in bad.error.text


@pytest.mark.parametrize("data", [b"", b"PAR1" + b"\xff" * 99 + b"PAR1", b"text,n\n"])
def test_invalid_parquet_is_a_one_line_error(tmp_path, arrow, data):
    for name, body in (("a.parquet", data), ("a.parquet.gz", gzip.compress(data))):
        (tmp_path / name).write_bytes(body)
        (bad,) = documents(tmp_path / name, "parquet")
        assert bad.error.code == ("D302" if name.endswith("gz") and not data else "D329")
        assert str(tmp_path / name) in str(bad.error) and "\n" not in str(bad.error)


def test_missing_rows_of_parquet_are_reported(tmp_path, arrow):
    path = tmp_path / "a.parquet"
    arrow.parquet.write_table(arrow.table({"text": ["a quite place"] * 37}), path)
    data = path.read_bytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    at = data.index(b"\x16\x4a", footer)  # 37 rows as a variable-length integer, doubled
    path.write_bytes(data[:at] + b"\x16\x4c" + data[at + 2 :])
    *rows, bad = documents(path, "parquet")
    assert len(rows) == 37 and "D329" in str(bad.error)
    assert "should have 38 rows, and 37 can be read" in str(bad.error)


@pytest.mark.parametrize(
    ("field", "message"),
    [("text", "D327.*only 'n', 'nul'"), ("n", "D331.*int64"), ("nul", "D329.*row 1 has a NUL")],
)
def test_columns_of_parquet_must_be_there_and_hold_text(tmp_path, arrow, field, message):
    arrow.parquet.write_table(arrow.table({"n": [1], "nul": ["a\0b"]}), tmp_path / "a.parquet")
    (bad,) = documents(tmp_path / "a.parquet", "parquet", field=field)
    assert re.match(rf"\[{message}", str(bad.error))


@fewer_examples
@given(place=st.integers(0, 2000), value=st.integers(0, 255))
def test_no_damage_to_parquet_raises(folder, arrow, place, value):
    sink = io.BytesIO()
    arrow.parquet.write_table(arrow.table({"text": ["a quite place"] * 9}), sink)
    data = bytearray(sink.getvalue())
    data[place % len(data)] = value
    (folder / "any.parquet").write_bytes(data)
    for actual in documents(folder / "any.parquet", "parquet"):
        assert isinstance(actual, UnreadableDocument) or isinstance(actual.text, str)


def test_without_pyarrow_the_message_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    (bad,) = documents(tmp_path / "a.parquet", "parquet")
    assert "pip install 'pyarrow>=16'" in str(bad.error)
    with pytest.raises(UserError, match="D328"):
        make_format("parquet").encode([])


# Decisions as tables

TEXT = 'In Russia\r\n\U0001f600 During 1997 to "2001", =A1 QUITE PLACE,\nwith him.'


def read_rows(name: str, data: bytes, request: pytest.FixtureRequest) -> list[dict]:
    """Return the rows of a table in the format of that name."""
    if name == "parquet":
        return request.getfixturevalue("arrow").parquet.read_table(io.BytesIO(data)).to_pylist()
    text = io.StringIO(data.decode(), newline="")
    return list(csv.DictReader(text, delimiter="\t" if name == "tsv" else ","))


@pytest.mark.parametrize("name", ["csv", "tsv", "parquet"])
def test_glosses_have_a_column(name, request):
    plain = annotated("quite quiet")
    (group,) = plain.decisions[1].table
    named = replace(group, glosses=("quite%4:02:00::", ""))
    labels = AnnotatedDocument(plain.document, (replace(plain.decisions[1], table=(named,)),))
    rows = read_rows(name, encode(name, labels, plain), request)
    assert [row["gloss"] for row in rows] == ["quite%4:02:00::", "", "", ""]


@pytest.mark.parametrize("text", [True, False])
@pytest.mark.parametrize("name", ["csv", "tsv", "parquet"])
def test_one_row_per_decision(name, text, request):
    results = [annotated(TEXT, line=3), annotated("no it"), annotated(TEXT)]
    rows = read_rows(name, encode(name, *results, chunks=4, text=text), request)
    if name != "parquet":
        values = dict.fromkeys(("start", "end", "line"), int) | dict.fromkeys(
            ("probability", "margin"), float
        )
        values["flagged"] = {"true": True, "false": False}.__getitem__
        rows = [{key: values.get(key, str)(value) for key, value in row.items()} for row in rows]
    assert tuple(rows[0]) == decision_columns(text=text)
    shared = ("task", "group", "start", "end", "observed", "chosen", "replacement", "probability", "flagged")
    assert [{key: row[key] for key in shared} for row in rows] == [
        {key: record[key] for key in shared} for result in results for record in records(result)
    ]
    assert {row["document"] for row in rows} == {"a.txt"}
    places = [TEXT.count("\n", 0, row["start"]) + 1 for row in rows[len(rows) // 2 :]]
    assert [row["line"] for row in rows] == [3] * (len(rows) // 2) + places
    assert {1, 2, 3} == set(places)
    if text:
        row = next(row for row in rows if row["observed"] == "During")
        assert row["left"] == "In Russia \U0001f600"
        assert row["right"] == '1997 to "2001", =A1 QUITE PLACE, with him.'


def test_an_empty_table_has_its_columns(arrow):
    columns = decision_columns(text=True)
    assert tuple(encode("csv", chunks=0).decode().strip().split(",")) == columns
    assert tuple(arrow.parquet.read_table(io.BytesIO(encode("parquet", chunks=0))).schema.names) == columns


STRANGE = os.fsdecode(b"caf\xe9 \xff.txt")
SENTENCE = "It was a quite place."


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_name_that_is_not_utf8_is_written(name, request):
    if name == "parquet":
        request.getfixturevalue("arrow")
    data = encode(name, *(annotated(SENTENCE, path) for path in ("b.txt", STRANGE, "c.txt")))
    if name == "spacy":
        docs = DocBin().from_bytes(data).get_docs(spacy.blank("en").vocab)
        paths = [doc.user_data["path"] for doc in docs]
        meta = {"a\ud800": ["b\udc00", {"c": "\ud800"}], "n": 1}
        assert encode(name, annotated(SENTENCE, meta=meta))
    elif name == "parquet":
        paths = [row["path"] for row in read_rows(name, data, request)]
    else:
        data.decode()
        return
    assert paths == ["b.txt", "caf\\udce9 \\udcff.txt", "c.txt"]


FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "=cmd|' /C calc'!A0", "'=1", "''+1", "'\t"]


def test_formulas_round_trip_as_text_and_usual_cells_stay_as_they_are():
    for cell in FORMULAS:
        assert escape_formula(cell) == f"'{cell}"
        assert unescape_formula(escape_formula(cell)) == cell
    for cell in ("", "a = b", "'tis", "it's", "1-2", "a@b", "'", "''"):
        assert escape_formula(cell) == cell


@given(st.text() | st.text("'=+-@\t\ra"))
def test_every_cell_round_trips_and_none_is_a_formula(cell):
    assert unescape_formula(escape_formula(cell)) == cell
    assert escape_formula(cell)[:1] not in set("=+-@\t\r")


@pytest.mark.parametrize(
    ("name", "safe", "mark"), [("csv", None, "'"), ("csv", False, ""), ("tsv", None, ""), ("tsv", True, "'")]
)
def test_formulas_are_escaped_in_csv_by_default(name, safe, mark, request):
    data = encode(name, annotated("=SUM(A1) quite place", "-a.txt"), safe_cells=safe)
    (row,) = read_rows(name, data, request)
    assert (row["left"], row["path"]) == (f"{mark}=SUM(A1)", f"{mark}-a.txt")
    assert row["observed"] == "quite"
    assert float(row["margin"]) > 0


def test_the_csv_reader_removes_the_escape_from_our_files_only(tmp_path):
    path = tmp_path / "found.csv"
    path.write_bytes(encode("csv", annotated("'=SUM(A1) quite place", "@a.txt")))
    (document,) = documents(path, field="left")
    assert document.text == "'=SUM(A1)"
    assert document.meta["path"] == "@a.txt"
    path.write_text("text,note\n'=1 quite place,'-1\n")
    (document,) = documents(path)
    assert (document.text, document.meta["note"]) == ("'=1 quite place", "'-1")


def test_a_backup_with_too_long_a_name_is_an_error(tmp_path):
    path = tmp_path / ("n" * 250 + ".txt")
    path.write_text(SENTENCE)
    file = read_text(str(path))
    with pytest.raises(UserError, match="D309"):  # such a name is too long for .bak
        write_text(file, "other", backup=".bak")
    assert path.read_text() == SENTENCE
    assert write_text(file, "other", backup=None) is None
    assert path.read_text() == "other"
    assert [Path(name).name for name in os.listdir(tmp_path)] == [path.name]
