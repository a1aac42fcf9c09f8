"""``disambig counts``: build, import, check and ask tables of n-gram counts. No logic lives here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def counts(context: typer.Context) -> None:
    """Build, import, check and ask tables of n-gram counts."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


Table = Annotated[Path, typer.Argument(metavar="TABLE", help="A count table.")]
Output = Annotated[Path, typer.Option("-o", "--output", help="The table to write.")]
Orders = Annotated[int, typer.Option(help="The longest n-grams, 1 to 5.")]
MinCount = Annotated[
    list[str] | None,
    typer.Option(
        metavar="N:COUNT", help="Leave out n-grams of N words seen less than COUNT times; repeat it."
    ),
]
KeepWords = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Keep only n-grams with one of these words, one a line.")
]
Memory = Annotated[str, typer.Option(help="Bound on memory, such as 800M or 2G; the rest is sorted on disk.")]
RecordForm = Annotated[
    str, typer.Option("--record", help="exact (6.6 bytes an n-gram), or compact (4.6, counts rounded).")
]
Licence = Annotated[str, typer.Option(help="Licence of the text, kept in the table.")]
Temporary = Annotated[Path | None, typer.Option(help="Directory for temporary files.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a table that exists.")]


@app.command()
def build(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...", help="Text files (also .gz, .xz), directories, or -. A line is a unit."
        ),
    ],
    output: Output,
    orders: Orders = 5,
    min_count: MinCount = None,
    keep_words: KeepWords = None,
    memory: Memory = "2G",
    record: RecordForm = "exact",
    tokenisation: Annotated[str, typer.Option(help="What a word is.")] = "disambig.words.v1",
    licence: Licence = "",
    temporary: Temporary = None,
    force: Force = False,
) -> None:
    """Count the n-grams of text and write them as a table."""
    from disambig.counts import options
    from disambig.counts.build import build_table
    from disambig.counts.inputs import TextFiles
    from disambig.registry import get

    bytes_of_memory = options.size(memory)
    thresholds = options.thresholds(min_count or (), orders=orders)
    cut = get("tokenisations", tokenisation)()
    words = options.word_file(keep_words, cut)
    files = TextFiles(paths)
    with _progress(files.total) as move:
        build_table(
            output,
            files,
            cut,
            orders=orders,
            min_counts=thresholds,
            keep_words=words,
            record=record,
            memory=bytes_of_memory,
            temporary=temporary,
            licence=licence,
            sources=files.sources,
            force=force,
            progress=lambda stage, done, total: move(stage, files.done if stage == "count" else done),
        )


@app.command("import")
def import_(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Files of n-gram, TAB, count, or a directory like Web 1T."),
    ],
    output: Output,
    tokenisation: Annotated[
        str, typer.Option(help="What a word is; the words in the files are taken as they stand.")
    ] = "web1t.v1",
    orders: Orders = 5,
    min_count: MinCount = None,
    keep_words: KeepWords = None,
    memory: Memory = "2G",
    record: RecordForm = "exact",
    licence: Licence = "",
    temporary: Temporary = None,
    force: Force = False,
) -> None:
    """Turn ready counts into a table: TSV files, or the layout of Web 1T."""
    from disambig.counts import options
    from disambig.counts.readers import count_files, import_table
    from disambig.registry import get

    bytes_of_memory = options.size(memory)
    thresholds = options.thresholds(min_count or (), orders=orders)
    get("tokenisations", tokenisation)  # a table of an unknown one could not be asked
    words = options.word_file(keep_words)
    files = count_files(paths)
    with _progress(sum(Path(file).stat().st_size for file, _ in files)) as move:
        import_table(
            output,
            files,
            tokenisation,
            orders=orders,
            min_counts=thresholds,
            keep_words=words,
            record=record,
            memory=bytes_of_memory,
            temporary=temporary,
            licence=licence,
            force=force,
            progress=lambda stage, done, total: move(stage, done),
        )


@app.command()
def info(table: Table, json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Say where a table comes from and what it covers."""
    import json as json_module

    from disambig.counts.describe import described
    from disambig.counts.locate import open_table

    opened = open_table(table)
    if json:
        typer.echo(json_module.dumps(opened.header, ensure_ascii=False, indent=1))
        return
    for line in described(opened):
        typer.echo(line)


@app.command()
def query(
    table: Table,
    ngrams: Annotated[
        list[str] | None, typer.Argument(metavar="NGRAM...", help="Default: one a line from standard input.")
    ] = None,
) -> None:
    """Print n-grams with their counts, separated by a TAB; <S> and </S> are the ends of a sentence."""
    import sys
    from itertools import islice

    from disambig.counts.locate import open_table

    opened = open_table(table)
    lines = iter(ngrams) if ngrams else (line.rstrip("\r\n") for line in sys.stdin)
    # a person at a terminal gets each answer at once
    while some := list(islice(lines, 1 if not ngrams and sys.stdin.isatty() else 4096)):
        for ngram, count in zip(some, opened.counts_of_texts(some), strict=True):
            typer.echo(f"{ngram}\t{count}")


@app.command()
def verify(table: Table) -> None:
    """Check every byte of a table against its checksums."""
    from disambig.counts.locate import open_table

    opened = open_table(table)
    opened.verify()
    typer.echo(f"{table}: intact, {opened.n_ngrams:,} n-grams")


def _progress(total: int) -> Any:
    from disambig.counts.describe import progress_bar

    return progress_bar(total)
