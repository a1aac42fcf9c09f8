"""Write the pack's card, README.md, from the figures that its build measured."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from disambig.experiments import card_sections

SECTIONS = card_sections(Path(__file__).with_name("card.md"))

GENRES = """\
Genres left out: {folds} models, each tested on {what} that it was not trained on. The mean probability is
that of the answers; the error is the expected calibration error (ten bins; chance alone causes about 1 % at
these sizes).

| genre | occurrences | most frequent | right of all | right of the attempted | mean probability | error |
|---|---:|---:|---:|---:|---:|---:|"""


def write_card(home: Path, figures: dict[str, Any]) -> None:
    """Write ``README.md`` into `home`."""
    from disambig.models import load_model
    from disambig.types import DecisionRuleTraits, get_trait

    weights = home / "models" / "sense" / "weights.npz"
    model = load_model(weights.parent)
    validation = figures.get("cross_validation", {})
    learned = [group for group in model.task.groups if group.learned]
    selection = model.provenance["selection"]
    parts = [
        SECTIONS["INTRODUCTION"].format(
            n_words=len(learned),
            n_senses=sum(len(group.candidates) for group in learned),
            n_documents=validation.get("documents", "390"),
            least=selection["least"],
            most=selection["most"],
            rest=selection.get("rest", selection["least"]),
            below=selection["least"] - 1,
            n_rest=len(model.task.groups) - len(learned),
            fallback=_rest(figures.get("most_frequent_of_the_rest", {})),
            size=weights.stat().st_size / 1e6,
        ),
        _parts(validation, get_trait(model.judge, DecisionRuleTraits, "least_margin") or 0.0),
        _margins(validation),
        _genres(figures.get("genres_left_out", {})),
        _words(validation),
        SECTIONS["LIMITS"],
    ]
    (home / "README.md").write_text("\n".join(part for part in parts if part), encoding="utf8")


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "-"


def _parts(figures: dict[str, Any], margin: float) -> str:
    """Return the section on accuracy by part of speech."""
    from disambig.packs import pack

    if not figures:
        return ""
    key = min(figures["parts"]["all"]["margins"], key=lambda at: abs(float(at) - margin))
    lines = [
        "## How good\n",
        SECTIONS["EXPLAINED"].format(
            folds=figures["folds"], times=math.exp(margin), tagger=pack("disambig_en_tagger").version
        ),
        "| | occurrences | most frequent | right of all | right of the attempted "
        "| certain: attempted | right |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name in ("nouns", "verbs", "adjectives", "adverbs", "all"):
        if (at := figures["parts"].get(name)) is None:
            continue
        every, sure = at["margins"]["0.0"], at["margins"][key]
        lines.append(
            f"| {name} | {at['n']:,} | {_percent(at['majority'], at['n'])} "
            f"| {_percent(every['right'], at['n'])} | {_percent(every['right'], every['answered'])} "
            f"| {_percent(sure['answered'], at['n'])} | {_percent(sure['right'], sure['answered'])} |"
        )
    return "\n".join([*lines, ""])


def _rest(figures: dict[str, Any]) -> str:
    if not figures:
        return ""
    share = _percent(figures["right"], figures["n"])
    return (
        f"It is right in {share} % of their {figures['n']:,} occurrences "
        "(cross-validated over documents, with given parts of speech)."
    )


def _genres(figures: dict[str, Any]) -> str:
    if not figures:
        return ""
    one_genre_each = figures["folds"] == len(figures["genres"])
    lines = [GENRES.format(folds=figures["folds"], what="a genre" if one_genre_each else "genres")]
    for name, at in [*figures["genres"].items(), ("all", figures["parts"]["all"])]:
        all_answered, sure = at["margins"]["0.0"], figures["reliability"][name]
        lines.append(
            f"| {name} | {at['n']:,} | {_percent(at['majority'], at['n'])} "
            f"| {_percent(all_answered['right'], at['n'])} "
            f"| {100 * sure['right']:.1f} | {100 * sure['said']:.1f} | {100 * sure['error']:.1f} |"
        )
    return "\n".join([*lines, ""])


def _margins(figures: dict[str, Any]) -> str:
    if not figures:
        return ""
    at = figures["parts"]["all"]
    lines = [
        "The effect of `least_margin`:\n",
        "| `least_margin` (log-odds) | attempted | right of the attempted |",
        "|---:|---:|---:|",
    ]
    for margin, n in at["margins"].items():
        lines.append(
            f"| {margin} | {_percent(n['answered'], at['n'])} | {_percent(n['right'], n['answered'])} |"
        )
    return "\n".join([*lines, ""])


def _words(figures: dict[str, Any]) -> str:
    """Return the table of the words that gain and lose most."""
    if not figures:
        return ""
    gains = sorted(
        ((at["margins"]["0.0"]["right"] - at["majority"]) / at["n"], word, at)
        for word, at in figures["words"].items()
    )
    shown = [*gains[:-11:-1], *gains[9::-1]]
    lines = [
        "The ten words that gain most over the most frequent sense, and the ten that lose most:\n",
        "| word | occurrences | most frequent | right |",
        "|---|---:|---:|---:|",
    ]
    lines += [
        f"| {word} | {at['n']:,} | {_percent(at['majority'], at['n'])} "
        f"| {_percent(at['margins']['0.0']['right'], at['n'])} |"
        for _, word, at in shown
    ]
    return "\n".join([*lines, ""])
