"""Records of finished shards, totals, and the status of a job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disambig.files import Checksum, read_json, save_file, save_json, writing
from disambig.formats import AnnotatedDocument, count_words
from disambig.jobs.manifest import NAME, RECORDS_FOLDER, is_running, job_temp_files, load_manifest

if TYPE_CHECKING:
    from disambig.data import Decisions


@dataclass(slots=True)
class Totals:
    """Counts of documents, words (non-space runs with a letter or digit), and decisions and flags per task.

    Flags are None for tasks that choose labels, since a label does not correspond to a word in the text.
    `foreign` has the number of paragraphs that are not in the models' language, by what they look like.
    """

    documents: int = 0
    words: int = 0
    tasks: dict[str, tuple[int, int | None]] = field(default_factory=dict)
    foreign: dict[str, int] = field(default_factory=dict)

    def add(self, other: Totals) -> None:
        """Add the counts of another part of the run."""
        self.documents += other.documents
        self.words += other.words
        for language, paragraphs in other.foreign.items():
            self.foreign[language] = self.foreign.get(language, 0) + paragraphs
        for task, (decisions, flags) in other.tasks.items():
            before, flagged = self.tasks.get(task, (0, None))
            none = flags is None and flagged is None
            self.tasks[task] = (before + decisions, None if none else (flagged or 0) + (flags or 0))

    def plain(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        tasks = {task: list(counts) for task, counts in self.tasks.items()}
        foreign = {"foreign": dict(self.foreign)} if self.foreign else {}
        return {"documents": self.documents, "words": self.words, "tasks": tasks, **foreign}


def count_totals(results: Iterable[AnnotatedDocument]) -> Totals:
    """Return the counts of annotated documents."""
    totals = Totals()
    for result in results:
        if result.document.blank:
            continue
        tasks = {decisions.task: (len(decisions), _count_flags(decisions)) for decisions in result.decisions}
        foreign = Counter(paragraph.language for paragraph in result.foreign)
        totals.add(Totals(1, count_words(result.document.text), tasks, dict(foreign)))
    return totals


def _count_flags(decisions: Decisions) -> int | None:
    """Return the number of flags; None if no candidate is in the text, as for labels."""
    return int(decisions.flagged.sum()) if (decisions.observed >= 0).any() else None


def totals_from_plain(values: Mapping[str, Any]) -> Totals:
    """Return the totals from the values of `Totals.plain`."""
    tasks = {
        task: (int(decisions), None if flags is None else int(flags))
        for task, (decisions, flags) in values["tasks"].items()
    }
    foreign = {str(language): int(n) for language, n in values.get("foreign", {}).items()}
    return Totals(int(values["documents"]), int(values["words"]), tasks, foreign)


BROKEN = (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError)
"""Exceptions that reading an invalid record can raise."""


@dataclass(slots=True)
class ShardRecord:
    """Result of a shard: counts, messages for bad documents, files written, seconds."""

    totals: Totals = field(default_factory=Totals)
    bad: list[str] = field(default_factory=list)
    # Size in bytes and BLAKE2b-128 of each file, by its name under the job's directory
    files: dict[str, tuple[int, str]] = field(default_factory=dict)
    seconds: float = 0.0
    # Further plain values that depend on the kind of work
    details: dict[str, Any] = field(default_factory=dict)

    @contextmanager
    def writing_file(self, directory: Path, name: str) -> Iterator[Callable[[bytes], object]]:
        """Write a file of a job atomically and add it; its name is relative to the job's directory."""
        checksum = Checksum()
        with save_file(directory / name, temp_files=job_temp_files(directory), checksum=checksum) as write:
            yield write
        self.files[name] = checksum.size, checksum.digest()


def record_path(directory: Path, index: int) -> Path:
    """Return the path of the record of a finished shard."""
    return directory / RECORDS_FOLDER / f"{index:05}.json"


def save_record(directory: Path, index: int, record: ShardRecord) -> None:
    """Write the record of a shard, which marks the shard as finished."""
    path = record_path(directory, index)
    with writing(path):
        path.parent.mkdir(exist_ok=True)
    values: dict[str, Any] = {
        **record.totals.plain(),
        "seconds": round(record.seconds, 3),
        "files": record.files,
        "bad": record.bad,
        **({"said": record.details} if record.details else {}),
    }
    save_json(path, values, temp_files=job_temp_files(directory))


def load_record(directory: Path, index: int) -> ShardRecord | None:
    """Return the record of a shard if it is finished and its files have the recorded sizes."""
    record = read_record(directory, index)
    return record if isinstance(record, ShardRecord) else None


