"""Evaluate on labelled examples or lists: on test examples, by cross-validation, and by Senseval's scorer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import Group, Instances, ScoreBatch, distinct_texts, find_certain_mistakes, segments
from disambig.decision import Labels, pad, unpad
from disambig.errors import UserError, nearest_first
from disambig.evaluation.unseen_text import figures, most_frequent_candidates, overall
from disambig.files import ErrorCallback, ErrorSink
from disambig.formats import (
    Labelled,
    NBestList,
    SenseInstance,
    Sensemap,
    Weights,
    list_instances,
    mark_place,
    name_error_place,
    read_key,
    read_sensemap,
    read_senseval,
)
from disambig.formatting import format_figure, pluralize
from disambig.metrics import (
    AUC,
    Measure,
    Outcomes,
    bootstrap_interval,
    list_measure_named,
    measure_named,
    paired_bootstrap,
)
from disambig.models import Model, check_lists, decide_lists
from disambig.training import (
    LabelledDataset,
    Parts,
    ResolvedConfig,
    as_task_decides,
    dataset_report,
    label_instances,
    learns_labels,
    lists_with_costs,
    right_candidates,
    seen_elsewhere,
    train_dataset,
)
from disambig.type_aliases import Floats, Progress, no_progress
from disambig.types import RaisesFlags, Task, decides, metric

ErrorRecords = list[dict[str, Any]]
MIN_DOCUMENTS = 20
"""Minimum number of documents for a bootstrap over documents; with fewer, instances are drawn."""


def evaluate_labelled(
    model: Model,
    labelled: Sequence[Labelled],
    *,
    report: ErrorSink | None = None,
    wrong: ErrorRecords | None = None,
    measure: str | None = None,
) -> dict[str, Any]:
    """Score a model on labelled examples.

    The model decides each labelled place, even if its task would not find a word there. It abstains if the
    margin is below its ``least_margin``, and at words that it does not know.

    `report`: called with each example that cannot be used, and the reason.
    `wrong`: a list to which the wrongly decided examples are added (see `error_records`).
    `measure`: see `disambig.metrics.measure_named`; the result has a key ``measure`` (see `_measured`).
    Returns ``n`` examples, ``documents``, ``unused`` (places where the task decides nothing), ``unknown``
    (examples of words that the model does not know), ``unknown_labels`` (examples whose label it does not
    know), ``groups`` with the figures of each group (see `figures`), ``overall`` with those of all examples,
    including the unknown ones, which count as wrong, and ``overall_known`` without unknown labels.
    """
    decided = decides(model.task)
    if decided.where == "items":
        raise UserError("D338", model=model.name)
    names = {group.name for group in model.task.groups}
    labelled = as_task_decides(model.task, labelled)
    usable = labelled
    if decided.between == "labels":
        usable = [example for example in labelled if not example.word or example.word in names]
    dataset = label_instances(model.task, model.tokenisation, usable or labelled)
    _report_left_out(dataset, report)
    groups, outcomes = {}, []
    for g, rows in dataset.examples.instances.rows_by_group():
        part, group = dataset.take(rows), model.task.groups[g]
        chosen, logits = decide(model, part, g)
        gold = _gold(part, group, chosen)
        groups[group.name] = figures(part.examples.instances, group, gold, chosen, logits)
        outcomes.append(example_outcomes(part, group, chosen, logits))
        if wrong is not None:
            wrong.extend(error_records(part, group, gold, chosen, logits))
    unknown = len(labelled) - len(usable)
    n_labels = dataset.n_unknown_labels
    counts = _count_examples(dataset)
    return counts | {
        "unused": counts["unused"] - n_labels,
        "unknown": unknown,
        "unknown_labels": n_labels,
        "overall": overall(groups, unknown, n_labels),
        "overall_known": overall(groups, unknown),
        "groups": groups,
        **_measured(measure, {"model": outcomes}),
    }


def cross_validate(
    parts: Parts,
    labelled: Sequence[Labelled],
    *,
    folds: int = 10,
    enough: int | None = None,
    also: Sequence[Labelled] = (),
    report: ErrorSink | None = None,
    wrong: ErrorRecords | None = None,
    measure: str | None = None,
    progress: Progress = no_progress,
    **settings: Any,
) -> dict[str, Any]:
    """Cross-validate a config: train on all folds but one and test on that one, in turn.

    Folds consist of whole documents. Extractors, C, calibration and offsets are fitted on the other folds
    only, as is the offset of the unsupervised baseline. If the task learns its labels from the examples, a
    label without an example of its group in the other folds counts as no answer, since it could not be known.

    The majority is the most frequent label of all examples of a group, including those of the tested fold,
    which can only favour the majority over the model. From the other folds alone it would be too low: if
    labels are equally frequent, the most frequent one in the other folds is the rarest in the tested fold.

    Raises D338 for a task on items outside any text; D464 for more folds than documents, or fewer than two.

    `enough`: stop after the fold at which each group has this many tested examples.
    `also`: additional training examples for each fold, which are not tested. Those at the place of one of
    `labelled` are left out.
    `report`: called with each example that cannot be used, and the reason.
    `wrong`: a list to which the examples that the model decided wrongly are added (see `error_records`).
    `measure`: see `evaluate_labelled`.
    `**settings`: settings of training, as for `train_labelled`.
    Returns ``n``, ``documents``, ``unused``, ``folds`` and the number of ``decided`` folds; ``unlearned``:
    in all folds together, ``n`` groups ``of`` all have too few examples to learn from; ``systems`` with
    the figures of each group for ``model``, ``baseline`` (if the config has one) and ``majority``, and
    ``overall`` with those of all groups together.
    """
    parts = ResolvedConfig.from_parts(parts)
    task = parts.task
    if parts.decides.where == "items":
        raise UserError("D338", model=task.name)
    labelled = as_task_decides(task, labelled)
    place_of = attrgetter("text", "start", "end")
    tested = set(map(place_of, labelled))
    also = [example for example in as_task_decides(task, also) if place_of(example) not in tested]
    all_examples = label_instances(task, parts.tokenisation, [*labelled, *also])
    _report_left_out(all_examples, report)
    # by identity: equal examples may come from another source
    tested_ids = set(map(id, labelled))
    is_tested = np.array([id(example) in tested_ids for example in all_examples.labelled], bool)
    dataset = all_examples.compacted(is_tested)
    if not 2 <= folds <= dataset.n_documents:
        raise UserError("D464", folds=folds, documents=dataset.n_documents)
    fold = dataset.folds(folds)
    fold_of_all = np.full(len(is_tested), -1)  # additional examples are in no fold: each model learns them
    fold_of_all[is_tested] = fold
    instances = dataset.examples.instances
    width = max(_most_candidates(instances, g, group) for g, group in enumerate(task.groups))
    learned = {"model": parts}
    if parts.has_baseline:
        learned["baseline"] = replace(parts, learner=parts.baseline)
    chosen = {system: np.zeros(len(instances), np.int64) for system in learned}
    logits = {system: np.zeros((len(instances), width)) for system in learned}
    n_decided, n_learned, n_groups = folds, 0, 0
    for k in range(folds):
        if enough is not None and k:  # go on only while a group has too few tested examples
            n_tested = np.bincount(instances.groups[fold < k], minlength=len(task.groups))
            if n_tested.min() >= enough:
                n_decided = k
                break
        progress("cross-validating", k, folds)
        training_part = all_examples.compacted(fold_of_all != k)
        for system, config in learned.items():
            model = train_dataset(config, training_part, name=task.name, **settings)
            _decide_rows(model, dataset, fold == k, chosen[system], logits[system])
            if system == "model":
                tested_groups = np.unique(instances.groups[fold == k]).tolist()
                n_learned += count_learned(model, tested_groups)
                n_groups += len(tested_groups)
    systems, outcomes = _group_figures(task, dataset, chosen, logits, fold, n_decided, also, wrong)
    return {
        **_count_examples(dataset.take(fold < n_decided)),
        "unused": len(all_examples.problems),
        "account": dataset_report(len(dataset.documents), all_examples.reasons),
        "folds": folds,
        "decided": n_decided,
        "unlearned": {"n": n_groups - n_learned, "of": n_groups},
        "overall": {system: overall(groups) for system, groups in systems.items()},
        "systems": systems,
        **_measured(measure, outcomes),
    }


def count_learned(model: Model, groups: Sequence[int]) -> int:
    """Return how many of some groups a model has learned; the baseline decides the others."""
    if model.shared is not None:
        return len(groups)
    return sum(g < len(model.scorers) and model.scorers[g] is not None for g in groups)


def _most_candidates(instances: Instances, g: int, group: Group) -> int:
    """Return the largest number of candidates of an instance of group `g`."""
    return int(instances.take(instances.groups == g).sizes(group).max(initial=0))


def _decide_rows(
    model: Model,
    dataset: LabelledDataset,
    is_tested: NDArray[np.bool_],
    chosen: NDArray[np.int64],
    logits: Floats,
) -> None:
    """Fill in the choices and logits of the tested instances, group by group."""
    for g, group_rows in dataset.examples.instances.rows_by_group():
        rows = group_rows[is_tested[group_rows]]
        if len(rows):
            chosen[rows], scores = decide(model, dataset.take(rows), g)
            logits[rows, : scores.shape[1]] = scores


def _group_figures(
    task: Task,
    dataset: LabelledDataset,
    chosen: dict[str, NDArray[np.int64]],
    logits: dict[str, Floats],
    fold: NDArray[np.int64],
    n_decided: int,
    also: Sequence[Labelled],
    wrong: ErrorRecords | None,
) -> tuple[dict[str, dict[str, Any]], dict[str, list[Outcomes]]]:
    """Return the figures and the outcomes of each group on the decided folds, for each system.

    The last system is the majority.
    """
    instances = dataset.examples.instances
    systems: dict[str, dict[str, Any]] = {system: {} for system in (*chosen, "majority")}
    outcomes: dict[str, list[Outcomes]] = {system: [] for system in systems}
    for g, rows in instances.rows_by_group():
        part, group = dataset.take(rows), task.groups[g]
        right, group_instances = right_candidates(part, group), part.examples.instances
        all_right = unpad(right, group_instances.offsets(group))
        majority = most_frequent_candidates(group_instances, group, right=all_right)
        kept = np.flatnonzero(fold[rows] < n_decided)
        kept_instances, k = group_instances.take(kept), _most_candidates(instances, g, group)
        for system, groups in systems.items():
            choice = chosen[system][rows] if system in chosen else majority
            if learns_labels(task):
                choice = seen_elsewhere(choice, right, fold[rows], _additional_counts(also, group))
            kept_logits = logits[system][rows, :k][kept] if system in logits else None
            gold = _gold(part, group, choice)[kept]
            groups[group.name] = figures(kept_instances, group, gold, choice[kept], kept_logits)
            outcomes[system].append(example_outcomes(part.take(kept), group, choice[kept], kept_logits))
            if wrong is not None and system == "model" and kept_logits is not None:
                wrong.extend(error_records(part.take(kept), group, gold, choice[kept], kept_logits))
    return systems, outcomes


def example_outcomes(
    part: LabelledDataset, group: Group, chosen: NDArray[np.int64], scores: Floats | None
) -> Outcomes:
    """Return the outcomes of the examples of one group, with their documents as units.

    `scores`: those of the candidates of each example; None for a system that has none.
    """
    right = right_candidates(part, group)
    return instance_outcomes(part.examples.instances, group, right, chosen, scores, units=part.documents)


def instance_outcomes(
    instances: Instances,
    group: Group,
    right: NDArray[np.bool_],
    chosen: NDArray[np.int64],
    scores: Floats | None,
    *,
    units: NDArray[np.int64] | None = None,
) -> Outcomes:
    """Return the outcomes of instances of one group, whose ``observed`` candidates are right.

    `right`: all right candidates, shape ``(n, max_candidates)``.
    `scores`: those of the candidates, of the same shape; None for a system that has none.
    """
    if instances.lists is None:
        k = len(group.candidates)
        return Outcomes.from_group(
            group.candidates,
            instances.observed,
            chosen,
            scores=None if scores is None else scores[:, :k],
            right=right,
            units=units,
        )
    offsets = instances.lists.offsets
    lists = replace(instances.lists, costs=1.0 - unpad(right, offsets).astype(np.float32))
    flat = np.zeros(offsets[-1]) if scores is None else unpad(scores, offsets)
    return Outcomes.from_lists(lists, scores=flat, chosen=chosen, units=units)


def measure_of_examples(name: str, outcomes: Outcomes) -> Measure:
    """Return a measure by name; D443 if no example has its candidate, and the errors of `measure_named`."""
    measure = measure_named(name)
    candidate = getattr(measure, "candidate", "")
    if candidate and candidate not in outcomes.names:
        names = nearest_first(candidate, filter(None, outcomes.names))
        raise UserError("D443", candidate=candidate, measure=name, names=names)
    if not isinstance(measure, AUC) or candidate or np.diff(outcomes.offsets).max(initial=0) < 3:
        return measure  # of two candidates both have the same AUC
    second = {outcomes.names[i] for i in outcomes.ids[outcomes.offsets[:-1] + 1].tolist()}
    return AUC(second.pop()) if len(second) == 1 else measure


def with_drawn_units(outcomes: Outcomes) -> tuple[Outcomes, str]:
    """Return outcomes with the units that a bootstrap draws, and what these are.

    They are documents or, if there are fewer than `MIN_DOCUMENTS`, instances.
    """
    if MIN_DOCUMENTS <= len(np.unique(outcomes.units)) < len(outcomes):
        return outcomes, "documents"
    return replace(outcomes, units=np.arange(len(outcomes))), "instances"


def _measured(name: str | None, outcomes: Mapping[str, Sequence[Outcomes]]) -> dict[str, Any]:
    """Return the values of a measure with the key ``measure``; nothing if no measure is named.

    Its value has ``name``, ``unit``, ``more_is_better``, and ``systems``, each with ``value`` and
    ``interval``. Examples that a system cannot decide are left out.

    `outcomes`: by system, those of each group.
    """
    if name is None:
        return {}
    drawn = {system: with_drawn_units(Outcomes.joined(parts))[0] for system, parts in outcomes.items()}
    measure = measure_of_examples(name, drawn["model"])
    return {
        "measure": {
            "name": measure.name,
            "unit": measure.unit,
            "more_is_better": measure.more_is_better,
            "systems": {
                system: {"value": measure.value(joined), "interval": bootstrap_interval(measure, joined)}
                for system, joined in drawn.items()
            },
        }
    }


def _additional_counts(also: Sequence[Labelled], group: Group) -> NDArray[np.int64]:
    """Return the number of additional training examples of each candidate of a group."""
    counts = Counter(
        label
        for example in also
        if example.word in ("", group.name)
        for label in (example.label, *example.also)
    )
    return np.array([counts[candidate] for candidate in group.candidates], np.int64)


def _gold(dataset: LabelledDataset, group: Group, chosen: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the right candidate of each instance, preferring the chosen one if several are right."""
    observed = dataset.examples.instances.observed
    right = (chosen >= 0) & right_candidates(dataset, group)[np.arange(len(chosen)), chosen]
    return np.where(right, chosen, observed).astype(np.int32)


