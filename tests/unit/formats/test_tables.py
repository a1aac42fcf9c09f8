from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from dataclasses import replace
from datetime import date

import pytest
from fake_models import annotate_texts
from hypothesis import given
from hypothesis import strategies as st

from disambig.errors import UserError
from disambig.formats import (
    AnnotatedDocument,
    Document,
    Input,
    UnreadableDocument,
    csv_cuts,
    decision_columns,
    make_format,
    read,
    records,
)
from disambig.formats import tables as csv_rows

CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0"))


def documents(path, kind="csv", **options) -> list:
    return list(read(Input(str(path), "name", kind), **options))


def written(path, rows, **dialect) -> None:
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
def test_rows_come_back_whatever_stands_in_them(folder, rows, delimiter, lineterminator, field):
    path = folder / ("a.tsv" if delimiter == "\t" else "a.csv")
    table = [(field, "more, or; less", "n"), *rows]
    written(path, table, delimiter=delimiter, lineterminator=lineterminator, quoting=csv.QUOTE_ALL)
    found = documents(path, field=field)
    wanted = [row for row in rows if row[0].strip()]
    assert [(one.text, *one.meta.values()) for one in found] == [(a, b, str(n)) for a, b, n in wanted]
    lines = [line.partition(":")[2] or line for line in (one.id.rpartition(":")[2] for one in found)]
    assert lines == [str(one.line) for one in found]


def test_a_row_may_hold_lines_and_has_the_number_of_its_first(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'\xef\xbb\xbfid,text\r\n7,"one\r\ntwo"\r\n\r\n,"a ""quite"" place"\r\n9,  \r\n')
    assert [(one.id, one.line, one.text) for one in documents(path)] == [
        ("7", 2, "one\r\ntwo"),
        (f"{path}:5", 5, 'a "quite" place'),
    ]


def test_a_long_text_is_read(tmp_path):
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
        (
            "a.csv",
            b'id,text\n\n1,"never\nends\n',
            "D326",
            "line 3: a quoted field that never ends, so that 2 lines are not",
        ),
        ("a.csv", b'id,text\n1,"never ends', "D326", "line 2: a quoted field that never ends;"),
        ("a.csv", b'id,text\n1,"a" b\n', "D326", "line 2"),
        ("a.csv", b'"id', "D326", "line 1"),
        ("a.csv", b"text\ncaf\xe9\n", "D304", "offset 8"),
        ("a.csv", b"text\na\0b\n", "D303", "offset 6"),
    ],
)
def test_bad_input_is_one_message_with_its_line(tmp_path, name, data, code, part):
    path = tmp_path / name
    path.write_bytes(data)
    (bad,) = documents(path)
    assert bad.error.code == code
    assert str(path) in str(bad.error)
    assert part in str(bad.error)
    assert "\n" not in str(bad.error)


def test_lines_that_a_quote_hides_are_counted(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'id,text\n1,"x\n2,y\n3,"z"\n4,u\n')
    bad, good = documents(path)
    assert "line 2: " in str(bad.error) and "so that 3 lines are not read" in str(bad.error)
    assert good.text == "u"


def test_a_bad_row_does_not_stop_the_good_ones(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'text,n\none,1\ntwo\ncaf\xe9,3\n"a" b,4\nfive,5\n')
    found = documents(path)
    assert [one.text if isinstance(one, Document) else one.error.code for one in found] == [
        "one",
        "D326",
        "D304",
        "D326",
        "five",
    ]


@given(data=st.binary() | st.text(st.sampled_from('text,"\n\r;a')).map(str.encode), named=st.booleans())
def test_nothing_that_is_read_raises(folder, data, named):
    path = folder / "any.csv"
    path.write_bytes(b"text,b\n" * named + data)
    for found in documents(path):
        assert isinstance(found, UnreadableDocument) or found.text


