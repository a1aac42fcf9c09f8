"""Messages on the wire: a header with their length, then JSON. What is no message is skipped and told.

A message is read as soon as it comes, in a thread; a length that no text of an editor has is not read at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

LARGEST = 256 << 20
"""Bytes of one message."""
_LENGTH = re.compile(rb"content-length:[ \t]*(\d{1,18})[ \t]*", re.IGNORECASE)
_BEHIND = re.compile(_LENGTH.pattern + rb"\Z", re.IGNORECASE)
"""Behind what was no message there is no line end."""
_FIELD = re.compile(rb"[A-Za-z-]+:.*")
_LONGEST_LINE = 8192


class Readable(Protocol):
    """A stream of bytes."""

    def readline(self, size: int = -1, /) -> bytes:
        """Read up to a line end, or so many bytes; nothing at the end."""
        ...

    def read(self, size: int, /) -> bytes:
        """Read so many bytes; fewer at the end."""
        ...


def read_messages(
    stream: Readable, take: Callable[[bytes], None], problem: Callable[[str], None], *, goes_on: bool = True
) -> None:
    """Read messages until the stream ends.

    Parameters
    ----------
    take : callable
        Given the bytes of each message.
    problem : callable
        Given what is wrong with a header.
    goes_on : bool
        Whether a message may come behind what is no header; else nothing is read any more. A browser
        that some page tells to send something to a port is no editor.
    """
    length: int | None = None
    begun = False
    while line := stream.readline(_LONGEST_LINE):
        field = line.rstrip(b"\r\n")
        if field:
            match = _LENGTH.fullmatch(field)
            is_header = _FIELD.fullmatch(field) is not None
            if not is_header:
                problem(f"no header of a message: {field[:40]!r}")
                if not goes_on:
                    return
                match = _BEHIND.search(field)
            begun = begun or is_header
            length = int(match[1]) if match else length
            continue
        if length is None:
            if begun:
                problem("a header without Content-Length")
        elif length > LARGEST:
            problem(f"a message of {length:,} bytes; up to {LARGEST:,} are read")
            _skip(stream, length)
        else:
            body = stream.read(length)
            if len(body) < length:
                return
            take(body)
        length, begun = None, False


def _skip(stream: Readable, length: int) -> None:
    while length > 0 and (some := stream.read(min(length, 1 << 20))):
        length -= len(some)
