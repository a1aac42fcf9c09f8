"""The command ``disambig annotate``: its options, output, progress, summary and exit status."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disambig.cli import options
from disambig.cli.output import (
    Meter,
    ProgressRate,
    check_takes_bytes,
    explain_interrupt,
    is_terminal,
    open_output,
    open_results,
    progress,
    remark,
    say,
)
from disambig.errors import UserError, nearest_first
from disambig.files import STDIN, expand_patterns, is_special
from disambig.formats import (
    BINARY,
    FIELD,
    FORMAT_NAMES,
    LANGUAGE_FORMATS,
    RECORD_VERSIONS,
    Format,
    Input,
    Kind,
    check_inputs,
    check_output,
    check_suffix,
    find_inputs,
    guess_format,
    make_format,
    only_flags,
    read_all,
)
from disambig.formatting import escape_control_chars, pluralize
from disambig.jobs import EngineOptions, JobLimits, JobReport, Runner, annotate_stream, make_runner, run_job

if TYPE_CHECKING:
    from disambig.models import AnnotatorSource

app = typer.Typer(**options.SETTINGS)


def _formats() -> Iterable[str]:
    from disambig.formats import FORMATS

    return FORMATS


@app.command()
def annotate(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Files, directories, or - for standard input.")
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            help="A file (a name with a suffix), or a job directory; if the command is run again, the job "
            "resumes. Default or -: standard output.",
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            autocompletion=options.complete_from(_formats),
            help="jsonl, text (one flag per line), corrected (the text with flagged words replaced; rows of "
            "CSV and Parquet become JSON Lines), html (a page to read), csv, tsv or parquet (one row per "
            "decision), conllu (in MISC), spacy, m2 (one S line per line of text, with its edits; it is not "
            "split into sentences, and a contraction such as can't is one token). Default: according to the "
            "suffix of the output; text on a terminal; jsonl for a pipe or a job. jsonl contains every "
            "decision, flagged or not (see --only-flags). parquet and spacy cannot be written to a terminal; "
            "corrected and m2 cannot be made from conllu and spacy.",
        ),
    ] = None,
    task: options.Tasks = None,
    model: options.Models = None,
    flags_per_1000: options.Rate = None,
    sets: options.Sets = None,
    ignore: options.Ignore = None,
    writing: options.Writing = None,
    detect_language: options.DetectLanguage = None,
    lines: options.Lines = None,
    field: Annotated[
        str | None,
        typer.Option(
            help="Key of the text in JSONL, column of the text in CSV and Parquet (default: text). If this "
            "option is given, standard input is read as JSONL."
        ),
    ] = None,
    source_format: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="KIND",
            help="Format of standard input and of files that end in .txt or in an unknown suffix: text, "
            "lines, jsonl, csv, conllu, spacy or parquet. The format of other files follows from their "
            "suffix: .md, .qmd, .rmd, .mdx, .markdown, .rst, .rest, .html, .htm, .xhtml, .docbook, "
            ".dbk, .dita, .ditamap, .page, .ipynb, .adoc, .asciidoc, .asc, .org, .man, .mdoc, .pod, .texi, "
            ".texinfo, .txi, .tex, .latex, .rnw, .dtx, .typ, .srt, .vtt, .rd, .jsonl, .ndjson, .csv, .tsv, "
            ".conllu, .spacy, .parquet, also with .gz, .bz2, .xz or .zst. nbest: rerank lists of "
            "candidates (JSON Lines) and write them with the best first; --model must name a reranking "
            "model.",
        ),
    ] = None,
    no_text: Annotated[
        bool, typer.Option("--no-text", help="Omit the text from JSONL, and the context from tables.")
    ] = False,
    only_flags: Annotated[
        bool,
        typer.Option(
            "--only-flags",
            help="Only flagged decisions, and documents with one; for jsonl, csv, tsv, parquet and text.",
        ),
    ] = False,
    records: Annotated[
        int | None,
        typer.Option(
            metavar="VERSION",
            help="Version of the records in jsonl: 2, whose schema `disambig schema` prints, or the former "
            "1, which the next release will no longer write. Default: 2.",
        ),
    ] = None,
    workers: options.Workers = 1,
    engine: options.Engine = "local",
    scheduler: options.Scheduler = None,
    timeout: options.Timeout = None,
    document_timeout: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Maximum time per document; a document that takes longer is skipped and reported. Ignored "
            "by Dask workers, for which --timeout applies.",
        ),
    ] = None,
    worker_memory: Annotated[
        str | None,
        typer.Option(
            help="Memory limit of each worker process, such as 2G, not counting shared tables; a worker that "
            "exceeds it is stopped and its shard is retried. Default: no limit."
        ),
    ] = None,
    shard_size: Annotated[
        float | None,
        typer.Option(
            help="Megabytes of input per shard of a job; only uncompressed plain text, lines, JSONL, CSV and "
            "CoNLL-U are split. Default: a sixteenth of the input, from 0.25 to 8.",
            min=1e-6,
        ),
    ] = None,
    shard_index: Annotated[
        bool,
        typer.Option(
            "--shard-index",
            help="For a job with --format html: also write index.html, which links to the parts.",
        ),
    ] = False,
    safe_cells: Annotated[
        bool | None,
        typer.Option(
            "--safe-cells/--plain-cells",
            help="In csv and tsv, put ' before text that begins with = + - or @, which a spreadsheet would "
            "evaluate as a formula; disambig removes it when it reads the file. Default: in csv only.",
        ),
    ] = None,
    max_input: Annotated[
        str | None,
        typer.Option(
            help="Maximum size, unpacked, of an input that must be held in memory as a whole, such as 2G: "
            "text files, .spacy, row groups of Parquet; larger ones are skipped. Default: a tenth of the "
            "memory, at most 512M."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing output.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Annotate a corpus: text, lines, JSONL, CSV, Parquet, CoNLL-U, .spacy files or standard input.

    Offsets refer to the original text. A document that cannot be read is reported and skipped; the exit
    status is then 2.
    """
    # First, while the parameters are the only local variables; `job resume` calls the command with them.
    command = {"directory": os.getcwd(), "options": dict(locals())}

    from disambig.counts import parse_size
    from disambig.data import read_confusion_sets, read_ignore_list
    from disambig.models import ModelSource

    output = None if output == "-" else output
    paths = expand_patterns(paths)
    rates = options.parse_rates(flags_per_1000)
    memory = None if worker_memory is None else parse_size(worker_memory)
    # Reranking reads and writes lists, not documents, so the options of documents have no meaning for it.
    if source_format == NBEST_KIND:
        has_workers = workers > 1 or engine != "local" or scheduler or timeout is not None or worker_memory
        reads_text = lines or field or ignore or sets or rates is not None or writing is not None
        writes_records = only_flags or no_text or safe_cells is not None or records is not None
        has_limits = document_timeout is not None or max_input
        if has_workers or reads_text or writes_records or has_limits or shard_index:
            raise typer.BadParameter("--from nbest can only be combined with --model, --output and --force")
        models = (*(task or ()), *(model or ()))
        file = Path(output) if output is not None else None
        if not run_reranking(paths, models, output=file, format=format, force=force):
            raise typer.Exit(2)
        return
    source = ModelSource(
        models=(*(task or ()), *(model or ())),
        flags_per_1000=rates,
        ignore=read_ignore_list(ignore) if ignore else (),
        sets=read_confusion_sets(sets) if sets else (),
        detect_language=detect_language is not False,
        writing=writing,
    )
    for note in source.notes(source.load_models()) if writing or sets else ():
        remark(f"disambig: {note}")
    request = AnnotateRequest(
        paths=tuple(paths),
        output=Path(output) if output is not None else None,
        is_job=output is not None and is_directory(output),
        format=format,
        lines=bool(lines),
        field=field,
        source_format=source_format,
        text=not no_text,
        only_flags=only_flags,
        engine=engine,
        engine_options=EngineOptions(workers, scheduler, timeout, memory),
        shard_size=None if shard_size is None else max(1, round(shard_size * 1_000_000)),
        safe_cells=safe_cells,
        records=records,
        force=force,
        command=command,
        shard_index=shard_index,
        limits=JobLimits(0 if max_input is None else max(1, parse_size(max_input)), document_timeout),
    )
    if status := run_annotate(request, source):
        raise typer.Exit(status)


