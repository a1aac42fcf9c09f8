from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fake_models import FakeSource

import disambig
from disambig.errors import UserError
from disambig.formats import find_inputs, make_format
from disambig.jobs import ProcessRunner, locked, run_job

LINES = [f"Line {number} tells of a quite place in Rome. SLOW" for number in range(90)]


@pytest.fixture
def corpus(tmp_path) -> Path:
    folder = tmp_path / "corpus"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.txt").write_text("It was a quite place.\r\n", newline="")
    (folder / "deep" / "b.txt").write_text("They came during 1997.")
    (folder / "c.jsonl").write_text('{"text": "A quite place", "id": 1}\n{"text": "in it", "id": 2}\n')
    return folder


def job(
    corpus: Path, out: Path, *, label="a", format="jsonl", lines=False, size=30, runner=None, force=False
):
    return run_job(
        out,
        find_inputs([str(corpus)], lines=lines, exclude=[str(out)]),
        source=FakeSource(label),
        format=make_format(format),
        shard_size=size,
        runner=runner,
        force=force,
    )


def output(out: Path) -> list[dict]:
    parts = sorted(out.glob("part-*.jsonl"))
    return [json.loads(line) for part in parts for line in part.read_text().splitlines()]


def test_a_job_writes_each_document_once_in_order(corpus, tmp_path):
    report = job(corpus, tmp_path / "out")
    assert [Path(row["path"]).name for row in output(tmp_path / "out")] == [
        "a.txt",
        "c.jsonl",
        "c.jsonl",
        "b.txt",
    ]
    assert report.totals.plain() == {
        "documents": 4,
        "words": 14,
        "tasks": {"preposition": [2, 1], "spelling": [2, 2]},
    }
    assert (report.shards, report.skipped, report.bad, report.left_out) == (4, 0, [], [])


def test_started_again_it_does_only_what_is_missing(corpus, tmp_path):
    out = tmp_path / "out"
    first = job(corpus, out)
    before = output(out)
    (out / "part-00001.jsonl").unlink()
    (out / "shards" / "00003.json").write_text("{")
    kept = (out / "part-00000.jsonl").stat().st_mtime_ns
    again = job(corpus, out, runner=ProcessRunner(2))
    assert again.skipped == 2
    assert (again.totals, again.fresh.documents) == (first.totals, 2)
    assert output(out) == before
    assert (out / "part-00000.jsonl").stat().st_mtime_ns == kept
    assert job(corpus, out).skipped == 4


def test_another_job_is_refused_with_what_is_different(corpus, tmp_path):
    out = tmp_path / "out"
    job(corpus, out)
    with pytest.raises(UserError, match=r'D311.*label was "a", is "b"'):
        job(corpus, out, label="b")
    with pytest.raises(UserError, match=r"D311.*shard_size was 30, is 31"):
        job(corpus, out, size=31)
    (corpus / "a.txt").write_text("Other text.")
    (corpus / "new.txt").write_text("New text.")
    with pytest.raises(UserError, match=r"D311.*1 added, 1 changed"):
        job(corpus, out)
    report = job(corpus, out, label="b", size=10**6, force=True)
    assert report.skipped == 0
    assert len(output(out)) == 5
    assert sorted(path.name for path in out.glob("part-*")) == [f"part-0000{i}.jsonl" for i in range(3)]


