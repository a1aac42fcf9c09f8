"""Very many tiny files: the memory of the parent stays in bounds, and to go on costs little."""

from __future__ import annotations

import os
import re
import resource
import time
from pathlib import Path

import pytest
from fault_dial import amount
from fault_runs import begun, check

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks into /proc"),
]
BASE, EACH = 120.0, 0.0004
"""Megabytes that the parent may take, and in addition for each file."""


def made(folder: Path, files: int) -> None:
    for number in range(files):
        if number % 1000 == 0:
            place = folder / f"{number // 1000:04}"
            place.mkdir(parents=True)
        (place / f"{number % 1000}.txt").write_text(f"File {number} tells of a quite place.\n")


def run(folder: Path, *more: object) -> tuple[str, float, float]:
    """Run the job; return what it said, the most megabytes of its parent, and seconds of processors."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    most = 0.0
    with open(folder / "said", "w+b") as said:
        running = begun("annotate", "many", *more, "--workers", 2, folder=folder, stderr=said)
        while running.poll() is None:
            most = max(most, _peak(running.pid))
            time.sleep(0.1)
        said.seek(0)
        text = said.read().decode()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert running.returncode == 0, text
    return text, most, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _peak(pid: int) -> float:
    try:
        said = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0.0
    return int(said[1]) / 1e3 if said else 0.0


@pytest.mark.parametrize(
    ("format", "files"), [("jsonl", amount(1_000, 10**6)), ("corrected", amount(300, 10**5))]
)
def test_a_million_of_tiny_files(tmp_path, format, files):
    made(tmp_path / "many", files)
    job = ("--format", format, "--output", "out", "--shard-size", "0.1")
    said, first, work = run(tmp_path, *job)
    assert f"{files:,} documents" in said
    found = _documents(tmp_path / "out", format)
    assert found == files
    said, second, again = run(tmp_path, *job)
    assert "nothing left to do: an earlier run finished the job" in said
    print(f"{files:,} files: {work:.1f} s of processors, then {again:.1f}; {first:.0f} MB, then {second:.0f}")
    check(max(first, second) < BASE + EACH * files, "memory of the parent", first, second)
    check(again < 3 + 0.5 * work, "to go on costs as much as to do it", work, again)


def _documents(out: Path, format: str) -> int:
    if format == "jsonl":
        return sum(path.read_bytes().count(b"\n") for path in out.glob("part-*"))
    return sum(path.read_text().count("quiet") for path in out.rglob("*.txt"))
