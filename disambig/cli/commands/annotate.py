"""The options of ``disambig annotate``; the work is done in `disambig.jobs`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from disambig.cli.options import (
    SETTINGS,
    DetectLanguage,
    Engine,
    Ignore,
    Lines,
    Models,
    Quiet,
    Rate,
    Scheduler,
    Sets,
    Tasks,
    Timeout,
    Workers,
    Writing,
    complete_from,
)

app = typer.Typer(**SETTINGS)


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
            autocompletion=complete_from(_formats),
            help="jsonl, text (one flag per line), corrected (the text with flagged words replaced; rows of "
            "CSV and Parquet become JSON Lines), html (a page to read), csv, tsv or parquet (one row per "
            "decision), conllu (in MISC), spacy, m2 (one S line per line of text, with its edits; it is not "
            "split into sentences, and a contraction such as can't is one token). Default: according to the "
            "suffix of the output; text on a terminal; jsonl for a pipe or a job. jsonl contains every "
            "decision, flagged or not (see --only-flags). parquet and spacy cannot be written to a terminal; "
            "corrected and m2 cannot be made from conllu and spacy.",
        ),
    ] = None,
    task: Tasks = None,
    model: Models = None,
    flags_per_1000: Rate = None,
    sets: Sets = None,
    ignore: Ignore = None,
    writing: Writing = None,
    detect_language: DetectLanguage = None,
    lines: Lines = None,
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
            help="Format of standard input and of files with an unknown suffix: text, lines, jsonl, csv, "
            "conllu, spacy or parquet. The format of other files follows from their suffix: .txt, .md, .qmd, "
            ".rmd, .mdx, .markdown, .rst, .rest, .html, .htm, .xhtml, .docbook, .dbk, .dita, .ditamap, "
            ".ipynb, .adoc, .asciidoc, .asc, .org, .man, .mdoc, .pod, .texi, .texinfo, .txi, .tex, "
            ".latex, .rnw, .rd, .jsonl, .ndjson, .csv, .tsv, .conllu, .spacy, .parquet, also with .gz, .bz2, "
            ".xz or .zst. nbest: rerank lists of candidates (JSON Lines) and write them with the best first; "
            "--model must name a reranking model.",
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
    workers: Workers = 1,
    engine: Engine = "local",
    scheduler: Scheduler = None,
    timeout: Timeout = None,
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
    quiet: Quiet = False,
) -> None:
    """Annotate a corpus: text, lines, JSONL, CSV, Parquet, CoNLL-U, .spacy files or standard input.

    Offsets refer to the original text. A document that cannot be read is reported and skipped; the exit
    status is then 2.
    """
    command = {"directory": os.getcwd(), "options": dict(locals())}

    from disambig.cli.annotating import NBEST_KIND, AnnotateRequest, run_annotate, run_reranking as rerank
    from disambig.cli.options import parse_rates
    from disambig.cli.progress import remark
    from disambig.counts import parse_size
    from disambig.data import read_confusion_sets, read_ignore_list
    from disambig.jobs import EngineOptions, JobLimits
    from disambig.models import ModelSource

    output = None if output == "-" else output
    rates = parse_rates(flags_per_1000)
    options = EngineOptions(
        workers, scheduler, timeout, None if worker_memory is None else parse_size(worker_memory)
    )
    if source_format == NBEST_KIND:
        has_workers = workers > 1 or engine != "local" or scheduler or timeout is not None or worker_memory
        reads_text = lines or field or ignore or sets or rates is not None or writing is not None
        writes_records = only_flags or no_text or safe_cells is not None or records is not None
        has_limits = document_timeout is not None or max_input
        if has_workers or reads_text or writes_records or has_limits or shard_index:
            raise typer.BadParameter("--from nbest can only be combined with --model, --output and --force")
        models = (*(task or ()), *(model or ()))
        file = Path(output) if output is not None else None
        if not rerank(paths, models, output=file, format=format, force=force):
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
        options=options,
        shard_size=None if shard_size is None else max(1, round(shard_size * 1_000_000)),
        safe_cells=safe_cells,
        records=records,
        force=force,
        command=command,
        shard_index=shard_index,
        limits=JobLimits(0 if max_input is None else max(1, parse_size(max_input)), document_timeout),
    )
    status = run_annotate(request, source)
    if status:
        raise typer.Exit(status)


def is_directory(output: str) -> bool:
    """Return True if an output names a directory: an existing one, or a name without a suffix."""
    from disambig.files import is_special

    path = Path(output)
    if path.is_dir() or output.endswith(("/", "\\")):
        return True
    return not path.suffix and not path.is_file() and not is_special(path)
