"""What an experiment is, and its result as JSON, text and Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One figure.

    Attributes
    ----------
    system : str
    setting : str
        What else is varied, such as the number of training examples; digits alone are a place on the
        axis of a learning curve. Empty for a system on which it has no bearing: a line in a plot.
    paper, ours : float, optional
        The published figure and the one found, both in %; None where there is none.
    n : int
        Test examples behind `ours`.
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
    """A statement, whether it holds here, and the figures that say so."""

    claim: str
    holds: bool
    evidence: str


@dataclass(frozen=True, slots=True)
class Panel:
    """A plot of an experiment whose figures are no learning curve.

    Attributes
    ----------
    title, x, y : str
        What stands above it and along its axes.
    lines, points : mapping of str to sequence of (float, float)
        Places that a line joins, or marks alone, each under the name of what they show.
    logarithmic : bool
        Whether the axis of x is; for sizes, all above zero.
    """

    title: str
    x: str
    y: str
    lines: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    points: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    logarithmic: bool = False


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """What an experiment found.

    Attributes
    ----------
    rows : sequence of Row
        Those of one system together, in the order to be shown.
    claims : sequence of Claim
    notes : sequence of str
        Sentences a reader of the figures must know.
    details : mapping
        More figures, plain values only: they go to the JSON form and are not shown.
    panels : sequence of Panel
        What is drawn; without any, a learning curve where `rows` have one.
    places : int
        Behind the decimal point of figures, 1 or 2.
    """

    rows: Sequence[ResultRow]
    claims: Sequence[Claim] = ()
    notes: Sequence[str] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    panels: Sequence[Panel] = ()
    places: int = 1


@runtime_checkable
class Experiment(Protocol):
    """Something that can be repeated with one command."""

    @property
    def title(self) -> str:
        """What the heading says."""
        ...

    @property
    def description(self) -> str:
        """One line for the list of experiments."""
        ...

    @property
    def needs(self) -> Sequence[str]:
        """Patterns of files in the data directory, each of which must match (``english/*.train.txt.xz``)."""
        ...

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Do the work.

        Parameters
        ----------
        data : path
            Where the data lie; never written to.
        quick : bool
            A small form of a minute or two: same systems, fewer examples and draws.
        progress : callable
            Told a stage, how far it is, and how far it goes.
        """
        ...


_WIDEST = 10
"""Settings side by side, at most."""


def as_json(name: str, result: ExperimentResult) -> dict[str, Any]:
    """Return plain values: ``experiment``, ``rows``, ``claims``, ``notes``, ``details``, any ``panels``."""
    said: dict[str, Any] = {
        "experiment": name,
        "rows": [
            {
                "system": row.system,
                "setting": row.setting,
                "paper": row.paper,
                "ours": None if row.ours is None else round(row.ours, 2),
                "n": row.n,
                "spread": None if row.spread is None else round(row.spread, 2),
            }
            for row in result.rows
        ],
        "claims": [
            {"claim": claim.claim, "holds": bool(claim.holds), "evidence": claim.evidence}
            for claim in result.claims
        ],
        "notes": list(result.notes),
        "details": dict(result.details),
    }
    said |= {"places": result.places} if result.places != 1 else {}
    return said | {"panels": [_plain(panel) for panel in result.panels]} if result.panels else said


def from_json(said: dict[str, Any]) -> ExperimentResult:
    """Return the result that `as_json` told."""
    return ExperimentResult(
        tuple(ResultRow(**row) for row in said["rows"]),
        tuple(Claim(**claim) for claim in said["claims"]),
        tuple(said.get("notes", ())),
        said.get("details", {}),
        tuple(Panel(**panel) for panel in said.get("panels", ())),
        said.get("places", 1),
    )


def result_lines(title: str, result: ExperimentResult) -> list[str]:
    """Return lines for a terminal: a line a system, a column a setting, ``paper / ours ± spread``."""
    lines = [title, ""]
    lines += _aligned(table(result.rows, result.places))
    if result.claims:
        lines += ["", "claims"]
    for claim in result.claims:
        lines += [
            f"  {'holds   ' if claim.holds else 'DOES NOT'}  {claim.claim}",
            f"            {claim.evidence}",
        ]
    if result.notes:
        lines += ["", *(f"* {note}" for note in result.notes)]
    return lines


def markdown(result: ExperimentResult) -> list[str]:
    """Return rows and claims as Markdown tables."""
    head, *body = table(result.rows, result.places)
    lines = [_cells(head), _cells(["---"] + ["---:"] * (len(head) - 1)), *map(_cells, body)]
    if result.claims:
        lines += ["", _cells(["claim", "holds", "evidence"]), _cells(["---"] * 3)]
        lines += [_cells([c.claim, "yes" if c.holds else "**no**", c.evidence]) for c in result.claims]
    return [*lines, "", *(f"* {note}" for note in result.notes)] if result.notes else lines


def table(rows: Sequence[ResultRow], places: int = 1) -> list[list[str]]:
    """Return the rows as cells: systems down, settings across, in the order in which they first come.

    Many settings go down and the systems across. Where nothing was published, cells hold ours alone.
    """
    systems = list(dict.fromkeys(row.system for row in rows))
    settings = list(dict.fromkeys(row.setting for row in rows if row.setting))
    settings = ([""] if any(not row.setting for row in rows) else []) + settings
    published = any(row.paper is not None for row in rows)
    cell = {(row.system, row.setting): _cell(row, published, places) for row in rows}
    if len(settings) > _WIDEST:
        return [
            ["", *systems],
            *([_setting(setting), *(cell.get((s, setting), "") for s in systems)] for setting in settings),
        ]
    head = ["system", *(_setting(setting) for setting in settings)]
    return [head, *([s, *(cell.get((s, setting), "") for setting in settings)] for s in systems)]


def _plain(panel: Panel) -> dict[str, Any]:
    drawn = {
        kind: {name: [[round(x, 2), round(y, 2)] for x, y in places] for name, places in series.items()}
        for kind, series in (("lines", panel.lines), ("points", panel.points))
    }
    how = {"logarithmic": True} if panel.logarithmic else {}
    return {"title": panel.title, "x": panel.x, "y": panel.y, **drawn, **how}


def _setting(setting: str) -> str:
    return f"{int(setting):,}" if setting.isdigit() else setting or "-"


def _cell(row: ResultRow, published: bool, places: int) -> str:
    # rounded as in the JSON, of which documents are made
    ours = "n/a" if row.ours is None else f"{round(row.ours, 2):.{places}f}"
    if row.spread is not None:
        ours += f" ± {row.spread:.{places}f}"
    if not published:
        return ours
    return f"{'-' if row.paper is None else f'{row.paper:.{places}f}'} / {ours}"


def _aligned(cells: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
        for row in cells
    ]


def _cells(row: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
