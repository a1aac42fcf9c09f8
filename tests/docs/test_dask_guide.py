"""The clusters in the README of the engine dask, as far as they can be tested on one machine."""

from __future__ import annotations

import contextlib
import io
import json
import re
import warnings

import pytest

pytest.importorskip("distributed")

from readme_blocks import ROOT, read_blocks

GUIDE = ROOT / "plugins" / "disambig_dask" / "README.md"


def snippet(mark: str) -> str:
    (code,) = [block.code for block in read_blocks(GUIDE) if block.language == "py" and mark in block.code]
    return code


def run(code: str) -> dict:
    names: dict = {"__name__": "guide"}
    exec(compile(code, str(GUIDE), "exec", dont_inherit=True), names)
    return names


def test_the_runner_is_made_as_shown():
    from disambig_dask import MAX_ATTEMPTS, PATIENCE, DaskRunner

    shown = run(snippet("DaskRunner("))["runner"]
    assert shown == DaskRunner("tcp://head:8786", 16, 600, MAX_ATTEMPTS, PATIENCE)


def test_the_job_script_for_slurm():
    pytest.importorskip("dask_jobqueue")
    code = re.sub(r"^cluster\.adapt.*$", "", snippet("SLURMCluster"), flags=re.MULTILINE)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()) as printed:
        warnings.simplefilter("ignore")
        cluster = run(code)["cluster"]
        try:
            script = cluster.job_script()
            assert hasattr(cluster, "adapt")
        finally:
            cluster.close()
    address = printed.getvalue().strip()
    assert address.startswith("tcp://") and address in script
    assert "#SBATCH -t 04:00:00" in script and "#SBATCH --cpus-per-task=8" in script
    assert "source /shared/env/bin/activate" in script
    assert "--nthreads 1 " in script and "--nworkers 8 " in script and "--nanny" in script


def test_the_specification_for_kubernetes():
    pytest.importorskip("dask_kubernetes")
    spec = json.loads(json.dumps(run(snippet("make_cluster_spec"))["spec"]))
    assert spec["kind"] == "DaskCluster" and spec["spec"]["worker"]["replicas"] == 8
    (container,) = spec["spec"]["worker"]["spec"]["containers"]
    assert container["args"][:4] == ["dask", "worker", "--nthreads", "1"]
    assert container["volumeMounts"] == [{"name": "corpus", "mountPath": "/corpus"}]


def test_the_arguments_for_ssh(monkeypatch):
    import dask.distributed

    given = []
    monkeypatch.setattr(dask.distributed, "SSHCluster", lambda *all, **named: given.append((all, named)))
    run(snippet("SSHCluster"))["begin"]()
    from distributed.deploy.ssh import Worker

    assert given == [((["head", "one", "two"],), {"worker_options": {"n_workers": 8, "nthreads": 1}})]
    assert Worker  # there is such a cluster in this Dask
