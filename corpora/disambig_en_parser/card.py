"""Write the pack's card, README.md, from the figures that its build measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

CARD = """\
# disambig_en_parser: constituents of English

What `disambig parse`, the spaCy component `disambig_parser` and
`disambig_exponentiated_gradient.load_parser` parse with: the grammar of a treebank of **biomedical
research articles**. {megabytes:.1f} MB.

    pip install ./corpora/disambig_en_parser
    echo "The mutation changes how the protein binds to DNA." | disambig parse --format tree
    disambig parse notes.txt --format html --output trees.html

It is a distribution of its own, found by its entry point, and runs where it is named. Made by one
command, which anyone with the data can repeat, and which writes this card:

    python corpora/disambig_en_parser/build.py DATA --output corpora/disambig_en_parser

## What it was made from

CRAFT, the Colorado Richly Annotated Full-Text corpus: {trees:,} trees, {words:,} words of 97 articles
about the biology of mice (Bada et al., Concept annotation in the CRAFT corpus, BMC Bioinformatics
13:161, 2012; Verspoor et al., A corpus of full-text journal articles is a robust evaluation tool, BMC
Bioinformatics 13:207, 2012). Licence: CC BY 3.0, and so is this pack. In it are rules, words and counts
of them; no text can be read from it.

The grammar is that of the trees without traces and function tags, each constituent split by its parent's
label and what precedes it ({chosen}; Johnson 1998, Klein and Manning 2003), as `disambig train-parser`
does with --horizontal and --vertical. It learned from all articles; the figures below for CRAFT are
those of a grammar that saw neither the articles they are of nor those that chose its settings ({train:,}
trees).

## How good

F1 of labelled brackets as evalb counts them (COLLINS.prm), with the words of the treebank, on one best
tree.

| text | trees | precision | recall | F1 | all right | tags right |
|---|---:|---:|---:|---:|---:|---:|
| **CRAFT, held-out articles**, up to 40 words | {craft_short} |
| the same, up to 150 words | {craft_all} |
| up to 40 words, with `--tagger tag` | {craft_tagged} |
| **Wall Street Journal** (sample of the Penn Treebank), up to 40 words | {wsj_short} |
| the same, up to 150 words | {wsj_all} |
| up to 40 words, with `--tagger tag` | {wsj_tagged} |

**On general English it is poor.** Of a newspaper's brackets nearly a third are wrong, for the treebank
of articles has hardly any "you" or questions, no dialogue and few names of people. On section 01 alone
it has F1 {newspaper_shipped:.1f}; a grammar of the {newspaper_trees:,} sentences of section 00 has
{newspaper_own:.1f}. The tags of `disambig_tagger`, which learned from everyday English, mend a part of
it; on biomedical text they do harm, for its conventions are others. For text of your own kind train a
parser on a treebank of that kind: `disambig train-parser TREES --output FOLDER`. Parsers with neural
networks are far better (F1 above 95 on the Wall Street Journal), and far larger and slower.

What the settings were chosen by, F1 on the development articles (up to 40 words; h: labels of earlier
children, v: labels above that are remembered, its own among them):

| setting | F1 |
|---|---:|
{choosing}

## Speed

{sentences:.0f} sentences of some twenty words a second on one core of a machine with three times as much
to do as it has cores, {load:.1f} s to load. Time grows with the cube of the length: sentences of more
than 150 words are left flat (`--max-length`), one of 150 takes some seconds.

## Limits

* Trees have no traces and no function tags (NP-SBJ is NP), and labels are CRAFT's: it has some that the
  Penn Treebank has not, such as `HEADING`, `UNUSED_TITLE`, `CAPTION` and `CIT`, and a word alone is often
  taken for one.
* Words are spaCy's tokens. The figures above are with the treebank's own; what is lost where the two differ,
  as in names of chemicals, was not measured.
* A score is ln P of a tree with its words: it compares trees of one sentence, and says nothing of
  whether the tree is right.
* Everything that is a sequence of words has a tree, other languages too; it means nothing there.
"""


def write_card(home: Path, figures: dict[str, Any]) -> None:
    """Write ``README.md`` into `home`."""
    rows = {
        f"{text}_{part}": _row(figures[text][part])
        for text in ("craft", "wsj")
        for part in ("short", "all", "tagged")
    }
    best = figures["chosen"]
    choosing = [
        f"| {f'**{name}**' if name == best else name} | {100 * f1:.1f} |"
        for name, f1 in figures["choosing"].items()
    ]
    plain = {name: figures[name] for name in ("trees", "words", "train", "chosen", "megabytes")}
    newspaper = {
        f"newspaper_{name}": value if name == "trees" else 100 * value
        for name, value in figures["newspaper"].items()
    }
    text = CARD.format(choosing="\n".join(choosing), **plain, **rows, **newspaper, **figures["speed"])
    (home / "README.md").write_text(text, encoding="utf8")


def _row(figures: dict[str, Any]) -> str:
    shares = [f"{100 * figures[name]:.1f}" for name in ("precision", "recall", "f1", "exact", "tagging")]
    return " | ".join([f"{figures['trees']:,}", *shares])
