"""``disambig check``: its options. What is done with them lives in `disambig.checking`."""

from __future__ import annotations

from typing import Annotated

import typer

from disambig.cli.options import Ignore, Models, Most, Quiet, Rate, Sets, Tasks, Trusted

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def check(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Text, Markdown (.md, .markdown), LaTeX (.tex, .latex), comments of code (.py, .rs, .js, "
            ".ts, .go, .c, .sh); directories, or - for standard input. Another suffix is read as text.",
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
    trust: Trusted = None,
    max_flags_per_1000: Most = None,
    sets: Sets = None,
    ignore: Ignore = None,
    format: Annotated[
        str,
        typer.Option(
            help="text (a line a flag), json (one document), jsonl (an object a line), sarif (code "
            "scanning), github (notices of a workflow), gitlab (code quality) or rdjson (reviewdog)."
        ),
    ] = "text",
    evidence: Annotated[
        bool,
        typer.Option(
            "--evidence",
            help="With json, jsonl and sarif: the candidates of each flag with their probabilities, and how "
            "often n-grams with them were seen.",
        ),
    ] = False,
    since: Annotated[
        str | None,
        typer.Option(metavar="REV", help="Only lines that git sees as new since that revision."),
    ] = None,
    staged: Annotated[
        bool, typer.Option("--staged", help="Only lines that are staged in git, as they are staged.")
    ] = False,
    baseline: Annotated[
        str | None, typer.Option(metavar="FILE", help="Show no flags that this file knows.")
    ] = None,
    write_baseline: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write all flags of now into a file for --baseline; show none."),
    ] = None,
    stdin_filename: Annotated[
        str,
        typer.Option(
            "--stdin-filename",
            "--stdin-name",
            metavar="NAME",
            help="What standard input is called: tells its markup and its settings.",
        ),
    ] = "<stdin>",
    show_settings: Annotated[
        bool, typer.Option("--show-settings", help="Show what holds for each FILE, and from where; no more.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Show words that should be others, as FILE:LINE:COLUMN: OBSERVED -> SUGGESTION (TASK, PROBABILITY).

    Markup, code, quotations, addresses and names are left alone, and what a comment says, such as <!--
    disambig: ignore-next-line -->; in LaTeX behind %, in code in its comments. Settings are read from
    disambig.toml or [tool.disambig] in pyproject.toml, the nearest above each file; options hold above them.
    The exit status is 0 where nothing is flagged, 1 where something is (corrected or not), 2 where a file
    could not be checked or corrected, or options or settings are wrong.
    """
    from disambig.checking import Changes, CheckRun, load_checker, run
    from disambig.cli.check_options import check_options, options_over_settings
    from disambig.cli.options import parse_rates
    from disambig.cli.output import StandardOutput
    from disambig.configuration import ProjectSettings, settings_to_toml
    from disambig.files import STDIN

    options = options_over_settings(
        task=task,
        model=model,
        flags_per_1000=parse_rates(flags_per_1000),
        trust=trust,
        max_flags_per_1000=max_flags_per_1000,
        sets=sets,
        ignore=ignore,
        baseline=baseline,
    )
    suffix = backup_suffix if backup else None
    check_options(
        paths,
        fix=fix,
        diff=diff,
        format=format,
        backup=suffix,
        since=since,
        staged=staged,
        write_baseline=write_baseline,
        evidence=evidence,
    )
    project = ProjectSettings(options)
    if show_settings:
        for path in paths:
            name = stdin_filename if path == STDIN else path
            StandardOutput().result(settings_to_toml(name, project.for_file(name)))
        return
    request = CheckRun(
        paths=tuple(paths),
        fix=fix,
        diff=diff,
        backup=suffix,
        format=format,
        stdin_name=stdin_filename,
        changes=Changes(since) if since is not None or staged else None,
        new_baseline=write_baseline,
        tell_unused=not (task or model),
        evidence=evidence,
    )
    status = run(request, project, load_checker, StandardOutput())
    if status:
        raise typer.Exit(status)
