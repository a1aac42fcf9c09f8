from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from disambig.errors import UserError
from disambig.jobs import InProcessRunner, ProcessRunner, local_runner, processes


@dataclass(frozen=True)
class Doubling:
    """Doubles numbers; some items do worse."""

    directory: str = ""
    broken: str = ""

    def start(self):
        if self.broken == "error":
            raise UserError("D300", path="model")
        if self.broken == "dies":
            os._exit(3)
        return self.double

    def double(self, item, tell):
        if item == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if item == "die once":
            flag = Path(self.directory) / "died"
            if not flag.exists():
                flag.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return "second try"
        if item == "exit":
            os._exit(7)
        if item == "full":
            raise UserError("D309", path="out", problem="No space left on device")
        if item == "bug":
            raise KeyError("a bug")
        if item == "slow":
            time.sleep(0.3)
            return "slow"
        if item == "parts":
            for done in (10, 5, 30):
                tell(done)
            return 30
        if item == "parts, dying once":
            tell(20)
            self.double("die once", tell)
            return self.double("parts", tell)
        return item * 2


@dataclass(frozen=True)
class Logging:
    """Says what it does, as compiling is told of; each item waits so that several workers start."""

    def start(self):
        logging.getLogger("disambig.said_by_workers").info("compiling, kept in %s", "here")
        logging.getLogger("disambig.said_by_workers").debug("a detail")
        return self.wait

    def wait(self, item, tell):
        time.sleep(0.2)
        return os.getpid()


@pytest.mark.parametrize("level", [logging.INFO, logging.NOTSET])
def test_what_workers_log_is_told_once_and_only_where_somebody_listens(level, caplog, capfd):
    log = logging.getLogger("disambig.said_by_workers")
    log.setLevel(level)
    try:
        found = outcomes(ProcessRunner(2), Logging(), range(12))
    finally:
        log.setLevel(logging.NOTSET)
    assert len({pid for _, pid, _ in found}) == 2
    said = [record.getMessage() for record in caplog.records if record.name == log.name]
    assert said == (["compiling, kept in here"] if level else [])
    assert capfd.readouterr().err == ""


def outcomes(runner, work, items, **options):
    return [(one.index, one.result, one.problem) for one in runner.run(work, items, **options)]


@pytest.mark.parametrize("runner", [InProcessRunner(), ProcessRunner(1), ProcessRunner(2)])
def test_all_items_are_worked_on_and_a_bug_loses_only_its_own(runner):
    found = outcomes(runner, Doubling(), iter([1, 2, "bug", 3]), ordered=True)
    assert found == [(0, 2, None), (1, 4, None), (2, None, "KeyError: 'a bug'"), (3, 6, None)]
    assert outcomes(runner, Doubling(), []) == []


def test_order_is_kept_where_it_is_asked_for_and_large_items_pass():
    items = ["slow", *range(20), "x" * 3_000_000]
    found = outcomes(ProcessRunner(2), Doubling(), items, ordered=True)
    assert [index for index, _, _ in found] == list(range(22))
    assert len(found[-1][1]) == 6_000_000
    loose = outcomes(ProcessRunner(2), Doubling(), items)
    assert sorted(loose) == found


def test_items_are_not_taken_long_before_they_are_needed():
    taken = []

    def items():
        for number in range(100):
            taken.append(number)
            yield number

    run = ProcessRunner(1).run(Doubling(), items(), ordered=True)
    next(run)
    assert len(taken) < 10
    run.close()


def test_a_killed_worker_is_replaced_and_its_item_tried_again(tmp_path):
    found = outcomes(ProcessRunner(2), Doubling(str(tmp_path)), [1, "die once", 2], ordered=True)
    assert [result for _, result, _ in found] == [2, "second try", 4]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_item_that_kills_its_workers_is_set_aside(workers):
    found = outcomes(ProcessRunner(workers), Doubling(), [1, "die", 2, "exit", 3], ordered=True)
    assert [result for _, result, _ in found] == [2, None, 4, None, 6]
    assert found[1][2] == "it ended its worker process 2 times (SIGKILL, out of memory?)"
    assert found[3][2] == "it ended its worker process 2 times (exit status 7)"


