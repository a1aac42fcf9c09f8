"""Jobs: plans, directories, records, progress, and errors."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from examples import any_json
from fake_models import FakeSource
from hypothesis import assume, given, strategies as st
from job_helpers import ENVIRONMENT, job, rows

from disambig.errors import UserError
from disambig.formats import Input, find_inputs, make_format, read, read_all
from disambig.jobs import (
    LAYOUT,
    ProcessRunner,
    ShardRecord,
    annotate_stream,
    check_directory,
    clear,
    default_shard_size,
    job as job_module,
    load_record,
    local_runner,
    locked,
    manifest as planning,
    plan_shards,
    record_path,
    run_job,
    save_record,
)
from disambig.models import PIECE_CHARACTERS


@pytest.fixture
def corpus(tmp_path) -> Path:
    folder = tmp_path / "corpus"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.txt").write_text("It was a quite place.\r\n", newline="")
    (folder / "deep" / "b.txt").write_text("They came during 1997.")
    (folder / "c.jsonl").write_text('{"text": "A quite place", "id": 1}\n{"text": "in it", "id": 2}\n')
    return folder


def test_writes_each_document_once_in_order(corpus, tmp_path):
    report = job(corpus, tmp_path / "out")
    names = [Path(row["path"]).name for row in rows(tmp_path / "out")]
    assert names == ["a.txt", "c.jsonl", "c.jsonl", "b.txt"]
    assert report.totals.plain() == {
        "documents": 4,
        "words": 14,
        "tasks": {"preposition": [2, 1], "spelling": [2, 2]},
    }
    assert (report.shards, report.skipped, report.bad, report.left_out) == (4, 0, [], [])


def test_resumes_with_missing_shards_only(corpus, tmp_path):
    out = tmp_path / "out"
    first = job(corpus, out)
    before = rows(out)
    (out / "part-00001.jsonl").unlink()
    (out / "shards" / "00003.json").write_text("{")
    kept = (out / "part-00000.jsonl").stat().st_mtime_ns
    again = job(corpus, out, runner=ProcessRunner(2))
    assert again.skipped == 2
    assert (again.totals, again.fresh.documents) == (first.totals, 2)
    assert rows(out) == before
    assert (out / "part-00000.jsonl").stat().st_mtime_ns == kept
    assert job(corpus, out).skipped == 4


def test_rejects_the_directory_of_another_job_and_names_the_differences(corpus, tmp_path):
    out = tmp_path / "out"
    job(corpus, out)
    with pytest.raises(UserError, match=r'D311.*label was "a", is "b"'):
        job(corpus, out, label="b")
    with pytest.raises(UserError, match=r"D311.*shard_size was 30, is 31\)"):
        job(corpus, out, size=31)
    for size, name in ((10**6, "1000000"), (None, "not set")):  # other shards, but the same inputs
        with pytest.raises(UserError, match=rf"D311.*\(shard_size was 30, is {name}\)"):
            job(corpus, out, size=size)
    (corpus / "a.txt").write_text("Other text.")
    (corpus / "new.txt").write_text("New text.")
    with pytest.raises(UserError, match=r"D311.*1 added, 1 changed"):
        job(corpus, out)
    report = job(corpus, out, label="b", size=10**6, force=True)
    assert report.skipped == 0
    assert len(rows(out)) == 5
    assert sorted(path.name for path in out.glob("part-*")) == ["part-00000.jsonl"]


def test_rejects_a_directory_with_other_files_and_never_empties_it(corpus, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("mine")
    with pytest.raises(UserError, match="D310"):
        job(corpus, out)
    assert [path.name for path in out.iterdir()] == ["thesis.txt"]
    job(corpus, out, force=True)
    job(corpus, out, label="b", force=True)
    assert (out / "thesis.txt").read_text() == "mine"


def test_reports_a_damaged_manifest(corpus, tmp_path):
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
    out, long = tmp_path / "out", "n" * 250 + ".txt"
    (corpus / long).write_text("In it.")
    assert not job(corpus, out, format="corrected").bad
    assert (out / long).read_text() == "In it."
    assert (out / "a.txt").read_bytes() == b"It was a quiet place.\r\n"
    assert (out / "deep" / "b.txt").read_text() == "They came from 1997."
    first = json.loads((out / "part-00001.jsonl").read_text().splitlines()[0])
    assert first == {"id": 1, "text": "A quiet place"}
    for folder in (corpus, corpus / ".." / corpus.name):
        with pytest.raises(UserError, match="D316"):
            job(corpus, folder, format="corrected", force=True)
    assert (corpus / "a.txt").read_bytes() == b"It was a quite place.\r\n"


def test_output_may_be_inside_the_corpus(corpus):
    job(corpus, corpus / "out")
    assert job(corpus, corpus / "out").skipped == 4


def test_rejects_a_locked_directory(corpus, tmp_path):
    with locked(tmp_path / "out"), pytest.raises(UserError, match="D312"):
        job(corpus, tmp_path / "out")
    job(corpus, tmp_path / "out")


def test_skips_a_shard_that_kills_its_worker_and_retries_it_next_time(corpus, tmp_path):
    (corpus / "b.txt").write_text("KILLME and the place")
    report = job(corpus, tmp_path / "out", runner=ProcessRunner(1), size=20)
    (message,) = report.left_out
    assert "b.txt" in message
    assert "SIGKILL" in message
    assert len(rows(tmp_path / "out")) == report.totals.documents == 4
    again = job(corpus, tmp_path / "out", runner=ProcessRunner(1), size=20)
    assert (again.skipped, len(again.left_out)) == (report.shards - 1, 1)
    assert not list((tmp_path / "out").glob(".tmp-*"))


def test_reports_bad_documents_again(corpus, tmp_path):
    (corpus / "bad.txt").write_bytes(b"\xff\xff")
    (corpus / "empty.txt").write_bytes(b"")
    (corpus / "worse.txt").write_text("RAISE")
    first = job(corpus, tmp_path / "out")
    assert [message[1:5] for message in sorted(first.bad)] == ["D302", "D304", "D313"]
    assert sorted(job(corpus, tmp_path / "out").bad) == sorted(first.bad)


def test_reports_an_input_that_changes_during_the_job(corpus, tmp_path, monkeypatch):
    real = job_module.plan_shards

    def plan_then_change(*arguments, **options):
        built = real(*arguments, **options)
        (corpus / "a.txt").write_text("longer than it was before")
        return built

    monkeypatch.setattr(job_module, "plan_shards", plan_then_change)
    report = job(corpus, tmp_path / "out")
    assert [message[1:5] for message in report.bad] == ["D319"]


def test_rejects_standard_input(tmp_path):
    with pytest.raises(UserError, match="D317"):
        run_job(tmp_path / "out", find_inputs(["-"]), source=FakeSource(), format=make_format("jsonl"))
    assert not (tmp_path / "out").exists()


def test_full_disk_ends_the_job_without_partial_files(corpus, tmp_path, monkeypatch):
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


def test_keeps_the_contents_of_a_lock_file(corpus, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / ".lock").write_text("held by another tool")
    job(corpus, out)
    assert (out / ".lock").read_text() == "held by another tool"


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("kind", ["link", "directory", "pipe"])
def test_rejects_a_lock_that_is_not_a_file(corpus, tmp_path, kind, force):
    out, precious = tmp_path / "out", tmp_path / "precious"
    out.mkdir()
    precious.write_text("mine")
    if kind == "link":
        (out / ".lock").symlink_to(precious)
    elif kind == "directory":
        (out / ".lock").mkdir()
    else:
        os.mkfifo(out / ".lock")
    with pytest.raises(UserError, match=r"D870.*\.lock"):
        job(corpus, out, force=force)
    assert precious.read_text() == "mine"


def test_force_keeps_temporary_files_of_others(corpus, tmp_path):
    out = tmp_path / "out"
    (out / "deep" / "shards").mkdir(parents=True)
    (out / "shards").mkdir()
    names = [".tmp-1-draft", ".tmp-123-part-00000.jsonl"]
    names += ["deep/.tmp-99-x", "deep/shards/.tmp-7-y", "shards/.tmp-3-z"]
    for name in names:
        (out / name).write_text("mine")
    job(corpus, out, force=True)
    job(corpus, out)
    assert [(out / name).read_text() for name in names] == ["mine"] * len(names)


KILLED = """
import os, signal, sys
from pathlib import Path
from fake_models import FakeSource
from disambig.formats import find_inputs, make_format
from disambig.jobs import run_job
real = os.fsync
def fsync(handle):
    if seen and os.readlink(f"/proc/self/fd/{handle}").count(".tmp-"):
        os.kill(os.getpid(), signal.SIGKILL)
    seen.append(handle)
    real(handle)
