"""``disambig explain``: its options. What is shown is put together in `disambig.cli.explaining`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from disambig.cli.shared_options import Models, Quiet, Rate, Sets, Tasks

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def explain(
    text: Annotated[str, typer.Argument(help="A sentence or more; - reads standard input.")],
    task: Tasks = None,
    model: Models = None,
    flags_per_1000: Rate = None,
    sets: Sets = None,
    top: Annotated[
        int, typer.Option(min=1, help="Candidates of each decision, and parts of each score, that are shown.")
    ] = 5,
    quiet: Quiet = False,
) -> None:
    """Show why each word of a text was decided as it was, and why it is flagged or not.

    Behind each score stand its parts, the largest first: what was looked up, such as an n-gram, its count,
    the value made of it, the weight that was learned, and what the two make; they add up to the score. Count
    0: nowhere in the counted text; <3: the table leaves out what was seen less than 3 times.
    All digits are counted as one: 0.
    """
    from disambig.batch.sources import ModelSource
    from disambig.cli.checks import rates_asked
    from disambig.cli.explaining import Console, explain_text
    from disambig.errors import UserError
    from disambig.files.opening import decode
    from disambig.model.rates import rates_of
    from disambig.tasks.confusion_sets import read_confusion_sets

    asked = rates_asked(flags_per_1000)
    if text == "-":
        text = decode(sys.stdin.buffer.read(), "standard input")
    if not text.strip():
        raise UserError("D307", what="the text")
    source = ModelSource((*(task or ()), *(model or ())), sets=read_confusion_sets(sets) if sets else ())
    console, models = Console(), source.load_models()
    rates = rates_of(models, asked)
    for loaded in models:
        explain_text(text, loaded, console=console, flags_per_1000=rates.get(loaded.task.name), top=top)
