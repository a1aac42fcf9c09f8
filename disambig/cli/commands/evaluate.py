"""The command ``disambig evaluate``, which scores models on text, examples or human errors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from disambig.cli import options

app = typer.Typer(**options.SETTINGS)


@app.command()
def evaluate(
    context: typer.Context,
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL]...",
            help="A task, PACK/TASK or a model directory, or two of them to compare; with --folds a config; "
            "with --fixes also several models joined by +, or none for all installed models.",
        ),
    ] = None,
    text: options.Texts = None,
    labelled: options.Labelled = None,
    lists: options.Lists = None,
    fixes: options.Fixes = None,
    clean: options.Clean = None,
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
    encoding: options.Encoding = None,
    strict: options.Strict = False,
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
    lines: options.Lines = None,
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
    flags_per_1000: options.Rate = None,
    writing: options.Writing = None,
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Measure for two models or for lists: accuracy, macro_f1, f1:CANDIDATE, auc, auc:CANDIDATE, "
            "cost, cer, wer, exact, or a registered measure. Default: the measure of the task.",
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
    quiet: options.Quiet = False,
) -> None:
    """Evaluate a model on correct text, labelled examples or human errors, or compare two models."""
    names = models or []
    form = evaluation_form(names, fixes=fixes, lists=lists, labelled=labelled, folds=folds)
    options.check_form_options(context, FORMS, form)
    if plot is not None:
        from disambig.evaluation import check_plot

        check_plot(plot)
    from disambig.cli import evaluating
    from disambig.cli.output import check_stdout

    check_stdout()  # before long work
    reading: dict[str, Any] = {"encoding": encoding, "strict": strict}
    if form == FIXES:
        if len(names) > 2 or (len(names) == 2 and (plot is not None or rate)):
            raise typer.BadParameter("--fixes accepts one or two models, --plot and --rate only one")
        if readings and not clean:
            raise typer.BadParameter("--readings requires --clean FILE")
        evaluating.run_on_fixes(
            names,
            fixes or [],
            clean=clean or [],
            readings=readings,
            tier=tier,
            rates=rate,
            flags_per_1000=options.parse_rates(flags_per_1000),
            writing=writing,
            plot=plot,
            json=json,
        )
    elif form == TWO_MODELS:
        evaluating.run_comparison(
            names,
            labelled=labelled or (),
            lists=lists or (),
            text=text or (),
            lines=bool(lines),
            only_test=only_test,
            measure=measure,
            json=json,
            **reading,
        )
    elif not names:
        raise typer.BadParameter("MODEL is required, except with --fixes FILE")
    elif form == LISTS:
        evaluating.run_on_lists(names[0], lists or [], json=json, measure=measure)
    elif form == LABELLED:
        if sensemap and not key:
            raise typer.BadParameter("--sensemap requires --key FILE")
        if key and folds is not None:
            raise typer.BadParameter("--key cannot be used with --folds")
        evaluating.run_on_labelled(
            names[0],
            labelled or [],
            folds=folds,
            text=text or (),
            json=json,
            key=key,
            sensemap=sensemap,
            **reading,
        )
    elif not text:
        raise typer.BadParameter("give text with --text, or labelled examples with --labelled")
    else:
        evaluating.run_on_text(
            names[0],
            text,
            lines=bool(lines),
            only_test=only_test,
            rates=rate or DEFAULT_RATES,
            plot=plot,
            json=json,
        )


FIXES, TWO_MODELS, LISTS = "--fixes", "two models", "--lists"
LABELLED, TEXT = "--labelled (one model)", "--text (one model)"
FORMS: dict[str, tuple[str, ...]] = {
    FIXES: ("fixes", "clean", "readings", "tier", "rate", "flags_per_1000", "writing", "plot"),
    TWO_MODELS: ("text", "labelled", "lists", "encoding", "strict", "lines", "only_test", "measure"),
    LISTS: ("lists", "measure"),
    LABELLED: ("labelled", "encoding", "strict", "folds", "text", "key", "sensemap"),
    TEXT: ("text", "lines", "only_test", "rate", "plot"),
}
"""The forms of the command, and the options of each besides --json and --quiet."""
DEFAULT_RATES = (0.3, 1.0, 4.0)


def evaluation_form(
    models: Sequence[str],
    *,
    fixes: Sequence[str] | None,
    lists: Sequence[str] | None,
    labelled: Sequence[str] | None,
    folds: int | None,
) -> str:
    """Return the one of `FORMS` that the arguments select.

    Raises `typer.BadParameter` for more than two models without ``--fixes``. Raises `UserError`: the errors
    of `disambig.cli.evaluating.check_named` for the second model.
    """
    if fixes:
        return FIXES
    if len(models) > 1:
        from disambig.cli.evaluating import check_named

        for name in models[1:]:
            check_named(name)
        if len(models) > 2:
            raise typer.BadParameter("give one model, or two to compare")
        return TWO_MODELS
    if lists:
        return LISTS
    return LABELLED if labelled or folds is not None else TEXT
