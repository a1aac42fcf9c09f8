"""Lines flow through a command: many at once where there are many, each at once where it is typed."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence

_WAITING = 8
"""Blocks that are read ahead."""
_END = object()
Line = tuple[str, str]


def is_typed(paths: Sequence[str] | None) -> bool:
    """Return whether lines come from a terminal."""
    stdin = sys.stdin
    return (not paths or "-" in paths) and stdin is not None and stdin.isatty()


def blocks(lines: Iterable[Line], size: int = 512) -> Iterator[list[Line]]:
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
