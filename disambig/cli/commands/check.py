"""The options of ``disambig check``; the work is done in `disambig.checking`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from disambig.cli.options import SETTINGS, Quiet, complete_from, flag_options, share_options

app = typer.Typer(**SETTINGS)


def _formats() -> Iterable[str]:
    from disambig.checking import FORMATS

    return FORMATS


@app.command()
@share_options(flag_options)
def check(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE...]",
            show_default=False,
            help="Files with text, Markdown (.md), reStructuredText (.rst), HTML (.html, .xhtml), Jupyter "
            "notebooks (.ipynb), AsciiDoc (.adoc), Org (.org), manual pages (.1 to .9), LaTeX (.tex) or "
            "code, of which the comments are checked (.py, .js, .java, .c, ...); directories, or - "
            "for standard input. Default: the current directory. A file with an unknown suffix is read as "
            "text if it is named; in directories, such files, files that git ignores and folders such as "
            "node_modules are left out.",
        ),
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Correct the files.")] = False,
    diff: Annotated[
        bool,
        typer.Option("--diff", help="Show the corrections as a diff (for `patch -p0`) without writing them."),
    ] = False,
    backup: Annotated[
        bool, typer.Option("--backup/--no-backup", help="With --fix, keep a copy of the original file.")
    ] = True,
    backup_suffix: Annotated[str, typer.Option(metavar="SUFFIX", help="Suffix of the backup file.")] = ".bak",
    *,
    choices: Any,
    format: Annotated[
        str,
        typer.Option(
            autocompletion=complete_from(_formats),
            help="text (one flag per line), json (one document), jsonl (one object per line), sarif (code "
            "scanning), github (workflow annotations), gitlab (code quality), junit (XML for Jenkins and "
            "others) or rdjson (reviewdog).",
        ),
    ] = "text",
    evidence: Annotated[
        bool,
        typer.Option(
            "--evidence",
            help="With json, jsonl and sarif: include the candidates of each flag with their probabilities "
            "and n-gram counts.",
        ),
    ] = False,
    since: Annotated[
        str | None,
        typer.Option(metavar="REV", help="Check only lines that changed since this git revision."),
    ] = None,
    staged: Annotated[
        bool, typer.Option("--staged", help="Check only lines that are staged in git, in their staged form.")
    ] = False,
    baseline: Annotated[
        str | None, typer.Option(metavar="FILE", help="Hide flags that are recorded in this baseline file.")
    ] = None,
    write_baseline: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Record all current flags in a baseline file and show none."),
    ] = None,
    stdin_filename: Annotated[
        str,
        typer.Option(
            "--stdin-filename",
            "--stdin-name",
            metavar="NAME",
            help="File name of standard input, which determines its markup and its settings.",
        ),
    ] = "<stdin>",
    show_settings: Annotated[
        bool,
        typer.Option(
            "--show-settings", help="Show the settings of each FILE and their sources, and do nothing else."
        ),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Find wrong words in text files and suggest corrections.

    Output: FILE:LINE:COLUMN: OBSERVED -> SUGGESTION (RULE, N % right). N is the measured share of such flags
    that were right; disambig rules explains the rules. Markup, code, quotations, addresses and names are not
    checked, nor is text that a comment excludes, such as <!-- disambig: ignore-next-line --> (in other
    formats in their own comments). Settings are read from the nearest disambig.toml or pyproject.toml
    ([tool.disambig]) in or above the directory of each file; options take precedence. Exit status: 0 if
    nothing is flagged, 1 if something is flagged (even if it was corrected), 2 if a file cannot be checked or
    corrected or an option or setting is invalid.
    """
    from disambig.checking import Changes, CheckRun, load_checker, run
    from disambig.cli.check_options import check_options, options_over_settings
    from disambig.cli.output import StandardOutput
    from disambig.cli.progress import remark
    from disambig.configuration import ProjectSettings, settings_to_toml
    from disambig.errors import UserError
    from disambig.files import STDIN, stdin_has_data

    if not paths and stdin_has_data():
        # As in other linters, data there is not read unless it is named: git gives some to hooks, and a shell
        # that reads a script from standard input gives the rest of the script.
        remark(f"disambig: {UserError('D343')}")
    paths = paths or ["."]
    options = options_over_settings(choices, baseline=baseline)
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
        report_unused=not any(choices[name] for name in ("task", "model", "rule", "ignore_rule")),
        evidence=evidence,
    )
    status = run(request, project, load_checker, StandardOutput())
    if status:
        raise typer.Exit(status)
