"""Annotate a corpus: as a job with a directory and an output per shard, or in one stream."""

from __future__ import annotations

import dataclasses
import errno
import io
import math
import os
import time
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disambig.data import minibatch
from disambig.errors import UserError
from disambig.files import STDIN, Checksum, memory_limit, save_file, writing
from disambig.formats import (
    AnnotatedDocument,
    Document,
    FlagsOnlyFormat,
    Format,
    Input,
    JobPart,
    UnreadableDocument,
    escape_unencodable,
    format_lines,
    make_format,
    name_error_place,
    parts_page,
    pyarrow,
    read,
    read_nbest,
    to_candidate_lists,
)
from disambig.jobs.manifest import (
    INDEX,
    NAME,
    Shard,
    ShardPart,
    ShardPlan,
    begin_or_resume,
    check_directory,
    default_shard_size,
    input_folders,
    job_temp_files,
    load_manifest,
    locked,
    new_manifest,
    plan_shards,
    resolve_inputs,
)
from disambig.jobs.records import (
    ShardRecord,
    Totals,
    count_totals,
    finished_records,
    load_record,
    save_record,
    status,
)
from disambig.jobs.runners import InProcessRunner
from disambig.jobs.work import Function, ProgressCallback, Runner, run_checked
from disambig.models import (
    Annotate,
    AnnotatorSource,
    Model,
    annotate_documents,
    batch_documents,
    decide_lists,
    wrap_annotator,
)

if TYPE_CHECKING:
    from disambig.data import Decisions


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
    arrow = pyarrow()
    for batch in arrow.parquet.ParquetFile(path).iter_batches():
        sink = io.BytesIO()
        with arrow.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        yield sink.getvalue()


@dataclass(frozen=True, slots=True)
class JobLimits:
    """Limits on single inputs and documents."""

    # maximum size in bytes of an input that must be held in memory as a whole; 0 is replaced by the default
    # of this machine
    memory: int = 0
    seconds: float | None = None  # maximum time for annotating a document; None for no limit
    # whether `memory` is the default, which may differ on another machine
    defaults: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        if not self.memory:
            object.__setattr__(self, "defaults", True)
            object.__setattr__(self, "memory", memory_limit())
        if self.seconds is not None and not 0 < self.seconds < math.inf:
            raise UserError("D859", value=self.seconds)

    def plain(self) -> dict[str, Any]:
        """Return the limits that can change the output, for a manifest, without defaults."""
        return {
            **({} if self.defaults else {"max_input": self.memory}),
            **({"document_timeout": self.seconds} if self.seconds is not None else {}),
        }


_UNSUPPORTED_NAME = (errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL)
"""Error numbers for a name that the file system does not support."""


@dataclass(frozen=True, slots=True)
class ShardWork:
    """Annotate the shards of a job; `inputs` are folders that every worker must be able to read."""

    directory: Path
    source: AnnotatorSource
    format: Format
    field: str
    inputs: tuple[str, ...] = ()
    limits: JobLimits = dataclasses.field(default_factory=JobLimits)

    def describe(self) -> dict[str, Any]:
        """Return the models, the job and its input folders as seen by this process."""
        return {**self.source.describe(), **resolve_inputs(self.directory, self.inputs)}

    def start(self) -> Function:
        """Load the models and return the function that annotates a shard."""
        annotate = self.source.load()
        return lambda shard, report_progress: annotate_shard(
            shard, with_progress(annotate, report_progress, shard.size), self
        )


def with_progress(annotate: Annotate, report_progress: ProgressCallback, maximum: int) -> Annotate:
    """Wrap `annotate` so that each call reports the characters processed so far, at most `maximum`."""
    done = 0

    def run(texts: Sequence[str]) -> list[Decisions]:
        nonlocal done
        results = annotate(texts)
        done += sum(map(len, texts))
        report_progress(min(done, maximum))
        return results

    return wrap_annotator(run, annotate)


