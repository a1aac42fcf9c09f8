"""Compare two models on the same examples: figures, difference and significance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.decision import unpad
from disambig.errors import UserError, nearest_first
from disambig.evaluation.labelled import UNUSED_LIST, choose_measure, decide, list_outcomes
from disambig.evaluation.unseen_text import check_decides_words
from disambig.formats import Labelled, NBestList
from disambig.metrics import AUC, DRAWS, AddsUp, Measure, Outcomes, mcnemar, measure_named, paired_bootstrap
from disambig.models import Model
from disambig.text import view_of_texts
from disambig.training import as_task_decides, dataset_report, label_instances, right_candidates
from disambig.types import decides, metric

LEAST_DOCUMENTS = 20
"""Minimum number of documents for a bootstrap over documents; with fewer, instances are drawn."""
MOST_PAIRS = 10


@dataclass(frozen=True, slots=True, eq=False)
class SharedDecisions:
    """The outcomes of two models on the same examples."""

    # outcomes of the same instances in the same order
    first: Outcomes
    second: Outcomes
    # the reason for each example that one or both of the models cannot use; the first model's if both
    left_out: list[str]


def on_labelled(first: Model, second: Model, labelled: Sequence[Labelled]) -> SharedDecisions:
    """Decide each labelled place that both models can use. Raises D436 if there is none."""
    sides = [_labelled_outcomes(model, labelled) for model in (first, second)]
    problems = []
    for i in range(len(labelled)):
        for model, (_, unusable, _) in zip((first, second), sides, strict=True):
            if i in unusable:
                problems.append(f"{model.name}: {unusable[i]}")
                break
    decided = [(indices, outcomes) for indices, _, outcomes in sides]
    return _shared_instances((first, second), decided, problems)


def on_texts(first: Model, second: Model, texts: Sequence[str]) -> SharedDecisions:
    """Decide each place that both models decide in text whose words are taken as correct.

    Raises D338 for models of lists, D463 for models of labels, D436 if there is no place that both decide.
    """
    sides = []
    for model in (first, second):
        check_decides_words(model)
        decided = model.decide(view_of_texts(texts, model.tokenisation))
        decided = decided.take(np.flatnonzero(decided.observed >= 0))
        places = zip(decided.documents.tolist(), decided.starts.tolist(), decided.ends.tolist(), strict=True)
        sides.append((list(places), Outcomes.from_decisions(decided)))
    by_first, by_second = (set(keys) for keys, _ in sides)
    problems = [f"decided by {first.name} alone"] * len(by_first - by_second)
    problems += [f"decided by {second.name} alone"] * len(by_second - by_first)
    return _shared_instances((first, second), sides, problems)


def on_lists(first: Model, second: Model, items: Sequence[NBestList]) -> SharedDecisions:
    """Choose from each list with costs or a reference (errors: `list_outcomes`)."""
    outcomes = list_outcomes(first, items)
    unused = [UNUSED_LIST] * (len(items) - len(outcomes))
    return SharedDecisions(outcomes, list_outcomes(second, items), unused)


def compare(
    models: tuple[Model, Model],
    shared: SharedDecisions,
    *,
    measure: str | None = None,
    draws: int = DRAWS,
) -> dict[str, Any]:
    """Compare the decisions of two models.

    Raises D443 for a measure of a candidate that no example has; the errors of `measure_named`.

    Parameters
    ----------
    models : (Model, Model)
    measure : str, optional
        See `measure_named`; by default the measure of the first model's task.
    draws : int
        Number of draws of the bootstrap, which draws documents or, if there are fewer than `LEAST_DOCUMENTS`,
        instances.

    Returns
    -------
    dict
        ``n`` and ``account``; ``measure`` (``name``, ``unit``, ``more_is_better``); ``units`` of the
        bootstrap (``what`` and ``n``); ``systems``, two of ``model``, ``value`` and ``interval``;
        ``difference`` of the second minus the first: ``value``, ``interval``, ``p`` and ``draws`` of the
        paired bootstrap; ``mcnemar``, the p-value, None unless the measure is a share of correct instances;
        ``table``: correct by ``both``, by ``first`` or ``second`` only, by ``neither``; ``pairs``: the most
        frequent choices that differ, each with ``right``, ``first``, ``second`` and ``n``.
    """
    first, second = shared.first, shared.second
    figure = _measure(models[0], first, measure)
    n_documents = len(np.unique(first.units))
    by_document = LEAST_DOCUMENTS <= n_documents < len(first)
    if not by_document:
        first = replace(first, units=np.arange(len(first)))
    result = paired_bootstrap(figure, first, second, draws=draws, seed=0)
    values = result.first, result.second
    intervals = result.first_interval, result.second_interval
    return {
        "n": len(first),
        "account": dataset_report(len(first), shared.left_out),
        "measure": {"name": figure.name, "unit": figure.unit, "more_is_better": figure.more_is_better},
        "units": {"what": "documents" if by_document else "instances", "n": result.n_units},
        "systems": [
            {"model": f"{model.name} {model.version}", "value": value, "interval": interval}
            for model, value, interval in zip(models, values, intervals, strict=True)
        ],
        "difference": {
            "value": result.difference,
            "interval": result.interval,
            "p": result.p,
            "draws": result.draws,
        },
        "mcnemar": _mcnemar(figure, first, second),
        "table": contingency_table(first.right, second.right),
        "pairs": _pairs(first, second),
    }


def contingency_table(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> dict[str, int]:
    """Return the numbers of instances that both systems, only one of them, or neither decides correctly."""
    return {
        "both": int((first & second).sum()),
        "first": int((first & ~second).sum()),
        "second": int((~first & second).sum()),
        "neither": int((~first & ~second).sum()),
    }


def _measure(model: Model, outcomes: Outcomes, name: str | None) -> Measure:
    """Return a measure by name, by default that of the task; D443 if no example has its candidate."""
    if decides(model.task).where == "items":
        return choose_measure(model, outcomes, name)
    if name is None:
        task_measure, candidate = metric(model.task)
        return measure_named(task_measure if candidate is None else f"{task_measure}:{candidate}")
    measure = measure_named(name)
    candidate = getattr(measure, "candidate", "")
    if candidate and candidate not in outcomes.names:
        names = nearest_first(candidate, filter(None, outcomes.names))
        raise UserError("D443", candidate=candidate, measure=name, names=names)
    return _with_candidate(measure, outcomes)


def _with_candidate(measure: Measure, outcomes: Outcomes) -> Measure:
    """Name the candidate of an AUC that names none, if there are more than two candidates."""
    if not isinstance(measure, AUC) or measure.candidate or np.diff(outcomes.offsets).max(initial=0) < 3:
        return measure  # of two candidates both have the same AUC
    second = {outcomes.names[i] for i in outcomes.ids[outcomes.offsets[:-1] + 1].tolist()}
    return AUC(second.pop()) if len(second) == 1 else measure


def _labelled_outcomes(
    model: Model, labelled: Sequence[Labelled]
) -> tuple[list[int], dict[int, str], Outcomes]:
    """Return the examples that a model decides, reasons for the others, and the outcomes in that order."""
    task = model.task
    decided = as_task_decides(task, labelled)
    index_of = {id(example): i for i, example in enumerate(decided)}
    names = {group.name for group in task.groups}
    unknown: dict[int, str] = {}
    if decides(task).between == "labels":
        unknown = {
            i: f"does not know the word {example.word!r}"
            for i, example in enumerate(decided)
            if example.word and example.word not in names
        }
    dataset = label_instances(
        task,
        model.tokenisation,
        [example for i, example in enumerate(decided) if i not in unknown] or decided,
    )
    documents = {name: i for i, name in enumerate(dict.fromkeys(example.document for example in decided))}
    indices: list[int] = []
    parts = []
    for g, group in enumerate(task.groups):
        rows = np.flatnonzero(dataset.examples.instances.groups == g)
        if not len(rows):
            continue
        part = dataset.take(rows)
        chosen, scores = decide(model, part, g)
        indices += [index_of[id(example)] for example in part.labelled]
        instances, right = part.examples.instances, right_candidates(part, group)
        units = [documents[example.document] for example in part.labelled]
        if instances.own is None:
            gold = instances.observed
            outcomes = Outcomes.from_group(
                group.candidates, gold, chosen, scores=scores, right=right, units=units
            )
        else:
            offsets = instances.own.offsets
            lists = replace(instances.own, costs=1.0 - unpad(right, offsets).astype(np.float32))
            outcomes = Outcomes.from_lists(lists, scores=unpad(scores, offsets), chosen=chosen, units=units)
        parts.append(outcomes)
    used = set(indices)
    why = dict(dataset.problems)
    left = {i: why.get(decided[i].where, "cannot use it") for i in range(len(decided)) if i not in used}
    return indices, left | unknown, Outcomes.joined(parts)


def _shared_instances(
    models: tuple[Model, Model], sides: Sequence[tuple[Sequence[Hashable], Outcomes]], problems: list[str]
) -> SharedDecisions:
    """Return the outcomes of the instances that both models decide, in the order of the first model.

    Parameters
    ----------
    models : (Model, Model)
    sides : sequence of (keys, outcomes)
        For each model, a key that identifies each instance, and the outcomes of the same instances.
    problems : list of str
        See `SharedDecisions.left_out`.
    """
    # if a key occurs more than once, its first instance counts: later ones are overwritten
    index_of_key = [{key: i for i, key in reversed(list(enumerate(keys)))} for keys, _ in sides]
    common = [key for key in index_of_key[0] if key in index_of_key[1]]
    if not common:
        first, second = models
        raise UserError("D436", first=first.name, second=second.name)
    common.sort(key=lambda key: index_of_key[0][key])
    taken = [
        outcomes.take(np.array([index_of[key] for key in common]))
        for index_of, (_, outcomes) in zip(index_of_key, sides, strict=True)
    ]
    return SharedDecisions(taken[0], replace(taken[1], units=taken[0].units), problems)


def _mcnemar(measure: Measure, first: Outcomes, second: Outcomes) -> float | None:
    """Return McNemar's p-value; None unless the measure is the share of correct instances."""
    if not isinstance(measure, AddsUp):
        return None
    terms = measure.terms(first), measure.terms(second)
    if any(matrix.shape[1] != 2 or not _is_share(matrix) for matrix in terms):
        return None
    hits: list[NDArray[np.bool_]] = [matrix[:, 0] == 1 for matrix in terms]
    return mcnemar(*hits)


def _is_share(terms: NDArray[np.float64]) -> bool:
    return bool((terms[:, 1] == 1).all() and np.isin(terms[:, 0], (0, 1)).all())


def _pairs(first: Outcomes, second: Outcomes) -> list[dict[str, Any]]:
    """Return the most frequent pairs of different choices, with the right candidate."""

    def names(outcomes: Outcomes, ids: NDArray[np.int64]) -> list[str | None]:
        return [outcomes.names[i] if i >= 0 else None for i in ids.tolist()]

    right = names(first, first.gold_ids)
    choices = names(first, first.chosen_ids), names(second, second.chosen_ids)
    counts = Counter(triple for triple in zip(right, *choices, strict=True) if triple[1] != triple[2])
    return [
        dict(zip(("right", "first", "second", "n"), (*triple, n), strict=True))
        for triple, n in counts.most_common(MOST_PAIRS)
    ]
