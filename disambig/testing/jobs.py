"""Contracts of runners and of readers of labelled examples."""

from __future__ import annotations

import io
import logging
import os
import signal
import tempfile
import time
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disambig.errors import UserError, check_call, describe_value
from disambig.files import pack
from disambig.formats import ExampleReader, ExampleSource, Labelled, ReaderTraits
from disambig.jobs import Function, ProgressCallback, Runner, Work, WorkOutcome, persistent_runner
from disambig.registry import describe_component, load_all
from disambig.settings import is_whole
from disambig.testing.checks import Check, collect_checks, require
from disambig.types import get_trait

LOG = "disambig.testing.work"
_starts: list[str] = []


@dataclass(frozen=True, slots=True)
class Doubling:
    """Work that doubles its items; some strings make it fail."""

    token: str = ""  # identifies one run, whose starts are counted in each process
    folder: str = ""  # folder for marks of things that must happen only once
    broken: str = ""  # "error" or "bug": the start fails; "dies": the start ends the process

    def start(self) -> Function:
        """Return the function that doubles items."""
        if self.broken == "error":
            raise UserError("D300", path="model")
        if self.broken == "bug":
            raise KeyError("a bug")
        if self.broken == "dies":
            os._exit(3)
        _starts.append(self.token)
        logging.getLogger(LOG).info("started")
        return self._double

    def _double(self, item: Any, report_progress: ProgressCallback) -> Any:
        """Return the item twice; some items first fail, hang, end the process or report progress."""
        if item == "starts":
            return os.getpid(), _starts.count(self.token)
        if item == "bug":
            raise KeyError("a bug")
        if item == "full":
            raise UserError("D309", path="out", problem="No space left on device")
        if item == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if item == "die once" and self._first(item):
            os.kill(os.getpid(), signal.SIGKILL)
        if item == "hang" or (item == "hang once" and self._first(item)):
            time.sleep(3600)
        if item == "slow":
            time.sleep(0.5)
        if item == "parts":
            for done in (10, 5, 30):
                report_progress(done)
        return item * 2

    def _first(self, item: str) -> bool:
        mark = Path(self.folder) / item
        was_there = mark.exists()
        mark.touch()
        return not was_there


Make = Callable[[float | None], Runner]


def check_runner(make: Make, *, processes: bool = True, ahead: int = 200) -> list[Check]:
    """Return the checks of a runner.

    Parameters
    ----------
    make : callable
        Creates the runner, given the time limit of an item in seconds, or None for no limit.
    processes : bool
        Whether it uses other processes, which the checks kill.
    ahead : int
        Maximum number of items of an ordered run that may be taken before its first outcome.
    """
    return collect_checks(_RunnerChecks(make, processes, ahead))


