"""Write the pack's card, README.md, from the figures that its build measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recipe import CRAFT_SENTENCES, PLAIN_SHARE

from disambig.formatting import markdown_table

INTRODUCTION = """\
# disambig_en_tagger: part-of-speech tags of English

The model of the spaCy component `disambig_tagger`: Penn Treebank tags by the conventions of UD English EWT,
in `token.tag_`, and universal parts of speech in `token.pos_`. The pack is installed with `disambig` and
registered by its entry point. It only runs if it is named (`disambig annotate --model tag`), because it
labels every token. With `config={{"overwrite": False}}`, the component keeps tags that tokens have already.

Semicolons, dashes and `--` are tagged `:` as in the Penn Treebank, and so are dots inside a sentence. EWT
tags them `,` in most places and `:` in some: its tags of them are mapped before training, and before scoring.
`HYPH` (inside a word), `SYM` (in a range), `NFP` (in a line of dashes) and `.` (at the end of a sentence)
stay as in EWT. `build.py DATA --own-labels FOLDER` trains a model with EWT's own labels, for comparison.

The model is an averaged structured perceptron (Collins 2002) with the usual features of tokens and with word
classes from plain text: by neighbouring words, by the tags that a first tagger assigns to them, and by their
capitals. It was trained on tagged sentences, and on sentences that
a slow teacher tagged: a neural network over two layers of the encoder of the pack `disambig_en` (`recipe.py`
describes the steps, `teacher.py` the network). Tagging does not need the encoder. The recipe was chosen on
left-out genres and on the development part. Anyone with the data can build it with one command, which also
writes this card:

    python corpora/disambig_en_tagger/build.py DATA

(`--held-out GENRE ...` and `--score` compute the figures below.)

## What it was made from

* UD English EWT (CC BY-SA 4.0), training part: blogs, e-mail, newsgroups, answers and reviews of the 2000s;
  {examples:,} words. Calibrated on its development part.
* MASC with NOAD's senses (CC BY 4.0), 20 genres: the part of speech of content words that have a sense; the
  teacher filled in all other tags.
* The CRAFT treebank (CC BY 3.0), biomedical articles, {n_craft:,} sentences: tags of words. Because its
  conventions differ, tags of punctuation, numbers and letters, and whether a noun is a name, were filled in.
* Plain text, tagged by the teacher: {plain_share:.0%} of the sentences of the text that the word classes come
  from. Together with MASC and CRAFT {more:,} words.
* The encoder (Apache 2.0 and others, see the card of `disambig_en`): only the teacher reads its states.
* Word classes: {n_classes:,} words of plain text (CC BY, CC BY-SA, CC0, OGL, MIT, BSD, Apache 2.0, public
  domain; the card of the pack `disambig_en` names the sources of the older part): up to 2 million tokens each
  of essays, guides, manuals, encyclopedic and mixed text, up to 0.7 million of each of seven other domains.

The pack only contains weights under hashes; the texts cannot be reconstructed from them. {size:.1f} MB.
"""

LIMITS = """\
## Limits

* The training text is web text that is ten to twenty years old, edited and unedited; other text is harder
  (see the genres left out).
* `pos_` follows from the tag, with lists of words for auxiliaries, conjunctions and pronouns: it does not
  distinguish whether "that" is a pronoun or a determiner.
* Sentence boundaries are those of the Doc; if it has none, sentences end at full stops. Words are spaCy's
  tokens: with a tokenisation other than EWT's (which spaCy's English one resembles) tags are worse.
"""


def write_card(home: Path, figures: dict[str, Any]) -> None:
    """Write ``README.md`` into `home`."""
    from disambig.models import load_model

    weights = home / "models" / "tag" / "weights.npz"
    model = load_model(weights.parent)
    classes = model.extractors[0].classes
    parts = [
        INTRODUCTION.format(
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
        LIMITS,
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
