"""Input files of counting, and parsers of command-line options."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any

from disambig.errors import UserError, nearest_first
from disambig.files import (
    COMPRESSED,
    STDIN,
    decode,
    drop_repeated,
    read_error,
    reading,
    unpack_zstd,
    without_compression,
)
from disambig.text import MAX_ORDER, Tokenisation

SUFFIXES = (".txt", *COMPRESSED)
"""Suffixes of the files that are read from a directory; a file given by name may have any suffix."""
_DATA = frozenset(
    ".arrow .avro .conll .conllu .csv .json .jsonl .ndjson .npy .npz .parquet .pdf .spacy .sql .sqlite .tar "
    ".tsv .vert .warc .wet .xml .yaml .yml .zip".split()
)
_MARKUP = frozenset(".htm .html .md .rst .tex .xhtml".split())
"""Suffixes of files that are not plain text: a directory's ``x.jsonl.gz`` is not read, as ``x.jsonl`` is not.
If it is named, data is an error, and markup a note. Other suffixes of compressed files name languages and
parts (``text.en.gz``)."""
_BLOCK = 1 << 20
LONGEST = 1 << 20
"""Maximum bytes of a line kept together. A longer line is cut, at the end of a sentence if possible."""
_SENTENCE_END = re.compile(rb"[.!?]['\")\]]*\s")
BOM = b"\xef\xbb\xbf"


class TextFiles:
    """The paragraphs (lines) of some files, to be iterated once.

    Raises D127 (a file of data), D300 (missing), D301 (a directory without text), D302 (empty); while reading
    D303 (binary), D304 (not UTF-8; the offset is in the decompressed text), D308 (unreadable, cut short).

    `paths`: files, directories (searched recursively for `SUFFIXES`; hidden and empty files and compressed
    ones of structured formats are skipped), and ``-`` for standard input. A file that is named twice is read
    once. Files named ``.gz``, ``.bz2``, ``.xz`` or ``.zst`` are decompressed.
    Attributes `total` and `done`: bytes to read, and bytes read so far, on disk (standard input counts as
    nothing).
    Attribute `sources`: name and size of each file, for the header of the table.
    Attribute `left_out`: number of files in directories that are not read, and of links to directories, by
    suffix.
    Attribute `with_markup`: files that were named although their suffix is that of a format with markup,
    which is counted too.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.left_out: Counter[str] = Counter()
        self.paths = drop_repeated(file for path in paths for file in _list_files(path, self.left_out))
        self.with_markup = [path for path in self.paths if _format_suffix(path) in _MARKUP]
        sizes = [os.path.getsize(file) if file != STDIN else 0 for file in self.paths]
        self.total = sum(sizes)
        self.done = 0
        self.sources = [
            {"name": os.path.basename(file) if file != STDIN else "<stdin>", "bytes": size}
            for file, size in zip(self.paths, sizes, strict=True)
        ]

    def __iter__(self) -> Iterator[str]:
        for file in self.paths:
            before = self.done
            for line, done in paragraphs(file):
                if file != STDIN:
                    self.done = before + done
                yield line


def paragraphs(path: str, start: int = 0, end: int | None = None) -> Iterator[tuple[str, int]]:
    """Yield the paragraphs (lines) of a file, each with the number of bytes read so far.

    Parameters
    ----------
    path : str
    start, end : int
        Byte range of an uncompressed file to read; both ends must be at the beginning of a line.

    Raises
    ------
    UserError
        D300, D303, D304, D308; see `TextFiles`.
    """
    name = "<stdin>" if path == STDIN else path
    with reading(name), _open_raw(path) as raw, unpacked(raw, path) as stream:
        if start:
            stream.seek(start)
        for line in _lines(stream, name, start, end):
            yield line, 0 if path == STDIN else raw.tell() - start


def unpacked(raw: IO[bytes], path: str) -> Any:
    """Return a stream of the decompressed file `raw`, by the suffix of `path`."""
    path = path.lower()
    if path.endswith(".gz"):
        return gzip.GzipFile(fileobj=raw, mode="rb")
    if path.endswith(".bz2"):
        return bz2.BZ2File(raw)
    if path.endswith(".zst"):
        return unpack_zstd(raw)
    return lzma.LZMAFile(raw) if path.endswith(".xz") else raw


def _open_raw(path: str) -> IO[bytes]:
    if path == STDIN:
        # a duplicate, so that closing this stream does not close the process's standard input
        stream: IO[bytes] = os.fdopen(os.dup(sys.stdin.fileno()), "rb") if _has_stdin() else io.BytesIO()
        return stream
    return open(path, "rb")


def _has_stdin() -> bool:
    try:
        return sys.stdin is not None and sys.stdin.fileno() >= 0
    except (OSError, ValueError):
        return False


