"""``disambig parse``: text in, trees out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from disambig.api.commands import Quiet, blocks, is_typed, lines_in, remark, results, stages


def parse(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE]...", help="Text; default: standard input. .conllu: words and tags."),
    ] = None,
    model: Annotated[
        str, typer.Option(metavar="NAME", help="A pack, or a folder that `disambig train-parser` made.")
    ] = "disambig_en_parser",
    format: Annotated[
        str,
        typer.Option(help="brackets (a tree a line), indented, tree (drawn), html (a page), jsonl."),
    ] = "brackets",
    nbest: Annotated[
        int | None,
        typer.Option("--nbest", "-n", metavar="N", help="The N best: number of the sentence, ln P, tree."),
    ] = None,
    input: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="text, lines (a sentence each), words (the same, cut already), conllu."
        ),
    ] = "text",
    tags: Annotated[
        bool, typer.Option("--tags/--no-tags", help="Whether tags of CoNLL-U (column XPOS) are kept to.")
    ] = True,
    tagger: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="A model of tags, such as tag: for text unlike what the parser learned from."
        ),
    ] = None,
    max_length: Annotated[
        int,
        typer.Option(metavar="N", help="Sentences of more words get a flat tree, and are counted."),
    ] = 150,
    width: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Columns for drawn trees; wider ones become outlines. Default: the terminal's."
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Default: standard output.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the output.")] = False,
    quiet: Quiet = False,
) -> None:
    """Parse text: a tree of constituents for each sentence.

    Sentences without a parse, or too long, get a flat tree of their words and tags, and are counted.
    """
    from contextlib import nullcontext

    from ..parsers.parser import Parser
    from ..parsers.running import Run, check, kinds_of
    from ..parsers.shown import Showing
    from ..parsers.tagging import Tagger
    from ..parsers.units import conllu_sentences, sentences_in

    check(format, input, nbest, width, max_length, output, force=force)
    given = paths or ["-"]
    kinds = kinds_of(given, input)
    parser = Parser.load(model, max_length=max_length)
    columns = width or _columns(output)
    title = f"Trees of {', '.join(paths)}" if paths and paths != ["-"] else "Trees"
    showing = Showing(format, nbest is not None, columns, title[:200], parser.language)
    typed = is_typed(paths)
    run = Run(parser, showing, nbest or 1, Tagger.load(tagger) if tagger else None)
    shown_in = nullcontext(_nothing) if typed else stages()
    with shown_in as tell, results(output, force=force) as write:
        write(showing.head())
        for kind, files in kinds:
            if kind == "conllu":
                found = conllu_sentences(parser, files, tags=tags)
            else:
                found = sentences_in(parser, blocks(lines_in(files), 64), kind, at_once=typed)
            for sentences in found:
                for text in run.texts(sentences):
                    write(text)
                    tell("parsing", run.done, 0)
        write(showing.foot())
    for line in run.remarks():
        remark(line)


def _columns(output: Path | None) -> int:
    """Return how wide drawings may be: as the terminal, a hundred columns elsewhere."""
    import shutil
    import sys

    is_terminal = output is None and sys.stdout is not None and sys.stdout.isatty()
    return shutil.get_terminal_size((100, 24)).columns if is_terminal else 100


def _nothing(stage: str, done: int, total: int) -> None:
    """Show nothing: somebody types into the same terminal."""
