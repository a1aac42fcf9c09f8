"""Files of trees: a single one, those of a directory, or of a tar archive (never unpacked to the disk)."""

from __future__ import annotations

import gzip
import lzma
import os
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from disambig.api import UserError

from .cleaning import read_trees
from .tree import Tree

ENDINGS = (".mrg", ".tree", ".trees", ".ptb", ".parse", ".bracket", ".brackets")
"""How the names of files end that are taken from directories and archives; one may be named by itself."""
ARCHIVES = (".tar", ".tar.xz", ".tar.gz", ".tgz", ".tar.bz2")
LARGEST = 1 << 28
"""Bytes, unpacked, of all files of a treebank, at most (CRAFT has 13 million, the Penn Treebank 100)."""
MEMBERS = 50_000
"""Files and directories, at most."""
_READ_ERRORS = (OSError, EOFError, tarfile.TarError, lzma.LZMAError, zlib.error)


def treebank(path: str | Path, *, functions: bool = False) -> dict[str, list[Tree]]:
    """Return the clean trees of each file, by the file's name without folder and ending, sorted by it.

    Parameters
    ----------
    path : str or Path
        A file (also ``.gz`` and ``.xz``), a directory, or a tar archive, packed or not.
    functions : bool
        Whether function tags stay.

    Raises
    ------
    UserError
        D630 and D631 for brackets that make no tree, with file and line; D632 for what cannot be read, is too
        large, or has no file of trees.
    """
    found: dict[str, list[Tree]] = {}
    for key, name, data in sorted(_files(Path(path))):
        if key in found:
            raise UserError("D632", path=path, problem=f"two files are called {key!r}")
        found[key] = list(read_trees(_text(data, name), name, functions=functions))
    if not found:
        raise UserError("D632", path=path, problem=f"no file in it ends in {', '.join(ENDINGS)}")
    return found


def _files(path: Path) -> Iterator[tuple[str, str, bytes]]:
    """Yield of each file of trees its short name, the one for messages, and its bytes."""
    try:
        if path.is_dir():
            yield from _of_directory(path)
        elif path.name.endswith(ARCHIVES):
            yield from _of_archive(path)
        else:
            with _opened(path) as stream:
                yield _key(path.name), str(path), _bounded(path, stream.read(LARGEST + 1), LARGEST)
    except _READ_ERRORS as problem:
        said = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
        raise UserError("D632", path=path, problem=said) from problem


def _opened(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return gzip.open(path, "rb")  # type: ignore[return-value]
    return lzma.open(path, "rb") if path.suffix == ".xz" else path.open("rb")


def _of_directory(path: Path) -> Iterator[tuple[str, str, bytes]]:
    def fail(problem: OSError) -> None:
        raise problem

    left, n_seen = LARGEST, 0
    for folder, folders, names in os.walk(path, onerror=fail):
        folders.sort()
        n_seen += len(folders) + len(names)
        _few_enough(path, n_seen)
        for name in sorted(names):
            file = Path(folder, name)
            if name.endswith(ENDINGS) and file.is_file():
                with file.open("rb") as stream:
                    data = _bounded(path, stream.read(left + 1), left)
                left -= len(data)
                yield _key(name), str(file), data


def _of_archive(path: Path) -> Iterator[tuple[str, str, bytes]]:
    left = LARGEST
    with tarfile.open(path, "r|*") as archive:  # as a stream: no member before it is asked for
        for number, member in enumerate(archive, 1):
            _few_enough(path, number)
            if member.size < 0 or member.size > left:
                raise UserError("D632", path=path, problem=f"it has more than {LARGEST >> 20} MiB of trees")
            left -= member.size
            stream = archive.extractfile(member) if member.isreg() else None
            if stream is None or not member.name.endswith(ENDINGS):
                continue
            data = stream.read()
            if len(data) < member.size:
                raise EOFError("it ends in the middle of a file")
            yield _key(member.name), f"{path}: {member.name}", data


def _few_enough(path: Path, n_seen: int) -> None:
    if n_seen > MEMBERS:
        raise UserError("D632", path=path, problem=f"it has more than {MEMBERS:,} files")


def _bounded(path: Path, data: bytes, most: int) -> bytes:
    if len(data) > most:
        raise UserError("D632", path=path, problem=f"it has more than {LARGEST >> 20} MiB of trees")
    return data


def _text(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise UserError("D632", path=name, problem=f"no UTF-8 at byte {problem.start:,}") from None


def _key(name: str) -> str:
    stem = name.replace("\\", "/").rpartition("/")[2]
    for ending in (".gz", ".xz", *ENDINGS):
        stem = stem.removesuffix(ending)
    return stem or name
