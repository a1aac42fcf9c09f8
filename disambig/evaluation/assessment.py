"""Assess a model after training, for its card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from disambig.data import segments
from disambig.errors import UserError
from disambig.evaluation.group_figures import figures, most_frequent_candidates, overall
from disambig.evaluation.labelled import cross_validate, evaluate_lists, list_lines
from disambig.evaluation.unseen_text import evaluate
from disambig.formats import Labelled, NBestList
from disambig.formatting import format_figure, pluralize
from disambig.models import Model
from disambig.text import view_of_texts
from disambig.training import NO_GAIN, ON_FITTED, Parts, TrainingPlan
from disambig.type_aliases import Progress
from disambig.types import metric

FOLDS = 5
ENOUGH = 1000
"""Labelled examples per group that are enough for the figures: more would only take longer."""


def add_assessment(
    model: Model, plan: TrainingPlan, test_data: dict[str, Any], *, progress: Progress | None = None
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
    progress: Progress | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Evaluate a model on held-out text or lists, or its config by cross-validation on its labelled examples.

    Parameters
    ----------
    parts : dict or ResolvedConfig
        The resolved config.
    texts : sequence of str
        The held-out test part.
    labelled : sequence of Labelled
        All examples; folds consist of whole documents.
    lists : sequence of NBestList
        The held-out test part.
    **settings
        Settings of training.

    Returns
    -------
    dict
        ``how``, ``n``, ``documents`` and ``systems`` as returned by `cross_validate`; for text also ``rates``
        and ``reliability`` as returned by `evaluate`. Empty if there is nothing to test on.
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
        how = f"{folds}-fold cross-validation over documents"
        if result["decided"] < folds:
            how += f", {result['decided']} of them tested"
        return {"how": how, **result}
    return assess_on_texts(model, texts) if texts else {}


def assess_on_texts(model: Model, texts: Sequence[str]) -> dict[str, Any]:
    """Evaluate a model of words on text whose words are taken as correct; see `assess_model`."""
    view = view_of_texts(texts, model.tokenisation)
    instances = model.task.instances(view)
    instances = instances.take(instances.observed >= 0)
    systems: dict[str, Any] = {"model": {}, "baseline": {}, "majority": {}}
    for g, group in enumerate(model.task.groups):
        rows = np.flatnonzero(instances.groups == g)
        if not len(rows):
            continue
        part = instances.take(rows)
        features = model.features(view, part.without_labels(), g)
        scorers = {
            "model": model.scorer(g, features),
            "baseline": model.baseline.fit(features.batch).scorer,
        }
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
