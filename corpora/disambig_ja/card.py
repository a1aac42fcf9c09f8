"""Write the pack's card, README.md, from the figures that its build measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

NAMES = {
    "wikiannot": "encyclopedia, readings by people",
    "wikinews": "news",
    "wikipedia": "encyclopedia",
    "dialogue": "dialogue",
    "tanaka": "short sentences",
    "law": "statutes",
    "novels": "novels",
}
INTRODUCTION = """\
# disambig_ja: kana to kanji

What `disambig convert` and `disambig_boosted_lasso.load_converter` convert Japanese with: a lexicon of
{entries:,} words, a language model of words (trigrams, {ngrams:,} n-grams, 8 bits) and one for each of
five kinds of text.

    pip install ./corpora/disambig_ja
    echo きょうはいいてんきですね。 | disambig convert
    disambig convert kana.txt --domain dialogue --nbest 5

It is a distribution of its own, found by its entry point, and runs where it is named. Converting needs
no Japanese software; `disambig adapt`, which learns from your own text, needs `pip install
'disambig[ime]'`. Made by one command, which anyone with the data can repeat:

    python corpora/disambig_ja/build.py DATA --output corpora/disambig_ja

(`--test` for the figures of tests alone.) This card is written by it.

## What it was made from

| text | sentences | licence |
|---|---:|---|
{texts}

SudachiPy cut the text into words and read them (mode A), with a table of what it gets wrong. Of
WikipediaAnnotatedCorpus the sentences were taken whose readings by Sudachi are those that people gave.
Of statutes one stretch of a hundred sentences in {law} is in the background model, of novels one in
{novels}; their domains have all. Words that the text lacks, of up to {longest} characters, are those of
SudachiDict (core), Apache License 2.0, Copyright Works Applications Co., Ltd.; it holds words of UniDic
(BSD, Copyright The UniDic Consortium) and of NEologd (Apache License 2.0). How often words are used in
general, which these texts do not say, was taken from the package wordfreq (Robyn Speer, CC BY-SA 4.0; of
Wikipedia, subtitles of OPUS OpenSubtitles, ParaCrawl and other text of the web, and Google Books Ngrams).

Licence of the whole: CC BY-SA 4.0, as that of the dialogues and of Wikipedia's text asks. Here are
words, counts of them, and probabilities of words behind others; no text can be read from them.
{size:.1f} MB{sizes}.
"""
TEXTS = {
    "wikiannot": ("WikipediaAnnotatedCorpus, Wikipedia with readings", "CC BY-SA 4.0"),
    "wikipedia": ("Wikipedia", "CC BY-SA 4.0"),
    "wikinews": ("Wikinews", "CC BY 2.5"),
    "dialogue": ("RealPersonaChat, dialogues", "CC BY-SA 4.0"),
    "tanaka": ("Tanaka corpus, short sentences", "CC BY 2.0 FR"),
    "law": ("statutes of Japan", "no copyright"),
    "novels": ("Aozora Bunko, novels in modern kana", "public domain in Japan"),
}
TESTED = """\
## How good

Edits of characters for each 100 of what is written (CER, %): of the first candidate, and of the best of
the first twenty. "In its domain" is with `--domain`. The sentences are from documents that nothing was
learned or chosen from; what is typed was read by Sudachi, as the text to learn from, so that words it
reads wrong cost nothing here.

| text | sentences | first | best of 20 | in its domain: first | best of 20 |
|---|---:|---:|---:|---:|---:|
{rows}
"""
CHECKED = """\
Sentences of the web with readings checked by people (KWDLC, {sentences:,} sentences, from which nothing
was learned; mistakes were looked at in other documents of it): **{first:.2f}**, best of twenty {oracle:.2f}.
On sentences of that corpus mozc makes 5.3, libkkc 9.1, anthy 9.3.
"""
CHOSEN = """\
What things were chosen by (the first third of held-out documents; of WikipediaAnnotatedCorpus each
eighth document, with readings by people):

| text | sentences | first | best of 20 | in its domain: first | best of 20 |
|---|---:|---:|---:|---:|---:|
{rows}
"""
REST = """\
## Size and speed

| part | MB |
|---|---:|
{sizes}

What size costs, measured with an earlier recipe on the sentences to choose by (CER, %, by the language model
alone):

| words of the dictionary | trigrams seen once | MB | news | encyclopedia | dialogue | short sentences |
|---|---|---:|---:|---:|---:|---:|
| up to 8 characters (1.2 million in all) | kept | 14.8 | 3.12 | 6.49 | 5.12 | 4.41 |
| up to 5, as here (0.9 million) | kept | 12.0 | 3.16 | 6.51 | 5.11 | 4.43 |
| up to 4 (0.7 million) | kept | 10.6 | 3.34 | 6.55 | 5.10 | 4.45 |
| up to 8 | left out | 11.4 | 3.12 | 6.84 | 5.13 | 4.41 |

Language models of domains without bigrams seen twice and trigrams seen three times are a sixth smaller than
without those seen once and twice, and as good.

No weights that rank the candidates again (BLasso, Gao, Suzuki and Yu 2006) are here: the language model has
learned from text of the same kinds. Weights learned from 42,749 lists were better on four of seven kinds of
sentences to choose by (encyclopedia 6.14 to 5.74, dialogue 4.95 to 4.79), and worse on five of seven to test
on (dialogue 4.39 to 4.65, KWDLC 6.77 to 6.91; statutes 2.21 to 1.96). Weights are for text of other kinds:
`disambig adapt` learns them from yours.

{lines:.0f} lines a second of {characters:.0f} characters on one core of a busy machine, in blocks; loading
takes some five seconds.

## Limits

* What is typed whole is converted whole: there is no way to say where a word ends, nor does it learn from
  what you choose.
* Names are guessed from a dictionary: of several spellings the one that text has, or the first.
* Kana that Sudachi reads otherwise than people do (a few words in a hundred sentences) was learned so.
* Novels are of old authors, in modern kana; their spellings vary, which no converter can guess.
* Numbers, Latin letters and signs stay as they are typed.
"""


def write_card(home: Path, figures: dict[str, Any]) -> None:
    """Write ``README.md`` into `home`."""
    from recipe import LONGEST, SHARES

    texts = [f"| {name} | {figures['text'][key]:,} | {licence} |" for key, (name, licence) in TEXTS.items()]
    sizes = figures["sizes"]
    parts = [
        INTRODUCTION.format(
            entries=figures["entries"],
            ngrams=figures["ngrams"],
            texts="\n".join(texts),
            longest=LONGEST,
            size=sizes["all"],
            sizes=" in all",
            **SHARES,
        )
    ]
    if "test" in figures:
        parts.append(TESTED.format(rows=_rows(figures["test"])))
    if "checked" in figures:
        parts.append(CHECKED.format(**_percent(figures["checked"])))
    parts.append(CHOSEN.format(rows=_rows(figures["choosing"])))
    listed = "\n".join(f"| {name} | {size:.1f} |" for name, size in sizes.items())
    parts.append(REST.format(sizes=listed, **figures["speed"]))
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
    shares = {name: 100 * at[name] / at["characters"] for name in ("first", "oracle")}
    return {**at, **shares}
