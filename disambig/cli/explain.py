"""``disambig explain``: its options. What is shown is put together in `disambig.cli.explaining`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def explain(
    text: Annotated[str, typer.Argument(help="A sentence or more; - reads standard input.")],
    task: Annotated[
        list[str] | None, typer.Option(help="An installed model; may be repeated. Default: all.")
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(metavar="DIR", help="A model's directory; may be repeated.")
    ] = None,
    flags_per_1000: Annotated[
        float | None, typer.Option("--flags-per-1000", help="The operating point to explain.")
    ] = None,
    sets: Annotated[str | None, typer.Option(metavar="FILE", help="More confusion sets.")] = None,
    top: Annotated[int, typer.Option(min=1, help="Candidates and n-grams shown of each decision.")] = 5,
) -> None:
    """Show why each word of a text was decided as it was, and why it is flagged or not."""
    from disambig.batch.sources import ModelSource
    from disambig.cli.checks import check_rate
    from disambig.cli.explaining import Console, explain_text
    from disambig.corpora.confusion_sets import read_confusion_sets
    from disambig.corpora.opening import decode
    from disambig.errors import UserError

    check_rate(flags_per_1000)
    if text == "-":
        text = decode(sys.stdin.buffer.read(), "standard input")
    if not text.strip():
        raise UserError("D307", what="the text")
    source = ModelSource(
        (*(task or ()), *(model or ())), flags_per_1000, (), read_confusion_sets(sets) if sets else ()
    )
    console = Console()
    for loaded in source.load_models():
        explain_text(text, loaded, console=console, flags_per_1000=flags_per_1000, top=top)
