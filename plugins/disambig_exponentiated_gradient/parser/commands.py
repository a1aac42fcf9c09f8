"""The commands ``disambig parse`` and ``disambig train-parser``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from disambig.api.commands import Quiet, is_typed, line_blocks, lines_in, open_results, remark, stages
from disambig.api.experiments import no_progress


def parse(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]...",
            help="Text, or CoNLL-U (.conllu) with words and tags. Default: standard input.",
        ),
    ] = None,
    model: Annotated[
        str, typer.Option(metavar="NAME", help="A pack, or a folder written by `disambig train-parser`.")
    ] = "disambig_en_parser",
    format: Annotated[
        str,
        typer.Option(
            help="brackets (one tree per line), indented, tree (a drawing), html (a page) or jsonl."
        ),
    ] = "brackets",
    nbest: Annotated[
        int | None,
        typer.Option(
            "--nbest", "-n", metavar="N", help="Write the N best trees of each sentence, with ln P."
        ),
    ] = None,
    input: Annotated[
        str,
        typer.Option(
            "--from",
            "--input",
            metavar="KIND",
            help="text, lines (one sentence per line), words (the same, tokenised) or conllu.",
        ),
    ] = "text",
    tags: Annotated[
        bool, typer.Option("--tags/--no-tags", help="Parse with the tags of CoNLL-U files (column XPOS).")
    ] = True,
    tagger: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="A tagging model, such as tag, for text unlike the training text."),
    ] = None,
    max_length: Annotated[
        int,
        typer.Option(metavar="N", help="Give longer sentences (in words) a flat tree, and count them."),
    ] = 150,
    width: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Width of drawings in columns; wider trees become outlines. Default: the terminal's.",
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Default: standard output.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the output.")] = False,
    quiet: Quiet = False,
) -> None:
    """Parse text into constituent trees, one per sentence.

    Sentences that have no parse or are too long get a flat tree of their words and tags, and are counted.
    """
    from contextlib import nullcontext

    from .parser import Parser
    from .sentences import ParserTagger
    from .streaming import (
        ParserRun,
        TreeFormatter,
        check_options,
        group_by_format,
        read_conllu_sentences,
        read_sentences,
    )

    check_options(format, input, nbest, width, max_length, output, force=force)
    inputs = paths or ["-"]
    kinds = group_by_format(inputs, input)
    parser = Parser.load(model, max_length=max_length)
    columns = width or _drawing_width(output)
    title = f"Trees of {', '.join(paths)}" if paths and paths != ["-"] else "Trees"
    formatter = TreeFormatter(format, nbest is not None, columns, title[:200], parser.language)
    is_interactive = is_typed(paths)
    run = ParserRun(parser, formatter, nbest or 1, ParserTagger.load(tagger) if tagger else None)
    # a user may be typing into the same terminal
    shown = nullcontext(no_progress) if is_interactive else stages()
    with shown as progress, open_results(output, force=force) as write:
        write(formatter.head())
        for kind, files in kinds:
            if kind == "conllu":
                parsed = read_conllu_sentences(parser, files, tags=tags)
            else:
                parsed = read_sentences(
                    parser, line_blocks(lines_in(files), 64), kind, at_once=is_interactive
                )
            for sentences in parsed:
                for text in run.texts(sentences):
                    write(text)
                    progress("parsing", run.done, 0)
        write(formatter.foot())
    for line in run.warnings():
        remark(line)


def _drawing_width(output: Path | None) -> int:
    """Return the width of the terminal, or a hundred columns for other outputs."""
    import shutil
    import sys

    is_terminal = output is None and sys.stdout is not None and sys.stdout.isatty()
    return shutil.get_terminal_size((100, 24)).columns if is_terminal else 100


def train_parser(
    trees: Annotated[
        list[Path],
        typer.Argument(metavar="TREES...", help="Bracketed trees: files, directories, tar archives."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write the parser to.")],
    held_out: Annotated[
        Path | None,
        typer.Option(
            metavar="TREES", help="Trees to evaluate on. Default: the last files, about a tenth of the trees."
        ),
    ] = None,
    horizontal: Annotated[
        int, typer.Option(metavar="N", help="Number of earlier siblings' labels in symbols, 0 to 9.")
    ] = 2,
    vertical: Annotated[
        int, typer.Option(metavar="N", help="1: labels only; 2: with the parent's label; and so on, up to 9.")
    ] = 2,
    language: Annotated[
        str, typer.Option(metavar="CODE", help="Language whose tokeniser splits the texts to parse.")
    ] = "en",
    encoding: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Encoding of the trees, such as latin-1. Default: utf-8."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing parser.")] = False,
    quiet: Quiet = False,
) -> None:
    """Train a parser on a treebank, for `disambig parse --model FOLDER` and the component disambig_parser.

    Prints F1 (PARSEVAL, as evalb counts) on held-out trees. If these are part of the treebank, the final
    parser is trained on them, too.
    """
    from disambig.api import UserError
    from disambig.api.packs import saved_folder, writing
    from disambig.api.text import SpacyTokens

    from ..treebank.binarisation import Binarisation
    from .parser import CARD, is_parser_alone, save_parser
    from .training import ParserTrainingData, train_on, training_card, training_summary

    with writing(output):
        if output.exists() and not is_parser_alone(output):
            raise UserError("D906", path=output)
        if output.exists() and not force:
            raise UserError("D310", path=output)
    Binarisation(horizontal, vertical)
    SpacyTokens(language).words("x")
    with saved_folder(output) as draft, stages() as progress:
        training_data = ParserTrainingData.from_files(trees, held_out, encoding=encoding, note=remark)
        trained = train_on(
            training_data, horizontal=horizontal, vertical=vertical, language=language, progress=progress
        )
        with writing(output):
            save_parser(trained.parser, draft, details=trained.details)
            (draft / CARD).write_text(training_card(trained, output.name), encoding="utf8")
    for line in training_summary(trained, str(output)):
        remark(line)
