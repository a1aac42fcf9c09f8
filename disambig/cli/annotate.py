"""``disambig annotate``: its options. What is done with them lives in `disambig.batch`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
            help="jsonl, corrected (the text, flagged words replaced), spacy or text (a line a flag). "
            "Default: by the output; jsonl into a pipe or a job, text on a terminal."
        ),
    ] = None,
    task: Annotated[
        list[str] | None, typer.Option(help="An installed model; may be repeated. Default: all.")
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(metavar="DIR", help="A model's directory; may be repeated.")
    ] = None,
    flags_per_1000: Annotated[
        float | None,
        typer.Option(
            "--flags-per-1000", help="False alarms to accept per 1,000 correct words, for each task."
        ),
    ] = None,
    sets: Annotated[
        str | None, typer.Option(metavar="FILE", help="More confusion sets: a line each, like accept/except.")
    ] = None,
    ignore: Annotated[
        str | None, typer.Option(metavar="FILE", help="Words to leave alone, one a line.")
    ] = None,
    lines: Annotated[bool, typer.Option("--lines", help="Each line of a text file is a document.")] = False,
    field: Annotated[
        str | None,
        typer.Option(help="Key of the text in JSONL (default: text); given, standard input is JSONL."),
    ] = None,
    text: Annotated[bool, typer.Option("--text/--no-text", help="Repeat the text in JSONL.")] = True,
    workers: Annotated[int, typer.Option(min=1, help="Worker processes.")] = 1,
    shard_size: Annotated[
        float,
        typer.Option(help="Megabytes of input a shard of a job; a compressed file is never cut.", min=1e-6),
    ] = 8.0,
    force: Annotated[bool, typer.Option("--force", help="Replace an output that exists.")] = False,
) -> None:
    """Annotate a corpus: text files, lines, JSONL or standard input.

    Offsets refer to the original text. A document that cannot be read is reported and the rest goes on;
    the exit status is then 2.
    """
    from disambig.batch.sources import ModelSource
    from disambig.cli.annotating import Request, run
    from disambig.cli.checks import check_rate
    from disambig.corpora.confusion_sets import read_confusion_sets
    from disambig.corpora.word_lists import read_words

    check_rate(flags_per_1000)
    source = ModelSource(
        models=(*(task or ()), *(model or ())),
        flags_per_1000=flags_per_1000,
        ignore=read_words(ignore) if ignore else (),
        sets=read_confusion_sets(sets) if sets else (),
    )
    request = Request(
        paths=tuple(paths),
        output=Path(output) if output is not None else None,
        is_job=output is not None and is_directory(output),
        format=format,
        lines=lines,
        field=field,
        text=text,
        workers=workers,
        shard_size=max(1, round(shard_size * 1_000_000)),
        force=force,
    )
    status = run(request, source)
    if status:
        raise typer.Exit(status)


def is_directory(output: str) -> bool:
    """Tell whether an output names a directory: one that exists, or a name without a suffix."""
    path = Path(output)
    return path.is_dir() or output.endswith(("/", "\\")) or (not path.suffix and not path.is_file())
