"""Run ``disambig annotate``: output, progress, summary and exit status."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disambig.checking import StableSource
from disambig.cli.progress import Meter, hidden_progress, progress, remark, say
from disambig.errors import UserError, nearest_first
from disambig.files import STDIN, checked_writer, is_special, save_output, writing
from disambig.formats import (
    BINARY,
    FIELD,
    LANGUAGE_FORMATS,
    NAMES,
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
from disambig.jobs import (
    LOCAL,
    EngineOptions,
    JobLimits,
    JobReport,
    Runner,
    annotate_stream,
    make_runner,
    run_job,
)
from disambig.models import AnnotatorSource

MESSAGES_SHOWN = 50


class AnnotationReporter:
    """Show the progress of annotation, its messages and its summary.

    Parameters
    ----------
    meter : Meter, optional
        Shows the progress.
    """

    def __init__(self, meter: Meter | None = None) -> None:
        self._meter = meter or Meter()
        self._size: int | None = None
        self._done = 0
        self._first: tuple[float, int] | None = None
        self._last = (0.0, 0)
        self._messages = 0

    def begin(self, size: int | None) -> None:
        """Start; `size` is the size of all inputs in bytes, or None if it is unknown."""
        self._size = size
        self._meter.show("annotating", 0, size, unit="B")

    def listen(self, amount: int, messages: Sequence[str]) -> None:
        """Add `amount` bytes to the progress and show messages, at most `MESSAGES_SHOWN` in all."""
        self._done += amount
        self._last = (time.monotonic(), self._done)
        if amount and self._first is None:
            self._first = self._last
        self._meter.show("annotating", self._done, self._size, unit="B")
        for message in messages:
            self._messages += 1
            if self._messages <= MESSAGES_SHOWN:
                say(f"disambig: {message}")

    def _words_a_second(self, words: int) -> str:
        """Return the rate without the first piece, whose time includes loading and compiling."""
        if self._first is None or self._last[1] <= self._first[1] or not words:
            return ""
        share = (self._last[1] - self._first[1]) / self._last[1]
        seconds = max(self._last[0] - self._first[0], 1e-9)
        return f", {words * share / seconds:,.0f} words/s"

    def summary(self, report: JobReport, output: str | None, *, language: str = "en") -> None:
        """Show the number of documents and words, the rate, and the decisions and flags per task.

        Parameters
        ----------
        report : JobReport
        output : str or None
        language : str
            Language of the models.
        """
        totals = report.totals
        rate = self._words_a_second(report.fresh.words) if not report.skipped else ""
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
            remark(_before(report.skipped, report.shards))
        self.left_out(report)
        if output is not None:
            remark(f"written to {escape_control_chars(output)}")

    def left_out(self, report: JobReport) -> None:
        """Show how many messages were not shown, and how many documents and parts were skipped."""
        hidden = self._messages - MESSAGES_SHOWN
        if hidden > 0:
            say(f"{pluralize(hidden, 'more message')} not shown")
        if report.bad:
            say(f"skipped, since they could not be annotated: {pluralize(len(report.bad), 'document')}")
        if report.left_out:
            say(f"skipped, since a worker failed: {pluralize(len(report.left_out), 'part')}")


def _before(skipped: int, shards: int) -> str:
    """Return how many shards of a job an earlier run had finished."""
    if skipped == shards:
        return "nothing left to do: an earlier run finished the job"
    was = "was" if skipped == 1 else "were"
    return f"{skipped:,} of {pluralize(shards, 'shard')} {was} finished by an earlier run"


NBEST_KIND = "nbest"


def run_reranking(
    paths: Sequence[str], models: Sequence[str], *, output: Path | None, format: str | None, force: bool
) -> bool:
    """Rerank lists and report their number; return True if every line was valid.

    Raises
    ------
    UserError
        D335 if the output is not JSON Lines, D336 if no reranking model is named, D310 if the output exists;
        errors of reading.
    """
    from disambig.cli.progress import remark, say
    from disambig.files import checked_writer, is_special, save_output, writing
    from disambig.jobs import rerank
    from disambig.models import check_lists, load

    if format not in (None, "jsonl") or (output is not None and not output.suffix):
        raise UserError("D335", what=format if format not in (None, "jsonl") else "a job in a directory")
    if len(models) != 1:
        raise UserError("D336", model=", ".join(models) or "none", task="nothing")
    model = load(models[0])
    check_lists(model)
    broken: list[UserError] = []

    def bad(error: UserError) -> None:
        broken.append(error)
        say(f"disambig: {error}")

    if output is None:
        n = rerank(model, paths, checked_writer(sys.stdout.buffer, "standard output"), bad=bad)
        with writing("standard output"):
            sys.stdout.buffer.flush()
    else:
        if output.exists() and not force and not is_special(output):
            raise UserError("D310", path=output)
        with save_output(output) as write:
            n = rerank(model, paths, write, bad=bad)
    where = f"{output}: " if output is not None else ""
    remark(
        f"{where}{pluralize(n, 'list')}" + (f", {pluralize(len(broken), 'line')} skipped" if broken else "")
    )
    return not broken


FAILURE = 2
_HERE = EngineOptions()


@dataclass(frozen=True, slots=True)
class AnnotateRequest:
    """The validated options of ``disambig annotate``."""

    paths: tuple[str, ...]
    output: Path | None = None
    is_job: bool = False
    format: str | None = None
    lines: bool = False
    field: str | None = None
    source_format: str | None = None
    text: bool = True
    only_flags: bool = False
    engine: str = LOCAL
    options: EngineOptions = _HERE
    shard_size: int | None = None
    safe_cells: bool | None = None
    records: int | None = None
    force: bool = False
    command: dict[str, Any] | None = None
    shard_index: bool = False
    bounds: JobLimits = dataclasses.field(default_factory=JobLimits)


def run_annotate(request: AnnotateRequest, source: AnnotatorSource) -> int:
    """Run the request and return the exit status: 0, or 2 if something was skipped.

    Raises
    ------
    UserError
        If the run cannot start or continue; no partial output is left.
    """
    if not (request.output is None or request.format or request.is_job or is_special(request.output)):
        check_suffix(str(request.output))
    terminal = request.output is None and _is_terminal()
    name = request.format or _format_name(request, terminal)
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
        source = StableSource(source)
    if request.only_flags:
        format = only_flags(format, can_flag=source.can_flag())
    if request.output is not None and not request.is_job:
        check_output(str(request.output), name)
    if request.shard_index and not (request.is_job and name == "html"):
        problem = "it requires a job directory and --format html"
        raise UserError("D602", option="--shard-index", value="", problem=problem)
    if terminal and name in BINARY:
        raise UserError("D603", format=name)
    unreadable: list[UserError] = []  # directories

    def note(problem: UserError) -> None:
        if problem.code == "D308":
            unreadable.append(problem)
        remark(f"disambig: {problem}")

    inputs = find_inputs(
        request.paths,
        lines=request.lines,
        other=_kind(request),
        exclude=[str(request.output)] if request.is_job else (),
        note=note,
    )
    check_inputs(format, inputs)
    runner = make_runner(request.engine, request.options)
    with progress() as meter:
        reporter = AnnotationReporter(meter)
        run = _Run(request, inputs, source, format, reporter, runner)
        report = run.into_directory() if request.is_job else run.into_one_file()
    problems = len(report.bad) + len(report.left_out) + len(unreadable)
    if not report.totals.words and not problems:
        raise UserError("D307", what=_documents_or_nothing(inputs))
    if report.totals.documents:
        language = source.language() if report.totals.foreign else "en"
        output = None if request.output is None else str(request.output)
        reporter.summary(report, output, language=language)
    elif len(report.bad) + len(report.left_out) > 1:  # a single message says it all
        reporter.left_out(report)
    return FAILURE if problems else 0


@dataclass(frozen=True, slots=True)
class _Run:
    """A request with all that it takes to carry it out."""

    request: AnnotateRequest
    inputs: Sequence[Input]
    source: AnnotatorSource
    format: Format
    reporter: AnnotationReporter
    runner: Runner

    def into_directory(self) -> JobReport:
        """Annotate into a directory, as a job that can be resumed."""
        request = self.request
        assert request.output is not None
        try:
            return run_job(
                request.output,
                self.inputs,
                source=self.source,
                format=self.format,
                field=request.field or FIELD,
                shard_size=request.shard_size,
                bounds=request.bounds,
                runner=self.runner,
                force=request.force,
                command=request.command,
                shard_index=request.shard_index,
                listener=self.reporter.listen,
                planned=self.reporter.begin,
            )
        except KeyboardInterrupt:
            say("disambig: interrupted; run the same command again to resume the job")
            raise

    def into_one_file(self) -> JobReport:
        """Annotate into one file or standard output."""
        request = self.request

        def annotate(write: Callable[[bytes], object]) -> JobReport:
            return annotate_stream(
                read_all(self.inputs, field=request.field or FIELD, limit=request.bounds.memory),
                source=self.source,
                format=self.format,
                write=write,
                seconds=request.bounds.seconds,
                runner=self.runner,
                listener=self.reporter.listen,
            )

        size_is_known = STDIN not in request.paths and not any(entry.compressed for entry in self.inputs)
        self.reporter.begin(sum(entry.size for entry in self.inputs) if size_is_known else None)
        if request.output is None:
            if sys.stdout is None:
                raise UserError("D309", path="standard output", problem="it is closed")
            report = annotate(
                _to_terminal if _is_terminal() else checked_writer(sys.stdout.buffer, "standard output")
            )
            with writing("standard output"):
                sys.stdout.buffer.flush()
            return report
        if any(request.output.resolve() == Path(entry.path).resolve() for entry in self.inputs):
            raise UserError("D316", path=request.output)
        if request.output.exists() and not request.force and not is_special(request.output):
            raise UserError("D310", path=request.output)
        try:
            with save_output(request.output) as write:
                report = annotate(write)
                if not report.totals.words:
                    raise _NothingToWrite(report)
        except _NothingToWrite as nothing:
            return nothing.report
        return report


def _to_terminal(data: bytes) -> None:
    """Write to the terminal with the progress bar hidden and control characters escaped."""
    if data:
        data = escape_control_chars(data.decode(errors="backslashreplace"), lines=True).encode()
        with hidden_progress(), writing("standard output"):
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()


class _NothingToWrite(Exception):
    """Leave `save_output` without writing a file, since there was no word to annotate."""

    def __init__(self, report: JobReport) -> None:
        self.report = report


def _kind(request: AnnotateRequest) -> Kind | None:
    """Return the format of standard input and of files with an unknown suffix."""
    if request.source_format is None:
        return None if request.field is None else "json"
    if request.source_format not in NAMES:
        raise UserError("D601", name=request.source_format, names=nearest_first(request.source_format, NAMES))
    return NAMES[request.source_format]


def _format_name(request: AnnotateRequest, terminal: bool) -> str:
    if request.is_job:
        return "jsonl"
    return guess_format(str(request.output) if request.output else None, terminal=terminal)


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _documents_or_nothing(inputs: Sequence[Input]) -> str:
    return inputs[0].shown if len(inputs) == 1 else f"{inputs[0].shown} and {len(inputs) - 1:,} more"
