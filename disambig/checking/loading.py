"""Load the models that settings name, with their measured precision."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from disambig.configuration import CheckSettings
from disambig.errors import UserError
from disambig.models import ModelSet, ModelSource
from disambig.text import HIDDEN

if TYPE_CHECKING:
    from disambig.checking.flags import Flag
    from disambig.data import PrecisionTable
    from disambig.explain import FlagEvidence
    from disambig.models import Annotate


_MAX_CONTEXT = 5_000
"""Number of characters of a paragraph on each side of a flag that are annotated again for its evidence."""


@dataclass(frozen=True, slots=True, eq=False)
class CorrectingAnnotator(ModelSet):
    """Models that correct words, with their measured precision (`trust`) and the minimum of it (`least`).

    Attributes
    ----------
    notes : tuple of UserError
        Notes to show to the user once: models without flags, because their precision was not measured
        (D863); a kind of writing that has no effect (D954); words of confusion sets that a model has not
        seen (D955).
    """

    notes: tuple[UserError, ...] = ()

    def evidence(self, plain: str, flag: Flag) -> FlagEvidence:
        """Return the evidence for a flag; this runs the model again on the paragraph of the flag.

        Parameters
        ----------
        plain : str
            The whole text without markup.
        flag : Flag
        """
        from disambig.explain import FlagEvidence, flag_evidence
        from disambig.markup import iterate_units

        model = next((candidate for candidate in self.models if candidate.task.name == flag.task), None)
        first = max(0, flag.start - _MAX_CONTEXT)
        last = flag.start + len(plain[flag.start : flag.end].rstrip(HIDDEN))  # the word may be shortened
        around = plain[first : last + _MAX_CONTEXT]
        units = [
            unit for unit in iterate_units(around) if unit[0] <= flag.start - first <= last - first <= unit[1]
        ]
        if model is None or not units:
            return FlagEvidence()
        start, end = units[-1]
        at = first + start
        place = flag.start - at, last - at
        return flag_evidence(model, around[start:end], *place, flag.replacement, flag.probability)


def load_checker(settings: CheckSettings) -> Annotate:
    """Load the models that correct words and that the settings name.

    Returns
    -------
    Annotate
        A `CorrectingAnnotator`.

    Raises
    ------
    UserError
        D4xx for an unknown name or a damaged model; D322 if no model accepts confusion sets; D644 for a model
        that chooses labels; D861 if a minimum precision is set and no model was measured, D864 if no model
        reaches it; D862 for a damaged measurement; D519 for an unknown rule; the errors of an invalid file of
        confusion sets. D404 and D519 have the settings file that contains the name.
    """
    source = correcting_source(settings)
    try:
        annotate = source.load_correcting()
    except UserError as problem:
        raise _with_origin(problem, settings) from None
    if not isinstance(annotate, ModelSet):
        return annotate
    trust = annotate.trust
    if settings.trust is not None:
        annotator = _with_precision(annotate, trust, settings.trust)
    else:
        annotator = CorrectingAnnotator(annotate.models, annotate.rates, trust=trust)
    notes = (*annotator.notes, *source.notes(annotator.models))
    selection = settings.rule_selection
    if selection:
        try:
            selection.check(selectable_names(annotator))
        except UserError as problem:
            raise _with_origin(problem, settings) from None
    return replace(annotator, detect_language=settings.detect_language, notes=notes, selection=selection)


def _with_origin(problem: UserError, settings: CheckSettings) -> UserError:
    """Return an error about an unknown model or rule with the settings file that names it, if any."""
    from disambig.models import nearest_correcting

    name = problem.values.get("name")
    key = {"D404": "tasks", "D519": "ignore_rules" if name in settings.ignore_rules else "rules"}.get(
        problem.code
    )
    if key is None or name not in getattr(settings, key):
        return problem
    origins = settings.origins.get(key, ())
    if not any(map(os.path.isabs, origins)):
        return problem  # options of a command
    where = " or ".join(origins)
    if key != "tasks":
        return UserError(problem.code, **{**problem.values, "where": f"{where}, {key}: "})
    hint = f"in {where}, `tasks` holds names of installed models that correct words, `models` directories; "
    values = {"takes": "give a directory in `models`", "names": nearest_correcting(str(name))}
    return UserError(problem.code, **{**problem.values, **values, "hint": hint})


def selectable_names(annotate: Annotate) -> set[str]:
    """Return the names of the rules and tasks that settings and directives may name.

    They are those of the models of `annotate` and of all plugins.
    """
    from disambig.rules import installed_rules
    from disambig.types import task_rules

    tasks = [model.task for model in annotate.models] if isinstance(annotate, ModelSet) else []
    rules = (rule.name for task in tasks for rule in task_rules(task).rules)
    return {*(task.name for task in tasks), *rules, *installed_rules()}


def correcting_source(settings: CheckSettings) -> ModelSource:
    """Return the source of the models that settings name.

    Raises
    ------
    UserError
        The errors of an invalid file of confusion sets.
    """
    rate: Any = settings.flags_per_1000  # a number, or a table with one number per task
    return ModelSource(
        models=(*settings.tasks, *settings.models),
        flags_per_1000=rate,
        sets=settings.confusion_sets(),
        writing=settings.writing,
    )


def _with_precision(
    annotate: ModelSet, trust: Mapping[str, PrecisionTable], least: float
) -> CorrectingAnnotator:
    """Return a checker that only raises flags with a measured precision of at least `least`."""
    from disambig.models import rates_for_precision

    models = annotate.models
    unmeasured = [model for model in models if model.task.name not in trust]
    if len(unmeasured) == len(models):
        raise UserError("D861", models=", ".join(model.name for model in models))
    rates = rates_for_precision(models, trust, least)
    if not any(rates.values()):
        most = max(
            points[-1].share for table in trust.values() for points in (table.points, *table.pairs.values())
        )
        raise UserError("D864", share=f"{least:.0%}", most=f"{most:.0%}")
    notes = tuple(UserError("D863", model=model.name, task=model.task.name) for model in unmeasured)
    return CorrectingAnnotator(models, rates | dict(annotate.rates), trust=trust, least=least, notes=notes)
