"""A cluster of this machine that does not stand at once: tried again, and else one line."""

from __future__ import annotations

import os
import signal

import pytest

distributed = pytest.importorskip("distributed")

import dask  # noqa: E402
from disambig_dask import PersistentCluster, open_session  # noqa: E402

from disambig.errors import UserError  # noqa: E402


class Cluster:
    """Fails as often as it is told to; a number ends it in between."""

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
    made = type("Made", (Cluster,), {})
    monkeypatch.setattr(distributed, "LocalCluster", made)

    def client(*given, **settings):
        raise OSError("no client here")

    monkeypatch.setattr(distributed, "Client", client)
    return made


def test_a_worker_that_is_killed_at_once_costs_one_more_try(cluster):
    cluster.fails = 1
    with pytest.raises(UserError, match="no client here"):  # it stood
        open_session(None, 2, seconds=1)
    assert (cluster.begun, cluster.closed) == (2, 1)


def test_a_cluster_that_never_stands_is_one_line(cluster):
    cluster.fails = 9
    with pytest.raises(UserError, match=r"D920.*: Nanny failed to start\.; try again") as raised:
        open_session(None, 2, seconds=1)
    assert "\n" not in str(raised.value) and cluster.begun == 2


@pytest.mark.parametrize("fails", [0, 9])
def test_an_interrupt_waits_until_it_stands_and_then_it_is_closed(cluster, fails):
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


def test_its_workers_are_not_profiled_and_keep_their_memory(cluster):
    before = dask.config.get("distributed.worker.profile.enabled")
    with pytest.raises(UserError):
        open_session(None, 2, seconds=1)
    assert cluster.tick == "500ms" != dask.config.get("distributed.admin.tick.interval")
    assert not cluster.profiled and cluster.environment["MALLOC_TRIM_THRESHOLD_"] is None
    assert cluster.environment["OMP_NUM_THREADS"] == 1  # the rest is as it was
    assert dask.config.get("distributed.worker.profile.enabled") is before


def test_a_cluster_that_is_kept_is_begun_once_and_closed_by_whoever_keeps_it(cluster):
    kept = PersistentCluster()
    for _ in range(2):
        with pytest.raises(UserError, match="no client here"):
            open_session(None, 2, seconds=1, kept=kept)
    assert (cluster.begun, cluster.closed) == (1, 0)
    kept.close()
    kept.close()
    assert (cluster.begun, cluster.closed) == (1, 1)
