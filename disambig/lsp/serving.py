"""Serving editors: one on standard input and output, or each that connects on the loopback address."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import BinaryIO

from disambig.errors import UserError
from disambig.lsp.desk import Checkers
from disambig.lsp.wire import Readable, read_messages

LOOPBACK = "127.0.0.1"
PORT = 8082
MOST = 32
"""Editors at once; others that connect wait."""
PAUSE = 1.0
"""Seconds until a connection is accepted again after none could be."""
_AT_ONCE = 1 << 16
_log = logging.getLogger(__name__)


def serve_stdio() -> int:
    """Serve the editor that started this process, until it says to end; return the exit status.

    What anything prints goes to standard error: standard output is the editor's.
    """
    target = sys.stdout.buffer
    with contextlib.redirect_stdout(sys.stderr):
        return serve(_Descriptor(sys.stdin.fileno()), target, Checkers())


def serve_tcp(port: int, say: Callable[[str], object]) -> None:
    """Serve all editors that connect to a port of the loopback address, until interrupted.

    Parameters
    ----------
    port : int
        0 for any that is free.
    say : callable
        Given a line on where it listens.

    Raises
    ------
    UserError
        D841 where nobody can listen there.
    """
    checkers = Checkers()
    try:
        listening = socket.create_server((LOOPBACK, port))
    except (OSError, OverflowError) as problem:
        said = getattr(problem, "strerror", None) or str(problem)
        raise UserError("D841", address=f"{LOOPBACK}:{port}", problem=said) from None
    with listening:
        say(f"disambig: listening on {LOOPBACK}:{listening.getsockname()[1]}\n")
        _serve_all(listening, checkers)


def serve(source: Readable, target: BinaryIO, checkers: Checkers, *, goes_on: bool = True) -> int:
    """Serve one editor: messages come from `source`, answers go to `target`.

    Parameters
    ----------
    goes_on : bool
        As of `disambig.lsp.wire.read_messages`.

    Returns
    -------
    int
        The exit status that the protocol wants: 0 where the editor asked to end, 1 where it was gone.
    """
    logging.getLogger("pygls").setLevel(logging.CRITICAL)  # it logs whole messages, with what they hold
    try:
        return asyncio.run(_serve(source, target, checkers, goes_on))
    except SystemExit as end:  # pygls ends so
        return end.code if isinstance(end.code, int) else 1
    except (BrokenPipeError, ConnectionError):
        return 1


async def _serve(source: Readable, target: BinaryIO, checkers: Checkers, goes_on: bool) -> int:
    from disambig.lsp.server import make_server

    _, protocol = make_server(checkers)
    protocol.set_writer(_Writer(target))
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[Callable[[], None] | None] = asyncio.Queue()

    def put(work: Callable[[], None] | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(waiting.put_nowait, work)

    def take(body: bytes) -> None:
        put(lambda: protocol.take(body))

    def problem(said: str) -> None:
        put(lambda: protocol.session.tell(None, UserError("D847", problem=said)))

    def read() -> None:
        with contextlib.suppress(OSError, ValueError):  # it was closed
            read_messages(source, take, problem, goes_on=goes_on)
        put(None)

    threading.Thread(target=read, name="disambig-reading", daemon=True).start()
    try:
        while (work := await waiting.get()) is not None:
            work()
    finally:
        protocol.session.desk.worker.end()
    return 1


def _serve_all(listening: socket.socket, checkers: Checkers) -> None:
    """Serve who connects, `MOST` at once, until interrupted."""
    room = threading.Semaphore(MOST)

    def serve_one(connection: socket.socket) -> None:
        try:
            _serve_connection(connection, checkers)
        finally:
            room.release()

    while True:
        room.acquire()
        while (connection := _accepted(listening)) is None:
            time.sleep(PAUSE)
        threading.Thread(
            target=serve_one, args=(connection,), name="disambig-connection", daemon=True
        ).start()


def _accepted(listening: socket.socket) -> socket.socket | None:
    """Return the next connection; None where there cannot be one now, as where descriptors run out."""
    try:
        return listening.accept()[0]
    except OSError as problem:
        _log.warning("no connection could be accepted: %s", problem)
        return None


def _serve_connection(connection: socket.socket, checkers: Checkers) -> None:
    with contextlib.suppress(OSError), connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection.makefile("rb") as source, connection.makefile("wb") as target:
            serve(source, target, checkers, goes_on=False)
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)  # a thread still waits for more


class _Descriptor:
    """Reads from a file descriptor without a lock: the interpreter can end while a thread waits for more."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._held = b""

    def readline(self, size: int = -1, /) -> bytes:
        """Read up to a line end, or so many bytes."""
        while b"\n" not in self._held and not 0 <= size <= len(self._held) and self._fill():
            pass
        end = self._held.find(b"\n") + 1 or len(self._held)
        return self._taken(end if size < 0 else min(end, size))

    def read(self, size: int, /) -> bytes:
        """Read so many bytes; fewer where there are no more."""
        parts = [self._taken(size)]
        size -= len(parts[0])
        while size > 0 and (some := os.read(self._number, min(size, _AT_ONCE))):
            parts.append(some)
            size -= len(some)
        return b"".join(parts)

    def _fill(self) -> bool:
        some = os.read(self._number, _AT_ONCE)
        self._held += some
        return bool(some)

    def _taken(self, size: int) -> bytes:
        taken, self._held = self._held[:size], self._held[size:]
        return taken


class _Writer:
    """Writes whole messages."""

    def __init__(self, target: BinaryIO) -> None:
        self._target = target

    def write(self, data: bytes) -> None:
        """Write and flush."""
        self._target.write(data)
        self._target.flush()

    def close(self) -> None:
        """Leave the stream to who opened it."""
