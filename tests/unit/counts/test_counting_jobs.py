"""Counting jobs: the same bytes as without a job after any interruption; commands; memory."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from commands import here
from examples import fewer_examples
from hypothesis import HealthCheck, given, settings, strategies as st

from disambig.counts import (
    CountTable,
    TextFiles,
    build as derive,
    build_table,
    counter as counters,
    file as files,
    inputs,
    merge_tables,
    runs as merging,
)
from disambig.errors import UserError
from disambig.jobs import (
    JobPlace,
    WorkOutcome,
    build_in_job,
    counting as jobs,
    locked,
    merge_in_job,
    status,
    verify,
)
from disambig.text import Words, tokenisation_named

WORDS, WEB1T = "disambig.words.v1", "web1t.v1"
any_words = st.sampled_from(["in", "the", "house", "it's", "cards", "of", ".", "A", "old", "and", "é", "\r"])
any_lines = st.lists(any_words, max_size=30).map(" ".join)
any_texts = st.lists(st.lists(any_lines, min_size=1, max_size=8), min_size=1, max_size=3).filter(
    lambda files: all(any(line.strip() for line in file) for file in files)
)
choices = st.fixed_dictionaries(
    {
        "orders": st.integers(1, 5),
        "gaps": st.booleans(),
        "keep_words": st.none() | st.just(["in", "cards", "old and"]),
        "licence": st.sampled_from(["", "CC0"]),
        "min_counts": st.dictionaries(st.integers(1, 5), st.integers(1, 3)),
        "record": st.sampled_from(["exact", "compact", "small"]),
    }
)
fewer = settings(fewer_examples, suppress_health_check=[HealthCheck.function_scoped_fixture])


@contextmanager
def small_sizes(**sizes):
    """Make all sizes small, so that a short text takes every code path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        patch.setattr(files, "KEYS_PER_PART", sizes.get("part", 40))
        patch.setattr(files, "OVERFLOW", sizes.get("ranks", 1 << 16) - 1)
        patch.setattr(counters, "RESERVE", counters.MEMORY - 8 * 10 * sizes.get("room", 1000))
        patch.setattr(inputs, "_BLOCK", 64)
        patch.setattr(inputs, "LONGEST", 100)
        patch.setattr(merging, "_AT_ONCE", sizes.get("at_once", 1 << 19))
        patch.setattr(derive, "_AT_ONCE", sizes.get("at_once", 1 << 19))
        patch.setattr(jobs, "_BYTES_PER_RANGE", 900)
        patch.setattr(jobs, "_NGRAMS_PER_RANGE", 100)
        yield


def write_texts(folder: Path, files) -> list[str]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for n, file in enumerate(files):
        (folder / f"{n}.txt").write_text("\n".join(file), newline="")
    return [str(folder / f"{n}.txt") for n in range(len(files))]


def counted_at_once(path: Path, paths, names, **options) -> bytes:
    text = TextFiles(paths)
    cuts = [tokenisation_named(name) for name in names]
    return build_table(path, text, cuts, sources=text.sources, force=True, **options).read_bytes()


@fewer
@given(
    any_texts,
    choices,
    st.sampled_from([(WORDS,), (WORDS, WEB1T)]),
    st.integers(1, 400),
    st.fixed_dictionaries(
        {
            "part": st.sampled_from([5, 40, 1 << 17]),
            "ranks": st.sampled_from([4, 1 << 16]),
            "room": st.sampled_from([5, 1000]),
            "at_once": st.sampled_from([20, 1 << 19]),
        }
    ),
)
def test_a_job_writes_the_same_table_as_one_process(tmp_path, files, options, names, size, sizes):
    options["keys"] = options["record"] == "exact"
    paths = write_texts(tmp_path / "texts", files)
    with small_sizes(**sizes):
        place = JobPlace(tmp_path / "job", stays=False)
        in_job = partial(build_in_job, tmp_path / "x", paths, names, place, shard_size=size, force=True)
        try:
            once = counted_at_once(tmp_path / "once", paths, names, **options)
        except UserError as problem:
            assert problem.code in ("D125", "D126")  # no n-gram is kept
            with pytest.raises(UserError, match=problem.code):
                in_job(**options)
            return
        in_job(**options)
    assert (tmp_path / "x").read_bytes() == once
    assert not (tmp_path / "job").exists()


