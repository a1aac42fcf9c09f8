"""What runs on a worker: check its environment, load the work once, process items, and forward logs."""

from __future__ import annotations

import faulthandler
import logging
import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from disambig.api import UserError
from disambig.api.runners import DescribesWork, Function, Work

_DIGEST_START = 20  # characters of a digest that are shown


def expected_environment(work: Work) -> dict[str, Any]:
    """Return the environment that each worker must report."""
    described = work.describe() if isinstance(work, DescribesWork) else {}
    return {"the version of disambig": version("disambig"), **described}


def check_environment(expected: Mapping[str, Any], seen: Mapping[str, Any], address: str) -> None:
    """Check that a worker reports the expected environment. Raises D856 with the first difference."""
    expected_values, reported = dict(_flatten(expected)), dict(_flatten(seen))
    for key in expected_values | reported:
        ours, theirs = expected_values.get(key), reported.get(key)
        if ours != theirs:
            raise UserError("D856", address=address, what=key, there=_shorten(theirs), here=_shorten(ours))


def _flatten(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{before}{name}, ")
        else:
            yield f"{before}{name}", list(value) if isinstance(value, tuple) else value


def _shorten(value: Any) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 3 * _DIGEST_START else f"{text[:_DIGEST_START]}..."


@contextmanager
def forward_logs(levels: Mapping[str, int], send: Callable[[str, Any], None]) -> Iterator[None]:
    """Redirect the records of these loggers to ``send("log", [name, level, message])`` in the block."""
    handler = _LogSender(send)
    before = []
    for name, level in levels.items():
        log = logging.getLogger(name)
        before.append((log, log.level, log.handlers, log.propagate))
        log.setLevel(level)
        log.handlers, log.propagate = [handler], False
    try:
        yield
    finally:
        for log, level, handlers, propagate in before:
            log.setLevel(level)
            log.handlers, log.propagate = handlers, propagate


class _LogSender(logging.Handler):
    def __init__(self, send: Callable[[str, Any], None]) -> None:
        super().__init__()
        self._send = send

    def emit(self, record: logging.LogRecord) -> None:
        self._send("log", [record.name, record.levelno, record.getMessage()])


TOPIC = "disambig"
_PROGRESS_SECONDS = 0.2  # between two progress messages of an item
# One item at a time per process: memory is planned for one, and the working directory is global.
_one_item_at_a_time = threading.Lock()


@dataclass(frozen=True, slots=True)
class WorkSetup:
    """What a worker has to load: the work, the client's working directory, and the run to report to."""

    run: str
    work: Work
    folder: str
    levels: dict[str, int]


@dataclass(frozen=True, slots=True)
class ItemRequest:
    """One attempt at one item; `number` is that of the attempt."""

    number: int
    item: Any
    timeout: float | None


@dataclass(frozen=True, slots=True)
class ItemResult:
    """Result of an attempt: "done", "user error", "bug" or "left" (abandoned), and its progress."""

    kind: str
    value: Any = None
    n_messages: int = 0


class LoadedWork:
    """The work on one worker, and the function for its items once it has been started.

    Pickled by Dask it is the work alone, and is started again after it is loaded.
    """

    def __init__(self, setup: WorkSetup) -> None:
        self.setup = setup
        self._function: Function | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return LoadedWork, (self.setup,)

    def function(self) -> Function:
        """Return the function that processes an item; the first call loads what it needs."""
        if self._function is None:
            self._function = self.setup.work.start()
        return self._function


class ItemAbandoned(BaseException):
    """Ends an abandoned item; a BaseException, so that no handler inside the work catches it."""


def load_work(setup: WorkSetup) -> LoadedWork:
    """Return the object that stays on a worker for the duration of the job."""
    return LoadedWork(setup)


def start_work(loaded: LoadedWork, describe: bool) -> ItemResult:
    """Load what the work needs; the result's value is the worker's environment, if `describe` is set."""
    setup = loaded.setup
    with (
        _one_item_at_a_time,
        _working_directory(setup.folder),
        forward_logs(setup.levels, _make_sender(setup.run)),
    ):
        try:
            seen = expected_environment(setup.work) if describe else {}
            loaded.function()
            return ItemResult("done", seen)
        except UserError as problem:
            return ItemResult("user error", problem)
        except Exception:
            return ItemResult("bug", traceback.format_exc())


def process_item(loaded: LoadedWork, request: ItemRequest) -> ItemResult:
    """Process one item; a worker that exceeds the timeout ends itself.

    Whether the item is still wanted is asked before it begins, and with each report of progress.
    """
    setup = loaded.setup
    send = _make_sender(setup.run)
    with (
        _one_item_at_a_time,
        _working_directory(setup.folder),
        forward_logs(setup.levels, send),
        _exit_after(request.timeout),
    ):
        n_done, last = 0, time.monotonic()
        is_wanted = _make_is_wanted()

        def report_progress(done: int) -> None:
            nonlocal n_done, last
            if not is_wanted():
                raise ItemAbandoned
            n_done = max(n_done, done)
            if time.monotonic() - last >= _PROGRESS_SECONDS:
                last = time.monotonic()
                send("part", [request.number, n_done])

        try:
            if not is_wanted():
                raise ItemAbandoned
            send("part", [request.number, 0])
            result = loaded.function()(request.item, report_progress)
            return ItemResult("done", result, n_done)
        except ItemAbandoned:
            return ItemResult("left")
        except UserError as problem:
            return ItemResult("user error", problem, n_done)
        except Exception:
            return ItemResult("bug", traceback.format_exc(), n_done)


def _make_sender(run: str) -> Callable[[str, Any], None]:
    """Return a function that sends (kind, value) to the clients; values must be plain."""
    from distributed import get_worker

    worker = get_worker()

    def send(kind: str, value: Any) -> None:
        worker.log_event(TOPIC, [run, kind, value])

    return send


def _make_is_wanted() -> Callable[[], bool]:
    """Return a function that returns True as long as the client waits for the current task."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def is_wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state == "executing"

    return is_wanted


@contextmanager
def _working_directory(path: str) -> Iterator[None]:
    """Change to the client's working directory, if it exists here, so that relative paths mean the same."""
    before = os.getcwd()
    with suppress(OSError):
        os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def _exit_after(seconds: float | None) -> Iterator[None]:
    """End this process if the block takes longer, even in compiled code that holds the interpreter lock."""
    if seconds is None:
        yield
        return
    with open(os.devnull, "w") as nowhere:
        faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
