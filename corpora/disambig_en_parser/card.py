"""Write the pack's card, README.md, from the figures that its build measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

CARD = """\
# disambig_en_parser: constituents of English

The default model of `disambig parse`, of the spaCy component `disambig_parser` and of
`disambig_exponentiated_gradient.load_parser`: a grammar read from a treebank of **biomedical research
articles**. {megabytes:.1f} MB.

    pip install ./corpora/disambig_en_parser
    echo "The mutation changes how the protein binds to DNA." | disambig parse --format tree
    disambig parse notes.txt --format html --output trees.html

It is a separate distribution, registered by its entry point, and only runs if it is named. Anyone with the
data can build it with one command, which also writes this card:

    python corpora/disambig_en_parser/build.py DATA --output corpora/disambig_en_parser

## What it was made from

CRAFT, the Colorado Richly Annotated Full-Text corpus: {trees:,} trees, {words:,} words of 97 articles
about the biology of mice (Bada et al., Concept annotation in the CRAFT corpus, BMC Bioinformatics
13:161, 2012; Verspoor et al., A corpus of full-text journal articles is a robust evaluation tool, BMC
Bioinformatics 13:207, 2012). Licence: CC BY 3.0, which also applies to this pack. The pack contains rules,
words and their counts; the texts cannot be reconstructed from them.

The grammar is read from the trees without traces and function tags. The label of each constituent also
contains its parent's label and its preceding siblings ({chosen}; Johnson 1998, Klein and Manning 2003), as
`disambig train-parser` does with --horizontal and --vertical. It was trained on all articles. The figures
for CRAFT below are those of a grammar that was trained neither on the test articles nor on the articles
that chose its settings ({train:,} trees).

## How good

F1 of labelled brackets as computed by evalb (COLLINS.prm), on the words of the treebank and the single best
tree.

| text | trees | precision | recall | F1 | exact trees | right tags |
|---|---:|---:|---:|---:|---:|---:|
| **CRAFT, held-out articles**, up to 40 words | {craft_short} |
| the same, up to 150 words | {craft_all} |
| up to 40 words, with `--tagger tag` | {craft_tagged} |
| **Wall Street Journal** (sample of the Penn Treebank), up to 40 words | {wsj_short} |
| the same, up to 150 words | {wsj_all} |
| up to 40 words, with `--tagger tag` | {wsj_tagged} |

**It is poor on general English.** On newspaper text, nearly a third of the brackets are wrong, because the
treebank of articles has hardly any "you" or questions, no dialogue, and few names of people. On section 01
alone its F1 is {newspaper_shipped:.1f}; a grammar read from the {newspaper_trees:,} sentences of section 00
has {newspaper_own:.1f}. The tags of `disambig_tagger`, which was trained on everyday English, repair some
of it; on biomedical text they hurt, because CRAFT's tagging conventions are different. For text of another
kind, train a parser on a treebank of that kind: `disambig train-parser TREES --output FOLDER`. Parsers with
neural networks are far better (F1 above 95 on the Wall Street Journal), and far larger and slower.

The settings were chosen by F1 on the development articles (up to 40 words; h: number of preceding siblings,
v: number of labels upwards, including its own):

| setting | F1 |
|---|---:|
{choosing}

## Speed

{sentences:.0f} sentences of about twenty words per second on one core of a machine with a load of three
processes per core; {load:.1f} s to load. Time grows with the cube of the length: sentences of more
than 150 words get a flat tree (`--max-length`); one of 150 words takes a few seconds.

## Limits

* Trees have no traces and no function tags (NP-SBJ is NP). Labels are CRAFT's: some of them do not exist in
  the Penn Treebank, such as `HEADING`, `UNUSED_TITLE`, `CAPTION` and `CIT`, and a single word often gets
  one.
* Words are spaCy's tokens, but the figures above are for the treebank's own words. How much is lost where the
  two differ, as in names of chemicals, was not measured.
* A score is the ln P of a tree with its words: it compares trees of the same sentence, and does not say
  whether the tree is right.
* Every sequence of words gets a tree, including text in other languages, where it means nothing.
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
