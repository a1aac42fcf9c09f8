"""Write the pack's card, README.md, from the figures that its build measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from disambig.experiments import card_sections

SECTIONS = card_sections(Path(__file__).with_name("card.md"))

ROWS = {
    "ewt_test": "**EWT, test part**, converted",
    "ewt_test_tagged": "the same with `--tagger tag`",
    "ewt_dev": "EWT, every second sentence of the development part",
    "craft": "CRAFT, held-out articles",
    "craft_some": "**CRAFT, held-out articles**, every fourth tree",
    "craft_articles": "the same with the grammar of articles alone",
    "craft_tagged": "the same with both grammars and `--tagger tag`",
    "wsj": "**Wall Street Journal** (sample of the Penn Treebank), every fourth tree",
    "wsj_tagged": "the same with `--tagger tag`",
}


def write_card(home: Path, figures: dict[str, Any]) -> None:
    """Write ``README.md`` with the figures that were measured so far into `home`; none before the speed."""
    if "speed" not in figures:
        return
    best = figures["chosen"]
    choosing = [
        f"| {f'**{name}**' if name == best else name} | {100 * f1:.1f} |"
        for name, f1 in figures.get("choosing", {}).items()
    ]
    domains = [
        f"{100 * figures[name]['as_articles']:.1f} % of the sentences of {text}"
        for name, text in (("ewt_test", "EWT's test part"), ("craft_some", "CRAFT"))
        if name in figures
    ]
    english = figures["plain_english"]
    text = SECTIONS["CARD"].format(
        rows="\n".join(f"| {ROWS[name]} | {_row(figures[name])} |" for name in ROWS if name in figures),
        domains=f"The grammar of articles parsed {' and '.join(domains)}. " if domains else "",
        choosing=SECTIONS["CHOOSING"].format(choosing="\n".join(choosing)) if choosing else "",
        chosen=best,
        megabytes=figures["megabytes"],
        trees_ewt=figures["trees"]["ewt"],
        trees_craft=figures["trees"]["craft"],
        craft_measured=figures["trees"]["craft_measured"],
        words_ewt=figures["words"]["ewt"],
        words_craft=figures["words"]["craft"],
        sentences=english["sentences"],
        right=english["words"]["right"],
        hold=english["words"]["hold"],
        conditions=english["words"]["conditions"],
        tagged_right=english["tagged"]["right"],
        tagged_hold=english["tagged"]["hold"],
        speed_sentences=figures["speed"]["sentences"],
        load=figures["speed"]["load"],
        n=figures["speed"]["n"],
    )
    (home / "README.md").write_text(text, encoding="utf8")


def _row(figures: dict[str, Any]) -> str:
    shares = [f"{100 * figures[name]:.1f}" for name in ("precision", "recall", "f1", "exact", "tagging")]
    return " | ".join([f"{figures['trees']:,}", *shares])
