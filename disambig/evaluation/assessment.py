"""Test a model when it is trained, for its card."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from disambig.data import segments
from disambig.evaluation.group_figures import figures, most_frequent_candidates, overall
from disambig.evaluation.labelled import cross_validate
from disambig.evaluation.lists import evaluate_lists, list_lines
from disambig.evaluation.unseen_text import evaluate
from disambig.formats import Labelled, NBestList
from disambig.formatting import pluralize
from disambig.models import Model
from disambig.text import view_of_texts
from disambig.training import Progress

FOLDS = 5
ENOUGH = 1000
"""Labelled examples of each group that figures are of: of more they would say the same, and take longer."""


def assess_model(
    model: Model,
    parts: dict[str, Any],
    *,
    texts: Sequence[str] = (),
    labelled: Sequence[Labelled] = (),
    lists: Sequence[NBestList] = (),
    progress: Progress | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Judge a model on the test part of its text, or its config by cross-validation of its labelled examples.

    Parameters
    ----------
    model : Model
    parts : dict
        The resolved config.
    texts : sequence of str
        The test part.
    labelled : sequence of Labelled
        All the examples; documents are the unit of the folds.
    lists : sequence of NBest
        The test part.
    **settings
        Of training.

    Returns
    -------
    dict
        ``how``, ``n``, ``documents`` and ``systems`` as `cross_validate` returns them; for text also
        ``rates`` and ``reliability`` as `evaluate` does. Empty where there is nothing to judge on.
    """
    if lists:
        how = "lists put aside before training"
        return {
            "how": how,
            "documents": len({item.document for item in lists}),
            **evaluate_lists(model, lists),
        }
    if labelled:
        folds = min(FOLDS, model.provenance["examples"]["documents"])
        if folds < 2:
            return {}
        result = cross_validate(parts, labelled, folds=folds, enough=ENOUGH, progress=progress, **settings)
        how = f"{folds}-fold cross-validation over documents"
        if result["decided"] < folds:
            how += f", {result['decided']} of which tested"
        return {"how": how, **result}
    return assess_on_texts(model, texts) if texts else {}


def assess_on_texts(model: Model, texts: Sequence[str]) -> dict[str, Any]:
    """Return how good a model of words is on text whose words are right; see `judge`."""
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
        commonest = most_frequent_candidates(part, group)
        systems["majority"][group.name] = figures(part, group, part.observed, commonest)
    n = sum(at["n"] for at in systems["model"].values())
    if not n:
        return {}
    result = evaluate(model, texts, rates=[model.flags_per_1000])
    how = "a part of the documents put aside before training"
    about = {"how": how, "n": n, "documents": len(texts), "systems": systems}
    return about | {name: result[name] for name in ("rates", "reliability")}


def why_untested(model: Model) -> str:
    """Return why a model that was to be judged was not, and what would help; empty where that is known."""
    provenance = model.provenance
    if provenance.get("test") or any(note.startswith("not tested") for note in provenance.get("notes", ())):
        return ""
    documents = provenance["examples"].get("documents", 0)
    if not isinstance(documents, dict):
        return f"not tested: that takes two documents at least (here: {documents:,}); give more"
    if not documents["test"]:
        n = sum(documents.values())
        return f"not tested: a fifth of the documents is put aside for that, of these {n:,} none; give more"
    return (
        f"not tested: the documents put aside for that ({documents['test']:,}) hold no place of the task "
        f"{model.task.name}; give more"
    )


def assessment_line(test: dict[str, Any]) -> str:
    """Return what `judge` found as a line for people; empty where it found nothing."""
    if not test:
        return ""
    if "better" in test:
        return "\n".join([*list_lines(test), f"({test['how']})"])
    figures = {system: overall(groups) for system, groups in test["systems"].items()}
    low, high = figures["model"]["interval"]
    plain = f"unsupervised {figures['baseline']['accuracy']:.1%}, " if "baseline" in figures else ""
    on = pluralize(test["n"], "example")
    return (
        f"accuracy {figures['model']['accuracy']:.1%} ({low:.1%} to {high:.1%}) on {on}, {plain}"
        f"most frequent candidate {figures['majority']['accuracy']:.1%} ({test['how']})"
    )
