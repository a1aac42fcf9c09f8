"""Draw the result of an experiment as an SVG file; matplotlib, an extra, is imported only for that."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from disambig.evaluation import plot_settings
from disambig.experiments.results import ExperimentResult, Panel, ResultRow
from disambig.files import save_file

_MARKS = "osD^v<>XPp"
_MAX_COLUMNS = 3
"""Maximum number of panels side by side."""


def has_plot(result: ExperimentResult) -> bool:
    """Return True if the result has panels, or if a system was tried with two or more sizes."""
    return bool(result.panels) or any(len(points) > 1 for points in _curves(result).values())


def plot_result(title: str, result: ExperimentResult, path: Path) -> None:
    """Draw the panels, or our figures against the number of training examples, as SVG.

    In a learning curve, systems without a size are drawn as horizontal lines.

    Raises D309 if the file cannot be written.
    """
    from matplotlib.figure import Figure

    # one font only: an SVG repeats the entire list of fonts with every word
    one_font = {"font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"]}
    with plot_settings(**one_font):
        n_rows = -(-len(result.panels) // _MAX_COLUMNS) or 1
        n_columns = -(-len(result.panels) // n_rows) or 1
        sizes = {1: (7.0, 4.5), 2: (9.6, 3.8 * n_rows)}
        size = sizes.get(n_columns, (4.0 * n_columns, 3.5 * n_rows))
        figure = Figure(figsize=size, layout="constrained")
        figure.suptitle(title)
        if result.panels:
            _draw_panels(figure, result.panels, n_rows, n_columns)
        else:
            _draw_curves(figure.add_subplot(), result)
        buffer = BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    with save_file(path) as write:
        write(buffer.getvalue())


def _draw_panels(figure: Any, panels: Sequence[Panel], n_rows: int, n_columns: int) -> None:
    one_legend = len(panels) > 1 and len({(*panel.lines, *panel.points) for panel in panels}) == 1
    for number, panel in enumerate(panels, start=1):
        axes = figure.add_subplot(n_rows, n_columns, number)
        for name, series in panel.lines.items():
            axes.plot(*zip(*series, strict=True), marker="." if panel.logarithmic else "", label=name)
        for mark, (name, series) in enumerate(panel.points.items()):
            axes.plot(
                *zip(*series, strict=True), _MARKS[mark % len(_MARKS)], markersize=4, label=name, alpha=0.8
            )
        if axes.get_ylim()[0] < 0 < axes.get_ylim()[1]:
            axes.axhline(0.0, color="#555555", linewidth=0.8)
        if panel.logarithmic:
            _set_logarithmic(axes)
        axes.set_title(panel.title)
        axes.set_xlabel(panel.x)
        axes.set_ylabel(panel.y)
        axes.grid(alpha=0.3)
        if not one_legend:
            axes.legend(loc="best", fontsize="small")
    if one_legend:  # one legend for all panels, outside of them
        handles, names = axes.get_legend_handles_labels()
        figure.legend(
            handles, names, loc="outside lower center", ncols=_columns(len(names)), fontsize="small"
        )


def _columns(names: int) -> int:
    """Return the number of columns for the names, at most five, so that the rows are equally long."""
    rows = -(-names // 5)
    return -(-names // rows)


def _set_logarithmic(axes: Any) -> None:
    """Use a logarithmic x axis with round numbers as ticks."""
    from matplotlib.ticker import LogLocator, NullLocator

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter("{x:,g}")


def _draw_curves(axes: Any, result: ExperimentResult) -> None:
    for number, (system, points) in enumerate(_curves(result).items()):
        axes.errorbar(
            [int(row.setting) for row in points],
            [row.ours or 0.0 for row in points],
            yerr=[row.spread or 0.0 for row in points],
            marker=_MARKS[number % len(_MARKS)],
            markersize=4,
            capsize=2,
            label=system,
        )
    lines = [row for row in result.rows if not row.setting and row.ours is not None]
    for row, dashes in zip(lines, ["--", ":", "-."] * len(lines), strict=False):
        axes.axhline(row.ours or 0.0, color="#555555", linestyle=dashes, label=row.system)
    sizes = sorted({int(row.setting) for points in _curves(result).values() for row in points})
    axes.set_xscale("log")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes], minor=False)
    axes.set_xticks([], minor=True)
    axes.set_xlabel("training examples")
    axes.set_ylabel("accuracy, % (bars: standard deviation over draws)")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right", fontsize="small")


def _curves(result: ExperimentResult) -> dict[str, list[ResultRow]]:
    curves: dict[str, list[ResultRow]] = {}
    for row in result.rows:
        if row.setting.isdigit() and row.ours is not None:
            curves.setdefault(row.system, []).append(row)
    return curves
