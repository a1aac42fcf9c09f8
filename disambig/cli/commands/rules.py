"""The command ``disambig rules``."""

from __future__ import annotations

import json as json_module
from typing import Annotated

import typer

from disambig.cli.options import SETTINGS
from disambig.errors import UserError, nearest_first
from disambig.formatting import escape_control_chars

app = typer.Typer(**SETTINGS)


@app.command()
def rules(
    name: Annotated[str | None, typer.Argument(help="A rule, to explain it.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the rules of flags with the measured share of their flags that were right, or explain one rule."""
    from dataclasses import asdict

    from disambig.rules import installed_rules, measured_shares, rule_text

    available, shares = installed_rules(), measured_shares()
    if name is not None and name not in available:
        raise UserError("D519", where="", name=name, names=nearest_first(name, available))
    shown = [available[name]] if name is not None else list(available.values())
    if json:
        objects = [
            {
                **asdict(rule),
                "examples": [{"wrong": wrong, "right": right} for wrong, right in rule.examples],
                "share": shares[rule.name].share if rule.name in shares else None,
            }
            for rule in shown
        ]
        typer.echo(json_module.dumps(objects, indent=1))
    elif name is not None:
        typer.echo(escape_control_chars(rule_text(shown[0]), lines=True), nl=False)
    else:
        width = max(len(rule.name) for rule in shown)
        for rule in shown:
            share = f" ({shares[rule.name]} right)" if rule.name in shares else ""
            typer.echo(escape_control_chars(f"{rule.name:{width}}  {rule.title}{share}"))
