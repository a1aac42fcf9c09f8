"""Evaluate a model on lists, compared with the first candidate and the best candidate of each list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from disambig.errors import UserError
from disambig.formats import NBestList, list_instances, name_error_place
from disambig.formatting import format_figure, pluralize
from disambig.metrics import Measure, Outcomes, bootstrap_interval, list_measure_named, paired_bootstrap
from disambig.models import Model, check_lists, decide_lists
from disambig.training import dataset_report, lists_with_costs
from disambig.types import metric


def list_outcomes(model: Model, items: Sequence[NBestList]) -> Outcomes:
    """Return the outcomes of a model on lists with costs or a reference; others are left out.

    Raises
    ------
    UserError
        D336 for a model that does not decide lists, D337 if no list has costs or a reference.
    """
    check_lists(model)
    with name_error_place(items):
        return _outcomes(model, items)


def _outcomes(model: Model, items: Sequence[NBestList]) -> Outcomes:
    """Return the outcomes of a model on the lists with a right candidate; D337 if there are none."""
    instances = list_instances(lists_with_costs(model.task, items))
    labelled = np.flatnonzero(instances.observed >= 0)
    if not len(labelled):
        raise UserError("D337", n=len(items))
    part = instances.take(labelled)
    assert part.own is not None
    decisions = decide_lists(model, part.own)
    used = [items[i] for i in labelled.tolist()]
    names = {name: i for i, name in enumerate(dict.fromkeys(item.document for item in used))}
    references = [item.reference for item in used if item.reference is not None]
    return Outcomes.from_lists(
        part.own,
        scores=decisions.scores,
        chosen=decisions.chosen,
        references=references if len(references) == len(used) else None,
        units=[names[item.document] for item in used],
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
    best = _cheapest(outcomes)
    first = outcomes.with_chosen(outcomes.first)
    systems = {"model": outcomes, "first": first, "oracle": outcomes.with_chosen(best)}
    paired = paired_bootstrap(figure, first, outcomes)
    moved = outcomes.chosen != first.chosen
    change = outcomes.chosen_cost - first.chosen_cost
    return {
        "n": len(outcomes),
        "candidates": int(outcomes.offsets[-1]),
        "account": dataset_report(len(outcomes), _unused(len(items) - len(outcomes)), "lists"),
        "measure": {"name": figure.name, "unit": figure.unit, "more_is_better": figure.more_is_better},
        "systems": {
            name: {"value": figure.value(outcomes), "interval": bootstrap_interval(figure, outcomes)}
            for name, outcomes in systems.items()
        },
        "better": {"difference": paired.difference, "interval": paired.interval, "p": paired.p},
        "changed": {
            "n": int(moved.sum()),
            "better": int((moved & (change < 0)).sum()),
            "worse": int((moved & (change > 0)).sum()),
        },
    }


def _unused(n: int) -> list[str]:
    return ["neither costs nor a reference"] * n


def _cheapest(outcomes: Outcomes) -> Any:
    from disambig.data import segments

    return segments.argmax(-outcomes.cost, outcomes.offsets)


def list_lines(figures: dict[str, Any]) -> list[str]:
    """Format the figures as lines of text."""
    about, systems, changed = figures["measure"], figures["systems"], figures["changed"]
    unit = "" if about["unit"] == "share" else f" ({about['unit']})"
    counts = f"{pluralize(figures['n'], 'list')}, {pluralize(figures['candidates'], 'candidate')}"
    lines = [f"{counts}; {about['name']}{unit}:"]
    names = {"model": "the model's choice", "first": "the first candidate", "oracle": "the best candidate"}
    for name, title in names.items():
        at = systems[name]
        low, high = at["interval"]
        lines.append(
            f"  {title}: {_shown(at['value'], about)} ({_shown(low, about)} to {_shown(high, about)})"
        )
    better = figures["better"]
    low, high = better["interval"]
    lines.append(
        f"model minus first candidate: {format_figure(better['difference'], '+.4f')} "
        f"({format_figure(low, '+.4f')} to "
        f"{format_figure(high, '+.4f')}), p = {format_figure(better['p'], '.4f')} (paired bootstrap)"
    )
    lines.append(
        f"another candidate ranked first in {pluralize(changed['n'], 'list')}: {changed['better']:,} better, "
        f"{changed['worse']:,} worse"
    )
    return lines


def _shown(value: float, about: dict[str, Any]) -> str:
    return format_figure(value, ".2%" if about["unit"] == "share" else ".4f")
