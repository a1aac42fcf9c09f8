"""The options of ``disambig lsp``; the language server is in `disambig.lsp`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from disambig.cli.options import SETTINGS, Writing
from disambig.cli.output import say
from disambig.errors import UserError

app = typer.Typer(**SETTINGS)


@app.command()
def lsp(
    tcp: Annotated[
        bool,
        typer.Option(
            "--tcp",
            help="Listen on the loopback address for an editor to connect, instead of using standard input.",
        ),
    ] = False,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port for --tcp; 0 for any free port. Default: 8082.")
    ] = None,
    writing: Writing = None,
) -> None:
    """Serve an editor over the Language Server Protocol, on standard input and output.

    Text, documents and code comments are checked while you type, as by `disambig check`. Settings are
    read from disambig.toml or pyproject.toml; options and the settings of the editor take precedence.
    """
    from importlib.util import find_spec

    # Look for the packages without importing them, so that the message names the extra to install.
    if find_spec("pygls") is None or find_spec("tomlkit") is None:
        raise UserError("D840")
    if port is not None and not tcp:
        raise UserError("D848")
    from disambig.lsp import PORT, exit_if_busy, serve_stdio, serve_tcp

    defaults = {} if writing is None else {"writing": writing}
    if tcp:  # it does not return: only an interruption ends it
        serve_tcp(PORT if port is None else port, sys.stderr.write, defaults)
    if sys.stdin is not None and sys.stdin.isatty():
        say("disambig: waiting for an editor, which starts this command itself; Control and D end it")
    status = serve_stdio(defaults)
    exit_if_busy(status)
    # The protocol defines the exit status: 0 after a shutdown request, otherwise 1.
    raise typer.Exit(status)
