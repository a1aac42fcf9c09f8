"""Annotating one shard: its output first, its record last; done twice it comes out the same."""

from __future__ import annotations

import dataclasses
import errno
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from disambig.batch.annotation import annotate_documents, batches, telling
from disambig.batch.bounds import Bounds
from disambig.batch.manifest import drafts_of, seen_from_here
from disambig.batch.planning import Part, Shard
from disambig.batch.records import ShardRecord, save_record
from disambig.batch.sources import Annotate, Source
from disambig.batch.totals import totals_of
from disambig.batch.work import Function
from disambig.errors import UserError
from disambig.files.saving import saved, writing
from disambig.files.seals import Seal
from disambig.formats.documents import Bad, Document
from disambig.formats.readers import read
from disambig.formats.results import Annotated
from disambig.formats.writers import Format

_NO_NAME = (errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL)
"""What the system says where a file system cannot hold a name."""


@dataclass(frozen=True, slots=True)
class ShardWork:
    """The work of a job on its shards; `inputs` are folders in which files are read."""

    directory: Path
    source: Source
    format: Format
    field: str
    inputs: tuple[str, ...] = ()
    bounds: Bounds = dataclasses.field(default_factory=Bounds)

    def describe(self) -> dict[str, Any]:
        """Return the models, the job and the folders of its inputs, as they are seen where this is asked."""
        return {**self.source.describe(), **seen_from_here(self.directory, self.inputs)}

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
        seal = Seal()
        with saved(work.directory / name, drafts=drafts_of(work.directory), seal=seal) as write:
            found = _results(shard.parts, annotate, work, record)
            work.format.join(map(work.format.encode, found), write)
        record.seal(name, seal)
    record.seconds = time.monotonic() - began
    save_record(work.directory, shard.index, record)
    return record


def _mirror(shard: Shard, annotate: Annotate, work: ShardWork, record: ShardRecord) -> None:
    """Write a file for each file in which there is a document."""
    if shard.parts[0].kind == "file":  # one document each: annotated together, for speed
        names = {part.input.shown: part.name for part in shard.parts}
        for results in _results(shard.parts, annotate, work, record):
            for result in results:
                name = names[result.document.path]
                _write(work, name, [work.format.encode([result])], record)
        return
    for part in shard.parts:
        chunks = map(work.format.encode, _results([part], annotate, work, record))
        first = next(chunks, None)
        if first is not None:
            _write(work, part.name, chain([first], chunks), record)


def part_name(shard: Shard, format: Format) -> str:
    """Return the name of a shard's output."""
    rows = shard.parts[0].kind in ("json", "csv", "parquet")
    suffix = ".jsonl" if format.name == "corrected" and rows else format.suffix
    return f"part-{shard.index:05}{suffix}"


def _results(
    parts: Sequence[Part], annotate: Annotate, work: ShardWork, record: ShardRecord
) -> Iterator[list[Annotated]]:
    def good() -> Iterator[Document]:
        for document in documents_of(parts, work):
            if isinstance(document, Bad):
                record.bad.append(str(document.error))
            else:
                yield document

    for batch in batches(good()):
        results, bad = annotate_documents(batch, annotate, seconds=work.bounds.seconds)
        record.bad.extend(str(found.error) for found in bad)
        record.totals.add(totals_of(results))
        yield results


def documents_of(parts: Sequence[Part], work: ShardWork) -> Iterator[Document | Bad]:
    """Yield the documents of a shard, in their order."""
    for part in parts:
        yield from _read(part, work)


def _read(part: Part, work: ShardWork) -> Iterator[Document | Bad]:
    try:
        changed = os.stat(part.path).st_size != part.size
    except OSError:
        changed = False  # the reader says what is wrong
    if changed:
        yield Bad(part.path, UserError("D319", path=part.path))
        return
    yield from read(
        part.input,
        field=work.field,
        start=part.start,
        end=part.end,
        line=part.line,
        limit=work.bounds.held,
    )


def _write(work: ShardWork, name: str, chunks: Iterable[bytes], record: ShardRecord) -> None:
    """Write a file under the name of an input; one that cannot have that name here is left out."""
    path, seal = work.directory / name, Seal()
    try:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        with saved(path, drafts=drafts_of(work.directory), seal=seal) as write:
            work.format.join(chunks, write)
    except UserError as error:
        if error.code != "D309" or getattr(error.__cause__, "errno", None) not in _NO_NAME:
            raise
        record.bad.append(str(error))
        return
    record.seal(name, seal)
