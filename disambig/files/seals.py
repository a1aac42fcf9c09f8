"""Size and digest of a file: learned while it is written, compared when it is read again."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import IO, Any

_BLOCK = 1 << 20


class Seal:
    """Size in bytes and BLAKE2b-128 of what was written.

    Attributes
    ----------
    size : int
    """

    def __init__(self) -> None:
        self.size = 0
        self._hash = hashlib.blake2b(digest_size=16)

    def add(self, data: Any) -> None:
        """Take in what is written next."""
        self._hash.update(data)
        self.size += len(data)

    def digest(self) -> str:
        """Return the digest of all that was taken in, in hexadecimal."""
        return self._hash.hexdigest()

    def around(self, file: IO[bytes]) -> IO[bytes]:
        """Return a file whose bytes go to `file` and into the seal; closing it leaves `file` open."""
        return _Sealing(file, self)  # type: ignore[return-value]

    @classmethod
    def of(cls, path: Path) -> Seal:
        """Read a file and return its seal; OSError where it cannot be read."""
        seal = cls()
        with open(path, "rb", buffering=0) as file:
            while block := file.read(_BLOCK):
                seal.add(block)
        return seal


class _Sealing(io.RawIOBase):
    def __init__(self, file: IO[bytes], seal: Seal) -> None:
        self._file, self._seal = file, seal

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self._file.write(view)
        self._seal.add(view)
        return len(view)

    def flush(self) -> None:
        if not self._file.closed:
            self._file.flush()
