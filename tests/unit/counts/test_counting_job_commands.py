"""``disambig counts build|merge`` as jobs: with workers, killed, resumed, refused."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import here

from disambig.counts import TextFiles, build_table
from disambig.text import Words


def at_once(folder: Path) -> bytes:
    text = TextFiles([str(folder / "a.txt")])
    return build_table(folder / "once", text, Words(), sources=text.sources, force=True).read_bytes()


def ngrams_of(folder: Path) -> list[str]:
    (folder / "texts").mkdir()
    (folder / "texts" / "a.txt").write_text(
        "It is in the house.\n" * 40 + "In the old house of cards.\n" * 40
    )
    return ["build", "texts", "--shard-size", "0.0005", "--gaps", "--keys"]


def test_the_command_makes_a_job_of_it(tmp_path):
    build = ngrams_of(tmp_path)
    assert here("counts", *build[:2], "-o", "once", "--gaps", "--keys", folder=tmp_path).returncode == 0
    once = (tmp_path / "once").read_bytes()
    done = here("counts", *build, "-o", "x", "--job", "job", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "" and done.stderr.startswith("x: written, ")
    assert (tmp_path / "x").read_bytes() == once
    said = here("job", "status", "job", folder=tmp_path)
    assert said.returncode == 0 and said.stdout.startswith("5 of 5 shards finished\n80 documents, ")
    assert here("job", "verify", "job", folder=tmp_path).returncode == 0
    for more in ((), ("--output", "y.jsonl")):
        done = here("job", "merge", "job", *more, folder=tmp_path)
        assert done.returncode == 2 and done.stderr.startswith("disambig: [D875]"), done.stderr
    (tmp_path / "job" / "part-00001.runs").unlink()
    (tmp_path / "x").unlink()
    assert here("job", "status", "job", folder=tmp_path).returncode == 1
    done = here("job", "resume", tmp_path / "job", folder="/")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "x").read_bytes() == once


def test_the_command_says_what_cannot_be_a_job(tmp_path):
    build = ngrams_of(tmp_path)
    (tmp_path / "there").write_text("x")
    (tmp_path / "blank.txt").write_text(" \n")
    for arguments, code in (
        (("build", "-", "-o", "x", "--job", "job"), "D910"),
        ((*build, "-o", "there", "--job", "job"), "D106"),
        ((*build, "-o", "x", "--job", "there"), "D915"),
        ((*build, "-o", "x", "--job", "texts"), "D912"),
        ((*build, "-o", "x", "--job", "job", "--engine", "no"), "D851"),
        ((*build, "-o", "x", "--scheduler", "tcp://h:1"), "D852"),
        ((*build, "-o", "x", "--timeout", "0"), "D859"),
        ((*build, "-o", "x", "--job", "job", "--memory", "1M"), "D112"),
        ((*build, "-o", "x", "--job", "job", "--orders", "9"), "D111"),
        ((*build, "-o", "x", "--job", "job", "--record", "small"), "D119"),
        (("build", "blank.txt", "-o", "x", "--job", "empty"), "D113"),
        (("merge", "there", "-o", "x", "--job", "job"), "D102"),
    ):
        done = here("counts", *arguments, folder=tmp_path)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1 and done.stderr.startswith(f"disambig: [{code}]"), done.stderr
        assert not (tmp_path / "x").exists() and not (tmp_path / "job").exists()


def test_merging_is_a_job_too(tmp_path):
    for name, text in (("a", "It is in the house.\n"), ("b", "In the old house.\n")):
        (tmp_path / f"{name}.txt").write_text(text)
        here("counts", "build", f"{name}.txt", "-o", name, "--keys", folder=tmp_path)
    assert here("counts", "merge", "a", "b", "-o", "once", folder=tmp_path).returncode == 0
    done = here("counts", "merge", "a", "b", "-o", "x", "--job", "job", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "x").read_bytes() == (tmp_path / "once").read_bytes()
    (tmp_path / "x").unlink()
    assert here("job", "resume", tmp_path / "job", folder="/").returncode == 0
    assert (tmp_path / "x").read_bytes() == (tmp_path / "once").read_bytes()
    here("counts", "build", "b.txt", "-o", "a", "--keys", "--force", folder=tmp_path)
    done = here("counts", "merge", "a", "b", "-o", "y", "--job", "job", folder=tmp_path)
    assert done.stderr.startswith("disambig: [D913]") and "1 changed" in done.stderr


@pytest.mark.slow
def test_workers_count_and_a_killed_job_goes_on(tmp_path):
    """Processes of their own, killed with all their workers at many points, come to the same table."""
    (tmp_path / "a.txt").write_text(
        "".join(f"It is house {n % 97} of {n % 89} cards.\n" for n in range(60_000))
    )
    once = at_once(tmp_path)
    command = [sys.executable, "-m", "disambig.cli.main", "counts", "build", "a.txt", "-o", "x"]
    command += ["--workers", "2", "--shard-size", "0.1"]
    records = tmp_path / "x.job" / "shards"
    for many in (0, 1, 4, 9, 17, 17):
        begun = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, start_new_session=True)
        while begun.poll() is None and len(list(records.glob("*.json"))) < many:
            time.sleep(0.01)
        time.sleep(random.uniform(0, 0.3))
        begun.kill()
        begun.communicate()
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 or (tmp_path / "x").exists(), done.stderr
    assert (tmp_path / "x").read_bytes() == once
    assert not (tmp_path / "x.job").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"a.txt", "once", "x"}


@pytest.mark.slow
def test_two_commands_on_one_job(tmp_path):
    (tmp_path / "a.txt").write_text(
        "".join(f"It is house {n % 97} of {n % 89} cards.\n" for n in range(60_000))
    )
    command = [sys.executable, "-m", "disambig.cli.main", "counts", "build", "a.txt", "-o", "x"]
    command += ["--job", "job", "--shard-size", "0.1"]
    both = [subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE) for _ in range(2)]
    said = [begun.communicate()[1].decode() for begun in both]
    assert sorted(begun.returncode for begun in both) == [0, 2], said
    assert any("[D312]" in text for text in said)
    assert (tmp_path / "x").read_bytes() == at_once(tmp_path)


def test_a_job_that_was_killed_behind_its_table_goes_when_it_is_asked_for_again(tmp_path, monkeypatch):
    """The table is there and the directory of its job too: the next run removes the directory alone."""
    (tmp_path / "a.txt").write_text("It is a house of cards.\n" * 50)

    def killed(directory):
        raise SystemExit(137)

    monkeypatch.setattr("disambig.jobs.counting.discard", killed)
    done = here("counts", "build", "a.txt", "-o", "x", "--workers", "2", folder=tmp_path)
    assert done.returncode == 137 and (tmp_path / "x.job").exists(), done.stderr
    table = (tmp_path / "x").read_bytes()
    monkeypatch.undo()
    done = here("counts", "build", "a.txt", "-o", "x", "--workers", "2", folder=tmp_path)
    assert done.returncode == 2 and "[D106]" in done.stderr
    assert (tmp_path / "x").read_bytes() == table and not (tmp_path / "x.job").exists()


def test_a_job_that_did_not_write_the_table_keeps_its_directory(tmp_path):
    (tmp_path / "a.txt").write_text("It is a house of cards.\n" * 50)
    (tmp_path / "x").write_text("something else")
    (tmp_path / "x.job").mkdir()
    (tmp_path / "x.job" / "table.json").write_text('{"device": 1, "inode": 2, "size": 3}')
    done = here("counts", "build", "a.txt", "-o", "x", "--workers", "2", folder=tmp_path)
    assert done.returncode == 2 and "[D106]" in done.stderr
    assert (tmp_path / "x.job" / "table.json").exists()
