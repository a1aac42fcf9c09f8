"""The workers of a cluster as a job sees them: who is ready, what each was sent, what waits behind what."""

from __future__ import annotations

import statistics
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from disambig.api.runners import Outcome, Told

SLOW = 10.0  # seconds that an item takes at least before another worker tries it as well
_TIMES = 3  # and as often as long as usual


@dataclass(slots=True)
class Task:
    """An item on its way: how often it was tried for good, and the tries that run now."""

    index: int
    item: Any
    told: Told
    failed: int = 0
    running: list[Try] = field(default_factory=list)
    done: bool = False

    def outcome(self, result: Any = None, problem: str | None = None) -> Outcome:
        """Return the outcome."""
        return Outcome(self.index, self.item, result, problem, self.told.amount)


@dataclass(slots=True, eq=False)
class Try:
    """A task that was sent to a worker, which has begun it at `began` or not yet."""

    number: int
    task: Task
    worker: Worker
    future: Any = None
    began: float | None = None


@dataclass(slots=True, eq=False)
class Worker:
    """A worker process; what it was sent and has not answered, in this order.

    Attributes
    ----------
    depth : int
        How much it is sent at a time: what waits there spares the way to and fro. With several threads the
        order would not be sure, and so not which item it was that ended a worker.
    """

    id: str
    address: str
    depth: int
    held: Any = None
    starting: Any = None
    ready: bool = False
    unfit: bool = False
    hung: set[int] = field(default_factory=set)  # numbers of tries that were given up
    tries: list[Try] = field(default_factory=list)

    @property
    def usable(self) -> bool:
        """Whether it can be sent items."""
        return self.ready and not self.unfit and not self.hung


@dataclass(slots=True)
class Crew:
    """All workers by their ids, which no other process has after them, and how long items usually take."""

    workers: dict[str, Worker] = field(default_factory=dict)
    durations: deque[float] = field(default_factory=lambda: deque(maxlen=101))

    @property
    def usable(self) -> list[Worker]:
        """Those that can be sent items."""
        return [worker for worker in self.workers.values() if worker.usable]

    def with_room(self) -> Worker | None:
        """Return the worker that has least to do, if it can take an item."""
        free = [worker for worker in self.usable if len(worker.tries) < worker.depth]
        return min(free, key=lambda worker: len(worker.tries), default=None)

    def idle(self) -> Worker | None:
        """Return a worker that has nothing to do."""
        return next((worker for worker in self.usable if not worker.tries), None)

    def stuck_behind(self) -> Try | None:
        """Return a try that waits behind another on its worker, the last in line first."""
        for worker in self.workers.values():
            if len(worker.tries) > 1 and worker.tries[-1].began is None:
                return worker.tries[-1]
        return None

    def slowest(self, now: float) -> Try | None:
        """Return the try that takes far longer than usual, if nobody else tries the same."""
        usual = statistics.median(self.durations) if self.durations else 0.0
        begun = [
            each
            for worker in self.workers.values()
            for each in worker.tries[:1]
            if each.began is not None and len(each.task.running) == 1
        ]
        late = [each for each in begun if now - (each.began or now) > max(SLOW, _TIMES * usual)]
        return min(late, key=lambda each: each.began or now, default=None)
