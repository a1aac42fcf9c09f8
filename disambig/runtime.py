"""Choice of the backend (Numba or NumPy), time limits, and weak references to objects with slots."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from disambig.errors import UserError

VARIABLE = "DISAMBIG_ENGINE"
BACKENDS = ("numpy", "numba")

_seen = 0
_warming: ContextVar[bool] = ContextVar("warming", default=False)


def use_numba(units: int, *, at_once: int = 200_000, in_all: int = 2_000_000) -> bool:
    """Say whether this call is worth the Numba kernel.

    Parameters
    ----------
    units : int
        The size of this call's work: characters of text, lookups, features; about 0.2 microseconds
        each on the slow path.
    at_once : int
        A call of this size uses the kernel at once.
    in_all : int
        After this much work in the process (in all rooms together) every call uses the kernel.

    Raises
    ------
    UserError
        D200, where the environment variable DISAMBIG_ENGINE is neither ``numpy`` nor ``numba``.
    """
    global _seen
    engine = os.environ.get(VARIABLE, "")
    if engine:
        if engine not in BACKENDS:
            raise UserError("D200", value=engine)
        return engine == "numba"
    if _warming.get():
        return True
    _seen += units
    return units >= at_once or _seen >= in_all


def warm_up(work: Callable[[], object]) -> None:
    """Run `work` with the kernels, then let all calls of this process use them, little work or not.

    For a process that answers for hours: other threads go on without the kernels until these are ready.
    """
    global _seen
    token = _warming.set(True)
    try:
        work()
    finally:
        _warming.reset(token)
    _seen = 1 << 62


AGAIN = 1.0
"""Seconds after which the alarm comes once more, should what it raised be lost."""


class DeadlineExceeded(BaseException):
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
    """Let `check_time` raise `DeadlineExceeded` once this thread has computed for so many seconds in the block.

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
    """Raise `DeadlineExceeded` if the time of a `processor_time_limit` around the caller is over."""
    if time.thread_time() > _deadline.end:
        raise DeadlineExceeded


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Leave the block by `DeadlineExceeded` when it takes longer than so many seconds.

    The system's alarm does it, which only the main thread of a process hears, between two steps of Python: a
    kernel that runs is not interrupted, nor a worker that works in a thread, as Dask's. A time for whole
    shards, after which their worker is killed, holds there too.
    """
    possible = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if seconds is None or not possible:
        yield
        return

    def stop(*_: object) -> None:
        raise DeadlineExceeded

    before = signal.signal(signal.SIGALRM, stop)
    _clock.runs, _clock.compiling = True, 0
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        _clock.runs = False
        signal.signal(signal.SIGALRM, before)


def pause_time_limit() -> None:
    """Stop the clock of a limited block."""
    if not _deadline.compiling:
        _deadline.compiling_since = time.thread_time()
    _deadline.compiling += 1
    if _clock.runs:
        if not _clock.compiling:
            _clock.left = max(signal.setitimer(signal.ITIMER_REAL, 0)[0], 0.001)
        _clock.compiling += 1


def resume_time_limit() -> None:
    """Let the clock of a limited block go on, unless more is still compiled."""
    _deadline.compiling = max(0, _deadline.compiling - 1)
    if not _deadline.compiling:
        _deadline.end += time.thread_time() - _deadline.compiling_since
    if _clock.runs and _clock.compiling:
        _clock.compiling -= 1
        if not _clock.compiling:
            signal.setitimer(signal.ITIMER_REAL, _clock.left, AGAIN)


class WeakRefMixin:
    """Base of classes with slots whose objects can be keys of a ``WeakKeyDictionary``."""

    __slots__ = ("__weakref__",)
