"""Serve editors on standard input and output or on a port, and read and write framed messages."""

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
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

from disambig.errors import UserError
from disambig.lsp.scheduler import THREADS, LoadedCheckers

MAX_MESSAGE_BYTES = 256 << 20
"""Maximum number of bytes per message."""
_CONTENT_LENGTH = re.compile(rb"content-length:[ \t]*(\d{1,18})[ \t]*", re.IGNORECASE)
_TRAILING_LENGTH = re.compile(_CONTENT_LENGTH.pattern + rb"\Z", re.IGNORECASE)
"""A header at the end of a line, which other output without a line end may precede."""
_HEADER = re.compile(rb"[A-Za-z-]+:.*")
_MAX_HEADER_LINE = 8192
"""Maximum number of bytes that are read as one line, so that an endless line does not fill the memory."""


def read_messages(
    stream: BinaryIO | _DescriptorReader,
    handle: Callable[[bytes], None],
    report_invalid: Callable[[str], None],
    *,
    skip_invalid: bool = True,
) -> None:
    """Read messages until the stream ends (Language Server Protocol, base protocol).

    A message is a header of several lines, an empty line, and as many bytes as the header states.

    `skip_invalid`: whether to continue after an invalid header. A server on a port stops there, because the
    client may be a browser that a web page causes to send data.
    """
    length: int | None = None
    has_header = False
    while line := stream.readline(_MAX_HEADER_LINE):
        if field := line.rstrip(b"\r\n"):
            match = _CONTENT_LENGTH.fullmatch(field)
            is_header = _HEADER.fullmatch(field) is not None
            if not is_header:
                report_invalid(f"not a message header: {field[:40]!r}")
                if not skip_invalid:
                    return
                match = _TRAILING_LENGTH.search(field)
            has_header = has_header or is_header
            length = int(match[1]) if match else length
            continue
        # an empty line: the header is complete
        if length is None:
            if has_header:  # otherwise an empty line of other output
                report_invalid("a header without Content-Length")
        elif length > MAX_MESSAGE_BYTES:
            report_invalid(f"a message of {length:,} bytes; the maximum is {MAX_MESSAGE_BYTES:,}")
            _skip(stream, length)
        else:
            body = stream.read(length)
            if len(body) < length:  # the stream ended inside a message
                return
            handle(body)
        length, has_header = None, False


def _skip(stream: BinaryIO | _DescriptorReader, length: int) -> None:
    while length > 0 and (chunk := stream.read(min(length, 1 << 20))):
        length -= len(chunk)


LOOPBACK = "127.0.0.1"
PORT = 8082
MAX_EDITORS = 32
"""Maximum number of editors at the same time; further connections wait."""
ACCEPT_RETRY_SECONDS = 1.0
"""Seconds until the next attempt if a connection could not be accepted."""
POLL_SECONDS = 1.0
"""Seconds between two checks of the editor's process."""
GRACE_SECONDS = 5.0
"""Seconds until a server without its editor is ended by force; a pipe that nobody reads may block it."""
_JOIN_SECONDS = 0.2
"""Seconds to wait for a thread to end; a thread that runs no check needs less."""
_CHUNK = 1 << 16
_log = logging.getLogger(__name__)


def serve_stdio(defaults: Mapping[str, Any] | None = None) -> int:
    """Serve the editor that started this process until it asks to stop; return the exit status.

    Standard output carries the protocol, so everything else that is printed goes to standard error.

    For `defaults`, see `LoadedCheckers`. Raises D893 if standard input or output is closed.
    """
    target = getattr(sys.stdout, "buffer", None)
    if sys.stdin is None or target is None:
        raise UserError("D893", problem="standard input or output is closed")
    with contextlib.redirect_stdout(sys.stderr):
        # `os._exit` as the last resort: the event loop may be blocked, writing to a pipe that nobody reads.
        status = serve(
            _DescriptorReader(sys.stdin.fileno()),
            target,
            LoadedCheckers(defaults),
            disconnect=lambda: os._exit(1),
        )
    try:
        target.flush()
    except OSError:  # the interpreter would flush again at its end, fail, and exit with another status
        os.dup2(os.open(os.devnull, os.O_WRONLY), target.fileno())
    return status


def exit_if_busy(status: int) -> None:
    """Exit at once if a check is still running.

    Compiled code of other packages that runs in a thread while the interpreter shuts down can abort the
    process, which then has another exit status.
    """
    for thread in threading.enumerate():
        if thread.name in THREADS:
            thread.join(_JOIN_SECONDS)
            if thread.is_alive():
                sys.stderr.flush()
                os._exit(status)


