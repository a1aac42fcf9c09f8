"""How much of an input may lie in memory: a bound in bytes, which no input passes however it is packed."""

from __future__ import annotations

import os
from typing import IO

from disambig.errors import UserError
from disambig.files.opening import COMPRESSED, open_bytes

MOST = 512_000_000
_SHARE = 10
_BLOCK = 1 << 20
_LEAST = 16_000_000


def input_bound() -> int:
    """Return the usual bound: a tenth of the machine's memory, 512 MB at most."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # a system that does not tell
        return MOST
    return max(_LEAST, min(MOST, memory // _SHARE))


def too_large(path: str, limit: int) -> UserError:
    """Return the message for an input that would take more than `limit` bytes."""
    return UserError("D872", path=path, limit=limit)


def read_within(handle: IO[bytes], path: str, limit: int) -> bytes:
    """Return all of an input, opened under its `path`.

    A packed file is unpacked once more beforehand, and nothing of it held: what unfolds to gigabytes takes no
    memory before it is refused.

    Raises
    ------
    UserError
        D872 for one of more than `limit` bytes.
    """
    if path.endswith(COMPRESSED):
        with open_bytes(path) as packed:
            size = 0
            while block := packed.read(_BLOCK):
                size += len(block)
                if size > limit:
                    raise too_large(path, limit)
    data = handle.read(limit + 1)
    if len(data) > limit:
        raise too_large(path, limit)
    return data
