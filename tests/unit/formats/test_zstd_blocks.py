"""Highly packed zstd files are unpacked in time that grows with their size, and come out whole."""

from __future__ import annotations

import io

import pytest

from disambig.files import ZstdFile

zstandard = pytest.importorskip("zstandard")


def test_what_unfolds_is_not_copied_at_each_read():
    text = bytes(64_000_000)
    file = ZstdFile(io.BytesIO(zstandard.ZstdCompressor().compress(text)))
    buffer, total, held = bytearray(1 << 17), 0, set()
    while size := file.readinto(buffer):
        total += size
        held.add(id(getattr(file._held, "obj", file._held)))
    assert total == len(text)
    assert len(held) < 50  # what is held is cut, not copied: 488 reads
