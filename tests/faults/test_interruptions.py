"""Kills, several commands on one directory, and clocks that jump: a job comes to the same bytes."""

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
from commands import here
from fake_models import install_fakes
from fault_tools import (
    LIMIT,
    amount,
    begun,
    chance,
    check,
    ended,
    hears,
    held,
    leftovers,
    members,
    until,
    workers,
)

from disambig.errors import UserError
from disambig.jobs import is_running, locked

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
"""Message of a worker whose parent ended before it sent a task: no process is left that could suppress it."""
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
    message = ended(running)
    assert running.returncode == 0, message
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
        message = ended(running, what)
        check(running.returncode == 0 and "Traceback" not in message, what, message)
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
    message = ended(running, case)
    right = (0,) if target == "worker" or not there else (0, STATUS[number], -number)
    check(running.returncode in right or not listens, case, running.returncode, message)
    orphan = there and target == "parent" and number is signal.SIGKILL and _UNBORN in message
    check("Traceback" not in message or not listens or orphan, case, message)
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


RACED = ("annotate", "lines.txt", "--lines", "--shard-size", "0.004")


@pytest.fixture(scope="module")
def raced_corpus(tmp_path_factory) -> tuple[Path, dict]:
    folder = tmp_path_factory.mktemp("two")
    lines = (f"Line {n} tells of a quite place.{' SLOW' if n % 16 == 0 else ''}\n" for n in range(400))
    (folder / "lines.txt").write_text("".join(lines))
    running = begun(*RACED, "--output", "whole", folder=folder)
    message = ended(running)
    assert running.returncode == 0, message
    return folder, held(folder / "whole")


def test_one_wins_and_the_others_say_so(raced_corpus):
    folder, whole = raced_corpus
    lost = 0
    for trial in range(amount(2, 200)):
        numbers = chance("two", trial)
        output = f"out{trial}"
        runs = []
        for _ in range(numbers.choice((2, 2, 3, 4))):
            more = ("--workers", numbers.choice((1, 2)))
            runs.append(begun(*RACED, "--output", output, *more, folder=folder))
            time.sleep(numbers.choice((0, 0, 0.3)))
        message = [ended(running) for running in runs]
        status = [running.returncode for running in runs]
        check(0 in status and set(status) <= {0, 2}, trial, status, *message)
        for number, text in zip(status, message, strict=True):
            if number == 2:
                lost += 1
                check(text.startswith("disambig: [D312]") and text.count("\n") == 1, trial, text)
        check(held(folder / output) == whole, trial, "another result")
        check(not leftovers(folder), trial, leftovers(folder))
    assert lost, "none was ever in the way of another"


def test_a_second_job_in_the_same_directory_is_rejected_even_with_force(raced_corpus):
    folder, whole = raced_corpus
    first = begun(*RACED, "--output", "held", folder=folder)
    while not (folder / "held" / "shards").exists() and first.poll() is None:
        time.sleep(0.01)
    other = begun("annotate", "lines.txt", "--lines", "--output", "held", "--force", folder=folder)
    message, status = ended(other), other.returncode
    ended(first)
    assert first.returncode == 0
    assert status == 2 and message.startswith("disambig: [D312]"), message
    assert held(folder / "held") == whole


RESUMED = ("annotate", "lines.txt", "--lines", "--shard-size", "0.002", "--output", "out")
YEAR = 365.25 * 86_400
TIMES = (-YEAR, 0.0, 1.0, 2.0**31, 2.0**32 + 5, 200 * YEAR)


@pytest.fixture
def resumed_folder(tmp_path, monkeypatch) -> Path:
    install_fakes(monkeypatch)
    lines = (f"Line {n} tells of a quite place in Russia during 1997.\n" for n in range(400))
    (tmp_path / "lines.txt").write_text("".join(lines))
    return tmp_path


def written(job: Path) -> dict[str, tuple[int, int]]:
    """Return what is finished and which writing of it this is, by name."""
    return {
        path.relative_to(job).as_posix(): (path.stat().st_ino, path.stat().st_size)
        for path in job.rglob("*")
        if path.is_file()
    }


def test_jobs_do_not_depend_on_clocks(resumed_folder, monkeypatch):
    assert here(*RESUMED, folder=resumed_folder).returncode == 0
    job, real = resumed_folder / "out", time.time
    whole = held(job)
    shards = sorted(path.stem for path in (job / "shards").glob("*.json"))
    for trial in range(amount(3, 1_000)):
        numbers = chance("clock", trial)
        lost = set(numbers.sample(shards, numbers.randrange(1, len(shards))))
        for name in lost:
            (job / "shards" / f"{name}.json").unlink()
            if numbers.random() < 0.5:
                (job / f"part-{name}.jsonl").unlink()
        for path in (*job.rglob("*"), resumed_folder / "lines.txt", job):
            moment = numbers.choice(TIMES)
            os.utime(path, (moment, moment))
        before = written(job)
        jumps = [numbers.uniform(-60, 60) * YEAR for _ in range(7)]
        if trial % 3 == 2:  # as another process sees it
            running = begun(*RESUMED, "--workers", 2, folder=resumed_folder)
            message, status = ended(running), running.returncode
        else:
            with monkeypatch.context() as patch:  # the clock gives another time at each call
                patch.setattr(time, "time", lambda jumps=jumps: real() + jumps[int(real() * 1e4) % 7])
                patch.setattr(time, "time_ns", lambda: int(time.time() * 1e9))
                done = here(*RESUMED, folder=resumed_folder)
            message, status = done.stderr, done.returncode
        check(status == 0 and "Traceback" not in message, trial, message)
        check(held(job) == whole, trial, "another result")
        after = written(job)
        names = [name for name in before if before[name] != after[name]]
        twice = [name for name in names if not any(one in name for one in lost)]
        check(not twice, trial, "written twice", twice)


def test_locks_do_not_depend_on_their_time(tmp_path):
    with locked(tmp_path / "job"):
        for moment in TIMES:
            os.utime(tmp_path / "job" / ".lock", (moment, moment))
            assert is_running(tmp_path / "job")
            with pytest.raises(UserError, match="D312"), locked(tmp_path / "job"):
                pass
    assert not is_running(tmp_path / "job")
