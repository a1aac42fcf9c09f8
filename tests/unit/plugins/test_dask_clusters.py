"""A cluster of this machine that does not stand at once: tried again, and else one line."""

from __future__ import annotations

import os
import signal

import pytest

distributed = pytest.importorskip("distributed")

from disambig_dask.session import connect  # noqa: E402

from disambig.errors import UserError  # noqa: E402


class Cluster:
    """Fails as often as it is told to; a number ends it in between."""

    fails = 0
    interrupted = False
    closed = 0
    begun = 0

    def __init__(self, **settings):
        type(self).begun += 1
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
        connect(None, 2, seconds=1)
    assert (cluster.begun, cluster.closed) == (2, 1)


def test_a_cluster_that_never_stands_is_one_line(cluster):
    cluster.fails = 9
    with pytest.raises(UserError, match=r"D920.*: Nanny failed to start\.; try again") as raised:
        connect(None, 2, seconds=1)
    assert "\n" not in str(raised.value) and cluster.begun == 2


@pytest.mark.parametrize("fails", [0, 9])
def test_an_interrupt_waits_until_it_stands_and_then_it_is_closed(cluster, fails):
    def end(*_):
        raise KeyboardInterrupt

    cluster.interrupted, cluster.fails = True, fails
    before = signal.signal(signal.SIGTERM, end)
    try:
        with pytest.raises(KeyboardInterrupt):
            connect(None, 2, seconds=1)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (cluster.begun, cluster.closed) == (1, 0 if fails else 1)
