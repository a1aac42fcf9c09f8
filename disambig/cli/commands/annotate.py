"""``disambig annotate``: its options. What is done with them lives in `disambig.jobs`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from disambig.cli.options import Engine, Models, Quiet, Rate, Scheduler, Tasks, Timeout, Workers

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def annotate(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Files, directories, or - for standard input.")
    ],
    output: Annotated[
        str | None,
        typer.Option(
            help="A file (its name has a suffix), or the directory of a job, which started again goes on "
            "where it was. Default: standard output."
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="jsonl, text (a line a flag), corrected (the text, flagged words replaced), html (a page to "
            "read), csv, tsv or parquet (a row a decision), conllu (in MISC), spacy, m2 (sentences, edits). "
            "Default: by the output's suffix, jsonl by an unknown one; on a terminal text; into a pipe or a "
            "job jsonl, with every decision, flagged or not (--only-flags: with flags alone). Parquet and "
            "spacy do not go to a terminal, corrected and m2 are not made from conllu and spacy.",
        ),
    ] = None,
    task: Tasks = None,
    model: Models = None,
    flags_per_1000: Rate = None,
    sets: Annotated[
        str | None, typer.Option(metavar="FILE", help="More confusion sets: a line each, like accept/except.")
    ] = None,
    ignore: Annotated[
        str | None, typer.Option(metavar="FILE", help="Words to leave alone, one a line.")
    ] = None,
    lines: Annotated[bool, typer.Option("--lines", help="Each line of a text file is a document.")] = False,
    field: Annotated[
        str | None,
        typer.Option(
            help="Key of the text in JSONL, its column in CSV and Parquet (default: text); given, standard "
            "input is JSONL."
        ),
    ] = None,
    source_format: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="KIND",
            help="What standard input and files of unknown suffix hold: text, lines, jsonl, csv, conllu, "
            "spacy or parquet. Others are known by .txt, .md, .markdown, .tex, .latex, .jsonl, .ndjson, "
            ".csv, .tsv, .conllu, .spacy, .parquet, also with .gz, .xz or .zst. nbest: lists of candidates "
            "as JSON Lines, written again with the best first; --model names one of lists.",
        ),
    ] = None,
    text: Annotated[
        bool, typer.Option("--text/--no-text", help="Repeat the text in JSONL, the words around in tables.")
    ] = True,
    only_flags: Annotated[
        bool,
        typer.Option(
            "--only-flags",
            help="Leave out decisions without a flag, and documents without one: jsonl, csv, tsv, parquet.",
        ),
    ] = False,
    workers: Workers = 1,
    engine: Engine = "local",
    scheduler: Scheduler = None,
    timeout: Timeout = None,
    document_timeout: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="How long a document may take before it is left out, and named; not in workers of Dask, "
            "where --timeout holds.",
        ),
    ] = None,
    worker_memory: Annotated[
        str | None,
        typer.Option(
            help="Bound on the memory of each worker process, such as 2G, tables that all share not counted: "
            "one that holds more is ended and its shard tried again. Default: none."
        ),
    ] = None,
    shard_size: Annotated[
        float,
        typer.Option(
            help="Megabytes of input a shard of a job; only lines, JSONL, CSV and CoNLL-U are cut, and no "
            "compressed file.",
            min=1e-6,
        ),
    ] = 8.0,
    shard_index: Annotated[
        bool,
        typer.Option("--shard-index", help="For a job in HTML: index.html too, which leads to its parts."),
    ] = False,
    safe_cells: Annotated[
        bool | None,
        typer.Option(
            "--safe-cells/--plain-cells",
            help="In csv and tsv put ' before text that begins with = + - or @, which spreadsheets would "
            "calculate; our own reader takes it away again. Default: in csv.",
        ),
    ] = None,
    max_input: Annotated[
        str | None,
        typer.Option(
            help="Bound on an input that is held whole in memory, unpacked, like 2G: text files, .spacy, a "
            "group of rows of Parquet; larger ones are left out. Default: a tenth of memory, 512M at most."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an output that exists.")] = False,
    quiet: Quiet = False,
) -> None:
    """Annotate a corpus: text, lines, JSONL, CSV, Parquet, CoNLL-U, .spacy files or standard input.

    Offsets refer to the original text. A document that cannot be read is reported and the rest goes on;
    the exit status is then 2.
    """
    command = {"directory": os.getcwd(), "options": dict(locals())}

    from disambig.cli.annotating import NBEST_KIND, AnnotateRequest, run_annotate
    from disambig.cli.annotating import run_reranking as rerank
    from disambig.cli.options import parse_rates
    from disambig.counts import size
    from disambig.data import read_confusion_sets
    from disambig.files import read_words
    from disambig.jobs import EngineOptions, JobLimits, ModelSource

    rates = parse_rates(flags_per_1000)
    options = EngineOptions(
        workers, scheduler, timeout, None if worker_memory is None else size(worker_memory)
    )
    if source_format == NBEST_KIND:
        elsewhere = workers > 1 or engine != "local" or scheduler or timeout is not None or worker_memory
        of_texts = lines or field or ignore or sets or only_flags or not text or safe_cells is not None
        bounded = document_timeout is not None or max_input or rates is not None
        if elsewhere or of_texts or bounded or shard_index:
            raise typer.BadParameter(
                "--from nbest goes with --model, --output and --force: lists are no texts"
            )
        named = (*(task or ()), *(model or ()))
        to = Path(output) if output is not None else None
        if not rerank(paths, named, output=to, format=format, force=force):
            raise typer.Exit(2)
        return
    source = ModelSource(
        models=(*(task or ()), *(model or ())),
        flags_per_1000=rates,
        ignore=read_words(ignore) if ignore else (),
        sets=read_confusion_sets(sets) if sets else (),
    )
    request = AnnotateRequest(
        paths=tuple(paths),
        output=Path(output) if output is not None else None,
        is_job=output is not None and is_directory(output),
        format=format,
        lines=lines,
        field=field,
        source_format=source_format,
        text=text,
        only_flags=only_flags,
        engine=engine,
        options=options,
        shard_size=max(1, round(shard_size * 1_000_000)),
        safe_cells=safe_cells,
        force=force,
        command=command,
        shard_index=shard_index,
        bounds=JobLimits(0 if max_input is None else max(1, size(max_input)), document_timeout),
    )
    status = run_annotate(request, source)
    if status:
        raise typer.Exit(status)


def is_directory(output: str) -> bool:
    """Tell whether an output names a directory: one that exists, or a name without a suffix."""
    path = Path(output)
    return path.is_dir() or output.endswith(("/", "\\")) or (not path.suffix and not path.is_file())
