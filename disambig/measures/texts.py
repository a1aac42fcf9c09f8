"""Measures of texts beside what they should be: error rate by edits, exact match; and costs made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.errors import UserError
from disambig.measures.contract import CostsTexts, Measure
from disambig.measures.edits import Unit, edits, sizes
from disambig.measures.outcomes import Outcomes
from disambig.measures.sums import Summed, columns

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ErrorRate(Summed):
    """Edits from what was chosen to the reference, divided by the length of all references (CER, WER).

    Attributes
    ----------
    by : str
        ``"characters"`` or ``"words"``, which white space parts.
    """

    by: Unit = "characters"
    more_is_better = False

    def __post_init__(self) -> None:
        if self.by not in ("characters", "words"):
            raise UserError("D432", value=self.by)

    @property
    def name(self) -> str:
        """``CER`` or ``WER``."""
        return "CER" if self.by == "characters" else "WER"

    @property
    def unit(self) -> str:
        """``edits per character`` or ``edits per word``."""
        return f"edits per {self.by[:-1]}"

    def terms(self, outcomes: Outcomes) -> Floats:
        """Return the edits of each, and the length of its reference."""
        references = references_of(self, outcomes)
        return columns(self.costs(outcomes.chosen_texts, references), sizes(references, self.by))

    def costs(self, texts: Sequence[str], references: Sequence[str]) -> Floats:
        """Return the edits from each text to its reference."""
        return edits(texts, references, self.by).astype(np.float64)


@dataclass(frozen=True, slots=True)
class ExactMatch(Summed):
    """The share of choices that are their references, character by character."""

    name = "exact match"
    unit = "share"
    more_is_better = True

    def terms(self, outcomes: Outcomes) -> Floats:
        """Return whether each is its reference, and one."""
        costs = self.costs(outcomes.chosen_texts, references_of(self, outcomes))
        return columns((costs == 0) & (outcomes.chosen >= 0), np.ones(len(outcomes)))

    def costs(self, texts: Sequence[str], references: Sequence[str]) -> Floats:
        """Return one for each text that is not its reference, zero for the others."""
        pairs = zip(texts, references, strict=True)
        return np.fromiter((text != right for text, right in pairs), np.float64, len(texts))


def costs_of(measure: Measure, texts: Sequence[str], references: Sequence[str]) -> NDArray[np.float32]:
    """Return what choosing each text costs where its reference would have been right, shape ``(n,)``.

    Edits for an error rate, 0 or 1 for exact match.

    Parameters
    ----------
    measure : Measure
    texts, references : sequences of str
        One beside the other; the reference of a list stands once for each of its candidates.

    Raises
    ------
    UserError
        D430 for a measure that says nothing of texts.
    """
    if not isinstance(measure, CostsTexts):
        raise UserError("D430", name=measure.name)
    return np.asarray(measure.costs(texts, references), np.float32)


def references_of(measure: Measure, outcomes: Outcomes) -> Sequence[str]:
    """Return the references of some outcomes.

    Raises
    ------
    UserError
        D433 where there are none.
    """
    if outcomes.references is None:
        raise UserError("D433", name=measure.name)
    return outcomes.references
