"""Check that work grows with the size of its input alone, without limits on seconds."""

from __future__ import annotations

import time
from collections.abc import Callable

FLOOR = 0.01
"""Seconds of processor time below which a measurement is mostly noise."""
TIMES, MOST = 4, 9
"""Four times the input may take at most so many times the time; quadratic work takes 16 times."""
TRIES = 3


def grows_linearly(work: Callable[[int], object], size: int) -> bool:
    """Return True if `work` of `size` takes at most a multiple of the time of a quarter of it.

    Only processor time of this process counts, so that other programs of the machine have no influence.
    """
    work(max(1, size // 100))  # what is compiled or loaded once
    for _ in range(TRIES):
        large = _seconds(work, size)
        if large <= MOST * FLOOR or large <= MOST * _seconds(work, size // TIMES):
            return True
    return False


def _seconds(work: Callable[[int], object], size: int) -> float:
    begin = time.process_time()
    work(size)
    return time.process_time() - begin
