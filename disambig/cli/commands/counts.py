"""The command ``disambig counts``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disambig.cli import options
from disambig.cli.output import explain_interrupt, format_size, is_typed, progress, remark
from disambig.errors import UserError
from disambig.files import drop_repeated
from disambig.formatting import first_names, pluralize
from disambig.jobs import LOCAL, EngineOptions

if TYPE_CHECKING:
    from disambig.counts import TextFiles
    from disambig.jobs import JobPlace


@dataclass(frozen=True, slots=True)
class CountingPlace:
    """Options that determine where the work is done."""

    engine: str
    options: EngineOptions
    job: Path | None  # directory of the job; None for a temporary one

    @property
    def is_job(self) -> bool:
        """Whether the work is done as a job, and not in this process."""
        is_here = self.engine == LOCAL and self.options == EngineOptions()
        return self.job is not None or not is_here

    def place(self, output: Path, command: dict[str, Any], temporary: Path | None = None) -> JobPlace:
        """Return the place of the job that writes the table `output`."""
        from disambig.jobs import JobPlace, make_runner

        directory = self.job or (temporary or output.parent) / f"{output.name}.job"
        runner = make_runner(self.engine, self.options)
        return JobPlace(directory.absolute(), self.job is not None, runner, command)


app = typer.Typer(
    **options.GROUP_SETTINGS, help="Build, import, merge, prune, check and query tables of n-gram counts."
)


Table = Annotated[Path, typer.Argument(metavar="TABLE", help="A count table.")]
Output = Annotated[Path, typer.Option("-o", "--output", help="File of the table to write.")]
MinCount = Annotated[
    list[str] | None,
    typer.Option(
        metavar="N:COUNT",
        help="Omit n-grams of N or more words that were seen fewer than COUNT times. Can be repeated, each "
        "value applies up to the next N: 3:2 5:10 requires 2 for 3 and 4 words, 10 for 5.",
    ),
]
RecordForm = Annotated[
    str,
    typer.Option(
        "--record",
        help="exact (6.6 bytes per n-gram), compact (4.6, rounded counts), or small (2.4, counts rounded "
        "more, one in 1,024 absent n-grams is found).",
    ),
]
Keys = Annotated[
    bool, typer.Option("--keys", help="Also store the keys (8 bytes per n-gram), which merge and prune need.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing table.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def build_options(
    orders: Annotated[int, typer.Option(help="Length of the longest n-grams, 1 to 5.")] = 5,
    min_count: MinCount = None,
    keep_words: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Keep only n-grams with one of the words in this file, one per line."
        ),
    ] = None,
    memory: Annotated[
        str,
        typer.Option(help="Memory limit of each process, such as 800M or 2G; more data is sorted on disk."),
    ] = "2G",
    record: RecordForm = "exact",
    keys: Keys = False,
    licence: Annotated[str, typer.Option(help="Licence of the text, to be stored in the table.")] = "",
    temporary: Annotated[Path | None, typer.Option(help="Directory for temporary files.")] = None,
    force: Force = False,
    quiet: options.Quiet = False,
) -> Any:
    """Return the options that `build` and `import` have in common."""
    from disambig.counts import BuildOptions, inputs

    return BuildOptions(
        orders=orders,
        min_counts=inputs.parse_thresholds(min_count or (), orders=orders),
        keep_words=inputs.read_word_file(keep_words),
        memory=inputs.parse_size(memory),
        record=record,
        keys=keys,
        licence=licence,
        temporary=temporary,
        force=force,
    )


def place_options(
    workers: options.Workers = 1,
    engine: options.Engine = "local",
    scheduler: options.Scheduler = None,
    timeout: options.Timeout = None,
    job: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Work as a job in this directory, which is kept; if the command is run again, the job "
            "resumes. With several workers or another engine, the default is a job in OUTPUT.job, which is "
            "removed when the table is written. All workers of a cluster must have access to the directory.",
        ),
    ] = None,
) -> Any:
    """Return the options that determine where the work is done."""
    from disambig.jobs import EngineOptions

    return CountingPlace(engine, EngineOptions(workers, scheduler, timeout), job)


@app.command()
@options.record_command("counts build")
@options.share_options(place_options, "where")
@options.share_options(build_options)
def build(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...",
            help="Text files (also .gz, .bz2, .xz, .zst), directories, or - for standard input. N-grams do "
            "not cross lines.",
        ),
    ],
    output: Output,
    tokenisation: Annotated[
        list[str] | None,
        typer.Option(
            help="Tokenisation that defines what a word is; can be repeated to store several in one table. "
            "Default: disambig.words.v1."
        ),
    ] = None,
    gaps: Annotated[
        bool, typer.Option("--gaps", help="Also count patterns with a gap, such as a * b.")
    ] = False,
    shard_size: Annotated[
        float | None,
        typer.Option(
            help="Megabytes of text per shard of a job; compressed files are not split. Default: a sixteenth "
            "of the text, at most 128; a quarter, an eighth or a twelfth of up to 96 megabytes, all of up to "
            "8 megabytes.",
            min=1e-6,
        ),
    ] = None,
    *,
    choices: Any,
    where: Any,
    command: Any,
) -> None:
    """Count the n-grams of text and write a count table."""
    from disambig.counts import TextFiles, build_table, normalise_words
    from disambig.text import check_tokens, tokenisation_named

    tokenisations = [tokenisation_named(name) for name in tokenisation or ["disambig.words.v1"]]
    for one in tokenisations:
        check_tokens(one)  # the table stores its name
    choices["keep_words"] = normalise_words(choices["keep_words"], tokenisations)
    files = TextFiles(paths)
    _check_output(output, files.paths)
    _note_left_out(files)
    if where.is_job:
        from disambig.jobs import build_in_job

        # Worker processes open the files, so a job gets paths, and names in place of tokenisations.
        size = None if shard_size is None else max(1, round(shard_size * 1_000_000))
        place = where.place(output, command, choices["temporary"])
        with explain_interrupt(), _counting(files.total) as choices["progress"]:
            build_in_job(
                output,
                paths,
                [one.name for one in tokenisations],
                place,
                gaps=gaps,
                shard_size=size,
                **choices,
            )
        _report_table(output)
        return
    with _counting(files.total, done=lambda: files.done) as choices["progress"]:
        build_table(output, files, tokenisations, gaps=gaps, sources=files.sources, **choices)
    _report_table(output)


@app.command("import")
@options.share_options(build_options)
def import_(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...",
            help="Files of n-gram, TAB, count; files of Google Books; directories of these or in the Web 1T "
            "layout.",
        ),
    ],
    output: Output,
    tokenisation: Annotated[
        str,
        typer.Option(
            help="Tokenisation that defines what a word is: words are converted to its normal form, n-grams "
            "with words that it splits are omitted. web1t.v1: words are not changed."
        ),
    ] = "web1t.v1",
    format: Annotated[
        str | None, typer.Option(help="tsv, google-v2 or google-v3. Default: detected from the first line.")
    ] = None,
    tagged: Annotated[
        bool, typer.Option("--tagged", help="Keep n-grams of Google Books that have part-of-speech tags.")
    ] = False,
    from_year: Annotated[int, typer.Option(min=0, max=9999, help="First year of Google Books to count.")] = 0,
    to_year: Annotated[int, typer.Option(min=0, max=9999, help="Last year of Google Books to count.")] = 9999,
    *,
    choices: Any,
) -> None:
    """Convert existing counts to a count table: TSV files, the Web 1T layout, Google Books."""
    from disambig.counts import UNSPLIT_TOKENISATIONS, count_files, import_table, normalise_words
    from disambig.text import tokenisation_named

    tokeniser = tokenisation_named(tokenisation)  # a table with an unknown tokenisation could not be queried
    unsplit = tokenisation in UNSPLIT_TOKENISATIONS
    choices["keep_words"] = normalise_words(choices["keep_words"], [tokeniser], unsplit=unsplit)
    files = count_files(paths)
    _check_output(output, [file for file, _ in files])
    with _counting(sum(Path(file).stat().st_size for file, _ in files)) as choices["progress"]:
        import_table(
            output, files, tokenisation, format=format, years=(from_year, to_year), tagged=tagged, **choices
        )
    _report_table(output)


@app.command()
@options.record_command("counts merge")
@options.share_options(place_options, "where")
def merge(
    tables: Annotated[
        list[Path], typer.Argument(metavar="TABLE...", help="Tables built with --keys and not pruned.")
    ],
    output: Output,
    min_count: MinCount = None,
    record: RecordForm = "exact",
    keys: Keys = False,
    force: Force = False,
    quiet: options.Quiet = False,
    *,
    where: Any,
    command: Any,
) -> None:
    """Merge tables into one, with the same result as counting all their text at once."""
    from disambig.counts import inputs, merge_tables, open_table

    opened = [open_table(table) for table in drop_repeated(map(str, tables))]
    settings: dict[str, Any] = {
        "min_counts": inputs.parse_thresholds(min_count or (), orders=opened[0].orders),
        "record": record,
        "keys": keys,
        "force": force,
    }
    with _counting(sum(table.n_ngrams for table in opened), unit="n-grams") as settings["progress"]:
        if where.is_job:
            from disambig.jobs import merge_in_job

            with explain_interrupt():
                merge_in_job(output, opened, where.place(output, command), **settings)
        else:
            merge_tables(output, opened, **settings)
    _report_table(output)


@app.command()
def prune(
    table: Table,
    output: Output,
    min_count: MinCount = None,
    orders: Annotated[int | None, typer.Option(help="Length of the longest n-grams to keep.")] = None,
    record: RecordForm = "exact",
    keys: Keys = False,
    force: Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a smaller copy of a table built with --keys, as if it was built with these thresholds."""
    from disambig.counts import inputs, open_table, prune_table

    opened = open_table(table)
    min_counts = inputs.parse_thresholds(min_count or (), orders=orders or opened.orders)
    with _counting(opened.n_ngrams, unit="n-grams") as progress:
        prune_table(
            output,
            opened,
            min_counts=min_counts,
            orders=orders,
            record=record,
            keys=keys,
            force=force,
            progress=progress,
        )
    _report_table(output)


