"""Merge the parts of a finished job, and write its index page."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from disambig.errors import UserError
from disambig.files import Checksum, save_file
from disambig.formats import JobPart, escape_unencodable, make_format, parts_page
from disambig.jobs.manifest import INDEX, NAME, Shard, job_temp_files, load_manifest
from disambig.jobs.records import finished_records, load_record, status


def write_index(directory: Path, shards: Sequence[Shard], *, language: str) -> None:
    """Write ``index.html`` with a row per finished part. Raises D309."""
    parts, left = [], 0
    for shard in shards:
        record = load_record(directory, shard.index)
        if record is None:
            left += 1
            continue
        for name in record.files:
            totals = record.totals
            flags = sum(flags or 0 for _, flags in totals.tasks.values())
            part = shard.parts[0]
            source = escape_unencodable(part.name) + (f":{part.line}" if part.line > 1 else "")
            parts.append(JobPart(name, source, totals.documents, totals.words, flags))
    page = parts_page(parts, left=left, language=language)
    with save_file(directory / INDEX, temp_files=job_temp_files(directory)) as write:
        write(page.encode())


_BLOCK_BYTES = 1 << 20
_PAGE_FORMAT = "html"


def merge(directory: Path, write: Callable[[bytes], object]) -> int:
    """Write the parts of a job in order; return their number.

    Only a block of a part (a part of CoNLL-U, a row group of Parquet) is held in memory, except for
    ``.spacy``, whose whole output is, because it cannot be written in pieces.

    Raises D874 if the job is not finished, D875 if its parts cannot be merged, D877 if a part has changed;
    D309.
    """
    job_status = status(directory)
    for problem in job_status.damaged.values():
        raise UserError("D877", path=directory / problem.partition(":")[0])
    if job_status.finished < job_status.shards:
        remaining = job_status.shards - job_status.finished
        raise UserError("D874", path=directory, left=remaining, shards=job_status.shards)
    config = job_status.manifest["config"]
    name = parts_format(directory)
    parts = list(_part_paths(directory))
    suffixes = {path.suffix for path in parts}
    if name == _PAGE_FORMAT:
        raise UserError("D875", path=directory, problem="each part is a complete page")
    if len(suffixes) > 1:
        raise UserError(
            "D875", path=directory, problem=f"they are of different kinds ({', '.join(sorted(suffixes))})"
        )
    format = make_format(name, text=config.get("text") is not False, safe_cells=config.get("safe_cells"))
    format.join(_chunks(parts, name), write)
    return len(parts)


def parts_format(directory: Path) -> str:
    """Return the format of a job; raise D875 for a counting job, D318 if there is no job."""
    config = load_manifest(directory / NAME)["config"]
    if "counts" in config:
        raise UserError("D875", path=directory, problem="it is a counting job, which writes a single table")
    return str(config.get("format"))


def _part_paths(directory: Path) -> Iterator[Path]:
    for _, record in finished_records(directory):
        for name, expected in record.files.items():
            if not name.startswith("part-"):
                raise UserError("D875", path=directory, problem="each input has its own output file")
            path = directory / name
            try:
                checksum = Checksum.from_file(path)
            except OSError as problem:
                raise UserError("D308", path=path, problem=problem.strerror or problem) from problem
            if (checksum.size, checksum.digest()) != expected:
                raise UserError("D877", path=path)
            yield path


def _chunks(parts: Sequence[Path], format: str) -> Iterator[bytes]:
    """Yield the chunks that `Format.join` expects."""
    for path in parts:
        if format == "parquet":
            yield from _row_groups(path)
        elif format in ("conllu", "spacy"):
            yield path.read_bytes()
        else:
            with open(path, "rb") as file:
                if format in ("csv", "tsv"):
                    file.readline()  # skip the column names, which contain no line ends
                while block := file.read(_BLOCK_BYTES):
                    yield block


def _row_groups(path: Path) -> Iterator[bytes]:
    """Yield the rows of a Parquet file as Arrow streams."""
    from disambig.formats import pyarrow

    arrow = pyarrow()
    for batch in arrow.parquet.ParquetFile(path).iter_batches():
        sink = io.BytesIO()
        with arrow.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        yield sink.getvalue()
