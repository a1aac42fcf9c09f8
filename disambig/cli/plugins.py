"""``disambig plugins``: what is installed, what each plugin brings, which ones are broken."""

from __future__ import annotations

import json as json_module
import logging
from dataclasses import asdict
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def plugins(json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the installed plugins and what each brings."""
    from disambig.plugins import load_plugins

    logging.getLogger("disambig.plugins").addHandler(logging.NullHandler())  # broken ones are in the list
    reports = load_plugins()
    if json:
        typer.echo(json_module.dumps([asdict(report) for report in reports], indent=1))
        return
    if not reports:
        typer.echo("no plugin is installed")
    for report in reports:
        typer.echo(f"{report.name}  {report.distribution} {report.version}  ({report.module})")
        if report.error is not None:
            typer.echo(f"  BROKEN: {' '.join(report.error.split())}")
        for kind, name in report.registered:
            typer.echo(f"  {kind[:-1]}: {name}")
