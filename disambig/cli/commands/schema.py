"""The command ``disambig schema``."""

from __future__ import annotations

import typer

from disambig.cli.options import SETTINGS
from disambig.cli.output import StandardOutput

app = typer.Typer(**SETTINGS)


@app.command()
def schema() -> None:
    """Print the JSON Schema of the records that `annotate` writes as JSON Lines.

    In Python, `disambig.api.formats.record_schema()` returns it, and `arrow_schema()` returns it for pyarrow.
    """
    from disambig.formats import record_schema_text

    StandardOutput().result(record_schema_text())
