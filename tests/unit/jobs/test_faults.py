"""Documents that fail, hang or need too much memory, and time limits."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from fake_models import FakeSource
from job_helpers import job

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
)
from disambig.models import annotate_documents
from disambig.runtime import DeadlineExceeded, pause_time_limit, resume_time_limit, time_limit


def lines(tmp_path: Path, n: int, **bad: int) -> Path:
    """Write a file of lines, some of which contain a word that makes the fake model fail."""
    texts = [f"Line {number} tells of a quite place." for number in range(1, n + 1)]
    for word, number in bad.items():
        texts[number - 1] += f" {word}"
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(texts) + "\n")
    return path


class Fails:
    """A runner without processes in which items fail by a rule."""

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


def bisect(tmp_path, n, fails):
    path = lines(tmp_path, n)
    (shard,) = plan_shards(find_inputs([str(path)], lines=True)).shards
    runner = Fails(fails)
    work = ShardWork(tmp_path / "out", FakeSource(), make_format("jsonl"), "text")
    return bisect_failure(shard, work, runner), runner.runs


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64, 1000])
def test_finds_a_failing_document_in_few_tries(tmp_path, n):
    for bad in sorted({0, n // 3, n - 1}):
        name, runs = bisect(tmp_path, n, lambda first, last, bad=bad: first <= bad < last)
        assert name == f"{tmp_path / 'lines.txt'}:{bad + 1}"
        assert runs <= 2 * n.bit_length() + 3


def test_finds_no_document_if_only_several_fail_together(tmp_path):
    assert bisect(tmp_path, 10, lambda first, last: last - first > 5)[0] is None
    assert bisect(tmp_path, 1, lambda first, last: False)[0] is None


def test_leaves_out_a_document_that_hangs(tmp_path):
    path = lines(tmp_path, 6, HANG=4)
    for runner in (None, ProcessRunner(1)):
        start = time.monotonic()
        out = tmp_path / f"out-{runner is None}"
        report = job(path, out, lines=True, size=10**6, runner=runner, limits=JobLimits(seconds=0.5))
        (message,) = report.bad
        assert "lines.txt:4" in message
        assert "longer than 0.5 seconds" in message
        assert report.totals.documents == 5
        assert time.monotonic() - start < 30


def test_time_limit_applies_per_document():
    documents = [Document(str(number), "SLOW", "a") for number in range(8)]

    def annotate(texts):
        time.sleep(0.1 * len(texts))
        return []

    results, bad = annotate_documents(documents, annotate, seconds=0.3)
    assert (len(results), bad) == (8, [])


def test_threads_have_no_time_limit():
    finished = []

    def run():
        with time_limit(0.01):
            time.sleep(0.1)
            finished.append("whole")

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert finished == ["whole"]


def test_time_limit_leaves_no_timer():
    with time_limit(5):
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_memory_usage_of_a_process():
    # In a child process, since this one may have free memory, so that a new block does not make it grow.
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


def test_ends_a_worker_above_the_memory_limit_and_names_its_document(tmp_path):
    path = lines(tmp_path, 2, HUGE=2)
    start = time.monotonic()
    report = job(path, tmp_path / "out", lines=True, size=10**6, runner=local_runner(1, memory=350 << 20))
    (message,) = report.left_out
    assert "used more than 367,001,600 bytes of memory" in message
    assert f"the cause is {path}:2" in message
    assert time.monotonic() - start < 120


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_rejects_an_invalid_time_limit(seconds):
    with pytest.raises(UserError, match="D859"):
        JobLimits(seconds=seconds)


def test_memory_limits_need_the_local_engine():
    assert make_runner("local", EngineOptions(memory=1 << 30)) == ProcessRunner(1, None, 1 << 30)
    with pytest.raises(UserError, match="D878"):
        make_runner("dask", EngineOptions(memory=1 << 30))


def test_time_limit_excludes_pauses():
    start = time.monotonic()
    with time_limit(0.2):
        pause_time_limit()
        pause_time_limit()
        while time.monotonic() < start + 0.4:
            pass
        resume_time_limit()
        resume_time_limit()
    with pytest.raises(DeadlineExceeded), time_limit(0.2):
        pause_time_limit()
        resume_time_limit()
        while time.monotonic() < start + 30:
            pass


def test_repeats_a_lost_alarm(monkeypatch):
    monkeypatch.setattr("disambig.runtime.ALARM_INTERVAL", 0.05)
    start, lost = time.monotonic(), 0
    with pytest.raises(DeadlineExceeded), time_limit(0.05):
        while time.monotonic() < start + 30:
            try:
                while time.monotonic() < start + 30:
                    pass
            except DeadlineExceeded:
                lost += 1
                if lost > 2:
                    raise
    assert lost == 3


def test_searches_for_faults_after_all_other_work(tmp_path, monkeypatch):
    """The limits of other workers are watched while they work, which an earlier search would delay."""
    order = []

    class Failing:
        def run(self, work, items, **settings):
            for number, outcome in enumerate(InProcessRunner().run(work, items, **settings)):
                order.append(number)
                yield replace(outcome, result=None, problem="it fell") if number == 0 else outcome

    monkeypatch.setattr("disambig.jobs.job.bisect_failure", lambda *_: order.append("search"))
    report = job(lines(tmp_path, 40), tmp_path / "out", lines=True, size=200, runner=Failing())
    assert order[-1] == "search" and len(order) > 3
    assert "it fell" in report.left_out[0]