@fewer
@given(any_texts, st.sampled_from([5, 40, 1 << 17]), st.sampled_from([4, 1 << 16]), st.integers(1, 3))
@pytest.mark.slow
def test_a_job_merges_tables_like_one_process(tmp_path, files, part, ranks, least):
    paths = write_texts(tmp_path / "texts", files)
    with small_sizes():
        for path in paths:
            counted_at_once(Path(path).with_suffix(".counts"), [path], [WORDS], keys=True)
    tables = [CountTable.open(Path(path).with_suffix(".counts")) for path in paths]
    options = {"min_counts": {2: least}, "keys": True, "force": True}
    with small_sizes(part=part, ranks=ranks, at_once=30):
        merge_tables(tmp_path / "once", tables, **options)
        merge_in_job(tmp_path / "x", tables, JobPlace(tmp_path / "job", stays=False), **options)
    assert (tmp_path / "x").read_bytes() == (tmp_path / "once").read_bytes()


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder with texts, a table, and the job that built it."""
    folder = tmp_path_factory.mktemp("finished")
    lines = [f"It is house {n} of the old {n % 7} cards." for n in range(90)]
    paths = write_texts(folder / "texts", [lines] * 2)
    with small_sizes():
        build_in_job(folder / "x", paths, [WORDS], JobPlace(folder / "job"), shard_size=900, keys=True)
    return folder


class RecordingRunner:
    """A runner that processes a limited number of items in this process, and records them."""

    def __init__(self, most=1 << 30):
        self.most, self.done = most, []

    def run(self, work, items, *, ordered=False, report_progress=lambda amount: None):
        function = work.start()
        for index, item in enumerate(items):
            if len(self.done) >= self.most:
                raise KeyboardInterrupt
            self.done.append(item.index)
            yield WorkOutcome(index, item, function(item, lambda amount: None))


def copy_job(finished: Path, to: Path) -> Path:
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(finished / "job", to)
    return to


def run_again(finished: Path, directory: Path, runner=None, **options) -> bytes:
    """Run the same command again for this job."""
    place = JobPlace(directory, runner=runner or RecordingRunner())
    paths = [str(finished / "texts" / name) for name in ("0.txt", "1.txt")]
    output = directory.with_name("y")
    options = {"shard_size": 900, "keys": True, "force": False, **options}
    with small_sizes():
        build_in_job(output, paths, [WORDS], place, **options)
    data = output.read_bytes()
    output.unlink()
    return data


@fewer
@given(st.data())
def test_counts_only_missing_shards_again(finished, tmp_path, data):
    directory = copy_job(finished, tmp_path / "job")
    total = status(directory).shards
    parts = [f"part-{n:05}" for n in range(total)]
    lost = data.draw(st.sets(st.integers(0, total - 1)), label="lost")
    ways = data.draw(st.lists(st.sampled_from(["record", "file", "cut", "torn", "odd"]), min_size=1))
    for n in lost:
        record = directory / "shards" / f"{n:05}.json"
        (file,) = directory.glob(f"{parts[n]}.*")
        way = ways[n % len(ways)]
        if way == "record":
            record.unlink()
        elif way == "file":
            file.unlink()
        elif way == "cut":
            file.write_bytes(file.read_bytes()[:-9] or b"more")
        elif way == "torn":
            record.write_bytes(record.read_bytes()[:-20])
        else:
            output = data.draw(st.sampled_from([["x"], {}, None]), label="said")
            record.write_text(json.dumps({**json.loads(record.read_bytes()), "said": output}))
    watched = RecordingRunner()
    assert run_again(finished, directory, watched) == (finished / "x").read_bytes()
    assert watched.done == sorted(lost)
    assert status(directory).finished == total and not list(verify(directory))


@pytest.mark.parametrize("most", [0, 5, 12])
def test_an_interrupted_job_resumes(finished, tmp_path, most):
    first = RecordingRunner(most)
    with pytest.raises(KeyboardInterrupt):
        run_again(finished, tmp_path / "job", first)
    second = RecordingRunner()
    assert run_again(finished, tmp_path / "job", second) == (finished / "x").read_bytes()
    assert len(first.done) == most and not {*first.done} & {*second.done}


@pytest.mark.parametrize("kind", ["runs", "piece"])
def test_rejects_a_changed_file_and_counts_a_missing_one_again(finished, tmp_path, kind):
    directory = copy_job(finished, tmp_path / "job")
    file = max(directory.glob(f"*.{kind}"), key=lambda path: path.stat().st_size)
    index = int(file.stem.removeprefix("part-"))
    data = file.read_bytes()
    file.write_bytes(bytes(byte ^ 255 for byte in data[:200]) + data[200:])
    if kind == "runs":  # otherwise it would not be read again
        for piece in directory.glob("*.piece"):
            piece.unlink()
    with pytest.raises(UserError, match="D877"):
        run_again(finished, directory)
    assert f"shard {index}: {file.name}" in here("job", "verify", directory, "--forget").stdout
    assert run_again(finished, directory) == (finished / "x").read_bytes()
    assert here("job", "verify", directory).returncode == 0


def test_rejects_inconsistent_counts(finished, tmp_path):
    directory = copy_job(finished, tmp_path / "job")
    path = directory / "shards" / "00000.json"
    record = json.loads(path.read_bytes())
    record["said"]["totals"][0] += 1
    path.write_text(json.dumps(record))
    with pytest.raises(UserError, match="D877"):
        run_again(finished, directory)


def test_rejects_the_directory_of_another_job(finished, tmp_path):
    directory = copy_job(finished, tmp_path / "job")
    before = {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
    for options in ({"gaps": True}, {"keys": False}, {"min_counts": {1: 2}}, {"shard_size": 901}):
        with pytest.raises(UserError, match=r"D913.*--job"):
            run_again(finished, directory, **options)
    other = tmp_path / "other"
    shutil.copytree(finished / "texts", other / "texts")
    file = other / "texts" / "1.txt"
    file.write_text(file.read_text().replace("cards", "cords"))
    with pytest.raises(UserError, match="D913"):
        run_again(other, directory)
    manifest = directory / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"disambig": "', '"disambig": "9'))
    with pytest.raises(UserError, match=r"D913.*disambig was"):
        run_again(finished, directory)
    manifest.write_bytes(before[manifest])
    assert {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()} == before
    assert run_again(finished, directory, gaps=True, force=True) != (finished / "x").read_bytes()


def test_other_directories_are_left_alone_and_one_process_runs_at_a_time(finished, tmp_path):
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "mine").write_text("x")
    with pytest.raises(UserError, match="D912"):
        run_again(finished, tmp_path / "job")
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="D915"):
        run_again(finished, tmp_path / "file")
    assert (tmp_path / "job" / "mine").read_text() == "x"
    directory = copy_job(finished, tmp_path / "other")
    with locked(directory), pytest.raises(UserError, match="D312"):
        run_again(finished, directory)


class FailingRunner:
    """A runner in which one item never succeeds."""

    def run(self, work, items, *, ordered=False, report_progress=lambda amount: None):
        for outcome in RecordingRunner().run(work, items):
            if outcome.item.index == 1:
                yield WorkOutcome(outcome.index, outcome.item, problem="it ended its worker process 2 times")
            else:
                yield outcome


def test_a_failing_shard_ends_the_job_after_the_others(finished, tmp_path):
    with pytest.raises(UserError, match=r"D911.*shard 1: it ended"):
        run_again(finished, tmp_path / "job", FailingRunner())
    shards = len(list((finished / "job").glob("*.runs")))
    assert len(list((tmp_path / "job").glob("*.runs"))) == shards
    (tmp_path / "job" / "shards" / "00001.json").unlink()
    watched = RecordingRunner()
    assert run_again(finished, tmp_path / "job", watched) == (finished / "x").read_bytes()
    assert watched.done[0] == 1 and watched.done[1] == shards


def test_a_job_with_more_counts_than_ranks_resumes(finished, tmp_path):
    paths = [str(finished / "texts" / name) for name in ("0.txt", "1.txt")]
    with small_sizes(ranks=5):
        once = counted_at_once(tmp_path / "once", paths, [WORDS])
        total = None
        for most in (*range(0, 40, 3), 1 << 30):
            runner = RecordingRunner(most)
            try:
                place = JobPlace(tmp_path / "job", runner=runner)
                build_in_job(tmp_path / "x", paths, [WORDS], place, shard_size=900, force=True)
            except KeyboardInterrupt:
                continue
            total = runner.done
            assert (tmp_path / "x").read_bytes() == once
        assert total == []


@pytest.mark.parametrize("total", [0, 1, 8_000_000, 8_000_001, 70_000_000, 999_999_999, 5_000_000_000])
def test_the_number_of_shards_is_a_multiple_of_four(total):
    size = jobs._shard_size(total)
    shards = max(1, -(-total // size))
    assert size <= jobs.MAX_SHARD_SIZE and (shards == 1 or shards % 4 == 0)
    assert shards == 1 or shards * size - total < shards


MANY_LINES = "".join(f"It is house {n % 97} of {n % 89} cards.\n" for n in range(60_000))


def count_file_at_once(folder: Path) -> bytes:
    text = TextFiles([str(folder / "a.txt")])
    return build_table(folder / "once", text, Words(), sources=text.sources, force=True).read_bytes()


def build_arguments(folder: Path) -> list[str]:
    (folder / "texts").mkdir()
    text = "It is in the house.\n" * 40 + "In the old house of cards.\n" * 40
    (folder / "texts" / "a.txt").write_text(text)
    return ["build", "texts", "--shard-size", "0.0005", "--gaps", "--keys"]


def test_building_as_a_job(tmp_path):
    build = build_arguments(tmp_path)
    assert here("counts", *build[:2], "-o", "once", "--gaps", "--keys", folder=tmp_path).returncode == 0
    once = (tmp_path / "once").read_bytes()
    done = here("counts", *build, "-o", "x", "--job", "job", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "" and done.stderr.startswith("x: written, ")
    assert (tmp_path / "x").read_bytes() == once
    output = here("job", "status", "job", folder=tmp_path)
    assert output.returncode == 0 and output.stdout.startswith("5 of 5 shards finished\n80 documents, ")
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


def test_errors_of_building_as_a_job(tmp_path):
    build = build_arguments(tmp_path)
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
        (("build", "blank.txt", "-o", "x", "--job", "empty"), "D113"),
    ):
        done = here("counts", *arguments, folder=tmp_path)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1 and done.stderr.startswith(f"disambig: [{code}]"), done.stderr
        assert not (tmp_path / "x").exists() and not (tmp_path / "job").exists()


def test_merging_as_a_job(tmp_path):
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
    assert here("counts", "merge", "a", "./a", "b", "a", "-o", "again", folder=tmp_path).returncode == 0
    assert (tmp_path / "again").read_bytes() == (tmp_path / "once").read_bytes()  # nothing is counted twice
    here("counts", "build", "b.txt", "-o", "a", "--keys", "--force", folder=tmp_path)
    done = here("counts", "merge", "a", "b", "-o", "y", "--job", "job", folder=tmp_path)
    assert done.stderr.startswith("disambig: [D913]") and "1 changed" in done.stderr


def test_a_file_that_is_named_twice_is_counted_once(tmp_path):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("It is in the house.\n")
    here("counts", "build", "texts", "-o", "once", folder=tmp_path)
    for name, more in (("twice", ()), ("job", ("--workers", "2"))):
        paths = ("texts", "texts/a.txt", tmp_path / "texts" / "a.txt")
        assert here("counts", "build", *paths, "-o", name, *more, folder=tmp_path).returncode == 0
        assert (tmp_path / name).read_bytes() == (tmp_path / "once").read_bytes()
    (tmp_path / "3.tsv").write_text("in the house\t7\n")
    assert here("counts", "import", "3.tsv", "./3.tsv", "-o", "new", folder=tmp_path).returncode == 0
    assert CountTable.open(tmp_path / "new").count("in the house") == 7


@pytest.mark.slow
def test_a_killed_job_with_workers_resumes(tmp_path):
    """A command that is killed at many points, with all its workers, finally writes the same table."""
    (tmp_path / "a.txt").write_text(MANY_LINES)
    once = count_file_at_once(tmp_path)
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
    (tmp_path / "a.txt").write_text(MANY_LINES)
    command = [sys.executable, "-m", "disambig.cli.main", "counts", "build", "a.txt", "-o", "x"]
    command += ["--job", "job", "--shard-size", "0.1"]
    both = [subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE) for _ in range(2)]
    output = [begun.communicate()[1].decode() for begun in both]
    assert sorted(begun.returncode for begun in both) == [0, 2], output
    assert any("[D312]" in text for text in output)
    assert (tmp_path / "x").read_bytes() == count_file_at_once(tmp_path)


BUILD = "counts build a.txt -o x --workers 2".split()


def test_the_directory_of_a_finished_job_is_removed_by_the_next_run(tmp_path, monkeypatch):
    """A run that finds a finished table and the directory of its job only removes the directory."""
    (tmp_path / "a.txt").write_text("It is a house of cards.\n" * 50)

    def killed(directory):
        raise SystemExit(137)

    monkeypatch.setattr("disambig.jobs.counting.discard", killed)
    done = here(*BUILD, folder=tmp_path)
    assert done.returncode == 137 and (tmp_path / "x.job").exists(), done.stderr
    table = (tmp_path / "x").read_bytes()
    monkeypatch.undo()
    done = here(*BUILD, folder=tmp_path)
    assert done.returncode == 2 and "[D106]" in done.stderr
    assert (tmp_path / "x").read_bytes() == table and not (tmp_path / "x.job").exists()


def test_a_job_that_did_not_write_the_table_keeps_its_directory(tmp_path):
    (tmp_path / "a.txt").write_text("It is a house of cards.\n" * 50)
    (tmp_path / "x").write_text("something else")
    (tmp_path / "x.job").mkdir()
    (tmp_path / "x.job" / "table.json").write_text('{"device": 1, "inode": 2, "size": 3}')
    done = here(*BUILD, folder=tmp_path)
    assert done.returncode == 2 and "[D106]" in done.stderr
    assert (tmp_path / "x.job" / "table.json").exists()


PEAK = """
import sys
from pathlib import Path
from disambig.counts.counter import MIN_MEMORY
{}
# getrusage would tell of the process that started this one, too
status = Path("/proc/self/status").read_text()
print(MIN_MEMORY, 1024 * int(status.split("VmHWM:")[1].split()[0]))
"""
CODE = """
from disambig.counts.counter import NgramCounter
from disambig.counts.build import count_texts
from disambig.counts.inputs import TextFiles
from disambig.text.tokenisations import Words
with NgramCounter(Words.name, memory=MIN_MEMORY) as counter:
    count_texts(counter, TextFiles([sys.argv[1]]), Words())
    total = sum(int(counts.sum()) for _, counts, _ in counter.partitions())
    print(counter.spilled, total == sum(counter.totals), counter.totals[0])
