"""What a measure would be if others chose: the best candidate of each instance, or the source's first one."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from disambig.data import segments
from disambig.errors import UserError
from disambig.measures.choices import Accuracy
from disambig.measures.contract import AddsUp, CostsTexts, Measure, is_for_lists
from disambig.measures.outcomes import Outcomes
from disambig.measures.texts import references_of

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Instead:
    """A measure of another choice than the system's.

    Attributes
    ----------
    measure : Measure
        One that is made of sums (`AddsUp`); accuracy, if none is given.
    """

    measure: Measure = field(default_factory=Accuracy)

    def __post_init__(self) -> None:
        if not isinstance(self.measure, AddsUp):
            raise UserError("D434", name=self.measure.name)

    @property
    def unit(self) -> str:
        """That of the measure."""
        return self.measure.unit

    @property
    def more_is_better(self) -> bool:
        """As the measure."""
        return self.measure.more_is_better

    @property
    def for_lists(self) -> bool:
        """As the measure."""
        return is_for_lists(self.measure)

    def value(self, outcomes: Outcomes) -> float:
        """Return the measure of that choice."""
        return self.measure.value(outcomes.with_chosen(self.choice(outcomes)))

    def terms(self, outcomes: Outcomes) -> Floats:
        """Return the measure's terms of that choice."""
        assert isinstance(self.measure, AddsUp)
        return self.measure.terms(outcomes.with_chosen(self.choice(outcomes)))

    def of_sums(self, sums: Floats) -> Floats:
        """Return the figure of each row of sums."""
        assert isinstance(self.measure, AddsUp)
        return self.measure.of_sums(sums)

    def choice(self, outcomes: Outcomes) -> NDArray[np.int64]:
        """Return what is chosen instead, shape ``(n,)``."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Oracle(_Instead):
    """The best that any system can reach: of each instance the candidate of least cost is chosen.

    The cost is that of the measure, where it knows what texts cost, else that of the candidates.
    """

    @property
    def name(self) -> str:
        """``oracle accuracy``."""
        return f"oracle {self.measure.name}"

    def choice(self, outcomes: Outcomes) -> NDArray[np.int64]:
        """Return the candidate of least cost of each instance."""
        cost = outcomes.cost
        if isinstance(self.measure, CostsTexts):
            references = references_of(self.measure, outcomes)
            owners = np.repeat(np.arange(len(outcomes)), np.diff(outcomes.offsets)).tolist()
            texts = [outcomes.names[i] for i in outcomes.ids.tolist()]
            cost = self.measure.costs(texts, [references[i] for i in owners])
        return segments.argmax(-cost, outcomes.offsets)


@dataclass(frozen=True, slots=True)
class FirstCandidate(_Instead):
    """What the source of the candidates reaches: of each instance its first one is chosen."""

    @property
    def name(self) -> str:
        """``first candidate's accuracy``."""
        return f"first candidate's {self.measure.name}"

    def choice(self, outcomes: Outcomes) -> NDArray[np.int64]:
        """Return what the source has in front."""
        return outcomes.first
