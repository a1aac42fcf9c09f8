"""The options of ``disambig check``; the work is done in `disambig.checking`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from disambig.cli.options import (
    SETTINGS,
    Quiet,
    complete_from,
    flag_options,
    settings_from_options,
    share_options,
)
from disambig.cli.output import LateProgress, StandardOutput, open_results, remark
from disambig.errors import UserError, nearest_first
from disambig.files import STDIN, expand_patterns, stdin_has_data
from disambig.formatting import escape_control_chars

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
            help="Files with text, Markdown (.md), reStructuredText (.rst), HTML (.html, .xhtml), DocBook "
            "(.docbook), DITA (.dita), Jupyter notebooks (.ipynb), AsciiDoc (.adoc), Org (.org), manual "
            "pages (.1 to .9), POD (.pod), Texinfo (.texi), R documentation (.rd), LaTeX (.tex), "
            "Typst (.typ), subtitles (.srt, .vtt), mails (.eml), strings of programs (.po, .resx, .xliff, "
            ".strings, .json, ...) or code, of which the comments are checked (.py, .js, ...); directories, "
            "or - for standard input. Default: the current directory. A file with an unknown suffix is read "
            "as text if it is named; in directories, such files, files that git ignores and folders such as "
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
            "others), checkstyle (XML) or rdjson (reviewdog).",
        ),
    ] = "text",
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the report, or the diff, to this file when the run has ended; an existing report is "
            "replaced. Default or -: standard output.",
        ),
    ] = None,
    evidence: Annotated[
        bool,
        typer.Option(
            "--evidence",
            help="With json, jsonl and sarif: include the candidates of each flag with their probabilities "
            "and n-gram counts.",
        ),
    ] = False,
    since: Annotated[
        str | None, typer.Option(metavar="REV", help="Check only lines that changed since this git revision.")
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
    from disambig.configuration import ProjectSettings, settings_to_toml

    if not paths and stdin_has_data():
        # As in other linters, standard input is read only if it is named: git passes data to hooks there, and
        # a shell that reads a script from it passes the rest of the script.
        remark(f"disambig: {UserError('D343')}")
    paths = expand_patterns(paths or ["."])
    options = settings_from_options(choices, baseline=baseline)
    suffix = backup_suffix if backup else None
    output = None if output == "-" else output
    is_given = {
        "--fix": fix,
        "--diff": diff,
        "--write-baseline": write_baseline is not None,
        "--since": since is not None,
        "--staged": staged,
        "--output": output is not None,
        "--show-settings": show_settings,
    }
    given_options = {name for name, is_set in is_given.items() if is_set}
    _check_combinations(given_options, paths, format, suffix, output, evidence=evidence)
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
        # with only some models or rules, directives for the others seem unused
        report_unused=not any(choices[name] for name in ("task", "model", "rule", "ignore_rule")),
        evidence=evidence,
        report_path=output,
    )
    console = StandardOutput()
    # `force`: `_check_combinations` has made sure that the report does not replace a text
    report = nullcontext() if output is None else open_results(Path(output), force=True)
    with LateProgress("checking", "files") as progress, report as write_report:
        status = run(request, project, load_checker, console, write_report, report_progress=progress.update)
    if output is not None:
        remark(f"disambig: the report is in {escape_control_chars(output)}")
    if status:
        raise typer.Exit(status)


_EXCLUSIVE = (
    ("--fix", "--diff"),
    ("--since", "--staged"),
    ("--fix", "--staged"),  # the staged text can differ from the file
    ("--diff", "--staged"),
    ("--fix", "--write-baseline"),
    ("--diff", "--write-baseline"),
    ("--since", "--write-baseline"),  # a baseline must contain all flags
    ("--staged", "--write-baseline"),
    ("--output", "--write-baseline"),
    ("--output", "--show-settings"),
)
"""Pairs of options that exclude each other."""


def _check_combinations(
    given_options: set[str],
    paths: list[str],
    format: str,
    backup: str | None,
    output: str | None,
    *,
    evidence: bool,
) -> None:
    """Raise an error if options exclude each other; `given_options` are the options in use.

    Raises D600; D601 for an unknown format, D316 if the output is one of the files to check.
    """
    from disambig.checking import FORMATS, WITH_EVIDENCE, WITH_OUTCOMES

    if format not in FORMATS:
        raise UserError("D601", name=format, names=nearest_first(format, FORMATS))
    for first, second in _EXCLUSIVE:
        if {first, second} <= given_options:
            raise _usage_error(f"{first} and {second} cannot be combined")
    for name, formats in {"--diff": ("text",), "--write-baseline": ("text",), "--fix": WITH_OUTCOMES}.items():
        if name in given_options and format not in formats:
            raise _usage_error(f"{name} and --format {format} cannot be combined")
    if evidence and (format not in WITH_EVIDENCE or {"--diff", "--write-baseline"} & given_options):
        raise _usage_error(f"--evidence can only be used with --format {', '.join(WITH_EVIDENCE)}")
    if STDIN in paths and {"--since", "--staged"} & given_options:
        raise _usage_error("standard input is not tracked by git: omit --since and --staged")
    if backup is not None and (not backup or os.sep in backup):
        raise _usage_error(f"invalid --backup-suffix {backup!r}; use --no-backup to keep no copy")
    if output is not None:
        _check_output(output, paths)


def _check_output(output: str, paths: list[str]) -> None:
    """Raise an error if a report cannot be written or would destroy a text. Raises D309, D316, D600."""
    from disambig.markup import path_format

    if not output or os.path.isdir(output):
        raise UserError("D309", path=output or "--output", problem="give the name of a file")
    if any(path != STDIN and os.path.realpath(path) == os.path.realpath(output) for path in paths):
        raise UserError("D316", path=output)
    entry = path_format(output)
    if entry is not None and not output.lower().endswith(".xml") and os.path.exists(output):
        raise _usage_error(f"--output {output} exists, and is not a report but a file of {entry.name}")


def _usage_error(problem: str) -> UserError:
    return UserError("D600", problem=problem, command="disambig check")
