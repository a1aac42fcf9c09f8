"""Annotating one shard: its output first, its record last; done twice it comes out the same."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from disambig.batch.annotation import annotate_documents, batches
from disambig.batch.planning import Part, Shard
from disambig.batch.runners import Function
from disambig.batch.sources import Annotate, Source
from disambig.batch.totals import Totals, from_plain, totals_of
from disambig.corpora.documents import Bad, Document
from disambig.corpora.readers import read
from disambig.corpora.results import Annotated
from disambig.corpora.saving import save_json, saved, writing
from disambig.corpora.writers import Format
from disambig.errors import UserError

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
        return lambda shard: annotate_shard(shard, annotate, self)


def annotate_shard(shard: Shard, annotate: Annotate, work: ShardWork) -> ShardRecord:
    """Annotate a shard and write its output and its record into the job's directory.

    Whole files come out of the format ``"corrected"`` as files of the same names; all else
    becomes ``part-NNNNN``.

    Raises
    ------
    UserError
        D309 where something cannot be written.
    """
    began = time.monotonic()
    record = ShardRecord()
    files_apart = work.format.name == "corrected" and shard.parts[0].kind == "file"
    if files_apart:
        names = {part.input.shown: part.name for part in shard.parts}
        for results in _results(shard, annotate, work.field, record):
            for result in results:
                name = names[result.document.path]
                _save_file(work.directory / name, work.format.encode([result]))
                record.files.append(name)
    else:
        name = part_name(shard, work.format)
        with saved(work.directory / name) as write:
            chunks = (work.format.encode(found) for found in _results(shard, annotate, work.field, record))
            work.format.join(chunks, write)
        record.files.append(name)
    record.seconds = time.monotonic() - began
    save_record(work.directory, shard.index, record)
    return record


def part_name(shard: Shard, format: Format) -> str:
    """Return the name of a shard's output."""
    suffix = ".jsonl" if format.name == "corrected" and shard.parts[0].kind == "json" else format.suffix
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


def _results(shard: Shard, annotate: Annotate, field: str, record: ShardRecord) -> Iterator[list[Annotated]]:
    def good() -> Iterator[Document]:
        for part in shard.parts:
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


def _save_file(path: Path, data: bytes) -> None:
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with saved(path) as write:
        write(data)
