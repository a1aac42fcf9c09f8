"""Write results and messages, and read input lines ahead."""

from __future__ import annotations

import io
import queue
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from disambig.errors import UserError
from disambig.files import checked_writer, is_special, save_output, writing
from disambig.formatting import escape_control_chars

_MAX_BLOCKS = 8
"""Maximum number of blocks that are read ahead."""
_END = object()
Line = tuple[str, str]


def is_typed(paths: Sequence[str] | None) -> bool:
    """Return True if the input is typed at a terminal."""
    stdin = sys.stdin
    return (not paths or "-" in paths) and stdin is not None and stdin.isatty()


def is_terminal() -> bool:
    """Return True if standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def check_stdout() -> None:
    """Raise an error if the command was started without standard output. Raises D309."""
    if sys.stdout is None or isinstance(sys.stdout, _ClosedOutput):
        raise UserError("D309", path="standard output", problem="it is closed")


class _ClosedOutput(io.TextIOBase):
    """Standard output of a command that was started without one: no output may be lost silently."""

    encoding = "utf-8"
    errors = "strict"

    def write(self, text: str) -> int:
        """Raise D309, except for an empty text."""
        if text:
            check_stdout()
        return 0


@contextmanager
def refuse_closed_stdout() -> Iterator[None]:
    """Let every command fail with D309 if it writes to a standard output that is closed."""
    if sys.stdout is not None:
        yield
        return
    sys.stdout = _ClosedOutput()
    try:
        yield
    finally:
        sys.stdout = None


def line_blocks(lines: Iterable[Line], size: int = 512) -> Iterator[list[Line]]:
    """Yield blocks of 1 to `size` lines; a block has all lines that are available when it is requested.

    A thread reads ahead, so that a program that writes one line and waits for the answer gets it at once. An
    exception of the reader is raised here, after the lines that were read before it.
    """
    pending: queue.Queue[object] = queue.Queue(_MAX_BLOCKS * size)
    stopped = threading.Event()

    def read() -> None:
        stdin = sys.stdin  # a reference keeps it open if Python exits while this thread reads
        try:
            for line in lines:
                pending.put(line)
                if stopped.is_set():
                    return
            pending.put(_END)
        except BaseException as error:
            pending.put(error)
        del stdin

    threading.Thread(target=read, daemon=True).start()
    try:
        end: object = None  # _END or an exception
        while end is None:
            block: list[Line] = []
            item = pending.get()
            while True:
                if not isinstance(item, tuple):
                    end = item
                    break
                block.append(item)
                if len(block) == size:
                    break
                try:
                    item = pending.get_nowait()
                except queue.Empty:
                    break
            if block:
                yield block
        if isinstance(end, BaseException):
            raise end
    finally:
        stopped.set()
        while not pending.empty():
            pending.get_nowait()


class StandardOutput:
    """Write results to standard output and messages to standard error."""

    def result(self, text: str) -> None:
        """Write to standard output, with control characters escaped on a terminal.

        Raises D309 if it is closed or full.
        """
        if not text:
            return
        check_stdout()
        escaped = escape_control_chars(text, lines=True) if sys.stdout.isatty() else text
        data = escaped.encode("utf-8", "surrogateescape")
        with writing("standard output"):
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def remark(self, text: str) -> None:
        """Write a message that is not about a problem to standard error, unless ``--quiet`` was given."""
        from disambig.cli import progress

        if not progress.is_quiet():
            self.note(text)

    def note(self, text: str) -> None:
        """Write to standard error, if it is open."""
        if sys.stderr is not None:
            sys.stderr.write(escape_control_chars(text, lines=True))


@contextmanager
def open_results(output: Path | None, *, force: bool = False) -> Iterator[Callable[[str], None]]:
    """Yield a function that writes text to a file, or to standard output with the progress bar hidden.

    See `open_output` for existing files and errors.
    """
    if output is None:
        from disambig.cli.progress import hidden_progress

        def show(text: str) -> None:
            with hidden_progress():
                StandardOutput().result(text)

        yield show
        return
    with open_output(output, force=force) as write:

        def keep(text: str) -> None:
            write(text.encode("utf-8", "surrogateescape"))

        yield keep


@contextmanager
def open_output(output: Path | None, *, force: bool = False) -> Iterator[Callable[[bytes], object]]:
    """Yield a function that writes bytes to a file, or to standard output.

    A file is written atomically; pipes and devices are written directly.

    Raises D309 if the output cannot be written, D310 if the file exists, unless `force` is set.
    """
    if output is None:
        check_stdout()
        yield checked_writer(sys.stdout.buffer, "standard output")
        with writing("standard output"):
            sys.stdout.buffer.flush()
        return
    if output.exists() and not force and not is_special(output):
        raise UserError("D310", path=output)
    with save_output(output) as write:
        yield write
