"""Check that the time of some work grows linearly with its input, without a limit in seconds."""

from __future__ import annotations

import time
from collections.abc import Callable

from disambig.markup import read_markup

FLOOR = 0.0003
"""Seconds of processor time below which a measurement is mostly noise.

Quadratic work of a few thousand steps takes longer: the smaller the floor, the smaller are the inputs.
"""
SIZE_RATIO, MAX_TIME_RATIO = 4, 9
"""Ratio of the sizes of two inputs, and maximum ratio of their times; that of quadratic work is 16."""
ATTEMPTS = 3


def grows_linearly(work: Callable[[int], object], size: int) -> bool:
    """Return True if `work(size)` takes at most `MAX_TIME_RATIO` times as long as for a quarter of the size.

    Only processor time of this process is measured, so that other programs have no influence.
    """
    work(max(1, size // 100))  # compile and load everything first
    for _ in range(ATTEMPTS):
        large = _seconds(work, size)
        if large <= MAX_TIME_RATIO * FLOOR or large <= MAX_TIME_RATIO * _seconds(work, size // SIZE_RATIO):
            return True
    return False


def reads_in_linear_time(path: str, mark: str, size: int, frame: str = "{}") -> bool:
    """Return True if reading a repeated mark in a document takes time linear in its length."""
    return grows_linearly(lambda n: read_markup(path, frame.replace("{}", mark * (n // len(mark)))), size)


def _seconds(work: Callable[[int], object], size: int) -> float:
    begin = time.process_time()
    work(size)
    return time.process_time() - begin
