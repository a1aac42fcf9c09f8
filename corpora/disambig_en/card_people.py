"""What the pack's card says of mistakes that people made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reading import counts_by_task


def people(figures: dict[str, Any]) -> str:
    """Return what is found of real mistakes, and at what rate of false flags."""
    if not figures:
        return ""
    lines = [
        "## Mistakes that people made\n",
        "All models that correct words together, each place flagged once, on mistakes that contributors to",
        "open documentation corrected, and on paragraphs of the same projects that nobody touched",
        "(`--people`). They took no part in training; settings and rates were chosen on `dev`. Right: the",
        "flag gives what the writer wrote. Every flag on the untouched paragraphs counts as false, though",
        "most of the surest ones show a mistake (see below).\n",
    ]
    for part, found in figures.items():
        clean = found["clean"]
        per_1000, (low, high) = clean["per_1000"], clean["interval"]
        lines += [
            f"### {part}: {found['projects']} projects, {clean['words']:,} clean words\n",
            f"False flags per 1,000 words: {per_1000:.2f} ({low:.2f} to {high:.2f}).\n",
            "| mistakes | n | found | right | wrong |",
            "|---|---|---|---|---|",
        ]
        for name, at in found["classes"].items():
            rows = {name: at, **({f"... {kind}": line for kind, line in at["kinds"].items()})}
            for title, line in rows.items() if len(at["kinds"]) > 1 else [(name, at)]:
                right = with_interval(line["right"], line["right_interval"])
                cells = [title, f"{line['n']:,}", percent(line["found"]), right, percent(line["wrong"])]
                lines.append("| " + " | ".join(cells) + " |")
        line = found["all"]
        right = with_interval(line["right"], line["right_interval"])
        cells = ["all", f"{line['n']:,}", percent(line["found"]), right]
        lines += ["| " + " | ".join([*cells, percent(line["wrong"])]) + " |", ""]
        lines += _curve_of_people(found["curve"], found.get("harper"))
    lines += [
        "Flags on the untouched paragraphs of `dev` that one reader read, raised by these models",
        "and by earlier ones. What looked wrong for another reason than the one proposed, or like a",
        "matter of style, was taken for right.\n",
        "| flags | read | show a mistake |",
        "|---|---|---|",
        *(f"| {title} | {n} | {real} |" for title, n, real in counts_by_task()),
        "",
    ]
    return "\n".join(lines)


def _curve_of_people(points: Sequence[dict[str, Any]], harper: dict[str, Any] | None) -> list[str]:
    """Return what is found as the rate that all tasks share moves."""
    shared = all("rates" in point for point in points)
    classes = list(points[0]["classes"]) if points and "classes" in points[0] else []
    lines = [
        "| "
        + " | ".join(
            [
                f"set for {'all together' if shared else 'each'}",
                "false flags per 1,000",
                "right, of all",
                *classes,
            ]
        )
        + " |",
        "|---" * (3 + len(classes)) + "|",
    ]
    rows = [(f"{point['rate']:g}", point) for point in points]
    for title, point in [*rows, *([("Harper 2.13", harper)] if harper else [])]:
        cells = [title, f"{point['clean']['per_1000']:.2f}", percent(point["all"]["right"])]
        cells += [percent(point["classes"][name]["right"]) for name in classes]
        lines.append("| " + " | ".join(cells) + " |")
    return [*lines, ""]


def percent(share: float) -> str:
    """Return a share in per cent."""
    return f"{share * 100:.1f} %"


def with_interval(share: float, interval: tuple[float, float]) -> str:
    """Return a share in per cent with its interval."""
    return f"{percent(share)} ({interval[0] * 100:.1f}-{interval[1] * 100:.1f})"
