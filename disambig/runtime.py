"""Choice of the backend (Numba or NumPy), time limits, and objects that keep what is computed from them.

Short texts use NumPy, long ones Numba. On a machine that is not busy, importing Numba takes 0.3 s of
processor time, loading a compiled function from its cache 3 ms, compiling one 0.2 s to several seconds.
Numba is therefore loaded only for a long text, after a second of work (`TOTAL_SECONDS`) or, if nothing has
been compiled on this machine yet, after as much work as compiling takes. From then on all calls use it.

A C extension would replace both backends: two functions of the word network that were written in C as an
experiment loaded in a millisecond and ran as fast as Numba's. But it needs a wheel for every platform, and
all compiled functions, including those of plugins, in a second language. A wheel cannot contain Numba's
cache, which is valid for one kind of processor only.
"""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from disambig.errors import UserError

Result = TypeVar("Result")
VARIABLE = "DISAMBIG_ENGINE"
BACKENDS = ("numpy", "numba")

_work_seconds = 0.0
_warming: ContextVar[bool] = ContextVar("warming", default=False)


CALL_SECONDS, TOTAL_SECONDS = 0.25, 1.0
"""Seconds of work with NumPy for which Numba is used: of a call and those after it; of all calls so far.

Loading Numba and the compiled functions of all models takes 0.4 seconds of processor time. They then save
a quarter of the time of long texts and half of that of single sentences.
"""
OVERHEAD_SECONDS = 50e-6
"""Seconds that a call takes longer with NumPy however small it is: many short texts also add up to work."""
UNCOMPILED_FACTOR = 12.0
"""Factor for both as long as nothing is compiled: compiling the functions of all models takes 12 seconds.

With this factor, a run takes at most about twice as long as with the better choice.
"""


def use_numba(units: int, *, nanoseconds: float = 200.0, nanoseconds_after: float = 0.0) -> bool:
    """Return True if this call should use the Numba backend.

    Numba is used for a call that would take `CALL_SECONDS` with the NumPy backend, and for every call once
    the calls of the process have taken `TOTAL_SECONDS`, since loading Numba then pays off. If the cache
    contains no compiled code, both limits are `UNCOMPILED_FACTOR` times as high. Once it is loaded, every
    call uses it.

    Parameters
    ----------
    units : int
        Amount of work of this call: characters of text, lookups, features.
    nanoseconds : float
        Measured time per unit with the NumPy backend.
    nanoseconds_after : float
        Time per unit of the calls that usually follow this one.

    Raises
    ------
    UserError
        D200 if the environment variable DISAMBIG_ENGINE is neither ``numpy`` nor ``numba``.
    """
    global _work_seconds
    backend = os.environ.get(VARIABLE, "")
    if backend:
        if backend not in BACKENDS:
            raise UserError("D200", value=backend)
        return backend == "numba"
    if _warming.get():
        return True
    seconds = units * nanoseconds * 1e-9
    _work_seconds += seconds + OVERHEAD_SECONDS
    seconds += units * nanoseconds_after * 1e-9
    if seconds < CALL_SECONDS and _work_seconds < TOTAL_SECONDS:
        return False
    factor = 1.0 if has_compiled_code() else UNCOMPILED_FACTOR
    if seconds < factor * CALL_SECONDS and _work_seconds < factor * TOTAL_SECONDS:
        return False
    _work_seconds = math.inf
    return True


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
    """Run `work` with the Numba backend; from then on, all calls in this process use Numba.

    This is meant for long-lived processes. Other threads use NumPy until the functions are compiled.
    """
    global _work_seconds
    token = _warming.set(True)
    try:
        work()
    finally:
        _warming.reset(token)
    _work_seconds = math.inf


ALARM_INTERVAL = 1.0
"""Seconds between repeated alarms: foreign code may suppress the exception of the first one."""


class DeadlineExceeded(BaseException):
    """Raised by `time_limit` and `check_time`; not an Exception, since foreign code may catch those."""


class _Deadline(threading.local):
    """When the current `processor_time_limit` of a thread expires, in processor time of the thread."""

    end = math.inf
    compiling = 0
    compiling_since = 0.0


