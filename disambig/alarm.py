"""A block that may take so many seconds, the time in which kernels are compiled left out."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

AGAIN = 1.0
"""Seconds after which the alarm comes once more, should what it raised be lost."""


class TooLong(BaseException):
    """What `limited` raises in the block: no Exception, which code of others may catch."""


class _Clock:
    """The system's timer while a block is limited; stopped as long as anything is compiled."""

    def __init__(self) -> None:
        self.runs = False
        self.compiling = 0
        self.left = 0.0


_clock = _Clock()


@contextmanager
def limited(seconds: float | None) -> Iterator[None]:
    """Leave the block by `TooLong` when it takes longer than so many seconds.

    The system's alarm does it, which only the main thread of a process hears, between two steps of Python: a
    kernel that runs is not interrupted, nor a worker that works in a thread, as Dask's. A time for whole
    shards, after which their worker is killed, holds there too.
    """
    possible = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if seconds is None or not possible:
        yield
        return

    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, stop)
    _clock.runs, _clock.compiling = True, 0
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        _clock.runs = False
        signal.signal(signal.SIGALRM, before)


def compiling_begins() -> None:
    """Stop the clock of a limited block."""
    if _clock.runs:
        if not _clock.compiling:
            _clock.left = max(signal.setitimer(signal.ITIMER_REAL, 0)[0], 0.001)
        _clock.compiling += 1


def compiling_ends() -> None:
    """Let the clock of a limited block go on, unless more is still compiled."""
    if _clock.runs and _clock.compiling:
        _clock.compiling -= 1
        if not _clock.compiling:
            signal.setitimer(signal.ITIMER_REAL, _clock.left, AGAIN)
