"""``disambig check``: its options. What is done with them lives in `disambig.checking`."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from disambig.cli.shared_options import Ignore, Models, Quiet, Rate, Sets, Tasks

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def check(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Text, Markdown (.md, .markdown) or LaTeX (.tex, .latex); directories, or - for standard "
            "input. Another suffix is read as text.",
        ),
    ],
    fix: Annotated[bool, typer.Option("--fix", help="Write the corrections into the files.")] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Show the corrections as a diff (`patch -p0`); write nothing.")
    ] = False,
    backup: Annotated[
        bool, typer.Option("--backup/--no-backup", help="With --fix, keep the old text beside the new one.")
    ] = True,
    backup_suffix: Annotated[str, typer.Option(metavar="SUFFIX", help="What its name ends in.")] = ".bak",
    task: Tasks = None,
    model: Models = None,
    flags_per_1000: Rate = None,
    max_flags_per_1000: Annotated[
        float | None,
        typer.Option(
            "--max-flags-per-1000",
            help="Most flags per 1,000 words of a file, rounded up; the surest are shown.",
        ),
    ] = None,
    sets: Sets = None,
    ignore: Ignore = None,
    format: Annotated[
        str, typer.Option(help="text (a line a flag) or jsonl (an object a line; json is the same).")
    ] = "text",
    stdin_name: Annotated[
        str, typer.Option(metavar="NAME", help="What standard input is called; its suffix tells its markup.")
    ] = "<stdin>",
    quiet: Quiet = False,
) -> None:
    """Show words that should be others, as FILE:LINE:COLUMN: OBSERVED -> SUGGESTION (TASK, PROBABILITY).

    Markup, code, quotations, addresses and names are left alone, and what a comment says: <!-- disambig:
    ignore quite, then -->, disambig: off and on, disambig: ignore-line; in LaTeX behind %. The exit status is
    0 where nothing is flagged, 1 where something is (corrected or not), 2 where a file could not be checked
    or corrected.
    """
    from disambig.batch.sources import ModelSource
    from disambig.checking.directives import plain_word
    from disambig.checking.lines import FORMATS
    from disambig.checking.run import Request, run
    from disambig.cli.checks import check_rate, rates_asked
    from disambig.cli.output import Output
    from disambig.errors import UserError, nearest_first
    from disambig.files.word_lists import read_words
    from disambig.tasks.confusion_sets import read_confusion_sets

    rates = rates_asked(flags_per_1000)
    check_rate(max_flags_per_1000, option="--max-flags-per-1000")
    if problem := _excluded(fix, diff, format, backup_suffix if backup else None):
        raise UserError("D600", problem=problem, command="disambig check")
    if format not in FORMATS:
        raise UserError("D601", name=format, names=nearest_first(format, FORMATS))
    source = ModelSource(
        models=(*(task or ()), *(model or ())),
        flags_per_1000=rates,
        sets=read_confusion_sets(sets) if sets else (),
    )
    request = Request(
        paths=tuple(paths),
        fix=fix,
        diff=diff,
        backup=backup_suffix if backup else None,
        most_per_1000=max_flags_per_1000,
        ignore=frozenset(map(plain_word, read_words(ignore))) if ignore else frozenset(),
        format=format,
        stdin_name=stdin_name,
    )
    status = run(request, source.load_correcting, Output())
    if status:
        raise typer.Exit(status)


def _excluded(fix: bool, diff: bool, format: str, backup: str | None) -> str:
    """Return what is wrong with options that exclude each other, or is no suffix."""
    if fix and diff:
        return "--fix and --diff exclude each other"
    if diff and format != "text":
        return f"--diff and --format {format} exclude each other"
    if backup is not None and (not backup or os.sep in backup):
        return f"--backup-suffix {backup!r} is no suffix; without a backup: --no-backup"
    return ""
