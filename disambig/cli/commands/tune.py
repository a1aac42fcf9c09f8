"""The command ``disambig tune``; the work is done in `disambig.mining`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disambig.cli.options import SETTINGS, Quiet
from disambig.cli.output import StandardOutput, stages
from disambig.files import json_text

if TYPE_CHECKING:
    from disambig.mining import Measurement, TunedProject, TunedSettings

app = typer.Typer(**SETTINGS)
_MAX_SHOWN = 20


@app.command()
def tune(
    repository: Annotated[str, typer.Argument(help="A git repository (a clone).")],
    tier: Annotated[
        int,
        typer.Option(min=1, max=2, help="1: use only corrections that are very likely mistakes; 2: use all."),
    ] = 1,
    untouched: Annotated[
        int,
        typer.Option(min=1, metavar="DAYS", help="Minimum number of days since a clean paragraph changed."),
    ] = 365,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the settings, but do not write them.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Measure the models on the history of a project, and choose rates and what to ignore.

    Rates, and words and corrections to ignore, are chosen on the older half of the history and measured on
    the newer half. They are written to disambig.toml and disambig-ignore.txt in the repository, or nothing is
    written if the history gives no reason to change a setting; everything stays on this machine.
    """
    from disambig.mining import tune_project, tuned_settings

    with stages() as progress:
        project = tune_project(repository, days=untouched, tier=tier, progress=progress)
    settings = tuned_settings(project.top, project.tuning.layer)
    console = StandardOutput()
    if json:
        console.result(json_text(_as_json(project)) + "\n")
    else:
        console.result("".join(f"{line}\n" for line in _lines(project, settings)))
    if dry_run:
        if not json and settings.changes_settings:
            console.result(f"\n# {settings.path}\n{settings.text}")
        return
    settings.write()
    if settings.changed:
        console.remark(f"disambig: written: {', '.join(reversed(settings.changed))}\n")


def _as_json(project: TunedProject) -> dict[str, Any]:
    tuning = project.tuning
    return {
        "head": project.mined.head,
        "divided_at": _date(tuning.divided_at),
        "measured": {name: measurement.as_json() for name, measurement in tuning.measured.items()},
        "gained": tuning.gained,
        "lost": tuning.lost,
        "rates": dict(tuning.layer.rates),
        "own_rates": dict(project.own_rates),
        "ignore": list(tuning.layer.ignore),
        "dropped": list(tuning.dropped),
        "pairs": [
            {"written": old, "meant": new, "n": n, "right": right} for old, new, n, right in tuning.pairs
        ],
        "notes": list(tuning.notes),
    }


def _date(seconds: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(seconds))


def _lines(project: TunedProject, settings: TunedSettings) -> Iterator[str]:
    """Yield the results for a project as text."""
    tuning = project.tuning
    yield f"{project.mined.name}: {project.mined.commits:,} commits, divided at {_date(tuning.divided_at)}"
    yield from (f"note: {note}" for note in tuning.notes)
    yield f"{'':18}{'mistakes':>9}  {'right (95 %)':24}  {'clean words':>11}  false flags per 1,000 (95 %)"
    for name, measurement in tuning.measured.items():
        yield f"{name:18}{_figures(measurement)}"
    yield f"in the newer half, {tuning.gained:,} right corrections gained, {tuning.lost:,} lost"
    if settings.keeps_rates and tuning.layer.rates:
        yield "the settings set rates of their own, which stay: remove them to use the rates chosen here"
    if settings.hides:
        yield f"note: {settings.hides} will no longer apply: copy what you need of it to {settings.path}"
    for task, rate in tuning.layer.rates.items():
        yield f"rate of {task}: {rate:g} flags per 1,000 words (the model's own: {project.own_rates[task]:g})"
    if tuning.layer.ignore:
        yield f"ignored: {_shorten(list(tuning.layer.ignore))}"
    if tuning.dropped:
        yield f"not ignored, since they are right in the newer half: {_shorten(list(tuning.dropped))}"
    if not settings.changed and not tuning.layer.rates:
        yield "nothing to set: the models do as well with their own rates, and no word is to be ignored"
    if tuning.pairs:
        pairs = [f"{old or '-'} -> {new or '-'} {n} ({right} found)" for old, new, n, right in tuning.pairs]
        yield f"mistakes of the writers: {_shorten(pairs)}"


def _figures(measurement: Measurement) -> str:
    figures = measurement.as_json()
    right = false = "-"
    if measurement.mistakes:
        low, high = figures["right_interval"]
        right = f"{measurement.right:,}: {figures['right_share']:.1%} ({low:.1%} to {high:.1%})"
    if measurement.words:
        low, high = figures["false_interval"]
        false = f"{measurement.false_flags:,}: {figures['false_per_1000']:.2f} ({low:.2f} to {high:.2f})"
    return f"{measurement.mistakes:9,}  {right:24}  {measurement.words:11,}  {false}"


def _shorten(entries: list[str]) -> str:
    more = len(entries) - _MAX_SHOWN
    return ", ".join(entries[:_MAX_SHOWN]) + (f", and {more:,} more" if more > 0 else "")
