"""The items of a run that several workers process: waiting items, failed attempts and order of outcomes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from disambig.jobs.work import ProgressCallback, ProgressCounter, WorkOutcome, ignore_progress

_MAX_AHEAD = 4  # items per worker that may be finished ahead of the next one in order


@dataclass(slots=True, eq=False)
class PendingItem:
    """An item without an outcome.

    Attributes
    ----------
    failed : int
        Number of attempts that ended their worker or took too long.
    running : int
        Number of further attempts in progress; while there are any, a failed attempt is not repeated.
    """

    index: int
    item: Any
    counter: ProgressCounter
    failed: int = 0
    running: int = 0

    def outcome(self, result: Any = None, problem: str | None = None) -> WorkOutcome:
        """Return the outcome of the item."""
        return WorkOutcome(self.index, self.item, result, problem, self.counter.amount)


class Transport(Protocol):
    """The workers of a run: it sends them the waiting items of a queue, and receives outcomes."""

    def n_workers(self) -> int:
        """Return the number of workers for which items are to wait."""
        ...

    def dispatch(self) -> None:
        """Send waiting items to workers that are free."""
        ...

    def busy(self) -> bool:
        """Return True if workers have items."""
        ...

    def receive(self) -> list[WorkOutcome]:
        """Wait for the workers and return the outcomes of finished items."""
        ...


@dataclass(slots=True)
class ItemQueue:
    """The items of one run.

    Attributes
    ----------
    items : iterator
    tries : int
        An item is set aside when this number of attempts has failed.
    ordered : bool
        Whether outcomes have the order of their items.
    tell : callable
        Called with the increase of the progress.
    waiting : deque of PendingItem
        The items that no worker has.
    """

    items: Iterator[Any]
    tries: int
    ordered: bool = False
    tell: ProgressCallback = ignore_progress
    waiting: deque[PendingItem] = field(default_factory=deque)
    _taken: int = 0
    _yielded: int = 0
    _early: dict[int, WorkOutcome] = field(default_factory=dict)

    def outcomes(self, transport: Transport) -> Iterator[WorkOutcome]:
        """Yield the outcome of each item."""
        while True:
            self.fill(transport.n_workers())
            transport.dispatch()
            if not (self.waiting or transport.busy()):
                return
            for outcome in transport.receive():
                yield from self._in_order(outcome)

    def fill(self, workers: int) -> None:
        """Take items until one is waiting per worker, unless too many finished items wait for their turn."""
        while len(self.waiting) < workers and self._taken - self._yielded < workers * _MAX_AHEAD:
            try:
                item = next(self.items)
            except StopIteration:
                return
            self.waiting.append(PendingItem(self._taken, item, ProgressCounter(self.tell)))
            self._taken += 1

    def repeat(self, pending: PendingItem) -> None:
        """Let an item wait again without counting a failure."""
        if not pending.running:
            self.waiting.appendleft(pending)  # first, since in an ordered run all later outcomes wait for it

    def fail(self, pending: PendingItem, problem: str) -> WorkOutcome | None:
        """Count a failed attempt; repeat it, or return the outcome of an item that is set aside."""
        pending.failed += 1
        if pending.failed >= self.tries:
            return pending.outcome(problem=problem)
        self.repeat(pending)
        return None

    def _in_order(self, outcome: WorkOutcome) -> Iterator[WorkOutcome]:
        """Yield the outcomes whose turn it is."""
        if not self.ordered:
            self._yielded += 1
            yield outcome
            return
        self._early[outcome.index] = outcome
        while self._yielded in self._early:
            self._yielded += 1
            yield self._early.pop(self._yielded - 1)
