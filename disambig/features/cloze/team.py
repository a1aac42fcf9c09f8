"""Threads over parts of a work. The parts are the same for any number of threads, and so is every bit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

PARTS = 4
"""Of rows: never of how many threads there are, for the sums of matrix products depend on their sizes."""


class Team:
    """Some threads that work at once; what they call must release the GIL and write to its own part alone."""

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def each(self, work: Callable[[Any], object], parts: Iterable[Any]) -> None:
        """Call `work` with each part."""
        if self._pool is None:
            for part in parts:
                work(part)
        else:
            list(self._pool.map(work, parts))

    def rows(self, work: Callable[[slice], object], n: int) -> None:
        """Call `work` with slices that cover n rows."""
        self.each(work, [slice(i * n // PARTS, (i + 1) * n // PARTS) for i in range(PARTS)])

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()
