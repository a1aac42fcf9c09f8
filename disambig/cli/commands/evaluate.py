"""``disambig evaluate``: how good a model is on text whose words are right, or on real mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from disambig.cli.options import Encoding, Labelled, Lists, Quiet, Rate, Strict
from disambig.files import json_text
from disambig.formatting import pluralize

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def evaluate(
    model: Annotated[
        str | None,
        typer.Argument(
            help="A task, PACK/TASK, a model directory; with --folds a config; with --fixes also several, "
            "joined by +, or none for all that are installed."
        ),
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL] [TEXT]...",
            help="A second model, to be compared with the first; files or directories of edited text.",
        ),
    ] = None,
    labelled: Labelled = None,
    lists: Lists = None,
    fixes: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Real mistakes with their corrections in place of text: .jsonl."),
    ] = None,
    clean: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="With --fixes: paragraphs without mistakes, for false flags."),
    ] = None,
    tier: Annotated[
        int, typer.Option(min=1, max=2, help="With --fixes: 1, what is surely a mistake; 2, all.")
    ] = 1,
    encoding: Encoding = None,
    strict: Strict = False,
    key: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Senseval's key of the labelled XML: its score, too, deciding at each head."
        ),
    ] = None,
    sensemap: Annotated[
        str | None, typer.Option(metavar="FILE", help="Senseval's sense map: the coarse score, too.")
    ] = None,
    folds: Annotated[
        int | None, typer.Option(help="Train and test by cross-validation over documents.")
    ] = None,
    lines: Annotated[bool, typer.Option("--lines", help="Each line is a document.")] = False,
    only_test: Annotated[
        bool, typer.Option("--test-part", help="Only the fifth of the documents that training leaves aside.")
    ] = False,
    rate: Annotated[
        list[float] | None,
        typer.Option(
            help="Flags per 1,000 correct words; with --fixes, of all models together, of the curve."
        ),
    ] = None,
    flags_per_1000: Rate = None,
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Of two models, or of lists: accuracy, macro_f1, f1:CANDIDATE, auc, cost, cer, wer, exact, "
            "or a registered one. Default: the task's.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Draw how reliable probabilities are, of --fixes what each rate finds: a .svg, .png or .pdf."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Score a model on text whose words are right, on labelled examples or on mistakes; or compare two."""
    if plot is not None:
        from disambig.evaluation import check_plot

        check_plot(plot)
    if fixes:
        if labelled or lists or encoding or strict or key or sensemap or lines or only_test or measure:
            raise typer.BadParameter(
                "--fixes goes with MODEL, --clean, --tier, --rate, --flags-per-1000, --plot and --json alone"
            )
        if folds is not None or len(text or ()) > 1 or (text and (plot is not None or rate)):
            raise typer.BadParameter("--fixes is for one or two models, --plot and --rate for one")
        from disambig.cli.evaluating import run_on_fixes as run_fixes
        from disambig.cli.options import parse_rates

        names, asked = [name for name in (model, *(text or ())) if name], parse_rates(flags_per_1000)
        run_fixes(names, fixes, clean=clean, tier=tier, rates=rate, asked=asked, plot=plot, json=json)
        return
    if clean:
        raise typer.BadParameter("--clean is for --fixes FILE")
    if flags_per_1000:
        raise typer.BadParameter("--flags-per-1000 is for --fixes FILE; others have --rate")
    if model is None:
        raise typer.BadParameter("name a model: MODEL; only --fixes FILE can do without")
    if sensemap and not key:
        raise typer.BadParameter("--sensemap needs --key FILE")
    if key and (not labelled or folds is not None):
        raise typer.BadParameter("--key is for a model's answers to --labelled TEST.xml, without --folds")
    if text and folds is None and not key:
        from disambig.cli.evaluating import check_named, is_model
        from disambig.cli.evaluating import run_comparison as run_two

        if labelled or lists:
            check_named(text[0])
        if is_model(text[0]):
            if plot is not None or rate:
                raise typer.BadParameter("--plot and --rate are for one model")
            run_two(
                (model, text[0]),
                labelled=labelled or (),
                lists=lists or (),
                text=text[1:],
                encoding=encoding,
                strict=strict,
                lines=lines,
                only_test=only_test,
                measure=measure,
                json=json,
            )
            return
    if measure is not None and not lists:
        raise typer.BadParameter("--measure is for two models, or for --lists")
    if lists and (text or labelled or folds is not None or plot or rate or key):
        raise typer.BadParameter("--lists goes with MODEL, --measure and --json alone: lists are no texts")
    if lists:
        from disambig.cli.evaluating import run_on_lists as run_lists

        run_lists(model, lists, json=json, measure=measure)
        return
    if labelled or folds is not None:
        if plot is not None:
            raise typer.BadParameter("--plot is for text whose words are right")
        from disambig.cli.evaluating import run_on_labelled

        run_on_labelled(
            model,
            labelled or [],
            encoding=encoding,
            strict=strict,
            folds=folds,
            text=text or [],
            json=json,
            key=key,
            sensemap=sensemap,
        )
        return
    if not text:
        raise typer.BadParameter("name text, or labelled examples with --labelled")
    from disambig.cli.options import check_rate
    from disambig.cli.progress import progress, remark
    from disambig.errors import UserError
    from disambig.evaluation import evaluate as score
    from disambig.models import load
    from disambig.training import read_texts, split

    rates = rate or [0.3, 1.0, 4.0]
    for one in rates:
        check_rate(one, option="--rate")
    loaded = load(model)
    texts = read_texts(text, lines=lines)
    with progress() as meter:
        meter.show("scoring", 0, None)
        figures = score(loaded, split(texts)["test"] if only_test else texts, rates=rates)
    if not figures["decisions"]:
        part = "the test part of " * only_test
        raise UserError(
            "D664",
            what=part + ", ".join(text),
            documents=figures["documents"],
            words=figures["words"],
            task=loaded.task.name,
            hint="give more documents: a fifth of them is the test part" if only_test else "give other text",
        )
    if plot is not None and figures["reliability"]:
        from disambig.evaluation import plot_reliability

        plot_reliability(figures["reliability"], plot, title=loaded.task.name)
        remark(f"{plot}: drawn")
    elif plot is not None:
        raise UserError("D751", model=model)
    if json:
        typer.echo(json_text({"model": f"{loaded.name} {loaded.version}", **figures}))
        return
    for line in evaluation_lines(figures):
        typer.echo(line)


