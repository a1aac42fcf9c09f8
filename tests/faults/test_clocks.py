"""Clocks that jump, times of files that cannot be: what is finished stays so, nothing is done twice."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from commands import here
from fake_models import fakes
from fault_dial import amount, chance
from fault_runs import begun, check, ended, held

from disambig.errors import UserError
from disambig.jobs import is_running, locked

pytestmark = pytest.mark.slow
JOB = ("annotate", "lines.txt", "--lines", "--shard-size", "0.002", "--output", "out")
YEAR = 365.25 * 86_400
TIMES = (-YEAR, 0.0, 1.0, 2.0**31, 2.0**32 + 5, 200 * YEAR)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    for name, fake in fakes().items():
        monkeypatch.setitem(sys.modules, name, fake)
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


def test_jobs_do_not_depend_on_clocks(folder, monkeypatch):
    assert here(*JOB, folder=folder).returncode == 0
    job, real = folder / "out", time.time
    whole = held(job)
    shards = sorted(path.stem for path in (job / "shards").glob("*.json"))
    for trial in range(amount(3, 1_000)):
        numbers = chance("clock", trial)
        lost = set(numbers.sample(shards, numbers.randrange(1, len(shards))))
        for name in lost:
            (job / "shards" / f"{name}.json").unlink()
            if numbers.random() < 0.5:
                (job / f"part-{name}.jsonl").unlink()
        for path in (*job.rglob("*"), folder / "lines.txt", job):
            moment = numbers.choice(TIMES)
            os.utime(path, (moment, moment))
        before = written(job)
        jumps = [numbers.uniform(-60, 60) * YEAR for _ in range(7)]
        if trial % 3 == 2:  # as another process sees it
            running = begun(*JOB, "--workers", 2, folder=folder)
            said, status = ended(running), running.returncode
        else:
            with monkeypatch.context() as patch:  # another time whenever it is asked
                patch.setattr(time, "time", lambda jumps=jumps: real() + jumps[int(real() * 1e4) % 7])
                patch.setattr(time, "time_ns", lambda: int(time.time() * 1e9))
                done = here(*JOB, folder=folder)
            said, status = done.stderr, done.returncode
        check(status == 0 and "Traceback" not in said, trial, said)
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
