"""Work on items, and the protocol of runners."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

ProgressCallback = Callable[[int], object]
"""Told how much of an item is done by now, in whatever its size is counted; or, of all, how much more."""
Function = Callable[[Any, ProgressCallback], Any]
"""Turns an item into its result, and tells how far it is."""


def ignore_progress(amount: int) -> None:
    """Tell nobody."""


@dataclass(slots=True)
class ProgressCounter:
    """How much of an item was told of: what is done a second time is not told again.

    Attributes
    ----------
    listener : callable
        Told how much more is done.
    amount : int
        What it was told of this item so far.
    """

    listener: ProgressCallback
    amount: int = 0

    def __call__(self, done: int) -> None:
        """Take in that so much of the item is done by now."""
        if done > self.amount:
            more, self.amount = done - self.amount, done
            self.listener(more)


class Work(Protocol):
    """What is done to items: sent to each worker once, so it must be small and can be pickled."""

    def start(self) -> Function:
        """Load what is needed and return what is done to each item."""
        ...


@runtime_checkable
class DescribesWork(Protocol):
    """The ability of a work to say what its results depend on where it is done."""

    def describe(self) -> dict[str, Any]:
        """Return plain values, the same in every place that would give the same results.

        An engine of several machines asks for them on each worker and compares them with its own before
        work begins.
        """
        ...


@dataclass(frozen=True, slots=True)
class WorkOutcome:
    """An item, with its result or with the reason why there is none; `told` of it while it was worked on."""

    index: int
    item: Any
    result: Any = None
    problem: str | None = None
    progress: int = 0


class Runner(Protocol):
    """Runs items somewhere, each at least once; an item that fails for good has an outcome, too."""

    def run(
        self,
        work: Work,
        items: Iterable[Any],
        *,
        ordered: bool = False,
        tell: ProgressCallback = ignore_progress,
    ) -> Iterator[WorkOutcome]:
        """Yield the outcome of each item, in their order if asked, else as they are done.

        While items are worked on, `tell` is told how much more of them is done.

        Raises
        ------
        UserError
            What the work raises as such (a full disk, an unknown model) ends the run.
        """
        ...


@runtime_checkable
class PersistentPool(Protocol):
    """The ability of a runner to keep its workers from one run to the next: jobs of several runs ask."""

    def staying(self) -> AbstractContextManager[Runner]:
        """Give a runner like this one, for one run at a time; its workers end with the block."""
        ...


def persistent_runner(runner: Runner) -> AbstractContextManager[Runner]:
    """Give a runner for several runs, one after the other, which keeps its workers between them if it can."""
    return runner.staying() if isinstance(runner, PersistentPool) else nullcontext(runner)


def last_line(trace: str) -> str:
    """Return what a traceback ends in."""
    return trace.strip().splitlines()[-1]
