"""The recipe of the pack: training of the converter and its domains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from disambig_boosted_lasso.kana import (
    ClassBigram,
    Converter,
    ConverterSettings,
    KanaLexicon,
    SegmentedText,
    general_usage,
    reading_usage,
    save_domain,
    sudachi_lexicon,
    with_voiced_readings,
)
from material import ANNOTATED, SOURCES, JapaneseTexts, stretches
from mozc import class_bigram, new_words, read_mozc
from numpy.typing import NDArray

from disambig.api.language_models import Mixture

LONGEST = 5
"""Maximum length of dictionary words in characters: longer words do not reduce errors."""
MOZC_WORDS, MOZC_LONGEST = 300_000, 8
"""Number of words that Mozc's dictionary adds, and their maximum length: phrases, compounds, katakana."""
CLASS_WORDS = 450_000
"""Number of words of Mozc's dictionary in the class bigram."""
CLASS_WEIGHT = 0.5
"""Weight of the class bigram: 0.4 is best on held-out text of four sources, 0.7 on KWDLC's for choosing."""
DOMAIN_CLASS_WEIGHTS = {"law": 0.0}
"""Other weights in domains: on statutes for choosing, the error rate is 0.81 % without, 0.89 % with 0.15."""
MARGIN = 15.0
"""Margin of the beam search: a quarter faster, with the same error rate on 2,774 sentences for choosing."""
DIGITS = (("〇", "まる"), ("〇", "ぜろ"))
"""Readings of zero that dictionaries lack; so 〇 is at least among the candidates."""
SHARES = {"law": 10, "novels": 20}
"""One in this many blocks is in the background: the language of these texts is unlike other text."""
DOMAINS = {
    "news": ("wikinews",),
    "dialogue": ("dialogue",),
    "law": ("law",),
    "novels": ("novels",),
    "encyclopedia": ("wikipedia", ANNOTATED),
}
HELD_OUT = {"news": "wikinews", "encyclopedia": "wikipedia"}
MIN_COUNTS = {2: 3, 3: 4}
"""Minimum counts of bigrams and trigrams in the language models of domains."""
NUMERAL = "名詞-数詞"
MIN_DOMAIN_COUNT = 2
"""Minimum count of a word in a domain to enter the vocabulary of its language model."""
N_CHOOSING = 700
"""Number of sentences of each source for choosing settings."""
Log = Callable[[str], object]


@dataclass(frozen=True)
class Recipe:
    """The steps from the texts to a folder."""

    material: JapaneseTexts
    log: Log

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The sources, in order."""
        return (ANNOTATED, *SOURCES)

    @cached_property
    def texts(self) -> list[SegmentedText]:
        """The text of each source."""
        return [self.material.text(name) for name in self.names]

    @cached_property
    def text(self) -> SegmentedText:
        """The text of all sources, concatenated."""
        return SegmentedText.concat(self.texts)

    @cached_property
    def source(self) -> NDArray[np.int64]:
        """The source of each sentence."""
        return np.repeat(np.arange(len(self.texts)), [len(text) for text in self.texts])

    @cached_property
    def in_background(self) -> NDArray[np.bool_]:
        """Whether each sentence is in the training text of the background model."""
        kept = np.ones(len(self.text), np.bool_)
        for name, every in SHARES.items():
            rows = np.flatnonzero(self.source == self.names.index(name))
            kept[rows] = False
            kept[rows[stretches(len(rows), every)]] = True
        return kept

    @cached_property
    def dictionary(self) -> KanaLexicon:
        """Dictionary words to add to those of the text."""
        return sudachi_lexicon(longest=LONGEST)

    def converter(self, folder: Path) -> Converter:
        """Train the pack's converter and its domains, save them, and return the converter as saved."""
        self.log(f"learning from {len(self.text):,} sentences")
        settings = ConverterSettings(margin=MARGIN)
        learned = Converter.learn(self.text.take(np.flatnonzero(self.in_background)), settings=settings)
        lexicon, classes = self.lexicon()
        replace(learned, lexicon=lexicon, classes=classes).save(folder, bits=8)
        # domains refer to the saved converter, whose probabilities are rounded to 8 bits
        saved = Converter.load(folder)
        for name in DOMAINS:
            self.log(f"domain {name}")
            save_domain(self.domain(saved, name), folder, name, bits=8)
        return saved

    def lexicon(self) -> tuple[KanaLexicon, ClassBigram]:
        """Return the words of the text and two dictionaries with their usage, and a class bigram."""
        words = KanaLexicon.from_text(self.text).with_more(self.dictionary)
        # the class bigram, and words that neither the text nor the other dictionary has
        mozc = read_mozc()
        frequencies, tags = mozc.frequencies(words)
        classes = class_bigram(mozc, frequencies, maximum=CLASS_WORDS, weight=CLASS_WEIGHT)
        classes = replace(classes, domain_weights=DOMAIN_CLASS_WEIGHTS)
        digits = KanaLexicon.counted([(*digit, NUMERAL) for digit in DIGITS], [0] * len(DIGITS))
        more = new_words(words, frequencies, tags, maximum=MOZC_WORDS, longest=MOZC_LONGEST)
        words = with_voiced_readings(words.with_more(more.with_more(digits)))
        # how usual a spelling is in general, and for its reading
        usage = general_usage(words, self.material.frequencies(), share=0.0)
        return replace(words, usage=usage + reading_usage(words, frequencies)), classes

    def domain(self, converter: Converter, name: str) -> Mixture:
        """Return a domain's mixture of language models, with the weight that fits held-out text best."""
        text = SegmentedText.concat([self.texts[self.names.index(source)] for source in DOMAINS[name]])
        held_out = self.material.held_out(HELD_OUT.get(name, name))
        adapted = converter.adapted(text, held_out=held_out, minimum=MIN_DOMAIN_COUNT, min_counts=MIN_COUNTS)
        assert isinstance(adapted.model, Mixture)
        return adapted.model

    def chosen_by(self) -> dict[str, tuple[list[str], list[str]]]:
        """Return the sentences for choosing settings by source, as (kana input, written text)."""
        kana, written = self.material.read_by_people(ANNOTATED, choosing=True)
        chosen = {ANNOTATED: (kana[:N_CHOOSING], written[:N_CHOOSING])}
        for name in SOURCES:
            text = self.material.held_out(name)[:N_CHOOSING]
            chosen[name] = text.column(1), text.column(0)
        return chosen
