"""A cluster of real processes on this machine: a scheduler and workers, which tests kill and restart."""

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
    """A scheduler and its workers, in `folder`; every process is in `begun`."""

    folder: Path
    address: str = ""
    scheduler: Any = None
    begun: list[subprocess.Popen] = field(default_factory=list)

    def start_scheduler(self) -> None:
        """Start the scheduler: at its former address, if it had one."""
        file = self.folder / "scheduler.json"
        file.unlink(missing_ok=True)
        port = self.address.rpartition(":")[2] if self.address else "0"
        options = ["--host", "127.0.0.1", "--port", port, "--no-dashboard", "--scheduler-file", str(file)]
        self.scheduler = self._begin("scheduler", *options)
        until(lambda: _address(file), 60)
        self.address = _address(file)

    def start_worker(self, *options: str, cwd: Path | None = None, **environment: str) -> subprocess.Popen:
        """Start a worker of one thread, with a keeper (nanny) unless the options say otherwise."""
        where = ["--nthreads", "1", "--host", "127.0.0.1", "--no-dashboard"]
        local = ["--local-directory", str(self.folder)]
        return self._begin("worker", self.address, *where, *local, *options, cwd=cwd, **environment)

    def workers(self) -> dict[str, Any]:
        """Return what the scheduler says of its workers, by address."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            return dict(client.scheduler_info(n_workers=-1)["workers"])

    def pids(self) -> dict[str, int]:
        """Return the process of each worker, not its keeper's, by address."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            return dict(client.run(os.getpid))

    def stop(self) -> None:
        """End all, and what they began."""
        for process in self.begun:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _begin(self, *arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.Popen:
        with open(self.folder / f"log{len(self.begun)}", "wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *arguments],
                cwd=cwd or self.folder,
                env={**os.environ, **environment},
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )
        self.begun.append(process)
        return process


@contextlib.contextmanager
def cluster(folder: Path, workers: int = 2, *options: str) -> Iterator[Cluster]:
    """Give a cluster, whose workers are there."""
    folder.mkdir(exist_ok=True)
    made = Cluster(folder)
    try:
        made.start_scheduler()
        for _ in range(workers):
            made.start_worker(*options)
        until(lambda: len(made.workers()) == workers, 120)
        yield made
    finally:
        made.stop()


def _address(file: Path) -> str:
    """Return the address in a scheduler's file; nothing while the file is not there or half written."""
    try:
        return json.loads(file.read_text())["address"]
    except (OSError, ValueError):
        return ""


def until(holds: Any, seconds: float) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"waited for {seconds} seconds"
        time.sleep(0.1)