def annotate_shard(shard: Shard, annotate: Annotate, work: ShardWork) -> ShardRecord:
    """Annotate a shard and write its output and its record into the job's directory.

    If the format keeps the names of inputs of this kind, each input has its own output file; otherwise the
    shard is written to ``part-NNNNN``.

    Raises D309 if something cannot be written.
    """
    began = time.monotonic()
    record = ShardRecord()
    if shard.parts[0].kind in work.format.mirrors:
        _mirror(shard, annotate, work, record)
    else:
        with record.writing_file(work.directory, part_name(shard, work.format)) as write:
            results = _annotated_batches(shard.parts, annotate, work, record)
            work.format.join(map(work.format.encode, results), write)
    record.seconds = time.monotonic() - began
    save_record(work.directory, shard.index, record)
    return record


def _mirror(shard: Shard, annotate: Annotate, work: ShardWork, record: ShardRecord) -> None:
    """Write one output file per input file that contains a document."""
    if shard.parts[0].kind == "file":  # few documents per file: batching those of several is faster
        names = {part.input.shown: part.name for part in shard.parts}
        results = chain.from_iterable(_annotated_batches(shard.parts, annotate, work, record))
        for path, of_file in groupby(results, lambda result: result.document.path):
            _write(work, names[path], (work.format.encode([result]) for result in of_file), record)
        return
    for part in shard.parts:
        chunks = map(work.format.encode, _annotated_batches([part], annotate, work, record))
        # read before opening the file: an input without documents gets no output file
        if (first := next(chunks, None)) is not None:
            _write(work, part.name, chain([first], chunks), record)


def part_name(shard: Shard, format: Format) -> str:
    """Return the name of the output file of a shard."""
    rows = shard.parts[0].kind in ("json", "csv", "parquet")
    suffix = ".jsonl" if format.name == "corrected" and rows else format.suffix
    return f"part-{shard.index:05}{suffix}"


def _annotated_batches(
    parts: Sequence[ShardPart], annotate: Annotate, work: ShardWork, record: ShardRecord
) -> Iterator[list[AnnotatedDocument]]:
    """Yield the annotated documents of a shard in batches; unreadable ones are noted in `record`."""
    documents = readable(shard_documents(parts, work), record.bad.append)
    for batch in batch_documents(documents):
        results, bad = annotate_documents(batch, annotate, seconds=work.limits.seconds)
        record.bad.extend(str(document.error) for document in bad)
        record.totals.add(count_totals(results))
        yield results


def shard_documents(parts: Sequence[ShardPart], work: ShardWork) -> Iterator[Document | UnreadableDocument]:
    """Yield the documents of a shard in order."""
    options: Any = {"field": work.field, "limit": work.limits.memory}
    for part in parts:
        if part.has_changed:
            yield UnreadableDocument(part.path, UserError("D319", path=part.path))
        else:
            yield from read(part.input, start=part.start, end=part.end, line=part.line, **options)


def readable(
    documents: Iterable[Document | UnreadableDocument], report: Callable[[str], object]
) -> Iterator[Document]:
    """Yield the documents that can be read; call `report` with the message of each other one."""
    for document in documents:
        if isinstance(document, UnreadableDocument):
            report(str(document.error))
        else:
            yield document


def _write(work: ShardWork, name: str, chunks: Iterable[bytes], record: ShardRecord) -> None:
    """Write a file under the name of an input; skip it if the file system does not support the name."""
    path = work.directory / name
    try:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        with record.writing_file(work.directory, name) as write:
            work.format.join(chunks, write)
    except UserError as error:
        if error.code != "D309" or getattr(error.__cause__, "errno", None) not in _UNSUPPORTED_NAME:
            raise
        record.bad.append(str(error))


@dataclass(frozen=True, slots=True)
class ProbeItem:
    """Documents `first` to `last` of a shard, to be annotated or only counted."""

    shard: Shard
    first: int = 0
    last: int | None = None
    annotated: bool = True


