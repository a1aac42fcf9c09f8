"""``disambig counts build|merge --engine dask`` on a real cluster, a worker of which is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

pytest.importorskip("distributed")

from commands import process
from dask_cluster import cluster, until

pytestmark = pytest.mark.slow


def test_a_worker_is_killed_while_text_is_counted(tmp_path):
    folder = tmp_path / "job"
    folder.mkdir()
    lines = [f"It is house {n % 977} of the old {n % 89} cards.\n" for n in range(60_000)]
    (folder / "a.txt").write_text("".join(lines[:40_000]))
    (folder / "b.txt").write_text("".join(lines[40_000:]))
    for texts, output in (("a.txt b.txt", "once"), ("a.txt", "a.counts"), ("b.txt", "b.counts")):
        done = process("counts", "build", *texts.split(), "-o", output, "--keys", folder=folder)
        assert done.returncode == 0, done.stderr
    with cluster(tmp_path / "cluster") as made:
        there = ("--engine", "dask", "--scheduler", made.address, "--workers", "2")
        pids = list(made.pids().values())
        command = [sys.executable, "-m", "disambig.cli.main", "counts", "build", "a.txt", "b.txt", "-o", "x"]
        command += ["--keys", "--shard-size", "0.1", "--job", "kept", *there]
        begun = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
        try:
            until(lambda: len(list((folder / "kept").glob("*.runs"))) >= 2, 60)
            os.kill(pids[0], signal.SIGKILL)
            said = begun.communicate(timeout=200)[1]
        finally:
            begun.kill()
            begun.wait()
        assert begun.returncode == 0, said
        assert "Traceback" not in said and "distributed" not in said
        assert (folder / "x").read_bytes() == (folder / "once").read_bytes()
        assert process("job", "verify", "kept", folder=folder).returncode == 0
        done = process("counts", "merge", "a.counts", "b.counts", "-o", "y", "--keys", *there, folder=folder)
        assert done.returncode == 0, done.stderr
        assert (folder / "y").read_bytes() == (folder / "once").read_bytes()
        assert not (folder / "y.job").exists()
