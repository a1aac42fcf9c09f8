"""The protocols of work, which consists of items, and of runners, which do it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, runtime_checkable

from disambig.errors import UserError, contract_error, describe_value
from disambig.formatting import pluralize

if TYPE_CHECKING:
    from typing_extensions import Unpack

ProgressCallback = Callable[[int], object]
"""Reports progress, in the units of the item's size: of an item the amount so far, of a run the increase."""
Function = Callable[[Any, ProgressCallback], Any]
"""Computes the result of an item and reports its progress."""


def ignore_progress(amount: int) -> None:
    """Do nothing."""


@dataclass(slots=True)
class ProgressCounter:
    """Report the progress of one item; work that is repeated is not reported again.

    Attributes
    ----------
    listener : callable
        Called with the increase.
    amount : int
        Amount reported so far.
    """

    listener: ProgressCallback
    amount: int = 0

    def __call__(self, done: int) -> None:
        """Report that `done` units of the item are finished."""
        if done > self.amount:
            more, self.amount = done - self.amount, done
            self.listener(more)


class Work(Protocol):
    """The work on items; it is sent to each worker once, so it must be small and picklable."""

    def start(self) -> Function:
        """Load resources and return the function that processes an item."""
        ...


@runtime_checkable
class DescribesWork(Protocol):
    """Work that can describe everything on a machine that its results depend on."""

    def describe(self) -> dict[str, Any]:
        """Return plain values that are equal on all machines that would give the same results.

        An engine with several machines compares the values of each worker with its own before work starts.
        """
        ...


@dataclass(frozen=True, slots=True)
class WorkOutcome:
    """An item with its result or its problem, and the progress reported while it was processed."""

    index: int
    item: Any
    result: Any = None
    problem: str | None = None
    progress: int = 0


class RunOptions(TypedDict, total=False):
    """Options of `Runner.run`.

    Attributes
    ----------
    ordered : bool
        Whether outcomes have the order of their items; by default they come as items are finished.
    report_progress : callable
        Called with the increase of the progress while items are processed; by default `ignore_progress`.
    """

    ordered: bool
    report_progress: ProgressCallback


class Runner(Protocol):
    """Processes items, each at least once; an item that fails for good has an outcome, too."""

    def run(self, work: Work, items: Iterable[Any], **options: Unpack[RunOptions]) -> Iterator[WorkOutcome]:
        """Yield the outcome of each item.

        Raises
        ------
        UserError
            If the work raises a `UserError` (a full disk, an unknown model), the run ends.
        """
        ...


@runtime_checkable
class PersistentPool(Protocol):
    """A runner that can keep its workers between runs, for jobs with several runs."""

    def staying(self) -> AbstractContextManager[Runner]:
        """Return a context manager for a similar runner whose workers stop at the end of the block."""
        ...


def persistent_runner(runner: Runner) -> AbstractContextManager[Runner]:
    """Return a context manager for a runner that keeps its workers between runs if it can."""
    return runner.staying() if isinstance(runner, PersistentPool) else nullcontext(runner)


def run_checked(
    runner: Runner, work: Work, items: Iterable[Any], **options: Unpack[RunOptions]
) -> Iterator[WorkOutcome]:
    """Yield the outcomes of `Runner.run`; raise D414 unless there is one for each item.

    Without the check, an engine of a plugin that loses an item would leave out its documents silently.
    """
    n_items = n_outcomes = 0

    def counted() -> Iterator[Any]:
        nonlocal n_items
        for item in items:
            n_items += 1
            yield item

    remaining = counted()
    outcomes: Any = runner.run(work, remaining, **options)
    if not isinstance(outcomes, Iterable):
        raise _runner_error(runner, f"run returned {describe_value(outcomes)}")
    for outcome in outcomes:
        n_outcomes += 1
        if not isinstance(outcome, WorkOutcome):
            raise _runner_error(runner, f"run yielded {describe_value(outcome)}")
        yield outcome
    if next(remaining, None) is not None or n_outcomes != n_items:
        seen = f"run yielded {pluralize(n_outcomes, 'outcome')} for {pluralize(n_items, 'item')}"
        raise _runner_error(runner, seen)


def _runner_error(runner: Runner, problem: str) -> UserError:
    """Return the error for a runner that breaks its contract."""
    from disambig.registry import describe_component

    return contract_error(describe_component("runners", runner), problem, "one WorkOutcome for each item")


def last_line(trace: str) -> str:
    """Return the last line of a traceback."""
    return trace.strip().splitlines()[-1]
