"""Count generated text of several sizes as a job: seconds, disk, memory per gigabyte. From the top folder:

python tests/benchmarks/count_sizes.py 1 3 --workers 2 --folder /tmp

Words are drawn one by one with Zipf's frequencies, which is the worst case: almost every longer n-gram is
new. A gigabyte needs eleven more on the disk.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

SHARD = 100_000_000  # bytes of a file
VOCABULARY = 2_000_000


def made_words(rng: np.random.Generator) -> np.ndarray:
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        lengths = rng.poisson(2 + np.log10(1 + len(words)), 100_000) + 1
        words.update(dict.fromkeys("".join(letters[rng.zipf(1.3, n) % 26]) for n in lengths.tolist()))
    return np.array(list(words)[:VOCABULARY], dtype=object)


def made_text(folder: Path, size: int) -> None:
    """Write files with lines of twenty words; the same text in every run."""
    rng = np.random.default_rng(0)
    words = made_words(rng)
    shares = np.cumsum(1 / (2.7 + np.arange(VOCABULARY)) ** 1.05)
    shares /= shares[-1]
    written = number = 0
    while written < size:
        with (folder / f"{number:05}.txt").open("w") as file:
            of_file = 0
            while of_file < min(SHARD, size - written):
                lines = words[np.searchsorted(shares, rng.random((20_000, 20)))]
                of_file += file.write("".join(f"{' '.join(line)}\n" for line in lines.tolist()))
        written, number = written + of_file, number + 1


def family(pid: int) -> list[int]:
    """Return a process and all its descendants."""
    pids = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            pids += family(int(child))
    return pids


class Watched(threading.Thread):
    """Measures the memory of the processes and the disk use four times a second."""

    def __init__(self, pid: int, folder: Path) -> None:
        super().__init__(daemon=True)
        self.pid, self.folder = pid, folder
        self.ended = threading.Event()
        self.memory: dict[int, int] = {}
        self.disk = 0

    def run(self) -> None:
        free = shutil.disk_usage(self.folder).free
        while not self.ended.wait(0.25):
            self.disk = max(self.disk, free - shutil.disk_usage(self.folder).free)
            try:
                for pid in family(self.pid):
                    peak = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
                    if peak:
                        self.memory[pid] = int(peak[1]) * 1024
            except OSError:
                continue  # a process ended meanwhile


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sizes", type=float, nargs="+", help="gigabytes of text")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="where text, temporary files and tables lie meanwhile")
    parser.add_argument("more", nargs="*", help="options of `counts build`, after --")
    given = sys.argv[1:]
    more = given[given.index("--") + 1 :] if "--" in given else []
    options = parser.parse_args(given[: given.index("--")] if "--" in given else given)
    print("GB  seconds  MB/s  seconds/GB  disk, GB  table, GB  memory: parent, workers, MB", flush=True)
    for size in options.sizes:
        with tempfile.TemporaryDirectory(dir=options.folder, prefix="counting-") as name:
            folder = Path(name)
            (folder / "text").mkdir()
            made_text(folder / "text", int(size * 1e9))
            began = time.perf_counter()
            build = [sys.executable, "-m", "disambig", "counts", "build", "--quiet"]
            files = [str(folder / "text"), "-o", str(folder / "made.counts")]
            running = subprocess.Popen([*build, *files, "--workers", str(options.workers), *more])
            watched = Watched(running.pid, folder)
            watched.start()
            if running.wait():
                raise SystemExit("counting failed")
            took = time.perf_counter() - began
            watched.ended.set()
            watched.join()
            parent = watched.memory.pop(running.pid) / 1e6
            workers = max(watched.memory.values(), default=0) / 1e6
            print(
                f"{size:g}  {took:.0f}  {size * 1000 / took:.1f}  {took / size:.0f}  {watched.disk / 1e9:.1f}"
                f"  {(folder / 'made.counts').stat().st_size / 1e9:.2f}  {parent:.0f}, {workers:.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