seen = []
os.fsync = fsync
inputs, format = find_inputs([sys.argv[2]]), make_format("corrected")
run_job(Path(sys.argv[1]), inputs, source=FakeSource(), format=format, shard_size=30)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_next_run_removes_temporary_files_of_a_killed_job(corpus, tmp_path):
    out = tmp_path / "out"
    command = [sys.executable, "-c", KILLED, str(out), str(corpus)]
    assert subprocess.run(command, env=ENVIRONMENT, check=False).returncode == -signal.SIGKILL
    assert list(out.glob("**/.tmp-*"))
    job(corpus, out, format="corrected")
    assert not list(out.glob("**/.tmp-*"))


def test_reports_a_name_that_the_file_system_rejects(corpus, tmp_path, monkeypatch):
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


def test_finds_each_input_once_with_its_name_and_kind(tmp_path):
    corpus = tmp_path / "corpus"
    (corpus / "deep").mkdir(parents=True)
    (corpus / "a.txt").write_text("x")
    (corpus / "deep" / "b.jsonl").write_text("x")
    os.symlink(corpus / "a.txt", corpus / "deep" / "z.txt")
    around = os.path.join(corpus, "deep", "..", "a.txt")
    inputs = find_inputs([str(corpus), around, "-", "-"])
    assert list(inputs) == [
        Input(str(corpus / "a.txt"), "a.txt", "file"),
        Input(str(corpus / "deep" / "b.jsonl"), os.path.join("deep", "b.jsonl"), "json"),
        Input("-", "-", "file"),
    ]
    (first, second) = find_inputs([around, str(corpus)])
    assert (first.path, first.name, second.name) == (around, "a.txt", os.path.join("deep", "b.jsonl"))
    assert inputs[-1] == inputs[2] == inputs[1:][1]
    with pytest.raises(IndexError):
        inputs[3]


