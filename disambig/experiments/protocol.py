"""What an experiment is and what it gives. How results are shown, and any experiment itself, live elsewhere.

A plugin registers a factory, without arguments, under ``paper.tableN.v1``; on the command line it is
``disambig reproduce paper.tableN``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Row:
    """One figure.

    Attributes
    ----------
    system : str
    setting : str
        What else is varied, such as the number of training examples; digits alone are a place on the
        axis of a learning curve. Empty for a system on which it has no bearing: a line in a plot.
    paper, ours : float, optional
        The published figure and the one found, both in %; None where there is none.
    n : int
        Test examples behind `ours`.
    spread : float, optional
        Standard deviation of `ours` over draws.
    """

    system: str
    setting: str
    paper: float | None
    ours: float | None
    n: int
    spread: float | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement, whether it holds here, and the figures that say so."""

    claim: str
    holds: bool
    evidence: str


@dataclass(frozen=True, slots=True)
class Panel:
    """A plot of an experiment whose figures are no learning curve.

    Attributes
    ----------
    title, x, y : str
        What stands above it and along its axes.
    lines, points : mapping of str to sequence of (float, float)
        Places that a line joins, or marks alone, each under the name of what they show.
    logarithmic : bool
        Whether the axis of x is; for sizes, all above zero.
    """

    title: str
    x: str
    y: str
    lines: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    points: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    logarithmic: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What an experiment found.

    Attributes
    ----------
    rows : sequence of Row
        Those of one system together, in the order to be shown.
    claims : sequence of Claim
    notes : sequence of str
        Sentences a reader of the figures must know.
    details : mapping
        More figures, plain values only: they go to the JSON form and are not shown.
    panels : sequence of Panel
        What is drawn; without any, a learning curve where `rows` have one.
    places : int
        Behind the decimal point of figures, 1 or 2.
    """

    rows: Sequence[Row]
    claims: Sequence[Claim] = ()
    notes: Sequence[str] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    panels: Sequence[Panel] = ()
    places: int = 1


@runtime_checkable
class Experiment(Protocol):
    """Something that can be repeated with one command."""

    @property
    def title(self) -> str:
        """What the heading says."""
        ...

    @property
    def description(self) -> str:
        """One line for the list of experiments."""
        ...

    @property
    def needs(self) -> Sequence[str]:
        """Patterns of files in the data directory, each of which must match (``english/*.train.txt.xz``)."""
        ...

    def run(self, *, data: Path, quick: bool, progress: Progress) -> Result:
        """Do the work.

        Parameters
        ----------
        data : path
            Where the data lie; never written to.
        quick : bool
            A small form of a minute or two: same systems, fewer examples and draws.
        progress : callable
            Told a stage, how far it is, and how far it goes.
        """
        ...
