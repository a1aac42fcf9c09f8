"""How good decisions are on labelled examples: a model on examples of its own, or a config by folds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.groups import Group
from disambig.errors import UserError
from disambig.fields import decides
from disambig.files.telling import Say
from disambig.formats.labelled.example import Labelled
from disambig.judges.labels import Labels
from disambig.judges.segmented import table
from disambig.measures.intervals import wilson
from disambig.model.model import Model
from disambig.model.no_preference import NoPreference
from disambig.training.accounting import account
from disambig.training.labelled import train_marked
from disambig.training.marking import Marked, learns_labels, mark, right_candidates, seen_elsewhere
from disambig.training.places import as_decided
from disambig.types import Task

Floats = NDArray[np.float64]
Progress = Callable[[str, int, int], None]
SYSTEMS = ("model", "baseline", "majority")
MOST_CONFUSED = 5
"""Pairs of candidates named as the most frequent errors."""


def evaluate_labelled(
    model: Model, labelled: Sequence[Labelled], *, say: Say | None = None
) -> dict[str, Any]:
    """Score a model on labelled examples.

    It decides at each place that has an example, whether the task would find the word there or not, and stays
    silent where the margin is below its least one, and at words that it does not know.

    Parameters
    ----------
    say : callable, optional
        Gets each example that cannot be used, and why.

    Returns
    -------
    dict
        ``n`` examples, ``documents``, ``unused`` (places where the task decides nothing), ``unknown`` (of
        words that the model does not know), under ``groups`` the figures of each group (see `figures`), and
        ``overall`` those of all, unknown words among them.
    """
    _refuse_own(model.task)
    names = {group.name for group in model.task.groups}
    labelled = as_decided(model.task, labelled)
    known = labelled
    if decides(model.task).between == "labels":
        known = [example for example in labelled if not example.word or example.word in names]
    marked = mark(model.task, model.tokenisation, known or labelled)
    _tell(marked, say)
    groups = {}
    for g, group in enumerate(model.task.groups):
        rows = np.flatnonzero(marked.examples.instances.groups == g)
        if len(rows):
            part = marked.take(rows)
            chosen, logits = decide(model, part, g)
            groups[group.name] = figures(group, _gold(part, group, chosen), chosen, logits)
    unknown = len(labelled) - len(known)
    return _about(marked) | {"unknown": unknown, "overall": overall(groups, unknown), "groups": groups}


def overall(groups: Mapping[str, Mapping[str, Any]], unknown: int = 0) -> dict[str, Any]:
    """Return n, accuracy, its interval and the share attempted of all groups' `figures` together.

    Parameters
    ----------
    unknown : int
        Further examples, of words without a group: not attempted.
    """
    n = sum(at["n"] for at in groups.values()) + unknown
    right, tried = (
        round(sum(at[figure] * at["n"] for at in groups.values())) for figure in ("accuracy", "attempted")
    )
    return {"n": n, "accuracy": right / n, "interval": wilson(right, n), "attempted": tried / n}


def cross_validate(
    parts: dict[str, Any],
    labelled: Sequence[Labelled],
    *,
    folds: int = 10,
    also: Sequence[Labelled] = (),
    say: Say | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Train on all folds but one and decide on that one, in turn; folds are of whole documents.

    Extractors, C, calibration and offsets are fitted on the other folds alone. The unsupervised baseline
    gets its offset, too, from them. Where the task has its labels from the examples, a label without an
    example of its group in the other folds is no answer: it could not be known.

    The majority is the most frequent label of all examples of a group, those of the tested fold too, which
    can make it look better and never the model. Of the other folds alone it would be too low: where labels
    are equally frequent, the one that leads there is the rarest in the tested fold.

    Parameters
    ----------
    parts : dict
        The resolved config.
    labelled : sequence of Labelled
    also : sequence of Labelled
        More examples to learn from in each fold; nothing is decided in them. Those at the place of one of
        `labelled` are left out.
    say : callable, optional
        Gets each example that cannot be used, and why.
    **settings
        Of training, as for `train_labelled`.

    Returns
    -------
    dict
        ``n``, ``documents``, ``unused``, ``folds``, under ``systems`` for each of `SYSTEMS` the figures of
        each group, without ``baseline`` where the config has none, and under ``overall`` those of all groups.

    Raises
    ------
    UserError
        D464 for more folds than documents, or fewer than two.
    """
    task = parts["task"]
    _refuse_own(task)
    labelled = as_decided(task, labelled)
    tested = {(example.text, example.start, example.end) for example in labelled}
    also = [each for each in as_decided(task, also) if (each.text, each.start, each.end) not in tested]
    every = mark(task, parts["tokenisation"], [*labelled, *also])
    _tell(every, say)
    own = _are_among(every.labelled, labelled)
    marked = every.alone(own)
    if not 2 <= folds <= marked.n_documents:
        raise UserError("D464", folds=folds, documents=marked.n_documents)
    fold = marked.folds(folds)
    fold_of_every = np.full(len(own), -1)
    fold_of_every[own] = fold
    instances = marked.examples.instances
    widths = [len(group.candidates) for group in task.groups]
    learners = {"model": parts["learner"], "baseline": parts["baseline"]}
    if isinstance(parts["baseline"], NoPreference):
        del learners["baseline"]
    systems = [system for system in SYSTEMS if system in learners or system == "majority"]
    chosen = {system: np.zeros(len(instances), np.int64) for system in systems}
    logits = {system: np.zeros((len(instances), max(widths))) for system in learners}
    for k in range(folds):
        if progress:
            progress("cross-validating", k, folds)
        learn = every.alone(fold_of_every != k)
        trained = {
            system: train_marked({**parts, "learner": learner}, learn, name=task.name, **settings)
            for system, learner in learners.items()
        }
        for g, width in enumerate(widths):
            rows = np.flatnonzero((fold == k) & (instances.groups == g))
            for system, model in trained.items():
                if len(rows):
                    picked, given = decide(model, marked.take(rows), g)
                    chosen[system][rows] = picked
                    logits[system][rows, :width] = given
    groups: dict[str, Any] = {system: {} for system in systems}
    for g, group in enumerate(task.groups):
        rows = np.flatnonzero(instances.groups == g)
        part = marked.take(rows)
        right = right_candidates(part, group)
        chosen["majority"][rows] = right.sum(axis=0).argmax()
        for system in systems if len(rows) else ():
            picked = chosen[system][rows]
            if learns_labels(task):
                picked = seen_elsewhere(picked, right, fold[rows], _given(also, group))
            scored = logits[system][rows, : widths[g]] if system in logits else None
            groups[system][group.name] = figures(group, _gold(part, group, picked), picked, scored)
    told = account(len(marked.documents), every.problems)
    about = _about(marked) | {"unused": len(every.problems), "account": told, "folds": folds}
    return about | {"overall": {system: overall(groups[system]) for system in systems}, "systems": groups}


