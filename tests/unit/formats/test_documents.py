"""Documents in text files, lines and JSON Lines: which files are read, how, and limits."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import lzma
import os
import sys
import tracemalloc
import zlib
from pathlib import Path

import pytest
import srsly
from fake_models import FakeSource
from hypothesis import given, strategies as st

from disambig.cli.output import open_results
from disambig.errors import UserError
from disambig.files import ZstdFile, memory_limit
from disambig.formats import (
    SENTENCE_LIMIT,
    Document,
    Input,
    UnreadableDocument,
    conllu_documents,
    documents as lines,
    files_by_suffix,
    find_inputs,
    lines_in,
    make_format,
    read,
    read_lines,
)
from disambig.formats.documents import PART_SIZE, WHOLE_SIZE, text_cuts, text_parts
from disambig.jobs import JobLimits, run_job
from disambig.training import read_texts

FOUND = ["a.txt", "b.txt", "deep/c.jsonl.gz", "deep/er/d.ndjson"]


@pytest.fixture
def corpus(tmp_path):
    for name in (*FOUND, ".hidden/e.txt", ".f.txt", "g.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text("x")
    return tmp_path


def names_in(*paths, **options):
    return [entry.name for entry in find_inputs([str(path) for path in paths], **options)]


def test_directories_are_searched_in_order_without_hidden_and_unknown_files(corpus):
    assert names_in(corpus) == FOUND
    assert [entry.kind for entry in find_inputs([str(corpus)])] == ["file", "file", "json", "json"]
    assert names_in(corpus, exclude=[str(corpus / "deep")]) == FOUND[:2]  # the output file
    for name in ("README.md", "h.md"):
        (corpus / name).write_text("Text.")
    assert names_in(corpus) == [*FOUND[:2], "h.md", *FOUND[2:]]  # a README is only read if it is named
    assert names_in(corpus / "README.md") == ["README.md"]


def test_a_named_file_is_read_with_any_suffix_and_once(corpus):
    given = corpus / "g.py", corpus / "b.txt", corpus
    assert names_in(*given, lines=True) == ["g.py", "b.txt", FOUND[0], *FOUND[2:]]
    assert find_inputs([str(corpus / "g.py")], lines=True)[0].kind == "line"
    (corpus / "deep" / "a.txt").write_text("x")  # equal names are shown with their folder
    assert names_in(corpus / "a.txt", corpus / "deep" / "a.txt") == ["a.txt", os.path.join("deep", "a.txt")]


def test_standard_input_is_jsonl_if_a_field_is_given():
    for options, kind in (({}, "file"), ({"lines": True}, "line"), ({"other": "json"}, "json")):
        assert [entry.kind for entry in find_inputs(["-"], **options)] == [kind]


def test_names_a_single_other_suffix():
    counts = {".png": 9, ".py": 3, ".rs": 2, ".tei": 1, "": 1}
    assert files_by_suffix(counts) == "16 files by suffix (.png 9, .py 3, .rs 2, no suffix 1, .tei 1)"
    more = files_by_suffix(counts | {".zip": 1})
    assert more == "17 files by suffix (.png 9, .py 3, .rs 2, no suffix 1, others 2)"


def test_missing_and_empty_inputs_are_errors_and_dangling_links_are_skipped(corpus):
    (corpus / "z.txt").symlink_to(corpus / "nowhere.txt")
    notes = []
    assert names_in(corpus, note=notes.append) == FOUND
    (note,) = notes
    assert note.text == f"not read: 1 file by suffix (.py 1), 1 dangling link ({corpus / 'z.txt'})"
    (corpus / "empty").mkdir()
    for name, message in (("z.txt", r"D300.*z\.txt"), ("nowhere", "D300.*nowhere"), ("empty", "D301")):
        with pytest.raises(UserError, match=message):
            find_inputs([str(corpus / name)])
    with pytest.raises(UserError, match=r"D301.*\.txt, \.md, .*\.jsonl"):
        find_inputs([str(corpus / "empty")])


def test_links_to_directories_and_pipes_are_reported_and_not_read(corpus):
    (corpus / "loop").symlink_to(corpus)
    os.mkfifo(corpus / "pipe.txt")
    notes = []
    assert names_in(corpus, note=notes.append) == FOUND
    links, pipes = f"1 link to directories ({corpus / 'loop'})", f"1 special file ({corpus / 'pipe.txt'})"
    assert links in notes[0].text and pipes in notes[0].text
    assert names_in(corpus / "pipe.txt") == ["pipe.txt"]


def test_an_unreadable_directory_is_reported(corpus, monkeypatch):
    scandir = os.scandir

    def refuse(path):
        if str(path).endswith("deep"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    notes = []
    inputs = find_inputs([str(corpus)], note=notes.append)
    assert [entry.name for entry in inputs] == ["a.txt", "b.txt"]
    assert [note.code for note in notes] == ["D308", "D342"] and str(corpus / "deep") in notes[0].text
    with pytest.raises(UserError, match=r"D308.*deep"):
        read_texts([str(corpus)])


def test_results_of_a_job_inside_a_directory_are_not_read(tmp_path):
    """They repeat the texts, which would be annotated twice."""
    (tmp_path / "corpus" / "out" / "shards").mkdir(parents=True)
    for name in ("a.jsonl", "out/part-00000.jsonl"):
        (tmp_path / "corpus" / name).write_text('{"text": "a quite place"}')
    for name in ("manifest.json", "shards/inputs.jsonl"):
        (tmp_path / "corpus" / "out" / name).write_text("{}")
    notes = []
    inputs = find_inputs([str(tmp_path / "corpus")], note=notes.append)
    assert [entry.name for entry in inputs] == ["a.jsonl"]
    assert [str(note) for note in notes] == [f"[D342] not read: 1 job ({tmp_path / 'corpus' / 'out'})"]
    (entry, *_) = find_inputs([str(tmp_path / "corpus" / "out")])  # it is named
    assert entry.name == "part-00000.jsonl"


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
KEYS = st.text(st.characters(codec="utf-8"), max_size=5).filter(lambda key: key != "text")
VALUES = st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8"))


def write_bytes(directory: Path, name: str, data: bytes) -> str:
    path = directory / name
    path.write_bytes(data)
    return str(path)


def read_kind(path: str, kind: str, **options) -> list[Document | UnreadableDocument]:
    return list(read(Input(path, "name", kind), **options))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("readers")


@given(text=TEXT.filter(bool))
def test_line_ends_of_a_file_are_kept(folder, text):
    path = write_bytes(folder, "whole.txt", text.encode())
    (document,) = read_kind(path, "file")
    assert document.text == text
    assert (document.id, document.path, document.line) == (path, path, 0)


@given(texts=st.lists(TEXT, min_size=1), ends=st.lists(st.sampled_from(["\n", "\r\n"]), min_size=1))
def test_lines_and_line_ends_add_up_to_the_file(folder, texts, ends):
    whole = "".join(text.replace("\n", " ") + ends[i % len(ends)] for i, text in enumerate(texts))
    actual = read_kind(write_bytes(folder, "lines.txt", whole.encode()), "line")
    assert "".join(document.text + document.ending for document in actual) == whole
    assert [document.line for document in actual] == list(range(1, len(actual) + 1))
    assert len(actual) == whole.count("\n")


@given(
    rows=st.lists(st.tuples(TEXT, st.dictionaries(KEYS, VALUES, max_size=3)), min_size=1),
    ascii_only=st.booleans(),
)
def test_jsonl_keeps_text_and_the_other_keys(folder, rows, ascii_only):
    dumped = [json.dumps({"text": text, **meta}, ensure_ascii=ascii_only) for text, meta in rows]
    data = "\r\n".join(dumped).encode()
    actual = read_kind(write_bytes(folder, "rows.jsonl", data), "json")
    assert [(document.text, dict(document.meta)) for document in actual] == rows
    for number, (document, (_, meta)) in enumerate(zip(actual, rows, strict=True), 1):
        named = isinstance(meta.get("id"), (str, int))
        assert document.id == str(meta["id"]) if named else document.id.endswith(f"rows.jsonl:{number}")


@pytest.mark.parametrize(("suffix", "packed"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_decompresses_files(tmp_path, suffix, packed):
    path = write_bytes(tmp_path, f"a.txt{suffix}", packed(b"one\r\ntwo"))
    assert [document.text for document in read_kind(path, "line")] == ["one", "two"]
    compressed = packed(b'{"text": "a word"}\n' * 60_000)  # lines are streamed
    path = write_bytes(tmp_path, f"many.jsonl{suffix}", compressed)
    assert codes(Path(path)) == [""] * 60_000


JAPANESE = "日本語の文章です。\nこれは二行目です。\n"
"""Text whose only NUL bytes in UTF-16 are those of line ends."""


@pytest.mark.parametrize(
    ("name", "data", "kind", "code", "part"),
    [
        ("a.txt", b"", "file", "D302", "empty"),
        ("a.jsonl.gz", gzip.compress(b"", mtime=0), "json", "D302", "empty"),
        ("a.txt", b"abc\0def", "file", "D303", "offset 3"),
        ("a.txt", "word".encode("utf-16"), "file", "D304", "iconv -f UTF-16"),
        ("a.txt", "word".encode("utf-32"), "file", "D304", "iconv -f UTF-32"),
        ("a.txt", JAPANESE.encode("utf-16"), "file", "D304", "iconv -f UTF-16"),
        ("a.txt", JAPANESE.encode("utf-16"), "line", "D304", "iconv -f UTF-16"),
        ("a.txt", b"\xfe\xff" + JAPANESE.encode("utf-16-be"), "line", "D304", "iconv -f UTF-16"),
        ("a.txt", JAPANESE[:9].encode("utf-16"), "file", "D304", "iconv -f UTF-16"),
        ("a.jsonl", '{"text": "a"}\n{"text": "b"}\n'.encode("utf-16"), "json", "D304", "iconv -f UTF-16"),
        ("a.csv", "text\na\nb\n".encode("utf-16"), "csv", "D304", "iconv -f UTF-16"),
        ("a.conllu", "1\ta\n\n1\tb\n\n".encode("utf-16"), "conllu", "D304", "iconv -f UTF-16"),
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
def test_invalid_input_is_an_error_with_its_path(tmp_path, name, data, kind, code, part):
    path = write_bytes(tmp_path, name, data)
    actual = read_kind(path, kind)
    bad = [document for document in actual if isinstance(document, UnreadableDocument)]
    assert [(one.error.code, one.path) for one in bad] == [(code, path)]
    message = str(bad[0].error)
    assert part in message and path in message and "\n" not in message
    (missing,) = read_kind(f"{path}.none", kind)
    assert missing.error.code == "D300"


def test_reads_on_after_invalid_lines(tmp_path):
    data = b'{"text": "one"}\n{"txt": 1}\n\xff\xfe\n{"text": "two", "id": "second"}\n'
    actual = read_kind(write_bytes(tmp_path, "a.jsonl", data), "json")
    kinds = ["Document", "UnreadableDocument", "UnreadableDocument", "Document"]
    assert [type(document).__name__ for document in actual] == kinds
    assert "line 2" in str(actual[1].error)
    assert f"offset {data.index(0xFF)}" in str(actual[2].error)
    assert actual[3].id == "second"
    path = write_bytes(tmp_path, "a.txt", b"one\ntwo\nthree\nfour\n")
    actual = read_kind(path, "line", start=4, end=14, line=2)
    assert [(document.line, document.text) for document in actual] == [(2, "two"), (3, "three")]


def test_lists_of_candidates_name_the_option_that_reads_them(tmp_path):
    of_list = b'{"id": 1, "candidates": [{"text": "a"}]}\n'
    (bad,) = read_kind(write_bytes(tmp_path, "a.jsonl", of_list * 3), "json")
    assert (bad.error.code, bad.error.values["line"]) == ("D350", 1)
    assert "--from nbest" in str(bad.error)
    text = b'{"text": "one", "candidates": []}\n'
    mixed = read_kind(write_bytes(tmp_path, "b.jsonl", text + of_list + text), "json")
    assert [type(document).__name__ for document in mixed] == ["Document", "UnreadableDocument", "Document"]


def test_skips_lines_that_are_too_long_and_rejects_files_with_one(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "LINE_LIMIT", 10)
    monkeypatch.setattr(lines, "_SKIP", 4)
    data = b"short\n" + b"x" * 95 + b"\nafter\n" + b"y" * 11
    actual = read_kind(write_bytes(tmp_path, "a.txt", data), "line")
    assert [getattr(document, "text", None) for document in actual] == ["short", None, "after", None]
    for number in (2, 4):
        message = f": line {number} is longer than 10 bytes, so this is probably not text; split the line"
        assert str(actual[number - 1].error).endswith(message)
    assert actual[2].line == 3
    (bad,) = read_kind(write_bytes(tmp_path, "a.txt", b"one\n" + b"x" * 11), "file")
    assert bad.error.code == "D305"
    assert "line 2" in str(bad.error)
    (good,) = read_kind(write_bytes(tmp_path, "b.txt", b"one\n" + b"x" * 10 + b"\n" + b"y" * 10), "file")
    assert len(good.text) == 25


@given(data=st.binary(), kind=st.sampled_from(["file", "line", "json"]))
def test_nothing_that_is_read_raises(folder, data, kind):
    for actual in read_kind(write_bytes(folder, "any", data), kind):
        assert isinstance(actual, UnreadableDocument) or isinstance(actual.text.encode(), bytes)


PARAGRAPH = "She walked to the park. The dog ran after it.\n"
LARGE = (PARAGRAPH * 20 + "\n") * 1500


def read_documents(path) -> list[Document]:
    (source,) = find_inputs([str(path)])
    return list(read(source))


@given(
    st.lists(st.sampled_from([b"a word", b"\n", b"\r\n", b"\n\n", b"caf\xc3\xa9 "])),
    st.integers(1, 40),
    st.integers(0, 80),
)
def test_parts_are_the_text_with_the_places_at_which_they_begin(pieces, size, whole):
    text = b"".join(pieces)
    parts = list(text_parts(io.BytesIO(text), whole=whole, size=size))
    if len(text) <= whole:
        assert [part.data for part in parts] == [text] * bool(text)
        return
    assert b"".join(part.data for part in parts) == text
    for before, part in itertools.pairwise(parts):
        assert before.data.endswith(b"\n")
        assert part.offset == before.offset + len(before.data)
        assert part.number == 1 + text[: part.offset].count(b"\n")
        assert len(before.data) <= size or b"\n" not in before.data[:size]


@given(st.lists(st.integers(0, 30), min_size=1), st.integers(1, 30))
def test_a_long_line_is_a_part_without_data(sizes, longest):
    lines = [b"x" * size + b"\n" for size in sizes]
    parts = list(text_parts(io.BytesIO(b"".join(lines)), whole=0, size=1, longest=longest))
    assert [part.data for part in parts] == [line if len(line) <= longest else None for line in lines]
    assert [part.number for part in parts] == list(range(1, len(lines) + 1))


@pytest.mark.parametrize(("name", "pack"), [("a.txt", bytes), ("a.txt.gz", gzip.compress)])
def test_a_large_text_is_several_documents_that_end_with_a_paragraph(tmp_path, name, pack):
    path = tmp_path / name
    path.write_bytes(pack(LARGE.encode()))
    parts = read_documents(path)
    assert all(0.8 * PART_SIZE < len(document.text) <= PART_SIZE for document in parts[:-1])
    assert "".join(document.text for document in parts) == LARGE
    assert all(document.text.endswith("\n\n") for document in parts)
    assert [document.id for document in parts] == [f"{path}:{document.line}" for document in parts]
    lines = LARGE.split("\n")
    assert all(document.text.startswith(lines[document.line - 1]) for document in parts)


@pytest.mark.parametrize("size", [PART_SIZE // 2, 3 * PART_SIZE, 2 * WHOLE_SIZE])
def test_pieces_of_a_large_text_have_the_documents_of_the_whole(tmp_path, size):
    path = tmp_path / "a.txt"
    path.write_text(LARGE)
    with path.open("rb") as file:
        cuts = text_cuts(file, str(path), size)
    starts = [start for start, _ in cuts]
    assert starts[0] == 0 and all(b - a >= size for a, b in itertools.pairwise(starts))
    assert len(cuts) == 1 if size > len(LARGE) else len(cuts) > len(LARGE) // (size + 2 * PART_SIZE)
    (source,) = find_inputs([str(path)])
    ends = [*starts[1:], None]
    pieces = [
        list(read(source, start=start, end=end, line=line))
        for (start, line), end in zip(cuts, ends, strict=True)
    ]
    assert list(itertools.chain.from_iterable(pieces)) == read_documents(path)


@pytest.mark.parametrize("end", [b"\xff", b"x" * PART_SIZE * 4])
def test_a_text_that_may_be_rejected_is_one_piece(end):
    assert text_cuts(io.BytesIO(LARGE.encode() + end), "a.txt", 3 * PART_SIZE) == [(0, 1)]


def test_a_small_text_and_large_markup_are_one_document(tmp_path):
    (tmp_path / "small.txt").write_text(PARAGRAPH * (WHOLE_SIZE // len(PARAGRAPH.encode())))
    (tmp_path / "large.md").write_text(LARGE)
    assert [document.line for document in read_documents(tmp_path / "small.txt")] == [0]
    assert [document.text for document in read_documents(tmp_path / "large.md")] == [LARGE]
    path = tmp_path / "broken.txt"
    path.write_bytes(LARGE.encode() + b"\xff")
    (actual,) = read_documents(path)
    assert f"byte {len(LARGE):,}" in str(actual.error) or f"{len(LARGE):,}" in str(actual.error)
    assert actual.error.code == "D304"


def test_memory_does_not_grow_with_the_text(tmp_path):
    path = tmp_path / "long.txt"
    path.write_text(LARGE * 12)
    (source,) = find_inputs([str(path)])
    sizes = []
    assert peak(lambda: sizes.extend(len(document.text) for document in read(source))) < 4 * WHOLE_SIZE
    assert sum(sizes) == 12 * len(LARGE) > 10 * WHOLE_SIZE


def test_corrected_parts_are_written_to_one_file(tmp_path):
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "large.txt").write_text(LARGE)
    (tmp_path / "corpus" / "small.txt").write_text("a quite place")
    inputs = find_inputs([str(tmp_path / "corpus")])
    assert run_job(tmp_path / "out", inputs, source=FakeSource(), format=make_format("corrected")).bad == []
    assert len((tmp_path / "out" / "large.txt").read_text().splitlines()) == len(LARGE.splitlines())
    assert os.listdir(tmp_path / "out" / "shards")
    assert (tmp_path / "out" / "small.txt").exists()


def test_lines_of_several_files(tmp_path, monkeypatch):
    plain, packed = tmp_path / "a.txt", tmp_path / "b.txt.gz"
    plain.write_bytes("\ufeffかな\r\n\r\n last".encode())
    packed.write_bytes(gzip.compress("\ufeff1\n\ufeff2\n".encode()))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"typed\r\r\n")))
    assert list(lines_in([str(plain), str(packed), "-"])) == [
        (f"{plain}:1", "かな"),
        (f"{plain}:2", ""),
        (f"{plain}:3", " last"),
        (f"{packed}:1", "1"),
        (f"{packed}:2", "\ufeff2"),
        ("-:1", "typed\r"),
    ]


def test_unreadable_files_raise_coded_errors(tmp_path):
    files = {"a.txt": b"\xff\n", "b.txt": b"a\0\n", "c.gz": b"x"}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    for name, code in (("none.txt", "D300"), ("a.txt", "D304"), ("b.txt", "D303"), ("c.gz", "D308")):
        with pytest.raises(UserError, match=f"{code}.*{name}"):
            list(lines_in([str(tmp_path / name)]))


def test_results_are_written_whole_or_not_at_all(tmp_path, capsysbinary):
    path = tmp_path / "out.txt"
    with pytest.raises(RuntimeError), open_results(path) as write:
        write("half")
        raise RuntimeError
    assert not path.exists() and not list(tmp_path.iterdir())
    with open_results(path) as write:
        write("猫")
        assert not path.exists()
        write("\n")
    assert path.read_text(encoding="utf8") == "猫\n"
    with pytest.raises(UserError, match="D310"), open_results(path):
        pass
    with open_results(path, force=True) as write:
        write("other")
    assert path.read_bytes() == b"other"
    with open_results(None) as write:
        write("猫\n")
    assert capsysbinary.readouterr().out == "猫\n".encode()
    with pytest.raises(UserError, match="D309"), open_results(tmp_path / "no" / "out.txt"):
        pass


BOUND = 2_000_000


def codes(path: Path, limit: int = BOUND) -> list[str]:
    """Return the code of the error of each document in a file, "" for good documents."""
    (source,) = find_inputs([str(path)])
    return [
        actual.error.code if isinstance(actual, UnreadableDocument) else ""
        for actual in read(source, limit=limit)
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


def read_conllu(data: bytes) -> list:
    return list(conllu_documents(read_lines(io.BytesIO(data)), "x.conllu"))


@pytest.mark.slow
def test_blank_lines_are_not_kept_in_memory():
    data = b"\n" * 1_000_000
    actual = []
    assert peak(lambda: actual.extend(read_conllu(data))) < 10_000_000
    assert actual == []


def test_line_numbers_are_right_after_blank_lines():
    text = "\n" * 1_100_000 + sentence(2) + "\n" * 1_100_000 + sentence(3) + "\n\nno row\n"
    actual = read_conllu(text.encode())
    assert [document.text for document in actual[:1]] == ["word word"]
    assert actual[0].line == 1_100_001
    assert isinstance(actual[-1], UnreadableDocument)
    assert f"line {text[: text.index('no row')].count(chr(10)) + 1:,}:" in str(actual[-1].error)


@pytest.mark.parametrize("piece", [row(1), "# a comment\n"])
@pytest.mark.slow
def test_an_endless_sentence_is_reported_and_skipped(piece):
    endless = piece * (3 * SENTENCE_LIMIT // len(piece))
    data = (sentence(2) + endless + "\n" + sentence(3)).encode()
    actual = []
    assert peak(lambda: actual.extend(read_conllu(data))) < 12 * SENTENCE_LIMIT
    first, bad, last = actual
    assert (first.text, last.text) == ("word word", "word word word")
    assert bad.error.code == "D324"
    assert f"line {4:,}:" in str(bad.error)


def test_long_documents_are_cut_between_sentences():
    data = b"# newdoc id = a\n" + sentence(400).encode() * 499
    actual = read_conllu(data)
    assert len(actual) > 1
    assert sum(len(document.text.split()) for document in actual) == 400 * 499
    assert b"".join(document.source for document in actual) == data


@pytest.mark.parametrize(("suffix", "pack"), [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress)])
def test_rejects_a_text_above_the_memory_limit(tmp_path, suffix, pack):
    path = tmp_path / f"large.txt{suffix}"
    path.write_bytes(pack(b"word " * 5_000_000))
    assert codes(path) == ["D872"]
    assert peak(lambda: codes(path)) < 3 * BOUND + 10_000_000
    assert codes(path, limit=30_000_000) == [""]


def docbin_message(**changes) -> bytes:
    message = dict.fromkeys(("tokens", "spaces", "lengths"), b"") | {"version": "0.1", "attrs": [65]}
    message |= {key: [] for key in ("strings", "cats", "flags")}
    return zlib.compress(srsly.msgpack_dumps({**message, **changes}))


@pytest.mark.parametrize(
    "changes",
    [
        {"tokens": b"\0" * 8_000_000, "spaces": b"\0" * 1_000_000},
        {"lengths": b"\0" * 400_000},
        {"strings": [""] * 100_000},
        {"cats": [{}] * 100_000},
    ],
    ids=["bytes", "documents", "strings", "categories"],
)
def test_rejects_a_docbin_that_expands_too_far(tmp_path, changes):
    path = tmp_path / "bomb.spacy"
    path.write_bytes(docbin_message(**changes))
    assert codes(path) == ["D872"]
    assert peak(lambda: codes(path)) < 8 * BOUND + 10_000_000


def test_a_parquet_is_read_row_by_row_and_refused_if_its_rows_take_too_much(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "rows.parquet"
    parquet.write_table(arrow.table({"text": ["word " * 20_000] * 300, "note": ["n" * 100_000] * 300}), path)
    (source,) = find_inputs([str(path)])

    def longest():
        for document in read(source, limit=BOUND):
            assert document.text.startswith("word")

    assert peak(longest) < 10_000_000
    texts = [f"{number} " + "word " * 20_000 for number in range(100)]
    parquet.write_table(arrow.table({"text": texts}), path, compression="zstd")
    assert codes(path) == ["D872"]
    assert codes(path, limit=50_000_000) == [""] * 100
    assert 1_000_000 < memory_limit() <= 512_000_000


def test_a_job_counts_what_is_above_the_bound_among_its_documents(tmp_path):
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "a.txt.gz").write_bytes(gzip.compress(b"word " * 1_000_000))
    (tmp_path / "corpus" / "b.txt").write_text("a quite place")
    inputs = find_inputs([str(tmp_path / "corpus")])
    for limits, expected in ((JobLimits(BOUND), ["D872"]), (JobLimits(), [])):
        options = {"source": FakeSource(), "format": make_format("jsonl"), "limits": limits}
        report = run_job(tmp_path / f"out{limits.memory}", inputs, **options)
        assert [message[1:5] for message in report.bad] == expected
        assert report.totals.documents == 2 - len(expected)


def test_zstd_data_is_not_copied_at_each_read():
    zstandard = pytest.importorskip("zstandard")
    text = bytes(64_000_000)
    file = ZstdFile(io.BytesIO(zstandard.ZstdCompressor().compress(text)))
    buffer, total, held = bytearray(1 << 17), 0, set()
    while size := file.readinto(buffer):
        total += size
        held.add(id(getattr(file._unread, "obj", file._unread)))
    assert total == len(text)
    assert len(held) < 50  # the buffer is sliced, not copied: 488 reads
