"""What is asked of the places of prepositions: extractors of the core with English weights and words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disambig.api.features import GapOdds, Headwords, WordNetwork

from .preposition import GAPS

PARTS_OF_SPEECH = Path(__file__).parent / "heads" / "parts_of_speech"
"""What kind of word each English word mostly is."""


@dataclass(frozen=True, slots=True)
class PrepositionOdds(GapOdds):
    """Extractor of the log-odds that no preposition stands in a place, whichever it would be.

    Parameters
    ----------
    gaps : path
        A folder with the weights for that.
    """

    gaps: str | Path = GAPS


class PrepositionHeads(Headwords):
    """Extractor of how probable each preposition is between the head words of its place.

    Parameters
    ----------
    counts : str, path or CountTable
        A count table with headword n-grams.
    parts_of_speech : path
        A folder with kinds of words, the one that the table was counted with.
    """

    def __init__(self, *, counts: Any, parts_of_speech: str | Path = PARTS_OF_SPEECH) -> None:
        super().__init__(counts=counts, parts_of_speech=parts_of_speech)


@dataclass(frozen=True, slots=True, eq=False)
class PrepositionNetwork(WordNetwork):
    """A word network that is told the head words of a place, too.

    Parameters
    ----------
    near, far, vocabulary, dimensions, hidden, examples, epochs, seed : int
        As of `WordNetwork`.
    parts_of_speech : path
        A folder with kinds of words.
    """

    parts_of_speech: str | Path | None = PARTS_OF_SPEECH
