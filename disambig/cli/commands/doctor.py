"""``disambig doctor``: what is installed, what is off, how to mend it."""

from __future__ import annotations

import json as json_module
import logging
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from disambig.cli.shared_options import Quiet

if TYPE_CHECKING:
    from disambig.doctor import packs
    from disambig.doctor.finding import Finding

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
FAILURE = 2
MARKS = {"ok": "ok      ", "warning": "warning ", "problem": "PROBLEM "}


@app.command()
def doctor(
    text: Annotated[
        str | None,
        typer.Argument(help="A text of yours to look at, in place of a sample; - reads standard input."),
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(metavar="DIR", help="A model's directory; may be repeated.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Do not read tables through.")] = False,
    compile: Annotated[
        bool, typer.Option("--compile", help="Compile now what commands compile when they first need it.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Look at the installation: versions, plugins, spaCy, packs, models, coverage and speed.

    With --compile nothing else is looked at. Exit status 2 where there is a problem, 0 otherwise, warnings
    included.
    """
    from disambig.errors import UserError
    from disambig.plural import many

    if text == "-":
        from disambig.files.opening import decode

        text = decode(sys.stdin.buffer.read(), "standard input")
    if text is not None and not text.strip():
        raise UserError("D307", what="the text")
    logging.getLogger("disambig.plugins").addHandler(logging.NullHandler())  # broken ones are findings
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
        typer.echo(", ".join(many(counts[what], what) for what in ("problem", "warning")))
    else:
        typer.echo("all is well")
    if counts["problem"]:
        raise typer.Exit(FAILURE)


def _compiling() -> Iterator[Finding]:
    from disambig.cli.progress import stages
    from disambig.doctor.compiling import compile_all

    with stages() as told:
        yield from list(compile_all(told))


def _findings(text: str | None, models: list[str], *, quick: bool) -> Iterator[Finding]:
    from disambig.doctor import compiling, installation, packs
    from disambig.doctor.finding import guarded

    yield from guarded("versions", installation.check_versions)
    yield from guarded("plugins", installation.check_plugins)
    yield from guarded("spaCy", installation.check_spacy)
    yield from guarded("compiler", installation.check_compiler)
    yield from guarded("compiled code", lambda: [compiling.compiled_finding()])
    yield from guarded("terminal", installation.check_terminal)
    looked = packs.Looked(quick=quick)
    yield from guarded("packs", lambda: packs.check_packs(looked))
    yield from guarded("models", lambda: packs.check_named(models, looked))
    yield from guarded("sample", lambda: _sample(looked, text))


def _sample(looked: packs.Looked, text: str | None) -> Iterator[Finding]:
    from disambig.doctor.sample import check_sample

    yield from check_sample(looked.models, text)