def error_records(
    dataset: LabelledDataset, group: Group, gold: NDArray[np.int32], chosen: NDArray[np.int64], scores: Floats
) -> ErrorRecords:
    """Return the wrongly decided examples of a group as plain values, in the form that `read_labelled` reads.

    ``text`` (the place between ``[[`` and ``]]`` unless it is the whole text), ``label``, ``chosen`` (None if
    the model gives no answer), ``margin`` (score of the chosen candidate minus that of the right one; None
    without an answer), ``group``, and ``where`` (file and line of the example).
    """
    records = []
    for i in np.flatnonzero(gold != chosen).tolist():
        example, choice = dataset.labelled[i], int(chosen[i])
        names = dataset.examples.instances.candidates(i, group)
        records.append(
            {
                "text": mark_place(example),
                "label": example.label,
                "chosen": names[choice] if choice >= 0 else None,
                "margin": float(scores[i, choice] - scores[i, gold[i]]) if choice >= 0 else None,
                "group": group.name,
                "where": example.where,
            }
        )
    return records


def decide(model: Model, dataset: LabelledDataset, group: int) -> tuple[NDArray[np.int64], Floats]:
    """Return the chosen candidates of the instances of one group, and their logits or scores.

    The choice is -1 if the margin is below the model's ``least_margin``. As in use, mistakes in the text that
    the task knows by a rule are corrected, whatever the scores (see `disambig.types.TaskTraits`).
    """
    view, instances = dataset.examples.view, dataset.examples.instances.without_labels()
    scored = model.scored(model.features(view, instances, group), instances, group, view)
    predictions, scores = model.judge.judge(scored), candidate_scores(model, scored, group)
    chosen = np.where(predictions.answered, predictions.chosen, -1)
    if isinstance(model.judge, RaisesFlags):
        in_text = replace(instances, observed=dataset.written)
        rows, intended, _ = find_certain_mistakes(model.task, view, in_text)
        chosen[rows] = intended
        scores[rows, intended] = scores[rows].max(axis=1)
    return chosen, scores


