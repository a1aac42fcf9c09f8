"""Plots of evaluations, as files; matplotlib is an extra and imported when a plot is made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from disambig.errors import UserError

ENDINGS = (".svg", ".png", ".pdf")


def check_plot(path: str | Path) -> None:
    """Refuse a plot that cannot be made (D482, D483), before the long work."""
    if Path(path).suffix.lower() not in ENDINGS:
        raise UserError("D483", path=path, endings=", ".join(ENDINGS))
    try:
        import matplotlib  # noqa: F401
    except ImportError as problem:
        raise UserError("D482") from problem


def plot_curve(curve: dict[str, Any], path: str | Path) -> None:
    """Draw a learning curve: mean and spread over draws, baseline and majority as lines.

    Parameters
    ----------
    curve : dict
        As `disambig.evaluation.curve` returns it.
    path : path
        Its ending says the form.

    Raises
    ------
    UserError
        D309 where it cannot be written, D482 without matplotlib, D483 for another ending.
    """
    check_plot(path)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    points = curve["points"]
    sizes = [point["size"] for point in points]
    means = [100 * point["accuracy"] for point in points]
    spreads = [100 * (point["spread"] or 0.0) for point in points]
    with rc_context({"svg.hashsalt": "disambig", "svg.fonttype": "none"}):
        figure = Figure(figsize=(7, 4.5), layout="constrained")
        axes = figure.add_subplot()
        axes.errorbar(sizes, means, yerr=spreads, marker="o", capsize=3, color="#1f5fa8", label="model")
        axes.axhline(100 * curve["baseline"], color="#b45309", linestyle="--", label="unsupervised baseline")
        axes.axhline(100 * curve["majority"], color="#666666", linestyle=":", label="most frequent candidate")
        axes.set_xscale("log")
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=45, minor=False)
        axes.set_xticks([], minor=True)
        axes.set_xlabel("examples of a group to learn from")
        axes.set_ylabel("accuracy, % (bars: standard deviation over draws)")
        axes.set_title(curve["task"])
        axes.grid(alpha=0.3)
        axes.legend(loc="best")
        try:
            dated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
            figure.savefig(str(path), dpi=150, metadata=dated.get(Path(path).suffix.lower()))
        except OSError as problem:
            raise UserError("D309", path=path, problem=problem.strerror or problem) from problem
