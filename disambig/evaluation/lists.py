"""Evaluate a model on lists, compared with the first candidate and the best candidate of each list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from disambig.data import segments
from disambig.errors import UserError
from disambig.formats import NBestList, list_instances, name_error_place
from disambig.formatting import format_figure, pluralize
from disambig.metrics import Measure, Outcomes, bootstrap_interval, list_measure_named, paired_bootstrap
from disambig.models import Model, check_lists, decide_lists
from disambig.training import dataset_report, lists_with_costs
from disambig.types import metric

UNUSED_LIST = "neither costs nor a reference"
"""Why a list is left out."""


def list_outcomes(model: Model, items: Sequence[NBestList]) -> Outcomes:
    """Return the outcomes of a model on lists with costs or a reference; others are left out.

    Raises D336 for a model that does not decide lists, D337 if no list has costs or a reference.
    """
    check_lists(model)
    with name_error_place(items):
        instances = list_instances(lists_with_costs(model.task, items))
        labelled = np.flatnonzero(instances.observed >= 0)
        if not len(labelled):
            raise UserError("D337", n=len(items))
        own = instances.take(labelled).own
        assert own is not None
        decisions = decide_lists(model, own)
    used = [items[i] for i in labelled.tolist()]
    documents = {name: i for i, name in enumerate(dict.fromkeys(item.document for item in used))}
    references = [item.reference for item in used if item.reference is not None]
    return Outcomes.from_lists(
        own,
        scores=decisions.scores,
        chosen=decisions.chosen,
        references=references if len(references) == len(used) else None,
        units=[documents[item.document] for item in used],
    )


def choose_measure(model: Model, outcomes: Outcomes, name: str | None = None) -> Measure:
    """Return a measure by name; by default that of the task, or the mean cost if lists have no references."""
    if name is None and outcomes.references is None:
        name = "cost"
    return list_measure_named(name or metric(model.task)[0])


def evaluate_lists(model: Model, items: Sequence[NBestList], *, measure: str | None = None) -> dict[str, Any]:
    """Score a model on lists.

    Parameters
    ----------
    measure : str, optional
        See `disambig.metrics.measures.list_measure_named`; by default the measure of the model's task.

    Returns
    -------
    dict
        ``n`` lists, ``candidates``, ``account`` (of the lists that are left out), ``measure`` (``name``,
        ``unit``, ``more_is_better``), ``systems``: ``model``, ``first`` (the source's first candidate) and
        ``oracle`` (the best candidate), each with ``value`` and ``interval``; ``better``: the ``difference``
        from the first candidate, with ``interval`` and ``p`` of a paired bootstrap over documents;
        ``changed``: how often the model chose another candidate than the first, and how many of these are
        better and worse.
    """
    if measure is not None:
        list_measure_named(measure)  # an unknown name fails before anything is scored
    outcomes = list_outcomes(model, items)
    figure = choose_measure(model, outcomes, measure)
    best = segments.argmax(-outcomes.cost, outcomes.offsets)
    first = outcomes.with_chosen(outcomes.first)
    systems = {"model": outcomes, "first": first, "oracle": outcomes.with_chosen(best)}
    paired = paired_bootstrap(figure, first, outcomes)
    is_changed = outcomes.chosen != first.chosen
    cost_change = outcomes.chosen_cost - first.chosen_cost
    return {
        "n": len(outcomes),
        "candidates": int(outcomes.offsets[-1]),
        "account": dataset_report(len(outcomes), [UNUSED_LIST] * (len(items) - len(outcomes)), "lists"),
        "measure": {"name": figure.name, "unit": figure.unit, "more_is_better": figure.more_is_better},
        "systems": {
            name: {"value": figure.value(outcomes), "interval": bootstrap_interval(figure, outcomes)}
            for name, outcomes in systems.items()
        },
        "better": {"difference": paired.difference, "interval": paired.interval, "p": paired.p},
        "changed": {
            "n": int(is_changed.sum()),
            "better": int((is_changed & (cost_change < 0)).sum()),
            "worse": int((is_changed & (cost_change > 0)).sum()),
        },
    }


def list_lines(figures: dict[str, Any]) -> list[str]:
    """Format the figures as lines of text."""
    measure, systems, changed = figures["measure"], figures["systems"], figures["changed"]
    unit = "" if measure["unit"] == "share" else f" ({measure['unit']})"
    value_format = ".2%" if measure["unit"] == "share" else ".4f"
    counts = f"{pluralize(figures['n'], 'list')}, {pluralize(figures['candidates'], 'candidate')}"
    lines = [f"{counts}; {measure['name']}{unit}:"]
    titles = {"model": "the model's choice", "first": "the first candidate", "oracle": "the best candidate"}
    for name, title in titles.items():
        value, low, high = (
            format_figure(figure, value_format)
            for figure in (systems[name]["value"], *systems[name]["interval"])
        )
        lines.append(f"  {title}: {value} ({low} to {high})")
    better = figures["better"]
    value, low, high = (
        format_figure(figure, "+.4f") for figure in (better["difference"], *better["interval"])
    )
    p = format_figure(better["p"], ".4f")
    lines.append(f"model minus first candidate: {value} ({low} to {high}), p = {p} (paired bootstrap)")
    lines.append(
        f"another candidate ranked first in {pluralize(changed['n'], 'list')}: {changed['better']:,} better, "
        f"{changed['worse']:,} worse"
    )
    return lines
