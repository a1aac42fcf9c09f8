"""Learning curves: accuracy as a function of the number of training examples.

The model of each point is trained as `disambig train` would train it on those examples alone, and tested on
documents that it did not see. Small samples are drawn several times, since a single small sample is noisy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import Group, Instances
from disambig.errors import UserError
from disambig.evaluation.labelled import (
    candidate_scores,
    count_learned,
    instance_outcomes,
    measure_of_examples,
)
from disambig.evaluation.unseen_text import most_frequent_candidates
from disambig.formats import Clean, Fix, Labelled
from disambig.metrics import Measure, Outcomes, mcnemar, wilson
from disambig.models import Model
from disambig.text import view_of_texts
from disambig.training import (
    EMPTY_CANDIDATE,
    ErrorCorpus,
    Parts,
    ResolvedConfig,
    TextExamples,
    balanced_sample,
    explain_empty_part,
    label_instances,
    learns_labels,
    split,
    train_dataset,
    train_examples,
)
from disambig.type_aliases import Floats, Progress, no_progress

SIZES = (10, 30, 100, 300, 1000, 3000, 10_000)
MAX_TESTED = 5000
"""Maximum number of test examples per group."""
MAX_TUNED = 2000
"""Maximum number of tuning examples per group."""
TEST_FOLDS = 5
"""One labelled document in five is held out for testing, different ones in each draw."""


@dataclass(frozen=True, slots=True, eq=False)
class CurveTrial:
    """The test results of one model of a learning curve."""

    examples: int  # number of training examples, over all groups
    learned: int  # number of tested groups with enough examples; the baseline decides the others
    groups: int  # number of tested groups
    # bool (n,): which test examples the model, the baseline and the most frequent candidate
    # decide correctly, in the same order for every size of a draw
    model: NDArray[np.bool_]
    baseline: NDArray[np.bool_]
    majority: NDArray[np.bool_]
    values: Mapping[str, float] = field(default_factory=dict)  # by system, those of the measure, if any


def curve_of_texts(
    parts: Parts,
    texts: Sequence[str],
    *,
    sizes: Sequence[int] = (),
    draws: int | None = None,
    seed: int = 0,
    mistakes: Sequence[Fix] = (),
    clean: Sequence[Clean] = (),
    measure: str | None = None,
    progress: Progress = no_progress,
    **settings: Any,
) -> dict[str, Any]:
    """Return the learning curve of a config on raw text, whose words are taken as correct.

    Documents are split as for training, and the test part is used for testing. Each model is tuned on the
    whole development part (up to `MAX_TUNED` examples per group), whatever its size, since raw text is
    plentiful.

    Raises D412 if a part of the text contains nothing to decide, D481 for invalid sizes; D426 to D429 for
    mistakes that cannot be used; the errors of `measure_of_examples`.

    `sizes`: training examples per group; by default `SIZES` and all available ones (up to ``max_examples``).
    `draws`: number of samples of each size; by default more for smaller sizes.
    `mistakes` and `clean`: as for `trainer.train`; the decision rule of each model learns from all of them.
    `measure`: a measure to compute besides accuracy (see `disambig.metrics.measure_named`).
    `**settings`: settings of training, as for `trainer.train`; ``min_examples`` defaults to 2.
    Returns see `_summary`.
    """
    resolved, error_corpus = ResolvedConfig.from_parts(parts), None
    task = resolved.task
    if mistakes or clean:
        resolved, _ = resolved.with_error_rule({})
        error_corpus = ErrorCorpus.from_texts(task, resolved.tokenisation, mistakes, clean)
    split_texts = split(texts)
    learn, tune, test = (_examples(resolved, split_texts[part]) for part in ("train", "dev", "test"))
    for part, examples in (("train", learn), ("dev", tune), ("test", test)):
        if not len(examples.instances):
            raise UserError("D412", what="the texts", hint=explain_empty_part(split_texts, part, task.name))
    rng = np.random.default_rng(seed)
    tune, test = _sample_of_each(tune, MAX_TUNED, rng), _sample_of_each(test, MAX_TESTED, rng)
    maximum = min(int(np.bincount(learn.instances.groups).max()), settings.get("max_examples", 20_000))
    figure = _measure(measure, task.groups, test.instances)

    def trial(size: int, draw: int) -> CurveTrial:
        sample = _sample_of_each(learn, size, np.random.default_rng((seed, size, draw)), task.groups)
        of_draw = {"name": task.name, "min_examples": 2, **settings, "seed": seed + draw}
        model = train_examples(resolved, sample, tune, sample, error_corpus=error_corpus, **of_draw)
        baseline = model if resolved.has_baseline else None
        return _run_trial(model, baseline, len(sample.instances), learn, test, measure=figure)

    points = _run_trials(trial, _sizes(sizes, maximum), draws, 1, progress)
    summary = _summary(task.name, "text", points, maximum, 1, sizes, figure)
    return summary | _baseline_and_labels(resolved, learn.instances)


def curve_of_labelled(
    parts: Parts,
    labelled: Sequence[Labelled],
    *,
    sizes: Sequence[int] = (),
    draws: int | None = None,
    seed: int = 0,
    measure: str | None = None,
    progress: Progress = no_progress,
    **settings: Any,
) -> dict[str, Any]:
    """Return the learning curve of a config on labelled examples.

    Each draw holds out one document in five for testing, different ones in each draw; the model learns from
    and is tuned on a sample of the remaining examples only. Parameters are those of `curve_of_texts`.

    Raises D462 if no example can be used, D464 for a single document, D481 for invalid sizes; the errors of
    `measure_of_examples`.
    """
    resolved = ResolvedConfig.from_parts(parts)
    task, unsupervised = resolved.task, replace(resolved, learner=resolved.baseline)
    dataset = label_instances(task, resolved.tokenisation, labelled)
    if dataset.n_documents < 2:
        raise UserError("D464", folds=TEST_FOLDS, documents=dataset.n_documents)
    n_folds = min(TEST_FOLDS, dataset.n_documents)
    folds = dataset.folds(n_folds)
    maximum = min(int((folds != fold).sum()) for fold in range(n_folds))
    settings = {"name": task.name, "min_examples": 2, **settings}
    figure = _measure(measure, task.groups, dataset.examples.instances)

    def trial(size: int, draw: int) -> CurveTrial:
        rng = np.random.default_rng((seed, size, draw))
        others = np.flatnonzero(folds != draw % n_folds)
        chosen = np.sort(rng.choice(others, min(size, len(others)), replace=False))
        sample, test = dataset.compacted(chosen), dataset.take(folds == draw % n_folds)
        model = train_dataset(resolved, sample, **settings)
        baseline = model if resolved.has_baseline else None
        if baseline is not None and resolved.decides.between == "labels":
            baseline = train_dataset(unsupervised, sample, **settings)
        examples = sample.examples, test.examples
        return _run_trial(model, baseline, len(chosen), *examples, counted=dataset.examples, measure=figure)

    points = _run_trials(trial, _sizes(sizes, maximum), draws, n_folds, progress)
    summary = _summary(task.name, "labelled", points, maximum, n_folds, sizes, figure)
    return summary | _baseline_and_labels(resolved, dataset.examples.instances)


def _measure(name: str | None, groups: Sequence[Group], instances: Instances) -> Measure | None:
    """Return a measure by name, or None without a name; raise an error if it does not fit the examples."""
    if name is None:
        return None
    parts = [
        _outcomes(instances.take(rows), groups[g], instances.observed[rows], None)
        for g, rows in instances.rows_by_group()
    ]
    outcomes = Outcomes.joined(parts)
    measure = measure_of_examples(name, outcomes)
    measure.value(outcomes)  # an error if it needs references
    return measure


def _outcomes(instances: Instances, group: Group, chosen: NDArray[Any], scores: Floats | None) -> Outcomes:
    """Return the outcomes of instances whose observed candidates, and no others, are right."""
    right = instances.observed[:, None] == np.arange(int(instances.sizes(group).max(initial=1)))
    return instance_outcomes(instances, group, right, chosen, scores)


def _baseline_and_labels(resolved: ResolvedConfig, instances: Instances) -> dict[str, Any]:
    """Return ``baseline_is``, and ``one_label``: whether there is nothing to learn.

    That is so if the same candidate is right in all instances of each group.
    """
    return {
        "baseline_is": "unsupervised" if resolved.has_baseline else "most frequent",
        "one_label": all(
            len(np.unique(instances.observed[rows])) < 2 for _, rows in instances.rows_by_group()
        ),
    }


def _examples(parts: ResolvedConfig, texts: Sequence[str]) -> TextExamples:
    view = view_of_texts(texts, parts.tokenisation)
    instances = parts.task.instances(view)
    # without an observed candidate the right one is unknown
    return TextExamples.from_view(view, instances.take(instances.observed >= 0))


def _sample_of_each(
    examples: TextExamples, maximum: int, rng: np.random.Generator, groups: Sequence[Group] = ()
) -> TextExamples:
    """Return a random sample of at most `maximum` instances of each group.

    If `groups` is given, groups with an empty candidate get no more empty places than words.
    """
    chosen = []
    for g in np.unique(examples.instances.groups).tolist():
        if groups and EMPTY_CANDIDATE in groups[g].candidates:
            rows = examples.rows(g)
            observed = examples.instances.observed[rows]
            chosen.append(balanced_sample(rows, observed, groups[g], maximum=maximum, rng=rng))
        else:
            chosen.append(examples.rows(g, maximum=maximum, rng=rng))
    return replace(examples, instances=examples.instances.take(np.sort(np.concatenate(chosen))))


def _sizes(wanted: Sequence[int], maximum: int) -> list[int]:
    """Return the sizes in ascending order; sizes above the number of examples become that number."""
    if any(size < 2 for size in wanted):
        raise UserError("D481", sizes=", ".join(map(str, wanted)))
    default = [size for size in SIZES if 1.5 * size < maximum]  # none close to the last point
    return sorted({min(size, maximum) for size in wanted or (*default, maximum)})


def _run_trials(
    trial: Callable[[int, int], CurveTrial],
    sizes: Sequence[int],
    draws: int | None,
    minimum: int,
    progress: Progress,
) -> dict[int, list[CurveTrial]]:
    """Run all trials; unless `draws` is given, there are at least `minimum` draws of each size."""
    n_draws = {size: draws or max(minimum, 10 if size <= 100 else 5 if size <= 1000 else 2) for size in sizes}
    total, done = sum(n_draws.values()), 0
    points: dict[int, list[CurveTrial]] = {size: [] for size in sizes}
    for size, n in n_draws.items():
        for draw in range(n):
            progress(f"{total} models", done, total)
            points[size].append(trial(size, draw))
            done += 1
    return points


def _run_trial(
    model: Model,
    baseline: Model | None,
    n_examples: int,
    seen: TextExamples,
    test: TextExamples,
    *,
    counted: TextExamples | None = None,
    measure: Measure | None = None,
) -> CurveTrial:
    """Test a model, and the unsupervised scorer of `baseline` or else the most frequent candidate, on `test`.

    Observed candidates are right. The model learned from `seen`. The most frequent candidate is that of
    `counted`, by default `seen`; if that includes `test`, as in `cross_validate`, it is not too low.
    """
    counted = seen if counted is None else counted
    hits: dict[str, list[NDArray[np.bool_]]] = {"model": [], "baseline": [], "majority": []}
    outcomes: dict[str, list[Outcomes]] = {system: [] for system in hits}
    for g in np.unique(test.instances.groups).tolist():
        rows, group = test.rows(g), model.task.groups[g]
        instances = test.instances.take(rows)
        gold, unseen = instances.observed, instances.without_labels()
        learned = seen.instances.take(seen.rows(g))
        is_known = np.isin(gold, learned.observed) if learns_labels(model.task) else np.ones(len(gold), bool)
        frequent = counted.instances.take(counted.rows(g))
        majority = most_frequent_candidates(instances, group, seen=frequent)
        choices: dict[str, tuple[NDArray[np.int64], Floats | None]] = {
            "model": _choose(model, test, unseen, g, unsupervised=False),
            "majority": (majority, None),
            "baseline": (majority, None),
        }
        if baseline is not None:
            choices["baseline"] = _choose(baseline, test, unseen, g, unsupervised=True)
        for system, (chosen, scores) in choices.items():
            hits[system].append(is_known & (chosen == gold))
            if measure is not None:
                outcomes[system].append(_outcomes(instances, group, np.where(is_known, chosen, -1), scores))
    tested = np.unique(test.instances.groups).tolist()
    joined = {system: np.concatenate(parts) for system, parts in hits.items()}
    values = {}
    if measure is not None:
        values = {system: measure.value(Outcomes.joined(parts)) for system, parts in outcomes.items()}
    return CurveTrial(n_examples, count_learned(model, tested), len(tested), **joined, values=values)


def _choose(
    model: Model, test: TextExamples, instances: Instances, group: int, *, unsupervised: bool
) -> tuple[NDArray[np.int64], Floats]:
    """Return the choices and scores of a model or, if `unsupervised`, of its unsupervised scorer."""
    features = model.features(test.view, instances, group)
    if unsupervised:
        model = replace(model, scorers=(), shared=None)
    scored = model.scored(features, instances, group, test.view)
    return model.judge.judge(scored).chosen, candidate_scores(model, scored, group)


def _value(trials: Sequence[CurveTrial], system: str) -> dict[str, Any]:
    """Return the mean and the standard deviation of a measure over draws in which it is defined, or None."""
    values = np.array([trial.values[system] for trial in trials])
    values = values[~np.isnan(values)]
    return {
        "value": float(values.mean()) if len(values) else None,
        "spread": float(values.std(ddof=1)) if len(values) > 1 else None,
    }


def _summary(
    task: str,
    source: str,
    points: dict[int, list[CurveTrial]],
    maximum: int,
    n_tests: int,
    wanted: Sequence[int],
    measure: Measure | None,
) -> dict[str, Any]:
    """Return a learning curve as plain values.

    Returns ``task``, ``source``, ``available`` (maximum number of examples per group), ``points``: for each
    size its ``size``, ``asked`` (larger sizes that were cut to it, since there are no more examples),
    ``draws``, ``examples`` (mean over draws, all groups), ``groups`` (tested ones) and ``learned`` (mean over
    draws of those with enough examples; the baseline decides the others), ``accuracy`` (mean), ``spread``
    (standard deviation over draws), ``lowest``, ``highest``, and McNemar's p against the size before
    (``p_before``, None for the first) and against the baseline (``p_baseline``), over the first draws, which
    contain each test example once; and ``tested``, ``baseline``, ``baseline_interval`` and ``majority``, all
    for the largest size. With a measure, each point has its ``value`` (mean) and ``spread`` under
    ``measure``, and the curve the ``name``, ``unit`` and ``more_is_better`` of the measure, and its values
    for ``baseline`` and ``majority``; None where it is not defined. The callers add what
    `_baseline_and_labels` returns.
    """
    point_figures: list[dict[str, Any]] = []
    previous_hits: NDArray[np.bool_] | None = None
    for size, trials in points.items():
        shares = np.array([trial.model.mean() for trial in trials])
        once = trials[:n_tests]  # their test documents do not overlap
        model_hits, baseline_hits = (
            np.concatenate([getattr(trial, name) for trial in once]) for name in ("model", "baseline")
        )
        point_figures.append(
            {
                "size": size,
                "asked": sorted({requested for requested in wanted if requested > size})
                if size == maximum
                else [],
                "draws": len(trials),
                "examples": float(np.mean([trial.examples for trial in trials])),
                "groups": trials[0].groups,
                "learned": float(np.mean([trial.learned for trial in trials])),
                "accuracy": float(shares.mean()),
                "spread": float(shares.std(ddof=1)) if len(shares) > 1 else None,
                "lowest": float(shares.min()),
                "highest": float(shares.max()),
                "p_before": None if previous_hits is None else mcnemar(previous_hits, model_hits),
                "p_baseline": mcnemar(baseline_hits, model_hits),
                **({} if measure is None else {"measure": _value(trials, "model")}),
            }
        )
        previous_hits = model_hits
    last = points[max(points)][:n_tests]
    baseline_hits = np.concatenate([trial.baseline for trial in last])
    majority_hits = np.concatenate([trial.majority for trial in last])
    of_measure: dict[str, Any] = {}
    if measure is not None:
        of_measure["measure"] = {
            "name": measure.name,
            "unit": measure.unit,
            "more_is_better": measure.more_is_better,
            **{system: _value(last, system)["value"] for system in ("baseline", "majority")},
        }
    return {
        "task": task,
        "source": source,
        "available": maximum,
        "points": point_figures,
        "tested": len(baseline_hits),
        "baseline": float(baseline_hits.mean()),
        "baseline_interval": wilson(int(baseline_hits.sum()), len(baseline_hits)),
        "majority": float(majority_hits.mean()),
        **of_measure,
    }
