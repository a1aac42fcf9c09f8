"""Load the models that settings name, with their measured precision."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from disambig.configuration import CheckSettings, unknown_task_error
from disambig.errors import UserError
from disambig.models import ModelSet, ModelSource
from disambig.text import HIDDEN

if TYPE_CHECKING:
    from disambig.checking.flags import Flag
    from disambig.data import PrecisionTable
    from disambig.explain import FlagEvidence
    from disambig.models import Annotate


_MAX_CONTEXT = 5_000
"""Maximum number of characters on each side of a flag that are annotated again for its evidence."""


@dataclass(frozen=True, slots=True, eq=False)
class CorrectingAnnotator(ModelSet):
    """Models that correct words, with their measured precision (`trust`) and its required minimum (`least`).

    Attributes
    ----------
    notes : tuple of UserError
        Notes to show once: models that raise no flags because their precision was not measured (D863), a
        kind of writing without effect (D954), words of confusion sets that a model has not seen (D955).
    """

    notes: tuple[UserError, ...] = ()

    def evidence(self, plain: str, flag: Flag) -> FlagEvidence:
        """Return the evidence for a flag.

        The model of the flag annotates the paragraph of the flag again.

        Parameters
        ----------
        plain : str
            The whole text without markup.
        """
        from disambig.explain import FlagEvidence, flag_evidence
        from disambig.markup import iterate_units

        model = next((model for model in self.models if model.task.name == flag.task), None)
        context_start = max(0, flag.start - _MAX_CONTEXT)
        word_end = flag.start + len(plain[flag.start : flag.end].rstrip(HIDDEN))
        context = plain[context_start : word_end + _MAX_CONTEXT]
        start, end = flag.start - context_start, word_end - context_start
        units = [(first, last) for first, last in iterate_units(context) if first <= start <= end <= last]
        if model is None or not units:
            return FlagEvidence()
        first, last = units[-1]
        return flag_evidence(
            model, context[first:last], start - first, end - first, flag.replacement, flag.probability
        )


def load_checker(settings: CheckSettings) -> Annotate:
    """Load the models that settings name, with the rules that they select.

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
        confusion sets. D322, D404, D519 and D950 mention the settings file that contains the wrong value;
        D974 for a model that a settings file names and that does not exist.
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
    """Add the settings file that contains a wrong name, rate or set to the error, if there is one."""
    keys, value = _wrong_value(problem, settings)
    for key in keys:
        origins = settings.origins.get(key, ())
        if not any(map(os.path.isabs, origins)):
            continue  # it comes from an option
        if value is not None and value not in getattr(settings, key):
            continue
        where = " or ".join(origins)
        if key == "tasks":
            return unknown_task_error(str(value), where)
        if key == "models":
            source = f"{where}, models"
            return UserError("D974", path=value, problem="does not exist", source=source)
        return UserError(problem.code, **{**problem.values, "where": f"{where}, {key}: "})
    return problem


def _wrong_value(problem: UserError, settings: CheckSettings) -> tuple[tuple[str, ...], object]:
    """Return the keys of settings that an error may be about, and the value; None for any value."""
    if problem.code == "D404":
        return ("tasks", "models"), problem.values["name"]
    if problem.code == "D519":
        return ("ignore_rules", "rules"), problem.values["name"]
    if problem.code == "D950" and isinstance(settings.flags_per_1000, Mapping):
        return ("flags_per_1000",), problem.values["task"]
    if problem.code == "D322":
        return ("sets", "sets_files"), None
    return (), None


def selectable_names(annotate: Annotate) -> set[str]:
    """Return the names of rules and tasks that are valid in settings and directives.

    These are the names of the models of `annotate` and of all plugins.
    """
    from disambig.rules import installed_rules
    from disambig.types import task_rules

    tasks = [model.task for model in annotate.models] if isinstance(annotate, ModelSet) else []
    rules = (rule.name for task in tasks for rule in task_rules(task).rules)
    return {*(task.name for task in tasks), *rules, *installed_rules()}


def correcting_source(settings: CheckSettings) -> ModelSource:
    """Return the source of the models that settings name.

    Raises the errors of an invalid file of confusion sets.
    """
    return ModelSource(
        models=(*settings.tasks, *settings.models),
        flags_per_1000=settings.flags_per_1000,
        sets=settings.confusion_sets(),
        writing=settings.writing,
    )


def _with_precision(
    annotate: ModelSet, trust: Mapping[str, PrecisionTable], least: float
) -> CorrectingAnnotator:
    """Return the models limited to flags with a measured precision of at least `least`."""
    from disambig.models import rates_for_precision

    models = annotate.models
    unmeasured = [model for model in models if model.task.name not in trust]
    if len(unmeasured) == len(models):
        raise UserError("D861", models=", ".join(model.name for model in models))
    rates = rates_for_precision(models, trust, least)
    if not any(rates.values()):
        highest = max(
            points[-1].share for table in trust.values() for points in (table.points, *table.pairs.values())
        )
        raise UserError("D864", share=f"{least:.0%}", most=f"{highest:.0%}")
    notes = tuple(UserError("D863", model=model.name, task=model.task.name) for model in unmeasured)
    return CorrectingAnnotator(models, rates | dict(annotate.rates), trust=trust, least=least, notes=notes)
