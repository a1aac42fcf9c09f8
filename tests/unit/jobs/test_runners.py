"""Local runners: the contract, worker processes, the queue of items, and interrupts."""

from __future__ import annotations

import logging
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, field

import pytest
from small_work import Doubling, Logging, Named, send_blocked

from disambig.errors import UserError
from disambig.jobs import (
    EngineOptions,
    InProcessRunner,
    ItemQueue,
    PendingItem,
    ProcessRunner,
    delay_interrupts,
    ignore_progress,
    local_runner,
    make_runner,
    run_checked,
    runners,
)
from disambig.testing import check_runner


def test_local_engine():
    assert make_runner() == local_runner(1) == InProcessRunner()
    assert make_runner("local", EngineOptions(3)) == ProcessRunner(3)
    assert make_runner("disambig.local.v1", EngineOptions(1, timeout=2.5)) == ProcessRunner(1, 2.5)


def test_finds_engines_of_plugins_by_their_short_names(load_with, monkeypatch, tmp_path):
    source = (
        "from typing import Any, NamedTuple\n"
        "from disambig.api import hookimpl\n"
        "class There(NamedTuple):\n"
        "    number: int\n"
        "    options: Any\n"
        "    def run(self, work, items, **options):\n"
        "        return iter(())\n"
        "@hookimpl\n"
        "def disambig_register_runners(register):\n"
        "    for number in (1, 2, 10):\n"
        "        register(f'engines.there.v{number}', lambda options, n=number: There(n, options))\n"
        "    register('engines.nothing.v1', lambda options: 'not a runner')\n"
        "    register('engines.local.v1', lambda options: 'not reached by its short name')\n"
    )
    (tmp_path / "engines_of_a_test.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    load_with(engines="engines_of_a_test")
    options = EngineOptions(2, "somewhere")
    assert make_runner("there", options) == (10, options)
    assert make_runner("engines.there.v1", options) == (1, options)
    assert make_runner("local") == InProcessRunner()
    with pytest.raises(UserError, match=r"D851.*'ther'; available: there"):
        make_runner("ther")
    with pytest.raises(UserError, match=r"D414.*has no method run; expected run\(work, items"):
        make_runner("nothing")


class Loses:
    """An engine that breaks its contract as `lose` does."""

    def __init__(self, lose):
        self.lose = lose

    def run(self, work, items, **options):
        return self.lose(InProcessRunner().run(work, items, **options))


@pytest.mark.parametrize(
    ("lose", "message"),
    [
        (lambda outcomes: None, "run returned None"),
        (lambda outcomes: (outcome.result for outcome in outcomes), "run yielded an int"),
        (lambda outcomes: [next(outcomes)], "run yielded 1 outcome for 2 items"),
        (lambda outcomes: list(outcomes)[1:], "run yielded 2 outcomes for 3 items"),
        (lambda outcomes: list(outcomes) * 2, "run yielded 6 outcomes for 3 items"),
    ],
)
def test_an_engine_that_loses_items_is_named(lose, message):
    with pytest.raises(UserError, match=rf"D414.*the runner Loses: {message}; expected one WorkOutcome"):
        list(run_checked(Loses(lose), Doubling(), iter([1, 2, 3])))
    assert [outcome.result for outcome in run_checked(InProcessRunner(), Doubling(), [1, 2])] == [2, 4]


def test_rejects_invalid_options():
    with pytest.raises(UserError, match=r"D852.*tcp://a:1"):
        make_runner("local", EngineOptions(1, "tcp://a:1"))
    for wrong in (0, -1.0, float("inf"), float("nan")):
        with pytest.raises(UserError, match="D859"):
            EngineOptions(timeout=wrong)


@pytest.mark.parametrize("runner", [InProcessRunner(), ProcessRunner(1)])
def test_a_misspelled_option_is_an_error(runner):
    with pytest.raises(TypeError, match="orderd"):
        list(runner.run(Doubling(), [1], orderd=True))


def test_a_misspelled_option_is_an_error_before_outcomes_are_taken():
    with pytest.raises(TypeError, match="orderd"):
        InProcessRunner().run(Doubling(), [1], orderd=True)


IN_PROCESS = check_runner(lambda timeout: InProcessRunner(), processes=False)
TWO_WORKERS = check_runner(lambda timeout: local_runner(2, timeout=timeout))
CHECKS = [
    *(("in process", check) for check in IN_PROCESS),
    *(("two workers", check) for check in TWO_WORKERS),
]


@pytest.mark.parametrize(("where", "check"), CHECKS, ids=lambda value: str(value))
def test_runners_keep_the_contract(where, check):
    check()


@pytest.mark.parametrize("level", [logging.INFO, logging.NOTSET])
def test_workers_log_once_and_only_at_an_enabled_level(level, caplog, capfd):
    log = logging.getLogger("disambig.said_by_workers")
    log.setLevel(level)
    try:
        result = run_all(ProcessRunner(2), Logging(), range(12))
    finally:
        log.setLevel(logging.NOTSET)
    assert len({pid for _, pid, _ in result}) == 2
    message = [record.getMessage() for record in caplog.records if record.name == log.name]
    assert message == (["compiling, kept in here"] if level else [])
    assert capfd.readouterr().err == ""


def run_all(runner, work, items, **options):
    return [(one.index, one.result, one.problem) for one in runner.run(work, items, **options)]


def test_skips_items_that_kill_their_workers():
    actual = run_all(ProcessRunner(2), Doubling(), [1, "die", 2, "exit", 3], ordered=True)
    assert [result for _, result, _ in actual] == [2, None, 4, None, 6]
    assert actual[1][2] == "it ended its worker process 2 times (SIGKILL, out of memory?)"
    assert actual[3][2] == "it ended its worker process 2 times (exit status 7)"


def test_workers_that_cannot_start_end_the_run():
    with pytest.raises(UserError, match=r"D315.*exit status 3"):
        run_all(ProcessRunner(2), Doubling(broken="dies"), [1, 2, 3])


def test_reports_progress_of_a_retry_once(tmp_path):
    messages = []
    (outcome,) = ProcessRunner(1).run(
        Doubling(str(tmp_path)), ["parts, dying once"], report_progress=messages.append
    )
    assert messages == [20, 10] and outcome.progress == 30


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_waits_until_a_worker_has_started(monkeypatch, number):
    def end(*_):
        raise KeyboardInterrupt

    before = signal.signal(number, end)
    started = []

    def start(work):
        os.kill(os.getpid(), number)
        started.append(real(work))
        return started[-1]

    real = runners._start
    monkeypatch.setattr(runners, "_start", start)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_all(ProcessRunner(1), Doubling(), [1])
        assert signal.getsignal(number) is end
    finally:
        signal.signal(number, before)
    (worker,) = started
    assert worker.process.exitcode == -signal.SIGTERM  # it was known, and has ended


def results(runner, work, items):
    return [one.result for one in runner.run(work, items)]


def test_persistent_workers_end_with_the_block():
    with ProcessRunner(2).staying() as runner:
        first = results(runner, Named("first"), range(8))
        assert results(runner, Named("nothing"), []) == []
        second = results(runner, Named("second"), range(8))
        assert {name for name, _ in second} == {"second"}
        processes_of_both = {pid for _, pid in first} | {pid for _, pid in second}
        assert len(processes_of_both) <= 2
    for pid in processes_of_both:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_persistent_workers_survive_a_kill_and_work_that_cannot_start():
    with ProcessRunner(1).staying() as runner:
        ((_, pid),) = results(runner, Named("first"), [1])
        os.kill(pid, signal.SIGKILL)
        ((name, other),) = results(runner, Named("second"), [1])
        assert name == "second" and other != pid
        with pytest.raises(UserError, match="D300"):
            results(runner, Named("third", broken=True), [1])
        assert results(runner, Named("fourth"), [1])[0][0] == "fourth"


ABANDONED = """
import os, signal, time
from disambig.jobs import ProcessRunner

class Busy:
    def start(self):
        end = os._exit
        os._exit = lambda status: (time.sleep(0.5), end(status))  # as on a busy machine
        return self.run
    def run(self, item, report_progress):
        for done in range(10**6):
            report_progress(done)

if __name__ == "__main__":
    seen = []
    def add_progress(amount):
        seen.append(amount)
        if len(seen) > 20:
            os.kill(os.getpid(), signal.SIGKILL)
    for outcome in ProcessRunner(2).run(Busy(), [1, 2], report_progress=add_progress):
        pass
"""


def test_workers_of_a_killed_parent_end_silently(tmp_path):
    """They find the pipe closed when they report progress."""
    (tmp_path / "abandoned.py").write_text(ABANDONED)
    done = subprocess.run(  # it waits until the last worker has closed its standard error
        [sys.executable, "abandoned.py"], cwd=tmp_path, capture_output=True, timeout=60
    )
    assert (done.returncode, done.stderr.decode()) == (-signal.SIGKILL, "")


TRIES = 3


@dataclass
class FakeWorkers:
    """Workers that end attempts in any order; `fails` has the number of attempts that fail, by item."""

    queue: ItemQueue
    workers: int
    fails: dict[int, int]
    numbers: random.Random
    held: list[PendingItem] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)
    most_ahead: int = 0

    def n_workers(self) -> int:
        return self.workers

    def dispatch(self) -> None:
        while self.queue.waiting and len(self.held) < self.workers:
            self.held.append(self.queue.waiting.popleft())
            self.sent.append(self.held[-1].index)

    def busy(self) -> bool:
        return bool(self.held)

    def receive(self):
        task = self.held.pop(self.numbers.randrange(len(self.held)))
        if task.failed < self.fails.get(task.index, 0):
            outcome = self.queue.fail(task, "it ended its worker")
            return [] if outcome is None else [outcome]
        return [task.outcome(task.item * 2)]


