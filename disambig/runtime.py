"""Choice of the backend (Numba or NumPy), time limits, and weak references to objects with slots.

Short texts use NumPy, long ones Numba. On a machine that is not busy, importing Numba takes 0.3 s of
processor time, loading a compiled function from its cache 0.1 s, compiling one 0.2 s to several seconds.
Two functions of the word network, written in C and compiled beforehand, load in a millisecond and run as fast
as Numba's. A C extension would make the NumPy versions needless, but needs a wheel for every platform and all
compiled functions in a second language, those of plugins as well. Numba's cache is valid for one kind of
processor, so a wheel cannot contain it. So Numba stays, and is loaded only after a second of work (`IN_ALL`);
as long as nothing was compiled on this machine, after as much work as compiling takes.
"""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

from disambig.errors import UserError

VARIABLE = "DISAMBIG_ENGINE"
BACKENDS = ("numpy", "numba")

_seen = 0.0
_warming: ContextVar[bool] = ContextVar("warming", default=False)


AT_ONCE, IN_ALL = 0.25, 1.0
"""Seconds of work with NumPy, of one call and of all calls so far, from which on Numba is used.

Loading Numba and the compiled functions of all models takes about one second of processor time.
"""
UNCOMPILED = 12.0
"""Factor of both as long as nothing was compiled: it takes 12 seconds to compile the functions of all models.

With this factor, a run takes at most about twice as long as with the better choice.
"""


def use_numba(units: int, *, nanoseconds: float = 200.0) -> bool:
    """Return True if this call should use the Numba backend.

    Numba is used for a call that takes `AT_ONCE` seconds with the NumPy backend, and for every call once
    all calls of the process have taken `IN_ALL` seconds, since then loading Numba pays off. If no compiled
    code is in the cache, it is `UNCOMPILED` times as much.

    Parameters
    ----------
    units : int
        Amount of work of this call: characters of text, lookups, features.
    nanoseconds : float
        Measured time of a unit with the NumPy backend.

    Raises
    ------
    UserError
        D200 if the environment variable DISAMBIG_ENGINE is neither ``numpy`` nor ``numba``.
    """
    global _seen
    engine = os.environ.get(VARIABLE, "")
    if engine:
        if engine not in BACKENDS:
            raise UserError("D200", value=engine)
        return engine == "numba"
    if _warming.get():
        return True
    seconds = units * nanoseconds * 1e-9
    _seen += seconds
    if seconds < AT_ONCE and _seen < IN_ALL:
        return False
    factor = 1.0 if has_compiled_code() else UNCOMPILED
    return seconds >= factor * AT_ONCE or _seen >= factor * IN_ALL


@cache
def has_compiled_code() -> bool:
    """Return True if compiled functions of this package are in Numba's cache, as far as that is known.

    The cache is beside the modules, or in the directory that NUMBA_CACHE_DIR names; others are not found.
    """
    beside = Path(__file__).parent / "features" / "__pycache__"
    named = os.environ.get("NUMBA_CACHE_DIR")
    cached = Path(named).glob("*/*.nbi") if named else beside.glob("*.nbi")
    return next(cached, None) is not None


def warm_up(work: Callable[[], object]) -> None:
    """Run `work` with the Numba backend, then use it for all calls of this process, however small.

    For long-lived processes: other threads use NumPy until the functions are compiled.
    """
    global _seen
    token = _warming.set(True)
    try:
        work()
    finally:
        _warming.reset(token)
    _seen = math.inf


AGAIN = 1.0
"""Seconds between repeated alarms, in case the exception of the first one is lost."""


class DeadlineExceeded(BaseException):
    """Raised by `time_limit`; not an Exception, since foreign code may catch those."""


class _Deadline(threading.local):
    """The end of a thread's current block, in processor time of the thread."""

    end = math.inf
    compiling = 0
    compiling_since = 0.0


class _Clock:
    """The system timer of a limited block; it is paused while anything is compiled."""

    def __init__(self) -> None:
        self.runs = False
        self.compiling = 0
        self.left = 0.0


_clock = _Clock()
_deadline = _Deadline()


@contextmanager
def processor_time_limit(seconds: float) -> Iterator[None]:
    """Let `check_time` raise `DeadlineExceeded` after `seconds` of processor time of this thread.

    Unlike `time_limit` it works in any thread and interrupts nothing: the code in the block must call
    `check_time` now and then. Compilation time does not count.
    """
    before = _deadline.end
    _deadline.end = min(before, time.thread_time() + seconds)
    try:
        yield
    finally:
        _deadline.end = before


def check_time() -> None:
    """Raise `DeadlineExceeded` if the enclosing `processor_time_limit` has expired."""
    if time.thread_time() > _deadline.end:
        raise DeadlineExceeded


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise `DeadlineExceeded` in the block when it takes longer than `seconds`.

    This uses the system alarm, which only reaches the main thread, between two bytecodes: it does not
    interrupt a running compiled function, nor work in other threads, as in Dask workers. The time limit of a
    whole shard, after which its worker is killed, applies there too.
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
    """Pause the time limit, for example while a function is compiled."""
    if not _deadline.compiling:
        _deadline.compiling_since = time.thread_time()
    _deadline.compiling += 1
    if _clock.runs:
        if not _clock.compiling:
            _clock.left = max(signal.setitimer(signal.ITIMER_REAL, 0)[0], 0.001)
        _clock.compiling += 1


def resume_time_limit() -> None:
    """Resume the time limit, unless another compilation is still running."""
    _deadline.compiling = max(0, _deadline.compiling - 1)
    if not _deadline.compiling:
        _deadline.end += time.thread_time() - _deadline.compiling_since
    if _clock.runs and _clock.compiling:
        _clock.compiling -= 1
        if not _clock.compiling:
            signal.setitimer(signal.ITIMER_REAL, _clock.left, AGAIN)


BATCH_TO_TRIM = 50_000
"""Number of characters after which free memory is returned."""
_characters_since_trim = 0


def return_free_memory(characters: int) -> None:
    """Return free memory to the system now and then; call this after each batch of text.

    glibc keeps what is free between blocks in use, such as cached words, and needs more and more with time.
    A call takes some milliseconds, so one is made every `BATCH_TO_TRIM` characters.

    Parameters
    ----------
    characters : int
        Size of the batch.
    """
    global _characters_since_trim
    _characters_since_trim += characters
    trim = _malloc_trim()
    if trim is not None and _characters_since_trim >= BATCH_TO_TRIM:
        _characters_since_trim = 0
        trim(0)


@cache
def _malloc_trim() -> Any:
    """Return the function of glibc, or None if the system has another C library."""
    import ctypes

    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None


class WeakRefMixin:
    """Base class that makes instances of classes with slots weakly referenceable."""

    __slots__ = ("__weakref__",)
