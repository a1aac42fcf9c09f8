from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.formats import Document, Input, UnreadableDocument, read
from disambig.formats import documents as lines

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
KEYS = st.text(st.characters(codec="utf-8"), max_size=5).filter(lambda key: key != "text")
VALUES = st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8"))


def written(directory: Path, name: str, data: bytes) -> str:
    path = directory / name
    path.write_bytes(data)
    return str(path)


def documents(path: str, kind: str, **options) -> list[Document | UnreadableDocument]:
    return list(read(Input(path, "name", kind), **options))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("readers")


@given(text=TEXT.filter(bool))
def test_a_file_comes_back_exactly_with_all_its_line_ends(folder, text):
    path = written(folder, "whole.txt", text.encode())
    (document,) = documents(path, "file")
    assert document.text == text
    assert (document.id, document.path, document.line) == (path, path, 0)


@given(texts=st.lists(TEXT, min_size=1), ends=st.lists(st.sampled_from(["\n", "\r\n"]), min_size=1))
def test_lines_and_their_ends_make_the_file_again(folder, texts, ends):
    whole = "".join(text.replace("\n", " ") + ends[i % len(ends)] for i, text in enumerate(texts))
    found = documents(written(folder, "lines.txt", whole.encode()), "line")
    assert "".join(document.text + document.ending for document in found) == whole
    assert [document.line for document in found] == list(range(1, len(found) + 1))
    assert len(found) == whole.count("\n")


@given(
    rows=st.lists(st.tuples(TEXT, st.dictionaries(KEYS, VALUES, max_size=3)), min_size=1),
    ascii_only=st.booleans(),
)
def test_jsonl_keeps_text_and_the_other_keys(folder, rows, ascii_only):
    dumped = [json.dumps({"text": text, **meta}, ensure_ascii=ascii_only) for text, meta in rows]
    data = "\r\n".join(dumped).encode()
    found = documents(written(folder, "rows.jsonl", data), "json")
    assert [(document.text, dict(document.meta)) for document in found] == rows
    for number, (document, (_, meta)) in enumerate(zip(found, rows, strict=True), 1):
        named = isinstance(meta.get("id"), (str, int))
        assert document.id == str(meta["id"]) if named else document.id.endswith(f"rows.jsonl:{number}")


@pytest.mark.parametrize(("suffix", "packed"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_packed_files_are_unpacked(tmp_path, suffix, packed):
    path = written(tmp_path, f"a.txt{suffix}", packed(b"one\r\ntwo"))
    assert [document.text for document in documents(path, "line")] == ["one", "two"]


@pytest.mark.parametrize(
    ("name", "data", "kind", "code", "part"),
    [
        ("a.txt", b"", "file", "D302", "empty"),
        ("a.txt", b"", "line", "D302", "empty"),
        ("a.jsonl.gz", gzip.compress(b"", mtime=0), "json", "D302", "empty"),
        ("a.txt", b"abc\0def", "file", "D303", "offset 3"),
        ("a.txt", "word".encode("utf-16"), "file", "D303", "UTF-16"),
        ("a.txt", b"one\ntwo\0\n", "line", "D303", "offset 7"),
        ("a.txt", b"caf\xe9 ol\xe9", "file", "D304", "0xe9 at offset 3"),
        ("a.txt", b"caf\xe9", "line", "D304", "offset 3"),
        ("a.jsonl", b"{}", "json", "D306", "line 1: the key 'text' is missing"),
        ("a.jsonl", b'\n["text"]', "json", "D306", "line 2: a JSON array"),
        ("a.jsonl", b'{"text": 5}', "json", "D306", "JSON number"),
        ("a.jsonl", b'{"text": true}', "json", "D306", "JSON boolean"),
        ("a.jsonl", b'{"text": "a', "json", "D306", "not JSON"),
        ("a.jsonl", b'{"text": ' + b"[" * 100_000, "json", "D306", "not JSON"),
        ("a.jsonl", b'{"text": "a", "n": ' + b"9" * 5000 + b"}", "json", "D306", "not JSON"),
        ("a.jsonl", b'{"text": "ab\\ud800"}', "json", "D306", "surrogate"),
        ("a.jsonl", b'{"text": "ab\\u0000"}', "json", "D306", "NUL character at offset 2"),
        ("a.txt.gz", b"no gzip at all", "file", "D308", "cannot read"),
        ("a.txt.gz", gzip.compress(b"word " * 9999, mtime=0)[:-20], "file", "D308", "cannot read"),
        ("a.txt.xz", lzma.compress(b"word " * 9999)[:-20], "line", "D308", "cannot read"),
    ],
)
def test_bad_input_is_one_message_with_its_path(tmp_path, name, data, kind, code, part):
    path = written(tmp_path, name, data)
    found = documents(path, kind)
    bad = [document for document in found if isinstance(document, UnreadableDocument)]
    assert [(one.error.code, one.path) for one in bad] == [(code, path)]
    message = str(bad[0].error)
    assert part in message
    assert path in message
    assert "\n" not in message


def test_a_missing_file_is_a_message(tmp_path):
    (bad,) = documents(str(tmp_path / "none.txt"), "file")
    assert bad.error.code == "D300"


def test_bad_lines_do_not_stop_the_good_ones(tmp_path):
    data = b'{"text": "one"}\n{"txt": 1}\n\xff\xfe\n{"text": "two", "id": "second"}\n'
    found = documents(written(tmp_path, "a.jsonl", data), "json")
    kinds = ["Document", "UnreadableDocument", "UnreadableDocument", "Document"]
    assert [type(document).__name__ for document in found] == kinds
    assert "line 2" in str(found[1].error)
    assert f"offset {data.index(0xFF)}" in str(found[2].error)
    assert found[3].id == "second"


def test_a_line_that_is_too_long_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "LINE_LIMIT", 10)
    monkeypatch.setattr(lines, "_SKIP", 4)
    data = b"short\n" + b"x" * 95 + b"\nafter\n" + b"y" * 11
    found = documents(written(tmp_path, "a.txt", data), "line")
    assert [getattr(document, "text", None) for document in found] == ["short", None, "after", None]
    assert [str(bad.error).split(":")[1] for bad in found if isinstance(bad, UnreadableDocument)] == [
        " line 2 is longer than 10 bytes, so this is probably not text; split the line",
        " line 4 is longer than 10 bytes, so this is probably not text; split the line",
    ]
    assert found[2].line == 3


def test_a_file_of_one_endless_line_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("disambig.formats.documents.LINE_LIMIT", 10)
    (bad,) = documents(written(tmp_path, "a.txt", b"one\n" + b"x" * 11), "file")
    assert bad.error.code == "D305"
    assert "line 2" in str(bad.error)
    (good,) = documents(written(tmp_path, "b.txt", b"one\n" + b"x" * 10 + b"\n" + b"y" * 10), "file")
    assert len(good.text) == 25


@given(data=st.binary(), kind=st.sampled_from(["file", "line", "json"]))
def test_nothing_that_is_read_raises(folder, data, kind):
    for found in documents(written(folder, "any", data), kind):
        assert isinstance(found, UnreadableDocument) or isinstance(found.text.encode(), bytes)


def test_a_stretch_of_lines_is_read_with_its_numbers(tmp_path):
    path = written(tmp_path, "a.txt", b"one\ntwo\nthree\nfour\n")
    found = documents(path, "line", start=4, end=14, line=2)
    assert [(document.line, document.text) for document in found] == [(2, "two"), (3, "three")]
