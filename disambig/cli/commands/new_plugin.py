"""``disambig new-plugin``: a package that is a plugin, to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def new_plugin(
    name: Annotated[
        str, typer.Argument(help="Small letters, digits and underscores: what its parts' names begin with.")
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Directory to make; by default disambig-NAME.")
    ] = None,
) -> None:
    """Write a plugin to begin with: a task, an extractor, a learner, a config, a component, tests."""
    from disambig.scaffold import plugin_files, write_plugin

    home = write_plugin(name, output)
    for inside in plugin_files(name):
        typer.echo(home / inside)
    typer.echo(f"next: cd {home} && pip install -e '.[test]' && pytest", err=True)
