"""What a job does to a directory that is not, or not only, its own."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from fake_models import FakeSource

import disambig
from disambig.errors import UserError
from disambig.formats import find_inputs, make_format
from disambig.jobs import locked, run_job


@pytest.fixture
def corpus(tmp_path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "a.txt").write_text("It was a quite place.")
    return folder


def job(corpus: Path, out: Path, *, force=False, format="jsonl"):
    inputs = find_inputs([str(corpus)], exclude=[str(out)])
    return run_job(out, inputs, source=FakeSource(), format=make_format(format), force=force)


def test_a_foreign_lock_file_is_not_emptied(corpus, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / ".lock").write_text("held by another tool")
    job(corpus, out)
    assert (out / ".lock").read_text() == "held by another tool"


@pytest.mark.parametrize("force", [False, True])
def test_a_lock_that_is_a_link_is_refused_and_what_it_points_to_is_kept(corpus, tmp_path, force):
    out, precious = tmp_path / "out", tmp_path / "precious"
    out.mkdir()
    precious.write_text("mine")
    (out / ".lock").symlink_to(precious)
    with pytest.raises(UserError, match=r"D870.*\.lock"):
        job(corpus, out, force=force)
    assert precious.read_text() == "mine"


@pytest.mark.parametrize("kind", ["directory", "pipe"])
def test_a_lock_that_is_no_file_is_refused(corpus, tmp_path, kind):
    out = tmp_path / "out"
    out.mkdir()
    if kind == "directory":
        (out / ".lock").mkdir()
    else:
        os.mkfifo(out / ".lock")
    with pytest.raises(UserError, match="D870"):
        job(corpus, out)


def test_a_refused_directory_gets_nothing(corpus, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("mine")
    with pytest.raises(UserError, match="D310"):
        job(corpus, out)
    assert [path.name for path in out.iterdir()] == ["thesis.txt"]


def test_two_jobs_at_once_are_told_apart(corpus, tmp_path):
    with locked(tmp_path / "out"), pytest.raises(UserError, match="D312"):
        job(corpus, tmp_path / "out")


def test_force_keeps_temporary_files_of_others(corpus, tmp_path):
    out = tmp_path / "out"
    (out / "deep" / "shards").mkdir(parents=True)
    (out / "shards").mkdir()
    names = (
        ".tmp-1-draft",
        ".tmp-123-part-00000.jsonl",
        "deep/.tmp-99-x",
        "deep/shards/.tmp-7-y",
        "shards/.tmp-3-z",
    )
    for name in names:
        (out / name).write_text("mine")
    job(corpus, out, force=True)
    job(corpus, out)
    assert [(out / name).read_text() for name in names] == ["mine"] * len(names)


KILLED = """
import os, signal, sys
from pathlib import Path
from fake_models import FakeSource
from disambig.jobs.job import run_job
from disambig.formats.documents import find_inputs
from disambig.formats.writers import make_format
real = os.fsync
def fsync(handle):
    if seen and os.readlink(f"/proc/self/fd/{handle}").count(".tmp-"):
        os.kill(os.getpid(), signal.SIGKILL)
    seen.append(handle)
    real(handle)
seen = []
os.fsync = fsync
run_job(Path(sys.argv[1]), find_inputs([sys.argv[2]]), source=FakeSource(), format=make_format("corrected"))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_what_a_killed_job_left_is_removed_by_the_next_run(corpus, tmp_path):
    out = tmp_path / "out"
    folders = [Path(disambig.__file__).parents[1], Path(__file__).parents[2] / "integration"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}
    command = [sys.executable, "-c", KILLED, str(out), str(corpus)]
    assert subprocess.run(command, env=environment, check=False).returncode == -signal.SIGKILL
    assert list(out.glob("**/.tmp-*"))
    job(corpus, out, format="corrected")
    assert not list(out.glob("**/.tmp-*"))


def test_a_name_that_the_file_system_cannot_hold_costs_that_document_only(corpus, tmp_path, monkeypatch):
    (corpus / "b.txt").write_text("They came during 1997.")
    real = os.replace

    def replace(source, target):
        if Path(target).name == "a.txt":
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        return real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    report = job(corpus, tmp_path / "out", format="corrected")
    (message,) = report.bad
    assert "a.txt" in message
    assert "too long" in message
    assert (tmp_path / "out" / "b.txt").read_text() == "They came from 1997."


def test_a_name_of_254_bytes_is_written(corpus, tmp_path):
    long = "n" * 250 + ".txt"
    (corpus / long).write_text("They came during 1997.")
    assert not job(corpus, tmp_path / "out", format="corrected").bad
    assert (tmp_path / "out" / long).read_text() == "They came from 1997."