def test_what_a_user_can_put_right_ends_the_run():
    for runner in (InProcessRunner(), ProcessRunner(2)):
        with pytest.raises(UserError, match=r"D309.*No space"):
            outcomes(runner, Doubling(), [1, "full", 2])
        with pytest.raises(UserError, match="D300"):
            outcomes(runner, Doubling(broken="error"), [1])


def test_workers_that_cannot_start_end_the_run():
    with pytest.raises(UserError, match=r"D315.*exit status 3"):
        outcomes(ProcessRunner(2), Doubling(broken="dies"), [1, 2, 3])


def test_one_worker_needs_no_process():
    assert local_runner(1) == InProcessRunner()
    assert local_runner(3) == ProcessRunner(3)


@pytest.mark.parametrize("runner", [InProcessRunner(), ProcessRunner(2)])
def test_how_far_an_item_is_is_told_while_it_is_worked_on(runner):
    told = []
    (outcome,) = runner.run(Doubling(), ["parts"], tell=told.append)
    assert told == [10, 20] and (outcome.result, outcome.progress) == (30, 30)


def test_what_is_done_a_second_time_is_told_once(tmp_path):
    told = []
    (outcome,) = ProcessRunner(1).run(Doubling(str(tmp_path)), ["parts, dying once"], tell=told.append)
    assert told == [20, 10] and outcome.progress == 30


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_waits_until_a_worker_is_whole(monkeypatch, number):
    def end(*_):
        raise KeyboardInterrupt

    before = signal.signal(number, end)
    begun = []

    def start(work):
        os.kill(os.getpid(), number)
        begun.append(real(work))
        return begun[-1]

    real = processes._start
    monkeypatch.setattr(processes, "_start", start)
    try:
        with pytest.raises(KeyboardInterrupt):
            outcomes(ProcessRunner(1), Doubling(), [1])
        assert signal.getsignal(number) is end
    finally:
        signal.signal(number, before)
    (worker,) = begun
    assert worker.process.exitcode == -signal.SIGTERM  # it was known, and ended


@dataclass(frozen=True)
class Named:
    """Tells where it is done, and under which name; one that is broken cannot be begun."""

    name: str
    broken: bool = False

    def start(self):
        if self.broken:
            raise UserError("D300", path="model")
        return self.where

    def where(self, item, tell):
        time.sleep(0.1)
        return self.name, os.getpid()


def results(runner, work, items):
    return [one.result for one in runner.run(work, items)]


def test_workers_stay_from_one_run_to_the_next_and_end_with_the_block():
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


def test_a_worker_that_is_killed_between_two_runs_is_replaced():
    with ProcessRunner(1).staying() as runner:
        ((_, pid),) = results(runner, Named("first"), [1])
        os.kill(pid, signal.SIGKILL)
        ((name, other),) = results(runner, Named("second"), [1])
    assert name == "second" and other != pid


def test_other_work_that_cannot_be_begun_ends_its_run():
    with ProcessRunner(1).staying() as runner:
        results(runner, Named("first"), [1])
        with pytest.raises(UserError, match="D300"):
            results(runner, Named("second", broken=True), [1])
        assert results(runner, Named("third"), [1])[0][0] == "third"


ABANDONED = """
import os, signal, time
from disambig.jobs import ProcessRunner

class Busy:
    def start(self):
        end = os._exit
        os._exit = lambda status: (time.sleep(0.5), end(status))  # as on a busy machine
        return self.run
    def run(self, item, tell):
        for done in range(10**6):
            tell(done)

if __name__ == "__main__":
    seen = []
    def told(amount):
        seen.append(amount)
        if len(seen) > 20:
            os.kill(os.getpid(), signal.SIGKILL)
    for outcome in ProcessRunner(2).run(Busy(), [1, 2], tell=told):
        pass
"""


def test_workers_whose_parent_is_killed_end_without_a_word(tmp_path):
    """They find the pipe closed while they tell of their progress."""
    (tmp_path / "abandoned.py").write_text(ABANDONED)
    done = subprocess.run(  # it waits until the last worker has closed its standard error
        [sys.executable, "abandoned.py"], cwd=tmp_path, capture_output=True, timeout=60
    )
    assert (done.returncode, done.stderr.decode()) == (-signal.SIGKILL, "")
