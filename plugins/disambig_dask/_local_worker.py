"""Preload module of the workers of a local cluster: interrupts are left to the process that started them."""

from __future__ import annotations

import signal
from typing import Any

from disambig.api.runners import leave_out_current_directory


def dask_setup(worker: Any) -> None:
    """Ignore SIGINT: a terminal sends it to every process, and the job's own process ends the workers."""
    leave_out_current_directory()  # for processes that this worker starts
    signal.signal(signal.SIGINT, signal.SIG_IGN)