def test_a_directory_with_other_things_is_refused_and_never_emptied(corpus, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("mine")
    with pytest.raises(UserError, match="D310"):
        job(corpus, out)
    assert [path.name for path in out.iterdir() if not path.name.startswith(".")] == ["thesis.txt"]
    job(corpus, out, force=True)
    job(corpus, out, label="b", force=True)
    assert (out / "thesis.txt").read_text() == "mine"


def test_a_damaged_manifest_is_a_message(corpus, tmp_path):
    out = tmp_path / "out"
    job(corpus, out)
    for text in ('{"layout": ', '{"layout": "other"}', "[]"):
        (out / "manifest.json").write_text(text)
        with pytest.raises(UserError, match="D318"):
            job(corpus, out)
    assert job(corpus, out, force=True).skipped == 0


def test_a_record_cannot_make_force_remove_files_elsewhere(corpus, tmp_path):
    out, precious = tmp_path / "out", tmp_path / "precious"
    precious.write_text("mine")
    job(corpus, out)
    record = out / "shards" / "00000.json"
    record.write_text(json.dumps({**json.loads(record.read_text()), "files": ["../precious"]}))
    job(corpus, out, label="b", force=True)
    assert precious.exists()


def test_corrected_files_keep_their_names_and_never_replace_inputs(corpus, tmp_path):
    out = tmp_path / "out"
    job(corpus, out, format="corrected")
    assert (out / "a.txt").read_bytes() == b"It was a quiet place.\r\n"
    assert (out / "deep" / "b.txt").read_text() == "They came from 1997."
    assert json.loads((out / "part-00001.jsonl").read_text().splitlines()[0]) == {
        "id": 1,
        "text": "A quiet place",
    }
    for folder in (corpus, corpus / ".." / corpus.name):
        with pytest.raises(UserError, match="D316"):
            job(corpus, folder, format="corrected", force=True)
    assert (corpus / "a.txt").read_bytes() == b"It was a quite place.\r\n"


def test_a_job_may_lie_in_its_corpus(corpus):
    job(corpus, corpus / "out")
    assert job(corpus, corpus / "out").skipped == 4


def test_a_job_at_work_is_not_disturbed(corpus, tmp_path):
    with locked(tmp_path / "out"), pytest.raises(UserError, match="D312"):
        job(corpus, tmp_path / "out")
    job(corpus, tmp_path / "out")


def test_a_poisoned_shard_is_set_aside_and_tried_again_next_time(corpus, tmp_path):
    (corpus / "b.txt").write_text("KILLME and the place")
    report = job(corpus, tmp_path / "out", runner=ProcessRunner(1), size=20)
    (message,) = report.left_out
    assert "b.txt" in message
    assert "SIGKILL" in message
    assert len(output(tmp_path / "out")) == report.totals.documents == 4
    again = job(corpus, tmp_path / "out", runner=ProcessRunner(1), size=20)
    assert (again.skipped, len(again.left_out)) == (report.shards - 1, 1)
    assert not list((tmp_path / "out").glob(".tmp-*"))


def test_bad_documents_are_remembered(corpus, tmp_path):
    (corpus / "bad.txt").write_bytes(b"\xff\xff")
    (corpus / "empty.txt").write_bytes(b"")
    (corpus / "worse.txt").write_text("RAISE")
    first = job(corpus, tmp_path / "out")
    assert [message[1:5] for message in sorted(first.bad)] == ["D302", "D304", "D313"]
    assert sorted(job(corpus, tmp_path / "out").bad) == sorted(first.bad)


def test_an_input_that_changes_while_the_job_runs_is_reported(corpus, tmp_path, monkeypatch):
    from disambig.jobs import job as module

    real = module.plan_shards

    def plan_then_change(*arguments, **options):
        made = real(*arguments, **options)
        (corpus / "a.txt").write_text("longer than it was before")
        return made

    monkeypatch.setattr(module, "plan_shards", plan_then_change)
    report = job(corpus, tmp_path / "out")
    assert [message[1:5] for message in report.bad] == ["D319"]


def test_standard_input_is_no_input_of_a_job(tmp_path):
    with pytest.raises(UserError, match="D317"):
        run_job(tmp_path / "out", find_inputs(["-"]), source=FakeSource(), format=make_format("jsonl"))
    assert not (tmp_path / "out").exists()


def test_a_full_disk_ends_the_job_and_leaves_nothing_half_written(corpus, tmp_path, monkeypatch):
    def full(file):
        raise OSError(28, "No space left on device")

    out = tmp_path / "out"
    job(corpus, out)
    (out / "shards" / "00002.json").unlink()
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match=r"D309.*No space left"):
        job(corpus, out)
    assert not list(out.glob("**/.tmp-*"))
    monkeypatch.undo()
    assert job(corpus, out).skipped == 3


DRIVER = """
import sys
from fake_models import FakeSource
from disambig.jobs.job import run_job
from disambig.jobs.runners import local_runner
from disambig.formats.documents import find_inputs
from disambig.formats.writers import make_format
if __name__ == "__main__":
    out, path, workers = sys.argv[1:]
    from pathlib import Path
    run_job(Path(out), find_inputs([path], lines=True), source=FakeSource(), format=make_format("jsonl"),
            shard_size=150, runner=local_runner(int(workers)))
"""


@pytest.mark.parametrize("workers", [pytest.param("1", marks=pytest.mark.slow), "2"])
@pytest.mark.slow
def test_killed_again_and_again_it_loses_and_doubles_nothing(tmp_path, workers):
    driver, path, out = tmp_path / "driver.py", tmp_path / "lines.txt", tmp_path / "out"
    driver.write_text(DRIVER)
    path.write_text("\n".join(LINES))
    chance = random.Random(int(workers))
    folders = [Path(disambig.__file__).parents[1], Path(__file__).parents[2] / "integration"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}
    command = [sys.executable, str(driver), str(out), str(path), workers]
    finished = 0
    for _ in range(6):
        process = subprocess.Popen(command, env=environment)
        while process.poll() is None and len(list(out.glob("shards/[0-9]*.json"))) <= finished:
            time.sleep(0.005)
        time.sleep(chance.uniform(0.0, 0.1))
        process.kill()
        assert process.wait() == -signal.SIGKILL, "it finished too soon to be killed: make the test longer"
        finished = len(list(out.glob("shards/[0-9]*.json")))
    assert subprocess.run(command, env=environment, check=False).returncode == 0
    assert [row["text"] for row in output(out)] == LINES
    assert [row["line"] for row in output(out)] == list(range(1, len(LINES) + 1))
    assert not list(out.glob("**/.tmp-*"))
