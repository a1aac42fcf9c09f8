"""``disambig train``: a model from a config and text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from disambig.cli.shared_options import Encoding, Labelled, Lists, Quiet, Strict
from disambig.plural import many

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def train(
    config: Annotated[
        Path | None,
        typer.Argument(help="Config file, or the name of one that a plugin brings, such as topic."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Directory of the model (required).")
    ] = None,
    text: Annotated[list[str] | None, typer.Option(help="Files or directories to learn from.")] = None,
    labelled: Labelled = None,
    lists: Lists = None,
    fixes: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE", help="With --text: mistakes that people made and their corrections: .jsonl."
        ),
    ] = None,
    clean: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="With --fixes: paragraphs without mistakes: .jsonl."),
    ] = None,
    encoding: Encoding = None,
    strict: Strict = False,
    lines: Annotated[
        bool | None, typer.Option("--lines/--files", help="A document a line, or a file.")
    ] = None,
    test: Annotated[
        bool, typer.Option("--test/--no-test", help="Test the model for its card; takes a while.")
    ] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace a model that exists.")] = False,
    quiet: Quiet = False,
    example: Annotated[
        bool, typer.Option("--example", help="Print CONFIG, or a config to begin with, and do nothing else.")
    ] = False,
) -> None:
    """Train a model."""
    from disambig.model.replacing import free_target
    from disambig.training.shipped import config_path

    if example:
        shown = Path(__file__).with_name("example.cfg") if config is None else config_path(config)
        typer.echo(shown.read_text(encoding="utf8"), nl=False)
        return
    if config is None or output is None:
        missing = "CONFIG (--example prints one)" if config is None else "--output DIRECTORY"
        raise typer.BadParameter(f"name {missing}")
    if lists and (text or labelled):
        raise typer.BadParameter("--lists goes without --text and --labelled")
    free_target(output, force=force)  # before the long work, not after
    from disambig.cli.progress import remark, say, stages
    from disambig.cli.telling import notes
    from disambig.evaluation.judging import judge, summary, untested
    from disambig.model.store import save_model
    from disambig.training.accounting import line
    from disambig.training.run import run

    with stages() as progress:
        model = run(
            config,
            text=text or (),
            labelled=labelled or (),
            lists=lists or (),
            fixes=fixes or (),
            clean=clean or (),
            encoding=encoding,
            strict=strict,
            tell=notes(),
            lines=lines,
            judge=judge if test else None,
            progress=progress,
        )
    save_model(model, output, force=force)
    learned = sum(scorer is not None for scorer in model.scorers)
    examples = model.provenance["examples"]
    unit = "list" if "lists" in examples else "word"
    amount = many(examples["lists" if "lists" in examples else "train_words"], unit)
    if "account" in examples:
        remark(line(examples["account"]))
    if "mistakes" in examples:
        remark(f"{line(examples['mistakes'])}; {many(examples['clean_words'], 'clean word')}")
    for note in model.provenance.get("notes", ()):
        say(f"note: {note}")
    least = model.provenance.get("settings", {}).get("min_examples")  # known where parts are put aside
    few = "too few examples" if least is None else f"fewer than {many(least, 'example')}"
    remark(
        f"{output}: {model.task.name}, {learned} of {many(len(model.scorers), 'group')} learned from {amount}"
        + (f", the others ({few}) left to the baseline" if learned < len(model.scorers) else "")
    )
    if said := summary(model.provenance.get("test", {})) or (test and untested(model)):
        remark(said)