def _list_files(path: str, left_out: Counter[str]) -> list[str]:
    """Return a file, or the text files in a directory and its subdirectories, not empty or hidden ones.

    The others, except hidden ones, are counted in `left_out`.
    """
    if path == STDIN:
        return [path]
    if not os.path.exists(path):
        raise UserError("D300", path=path)
    if not os.path.isdir(path):
        if os.path.isfile(path) and not os.path.getsize(path):
            raise UserError("D302", path=path)
        if (suffix := _format_suffix(path)) in _DATA:
            raise UserError("D127", path=path, suffix=suffix)
        return [path]

    def unreadable(problem: OSError) -> None:
        raise read_error(str(problem.filename), problem) from problem

    inside = []
    for folder, folders, names in os.walk(path, onerror=unreadable):
        # sorted, since the order of a directory differs between file systems and the table must not
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if n_linked := sum(os.path.islink(os.path.join(folder, name)) for name in folders):
            left_out["links to directories"] += n_linked
        for file in (os.path.join(folder, name) for name in sorted(names) if not name.startswith(".")):
            suffix, inner = os.path.splitext(file.lower())[1], _format_suffix(file)
            if suffix not in SUFFIXES:
                left_out[suffix] += 1
            elif suffix in COMPRESSED and inner in _DATA | _MARKUP:
                left_out[inner + suffix] += 1
            elif not os.path.isfile(file):
                left_out[f"{suffix} (not a file)"] += 1
            elif not os.path.getsize(file):
                left_out[f"{suffix} (empty)"] += 1
            else:
                inside.append(file)
    if not inside:
        raise UserError("D301", path=path, endings=f".txt (or of plain text with {', '.join(COMPRESSED)})")
    return inside


def _format_suffix(path: str) -> str:
    """Return the suffix of a file, in lower case and without that of its compression."""
    return os.path.splitext(without_compression(path).lower())[1]


def _lines(stream: Any, name: str, start: int = 0, end: int | None = None) -> Iterator[str]:
    """Yield the lines of a UTF-8 stream, at most `LONGEST` bytes each; see `whole_lines`."""
    for offset, block in whole_lines(stream, start, end, size=_BLOCK, cut_long=_cut_long_line):
        text = decode(block, name, start=offset)
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        yield from filter(None, text.split("\n"))


def whole_lines(
    stream: Any, start: int = 0, end: int | None = None, *, size: int, cut_long: Callable[[bytes], int]
) -> Iterator[tuple[int, bytes]]:
    """Yield blocks of whole lines without the byte order mark, and the offset of each in the file.

    Blocks end at multiples of the block size in the file, not relative to `start`, so that long lines are cut
    at the same places whichever shard reads them.

    `start`: the byte at which the stream is.
    `end`: the byte at which reading stops.
    `size`: number of bytes that are read at a time.
    `cut_long`: returns where to cut bytes without a line end; 0 if more are to be read.
    """
    pending, offset, position = b"", 0, start
    while True:
        wanted = size - position % size
        block = stream.read(wanted if end is None else min(wanted, end - position))
        position += len(block)
        if offset == 0 and not pending and block.startswith(BOM):
            block, offset = block[len(BOM) :], len(BOM)
        pending += block
        cut = (pending.rfind(b"\n") + 1 or cut_long(pending)) if block else len(pending)
        if cut:
            yield offset, pending[:cut]
            pending = pending[cut:]
            offset += cut
        if not block:
            return


