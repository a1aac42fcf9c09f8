"""Write the pack's card, README.md, from the figures that its build measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recipe import CRAFT_SENTENCES, PLAIN_SHARE

from disambig.experiments import card_sections
from disambig.formatting import markdown_table

SECTIONS = card_sections(Path(__file__).with_name("card.md"))


def write_card(home: Path, figures: dict[str, Any]) -> None:
    """Write ``README.md`` into `home`."""
    from disambig.models import load_model

    weights = home / "models" / "tag" / "weights.npz"
    model = load_model(weights.parent)
    classes = model.extractors[0].classes
    parts = [
        SECTIONS["INTRODUCTION"].format(
            n_classes=len(classes.words) if classes else 0,
            n_craft=CRAFT_SENTENCES,
            plain_share=PLAIN_SHARE,
            examples=model.provenance["groups"]["tag"]["examples"],
            more=model.provenance["groups"]["tag"].get("more", 0),
            size=weights.stat().st_size / 1e6,
        ),
        _test(figures.get("test", {}), figures.get("peers", {})),
        _universal(figures.get("universal", {})),
        _held_out(figures.get("held_out", {})),
        SECTIONS["LIMITS"],
    ]
    (home / "README.md").write_text("\n".join(part for part in parts if part), encoding="utf8")


def _test(test: dict[str, Any], peers: dict[str, Any]) -> str:
    if not test:
        return ""
    systems = [name for name, run in peers.items() if run["right"]]
    lines = [
        "## How good\n",
        "Share of words with the right tag, in %, on EWT's test part with its own tokens, after the mapping\n"
        "of dashes and semicolons."
        + (" The other taggers were trained on EWT's training part only." if systems else ""),
        "",
    ]
    rows = []
    total = sum(at["n"] for at in test.values())
    right = sum(at["n"] * at["accuracy"] for at in test.values())
    for genre, at in test.items():
        cells = [genre, f"{at['n']:,}", f"{100 * at['accuracy']:.2f}"]
        rows.append([*cells, *(f"{100 * peers[name]['right'][genre] / at['n']:.2f}" for name in systems)])
    cells = ["all", f"{total:,}", f"{100 * right / total:.2f}"]
    rows.append([*cells, *(f"{100 * sum(peers[name]['right'].values()) / total:.2f}" for name in systems)])
    table = markdown_table(["genre", "words", "disambig_tagger", *systems], rows, n_left=1)
    return "\n".join([*lines, *table, ""])


def _universal(figures: dict[str, Any]) -> str:
    if not figures:
        return ""
    share = 100 * figures["accuracy"]
    return f"Universal parts of speech (`pos_`): {share:.2f} % of the same {figures['n']:,} words.\n"


def _held_out(figures: dict[str, Any]) -> str:
    if not figures:
        return ""
    systems = list(next(iter(figures.values()))["accuracy"])
    text = (
        "Tested on the training and development parts of EWT genres that were left out of training, with\n"
        "the recipe of the version that heads the column. Version 0.2.0 was trained and scored with EWT's\n"
        "own labels; scored after the mapping, it is 0.04 points better on the development part.\n"
    )
    rows = []
    for genre, at in figures.items():
        cells = [genre, ", ".join(at["learned_from"]), f"{at['n']:,}"]
        rows.append([*cells, *(f"{100 * at['accuracy'][name]:.2f}" for name in systems)])
    table = markdown_table(["genre left out", "trained on", "words", *systems], rows, n_left=2)
    return "\n".join([text, *table, ""])
