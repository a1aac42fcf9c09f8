"""Compare models: two on the same examples, several systems on one test set; assess one after training.

In the comparison of systems, every system decides the same instances, so that systems can be compared
instance by instance. Thresholds are set on other text.

All systems decide between the candidates of the test set. A model with further candidates, such as no word at
all (``""``), is restricted to these. If ``""`` is a candidate of the test set, empty places are decided too,
but synthetic errors only replace words by words: none is removed and none inserted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import Group, Instances, ScoreBatch, distinct_texts, segments
from disambig.errors import UserError
from disambig.evaluation.labelled import (
    UNUSED_LIST,
    choose_measure,
    count_learned,
    cross_validate,
    decide,
    evaluate_lists,
    example_outcomes,
    list_lines,
    list_outcomes,
    measure_of_examples,
    with_drawn_units,
)
from disambig.evaluation.unseen_text import (
    ERROR_SHARE,
    ROUNDS,
    check_decides_words,
    evaluate,
    figures,
    most_frequent_candidates,
    overall,
    substitute,
)
from disambig.features import CandidateHashes
from disambig.formats import Labelled, NBestList
from disambig.formatting import format_figure, pluralize
from disambig.metrics import (
    DRAWS,
    AddsUp,
    Measure,
    Outcomes,
    Paired,
    mcnemar,
    measure_named,
    paired_bootstrap,
)
from disambig.models import BLOCK, Model, NoPreference
from disambig.text import Tokenisation, TokenView, view_of_texts
from disambig.training import (
    NO_GAIN,
    ON_FITTED,
    Parts,
    TrainingPlan,
    as_task_decides,
    dataset_report,
    label_instances,
    train_labelled,
)
from disambig.type_aliases import Bools, Floats, Progress, no_progress
from disambig.types import DecisionRule, RaisesFlags, Task, decides, metric

MAX_PAIRS = 10


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
    models: tuple[Model, Model], shared: SharedDecisions, *, measure: str | None = None, draws: int = DRAWS
) -> dict[str, Any]:
    """Compare the decisions of two models.

    Raises D443 for a measure of a candidate that no example has; the errors of `measure_named`.

    `measure`: see `measure_named`; by default the measure of the first model's task.
    `draws`: number of draws of the bootstrap, which draws documents or, if there are few, instances.
    Returns ``n`` and ``account``; ``measure`` (``name``, ``unit``, ``more_is_better``); ``units`` of the
    bootstrap (``what`` and ``n``); ``systems``, two of ``model``, ``value`` and ``interval``; ``difference``
    of the second minus the first: ``value``, ``interval``, ``p`` and ``draws`` of the paired bootstrap;
    ``mcnemar``, the p-value, None unless the measure is a share of correct instances; ``table``: correct by
    ``both``, by ``first`` or ``second`` only, by ``neither``; ``pairs``: the most frequent choices that
    differ, each with ``right``, ``first``, ``second`` and ``n``.
    """
    first, second = shared.first, shared.second
    figure = _measure(models[0], first, measure)
    first, drawn = with_drawn_units(first)
    result = paired_bootstrap(figure, first, second, draws=draws, seed=0)
    names = [f"{model.name} {model.version}" for model in models]
    return {
        "n": len(first),
        "account": dataset_report(len(first), shared.left_out),
        "measure": {"name": figure.name, "unit": figure.unit, "more_is_better": figure.more_is_better},
        "units": {"what": drawn, "n": result.n_units},
        **paired_figures(result, names),
        "mcnemar": _mcnemar(figure, first, second),
        "table": contingency_table(first.right, second.right),
        "pairs": _pairs(first, second),
    }


def compare_configs(
    plans: tuple[TrainingPlan, TrainingPlan],
    labelled: Sequence[Labelled],
    *,
    folds: int,
    measure: str | None = None,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Compare two configs by cross-validation: in turn, train both on all folds but one and decide that one.

    The folds are those that `cross_validate` makes for the first config.

    Raises D338 for a task on items outside any text; D464 for more folds than documents, or fewer than two;
    the errors of training, `on_labelled` and `compare`.

    `measure`: see `compare`.
    Returns the result of `compare` with two more keys: ``folds``, and ``unlearned``, which has one entry per
    config (see `cross_validate`).
    """
    for plan in plans:
        if plan.parts.decides.where == "items":
            raise UserError("D338", model=plan.parts.task.name)
    first, second = (plan.with_learned_settings(labelled) for plan in plans)
    dataset, other_dataset = (
        label_instances(plan.parts.task, plan.parts.tokenisation, labelled) for plan in (first, second)
    )
    groups = [np.unique(one.examples.instances.groups).tolist() for one in (dataset, other_dataset)]
    if not 2 <= folds <= dataset.n_documents:
        raise UserError("D464", folds=folds, documents=dataset.n_documents)
    fold, n_documents = dataset.folds(folds), 0
    left_out = list(dataset.reasons)
    sides: tuple[list[Outcomes], list[Outcomes]] = [], []
    unlearned = {"n": 0, "of": 0}, {"n": 0, "of": 0}
    for k in range(folds):
        progress("cross-validating", k, folds)
        learned, tested = (
            [dataset.labelled[i] for i in np.flatnonzero(rows)] for rows in (fold != k, fold == k)
        )
        model, other = (
            train_labelled(plan.parts, learned, name=plan.name, version=plan.version, **plan.settings)
            for plan in (first, second)
        )
        for counts, trained, all_groups in zip(unlearned, (model, other), groups, strict=True):
            counts["n"] += len(all_groups) - count_learned(trained, all_groups)
            counts["of"] += len(all_groups)
        shared = on_labelled(model, other, tested)
        left_out += shared.left_out
        for side, outcomes in zip(sides, (shared.first, shared.second), strict=True):
            # the documents of each fold are numbered from 0
            side.append(replace(outcomes, units=outcomes.units + n_documents))
        n_documents += len({example.document for example in tested})
    joined = SharedDecisions(_join_folds(sides[0]), _join_folds(sides[1]), left_out)
    return {"folds": folds, "unlearned": unlearned, **compare((model, other), joined, measure=measure)}


