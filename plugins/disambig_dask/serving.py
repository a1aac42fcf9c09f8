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

_LONG = 20  # characters of a digest that are shown


def expected_environment(work: Work) -> dict[str, Any]:
    """Return what each worker must say."""
    described = work.describe() if isinstance(work, DescribesWork) else {}
    return {"the version of disambig": version("disambig"), **described}


def check_environment(expected: Mapping[str, Any], seen: Mapping[str, Any], address: str) -> None:
    """Make sure that a worker said what was expected.

    Raises
    ------
    UserError
        D856 with the first difference.
    """
    here, there = dict(_flatten(expected)), dict(_flatten(seen))
    for what in here | there:
        ours, theirs = here.get(what), there.get(what)
        if ours != theirs:
            raise UserError("D856", address=address, what=what, there=_shorten(theirs), here=_shorten(ours))


def _flatten(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{before}{name}, ")
        else:
            yield f"{before}{name}", list(value) if isinstance(value, tuple) else value


def _shorten(value: Any) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 3 * _LONG else f"{text[:_LONG]}..."


@contextmanager
def forward_logs(levels: Mapping[str, int], say: Callable[[str, Any], None]) -> Iterator[None]:
    """Send what these loggers say in the block as ``say("log", [name, level, message])``, nowhere else."""
    handler = _LogSender(say)
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
    def __init__(self, say: Callable[[str, Any], None]) -> None:
        super().__init__()
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        self._say("log", [record.name, record.levelno, record.getMessage()])


TOPIC = "disambig"
_EVERY = 0.2  # seconds between two messages of how far an item is
_alone = threading.Lock()  # one item at a time in a process: memory is planned for one, and so is the folder


@dataclass(frozen=True, slots=True)
class WorkSetup:
    """What a worker is to hold: the work, where relative paths begin, who hears of it."""

    run: str
    work: Work
    folder: str
    levels: dict[str, int]


@dataclass(frozen=True, slots=True)
class ItemRequest:
    """One try of one item; `number` is that of the try."""

    number: int
    item: Any
    timeout: float | None


@dataclass(frozen=True, slots=True)
class ItemResult:
    """What came of it: "done", "user error", "bug" or "left", and how much was told on the way."""

    kind: str
    value: Any = None
    n_messages: int = 0


class LoadedWork:
    """The work on one worker, and what is done to items once it is started.

    Moved or stored elsewhere by Dask it is the work alone, and starts again there.
    """

    def __init__(self, begin: WorkSetup) -> None:
        self.begin = begin
        self._function: Function | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return LoadedWork, (self.begin,)

    def function(self) -> Function:
        """Return what is done to each item; load what it needs if this is the first time."""
        if self._function is None:
            self._function = self.begin.work.start()
        return self._function


class ItemAbandoned(BaseException):
    """Ends an item that nobody waits for any more; no handler of a work's own may swallow it."""


def load_work(begin: WorkSetup) -> LoadedWork:
    """Return what lies on a worker as long as the job lasts."""
    return LoadedWork(begin)


def start_work(held: LoadedWork, describe: bool) -> ItemResult:
    """Load what the work needs; the answer's value says what it depends on here, if it is to be told."""
    begin = held.begin
    with _alone, _working_directory(begin.folder), forward_logs(begin.levels, _message_sender(begin.run)):
        try:
            work = begin.work
            seen = expected_environment(work) if describe else {}
            held.function()
            return ItemResult("done", seen)
        except UserError as problem:
            return ItemResult("user error", problem)
        except Exception:
            return ItemResult("bug", traceback.format_exc())


def process_item(held: LoadedWork, order: ItemRequest) -> ItemResult:
    """Work on one item; a worker that takes too long for it ends itself."""
    begin = held.begin
    say = _message_sender(begin.run)
    with (
        _alone,
        _working_directory(begin.folder),
        forward_logs(begin.levels, say),
        _exit_after(order.timeout),
    ):
        amount, last = 0, time.monotonic()
        wanted = _is_wanted_function()

        def tell(done: int) -> None:
            nonlocal amount, last
            if not wanted():
                raise ItemAbandoned
            amount = max(amount, done)
            if time.monotonic() - last >= _EVERY:
                last = time.monotonic()
                say("part", [order.number, amount])

        try:
            if not wanted():
                raise ItemAbandoned
            say("part", [order.number, 0])
            result = held.function()(order.item, tell)
            return ItemResult("done", result, amount)
        except ItemAbandoned:
            return ItemResult("left")
        except UserError as problem:
            return ItemResult("user error", problem, amount)
        except Exception:
            return ItemResult("bug", traceback.format_exc(), amount)


def _message_sender(run: str) -> Any:
    """Return the function that sends (kind, value) to the clients; plain values only."""
    from distributed import get_worker

    worker = get_worker()

    def say(kind: str, value: Any) -> None:
        worker.log_event(TOPIC, [run, kind, value])

    return say


def _is_wanted_function() -> Any:
    """Return the function that tells whether somebody still waits for the task in which this is called."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state == "executing"

    return wanted


@contextmanager
def _working_directory(path: str) -> Iterator[None]:
    """Be in the client's folder, if there is one of that name here, so that relative paths mean the same."""
    before = os.getcwd()
    with suppress(OSError):
        os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def _exit_after(seconds: float | None) -> Iterator[None]:
    """End this process if the block takes longer, even in compiled code that lets no other thread run."""
    if seconds is None:
        yield
        return
    with open(os.devnull, "w") as nowhere:
        faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
