"""Interrupts that wait while processes are begun, and that these never hear."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any


@contextmanager
def interrupts_put_off() -> Iterator[None]:
    """Hear SIGINT and SIGTERM when the block has ended; a process begun in it is born deaf to SIGINT.

    A terminal sends SIGINT to all processes: whoever began them hears it and ends them. Outside the main
    thread nothing is put off.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    usual: dict[int, Any] = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    masks = hasattr(signal, "pthread_sigmask")
    if masks:
        resource_tracker.ensure_running()  # begun in the block it would let SIGINT through again
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    for number in usual:
        signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        if masks:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for number, handler in usual.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])
