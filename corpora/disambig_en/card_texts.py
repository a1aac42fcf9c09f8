"""What the pack's card says in words, whatever its build measured."""

from __future__ import annotations

INTRODUCTION = """\
# disambig_en: the English pack

N-gram counts, a model of words in context, and trained models for the tasks *preposition*, *spelling*,
*article*, *form*, *slip*, *doubled* and *it*. It comes with `disambig` and is found by its entry point;
`disambig counts info` shows the tables' own headers. Made by one command, which anyone with the data can
repeat (about three hours):

    python corpora/disambig_en/build.py DATA

(`--score`, `--people`, `--trust`, `--all-counts`, `--leave-out`, `--leave-out-kenlm` and `--curve` make the
figures below.)
This card is written by it.
"""

SOURCES = """\
## What it was made from

| domain | words | texts | licences of the texts |
|---|---|---|---|
| fiction | 52.1M | novels, stories, essays, mostly 1880-1960 (Gutenberg and others) | public domain (US) |
| science | 17.1M | eLife articles 2012-2016, arXiv abstracts, biomedical articles (CRAFT) | CC BY, CC0 |
| speeches | 11.5M | UN General Debate 1946-2024, US inaugural and State of the Union | CC0, public domain |
| textbooks | 7.2M | OpenStax textbooks | CC BY 3.0 / 4.0 |
| health | 2.9M | NIH health information | CC BY 4.0 |
| technical | 1.6M | web documentation, Python enhancement proposals | CC BY-SA 2.5, CC0 |
| government | 0.6M | US and UK government writing, World Factbook | public domain, OGL |
| mixed | 0.8M | Wikipedia sentences, MASC, children's stories | CC BY-SA 4.0, open, CC BY |
| essays | 8.8M | open journalism, blogs, lessons, 2004-2026 | CC BY, CC BY-SA, CC0, BSD, MIT |
| manuals | 6.9M | documentation of software, proposals | CC BY, Apache 2.0, CC BY-SA, MIT, BSD |
| guides | 2.6M | handbooks, guides of public services | CC0, OGL, Apache 2.0, CC BY, CC BY-SA |
| encyclopedic | 6.1M | 4,600 Wikipedia articles | CC BY-SA 3.0 |

Of fiction every third paragraph is counted, of all others each one: half of all text is old fiction, and
few write so today.

The judges, which tell mistakes from words that are right, were fitted to
mistakes that people made and corrected in the histories of open documentation projects, and to paragraphs of
these projects that nobody touched (the training part of 129 projects under open licences: CC BY, CC BY-SA,
CC0, Apache 2.0, MIT, BSD and others); they keep no sentence, but weights of words, pairs of words, and words
with what stands beside them.

Only figures derived from these texts are here: counts of n-grams under hashes, and weights; no text can be
read from them. Where a text's licence asks for it (CC BY, CC BY-SA) this card names the source. What kind of
word each word mostly is, by which head words of prepositions are found (in the plugin
`disambig_variance_svm`), was told by a tagger that learned from UD English EWT (CC BY-SA 4.0). The model of
*it* was trained on the 2,165 labelled "it" of QA-It (Lee, Lutz and Choi 2016: Yahoo! Answers; Apache 2.0)
and on those of UD English EWT, less its test part (CC BY-SA 4.0); what the frames of an "it" say, and which
words follow "its" and "it's", was learned from the counted text (in the plugin). The models of prepositions
and spelling have networks over the words around a place, learned from the counted text itself; all their
other weights were trained, tuned and tested on other paragraphs of the same sources, by document: 60 % to
learn from, 20 % to tune strengths, calibration and thresholds, 20 % for the scores below; none of them was
counted or seen by a network.

The model of words in context (`words`) learned from the counted text: nine tenths of the fiction that is
counted, half of the science, two fifths of the speeches, half as much again of the encyclopedic text and
twice the essays, manuals, guides, technical and mixed text, 115 million tokens, once each in random order
(an hour on two cores). Which words are forms of which comes from the tables of spacy-lookups-data (MIT; its
exceptions are WordNet's) and from rules of spelling, for words that were counted (`relations.py`). The
models of articles, forms, slips and doubled words weigh its scores beside the n-grams of
`words/ngrams.counts`, by weights learned from a sixth of the held-out paragraphs; their judges are as
above.
"""

WEAKNESSES = """\
## Known weaknesses

* A fifth of the text is fiction of 1880-1960. Mistakes were learned from technical documentation.
* Scores are in-domain (other paragraphs of the same sources) unless the table says otherwise.
* Random substitutions are easier to find than the mistakes that people make, which are near-synonyms; the
  judge looks for those that people make, and finds fewer of the others.
* Prepositions: several are often right at the same place. Accuracy counts only the author's own as right.
* "It": of the weather, dates and fixed phrases some are missed that no pattern tells; treebanks label few of
  them, or otherwise (99 of 100 plain sentences of ours are right; of 297 by which patterns were chosen 271).
* Quotes, code, URLs and names are left alone, so errors in them are not found (a third of fiction).
* Confusion sets of your own are decided by what the table holds of their words: n-grams with a preposition
  or a word of the sets that ship, and frequent ones besides. Each decision's coverage says how much it was.
"""
