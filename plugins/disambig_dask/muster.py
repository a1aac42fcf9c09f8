"""Getting workers ready: each is given the work once, must have what this process has, and loads it.

Before the first item is sent, all workers that are there are heard. One that comes later and is not fit is
left out, with a word in the log.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from disambig.api import UserError
from disambig.api.runners import last_line
from disambig_dask.crew import Crew, Worker
from disambig_dask.likeness import check_alike, expected_of
from disambig_dask.serving import Answer, Begin, hold, started
from disambig_dask.session import News, Session

if TYPE_CHECKING:
    from disambig_dask.engine import Dask

_ENDS = 3  # workers that end while they load, before any was ready
_DEPTH = 2
_log = logging.getLogger("disambig.dask")


@dataclass(slots=True)
class Muster:
    """Who is there, and how far each is."""

    engine: Dask
    session: Session
    crew: Crew
    begin: Begin
    numbers: Iterator[int]
    open: bool = False  # the first item may be sent, or was
    seen: bool = False
    ended: int = 0  # workers that were never ready
    starting: dict[int, Worker] = field(default_factory=dict)
    expected: dict[str, Any] | None = None
    lonely: float = field(default_factory=time.monotonic)

    def complete(self) -> bool:
        """Tell whether items may be sent: all workers that are there are ready, or it has begun already."""
        crew = self.crew.workers
        if not self.open and len(crew) >= self.engine.workers and not self.starting:
            self.open = bool(self.crew.usable)
        return self.open

    def workers(self, found: Mapping[str, tuple[str, Mapping[str, Any]]]) -> list[Worker]:
        """Take in which workers there are now, and return those that are no more.

        Raises
        ------
        UserError
            D858 where workers end before any was ready.
        """
        crew = self.crew.workers
        self.seen = True
        for name in found.keys() - crew.keys():
            address, about = found[name]
            self._start(name, address, about)
        gone = [crew.pop(name) for name in crew.keys() - found.keys()]
        for worker in gone:
            if not worker.ready and not worker.unfit:
                self.ended += 1
                self._not_starting(worker)
        if self.ended >= _ENDS and not self.open and not self.crew.usable:
            raise UserError("D858", problem="see the worker's log", times=self.ended)
        return gone

    def look(self) -> None:
        """Make sure that there are workers, or wait for them for a while.

        Raises
        ------
        UserError
            D855 where too few come.
        """
        wanted = 1 if self.open else self.engine.workers
        now = time.monotonic()
        if len(self.crew.workers) >= wanted:
            self.lonely = now
        self.session.call_for_workers(self.seen and not self.crew.workers)
        if now - self.lonely > self.engine.patience:
            raise UserError(
                "D855",
                address=self.session.address,
                seen=len(self.crew.workers),
                wanted=wanted,
                seconds=self.engine.patience,
            )

    def takes(self, news: News) -> bool:
        """Take in how a start ended; false for news of something else.

        Raises
        ------
        UserError
            D856 and D857, before the first item is sent.
        """
        worker = self.starting.pop(news.number, None)
        if worker is None:
            return False
        if news.kind in ("gone", "killed"):
            if news.kind == "gone":
                self.session.lost = True
            elif self.crew.workers.get(worker.id) is worker:  # another at its address: once more
                self._begin(worker)
            return True
        try:
            self._check(worker, news)
            worker.ready = True
        except UserError as problem:
            if not self.open:
                raise
            worker.unfit = True
            _log.warning("%s", problem)
        return True

    def _start(self, name: str, address: str, about: Mapping[str, Any]) -> None:
        threads = int(about.get("nthreads", 1))
        worker = Worker(name, address, _DEPTH if threads == 1 else 1)
        self.crew.workers[name] = worker
        if threads > 1:
            _log.info(
                "the worker %s has %d threads, and one item is done at a time: start more workers with "
                "--nthreads 1",
                address,
                threads,
            )
        self._begin(worker)

    def _begin(self, worker: Worker) -> None:
        compared = self.engine.scheduler is not None
        worker.held = self.session.keep(next(self.numbers), worker.address, hold, self.begin)
        number = next(self.numbers)
        self.starting[number] = worker
        worker.starting = self.session.submit(number, worker.address, started, worker.held, compared)
        if compared and self.expected is None:
            self.expected = expected_of(self.begin.work)

    def _not_starting(self, gone: Worker) -> None:
        for number, worker in list(self.starting.items()):
            if worker is gone:
                del self.starting[number]

    def _check(self, worker: Worker, news: News) -> None:
        if news.kind == "failed":
            raise UserError("D857", address=worker.address, problem=news.value)
        answer: Answer = news.value
        if answer.kind == "user error":
            if self.engine.scheduler is None:
                raise answer.value
            raise UserError("D857", address=worker.address, problem=answer.value)
        if answer.kind == "bug":
            problem = last_line(answer.value)
            _log.debug("%s", answer.value)
            raise UserError("D857", address=worker.address, problem=problem)
        if self.expected is not None:
            check_alike(self.expected, answer.value, worker.address)
