"""Labelled examples in both forms: round trips, and what is no example is named by its line."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.errors import UserError
from disambig.formats import Labelled, read_labelled

PLAIN = st.text(
    st.characters(exclude_characters="[]\t\n\r\x00\ufeff", exclude_categories=["Cs"]), max_size=12
)


@given(st.lists(st.tuples(PLAIN, PLAIN, PLAIN, PLAIN, PLAIN), min_size=1, max_size=4))
def test_columns_and_json_give_the_same(tmp_path_factory, examples):
    folder = tmp_path_factory.mktemp("labelled")
    columns, lines, expected = [], [], []
    for before, inside, after, label, document in examples:
        columns.append(f"{before}[[{inside}]]{after}\t{label}\t{document}")
        text, end = before + inside + after, len(before) + len(inside)
        place = {"start": len(before), "end": end, "label": label}
        lines.append(json.dumps({"text": text, "document": document, "places": [place]}))
        expected.append((text, len(before), end, label.strip(), document or text))
    (folder / "a.tsv").write_bytes("\n".join(columns).encode())
    (folder / "a.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    for name in ("a.tsv", "a.jsonl.gz"):
        found = read_labelled(folder / name)
        assert [(e.text, e.start, e.end, e.label, e.document) for e in found] == expected


def test_without_a_document_each_text_is_one(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("\ufeffWas [[it]] you?\treferential\r\n\nA [[]] b\t\n", encoding="utf8")
    first, second = read_labelled(path)
    assert first == Labelled("Was it you?", 4, 6, "referential", "Was it you?", f"{path}, line 1")
    assert (second.text, second.start, second.end, second.label) == ("A  b", 2, 2, "")


@pytest.mark.parametrize(
    ("name", "line", "problem"),
    [
        ("a.tsv", "no marks\tx", "one place"),
        ("a.tsv", "[[a]] [[b]]\tx", "one place"),
        ("a.tsv", "]]a[[\tx", "one place"),
        ("a.tsv", "[[a]]", "1 column instead"),
        ("a.tsv", "[[a]]\tb\tc\td", "4 columns"),
        ("a.jsonl", "{", "not JSON"),
        ("a.jsonl", "[" * 100_000, "not JSON"),
        ("a.jsonl", "[]", 'not an object with a "text"'),
        ("a.jsonl", '{"text": "a", "start": 0}', "as whole numbers"),
        ("a.jsonl", '{"text": "a", "start": 0, "end": true, "label": "x"}', "as whole numbers"),
        ("a.jsonl", '{"text": "a", "start": 0, "end": 2, "label": "x"}', "is not a range in 1 characters"),
        ("a.jsonl", '{"text": "a", "places": 3}', "not a list"),
        ("a.jsonl", '{"text": "a", "places": [3]}', "as whole numbers"),
    ],
)
def test_what_is_no_example_is_named_by_its_line(tmp_path, name, line, problem):
    path = tmp_path / name
    path.write_text("\n" + line + "\n", encoding="utf8")
    with pytest.raises(UserError, match="line 2") as raised:
        read_labelled(path)
    assert problem in str(raised.value)


@pytest.mark.parametrize("document", ["", ', "document": null', ', "document": ""'])
def test_an_empty_document_is_none(tmp_path, document):
    path = tmp_path / "a.jsonl"
    path.write_text(
        f'{{"text": "A ball.", "label": "sport"{document}}}\n{{"text": "B", "label": "b"{document}}}\n'
    )
    assert [e.document for e in read_labelled(path)] == ["A ball.", "B"]


def test_files_without_examples_are_named(tmp_path):
    (tmp_path / "a.tsv").write_text("\n \n")
    with pytest.raises(UserError, match="D461"):
        read_labelled(tmp_path / "a.tsv")
    with pytest.raises(UserError, match="D300"):
        read_labelled(tmp_path / "missing.tsv")
    (tmp_path / "b.tsv").write_bytes(b"[[\xff]]\ta")
    with pytest.raises(UserError, match=r"D469.*b\.tsv.*0xff at offset 2.*--encoding"):
        read_labelled(tmp_path / "b.tsv")


def test_a_text_may_name_its_domain(tmp_path):
    place = {"start": 0, "end": 2, "label": "yes"}
    rows = [
        {"text": "it rains", "domain": "letters", "places": [place, place]},
        {"text": "it rains", "label": "no", "domain": "news"},
        {"text": "it rains", "label": "no"},
    ]
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf8")
    assert [each.domain for each in read_labelled([str(file)])] == ["letters", "letters", "news", ""]
    file.write_text(json.dumps(rows[1] | {"domain": 3}), encoding="utf8")
    with pytest.raises(UserError, match=r"D460.*domain"):
        read_labelled([str(file)])


def test_a_text_may_say_that_it_was_picked(tmp_path):
    file = tmp_path / "picked.jsonl"
    row = {"text": "it rains", "start": 0, "end": 2, "label": "no"}
    file.write_text("\n".join(json.dumps(each) for each in (row, row | {"picked": True})), encoding="utf8")
    assert [each.picked for each in read_labelled([str(file)])] == [False, True]
    file.write_text(json.dumps(row | {"picked": "yes"}), encoding="utf8")
    with pytest.raises(UserError, match=r"D460.*picked"):
        read_labelled([str(file)])
