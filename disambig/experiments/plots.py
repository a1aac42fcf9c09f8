"""Learning curves of an experiment as an SVG file; matplotlib, an extra, is imported for a plot alone."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from disambig.corpora.saving import saved
from disambig.experiments.protocol import Result, Row


def has_curve(result: Result) -> bool:
    """Return whether some system was tried with two sizes or more."""
    return any(len(points) > 1 for points in _curves(result).values())


def plot_result(title: str, result: Result, path: Path) -> None:
    """Draw ours against the number of training examples, as SVG; systems without a size are lines across.

    Raises
    ------
    UserError
        D309 where it cannot be written.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "disambig", "svg.fonttype": "none"}):
        figure = Figure(figsize=(7, 4.5), layout="constrained")
        axes = figure.add_subplot()
        for number, (system, points) in enumerate(_curves(result).items()):
            axes.errorbar(
                [int(row.setting) for row in points],
                [row.ours or 0.0 for row in points],
                yerr=[row.spread or 0.0 for row in points],
                marker="osD^v<>"[number % 7],
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
        axes.set_title(title)
        axes.grid(alpha=0.3)
        axes.legend(loc="lower right", fontsize="small")
        drawn = BytesIO()
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    with saved(path) as write:
        write(drawn.getvalue())


def _curves(result: Result) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in result.rows:
        if row.setting.isdigit() and row.ours is not None:
            found.setdefault(row.system, []).append(row)
    return found
