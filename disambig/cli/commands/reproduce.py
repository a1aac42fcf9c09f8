"""The command ``disambig reproduce``, which repeats a table of a paper."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disambig.cli.commands.data import VARIABLE, data_directory
from disambig.cli.options import SETTINGS, Engine, Quiet, Scheduler, Workers, complete_from
from disambig.cli.output import check_stdout, remark, stages
from disambig.errors import UserError, nearest_first
from disambig.files import TempFiles, is_special, json_text, save_output, writing

if TYPE_CHECKING:
    from disambig.registry import Entry

app = typer.Typer(**SETTINGS)


@app.command()
def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(
            autocompletion=complete_from(lambda: experiments()),
            help="Experiment, such as PAPER.table1. Default: list all experiments.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Directory of the data. Default: $DISAMBIG_DATA, else that of `data get`."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run a small version that takes a minute or two.")
    ] = False,
    json: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the result as JSON to a file; - for standard output."),
    ] = None,
    plots: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Directory for plots of the results.")
    ] = None,
    parts: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Directory for results of finished parts; the same command resumes a stopped run.",
        ),
    ] = None,
    workers: Workers = 1,
    engine: Engine = "local",
    scheduler: Scheduler = None,
    quiet: Quiet = False,
) -> None:
    """Reproduce a table of a paper and compare the figures."""
    by_name = experiments()
    if name is None:
        for experiment_name, entry in by_name.items():
            typer.echo(f"{experiment_name}  {_description(entry)}")
        return
    if name not in by_name:
        raise UserError("D720", name=name, names=nearest_first(name, by_name))
    from disambig.experiments import check_experiment, check_result

    experiment = by_name[name].load()()
    check_experiment(experiment)
    place = _checked_data(name, experiment, data)
    _check_outputs(name, json, plots)  # before an experiment that may take hours
    from disambig.experiments import as_json, result_lines

    run = experiment.run
    has_workers = workers > 1 or engine != "local" or scheduler is not None
    if parts is not None or has_workers:
        options = (engine, workers, scheduler) if has_workers else None
        run = _parts_runner(by_name[name].name, experiment, options, parts, data=place, quick=quick)
    with stages() as progress:
        result = run(data=place, quick=quick, progress=progress)
    check_result(experiment, result)
    if quick:
        from dataclasses import replace

        note = "a quick run: fewer examples, draws and sizes than the full one, too few to judge the claims"
        result = replace(result, notes=[*result.notes, note])
    if json == "-":
        typer.echo(json_text(as_json(name, result), ensure_ascii=False))
    else:
        for line in result_lines(experiment.title, result):
            typer.echo(line)
        if json is not None:
            _write_json(json, as_json(name, result))
    if plots is not None:
        _plot(name, experiment.title, result, plots)


def _write_json(path: str, result: dict[str, Any]) -> None:
    with save_output(Path(path)) as write:
        write((json_text(result, ensure_ascii=False) + "\n").encode())
    remark(f"{path}: written")


def experiments() -> dict[str, Entry]:
    """Return the newest version of every experiment by its name without the version."""
    from disambig.registry import entries

    newest: dict[str, tuple[int, Entry]] = {}
    for registered_name, entry in entries("experiments").items():
        name, _, version = registered_name.rpartition(".v")
        if name not in newest or int(version) > newest[name][0]:
            newest[name] = int(version), entry
    return {name: entry for name, (_, entry) in sorted(newest.items())}


def _parts_runner(
    name: str,
    experiment: Any,
    workers: tuple[str, int, str | None] | None,
    directory: Path | None,
    *,
    data: Path,
    quick: bool,
) -> Callable[..., Any]:
    """Return a function that runs an experiment in parts.

    `workers`: engine, number of workers, scheduler; None for this process.
    `directory`: directory for the results of parts.
    """
    from disambig.jobs import (
        EngineOptions,
        HasParts,
        SavedParts,
        make_runner,
        run_parts,
        run_parts_on_workers,
    )

    if not isinstance(experiment, HasParts):
        raise UserError("D930", name=name.rpartition(".v")[0])
    saved = None
    if directory is not None:
        saved = SavedParts.open(directory, name, experiment, data=data, quick=quick)
    if workers is None:
        return partial(run_parts, experiment, saved=saved)
    engine, count, scheduler = workers
    runner = make_runner(engine, EngineOptions(count, scheduler))
    return partial(run_parts_on_workers, name, experiment, runner, saved=saved)


def _description(entry: Entry) -> str:
    try:
        return str(entry.load()().description)
    except UserError as problem:
        return f"BROKEN: {problem}"


def _checked_data(name: str, experiment: Any, option: Path | None) -> Path:
    """Return the data directory after checking that it contains the files that the experiment needs."""
    from disambig.experiments import data_advice

    place = data_directory(option)
    is_named = option is not None or bool(os.environ.get(VARIABLE))
    if is_named and not place.is_dir():
        raise UserError("D724", path=place, variable=VARIABLE)
    missing = [pattern for pattern in experiment.needs if not any(place.glob(pattern))]
    if missing:
        advice = data_advice(missing)
        advice = f"{advice}; or " if advice else ""
        if not is_named:
            raise UserError("D723", experiment=name, advice=advice, variable=VARIABLE)
        raise UserError(
            "D721", experiment=name, pattern=missing[0], path=place, advice=advice, variable=VARIABLE
        )
    return place


def _check_outputs(name: str, json: str | None, plots: Path | None) -> None:
    """Check before the long run that its outputs can be written."""
    check_stdout()
    if json is not None and json != "-":
        _check_target(Path(json))
    if plots is not None:
        from disambig.evaluation import check_plot

        check_plot("curve.svg")
        with writing(plots):
            plots.mkdir(parents=True, exist_ok=True)
        _check_target(_plot_path(name, plots))


def _check_target(path: Path) -> None:
    """Raise an error if the file cannot be written or replaced, without changing its contents."""
    with writing(path):
        if is_special(path):
            return
        if path.exists():
            path.open("a").close()
        probe = TempFiles.for_target(path.resolve()).new()
        probe.touch()
        probe.unlink()


def _plot(name: str, title: str, result: Any, directory: Path) -> None:
    from disambig.experiments import has_plot, plot_result

    if not has_plot(result):
        remark(f"{name}: there is nothing to draw")
        return
    path = _plot_path(name, directory)
    plot_result(title, result, path)
    remark(f"{path}: drawn")


def _plot_path(name: str, directory: Path) -> Path:
    return directory / f"{name}.svg"
