"""Files of a corpus: in a directory, in a tar archive, which is not unpacked to disk, or a single file."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Callable, Iterator
from typing import NamedTuple

from disambig.errors import UserError
from disambig.files.opening import READ_ERRORS, decode, open_bytes, read_error

ARCHIVES = (".tar", ".tar.xz", ".tar.gz", ".tgz", ".tar.bz2")
"""Suffixes of the archives."""
MOST_BYTES = 400_000_000
"""Maximum uncompressed size of a corpus (the Penn Treebank has 100 million, NOAD-MASC 42 million)."""
MOST_FILES = 100_000
"""Maximum number of files and directories (20 Newsgroups has 18,888)."""


class CorpusFile(NamedTuple):
    """A file of a corpus, unpacked."""

    name: str  # its path in the directory or archive
    where: str  # its path for messages
    data: bytes

    @property
    def text(self) -> str:
        """Its text, without a byte order mark; raises D303, D304 and D349 for bytes that are not UTF-8."""
        return decode(self.data, self.where).removeprefix("\ufeff")


def corpus_files(path: str, is_wanted: Callable[[str], bool]) -> Iterator[CorpusFile]:
    """Yield the files of a directory or tar archive whose names are wanted, or the single file at `path`.

    Members of an archive have the order in which they are stored.

    Raises D493 for a corpus that is too large, D494 for a wanted member of the archive that is not a regular
    file, D300 and D308 for a file that cannot be read.
    """
    try:
        if os.path.isdir(path):
            yield from _directory_files(path, is_wanted)
        elif path.endswith(ARCHIVES):
            yield from _archive_files(path, is_wanted)
        else:
            yield CorpusFile(path, path, _read_at_most(path, path, MOST_BYTES))
    except (*READ_ERRORS, tarfile.TarError) as problem:
        raise read_error(path, problem) from problem


def _directory_files(path: str, is_wanted: Callable[[str], bool]) -> Iterator[CorpusFile]:
    def fail(problem: OSError) -> None:
        raise problem

    n_files, left = 0, MOST_BYTES
    for folder, folders, names in os.walk(path, onerror=fail):
        folders.sort()
        n_files += len(folders) + len(names)
        _check_limit(path, "files", n_files, MOST_FILES)
        for name in sorted(names):
            file = os.path.join(folder, name)
            if is_wanted(name) and os.path.isfile(file):
                data = _read_at_most(path, file, left)
                left -= len(data)
                yield CorpusFile(os.path.relpath(file, path), file, data)


def _read_at_most(corpus: str, path: str, most: int) -> bytes:
    with open_bytes(path) as stream:
        data: bytes = stream.read(most + 1)
    _check_limit(corpus, "bytes", MOST_BYTES - most + len(data), MOST_BYTES)
    return data


def _archive_files(path: str, is_wanted: Callable[[str], bool]) -> Iterator[CorpusFile]:
    n_bytes = 0
    with tarfile.open(path, "r|*") as archive:  # as a stream: reading stops at the members that are read
        for number, member in enumerate(archive, start=1):
            n_bytes += member.size
            _check_limit(path, "files", number, MOST_FILES)
            _check_limit(path, "bytes", n_bytes, MOST_BYTES)
            if member.isdir() or not is_wanted(member.name):
                continue
            stream = archive.extractfile(member) if member.isreg() else None
            if stream is None:
                raise UserError("D494", path=path, member=member.name)
            data = stream.read()
            if len(data) < member.size:
                raise EOFError("it ends in the middle of a file")
            yield CorpusFile(member.name, f"{path}: {member.name}", data)


def _check_limit(path: str, what: str, seen: int, most: int) -> None:
    if seen > most:
        raise UserError("D493", path=path, what=what, seen=f"{seen:,}", most=most)
