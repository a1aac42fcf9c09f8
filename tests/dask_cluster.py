"""A Dask cluster of processes on this machine: a scheduler and workers, which tests kill and restart."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


@dataclass
class Cluster:
    """A scheduler and its workers; `processes` are all that were started, `folder` has their files."""

    folder: Path
    address: str = ""
    scheduler: Any = None
    processes: list[subprocess.Popen] = field(default_factory=list)

    def start_scheduler(self) -> None:
        """Start the scheduler, again at the same address if it was started before."""
        file = self.folder / "scheduler.json"
        file.unlink(missing_ok=True)
        port = self.address.rpartition(":")[2] if self.address else "0"
        options = ["--host", "127.0.0.1", "--port", port, "--no-dashboard", "--scheduler-file", str(file)]
        self.scheduler = self._start("scheduler", *options)
        until(lambda: _address(file), 60)
        self.address = _address(file)

    def start_worker(self, *options: str, cwd: Path | None = None, **environment: str) -> subprocess.Popen:
        """Start a worker with one thread, and with a nanny process unless the options say otherwise."""
        where = ["--nthreads", "1", "--host", "127.0.0.1", "--no-dashboard"]
        local = ["--local-directory", str(self.folder)]
        return self._start("worker", self.address, *where, *local, *options, cwd=cwd, **environment)

    def workers(self) -> dict[str, Any]:
        """Return the scheduler's information about its workers, by address."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            return dict(client.scheduler_info(n_workers=-1)["workers"])

    def pids(self) -> dict[str, int]:
        """Return the process id of each worker (not of its nanny), by address."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            return dict(client.run(os.getpid))

    def stop(self) -> None:
        """Kill all processes and their children."""
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _start(self, *arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.Popen:
        with open(self.folder / f"log{len(self.processes)}", "wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *arguments],
                cwd=cwd or self.folder,
                env={**os.environ, **environment},
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )
        self.processes.append(process)
        return process


@contextlib.contextmanager
def cluster(folder: Path, workers: int = 2, *options: str) -> Iterator[Cluster]:
    """Yield a cluster as soon as all workers are connected, and stop it after the block."""
    folder.mkdir(exist_ok=True)
    started = Cluster(folder)
    try:
        started.start_scheduler()
        for _ in range(workers):
            started.start_worker(*options)
        until(lambda: len(started.workers()) == workers, 120)
        yield started
    finally:
        started.stop()


def _address(file: Path) -> str:
    """Return the address in a scheduler's file, or "" while the file is missing or incomplete."""
    try:
        return json.loads(file.read_text())["address"]
    except (OSError, ValueError):
        return ""


def until(condition: Any, seconds: float) -> None:
    """Wait until a condition holds; fail after `seconds`."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited for {seconds} seconds"
        time.sleep(0.1)
