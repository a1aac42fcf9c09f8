"""The commands ``disambig adapt`` and ``disambig convert``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from disambig.api.commands import Quiet, is_typed, line_blocks, lines_in, open_results, remark, stages
from disambig.api.experiments import no_progress


def adapt(
    texts: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Files of Japanese text; - is standard input.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write the adapted converter to.")],
    model: Annotated[
        str, typer.Option(metavar="NAME", help="The converter to adapt: a pack or a folder.")
    ] = "disambig_ja",
    weight: Annotated[
        float | None,
        typer.Option(
            metavar="W", help="Weight of the original language model. Default: tuned on held-out text."
        ),
    ] = None,
    rerank: Annotated[bool, typer.Option("--rerank/--no-rerank", help="Rerank the candidates.")] = True,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an adapted converter.")] = False,
    quiet: Quiet = False,
) -> None:
    """Adapt kana-to-kanji conversion to your own text, for `disambig convert --model FOLDER`.

    The input is plain text with one or more sentences per line. Needs pip install sudachipy sudachidict_core.
    """
    from disambig.api import UserError

    from . import adaptation as adapting
    from .adaptation import split_sentences
    from .conversion import locate_converter
    from .segmentation import sudachi_dictionary

    if output.exists():
        adapting.check_output(output)
        if not force:
            raise UserError("D310", path=output)
    sudachi_dictionary()
    place = locate_converter(model)
    sentences = list(split_sentences(line for _, line in lines_in(texts)))
    adapting.check_texts(sentences, weight)
    with stages() as progress:
        report = adapting.adapt_converter(
            sentences, place, output, weight=weight, rerank=rerank, progress=progress
        )
    for line in report.lines(str(output)):
        remark(line)


FORMATS = ("text", "jsonl")


def convert(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE]...", help="Lines of kana. Default: standard input.")
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="A pack, or a folder written by `disambig adapt` or `disambig train`."
        ),
    ] = "disambig_ja",
    domain: Annotated[
        str | None, typer.Option(help="Kind of text; disambig_ja: news, dialogue, law, novels, encyclopedia.")
    ] = None,
    numbers: Annotated[
        str | None,
        typer.Option(help="How to write numbers spelt out in kana: kanji (default), digits or words."),
    ] = None,
    nbest: Annotated[
        int | None,
        typer.Option(
            "--nbest",
            "-n",
            metavar="N",
            help="Write the N best texts of each line, with line number and score.",
        ),
    ] = None,
    format: Annotated[
        str, typer.Option(help="text, or jsonl: candidate lists for `disambig train --lists`.")
    ] = "text",
    rerank: Annotated[
        bool, typer.Option("--rerank/--no-rerank", help="Rerank the 20 best candidates with the model.")
    ] = True,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Default: standard output.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the output.")] = False,
    quiet: Quiet = False,
) -> None:
    """Convert lines of kana to kanji, one line of output per line of input."""
    from contextlib import nullcontext

    from .conversion import Conversion, format_lines

    n_candidates = _candidate_count(nbest, format, numbers, output, force)
    with stages() as progress:  # closed before a user types into the same terminal
        progress("loading the converter", 0, 1)
        conversion = Conversion.load(model, domain=domain, rerank=rerank, numbers=numbers)
        progress("preparing the converter", 0, 1)
        conversion.prepare()
    # a user may be typing into the same terminal
    shown = nullcontext(no_progress) if is_typed(paths) else stages()
    with shown as progress, open_results(output, force=force) as write:
        done = 0
        for block in line_blocks(lines_in(paths or ["-"])):
            write(format_lines(conversion, block, done, n_candidates, jsonl=format == "jsonl"))
            done += len(block)
            progress("converting", done, 0)


def _candidate_count(
    nbest: int | None, format: str, numbers: str | None, output: Path | None, force: bool
) -> int | None:
    """Return the number of candidates; raise an error for invalid options before anything is loaded."""
    from disambig.api import UserError

    from .converter import N_CANDIDATES
    from .spoken_numbers import NUMERALS

    if format not in FORMATS:
        raise UserError("D671", setting="--format", value=format, names=", ".join(FORMATS))
    if numbers is not None and numbers not in NUMERALS:
        raise UserError("D671", setting="--numbers", value=numbers, names=", ".join(NUMERALS))
    N_CANDIDATES.or_none.check("--nbest", nbest)
    if output is not None and output.exists() and not force:
        raise UserError("D310", path=output)
    return 20 if nbest is None and format == "jsonl" else nbest
