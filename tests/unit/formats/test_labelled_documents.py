"""Labelled documents: folders, tables and JSON give the same; what is none is named."""

from __future__ import annotations

import csv
import gzip
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.errors import UserError
from disambig.formats import read_labelled

TEXT = st.text(st.characters(exclude_characters="\x00\ufeff\r", exclude_categories=["Cs"]), max_size=20)
LABEL = st.sampled_from(["sport", "cooking", "Wetter, schön"])


def plain(examples):
    return [(e.text, e.start, e.end, e.label) for e in examples]


@given(st.lists(st.tuples(TEXT, LABEL), min_size=1, max_size=5))
def test_folders_tables_and_json_give_the_same(tmp_path_factory, documents):
    home = tmp_path_factory.mktemp("documents")
    documents = sorted(documents, key=lambda pair: pair[1])
    for number, (text, label) in enumerate(documents):
        (home / "folders" / label).mkdir(parents=True, exist_ok=True)
        (home / "folders" / label / f"{number:03}").write_bytes(text.encode())
    for name, delimiter in (("a.csv", ","), ("b.csv", ";"), ("c.tsv", "\t")):
        with open(home / name, "w", encoding="utf8", newline="") as file:
            rows = csv.writer(file, delimiter=delimiter)
            rows.writerows([("id", "text", "label"), *((i, *row) for i, row in enumerate(documents))])
    lines = [json.dumps({"text": text, "label": label}) for text, label in documents]
    (home / "d.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    expected = [(text, 0, len(text), label) for text, label in documents]
    for name in ("folders", "a.csv", "b.csv", "c.tsv", "d.jsonl.gz"):
        assert plain(read_labelled(home / name)) == expected, name


def test_folders_hold_documents_at_any_depth_and_nothing_hidden(tmp_path):
    for name in ("b/x.txt", "b/in/y", "a/z.md", "a/.hidden", ".git/config", "README.md", "a/.cache/q"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    found = read_labelled(tmp_path)
    assert [(e.text, e.label) for e in found] == [("a/z.md", "a"), ("b/x.txt", "b"), ("b/in/y", "b")]
    assert found[0].document == found[0].where == str(tmp_path / "a" / "z.md")


def test_several_sources_add_up_and_the_document_column_is_kept(tmp_path):
    (tmp_path / "a.csv").write_text("label,document,text\nsport,one,A ball.\nsport,,Another.\n")
    (tmp_path / "b.jsonl").write_text('{"text": "Bread.", "label": "cooking", "document": "two"}\n')
    found = read_labelled([tmp_path / "a.csv", tmp_path / "b.jsonl"])
    assert [e.document for e in found] == ["one", "Another.", "two"]
    assert found[0].where == f"{tmp_path / 'a.csv'}, line 2"


def test_another_encoding_is_taken_only_where_it_is_named(tmp_path):
    (tmp_path / "food").mkdir()
    (tmp_path / "food" / "1").write_bytes("Crème brûlée".encode("latin-1"))
    with pytest.raises(UserError, match=r"D469.*food.1: not utf-8: byte 0xe8 at offset 2;.*--encoding"):
        read_labelled(tmp_path)
    assert read_labelled(tmp_path, encoding="latin-1")[0].text == "Crème brûlée"
    (tmp_path / "a.csv").write_bytes("text,label\nCrème,food\n".encode("utf-16"))
    assert read_labelled(tmp_path / "a.csv", encoding="utf-16")[0].text == "Crème"
    with pytest.raises(UserError, match=r"D469.*ascii"):
        read_labelled(tmp_path, encoding="ascii")
    for name in ("latin-99", "hex", "undefined", "a\0b"):
        with pytest.raises(UserError, match="D470"):
            read_labelled(tmp_path, encoding=name)
    with pytest.raises(UserError, match=r"food.1.*not punycode"):
        read_labelled(tmp_path, encoding="punycode")


@pytest.mark.parametrize(
    ("text", "written", "read", "hint"),
    [
        ("Une crème brûlée très légère à Orléans.", "latin-1", "utf-8", "latin-1"),
        ("これは日本語の文章です。", "shift_jis", "utf-8", "shift_jis"),
        ("これは日本語の文章です。", "euc_jp", "utf-8", "euc-jp"),
        ("Une crème brûlée très légère.", "utf-8", "ascii", "utf-8"),
        ("Это предложение написано по-русски.", "koi8-r", "utf-8", "ENCODING"),
    ],
)
def test_the_likely_encoding_is_an_example(tmp_path, text, written, read, hint):
    (tmp_path / "a.csv").write_bytes(f"text,label\n{text},a\n".encode(written))
    with pytest.raises(UserError, match=rf"D469.*not {read}: .*, such as --encoding {hint}$"):
        read_labelled(tmp_path / "a.csv", encoding=read)
    if hint != "ENCODING":
        assert read_labelled(tmp_path / "a.csv", encoding=hint)[0].text == text


def test_bytes_that_are_no_text_are_not_taken_for_another_encoding(tmp_path):
    (tmp_path / "picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    with pytest.raises(UserError, match=r"D303.*NUL byte at offset 8$"):
        read_labelled(tmp_path / "picture.csv")
    (tmp_path / "wide.csv").write_bytes("text,label\nCrème,food\n".encode("utf-16"))
    with pytest.raises(UserError, match=r"D303.*--encoding utf-16"):
        read_labelled(tmp_path / "wide.csv")


def test_labels_are_stripped_alike(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\nA ball., sport \n")
    (tmp_path / "a.jsonl").write_text('{"text": "A ball.", "label": " sport "}\n')
    for name in ("a.csv", "a.jsonl"):
        assert [e.label for e in read_labelled(tmp_path / name)] == ["sport"]


def test_a_header_in_quotes_names_its_columns(tmp_path):
    (tmp_path / "a.tsv").write_text('"text"\t"label"\r\n"A ball."\t"sport"\r\n', newline="")
    assert plain(read_labelled(tmp_path / "a.tsv")) == [("A ball.", 0, 7, "sport")]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.csv", "a,b\n1,2\n", "D471.*no column 'text', only 'a', 'b'"),
        ("a.csv", "text;topic\n1;2\n", "D471.*no column 'label', only 'text', 'topic'"),
        ("a.csv", "text,label,label\na,b,c\n", "D460.*'label' occurs twice"),
        ("a.tsv", "text\tlabel\ttext\na\tb\tc\n", "D460.*'text' occurs twice"),
        ("a.csv", "document,text,label,document\na,b,c,d\n", "D460.*'document' occurs twice"),
        ("a.csv", "text,label\na\n", "D326.*line 2.*1 field"),
        ("a.csv", 'text,label\n"a,b\n', "D326.*never ends"),
        ("a.csv", "text,label\na, \n", "D460.*line 2.*label is empty"),
        ("a.csv", "", "D302"),
        ("a.csv", "text,label\n", "D461"),
        ("a.tsv", "some text\tsport\n", "D460.*line 1.*text and label"),
        ("a.jsonl", '{"text": "a", "label": 3}', 'D460.*line 1.*"label"'),
        ("a.jsonl", '{"text": "a"}', 'D460.*line 1.*"label"'),
        ("a.jsonl", '{"text": "a", "label": ""}', "D460.*label is empty"),
        ("a.jsonl", '{"text": "a", "label": "\\ud800"}', "D460.*surrogate"),
        ("a.csv", "text,label\na\0b,x\n", "D303"),
    ],
)
def test_what_is_no_document_is_named(tmp_path, name, content, problem):
    path = tmp_path / name
    path.write_text(content, encoding="utf8")
    with pytest.raises(UserError, match=problem):
        read_labelled(path)


def test_directories_without_folders_or_documents_are_named(tmp_path):
    (tmp_path / "a.txt").write_text("no label")
    with pytest.raises(UserError, match="D468"):
        read_labelled(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"D461.*empty"):
        read_labelled(tmp_path)
    (tmp_path / "empty" / "b").write_bytes(b"\x00\x01")
    with pytest.raises(UserError, match=r"D303.*empty.b"):
        read_labelled(tmp_path)


def test_a_label_without_a_document_is_named(tmp_path):
    for name in ("a/1", "empty/.hidden"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("A ball.")
    with pytest.raises(UserError, match=r"D461.*empty"):
        read_labelled(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_among_documents_is_named_and_not_waited_for(tmp_path):
    (tmp_path / "a").mkdir()
    os.mkfifo(tmp_path / "a" / "1")
    with pytest.raises(UserError, match=r"D308.*a.1.*not a regular file"):
        read_labelled(tmp_path)


def test_files_that_cannot_be_opened_are_named(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UserError, match="D300"):
        read_labelled(tmp_path)
