"""The card's words on KenLM: the same places, decided without the domain by the pack and by KenLM."""

from __future__ import annotations

from typing import Any


def beside_kenlm(task: str, figures: dict[str, Any]) -> list[str]:
    """Return the table of a task's sets by domain; nothing where either was not scored."""
    ours = figures.get("left_out", {}).get(task, {})
    theirs = figures.get("left_out_kenlm", {}).get(task, {})
    domains = [name for name in ours if name in theirs]
    if not domains:
        return []
    lines = [
        "\nEach domain left out, all places of all sets, beside a KenLM 5-gram model of the same other text\n"
        "(4- and 5-grams seen once left out):\n",
        "| text | n | pack | KenLM |",
        "|---|---|---|---|",
    ]
    total = [0, 0, 0]
    for name in domains:
        groups = theirs[name]["groups"]
        known = {group: at for group, at in ours[name]["groups"].items() if group in groups}
        n = sum(at["n"] for at in known.values())
        right = [_right(known, known), _right(groups, known)]
        total = [total[0] + n, total[1] + right[0], total[2] + right[1]]
        lines.append(_row(name, n, *right))
    return [*lines, _row("all", *total), ""]


def _right(groups: dict[str, Any], known: dict[str, Any]) -> int:
    """Return how many places of the known groups are decided rightly."""
    return round(sum(groups[name]["accuracy"] * groups[name]["n"] for name in known))


def _row(name: str, n: int, ours: int, theirs: int) -> str:
    return f"| {name} | {n:,} | {100 * ours / n:.1f} % | {100 * theirs / n:.1f} % |"
