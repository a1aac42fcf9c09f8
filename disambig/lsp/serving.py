"""Serve editors on standard input and output or on a port: framing of messages."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import select
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import BinaryIO, Protocol

from disambig.errors import UserError
from disambig.lsp.scheduler import LoadedCheckers

LARGEST = 256 << 20
"""Bytes of one message."""
_LENGTH = re.compile(rb"content-length:[ \t]*(\d{1,18})[ \t]*", re.IGNORECASE)
_BEHIND = re.compile(_LENGTH.pattern + rb"\Z", re.IGNORECASE)
"""Behind what was no message there is no line end."""
_FIELD = re.compile(rb"[A-Za-z-]+:.*")
_LONGEST_LINE = 8192


class ByteStream(Protocol):
    """A stream of bytes."""

    def readline(self, size: int = -1, /) -> bytes:
        """Read up to a line end, or so many bytes; nothing at the end."""
        ...

    def read(self, size: int, /) -> bytes:
        """Read so many bytes; fewer at the end."""
        ...


def read_messages(
    stream: ByteStream, take: Callable[[bytes], None], problem: Callable[[str], None], *, goes_on: bool = True
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


def _skip(stream: ByteStream, length: int) -> None:
    while length > 0 and (some := stream.read(min(length, 1 << 20))):
        length -= len(some)


LOOPBACK = "127.0.0.1"
PORT = 8082
MOST = 32
"""Editors at once; others that connect wait."""
PAUSE = 1.0
"""Seconds until a connection is accepted again after none could be."""
LOOK = 1.0
"""Seconds between two looks at the editor's process, where the system does not say that it has ended."""
GRACE = 5.0
"""Seconds until a server without its editor is ended by force: it may wait for a pipe that nobody reads."""
_AT_ONCE = 1 << 16
_log = logging.getLogger(__name__)


def serve_stdio() -> int:
    """Serve the editor that started this process, until it says to end; return the exit status.

    What anything prints goes to standard error: standard output is the editor's.
    """
    target = sys.stdout.buffer
    with contextlib.redirect_stdout(sys.stderr):
        status = serve(
            _DescriptorReader(sys.stdin.fileno()), target, LoadedCheckers(), cut=lambda: os._exit(1)
        )
    try:
        target.flush()
    except OSError:  # the interpreter would try again at its end, and exit with another status
        os.dup2(os.open(os.devnull, os.O_WRONLY), target.fileno())
    return status


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
    checkers = LoadedCheckers()
    try:
        listening = socket.create_server((LOOPBACK, port))
    except (OSError, OverflowError) as problem:
        said = getattr(problem, "strerror", None) or str(problem)
        raise UserError("D841", address=f"{LOOPBACK}:{port}", problem=said) from None
    with listening:
        say(f"disambig: listening on {LOOPBACK}:{listening.getsockname()[1]}\n")
        _serve_all(listening, checkers)


def serve(
    source: ByteStream,
    target: BinaryIO,
    checkers: LoadedCheckers,
    *,
    goes_on: bool = True,
    cut: Callable[[], object] = lambda: None,
) -> int:
    """Serve one editor: messages come from `source`, answers go to `target`.

    Parameters
    ----------
    goes_on : bool
        As of `disambig.lsp.serving.read_messages`.
    cut : callable
        Ends the connection by force, from any thread: called where the editor's process has ended and the
        server cannot end by itself.

    Returns
    -------
    int
        The exit status that the protocol wants: 0 where the editor asked to end, 1 where it was gone.
    """
    logging.getLogger("pygls").setLevel(logging.CRITICAL)  # it logs whole messages, with what they hold
    try:
        return asyncio.run(_serve(source, target, checkers, goes_on, cut))
    except SystemExit as end:  # pygls ends so
        return end.code if isinstance(end.code, int) else 1
    except (BrokenPipeError, ConnectionError):
        return 1


async def _serve(
    source: ByteStream, target: BinaryIO, checkers: LoadedCheckers, goes_on: bool, cut: Callable[[], object]
) -> int:
    from disambig.lsp.server import make_server

    ended = threading.Event()
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

    def end(reason: UserError) -> None:
        _log.warning("disambig: %s", reason)
        put(None)

    def watch(pid: int) -> None:
        """End with the editor's process; runs in a thread."""
        if wait_for_exit(pid, ended):
            end(UserError("D892", pid=pid))
            if not ended.wait(GRACE):
                cut()

    def start_watching(pid: int) -> None:
        threading.Thread(target=watch, args=(pid,), name="disambig-watching", daemon=True).start()

    _, protocol = make_server(checkers, start_watching)
    protocol.set_writer(_MessageWriter(target, lambda problem: end(UserError("D893", problem=problem))))
    threading.Thread(target=read, name="disambig-reading", daemon=True).start()
    try:
        while (work := await waiting.get()) is not None:
            work()
    finally:
        ended.set()
        protocol.session.desk.worker.end()
    return 1


