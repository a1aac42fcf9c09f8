"""What the engine dask waits for, and for how long: workers that come and go, a scheduler that is gone."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading

import pytest

pytest.importorskip("distributed")

from dask_cluster import cluster
from disambig_dask import DaskRunner, scheduler_address

from disambig.errors import UserError
from disambig.runtime import time_limit
from disambig.testing.jobs import Doubling

pytestmark = pytest.mark.slow


def test_too_few_workers_are_waited_for_in_vain(tmp_path):
    wanted = r"D855.* has 1 of the 2 requested workers"
    with cluster(tmp_path, 1) as made, pytest.raises(UserError, match=wanted):
        list(DaskRunner(made.address, workers=2, patience=2).run(Doubling(), [1]))


@pytest.mark.parametrize(
    ("says", "problem"),
    [(b"", "does not answer within 1 seconds"), (b"SSH-2.0-here" * 9, "what answers there")],
)
def test_what_listens_and_is_no_scheduler(says, problem):
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=greet, args=(server, says), daemon=True).start()
        with pytest.raises(UserError, match=rf"D853.*{problem}"):
            scheduler_address(f"127.0.0.1:{server.getsockname()[1]}", seconds=1.0)


def greet(server, says):
    """Take one connection, say something and leave it open until the test is over."""
    taken, _ = server.accept()
    with taken:
        taken.sendall(says)
        threading.Event().wait(10)


def test_a_scheduler_that_does_not_come_back_ends_the_run(tmp_path):
    with cluster(tmp_path, 1) as made:
        run = DaskRunner(made.address, patience=2).run(Doubling(), ["slow"] * 20)
        assert next(run).result == "slowslow"
        os.killpg(made.scheduler.pid, signal.SIGKILL)
        with pytest.raises(UserError, match=rf"D854.*{made.address}"):
            list(run)


def test_all_workers_are_lost_and_one_comes(tmp_path):
    with cluster(tmp_path, 1, "--no-nanny") as made:
        run = DaskRunner(made.address).run(Doubling(), ["slow"] * 6)
        found = [next(run)]
        for pid in made.pids().values():
            os.kill(pid, signal.SIGKILL)
        made.start_worker()
        found += run
        assert [one.result for one in found] == ["slowslow"] * 6


def test_a_worker_is_killed_and_back_under_its_name_between_two_looks(tmp_path, monkeypatch):
    monkeypatch.setattr("disambig_dask.session.POLL_INTERVAL", 4.0)
    with cluster(tmp_path, 1, "--name", "one") as made, time_limit(60):
        run = DaskRunner(made.address).run(Doubling(), ["slow"] * 6)
        found = [next(run)]
        for pid in made.pids().values():
            os.kill(pid, signal.SIGKILL)
        found += run
        assert [one.result for one in found] == ["slowslow"] * 6


def test_another_cluster_has_the_port_of_the_dashboard():
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # another has it in truth
            stack.enter_context(socket.create_server(("127.0.0.1", 8787)))
        assert [one.result for one in DaskRunner().run(Doubling(), ["a"])] == ["aa"]  # a warning would end it


def test_a_cluster_that_adapts_begins_without_a_worker():
    from distributed import LocalCluster

    any_port = {"dashboard_address": "127.0.0.1:0"}
    made = LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address=None, scheduler_kwargs=any_port)
    try:
        made.adapt(minimum=0, maximum=2, interval="200ms")
        found = list(DaskRunner(made.scheduler_address).run(Doubling(), ["slow"] * 6))
        assert [one.result for one in found] == ["slowslow"] * 6
    finally:
        made.close()
