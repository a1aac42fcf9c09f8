"""Counting as a job: the table of counting at once, byte for byte, whatever was killed or lost on the way."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest
from commands import here
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from disambig.counts import CountTable, TextFiles, build_table, inputs, layout, merge_tables
from disambig.counts import build as derive
from disambig.counts import counter as counters
from disambig.counts import runs as merging
from disambig.errors import UserError
from disambig.jobs import JobPlace, WorkOutcome, build_in_job, locked, merge_in_job, status, verify
from disambig.jobs import counting as jobs
from disambig.text import tokenisation_named

WORDS, WEB1T = "disambig.words.v1", "web1t.v1"
words = st.sampled_from(["in", "the", "house", "it's", "cards", "of", ".", "A", "old", "and", "é", "\r"])
lines = st.lists(words, max_size=30).map(" ".join)
texts = st.lists(st.lists(lines, min_size=1, max_size=8), min_size=1, max_size=3).filter(
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
many = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@contextmanager
def small(**sizes):
    """Make everything small, so that little text takes all ways."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        patch.setattr(layout, "KEYS_PER_PART", sizes.get("part", 40))
        patch.setattr(layout, "OVERFLOW", sizes.get("ranks", 1 << 16) - 1)
        patch.setattr(counters, "RESERVE", counters.MEMORY - 8 * 10 * sizes.get("room", 1000))
        patch.setattr(inputs, "_BLOCK", 64)
        patch.setattr(inputs, "LONGEST", 100)
        patch.setattr(merging, "_AT_ONCE", sizes.get("at_once", 1 << 19))
        patch.setattr(derive, "_AT_ONCE", sizes.get("at_once", 1 << 19))
        patch.setattr(jobs, "_TEXT", 900)
        patch.setattr(jobs, "_NGRAMS", 100)
        yield


def written(folder: Path, files) -> list[str]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for n, file in enumerate(files):
        (folder / f"{n}.txt").write_text("\n".join(file), newline="")
    return [str(folder / f"{n}.txt") for n in range(len(files))]


def at_once(path: Path, paths, names, **options) -> bytes:
    text = TextFiles(paths)
    cuts = [tokenisation_named(name) for name in names]
    return build_table(path, text, cuts, sources=text.sources, force=True, **options).read_bytes()