@given(
    texts=st.lists(st.text(st.sampled_from('ab,"\n\r')), min_size=1, max_size=12),
    size=st.integers(1, 60),
    newline=st.sampled_from(["\n", "\r\n"]),
)
def test_cuts_lie_between_rows_and_nothing_is_lost(folder, texts, size, newline):
    path = folder / "cut.csv"
    written(path, [("id", "text"), *enumerate(texts)], lineterminator=newline)
    with open(path, "rb") as file:
        cuts = csv_cuts(file, str(path), size, field="text")
    ends = [start for start, _ in cuts[1:]] + [None]
    found = [
        document
        for (start, line), end in zip(cuts, ends, strict=True)
        for document in documents(path, start=start, end=end, line=line)
    ]
    assert list(map(str, found)) == list(map(str, documents(path)))
    assert all(end - start >= size for (start, _), end in zip(cuts, ends[:-1], strict=False))


# Parquet


@pytest.fixture(scope="module")
def arrow():
    pytest.importorskip("pyarrow")
    import pyarrow.parquet

    return pyarrow


def test_parquet_rows_and_their_plain_columns(tmp_path, arrow):
    path = tmp_path / "a.parquet"
    table = {
        "text": ["It was a quite place.", None, " ", "in it"],
        "id": [5, 6, 7, None],
        "when": [date(2001, 2, 3)] * 4,
        "score": [0.5, 1.0, 1.0, float("nan")],
        "raw": [b"\xff"] * 4,
        "list": [[1]] * 4,
    }
    arrow.parquet.write_table(arrow.table(table), path)
    for source in (path, tmp_path / "a.parquet.gz"):
        if source != path:
            source.write_bytes(gzip.compress(path.read_bytes()))
        found = documents(source, "parquet")
        assert [(one.id, one.line, one.text) for one in found] == [
            ("5", 1, "It was a quite place."),
            (f"{source}:4", 4, "in it"),
        ]
        assert found[0].meta == {"id": 5, "when": "2001-02-03", "score": 0.5}
        assert json.dumps(found[1].meta, allow_nan=False)
    row = AnnotatedDocument(found[0], tuple(annotate_texts([found[0].text])))
    assert json.loads(make_format("corrected").encode([row]))["text"] == "It was a quiet place."


@pytest.mark.parametrize(
    ("data", "code", "part"),
    [
        (b"", "D302", "empty"),
        (b"PAR1" + b"\xff" * 99 + b"PAR1", "D329", "no Parquet"),
        (b"text,n\n", "D329", "no Parquet"),
    ],
)
def test_what_is_no_parquet_is_one_message(tmp_path, arrow, data, code, part):
    for name, body in (("a.parquet", data), ("a.parquet.gz", gzip.compress(data))):
        (tmp_path / name).write_bytes(body)
        (bad,) = documents(tmp_path / name, "parquet")
        assert (bad.error.code, "\n" in str(bad.error)) == (
            code if data or name.endswith("gz") else "D329",
            False,
        )
        assert str(tmp_path / name) in str(bad.error)


def test_columns_of_parquet_must_be_there_and_hold_text(tmp_path, arrow):
    path = tmp_path / "a.parquet"
    arrow.parquet.write_table(arrow.table({"n": [1], "nul": ["a\0b"]}), path)
    messages = [str(documents(path, "parquet", field=field)[0].error) for field in ("text", "n", "nul")]
    assert [message[1:5] for message in messages] == ["D327", "D331", "D329"]
    assert "only 'n', 'nul'" in messages[0]
    assert "int64" in messages[1]
    assert "row 1 has a NUL" in messages[2]


@given(place=st.integers(0, 2000), value=st.integers(0, 255))
def test_no_damage_to_parquet_raises(folder, arrow, place, value):
    sink = io.BytesIO()
    arrow.parquet.write_table(arrow.table({"text": ["a quite place"] * 9}), sink)
    data = bytearray(sink.getvalue())
    data[place % len(data)] = value
    (folder / "any.parquet").write_bytes(data)
    for found in documents(folder / "any.parquet", "parquet"):
        assert isinstance(found, UnreadableDocument) or isinstance(found.text, str)


