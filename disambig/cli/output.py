"""Write results, messages and progress, and read input lines ahead."""

from __future__ import annotations

import codecs
import io
import logging
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from disambig.errors import UserError
from disambig.files import checked_writer, is_special, save_output, writing
from disambig.formatting import escape_control_chars

_UNITS = ("B", "kB", "MB", "GB", "TB")
ESTIMATE_AFTER = 2.0
"""Seconds between the first report of finished work and the first estimate of the time that is left."""


class ProgressRate:
    """Amount of work done in a stage, and its rate.

    The rate is measured from the first report of finished work on, because the time before it includes the
    start-up, such as loading models and compiling.

    `unit`: unit of the amount: ``"B"`` for bytes, a noun such as ``"n-grams"``, or an empty string.
    `clock`: returns the time in seconds.
    """

    def __init__(self, stage: str, unit: str = "", *, clock: Callable[[], float] = time.monotonic) -> None:
        self.stage, self.unit, self._clock = stage, unit, clock
        self.done = 0
        self.total: int | None = None
        self._first: tuple[float, int] | None = None
        self._last = (0.0, 0)

    def report(self, done: int, total: int | None) -> None:
        """Record the amount of work done so far."""
        self.done, self.total = done, total or None
        self._last = (self._clock(), done)
        if done and self._first is None:
            self._first = self._last

    def rate(self) -> float | None:
        """Return the amount of work per second, or None before the second report."""
        if self._first is None:
            return None
        seconds, amount = self._last[0] - self._first[0], self._last[1] - self._first[1]
        return amount / seconds if seconds > 0 and amount > 0 else None

    def seconds_left(self) -> float | None:
        """Return the estimated remaining seconds, or None if they are unknown.

        Workers that started together also report together: the interval between their reports says nothing.
        """
        rate = self.rate()
        if self._first is None or rate is None or self.total is None:
            return None
        if self._last[0] - self._first[0] < ESTIMATE_AFTER and self.done < self.total:
            return None
        return max(0.0, self.total - self.done) / rate

    def state(self) -> str:
        """Return amount, rate and remaining time as text; "" if there is nothing to show yet."""
        if not self.done and (self.total or 1) == 1:
            return ""
        of_total = "" if self.total is None else f" of {self._amount(self.total)}"
        pieces = [self._amount(self.done) + of_total]
        rate, seconds_left = self.rate(), self.seconds_left()
        if rate is not None and self.unit:
            pieces.append(f"{self._amount(rate)}/s")
        if seconds_left is not None:
            pieces.append(f"{format_duration(seconds_left)} left")
        return ", ".join(pieces)

    def line(self) -> str:
        """Return the stage and its state as one line."""
        return ": ".join(filter(None, [self.stage, self.state()]))

    def _amount(self, number: float) -> str:
        if self.unit == "B":
            return format_size(number)
        return f"{number:,.0f}{' ' if self.unit else ''}{self.unit}"


def format_size(number: float) -> str:
    """Return a number of bytes as text, such as ``1.2 GB``."""
    power = 0
    while number >= 999.5 and power < len(_UNITS) - 1:
        number /= 1000
        power += 1
    n_decimals = 0 if power == 0 or number >= 9.95 else 1
    return f"{number:.{n_decimals}f} {_UNITS[power]}"


