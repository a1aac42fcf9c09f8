"""``disambig evaluate --lists``: figures on n-best lists, for people or as JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from disambig.files.json_text import json_text


def run(name: str, paths: Sequence[str], *, json: bool, measure: str | None = None) -> None:
    """Score the model `name` on lists and print what came out."""
    from disambig.evaluation.lists import evaluate_lists, readable
    from disambig.formats.nbest.reader import read_nbest
    from disambig.measures.named import measure_of_lists
    from disambig.model.lists import check_lists
    from disambig.model.loading import load
    from disambig.training.accounting import line

    if measure is not None:
        measure_of_lists(measure)  # refused before anything is read
    model = load(name)
    check_lists(model)
    figures = evaluate_lists(model, list(read_nbest(paths)), measure=measure)
    if json:
        typer.echo(json_text({"model": f"{model.name} {model.version}", **figures}))
        return
    typer.echo(line(figures["account"]), file=sys.stderr)
    for each in readable(figures):
        typer.echo(each)