@many
@given(
    texts,
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
def test_the_table_is_that_of_counting_at_once(tmp_path, files, options, names, size, sizes):
    options["keys"] = options["record"] == "exact"
    paths = written(tmp_path / "texts", files)
    with small(**sizes):
        once = at_once(tmp_path / "once", paths, names, **options)
        place = JobPlace(tmp_path / "job", stays=False)
        build_in_job(tmp_path / "x", paths, names, place, shard_size=size, force=True, **options)
    assert (tmp_path / "x").read_bytes() == once
    assert not (tmp_path / "job").exists()


@many
@given(texts, st.sampled_from([5, 40, 1 << 17]), st.sampled_from([4, 1 << 16]), st.integers(1, 3))
@pytest.mark.slow
def test_tables_are_merged_as_at_once(tmp_path, files, part, ranks, least):
    paths = written(tmp_path / "texts", files)
    with small():
        for path in paths:
            at_once(Path(path).with_suffix(".counts"), [path], [WORDS], keys=True)
    tables = [CountTable.open(Path(path).with_suffix(".counts")) for path in paths]
    options = {"min_counts": {2: least}, "keys": True, "force": True}
    with small(part=part, ranks=ranks, at_once=30):
        merge_tables(tmp_path / "once", tables, **options)
        merge_in_job(tmp_path / "x", tables, JobPlace(tmp_path / "job", stays=False), **options)
    assert (tmp_path / "x").read_bytes() == (tmp_path / "once").read_bytes()


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder with texts, a table and the job that made it."""
    folder = tmp_path_factory.mktemp("finished")
    paths = written(folder / "texts", [[f"It is house {n} of the old {n % 7} cards." for n in range(90)]] * 2)
    with small():
        build_in_job(folder / "x", paths, [WORDS], JobPlace(folder / "job"), shard_size=900, keys=True)
    return folder


class Watched:
    """A runner that does items here, no more than so many, and knows which."""

    def __init__(self, most=1 << 30):
        self.most, self.done = most, []

    def run(self, work, items, *, ordered=False, tell=lambda amount: None):
        function = work.start()
        for index, item in enumerate(items):
            if len(self.done) >= self.most:
                raise KeyboardInterrupt
            self.done.append(item.index)
            yield WorkOutcome(index, item, function(item, lambda amount: None))


def copied(finished: Path, to: Path) -> Path:
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(finished / "job", to)
    return to


def again(finished: Path, directory: Path, runner=None, **options) -> bytes:
    """Give the same command again, for this job."""
    place = JobPlace(directory, runner=runner or Watched())
    paths = [str(finished / "texts" / name) for name in ("0.txt", "1.txt")]
    output = directory.with_name("y")
    with small():
        build_in_job(
            output, paths, [WORDS], place, **{"shard_size": 900, "keys": True, "force": False, **options}
        )
    data = output.read_bytes()
    output.unlink()
    return data


@many
@given(st.data())
def test_what_is_missing_is_done_again_and_nothing_else(finished, tmp_path, data):
    directory = copied(finished, tmp_path / "job")
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
            said = data.draw(st.sampled_from([["x"], {}, None]), label="said")
            record.write_text(json.dumps({**json.loads(record.read_bytes()), "said": said}))
    watched = Watched()
    assert again(finished, directory, watched) == (finished / "x").read_bytes()
    assert watched.done == sorted(lost)
    assert status(directory).finished == total and not list(verify(directory))


@pytest.mark.parametrize("most", [0, 1, 5, 9, 12])
def test_an_interrupted_job_goes_on(finished, tmp_path, most):
    first = Watched(most)
    with pytest.raises(KeyboardInterrupt):
        again(finished, tmp_path / "job", first)
    second = Watched()
    assert again(finished, tmp_path / "job", second) == (finished / "x").read_bytes()
    assert len(first.done) == most and not {*first.done} & {*second.done}


@pytest.mark.parametrize("kind", ["runs", "piece"])
def test_a_file_that_was_changed_is_refused_and_done_again_when_forgotten(finished, tmp_path, kind):
    directory = copied(finished, tmp_path / "job")
    file = max(directory.glob(f"*.{kind}"), key=lambda path: path.stat().st_size)
    index = int(file.stem.removeprefix("part-"))
    data = file.read_bytes()
    file.write_bytes(bytes(byte ^ 255 for byte in data[:200]) + data[200:])
    if kind == "runs":  # else it would not be read again
        for piece in directory.glob("*.piece"):
            piece.unlink()
    with pytest.raises(UserError, match="D877"):
        again(finished, directory)
    assert f"shard {index}: {file.name}" in here("job", "verify", directory, "--forget").stdout
    assert again(finished, directory) == (finished / "x").read_bytes()
    assert here("job", "verify", directory).returncode == 0


def test_counts_that_do_not_add_up_are_refused(finished, tmp_path):
    directory = copied(finished, tmp_path / "job")
    path = directory / "shards" / "00000.json"
    record = json.loads(path.read_bytes())
    record["said"]["totals"][0] += 1
    path.write_text(json.dumps(record))
    with pytest.raises(UserError, match="D877"):
        again(finished, directory)


def test_another_job_is_refused_in_one_line(finished, tmp_path):
    directory = copied(finished, tmp_path / "job")
    before = {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
    for options in ({"gaps": True}, {"keys": False}, {"min_counts": {1: 2}}, {"shard_size": 901}):
        with pytest.raises(UserError, match=r"D913.*--job"):
            again(finished, directory, **options)
    other = tmp_path / "other"
    shutil.copytree(finished / "texts", other / "texts")
    file = other / "texts" / "1.txt"
    file.write_text(file.read_text().replace("cards", "cords"))
    with pytest.raises(UserError, match="D913"):
        again(other, directory)
    (directory / "manifest.json").write_text(
        (directory / "manifest.json").read_text().replace('"disambig": "', '"disambig": "9')
    )
    with pytest.raises(UserError, match=r"D913.*disambig was"):
        again(finished, directory)
    (directory / "manifest.json").write_bytes(before[directory / "manifest.json"])
    assert {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()} == before
    assert again(finished, directory, gaps=True, force=True) != (finished / "x").read_bytes()


def test_other_directories_are_left_alone(finished, tmp_path):
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "mine").write_text("x")
    with pytest.raises(UserError, match="D912"):
        again(finished, tmp_path / "job")
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="D915"):
        again(finished, tmp_path / "file")
    assert (tmp_path / "job" / "mine").read_text() == "x"


def test_one_process_at_a_time(finished, tmp_path):
    directory = copied(finished, tmp_path / "job")
    with locked(directory), pytest.raises(UserError, match="D312"):
        again(finished, directory)


class Spoiling:
    """A runner in which one item never succeeds."""

    def run(self, work, items, *, ordered=False, tell=lambda amount: None):
        for outcome in Watched().run(work, items):
            if outcome.item.index == 1:
                yield WorkOutcome(outcome.index, outcome.item, problem="it ended its worker process 2 times")
            else:
                yield outcome


def test_a_shard_that_is_set_aside_ends_the_job_when_all_others_are_done(finished, tmp_path):
    with pytest.raises(UserError, match=r"D911.*shard 1: it ended"):
        again(finished, tmp_path / "job", Spoiling())
    shards = len(list((finished / "job").glob("*.runs")))
    assert len(list((tmp_path / "job").glob("*.runs"))) == shards
    (tmp_path / "job" / "shards" / "00001.json").unlink()
    watched = Watched()
    assert again(finished, tmp_path / "job", watched) == (finished / "x").read_bytes()
    assert watched.done[0] == 1 and watched.done[1] == shards


def test_with_more_counts_than_ranks_a_job_goes_on_too(finished, tmp_path):
    paths = [str(finished / "texts" / name) for name in ("0.txt", "1.txt")]
    with small(ranks=5):
        once = at_once(tmp_path / "once", paths, [WORDS])
        total = None
        for most in (*range(0, 40, 3), 1 << 30):
            runner = Watched(most)
            try:
                place = JobPlace(tmp_path / "job", runner=runner)
                build_in_job(tmp_path / "x", paths, [WORDS], place, shard_size=900, force=True)
            except KeyboardInterrupt:
                continue
            total = runner.done
            assert (tmp_path / "x").read_bytes() == once
        assert total == []


@pytest.mark.parametrize("total", [0, 1, 8_000_000, 8_000_001, 70_000_000, 999_999_999, 5_000_000_000])
def test_shards_come_in_fours_of_the_same_size(total):
    size = jobs._shard_size(total)
    shards = max(1, -(-total // size))
    assert size <= jobs.LARGEST and (shards == 1 or shards % 4 == 0)
    assert shards == 1 or shards * size - total < shards