def _join_folds(parts: Sequence[Outcomes]) -> Outcomes:
    """Return the outcomes of all folds; candidates with the same name are the same in each fold."""
    joined = Outcomes.joined(parts)
    names, numbers = distinct_texts(joined.names)
    return replace(joined, names=names, ids=numbers[joined.ids])


def paired_figures(result: Paired, names: Sequence[str]) -> dict[str, Any]:
    """Return the figures of two systems with these names, and their difference."""
    figures = (result.first, result.first_interval), (result.second, result.second_interval)
    difference = {"value": result.difference, "interval": result.interval}
    return {
        "systems": [
            {"model": name, "value": value, "interval": interval}
            for name, (value, interval) in zip(names, figures, strict=True)
        ],
        "difference": {**difference, "p": result.p, "draws": result.draws},
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
    return measure_of_examples(name, outcomes)


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
    decidable = [example for i, example in enumerate(decided) if i not in unknown]
    dataset = label_instances(task, model.tokenisation, decidable or decided)
    documents = {name: i for i, name in enumerate(dict.fromkeys(example.document for example in decided))}
    indices: list[int] = []
    parts = []
    for g, rows in dataset.examples.instances.rows_by_group():
        part, group = dataset.take(rows), task.groups[g]
        chosen, scores = decide(model, part, g)
        indices += [index_of[id(example)] for example in part.labelled]
        units = [documents[example.document] for example in part.labelled]
        parts.append(replace(example_outcomes(part, group, chosen, scores), units=np.array(units)))
    used = set(indices)
    problems = dict(dataset.problems)
    left = {i: problems.get(decided[i].where, "cannot use it") for i in range(len(decided)) if i not in used}
    return indices, left | unknown, Outcomes.joined(parts)


def _shared_instances(
    models: tuple[Model, Model], sides: Sequence[tuple[Sequence[Hashable], Outcomes]], problems: list[str]
) -> SharedDecisions:
    """Return the outcomes of the instances that both models decide, in the order of the first model.

    `sides` (sequence of (keys, outcomes)): for each model, a key that identifies each instance, and the
    outcomes of the same instances.
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
    hits: list[NDArray[np.bool_]] = []
    for terms in (measure.terms(first), measure.terms(second)):
        # the terms of a share are (1, 1) for each correct instance and (0, 1) for others
        if terms.shape[1] != 2 or (terms[:, 1] != 1).any() or not np.isin(terms[:, 0], (0, 1)).all():
            return None
        hits.append(terms[:, 0] == 1)
    return mcnemar(*hits)


def _pairs(first: Outcomes, second: Outcomes) -> list[dict[str, Any]]:
    """Return the most frequent pairs of different choices, with the right candidate."""

    def names(outcomes: Outcomes, ids: NDArray[np.int64]) -> list[str | None]:
        return [outcomes.names[i] if i >= 0 else None for i in ids.tolist()]

    right = names(first, first.gold_ids)
    choices = names(first, first.chosen_ids), names(second, second.chosen_ids)
    counts = Counter(triple for triple in zip(right, *choices, strict=True) if triple[1] != triple[2])
    return [
        dict(zip(("right", "first", "second", "n"), (*triple, n), strict=True))
        for triple, n in counts.most_common(MAX_PAIRS)
    ]


FOLDS = 5
ENOUGH = 1000
"""Labelled examples per group that are enough for the figures: more would only take longer."""


def add_assessment(
    model: Model, plan: TrainingPlan, test_data: dict[str, Any], *, progress: Progress = no_progress
) -> Model:
    """Add test figures to a model; they replace the accuracy on the data that calibration was fitted to.

    If the model cannot be tested, the reason is noted and the model is kept. The arguments are what
    `disambig.training.run` returns.
    """
    if not test_data:
        return model
    try:
        test = assess_model(model, plan.parts, **test_data, progress=progress, **plan.settings)
        results: dict[str, Any] = {"test": test}
        notes = list(model.provenance.get("notes", ()))
        if test:
            # the optimistic accuracy on calibration data is no longer needed
            notes = [note for note in notes if ON_FITTED not in note]
            if len(model.task.groups) > 1 or not any(NO_GAIN in note for note in notes):
                notes += no_gain_notes(model, test)
        if notes or "notes" in model.provenance:
            results["notes"] = notes
    except UserError as error:
        results = {"notes": [*model.provenance.get("notes", []), f"not tested: {error}"]}
    return replace(model, provenance=model.provenance | results)


def assess_model(
    model: Model,
    parts: Parts,
    *,
    texts: Sequence[str] = (),
    labelled: Sequence[Labelled] = (),
    lists: Sequence[NBestList] = (),
    progress: Progress = no_progress,
    **settings: Any,
) -> dict[str, Any]:
    """Evaluate a model on held-out text or lists, or its config by cross-validation on its labelled examples.

    `labelled`: all examples; folds consist of whole documents.
    `**settings`: settings of training.
    Returns ``how``, ``n``, ``documents`` and ``systems`` as returned by `cross_validate`; for text also
    ``rates`` and ``reliability`` as returned by `evaluate`. Empty if there is nothing to test on.
    """
    if lists:
        documents = {item.document for item in lists}
        result = evaluate_lists(model, lists)
        return {"how": "lists held out before training", "documents": len(documents), **result}
    if labelled:
        folds = min(FOLDS, model.provenance["examples"]["documents"])
        if folds < 2:
            return {}
        result = cross_validate(parts, labelled, folds=folds, enough=ENOUGH, progress=progress, **settings)
        method = f"{folds}-fold cross-validation over documents"
        if result["decided"] < folds:
            method += f", {result['decided']} of them tested"
        return {"how": method, **result}
    return assess_on_texts(model, texts) if texts else {}


def assess_on_texts(model: Model, texts: Sequence[str]) -> dict[str, Any]:
    """Evaluate a model of words on text whose words are taken as correct; see `assess_model`."""
    view = view_of_texts(texts, model.tokenisation)
    instances = model.task.instances(view)
    instances = instances.take(instances.observed >= 0)
    systems: dict[str, Any] = {"model": {}, "baseline": {}, "majority": {}}
    if isinstance(model.baseline, NoPreference):  # it would choose the first candidate everywhere
        del systems["baseline"]
    for g, rows in instances.rows_by_group():
        part, group = instances.take(rows), model.task.groups[g]
        features = model.features(view, part.without_labels(), g)
        scorers = {"model": model.scorer(g, features)}
        if "baseline" in systems:
            scorers["baseline"] = model.baseline.fit(features.batch).scorer
        for system, scorer in scorers.items():
            chosen = segments.argmax(scorer.scores(features.batch), features.batch.offsets)
            systems[system][group.name] = figures(part, group, part.observed, chosen)
        majority = most_frequent_candidates(part, group)
        systems["majority"][group.name] = figures(part, group, part.observed, majority)
    n = sum(group_figures["n"] for group_figures in systems["model"].values())
    if not n:
        return {}
    result = evaluate(model, texts, rates=[model.flags_per_1000])
    return {
        "how": "documents held out before training",
        "n": n,
        "documents": len(texts),
        "systems": systems,
        "rates": result["rates"],
        "reliability": result["reliability"],
    }


def no_gain_notes(model: Model, test: dict[str, Any]) -> list[str]:
    """Return a note if a model is not better than the simplest choice on its test examples.

    The simplest choice is the most frequent candidate of each group or, for lists, the first candidate. A
    task with another measure than the accuracy is not compared with the most frequent candidate.

    `test` is the result of `assess_model`.
    """
    if "better" in test:
        measure, systems = test["measure"], test["systems"]
        value, first = systems["model"]["value"], systems["first"]["value"]
        if value > first if measure["more_is_better"] else value < first:
            return []
        values = format_figure(value, ".4f"), format_figure(first, ".4f")
        return [
            "on the held-out lists the model is not better than always taking the first candidate "
            f"({measure['name']} {values[0]}, of the first candidate {values[1]})"
        ]
    if metric(model.task)[0] != "accuracy":
        return []
    model_figures, majority = (overall(test["systems"][system]) for system in ("model", "majority"))
    # abstentions are not errors here
    if model_figures["accuracy"] > majority["accuracy"] * model_figures["attempted"]:
        return []
    return [
        "on the held-out examples the model is not better than always taking the most frequent candidate "
        f"(accuracy {model_figures['accuracy']:.1%}, "
        f"of the most frequent candidate {majority['accuracy']:.1%})"
    ]


def why_untested(model: Model) -> str:
    """Return why a model was not tested, and what would help; empty if it was, or its notes say why not."""
    provenance = model.provenance
    if provenance.get("test") or any(note.startswith("not tested") for note in provenance.get("notes", ())):
        return ""
    documents = provenance["examples"].get("documents", 0)
    if not isinstance(documents, dict):
        return f"not tested: this requires at least two documents (there are {documents:,}); add more"
    if not documents["test"]:
        n = sum(documents.values())
        return (
            f"not tested: a fifth of the documents is held out for testing, but none of these {n:,}; add more"
        )
    return (
        f"not tested: nothing for the task {model.task.name} is in the "
        f"{pluralize(documents['test'], 'document')} held out for testing; add more"
    )


def assessment_line(test: dict[str, Any]) -> str:
    """Format the result of `assess_model` as a line of text, for lists as several; empty if there is none."""
    if not test:
        return ""
    if "better" in test:
        return "\n".join([*list_lines(test), f"({test['how']})"])
    figures = {system: overall(groups) for system, groups in test["systems"].items()}
    low, high = figures["model"]["interval"]
    unsupervised = ""
    if "baseline" in figures:
        unsupervised = f"unsupervised {figures['baseline']['accuracy']:.1%}, "
    examples = pluralize(test["n"], "example")
    return (
        f"accuracy {figures['model']['accuracy']:.1%} ({low:.1%} to {high:.1%}) on {examples}, {unsupervised}"
        f"most frequent candidate {figures['majority']['accuracy']:.1%} ({test['how']})"
    )


_UNLIMITED = float("inf")
"""The rate at which a decision rule raises every flag that it can."""


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticErrors:
    """One round of synthetic errors: a view with wrong words in it, and their instances."""

    view: TokenView
    rows: NDArray[np.int64]  # (m,): the instances of the test set that were changed
    instances: Instances  # the changed instances; the wrong candidate is the observed one
    # bool (m,): whether the task still finds an instance there; otherwise no system can find the error
    seen: Bools


@dataclass(frozen=True, slots=True, eq=False)
class SharedTestSet:
    """Instances and synthetic errors on which systems are compared.

    Attributes
    ----------
    task : Task
    view : TokenView
    instances : Instances
        All instances, protected ones included, in text order.
    parts : array of int32, shape (n,)
        The part of the text (a domain) of each instance, as an index into `names`.
    names : tuple of str
    shielded : array of bool, shape (n,)
        Whether the instance is a protected word, which is decided but never flagged.
    errors : tuple of SyntheticErrors
    """

    task: Task
    view: TokenView
    instances: Instances
    parts: NDArray[np.int32]
    names: tuple[str, ...]
    shielded: Bools
    errors: tuple[SyntheticErrors, ...]

    @classmethod
    def from_texts(
        cls,
        task: Task,
        texts: Mapping[str, Sequence[str]],
        tokenisation: Tokenisation,
        *,
        groups: Sequence[str] | None = None,
    ) -> SharedTestSet:
        """Find the instances in some parts of text, and make synthetic errors in them.

        Parameters
        ----------
        texts : mapping of str to sequence of str
            The documents of each part, by its name.
        groups : sequence of str, optional
            The groups whose instances are kept.
        """
        view = view_of_texts([text for part in texts.values() for text in part], tokenisation, protected=True)
        protected = view.layers["protected"].astype(bool)
        # Without the layer, the task finds protected instances too: accuracy is measured on all of them, and
        # each system must decide the same ones.
        view = replace(view, layers={})
        instances = task.instances(view)
        if groups is not None:
            wanted = [g for g, group in enumerate(task.groups) if group.name in groups]
            instances = instances.take(np.isin(instances.groups, wanted))
        last = instances.positions + instances.lengths - 1
        shielded = protected[instances.positions] | protected[last]
        part_numbers = np.repeat(
            np.arange(len(texts), dtype=np.int32), [len(part) for part in texts.values()]
        )
        return cls(
            task,
            view,
            instances,
            part_numbers[view.document_indices(instances.positions)],
            tuple(texts),
            shielded,
            tuple(_errors(task, view, instances, np.flatnonzero(~shielded))),
        )


def _errors(
    task: Task, view: TokenView, instances: Instances, free: NDArray[np.int64]
) -> list[SyntheticErrors]:
    """Return rounds of synthetic errors: each replaces some of the `free` instances by other candidates."""
    rng = np.random.default_rng(0)
    rounds = []
    for _ in range(ROUNDS):
        errors = substitute(view, instances.take(free), task.groups, share=ERROR_SHARE, rng=rng)
        rows = free[errors.rows]
        changed = instances.take(rows)
        lengths = changed.lengths.copy()
        for g, in_group in changed.rows_by_group():
            candidates = CandidateHashes.from_group(task.groups[g])
            lengths[in_group] = candidates.lengths[errors.substituted[in_group]]
        # an error may remove an instance, for example if the wrong word joins a longer candidate
        remaining = task.instances(errors.view)
        n = len(task.groups)
        seen = np.isin(changed.positions * n + changed.groups, remaining.positions * n + remaining.groups)
        changed = replace(changed, lengths=lengths, observed=errors.substituted)
        rounds.append(SyntheticErrors(errors.view, rows, changed, seen))
    return rounds


@dataclass(frozen=True, slots=True, eq=False)
class SystemDecisions:
    """The decisions of one system on a test set.

    Attributes
    ----------
    chosen : array of int32, shape (n,)
        The candidate with the best score, whatever is observed.
    right : array of bool, shape (n,)
        Whether that is the observed candidate.
    odds : array of float64, shape (n,)
        Log-odds of a flag at each correct word, from the probability of the decision rule; minus infinity if
        no flag is possible.
    margins : array of float64, shape (n,)
        Score of the proposed candidate minus that of the observed one; minus infinity as for `odds`.
    rows : array of int64, shape (m,)
        The instance of each synthetic error of all rounds.
    error_odds, error_margins : arrays of float64, shape (m,)
        The same for the flag at each synthetic error.
    """

    chosen: NDArray[np.int32]
    right: Bools
    odds: Floats
    margins: Floats
    rows: NDArray[np.int64]
    error_odds: Floats
    error_margins: Floats


def judge(model: Model, test_set: SharedTestSet) -> SystemDecisions:
    """Decide every instance and every synthetic error; groups and candidates are matched by name.

    Raises
    ------
    TypeError
        For a model whose decision rule raises no flags.
    ValueError
        If the model lacks a group, or a candidate of one.
    """
    if not isinstance(model.judge, RaisesFlags):
        raise TypeError(
            f"{model.name} does not correct words: its rule {type(model.judge).__name__} raises no flags"
        )
    chosen, odds, margins = _decide_instances(model, test_set.task, test_set.view, test_set.instances)
    odds[test_set.shielded] = margins[test_set.shielded] = -np.inf
    tested = [
        _decide_instances(model, test_set.task, errors.view, errors.instances) for errors in test_set.errors
    ]
    truth = test_set.instances.observed
    rows = np.concatenate([errors.rows for errors in test_set.errors])
    seen = np.concatenate([errors.seen for errors in test_set.errors])
    _, error_odds, error_margins = (np.concatenate(column) for column in zip(*tested, strict=True))
    error_odds[~seen] = error_margins[~seen] = -np.inf
    right = chosen == truth
    return SystemDecisions(chosen, right, odds, margins, rows, error_odds, error_margins)


def _decide_instances(
    model: Model, task: Task, view: TokenView, instances: Instances
) -> tuple[NDArray[np.int32], Floats, Floats]:
    """Return the chosen candidates, and log-odds and margins of the flags, each of shape (n,)."""
    n = len(instances)
    chosen, odds, margins = np.zeros(n, np.int32), np.full(n, -np.inf), np.full(n, -np.inf)
    for g, rows_of_group in instances.rows_by_group():
        group = task.groups[g]
        model_group, candidate_indices = _known_candidates(model, group)
        for rows in np.split(rows_of_group, range(BLOCK, len(rows_of_group), BLOCK)):
            part = instances.take(rows)
            renumbered = replace(part, observed=candidate_indices[part.observed].astype(np.int32))
            scored = model.scored(
                model.features(view, renumbered, model_group), renumbered, model_group, view
            )
            chosen[rows], odds[rows], margins[rows] = _flags(
                model.judge, _restrict_scores(scored, group, candidate_indices, part.observed)
            )
    return chosen, odds, margins


def _known_candidates(model: Model, group: Group) -> tuple[int, NDArray[np.int64]]:
    """Return the number of a group in a model, and the index of each of its candidates there."""
    for number, model_group in enumerate(model.task.groups):
        if model_group.name == group.name and set(group.candidates) <= set(model_group.candidates):
            return number, np.array([model_group.candidates.index(one) for one in group.candidates])
    raise ValueError(f"{model.name} does not decide {group.name!r} between {group.candidates}")


def _restrict_scores(
    scored: ScoreBatch, group: Group, candidate_indices: NDArray[np.int64], observed: NDArray[np.int32]
) -> ScoreBatch:
    """Return the scores restricted to the candidates of `group`, given their indices in the scored group."""
    n, k = len(observed), len(candidate_indices)

    def restrict(values: NDArray[Any]) -> NDArray[Any]:
        return values.reshape(n, -1)[:, candidate_indices].ravel()

    return replace(
        scored,
        groups=(group,),
        offsets=np.arange(n + 1, dtype=np.int64) * k,
        scores=restrict(scored.scores),
        observed=observed,
        n_hits=restrict(scored.n_hits),
        n_queries=restrict(scored.n_queries),
        cost=restrict(scored.cost),
    )


def _flags(judge: DecisionRule, scored: ScoreBatch) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Return the best candidate of each instance, and log-odds and margin of its flag, each of shape (n,)."""
    n = len(scored.observed)
    scores, rows = scored.scores.reshape(n, -1), np.arange(n)
    predictions = judge.judge(scored, flags_per_1000=_UNLIMITED)
    with np.errstate(divide="ignore"):
        # log-odds, since probabilities close to one are equal in floating point and could not be ordered
        odds = np.log(predictions.probabilities) - np.log1p(-predictions.probabilities)
    margins = scores[rows, predictions.chosen] - scores[rows, scored.observed]
    return (
        scores.argmax(axis=1),
        np.where(predictions.flagged, odds, -np.inf),
        np.where(predictions.flagged, margins, -np.inf),
    )


def limits(test_set: SharedTestSet, flags: Floats, share: float, *, by_group: bool = False) -> Floats:
    """Return the limit above which the given share of correct words is flagged, shape ``(n_groups,)``.

    Parameters
    ----------
    flags : array of float64, shape (n,)
        `SystemDecisions.odds` or `SystemDecisions.margins` on `test_set`, which should be development text.
    by_group : bool
        Whether each group has its own limit.
    """
    groups, free = test_set.instances.groups, ~test_set.shielded

    def limit(values: Floats) -> float:
        descending = np.sort(values)[::-1]
        return float(descending[int(share * len(descending))]) if len(descending) else np.inf

    n = len(test_set.task.groups)
    if not by_group:
        return np.full(n, limit(flags[free]))
    return np.array([limit(flags[free & (groups == g)]) for g in range(n)])


def flagged(test_set: SharedTestSet, flags: Floats, rows: NDArray[np.int64] | None, limit: Floats) -> Bools:
    """Return which `flags` exceed the limit of their group; `rows` are their instances (None: all)."""
    groups = test_set.instances.groups if rows is None else test_set.instances.groups[rows]
    return flags > limit[groups]