def run(items: int, workers: int, ordered: bool, fails: dict[int, int], seed: int):
    queue = ItemQueue(iter(range(items)), TRIES, ordered, ignore_progress)
    built = FakeWorkers(queue, workers, fails, random.Random(seed))
    return list(queue.outcomes(built)), built


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_each_item_has_one_outcome_in_the_requested_order(ordered, workers):
    for seed in range(20):
        numbers = random.Random(seed)
        fails = {index: numbers.randrange(1, TRIES + 1) for index in numbers.sample(range(40), 8)}
        outcomes, _ = run(40, workers, ordered, fails, seed)
        indices = [outcome.index for outcome in outcomes]
        assert sorted(indices) == list(range(40))
        assert not ordered or indices == list(range(40))
        left = {outcome.index for outcome in outcomes if outcome.problem is not None}
        assert left == {index for index, times in fails.items() if times >= TRIES}
        assert all(outcome.result == outcome.item * 2 for outcome in outcomes if outcome.index not in left)


def test_retries_a_failed_item_next():
    outcomes, workers = run(4, 1, False, {1: TRIES}, 0)
    assert workers.sent == [0, 1, 1, 1, 2, 3]
    assert [outcome.problem for outcome in outcomes] == [None, "it ended its worker", None, None]


def test_does_not_requeue_an_item_with_another_attempt_in_progress():
    queue = ItemQueue(iter("a"), TRIES, False, ignore_progress)
    queue.fill(1)
    task = queue.waiting.popleft()
    task.running = 1
    assert queue.fail(task, "lost") is None
    assert not queue.waiting
    task.running = 0
    assert queue.fail(task, "lost") is None
    assert list(queue.waiting) == [task]
    assert queue.fail(task, "lost").problem == "lost"


