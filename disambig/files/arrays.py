"""Folders with a JSON header and named arrays; reading does not trust their content."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.errors import UserError
from disambig.files.saving import read_json

HEADER = "header.json"
_MAX_UNPACKED = 1 << 28
_MAX_RATIO = 50
UNREADABLE = (
    OSError, EOFError, ValueError, LookupError, RuntimeError, MemoryError, SyntaxError, TokenError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def read_stored(
    folder: Path, file: str, names: tuple[str, ...], *, code: str
) -> tuple[Any, list[NDArray[Any]]]:
    """Return the header and the named arrays in a folder; the caller must validate their content.

    Raises
    ------
    UserError
        `code` (with a path and a problem) if a file is missing or has another form than `write_stored`
        writes.
    """
    try:
        header = read_json(folder / HEADER)
        _check_unpacked_size(folder / file)
        with open(folder / file, "rb") as opened, np.load(opened, allow_pickle=False) as arrays:
            return header, [read_array(arrays, name) for name in names]
    except UNREADABLE as error:
        raise UserError(code, path=folder, problem=error) from None


def read_array(archive: Mapping[str, Any], name: str) -> NDArray[Any]:
    """Return an array of an archive that NumPy opened.

    Raises
    ------
    KeyError, ValueError
        If there is no such member, or it is not an array: then NumPy gives its bytes.
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


def write_stored(folder: Path, file: str, header: Mapping[str, Any], **arrays: NDArray[Any]) -> None:
    """Create a folder and write the header and the arrays into it."""
    folder.mkdir(parents=True, exist_ok=True)
    header_json = json.dumps(header, indent=1, ensure_ascii=False)
    (folder / HEADER).write_text(header_json + "\n", encoding="utf8")
    with open(folder / file, "wb") as opened:
        np.savez_compressed(opened, **arrays)  # type: ignore[arg-type]