def is_directory(output: str) -> bool:
    """Return True if an output names a directory: an existing one, or a name without a suffix."""
    path = Path(output)
    if path.is_dir() or output.endswith(("/", "\\")):
        return True
    return not path.suffix and not path.is_file() and not is_special(path)


MAX_MESSAGES = 50
MAX_NAMED_LINES = 3
"""Maximum number of lines that are named of those with the same problem, after the first one."""
_LINE = re.compile(r"(?:\bline |(?<=\S):)([\d,]*\d)(?=[:,])")
"""The number of a line in a message, as in ``a.jsonl: line 4: ...`` and ``a.jsonl:4: ...``."""
_VARYING = re.compile(r"\d[\d,.]*|(?<=: )'[^']*'(?:, '[^']*')*")
"""A number, or a list of names after a colon, such as the keys of a record."""


class MessageLimit:
    """Show at most `MAX_MESSAGES` messages and, of those that differ only in numbers, the first one."""

    def __init__(self) -> None:
        self._n_shown = self._n_hidden = 0
        self._similar: dict[str, list[str]] = {}  # by kind of message, the one that was shown, and the others

    def show(self, message: str) -> None:
        """Show a message, or count it."""
        # numbers and lists of names are what similar messages do not share
        kind = _VARYING.sub("#", message)
        if kind in self._similar:
            self._similar[kind].append(message)
        elif self._n_shown < MAX_MESSAGES:
            self._n_shown += 1
            self._similar[kind] = [message]
            say(f"disambig: {message}")
        else:
            self._n_hidden += 1

    def show_omissions(self) -> None:
        """Show how many messages were not shown."""
        for first, *others in self._similar.values():
            if others:
                say(f"disambig: {_describe_others(first, others)}")
        if self._n_hidden:
            say(f"{pluralize(self._n_hidden, 'more message')} not shown")


