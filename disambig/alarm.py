"""A block that may take so many seconds, the time in which kernels are compiled left out."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

AGAIN = 1.0
"""Seconds after which the alarm comes once more, should what it raised be lost."""


class TooLong(BaseException):
    """What `limited` raises in the block: no Exception, which code of others may catch."""


class _Deadline(threading.local):
    """When the block that a thread is in has to end, in its own processor time."""

    end = math.inf
    compiling = 0
    compiling_since = 0.0


class _Clock:
    """The system's timer while a block is limited; stopped as long as anything is compiled."""

    def __init__(self) -> None:
        self.runs = False
        self.compiling = 0
        self.left = 0.0


_clock = _Clock()
_deadline = _Deadline()


@contextmanager
def processor_time_limit(seconds: float) -> Iterator[None]:
    """Let `check_time` raise `TooLong` once this thread has computed for so many seconds in the block.

    Unlike `limited` it works in any thread, and nothing is interrupted: what runs in the block asks now and
    then. Time in which functions are compiled does not count.
    """
    before = _deadline.end
    _deadline.end = min(before, time.thread_time() + seconds)
    try:
        yield
    finally:
        _deadline.end = before


def check_time() -> None:
    """Raise `TooLong` if the time of a `processor_time_limit` around the caller is over."""
    if time.thread_time() > _deadline.end:
        raise TooLong


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
    if not _deadline.compiling:
        _deadline.compiling_since = time.thread_time()
    _deadline.compiling += 1
    if _clock.runs:
        if not _clock.compiling:
            _clock.left = max(signal.setitimer(signal.ITIMER_REAL, 0)[0], 0.001)
        _clock.compiling += 1


def compiling_ends() -> None:
    """Let the clock of a limited block go on, unless more is still compiled."""
    _deadline.compiling = max(0, _deadline.compiling - 1)
    if not _deadline.compiling:
        _deadline.end += time.thread_time() - _deadline.compiling_since
    if _clock.runs and _clock.compiling:
        _clock.compiling -= 1
        if not _clock.compiling:
            signal.setitimer(signal.ITIMER_REAL, _clock.left, AGAIN)
