"""``disambig adapt``: a converter for somebody's own text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disambig.api.commands import Quiet, lines_in, remark, stages

if TYPE_CHECKING:
    from ..kana.adapting import Adapted


def adapt(
    texts: Annotated[
        list[str], typer.Argument(metavar="TEXT...", help="Files of Japanese text; - is standard input.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the adapted converter.")],
    model: Annotated[
        str, typer.Option(metavar="NAME", help="What to adapt: a pack, or a folder.")
    ] = "disambig_ja",
    weight: Annotated[
        float | None,
        typer.Option(metavar="W", help="Of the old language model; default: what suits sentences put aside."),
    ] = None,
    rerank: Annotated[
        bool, typer.Option("--rerank/--no-rerank", help="Whether candidates are ranked again.")
    ] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace the output, an adapted converter.")] = False,
    quiet: Quiet = False,
) -> None:
    """Adapt the conversion of kana to your own text, for `disambig convert --model FOLDER`.

    Text is plain, with a sentence a line or several; needs pip install 'disambig[ime]'.
    """
    from disambig.api import UserError

    from ..kana import adapting
    from ..kana.places import place_of
    from ..kana.readings import sudachi
    from ..kana.sentences import sentences_in

    if output.exists():
        adapting.check_output(output)
        if not force:
            raise UserError("D310", path=output)
    sudachi()
    place = place_of(model)
    sentences = list(sentences_in(line for _, line in lines_in(texts)))
    adapting.check(sentences, weight)
    with stages() as tell:
        found = adapting.adapt(sentences, place, output, weight=weight, rerank=rerank, tell=tell)
    for line in said(found, output):
        remark(line)


def said(found: Adapted, output: Path) -> list[str]:
    """Return the lines that tell what came of it."""
    ranks = {
        "new": "candidates are ranked by weights learned from the text",
        "old": "candidates are ranked by the weights that there were",
        "none": "candidates are not ranked again",
    }
    lines = [
        f"{output}: learned from {found.learned:,} sentences; the old language model weighs "
        f"{found.weight:.2f}; {ranks[found.ranked]}"
    ]
    if found.tested:
        lines.append(
            f"on {found.tested:,} sentences left aside {100 * found.before:.2f}% of the characters were "
            f"wrong before, {100 * found.after:.2f}% are now"
        )
    return lines
