"""Workers of a Dask cluster that leave and join while a job runs: it comes to the bytes of local workers."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from pathlib import Path

import pytest
from fault_tools import (
    LIMIT,
    REAL,
    amount,
    begun,
    chance,
    check,
    ended,
    held,
    leftovers,
    members,
    until,
    workers,
)

pytest.importorskip("distributed")
from dask_cluster import Cluster, cluster

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks into /proc"),
]
SENTENCES = (
    "I worked in Russia during 1997 to 2001, and it was hard to find a quite place.",
    "She will accept the offer in Monday, except it rains.",
    "It is to early too say weather the bridge holds.",
)
JOB = ("annotate", "lines.txt", "--lines", "--task", "spelling", "--shard-size", "0.008", "--output", "out")
LINES = 2_400
WORKERS = 2
MOST = 4
"""Maximum number of workers that leave during one run."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> tuple[Path, dict]:
    """Return a file of many lines, and what a job with local workers comes to."""
    folder = tmp_path_factory.mktemp("dask")
    text = folder / "lines.txt"
    text.write_text("".join(f"{number}: {SENTENCES[number % 3]}\n" for number in range(LINES)))
    running = begun(*JOB, "--workers", WORKERS, folder=folder, python=REAL)
    output = ended(running)
    assert running.returncode == 0, output
    return text, held(folder / "out")


def test_workers_leave_and_join_while_a_job_runs(corpus, tmp_path):
    text, whole = corpus
    wanted, gone, trial = amount(3, 300), 0, 0
    while gone < wanted:
        folder = tmp_path / str(trial)
        folder.mkdir()
        os.link(text, folder / "lines.txt")
        gone += _trial(folder, whole, ("dask workers", trial), min(MOST, wanted - gone))
        shutil.rmtree(folder)
        trial += 1
    print(f"{gone} workers left in {trial} runs, every result as of local workers")


def _trial(folder: Path, whole: dict, what: tuple[object, ...], most: int) -> int:
    """Run a job on a cluster whose workers change; return how many of them left meanwhile."""
    numbers = chance(*what)
    options = numbers.choice(((), ("--no-nanny",)))
    left, case = 0, f"{what}: {' '.join(options) or 'with nannies'}"
    with cluster(folder / "cluster", WORKERS, *options) as started:
        present = started.processes[1:]
        running = begun(*JOB, *_engine(started), folder=folder, python=REAL)
        try:
            for _ in range(most):
                goal = _shards(folder / "out") + numbers.choice((1, 2, 3))
                until(lambda: running.poll() is not None or _shards(folder / "out") >= goal, LIMIT, case)  # noqa: B023
                if running.poll() is not None:
                    break
                # One worker may leave before or after another one joins, or all at once.
                leaving = numbers.choice((present[:1], present[-1:], present))
                joins_first = numbers.random() < 0.5
                way = numbers.choice(("killed", "killed with its nanny", "asked to end"))
                case += f"; {_shards(folder / 'out')} shards done, {len(leaving)} of {len(present)} {way}"
                joined = [started.start_worker(*options) for _ in leaving] if joins_first else []
                for process in leaving:
                    _end(process.pid, way)
                left += len(leaving)
                joined = joined or [started.start_worker(*options) for _ in leaving]
                # The nanny of a worker that was killed alone starts another one.
                stays = leaving if way == "killed" and not options else []
                present = [*(one for one in present if one not in leaving or one in stays), *joined]
            output = ended(running, case)
            check(running.returncode == 0 and "Traceback" not in output, case, output)
            until(lambda: not members(running.pid), 10, f"{case}: no process is left")
            held_open = [pid for process in present for pid in members(process.pid) if _reads(pid, folder)]
            check(not held_open, case, "workers keep files of the job", held_open)
        finally:
            for pid in members(running.pid):
                _kill(pid, signal.SIGKILL)
    check(held(folder / "out") == whole, case, "another result")
    check(not leftovers(folder), case, leftovers(folder))
    return left


def _engine(started: Cluster) -> tuple[object, ...]:
    return "--engine", "dask", "--scheduler", started.address, "--workers", WORKERS


def _end(session: int, way: str) -> None:
    """Let a worker leave, given its session."""
    if way == "asked to end":
        _kill(session, signal.SIGTERM)
    elif way == "killed" and workers(session):
        for pid in workers(session):
            _kill(pid, signal.SIGKILL)
    else:
        for pid in members(session):
            _kill(pid, signal.SIGKILL)


def _reads(pid: int, folder: Path) -> bool:
    """Return True if a process has a file of the job open."""
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{pid}/fd/{name}").startswith(str(folder / "out")):
                    return True
    return False


def _shards(job: Path) -> int:
    """Return how many shards of a job are done."""
    return len(list(job.glob("shards/*.json")))


def _kill(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
