"""The protocol of experiments, and their results as JSON, text, Markdown and plots.

Run as a module, it inserts results into a Markdown document, so that no figure is typed by hand:

    python -m disambig.experiments.results REPLICATION.md DIRECTORY

DIRECTORY holds the output of ``disambig reproduce NAME --json DIRECTORY/NAME.json --plots DIRECTORY``. The
text between ``<!-- result: NAME -->`` and ``<!-- end -->`` is replaced. Matplotlib, an extra, is only
imported for plots.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from io import BytesIO
from itertools import cycle
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from disambig.errors import UserError, check_call, contract_error, describe_value
from disambig.evaluation import plot_settings
from disambig.experiments.data import text_lines
from disambig.files import parse_json, save_file
from disambig.registry import describe_component
from disambig.type_aliases import Progress


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One figure of a result.

    Attributes
    ----------
    system : str
    setting : str
        What else is varied, such as the number of training examples; a number is a place on the axis of a
        learning curve. Empty for a system that does not depend on it: a horizontal line in a plot.
    paper, ours : float, optional
        The published figure and our figure, both in %; None if there is none.
    n : int
        Number of test examples behind `ours`.
    spread : float, optional
        Standard deviation of `ours` over draws.
    """

    system: str
    setting: str
    paper: float | None
    ours: float | None
    n: int
    spread: float | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, whether it holds here, and the figures that show it."""

    claim: str
    holds: bool
    evidence: str


@dataclass(frozen=True, slots=True)
class Panel:
    """A plot for an experiment whose figures do not form a learning curve.

    Attributes
    ----------
    title, x, y : str
        Title, and labels of the axes.
    lines, points : mapping of str to sequence of (float, float)
        Places joined by a line, or drawn as marks only; each series under its name in the legend.
    logarithmic : bool
        Whether the x axis is logarithmic; for positive sizes.
    """

    title: str
    x: str
    y: str
    lines: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    points: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    logarithmic: bool = False


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """The result of an experiment.

    Attributes
    ----------
    rows : sequence of ResultRow
        Rows of one system are adjacent; they are shown in this order.
    claims : sequence of Claim
    notes : sequence of str
        Sentences that a reader of the figures must know.
    details : mapping
        More figures, plain values only: they are in the JSON form but not shown.
    panels : sequence of Panel
        The plots; without panels, a learning curve if `rows` have one.
    places : int
        Number of decimals of figures, 1 or 2.
    """

    rows: Sequence[ResultRow]
    claims: Sequence[Claim] = ()
    notes: Sequence[str] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    panels: Sequence[Panel] = ()
    places: int = 1


@runtime_checkable
class Experiment(Protocol):
    """An experiment that can be repeated with one command."""

    @property
    def title(self) -> str:
        """The heading."""
        ...

    @property
    def description(self) -> str:
        """One line for the list of experiments."""
        ...

    @property
    def needs(self) -> Sequence[str]:
        """Patterns of files in the data directory; each must match a file (``english/*.train.txt.xz``)."""
        ...

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Run the experiment.

        Parameters
        ----------
        data : path
            The data directory; it is never written to.
        quick : bool
            Run a small version of one or two minutes: the same systems, fewer examples and draws.
        progress : callable
            Called with a stage, the steps done and the total number of steps.
        """
        ...


_MAX_SETTINGS = 10
"""Maximum number of settings side by side."""


def as_json(name: str, result: ExperimentResult) -> dict[str, Any]:
    """Return plain values: ``experiment``, ``rows``, ``claims``, ``notes``, ``details``, maybe ``panels``."""
    rows, claims = [asdict(row) for row in result.rows], [asdict(claim) for claim in result.claims]
    for row in rows:
        row |= {key: round(row[key], 2) for key in ("ours", "spread") if row[key] is not None}
    for claim in claims:
        claim["holds"] = bool(claim["holds"])  # it may be a NumPy boolean
    document: dict[str, Any] = {"experiment": name, "rows": rows, "claims": claims}
    document |= {"notes": list(result.notes), "details": dict(result.details)}
    if result.places != 1:
        document["places"] = result.places
    if result.panels:
        document["panels"] = [_panel_as_json(panel) for panel in result.panels]
    return document


def from_json(document: dict[str, Any]) -> ExperimentResult:
    """Return the result from the document of `as_json`."""
    return ExperimentResult(
        tuple(ResultRow(**row) for row in document["rows"]),
        tuple(Claim(**claim) for claim in document["claims"]),
        tuple(document.get("notes", ())),
        document.get("details", {}),
        tuple(Panel(**panel) for panel in document.get("panels", ())),
        document.get("places", 1),
    )


def result_lines(title: str, result: ExperimentResult) -> list[str]:
    """Return lines for a terminal: one line per system, one column per setting, ``paper / ours ± spread``."""
    lines = [title, ""]
    cells = table(result.rows, result.places)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines += [
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
        for row in cells
    ]
    if result.claims:
        lines += ["", "claims"]
    for claim in result.claims:
        lines += [f"  {'holds   ' if claim.holds else 'DOES NOT'}  {claim.claim}", f"{'':12}{claim.evidence}"]
    if result.notes:
        lines += ["", *(f"* {note}" for note in result.notes)]
    return lines


def markdown(result: ExperimentResult) -> list[str]:
    """Return rows, claims and notes as Markdown."""
    head, *body = table(result.rows, result.places)
    lines = [*map(_markdown_row, [head, ["---"] + ["---:"] * (len(head) - 1), *body])]
    if result.claims:
        lines += ["", _markdown_row(["claim", "holds", "evidence"]), _markdown_row(["---"] * 3)]
        lines += [_markdown_row([c.claim, "yes" if c.holds else "**no**", c.evidence]) for c in result.claims]
    return [*lines, "", *(f"* {note}" for note in result.notes)] if result.notes else lines


def table(rows: Sequence[ResultRow], places: int = 1) -> list[list[str]]:
    """Return the rows as cells: one line per system, one column per setting, in order of first appearance.

    With many settings, there is one line per setting and one column per system. If no figure was published,
    the cells hold ours only.
    """
    systems = list(dict.fromkeys(row.system for row in rows))
    settings = list(dict.fromkeys(row.setting for row in rows if row.setting))
    settings = ([""] if any(not row.setting for row in rows) else []) + settings
    published = any(row.paper is not None for row in rows)
    cells = {(row.system, row.setting): _cell(row, published, places) for row in rows}
    labels = [f"{int(setting):,}" if setting.isdigit() else setting or "-" for setting in settings]
    columns = [[cells.get((system, setting), "") for setting in settings] for system in systems]
    if len(settings) > _MAX_SETTINGS:
        return [["", *systems], *([label, *row] for label, *row in zip(labels, *columns, strict=True))]
    return [["system", *labels], *([system, *row] for system, row in zip(systems, columns, strict=True))]


def _panel_as_json(panel: Panel) -> dict[str, Any]:
    document: dict[str, Any] = {"title": panel.title, "x": panel.x, "y": panel.y}
    for kind, series in (("lines", panel.lines), ("points", panel.points)):
        document[kind] = {name: [[round(x, 2), round(y, 2)] for x, y in s] for name, s in series.items()}
    if panel.logarithmic:
        document["logarithmic"] = True
    return document


def _cell(row: ResultRow, published: bool, places: int) -> str:
    # rounded as in the JSON from which documents are made, so that both show the same figure
    ours = "n/a" if row.ours is None else f"{round(row.ours, 2):.{places}f}"
    if row.spread is not None:
        ours += f" ± {row.spread:.{places}f}"
    if not published:
        return ours
    return f"{'-' if row.paper is None else f'{row.paper:.{places}f}'} / {ours}"


def _markdown_row(row: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


def check_experiment(experiment: Any) -> None:
    """Raise D414 unless an experiment has a title, a description, needs and a method `run`."""
    component = describe_component("experiments", experiment)
    for name in ("title", "description"):
        if not isinstance(value := getattr(experiment, name, None), str):
            raise contract_error(component, f"{name} is {describe_value(value)}", "a text")
    needs = getattr(experiment, "needs", None)
    if not isinstance(needs, tuple | list) or not all(isinstance(pattern, str) for pattern in needs):
        wanted = 'a tuple of patterns of files, such as ("english/*.txt",)'
        raise contract_error(component, f"needs is {needs!r}", wanted)
    wanted = "run(*, data, quick, progress) -> ExperimentResult"
    check_call(component, experiment, "run", wanted, data=None, quick=None, progress=None)


def check_result(experiment: object, result: Any) -> None:
    """Raise D414 unless the result of an experiment has rows of figures, and claims."""
    component = describe_component("experiments", experiment)
    if not isinstance(result, ExperimentResult):
        raise contract_error(component, f"run returned {describe_value(result)}", "an ExperimentResult")
    for name, kind in (("rows", ResultRow), ("claims", Claim)):
        entries: Any = getattr(result, name)
        is_list = isinstance(entries, tuple | list)
        strange = [entry for entry in entries if not isinstance(entry, kind)] if is_list else [entries]
        if strange:
            seen = f"{name} of its result {'has' if is_list else 'is'} {describe_value(strange[0])}"
            raise contract_error(component, seen, f"a list of {kind.__name__}")
    for row in result.rows:
        for name in ("paper", "ours", "spread"):
            figure: Any = getattr(row, name)
            if figure is not None and not isinstance(figure, int | float | np.number):
                seen = f"{name} of the row {row.system!r} is {describe_value(figure)}"
                raise contract_error(component, seen, "a number in %, or None")


_PLACE = re.compile(r"(<!-- result: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def fill(document: str, directory: Path, *, seen_from: Path) -> str:
    """Return `document` with each result inserted at its marker.

    Raises D726 for a ``NAME.json`` that does not hold a result; those of `text_lines` if it cannot be read.

    `directory`: directory of ``NAME.json`` and, if there is a plot, ``NAME.svg``; markers without a file are
    left alone.
    `seen_from`: directory of the document; paths of plots are relative to it.
    """

    def replacement(match: re.Match[str]) -> str:
        name = match[2]
        path = directory / f"{name}.json"
        if not path.is_file():
            return match[0]
        result = read_result(path)
        lines = markdown(result)
        plot = directory / f"{name}.svg"
        if plot.is_file():
            relative = Path(os.path.relpath(plot, seen_from)).as_posix()
            lines += ["", f"![{'figure' if result.panels else 'learning curves'}]({relative})"]
        return match[1] + "\n" + "\n".join(lines) + "\n\n" + match[3]

    return _PLACE.sub(replacement, document)


def read_result(path: Path) -> ExperimentResult:
    """Read a file written by ``disambig reproduce --json``; D726 if it is not one."""
    try:
        return from_json(parse_json(_text(path)))
    except (KeyError, TypeError, AttributeError, ValueError) as problem:
        raise UserError("D726", path=path, problem=f"{type(problem).__name__}: {problem}") from problem


def main(arguments: Sequence[str]) -> int:
    """Insert results into a document; return 0, or 2 after writing one line that describes the error."""
    try:
        if len(arguments) != 2:
            raise UserError("D727", seen=len(arguments))
        target, results = map(Path, arguments)
        if not results.is_dir():
            raise UserError("D300", path=results)
        document = _text(target)
        if not any((results / f"{place[2]}.json").is_file() for place in _PLACE.finditer(document)):
            raise UserError("D728", path=target, results=results)
        text = fill(document, results, seen_from=target.parent)
        with save_file(target) as write:
            write(text.encode())
    except UserError as problem:
        sys.stderr.write(f"{problem}\n")
        return 2
    return 0


def _text(path: Path) -> str:
    return "".join(f"{line}\n" for line in text_lines(path))


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
        # -(-a // b) is a / b, rounded up
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
    """Draw each panel into its place of a grid."""
    one_legend = len(panels) > 1 and len({(*panel.lines, *panel.points) for panel in panels}) == 1
    for number, panel in enumerate(panels, start=1):
        axes = figure.add_subplot(n_rows, n_columns, number)
        for name, series in panel.lines.items():
            axes.plot(*zip(*series, strict=True), marker="." if panel.logarithmic else "", label=name)
        for mark, (name, series) in enumerate(panel.points.items()):
            marker = _MARKS[mark % len(_MARKS)]
            axes.plot(*zip(*series, strict=True), marker, markersize=4, label=name, alpha=0.8)
        if axes.get_ylim()[0] < 0 < axes.get_ylim()[1]:
            axes.axhline(0.0, color="#555555", linewidth=0.8)
        if panel.logarithmic:
            from matplotlib.ticker import LogLocator, NullLocator

            axes.set_xscale("log")
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.xaxis.set_minor_locator(NullLocator())
            axes.xaxis.set_major_formatter("{x:,g}")
        axes.set_title(panel.title)
        axes.set_xlabel(panel.x)
        axes.set_ylabel(panel.y)
        axes.grid(alpha=0.3)
        if not one_legend:
            axes.legend(loc="best", fontsize="small")
    if one_legend:  # one legend for all panels, outside of them
        handles, names = axes.get_legend_handles_labels()
        n_rows = -(-len(names) // 5)  # at most five columns, so many that the rows are equally long
        columns = -(-len(names) // n_rows)
        figure.legend(handles, names, loc="outside lower center", ncols=columns, fontsize="small")


def _draw_curves(axes: Any, result: ExperimentResult) -> None:
    """Draw the figures of each system by setting, with error bars; rows without a setting as lines."""
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
    for row, dashes in zip(lines, cycle(["--", ":", "-."]), strict=False):
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


@dataclass(frozen=True, slots=True)
class PackFigures:
    """The measured figures of a pack, in ``figures.json`` in its folder; the card is written from them.

    `write_card`: called with the folder and all figures.
    """

    folder: Path
    write_card: Callable[[Path, dict[str, Any]], object]
    indent: int | None = 1

    def read(self) -> dict[str, Any]:
        """Return the figures; none before the first run."""
        path = self.folder / "figures.json"
        return dict(json.loads(path.read_text(encoding="utf8"))) if path.is_file() else {}

    def add(self, figures: Mapping[str, Any]) -> None:
        """Add figures to those of other runs, and write the card."""
        figures = {**self.read(), **figures}
        separators = (",", ":") if self.indent is None else None
        text = json.dumps(figures, indent=self.indent, separators=separators)
        (self.folder / "figures.json").write_text(f"{text}\n", encoding="utf8")
        self.write_card(self.folder, figures)


def card_sections(template: Path) -> dict[str, str]:
    """Return the sections of the template of a card by name; each begins after a line ``<!-- NAME -->``."""
    _, *parts = re.split(r"^<!-- (\w+) -->\n", template.read_text(encoding="utf8"), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def log_progress(stage: str, done: int = 0, total: int = 1) -> None:
    """Write the time, a stage and the step that begins to standard error: about 20 lines per stage."""
    if done % max(total // 20, 1) == 0 or done + 1 == total:
        steps = f" {done + 1:,}/{total:,}" if total > 1 else ""
        sys.stderr.write(f"  {time.strftime('%H:%M:%S')} {stage}{steps}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