def candidate_scores(model: Model, scored: ScoreBatch, group: int) -> Floats:
    """Return the logits or scores of candidates, shape ``(n, max_candidates)``."""
    scores = pad(scored.scores, scored.offsets, -np.inf)
    return model.judge.logits(scores, group) if isinstance(model.judge, Labels) else scores


def _report_left_out(dataset: LabelledDataset, report: ErrorSink | None) -> None:
    if report is not None:
        for problem in dataset.problems:
            report(*problem)


def _count_examples(dataset: LabelledDataset) -> dict[str, Any]:
    """Return the numbers of examples and documents, and the report on unused examples."""
    n = len(dataset.documents)
    counts = {"n": n, "documents": len(np.unique(dataset.documents)), "unused": len(dataset.problems)}
    return counts | {"account": dataset_report(n, dataset.reasons)}


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
        lists = instances.take(labelled).lists
        assert lists is not None
        decisions = decide_lists(model, lists)
    used = [items[i] for i in labelled.tolist()]
    references = [item.reference for item in used if item.reference is not None]
    return Outcomes.from_lists(
        lists,
        scores=decisions.scores,
        chosen=decisions.chosen,
        references=references if len(references) == len(used) else None,
        units=distinct_texts([item.document for item in used])[1],
    )


def choose_measure(model: Model, outcomes: Outcomes, name: str | None = None) -> Measure:
    """Return a measure by name; by default that of the task, or the mean cost if lists have no references."""
    if name is None and outcomes.references is None:
        name = "cost"
    return list_measure_named(name or metric(model.task)[0])


