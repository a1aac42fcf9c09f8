"""Jobs on a Dask cluster: lost and new workers, limits, counting, and the contract of runners."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("distributed")

from commands import here, process
from dask_cluster import ROOT, cluster, until
from disambig_dask import DaskRunner, scheduler_address

from disambig.errors import UserError
from disambig.files import is_process_alive
from disambig.runtime import time_limit
from disambig.testing import check_runner
from disambig.testing.jobs import Doubling

SENTENCES = (
    "I worked in Russia during 1997 to 2001, and it was hard to find a quite place.",
    "She will accept the offer in Monday, except it rains.",
    "It is to early too say weather the bridge holds.",
)

JOB = ("--lines", "--task", "spelling", "--shard-size", "0.016")  # some 16 shards of a third of a second


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    lists = tmp_path_factory.mktemp("job")
    lines = [f"{number}: {SENTENCES[number % 3]}\n" for number in range(3_600)]
    (lists / "text.txt").write_text("".join(lines))
    (lists / "few.txt").write_text("".join(lines[:30]))
    done = process("annotate", "text.txt", "--output", "local", *JOB, folder=lists)
    assert done.returncode == 0, done.stderr
    return lists


@pytest.fixture
def job(folder):
    """A function that starts the job on a cluster; its result must equal that of the local job."""
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
    for item in begun:
        item.kill()
        item.communicate()


def held(folder: Path) -> dict[str, bytes]:
    """Return the files of a job without times and the options that it was started with."""
    result = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"):
        data = path.read_bytes()
        if path.suffix == ".json":
            data = json.dumps({**json.loads(data), "seconds": 0, "command": 0}).encode()
        result[path.relative_to(folder).as_posix()] = data
    return result


def ends_as_local(begun, folder: Path, output="dask") -> str:
    arguments = begun.communicate(timeout=200)[1]
    assert begun.returncode == 0, arguments
    assert held(folder / output) == held(folder / "local")
    return arguments


def under_way(folder: Path, shards: int = 2) -> None:
    """Wait until some shards are finished and another one is being written."""
    until(lambda: len(list((folder / "dask").glob("part-*"))) >= shards, 120)
    until(lambda: any((folder / "dask").rglob(".tmp-*")), 120)


@pytest.mark.slow
def test_a_worker_is_killed_in_the_midst_of_a_shard(folder, job, tmp_path):
    with cluster(tmp_path) as lists:
        pids = list(lists.pids().values())
        begun = job(lists.address)
        under_way(folder)
        os.kill(pids[0], signal.SIGKILL)
        output = ends_as_local(begun, folder)
        assert "Traceback" not in output and "distributed" not in output
        stdout = [  # of all tasks
            process("annotate", "few.txt", "--lines", *engine, folder=folder).stdout
            for engine in ((), ("--engine", "dask", "--scheduler", lists.address))
        ]
        assert stdout[0] == stdout[1] != ""


@pytest.mark.slow
def test_a_worker_without_a_nanny_is_killed(folder, job, tmp_path):
    with cluster(tmp_path, 2, "--no-nanny") as lists:
        pids = list(lists.pids().values())
        begun = job(lists.address)
        under_way(folder)
        os.kill(pids[1], signal.SIGKILL)
        ends_as_local(begun, folder)


@pytest.mark.slow
def test_a_worker_is_frozen(folder, job, tmp_path):
    with cluster(tmp_path) as lists:
        # A worker that exceeds the time limit of a shard ends itself, and its nanny starts another
        # process: shards are smaller here, so that a busy machine finishes them in time.
        begun = job(lists.address, "--timeout", "4", "--shard-size", "0.005")
        under_way(folder)
        frozen = next(iter(lists.pids().values()))
        os.kill(frozen, signal.SIGSTOP)
        output = begun.communicate(timeout=200)[1]
        assert begun.returncode == 0, output
        # if everything else is finished before the frozen worker ends, its temporary file stays
        until(lambda: not is_process_alive(frozen), 60)
        process(*begun.args[3:], folder=folder)
        assert all_parts(folder / "dask") == all_parts(folder / "local")
        assert not [path for path in (folder / "dask").rglob(".tmp-*")]


def all_parts(job: Path) -> bytes:
    """Return the output of a job, independent of its shards."""
    return b"".join(path.read_bytes() for path in sorted(job.glob("part-*")))


@pytest.mark.slow
def test_the_scheduler_is_killed_and_comes_back(folder, job, tmp_path):
    with cluster(tmp_path) as lists:
        begun = job(lists.address)
        under_way(folder)
        os.killpg(lists.scheduler.pid, signal.SIGKILL)
        time.sleep(1)
        assert begun.poll() is None
        lists.start_scheduler()
        lists.start_worker()
        ends_as_local(begun, folder)


@pytest.mark.slow
def test_a_job_resumes_after_its_client_was_killed(folder, job, tmp_path):
    from distributed import Client

    with cluster(tmp_path) as lists:
        begun = job(lists.address)
        under_way(folder)
        begun.kill()
        begun.wait()
        with Client(lists.address, set_as_default=False) as client:
            until(lambda: not any(client.processing().values()), 30)
            until(lambda: not any(client.has_what().values()), 30)  # workers release the models
        command = ("annotate", "text.txt", "--output", "dask", *JOB, "--engine", "dask")
        done = process(*command, "--scheduler", lists.address, folder=folder)
        assert done.returncode == 0, done.stderr
        assert held(folder / "dask") == held(folder / "local")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_a_cluster_of_this_machine(folder, job, number):
    begun = job(None, "--workers", "2")
    under_way(folder)
    os.killpg(begun.pid, number)
    output = begun.communicate(timeout=60)[1]
    assert begun.returncode != 0 and "Traceback" not in output
    until(lambda: not group(begun.pid), 30)
    again = subprocess.run(
        [*begun.args, "--quiet"], cwd=folder, stderr=subprocess.PIPE, text=True, timeout=200
    )
    assert again.returncode == 0 and "Traceback" not in again.stderr
    assert held(folder / "dask") == held(folder / "local")


def group(number: int) -> list[str]:
    """Return the remaining processes of a group."""
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


@pytest.mark.slow
def test_a_worker_with_another_model_is_named_before_work_begins(folder, tmp_path, elsewhere):
    with cluster(tmp_path, 1) as lists:
        (address,) = lists.workers()
        assert annotated(folder, lists).returncode == 0
        lists.start_worker(**elsewhere)
        until(lambda: len(lists.workers()) == 2, 60)
        (wrong,) = lists.workers().keys() - {address}
        done = annotated(folder, lists)
    assert done.returncode == 2 and done.stdout == ""
    line = done.stderr.splitlines()[-1]
    what = "models, spelling, contents"
    assert line.startswith(f"disambig: [D856] the worker {wrong} differs from this process in {what}: ")


@pytest.mark.slow
def test_a_worker_that_joins_later_and_differs_is_not_used(folder, job, tmp_path, elsewhere):
    with cluster(tmp_path, 1) as lists:
        begun = job(lists.address)
        under_way(folder, 1)
        (first,) = lists.pids().values()
        os.kill(first, signal.SIGSTOP)  # so that the job does not end before the other worker starts
        lists.start_worker(**elsewhere)
        try:
            line = begun.stderr.readline()
            while line and "differs from this process in models, spelling, contents: " not in line:
                line = begun.stderr.readline()
        finally:
            os.kill(first, signal.SIGCONT)
        assert line
        ends_as_local(begun, folder)


@pytest.mark.slow
def test_slow_shards_are_also_given_to_another_worker(tmp_path):
    from disambig_dask import DaskRunner

    from disambig.testing.jobs import Doubling

    with cluster(tmp_path / "cluster") as lists, time_limit(60):
        runner = DaskRunner(lists.address, workers=2)
        result = list(runner.run(Doubling(folder=str(tmp_path)), ["hang once", 2, 3], ordered=True))
        assert [one.result for one in result] == ["hang once" * 2, 4, 6]


def annotated(folder: Path, lists):
    command = ("annotate", "-", "--task", "spelling", "--engine", "dask", "--scheduler", lists.address)
    return process(*command, "--quiet", folder=folder, given="It was a quite place.")


@pytest.mark.slow
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
        with pytest.raises(
            UserError, match=rf"tcp://a:1 differs from this process in the job {folder}/local: missing there"
        ):
            check_environment(seen, unseen.describe(), "tcp://a:1")
    finally:
        shutil.move(tmp_path / "away", folder / "local")


@pytest.mark.slow
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
def test_invalid_scheduler_addresses_are_one_line(tmp_path, named, problem):
    (tmp_path / "text.txt").write_text("It was a quite place.")
    (tmp_path / "other.json").write_text("[1]")
    command = ("annotate", "text.txt", "--task", "spelling", "--engine", "dask", "--scheduler", named, "-q")
    runs = [here(*command, *more, folder=tmp_path) for more in ((), ("--timeout", "5"))]
    if named == "rubbish":  # Dask logs when it ends
        runs.append(process(*command, folder=tmp_path, timeout=120))
    for done in runs:
        assert (done.returncode, done.stdout) == (2, "")
        (line,) = done.stderr.splitlines()
        assert line.startswith(f"disambig: [D853] cannot reach a Dask scheduler at {named}: {problem}")


@pytest.mark.slow
def test_too_few_workers_end_the_run(tmp_path):
    expected = r"D855.* has 1 of the 2 requested workers"
    with cluster(tmp_path, 1) as lists, pytest.raises(UserError, match=expected):
        list(DaskRunner(lists.address, workers=2, patience=2).run(Doubling(), [1]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("says", "problem"),
    [(b"", "does not answer within 1 seconds"), (b"SSH-2.0-here" * 9, "what answers there")],
)
def test_a_server_that_is_not_a_scheduler(says, problem):
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=greet, args=(server, says), daemon=True).start()
        with pytest.raises(UserError, match=rf"D853.*{problem}"):
            scheduler_address(f"127.0.0.1:{server.getsockname()[1]}", seconds=1.0)


def greet(server, says):
    """Accept one connection, send something, and keep it open until the end of the test."""
    taken, _ = server.accept()
    with taken:
        taken.sendall(says)
        threading.Event().wait(10)


@pytest.mark.slow
def test_a_scheduler_that_does_not_come_back_ends_the_run(tmp_path):
    with cluster(tmp_path, 1) as lists:
        run = DaskRunner(lists.address, patience=2).run(Doubling(), ["slow"] * 20)
        assert next(run).result == "slowslow"
        os.killpg(lists.scheduler.pid, signal.SIGKILL)
        with pytest.raises(UserError, match=rf"D854.*{lists.address}"):
            list(run)


@pytest.mark.slow
def test_a_new_worker_replaces_lost_ones(tmp_path):
    with cluster(tmp_path, 1, "--no-nanny") as lists:
        run = DaskRunner(lists.address).run(Doubling(), ["slow"] * 6)
        result = [next(run)]
        for pid in lists.pids().values():
            os.kill(pid, signal.SIGKILL)
        lists.start_worker()
        result += run
        assert [one.result for one in result] == ["slowslow"] * 6


@pytest.mark.slow
def test_a_worker_is_killed_and_back_under_its_name_between_two_looks(tmp_path, monkeypatch):
    monkeypatch.setattr("disambig_dask.session.POLL_INTERVAL", 4.0)
    with cluster(tmp_path, 1, "--name", "one") as lists, time_limit(60):
        run = DaskRunner(lists.address).run(Doubling(), ["slow"] * 6)
        result = [next(run)]
        for pid in lists.pids().values():
            os.kill(pid, signal.SIGKILL)
        result += run
        assert [one.result for one in result] == ["slowslow"] * 6


@pytest.mark.slow
def test_another_cluster_has_the_port_of_the_dashboard():
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # another process really has it
            stack.enter_context(socket.create_server(("127.0.0.1", 8787)))
        assert [one.result for one in DaskRunner().run(Doubling(), ["a"])] == ["aa"]  # a warning would end it


@pytest.mark.slow
def test_an_adaptive_cluster_starts_without_a_worker():
    from distributed import LocalCluster

    any_port = {"dashboard_address": "127.0.0.1:0"}
    lists = LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address=None, scheduler_kwargs=any_port)
    try:
        lists.adapt(minimum=0, maximum=2, interval="200ms")
        result = list(DaskRunner(lists.scheduler_address).run(Doubling(), ["slow"] * 6))
        assert [one.result for one in result] == ["slowslow"] * 6
    finally:
        lists.close()


KILLING = {
    *("retries_the_item_of_a_killed_worker", "skips_an_item_that_kills_workers"),
    *("stops_items_at_the_time_limit", "fails_if_no_worker_can_start"),
}
ADDRESS = []
CHECKS = check_runner(lambda timeout: DaskRunner(ADDRESS[-1], workers=2, timeout=timeout))
assert {check.name for check in CHECKS} >= KILLING


@pytest.fixture(scope="module", autouse=True)
def address(tmp_path_factory):
    with cluster(tmp_path_factory.mktemp("cluster")) as lists:
        ADDRESS.append(lists.address)
        yield
    ADDRESS.clear()


@pytest.mark.parametrize(
    "check",
    [pytest.param(check, marks=pytest.mark.slow) if check.name in KILLING else check for check in CHECKS],
    ids=str,
)
def test_the_engine_keeps_the_contract(check):
    check()


@pytest.mark.slow
def test_a_worker_is_killed_while_text_is_counted(tmp_path):
    folder = tmp_path / "job"
    folder.mkdir()
    lines = [f"It is house {n % 977} of the old {n % 89} cards.\n" for n in range(60_000)]
    (folder / "a.txt").write_text("".join(lines[:40_000]))
    (folder / "b.txt").write_text("".join(lines[40_000:]))
    for texts, output in (("a.txt b.txt", "once"), ("a.txt", "a.counts"), ("b.txt", "b.counts")):
        done = process("counts", "build", *texts.split(), "-o", output, "--keys", folder=folder)
        assert done.returncode == 0, done.stderr
    with cluster(tmp_path / "cluster") as lists:
        there = ("--engine", "dask", "--scheduler", lists.address, "--workers", "2")
        pids = list(lists.pids().values())
        command = [sys.executable, "-m", "disambig.cli.main", "counts", "build", "a.txt", "b.txt", "-o", "x"]
        command += ["--keys", "--shard-size", "0.1", "--job", "kept", *there]
        begun = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
        try:
            until(lambda: len(list((folder / "kept").glob("*.runs"))) >= 2, 60)
            os.kill(pids[0], signal.SIGKILL)
            arguments = begun.communicate(timeout=200)[1]
        finally:
            begun.kill()
            begun.wait()
        assert begun.returncode == 0, arguments
        assert "Traceback" not in arguments and "distributed" not in arguments
        assert (folder / "x").read_bytes() == (folder / "once").read_bytes()
        assert process("job", "verify", "kept", folder=folder).returncode == 0
        done = process("counts", "merge", "a.counts", "b.counts", "-o", "y", "--keys", *there, folder=folder)
        assert done.returncode == 0, done.stderr
        assert (folder / "y").read_bytes() == (folder / "once").read_bytes()
        assert not (folder / "y.job").exists()
