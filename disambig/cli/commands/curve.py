"""The command ``disambig curve``, which estimates the benefit of more examples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from disambig.cli.options import SETTINGS, Clean, Encoding, Fixes, Labelled, Lines, Quiet, Strict, Texts
from disambig.cli.output import check_stdout, note_printer, remark, stages
from disambig.errors import UserError
from disambig.files import json_text
from disambig.formatting import format_p, format_value, pluralize

app = typer.Typer(**SETTINGS)


@app.command()
def curve(
    config: Annotated[Path, typer.Argument(help="Config file, as for `disambig train`.")],
    text: Texts = None,
    labelled: Labelled = None,
    fixes: Fixes = None,
    clean: Clean = None,
    encoding: Encoding = None,
    strict: Strict = False,
    sizes: Annotated[
        str,
        typer.Option(metavar="N,N,...", help="Numbers of training examples per group, such as 10,100,1000."),
    ] = "",
    draws: Annotated[
        int | None,
        typer.Option(min=1, help="Number of samples drawn per size. Default: more for small sizes."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the samples.")] = 0,
    lines: Lines = None,
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Measure to show besides accuracy: macro_f1, f1:CANDIDATE, auc, auc:CANDIDATE, or a "
            "registered measure.",
        ),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Plot the curve to a .svg, .png or .pdf file.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Show how the accuracy of a model grows with more examples."""
    size_numbers = _parse_sizes(sizes)
    from disambig.evaluation import check_plot, plot_curve
    from disambig.metrics import measure_named

    if measure is not None:
        measure_named(measure)  # raise an error before anything is read
    if text and labelled:
        raise UserError("D484")
    check_stdout()  # before long work
    if plot is not None:
        check_plot(plot)
    with stages() as progress:
        settings: dict[str, Any] = {"sizes": size_numbers, "draws": draws, "seed": seed, "measure": measure}
        settings |= {"strict": strict, "lines": lines, "progress": progress}
        result = _run(config, text, labelled, fixes, clean, encoding, **settings)
    if plot is not None:
        plot_curve(result, plot)
        remark(f"{plot}: drawn")
    if json:
        typer.echo(json_text(result))
        return
    for line in curve_lines(result):
        typer.echo(line)


def _parse_sizes(sizes: str) -> list[int]:
    try:
        return [int(size) for size in sizes.replace(",", " ").split()]
    except ValueError as problem:
        raise typer.BadParameter(f"--sizes {sizes}: give whole numbers, such as 10,100,1000") from problem


def _run(
    config: Path,
    text: list[str] | None,
    labelled: list[str] | None,
    fixes: list[str] | None,
    clean: list[str] | None,
    encoding: str | None,
    *,
    strict: bool,
    lines: bool | None,
    **curve_settings: Any,
) -> dict[str, Any]:
    """Read the examples that the config and the options name, and compute the curve."""
    from disambig.evaluation import curve_of_labelled, curve_of_texts
    from disambig.formats import read_labelled
    from disambig.training import check_error_files, nothing_named, read_error_corpus, read_plan, read_texts

    plan = read_plan(config, mistakes=bool(fixes))
    sources, parts = plan.sources, plan.parts
    settings = {**plan.settings, **curve_settings}
    if parts.decides.where == "items":
        raise UserError("D338", model=plan.name)
    labelled_paths = labelled or (not text and sources.get("labelled"))
    error_files = fixes or sources.get("fixes", []), clean or sources.get("clean", [])
    if any(error_files):
        check_error_files(plan, *error_files, other=bool(labelled_paths))
    if labelled_paths:
        encoding = encoding or sources.get("encoding")
        examples = read_labelled(labelled_paths, encoding=encoding, strict=strict, tell=note_printer())
        return curve_of_labelled(plan.with_learned_settings(examples).parts, examples, **settings)
    if parts.decides.between == "labels":
        raise UserError("D463", task=parts.task.name)
    paths = text or sources.get("text")
    if not paths:
        raise nothing_named()
    texts = read_texts(paths, lines=sources.get("lines", False) if lines is None else lines)
    return curve_of_texts(parts, texts, **read_error_corpus(*error_files), **settings)


def curve_lines(result: dict[str, Any]) -> list[str]:
    """Return the curve as lines of text."""
    part = "one document in five, others in each draw" if result["source"] == "labelled" else "the test part"
    measure = result.get("measure")
    width = 0 if measure is None else max(len(measure["name"]), 8)

    def cell(value: float | None) -> str:
        """Return the cell of the measure; "" if only accuracies are shown."""
        return "" if measure is None else f"  {format_value(value, measure):>{width}}"

    heading = "" if measure is None else f"  {measure['name']:>{width}}"
    lines = [
        f"{result['task']}: tested on {pluralize(result['tested'], 'example')} ({part})",
        f"examples  accuracy  spread{heading}  p before  p baseline",
    ]
    reason = "all examples have the same label" if result["one_label"] else "too few examples to learn from"
    for point in result["points"]:
        spread = "" if point["spread"] is None else f"{100 * point['spread']:.1f}"
        value = cell(point["measure"]["value"] if measure else None)
        times = pluralize(point["draws"], "draw")
        between = f", {point['lowest']:.1%} to {point['highest']:.1%}" if point["draws"] > 1 else ""
        values = (point["p_before"], point["p_baseline"])
        tests = "  ".join(f"{'' if p is None else format_p(p):>8}" for p in values)
        notes = "".join(f"; {note}" for note in _notes(point, reason))
        figures = f"{point['size']:8,}  {point['accuracy']:8.1%}  {spread:>6}{value}  {tests}"
        lines.append(f"{figures}  {times}{between}{notes}")
    low, high = result["baseline_interval"]
    which = f"{result['baseline_is']} ({low:.1%} to {high:.1%})"
    for system, note in (("baseline", which), ("majority", "")):
        value = cell(measure[system] if measure else None)
        lines.append(f"{system}  {result[system]:8.1%}{'':8}{value}   {note}".rstrip())
    return lines


def _notes(point: dict[str, Any], reason: str) -> Iterator[str]:
    """Yield notes about a size: that it was cut, or that no model was learned, for a reason."""
    if point["asked"]:
        yield f"cut from {', '.join(f'{size:,}' for size in point['asked'])}: there are no more examples"
    share = 1 - point["learned"] / point["groups"]
    if share == 1:
        yield f"repeats the baseline: {reason}"
    elif share > 0:
        cases = "draws" if point["groups"] == 1 else "groups and draws"
        yield f"repeats the baseline in {share:.0%} of {cases}: {reason}"
