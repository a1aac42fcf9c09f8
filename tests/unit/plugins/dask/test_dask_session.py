"""Sessions on a Dask cluster: failing starts, interrupts, quiet logging, and Dask that is not installed."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys

import pytest
from commands import here
from disambig_dask import PersistentCluster, engine, open_session, quiet_logging

from disambig.errors import UserError

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")


class FakeCluster:
    """A cluster that fails to start `fails` times, and can interrupt the process."""

    fails = 0
    interrupted = False
    closed = 0
    begun = 0

    def __init__(self, **settings):
        type(self).begun += 1
        type(self).profiled = dask.config.get("distributed.worker.profile.enabled")
        type(self).tick = dask.config.get("distributed.admin.tick.interval")
        type(self).environment = dict(dask.config.get("distributed.nanny.pre-spawn-environ"))
        if self.interrupted:
            os.kill(os.getpid(), signal.SIGTERM)
        if self.begun <= self.fails:
            raise RuntimeError("Nanny failed\nto start.")

    def close(self, timeout):
        type(self).closed += 1


@pytest.fixture
def cluster(monkeypatch):
    created = type("Made", (FakeCluster,), {})
    monkeypatch.setattr(distributed, "LocalCluster", created)

    def client(*given, **settings):
        raise OSError("no client here")

    monkeypatch.setattr(distributed, "Client", client)
    return created


def test_one_more_attempt_after_a_killed_worker(cluster):
    cluster.fails = 1
    with pytest.raises(UserError, match="no client here"):  # it was running
        open_session(None, 2, seconds=1)
    assert (cluster.begun, cluster.closed) == (2, 1)


def test_a_cluster_that_never_starts(cluster):
    cluster.fails = 9
    with pytest.raises(UserError, match=r"D920.*: Nanny failed to start\.; try again") as raised:
        open_session(None, 2, seconds=1)
    assert "\n" not in str(raised.value) and cluster.begun == 2


@pytest.mark.parametrize("fails", [0, 9])
def test_an_interrupt_during_the_start(cluster, fails):
    def end(*_):
        raise KeyboardInterrupt

    cluster.interrupted, cluster.fails = True, fails
    before = signal.signal(signal.SIGTERM, end)
    try:
        with pytest.raises(KeyboardInterrupt):
            open_session(None, 2, seconds=1)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (cluster.begun, cluster.closed) == (1, 0 if fails else 1)


def test_settings_of_the_workers(cluster):
    before = dask.config.get("distributed.worker.profile.enabled")
    with pytest.raises(UserError):
        open_session(None, 2, seconds=1)
    assert cluster.tick == "500ms" != dask.config.get("distributed.admin.tick.interval")
    assert not cluster.profiled and cluster.environment["MALLOC_TRIM_THRESHOLD_"] is None
    assert cluster.environment["OMP_NUM_THREADS"] == 1  # everything else is unchanged
    assert dask.config.get("distributed.worker.profile.enabled") is before


def test_persistent_clusters_start_once(cluster):
    kept = PersistentCluster()
    for _ in range(2):
        with pytest.raises(UserError, match="no client here"):
            open_session(None, 2, seconds=1, kept=kept)
    assert (cluster.begun, cluster.closed) == (1, 0)
    kept.close()
    kept.close()
    assert (cluster.begun, cluster.closed) == (1, 1)


FIRST_USE = """
import logging
from disambig_dask.session import quiet_logging
with quiet_logging():
    import distributed.client, distributed.gc
    for name in ("distributed", "distributed.client", "distributed.gc", "distributed.core", "asyncio"):
        logging.getLogger(name).critical("said by %s", name)
logging.getLogger("distributed.client").warning("afterwards")
"""


def test_dask_is_imported_with_quiet_logging():
    done = subprocess.run([sys.executable, "-c", FIRST_USE], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "said by" not in done.stderr and "afterwards" in done.stderr


def test_overlapping_quiet_blocks():
    log = logging.getLogger("distributed.client")
    before = log.level
    first, second = quiet_logging(), quiet_logging()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert not log.isEnabledFor(logging.CRITICAL)
    second.__exit__(None, None, None)
    assert log.level == before and log.isEnabledFor(logging.CRITICAL)


def test_dask_is_not_installed(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "find_spec", lambda name: None)
    (tmp_path / "a.txt").write_text("In it.")
    done = here("annotate", "a.txt", "--engine", "dask", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "disambig: [D850] the engine dask needs the package dask: pip install 'dask[distributed]>=2025.1'\n"
    )
