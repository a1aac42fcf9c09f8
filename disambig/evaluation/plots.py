"""Plots of evaluations as files; Matplotlib is an optional dependency, imported when a plot is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import nan
from pathlib import Path
from typing import Any

from disambig.errors import UserError
from disambig.files import writing

ENDINGS = (".svg", ".png", ".pdf")


def check_plot(path: str | Path) -> None:
    """Raise D482 or D483 if a plot cannot be made, before any long computation."""
    if Path(path).suffix.lower() not in ENDINGS:
        raise UserError("D483", path=path, endings=", ".join(ENDINGS))
    try:
        import matplotlib  # noqa: F401
    except ImportError as problem:
        raise UserError("D482") from problem


def plot_curve(curve: dict[str, Any], path: str | Path) -> None:
    """Draw a learning curve: mean and spread over draws, baseline and majority as lines.

    Raises D309 if it cannot be written, D482 without Matplotlib, D483 for an unknown suffix.

    `curve`: as returned by `disambig.evaluation.curve`; its measure is drawn, or else the accuracy.
    `path`: its suffix determines the format.
    """
    check_plot(path)
    points, measure = curve["points"], curve.get("measure", {"name": "accuracy", "unit": "share"})
    name, is_share = measure["name"], measure["unit"].startswith("share")
    factor = 100 if is_share else 1
    sizes = [point["size"] for point in points]
    shown = [
        point.get("measure", {"value": point["accuracy"], "spread": point["spread"]}) for point in points
    ]
    means = [_scaled(value["value"], factor) for value in shown]
    spreads = [factor * (value["spread"] or 0.0) for value in shown]
    baseline, majority = (
        _scaled(measure.get(system, curve[system]), factor) for system in ("baseline", "majority")
    )
    with _axes(path, (7, 4.5)) as axes:
        axes.errorbar(sizes, means, yerr=spreads, marker="o", capsize=3, color="#1f5fa8", label="model")
        label = f"{curve['baseline_is']} baseline"
        axes.axhline(baseline, color="#b45309", linestyle="--", label=label)
        axes.axhline(majority, color="#666666", linestyle=":", label="most frequent candidate")
        axes.set_xscale("log")
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=45, minor=False)
        axes.set_xticks([], minor=True)
        axes.set_xlabel("training examples per group")
        axes.set_ylabel(f"{name}{', %' if is_share else ''} (bars: standard deviation over draws)")
        axes.set_title(f"{curve['task']}: {name} by number of training examples")
        axes.legend(loc="best")


def _scaled(value: float | None, factor: float) -> float:
    """Return a value times a factor; NaN, which is not drawn, if it is not defined."""
    return nan if value is None else factor * value


def plot_reliability(reliability: dict[str, Any], path: str | Path, *, title: str) -> None:
    """Draw the share of correct decisions against their predicted probability.

    `reliability`: as returned by `disambig.metrics.outcomes.reliability`.
    `path`: its suffix determines the format; errors are those of `plot_curve`.
    `title`: what decides; the title of the plot says what is measured of it.
    """
    check_plot(path)
    with _axes(path, (5.5, 5)) as axes:
        axes.plot((0, 100), (0, 100), color="#666666", linestyle=":", label="perfect calibration")
        bins = reliability["bins"]
        largest = max((bin_["n"] for bin_ in bins), default=1)
        axes.bar(
            [50 * (bin_["low"] + bin_["high"]) for bin_ in bins],
            [20 * bin_["n"] / largest for bin_ in bins],
            width=9,
            color="#cfd8e6",
            label="share of decisions (not to scale)",
        )
        predicted, observed = ([100 * bin_[key] for bin_ in bins] for key in ("predicted", "observed"))
        axes.plot(predicted, observed, marker="o", color="#1f5fa8", label="model")
        axes.set_xlabel("probability of the chosen candidate, %")
        axes.set_ylabel("correct, %")
        axes.set_title(f"{title}: how often a decision is right, by its probability", wrap=True)
        axes.legend(loc="upper left")


def plot_rates(points: Sequence[dict[str, Any]], path: str | Path, *, title: str) -> None:
    """Draw the share of corrected mistakes against false flags in clean text, with a mark for each rate.

    `points`: as returned by `disambig.checking.model_checker.sweep_rates`; without clean text the configured
    rate is used in place of the measured false flags.
    `path`: its suffix determines the format; errors are those of `plot_curve`.
    `title`: what decides; the title of the plot says what is measured of it.
    """
    check_plot(path)
    measured = all(point["clean"] is not None for point in points)
    flags = [point["clean"]["per_1000"] if measured else point["rate"] for point in points]
    right = [100 * point["all"]["right"] for point in points]
    spread = [point["all"]["right_interval"] for point in points]
    with _axes(path, (7, 4.5)) as axes:
        axes.plot(flags, right, marker="o", color="#1f5fa8")
        if all(spread):
            low, high = ([100 * bounds[side] for bounds in spread] for side in (0, 1))
            axes.fill_between(flags, low, high, color="#cfd8e6", label="95 % over projects")
            axes.legend(loc="lower right")
        for point, x, y in zip(points, flags, right, strict=True):
            axes.annotate(f"{point['rate']:g}", (x, y), textcoords="offset points", xytext=(4, -12))
        what = "false flags" if measured else "configured flags"
        axes.set_xlabel(f"{what} per 1,000 clean words (labels: the configured rate)")
        axes.set_ylabel("mistakes rightly corrected, %")
        axes.set_title(f"{title}: mistakes corrected, by rate of {what}", wrap=True)


@contextmanager
def plot_settings(**further: Any) -> Iterator[None]:
    """Draw with Matplotlib's default settings, so that a plot is the same everywhere.

    Otherwise Matplotlib would read a ``matplotlibrc`` in the current directory, which may be written by
    anybody and can make it run LaTeX.
    """
    from matplotlib import rc_context, rcdefaults, rcParams

    with rc_context():
        rcdefaults()
        rcParams.update({"svg.hashsalt": "disambig", "svg.fonttype": "none", **further})
        yield


@contextmanager
def _axes(path: str | Path, size: tuple[float, float]) -> Iterator[Any]:
    """Yield the axes of a figure, which is written at the end."""
    from matplotlib.figure import Figure

    with plot_settings():
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.add_subplot()
        yield axes
        axes.grid(alpha=0.3)
        # without its creation date, so that the same figure gives the same file
        no_date = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
        with writing(path):
            figure.savefig(str(path), dpi=150, metadata=no_date.get(Path(path).suffix.lower()))
