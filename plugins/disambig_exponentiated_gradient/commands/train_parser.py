"""``disambig train-parser``: a parser of somebody's own treebank."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from disambig.api.commands import Quiet, remark, stages


def train_parser(
    trees: Annotated[
        list[Path],
        typer.Argument(metavar="TREES...", help="Bracketed trees: files, directories, tar archives."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the parser.")],
    held_out: Annotated[
        Path | None,
        typer.Option(metavar="TREES", help="Trees to measure on. Default: the last files, about a tenth."),
    ] = None,
    horizontal: Annotated[
        int, typer.Option(metavar="N", help="Labels of earlier children that rules remember, 0 to 9.")
    ] = 2,
    vertical: Annotated[
        int, typer.Option(metavar="N", help="1: labels alone; 2: with their parent's, and so on, to 9.")
    ] = 2,
    language: Annotated[
        str, typer.Option(metavar="CODE", help="Whose tokeniser cuts the texts that it will parse.")
    ] = "en",
    force: Annotated[bool, typer.Option("--force", help="Replace the output, a parser.")] = False,
    quiet: Quiet = False,
) -> None:
    """Train a parser on a treebank, for `disambig parse --model FOLDER` and the component disambig_parser.

    Says its F1 (PARSEVAL, as evalb counts) on trees that are held out. Of a treebank's own held-out part the
    parser learns in the end as well.
    """
    from disambig.api import UserError
    from disambig.api.packs import saved_folder, writing
    from disambig.api.text import SpacyTokens

    from ..parsers.stored import is_parser_alone, save_parser
    from ..parsers.training import Material, said, train
    from ..treebank.binarising import Binarisation

    with writing(output):
        if output.exists() and not is_parser_alone(output):
            raise UserError("D906", path=output)
        if output.exists() and not force:
            raise UserError("D310", path=output)
    Binarisation(horizontal, vertical)
    SpacyTokens(language).words("x")
    with saved_folder(output) as draft, stages() as tell:
        material = Material.of(trees, held_out)
        trained = train(material, horizontal=horizontal, vertical=vertical, language=language, tell=tell)
        with writing(output):
            save_parser(trained.parser, draft, about=trained.about)
    for line in said(trained, output):
        remark(line)
