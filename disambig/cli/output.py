"""Standard output and standard error as bytes, and lines that flow through a command."""

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
"""Blocks that are read ahead."""
_END = object()
Line = tuple[str, str]


def is_typed(paths: Sequence[str] | None) -> bool:
    """Return whether lines come from a terminal."""
    stdin = sys.stdin
    return (not paths or "-" in paths) and stdin is not None and stdin.isatty()


def line_blocks(lines: Iterable[Line], size: int = 512) -> Iterator[list[Line]]:
    """Yield lines in blocks: what is there by now, a line at least and `size` at most.

    They are read ahead, by a thread: whoever writes a line and waits for the answer gets it at once. What
    reading raises is raised here, behind the lines before.
    """
    waiting: queue.Queue[object] = queue.Queue(_WAITING * size)
    stopped = threading.Event()

    def read() -> None:
        kept = sys.stdin  # Python would close it while it is read from, where it ends before this thread
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
    """Results on standard output, notes on standard error."""

    def result(self, text: str) -> None:
        """Write to standard output: on a terminal nothing that would steer it.

        Raises
        ------
        UserError
            D309 where it is closed or full.
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
        """Write what is no problem to standard error, unless ``--quiet`` is asked for."""
        from disambig.cli import progress

        if not progress.is_quiet():
            self.note(text)

    def note(self, text: str) -> None:
        """Write to standard error, if there is one."""
        if sys.stderr is not None:
            sys.stderr.write(escape_control_chars(text, lines=True))


@contextmanager
def open_results(output: Path | None, *, force: bool = False) -> Iterator[Callable[[str], None]]:
    """Give a function that writes text to a file, which is there whole or not at all, or to standard output.

    What is shown of progress is taken away while something is written to standard output.

    Raises
    ------
    UserError
        D309 where it cannot be written, D310 for a file that exists; with `force` it is replaced. A pipe or
        device is written to.
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
