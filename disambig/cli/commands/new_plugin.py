"""The command ``disambig new-plugin``, which writes the files of a new plugin."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from disambig.cli.options import SETTINGS, complete_from

app = typer.Typer(**SETTINGS)


def _kinds() -> Iterable[str]:
    from disambig.scaffold import KINDS

    return KINDS


@app.command()
def new_plugin(
    name: Annotated[
        str,
        typer.Argument(
            help="Prefix of the names of its entries: lower-case letters, digits and underscores."
        ),
    ],
    kind: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            autocompletion=complete_from(_kinds),
            help="labels (of sentences: a task, an extractor, a learner, a config, a component), words (that "
            "writers confuse: a task, a config, a component), lists (candidates that come in lists: an "
            "extractor, a config, a task) or decoder.",
        ),
    ] = "labels",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Directory to create. Default: disambig-NAME.")
    ] = None,
) -> None:
    """Write the files of a new plugin, including tests."""
    from disambig.scaffold import plugin_files, write_plugin

    home = write_plugin(name, output, kind=kind)
    for path in plugin_files(name, kind):
        typer.echo(home / path)
    typer.echo(f"next: cd {home} && pip install -e '.[test]' && pytest", err=True)
    typer.echo(f"{home / 'README.md'} shows how to train a model with it", err=True)
