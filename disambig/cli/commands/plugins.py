"""``disambig plugins``: what is installed, what each plugin brings, which ones are broken."""

from __future__ import annotations

import json as json_module
import logging
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from disambig.plugins import PluginReport

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
BROKEN = 1


@app.command()
def plugins(
    name: Annotated[
        str | None, typer.Argument(help="A plugin, to see what it brings, or a part: PLUGIN.Name.v1.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the installed plugins and what each brings; exit with 1 where one is broken."""
    from disambig.errors import UserError, nearest_first
    from disambig.plugins import load_plugins

    logging.getLogger("disambig.plugins").addHandler(logging.NullHandler())  # broken ones are in the list
    reports = load_plugins()
    shown = [report for report in reports if name in (None, report.name)]
    if name is not None and not shown:
        if not _show_parts(name, reports):
            names = [report.name for report in reports]
            names += [part for report in reports for _, part in report.registered]
            raise UserError("D010", name=name, names=nearest_first(name, names))
        return
    broken = {report.name: report.broken_parts() for report in shown}
    if json:
        entries = [asdict(report) | {"broken": broken[report.name]} for report in shown]
        typer.echo(json_module.dumps(entries, indent=1))
    elif not shown:
        typer.echo("no plugin is installed")
    else:
        for report in shown:
            _show(report, broken[report.name], in_full=name is not None)
    if any(report.error is not None or broken[report.name] for report in shown):
        raise typer.Exit(BROKEN)


def _show(report: PluginReport, broken: dict[str, str], *, in_full: bool) -> None:
    from disambig.cli.parts import lines_of
    from disambig.shelves import shelf

    typer.echo(f"{report.name}  {report.distribution} {report.version}  ({report.module})")
    if report.error is not None:
        typer.echo(f"  BROKEN: {' '.join(report.error.split())}")
    if report.warning is not None:
        typer.echo(f"  WARNING: {report.warning}")
    for kind, part in report.registered:
        typer.echo(f"  {kind[:-1]}: {part}")
        if in_full:
            for line in lines_of(shelf(kind)[part]):
                typer.echo(f"    {line}")
        elif part in broken:
            typer.echo(f"    BROKEN: {broken[part]}")


def _show_parts(name: str, reports: Iterable[PluginReport]) -> bool:
    """Show the parts of this name, on whatever shelves; tell whether there are any."""
    from disambig.cli.parts import lines_of
    from disambig.shelves import shelf

    found = [(report, kind) for report in reports for kind, part in report.registered if part == name]
    for report, kind in found:
        typer.echo(f"{kind[:-1]} {name} of {report.name}, {report.distribution} {report.version}")
        typer.echo("")
        for line in lines_of(shelf(kind)[name], whole=True):
            typer.echo(line)
    return bool(found)
