"""From settings to the models that check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from disambig.configuration import CheckSettings
from disambig.errors import UserError
from disambig.jobs import ModelAnnotator, ModelSource

if TYPE_CHECKING:
    from disambig.checking.flags import Flag
    from disambig.data import Decisions, PrecisionTable
    from disambig.explain import FlagEvidence
    from disambig.jobs import Annotate


_FURTHEST = 5_000
"""Characters of a paragraph on each side of a flag that are read again for its evidence."""


@dataclass(frozen=True, slots=True, eq=False)
class CorrectingAnnotator(ModelAnnotator):
    """Models that correct words, with what was measured of them.

    Attributes
    ----------
    trust : mapping of str to Trust
        Of each task of which it was measured how often its flags are right.
    least : float, optional
        Raise those flags alone of which such a share is right.
    notes : tuple of UserError
        What a user should be told once (D863): models that show no flag, since nothing was measured of them.
    """

    trust: Mapping[str, PrecisionTable] = field(default_factory=dict)
    least: float | None = None
    notes: tuple[UserError, ...] = ()

    def __call__(self, texts: Sequence[str]) -> list[Decisions]:
        """Return the decisions of each task over all texts, with how far its flags are to be trusted."""
        if self.least is not None:
            from disambig.models import annotate_precise

            how: Any = {"least": self.least, "flags_per_1000": self.rates}
            return annotate_precise(texts, self.models, self.trust, **how)
        from disambig.models import annotate

        found = annotate(texts, self.models, flags_per_1000=self.rates)
        return [replace(each, trust=self.trust.get(each.task)) for each in found]

    def evidence(self, plain: str, flag: Flag) -> FlagEvidence:
        """Return what stands behind a flag; the model is asked again, for the flag's paragraph.

        Parameters
        ----------
        plain : str
            The whole text without its markup.
        """
        from disambig.explain import FlagEvidence, flag_evidence
        from disambig.markup import iterate_units

        model = next((each for each in self.models if each.task.name == flag.task), None)
        first = max(0, flag.start - _FURTHEST)
        around = plain[first : flag.end + _FURTHEST]
        units = [
            unit
            for unit in iterate_units(around)
            if unit[0] <= flag.start - first <= flag.end - first <= unit[1]
        ]
        if model is None or not units:
            return FlagEvidence()
        start, end = units[-1]
        at = first + start
        place = flag.start - at, flag.end - at
        return flag_evidence(model, around[start:end], *place, flag.replacement, flag.probability)


def load_checker(settings: CheckSettings) -> Annotate:
    """Load the models that correct words, as the settings say.

    Returns
    -------
    Annotate
        A `Checker`.

    Raises
    ------
    UserError
        D4xx for an unknown name or a damaged model; D322 if no model takes confusion sets; D644 for a model
        that chooses labels; D861 where flags are to be trusted and no model was measured, D864 where none is
        right so often; D862 for a damaged measurement; what is wrong with a file of confusion sets.
    """
    source = correcting_source(settings)
    annotate = source.load_correcting()
    if not isinstance(annotate, ModelAnnotator):
        return annotate
    trust = measured_precision(source)
    if settings.trust is None:
        return CorrectingAnnotator(annotate.models, annotate.rates, trust=trust)
    return _with_precision(annotate, trust, settings.trust)


def correcting_source(settings: CheckSettings) -> ModelSource:
    """Return where the models that settings ask for come from.

    Raises
    ------
    UserError
        What is wrong with a file of confusion sets.
    """
    rate: Any = settings.flags_per_1000  # a number, or a table of numbers by task
    return ModelSource(
        models=(*settings.tasks, *settings.models), flags_per_1000=rate, sets=settings.confusion_sets()
    )


def measured_precision(source: ModelSource) -> dict[str, PrecisionTable]:
    """Return what was measured of the models of a source, by task.

    Raises
    ------
    UserError
        D862 for a damaged measurement.
    """
    from disambig.models import read_precision
    from disambig.packs import model_folder

    found = (read_precision(model_folder(name)) for name in source.names())
    return {each.task: each for each in found if each is not None}


def _with_precision(
    annotate: ModelAnnotator, trust: Mapping[str, PrecisionTable], least: float
) -> CorrectingAnnotator:
    """Return a checker that raises those flags alone that are right often enough."""
    from disambig.models import rates_for_precision

    models = annotate.models
    unknown = [model for model in models if model.task.name not in trust]
    if len(unknown) == len(models):
        raise UserError("D861", models=", ".join(model.name for model in models))
    rates = rates_for_precision(models, trust, least)
    if not any(rates.values()):
        most = max(
            points[-1].share for each in trust.values() for points in (each.points, *each.pairs.values())
        )
        raise UserError("D864", share=f"{least:.0%}", most=f"{most:.0%}")
    notes = tuple(UserError("D863", model=model.name, task=model.task.name) for model in unknown)
    return CorrectingAnnotator(models, rates | dict(annotate.rates), trust=trust, least=least, notes=notes)