def serve_tcp(
    port: int, show_address: Callable[[str], object], defaults: Mapping[str, Any] | None = None
) -> None:
    """Serve all editors that connect to a port of the loopback address, until interrupted.

    Raises D841 if the port cannot be used.

    `port`: port number; 0 for any free port.
    `show_address`: called with a line that gives the address.
    `defaults`: see `LoadedCheckers`.
    """
    checkers = LoadedCheckers(defaults)  # of all editors, so that models are loaded once
    try:
        listening = socket.create_server((LOOPBACK, port))
    except (OSError, OverflowError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise UserError("D841", address=f"{LOOPBACK}:{port}", problem=reason) from None
    with listening:
        show_address(f"disambig: listening on {LOOPBACK}:{listening.getsockname()[1]}\n")
        _serve_all(listening, checkers)


def serve(
    source: BinaryIO | _DescriptorReader,
    target: BinaryIO,
    checkers: LoadedCheckers,
    *,
    skip_invalid: bool = True,
    disconnect: Callable[[], object] = lambda: None,
) -> int:
    """Serve one editor: read messages from `source` and write messages to `target`.

    `skip_invalid`: see `read_messages`.
    `disconnect`: ends the connection by force, from any thread. It is called if the editor's process has
    ended and the server does not end by itself.
    Returns the exit status of the protocol: 0 if the editor asked the server to exit, 1 if it disappeared.
    """
    logging.getLogger("pygls").setLevel(logging.CRITICAL)  # it logs whole messages, with their texts
    try:
        return asyncio.run(_serve(source, target, checkers, skip_invalid, disconnect))
    except SystemExit as end:  # pygls raises it on the "exit" notification
        return end.code if isinstance(end.code, int) else 1
    except (BrokenPipeError, ConnectionError):
        return 1


async def _serve(
    source: BinaryIO | _DescriptorReader,
    target: BinaryIO,
    checkers: LoadedCheckers,
    skip_invalid: bool,
    disconnect: Callable[[], object],
) -> int:
    from disambig.lsp.server import make_protocol

    # Three threads: this one runs the event loop and handles all messages; one reads, since not every system
    # can await a read from a pipe; one watches the process of the editor, if the editor names it.
    has_ended = threading.Event()
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Callable[[], None] | None] = asyncio.Queue()

    def put(work: Callable[[], None] | None) -> None:
        # The queue is not thread-safe, and only a call into the loop wakes it up.
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(queue.put_nowait, work)

    def handle(body: bytes) -> None:
        put(lambda: protocol.handle_bytes(body))

    def report_invalid(problem: str) -> None:
        put(lambda: protocol.session.show_message(None, UserError("D847", problem=problem)))

    def read() -> None:
        with contextlib.suppress(OSError, ValueError):  # the stream was closed
            read_messages(source, handle, report_invalid, skip_invalid=skip_invalid)
        put(None)

    def stop(reason: UserError) -> None:
        _log.warning("disambig: %s", reason)
        put(None)

    def watch(pid: int) -> None:
        """Stop the server when the editor's process ends; runs in a thread."""
        if wait_for_exit(pid, has_ended):
            stop(UserError("D892", pid=pid))
            if not has_ended.wait(GRACE_SECONDS):
                disconnect()

    def start_watching(pid: int) -> None:
        threading.Thread(target=watch, args=(pid,), name="disambig-watching", daemon=True).start()

    protocol = make_protocol(checkers, start_watching)
    protocol.set_writer(_MessageWriter(target, lambda problem: stop(UserError("D893", problem=problem))))
    # A daemon, because nothing can interrupt its read. It starts last: it uses `protocol`.
    threading.Thread(target=read, name="disambig-reading", daemon=True).start()
    try:
        # `None` ends the loop: the stream ended, nothing can be written, or the editor's process is gone.
        while (work := await queue.get()) is not None:
            work()
    finally:
        has_ended.set()
        protocol.session.scheduler.worker.end()
    return 1


def wait_for_exit(pid: int, stop: threading.Event) -> bool:
    """Wait until a process has ended; a zombie counts as ended.

    The specification asks servers to exit when the process ends that the editor names in ``processId``. An
    editor that is killed does not always close its pipes: processes that it started may hold them open.

    `stop`: threading.Event; stops waiting once it is set.
    Returns false if waiting was stopped, or if the system does not allow watching the process.
    """
    if pid <= 0:  # not a process: such numbers stand for process groups
        return False
    if sys.platform == "win32":  # pragma: no cover
        return _wait_on_windows(pid, stop)
    if sys.platform != "linux" and hasattr(select, "kqueue"):  # pragma: no cover
        # On an error, the process has ended already, or may not be watched: polling below finds out.
        with contextlib.suppress(OSError, OverflowError), contextlib.closing(select.kqueue()) as queue:
            event = select.kevent(
                pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD | select.KQ_EV_ONESHOT, select.KQ_NOTE_EXIT
            )
            events = queue.control([event], 0)
            while not stop.is_set() and not events:
                events = queue.control(None, 1, POLL_SECONDS)
            return bool(events)
    first_start = start = _process_start(pid)
    while start is not None and start == first_start:
        if stop.wait(POLL_SECONDS):
            return False
        start = _process_start(pid)
    return True


