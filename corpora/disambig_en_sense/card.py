"""Write the pack's card, README.md, from the figures that its build measured."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

INTRODUCTION = """\
# disambig_en_sense: senses of frequent English words

The model of the spaCy component `disambig_sense`: it chooses the sense of a noun, verb, adjective or adverb
in the New Oxford American Dictionary (3rd edition, 2012), for {n_words:,} words with {n_senses:,} senses.

    pip install ./corpora/disambig_en_sense

It is a separate distribution, registered by its entry point, and only runs if it is named
(`nlp.add_pipe("disambig_sense")`, `disambig annotate --model sense`). It needs tags: those of the Doc
(`disambig_tagger`, or any other tagger with Penn Treebank tags); plain texts are tagged by
`disambig_en_tagger`.

`span.label_` is the sense's id in the dictionary, such as `m_en_us1219574.005`. The dictionary's
definitions are not free. `span.kb_id_` contains, if they are known, the keys of WordNet's senses with the
same meaning (`account%1:10:00::`), which you can look up in WordNet; their first number is the part of
speech, the second one the field (`1:14` groups of people, `1:15` places, `2:30` change: WordNet's
lexicographer files). The learner is regularised least squares with kernels (Popescu 2004), one model per
word, over neighbouring words and tags, stems in the context, vectors of the context words (48 numbers each,
from plain text), and the vector of the word in its sentence (384 numbers, from the encoder of
`disambig_en`, which reads every sentence with such a word). Anyone with the data can build the pack with
one command, which also writes this card:

    python corpora/disambig_en_sense/build.py DATA

(`--score` only computes the figures.)

## What it was made from

* MASC, {n_documents} documents of 20 genres, spoken and written, with crowdsourced senses: the NOAD
  annotations of Google's "word sense disambiguation corpora" (Yuan et al. 2016), CC BY 4.0, with their map to
  WordNet. Its authors note that "The data is not guaranteed to be 100% accurate".
* Every lemma and part of speech with {least} or more labelled occurrences; at most {most:,} of each.
* Vectors of 40,000 words: from 13.7 million words of fiction, open journalism and blogs, encyclopedia
  articles, textbooks, guides, speeches, science, government, manuals and health information, in the public
  domain or under open licences (CC0, CC BY, CC BY-SA, MIT, BSD, Apache 2.0). They include no text of MASC.
* The encoder of `disambig_en`. The plain text that it was tuned on includes text of MASC, without senses.

{n_rest:,} more words have {rest} to {below} labelled occurrences, too few for a model. Their most frequent
sense is returned only on request, by `nlp.add_pipe("disambig_sense", config={{"fallback": True}})` or
`model.with_fallback()`; such a decision uses no evidence: `span._.disambig["asked"]` is 0.
{fallback}

Licence: CC BY 4.0; the keys are those of WordNet 3.0, Copyright 2006 by Princeton University. The pack
contains weights and the words that they belong to; the texts cannot be reconstructed from them. {size:.1f}
MB.
"""

EXPLAINED = """\
{folds}-fold cross-validation over documents, in %. "Most frequent" is the most frequent sense in the
training folds. The model decides on plain text, with tags by `disambig_en_tagger` {tagger} (since 0.2.0
it is trained on parts of speech from the same documents, which makes the figures slightly better): if the
tagger gives an occurrence another part of speech, it is not attempted. "Certain" is the component's
default: the best sense must be at least {times:.1f} times as probable as the next one; a word with only
one sense in MASC always gets that one. Settings were chosen by cross-validation with genres left out, on
samples of the same words; these figures come from one run. Before the encoder, with tagger 0.1.0: 87.5 %
of all, and 92.2 % of the 90.8 % certain ones; 86.8 % of all with genres left out.
"""
GENRES = """\
Genres left out: {folds} models, each tested on {what} that it was not trained on. The mean probability is
that of the answers; the error is the expected calibration error (ten bins; chance alone causes about 1 % at
these sizes).

| genre | occurrences | most frequent | right of all | right of the attempted | mean probability | error |
|---|---:|---:|---:|---:|---:|---:|"""
LIMITS = """\
## Limits

* Words that are not in its inventory get no sense, and senses that were rare in MASC are never chosen.
* A fifth of the words have one sense in MASC: they always get that one, whatever the context.
* Other rare senses lose against frequent ones: most errors choose the most frequent sense.
* Fixed phrases ("of course", "on account of") and proper names are decided like other words.
* Genres: much newswire, e-mail, essays and fiction from 1990 to 2010; other text is harder.
* The senses of "be", "have", "do" and similar verbs are the dictionary's, including auxiliaries.
* Speed: with the tagger, a word of text took 0.7 to 1.0 ms of one core in three runs, about half for the
  encoder (a sentence of more than 54 words is read again for every word with senses).
"""


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
        INTRODUCTION.format(
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
        LIMITS,
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
        EXPLAINED.format(
            folds=figures["folds"], times=math.exp(margin), tagger=pack("disambig_en_tagger").version
        ),
        "| | occurrences | most frequent | right of all | right of the attempted "
        "| certain: attempted | right |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    order = [name for name in ("nouns", "verbs", "adjectives", "adverbs", "all") if name in figures["parts"]]
    for name in order:
        at = figures["parts"][name]
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
    n = figures["n"]
    return (
        f"It is right in {share} % of their {n:,} occurrences "
        "(cross-validated over documents, with given parts of speech)."
    )


def _genres(figures: dict[str, Any]) -> str:
    if not figures:
        return ""
    one_genre_each = figures["folds"] == len(figures["genres"])
    lines = [GENRES.format(folds=figures["folds"], what="a genre" if one_genre_each else "genres")]
    for name, at in [*figures["genres"].items(), ("all", figures["parts"]["all"])]:
        own, sure = at["margins"]["0.0"], figures["reliability"][name]
        lines.append(
            f"| {name} | {at['n']:,} | {_percent(at['majority'], at['n'])} "
            f"| {_percent(own['right'], at['n'])} "
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
    for margin, own in at["margins"].items():
        lines.append(
            f"| {margin} | {_percent(own['answered'], at['n'])} | {_percent(own['right'], own['answered'])} |"
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
