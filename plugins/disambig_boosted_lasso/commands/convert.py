"""``disambig convert``: kana in, kanji out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from disambig.api.commands import Quiet, blocks, is_typed, lines_in, results, stages

FORMATS = ("text", "jsonl")


def convert(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE]...", help="Lines of kana; default: standard input.")
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="A pack, or a folder that `disambig adapt` or `disambig train` made."
        ),
    ] = "disambig_ja",
    domain: Annotated[
        str | None, typer.Option(help="Kind of text; disambig_ja: news, dialogue, law, novels, encyclopedia.")
    ] = None,
    nbest: Annotated[
        int | None,
        typer.Option("--nbest", "-n", metavar="N", help="The N best: number of the line, score, text."),
    ] = None,
    format: Annotated[
        str, typer.Option(help="text, or jsonl: lists of candidates as --lists of `disambig train` reads.")
    ] = "text",
    rerank: Annotated[
        bool, typer.Option("--rerank/--no-rerank", help="Whether the model ranks 20 candidates again.")
    ] = True,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Default: standard output.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the output.")] = False,
    quiet: Quiet = False,
) -> None:
    """Convert lines of kana to kanji: a line in, a line out."""
    from contextlib import nullcontext

    from ..kana.conversion import Conversion
    from ..kana.flowing import shown

    wanted = _checked(nbest, format, output, force)
    conversion = Conversion.load(model, domain=domain, rerank=rerank)
    shown_in = nullcontext(_nothing) if is_typed(paths) else stages()
    with shown_in as tell, results(output, force=force) as write:
        done = 0
        for block in blocks(lines_in(paths or ["-"])):
            write(shown(conversion, block, done, wanted, jsonl=format == "jsonl"))
            done += len(block)
            tell("converting", done, 0)


def _checked(nbest: int | None, format: str, output: Path | None, force: bool) -> int | None:
    """Return how many candidates are wanted; refuse what cannot be before anything is loaded."""
    from disambig.api import UserError

    if format not in FORMATS:
        raise UserError("D671", setting="--format", value=format, names=", ".join(FORMATS))
    if nbest is not None and not 1 <= nbest <= 1000:
        raise UserError("D675", setting="--nbest", value=nbest, wanted="a whole number from 1 to 1,000")
    if output is not None and output.exists() and not force:
        raise UserError("D310", path=output)
    return 20 if nbest is None and format == "jsonl" else nbest


def _nothing(stage: str, done: int, total: int) -> None:
    """Show nothing: somebody types into the same terminal."""
