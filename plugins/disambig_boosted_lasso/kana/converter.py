"""The converter: kana in, the k best texts out, as lists of candidates with their words and costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import UserError
from disambig.api.language_models import LanguageModel, Mixture, Sentences, Vocabulary, estimate
from disambig.api.measures import costs_of, measure_named
from disambig.api.tasks import CandidateLists

from .characters import is_kana, kana_of
from .decoding import Decoder, Paths
from .lexicon import NUMBERS, Lexicon
from .lexicon_tables import lexicon_tables
from .ngrams import tables_of
from .pieces import pieces_of
from .segmented import Segmented
from .settings import ConverterSettings
from .spelling import learn_spelling
from .written import Writer

MOST = 1000
RARE = 2
"""Kana words that text has so often at most tell how unknown ones are spelt."""


@dataclass(frozen=True, eq=False)
class Converter:
    """Converts kana to kanji by a lexicon and a language model of words; `learn` makes one of text.

    Kana that no entry reads comes out as hiragana or katakana, what is no kana as it stands; so every line
    has a conversion. Half-width kana and katakana are read as hiragana. A line longer than
    `pieces.LONGEST` is converted in pieces.

    Attributes
    ----------
    lexicon : Lexicon
    model : LanguageModel or Mixture
        Of the words of the lexicon, or those of them that text has often enough.
    spelling : array of float64, shape (2, 88, 88)
        Of unknown words (`learn_spelling`).
    settings : ConverterSettings
    """

    lexicon: Lexicon
    model: LanguageModel | Mixture
    spelling: NDArray[np.float64]
    settings: ConverterSettings = field(default_factory=ConverterSettings)

    @classmethod
    def learn(
        cls,
        text: Segmented,
        *,
        settings: ConverterSettings | None = None,
        dictionary: Lexicon | None = None,
        **estimation: Any,
    ) -> Converter:
        """Return the converter of some text.

        Parameters
        ----------
        text : Segmented
        settings : ConverterSettings, optional
        dictionary : Lexicon, optional
            Words to know besides.
        **estimation
            As for `estimate`, such as ``min_counts``; the order is 3.

        Raises
        ------
        UserError
            D676 for text without words.
        """
        settings = settings or ConverterSettings()
        if not len(text.ids):
            raise UserError("D676")
        lexicon = Lexicon.of(text)
        counts: Counter[str] = Counter()
        for unit, count in zip(_units(text, settings), _counts(text), strict=True):
            counts[unit] += count
        words = (unit for unit, count in counts.most_common() if count >= settings.least)
        vocabulary = Vocabulary.of([*NUMBERS[1:], *words])
        model = estimate(sentences_of(text, vocabulary, settings), vocabulary, **estimation)
        rare = (
            surface for surface, count in zip(lexicon.surfaces, lexicon.counts, strict=True) if count <= RARE
        )
        hiragana, katakana, *_ = settings.unknown
        spelling = learn_spelling(filter(is_kana, rare), shares=(hiragana, katakana))
        return cls(
            lexicon if dictionary is None else lexicon.with_more(dictionary), model, spelling, settings
        )

    def adapted(
        self,
        text: Segmented,
        *,
        weight: float | None = None,
        held_out: Segmented | None = None,
        **estimation: Any,
    ) -> Converter:
        """Return a converter of this one's language model mixed with one of other text, and both's words.

        MAP interpolation (Gao, Suzuki and Yu 2006, section 2.3).

        Parameters
        ----------
        text : Segmented
            Cut as the settings say.
        weight : float, optional
            Of this converter's model; else the one under which `held_out` is most probable, and without
            that each tenth sentence of `text`.
        held_out : Segmented, optional
        **estimation
            As for `estimate`.

        Raises
        ------
        UserError
            D676 for text without words.
        """
        if not len(text.ids):
            raise UserError("D676")
        background = self.background
        vocabulary = background.vocabulary.extended(_units(text, self.settings))
        told = sentences_of(text, vocabulary, self.settings)
        if weight is None:
            apart = np.arange(len(told)) % 10 == 9
            learn = told
            if held_out is not None:
                tuned = sentences_of(held_out, vocabulary, self.settings)
            elif not len((tuned := told.take(np.flatnonzero(apart))).ids):
                raise UserError("D676")
            else:
                learn = told.take(np.flatnonzero(~apart))
            trial = Mixture(background, estimate(learn, vocabulary, **estimation), 0.5)
            weight = trial.best_weight(tuned)
        model = Mixture(background, estimate(told, vocabulary, **estimation), weight)
        return replace(self, lexicon=self.lexicon.with_more(Lexicon.of(text)), model=model)

    @property
    def background(self) -> LanguageModel:
        """The language model; of a mixture the one that was there first."""
        return self.model.background if isinstance(self.model, Mixture) else self.model

    def nbest(
        self, lines: Sequence[str], k: int = 20, *, references: Sequence[str] | None = None
    ) -> CandidateLists:
        """Return the k best conversions of each line, the best first; fewer where there are no more.

        Parameters
        ----------
        lines : sequence of str
            Kana; an empty line has one candidate, the empty text.
        k : int
            1 to 1,000.
        references : sequence of str, optional
            What each line should be: costs are then edits of characters, else NaN.

        Returns
        -------
        CandidateLists
            Texts, all different in a list; ln P as scores; words with their parts of speech.

        Raises
        ------
        UserError
            D675 for a k that is none, D677 for a text in place of lines.
        ValueError
            Where there is not a reference for each line.
        """
        if isinstance(lines, str):
            raise UserError("D677", value=lines[:40])
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= MOST:
            raise UserError("D675", setting="k", value=k, wanted=f"a whole number from 1 to {MOST:,}")
        if references is not None and len(references) != len(lines):
            raise ValueError(f"{len(references)} references for {len(lines)} lines")
        kana = [kana_of(line) for line in lines]
        pieces = [pieces_of(line) for line in kana]
        counts = [len(each) for each in pieces]
        paths = self._decoder.paths([piece for each in pieces for piece in each], int(k))
        found = self._writer.lists(_moved(paths, pieces), counts, kana, int(k))
        if references is None:
            return found
        beside = np.repeat(np.arange(len(lines)), np.diff(found.offsets)).tolist()
        costs = costs_of(measure_named("cer"), list(found.texts), [references[i] for i in beside])
        return replace(found, costs=costs)

    def save(self, folder: str | Path, *, bits: int = 32) -> None:
        """Write the converter into a folder; see `stored.save_converter`."""
        from .stored import save_converter

        save_converter(self, folder, bits=bits)

    @staticmethod
    def load(folder: str | Path) -> Converter:
        """Read the converter in a folder; see `stored.load_converter`."""
        from .stored import load_converter

        return load_converter(folder)

    def best(self, lines: Sequence[str]) -> list[str]:
        """Return the best conversion of each line."""
        return list(self.nbest(lines, 1).texts)

    @cached_property
    def _tables(self) -> Any:
        return lexicon_tables(self.lexicon, self.model.vocabulary, self.spelling, self.settings)

    @cached_property
    def _decoder(self) -> Decoder:
        parts: list[tuple[Any, float]] = [(self.model, 0.0)]
        if isinstance(self.model, Mixture):
            weights = np.array([self.model.weight, 1.0 - self.model.weight])
            with np.errstate(divide="ignore"):
                parts = list(
                    zip((self.model.background, self.model.adaptation), np.log(weights), strict=True)
                )
        levels = [(model.levels, float(weight)) for model, weight in parts]
        return Decoder(tables_of(levels, len(self.model.vocabulary)), self._tables[0])

    @cached_property
    def _writer(self) -> Writer:
        return Writer(self.lexicon, self._tables[1])


def sentences_of(text: Segmented, vocabulary: Vocabulary, settings: ConverterSettings) -> Sentences:
    """Return segmented text as a language model's sentences."""
    numbers = vocabulary.ids_of(_units(text, settings))
    return Sentences(numbers[text.ids].astype(np.int32), text.offsets)


def _units(text: Segmented, settings: ConverterSettings) -> list[str]:
    return [settings.unit_of(surface, reading) for surface, reading, _ in text.entries]


def _counts(text: Segmented) -> list[int]:
    counts: list[int] = np.bincount(text.ids, minlength=len(text.entries)).tolist()
    return counts


def _moved(paths: Paths, pieces: Sequence[Sequence[str]]) -> Paths:
    """Return paths whose words say where they stand in their line, not in their piece."""
    if all(len(each) == 1 for each in pieces):
        return paths
    starts = [sum(map(len, each[:i])) for each in pieces for i in range(len(each))]
    sizes = np.diff(paths.word_offsets)
    beside = np.repeat(np.repeat(starts, np.diff(paths.offsets)), sizes)
    words = paths.words.copy()
    words["start"] += beside
    words["end"] += beside
    return replace(paths, words=words)