def wait_for_exit(pid: int, stop: threading.Event) -> bool:
    """Wait until a process has ended, be it that nobody asked for its exit status yet.

    Parameters
    ----------
    pid : int
    stop : threading.Event
        Once it is set, nobody waits any more.

    Returns
    -------
    bool
        False if it was stopped, or if the system does not let us watch the process.
    """
    if pid <= 0:  # a group of processes, or nothing
        return False
    if sys.platform == "win32":  # pragma: no cover
        return _wait_on_windows(pid, stop)
    if sys.platform != "linux" and hasattr(select, "kqueue"):  # pragma: no cover
        with contextlib.suppress(OSError, OverflowError), contextlib.closing(select.kqueue()) as queue:
            event = select.kevent(
                pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD | select.KQ_EV_ONESHOT, select.KQ_NOTE_EXIT
            )
            happened = queue.control([event], 0)
            while not stop.is_set() and not happened:
                happened = queue.control(None, 1, LOOK)
            return bool(happened)
    if sys.platform == "linux" and hasattr(os, "pidfd_open"):
        with contextlib.suppress(OSError, OverflowError):  # it is gone, or the system is too old
            descriptor = os.pidfd_open(pid)
            try:
                poll = select.poll()
                poll.register(descriptor, select.POLLIN)
                while not stop.is_set():
                    if poll.poll(1000 * LOOK):
                        return True
                return False
            finally:
                os.close(descriptor)
    begun = now = _process_start(pid)
    while now is not None and now == begun:
        if stop.wait(LOOK):
            return False
        now = _process_start(pid)
    return True


def _process_start(pid: int) -> str | None:
    """Return when a process started, which tells it from a later one of its number; None if it has ended."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        pass
    except (OSError, OverflowError):
        return None
    try:
        with open(f"/proc/{pid}/stat", encoding="latin-1") as stat:
            fields = stat.read().rpartition(")")[2].split()
    except OSError:
        return ""  # the system has no such folder
    return None if fields[0] in "ZX" else fields[19]


if sys.platform == "win32":  # pragma: no cover

    def _wait_on_windows(pid: int, stop: threading.Event) -> bool:
        import ctypes
        from ctypes import wintypes

        synchronize, no_such_process, signaled = 0x00100000, 87, 0
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.OpenProcess.restype = wintypes.HANDLE
        kernel.OpenProcess.argtypes = (wintypes.DWORD, wintypes.BOOL, wintypes.DWORD)
        kernel.WaitForSingleObject.argtypes = (wintypes.HANDLE, wintypes.DWORD)
        kernel.CloseHandle.argtypes = (wintypes.HANDLE,)
        handle = kernel.OpenProcess(synchronize, False, pid)
        if not handle:
            return ctypes.get_last_error() == no_such_process
        try:
            while not stop.is_set():
                if kernel.WaitForSingleObject(handle, int(1000 * LOOK)) == signaled:
                    return True
            return False
        finally:
            kernel.CloseHandle(handle)


def _serve_all(listening: socket.socket, checkers: LoadedCheckers) -> None:
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


def _serve_connection(connection: socket.socket, checkers: LoadedCheckers) -> None:
    with contextlib.suppress(OSError), connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection.makefile("rb") as source, connection.makefile("wb") as target:
            serve(source, target, checkers, goes_on=False, cut=lambda: _shut(connection))
            _shut(connection)  # a thread still waits for more


def _shut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


class _DescriptorReader:
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


class _MessageWriter:
    """Writes whole messages, until nobody reads them: that is said once."""

    def __init__(self, target: BinaryIO, gone: Callable[[Exception], object]) -> None:
        self._target = target
        self._gone = gone
        self._is_open = True

    def write(self, data: bytes) -> None:
        """Write and flush."""
        if not self._is_open:
            return
        try:
            self._target.write(data)
            self._target.flush()
        except (OSError, ValueError) as problem:  # ValueError: it was closed
            self._is_open = False
            self._gone(problem)

    def close(self) -> None:
        """Leave the stream to who opened it."""
