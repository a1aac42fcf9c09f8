"""How far a command is, on standard error: one look for all commands, and never in the way of output.

On a terminal a bar, which is taken away before a line of output or a message is written (`clear`, `say`);
without one a line every `EVERY` seconds; nothing under ``--quiet``. The work itself only calls back with
(stage, done, total): nothing here is known to it.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from disambig.cli.pace import Pace
from disambig.visible import visible

COMPILING = "disambig.compiling"
"""The logger that tells when code is compiled (see `disambig.compiling`)."""
EVERY = 30.0
"""Seconds between two lines where no terminal is."""
Stages = Callable[[str, int, int], None]

_quiet = False
_shown: Meter | None = None


def begin() -> None:
    """Begin a command: what another one in this process was told is forgotten; compiling is told of.

    With ``DISAMBIG_TELL_COMPILING=0`` in the environment it is not: so in tests of all that is said.
    """
    hush(False)
    if os.environ.get("DISAMBIG_TELL_COMPILING") == "0":
        return
    log = logging.getLogger(COMPILING)
    if not any(isinstance(handler, _Remarks) for handler in log.handlers):
        log.addHandler(_Remarks())
        log.setLevel(logging.INFO)
        log.propagate = False


class _Remarks(logging.Handler):
    """Passes on what the library logs."""

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError, ValueError):
            remark(f"disambig: {record.getMessage()}")


def hush(quiet: bool) -> None:
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
    encoding, line = sys.stderr.encoding or "utf-8", visible(line)
    with clear():
        sys.stderr.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")
        sys.stderr.flush()


def remark(line: str) -> None:
    """Write what is good to know and no problem: nothing under ``--quiet``."""
    if not _quiet:
        say(line)


@contextmanager
def clear() -> Iterator[None]:
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
        self._pace: Pace | None = None

    def show(self, stage: str, done: int, total: int | None, *, unit: str = "") -> None:
        """Tell that of a stage so much is done, of so much if that is known; unit: ``"B"`` for bytes."""
        if self._pace is None or self._pace.stage != stage:
            self._pace = Pace(stage, unit)
        self._pace.report(done, total)
        self._draw(self._pace)

    def _draw(self, pace: Pace) -> None:
        """Show the state; nothing under ``--quiet``."""

    def hide(self) -> None:
        """Clear the line that output may go to."""

    def unhide(self) -> None:
        """Show again what was hidden."""

    def close(self) -> None:
        """End, nothing left behind."""


class _Lines(Meter):
    """A line every `EVERY` seconds, from a thread of its own: work may be long without a call back."""

    def __init__(self) -> None:
        super().__init__()
        self._ended = threading.Event()
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ended.wait(EVERY):
            said = self._pace.said() if self._pace is not None else "starting"
            with suppress(OSError, ValueError):  # nobody reads any more: the work goes on
                say(f"disambig: {said} ({time.monotonic() - self._began:,.0f} s)")

    def close(self) -> None:
        self._ended.set()
        self._thread.join()


class _Bar(Meter):
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

    def _draw(self, pace: Pace) -> None:
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
    return _Bar() if sys.stderr.isatty() else _Lines()


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