def evaluate_lists(model: Model, items: Sequence[NBestList], *, measure: str | None = None) -> dict[str, Any]:
    """Score a model on lists.

    `measure`: see `disambig.metrics.measures.list_measure_named`; by default the measure of the model's task.
    Returns ``n`` lists, ``candidates``, ``account`` (of the lists that are left out), ``measure`` (``name``,
    ``unit``, ``more_is_better``), ``systems``: ``model``, ``first`` (the source's first candidate) and
    ``oracle`` (the best candidate), each with ``value`` and ``interval``; ``better``: the ``difference`` from
    the first candidate, with ``interval`` and ``p`` of a paired bootstrap over documents; ``changed``: how
    often the model chose another candidate than the first, and how many of these are better and worse.
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


UNASSIGNED = ("P", "U")
Answer = str | Sequence[str] | Weights
"""A sense, several senses of equal weight, or senses with their weights."""


@dataclass(frozen=True, slots=True)
class SensevalScore:
    """The score of answers."""

    precision: float  # credit divided by the weight of all answers; 0 if there is none
    recall: float  # credit divided by the number of instances in the key
    attempted: float  # share of the key's instances that were attempted
    n: int  # number of instances in the key
    # total credit, and total weight of all answers
    right: float
    tried: float


def score(
    answers: Mapping[str, Answer],
    key: Mapping[str, Sequence[str]],
    sensemap: Sensemap | None = None,
    *,
    any_of: bool = False,
) -> SensevalScore:
    """Score answers as Senseval does.

    Parameters
    ----------
    answers : mapping of instance to sense, senses, or senses with weights
        An instance that is missing, or has no sense, counts as not attempted.
    key : mapping of instance to right senses
    sensemap : mapping, optional
        For the coarse score: see `disambig.formats.senseval.read_sensemap`.
    any_of : bool
        Give full credit if any sense of an answer is right, however many it has.
    """
    credits = credit(answers, key, sensemap, any_of=any_of)
    right = sum(credits.values())
    tried = sum(sum(_weights(answers[instance]).values()) for instance in credits)
    n = len(key)
    return SensevalScore(
        precision=right / tried if tried else 0.0,
        recall=right / n if n else 0.0,
        attempted=tried / n if n else 0.0,
        n=n,
        right=right,
        tried=tried,
    )


def credit(
    answers: Mapping[str, Answer],
    key: Mapping[str, Sequence[str]],
    sensemap: Sensemap | None = None,
    *,
    any_of: bool = False,
) -> dict[str, float]:
    """Return the credit (0 to 1) of each attempted instance; the parameters are those of `score`."""
    credits = {}
    for instance, senses in key.items():
        weights = _weights(answers.get(instance, ()))
        if weights:
            groups = _groups(senses, sensemap)
            right = sum(weight for sense, weight in weights.items() if groups & _groups([sense], sensemap))
            credits[instance] = sum(weights.values()) if any_of and right else right
    return credits


def most_frequent(
    instances: Iterable[SenseInstance], *, every: bool = False, unassigned: bool = False
) -> dict[str, str]:
    """Return the most frequent sense of each word; if several are equally frequent, the one seen first.

    Parameters
    ----------
    instances : iterable of SenseInstance
    every : bool
        Count all senses of an instance, not only the first.
    unassigned : bool
        Also count P and U. A word with no other sense gets one of these in any case.
    """
    counts: dict[str, Counter[str]] = {}
    with_unassigned: dict[str, Counter[str]] = {}
    for instance in instances:
        senses = [sense for sense in instance.senses if unassigned or sense not in UNASSIGNED]
        counts.setdefault(instance.word, Counter()).update(senses if every else senses[:1])
        with_unassigned.setdefault(instance.word, Counter()).update(instance.senses)
    return {
        word: (assigned or with_unassigned[word]).most_common(1)[0][0]
        for word, assigned in counts.items()
        if assigned or with_unassigned[word]
    }


def _weights(answer: Answer) -> Weights:
    if isinstance(answer, Mapping):
        return answer
    senses = [answer] if isinstance(answer, str) else list(dict.fromkeys(answer))
    return {sense: 1 / len(senses) for sense in senses if sense}


def _groups(senses: Iterable[str], sensemap: Sensemap | None) -> set[str]:
    """Return the senses and, if there is a sense map, all groups that contain them."""
    accepted = set(senses)
    return accepted if sensemap is None else accepted.union(*(sensemap.get(sense, ()) for sense in accepted))


def judge_senseval(
    model: Model,
    paths: Sequence[str],
    *,
    key: str,
    sensemap: str | None = None,
    encoding: str | None = None,
    strict: bool = False,
    tell: ErrorCallback | None = None,
) -> tuple[list[Labelled], dict[str, Any]]:
    """Score a model on the instances of files, with the right senses from a key file.

    Raises D497 if the key contains none of the instances; and the errors of reading and labelling.

    Returns the instances as examples; of several right senses, the label is the model's choice or else the
    first.
    ``senseval``: ``fine`` and, with a sense map, ``coarse``, each with precision, recall, attempted, n, right
    and tried.
    """
    right = read_key(key)
    options: dict[str, Any] = {"encoding": encoding, "strict": strict, "tell": tell}
    read = [instance for path in paths for instance in read_senseval(path, **options)]
    instances = [instance for instance in read if instance.id in right]
    if not instances:
        raise UserError("D497", path=key, n=len(right), other=", ".join(paths))
    if tell is not None and len(instances) < len(read):
        problem = f"left out: {pluralize(len(read) - len(instances), 'instance')} of {', '.join(paths)}"
        tell(str(UserError("D489", where=key, problem=f"{problem} without a line in this key")))
    answers = model_answers(model, instances)
    scores = {"fine": asdict(score(answers, right))}
    if sensemap is not None:
        scores["coarse"] = asdict(score(answers, right, read_sensemap(sensemap)))
    examples = [
        replace(instance.labelled(), label=answer if answer in right[instance.id] else right[instance.id][0])
        for instance in instances
        for answer in [answers.get(instance.id, "")]
    ]
    return examples, {"senseval": scores}


def model_answers(model: Model, instances: Sequence[SenseInstance]) -> dict[str, str]:
    """Return the sense that a model gives to each instance.

    Words that the model does not know, and decisions below its ``least_margin``, have no answer.
    """
    groups = {group.name: group for group in model.task.groups}
    ids: dict[tuple[str, int, str], list[str]] = {}
    examples = []
    for instance in instances:
        if group := groups.get(instance.word):  # the label is irrelevant: it only has to be a candidate
            ids.setdefault((instance.text, instance.start, instance.word), []).append(instance.id)
            examples.append(replace(instance.labelled(), label=group.candidates[0]))
    if not examples:
        return {}
    dataset = label_instances(model.task, model.tokenisation, examples)
    answers = {}
    for g, rows in dataset.examples.instances.rows_by_group():
        chosen, _ = decide(model, dataset.take(rows), g)
        for row, c in zip(rows.tolist(), chosen.tolist(), strict=True):
            example = dataset.labelled[row]
            if c >= 0:
                names = ids[example.text, example.start, example.word]
                answers.update(dict.fromkeys(names, model.task.groups[g].candidates[c]))
    return answers
