"""Folders with a JSON header and named arrays; reading does not trust their content."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.errors import UserError
from disambig.files.saving import read_json, save_file, writing

HEADER = "header.json"
_MAX_UNPACKED = 1 << 28
"""Bytes to which the arrays of a file of any size may unpack."""
_MAX_RATIO = 50
"""Unpacked bytes per byte of the file that are allowed in addition."""
UNREADABLE = (
    OSError, EOFError, ValueError, LookupError, RuntimeError, MemoryError, SyntaxError, TokenError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def read_stored(
    folder: str | Path, file: str, names: tuple[str, ...], *, code: str
) -> tuple[Any, list[NDArray[Any]]]:
    """Return the header and the named arrays in a folder; the caller must validate their content.

    Raises
    ------
    UserError
        `code` (with a path and a problem) if a file is missing or has another form than `write_stored`
        writes.
    """
    folder = Path(folder)
    try:
        header = read_json(folder / HEADER)
        _check_unpacked_size(folder / file)
        with open(folder / file, "rb") as opened, np.load(opened, allow_pickle=False) as arrays:
            return header, [read_array(arrays, name) for name in names]
    except UNREADABLE as error:
        raise UserError(code, path=folder, problem=error) from None


def read_array(archive: Mapping[str, Any], name: str) -> NDArray[Any]:
    """Return an array of an archive that NumPy opened.

    Raises `KeyError` or `ValueError` if there is no such member, or it is not an array: then NumPy gives its
    bytes.
    """
    array = archive[name]
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{name} is not an array")
    return array


def _check_unpacked_size(path: Path) -> None:
    """Raise ValueError if the arrays unpack to far more than the file size, as in a zip bomb."""
    if not path.is_file():
        return  # opening the file reports the problem
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > _MAX_UNPACKED + _MAX_RATIO * path.stat().st_size:
        raise ValueError(f"its arrays unpack to {unpacked:,} bytes")


def write_stored(
    folder: str | Path, file: str, header: Mapping[str, Any], *, compress: bool = True, **arrays: NDArray[Any]
) -> None:
    """Create a folder and write the arrays and the header into it, each file atomically.

    Without `compress`, loading takes a sixth of the time: for arrays that hardly get smaller.

    Raises
    ------
    UserError
        D309 if the folder cannot be created or a file cannot be written.
    """
    folder = Path(folder)
    packed = io.BytesIO()
    save = np.savez_compressed if compress else np.savez
    save(packed, **arrays)  # type: ignore[arg-type]
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    # the header is last: if it has a digest, this shows that the process was killed between the two files
    contents = (
        (file, packed.getvalue()),
        (HEADER, (json.dumps(header, indent=1, ensure_ascii=False) + "\n").encode("utf8")),
    )
    for name, content in contents:
        with save_file(folder / name) as write:
            write(content)


def digest_arrays(arrays: Mapping[str, NDArray[Any]], start: bytes = b"") -> str:
    """Return the SHA-256 of `start` and of arrays: names, types, shapes and contents."""
    digest = hashlib.sha256(start)
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class ArrayFolder:
    """The layout of the folders of one kind of component: a header and a file of named arrays.

    Attributes
    ----------
    file : str
        Name of the file of the arrays.
    names : tuple of str
        Names of the arrays.
    code : str
        Code of the error for a folder that cannot be read; its message has a path and a problem. A plugin
        without a message of its own gives ``"D025"``.
    format : str
        The value of ``format`` in the header.
    has_digest : bool
        Whether ``digest`` in the header is the digest of the arrays (`digest_arrays`).
    """

    file: str
    names: tuple[str, ...]
    code: str
    format: str
    has_digest: bool = True

    def read(self, folder: str | Path) -> tuple[Mapping[str, Any], dict[str, NDArray[Any]]]:
        """Return the header and the arrays of a folder; the caller must validate their values.

        Raises
        ------
        UserError
            `code` if a file is missing or damaged, or of another format.
        """
        header, stored = read_stored(folder, self.file, self.names, code=self.code)
        arrays = dict(zip(self.names, stored, strict=True))
        if not isinstance(header, Mapping) or header.get("format") != self.format:
            raise UserError(self.code, path=folder, problem=f"the format in its header is not {self.format}")
        if self.has_digest and header.get("digest") != digest_arrays(arrays):
            problem = "the header and the arrays do not match, or are damaged"
            raise UserError(self.code, path=folder, problem=problem)
        return header, arrays

    def write(
        self, folder: str | Path, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> None:
        """Write the arrays and a header (see `write_stored`), to which the format and the digest are added.

        Raises
        ------
        UserError
            D309 if the folder cannot be created or a file cannot be written.
        """
        added = {"format": self.format}
        if self.has_digest:
            added["digest"] = digest_arrays(arrays)
        write_stored(folder, self.file, {**header, **added}, **arrays)  # type: ignore[arg-type]

    def is_in(self, folder: Path) -> bool:
        """Return True if a folder contains both files."""
        return (folder / self.file).is_file() and (folder / HEADER).is_file()