def format_duration(seconds: float) -> str:
    """Return a duration as text, rounded to seconds or minutes."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02} min"


LINE_INTERVAL = 30.0
"""Seconds between two progress lines if standard error is not a terminal."""
Stages = Callable[[str, int, int], None]

_quiet = False
_active_meter: Meter | None = None


def begin_command() -> None:
    """Reset the settings of an earlier command in this process, and show messages about compilation.

    With ``DISAMBIG_TELL_COMPILING=0`` in the environment, they are not shown: some tests compare the whole
    output.
    """
    set_quiet(False)
    if os.environ.get("DISAMBIG_TELL_COMPILING") == "0":
        return
    logger = logging.getLogger("disambig.jit")
    if not any(isinstance(handler, _RemarkHandler) for handler in logger.handlers):
        logger.addHandler(_RemarkHandler())
        logger.setLevel(logging.INFO)
        logger.propagate = False


class _RemarkHandler(logging.Handler):
    """Show the log records of the library as remarks."""

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError, ValueError):
            remark(f"disambig: {record.getMessage()}")


def set_quiet(quiet: bool) -> None:
    """Show only problems and results for the rest of the command, as ``--quiet`` requests."""
    global _quiet
    _quiet = quiet


def say(line: str) -> None:
    """Write a message to standard error, on a line of its own even if a progress bar is shown."""
    if sys.stderr is None:
        return
    encoding, line = sys.stderr.encoding or "utf-8", escape_control_chars(line)
    with hidden_progress():
        sys.stderr.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")
        sys.stderr.flush()


def remark(line: str) -> None:
    """Write a message that is not about a problem to standard error, unless ``--quiet`` was given."""
    if not _quiet:
        say(line)


@contextmanager
def explain_interrupt() -> Iterator[None]:
    """Say how to resume the job if the user interrupts it."""
    try:
        yield
    except KeyboardInterrupt:
        say("disambig: interrupted; run the same command again to resume the job")
        raise


@contextmanager
def hidden_progress() -> Iterator[None]:
    """Hide the progress bar while something is written."""
    meter = _active_meter
    if meter is None:
        yield
        return
    meter.hide()
    try:
        yield
    finally:
        meter.unhide()


class Meter:
    """Show the progress of the stages of a command; this base class shows nothing."""

    def __init__(self) -> None:
        self._rate: ProgressRate | None = None

    def show(self, stage: str, done: int, total: int | None, *, unit: str = "") -> None:
        """Report that `done` of `total` units of a stage are finished; `total` is None if it is unknown."""
        if self._rate is None or self._rate.stage != stage:
            self._rate = ProgressRate(stage, unit)
        self._rate.report(done, total)
        self._draw(self._rate)

    def _draw(self, rate: ProgressRate) -> None:
        """Show the state of the current stage."""

    def hide(self) -> None:
        """Clear the progress bar, so that other output can be written."""

    def unhide(self) -> None:
        """Show the progress bar again."""

    def close(self) -> None:
        """Stop and remove the progress bar."""


class _LineMeter(Meter):
    """Print a line every `LINE_INTERVAL` seconds.

    A thread prints them, because much time may pass between two reports of progress.
    """

    def __init__(self) -> None:
        super().__init__()
        self._closed = threading.Event()
        self._start_time = time.monotonic()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._closed.wait(LINE_INTERVAL):
            state = self._rate.line() if self._rate is not None else "starting"
            with suppress(OSError, ValueError):  # standard error was closed: continue the work
                say(f"disambig: {state} ({time.monotonic() - self._start_time:,.0f} s)")

    def close(self) -> None:
        self._closed.set()
        self._thread.join()


class _BarMeter(Meter):
    """A progress bar on a terminal, drawn by rich and removed at the end."""

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self._bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[state]}", markup=False),
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task: Any = None
        self._stage = ""
        self._bars.start()

    def _draw(self, rate: ProgressRate) -> None:
        if self._stage != rate.stage:
            if self._task is not None:
                self._bars.remove_task(self._task)
            self._task = self._bars.add_task(rate.stage, total=rate.total, state="")
            self._stage = rate.stage
        total = None if rate.total == 1 else rate.total  # a single step gets an indeterminate bar
        self._bars.update(self._task, completed=rate.done, total=total, state=rate.state())

    def hide(self) -> None:
        self._bars.stop()

    def unhide(self) -> None:
        self._bars.start()

    def close(self) -> None:
        self._bars.stop()


def _make_meter() -> Meter:
    if _quiet or sys.stderr is None:
        return Meter()
    return _BarMeter() if sys.stderr.isatty() else _LineMeter()


@contextmanager
def progress() -> Iterator[Meter]:
    """Show progress during the block; nested calls share one meter."""
    global _active_meter
    if _active_meter is not None:
        yield _active_meter
        return
    _active_meter = meter = _make_meter()
    try:
        yield meter
    finally:
        _active_meter = None
        meter.close()


SHOWN_AFTER = 1.0
"""Seconds of work after which `LateProgress` shows the progress."""
SHOWN_FROM = 200_000
"""Characters of a batch for which `LateProgress` shows the progress at once."""


class LateProgress(AbstractContextManager["LateProgress"]):
    """Show the progress of a stage, but not that of short runs, which would only start more slowly."""

    def __init__(self, stage: str, unit: str) -> None:
        self._stage, self._unit = stage, unit
        self._begin = time.monotonic()
        self._meter: Meter | None = None
        self._stack = ExitStack()

    def update(self, done: int, next_characters: int) -> None:
        """Report what is done, and the size of the text that comes next."""
        is_long = next_characters >= SHOWN_FROM or time.monotonic() - self._begin > SHOWN_AFTER
        if self._meter is None and is_long:
            self._meter = self._stack.enter_context(progress())
        if self._meter is not None:
            self._meter.show(self._stage, done, None, unit=self._unit)

    def __exit__(self, *_: object) -> None:
        """Remove the progress bar."""
        self._stack.close()


@contextmanager
def stages() -> Iterator[Stages]:
    """Yield a progress callback ``(stage, done, total)``."""
    with progress() as meter:
        yield lambda stage, done, total: meter.show(stage, done, total)


MAX_NOTES = 20


def note_printer() -> Callable[[str], None]:
    """Return a function that prints one note per call, at most `MAX_NOTES` of them."""
    n_notes = 0

    def print_note(message: str) -> None:
        nonlocal n_notes
        n_notes += 1
        if n_notes <= MAX_NOTES:
            say(f"note: {message}")
        elif n_notes == MAX_NOTES + 1:
            say("note: further notes are not shown")

    return print_note


_MAX_BLOCKS = 8
"""Maximum number of blocks that are read ahead."""
_END = object()
Line = tuple[str, str]


def is_typed(paths: Sequence[str] | None) -> bool:
    """Return True if the input is typed at a terminal."""
    stdin = sys.stdin
    return (not paths or "-" in paths) and stdin is not None and stdin.isatty()


def is_terminal() -> bool:
    """Return True if standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def check_stdout() -> None:
    """Raise an error if the command was started without standard output. Raises D309."""
    if sys.stdout is None or isinstance(sys.stdout, _ClosedOutput):
        raise UserError("D309", path="standard output", problem="it is closed")


