"""Work on items, and what a runner does with it. Neither knows of documents or models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

Tell = Callable[[int], object]
"""Told how much of an item is done by now, in whatever its size is counted; or, of all, how much more."""
Function = Callable[[Any, Tell], Any]
"""Turns an item into its result, and tells how far it is."""


def nothing(amount: int) -> None:
    """Tell nobody."""


@dataclass(slots=True)
class Told:
    """How much of an item was told of: what is done a second time is not told again.

    Attributes
    ----------
    listener : callable
        Told how much more is done.
    amount : int
        What it was told of this item so far.
    """

    listener: Tell
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
class Describes(Protocol):
    """The ability of a work to say what its results depend on where it is done."""

    def describe(self) -> dict[str, Any]:
        """Return plain values, the same in every place that would give the same results.

        An engine of several machines asks for them on each worker and compares them with its own before
        work begins.
        """
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """An item, with its result or with the reason why there is none; `told` of it while it was worked on."""

    index: int
    item: Any
    result: Any = None
    problem: str | None = None
    told: int = 0


class Runner(Protocol):
    """Runs items somewhere, each at least once; an item that fails for good has an outcome, too."""

    def run(
        self, work: Work, items: Iterable[Any], *, ordered: bool = False, tell: Tell = nothing
    ) -> Iterator[Outcome]:
        """Yield the outcome of each item, in their order if asked, else as they are done.

        While items are worked on, `tell` is told how much more of them is done.

        Raises
        ------
        UserError
            What the work raises as such (a full disk, an unknown model) ends the run.
        """
        ...


@runtime_checkable
class Stays(Protocol):
    """The ability of a runner to keep its workers from one run to the next: jobs of several runs ask."""

    def staying(self) -> AbstractContextManager[Runner]:
        """Give a runner like this one, for one run at a time; its workers end with the block."""
        ...


def staying(runner: Runner) -> AbstractContextManager[Runner]:
    """Give a runner for several runs, one after the other, which keeps its workers between them if it can."""
    return runner.staying() if isinstance(runner, Stays) else nullcontext(runner)


def last_line(trace: str) -> str:
    """Return what a traceback ends in."""
    return trace.strip().splitlines()[-1]