def _cut_long_line(data: bytes) -> int:
    """Return where to cut a line without an end: after its last sentence, else its last word or character.

    The result is 0 for a line that is not too long.
    """
    if len(data) < LONGEST:
        return 0
    tail = data[len(data) // 2 :]
    start = len(data) - len(tail)
    if ends := [match.end() for match in _SENTENCE_END.finditer(tail)]:
        return start + ends[-1]
    if (space := tail.rfind(b" ")) >= 0:
        return start + space + 1
    # Not in the middle of a character: step back over continuation bytes (10xxxxxx), and over the first byte
    # of the character (11xxxxxx) too, since it may lack some of them.
    cut = len(data)
    while cut > start + 1 and data[cut - 1] & 0xC0 == 0x80:
        cut -= 1
    return cut - 1 if data[cut - 1] >= 0xC0 else len(data)


FORMATS = ("tsv", "google-v2", "google-v3")
"""Names of the formats; the index is the number that `_kernels.parse` uses."""
_WEB1T_FOLDER = re.compile("([1-5])gms")
_GOOGLE = re.compile(r"googlebooks-.*-([1-5])gram-\d+-\w+|([1-5])-\d{5}-of-\d{5}")
_GOOGLE_2 = re.compile(rb"[^\t]+\t\d{1,4}\t\d+\t\d+\r?\n?")
_GOOGLE_3 = re.compile(rb"[^\t]+(\t\d{1,4},\d+,\d+)+\r?\n?")


def count_files(paths: Sequence[str]) -> list[tuple[str, int]]:
    """Return the count files that `paths` name, with the order of their n-grams (0 if it varies).

    A path is a file, or a directory whose files are named as those of Google Books or laid out as Web 1T
    (``1gms/vocab.gz``, ``2gms/2gm-0000.gz``, ...), compressed with gzip, bzip2, xz, zstd or uncompressed.

    Raises D300 (missing), D302 (empty), D115 (a directory with another layout).
    """
    files: list[tuple[str, int]] = []
    for path in paths:
        if not os.path.exists(path):
            raise UserError("D300", path=path)
        if os.path.isdir(path):
            inside = [*_web1t_files(Path(path)), *_google_files(Path(path))]
            if not inside:
                raise UserError("D115", path=path)
            files += inside
        elif os.path.isfile(path) and not os.path.getsize(path):
            raise UserError("D302", path=path)
        else:
            files.append((path, 0))
    orders = dict(reversed(files))  # of a file that is named twice, what is first
    return [(path, orders[path]) for path in drop_repeated(path for path, _ in files)]


def _web1t_files(root: Path) -> Iterator[tuple[str, int]]:
    for folder in sorted(root.iterdir()):
        match = _WEB1T_FOLDER.fullmatch(folder.name)
        if match is None or not folder.is_dir():
            continue
        order = int(match[1])
        name = "vocab" if order == 1 else rf"{order}gm-\d+"
        for file in sorted(folder.iterdir()):
            if re.fullmatch(name, without_compression(file.name)):
                yield str(file), order


def _google_files(root: Path) -> Iterator[tuple[str, int]]:
    for file in sorted(root.iterdir()):
        match = _GOOGLE.fullmatch(without_compression(file.name))
        if match is not None and file.is_file():
            yield str(file), int(match[1] or match[2])


def count_format(path: str, name: str | None = None) -> int:
    """Return the number of a file's format: the one called `name`, or the one its first line matches.

    Raises D308 (cannot be read), D601 (unknown format).
    """
    if name is not None:
        if name not in FORMATS:
            raise UserError("D601", name=name, names=nearest_first(name, FORMATS))
        return FORMATS.index(name)
    with reading(path), open(path, "rb") as raw, unpacked(raw, path) as stream:
        line = _first_line(stream)
    if _GOOGLE_3.fullmatch(line):
        return FORMATS.index("google-v3")
    return FORMATS.index("google-v2" if _GOOGLE_2.fullmatch(line) else "tsv")


def _first_line(stream: Any) -> bytes:
    """Return the first line that is not empty, or enough of it to recognise the format."""
    start: bytes = b""
    # at most 1 MiB, since a file of another kind may be one long line
    for block in islice(iter(lambda: stream.read(1 << 16), b""), 16):
        start = (start + block).removeprefix(BOM).lstrip(b"\r\n")
        if b"\n" in start:
            break
    return start[: start.find(b"\n") + 1 or None]


_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
_THRESHOLD = re.compile(r"([1-9]\d*):(\d+)")


def parse_size(text: str) -> int:
    """Return the bytes of a size like ``800M`` or ``2G`` (powers of 1024); D116 if it is invalid."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise UserError("D116", value=text, example="800M or 2G")
    return int(float(match[1]) * 2 ** _UNITS[match[2].upper()])


def parse_thresholds(texts: Iterable[str], *, orders: int = MAX_ORDER) -> dict[int, int]:
    """Return ``{order: count}`` from texts like ``3:2``; each count holds from its order on.

    Raises D116 for a text of another form; D602 for an order that is not counted or is given twice.
    """
    minimums = {}
    for text in texts:
        match = _THRESHOLD.fullmatch(text.strip())
        if match is None:
            raise UserError(
                "D116", value=text, example="3:2 (n-grams of 3 words and longer must be seen twice)"
            )
        if int(match[1]) > orders:
            problem = f"n-grams of {match[1]} words are not counted, the longest have {orders}"
            raise UserError("D602", option=f"--min-count {text}", problem=problem)
        if int(match[1]) in minimums:
            problem = f"n-grams of {match[1]} words already have a minimum count; give one for each length"
            raise UserError("D602", option=f"--min-count {text}", problem=problem)
        minimums[int(match[1])] = int(match[2])
    return minimums


def read_word_file(path: Path | None) -> list[str] | None:
    """Return the lines of a word file with single spaces between words; None if `path` is None.

    Raises D300, D303, D304, D308 (as for text); D302 if the file contains no word.
    """
    if path is None:
        return None
    with reading(path):
        text = decode(path.read_bytes(), str(path))
    lines = [" ".join(line.split()) for line in text.removeprefix("\ufeff").splitlines()]
    if not any(lines):
        raise UserError("D302", path=path)
    return [line for line in lines if line]


def normalise_words(
    lines: list[str] | None, tokenisations: Iterable[Tokenisation], *, unsplit: bool = False
) -> list[str] | None:
    """Return the words of all lines in the normal forms of the tokenisations; None if `lines` is None.

    With `unsplit`, words are separated by white space and kept unchanged.
    """
    if lines is None:
        return None
    if unsplit:
        return sorted({word for line in lines for word in line.split()})
    return sorted(
        {word for tokenisation in tokenisations for line in lines for word in tokenisation.words(line)[1:-1]}
    )