def test_takes_few_items_while_the_first_has_no_outcome():
    taken = []

    def items():
        for item in range(1000):
            taken.append(item)
            yield item

    class FirstIsSlow(FakeWorkers):
        def receive(self):
            return [self.held.pop().outcome(None)]  # the first one only if no other is left

    queue = ItemQueue(items(), TRIES, True, ignore_progress)
    outcomes = queue.outcomes(FirstIsSlow(queue, 2, {}, random.Random(0)))
    assert next(outcomes).index == 0
    assert len(taken) == 2 * 4  # four per worker
    assert [outcome.index for outcome in outcomes] == list(range(1, 1000))


needs_signal_masks = pytest.mark.skipif(
    not hasattr(signal, "pthread_sigmask"), reason="needs masks of signals"
)
BLOCKED = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"


@needs_signal_masks
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_delays_signals_to_the_end_of_the_block(number):
    received = []
    before = signal.signal(number, lambda *_: received.append(len(received)))
    try:
        with delay_interrupts():
            os.kill(os.getpid(), number)
            os.kill(os.getpid(), number)
            assert not received
        assert received == [0]
        os.kill(os.getpid(), number)
        assert received == [0, 1]
    finally:
        signal.signal(number, before)


@needs_signal_masks
def test_raises_the_delayed_interrupt_if_the_block_fails():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), delay_interrupts():
            os.kill(os.getpid(), signal.SIGINT)
            raise RuntimeError("a worker was ended by it")
    finally:
        signal.signal(signal.SIGINT, before)


@needs_signal_masks
def test_processes_started_in_the_block_ignore_sigint():
    def started() -> str:
        return subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, text=True).stdout.strip()

    with delay_interrupts():
        assert started() == "True"
    assert started() == "False"


@needs_signal_masks
def test_multiprocessing_workers_ignore_sigint():
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    with delay_interrupts():
        process = context.Process(target=send_blocked, args=(theirs,))
        process.start()
    assert ours.poll(60) and ours.recv() is True
    process.join()


@needs_signal_masks
def test_delays_nothing_outside_the_main_thread():
    masks = []

    def run() -> None:
        with delay_interrupts():
            masks.append(signal.pthread_sigmask(signal.SIG_BLOCK, []))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert signal.SIGINT not in masks[0]
