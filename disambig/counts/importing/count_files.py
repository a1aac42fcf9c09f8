"""Files of ready counts: which there are, and in what form each has its counts. No line is parsed here."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from disambig.counts.building.inputs import unpacked
from disambig.errors import UserError, nearest_first
from disambig.files.opening import READ_ERRORS, read_error, without_compression

FORMATS = ("tsv", "google-v2", "google-v3")
"""By number, as `reader_kernels.parse` has them."""
_WEB1T_FOLDER = re.compile("([1-5])gms")
_GOOGLE = re.compile(r"googlebooks-.*-([1-5])gram-\d+-\w+|([1-5])-\d{5}-of-\d{5}")
_GOOGLE_2 = re.compile(rb"[^\t]+\t\d{1,4}\t\d+\t\d+\r?\n?")
_GOOGLE_3 = re.compile(rb"[^\t]+(\t\d{1,4},\d+,\d+)+\r?\n?")


def count_files(paths: Sequence[str]) -> list[tuple[str, int]]:
    """Return the files of counts that `paths` name, with the order of their n-grams, 0 where it is free.

    A path is a file, or a directory with files named as those of Google Books, or in the layout of Web 1T
    (``1gms/vocab.gz``, ``2gms/2gm-0000.gz``, ...); packed with gzip, xz, zstd or not at all.

    Raises
    ------
    UserError
        D300 (missing), D302 (empty), D115 (a directory of another layout).
    """
    found: list[tuple[str, int]] = []
    for path in paths:
        if not os.path.exists(path):
            raise UserError("D300", path=path)
        if os.path.isdir(path):
            inside = [*_web1t_files(Path(path)), *_google_files(Path(path))]
            if not inside:
                raise UserError("D115", path=path)
            found += inside
        elif os.path.isfile(path) and not os.path.getsize(path):
            raise UserError("D302", path=path)
        else:
            found.append((path, 0))
    return found


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


def form_of(path: str, name: str | None = None) -> int:
    """Return the number of a file's form: of the one called `name`, or of what its first line looks like.

    Raises
    ------
    UserError
        D308 (cannot be read), D601 (no such format).
    """
    if name is not None:
        if name not in FORMATS:
            raise UserError("D601", name=name, names=nearest_first(name, FORMATS))
        return FORMATS.index(name)
    try:
        with open(path, "rb") as raw, unpacked(raw, path) as stream:
            line = _first_line(stream)
    except READ_ERRORS as problem:
        raise read_error(path, problem) from problem
    if _GOOGLE_3.fullmatch(line):
        return FORMATS.index("google-v3")
    return FORMATS.index("google-v2" if _GOOGLE_2.fullmatch(line) else "tsv")


def _first_line(stream: Any) -> bytes:
    """Return the first line, or as much of it as tells its form."""
    start: bytes = b""
    for block in islice(iter(lambda: stream.read(1 << 16), b""), 16):
        start += block
        if b"\n" in start:
            break
    return start[: start.find(b"\n") + 1 or None]