@dataclass(frozen=True, slots=True)
class ProbeWork:
    """Process a part of a shard without output; return the number of documents and the first id."""

    work: ShardWork

    def describe(self) -> dict[str, Any]:
        """Return the description of the job's work."""
        return self.work.describe()

    def start(self) -> Function:
        """Return the function that runs a probe; models are loaded when first needed."""
        work = self.work
        load = cache(work.source.load)  # not needed by probes that only count

        def run(probe: ProbeItem, report_progress: ProgressCallback) -> tuple[int, str]:
            documents = readable(shard_documents(probe.shard.parts, work), lambda message: None)
            documents = islice(documents, probe.first, probe.last)
            if not probe.annotated:
                names = [document.id for document in documents]
                return len(names), names[0] if names else ""
            n = 0
            for batch in batch_documents(documents):
                results, _ = annotate_documents(batch, load(), seconds=work.limits.seconds)
                work.format.encode(results)
                n += len(batch)
            return n, ""

        return run


def bisect_failure(shard: Shard, work: ShardWork, runner: Runner) -> str | None:
    """Find by bisection a document that makes its shard fail; return its id, or None."""
    probe_work = ProbeWork(work)

    def probe(first: int = 0, last: int | None = None, *, annotated: bool = True) -> tuple[int, str] | None:
        """Process some documents; return their number and the first id, or None if that fails."""
        (outcome,) = run_checked(runner, probe_work, [ProbeItem(shard, first, last, annotated)])
        return None if outcome.problem is not None else outcome.result

    counted = probe(annotated=False)
    if counted is None or not counted[0]:
        return None
    n = counted[0]
    first, last = 0, n  # annotating these documents fails
    while last - first > 1:
        middle = (first + last) // 2
        if probe(first, middle) is None:
            last = middle
        elif probe(middle, last) is None:
            first = middle
        else:
            return None  # both halves succeed: only the whole fails
    if n == 1 and probe(first, last) is not None:
        return None
    cause = probe(first, last, annotated=False)
    return None if cause is None else cause[1]


_MAX_BISECTED = 5  # bisect at most this many shards; if more fail, the machine is at fault


@dataclass(slots=True)
class JobReport:
    """Results and problems of a run."""

    # counts of the whole job, and of this run only
    totals: Totals = field(default_factory=Totals)
    fresh: Totals = field(default_factory=Totals)
    # a message for each document that could not be read or annotated
    bad: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)  # a message for each shard (or batch) that was skipped
    # number of all shards, and of those that an earlier run finished
    shards: int = 0
    skipped: int = 0

    def add(self, totals: Totals) -> None:
        """Add counts of this run."""
        self.totals.add(totals)
        self.fresh.add(totals)


Listener = Callable[[int, Sequence[str]], None]
"""Callback with the amount of input that was processed since the last call, and new messages."""


