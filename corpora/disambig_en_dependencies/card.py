"""Write the pack's card, README.md, from the figures that its build measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from disambig.experiments import card_sections

SECTIONS = card_sections(Path(__file__).with_name("card.md"))


def write_card(home: Path, figures: dict[str, Any]) -> None:
    """Write ``README.md`` into `home`."""
    about = figures.get("about", {"sentences": 0, "words": 0, "weights": 0})
    introduction = SECTIONS["INTRODUCTION"].format(
        megabytes=figures.get("megabytes", 0.0),
        **{name: about[name] for name in ("weights", "sentences", "words")},
    )
    parts = [introduction, _attachment(figures), _pairs(figures), _speed(figures), SECTIONS["LIMITS"]]
    (home / "README.md").write_text("\n".join(part for part in parts if part), encoding="utf8")


def _attachment(figures: dict[str, Any]) -> str:
    """Return the section on attachment scores by genre."""
    if "test" not in figures or "dev" not in figures:
        return ""
    lines = [
        "## How good\n",
        "Share of words, punctuation included, with the right head (UAS), and with the right head and",
        "relation (LAS), in %, on the words and sentences of EWT's test part, with the tags of",
        "`disambig_tagger` and with the treebank's own tags.\n",
        "| genre | words | UAS | LAS | UAS, own tags | LAS, own tags |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [_row(genre, [row]) for genre, row in figures["test"].items()]
    lines.append(_row("**all**", list(figures["test"].values())))
    lines.append(_row("development part", list(figures["dev"].values())))
    total = sum(row["words"] for row in figures["test"].values())
    for name, peer in figures.get("peers", {}).items():
        if "heads" in peer:
            uas, las = (100 * peer[key] / total for key in ("heads", "labelled"))
            lines.append(f"| {name}, all | {total:,} | {uas:.2f} | {las:.2f} | | |")
    return "\n".join([*lines, ""])


def _row(name: str, rows: list[dict[str, Any]]) -> str:
    """Return a line of the table, of several rows of figures together."""
    words = sum(row["words"] for row in rows)
    counts = [
        sum(row[tags][key] for row in rows) for tags in ("predicted", "gold") for key in ("heads", "labelled")
    ]
    shares = [f"{100 * count / words:.2f}" for count in counts]
    return " | ".join([f"| {name}", f"{words:,}", *shares]) + " |"


def _pairs(figures: dict[str, Any]) -> str:
    """Return the comparison with other parsers on pairs of words."""
    peers = figures.get("peers", {})
    if "relations" not in figures or not peers:
        return ""
    lines = [
        "spaCy's own models have relations of another kind, so that neither share can be compared. These",
        "pairs of words can: F1 in %, on the same text. The subject of a copula belongs to the copula in",
        "both. Other conventions of the treebank that spaCy's model was trained on (OntoNotes) count as its",
        "mistakes here, and EWT is text of another kind to it.\n",
        "| | pairs | disambig_dependencies | " + " | ".join(peers) + " |",
        "|---|---:|---:|" + "---:|" * len(peers),
    ]
    for name, pair in figures["relations"].items():
        cells = [f"{100 * peer['relations'][name]['f1']:.1f}" for peer in peers.values()]
        lines.append(f"| {name} | {pair['n']:,} | {100 * pair['f1']:.1f} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def _speed(figures: dict[str, Any]) -> str:
    if "speed" not in figures:
        return ""
    speed = figures["speed"]
    peers = "; ".join(
        f"{name} {peer['speed']:,.0f} with its tagger" for name, peer in figures.get("peers", {}).items()
    )
    return (
        "## Speed\n\n"
        f"Words per second on one core of a busy machine: {speed['parsing']:,.0f} parsing,\n"
        f"{speed['both']:,.0f} tagging and parsing, {speed['component']:,.0f} as a component in `nlp.pipe`,\n"
        "with tokenisation and annotation" + (f" ({peers}).\n" if peers else ".\n")
    )
