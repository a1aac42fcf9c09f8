"""Models as one checker whose flags can be evaluated at any rate of false alarms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disambig.checking.flags import find_flags
from disambig.data import Decisions
from disambig.errors import UserError
from disambig.evaluation import MOST_FLAGS, MistakeTrial, ProposedEdit, mistake_figures
from disambig.jobs import BATCH, ModelSource
from disambig.markup import read_markup
from disambig.models import Model, RequestedRates, annotate_separately, task_rates
from disambig.packs import available
from disambig.types import RaisesFlags

JOINS = "+"
"""Between the names of models that are one checker."""


@dataclass(frozen=True, slots=True)
class ModelChecker:
    """Models that correct words, each of a task of its own.

    Raises
    ------
    UserError
        D333 for two models of one task.
    """

    models: tuple[Model, ...]

    def __post_init__(self) -> None:
        first: dict[str, str] = {}
        for model in self.models:
            task = model.task.name
            if task in first:
                raise UserError("D333", first=first[task], second=model.name, task=task)
            first[task] = model.name

    @classmethod
    def from_names(cls, name: str = "") -> ModelChecker:
        """Return the checker of the models that a name joins with ``+``; without one the installed ones.

        Raises
        ------
        UserError
            D323 where none is installed, D404 for an unknown one, D644 for one that chooses labels.
        """
        names = [name] if not name or name in available() else _merge_edits(name)
        source = ModelSource(models=tuple(filter(None, names)))
        return cls(tuple(source.correcting_models()))

    @property
    def name(self) -> str:
        """The names and versions of the models."""
        return f" {JOINS} ".join(f"{model.name} {model.version}" for model in self.models)

    @property
    def tasks(self) -> tuple[str, ...]:
        """Tasks of the models."""
        return tuple(model.task.name for model in self.models)

    def limits(self, flags_per_1000: RequestedRates = None) -> dict[str, float]:
        """Return the limit of each task at a rate of false alarms, or at one a task (see `rates`).

        Raises
        ------
        UserError
            D401 for an impossible rate, D950 for one of a task that is not there.
        """
        rates = self.rates(flags_per_1000)
        return {model.task.name: _deciding_rule(model).limit(rates[model.task.name]) for model in self.models}

    def rates(self, flags_per_1000: RequestedRates = None) -> dict[str, float]:
        """Return the rate of false alarms of each task.

        Parameters
        ----------
        flags_per_1000 : float or mapping from task to float, optional
            Of all models together, or of some tasks; by default each model's own.
        """
        own = {model.task.name: _deciding_rule(model).flags_per_1000 for model in self.models}
        return own | task_rates(self.models, flags_per_1000)

    def edits(self, texts: Sequence[str]) -> list[list[ProposedEdit]]:
        """Return what could be flagged in each text, at the highest rate that the models know.

        Edits may overlap: which of them stands depends on the limits (see `Trial.at`).
        """
        found: list[list[ProposedEdit]] = []
        for stretch in text_stretches(texts):
            found += decisions_to_edits(
                annotate_separately(stretch, self.models, flags_per_1000=MOST_FLAGS), stretch
            )
        return found


def decisions_to_edits(decisions: Sequence[Decisions], texts: Sequence[str]) -> list[list[ProposedEdit]]:
    """Return the flags of each text as edits, as sure as their probabilities are.

    Parameters
    ----------
    decisions : sequence of Decisions
        Of each task, over all the texts.
    """
    found = []
    for i, text in enumerate(texts):
        of_text = [of_task.in_document(i) for of_task in decisions]
        checked = find_flags("", text, read_markup("", text), of_text)
        found.append([ProposedEdit(*flag.edit, flag.task, flag.probability) for flag in checked.flags])
    return found


def text_stretches(texts: Sequence[str], *, size: int = BATCH) -> Iterator[Sequence[str]]:
    """Yield the texts in order, so many together that they have about `size` characters."""
    first, held = 0, 0
    for index, text in enumerate(texts):
        held += len(text)
        if held >= size:
            yield texts[first : index + 1]
            first, held = index + 1, 0
    if first < len(texts):
        yield texts[first:]


def _merge_edits(name: str) -> list[str]:
    """Return the names that ``+`` joins; a directory may have one in its name."""
    return [name] if Path(name).is_dir() else name.split(JOINS)


def _deciding_rule(model: Model) -> RaisesFlags:
    assert isinstance(model.judge, RaisesFlags)
    return model.judge


RATES = (0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 4.0)


def sweep_rates(
    checker: ModelChecker, trial: MistakeTrial, rates: Sequence[float] = RATES
) -> list[dict[str, Any]]:
    """Return a point for each rate, which the models share (see `disambig.models.annotation`).

    Returns
    -------
    list of dict
        ``rate``, and ``rates``, what each task gets of it; ``all`` mistakes, ``classes`` of them and
        ``clean`` text as `figures` returns them.

    Raises
    ------
    UserError
        D401 for an impossible rate.
    """
    points = []
    for rate in rates:
        found = mistake_figures(trial, checker.limits(rate))
        shared = {"rate": rate, "rates": checker.rates(rate)}
        points.append({**shared, **{name: found[name] for name in ("all", "classes", "clean")}})
    return points
