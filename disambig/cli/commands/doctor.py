"""The command ``disambig doctor``, which checks the installation."""

from __future__ import annotations

import json as json_module
import logging
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from disambig.cli.options import SETTINGS, Quiet

if TYPE_CHECKING:
    from disambig.doctor import CheckResultLine, checks as packs

app = typer.Typer(**SETTINGS)
FAILURE = 2
MARKS = {"ok": "ok      ", "warning": "warning ", "problem": "PROBLEM "}


@app.command()
def doctor(
    text: Annotated[
        str | None,
        typer.Argument(help="A text to check instead of the built-in sample; - reads standard input."),
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(metavar="DIR", help="Directory of a model; can be repeated.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Do not read count tables completely.")] = False,
    compile: Annotated[
        bool,
        typer.Option(
            "--compile", help="Compile in advance the functions that commands otherwise compile on first use."
        ),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Check the installation: versions, plugins, spaCy, packs, models, coverage and speed.

    With --compile nothing else is checked. Exit status: 2 if there is a problem, 0 otherwise, even if there
    are warnings.
    """
    from disambig.cli.options import text_argument
    from disambig.formatting import pluralize

    if text is not None:
        text = text_argument(text)
    logging.getLogger("disambig.registry").addHandler(
        logging.NullHandler()
    )  # broken plugins are reported as findings
    findings = []
    for finding in _compiling() if compile else _findings(text, model or [], quick=quick):
        findings.append(finding)
        if not json:
            typer.echo(f"{MARKS[finding.status]}{finding.area}: {finding.what}")
            if finding.mend:
                typer.echo(f"        -> {finding.mend}")
    counts = {status: sum(f.status == status for f in findings) for status in MARKS}
    if json:
        typer.echo(json_module.dumps([asdict(finding) for finding in findings], indent=1))
    elif counts["problem"] or counts["warning"]:
        typer.echo(", ".join(pluralize(counts[what], what) for what in ("problem", "warning")))
    else:
        typer.echo("all is well")
    if counts["problem"]:
        raise typer.Exit(FAILURE)


def _compiling() -> Iterator[CheckResultLine]:
    from disambig.cli.progress import stages
    from disambig.doctor import compile_all

    with stages() as report_progress:
        yield from list(compile_all(report_progress))


def _findings(text: str | None, models: list[str], *, quick: bool) -> Iterator[CheckResultLine]:
    from disambig.doctor import checks as installation, checks as packs, compiling, guard_check

    yield from guard_check("versions", installation.check_versions)
    yield from guard_check("plugins", installation.check_plugins)
    yield from guard_check("spaCy", installation.check_spacy)
    yield from guard_check("compiler", installation.check_compiler)
    yield from guard_check("compiled code", lambda: [compiling.compiled_finding()])
    yield from guard_check("terminal", installation.check_terminal)
    checked = packs.CheckedPacks(quick=quick)
    yield from guard_check("packs", lambda: packs.check_packs(checked))
    yield from guard_check("models", lambda: packs.check_named(models, checked))
    yield from guard_check("sample", lambda: _sample(checked, text))


def _sample(checked: packs.CheckedPacks, text: str | None) -> Iterator[CheckResultLine]:
    from disambig.doctor import check_sample

    yield from check_sample(checked.models, text)