def check_takes_bytes(format_name: str) -> None:
    """Check that a binary format can be written to standard output.

    Raises D603 if it is a terminal, or takes only text; D309 if it is closed.
    """
    check_stdout()
    if is_terminal() or not hasattr(sys.stdout, "buffer"):
        raise UserError("D603", format=format_name)


class _TextOutput:
    """Writes bytes to a standard output that takes only text, such as that of a notebook."""

    def __init__(self) -> None:
        # Characters may be divided among writes, and bytes of a text may be invalid UTF-8.
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def write(self, data: bytes) -> None:
        """Write UTF-8; bytes that are not UTF-8 are escaped."""
        sys.stdout.write(self._decoder.decode(data))

    def flush(self) -> None:
        """Write what remains of an incomplete character, and flush standard output."""
        sys.stdout.write(self._decoder.decode(b"", final=True))
        sys.stdout.flush()


def _byte_output() -> Any:
    """Return a stream of standard output that takes bytes."""
    return getattr(sys.stdout, "buffer", None) or _TextOutput()


class _ClosedOutput(io.TextIOBase):
    """Standard output of a command that was started without one: no output may be lost silently."""

    encoding = "utf-8"
    errors = "strict"

    def write(self, text: str) -> int:
        """Raise D309, except for an empty text."""
        if text:
            check_stdout()
        return 0


