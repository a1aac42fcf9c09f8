"""The command ``disambig new-plugin``, which writes the files of a new plugin."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def new_plugin(
    name: Annotated[
        str,
        typer.Argument(
            help="Prefix of the names of its entries: lower-case letters, digits and underscores."
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Directory to create. Default: disambig-NAME.")
    ] = None,
) -> None:
    """Write the files of a new plugin: a task, an extractor, a learner, a config, a component and tests."""
    from disambig.scaffold import plugin_files, write_plugin

    home = write_plugin(name, output)
    for path in plugin_files(name):
        typer.echo(home / path)
    typer.echo(f"next: cd {home} && pip install -e '.[test]' && pytest", err=True)
