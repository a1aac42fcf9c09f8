"""How a model of words in context is learned: what can be set, and what cannot be meant."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from disambig.errors import UserError
from disambig.features.cloze.model import LARGEST

NEGATIVES = 64
"""Words that all places of a batch compete with, drawn by the square root of their frequency."""
EMPTY = 0.25
"""Share of the places between two words that is learned from: what stands there is no word."""
SPARSE = 40.0
"""The rate of embeddings and outputs, of which a batch sees a part, is so many times that of the others."""
LAST = 0.03
"""Share of the rate to which it falls."""
WARM_UP = 50
"""Steps over which the rate rises first: at once the full one throws the first words far off."""
_EXACT = 2**24


def check_whole(name: str, value: object, *, least: int) -> None:
    """Raise UserError D993 for a setting that is no whole number, or too small."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise UserError("D993", setting=name, value=value, wanted=f"a whole number from {least} on")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What `learn_cloze` takes.

    Raises
    ------
    UserError
        D993 for a value that cannot be meant, or layers too wide for sums of small integers to be exact.
    """

    dimensions: int
    hidden: int
    left: int
    right: int
    epochs: int
    seed: int
    batch: int
    rate: float

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if name == "rate":
                if not isinstance(value, float) or not 0 < value < 1:
                    raise UserError("D993", setting=name, value=value, wanted="a number between 0 and 1")
                continue
            check_whole(name, value, least={"seed": 0, "dimensions": 2}.get(name, 1))
        widest = {"dimensions": (_EXACT - 1) // LARGEST**2, "hidden": (_EXACT - 1) // (255 * LARGEST)}
        for name, most in widest.items():
            if getattr(self, name) > most:
                raise UserError("D993", setting=name, value=getattr(self, name), wanted=f"{most} at most")

    @property
    def places(self) -> int:
        """Words around a place that are seen."""
        return self.left + self.right
