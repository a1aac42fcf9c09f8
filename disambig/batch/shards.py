"""Annotating one shard: its output first, its record last; done twice it comes out the same."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from disambig.batch.annotation import annotate_documents, batches, telling
from disambig.batch.planning import Part, Shard
from disambig.batch.sources import Annotate, Source
from disambig.batch.totals import Totals, from_plain, totals_of
from disambig.batch.work import Function
from disambig.errors import UserError
from disambig.files.saving import save_json, saved, writing
from disambig.formats.documents import Bad, Document
from disambig.formats.readers import read
from disambig.formats.results import Annotated
from disambig.formats.writers import Format

RECORDS = "shards"


@dataclass(slots=True)
class ShardRecord:
    """What became of a shard: counts, messages for bad documents, files written, seconds."""

    totals: Totals = field(default_factory=Totals)
    bad: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ShardWork:
    """The work of a job on its shards."""

    directory: Path
    source: Source
    format: Format
    field: str

    def start(self) -> Function:
        """Load the models and return the function that annotates a shard."""
        annotate = self.source.load()
        return lambda shard, tell: annotate_shard(shard, telling(annotate, tell, shard.size), self)


def annotate_shard(shard: Shard, annotate: Annotate, work: ShardWork) -> ShardRecord:
    """Annotate a shard and write its output and its record into the job's directory.

    Files of a kind that the format mirrors come out as files of the same names; all else becomes
    ``part-NNNNN``.

    Raises
    ------
    UserError
        D309 where something cannot be written.
    """
    began = time.monotonic()
    record = ShardRecord()
    if shard.parts[0].kind in work.format.mirrors:
        _mirror(shard, annotate, work, record)
    else:
        name = part_name(shard, work.format)
        with saved(work.directory / name) as write:
            found = _results(shard.parts, annotate, work.field, record)
            work.format.join(map(work.format.encode, found), write)
        record.files.append(name)
    record.seconds = time.monotonic() - began
    save_record(work.directory, shard.index, record)
    return record


def _mirror(shard: Shard, annotate: Annotate, work: ShardWork, record: ShardRecord) -> None:
    """Write a file for each file in which there is a document."""
    if shard.parts[0].kind == "file":  # one document each: annotated together, for speed
        names = {part.input.shown: part.name for part in shard.parts}
        for results in _results(shard.parts, annotate, work.field, record):
            for result in results:
                name = names[result.document.path]
                with _saved_below(work.directory, name) as write:
                    work.format.join([work.format.encode([result])], write)
                record.files.append(name)
        return
    for part in shard.parts:
        chunks = map(work.format.encode, _results([part], annotate, work.field, record))
        first = next(chunks, None)
        if first is not None:
            with _saved_below(work.directory, part.name) as write:
                work.format.join(chain([first], chunks), write)
            record.files.append(part.name)


def part_name(shard: Shard, format: Format) -> str:
    """Return the name of a shard's output."""
    rows = shard.parts[0].kind in ("json", "csv", "parquet")
    suffix = ".jsonl" if format.name == "corrected" and rows else format.suffix
    return f"part-{shard.index:05}{suffix}"


def record_path(directory: Path, index: int) -> Path:
    """Return where the record of a finished shard lies."""
    return directory / RECORDS / f"{index:05}.json"


def save_record(directory: Path, index: int, record: ShardRecord) -> None:
    """Write a shard's record: from now on it is finished."""
    path = record_path(directory, index)
    with writing(path):
        path.parent.mkdir(exist_ok=True)
    values: dict[str, Any] = {
        **record.totals.plain(),
        "seconds": round(record.seconds, 3),
        "files": record.files,
        "bad": record.bad,
    }
    save_json(path, values)


def load_record(directory: Path, index: int) -> ShardRecord | None:
    """Return the record of a shard if it is finished: its record and all its files are there."""
    try:
        values = json.loads(record_path(directory, index).read_bytes())
        record = ShardRecord(from_plain(values), values["bad"], values["files"], values["seconds"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return record if all((directory / name).is_file() for name in record.files) else None


def _results(
    parts: Sequence[Part], annotate: Annotate, field: str, record: ShardRecord
) -> Iterator[list[Annotated]]:
    def good() -> Iterator[Document]:
        for part in parts:
            for document in _read(part, field):
                if isinstance(document, Bad):
                    record.bad.append(str(document.error))
                else:
                    yield document

    for batch in batches(good()):
        results, bad = annotate_documents(batch, annotate)
        record.bad.extend(str(found.error) for found in bad)
        record.totals.add(totals_of(results))
        yield results


def _read(part: Part, field: str) -> Iterator[Document | Bad]:
    try:
        changed = os.stat(part.path).st_size != part.size
    except OSError:
        changed = False  # the reader says what is wrong
    if changed:
        yield Bad(part.path, UserError("D319", path=part.path))
        return
    yield from read(part.input, field=field, start=part.start, end=part.end, line=part.line)


def _saved_below(directory: Path, name: str) -> AbstractContextManager[Callable[[bytes], object]]:
    path = directory / name
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    return saved(path)