@app.command()
def info(table: Table, json: Json = False) -> None:
    """Show the origin and coverage of a table."""
    import json as json_module

    from disambig.counts import describe_table, open_table

    opened = open_table(table)
    if json:
        typer.echo(json_module.dumps(opened.header, ensure_ascii=False, indent=1))
        return
    for line in describe_table(opened):
        typer.echo(line)


@app.command()
def query(
    table: Table,
    ngrams: Annotated[
        list[str] | None,
        typer.Argument(metavar="NGRAM...", help="Default: read standard input, one per line."),
    ] = None,
    tokenisation: Annotated[
        str | None, typer.Option(help="Tokenisation to use, if the table has several. Default: the first.")
    ] = None,
) -> None:
    """Print n-grams with their counts, separated by a TAB.

    <S> and </S> mark the beginning and end of a sentence, <0> the absence of a word, and * between two words
    any word. A note counts the n-grams that are longer than those of the table.
    """
    import sys
    from itertools import islice

    from disambig.counts import ngram_words, open_table
    from disambig.text import tokenisation_named

    opened = open_table(table)
    opened.require(tokenisation or opened.tokenisations[0])
    tokeniser = tokenisation_named(tokenisation or opened.tokenisations[0])
    n_long = 0
    lines = iter(ngrams) if ngrams else (line.rstrip("\r\n") for line in sys.stdin or ())
    # Answer each line at once if a person types at a terminal.
    while batch := list(islice(lines, 1 if is_typed(ngrams) else 4096)):
        for ngram, count in zip(batch, opened.counts_of_texts(batch, tokenisation=tokenisation), strict=True):
            typer.echo(f"{ngram}\t{count}")
            # a text has at most as many words as letters, so that short ones need not be split
            if not count and len(ngram) > opened.orders < len(ngram_words(ngram, tokeniser)):
                n_long += 1
    if n_long:
        n_longer, longest = pluralize(n_long, "n-gram"), pluralize(opened.orders, "word")
        remark(f"note: {n_longer} longer than those of the table, which have up to {longest}")