def read_record(directory: Path, index: int) -> ShardRecord | str | None:
    """Return the record of a finished shard, a problem with it, or None if there is no record."""
    path = record_path(directory, index)
    try:
        record = record_from_json(read_json(path))
        for name, (size, _) in record.files.items():
            actual = _size(directory, name)
            if actual != size:
                return f"{name}: is gone" if actual < 0 else f"{name}: has {actual:,} bytes, not {size:,}"
        return record
    except FileNotFoundError:
        return None
    except BROKEN:
        return f"{path.relative_to(directory)}: cannot be read as a record"


def record_from_json(values: Any) -> ShardRecord:
    """Return the record from the values of `save_record`; raise one of `BROKEN` if they are invalid."""
    totals = totals_from_plain(values)
    seconds = float(values["seconds"])
    bad, details = values["bad"], values.get("said", {})  # the key "said" is part of the format of records
    if not (isinstance(bad, list) and all(isinstance(message, str) for message in bad)):
        raise TypeError("not a list of messages")
    if not isinstance(details, dict):
        raise TypeError("not an object")
    if not (min(totals.documents, totals.words) >= 0 and seconds >= 0):
        raise ValueError("a negative count")
    files = {name: _checksum_from_json(*checksum) for name, checksum in values["files"].items()}
    return ShardRecord(totals, bad, files, seconds, details)


def _checksum_from_json(size: Any, digest: Any) -> tuple[int, str]:
    if type(size) is not int or not isinstance(digest, str):
        raise TypeError("not a size and a digest")
    return size, digest


def _size(directory: Path, name: str) -> int:
    """Return the size of a file inside the directory, or -1 for any other path."""
    # a record may be damaged or forged: it must not make a command read or remove files elsewhere
    if Path(name).is_absolute() or ".." in Path(name).parts or not (directory / name).is_file():
        return -1
    return (directory / name).stat().st_size


@dataclass(slots=True)
class JobStatus:
    """The progress of a job."""

    manifest: dict[str, Any]
    shards: int = 0
    finished: int = 0
    totals: Totals = field(default_factory=Totals)  # counts of the finished shards
    bad: list[str] = field(default_factory=list)  # a message for each document skipped so far
    # the problem of each shard whose record is invalid, or whose files are missing or have another size
    damaged: dict[int, str] = field(default_factory=dict)
    at_work: bool = False  # whether a process is working on the job


def status(directory: Path) -> JobStatus:
    """Return the progress of a job according to its records.

    Raises D318 if there is no job, D873 for a job of an older version.
    """
    manifest = load_manifest(directory / NAME)
    job_status = JobStatus(manifest, shards=manifest["shards"], at_work=is_running(directory))
    for index in range(job_status.shards):
        record = read_record(directory, index)
        if not isinstance(record, ShardRecord):
            if record is not None:
                job_status.damaged[index] = record
            continue
        job_status.finished += 1
        job_status.totals.add(record.totals)
        job_status.bad.extend(record.bad)
    return job_status


def finished_records(directory: Path) -> Iterator[tuple[int, ShardRecord]]:
    """Yield index and record of each finished shard in order; errors as for `status`."""
    for index in range(load_manifest(directory / NAME)["shards"]):
        if (record := load_record(directory, index)) is not None:
            yield index, record


def verify(
    directory: Path, *, read: Callable[[int], object] = lambda size: None
) -> Iterator[tuple[int, str]]:
    """Read every file of a job; yield the shard and a message for each file that has changed.

    `read` is called with the size of each file that was read.
    """
    for index, problem in status(directory).damaged.items():
        yield index, f"shard {index}: {problem}"
    for index, record in finished_records(directory):
        yield from ((index, problem) for problem in _changed_files(directory, index, record, read))


def is_whole(directory: Path, index: int) -> bool:
    """Read the files of a shard; return True if there are none, or all are unchanged."""
    record = read_record(directory, index)
    if not isinstance(record, ShardRecord):
        return record is None
    return not any(_changed_files(directory, index, record, lambda size: None))


def _changed_files(
    directory: Path, index: int, record: ShardRecord, read: Callable[[int], object]
) -> Iterator[str]:
    """Yield a message for each file of a shard that cannot be read or is not what the job wrote."""
    for name, (size, digest) in record.files.items():
        try:
            checksum = Checksum.from_file(directory / name)
        except OSError as problem:
            yield f"shard {index}: {name}: cannot be read: {problem.strerror or problem}"
            continue
        read(size)
        if (checksum.size, checksum.digest()) != (size, digest):
            yield f"shard {index}: {name}: is not what the job wrote"
