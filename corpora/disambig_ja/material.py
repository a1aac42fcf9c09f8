"""The texts that the pack is trained and tested on; segmented texts are cached in a folder."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from disambig_boosted_lasso.kana import (
    SegmentedText,
    fold_blocks,
    full_width,
    has_kanji,
    is_native,
    join_readings,
    normalise_kana,
    read_segmented,
    segment_lines,
    write_segmented,
)
from numpy.typing import NDArray

from disambig.experiments import text_lines

SOURCES = ("wikinews", "wikipedia", "dialogue", "tanaka", "law", "novels")
ANNOTATED = "wikiannot"
CHECKED = "kwdlc"
STRETCH = 100
"""Number of adjacent sentences of a source that are used, or left out, together."""
CHOOSING_EVERY = 8
"""Every eighth document with readings by people is for choosing settings and examining errors."""
_DIGIT = re.compile("[0-9０-９]")
Log = Callable[[str], object]


@dataclass(frozen=True)
class JapaneseTexts:
    """The texts of a data folder."""

    data: Path
    work: Path  # cache of segmented text
    log: Log  # called with a line for each text that is segmented

    def text(self, name: str) -> SegmentedText:
        """Return the segmented training text of a source.

        Sentences that also occur in the text for choosing or testing are left out: the sentences of
        WikipediaAnnotatedCorpus come from the Wikipedia text.
        """
        if name == ANNOTATED:
            return self._with_agreeing_readings()
        text = self._segmented(name)
        written = map(full_width, text.column(0))
        return text.take(np.flatnonzero([sentence not in self._read_sentences for sentence in written]))

    def held_out(self, name: str, *, test: bool = False) -> SegmentedText:
        """Return held-out text of a source: the first third is for choosing, the rest for testing."""
        text = self._segmented(f"{name}.heldout")
        third = len(text) // 3
        return text[third:] if test else text[:third]

    def read_by_people(self, name: str, *, choosing: bool = False) -> tuple[list[str], list[str]]:
        """Return sentences with readings checked by people, as (kana input, written text)."""
        rows = list(self._read(name, choosing=choosing))
        return [kana for _, _, kana in rows], [text for _, text, _ in rows]

    def frequencies(self) -> dict[str, float]:
        """Return the general frequencies of spellings, from the package wordfreq."""
        from wordfreq import get_frequency_dict

        return dict(get_frequency_dict("ja", wordlist="best"))

    @cached_property
    def _read_sentences(self) -> frozenset[str]:
        """The sentences with readings by people that are for choosing or testing."""
        parts = ((ANNOTATED, True), (CHECKED, True), (CHECKED, False))
        return frozenset(
            written for name, choosing in parts for _, written, _ in self._read(name, choosing=choosing)
        )

    def _segmented(self, name: str) -> SegmentedText:
        """Return a text cut into words with readings, which is kept in the cache."""
        path = self.work / f"{name}.tsv"
        if not path.is_file():
            self.log(f"segmenting {name}")
            write_segmented(path, segment_lines(text_lines(self.data / "japanese" / f"{name}.txt.xz")))
        return read_segmented(path)

    def _with_agreeing_readings(self) -> SegmentedText:
        """Return the sentences for which Sudachi's readings agree with those given by people."""
        annotated = [(text, kana) for _, text, kana in self._read(ANNOTATED, choosing=False)]
        pairs = zip(annotated, segment_lines(text for text, _ in annotated), strict=True)
        return SegmentedText.from_sentences(
            words for (_, kana), words in pairs if join_readings(words) == kana
        )

    def _read(self, name: str, *, choosing: bool) -> Iterator[tuple[str, str, str]]:
        """Yield document, written text and kana of the sentences with readings by people."""
        path = self.data / "japanese" / f"{name}.gold.traindev.tsv.xz"
        rows = [line.split("\t") for line in text_lines(path)]
        documents = sorted({document for document, *_ in rows})
        chosen = {document for number, document in enumerate(documents) if number % CHOOSING_EVERY == 0}
        for document, _, text, words in rows:
            if not has_kanji(text) or text.startswith("（"):
                continue  # only a reading in brackets, or a name spelt in kana
            if (document in chosen) != choosing or (name == ANNOTATED and not text.endswith("。")):
                continue  # headings
            pairs = [_split_reading(word) for word in words.split(" ")]
            if any(is_native(surface) and _DIGIT.search(surface) for surface, _ in pairs):
                continue  # users type digits, but the annotated reading spells the number out in kana
            kana = "".join(reading if is_native(surface) else surface for surface, reading in pairs)
            yield document, full_width("".join(surface for surface, _ in pairs)), normalise_kana(kana)


def _split_reading(annotated: str) -> tuple[str, str]:
    """Return a word and its first reading, from ``word/reading/reading``."""
    end = annotated.find("/", 1)
    return annotated[:end], annotated[end + 1 :].split("/")[0] or annotated[:end]


def stretches(n: int, every: int) -> NDArray[np.int64]:
    """Return the rows of every `every`-th block (see `STRETCH`) of `n` sentences."""
    return np.flatnonzero(fold_blocks(n, STRETCH) % every == 0)