"""
needs_proc = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="no /proc/self/status on this system"
)


def run_within_memory(code, *arguments):
    """Run code in a child process, check its peak memory, and return its output."""
    command = [sys.executable, "-c", PEAK.format(code), *map(str, arguments)]
    *shown, bound, peak = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert int(peak) < int(bound)
    return shown


@needs_proc
def test_counting_stays_within_its_memory(tmp_path):
    rng = np.random.default_rng(0)
    words = np.array(["w" + chr(97 + i % 26) * (1 + i // 26 % 3) + chr(97 + i // 78) for i in range(2000)])
    line = " ".join(words[rng.integers(0, len(words), 5_000_000)])
    (tmp_path / "x.txt").write_text(line)
    spilled, whole, tokens = run_within_memory(CODE, tmp_path / "x.txt")
    assert len(line) > 15_000_000
    assert int(tokens) >= 5_000_000
    assert int(spilled) >= 5
    assert whole == "True"


IMPORT = """
from disambig.counts.importing import import_table
import_table(sys.argv[2], [(sys.argv[1], 0)], "web1t.v1", memory=MIN_MEMORY)
"""


@pytest.mark.slow
@needs_proc
def test_imports_keep_within_their_memory(tmp_path):
    with open(tmp_path / "x.tsv", "w") as file:
        for begin in range(0, 6_000_000, 100_000):
            file.writelines(f"in {i}\t{i % 90 + 1}\n" for i in range(begin, begin + 100_000))
    run_within_memory(IMPORT, tmp_path / "x.tsv", tmp_path / "x.counts")


JOB = """
from disambig.jobs.counting import JobPlace, build_in_job
place = JobPlace(Path(sys.argv[2]) / "job")
build_in_job(Path(sys.argv[2]) / "x", [sys.argv[1]], ["disambig.words.v1"], place, memory=MIN_MEMORY)
"""


@pytest.mark.slow
@needs_proc
def test_jobs_keep_within_their_memory(tmp_path):
    rng = np.random.default_rng(0)
    with open(tmp_path / "x.txt", "w") as file:
        for _ in range(60):
            file.write(" ".join(map(str, rng.integers(0, 1 << 40, 1_000))) + " w")
            file.write(
                " w".join(chr(97 + i % 26) * (1 + i // 26) for i in rng.integers(0, 300, 100_000)) + "\n"
            )
    run_within_memory(JOB, tmp_path / "x.txt", tmp_path)
    assert list((tmp_path / "job").glob("*.runs"))
