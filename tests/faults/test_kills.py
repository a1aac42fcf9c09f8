"""Kills at random moments: begun again, a job comes to the same bytes; nothing is left of the killed."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from fault_dial import amount, chance
from fault_runs import LIMIT, begun, check, ended, hears, held, leftovers, members, until, workers

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks into /proc"),
]
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
STATUS = {signal.SIGKILL: -signal.SIGKILL, signal.SIGTERM: 143, signal.SIGINT: 130}
JOB = ("annotate", "lines.txt", "--lines", "--shard-size", "0.0015", "--workers", 2)
SHARDS = 11
ENGINES = {"local": (), "dask": ("--engine", "dask")}
_UNBORN = "preparation_data = reduction.pickle.load(from_parent)"
"""A worker says so whose parent is gone before it said what to do: nobody is left who could keep it quiet."""
PIECES = 2  # tests an engine, so that several processes share the kills


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> tuple[Path, dict, float]:
    """Return the folder of a corpus, what a job comes to that nobody disturbs, and how long it takes."""
    folder = tmp_path_factory.mktemp("kills")
    text = "tells of a quite place, and it was in Russia during 1997."
    lines = (f"Line {n} {text}{' SLOW' if n % 12 == 0 else ''}\n" for n in range(240))
    (folder / "lines.txt").write_text("".join(lines))
    began = time.monotonic()
    running = begun(*JOB, "--output", "whole", folder=folder)
    said = ended(running)
    assert running.returncode == 0, said
    assert _shards(folder / "whole") == SHARDS
    return folder, held(folder / "whole"), time.monotonic() - began


@pytest.mark.parametrize("piece", range(PIECES))
@pytest.mark.parametrize("engine", ENGINES)
def test_killed_at_any_moment_it_comes_to_the_same(corpus, tmp_path, engine, piece):
    home, whole, seconds = corpus
    if engine == "dask":
        pytest.importorskip("distributed")
        seconds *= 2
    wanted = -(-(amount(4, 700) if engine == "local" else amount(2, 300)) // PIECES)
    kills, trial, points = 0, 0, Counter()
    while kills < wanted:
        folder = tmp_path / str(trial)
        folder.mkdir()
        os.link(home / "lines.txt", folder / "lines.txt")
        kills += _trial(folder, whole, engine, seconds, (engine, piece, trial), wanted - kills, points)
        shutil.rmtree(folder)
        trial += 1
    print(f"{kills} kills in {trial} trials, every result as of an undisturbed run")
    for point, times in sorted(points.items()):
        print(f"{times:4d} {point}")


def _trial(
    folder: Path,
    whole: dict,
    engine: str,
    seconds: float,
    what: tuple[object, ...],
    most: int,
    points: Counter[str],
) -> int:
    """Begin a job, kill it up to three times, see it to its end; return how many kills there were.

    `points` counts the kills by signal, target and how far the job was.
    """
    numbers = chance(*what)
    kills = 0
    for _ in range(min(most, numbers.choice((1, 1, 2, 3)))):
        target = numbers.choice(("parent", "worker", "group"))
        number = numbers.choice(SIGNALS if target != "worker" else SIGNALS[:2])
        # Most of a short run is its start, so every second kill waits until some shards are done.
        shards = numbers.choice((None, numbers.randrange(SHARDS)))
        moment = numbers.uniform(0, 0.9 * seconds if shards is None else 0.1)
        after = "" if shards is None else f" behind {shards} shards"
        case = f"{what}: {number.name} to the {target} after {moment:.3f} s{after}"
        running = begun(*JOB, *ENGINES[engine], "--output", "out", folder=folder)
        try:
            if shards is not None:
                job = folder / "out"
                until(lambda: running.poll() is not None or _shards(job) >= shards, LIMIT, case)  # noqa: B023
            point = _killed(running, folder / "out", target, number, moment, numbers, case)
            if point is not None:
                kills += 1
                points[f"{number.name} to the {target}, {point}"] += 1
        finally:
            _sweep(running.pid)
    running = begun(*JOB, *ENGINES[engine], "--output", "out", folder=folder)
    try:
        said = ended(running, what)
        check(running.returncode == 0 and "Traceback" not in said, what, said)
        until(lambda: not members(running.pid), 10, f"{what}: no process is left")
    finally:
        _sweep(running.pid)
    check(held(folder / "out") == whole, what, "another result")
    left = leftovers(folder, but=("dask-scratch-space",))
    check(not left, what, left)
    return kills


def _killed(
    running, job: Path, target: str, number: signal.Signals, moment: float, numbers, case: str
) -> str | None:
    """Kill a command or a part of it; return how far the job was, or None if nothing was left to kill."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        running.wait(moment)
    if target == "worker":
        until(lambda: running.poll() is not None or workers(running.pid), 60, f"{case}: there are workers")
    pids = workers(running.pid) if target == "worker" else [running.pid]
    there = running.poll() is None and bool(pids)
    listens = hears(running.pid, signal.SIGTERM)
    point = _progress(job, bool(workers(running.pid)))
    if there and target == "group":
        os.killpg(running.pid, number)
    elif there:
        _kill(numbers.choice(pids), number)
    said = ended(running, case)
    right = (0,) if target == "worker" or not there else (0, STATUS[number], -number)
    check(running.returncode in right or not listens, case, running.returncode, said)
    orphan = there and target == "parent" and number is signal.SIGKILL and _UNBORN in said
    check("Traceback" not in said or not listens or orphan, case, said)
    until(lambda: not members(running.pid), 30, f"{case}: no process is left")
    return point if there else None


def _progress(job: Path, has_workers: bool) -> str:
    """Return how far a job is, from what stands in its directory."""
    done, drafts = _shards(job), any(job.rglob(".tmp-*"))
    if len(list(job.glob("part-*"))) > done:
        return f"{done} shards done, one without its record"
    if done:
        return f"{done} shards done" + (", one being written" if drafts else "")
    if drafts:
        return "the first shard being written"
    if has_workers:
        return "before the first shard, with workers"
    return "before the first worker" + (", with a directory" if job.exists() else "")


def _shards(job: Path) -> int:
    """Return how many shards of a job are done."""
    return len(list(job.glob("shards/*.json")))


def _kill(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _sweep(session: int) -> None:
    """End what a failed trial left."""
    for pid in members(session):
        _kill(pid, signal.SIGKILL)
