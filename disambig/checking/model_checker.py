"""Several models as one checker, whose flags can be evaluated at any rate of false alarms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from disambig.checking.flags import find_flags
from disambig.data import Decisions, minibatch
from disambig.evaluation import MAX_FLAGS, MistakeTrial, ProposedEdit, mistake_figures
from disambig.markup import read_markup
from disambig.models import (
    BATCH_CHARACTERS,
    Model,
    ModelSet,
    ModelSource,
    RequestedRates,
    annotate_separately,
    check_one_model_per_task,
    task_rates,
)
from disambig.packs import available
from disambig.types import RaisesFlags

NAME_SEPARATOR = "+"
"""Separator between the names of models that form one checker."""


@dataclass(frozen=True, slots=True)
class ModelChecker:
    """Models that correct words, one per task.

    Raises
    ------
    UserError
        D333 for two models of one task.
    """

    models: tuple[Model, ...]

    def __post_init__(self) -> None:
        check_one_model_per_task([model.name for model in self.models], self.models)

    @classmethod
    def from_names(cls, name: str = "", *, writing: str | None = None) -> ModelChecker:
        """Return the checker of models whose names are joined with ``+``, by default of all installed models.

        Parameters
        ----------
        name : str
        writing : str, optional
            Kind of writing, whose usual number of mistakes the models assume (see
            `disambig.models.with_writing`).

        Raises
        ------
        UserError
            D323 if no model is installed, D404 for an unknown model, D644 for a model that chooses labels,
            D953 for an unknown kind of writing.
        """
        names = [name] if not name or name in available() else _split_names(name)
        source = ModelSource(models=tuple(filter(None, names)), writing=writing)
        return cls(tuple(source.correcting_models()))

    @property
    def name(self) -> str:
        """The names and versions of the models."""
        return f" {NAME_SEPARATOR} ".join(f"{model.name} {model.version}" for model in self.models)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks of the models."""
        return tuple(model.task.name for model in self.models)

    def limits(self, flags_per_1000: RequestedRates = None) -> dict[str, float]:
        """Return the decision limit of each task at a rate of false alarms; see `rates`."""
        rates = self.rates(flags_per_1000)
        return {model.task.name: _raising_rule(model).limit(rates[model.task.name]) for model in self.models}

    def rates(self, flags_per_1000: RequestedRates = None) -> dict[str, float]:
        """Return the rate of false alarms of each task, per 1,000 words.

        Parameters
        ----------
        flags_per_1000 : float or mapping from task to float, optional
            Rate of all models together, or rates of some tasks; by default each model's own rate.

        Raises
        ------
        UserError
            D401 for an invalid rate, D950 for the rate of an unknown task.
        """
        default_rates = {model.task.name: _raising_rule(model).flags_per_1000 for model in self.models}
        return default_rates | task_rates(self.models, flags_per_1000)

    def edits(
        self, texts: Sequence[str], flags_per_1000: RequestedRates = MAX_FLAGS
    ) -> list[list[ProposedEdit]]:
        """Return the edits of each text that are flagged at a rate of false alarms, by default the highest.

        Edits may overlap: the limits decide which of them are applied (see `MistakeTrial.at_limits`). Edits
        that are flagged at the models' own rates are verified as in `disambig.models.annotate`.
        """
        edits: list[list[ProposedEdit]] = []
        for batch in text_stretches(texts):
            decisions = annotate_separately(batch, self.models, flags_per_1000=flags_per_1000)
            edits += decisions_to_edits(self._verified(decisions, batch), batch)
        return edits

    def _verified(self, decisions: Sequence[Decisions], texts: Sequence[str]) -> list[Decisions]:
        """Verify the flags raised at the models' own rates; return the decisions without failed flags."""
        limits = self.limits()
        flagged = [
            replace(of_task, flagged=of_task.flagged & (of_task.probabilities > limits[of_task.task]))
            for of_task in decisions
        ]
        verified = ModelSet(self.models).verify(flagged, texts)
        return [
            replace(
                of_task,
                flagged=of_task.flagged & (after.raised | ~before.flagged),
                chosen=after.chosen,
                probabilities=after.probabilities,
            )
            for of_task, before, after in zip(decisions, flagged, verified, strict=True)
        ]


def decisions_to_edits(decisions: Sequence[Decisions], texts: Sequence[str]) -> list[list[ProposedEdit]]:
    """Return the flags of each text as edits with their probabilities.

    Parameters
    ----------
    decisions : sequence of Decisions
        One per task, over all texts.
    texts : sequence of str
    """
    edits = []
    for i, text in enumerate(texts):
        text_decisions = [of_task.in_document(i) for of_task in decisions]
        flags = find_flags("", text, read_markup("", text), text_decisions).flags
        edits.append([ProposedEdit(*flag.edit, flag.task, flag.probability) for flag in flags])
    return edits


def text_stretches(texts: Sequence[str], *, size: int = BATCH_CHARACTERS) -> Iterator[Sequence[str]]:
    """Yield consecutive batches of texts with about `size` characters each."""
    return minibatch(texts, size, len)


def _split_names(name: str) -> list[str]:
    """Split names at ``+``, unless a directory has that name."""
    return [name] if Path(name).is_dir() else name.split(NAME_SEPARATOR)


def _raising_rule(model: Model) -> RaisesFlags:
    assert isinstance(model.judge, RaisesFlags)
    return model.judge


RATES = (0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 4.0)


def sweep_rates(
    checker: ModelChecker, trial: MistakeTrial, rates: Sequence[float] = RATES
) -> list[dict[str, Any]]:
    """Evaluate a checker at several rates, each divided among its models by `disambig.models.task_rates`.

    Returns
    -------
    list of dict
        For each rate: ``rate``; ``rates``, the rate of each task; ``all``, ``classes`` and ``clean``, as
        `mistake_figures` returns them.

    Raises
    ------
    UserError
        D401 for an invalid rate.
    """
    points = []
    for rate in rates:
        figures = mistake_figures(trial, checker.limits(rate))
        point = {"rate": rate, "rates": checker.rates(rate)}
        points.append(point | {name: figures[name] for name in ("all", "classes", "clean")})
    return points