@dataclass
class _RunnerChecks:
    _make: Make
    _processes: bool
    _ahead: int

    def keeps_its_contract(self) -> None:
        """Check the method, and the type of what it yields, also if an item fails."""
        runner = self._make(None)
        wanted = "run(work, items, *, ordered=False, report_progress=ignore_progress)"
        check_call(
            describe_component("runners", runner),
            runner,
            "run",
            wanted,
            None,
            None,
            ordered=None,
            report_progress=None,
        )
        outcomes: Any = runner.run(Doubling(), [1, 2], ordered=True)
        is_iterable = isinstance(outcomes, Iterable)
        require(is_iterable, f"run returned {describe_value(outcomes)}; expected to yield WorkOutcome")
        for outcome in outcomes:
            is_outcome = isinstance(outcome, WorkOutcome)
            require(is_outcome, f"run gave {describe_value(outcome)}; expected a WorkOutcome")
        try:
            self._run(Doubling(), ["bug"])
        except KeyError as problem:
            ended = "an exception in an item ended the run: expected a WorkOutcome with a problem"
            raise AssertionError(ended) from problem

    def returns_one_outcome_per_item(self) -> None:
        outcomes = self._run(Doubling(), iter(range(30)))
        indices = sorted(outcome.index for outcome in outcomes)
        require(indices == list(range(30)), "an item has no outcome, or two")
        for outcome in outcomes:
            i = outcome.index
            is_right = outcome.item == i and outcome.result == 2 * i and outcome.problem is None
            require(is_right, f"item {i}: {outcome}")

    def keeps_the_order_if_requested(self) -> None:
        outcomes = self._run(Doubling(), ["slow", *range(20)], ordered=True)
        require([outcome.index for outcome in outcomes] == list(range(21)), "the outcomes are not in order")

    def accepts_no_items(self) -> None:
        require(self._run(Doubling(broken="bug"), []) == [], "there are outcomes without items")

    def a_bug_affects_one_item_only(self) -> None:
        outcomes = self._run(Doubling(), [1, "bug", 3], ordered=True)
        require(_results(outcomes) == [2, None, 6], f"a bug in one item: {outcomes}")
        require(outcomes[1].problem == "KeyError: 'a bug'", f"the problem is {outcomes[1].problem!r}")

    def stops_at_a_user_error(self) -> None:
        cases = ((Doubling(), [1, "full", 2], "D309"), (Doubling(broken="error"), [1], "D300"))
        for work, items, code in cases:
            try:
                self._run(work, items)
            except UserError as problem:
                require(code in str(problem), f"{problem} instead of {code}")
            else:
                require(False, f"a UserError ({code}) did not end the run")

    def starts_the_work_once_per_process(self) -> None:
        outcomes = self._run(Doubling(uuid.uuid4().hex), ["starts"] * 20)
        maximum = max(starts for _, starts in _results(outcomes))
        require(maximum == 1, f"a process started the work {maximum} times")

    def takes_items_lazily(self) -> None:
        taken = []

        def items() -> Iterator[int]:
            for number in range(20 * self._ahead):
                taken.append(number)
                yield number

        run = self._make(None).run(Doubling(), items(), ordered=True)
        next(iter(run))
        require(len(taken) <= self._ahead, f"{len(taken)} items were taken for one outcome")
        if isinstance(run, Generator):
            run.close()
        so_far = len(taken)
        require(so_far <= self._ahead, f"{so_far} items were taken when it was closed")

    def transfers_large_items(self) -> None:
        (outcome,) = self._run(Doubling(), ["x" * 3_000_000])
        require(outcome.result == "x" * 6_000_000, "a large item came back changed")

    def reports_progress_of_items(self) -> None:
        progress: list[int] = []
        (outcome,) = self._make(None).run(Doubling(), ["parts"], report_progress=progress.append)
        is_sum = sum(progress) == outcome.progress == 30
        require(is_sum, f"reported {progress}, {outcome.progress} in all: 10, 5 and 30 must give 30")
        is_new = all(more > 0 for more in progress)
        require(is_new, f"reported {progress}: repeated progress must not be reported again")

    def forwards_logs_of_workers_once(self) -> None:
        log, collector = logging.getLogger(LOG), _LogCollector()
        before = log.level
        log.setLevel(logging.INFO)
        log.addHandler(collector)
        try:
            self._run(Doubling(), ["slow"] * 4)
        finally:
            log.removeHandler(collector)
            log.setLevel(before)
        seen = collector.messages
        require(seen == ["started"], f"workers logged 'started' once, but {seen} was received")

    def can_run_repeatedly(self) -> None:
        runner = self._make(None)
        for number in (1, 2):
            results = _results(runner.run(Doubling(), [number]))
            require(results == [2 * number], f"run {number} gives {results}")

    def can_run_repeatedly_on_persistent_workers(self) -> None:
        with persistent_runner(self._make(None)) as runner:
            for token in ("first", "", "second"):  # the second run has no items
                items = ["starts"] * 8 if token else []
                outcomes = list(runner.run(Doubling(token + uuid.uuid4().hex), items))
                maximum = max((starts for _, starts in _results(outcomes)), default=1)
                are_right = len(outcomes) == len(items) and maximum == 1
                require(are_right, f"{token!r} on persistent workers: {outcomes}")
            if self._processes:
                outcomes = list(runner.run(Doubling(), [1, "die", 3], ordered=True))
                require(_results(outcomes) == [2, None, 6], f"persistent workers after a kill: {outcomes}")
            outcomes = list(runner.run(Doubling(), [4]))
            require(_results(outcomes) == [8], f"a last run on persistent workers: {outcomes}")

    def retries_the_item_of_a_killed_worker(self) -> None:
        if self._processes:
            with tempfile.TemporaryDirectory() as folder:
                outcomes = self._run(Doubling(folder=folder), [1, "die once", 3], ordered=True)
            require(_results(outcomes) == [2, "die once" * 2, 6], f"after a kill: {outcomes}")

    def skips_an_item_that_kills_workers(self) -> None:
        if self._processes:
            outcomes = self._run(Doubling(), [1, "die", *range(2, 8)], ordered=True)
            results = _results(outcomes)
            require(results == [2, None, *range(4, 16, 2)], f"an item that kills its workers: {results}")
            require(outcomes[1].problem is not None, "an item that kills its workers has no problem")

    def stops_items_at_the_time_limit(self) -> None:
        if self._processes:
            with tempfile.TemporaryDirectory() as folder:
                work = Doubling(folder=folder)
                outcomes = list(self._make(2.0).run(work, [1, "hang once", 3], ordered=True))
            require(_results(outcomes) == [2, "hang once" * 2, 6], f"after a hang: {outcomes}")

    def fails_if_no_worker_can_start(self) -> None:
        if self._processes:
            try:
                self._run(Doubling(broken="dies"), [1, 2, 3])
            except UserError:
                return
            require(False, "workers cannot start, but the run does not raise a UserError")

    def _run(self, work: Work, items: Iterable[Any], *, ordered: bool = False) -> list[WorkOutcome]:
        return list(self._make(None).run(work, items, ordered=ordered))


