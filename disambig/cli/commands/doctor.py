"""The command ``disambig doctor``, which checks the installation."""

from __future__ import annotations

import json as json_module
import logging
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from disambig.cli.options import SETTINGS, Quiet, text_argument
from disambig.cli.output import stages
from disambig.formatting import pluralize

if TYPE_CHECKING:
    from disambig.doctor import CheckResultLine

app = typer.Typer(**SETTINGS)
FAILURE = 2
STATUS_LABELS = {"ok": "ok      ", "warning": "warning ", "problem": "PROBLEM "}


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
    if text is not None:
        text = text_argument(text)
    for name in ("disambig.registry", "disambig.packs"):  # broken plugins and packs are reported as findings
        logging.getLogger(name).addHandler(logging.NullHandler())
    findings = []
    for finding in _compile() if compile else _check_installation(text, model or [], quick=quick):
        findings.append(finding)
        if not json:
            typer.echo(f"{STATUS_LABELS[finding.status]}{finding.area}: {finding.what}")
            if finding.mend:
                typer.echo(f"        -> {finding.mend}")
    counts = {status: sum(finding.status == status for finding in findings) for status in STATUS_LABELS}
    if json:
        typer.echo(json_module.dumps([asdict(finding) for finding in findings], indent=1))
    elif counts["problem"] or counts["warning"]:
        typer.echo(", ".join(pluralize(counts[status], status) for status in ("problem", "warning")))
    else:
        typer.echo("all is well")
    if counts["problem"]:
        raise typer.Exit(FAILURE)


def _compile() -> Iterator[CheckResultLine]:
    from disambig.doctor import compile_all

    with stages() as report_progress:
        yield from list(compile_all(report_progress))


def _check_installation(text: str | None, models: list[str], *, quick: bool) -> Iterator[CheckResultLine]:
    from disambig import doctor
    from disambig.doctor import guard_check

    yield from guard_check("versions", doctor.check_versions)
    yield from guard_check("plugins", doctor.check_plugins)
    yield from guard_check("spaCy", doctor.check_spacy)
    yield from guard_check("compiler", doctor.check_compiler)
    yield from guard_check("compiled code", lambda: [doctor.compiled_finding()])
    yield from guard_check("terminal", doctor.check_terminal)
    checked = doctor.CheckedPacks(quick=quick)
    yield from guard_check("packs", lambda: doctor.check_packs(checked))
    yield from guard_check("models", lambda: doctor.check_named(models, checked))
    yield from guard_check("sample", lambda: doctor.check_sample(checked.models, text))