def run_job(
    directory: Path,
    inputs: Sequence[Input],
    *,
    source: AnnotatorSource,
    format: Format,
    field: str = "text",
    shard_size: int | None = None,
    limits: JobLimits | None = None,
    runner: Runner | None = None,
    force: bool = False,
    command: dict[str, Any] | None = None,
    shard_index: bool = False,
    listener: Listener = lambda amount, messages: None,
    planned: Callable[[int], None] = lambda size: None,
) -> JobReport:
    """Annotate `inputs` into `directory`, or resume an earlier run.

    Raises D309 to D312, D316 to D318, D332, D870, D871; D4xx from the models.

    `directory`: created if necessary.
    `source`: creates the annotator; its description is part of the manifest.
    `field`: key of the text in JSONL inputs.
    `shard_size`: bytes of input per shard; by default that of `default_shard_size`.
    `runner`: processes the shards; by default in this process.
    `force`: whether to start anew in a directory that contains something else.
    `command`: the command that started the job, stored in the manifest for `disambig job resume`.
    `shard_index`: whether to write a page with links to the parts, too, for HTML.
    `listener` and `planned`: called with the progress in bytes of input, and with the total before the start.
    """
    if any(entry.path == STDIN for entry in inputs):
        raise UserError("D317")
    _check_targets(directory, inputs)
    limits = limits or JobLimits()
    config = {
        **source.describe(),
        "format": format.name,
        "field": field,
        "shard_size": shard_size,
        "text": getattr(format, "text", None),
        **({"only_flags": True} if isinstance(format, FlagsOnlyFormat) else {}),
        **({} if (cells := getattr(format, "safe_cells", None)) is None else {"safe_cells": cells}),
        # jobs of releases without versions of records wrote version 1
        **({} if (version := getattr(format, "version", None)) in (None, 1) else {"records": version}),
        **({"shard_index": True} if shard_index else {}),
        **limits.plain(),
    }
    size = shard_size or default_shard_size(inputs)
    plan = plan_shards(inputs, shard_size=size, field=field, whole=format.mirrors)
    _check_names(plan, format)
    manifest, temp_files = new_manifest(plan, config, command), job_temp_files(directory)
    check_directory(directory, manifest, force=force, inputs=plan.inputs)  # before anything is written
    with locked(directory):
        begin_or_resume(directory, manifest, force=force, inputs=plan.inputs)
        temp_files.clean()
        planned(sum(plan.sizes))
        folders = input_folders(entry.path for entry in inputs)
        work = ShardWork(directory, source, format, field, folders, limits)
        try:
            report = _run_shards(plan, work, runner or InProcessRunner(), listener)
            if shard_index:
                write_index(directory, plan.shards, language=source.language())
            return report
        finally:
            temp_files.clean()  # temporary files of workers that were killed


def _run_shards(plan: ShardPlan, work: ShardWork, runner: Runner, listener: Listener) -> JobReport:
    """Run the shards that have no record yet; return a report on all of them.

    If workers repeatedly fail on a shard, the job continues with the others, and then halves the shard until
    the document that causes the failure is isolated.
    """
    report = JobReport(shards=len(plan.shards))
    unfinished, failed = array("q"), []
    for index in range(len(plan.shards)):
        record = load_record(work.directory, index)
        if record is None:
            unfinished.append(index)
            continue
        report.skipped += 1
        report.totals.add(record.totals)
        report.bad.extend(record.bad)
        listener(plan.sizes[index], record.bad)
    items = (plan.shards[index] for index in unfinished)
    for outcome in run_checked(runner, work, items, report_progress=lambda amount: listener(amount, ())):
        shard = outcome.item
        remaining = shard.size - outcome.progress
        if outcome.problem is not None:
            failed.append((shard, outcome.problem, remaining))
            continue
        report.add(outcome.result.totals)
        report.bad.extend(outcome.result.bad)
        listener(remaining, outcome.result.bad)
    for shard, problem, remaining in failed:  # bisected last, when no other worker has to be supervised
        what = f"shard {shard.index} ({shard.parts[0].path}{' ...' if len(shard.parts) > 1 else ''})"
        cause = bisect_failure(shard, work, runner) if len(report.left_out) < _MAX_BISECTED else None
        if cause is not None:
            problem = f"{problem}; the cause is {cause}"
        message = str(UserError("D314", what=what, problem=problem))
        report.left_out.append(message)
        listener(remaining, [message])
    return report


def _check_names(plan: ShardPlan, format: Format) -> None:
    """Raise an error if an output that keeps its input's name would overwrite a part."""
    if not format.mirrors:
        return
    parts = {part_name(shard, format) for shard in plan.shards if shard.parts[0].kind not in format.mirrors}
    for shard in plan.shards if parts else ():
        for part in shard.parts:
            if part.kind in format.mirrors and part.name in parts:
                raise UserError("D332", path=part.path)


def _check_targets(directory: Path, inputs: Sequence[Input]) -> None:
    """Raise an error if an output would overwrite an input."""
    for entry in inputs:
        target = os.path.join(directory, entry.name)
        if os.path.lexists(target) and os.path.realpath(target) == os.path.realpath(entry.path):
            raise UserError("D316", path=entry.path)