def _process_start(pid: int) -> str | None:
    """Return the start time of a process, which identifies it if its id is reused; None if it has ended."""
    try:
        os.kill(pid, 0)  # signal 0 only checks whether the process exists (POSIX); not so on Windows
    except PermissionError:  # it exists, and belongs to another user
        pass
    except (OSError, OverflowError):
        return None
    try:
        with open(f"/proc/{pid}/stat", encoding="latin-1") as stat:
            fields = stat.read().rpartition(")")[2].split()
    except OSError:
        return ""  # the system has no /proc
    return None if fields[0] in "ZX" else fields[19]  # zombie or dead; field 22 of proc(5) is the start time


if sys.platform == "win32":  # pragma: no cover

    def _wait_on_windows(pid: int, stop: threading.Event) -> bool:
        import ctypes
        from ctypes import wintypes

        # SYNCHRONIZE, ERROR_INVALID_PARAMETER and WAIT_OBJECT_0 of the Windows API
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
                if kernel.WaitForSingleObject(handle, int(1000 * POLL_SECONDS)) == signaled:
                    return True
            return False
        finally:
            kernel.CloseHandle(handle)


def _serve_all(listening: socket.socket, checkers: LoadedCheckers) -> None:
    """Serve all editors that connect, at most `MAX_EDITORS` at a time, until interrupted."""
    slots = threading.Semaphore(MAX_EDITORS)

    def serve_one(connection: socket.socket) -> None:
        try:
            _serve_connection(connection, checkers)
        finally:
            slots.release()

    while True:
        slots.acquire()  # before accepting: further connections wait in the queue of the system
        while (connection := _accept(listening)) is None:
            time.sleep(ACCEPT_RETRY_SECONDS)
        threading.Thread(
            target=serve_one, args=(connection,), name="disambig-connection", daemon=True
        ).start()


def _accept(listening: socket.socket) -> socket.socket | None:
    """Return the next connection; None if none can be accepted now, for lack of descriptors for example."""
    try:
        return listening.accept()[0]
    except OSError as problem:
        _log.warning("cannot accept a connection: %s", problem)
        return None


def _serve_connection(connection: socket.socket, checkers: LoadedCheckers) -> None:
    with contextlib.suppress(OSError), connection:
        # send each message at once: a small one would otherwise wait for the answer to the one before
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection.makefile("rb") as source, connection.makefile("wb") as target:
            serve(source, target, checkers, skip_invalid=False, disconnect=lambda: _shut_down(connection))
            _shut_down(connection)  # the reading thread is still blocked on it


def _shut_down(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


class _DescriptorReader:
    """Read from a file descriptor without a lock, so that the interpreter can exit while a thread waits.

    `sys.stdin.buffer` has a lock. If a thread holds it at exit, the interpreter ends with a fatal error.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._buffer = b""

    def readline(self, size: int = -1, /) -> bytes:
        """Read up to a line end, at most `size` bytes."""
        while b"\n" not in self._buffer and not 0 <= size <= len(self._buffer) and self._fill():
            pass
        end = self._buffer.find(b"\n") + 1 or len(self._buffer)
        return self._take(end if size < 0 else min(end, size))

    def read(self, size: int, /) -> bytes:
        """Read `size` bytes; fewer at the end."""
        chunks = [self._take(size)]
        size -= len(chunks[0])
        while size > 0 and (chunk := os.read(self._descriptor, min(size, _CHUNK))):
            chunks.append(chunk)
            size -= len(chunk)
        return b"".join(chunks)

    def _fill(self) -> bool:
        chunk = os.read(self._descriptor, _CHUNK)
        self._buffer += chunk
        return bool(chunk)

    def _take(self, size: int) -> bytes:
        taken, self._buffer = self._buffer[:size], self._buffer[size:]
        return taken


class _MessageWriter:
    """Write whole messages; after an error, call `on_error` once and discard further messages."""

    def __init__(self, target: BinaryIO, on_error: Callable[[Exception], object]) -> None:
        self._target = target
        self._on_error = on_error
        self._is_open = True

    def write(self, data: bytes) -> None:
        """Write a message and flush."""
        if not self._is_open:
            return
        # After an error nothing more is written: a part of a message may be missing already.
        try:
            self._target.write(data)
            self._target.flush()
        except (OSError, ValueError) as problem:  # ValueError: the stream was closed
            self._is_open = False
            self._on_error(problem)

    def close(self) -> None:
        """Do nothing: the owner of the stream closes it."""
