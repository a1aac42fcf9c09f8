"""Progress and notes on standard error."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from disambig.formatting import escape_control_chars

_UNITS = ("B", "kB", "MB", "GB", "TB")


class ProgressRate:
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
            said.append(f"{format_duration(left)} left")
        return ", ".join(said)

    def line(self) -> str:
        """Return stage and state on one line."""
        return ": ".join(filter(None, [self.stage, self.state()]))

    def _amount(self, number: float) -> str:
        if self.unit == "B":
            return format_size(number)
        return f"{number:,.0f}{' ' if self.unit else ''}{self.unit}"


def format_size(number: float) -> str:
    """Return a number of bytes for people."""
    power = 0
    while number >= 999.5 and power < len(_UNITS) - 1:
        number /= 1000
        power += 1
    return (
        f"{number:.0f} {_UNITS[power]}" if power == 0 or number >= 9.95 else f"{number:.1f} {_UNITS[power]}"
    )


def format_duration(seconds: float) -> str:
    """Return a time for people, no more exact than such a guess is."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02} min"


COMPILING = "disambig.jit"
"""The logger that tells when code is compiled (see `disambig.jit`)."""
EVERY = 30.0
"""Seconds between two lines where no terminal is."""
Stages = Callable[[str, int, int], None]

_quiet = False
_shown: Meter | None = None


def begin_command() -> None:
    """Begin a command: what another one in this process was told is forgotten; compiling is told of.

    With ``DISAMBIG_TELL_COMPILING=0`` in the environment it is not: so in tests of all that is said.
    """
    set_quiet(False)
    if os.environ.get("DISAMBIG_TELL_COMPILING") == "0":
        return
    log = logging.getLogger(COMPILING)
    if not any(isinstance(handler, _RemarkHandler) for handler in log.handlers):
        log.addHandler(_RemarkHandler())
        log.setLevel(logging.INFO)
        log.propagate = False


class _RemarkHandler(logging.Handler):
    """Passes on what the library logs."""

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError, ValueError):
            remark(f"disambig: {record.getMessage()}")


def set_quiet(quiet: bool) -> None:
    """Keep the rest of the command to problems and results, as ``--quiet`` asks."""
    global _quiet
    _quiet = quiet


def is_quiet() -> bool:
    """Tell whether ``--quiet`` was asked for."""
    return _quiet


def say(line: str) -> None:
    """Write a message to standard error, on a line of its own whatever is shown there."""
    if sys.stderr is None:
        return
    encoding, line = sys.stderr.encoding or "utf-8", escape_control_chars(line)
    with hidden_progress():
        sys.stderr.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")
        sys.stderr.flush()


def remark(line: str) -> None:
    """Write what is good to know and no problem: nothing under ``--quiet``."""
    if not _quiet:
        say(line)


@contextmanager
def hidden_progress() -> Iterator[None]:
    """Take the bar away for the time of some output."""
    shown = _shown
    if shown is None:
        yield
        return
    shown.hide()
    try:
        yield
    finally:
        shown.unhide()


class Meter:
    """Shows one stage of work after the other."""

    def __init__(self) -> None:
        self._pace: ProgressRate | None = None

    def show(self, stage: str, done: int, total: int | None, *, unit: str = "") -> None:
        """Tell that of a stage so much is done, of so much if that is known; unit: ``"B"`` for bytes."""
        if self._pace is None or self._pace.stage != stage:
            self._pace = ProgressRate(stage, unit)
        self._pace.report(done, total)
        self._draw(self._pace)

    def _draw(self, pace: ProgressRate) -> None:
        """Show the state; nothing under ``--quiet``."""

    def hide(self) -> None:
        """Clear the line that output may go to."""

    def unhide(self) -> None:
        """Show again what was hidden."""

    def close(self) -> None:
        """End, nothing left behind."""


class _LineMeter(Meter):
    """A line every `EVERY` seconds, from a thread of its own: work may be long without a call back."""

    def __init__(self) -> None:
        super().__init__()
        self._ended = threading.Event()
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ended.wait(EVERY):
            said = self._pace.line() if self._pace is not None else "starting"
            with suppress(OSError, ValueError):  # nobody reads any more: the work goes on
                say(f"disambig: {said} ({time.monotonic() - self._began:,.0f} s)")

    def close(self) -> None:
        self._ended.set()
        self._thread.join()


class _BarMeter(Meter):
    """A bar on a terminal, drawn by rich, which goes when the work is done."""

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self._bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[said]}", markup=False),
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task: Any = None
        self._stage = ""
        self._bars.start()

    def _draw(self, pace: ProgressRate) -> None:
        if self._stage != pace.stage:
            if self._task is not None:
                self._bars.remove_task(self._task)
            self._task = self._bars.add_task(pace.stage, total=pace.total, said="")
            self._stage = pace.stage
        total = None if pace.total == 1 else pace.total  # one piece: the bar only shows that work goes on
        self._bars.update(self._task, completed=pace.done, total=total, said=pace.state())

    def hide(self) -> None:
        self._bars.stop()

    def unhide(self) -> None:
        self._bars.start()

    def close(self) -> None:
        self._bars.stop()


def _meter() -> Meter:
    if _quiet or sys.stderr is None:
        return Meter()
    return _BarMeter() if sys.stderr.isatty() else _LineMeter()


@contextmanager
def progress() -> Iterator[Meter]:
    """Show progress for the time of the work; nested calls share what is shown."""
    global _shown
    if _shown is not None:
        yield _shown
        return
    _shown = meter = _meter()
    try:
        yield meter
    finally:
        _shown = None
        meter.close()


@contextmanager
def stages() -> Iterator[Stages]:
    """Yield a callback ``(stage, done, total)``; `done` items are finished."""
    with progress() as meter:
        yield lambda stage, done, total: meter.show(stage, done, total)


MOST_NOTES = 20


def note_printer() -> Callable[[str], None]:
    """Return what prints a note a call, and after `MOST` of them that there are more."""
    said = 0

    def tell(message: str) -> None:
        nonlocal said
        said += 1
        if said <= MOST_NOTES:
            say(f"note: {message}")
        elif said == MOST_NOTES + 1:
            say("note: more like these are not shown")

    return tell
