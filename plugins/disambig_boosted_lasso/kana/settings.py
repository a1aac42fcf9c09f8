"""What a converter is made with; saved with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from disambig.api import UserError

from .characters import has_kanji
from .lexicon import word_of

UNITS = ("spelling", "pair")


@dataclass(frozen=True, slots=True)
class ConverterSettings:
    """How text is made into a converter.

    Parameters
    ----------
    mode : str
        How long the words of the text are (`readings.words_of`): text to adapt to is cut alike.
    unit : str
        What a word is to the language model: its ``"spelling"``, whatever its reading (as in the paper), or
        the ``"pair"`` of spelling and reading.
    weighed : bool
        With spellings: whether P(reading | spelling) is counted, too; the paper has P(A | W) = 1.
    least : int
        Words that the text has fewer times are unknown ones to the language model, which so learns where
        such words stand; the lexicon has them all.
    unknown : four numbers
        How the probability of an unknown word is divided: any hiragana, any katakana, words of the lexicon
        that the language model does not know, and those of a dictionary.

    Raises
    ------
    UserError
        D671 for a unit that is none, D675 for other values.
    """

    mode: str = "A"
    unit: str = "pair"
    weighed: bool = True
    least: int = 2
    unknown: Sequence[float] = (0.02, 0.08, 0.3, 0.6)

    def __post_init__(self) -> None:
        object.__setattr__(self, "unknown", tuple(self.unknown))
        if self.unit not in UNITS:
            raise UserError("D671", setting="unit", value=self.unit, names=", ".join(UNITS))
        if self.least < 1:
            raise UserError("D675", setting="least", value=self.least, wanted="a whole number from 1 on")
        shares = list(self.unknown)
        if len(shares) != 4 or min(shares, default=0) <= 0 or sum(shares) > 1.0 + 1e-9:
            wanted = "four numbers above 0 that add up to one at most"
            raise UserError("D675", setting="unknown", value=self.unknown, wanted=wanted)

    def unit_of(self, surface: str, reading: str) -> str:
        """Return what a word is to the language model."""
        word = word_of(surface)
        if self.unit == "spelling" or word != surface or not has_kanji(surface):
            return word
        return f"{surface}/{reading}"