def evaluation_lines(figures: dict[str, Any]) -> list[str]:
    """Return the figures as lines for people."""
    read = f"read {pluralize(figures['documents'], 'document')}, {pluralize(figures['words'], 'word')}"
    lines = [f"{read}: {pluralize(figures['decisions'], 'decision')}"]
    low, high = figures["interval"]
    lines.append(f"accuracy {figures['accuracy']:.2%} ({low:.2%} to {high:.2%})")
    if len(figures["groups"]) > 1:
        low, high = figures["mean_interval"]
        lines.append(f"mean of groups {figures['mean_accuracy']:.2%} ({low:.2%} to {high:.2%})")
    for name, group in figures["groups"].items():
        low, high = group["interval"]
        lines.append(
            f"  {name}: {group['accuracy']:.2%} ({low:.2%} to {high:.2%}) of {group['n']:,}, "
            f"majority {group['majority']:.2%}"
        )
    if figures.get("reliability"):
        from disambig.metrics import reliability_lines

        lines += reliability_lines(figures["reliability"])
    for rate, at in figures["rates"].items():
        found = "-" if at["errors_found"] is None else f"{at['errors_found']:.1%}"
        mended = "-" if at["errors_mended"] is None else f"{at['errors_mended']:.1%}"
        lines.append(
            f"at {rate} flags per 1,000 words: {at['false_flags_per_1000']:.2f} false flags per 1,000, "
            f"{found} of {pluralize(at['errors_made'], 'made error')} found, {mended} with the right suggestion"
        )
    return lines
