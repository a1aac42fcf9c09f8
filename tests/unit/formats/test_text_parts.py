"""A large file of plain text is read as several documents, so that its size does not matter."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import os
import tracemalloc

import pytest
from fake_models import FakeSource
from hypothesis import given
from hypothesis import strategies as st

from disambig.formats import Document, find_inputs, make_format, read
from disambig.formats.documents import PART_SIZE, text_parts
from disambig.jobs import run_job

PARAGRAPH = "She walked to the park. The dog ran after it.\n"
LARGE = (PARAGRAPH * 20 + "\n") * 1500


def documents(path) -> list[Document]:
    (source,) = find_inputs([str(path)])
    return list(read(source))


@given(st.lists(st.sampled_from([b"a word", b"\n", b"\r\n", b"\n\n", b"caf\xc3\xa9 "])), st.integers(1, 40))
def test_parts_are_the_text_with_the_places_at_which_they_begin(pieces, size):
    text = b"".join(pieces)
    parts = list(text_parts(io.BytesIO(text), size=size))
    assert b"".join(part.data for part in parts) == text
    for before, part in itertools.pairwise(parts):
        assert before.data.endswith(b"\n")
        assert part.offset == before.offset + len(before.data)
        assert part.number == 1 + text[: part.offset].count(b"\n")
        assert len(before.data) <= size or b"\n" not in before.data[:size]


@given(st.lists(st.integers(0, 30), min_size=1), st.integers(1, 30))
def test_a_long_line_is_a_part_without_data(sizes, longest):
    lines = [b"x" * size + b"\n" for size in sizes]
    parts = list(text_parts(io.BytesIO(b"".join(lines)), size=1, longest=longest))
    assert [part.data for part in parts] == [line if len(line) <= longest else None for line in lines]
    assert [part.number for part in parts] == list(range(1, len(lines) + 1))


@pytest.mark.parametrize(("name", "pack"), [("a.txt", bytes), ("a.txt.gz", gzip.compress)])
def test_a_large_text_is_several_documents_that_end_with_a_paragraph(tmp_path, name, pack):
    path = tmp_path / name
    path.write_bytes(pack(LARGE.encode()))
    parts = documents(path)
    assert len(parts) > 1
    assert "".join(document.text for document in parts) == LARGE
    assert all(document.text.endswith("\n\n") for document in parts)
    assert [document.id for document in parts] == [f"{path}:{document.line}" for document in parts]
    lines = LARGE.split("\n")
    assert all(document.text.startswith(lines[document.line - 1]) for document in parts)


def test_a_small_text_and_large_markup_are_one_document(tmp_path):
    (tmp_path / "small.txt").write_text("a" * 100)
    (tmp_path / "large.md").write_text(LARGE)
    assert [document.line for document in documents(tmp_path / "small.txt")] == [0]
    assert [document.text for document in documents(tmp_path / "large.md")] == [LARGE]


def test_nothing_is_read_of_a_text_whose_end_is_not_valid(tmp_path):
    path = tmp_path / "broken.txt"
    path.write_bytes(LARGE.encode() + b"\xff")
    (found,) = documents(path)
    assert f"byte {len(LARGE):,}" in str(found.error) or f"{len(LARGE):,}" in str(found.error)
    assert found.error.code == "D304"


def test_memory_does_not_grow_with_the_text(tmp_path):
    path = tmp_path / "long.txt"
    path.write_text(LARGE * 12)
    (source,) = find_inputs([str(path)])
    tracemalloc.start()
    try:
        size = sum(len(document.text) for document in read(source))
        assert tracemalloc.get_traced_memory()[1] < 8 * PART_SIZE
    finally:
        tracemalloc.stop()
    assert size == 12 * len(LARGE) > 10 * PART_SIZE


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "large.txt").write_text(LARGE)
    (folder / "small.txt").write_text("a quite place")
    return folder


def test_corrected_parts_are_written_to_one_file(corpus, tmp_path):
    report = run_job(
        tmp_path / "out",
        find_inputs([str(corpus)]),
        source=FakeSource(),
        format=make_format("corrected"),
    )
    assert report.bad == []
    corrected = (tmp_path / "out" / "large.txt").read_text()
    assert len(corrected.splitlines()) == len(LARGE.splitlines())
    assert os.listdir(tmp_path / "out" / "shards")
    assert (tmp_path / "out" / "small.txt").exists()


def test_records_say_where_their_part_begins(corpus, tmp_path):
    run_job(
        tmp_path / "out",
        find_inputs([str(corpus)]),
        source=FakeSource(),
        format=make_format("jsonl"),
    )
    rows = [
        json.loads(line)
        for part in sorted((tmp_path / "out").glob("part-*"))
        for line in part.read_text().splitlines()
    ]
    texts = [row["text"] for row in rows if row["path"].endswith("large.txt")]
    assert "".join(texts) == LARGE
