"""Documents that kill, hang or swell: found, named, and left out, whatever shard they are in."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from fake_models import FakeSource

from disambig.errors import UserError
from disambig.formats import Document, find_inputs, make_format
from disambig.jobs import (
    EngineOptions,
    InProcessRunner,
    JobLimits,
    ProcessRunner,
    ShardWork,
    bisect_failure,
    local_runner,
    make_runner,
    memory_usage,
    plan_shards,
    run_job,
)
from disambig.models import annotate_documents
from disambig.runtime import DeadlineExceeded, pause_time_limit, resume_time_limit, time_limit


def lines(tmp_path: Path, n: int, **bad: int) -> Path:
    """Write a file of lines, some of which have a word that makes the fake model misbehave."""
    texts = [f"Line {number} tells of a quite place." for number in range(1, n + 1)]
    for word, number in bad.items():
        texts[number - 1] += f" {word}"
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(texts) + "\n")
    return path


def job(path: Path, out: Path, *, runner=None, bounds=None):
    return run_job(
        out,
        find_inputs([str(path)], lines=True),
        source=FakeSource(),
        format=make_format("jsonl"),
        runner=runner,
        bounds=bounds,
    )


def test_the_document_that_kills_is_named(tmp_path):
    path = lines(tmp_path, 8, KILLME=5)
    report = job(path, tmp_path / "out", runner=ProcessRunner(1))
    (message,) = report.left_out
    assert f"the cause is {path}:5" in message
    assert "SIGKILL" in message


class Fails:
    """A runner in which items fail by a rule, without any process."""

    def __init__(self, fails):
        self.fails, self.runs = fails, 0

    def run(self, work, items, *, ordered=False, tell=lambda amount: None):
        def start():
            real = work.start()

            def function(probe, tell):
                self.runs += 1
                if probe.annotated and self.fails(probe.first, probe.last):
                    raise RuntimeError
                return real(probe, tell)

            return function

        class Work:
            pass

        Work.start = staticmethod(start)
        return InProcessRunner().run(Work(), items, ordered=ordered, tell=tell)


def found(tmp_path, n, fails):
    path = lines(tmp_path, n)
    (shard,) = plan_shards(find_inputs([str(path)], lines=True)).shards
    runner = Fails(fails)
    work = ShardWork(tmp_path / "out", FakeSource(), make_format("jsonl"), "text")
    return bisect_failure(shard, work, runner), runner.runs


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64, 1000])
def test_each_document_is_found_in_few_tries(tmp_path, n):
    for bad in sorted({0, n // 3, n - 1}):
        name, runs = found(tmp_path, n, lambda first, last, bad=bad: first <= bad < last)
        assert name == f"{tmp_path / 'lines.txt'}:{bad + 1}"
        assert runs <= 2 * n.bit_length() + 3


def test_what_fails_only_together_has_no_document_at_fault(tmp_path):
    assert found(tmp_path, 10, lambda first, last: last - first > 5)[0] is None
    assert found(tmp_path, 1, lambda first, last: False)[0] is None


def test_a_document_that_hangs_is_left_out_and_the_others_are_not(tmp_path):
    path = lines(tmp_path, 6, HANG=4)
    for runner in (None, ProcessRunner(1)):
        began = time.monotonic()
        out = tmp_path / f"out-{runner is None}"
        report = job(path, out, runner=runner, bounds=JobLimits(seconds=0.5))
        (message,) = report.bad
        assert "lines.txt:4" in message
        assert "longer than 0.5 seconds" in message
        assert report.totals.documents == 5
        assert time.monotonic() - began < 30


def test_time_is_a_documents_and_not_a_batchs():
    documents = [Document(str(number), "SLOW", "a") for number in range(8)]

    def annotate(texts):
        time.sleep(0.1 * len(texts))
        return []

    results, bad = annotate_documents(documents, annotate, seconds=0.3)
    assert (len(results), bad) == (8, [])


def test_a_thread_has_no_alarm():
    told = []

    def run():
        with time_limit(0.01):
            time.sleep(0.1)
            told.append("whole")

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert told == ["whole"]


def test_no_alarm_is_left_behind():
    import signal

    with time_limit(5):
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_a_time_that_is_none(seconds):
    with pytest.raises(UserError, match="D859"):
        JobLimits(seconds=seconds)


def test_the_memory_of_a_process_is_known():
    # A process of its own: this one may hold freed memory that a new block takes without growing.
    script = "import sys; block = bytearray(b'x') * int(sys.argv[1]); print(len(block), flush=True); input()"
    used = []
    for size in (1, 50 << 20):
        command = [sys.executable, "-c", script, str(size)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert int(process.stdout.readline()) == size
            used.append(memory_usage(process.pid))
            process.communicate(b"\n")
    assert used[0] > 0
    assert used[1] - used[0] > 40 << 20
    assert memory_usage(2**30) == 0


def test_a_worker_that_swells_is_ended_and_its_document_named(tmp_path):
    path = lines(tmp_path, 2, HUGE=2)
    began = time.monotonic()
    report = job(path, tmp_path / "out", runner=local_runner(1, memory=350 << 20))
    (message,) = report.left_out
    assert "used more than 367,001,600 bytes of memory" in message
    assert f"the cause is {path}:2" in message
    assert time.monotonic() - began < 120


def test_a_bound_on_memory_is_for_the_engine_local():
    assert make_runner("local", EngineOptions(memory=1 << 30)) == ProcessRunner(1, None, 1 << 30)
    with pytest.raises(UserError, match=r"D878"):
        make_runner("dask", EngineOptions(memory=1 << 30))


def test_compiling_is_not_charged_to_a_document():
    began = time.monotonic()
    with time_limit(0.2):
        pause_time_limit()
        pause_time_limit()
        while time.monotonic() < began + 0.4:
            pass
        resume_time_limit()
        resume_time_limit()
    with pytest.raises(DeadlineExceeded), time_limit(0.2):
        pause_time_limit()
        resume_time_limit()
        while time.monotonic() < began + 30:
            pass


def test_an_alarm_that_is_lost_comes_again(monkeypatch):
    monkeypatch.setattr("disambig.runtime.AGAIN", 0.05)
    began, lost = time.monotonic(), 0
    with pytest.raises(DeadlineExceeded), time_limit(0.05):
        while time.monotonic() < began + 30:
            try:
                while time.monotonic() < began + 30:
                    pass
            except DeadlineExceeded:
                lost += 1
                if lost > 2:
                    raise
    assert lost == 3


def test_faults_are_looked_for_when_all_else_is_done(tmp_path, monkeypatch):
    """While other workers are at it their bounds are watched, which a search in between would put off."""
    order = []

    class Failing:
        def run(self, work, items, **settings):
            for number, outcome in enumerate(InProcessRunner().run(work, items, **settings)):
                order.append(number)
                yield replace(outcome, result=None, problem="it fell") if number == 0 else outcome

    monkeypatch.setattr("disambig.jobs.job.bisect_failure", lambda *_: order.append("search"))
    report = run_job(
        tmp_path / "out",
        find_inputs([str(lines(tmp_path, 40))], lines=True),
        source=FakeSource(),
        format=make_format("jsonl"),
        runner=Failing(),
        shard_size=200,
    )
    assert order[-1] == "search" and len(order) > 3
    assert "it fell" in report.left_out[0]
