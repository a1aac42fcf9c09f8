"""Files read as streams of paragraphs, and their errors."""

from __future__ import annotations

import gzip
import lzma
import sys

import pytest

from disambig.counts import TextFiles, inputs
from disambig.errors import UserError
from disambig.files import open_bytes, pack as pack_into


def read(*paths):
    return list(TextFiles([str(path) for path in paths]))


def test_files_directories_and_packed(tmp_path):
    (tmp_path / "b.txt").write_text("one\r\ntwo\rthree\n\n\nfour", encoding="utf8", newline="")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.txt.gz").write_bytes(gzip.compress("fünf\n".encode()))
    (tmp_path / "sub" / "c.xz").write_bytes(lzma.compress("\ufeffsix".encode()))
    (tmp_path / "sub" / ".hidden.txt").write_text("no")
    (tmp_path / "sub" / "other.md").write_text("no")
    (tmp_path / "sub" / "empty.txt").write_text("")
    assert read(tmp_path) == ["one", "two", "three", "four", "fünf", "six"]
    assert read(tmp_path / "sub" / "other.md", tmp_path / "b.txt")[0] == "no"
    files = TextFiles([str(tmp_path)])
    assert [source["name"] for source in files.sources] == ["b.txt", "a.txt.gz", "c.xz"]
    assert files.total == sum(source["bytes"] for source in files.sources)
    list(files)
    assert files.done == files.total


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("latin.txt", "ein caf\xe9".encode("latin1"), "D304.*latin.txt.*0xe9 at offset 7"),
        ("nul.txt", b"abc\0def", "D303.*nul.txt.*offset 3"),
        ("late.txt", b"fine\n" * 1000 + b"\xff", "D304.*offset 5,000"),
        ("wide.txt", "abc".encode("utf-16"), "D304.*UTF-16"),
        ("cut.gz", gzip.compress(b"text " * 100, mtime=0)[:-9], "D308.*cut.gz"),
        ("not.gz", b"plain text", "D308.*not.gz"),
        ("cut.xz", lzma.compress(bytes(range(256)) * 100)[:60], "D308.*cut.xz"),
        ("not.xz", b"plain text", "D308.*not.xz"),
        ("empty.txt", b"", "D302.*empty.txt"),
    ],
)
def test_bad_files_are_named(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=message):
        read(tmp_path / name)


def test_missing(tmp_path):
    with pytest.raises(UserError, match="D300"):
        read(tmp_path / "none")
    with pytest.raises(UserError, match=r"D301.*\.txt"):
        read(tmp_path)


def test_offsets_in_later_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "_BLOCK", 7)
    (tmp_path / "x.txt").write_bytes("ä\nbcd\r\n".encode() * 20 + b"abc\xe9\n")
    with pytest.raises(UserError, match=r"D304.*offset 163"):
        read(tmp_path / "x.txt")
    (tmp_path / "y.txt").write_bytes("ä\nbcd\r\n".encode() * 20)
    assert read(tmp_path / "y.txt") == ["ä", "bcd"] * 20


@pytest.mark.parametrize("piece", ["One two, three. ", "one two ", "猫", "é", "x"])
def test_long_lines_are_cut_and_nothing_is_lost(tmp_path, monkeypatch, piece):
    monkeypatch.setattr(inputs, "_BLOCK", 64)
    monkeypatch.setattr(inputs, "LONGEST", 256)
    text = piece * 500
    (tmp_path / "x.txt").write_text(text, encoding="utf8")
    lines = read(tmp_path / "x.txt")
    assert "".join(lines) == text
    assert len(lines) > 1
    assert max(len(line.encode()) for line in lines) <= 256 + 64
    if len(piece) > 3:
        assert all(line.endswith(piece[-2:]) for line in lines)


def test_zstd(tmp_path, monkeypatch):
    zstandard = pytest.importorskip("zstandard")
    pack = zstandard.ZstdCompressor(write_checksum=True).compress
    text = "".join(f"Line {i} of the text, näively.\n" for i in range(30_000))
    (tmp_path / "a.txt.zst").write_bytes(pack(text[:1000].encode()) + pack(text[1000:].encode()))
    assert read(tmp_path) == text.splitlines()
    with open_bytes(str(tmp_path / "a.txt.zst")) as file:
        assert file.read(5) + file.read() == text.encode()
    with open(tmp_path / "b.zst", "wb") as sink, pack_into(sink, "b.zst") as packed:
        packed.write(text.encode())
    assert read(tmp_path / "b.zst") == text.splitlines()
    whole = (tmp_path / "a.txt.zst").read_bytes()
    for damage in (
        whole[:-9],
        whole[:3],
        b"plain text",
        whole + b"more",
        whole.replace(whole[50:60], b"0" * 10),
    ):
        (tmp_path / "c.zst").write_bytes(damage)
        with pytest.raises(UserError, match=r"D308.*c\.zst"):
            read(tmp_path / "c.zst")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(UserError, match=r"D123.*pip install 'zstandard>=0.22'"):
        read(tmp_path / "b.zst")
