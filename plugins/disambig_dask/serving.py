"""What happens on a worker of Dask: the work is begun once, then done to one item after the other.

`Held` lies on the worker as the result of a task, so that Dask lets go of it, models and all, when the job's
client is gone, however that ended. Nothing here knows the client's side but by the values sent.
"""

from __future__ import annotations

import faulthandler
import os
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from disambig.api import UserError
from disambig.api.runners import Function, Work
from disambig_dask.likeness import expected_of
from disambig_dask.worker_logs import heard

TOPIC = "disambig"
_EVERY = 0.2  # seconds between two messages of how far an item is
_alone = threading.Lock()  # one item at a time in a process: memory is planned for one, and so is the folder


@dataclass(frozen=True, slots=True)
class Begin:
    """What a worker is to hold: the work, where relative paths begin, who hears of it."""

    run: str
    work: Work
    folder: str
    levels: dict[str, int]


@dataclass(frozen=True, slots=True)
class Order:
    """One try of one item; `number` is that of the try."""

    number: int
    item: Any
    timeout: float | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of it: "done", "user error", "bug" or "left", and how much was told on the way."""

    kind: str
    value: Any = None
    told: int = 0


class Held:
    """The work on one worker, and what is done to items once it is started.

    Moved or stored elsewhere by Dask it is the work alone, and starts again there.
    """

    def __init__(self, begin: Begin) -> None:
        self.begin = begin
        self._function: Function | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Held, (self.begin,)

    def function(self) -> Function:
        """Return what is done to each item; load what it needs if this is the first time."""
        if self._function is None:
            self._function = self.begin.work.start()
        return self._function


class Left(BaseException):
    """Ends an item that nobody waits for any more; no handler of a work's own may swallow it."""


def hold(begin: Begin) -> Held:
    """Return what lies on a worker as long as the job lasts."""
    return Held(begin)


def started(held: Held, describe: bool) -> Answer:
    """Load what the work needs; the answer's value says what it depends on here, if it is to be told."""
    begin = held.begin
    with _alone, _folder(begin.folder), heard(begin.levels, _teller(begin.run)):
        try:
            work = begin.work
            seen = expected_of(work) if describe else {}
            held.function()
            return Answer("done", seen)
        except UserError as problem:
            return Answer("user error", problem)
        except Exception:
            return Answer("bug", traceback.format_exc())


def done(held: Held, order: Order) -> Answer:
    """Work on one item; a worker that takes too long for it ends itself."""
    begin = held.begin
    say = _teller(begin.run)
    with _alone, _folder(begin.folder), heard(begin.levels, say), _ends_after(order.timeout):
        amount, last = 0, time.monotonic()
        wanted = _wanted()

        def tell(done: int) -> None:
            nonlocal amount, last
            if not wanted():
                raise Left
            amount = max(amount, done)
            if time.monotonic() - last >= _EVERY:
                last = time.monotonic()
                say("part", [order.number, amount])

        try:
            if not wanted():
                raise Left
            say("part", [order.number, 0])
            result = held.function()(order.item, tell)
            return Answer("done", result, amount)
        except Left:
            return Answer("left")
        except UserError as problem:
            return Answer("user error", problem, amount)
        except Exception:
            return Answer("bug", traceback.format_exc(), amount)


def _teller(run: str) -> Any:
    """Return the function that sends (kind, value) to the clients; plain values only."""
    from distributed import get_worker

    worker = get_worker()

    def say(kind: str, value: Any) -> None:
        worker.log_event(TOPIC, [run, kind, value])

    return say


def _wanted() -> Any:
    """Return the function that tells whether somebody still waits for the task in which this is called."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state == "executing"

    return wanted


@contextmanager
def _folder(path: str) -> Iterator[None]:
    """Be in the client's folder, if there is one of that name here, so that relative paths mean the same."""
    before = os.getcwd()
    with suppress(OSError):
        os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def _ends_after(seconds: float | None) -> Iterator[None]:
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