class _LogCollector(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def _results(outcomes: Iterable[WorkOutcome]) -> list[Any]:
    return [outcome.result for outcome in outcomes]


def check_reader(reader: ExampleReader, path: str | Path) -> list[Check]:
    """Return the checks of a reader of labelled examples.

    Parameters
    ----------
    reader : ExampleReader
    path : path
        A file that it reads, with at least one example.
    """
    return collect_checks(_ReaderChecks(reader, str(path)))


@dataclass
class _ReaderChecks:
    _reader: ExampleReader
    _path: str

    def declares_which_files_it_reads(self) -> None:
        suffixes, elements = (get_trait(self._reader, ReaderTraits, n) for n in ("suffixes", "elements"))
        for name, value in (("suffixes", suffixes), ("elements", elements)):
            is_valid = isinstance(value, tuple) and all(isinstance(text, str) and text for text in value)
            require(is_valid, f"{name} is {value!r}: give a tuple of texts")
        require(suffixes or elements, "it has neither suffixes nor elements: it would never read a file")
        wrong = [suffix for suffix in suffixes if not suffix.startswith(".")]
        require(not wrong, f"the suffixes {wrong} do not begin with a dot")

    def shares_no_suffix_with_another_reader(self) -> None:
        suffixes = _lower_suffixes(self._reader)
        for name, factory in load_all("readers").items():
            other = factory()
            taken = suffixes & _lower_suffixes(other)
            same = type(other) is type(self._reader)
            require(same or not taken, f"files in {', '.join(sorted(taken))} are read by {name}")

    def keeps_its_contract(self) -> None:
        """Check the method, and the types of what it yields."""
        part = describe_component("readers", self._reader)
        check_call(part, self._reader, "read", "read(source), which yields Labelled", None)
        examples: Any = self._reader.read(ExampleSource(self._path))
        is_iterable = isinstance(examples, Iterable)
        require(is_iterable, f"read returned {describe_value(examples)}; expected to yield Labelled")
        for example in examples:
            require(isinstance(example, Labelled), f"it gave {type(example).__name__}, not Labelled")
            for name in ("start", "end"):
                value = getattr(example, name)
                require(is_whole(value), f"{name} of an example is {value!r}: give a whole number")

    def reads_examples(self) -> None:
        examples = self._read()
        require(examples, f"no example in {self._path}")
        for example in examples:
            for name in ("text", "label"):
                value = getattr(example, name)
                require(isinstance(value, str), f"{name} of an example is {value!r}: give a text")

    def places_are_inside_their_texts(self) -> None:
        for example in self._read():
            inside = 0 <= example.start <= example.end <= len(example.text)
            place, n = f"{example.start} to {example.end}", len(example.text)
            require(inside, f"{place} is outside the {n} characters of the text")

    def names_document_and_line(self) -> None:
        for example in self._read():
            require(example.document, "an example has no document: if it has none, use its text")
            require(example.where, "an example has no location: set `where` to file and line")

    def is_repeatable(self) -> None:
        require(self._read() == self._read(), "a second reading gave other examples")

    def damaged_files_raise_user_errors(self) -> None:
        data = ExampleSource(self._path).data
        broken = {"cut short": data[: len(data) * 2 // 3], "binary": b"\0\xff" + data, "empty": b""}
        with tempfile.TemporaryDirectory() as home:
            for how, content in broken.items():
                path = os.path.join(home, os.path.basename(self._path))
                Path(path).write_bytes(_packed(path, content))
                try:
                    list(self._reader.read(ExampleSource(path)))
                except UserError:
                    pass
                except Exception as problem:
                    raise AssertionError(
                        f"a file that is {how}: {type(problem).__name__}: {problem}"
                    ) from problem

    def _read(self) -> list[Labelled]:
        return list(self._reader.read(ExampleSource(self._path)))


def _lower_suffixes(reader: ExampleReader) -> set[str]:
    """Return the suffixes of a reader in lower case, as files are matched with them."""
    return {suffix.lower() for suffix in get_trait(reader, ReaderTraits, "suffixes")}


def _packed(path: str, content: bytes) -> bytes:
    sink = io.BytesIO()
    stream = pack(sink, path)
    stream.write(content)
    if stream is not sink:
        stream.close()
    return sink.getvalue()