class AnnotationReporter:
    """Show the progress of annotation, its messages and its summary; `clock` returns the time in seconds."""

    def __init__(self, meter: Meter | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._meter = meter or Meter()
        self._rate = ProgressRate("annotating", "B", clock=clock)
        self._messages = MessageLimit()

    def begin(self, size: int | None) -> None:
        """Start; `size` is the size of all inputs in bytes, or None if it is unknown."""
        self._report(0, size)

    def listen(self, amount: int, messages: Sequence[str]) -> None:
        """Add `amount` bytes to the progress and show messages; those not shown are counted at the end."""
        self._report(self._rate.done + amount, self._rate.total)
        for message in messages:
            self._messages.show(message)

    def _report(self, done: int, total: int | None) -> None:
        self._rate.report(done, total)
        self._meter.show(self._rate.stage, done, total, unit=self._rate.unit)

    def _words_per_second(self, words: int) -> str:
        """Return the number of words per second as text, computed from that of bytes; "" if it is unknown."""
        bytes_per_second = self._rate.rate()
        if bytes_per_second is None or not words:
            return ""
        return f", {words * bytes_per_second / self._rate.done:,.0f} words/s"

    def summary(self, report: JobReport, output: str | None, *, language: str = "en") -> None:
        """Show the number of documents and words, the rate, and the decisions and flags per task."""
        totals = report.totals
        rate = self._words_per_second(report.fresh.words) if not report.skipped else ""
        remark(f"{pluralize(totals.documents, 'document')}, {pluralize(totals.words, 'word')}{rate}")
        for task, (decisions, flags) in sorted(totals.tasks.items()):
            line = f"{task}: {pluralize(decisions, 'decision')}"
            if flags is not None:
                share = f" ({1000 * flags / totals.words:.2f} per 1,000 words)" if totals.words else ""
                line += f", {pluralize(flags, 'flag')}{share}"
            remark(line)
        if totals.foreign:
            from disambig.text import describe_foreign

            note = UserError("D342", what=describe_foreign(totals.foreign, [language]))
            remark(f"disambig: {note}")
        if report.skipped:
            remark(_skipped_line(report.skipped, report.shards))
        self.show_omissions(report)
        if output is not None:
            remark(f"written to {escape_control_chars(output)}")

    def show_omissions(self, report: JobReport) -> None:
        """Show how many messages were not shown, and how many documents and parts were skipped."""
        self._messages.show_omissions()
        if report.bad:
            say(f"skipped, since they could not be annotated: {pluralize(len(report.bad), 'document')}")
        if report.left_out:
            say(f"skipped, since a worker failed: {pluralize(len(report.left_out), 'part')}")


def _describe_others(first: str, others: Sequence[str]) -> str:
    """Return a line about the messages that were not shown because they are like the first one."""
    lines = [match[1] for message in others[:MAX_NAMED_LINES] if (match := _LINE.search(message))]
    place = _LINE.search(first)
    if not (lines and place):
        if len(others) == 1:
            return others[0]
        code, one = others[0].split(" ", 1)
        return f"{code} {pluralize(len(others), 'more message')} like the first one, such as: {one}"
    more = ", ..." if len(others) > len(lines) else ""
    where = first[: place.start()].rstrip(":, ")
    return f"{where}: the same in {pluralize(len(others), 'more line')}: {', '.join(lines)}{more}"


def _skipped_line(skipped: int, shards: int) -> str:
    """Return a message about the shards of a job that an earlier run finished."""
    if skipped == shards:
        return "nothing left to do: an earlier run finished the job"
    was = "was" if skipped == 1 else "were"
    return f"{skipped:,} of {pluralize(shards, 'shard')} {was} finished by an earlier run"


NBEST_KIND = "nbest"


def run_reranking(
    paths: Sequence[str], models: Sequence[str], *, output: Path | None, format: str | None, force: bool
) -> bool:
    """Rerank lists and report their number; return True if every line was valid.

    Raises D335 if the output is not JSON Lines, D336 if no reranking model is named, D310 if the output
    exists; the errors of reading the lists.
    """
    from disambig.jobs import rerank
    from disambig.models import check_lists, load

    if format not in (None, "jsonl") or (output is not None and not output.suffix and not is_special(output)):
        raise UserError("D335", what=format if format not in (None, "jsonl") else "a job in a directory")
    if len(models) != 1:
        raise UserError("D336", model=", ".join(models) or "none", task="nothing")
    model = load(models[0])
    check_lists(model)
    n_skipped = 0
    messages = MessageLimit()

    def report_invalid(error: UserError) -> None:
        nonlocal n_skipped
        n_skipped += 1
        messages.show(str(error))

    with open_output(output, force=force) as write:
        n_lists = rerank(model, paths, write, bad=report_invalid)
    messages.show_omissions()
    where = f"{output}: " if output is not None else ""
    skipped = f", {pluralize(n_skipped, 'line')} skipped" if n_skipped else ""
    remark(f"{where}{pluralize(n_lists, 'list')}{skipped}")
    return not n_skipped


FAILURE = 2


@dataclass(frozen=True, slots=True)
class AnnotateRequest:
    """The validated options of ``disambig annotate``."""

    paths: tuple[str, ...]
    output: Path | None
    is_job: bool
    format: str | None
    lines: bool
    field: str | None
    source_format: str | None
    text: bool
    only_flags: bool
    engine: str
    engine_options: EngineOptions
    shard_size: int | None
    safe_cells: bool | None
    records: int | None
    force: bool
    command: dict[str, Any]
    shard_index: bool
    limits: JobLimits


def _check_destination(request: AnnotateRequest, format_name: str) -> None:
    """Check that results in a format can be written to the output of a request."""
    if request.output is not None and not request.is_job:
        check_output(str(request.output), format_name)
    if request.shard_index and not (request.is_job and format_name == "html"):
        problem = "it requires a job directory and --format html"
        raise UserError("D602", option="--shard-index", problem=problem)
    if request.output is None and format_name in BINARY:
        check_takes_bytes(format_name)


def run_annotate(request: AnnotateRequest, source: AnnotatorSource) -> int:
    """Run the request and return the exit status: 0, or 2 if something was skipped.

    Raises `UserError` if the run cannot start or continue; no partial output is left.
    """
    if not (request.output is None or request.format or request.is_job or is_special(request.output)):
        check_suffix(str(request.output))
    # Without --format, the suffix of the output decides; a job has a directory, whose parts are JSON Lines.
    name = request.format or "jsonl"
    if not (request.format or request.is_job):
        to_terminal = request.output is None and is_terminal()
        name = guess_format(str(request.output) if request.output else None, terminal=to_terminal)
    if request.records is not None and name != "jsonl":
        raise UserError("D532", format=name)
    language = source.language() if name in LANGUAGE_FORMATS else "en"
    format = make_format(
        name,
        field=request.field or FIELD,
        text=request.text,
        language=language,
        safe_cells=request.safe_cells,
        records=RECORD_VERSIONS[-1] if request.records is None else request.records,
    )
    if name == "corrected":
        from disambig.checking import StableSource

        source = StableSource(source)
    if request.only_flags:
        format = only_flags(format, can_flag=source.can_flag())
    _check_destination(request, name)
    n_unreadable = 0  # directories

    def note(problem: UserError) -> None:
        nonlocal n_unreadable
        is_unreadable = problem.code == "D308"
        n_unreadable += is_unreadable
        (say if is_unreadable else remark)(f"disambig: {problem}")

    inputs = find_inputs(
        request.paths,
        lines=request.lines,
        other=_default_kind(request),
        exclude=[str(request.output)] if request.is_job else (),  # a later run must not read its results
        note=note,
    )
    check_inputs(format, inputs)
    runner = make_runner(request.engine, request.engine_options)
    with progress() as meter:
        reporter = AnnotationReporter(meter)
        run = _Run(request, inputs, source, format, reporter, runner)
        report = run.as_job() if request.is_job else run.into_one_file()
    n_skipped = len(report.bad) + len(report.left_out)
    if not report.totals.words and not n_skipped + n_unreadable:
        more = f" and {len(inputs) - 1:,} more" if len(inputs) > 1 else ""
        raise UserError("D307", what=f"{inputs[0].shown}{more}")
    if report.totals.documents:
        language = source.language() if report.totals.foreign else "en"
        output = None if request.output is None else str(request.output)
        reporter.summary(report, output, language=language)
    elif n_skipped > 1:  # a single document has a message of its own
        reporter.show_omissions(report)
    return FAILURE if n_skipped + n_unreadable else 0


@dataclass(frozen=True, slots=True)
class _Run:
    """A request with everything that is needed to carry it out."""

    request: AnnotateRequest
    inputs: Sequence[Input]
    source: AnnotatorSource
    format: Format
    reporter: AnnotationReporter
    runner: Runner

    def as_job(self) -> JobReport:
        """Annotate into a directory, as a job that can be resumed."""
        request = self.request
        assert request.output is not None
        with explain_interrupt():
            return run_job(
                request.output,
                self.inputs,
                source=self.source,
                format=self.format,
                field=request.field or FIELD,
                shard_size=request.shard_size,
                limits=request.limits,
                runner=self.runner,
                force=request.force,
                command=request.command,
                shard_index=request.shard_index,
                listener=self.reporter.listen,
                planned=self.reporter.begin,
            )

    def into_one_file(self) -> JobReport:
        """Annotate into one file or standard output."""
        request = self.request

        def annotate(write: Callable[[bytes], object]) -> JobReport:
            return annotate_stream(
                read_all(self.inputs, field=request.field or FIELD, limit=request.limits.memory),
                source=self.source,
                format=self.format,
                write=write,
                seconds=request.limits.seconds,
                runner=self.runner,
                listener=self.reporter.listen,
            )

        # The size of a compressed file says nothing about the number of bytes that will be read from it.
        size_is_known = STDIN not in request.paths and not any(entry.compressed for entry in self.inputs)
        self.reporter.begin(sum(entry.size for entry in self.inputs) if size_is_known else None)
        output = request.output
        if output is None and is_terminal():
            with open_results(None) as show:
                return annotate(lambda data: show(data.decode(errors="backslashreplace")))
        if output is not None and any(
            output.resolve() == Path(entry.path).resolve() for entry in self.inputs
        ):
            raise UserError("D316", path=output)
        try:
            with open_output(output, force=request.force) as write:
                report = annotate(write)
                if output is not None and not report.totals.words:
                    raise _NothingToWrite(report)
        except _NothingToWrite as nothing:
            return nothing.report
        return report


class _NothingToWrite(Exception):
    """Leaves `open_output` without writing a file, because there was no word to annotate."""

    def __init__(self, report: JobReport) -> None:
        self.report = report


def _default_kind(request: AnnotateRequest) -> Kind | None:
    """Return the format of standard input and of files with an unknown suffix."""
    if request.source_format is None:
        return None if request.field is None else "json"
    if request.source_format not in FORMAT_NAMES:
        names = nearest_first(request.source_format, FORMAT_NAMES)
        raise UserError("D601", name=request.source_format, names=names)
    return FORMAT_NAMES[request.source_format]