def _are_among(examples: Sequence[Labelled], others: Sequence[Labelled]) -> NDArray[np.bool_]:
    """Return which examples are some of the others: the same objects, equal ones may be of another source."""
    known = set(map(id, others))
    return np.array([id(example) in known for example in examples], bool)


def _given(also: Sequence[Labelled], group: Group) -> NDArray[np.int64]:
    """Return how many of the examples that are only learned from have each candidate of a group."""
    given = Counter(
        label for each in also if each.word in ("", group.name) for label in (each.label, *each.also)
    )
    return np.array([given[candidate] for candidate in group.candidates], np.int64)


def _gold(marked: Marked, group: Group, chosen: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the right candidate of each instance; of several the chosen one, if it is among them."""
    observed = marked.examples.instances.observed
    right = (chosen >= 0) & right_candidates(marked, group)[np.arange(len(chosen)), chosen]
    return np.where(right, chosen, observed).astype(np.int32)


def figures(
    group: Group, gold: NDArray[np.int32], chosen: NDArray[np.int64], logits: Floats | None
) -> dict[str, Any]:
    """Return accuracy (with a Wilson interval), balanced accuracy, each candidate's precision, recall and F1.

    A choice of -1 is no answer: it is not right, and ``attempted`` is the share of the others. ``confusions``
    are the most frequent errors. Of two candidates also ``auc``, the area under the ROC curve
    of the second one's logit.
    """
    n, right = len(gold), int((gold == chosen).sum())
    by_candidate = {}
    for c, name in enumerate(group.candidates):
        hits = int(((gold == c) & (chosen == c)).sum())
        called, there = int((chosen == c).sum()), int((gold == c).sum())
        by_candidate[name] = {
            "n": there,
            "precision": hits / called if called else None,
            "recall": hits / there if there else None,
            "f1": 2 * hits / (called + there) if called + there else None,
        }
    recalls = [each["recall"] for each in by_candidate.values() if each["recall"] is not None]
    found = {
        "n": n,
        "accuracy": right / n,
        "interval": wilson(right, n),
        "attempted": float((chosen >= 0).mean()),
        "balanced_accuracy": float(np.mean(recalls)),
        "candidates": by_candidate,
        "confusions": _confusions(group, gold, chosen),
    }
    if logits is not None and logits.shape[1] == 2 and 0 < int((gold == 1).sum()) < n:
        from sklearn.metrics import roc_auc_score

        found["auc"] = float(roc_auc_score(gold == 1, logits[:, 1] - logits[:, 0]))
    return found


def _confusions(group: Group, gold: NDArray[np.int32], chosen: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Return the most frequent errors: what was right, what was chosen instead, how often."""
    wrong = np.flatnonzero((gold != chosen) & (chosen >= 0))
    pairs, counts = np.unique(
        gold[wrong] * np.int64(len(group.candidates)) + chosen[wrong], return_counts=True
    )
    most = np.argsort(-counts, kind="stable")[:MOST_CONFUSED]
    return [
        {"right": group.candidates[right], "chosen": group.candidates[taken], "n": int(n)}
        for pair, n in zip(pairs[most].tolist(), counts[most], strict=True)
        for right, taken in [divmod(pair, len(group.candidates))]
    ]


def decide(model: Model, marked: Marked, group: int) -> tuple[NDArray[np.int64], Floats]:
    """Return what is chosen for the instances of one group, and their logits or scores.

    Where the margin is below the least one of the model nothing is chosen: -1.
    """
    instances = marked.examples.instances.unseen()
    scored = model.scored(model.features(marked.examples.view, instances, group), instances, group)
    judged = model.judge.judge(scored)
    scores = table(scored.scores, scored.offsets, -np.inf)
    if isinstance(model.judge, Labels):
        scores = model.judge.logits(scores, group)
    return np.where(judged.said, judged.chosen, -1), scores


def _refuse_own(task: Task) -> None:
    """Raise D339 for a task whose instances have candidates of their own."""
    if decides(task).between == "own":
        raise UserError("D339", task=task.name)


def _tell(marked: Marked, say: Say | None) -> None:
    if say is not None:
        for problem in marked.problems:
            say(*problem.split(": ", 1))


def _about(marked: Marked) -> dict[str, Any]:
    n_documents = len(np.unique(marked.documents))
    told = account(len(marked.documents), marked.problems)
    return {
        "n": len(marked.documents),
        "documents": n_documents,
        "unused": len(marked.problems),
        "account": told,
    }
