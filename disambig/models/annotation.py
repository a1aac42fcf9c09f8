"""Annotate texts with several models: rates of flags, overlaps and trusted flags."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from disambig.data import CandidateLists, Decisions, PrecisionTable, replacement
from disambig.decision import check_rate, resolve_overlaps, share_budget
from disambig.errors import UserError
from disambig.formats import list_instances
from disambig.models.model import Model
from disambig.runtime import check_time
from disambig.text import TokenView, hash_words
from disambig.types import KnowsRecall, RaisesFlags, decides

RequestedRates = float | Mapping[str, float] | None
"""Flags per 1,000 correct words: of all models together, or of some tasks."""


def task_rates(models: Sequence[Model], asked: RequestedRates) -> dict[str, float]:
    """Return the rate of each task that shall not have its model's own.

    Parameters
    ----------
    models : sequence of Model
    asked : float or mapping from task to float, optional
        One number is shared by all the models that flag, so that together they find as many mistakes as
        they can (`disambig.decision.thresholds`); a model alone gets all of it.

    Raises
    ------
    UserError
        D401 for an impossible rate, D950 for one of a task that no model flags.
    """
    if asked is None:
        return {}
    flagging = [model for model in models if isinstance(model.judge, RaisesFlags)]
    tasks = [model.task.name for model in flagging]
    if isinstance(asked, Mapping):
        for task, rate in asked.items():
            check_rate(rate)
            if task not in tasks:
                raise UserError("D950", task=task, names=", ".join(sorted(tasks)) or "none")
        return {task: float(rate) for task, rate in asked.items()}
    judges = [model.judge for model in flagging]
    curves = [judge.gains() if isinstance(judge, KnowsRecall) else None for judge in judges]
    return dict(zip(tasks, share_budget(curves, check_rate(float(asked))), strict=True))


def annotate(
    texts: Sequence[str],
    models: Sequence[Model],
    *,
    flags_per_1000: RequestedRates = None,
    ignore: Collection[str] = (),
    protect: bool = True,
) -> list[Decisions]:
    """Decide in every text with every model, and leave one flag in every place.

    Parameters
    ----------
    texts : sequence of str
        One document each.
    models : sequence of Model
    flags_per_1000 : float or mapping from task to float, optional
        False alarms to accept per 1,000 correct words: one number, which all models that flag share by what
        each gains with it, or one a task; by default each model's own.
    ignore : collection of str
        Words (in lower case) that are left alone.
    protect : bool
        Whether quotes, code, URLs and names are left alone.

    Returns
    -------
    list of Decisions
        One a model, over all texts; places that are empty and stay so are left out. Of flags whose edits
        overlap the surest stands and has the others as its alternatives (`disambig.decision.overlaps`).

    Raises
    ------
    UserError
        D401 for an impossible rate, D950 for one of a task that no model decides.
    """
    found = annotate_separately(texts, models, flags_per_1000=flags_per_1000, ignore=ignore, protect=protect)
    return resolve_overlaps(found, texts)


def annotate_separately(
    texts: Sequence[str],
    models: Sequence[Model],
    *,
    flags_per_1000: RequestedRates = None,
    ignore: Collection[str] = (),
    protect: bool = True,
) -> list[Decisions]:
    """Decide as `annotate` does, each model for itself: their flags may overlap."""
    from disambig.text import view_of_texts

    views: dict[str, TokenView] = {}
    rates = task_rates(models, flags_per_1000)
    decisions = []
    for model in models:
        check_time()
        name = model.tokenisation.name
        if name not in views:
            view = view_of_texts(texts, model.tokenisation, protected=protect)
            views[name] = protect_words(view, ignore)
        rate = rates.get(model.task.name)
        decisions.append(model.decide(views[name], flags_per_1000=rate).without_empty())
    return decisions


def protect_words(view: TokenView, ignore: Collection[str]) -> TokenView:
    """Return `view` with the words of `ignore` added to its protected ones."""
    if not ignore:
        return view
    left_alone = np.isin(view.hashes, hash_words([word.lower() for word in ignore]))
    if "protected" in view.layers:
        left_alone = left_alone | view.layers["protected"].astype(bool)
    return replace(view, layers={**view.layers, "protected": left_alone})


def check_lists(model: Model) -> None:
    """Raise D336 for a model that does not decide between candidates of lists."""
    if decides(model.task).where != "items":
        raise UserError("D336", model=model.name, task=model.task.name)


def decide_lists(model: Model, lists: CandidateLists) -> Decisions:
    """Return a model's decision for each list; ``scores`` has one number a candidate, ``chosen`` the best.

    Costs that lists know are not looked at.

    Raises
    ------
    UserError
        D336 for a model that does not decide between candidates of lists.
    """
    check_lists(model)
    return model.decide_at(list_instances(lists).without_labels(), model.tokenisation([]))


HIGHEST_RATE = 1000.0
"""A rate of flags per 1,000 words at which models flag all that they ever do."""


def annotate_precise(
    texts: Sequence[str],
    models: Sequence[Model],
    trust: Mapping[str, PrecisionTable],
    *,
    least: float,
    flags_per_1000: Mapping[str, float],
) -> list[Decisions]:
    """Decide as `disambig.models.annotation.annotate` does, with those flags alone that are trusted enough.

    Parameters
    ----------
    trust : mapping of str to Trust
        Of each task; one without any flags nothing.
    least : float
        Share of flags that are right, at least; see `Trust`.
    flags_per_1000 : mapping of str to float
        As `rates_for_precision` returns them.
    """
    found = []
    for decisions in annotate_separately(texts, models, flags_per_1000=flags_per_1000):
        known = trust.get(decisions.task)
        flagged = decisions.flagged.copy()
        for i in np.flatnonzero(flagged).tolist():
            text = texts[int(decisions.documents[i])]
            start, end = int(decisions.starts[i]), int(decisions.ends[i])
            meant = replacement(decisions.candidate_texts(i)[decisions.chosen[i]], text, start, end)
            sure = float(decisions.probabilities[i])
            flagged[i] = known is not None and known.estimate(text[start:end], meant, sure).share >= least
        found.append(replace(decisions, flagged=flagged, trust=known))
    return resolve_overlaps(found, texts)


def rates_for_precision(
    models: Sequence[Model], trust: Mapping[str, PrecisionTable], least: float
) -> dict[str, float]:
    """Return a rate of flags for each task at which it raises all that are trusted enough, and few more.

    A task of which no flag is gets 0.
    """
    rates = {}
    for model in models:
        assert isinstance(model.judge, RaisesFlags)
        known = trust.get(model.task.name)
        probability = None if known is None else known.least_for(least)
        rate = 0.0
        if probability is not None:
            rate = model.judge.flags_per_1000 or 1.0
            while rate < HIGHEST_RATE and model.judge.limit(rate) >= probability:
                rate *= 2
        rates[model.task.name] = min(rate, HIGHEST_RATE)
    return rates