def test_without_pyarrow_the_message_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    (bad,) = documents(tmp_path / "a.parquet", "parquet")
    assert "pip install 'pyarrow>=15'" in str(bad.error)
    with pytest.raises(UserError, match="D328"):
        make_format("parquet").encode([])


# Decisions as tables

TEXT = 'In Russia\r\n\U0001f600 During 1997 to "2001", =A1 QUITE PLACE,\nwith him.'


def result(text: str = TEXT, **more) -> AnnotatedDocument:
    return AnnotatedDocument(Document("an id", text, "a.txt", **more), tuple(annotate_texts([text])))


@pytest.mark.parametrize("name", ["csv", "tsv", "parquet"])
def test_where_labels_have_glosses_these_have_a_column(name, request):
    of = result("quite quiet")
    (group,) = of.decisions[1].table
    named = replace(group, glosses=("quite%4:02:00::", ""))
    labels = AnnotatedDocument(of.document, (replace(of.decisions[1], table=(named,)),))
    made: list[bytes] = []
    form = make_format(name)
    form.join([form.encode([labels, of])], made.append)
    data = b"".join(made)
    if name == "parquet":
        arrow = request.getfixturevalue("arrow")
        found = arrow.parquet.read_table(io.BytesIO(data)).column("gloss").to_pylist()
    else:
        delimiter = "\t" if name == "tsv" else ","
        rows = csv.DictReader(io.StringIO(data.decode(), newline=""), delimiter=delimiter)
        found = [row["gloss"] for row in rows]
    assert found == ["quite%4:02:00::", "", "", ""]


def table_of(name: str, *, text: bool = True) -> bytes:
    made: list[bytes] = []
    form = make_format(name, text=text)
    form.join(
        [form.encode([result(line=3)]), form.encode([]), form.encode([result("no it"), result()])],
        made.append,
    )
    return b"".join(made)


@pytest.mark.parametrize("text", [True, False])
@pytest.mark.parametrize("name", ["csv", "tsv", "parquet"])
def test_a_row_a_decision(name, text, request):
    expected = [record for one in (result(), result()) for record in records(one)]
    data = table_of(name, text=text)
    if name == "parquet":
        arrow = request.getfixturevalue("arrow")
        rows = arrow.parquet.read_table(io.BytesIO(data)).to_pylist()
    else:
        reader = csv.DictReader(
            io.StringIO(data.decode(), newline=""), delimiter="\t" if name == "tsv" else ","
        )
        rows = [
            {
                **row,
                **{key: int(row[key]) for key in ("start", "end", "line")},
                **{key: float(row[key]) for key in ("probability", "margin")},
                "flagged": {"true": True, "false": False}[row["flagged"]],
            }
            for row in reader
        ]
    assert tuple(rows[0]) == decision_columns(text=text)
    shared = ("task", "group", "start", "end", "observed", "chosen", "replacement", "probability", "flagged")
    assert [{key: row[key] for key in shared} for row in rows] == [
        {key: record[key] for key in shared} for record in expected
    ]
    assert {row["document"] for row in rows} == {"an id"}
    places = [TEXT.count("\n", 0, row["start"]) + 1 for row in rows[len(rows) // 2 :]]
    assert [row["line"] for row in rows] == [3] * (len(rows) // 2) + places
    assert {1, 2, 3} == set(places)
    if text:
        (row,) = [row for row in rows if row["observed"] == "During"][:1]
        assert (row["left"], row["right"]) == (
            "In Russia \U0001f600",
            '1997 to "2001", =A1 QUITE PLACE, with him.',
        )


def test_a_table_of_nothing_has_its_columns(arrow):
    for name in ("csv", "parquet"):
        made: list[bytes] = []
        make_format(name).join([], made.append)
        data = b"".join(made)
        names = (
            tuple(arrow.parquet.read_table(io.BytesIO(data)).schema.names)
            if name == "parquet"
            else tuple(data.decode().strip().split(","))
        )
        assert names == decision_columns(text=True)
