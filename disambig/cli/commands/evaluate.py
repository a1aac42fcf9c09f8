"""The command ``disambig evaluate``, which scores models on text, examples or human errors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from disambig.cli.options import (
    Clean,
    Encoding,
    Fixes,
    Labelled,
    Lines,
    Lists,
    Quiet,
    Rate,
    Strict,
    Texts,
    Writing,
)
from disambig.files import json_text
from disambig.formatting import pluralize

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def evaluate(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL]...",
            help="A task, PACK/TASK or a model directory, or two of them to compare; with --folds a config; "
            "with --fixes also several models joined by +, or none for all installed models.",
        ),
    ] = None,
    text: Texts = None,
    labelled: Labelled = None,
    lists: Lists = None,
    fixes: Fixes = None,
    clean: Clean = None,
    readings: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="With --clean: what people decided about flags there (.jsonl): mistake, taste or wrong.",
        ),
    ] = None,
    tier: Annotated[
        int, typer.Option(min=1, max=2, help="With --fixes: 1 for certain errors only, 2 for all.")
    ] = 1,
    encoding: Encoding = None,
    strict: Strict = False,
    key: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Senseval key of the labelled XML: also compute Senseval's score."),
    ] = None,
    sensemap: Annotated[
        str | None, typer.Option(metavar="FILE", help="Senseval sense map: also compute the coarse score.")
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(help="Train and test by cross-validation over documents, with this number of folds."),
    ] = None,
    lines: Lines = None,
    only_test: Annotated[
        bool,
        typer.Option(
            "--test-part", help="Use only the fifth of the documents that training sets aside for testing."
        ),
    ] = False,
    rate: Annotated[
        list[float] | None,
        typer.Option(
            help="Flags per 1,000 correct words; with --fixes a point of the curve, for all models together. "
            "Can be repeated."
        ),
    ] = None,
    flags_per_1000: Rate = None,
    writing: Writing = None,
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Measure for two models or for lists: accuracy, macro_f1, f1:CANDIDATE, auc, cost, cer, "
            "wer, exact, or a registered measure. Default: the measure of the task.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Plot the reliability of probabilities, with --fixes the errors found at each rate, to a "
            ".svg, .png or .pdf file."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Evaluate a model on correct text, labelled examples or human errors, or compare two models."""
    if plot is not None:
        from disambig.evaluation import check_plot

        check_plot(plot)
    named = models or []
    model, rest = named[0] if named else None, named[1:]
    if fixes:
        others = (
            text,
            labelled,
            lists,
            encoding,
            strict,
            key,
            sensemap,
            lines is not None,
            only_test,
            measure,
        )
        if any(others):
            raise typer.BadParameter(
                "--fixes can only be combined with MODEL, --clean, --readings, --tier, --rate, "
                "--flags-per-1000, --writing, --plot and --json"
            )
        if folds is not None or len(rest) > 1 or (rest and (plot is not None or rate)):
            raise typer.BadParameter("--fixes accepts one or two models, --plot and --rate only one")
        if readings and not clean:
            raise typer.BadParameter("--readings requires --clean FILE")
        from disambig.cli.evaluating import run_on_fixes as run_fixes
        from disambig.cli.options import parse_rates

        run_fixes(
            named,
            fixes,
            clean=clean or [],
            readings=readings,
            tier=tier,
            rates=rate,
            asked=parse_rates(flags_per_1000),
            writing=writing,
            plot=plot,
            json=json,
        )
        return
    if clean or readings:
        raise typer.BadParameter(f"--{'clean' if clean else 'readings'} requires --fixes FILE")
    if flags_per_1000:
        raise typer.BadParameter("--flags-per-1000 requires --fixes FILE; use --rate otherwise")
    if writing is not None:
        raise typer.BadParameter("--writing requires --fixes FILE")
    if model is None:
        raise typer.BadParameter("MODEL is required, except with --fixes FILE")
    if sensemap and not key:
        raise typer.BadParameter("--sensemap requires --key FILE")
    if key and (not labelled or folds is not None):
        raise typer.BadParameter("--key requires a model and --labelled TEST.xml, without --folds")
    if rest:
        from disambig.cli.evaluating import check_named, run_comparison as run_two

        for name in rest:
            check_named(name)
        if len(rest) > 1 or folds is not None or key:
            raise typer.BadParameter("give one model, or two to compare without --folds and --key")
        if plot is not None or rate:
            raise typer.BadParameter("--plot and --rate cannot be used with two models")
        run_two(
            (model, rest[0]),
            labelled=labelled or (),
            lists=lists or (),
            text=text or (),
            encoding=encoding,
            strict=strict,
            lines=bool(lines),
            only_test=only_test,
            measure=measure,
            json=json,
        )
        return
    if measure is not None and not lists:
        raise typer.BadParameter("--measure requires two models or --lists")
    if lists and (text or labelled or folds is not None or plot or rate or key):
        raise typer.BadParameter("--lists can only be combined with MODEL, --measure and --json")
    if lists:
        from disambig.cli.evaluating import run_on_lists as run_lists

        run_lists(model, lists, json=json, measure=measure)
        return
    if labelled or folds is not None:
        if plot is not None:
            raise typer.BadParameter("--plot requires text without labels")
        from disambig.cli.evaluating import run_on_labelled

        run_on_labelled(
            model,
            labelled or [],
            encoding=encoding,
            strict=strict,
            folds=folds,
            text=text or (),
            json=json,
            key=key,
            sensemap=sensemap,
        )
        return
    if not text:
        raise typer.BadParameter("give text with --text, or labelled examples with --labelled")
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
    texts = read_texts(text, lines=bool(lines))
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
    """Return the figures as lines of text."""
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
        share_found = "-" if at["errors_found"] is None else f"{at['errors_found']:.1%}"
        mended = "-" if at["errors_mended"] is None else f"{at['errors_mended']:.1%}"
        lines.append(
            f"at {rate} flags per 1,000 words: {at['false_flags_per_1000']:.2f} false flags per 1,000, "
            f"{share_found} of {pluralize(at['errors_made'], 'made error')} found, {mended} with the right "
            f"suggestion"
        )
    return lines
