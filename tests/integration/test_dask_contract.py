"""The contract of runners, kept by the engine dask on a real scheduler with two real workers."""

from __future__ import annotations

import pytest

pytest.importorskip("distributed")

from dask_cluster import cluster
from disambig_dask import DaskRunner

from disambig.testing import check_runner

KILLING = ("tries_again", "sets_aside", "ends_what", "ends_where_no_worker")
ADDRESS = []
CHECKS = check_runner(lambda timeout: DaskRunner(ADDRESS[-1], workers=2, timeout=timeout))


@pytest.fixture(scope="module", autouse=True)
def address(tmp_path_factory):
    with cluster(tmp_path_factory.mktemp("cluster")) as made:
        ADDRESS.append(made.address)
        yield
    ADDRESS.clear()


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, marks=pytest.mark.slow) if check.name.startswith(KILLING) else check
        for check in CHECKS
    ],
    ids=str,
)
def test_the_engine_keeps_the_contract(check):
    check()
