"""The keys of a table, kept for merging and pruning: the section that holds them, written and read.

The section has one uint64 for each n-gram, keys ascending: the key without its three top bits, moved up
by three, and its kind less one in the place they leave. The header's `key_edges` tells where the keys
with each value of those top bits begin, and their number.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from disambig.counts import file as files
from disambig.counts.index.layout import KEY_PARTS
from disambig.errors import UserError

if TYPE_CHECKING:
    from typing_extensions import Self

    from disambig.counts.building.merging import Merged
    from disambig.counts.index.writing import Chunk
    from disambig.counts.table import CountTable

_COPY = 1 << 22
_THREE = np.uint64(3)
_SEVEN = np.uint64(7)
_S61 = np.uint64(61)


class StoredKeys:
    """Gathers the keys of passing chunks in a temporary file; to be used in a ``with`` statement.

    Attributes
    ----------
    edges : list of int
        See the module; complete when all chunks have passed.
    """

    def __init__(self, directory: Path, *, wanted: bool) -> None:
        self.edges = [0] * (KEY_PARTS + 1)
        self._file: Any = None
        if wanted:
            self._file = tempfile.TemporaryFile(dir=directory, prefix=".disambig-keys-")  # noqa: SIM115

    def following(self, chunks: Iterable[Chunk | Merged]) -> Iterator[Chunk]:
        """Pass chunks on without their kinds, keeping keys and kinds if that is wanted."""
        for keys, counts, *kinds in chunks:
            if self._file is not None:
                top = np.arange(1, KEY_PARTS, dtype=np.uint64) << _S61
                begins = np.searchsorted(keys, top).tolist()
                self.edges = [n + more for n, more in zip(self.edges, [0, *begins, len(keys)], strict=True)]
                self._file.write(((keys << _THREE) | (kinds[0].astype(np.uint64) - np.uint64(1))).data)
            yield keys, counts

    def append_to(self, file: BinaryIO) -> tuple[int, int]:
        """Append what was kept to the table as a section; return its place and size."""
        offset = files.fill_page(file)
        self.copy_to(file.write)
        return offset, file.tell() - offset

    def copy_to(self, write: Callable[[bytes], object]) -> None:
        """Write what was kept."""
        if self._file is not None:
            self._file.seek(0)
            while block := self._file.read(_COPY):
                write(block)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()


def entries(table: CountTable, first: int, last: int) -> Merged:
    """Return the n-grams from place `first` to `last` of a table with keys, in ascending order of keys.

    Returns
    -------
    keys, counts : arrays of uint64
    kinds : array of uint8

    Raises
    ------
    UserError
        D105, where the stored keys do not ascend or are not those of the table.
    """
    stored = table.stored_keys[first:last]
    tops = np.searchsorted(table.key_edges, np.arange(first, last), side="right") - 1
    keys = (stored >> _THREE) | (tops.astype(np.uint64) << _S61)
    counts = table.counts(keys)
    if not (np.all(keys[1:] > keys[:-1]) and np.all(counts)):
        raise UserError("D105", path=table.path, section="keys")
    return keys, counts, ((stored & _SEVEN) + np.uint64(1)).astype(np.uint8)


def place_of(table: CountTable, key: int) -> int:
    """Return the place of the first stored key that is not below `key`."""
    top = key >> 61
    begin, end = int(table.key_edges[top]), int(table.key_edges[top + 1])
    least = np.uint64(key << 3 & 0xFFFFFFFFFFFFFFFF)
    return begin + int(np.searchsorted(table.stored_keys[begin:end], least))
