"""``disambig annotate --engine dask`` on a real cluster whose parts are killed, frozen and restarted."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("distributed")

from commands import here, process
from dask_cluster import ROOT, cluster, until

from disambig.files.saving import _is_alive

pytestmark = pytest.mark.slow
SENTENCES = (
    "I worked in Russia during 1997 to 2001, and it was hard to find a quite place.",
    "She will accept the offer in Monday, except it rains.",
    "It is to early too say weather the bridge holds.",
)
JOB = ("--lines", "--task", "spelling", "--shard-size", "0.016")  # some 16 shards of a third of a second


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("job")
    lines = [f"{number}: {SENTENCES[number % 3]}\n" for number in range(3_600)]
    (made / "text.txt").write_text("".join(lines))
    (made / "few.txt").write_text("".join(lines[:30]))
    done = process("annotate", "text.txt", "--output", "local", *JOB, folder=made)
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture
def job(folder):
    """Begin the job on a cluster; it comes to what the local one did."""
    begun = []

    def begin(address, *options, output="dask"):
        shutil.rmtree(folder / output, ignore_errors=True)
        command = [
            sys.executable,
            "-m",
            "disambig.cli.main",
            "annotate",
            "text.txt",
            "--output",
            output,
            *JOB,
        ]
        command += ["--engine", "dask", *(("--scheduler", address) if address else ()), *options]
        begun.append(
            subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, start_new_session=True)
        )
        return begun[-1]

    yield begin
    for each in begun:
        each.kill()
        each.communicate()


def held(folder: Path) -> dict[str, bytes]:
    """Return what a job wrote, but for its times and the options it was begun with."""
    found = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"):
        data = path.read_bytes()
        if path.suffix == ".json":
            data = json.dumps({**json.loads(data), "seconds": 0, "command": 0}).encode()
        found[path.relative_to(folder).as_posix()] = data
    return found


def ends_as_local(begun, folder: Path, output="dask") -> str:
    said = begun.communicate(timeout=200)[1]
    assert begun.returncode == 0, said
    assert held(folder / output) == held(folder / "local")
    return said


def under_way(folder: Path, shards: int = 2) -> None:
    """Wait until some shards are done and another is being written."""
    until(lambda: len(list((folder / "dask").glob("part-*"))) >= shards, 120)
    until(lambda: any((folder / "dask").rglob(".tmp-*")), 120)


def test_a_worker_is_killed_in_the_midst_of_a_shard(folder, job, tmp_path):
    with cluster(tmp_path) as made:
        pids = list(made.pids().values())
        begun = job(made.address)
        under_way(folder)
        os.kill(pids[0], signal.SIGKILL)
        said = ends_as_local(begun, folder)
        assert "Traceback" not in said and "distributed" not in said
        stdout = [  # of all tasks
            process("annotate", "few.txt", "--lines", *engine, folder=folder).stdout
            for engine in ((), ("--engine", "dask", "--scheduler", made.address))
        ]
        assert stdout[0] == stdout[1] != ""


def test_a_worker_without_a_keeper_is_killed(folder, job, tmp_path):
    with cluster(tmp_path, 2, "--no-nanny") as made:
        pids = list(made.pids().values())
        begun = job(made.address)
        under_way(folder)
        os.kill(pids[1], signal.SIGKILL)
        ends_as_local(begun, folder)


def test_a_worker_is_frozen(folder, job, tmp_path):
    with cluster(tmp_path) as made:
        # A worker that needs longer than the limit for a shard ends itself, and its keeper starts another
        # process: so shards are smaller here, for a busy machine to do them in time.
        begun = job(made.address, "--timeout", "4", "--shard-size", "0.005")
        under_way(folder)
        frozen = next(iter(made.pids().values()))
        os.kill(frozen, signal.SIGSTOP)
        said = begun.communicate(timeout=200)[1]
        assert begun.returncode == 0, said
        # where all else is done before the frozen worker is ended, its draft stays until the next run
        until(lambda: not _is_alive(frozen), 60)
        process(*begun.args[3:], folder=folder)
        assert all_parts(folder / "dask") == all_parts(folder / "local")
        assert not [path for path in (folder / "dask").rglob(".tmp-*")]


def all_parts(job: Path) -> bytes:
    """Return what a job wrote, whatever its shards are."""
    return b"".join(path.read_bytes() for path in sorted(job.glob("part-*")))


def test_the_scheduler_is_killed_and_comes_back(folder, job, tmp_path):
    with cluster(tmp_path) as made:
        begun = job(made.address)
        under_way(folder)
        os.killpg(made.scheduler.pid, signal.SIGKILL)
        time.sleep(1)
        assert begun.poll() is None
        made.start_scheduler()
        made.start_worker()
        ends_as_local(begun, folder)


def test_the_client_is_killed_and_the_job_goes_on(folder, job, tmp_path):
    from distributed import Client

    with cluster(tmp_path) as made:
        begun = job(made.address)
        under_way(folder)
        begun.kill()
        begun.wait()
        with Client(made.address, set_as_default=False) as client:
            until(lambda: not any(client.processing().values()), 30)
            until(lambda: not any(client.has_what().values()), 30)  # workers let go of the models
        command = ("annotate", "text.txt", "--output", "dask", *JOB, "--engine", "dask")
        done = process(*command, "--scheduler", made.address, folder=folder)
        assert done.returncode == 0, done.stderr
        assert held(folder / "dask") == held(folder / "local")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_a_cluster_of_this_machine(folder, job, number):
    begun = job(None, "--workers", "2")
    under_way(folder)
    os.killpg(begun.pid, number)
    said = begun.communicate(timeout=60)[1]
    assert begun.returncode != 0 and "Traceback" not in said
    until(lambda: not group(begun.pid), 30)
    again = subprocess.run(
        [*begun.args, "--quiet"], cwd=folder, stderr=subprocess.PIPE, text=True, timeout=200
    )
    assert again.returncode == 0 and "Traceback" not in again.stderr
    assert held(folder / "dask") == held(folder / "local")


def group(number: int) -> list[str]:
    """Return the processes of a group that are left."""
    done = subprocess.run(["ps", "-eo", "pgid=,pid=,stat=,args="], capture_output=True, text=True)
    lines = (line.split(None, 3) for line in done.stdout.splitlines())
    return [" ".join(line) for line in lines if line[0] == str(number) and "Z" not in line[2]]


@pytest.fixture
def elsewhere(tmp_path) -> dict[str, str]:
    """The environment of a worker with another build of a model."""
    other = tmp_path / "site" / "disambig_en"
    shutil.copytree(ROOT / "corpora" / "disambig_en", other)
    (other / "models" / "spelling" / "note.txt").write_text("another build")
    return {"PYTHONPATH": os.pathsep.join([str(other.parent), os.environ.get("PYTHONPATH", "")])}


def test_a_worker_with_another_model_is_named_before_work_begins(folder, tmp_path, elsewhere):
    with cluster(tmp_path, 1) as made:
        (address,) = made.workers()
        assert annotated(folder, made).returncode == 0
        made.start_worker(**elsewhere)
        until(lambda: len(made.workers()) == 2, 60)
        (wrong,) = made.workers().keys() - {address}
        done = annotated(folder, made)
    assert done.returncode == 2 and done.stdout == ""
    line = done.stderr.splitlines()[-1]
    assert line.startswith(f"disambig: [D856] the worker {wrong} differs in models, spelling, contents: ")


def test_one_that_comes_later_is_left_out(folder, job, tmp_path, elsewhere):
    with cluster(tmp_path, 1) as made:
        begun = job(made.address)
        under_way(folder, 1)
        (first,) = made.pids().values()
        os.kill(first, signal.SIGSTOP)  # so that the job does not end before the other is there
        made.start_worker(**elsewhere)
        try:
            line = begun.stderr.readline()
            while line and "differs in models, spelling, contents: " not in line:
                line = begun.stderr.readline()
        finally:
            os.kill(first, signal.SIGCONT)
        assert line
        ends_as_local(begun, folder)


def test_what_one_worker_is_slow_with_another_does_as_well(tmp_path, monkeypatch):
    from disambig_dask import DaskRunner
    from disambig_dask import _workers as crew

    from disambig.testing.jobs import Doubling

    monkeypatch.setattr(crew, "SLOW_FACTOR", 1.0)
    with cluster(tmp_path / "cluster") as made:
        began = time.monotonic()
        runner = DaskRunner(made.address, workers=2)
        found = list(runner.run(Doubling(folder=str(tmp_path)), ["hang once", 2, 3], ordered=True))
        assert [one.result for one in found] == ["hang once" * 2, 4, 6]
        assert time.monotonic() - began < 60


def annotated(folder: Path, made):
    command = ("annotate", "-", "--task", "spelling", "--engine", "dask", "--scheduler", made.address)
    return process(*command, "--quiet", folder=folder, given="It was a quite place.")


def test_a_worker_that_does_not_see_the_job_is_named(folder, tmp_path):
    from disambig_dask import check_environment

    from disambig.errors import UserError
    from disambig.jobs import ShardWork

    class Nothing:
        def describe(self):
            return {}

    seen = ShardWork(folder / "local", Nothing(), None, "text", (str(folder),)).describe()
    unseen = ShardWork(folder / "local", Nothing(), None, "text", (str(folder),))
    shutil.move(folder / "local", tmp_path / "away")
    try:
        with pytest.raises(UserError, match=rf"tcp://a:1 differs in the job {folder}/local: missing there"):
            check_environment(seen, unseen.describe(), "tcp://a:1")
    finally:
        shutil.move(tmp_path / "away", folder / "local")


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ("nofile.json", "No such file or directory"),
        ("other.json", "the file contains no address: give the scheduler.json that the scheduler wrote"),
        ("rubbish", "missing port number in address 'rubbish'"),
        ("http://127.0.0.1:1", "unknown address scheme 'http'"),
        ("tcp://127.0.0.1:1", ""),
    ],
)
def test_what_can_be_no_scheduler_is_one_line(tmp_path, named, problem):
    (tmp_path / "text.txt").write_text("It was a quite place.")
    (tmp_path / "other.json").write_text("[1]")
    command = ("annotate", "text.txt", "--task", "spelling", "--engine", "dask", "--scheduler", named, "-q")
    runs = [here(*command, *more, folder=tmp_path) for more in ((), ("--timeout", "5"))]
    if named == "rubbish":  # Dask logs at its end
        runs.append(process(*command, folder=tmp_path, timeout=120))
    for done in runs:
        assert (done.returncode, done.stdout) == (2, "")
        (line,) = done.stderr.splitlines()
        assert line.startswith(f"disambig: [D853] cannot reach a Dask scheduler at {named}: {problem}")
