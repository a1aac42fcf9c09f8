"""Looking at a job: how far it is, and whether what it finished is still what it wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from disambig.batch.manifest import NAME, is_at_work, load_manifest
from disambig.batch.records import ShardRecord, load_record, read_record
from disambig.batch.totals import Totals
from disambig.files.seals import Seal


@dataclass(slots=True)
class Status:
    """How far a job is.

    Attributes
    ----------
    manifest : dict
    shards, finished : int
    totals : Totals
        Of what is finished.
    bad : list of str
        A message for each document left out so far.
    damaged : dict of int to str
        What is wrong with each shard whose record cannot be used, or whose files are gone or of another size.
    at_work : bool
        Whether a process holds the job.
    """

    manifest: dict[str, Any]
    shards: int = 0
    finished: int = 0
    totals: Totals = field(default_factory=Totals)
    bad: list[str] = field(default_factory=list)
    damaged: dict[int, str] = field(default_factory=dict)
    at_work: bool = False


def status(directory: Path) -> Status:
    """Look at the records of a job.

    Raises
    ------
    UserError
        D318 where there is none, D873 for an older one.
    """
    manifest = load_manifest(directory / NAME)
    found = Status(manifest, shards=manifest["shards"], at_work=is_at_work(directory))
    for index in range(found.shards):
        record = read_record(directory, index)
        if not isinstance(record, ShardRecord):
            if record is not None:
                found.damaged[index] = record
            continue
        found.finished += 1
        found.totals.add(record.totals)
        found.bad.extend(record.bad)
    return found


def records(directory: Path) -> Iterator[tuple[int, ShardRecord]]:
    """Yield index and record of each finished shard, in their order; errors as for `status`."""
    for index in range(load_manifest(directory / NAME)["shards"]):
        record = load_record(directory, index)
        if record is not None:
            yield index, record


def verify(
    directory: Path, *, read: Callable[[int], object] = lambda size: None
) -> Iterator[tuple[int, str]]:
    """Read every file of a job; yield the shard and a message for each that is not what was written.

    Parameters
    ----------
    read : callable
        Told the size of each file that was read.
    """
    for index, problem in status(directory).damaged.items():
        yield index, f"shard {index}: {problem}"
    for index, record in records(directory):
        yield from ((index, problem) for problem in _wrong(directory, index, record, read))


def is_whole(directory: Path, index: int) -> bool:
    """Read the files of a shard: tell whether it has none, or all as they were written."""
    record = read_record(directory, index)
    if not isinstance(record, ShardRecord):
        return record is None
    return not any(_wrong(directory, index, record, lambda size: None))


def _wrong(directory: Path, index: int, record: ShardRecord, read: Callable[[int], object]) -> Iterator[str]:
    for name, (size, digest) in record.files.items():
        try:
            seal = Seal.of(directory / name)
        except OSError as problem:
            yield f"shard {index}: {name}: cannot be read: {problem.strerror or problem}"
            continue
        read(size)
        if (seal.size, seal.digest()) != (size, digest):
            yield f"shard {index}: {name}: is not what the job wrote"
