"""Write the pack's card, README.md, from the figures that its build measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recipe import CRAFT_SENTENCES

INTRODUCTION = """\
# disambig_en_tagger: part-of-speech tags of English

The model behind the spaCy component `disambig_tagger`: Penn Treebank tags as UD English EWT uses them, in
`token.tag_`, and universal parts of speech in `token.pos_`. It comes with `disambig` and is found by its
entry point. It runs where it is named (`disambig annotate --model tag`), since it labels every token.

A structured perceptron, averaged (Collins 2002) and once more over random subspaces (Søgaard and Johannsen
2012: {n_subspaces} masks, {removal_rate:.0%} of the features removed by each), over the usual features of
tokens and over word classes from plain text: by the words beside them, by the tags that a first tagger gave
them, by their capitals. It learned from tagged sentences, and from others whose tags are known in part and
were filled in by a second tagger (`recipe.py` says it step by step). What is in the recipe was chosen on
genres left out and on the development part. Made by one command, which anyone with the data can repeat:

    python corpora/disambig_en_tagger/build.py DATA

(`--held-out GENRE ...` and `--score` make figures of their own.) This card is written by it.

## What it was made from

* UD English EWT (CC BY-SA 4.0), training part: blogs, e-mail, newsgroups, answers and reviews of the 2000s;
  {examples:,} words. Calibrated on its development part.
* MASC with NOAD's senses (CC BY 4.0), 20 genres: the part of speech of content words, where they have a
  sense; all else was filled in.
* The CRAFT treebank (CC BY 3.0), biomedical articles, {n_craft:,} sentences: tags of words; signs, numbers,
  letters and whether a noun is a name were filled in, since its conventions are others. With these two
  {more:,} words.
* Word classes: {n_classes:,} words of plain text (CC BY, CC BY-SA, CC0, OGL, MIT, BSD, Apache 2.0, public
  domain; the card of the pack `disambig_en` names the sources of the older part): up to 2 million tokens each
  of essays, guides, manuals, encyclopedic and mixed text, up to 0.7 million of seven domains more.

Only weights under hashes are here; no text can be read from them. {size:.1f} MB.
"""

LIMITS = """\
## Limits

* Web text of ten to twenty years ago, edited and unedited; other text is harder (see the genres left out).
* `pos_` is that of the tag, with lists of words for auxiliaries, conjunctions and pronouns: it does not know
  whether "that" is a pronoun or a determiner here.
* Sentences are those of the Doc; without any, they are cut at full stops. Words are spaCy's tokens: with
  another tokenisation than EWT's (which spaCy's English one resembles) tags are worse.
"""


def write_card(home: Path, figures: dict[str, Any]) -> None:
    """Write ``README.md`` into `home`."""
    from disambig.models import load_model

    weights = home / "models" / "tag" / "weights.npz"
    model = load_model(weights.parent)
    learner, classes = model.config["learner"], model.extractors[0].classes
    parts = [
        INTRODUCTION.format(
            n_subspaces=learner["n_subspaces"],
            removal_rate=learner["removal_rate"],
            n_classes=len(classes.words) if classes else 0,
            n_craft=CRAFT_SENTENCES,
            examples=model.provenance["groups"]["tag"]["examples"],
            more=model.provenance["groups"]["tag"].get("more", 0),
            size=weights.stat().st_size / 1e6,
        ),
        _test(figures.get("test", {}), figures.get("peers", {})),
        _universal(figures.get("universal", {})),
        _held_out(figures.get("held_out", {})),
        LIMITS,
    ]
    (home / "README.md").write_text("\n".join(part for part in parts if part), encoding="utf8")


def _test(test: dict[str, Any], peers: dict[str, Any]) -> str:
    if not test:
        return ""
    systems = [name for name, run in peers.items() if run["right"]]
    lines = [
        "## How good\n",
        "Share of words with the right tag, in %, on EWT's test part, words as they are cut there."
        + (" The others learned from\nEWT's training part alone." if systems else ""),
        "",
        "| " + " | ".join(["genre", "words", "disambig_tagger", *systems]) + " |",
        "|---|---:|---:|" + "---:|" * len(systems),
    ]
    total = sum(at["n"] for at in test.values())
    right = {"": sum(at["n"] * at["accuracy"] for at in test.values())}
    for genre, at in test.items():
        cells = [genre, f"{at['n']:,}", f"{100 * at['accuracy']:.2f}"]
        cells += [f"{100 * peers[name]['right'][genre] / at['n']:.2f}" for name in systems]
        lines.append("| " + " | ".join(cells) + " |")
    cells = ["all", f"{total:,}", f"{100 * right[''] / total:.2f}"]
    cells += [f"{100 * sum(peers[name]['right'].values()) / total:.2f}" for name in systems]
    lines += ["| " + " | ".join(cells) + " |", ""]
    return "\n".join(lines)


def _universal(figures: dict[str, Any]) -> str:
    if not figures:
        return ""
    share = 100 * figures["accuracy"]
    return f"Universal parts of speech (`pos_`): {share:.2f} % of the same {figures['n']:,} words.\n"


def _held_out(figures: dict[str, Any]) -> str:
    if not figures:
        return ""
    systems = list(next(iter(figures.values()))["accuracy"])
    lines = [
        "Tested on the training and development parts of genres of EWT that were not learned from: with\n"
        "tagged sentences alone, with classes of words by company (both 8 masks), and with the recipe "
        "(no mask).\n",
        "| genre left out | learned from | words | " + " | ".join(systems) + " |",
        "|---|---|---:|" + "---:|" * len(systems),
    ]
    for genre, at in figures.items():
        cells = [
            genre,
            ", ".join(at["learned_from"]),
            f"{at['n']:,}",
            *(f"{100 * at['accuracy'][name]:.2f}" for name in systems),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])
