"""Write the pack's card, README.md, from the figures that its build measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from disambig.experiments import card_sections

SECTIONS = card_sections(Path(__file__).with_name("card.md"))

NAMES = {
    "wikinews": "news",
    "wikipedia": "encyclopedia",
    "dialogue": "dialogue",
    "tanaka": "short sentences",
    "law": "statutes",
    "novels": "novels",
}
TEXTS = {
    "wikiannot": ("WikipediaAnnotatedCorpus, Wikipedia with readings", "CC BY-SA 4.0"),
    "wikipedia": ("Wikipedia", "CC BY-SA 4.0"),
    "wikinews": ("Wikinews", "CC BY 2.5"),
    "dialogue": ("RealPersonaChat, dialogues", "CC BY-SA 4.0"),
    "tanaka": ("Tanaka corpus, short sentences", "CC BY 2.0 FR"),
    "law": ("statutes of Japan", "no copyright"),
    "novels": ("Aozora Bunko, novels in modern kana", "public domain in Japan"),
}


def write_card(home: Path, figures: dict[str, Any]) -> None:
    """Write ``README.md`` into `home`."""
    from recipe import CLASS_WORDS, LONGEST, MOZC_LONGEST, MOZC_WORDS, SHARES

    texts = [f"| {name} | {figures['text'][key]:,} | {licence} |" for key, (name, licence) in TEXTS.items()]
    sizes = figures["sizes"]
    parts = [
        SECTIONS["INTRODUCTION"].format(
            entries=figures["entries"],
            ngrams=figures["ngrams"],
            texts="\n".join(texts),
            longest=LONGEST,
            size=sizes["all"],
            sizes=" in all",
            mozc=MOZC_WORDS,
            class_words=CLASS_WORDS,
            mozc_longest=MOZC_LONGEST,
            **SHARES,
        )
    ]
    parts.append("## How good\n")
    if "test" in figures:
        parts.append(SECTIONS["TESTED"].format(rows=_rows(figures["test"])))
    if "checked" in figures:
        parts.append(SECTIONS["CHECKED"].format(**_percent(figures["checked"])))
    if "nouns" in figures:
        at = figures["nouns"]
        parts.append(SECTIONS["NOUNS"].format(**at, share=100 * at["right"] / at["cases"]))
    if "spoken" in figures:
        spoken = {"units": figures["spoken"]["with units"], "digits": figures["spoken"]["digit by digit"]}
        shares = {f"{name}_share": 100 * at["right"] / at["cases"] for name, at in spoken.items()}
        parts.append(SECTIONS["SPOKEN"].format(**spoken, **shares))
    listed = "\n".join(f"| {name} | {size:.1f} |" for name, size in sizes.items())
    parts.append(SECTIONS["SIZES"].format(sizes=listed))
    if "speed" in figures:
        parts.append(SECTIONS["SPEED"].format(**figures["speed"]))
    parts.append(SECTIONS["LIMITS"])
    (home / "README.md").write_text("\n".join(parts), encoding="utf8")


def _rows(figures: dict[str, Any]) -> str:
    lines = []
    for name, at in figures["general"].items():
        cells = _cells(_percent(at))
        domain = figures["domain"].get(name)
        cells += _cells(_percent(domain)) if domain else ["", ""]
        lines.append(f"| {NAMES[name]} | {at['sentences']:,} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cells(at: dict[str, Any]) -> list[str]:
    return [f"{at[name]:.2f}" for name in ("first", "oracle")]


def _percent(at: dict[str, Any]) -> dict[str, Any]:
    shares = {name: 100 * at[name] / at["characters"] for name in ("first", "oracle", "okurigana")}
    return {**at, **shares, "without": shares["first"] - shares["okurigana"]}
