"""The files of NOAD-MASC: in a directory, in an archive (never unpacked to the disk), or a single one."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator
from typing import IO

from disambig.errors import UserError
from disambig.files.decoding import nul_error
from disambig.files.opening import READ_ERRORS, open_bytes, read_error, without_compression

ARCHIVES = (".tar", ".tar.xz", ".tar.gz")
MAP = "manual_map.txt"
LARGEST = 20_000_000
"""Bytes of a file, at most (the largest real one has 1,693,443)."""
TOTAL = 400_000_000
"""Bytes of all files, at most (they are 66 million)."""
MEMBERS = 20_000
"""Files and directories, at most (there are 419)."""


def files_of(path: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of each document and of the map, in the order of their names.

    Raises
    ------
    UserError
        D493 for more than the corpus can have, D494 for a member of the archive that is no plain file,
        D300 to D308 for what cannot be read.
    """
    try:
        if os.path.isdir(path):
            yield from _of_directory(path)
        elif path.endswith(ARCHIVES):
            yield from sorted(_of_archive(path))
        else:
            with open_bytes(path) as stream:
                yield path, _text(stream.read(LARGEST + 1), path)
    except (*READ_ERRORS, tarfile.TarError) as problem:
        raise read_error(path, problem) from problem


def is_archive(path: str) -> bool:
    """Tell whether a file is an archive, by its name."""
    return path.endswith(ARCHIVES)


def _is_ours(name: str) -> bool:
    return without_compression(name).endswith(".xml") or os.path.basename(name) == MAP


def _of_directory(path: str) -> Iterator[tuple[str, str]]:
    def fail(problem: OSError) -> None:
        raise problem

    total = number = 0
    for folder, folders, files in os.walk(path, onerror=fail):
        folders.sort()
        for name in sorted(files):
            file = os.path.join(folder, name)
            if not _is_ours(name) or not os.path.isfile(file):
                continue
            with open_bytes(file) as stream:
                text = _text(stream.read(LARGEST + 1), file)
            total, number = total + len(text), number + 1
            _bounded(path, "files", number, MEMBERS)
            _bounded(path, "characters", total, TOTAL)
            yield file, text


def _of_archive(path: str) -> Iterator[tuple[str, str]]:
    total = 0
    with tarfile.open(path, "r|*") as archive:
        for number, member in enumerate(archive, start=1):
            total += member.size
            _bounded(path, "files", number, MEMBERS)
            _bounded(path, f"bytes in {member.name!r}", member.size, LARGEST)
            _bounded(path, "bytes", total, TOTAL)
            if member.isdir():
                continue
            file: IO[bytes] | None = archive.extractfile(member) if member.isreg() else None
            if file is None:
                raise UserError("D494", path=path, member=member.name)
            if _is_ours(member.name):
                data = file.read()
                if len(data) < member.size:
                    raise EOFError("it ends in the middle of a file")
                yield member.name, _text(data, member.name)


def _text(data: bytes, path: str) -> str:
    _bounded(path, "bytes", len(data), LARGEST)
    if b"\0" in data:
        raise nul_error(path, data)
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def _bounded(path: str, what: str, seen: int, most: int) -> None:
    if seen > most:
        raise UserError("D493", path=path, what=what, seen=f"{seen:,}", most=most)