class _Clock:
    """State of the system timer of `time_limit`, which is paused while anything is compiled."""

    def __init__(self) -> None:
        self.is_running = False
        self.compiling = 0
        self.seconds_left = 0.0


_clock = _Clock()
_deadline = _Deadline()


@contextmanager
def processor_time_limit(seconds: float) -> Iterator[None]:
    """Let `check_time` raise `DeadlineExceeded` after `seconds` of processor time of this thread.

    Unlike `time_limit`, it works in any thread and interrupts nothing: the code in the block must call
    `check_time` regularly. Compilation time does not count.
    """
    before = _deadline.end
    _deadline.end = min(before, time.thread_time() + seconds)
    try:
        yield
    finally:
        _deadline.end = before


def check_time() -> None:
    """Raise `DeadlineExceeded` if the enclosing `processor_time_limit` has expired."""
    # reading the clock is a system call
    if _deadline.end < math.inf and time.thread_time() > _deadline.end:
        raise DeadlineExceeded


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise `DeadlineExceeded` in the block when it takes longer than `seconds`.

    This uses the system alarm, which Python handles in the main thread only, between two bytecodes. It does
    not interrupt a running compiled function, and has no effect in other threads, such as those of Dask
    workers. The time limit of a whole shard, after which its worker is killed, applies there too.
    """
    has_alarm = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if seconds is None or not has_alarm:
        yield
        return

    def stop(*_: object) -> None:
        raise DeadlineExceeded

    before = signal.signal(signal.SIGALRM, stop)
    _clock.is_running, _clock.compiling = True, 0
    signal.setitimer(signal.ITIMER_REAL, seconds, ALARM_INTERVAL)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        _clock.is_running = False
        signal.signal(signal.SIGALRM, before)


def pause_time_limit() -> None:
    """Pause the time limit, for example while a function is compiled."""
    if not _deadline.compiling:
        _deadline.compiling_since = time.thread_time()
    _deadline.compiling += 1
    if _clock.is_running:
        if not _clock.compiling:
            _clock.seconds_left = max(signal.setitimer(signal.ITIMER_REAL, 0)[0], 0.001)
        _clock.compiling += 1


def resume_time_limit() -> None:
    """Resume the time limit, unless another compilation is still running."""
    _deadline.compiling = max(0, _deadline.compiling - 1)
    if not _deadline.compiling:
        _deadline.end += time.thread_time() - _deadline.compiling_since
    if _clock.is_running and _clock.compiling:
        _clock.compiling -= 1
        if not _clock.compiling:
            signal.setitimer(signal.ITIMER_REAL, _clock.seconds_left, ALARM_INTERVAL)


CHARACTERS_PER_TRIM = 50_000
"""Number of characters of text after which free memory is returned again."""
_characters_since_trim = 0


def return_free_memory(characters: int) -> None:
    """Return free memory to the system from time to time; call this after each batch of text.

    glibc keeps free memory that lies between blocks in use, such as cached words, so a long-lived process
    would grow. Returning it takes some milliseconds, so this is done every `CHARACTERS_PER_TRIM` characters.

    `characters` is the number of characters of the batch.
    """
    global _characters_since_trim
    _characters_since_trim += characters
    trim = _malloc_trim()
    if trim is not None and _characters_since_trim >= CHARACTERS_PER_TRIM:
        _characters_since_trim = 0
        trim(0)


@cache
def _malloc_trim() -> Any:
    """Return the function ``malloc_trim`` of glibc, or None if the system has another C library."""
    import ctypes

    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None


class WeakRefMixin:
    """Base class that makes instances of classes with slots weakly referenceable."""

    __slots__ = ("__weakref__",)


class KeepsResults(WeakRefMixin):
    """Base class of immutable objects with slots that keep what functions compute from them."""

    __slots__ = ("_results",)
    _results: dict[Hashable, Any]

    def cached(self, function: Callable[..., Result], *arguments: Hashable) -> Result:
        """Return ``function(self, *arguments)``, which is computed once.

        The result must not be changed, and must not refer to this object, so that both are freed with it.
        """
        try:
            results = self._results
        except AttributeError:
            results = {}
            object.__setattr__(self, "_results", results)
        key = (function, *arguments)
        if key not in results:
            results[key] = function(self, *arguments)
        result: Result = results[key]
        return result