@contextmanager
def refuse_closed_stdout() -> Iterator[None]:
    """Let every command fail with D309 if it writes to a standard output that is closed."""
    if sys.stdout is not None:
        yield
        return
    sys.stdout = _ClosedOutput()
    try:
        yield
    finally:
        sys.stdout = None


def line_blocks(lines: Iterable[Line], size: int = 512) -> Iterator[list[Line]]:
    """Yield blocks of 1 to `size` lines; a block has all lines that are available when it is requested.

    A thread reads ahead, so that a program that writes one line and waits for the answer gets it at once. An
    exception of the reader is raised here, after the lines that were read before it.
    """
    pending: queue.Queue[object] = queue.Queue(_MAX_BLOCKS * size)
    stopped = threading.Event()

    def read() -> None:
        stdin = sys.stdin  # a reference keeps it open if Python exits while this thread reads
        try:
            for line in lines:
                pending.put(line)  # waits while the queue is full, which limits how much is read ahead
                if stopped.is_set():
                    return
            pending.put(_END)
        except BaseException as error:
            pending.put(error)
        del stdin

    threading.Thread(target=read, daemon=True).start()
    try:
        end: object = None  # `_END` or an exception, which is the last item
        while end is None:
            items = [pending.get()]
            with suppress(queue.Empty):
                while len(items) < size:
                    items.append(pending.get_nowait())
            block = [item for item in items if isinstance(item, tuple)]
            end = None if len(block) == len(items) else items[-1]
            if block:
                yield block
        if isinstance(end, BaseException):
            raise end
    finally:
        stopped.set()
        while not pending.empty():  # make room: the thread may be waiting to put a line, and then ends
            pending.get_nowait()


class StandardOutput:
    """Write results to standard output and messages to standard error."""

    def result(self, text: str, *, encoding: str = "utf-8") -> None:
        """Write to standard output; on a terminal, with control characters escaped and in UTF-8.

        Raises D309 if it is closed or full.
        """
        if not text:
            return
        check_stdout()
        if sys.stdout.isatty():
            text = escape_control_chars(text, lines=True)
        if sys.stdout.isatty() or not hasattr(sys.stdout, "buffer"):
            encoding = "utf-8"
        data = text.encode(encoding, "surrogateescape")
        with writing("standard output"), hidden_progress():
            sys.stdout.flush()
            output = _byte_output()
            output.write(data)
            output.flush()

    def remark(self, text: str) -> None:
        """Write a message that is not about a problem to standard error, unless ``--quiet`` was given."""
        if not _quiet:
            self.note(text)

    def note(self, text: str) -> None:
        """Write to standard error, if it is open."""
        if sys.stderr is not None:
            with hidden_progress():
                sys.stderr.write(escape_control_chars(text, lines=True))


@contextmanager
def open_results(output: Path | None, *, force: bool = False) -> Iterator[Callable[[str], None]]:
    """Yield a function that writes text to a file, or to standard output with the progress bar hidden.

    See `open_output` for existing files and errors.
    """
    if output is None:
        yield StandardOutput().result
        return
    with open_output(output, force=force) as write:

        def keep(text: str) -> None:
            write(text.encode("utf-8", "surrogateescape"))

        yield keep


@contextmanager
def open_output(output: Path | None, *, force: bool = False) -> Iterator[Callable[[bytes], object]]:
    """Yield a function that writes bytes to a file, or to standard output.

    A file is written atomically; pipes and devices are written directly.

    Raises D309 if the output cannot be written, D310 if the file exists, unless `force` is set.
    """
    if output is None:
        check_stdout()
        byte_output = _byte_output()
        yield checked_writer(byte_output, "standard output")
        with writing("standard output"):
            byte_output.flush()
        return
    if output.exists() and not force and not is_special(output):
        raise UserError("D310", path=output)
    with save_output(output) as write:
        yield write