@app.command()
def verify(table: Table) -> None:
    """Verify the checksums of a whole table."""
    from disambig.counts import open_table

    opened = open_table(table)
    opened.verify()
    typer.echo(f"{table}: intact, {opened.n_ngrams:,} n-grams")


@contextmanager
def _counting(total: int | None, *, unit: str = "B", done: Callable[[], int] | None = None) -> Iterator[Any]:
    """Yield a progress callback of counting and writing.

    `done` returns the amount of input that is processed; by default it is the number in the callback.
    """
    with progress() as meter:

        def report(stage: str, amount: int, _: int | None) -> None:
            if stage == "count":
                meter.show("counting", done() if done is not None else amount, total, unit=unit)
            else:
                meter.show("writing", amount, None if unit == "B" else total, unit="n-grams")

        yield report


def _check_output(output: Path, inputs: Iterable[str]) -> None:
    """Raise D316 if the table would replace a file that is counted, even with --force."""
    if os.path.realpath(output) in {os.path.realpath(file) for file in inputs if file != "-"}:
        raise UserError("D316", path=output)


def _note_left_out(files: TextFiles) -> None:
    """Report the files in directories that are not counted, by suffix, and named files with markup."""
    from disambig.formats import files_by_suffix

    if files.left_out:
        remark(f"disambig: {UserError('D342', what=files_by_suffix(files.left_out))}")
    if files.with_markup:
        remark(f"disambig: {UserError('D128', paths=first_names(files.with_markup))}")


def _report_table(output: Path) -> None:
    """Show the name and size of the table that was written."""
    from disambig.counts import open_table

    table = open_table(output)
    remark(f"{output}: written, {table.n_ngrams:,} n-grams, {format_size(output.stat().st_size)}")
