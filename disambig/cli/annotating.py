"""One run of ``disambig annotate``: where output goes, what the user is told, the exit status."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disambig.batch.bounds import Bounds
from disambig.batch.engines import LOCAL, EngineOptions, engine
from disambig.batch.job import Report, run_job
from disambig.batch.sources import Source
from disambig.batch.stream import annotate_stream
from disambig.batch.work import Runner
from disambig.cli.progress import clear, progress, say
from disambig.cli.reporting import Reporter
from disambig.errors import UserError, nearest_first
from disambig.files.opening import STDIN
from disambig.files.saving import is_special, saved_output, writer, writing
from disambig.formats.documents import Kind
from disambig.formats.flags_alone import only_flags
from disambig.formats.inputs import NAMES, Input, find_inputs
from disambig.formats.readers import FIELD, read_all
from disambig.formats.writers import (
    BINARY,
    OF_LANGUAGE,
    Format,
    check_inputs,
    check_output,
    format_of,
    make_format,
    strange_suffix,
)
from disambig.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

FAILURE = 2
_HERE = EngineOptions()


@dataclass(frozen=True, slots=True)
class Request:
    """The options of ``disambig annotate``, checked one by one."""

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
    shard_size: int = 8_000_000
    safe_cells: bool | None = None
    force: bool = False
    command: dict[str, Any] | None = None
    shard_index: bool = False
    bounds: Bounds = dataclasses.field(default_factory=Bounds)


def run(request: Request, source: Source) -> int:
    """Annotate as asked and return the exit status: 0, or 2 where something was left out.

    Raises
    ------
    UserError
        What ends the run before or while it works; nothing half-written is left.
    """
    terminal = request.output is None and _is_terminal()
    name = request.format or _format_name(request, terminal)
    language = source.language() if name in OF_LANGUAGE else "en"
    format = make_format(
        name,
        field=request.field or FIELD,
        text=request.text,
        language=language,
        safe_cells=request.safe_cells,
    )
    if request.only_flags:
        format = only_flags(format, can_flag=source.can_flag())
    if request.output is not None and not request.is_job:
        check_output(str(request.output), name)
    if request.shard_index and not (request.is_job and name == "html"):
        problem = "it is for a job in a directory, --format html"
        raise UserError("D602", option="--shard-index", value="", problem=problem)
    if terminal and name in BINARY:
        raise UserError("D603", format=name)
    inputs = find_inputs(
        request.paths,
        lines=request.lines,
        other=_kind(request),
        exclude=[str(request.output)] if request.is_job else (),
    )
    check_inputs(format, inputs)
    runner = engine(request.engine, request.options)
    with progress() as meter:
        reporter = Reporter(meter)
        run_it = _job if request.is_job else _stream
        report = run_it(request, inputs, source, format, reporter, runner)
    problems = len(report.bad) + len(report.left_out)
    if not report.totals.words and not problems:
        raise UserError("D307", what=_all_of(inputs))
    if report.totals.documents:
        reporter.summary(report, _told(request, name))
    return FAILURE if problems else 0


def _told(request: Request, format: str) -> str | None:
    """Return where the output is and, where nobody asked for it, in what format."""
    if request.output is None:
        return None
    suffix = "" if request.format or request.is_job else strange_suffix(str(request.output))
    how = f" as {format}: its suffix {suffix} names no format, --format would" if suffix else ""
    return f"{request.output}{how}"


def _job(
    request: Request,
    inputs: Sequence[Input],
    source: Source,
    format: Format,
    reporter: Reporter,
    runner: Runner,
) -> Report:
    assert request.output is not None
    try:
        return run_job(
            request.output,
            inputs,
            source=source,
            format=format,
            field=request.field or FIELD,
            shard_size=request.shard_size,
            bounds=request.bounds,
            runner=runner,
            force=request.force,
            command=request.command,
            shard_index=request.shard_index,
            listener=reporter.listen,
            planned=reporter.begin,
        )
    except KeyboardInterrupt:
        say("disambig: interrupted; started again with the same options, the job goes on from here")
        raise


def _stream(
    request: Request,
    inputs: Sequence[Input],
    source: Source,
    format: Format,
    reporter: Reporter,
    runner: Runner,
) -> Report:
    def annotate(write: Callable[[bytes], object]) -> Report:
        return annotate_stream(
            read_all(inputs, field=request.field or FIELD, limit=request.bounds.held),
            source=source,
            format=format,
            write=write,
            seconds=request.bounds.seconds,
            runner=runner,
            listener=reporter.listen,
        )

    known = STDIN not in request.paths and not any(entry.compressed for entry in inputs)
    reporter.begin(sum(entry.size for entry in inputs) if known else None)
    if request.output is None:
        if sys.stdout is None:
            raise UserError("D309", path="standard output", problem="it is closed")
        report = annotate(_to_terminal if _is_terminal() else writer(sys.stdout.buffer, "standard output"))
        with writing("standard output"):
            sys.stdout.buffer.flush()
        return report
    if any(request.output.resolve() == Path(entry.path).resolve() for entry in inputs):
        raise UserError("D316", path=request.output)
    if request.output.exists() and not request.force and not is_special(request.output):
        raise UserError("D310", path=request.output)
    try:
        with saved_output(request.output) as write:
            report = annotate(write)
            if not report.totals.words:
                raise _NothingToWrite(report)
    except _NothingToWrite as nothing:
        return nothing.report
    return report


def _to_terminal(data: bytes) -> None:
    """Write to the terminal, where the progress bar may be, too: nothing that would steer it."""
    if data:
        data = visible(data.decode(errors="backslashreplace"), lines=True).encode()
        with clear(), writing("standard output"):
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()


class _NothingToWrite(Exception):
    """Leaves `saved` without an output: there was no word to annotate."""

    def __init__(self, report: Report) -> None:
        self.report = report


def _kind(request: Request) -> Kind | None:
    """Return what files without a known suffix hold, and standard input."""
    if request.source_format is None:
        return None if request.field is None else "json"
    if request.source_format not in NAMES:
        raise UserError("D601", name=request.source_format, names=nearest_first(request.source_format, NAMES))
    return NAMES[request.source_format]


def _format_name(request: Request, terminal: bool) -> str:
    if request.is_job:
        return "jsonl"
    return format_of(str(request.output) if request.output else None, terminal=terminal)


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _all_of(inputs: Sequence[Input]) -> str:
    return inputs[0].shown if len(inputs) == 1 else f"{inputs[0].shown} and {len(inputs) - 1:,} more"
