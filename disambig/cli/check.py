"""``disambig check``: its options. What is done with them lives in `disambig.cli.checking`."""

from __future__ import annotations

from typing import Annotated

import typer

from disambig.cli.shared_options import Models, Rate, Tasks

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
    ignore: Annotated[
        str | None, typer.Option(metavar="FILE", help="Words to leave alone, one a line.")
    ] = None,
    format: Annotated[str, typer.Option(help="text (a line a flag) or json (an object a line).")] = "text",
    stdin_name: Annotated[
        str, typer.Option(metavar="NAME", help="What standard input is called; its suffix tells its markup.")
    ] = "<stdin>",
) -> None:
    """Show words that should be others, as FILE:LINE:COLUMN: OBSERVED -> SUGGESTION (TASK, PROBABILITY).

    Markup, code, quotations, addresses and names are left alone, and what a comment says: <!-- disambig:
    ignore quite, then -->, disambig: off and on, disambig: ignore-line; in LaTeX behind %. The exit status is
    0 where nothing is flagged, 1 where something is (corrected or not), 2 where a file could not be checked
    or corrected.
    """
    from disambig.cli.checking import Request, run

    request = Request(
        paths=tuple(paths),
        fix=fix,
        diff=diff,
        backup=backup_suffix if backup else None,
        models=(*(task or ()), *(model or ())),
        flags_per_1000=flags_per_1000,
        most_per_1000=max_flags_per_1000,
        ignore=ignore,
        format=format,
        stdin_name=stdin_name,
    )
    status = run(request)
    if status:
        raise typer.Exit(status)