def test_keeps_file_names_that_are_not_unicode(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.txt"
    try:
        with open(path, "wb") as file:
            file.write(b"x")
    except OSError:
        pytest.skip("the file system accepts only names in UTF-8")
    (inputs,) = find_inputs([str(tmp_path)])
    assert os.fsencode(inputs.path) == path
    assert os.fsencode(inputs.name) == b"\xff.txt"


def test_memory_per_input_is_small(tmp_path):
    for number in range(2000):
        (tmp_path / f"{number}.txt").write_text("x")
    path_length = len(os.fsencode(tmp_path)) + len("/1000.txt")
    find_inputs([str(tmp_path)])  # caches of the first call
    tracemalloc.start()
    try:
        inputs = find_inputs([str(tmp_path)])
        plan = plan_shards(inputs, shard_size=100)
        held = tracemalloc.get_traced_memory()[0] / 2000
    finally:
        tracemalloc.stop()
    assert len(plan.inputs) == 2000
    assert len(plan.shards) == 20
    assert held < path_length + 100  # 750 with an object for each file


def test_rewrites_a_damaged_list_of_inputs(corpus, tmp_path):
    inputs, out = find_inputs([str(corpus)]), tmp_path / "out"
    shards = job(inputs, out).shards
    path = out / "shards" / "inputs.jsonl"
    written = path.read_bytes()
    assert [json.loads(line)["name"] for line in written.splitlines()] == ["a.txt", "c.jsonl", "deep/b.txt"]
    for damage in (path.unlink, lambda: path.write_bytes(written[:20])):
        damage()
        assert job(inputs, out).skipped == shards
        assert path.read_bytes() == written


def test_reports_which_inputs_differ(tmp_path):
    (tmp_path / "texts").mkdir()
    for name in ("a.txt", "b.txt", "c.txt"):
        (tmp_path / "texts" / name).write_text("a quite place")
    inputs, out = find_inputs([str(tmp_path / "texts")]), tmp_path / "out"
    job(inputs, out)
    with pytest.raises(UserError, match=r"D311.*inputs are in another order"):
        job(inputs[::-1], out)
    (tmp_path / "texts" / "a.txt").write_text("another text")
    (tmp_path / "texts" / "b.txt").rename(tmp_path / "texts" / "d.txt")
    with pytest.raises(UserError, match=r"D311.*inputs: 1 added, 1 gone, 1 changed"):
        job(find_inputs([str(tmp_path / "texts")]), out)
    (out / "shards" / "inputs.jsonl").write_text("not the list\n")
    with pytest.raises(UserError, match=r"D311.*inputs: others"):
        job(find_inputs([str(tmp_path / "texts")]), out)


@given(
    lengths=st.lists(st.integers(0, 30), min_size=1),
    size=st.integers(1, 60),
    block=st.integers(1, 40),
    final=st.booleans(),
)
def test_cuts_a_file_of_lines_without_loss(tmp_path_factory, lengths, size, block, final):
    path = tmp_path_factory.getbasetemp() / "lines.txt"
    text = "\n".join("x" * length for length in lengths) + "\n" * final
    assume(text)
    path.write_bytes(text.encode())
    planning._BLOCK, before = block, planning._BLOCK
    try:
        source = Input(str(path), "lines.txt", "line")
        built = plan_shards([source], shard_size=size)
    finally:
        planning._BLOCK = before
    whole = list(read(source))
    parts = [part for shard in built.shards for part in shard.parts]
    result = [
        document
        for part in parts
        for document in read(part.input, start=part.start, end=part.end, line=part.line)
    ]
    assert result == whole
    assert all(shard.size >= size for shard in built.shards[:-1])
    assert sum(shard.size for shard in built.shards) == len(text)
    assert list(built.sizes) == [shard.size for shard in built.shards]


def test_one_large_text_is_divided_into_shards(tmp_path):
    """So several workers can share it, and a resumed job does not start it again."""
    path = tmp_path / "large.txt"
    path.write_text(("It was a quite place.\n" + f"{'so ' * 300}on.\n" * 23 + "\n") * 60)
    large = Input(str(path), "large.txt", "file")
    several = job([large], tmp_path / "several", size=400_000)
    one = job([large], tmp_path / "one", size=4_000_000)
    assert (several.shards, one.shards) == (3, 1)
    assert rows(tmp_path / "several") == rows(tmp_path / "one")
    path.write_bytes(path.read_bytes() + b"\xff")
    assert len(plan_shards([large], shard_size=400_000).shards) == 1


def test_default_size_of_shards(tmp_path):
    path = tmp_path / "a.txt"
    sizes = []
    for megabytes in (1, 16, 400):
        with path.open("wb") as file:
            file.truncate(megabytes * 1_000_000)
        sizes.append(default_shard_size([Input(str(path), "a.txt", "file")]))
    assert sizes == [250_000, 1_000_000, 8_000_000]


def test_groups_files_by_size_and_kind(tmp_path):
    sources = []
    for name in ("a", "b", "c", "d", "e.gz", "f"):
        (tmp_path / name).write_bytes(b"x" * 40)
        sources.append(Input(str(tmp_path / name), name, "json" if name == "d" else "file"))
    built = plan_shards([*sources, Input(str(tmp_path / "none"), "none", "file")], shard_size=100)
    names = [[part.name for part in shard.parts] for shard in built.shards]
    assert names == [["a", "b"], ["c", "d"], ["e.gz"], ["f", "none"]]
    mirrored = plan_shards(sources, shard_size=100, whole=["json"]).shards
    names = [[part.name for part in shard.parts] for shard in mirrored]
    assert names == [["a", "b"], ["c"], ["d"], ["e.gz"], ["f"]]
    assert built.inputs[0]["sha256"] == built.inputs[1]["sha256"]
    assert built.inputs[-1]["sha256"] == ""


SIZE = 4 * PIECE_CHARACTERS


@pytest.fixture(scope="module")
def large_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "large.txt"
    sentence = "There is a quite place by the river, and nobody knows it. "
    path.write_text((sentence * (SIZE // len(sentence) + 1))[:SIZE], encoding="utf8")
    return path


@pytest.mark.parametrize("workers", [1, 2])
def test_stream_reports_progress_within_a_document(large_file, workers):
    reported, inputs = [], find_inputs([str(large_file)])
    report = annotate_stream(
        read_all(inputs),
        source=FakeSource("a"),
        format=make_format("text"),
        write=lambda data: None,
        runner=local_runner(workers),
        listener=lambda amount, messages: reported.append(amount),
    )
    assert report.totals.documents == 1
    assert sum(reported) == SIZE
    assert len([amount for amount in reported if amount]) >= 4


def test_job_reports_progress_within_a_shard(large_file, tmp_path):
    reported = []
    job(large_file, tmp_path / "out", listener=lambda amount, messages: reported.append(amount))
    assert sum(reported) == SIZE
    assert len([amount for amount in reported if amount]) >= 4


@given(value=any_json, key=st.sampled_from(["layout", "versions", "config", "inputs", "shards", None]))
def test_any_manifest_is_accepted_or_a_user_error(tmp_path_factory, value, key):
    out = tmp_path_factory.getbasetemp() / "any-job"
    out.mkdir(exist_ok=True)
    inputs = {"files": 0, "sha256": ""}
    new = {"layout": LAYOUT, "versions": {"disambig": "1"}, "config": {}, "inputs": inputs, "shards": 0}
    (out / "manifest.json").write_text(json.dumps(value if key is None else {**new, key: value}))
    try:
        assert check_directory(out, new, force=False)
    except UserError as error:
        assert error.code in ("D311", "D318")
    check_directory(out, new, force=True)


@given(value=any_json, key=st.sampled_from(["documents", "words", "tasks", "seconds", "files", "bad", None]))
def test_any_record_is_read_or_ignored(tmp_path_factory, value, key):
    out = tmp_path_factory.getbasetemp() / "any-record"
    out.mkdir(exist_ok=True)
    save_record(out, 0, ShardRecord())
    path = record_path(out, 0)
    path.write_text(json.dumps(value if key is None else {**json.loads(path.read_text()), key: value}))
    result = load_record(out, 0)
    assert result is None or (
        all(isinstance(name, str) for name in result.files) and result.totals.words >= 0
    )


@pytest.mark.parametrize("name", ["manifest.json", "shards", "shards/00000.json", "part-00000.jsonl"])
@pytest.mark.parametrize("force", [False, True])
def test_reports_directories_in_place_of_files(tmp_path, name, force):
    (tmp_path / "a.txt").write_text("a quite place")
    out = tmp_path / "out"
    job(tmp_path / "a.txt", out)
    wrong = out / name
    if wrong.is_dir():
        shutil.rmtree(wrong)
        wrong.write_text("a file where a directory belongs")
    else:
        wrong.unlink()
        (wrong / "inside").mkdir(parents=True)
    with pytest.raises(UserError, match=r"D309|D318"):
        job(tmp_path / "a.txt", out, force=force)
    assert wrong.exists()


def test_ignores_records_with_invalid_names(tmp_path):
    for files in (["a\0b"], ["x" * 5000], ["/etc/hostname"], ["../up"]):
        save_record(tmp_path, 0, ShardRecord(files={name: (0, "") for name in files}))
        assert load_record(tmp_path, 0) is None
        clear(tmp_path)
    assert Path("/etc").is_dir()
