"""Files packed with zstd, through the optional package `zstandard`; what is in them is not known here."""

from __future__ import annotations

import io
from typing import IO, Any

from disambig.errors import UserError

_WINDOW = 1 << 29
"""Bytes that unpacking may look back, and hold: what `zstd --long=29` writes."""
_AT_ONCE = 1 << 12
"""Packed bytes taken at a time: few, since each may unpack to many thousand."""


class ZstdFile(io.RawIOBase):
    """Unpacks a zstd file of one frame or several.

    Reading raises EOFError where the file is cut short and OSError where it is damaged.

    Parameters
    ----------
    raw : binary file
    owned : bool
        Close `raw` as well when this is closed.

    Raises
    ------
    UserError
        D123, where the package is missing.
    """

    def __init__(self, raw: IO[bytes], *, owned: bool = False) -> None:
        self._raw = raw
        self._owned = owned  # before the package, which may be missing: what was begun is closed all the same
        self._zstd = package()
        self._frame: Any = None
        self._held = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer` with unpacked bytes; return how many, 0 at the end."""
        while not self._held:
            packed = self._raw.read(_AT_ONCE)
            if not packed:
                if self._frame is not None:
                    raise EOFError("the zstd file ends before its end is marked")
                return 0
            self._held = memoryview(self._unpacked(packed))
        size = min(len(buffer), len(self._held))
        buffer[:size] = self._held[:size]
        self._held = self._held[size:]
        return size

    def _unpacked(self, packed: bytes) -> bytes:
        pieces = []
        while packed:
            if self._frame is None:
                unpacker = self._zstd.ZstdDecompressor(max_window_size=_WINDOW)
                self._frame = unpacker.decompressobj()
            try:
                pieces.append(self._frame.decompress(packed))
            except self._zstd.ZstdError as problem:
                raise OSError(f"damaged, or no zstd file: {problem}") from problem
            packed = b""
            if self._frame.eof:
                packed, self._frame = self._frame.unused_data, None
        return b"".join(pieces)

    def close(self) -> None:
        """Close this, and the packed file if it is owned."""
        if self._owned:
            self._raw.close()
        super().close()


def unpack_zstd(raw: IO[bytes], *, owned: bool = False) -> IO[bytes]:
    """Return a buffered file that unpacks `raw`."""
    return io.BufferedReader(ZstdFile(raw, owned=owned), 1 << 17)


def pack_zstd(sink: IO[bytes]) -> IO[bytes]:
    """Return a file that packs into `sink`, which stays open; the same bytes every time."""
    packed: IO[bytes] = package().ZstdCompressor(write_checksum=True).stream_writer(sink, closefd=False)
    return packed


def package() -> Any:
    """Return the package `zstandard`; D123 where it is missing."""
    try:
        import zstandard
    except ImportError:
        raise UserError("D123") from None
    return zstandard
