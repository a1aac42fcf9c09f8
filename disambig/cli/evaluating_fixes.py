"""``disambig evaluate --fixes``: figures on real mistakes, for people or as JSON."""

from __future__ import annotations

import json as json_module
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from disambig.plural import many


def run(
    names: Sequence[str],
    fixes: str,
    *,
    clean: str | None,
    tier: int,
    rates: Sequence[float] | None,
    asked: float | Mapping[str, float] | None,
    plot: Path | None,
    json: bool,
) -> None:
    """Print what a checker finds of the mistakes in a file, or how two checkers differ.

    Parameters
    ----------
    names : sequence of str
        Of each checker, models joined by ``+``; the installed ones where none is named.
    rates : sequence of float, optional
        Points of the curve.
    asked : float or mapping from task to float, optional
        What the figures are at; by default each model's own rate.
    """
    from disambig.cli.checks import check_rate
    from disambig.cli.progress import progress, remark
    from disambig.evaluation.mistakes.checkers import Models
    from disambig.evaluation.mistakes.figures import figures
    from disambig.evaluation.mistakes.rates import RATES, over_rates
    from disambig.evaluation.mistakes.trial import Trial
    from disambig.formats.fixes.reader import read_clean, read_fixes

    for rate in rates or ():
        check_rate(rate, option="--rate")
    checkers = [Models.named(name) for name in names or ("",)]
    limits = [checker.limits(asked) for checker in checkers]
    mistakes = read_fixes(fixes, tier=tier)
    untouched = read_clean(clean) if clean else []
    with progress() as meter:
        meter.show("scoring", 0, None)
        trials = [Trial.of(checker, mistakes, untouched) for checker in checkers]
    if len(checkers) == 2:
        from disambig.evaluation.mistakes.comparison import compare_trials

        pair = (trials[0], trials[1]), (limits[0], limits[1])
        _print(compare_trials(*pair), _readable_pair, json)
        return
    checker, trial = checkers[0], trials[0]
    curve = over_rates(checker, trial, rates or RATES)
    about = {"model": checker.name, "rates": checker.rates(asked), "tier": tier}
    found = {**about, **figures(trial, limits[0]), "curve": curve}
    if plot is not None:
        from disambig.evaluation.plots import plot_rates

        plot_rates(curve, plot, title=checker.name)
        remark(f"{plot}: drawn")
    _print(found, readable, json)


def readable(found: dict[str, Any]) -> list[str]:
    """Return the figures of one checker as lines for people."""
    clean = found["clean"]
    read = f"read {many(found['all']['n'], 'mistake')} of {many(found['projects'], 'project')}"
    if clean is not None:
        read += f", {many(clean['words'], 'clean word')} of {many(clean['projects'], 'project')}"
    rates = ", ".join(f"{task} {rate:g}" for task, rate in found["rates"].items())
    return [
        read,
        f"{found['model']}, set to flags per 1,000 words: {rates}",
        *_table(found),
        *(_of_clean(clean) if clean is not None else ()),
        *_curve(found["curve"]),
    ]


def _readable_pair(found: dict[str, Any]) -> list[str]:
    from disambig.cli.comparing import readable as readable_two

    lines = readable_two(found)
    for letter, system in zip("AB", found["systems"], strict=True):
        lines += [f"{letter}  {system['model']}", *_table(system["figures"])]
        if system["figures"]["clean"] is not None:
            lines += _of_clean(system["figures"]["clean"])
    return lines


def _table(found: dict[str, Any]) -> Iterator[str]:
    """Yield a line for all mistakes, for each class and for each kind of a class that has several."""
    yield f"{'':24}{'n':>7}  {'found':>7}  {'right (95 %)':24}  {'wrong':>6}"
    yield _line("all", found["all"])
    for name, each in found["classes"].items():
        yield _line(name, each)
        for kind, line in each["kinds"].items() if len(each["kinds"]) > 1 else ():
            yield _line(f"  {kind}", line)


def _line(name: str, at: dict[str, Any]) -> str:
    if not at["n"]:
        return f"{name:24}{0:7}"
    right = f"{at['right']:7.1%}{_between(at['right_interval'], '.1%')}"
    return f"{name:24}{at['n']:7,}  {at['found']:7.1%}  {right:24}  {at['wrong']:6.1%}"


def _of_clean(clean: dict[str, Any]) -> Iterator[str]:
    yield f"false flags per 1,000 clean words: {_flags(clean)}, {clean['flags']:,} in all"
    if len(clean["tasks"]) > 1:
        for task, at in clean["tasks"].items():
            yield f"  {task}: {_flags(at)}"


def _flags(at: dict[str, Any]) -> str:
    return "-" if at["per_1000"] is None else f"{at['per_1000']:.2f}{_between(at['interval'], '.2f')}"


def _curve(points: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield f"{'rate set':>8}  {'right (95 %)':24}  {'wrong':>6}  false flags per 1,000"
    for point in points:
        at, clean = point["all"], point["clean"]
        right = f"{at['right']:7.1%}{_between(at['right_interval'], '.1%')}"
        flags = "-" if clean is None else _flags(clean)
        yield f"{point['rate']:8g}  {right:24}  {at['wrong']:6.1%}  {flags}"


def _between(interval: tuple[float, float] | None, form: str) -> str:
    return "" if interval is None else f" ({interval[0]:{form}} to {interval[1]:{form}})"


def _print(found: dict[str, Any], lines: Any, json: bool) -> None:
    if json:
        typer.echo(json_module.dumps(found, indent=1))
        return
    for line in lines(found):
        typer.echo(line)
