"""What a measure is: a figure of decisions, its unit, its direction, and how it is resampled quickly.

A measure is a frozen configuration without state. `AddsUp` and `Reweighs` are optional: they make the
bootstrap quick (`disambig.measures.significance`), which else asks for the value of each draw anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from disambig.measures.outcomes import Outcomes

Floats = NDArray[np.float64]


class Measure(Protocol):
    """How good decisions are, as one number."""

    @property
    def name(self) -> str:
        """What people call it, such as ``"accuracy"`` or ``"F1 of 'to'"``."""

    @property
    def unit(self) -> str:
        """What it counts, such as ``"edits per character"``; ``"share"`` is shown as a percentage."""

    @property
    def more_is_better(self) -> bool:
        """Whether the larger of two values is the better one."""

    def value(self, outcomes: Outcomes) -> float:
        """Return the figure, whatever the order of the instances; NaN where it is not defined."""


class MeasureOptions:
    """Fields that a measure may declare; the values here stand where it does not."""

    for_lists: bool = True
    """Whether it says something of lists whose candidates are in no other list, such as n-best lists."""


@runtime_checkable
class AddsUp(Protocol):
    """A measure that is made of sums over instances."""

    def terms(self, outcomes: Outcomes) -> Floats:
        """Return what each instance adds to each sum, shape ``(n, k)``."""

    def of_sums(self, sums: Floats) -> Floats:
        """Return the figure of each row of sums, from shape ``(..., k)`` to shape ``(...)``."""


@runtime_checkable
class Reweighs(Protocol):
    """A measure that is no sum, and yet knows its value where instances count several times or not at all."""

    def reweighed(self, outcomes: Outcomes, weights: Floats) -> Floats:
        """Return the figure for each row of weights, from shape ``(m, n)`` to shape ``(m,)``."""


@runtime_checkable
class CostsTexts(Protocol):
    """A measure that says what a text costs where another one would have been right."""

    def costs(self, texts: Sequence[str], references: Sequence[str]) -> Floats:
        """Return the cost of each text beside its reference, zero where it is right, shape ``(n,)``."""


def is_for_lists(measure: Measure) -> bool:
    """Tell whether a measure says something of lists whose candidates are in no other list."""
    return bool(getattr(measure, "for_lists", MeasureOptions.for_lists))
