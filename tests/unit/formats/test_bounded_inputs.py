"""Inputs made to fill the memory: packed, endless or blank ones are refused by name, or read in bounds."""

from __future__ import annotations

import gzip
import io
import lzma
import tracemalloc
import zlib
from pathlib import Path

import pytest

from disambig.files import memory_limit
from disambig.formats import (
    SENTENCE_LIMIT,
    UnreadableDocument,
    conllu_documents,
    find_inputs,
    read,
    read_lines,
)

BOUND = 2_000_000


def codes(path: Path, limit: int = BOUND) -> list[str]:
    """Return the codes of what is bad in a file, and "" for each good document."""
    (source,) = find_inputs([str(path)])
    return [
        found.error.code if isinstance(found, UnreadableDocument) else ""
        for found in read(source, limit=limit)
    ]


def peak(action) -> int:
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def row(number: int) -> str:
    return f"{number}\tword\tword\tNOUN\tNN\t_\t0\troot\t_\t_\n"


def sentence(words: int) -> str:
    return "".join(map(row, range(1, words + 1))) + "\n"


def conllu(data: bytes) -> list:
    return list(conllu_documents(read_lines(io.BytesIO(data)), "x.conllu"))


@pytest.mark.slow
def test_blank_lines_are_not_held():
    data = b"\n" * 1_000_000
    found = []
    assert peak(lambda: found.extend(conllu(data))) < 10_000_000
    assert found == []


def test_blank_lines_between_sentences_cost_no_line_numbers():
    text = "\n" * 1_500_000 + sentence(2) + "\n" * 1_500_000 + sentence(3) + "\n\nno row\n"
    found = conllu(text.encode())
    assert [document.text for document in found[:1]] == ["word word"]
    assert found[0].line == 1_500_001
    assert isinstance(found[-1], UnreadableDocument)
    assert f"line {text[: text.index('no row')].count(chr(10)) + 1:,}:" in str(found[-1].error)


@pytest.mark.parametrize("piece", [row(1), "# a comment\n"])
@pytest.mark.slow
def test_a_sentence_that_never_ends_is_named_and_the_rest_goes_on(piece):
    endless = piece * (3 * SENTENCE_LIMIT // len(piece))
    data = (sentence(2) + endless + "\n" + sentence(3)).encode()
    found = []
    assert peak(lambda: found.extend(conllu(data))) < 12 * SENTENCE_LIMIT
    first, bad, last = found
    assert (first.text, last.text) == ("word word", "word word word")
    assert bad.error.code == "D324"
    assert f"line {4:,}:" in str(bad.error)


def test_long_documents_are_cut_between_sentences():
    data = b"# newdoc id = a\n" + sentence(400).encode() * 499
    found = conllu(data)
    assert len(found) > 1
    assert sum(len(document.text.split()) for document in found) == 400 * 499
    assert b"".join(document.source for document in found) == data


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_a_packed_text_that_unfolds_too_far_is_refused_by_name(tmp_path, suffix, pack):
    path = tmp_path / f"bomb.txt{suffix}"
    path.write_bytes(pack(b"word " * 10_000_000))
    assert codes(path) == ["D872"]
    assert peak(lambda: codes(path)) < 3 * BOUND + 10_000_000
    assert codes(path, limit=60_000_000) == [""]


def test_a_plain_text_above_the_bound_is_refused_by_name(tmp_path):
    path = tmp_path / "long.txt"
    path.write_bytes(b"word " * 1_000_000)
    assert codes(path) == ["D872"]


def test_packed_lines_are_streamed_whatever_their_number(tmp_path):
    path = tmp_path / "many.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"text": "a word"}\n' * 200_000))
    assert codes(path) == [""] * 200_000


def docbin(**changes) -> bytes:
    import srsly

    message = {
        "version": "0.1",
        "attrs": [65],
        "tokens": b"",
        "spaces": b"",
        "lengths": b"",
        "strings": [],
        "cats": [],
        "flags": [],
        **changes,
    }
    return zlib.compress(srsly.msgpack_dumps(message))


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"tokens": b"\0" * 8_000_000, "spaces": b"\0" * 1_000_000}, id="bytes"),
        pytest.param({"lengths": b"\0" * 400_000}, id="documents"),
        pytest.param({"strings": [""] * 100_000}, id="strings"),
        pytest.param({"cats": [{}] * 100_000}, id="categories"),
    ],
)
def test_a_docbin_that_unfolds_too_far_is_refused_by_name(tmp_path, changes):
    path = tmp_path / "bomb.spacy"
    path.write_bytes(docbin(**changes))
    assert codes(path) == ["D872"]
    assert peak(lambda: codes(path)) < 8 * BOUND + 10_000_000


def test_a_parquet_of_one_long_text_many_times_is_read_row_by_row(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "rows.parquet"
    parquet.write_table(arrow.table({"text": ["word " * 20_000] * 300, "note": ["n" * 100_000] * 300}), path)
    (source,) = find_inputs([str(path)])

    def longest():
        for document in read(source, limit=BOUND):
            assert document.text.startswith("word")

    assert peak(longest) < 10_000_000


def test_a_parquet_whose_rows_take_too_much_is_refused_by_name(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "rows.parquet"
    texts = [f"{number} " + "word " * 20_000 for number in range(100)]
    parquet.write_table(arrow.table({"text": texts}), path, compression="zstd")
    assert codes(path) == ["D872"]
    assert codes(path, limit=50_000_000) == [""] * 100


def test_the_bound_is_a_tenth_of_the_memory_and_512_megabytes_at_most():
    assert 1_000_000 < memory_limit() <= 512_000_000


def test_a_job_counts_what_is_above_the_bound_among_its_documents(tmp_path):
    from fake_models import FakeSource

    from disambig.formats import make_format
    from disambig.jobs import JobLimits, run_job

    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "a.txt.gz").write_bytes(gzip.compress(b"word " * 1_000_000))
    (tmp_path / "corpus" / "b.txt").write_text("a quite place")
    inputs = find_inputs([str(tmp_path / "corpus")])
    for bounds, wanted in ((JobLimits(BOUND), ["D872"]), (JobLimits(), [])):
        report = run_job(
            tmp_path / f"out{bounds.memory}",
            inputs,
            source=FakeSource(),
            format=make_format("jsonl"),
            bounds=bounds,
        )
        assert [message[1:5] for message in report.bad] == wanted
        assert report.totals.documents == 2 - len(wanted)
