"""The command ``disambig plugins``."""

from __future__ import annotations

import inspect
import json as json_module
import logging
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disambig.cli.options import SETTINGS, complete_from
from disambig.errors import UserError, nearest_first
from disambig.formatting import on_one_line
from disambig.registry import COMMANDS, Entry
from disambig.settings import get_settings

if TYPE_CHECKING:
    from disambig.registry import PluginReport


def entry_lines(entry: Entry, *, full: bool = False) -> Iterator[str]:
    """Yield the first sentence of the docstring of an entry (with `full`, all of it), and its settings."""
    try:
        factory = entry.load()
    except UserError as problem:
        yield f"BROKEN: {problem}"
        return
    if entry.kind == COMMANDS:
        yield f"disambig {entry.command}: {entry.summary}"
        return
    doc = inspect.getdoc(factory) or ""
    if full:
        yield from doc.splitlines()
        if doc:
            yield ""
    elif doc:
        # "et al. 2006" and "et al. (2006)" do not end a sentence
        paragraph = on_one_line(doc.partition("\n\n")[0])
        end = re.search(r"(?<!\bal)\.(?= [A-Z(])", paragraph)
        yield (paragraph[: end.end()] if end else paragraph)
    yield from (f"  {parameter}" for parameter in format_parameters(factory))


def format_parameters(factory: Callable[..., Any]) -> list[str]:
    """Return the settings of a class or function in the form ``name: type = default``."""
    try:
        parameters = get_settings(factory).values()
    except (TypeError, ValueError):  # functions written in C may have no signature
        return []
    lines = []
    for parameter in parameters:
        if isinstance(parameter.annotation, str):  # show an unevaluated annotation without quotes
            text = str(parameter.replace(annotation=parameter.empty, default=parameter.empty))
            default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
            lines.append(f"{text}: {parameter.annotation}{default}")
        else:
            lines.append(str(parameter))
    return lines


def _accepted_names(report: PluginReport) -> tuple[str, ...]:
    """Return the names by which a plugin is found: entry point, prefix, distribution, package."""
    return report.name, report.name.replace("-", "_"), report.distribution, report.module.partition(".")[0]


app = typer.Typer(**SETTINGS)
BROKEN = 1


def _names() -> list[str]:
    """Return the names of all plugins and of their entries."""
    from disambig.registry import load_plugins

    reports = load_plugins()
    entries = [entry for report in reports for _, entry in report.registered]
    return [*(report.name for report in reports), *entries]


@app.command()
def plugins(
    name: Annotated[
        str | None,
        typer.Argument(
            autocompletion=complete_from(_names),
            help="A plugin or its distribution, to show its entries, or an entry: PLUGIN.Name.v1.",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the installed plugins and what each provides; exit status 1 if one is broken."""
    from disambig.packs import packs
    from disambig.registry import load_plugins

    # Broken plugins are part of the output.
    logging.getLogger("disambig.registry").addHandler(logging.NullHandler())
    reports = load_plugins()
    shown = [report for report in reports if name is None or name in _accepted_names(report)]
    if name is not None and not shown:
        if not _show_entries(name, reports):
            raise UserError("D010", name=name, names=nearest_first(name, _names()))
        if any(name in report.broken_entries() for report in reports):
            raise typer.Exit(BROKEN)
        return
    broken = {report.name: report.broken_entries() for report in shown}
    if json:
        entries = [asdict(report) | {"broken": broken[report.name]} for report in shown]
        typer.echo(json_module.dumps(entries, indent=1))
    elif not shown:
        typer.echo("no plugin is installed")
    else:
        for report in shown:
            _show(report, broken[report.name], full=name is not None)
    packs()  # names damaged packs on standard error
    if any(report.error is not None or broken[report.name] for report in shown):
        raise typer.Exit(BROKEN)


def _show(report: PluginReport, broken: dict[str, str], *, full: bool) -> None:
    """Print a plugin and the names of its entries; with `full`, also what they are."""
    from disambig.registry import registered_entries

    typer.echo(f"{report.name}  {report.distribution} {report.version}  ({report.module})")
    if report.error is not None:
        typer.echo(f"  BROKEN: {on_one_line(report.error)}")
    if report.warning is not None:
        typer.echo(f"  WARNING: {report.warning}")
    for kind, name in report.registered:
        typer.echo(f"  {kind[:-1]}: {name}")
        if full:
            for line in entry_lines(registered_entries(kind)[name]):
                typer.echo(f"    {line}")
        elif name in broken:
            typer.echo(f"    BROKEN: {broken[name]}")


def _show_entries(name: str, reports: Iterable[PluginReport]) -> bool:
    """Show the entries with a registered name; return True if there are any."""
    from disambig.registry import registered_entries

    matches = [(report, kind) for report in reports for kind, entry in report.registered if entry == name]
    for report, kind in matches:
        typer.echo(f"{kind[:-1]} {name} of {report.name}, {report.distribution} {report.version}")
        typer.echo("")
        for line in entry_lines(registered_entries(kind)[name], full=True):
            typer.echo(line)
    return bool(matches)
