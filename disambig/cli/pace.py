"""How fast one stage of work goes and how long it still takes, in words for people. No terminal here."""

from __future__ import annotations

import time
from collections.abc import Callable

_UNITS = ("B", "kB", "MB", "GB", "TB")


class Pace:
    """What is done of a stage, and since when.

    The rate counts from the first report of something done: before it lies the start-up, such as loading
    models and compiling, which the rest does not need again.

    Parameters
    ----------
    stage : str
    unit : str
        What is counted: ``"B"`` for bytes, a noun such as ``"n-grams"``, or nothing.
    clock : callable
        Returns seconds (for tests).
    """

    def __init__(self, stage: str, unit: str = "", *, clock: Callable[[], float] = time.monotonic) -> None:
        self.stage, self.unit, self._clock = stage, unit, clock
        self.done = 0
        self.total: int | None = None
        self._first: tuple[float, int] | None = None
        self._last = (0.0, 0)

    def report(self, done: int, total: int | None) -> None:
        """Take in how much is done."""
        self.done, self.total = done, total or None
        self._last = (self._clock(), done)
        if done and self._first is None:
            self._first = self._last

    def rate(self) -> float | None:
        """Return what is done a second, once two reports tell."""
        if self._first is None:
            return None
        seconds, more = self._last[0] - self._first[0], self._last[1] - self._first[1]
        return more / seconds if seconds > 0 and more > 0 else None

    def left(self) -> float | None:
        """Return the seconds that are left, once they can be told."""
        rate = self.rate()
        if rate is None or self.total is None:
            return None
        return max(0.0, self.total - self.done) / rate

    def state(self) -> str:
        """Return what is done, the rate and the time left; nothing of one piece of work of unknown size."""
        if not self.done and (self.total or 1) == 1:
            return ""
        said = [self._amount(self.done)]
        if self.total is not None:
            said[0] = f"{said[0]} of {self._amount(self.total)}"
        rate, left = self.rate(), self.left()
        if rate is not None and self.unit:
            said.append(f"{self._amount(rate)}/s")
        if left is not None:
            said.append(f"{duration(left)} left")
        return ", ".join(said)

    def said(self) -> str:
        """Return stage and state on one line."""
        return ": ".join(filter(None, [self.stage, self.state()]))

    def _amount(self, number: float) -> str:
        if self.unit == "B":
            return size(number)
        return f"{number:,.0f}{' ' if self.unit else ''}{self.unit}"


def size(number: float) -> str:
    """Return a number of bytes for people."""
    power = 0
    while number >= 999.5 and power < len(_UNITS) - 1:
        number /= 1000
        power += 1
    return (
        f"{number:.0f} {_UNITS[power]}" if power == 0 or number >= 9.95 else f"{number:.1f} {_UNITS[power]}"
    )


def duration(seconds: float) -> str:
    """Return a time for people, no more exact than such a guess is."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02} min"
