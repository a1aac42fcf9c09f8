"""Write results and notes, and read input lines ahead."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from disambig.errors import UserError
from disambig.files import is_special, save_output, writing
from disambig.formatting import escape_control_chars

_WAITING = 8
"""Maximum number of blocks read ahead."""
_END = object()
Line = tuple[str, str]


def is_typed(paths: Sequence[str] | None) -> bool:
    """Return True if the input is typed at a terminal."""
    stdin = sys.stdin
    return (not paths or "-" in paths) and stdin is not None and stdin.isatty()


def line_blocks(lines: Iterable[Line], size: int = 512) -> Iterator[list[Line]]:
    """Yield the lines that are available now as a block of 1 to `size` lines.

    A thread reads ahead, so that a program that writes one line and waits for the answer gets it at once. An
    exception of the reader is raised here, after the lines read before it.
    """
    waiting: queue.Queue[object] = queue.Queue(_WAITING * size)
    stopped = threading.Event()

    def read() -> None:
        kept = sys.stdin  # keep it open: Python may exit and close it while this thread reads
        try:
            for line in lines:
                waiting.put(line)
                if stopped.is_set():
                    return
            waiting.put(_END)
        except BaseException as error:
            waiting.put(error)
        del kept

    threading.Thread(target=read, daemon=True).start()
    try:
        ended: object = None
        while ended is None:
            block: list[Line] = []
            taken = waiting.get()
            while True:
                if isinstance(taken, tuple):
                    block.append(taken)
                else:
                    ended = taken
                    break
                if len(block) == size:
                    break
                try:
                    taken = waiting.get_nowait()
                except queue.Empty:
                    break
            if block:
                yield block
        if isinstance(ended, BaseException):
            raise ended
    finally:
        stopped.set()
        while not waiting.empty():
            waiting.get_nowait()


class StandardOutput:
    """Write results to standard output and notes to standard error."""

    def result(self, text: str) -> None:
        """Write to standard output, with control characters escaped on a terminal.

        Raises
        ------
        UserError
            D309 if it is closed or full.
        """
        if not text:
            return
        if sys.stdout is None:
            raise UserError("D309", path="standard output", problem="it is closed")
        shown = escape_control_chars(text, lines=True) if sys.stdout.isatty() else text
        data = shown.encode("utf-8", "surrogateescape")
        with writing("standard output"):
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def remark(self, text: str) -> None:
        """Write information that is not a problem to standard error, unless ``--quiet`` was given."""
        from disambig.cli import progress

        if not progress.is_quiet():
            self.note(text)

    def note(self, text: str) -> None:
        """Write to standard error, if it is open."""
        if sys.stderr is not None:
            sys.stderr.write(escape_control_chars(text, lines=True))


@contextmanager
def open_results(output: Path | None, *, force: bool = False) -> Iterator[Callable[[str], None]]:
    """Yield a function that writes text to a file atomically, or to standard output.

    The progress bar is hidden while something is written to standard output.

    Raises
    ------
    UserError
        D309 if it cannot be written, D310 if the file exists (with `force` it is replaced). Pipes and devices
        are written directly.
    """
    if output is None:
        from disambig.cli.progress import hidden_progress

        console = StandardOutput()

        def show(text: str) -> None:
            with hidden_progress():
                console.result(text)

        yield show
        return
    if output.exists() and not force and not is_special(output):
        raise UserError("D310", path=output)
    with save_output(output) as write:

        def keep(text: str) -> None:
            write(text.encode("utf-8", "surrogateescape"))

        yield keep