@dataclass(frozen=True, slots=True)
class StreamWork:
    """Annotate the batches of a stream."""

    source: AnnotatorSource
    format: Format
    seconds: float | None = None

    def describe(self) -> dict[str, Any]:
        """Return the models as seen by this process."""
        return self.source.describe()

    def start(self) -> Function:
        """Load the models and return the function that annotates a batch of documents."""
        annotate = self.source.load()

        def work(
            batch: Sequence[Document], report_progress: ProgressCallback
        ) -> tuple[bytes, Totals, list[str]]:
            """Return the output, the counts and the messages of a batch."""
            annotate_reporting = with_progress(annotate, report_progress, _characters(batch))
            results, bad = annotate_documents(batch, annotate_reporting, seconds=self.seconds)
            messages = [str(document.error) for document in bad]
            return self.format.encode(results), count_totals(results), messages

        return work


def annotate_stream(
    documents: Iterable[Document | UnreadableDocument],
    *,
    source: AnnotatorSource,
    format: Format,
    write: Callable[[bytes], object],
    runner: Runner | None = None,
    seconds: float | None = None,
    listener: Listener = lambda amount, messages: None,
) -> JobReport:
    """Annotate `documents` and write them in order, with only a few batches in memory.

    `write`: called with the bytes of the output; not called if no document contains a word.
    `runner`: processes the batches; by default in this process.
    `seconds`: maximum time per document.
    `listener`: called with the progress in characters.
    """
    report = JobReport()

    def report_bad(message: str) -> None:
        report.bad.append(message)
        listener(0, [message])

    def chunks() -> Iterator[bytes]:
        work = StreamWork(source, format, seconds)
        batches = batch_documents(readable(documents, report_bad))
        for outcome in run_checked(
            runner or InProcessRunner(),
            work,
            batches,
            ordered=True,
            report_progress=lambda more: listener(more, ()),
        ):
            amount = _characters(outcome.item) - outcome.progress
            if outcome.problem is not None:
                what = f"documents {outcome.item[0].id} to {outcome.item[-1].id}"
                report.left_out.append(str(UserError("D314", what=what, problem=outcome.problem)))
                listener(amount, report.left_out[-1:])
                continue
            data, totals, bad = outcome.result
            report.add(totals)
            report.bad.extend(bad)
            listener(amount, bad)
            yield data

    stream, first = chunks(), deque[bytes]()
    # Without a word nothing is written, so the chunks up to the first word have to wait.
    while not report.totals.words and (chunk := next(stream, None)) is not None:
        first.append(chunk)
    if report.totals.words:
        format.join(chain(_drain(first), stream), write)
    return report


def _drain(chunks: deque[bytes]) -> Iterator[bytes]:
    """Yield chunks and hold none of them: one can have 40 times the size of its text."""
    while chunks:
        yield chunks.popleft()


def _characters(batch: Sequence[Document]) -> int:
    return sum(len(document.text) for document in batch)


_LISTS_PER_BATCH = 2000
"""Number of lists per batch."""


def rerank(
    model: Model,
    paths: Sequence[str],
    write: Callable[[bytes], object],
    *,
    bad: Callable[[UserError], object] | None = None,
) -> int:
    """Write the lists of files with the best candidate first; return the number of lists.

    `bad` is called with the error of an invalid line, which is then skipped; by default the error is raised.
    Raises D334 for an invalid line, D300 to D308 for a file, D336 for a model of another kind.
    """
    n = 0
    for items in minibatch(read_nbest(paths, bad=bad), _LISTS_PER_BATCH):
        with name_error_place(items):
            decisions = decide_lists(model, to_candidate_lists(items))
        lines = "".join(f"{line}\n" for line in format_lines(items, decisions))
        write(lines.encode(errors="backslashreplace"))  # half a surrogate pair is escaped as JSON escapes it
        n += len(items)
    return n
