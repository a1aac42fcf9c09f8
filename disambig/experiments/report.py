"""How the result of an experiment is told: as JSON and as tables, the figure of the paper beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from disambig.experiments.protocol import Claim, Panel, Result, Row

_WIDEST = 10
"""Settings side by side, at most."""


def as_json(name: str, result: Result) -> dict[str, Any]:
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


def of_json(said: dict[str, Any]) -> Result:
    """Return the result that `as_json` told."""
    return Result(
        tuple(Row(**row) for row in said["rows"]),
        tuple(Claim(**claim) for claim in said["claims"]),
        tuple(said.get("notes", ())),
        said.get("details", {}),
        tuple(Panel(**panel) for panel in said.get("panels", ())),
        said.get("places", 1),
    )


def readable(title: str, result: Result) -> list[str]:
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


def markdown(result: Result) -> list[str]:
    """Return rows and claims as Markdown tables."""
    head, *body = table(result.rows, result.places)
    lines = [_cells(head), _cells(["---"] + ["---:"] * (len(head) - 1)), *map(_cells, body)]
    if result.claims:
        lines += ["", _cells(["claim", "holds", "evidence"]), _cells(["---"] * 3)]
        lines += [_cells([c.claim, "yes" if c.holds else "**no**", c.evidence]) for c in result.claims]
    return [*lines, "", *(f"* {note}" for note in result.notes)] if result.notes else lines


def table(rows: Sequence[Row], places: int = 1) -> list[list[str]]:
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


def _cell(row: Row, published: bool, places: int) -> str:
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
