"""What the pack's card says of how often flags are right."""

from __future__ import annotations

from typing import Any

NAMES = {0.5: "1 in 2", 2 / 3: "2 in 3", 0.8: "4 in 5", 0.9: "9 in 10"}


def trust(figures: dict[str, Any]) -> str:
    """Return how often flags of each task are right from which probability on, on both parts."""
    if not figures:
        return ""
    lines = [
        "## How often flags are right\n",
        f"On the same mistakes and paragraphs (`--trust`), weighed as in text with {figures['per_1000']:g}",
        "such mistakes in 1,000 words; the curves in `models/*/trust.json` are those of `dev`, with `test`",
        "beside them here. In text with a fifth as many mistakes four flags in five become four in nine,",
        "with twice as many eight in nine: `right : not right` grows as mistakes do. Flags on untouched",
        "paragraphs count as not right; on `dev` those do not count at all that showed a mistake to a reader",
        "(above), which nobody did for `test`. In brackets 95 % intervals, as if all flags were of texts",
        "unlike each other; behind them the flags that were seen.\n",
        "| task | asked | probability from | dev | test |",
        "|---|---|---|---|---|",
    ]
    for task, rows in figures["tasks"].items():
        for number, row in enumerate(rows):
            asked = min(NAMES, key=lambda each: abs(each - row["asked"]))
            cells = [task if not number else "", NAMES[asked], f"{row['dev']['least']:.2f}"]
            cells += [_cell(row["dev"]), _cell(row["test"]) if row["test"] else "no flag"]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def _cell(point: dict[str, Any]) -> str:
    share, low, high = (f"{100 * point[name]:.0f}" for name in ("share", "low", "high"))
    n = point["right"] + point["wrong"] + point["false"]
    return f"{share} % ({low}-{high}), {n:,}"
